/* Answers 403, 409, 429 and 503 that name their place (HX-Retarget) are shown there, as 422 is: they hold the
   page's own explanation. Others stay failures. Whoever is signed out while a dialog is open keeps it,
   and what was typed: signing in happens in another tab. */
(() => {
  document.addEventListener("htmx:beforeSwap", (e) => {
    const { xhr } = e.detail;
    const place = xhr.getResponseHeader("HX-Retarget");
    if ([403, 409, 429, 503].includes(xhr.status) && place && place !== "#toasts") {
      e.detail.shouldSwap = true;
      e.detail.isError = false;
    }
  });

  const signedOut = new WeakSet();
  const formOf = (e) => e.target.closest?.("dialog form[hx-post]");
  document.addEventListener("htmx:beforeOnLoad", (e) => {
    const form = formOf(e);
    if (!form || e.detail.xhr.status !== 401) return;
    e.preventDefault();
    signedOut.add(form);
    form.querySelector("[data-signed-out]")?.remove();
    const told = document.getElementById("signed-out").content.cloneNode(true);
    told.querySelector("a").href += `?next=${encodeURIComponent(location.pathname)}`;
    form.querySelector(".dialog__foot").before(told);
  });
  /* Signing in again gives a new form token; the one of the dialog is of the session that ended. */
  const renewToken = async (form) => {
    const answer = await fetch(location.pathname);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#main")?.querySelector("[name=csrfmiddlewaretoken]");
    if (!fresh || answer.redirected) return;
    form.querySelector("[name=csrfmiddlewaretoken]").value = fresh.value;
    form.querySelector("[data-signed-out]")?.remove();
    signedOut.delete(form);
  };
  document.addEventListener("htmx:confirm", (e) => {
    const form = formOf(e);
    if (!form || !signedOut.has(form)) return;
    e.preventDefault();
    renewToken(form).catch(() => {}).then(() => e.detail.issueRequest(true));
  });
})();
