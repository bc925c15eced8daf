/* A dialog that shows a secret closes only by its button, so that no key loses it; one that closes
   all the same forgets it: the page is loaded anew. */
(() => {
  const secret = (dialog) => dialog?.matches?.("dialog[data-once]") && dialog.querySelector(".secret");
  document.addEventListener("cancel", (e) => { if (secret(e.target)) e.preventDefault(); }, true);
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && secret(document.querySelector("dialog[data-once][open]"))) e.preventDefault();
  }, true);
  document.addEventListener("close", (e) => {
    if (!secret(e.target)) return;
    e.target.replaceChildren();
    location.reload();
  }, true);
})();
