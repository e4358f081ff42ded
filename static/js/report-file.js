// Draws the figures of a one-file report from the data in the file, and again when the theme changes.
import { dress, mergeLayout } from "./figure-look.js";

const narrowScreen = matchMedia("(max-width: 40rem)");
const drawnFigures = [];
function layoutOf(spec) {
  return mergeLayout(spec.layout, narrowScreen.matches && spec.narrow);
}
function draw({ plot, spec }, scheme) {
  const chosen = layoutOf(spec);
  plot.style.height = (chosen.height || 450) + "px";
  plot.style.minWidth = chosen.meta && chosen.meta.minWidth ? chosen.meta.minWidth + "px" : "";
  const { data, layout } = dress(spec, { ...chosen, autosize: true, dragmode: false }, { scheme });
  return window.Plotly.react(plot, data, layout, { responsive: true, displayModeBar: false });
}
for (const figure of document.querySelectorAll("[data-figure]")) {
  const plot = figure.querySelector(".plot");
  const box = document.createElement("div");
  plot.append(box);
  box.setAttribute("role", "img");
  box.setAttribute("aria-labelledby", figure.id + "-caption");
  const one = { plot: box, spec: JSON.parse(document.getElementById(figure.dataset.figure).textContent) };
  drawnFigures.push(one);
  draw(one).then(() => {
    figure.dataset.drawn = "";
    for (const part of box.children) part.ariaHidden = "true";
    if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
  });
}
const redraw = (scheme) => drawnFigures.forEach((one) => draw(one, scheme));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
window.addEventListener("beforeprint", () => redraw("light"));
window.addEventListener("afterprint", () => redraw());
