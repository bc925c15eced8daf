/* Answers 403 and 409 that name their place (HX-Retarget) are shown there, as 422 is: they hold the
   page's own explanation. Others stay failures. */
document.addEventListener("htmx:beforeSwap", (e) => {
  const { xhr } = e.detail;
  const place = xhr.getResponseHeader("HX-Retarget");
  if ([403, 409].includes(xhr.status) && place && place !== "#toasts") {
    e.detail.shouldSwap = true;
    e.detail.isError = false;
  }
});
