// Runs before the page is drawn, so that the stored theme never flashes.
(function () {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (error) {
    // No storage: the system's theme holds.
  }
})();
