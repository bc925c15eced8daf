/* The publish page: progress of an upload, a file that is too large told before it is sent, and an
   explanation in the place of the report where none came back. Texts are templates of the page. */
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("publish-form");
  if (!form) return;
  const input = byId("id_file");
  const progress = byId("progress");

  /* Signing in again gives a new form token; the one on this page is of the session that ended. */
  let stale = false;
  const renewToken = async () => {
    const answer = await fetch(location.pathname);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#publish-form [name=csrfmiddlewaretoken]");
    if (!fresh) return;
    form.querySelector("[name=csrfmiddlewaretoken]").value = fresh.value;
    stale = false;
  };
  form.addEventListener("htmx:confirm", (e) => {
    if (!stale) return;
    e.preventDefault();
    renewToken().catch(() => {}).then(() => e.detail.issueRequest(true));
  });

  const explain = (cause) => {
    stale ||= cause === 403;
    const template = byId(`failed-${cause}`) ?? byId("failed-other");
    byId("report").replaceChildren(template.content.cloneNode(true));
  };
  /* As the pages write sizes: a KB has 1024 bytes, a MB 1024 KB. */
  const size = (bytes) => {
    const [unit, by, digits] = bytes < 1024 ? ["byte", 1, 0] : bytes < 1024 ** 2 ? ["KB", 1024, 1] : ["MB", 1024 ** 2, 1];
    const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    if (unit === "byte") Object.assign(format, { style: "unit", unit, unitDisplay: "long" });
    const text = new Intl.NumberFormat(document.documentElement.lang, format).format(bytes / by);
    return unit === "byte" ? text : `${text}\u00a0${unit}`;
  };
  const tooLarge = () => [...input.files].some((file) => file.size > Number(form.dataset.mostBytes));

  const showChosen = () => {
    const [file] = input.files;
    byId("chosen").hidden = !file;
    byId("chosen").textContent = file ? `${file.name}, ${size(file.size)}` : "";
  };
  input.addEventListener("change", showChosen);
  showChosen();

  /* Without its team nothing could be checked; once that is chosen, it is. So is a file that was chosen
     before this script ran, or that the browser kept on the way back. */
  const isChecked = () => byId("report").querySelector("[data-checked]");
  form.addEventListener("change", (e) => {
    if (e.target.id !== "id_team" || isChecked()) return;
    if (input.files.length || byId("id_text").value.trim()) htmx.trigger(form, "check");
  });
  addEventListener("load", () => {
    const isUnderWay = form.classList.contains("htmx-request");
    if (input.files.length && !isChecked() && !isUnderWay) htmx.trigger(form, "check");
  });

  /* A skill of several is folded away until one goes there. */
  form.addEventListener("click", (e) => {
    const goal = e.target.closest?.("a[href^='#skill-']");
    const fold = goal && byId(goal.hash.slice(1))?.closest("details");
    if (fold) fold.open = true;
  });

  /* Dropped files: the input lies over the zone and takes one by itself; more than one is told. */
  form.addEventListener("drop", (e) => {
    if (!e.target.closest(".drop")) return;
    const { files, items } = e.dataTransfer;
    const folder = [...items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
    if (files.length > 1 || folder) { e.preventDefault(); explain("many"); }
  });

  form.addEventListener("htmx:beforeRequest", (e) => {
    if (tooLarge()) { e.preventDefault(); explain(413); }
  });
  form.addEventListener("htmx:xhr:progress", (e) => {
    const { lengthComputable, loaded, total } = e.detail;
    if (!lengthComputable || !input.files.length) return;
    progress.hidden = loaded >= total;
    progress.value = (100 * loaded) / total;
  });
  form.addEventListener("htmx:afterRequest", () => { progress.hidden = true; });
  /* Signed out meanwhile: going to the sign-in page would lose what was typed and chosen. */
  form.addEventListener("htmx:beforeOnLoad", (e) => {
    if (e.detail.xhr.status === 401) { e.preventDefault(); explain(403); }
  });
  /* The report's place says it better than a toast would. */
  document.addEventListener("htmx:beforeSwap", (e) => {
    if (e.detail.xhr.getResponseHeader("HX-Retarget") === "#toasts") e.detail.shouldSwap = false;
  });
  form.addEventListener("htmx:responseError", (e) => { e.stopPropagation(); explain(e.detail.xhr.status); });
  form.addEventListener("htmx:sendError", (e) => { e.stopPropagation(); explain("connection"); });
})();
