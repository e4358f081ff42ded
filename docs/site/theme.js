// The product and its documentation show one theme: static/js/theme.js keeps the choice as "theme". The build puts
// this before the script that draws a page in the palette that was kept for the documentation.
(function () {
  const inputs = document.querySelectorAll("input[name='__palette']");
  const mediaOf = (theme) => `(prefers-color-scheme${theme ? `: ${theme}` : ""})`;
  let chosen;
  try {
    chosen = localStorage.getItem("theme");
  } catch (error) {
    return; // No storage: the system's theme holds.
  }
  inputs.forEach((input, index) => {
    const { mdColorMedia: media, mdColorScheme: scheme, mdColorPrimary: primary, mdColorAccent: accent } = input.dataset;
    if (media === mediaOf(chosen)) __md_set("__palette", { index, color: { media, scheme, primary, accent } });
    input.addEventListener("change", () => {
      const theme = ["light", "dark"].find((name) => media === mediaOf(name));
      if (theme) localStorage.setItem("theme", theme);
      else localStorage.removeItem("theme");
    });
  });
})();
