/* A report that is no longer about what the form holds says so, and takes no decision any more: its form
   (data-report names the place) is compared with what was sent. Putting a field back makes it true again. */
(() => {
  const form = document.querySelector("form[data-report]");
  if (!form) return;
  const place = document.querySelector(form.dataset.report);
  const told = (value) => value instanceof File ? [value.name, value.size, value.lastModified] : value;
  /* The form's own token, and the filter of the findings, are no part of what is checked. */
  const holds = (within) => JSON.stringify([...form.elements]
    .filter((field) => field.name && place.contains(field) === within)
    .filter((field) => !/^(csrfmiddlewaretoken|checked|mended|do|show-.*)$/.test(field.name))
    .filter((field) => !["radio", "checkbox"].includes(field.type) || field.checked)
    .map((field) => [field.name, field.type === "file" ? [...field.files].map(told) : field.value]));

  let around = holds(false);
  let inside = holds(true);
  const judge = () => {
    const stale = Boolean(place.querySelector("[data-checked]")) && (holds(false) !== around || holds(true) !== inside);
    if (stale === place.hasAttribute("data-stale")) return;
    place.toggleAttribute("data-stale", stale);
    const live = document.getElementById("announce");
    if (live && stale) live.textContent = place.querySelector("[data-checked]").textContent.trim();
  };

  let sent = around;
  form.addEventListener("htmx:beforeRequest", () => { sent = holds(false); });
  form.addEventListener("htmx:afterSettle", () => {
    around = sent;
    inside = holds(true);
    judge();
  });
  form.addEventListener("input", judge);
  form.addEventListener("change", judge);
  judge();
})();
