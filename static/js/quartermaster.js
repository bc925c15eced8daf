/* Quartermaster: the few behaviours that HTML alone does not give. No build step.
   Listeners sit on document, so content swapped in by htmx needs no wiring. Texts come from the
   page (data attributes, templates), where they are translated. */
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  /* ── clicks ── */
  const switchTheme = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* lasts for this page */ }
  };
  /* Without HTTPS there is no clipboard of its own: the text is selected beside the button and copied from there. */
  const write = (text, button) => navigator.clipboard?.writeText(text) ?? new Promise((done, failed) => {
    const area = Object.assign(document.createElement("textarea"), { value: text, className: "vh" });
    button.after(area);
    area.select();
    (document.execCommand("copy") ? done : failed)();
    area.remove();
    button.focus();
  });
  const tell = (button, text, icon) => {
    const label = button.querySelector("[data-label]") ?? button.lastElementChild;
    const use = button.querySelector("use");
    if ("before" in button.dataset) return;
    button.dataset.before = label.textContent;
    label.textContent = text;
    use.setAttribute("href", icon);
    announce(text);
    setTimeout(() => {
      label.textContent = button.dataset.before;
      use.setAttribute("href", "#i-copy");
      delete button.dataset.before;
      announce("");
    }, 3000);
  };
  const copy = (button) => write(button.dataset.copy, button).then(
    () => tell(button, button.dataset.copied, "#i-check"),
    () => tell(button, byId("announce").dataset.notCopied, "#i-x"),
  );
  const announce = (text) => { const live = byId("announce"); if (live) live.textContent = text; };
  const closeMenus = (outsideOf) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(outsideOf)) menu.open = false; });
    const results = byId("search-results");
    if (results && !outsideOf?.closest?.(".topbar__search")) results.replaceChildren();
  };

  document.addEventListener("click", (e) => {
    const on = (selector) => e.target.closest(selector);
    let el;
    if ((el = on("[data-open]"))) byId(el.dataset.open)?.showModal();
    if ((el = on("[data-close]"))) el.closest("dialog")?.close();
    if ((el = on("[data-dismiss]"))) el.closest(el.dataset.dismiss)?.remove();
    if ((el = on("[data-copy]"))) copy(el);
    if (on("[aria-disabled='true']")) e.preventDefault();
    if (on("[data-theme-switch]")) switchTheme();
    closeMenus(e.target);
  });

  /* ── keys: Esc closes menus, / finds, arrows walk the results ── */
  const walkResults = (e) => {
    const links = [...document.querySelectorAll("#search-results a")];
    if (!links.length || !e.target.closest(".topbar__search")) return;
    const at = links.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1);
    e.preventDefault();
    (at < 0 ? byId("q") : links[Math.min(at, links.length - 1)]).focus();
  };
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape") {
      document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; menu.querySelector("summary").focus(); });
      if (e.target.closest(".topbar__search")) byId("q")?.focus();
      closeMenus(null);
    }
    if (e.key === "ArrowDown" || e.key === "ArrowUp") walkResults(e);
    if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.closest("input, textarea, select, [contenteditable]")) {
      e.preventDefault();
      byId("q")?.focus();
    }
  });

  /* ── the environment: arrow keys only move the choice; Enter, or leaving the switch, makes it ── */
  let byKey = false;
  const switchOf = (e) => e.target.closest?.("form[data-environment]");
  const choose = (form) => { byKey = false; htmx.trigger(form, "choose"); };
  document.addEventListener("pointerdown", () => { byKey = false; });
  document.addEventListener("keydown", (e) => {
    const form = switchOf(e);
    if (form && e.key.startsWith("Arrow")) byKey = true;
    if (form && e.key === "Enter") { e.preventDefault(); choose(form); }
  });
  document.addEventListener("change", (e) => {
    const form = switchOf(e);
    if (!form) return;
    if (byKey) form.dataset.changed = "";
    else choose(form);
  });
  document.addEventListener("focusout", (e) => {
    const form = switchOf(e);
    if (form && "changed" in form.dataset && !form.contains(e.relatedTarget)) choose(form);
  });

  /* ── a page that came back with errors begins at the first field that has one ── */
  document.querySelector("#main [aria-invalid='true']")?.focus();

  /* ── files dropped on .drop go into its input ── */
  for (const [type, over] of [["dragover", true], ["dragleave", false], ["drop", false]])
    document.addEventListener(type, (e) => e.target.closest?.(".drop")?.classList.toggle("is-over", over));

  /* ── toasts leave after 8 s, wait while looked at, and stay when they tell of a failure ── */
  const ages = new WeakMap();
  setInterval(() => document.querySelectorAll("#toasts .toast:not([data-tone='bad'])").forEach((toast) => {
    if (toast.matches(":hover, :focus-within")) return;
    const age = (ages.get(toast) ?? 0) + 1;
    ages.set(toast, age);
    if (age > 8) toast.remove();
  }), 1000);
  /* what stands beside an open dialog lies behind it, and cannot be reached */
  const messagePlace = () => document.querySelector("dialog:modal :is(form, .dialog__body)") ?? byId("toasts");
  const toastFailure = () => {
    const template = byId("toast-failed");
    if (template && !document.querySelector("[data-failed]")) messagePlace().append(template.content.cloneNode(true));
  };

  /* ── htmx ── */
  document.addEventListener("htmx:beforeRequest", (e) => e.detail.target?.setAttribute("aria-busy", "true"));
  document.addEventListener("htmx:afterRequest", (e) => {
    e.detail.target?.removeAttribute("aria-busy");
    if (e.detail.successful) document.querySelector("[data-failed]")?.remove();
  });
  const bringsToast = (xhr) => xhr?.getResponseHeader("HX-Retarget") === "#toasts";
  document.addEventListener("htmx:beforeSwap", (e) => {
    if (!bringsToast(e.detail.xhr)) return;
    e.detail.shouldSwap = true;
    e.detail.target = messagePlace();
  });
  document.addEventListener("htmx:responseError", (e) => { if (!bringsToast(e.detail.xhr)) toastFailure(); });
  document.addEventListener("htmx:sendError", toastFailure);
  /* A part that takes the focus gives it to its first field with an error, else to the place that it names;
     so does one whose swap took the focus away. */
  const isLost = () => [null, document.body].includes(document.activeElement);
  document.addEventListener("htmx:afterSettle", (e) => {
    const find = (selector) => e.target.querySelector?.(selector);
    const place = find("[data-focus]");
    if (place || isLost()) (find("[aria-invalid='true']") ?? place)?.focus();
  });
})();
