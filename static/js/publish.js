/* The publish page: progress of an upload, a file that is too large told before it is sent, and an
   explanation in the place of the report where none came back. Texts are templates of the page. */
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("publish-form");
  if (!form) return;
  const input = byId("id_file");
  const progress = byId("progress");

  const explain = (cause) => {
    const template = byId(`failed-${cause}`) ?? byId("failed-other");
    byId("report").replaceChildren(template.content.cloneNode(true));
  };
  const size = (bytes) => new Intl.NumberFormat(document.documentElement.lang, {
    style: "unit", unit: bytes < 1e6 ? "kilobyte" : "megabyte", maximumFractionDigits: 1,
  }).format(bytes / (bytes < 1e6 ? 1e3 : 1e6));
  const tooLarge = () => [...input.files].some((file) => file.size > Number(form.dataset.mostBytes));

  const showChosen = () => {
    const [file] = input.files;
    byId("chosen").hidden = !file;
    byId("chosen").textContent = file ? `${file.name}, ${size(file.size)}` : "";
  };
  input.addEventListener("change", showChosen);
  showChosen();

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
  form.addEventListener("htmx:responseError", (e) => { e.stopPropagation(); explain(e.detail.xhr.status); });
  form.addEventListener("htmx:sendError", (e) => { e.stopPropagation(); explain("connection"); });
})();
