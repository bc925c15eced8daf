/* The editor of a head: a finding leads to its line, typing far beyond the end numbers the lines anew, and
   leaving the page with something typed is asked about.
   Everything else is plain HTML; without script the text can be edited and checked all the same. */
(() => {
  let typed = false;
  const place = (area, line) => {
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    const height = parseFloat(getComputedStyle(area).lineHeight);
    const box = area.closest(".editor");
    box.scrollTop = Math.max(0, (line - 4) * height);
    box.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("click", (e) => {
    const link = e.target.closest("a[data-line]");
    const area = link && document.getElementById(link.hash.slice(1));
    if (!area) return;
    e.preventDefault();
    place(area, Number(link.dataset.line));
  });
  document.addEventListener("input", (e) => {
    const area = e.target.closest?.("[data-editor]");
    if (!area) return;
    const numbers = area.closest(".editor").querySelector(".editor__numbers");
    const lines = area.value.split("\n").length;
    for (let n = numbers.childElementCount + 1; n <= lines + 1; n += 1) {
      const number = document.createElement("span");
      number.textContent = n;
      numbers.append(number);
    }
    area.rows = lines + 1;
    typed = true;
  });
  document.addEventListener("htmx:beforeOnLoad", (e) => {
    if (e.detail.xhr.getResponseHeader("HX-Redirect")) typed = false;
  });
  window.addEventListener("beforeunload", (e) => { if (typed && window.htmx) e.preventDefault(); });
})();
