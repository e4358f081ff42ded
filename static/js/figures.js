// Draws each [data-figure] when it comes into view: JSON from data-src, the Plotly script loaded once.
// A figure's JSON names colours as "var(--series-1)".
import { notice } from "./common.js";
import { dress, embedTypeface, fitToPaper, loadTypeface, mergeLayout, renderPng, setSize } from "./figure-look.js";

const { plotly: source, typeface } = document.querySelector("script[data-plotly]").dataset;
const drawn = new Map();
let loading = null;
// How often figures were drawn again for another theme, width or paper.
let changes = 0;

function loadPlotly() {
  loading ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error("the drawing library did not load"));
    };
    document.head.append(script);
  });
  return loading;
}

// On a narrow screen, panels side by side are stacked if the figure has a layout for that.
const small = matchMedia("(max-width: 40rem)");
const layoutOf = (spec) => mergeLayout(spec.layout, small.matches && spec.narrow);
function makeRoom(box, spec) {
  const { height, meta } = layoutOf(spec);
  box.style.height = height ? height + "px" : "var(--figure-height, 22rem)";
  box.style.minWidth = meta && meta.minWidth ? meta.minWidth + "px" : "";
  // A scrolling box must be reachable by keyboard.
  const plot = box.parentElement;
  if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
  else plot.removeAttribute("tabindex");
}

function dressForScreen(spec, options) {
  const layout = { ...layoutOf(spec), autosize: true };
  if (matchMedia("(pointer: coarse)").matches && !("dragmode" in layout)) layout.dragmode = false;
  return dress(spec, layout, options);
}

function showMessage(plot, message, retry) {
  const note = document.createElement("div");
  note.className = "note " + (retry ? "error" : "info");
  const text = document.createElement("p");
  text.textContent = message;
  note.append(text);
  if (retry) {
    note.setAttribute("role", "alert");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "secondary compact close";
    button.textContent = "Try again";
    button.addEventListener("click", retry);
    note.append(button);
  }
  plot.replaceChildren(note);
}

async function draw(figure) {
  const plot = figure.querySelector(".figure-plot");
  try {
    const library = loadPlotly();
    library.catch(() => {}); // reported where it is awaited below
    const answer = await fetch(figure.dataset.src, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    if (answer.status === 409) {
      showMessage(plot, await answer.text());
      return;
    }
    if (!answer.ok) throw new Error("the server answered " + answer.status);
    const spec = await answer.json();
    // Only now is the library needed; it takes long on a slow machine.
    const Plotly = await library;
    const box = document.createElement("div");
    box.setAttribute("role", "img");
    box.setAttribute("aria-labelledby", figure.id + "-caption");
    plot.replaceChildren(box);
    makeRoom(box, spec);
    const { data, layout } = dressForScreen(spec), before = changes;
    await Plotly.newPlot(box, data, layout, { responsive: true, displayModeBar: false, displaylogo: false });
    // Firefox gives screen readers what is within an image: ticks and names without their values.
    for (const part of box.children) part.ariaHidden = "true";
    // A point may carry a link.
    box.on("plotly_click", (event) => {
      const to = event.points[0] && event.points[0].customdata;
      const url = to && typeof to === "object" ? to.url : to;
      if (typeof url === "string" && /^\/(?!\/)/.test(url)) location.assign(url);
    });
    drawn.set(figure, { box, spec });
    if (changes !== before) redraw();
    figure.dataset.drawn = "";
  } catch (error) {
    const table = figure.querySelector("details .table") ? " The table below holds the same numbers." : "";
    showMessage(plot, "The figure could not be drawn: " + error.message + "." + table, () => draw(figure));
  }
}

function redraw(options) {
  changes += 1;
  for (const [figure, { box, spec }] of drawn) {
    if (!figure.isConnected) {
      drawn.delete(figure);
      continue;
    }
    makeRoom(box, spec);
    const { data, layout } = dressForScreen(spec, options);
    window.Plotly.react(box, data, layout);
  }
}
// A narrower window (or a phone that is turned) may make a figure scroll.
window.addEventListener("resize", () => drawn.forEach(({ box, spec }) => makeRoom(box, spec)));
small.addEventListener("change", () => redraw());
document.addEventListener("themechange", () => redraw());
window.addEventListener("beforeprint", () => redraw({ scheme: "light" }));
window.addEventListener("afterprint", () => redraw());

// --- Files: always in light colours, laid out for the chosen width ------------------------------
const NAMES = { column: "85mm", wide: "178mm", page: "page" };
const DOTS = { column: 600, wide: 600, page: 192 };
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
// What the page calls its files, else its heading, with the figure.
function fileName(figure, width) {
  const within = figure.closest("[data-file]");
  const about = within ? within.dataset.file : slug(document.querySelector("h1").textContent).slice(0, 80);
  const part = slug(figure.dataset.name);
  return [about, ...(about.startsWith(part) ? [] : [part]), NAMES[width]].join("-");
}
function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
async function save(figure, format, width) {
  const { box, spec } = drawn.get(figure) || {};
  if (!box) return;
  await loadTypeface(typeface);
  const parts = fitToPaper(spec, width, box);
  for (const [n, made] of parts.entries()) {
    const name = fileName(figure, width) + (parts.length > 1 ? "-part-" + (n + 1) : "") + "." + format;
    const size = { format: "svg", imageDataOnly: true, width: made.width, height: made.height, scale: 1 };
    const plain = await window.Plotly.toImage({ data: made.data, layout: made.layout }, size);
    const svg = await embedTypeface(setSize(plain, made));
    if (format === "svg") download(new Blob([svg], { type: "image/svg+xml" }), name);
    else {
      const bytes = Uint8Array.from(atob(await renderPng(svg, made, DOTS[width])), (letter) => letter.charCodeAt(0));
      download(new Blob([bytes], { type: "image/png" }), name);
    }
  }
  const { mm } = parts[0];
  if (parts.length > 1) notice("Too high for one column: saved in " + parts.length + " parts.");
  else if (parts[0].tall) notice("This figure is too large for " + mm + " mm on one page. Choose a wider one for easier reading.");
}
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-save]");
  const figure = button && button.closest("[data-figure]");
  if (!figure) return;
  const menu = button.closest("details");
  if (menu) menu.open = false;
  if (!drawn.has(figure)) notice("The figure is not drawn yet.");
  else save(figure, button.dataset.save, button.dataset.width || "page");
});

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    draw(target);
  }
}, { rootMargin: "300px" });
function watch(within) {
  for (const figure of within.querySelectorAll("[data-figure]:not([data-watched])")) {
    figure.dataset.watched = "";
    watcher.observe(figure);
  }
}
document.addEventListener("htmx:load", (event) => watch(event.detail.elt.parentElement || document));
watch(document);
