/* Names on offer go into their field by a click. The slider of a canary and its number field say the same; the bar of the two arms follows. Without
   script the number field alone does. */
(() => {
  const bounded = (value) => Math.min(100, Math.max(0, Math.round(Number(value)) || 0));
  const show = (percent) => {
    const arms = document.querySelector("[data-arms]");
    if (!arms) return;
    const rest = 100 - percent;
    arms.querySelector("[data-arm='stable']").setAttribute("width", rest);
    const candidate = arms.querySelector("[data-arm='candidate']");
    candidate.setAttribute("x", rest);
    candidate.setAttribute("width", percent);
    arms.querySelector("[data-share='stable']").textContent = rest;
    arms.querySelector("[data-share='candidate']").textContent = percent;
  };
  document.addEventListener("click", (e) => {
    const button = e.target.closest?.("[data-add]");
    if (!button) return;
    const field = document.getElementById(button.dataset.to);
    const names = field.value.split(",").map((name) => name.trim()).filter(Boolean);
    if (!names.includes(button.dataset.add)) names.push(button.dataset.add);
    field.value = names.join(", ");
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
  document.addEventListener("input", (e) => {
    const slider = e.target.closest?.("[data-slides]");
    if (slider) document.getElementById(slider.dataset.slides).value = slider.value;
    const other = slider ? null : document.querySelector(`[data-slides='${CSS.escape(e.target.id)}']`);
    if (other) other.value = bounded(e.target.value);
    if (slider || other) show(bounded(e.target.value));
  });
})();
