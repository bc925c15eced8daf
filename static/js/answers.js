/* Answers 403 and 409 that name their place (HX-Retarget) are shown there, as 422 is: they hold the
   page's own explanation. Others stay failures. */
document.addEventListener("htmx:beforeSwap", (e) => {
  const { xhr } = e.detail;
  if ([403, 409].includes(xhr.status) && xhr.getResponseHeader("HX-Retarget")) {
    e.detail.shouldSwap = true;
    e.detail.isError = false;
  }
});
