/* Sets the chosen theme before the page is drawn; without a choice the system decides. */
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch { /* no storage: the system decides */ }
})();
