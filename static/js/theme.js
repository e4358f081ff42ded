// Runs before the page is drawn, so that the stored theme never flashes and no early click is lost.
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (error) {
    // No storage: the system's theme holds.
  }
  // A button that only scripts hear is clicked again once all of them are there.
  let early = null;
  const keep = (event) => {
    const button = event.target instanceof Element && event.target.closest("button[type=button]");
    if (!button) return;
    early = button;
    event.stopImmediatePropagation();
  };
  window.addEventListener("click", keep, true);
  document.addEventListener("DOMContentLoaded", () => {
    window.removeEventListener("click", keep, true);
    if (early && early.isConnected) early.click();
  });
})();
