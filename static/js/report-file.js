// Draws the figures of a report in one file, from the data beside them; again when the theme changes.
(function () {
  "use strict";
  const small = matchMedia("(max-width: 40rem)");
  const drawn = [];
  function layoutOf(spec) {
    return (small.matches && spec.narrow) || spec.layout || {};
  }
  function draw({ plot, spec }, scheme) {
    const chosen = layoutOf(spec);
    plot.style.height = (chosen.height || 450) + "px";
    plot.style.minWidth = chosen.meta && chosen.meta.minWidth ? chosen.meta.minWidth + "px" : "";
    const { data, layout } = window.planjuryFigures.dressed(spec, { ...chosen, autosize: true, dragmode: false }, { scheme });
    return window.Plotly.react(plot, data, layout, { responsive: true, displayModeBar: false });
  }
  for (const figure of document.querySelectorAll("[data-figure]")) {
    const plot = figure.querySelector(".plot");
    const box = document.createElement("div");
    plot.append(box);
    box.setAttribute("role", "img");
    box.setAttribute("aria-labelledby", figure.id + "-caption");
    const one = { plot: box, spec: JSON.parse(document.getElementById(figure.dataset.figure).textContent) };
    drawn.push(one);
    draw(one).then(() => {
      figure.dataset.drawn = "";
      if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
    });
  }
  const again = (scheme) => drawn.forEach((one) => draw(one, scheme));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again());
  window.addEventListener("beforeprint", () => again("light"));
  window.addEventListener("afterprint", () => again());
})();
