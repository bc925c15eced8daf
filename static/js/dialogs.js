/* A dialog that has shown a secret forgets it when it closes: the page is loaded anew. */
document.addEventListener("close", (e) => {
  if (e.target.matches?.("dialog[data-once]") && e.target.querySelector(".secret")) {
    e.target.replaceChildren();
    location.reload();
  }
}, true);
