// How figures look: the stylesheet's colours, one Plotly template for light and dark, and a layout for
// paper. Used by pages, by one-file reports, and to make figure files. The last two hold this text within
// one script: names at the top level must differ from those of figure-files.js and report-file.js.
// Reads colours from the stylesheet; `scheme` asks for the other theme's, such as light for a file.
function palette(scheme) {
  const probe = document.createElement("span");
  if (scheme) probe.style.colorScheme = scheme;
  document.body.append(probe);
  const found = {};
  const get = (value) => {
    if (!(value in found)) {
      probe.style.color = value;
      found[value] = getComputedStyle(probe).color;
    }
    return found[value];
  };
  return { get, done: () => probe.remove() };
}
function resolve(value, colour) {
  if (typeof value === "string") return value.startsWith("var(--") ? colour(value) : value;
  if (Array.isArray(value)) return value.map((part) => resolve(part, colour));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part, colour)]));
  }
  return value;
}

const FONT_SIZE = 12.5;
function template(colour, { forFile = false, font, scale = 1 } = {}) {
  const axis = {
    automargin: true,
    gridcolor: colour("var(--line)"),
    linecolor: colour("var(--line-strong)"),
    zerolinecolor: colour("var(--line-strong)"),
    tickcolor: colour("var(--line-strong)"),
    ticks: "outside",
    ticklen: 4,
    title: { standoff: 10 * scale, font: { size: FONT_SIZE * scale } },
  };
  // A file is for a white page, whatever the ground of ours.
  const ground = forFile ? "#fff" : "rgba(0, 0, 0, 0)";
  const series = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour("var(--series-" + n + ")"));
  // Up to a tint on which words are readable in both themes.
  const steps = [[forFile ? "#fff" : "var(--page)", 0], ["var(--heat)", 1]];
  return {
    layout: {
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      colorway: series,
      font: {
        family: font || getComputedStyle(document.body).fontFamily,
        size: FONT_SIZE * scale,
        color: colour(forFile ? "var(--ink)" : "var(--ink-2)"),
      },
      margin: { t: 16, r: 16, b: 48, l: 56 },
      xaxis: { ...axis, showgrid: false },
      yaxis: axis,
      legend: {
        // By default a legend that takes more than half of the figure is cut off.
        orientation: "h", x: 0, y: 1.02, yanchor: "bottom", maxheight: 1, ...(forFile ? { tracegroupgap: 0 } : {}),
        font: { color: colour("var(--ink)"), size: FONT_SIZE * scale },
      },
      hoverlabel: {
        bgcolor: colour("var(--raised)"),
        bordercolor: colour("var(--line-strong)"),
        font: { color: colour("var(--ink)") },
        align: "left",
      },
      colorscale: { sequential: steps.map(([name, at]) => [at, colour(name)]) },
      bargap: 0.3,
      hovermode: "closest",
    },
    data: {
      heatmap: [{ textfont: { color: colour("var(--ink)") } }],
      scatter: [{ line: { width: 2 * scale }, marker: { size: 7 * scale }, error_y: { thickness: 1.25, width: 3 }, error_x: { thickness: 1.25, width: 3 } }],
    },
  };
}

// A figure's data and layout with resolved colours and the template, ready to be drawn.
export function dress(spec, layout, { scheme, forFile = false, font, scale } = {}) {
  const { get, done } = palette(scheme);
  const finished = resolve(layout, get);
  finished.template = template(get, { forFile, font, scale });
  const figure = { data: resolve(spec.data || [], get), layout: finished };
  done();
  return figure;
}

// Returns a layout with what another one of the same figure changes; null stands for what that leaves out.
export function mergeLayout(layout = {}, changes) {
  const merged = { ...layout };
  for (const [key, value] of Object.entries(changes || {})) {
    const both = [value, layout[key]].every((part) => part && typeof part === "object" && !Array.isArray(part));
    merged[key] = both ? mergeLayout(layout[key], value) : value;
    if (value === null) delete merged[key];
  }
  return merged;
}

// --- Paper -------------------------------------------------------------------------------------
// A figure as wide as one column or two, laid out for that width: with 7.5 pt type, instead of type that
// shrinks with the picture.
const MILLIMETRES = { column: 85, wide: 178 };
const PIXELS = 96 / 25.4;
const PRINT_SCALE = 0.8;
const SMALL_FONT = 9.5;
// Columns of cells that have room for a percent sign.
const MOST_SIGNS = 9;
const MIN_HEIGHT_SCALE = 0.9;
const MAX_HEIGHT_MM = 235;
const TYPEFACE = "PlanJury Sans Figures";
export const PRINT_FONT = "'" + TYPEFACE + "', Helvetica, Arial, 'Liberation Sans', sans-serif";
// Bars that differ in colour get different hatching, too.
const HATCHES = ["", "/", "x", ".", "\\", "-", "|", "+"];

function scaleFonts(value, by) {
  if (Array.isArray(value)) return value.map((part) => scaleFonts(part, by));
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => {
    if (/font$/i.test(key) && part && typeof part.size === "number") return [key, { ...part, size: part.size * by }];
    return [key, scaleFonts(part, by)];
  }));
}
function addHatches(data) {
  const bars = new Set(data.filter((trace) => trace.type === "bar" && trace.name).map((trace) => trace.name));
  if (bars.size < 2) return data;
  const order = Array.from(bars);
  return data.map((trace) => {
    const marker = trace.marker || {};
    if (trace.type !== "bar" || marker.pattern) return trace;
    const shape = HATCHES[order.indexOf(trace.name) % HATCHES.length];
    return { ...trace, marker: { ...marker, pattern: { shape, size: 5, solidity: 0.25, fillmode: "overlay" } } };
  });
}
// Returns the traces that a part of a figure has axes for. What the legend would lose with the others, a trace
// of the same name says.
function tracesOf(data, layout) {
  const here = (trace) => ["x", "y"].every((way) => way + "axis" + (trace[way + "axis"] || way).slice(1) in layout);
  const named = new Set(data.filter((trace) => !here(trace) && trace.name && trace.showlegend !== false).map((trace) => trace.name));
  return data.filter(here).map((trace) => named.delete(trace.name) ? { ...trace, showlegend: true } : trace);
}
// Returns a list of {data, layout, width, height (px), mm, tall}: in one column, a figure may have several
// parts. The width "page" is that of the box on the screen. `tall`: it needs more room than a page has.
export function fitToPaper(spec, name, box) {
  const mm = MILLIMETRES[name];
  if (!mm) {
    const figure = dress(spec, spec.layout || {}, { scheme: "light", forFile: true, font: PRINT_FONT });
    const width = box ? box.clientWidth : 900;
    return [{ ...figure, width, height: (spec.layout || {}).height || 450, mm: 0, tall: false }];
  }
  const data = addHatches(spec.data || []);
  if (name !== "column") return [fitPart(data, spec.layout || {}, mm)];
  const changes = spec.column || [spec.narrow];
  return changes.map((one) => {
    const layout = mergeLayout(spec.layout, one);
    const traces = changes.length > 1 ? tracesOf(data, layout) : data;
    return fitPart(traces, layout, mm, { narrow: true });
  });
}
// The width of a digit, and the room between two numbers under an axis, in px.
const DIGIT = 6, BETWEEN_TICKS = 8;
// Spreads the numbers under axes with steps of their own, so that they do not touch.
function spreadTicks(traces, layout, width) {
  for (const [name, axis] of Object.entries(layout)) {
    if (!name.startsWith("xaxis") || typeof axis.dtick !== "number" || axis.type === "category") continue;
    const key = "x" + name.slice(5), shared = axis.matches || key;
    const along = traces.filter((trace) => {
      const own = trace.xaxis || "x";
      return own === key || own === shared || (layout["xaxis" + own.slice(1)] || {}).matches === shared;
    });
    const values = [...along.flatMap((trace) => Array.from(trace.x || [])), ...(axis.range || [])].filter(Number.isFinite);
    if (!values.length) continue;
    const low = Math.min(...values), high = Math.max(...values);
    const [left, right] = axis.domain || [0, 1];
    const letters = Math.max(String(Math.round(low)).length, String(Math.round(high)).length);
    const most = Math.max(2, Math.floor((right - left) * (width - 60) / (letters * DIGIT + BETWEEN_TICKS)));
    const every = Math.ceil((high - low) / axis.dtick / most);
    if (every > 1) layout[name] = { ...axis, dtick: axis.dtick * every };
  }
}
function fitPart(data, chosen, mm, { narrow = false } = {}) {
  const wanted = Math.round(mm * PIXELS);
  // A figure that needs more room is drawn larger and scaled down.
  const width = Math.max(wanted, (chosen.meta && chosen.meta.minWidth) || 0);
  const by = PRINT_SCALE * (width / wanted);
  const height = Math.round((chosen.height || 450) * Math.max(MIN_HEIGHT_SCALE, by));
  const tall = height * (mm / width) > MAX_HEIGHT_MM || width > 1.2 * wanted;
  const layout = { ...scaleFonts(chosen, by), width, height, autosize: false };
  const margin = { ...(layout.margin || {}) };
  for (const side of ["l", "r"]) if (margin[side] > 16) margin[side] = Math.round(margin[side] * by);
  layout.margin = { r: 8, ...margin };
  const traces = scaleFonts(data, by);
  if (narrow) spreadTicks(traces, layout, width);
  // In one column, cells with numbers need the room of the colour scale and of long names.
  if (narrow && traces.some((trace) => trace.texttemplate)) {
    for (const trace of traces) {
      trace.showscale = false;
      if (!trace.texttemplate || !(trace.text || []).flat().some((text) => /\d{3}%|.{5}/.test(text))) continue;
      // "100%" would touch its neighbours. Where columns are many, the caption says that cells are percentages.
      trace.textfont = { ...trace.textfont, size: FONT_SIZE * by * 0.85 };
      if (trace.x.length > MOST_SIGNS) trace.text = trace.text.map((row) => row.map((text) => text.replace("%", "")));
    }
    layout.yaxis = { ...layout.yaxis, tickfont: { size: SMALL_FONT * by } };
  }
  const figure = dress({ data: traces }, layout, { scheme: "light", forFile: true, font: PRINT_FONT, scale: by });
  return { ...figure, width, height, mm, tall };
}

// Gives an SVG its size in millimetres, so that typesetting programs use it as is.
export function setSize(svg, { width, height, mm }) {
  if (!mm) return svg;
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml");
  const root = picture.documentElement;
  root.setAttribute("viewBox", "0 0 " + width + " " + height);
  root.setAttribute("width", mm + "mm");
  root.setAttribute("height", (height * mm / width).toFixed(2) + "mm");
  return new XMLSerializer().serializeToString(picture);
}

// --- Typeface of files -------------------------------------------------------------------------
// A picture holds the typeface itself: it looks the same on machines that do not have it.

// Texts are measured before they are drawn, so the typeface must be there; `sheet` is the address of its
// stylesheet, which a page fetches when its first figure is saved.
export async function loadTypeface(sheet) {
  if (sheet && !document.querySelector("link[data-typeface]")) {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: sheet });
    link.dataset.typeface = "";
    await new Promise((resolve, reject) => {
      Object.assign(link, { onload: resolve, onerror: () => reject(new Error("the typeface did not load")) });
      document.head.append(link);
    });
  }
  for (const weight of ["400", "700"]) await document.fonts.load(weight + " 12px '" + TYPEFACE + "'");
}
function isCovered(ranges, text) {
  const parts = ranges.split(",").map((range) => range.trim().replace(/^U\+/i, "").split("-").map((code) => parseInt(code, 16)));
  return Array.from(text).some((letter) => {
    const code = letter.codePointAt(0);
    return parts.some(([first, last = first]) => first <= code && code <= last);
  });
}
async function asDataUrl(address) {
  if (address.startsWith("data:")) return address;
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
  return "data:font/woff2;base64," + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
// Returns the SVG with those files of the typeface whose letters it uses.
export async function embedTypeface(svg) {
  const text = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement.textContent;
  const weights = /font-weight:\s*(bold|[6-9]00)/.test(svg) ? ["400", "700"] : ["400"];
  let faces = "";
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSFontFaceRule) || !rule.style.getPropertyValue("font-family").includes(TYPEFACE)) continue;
      const ranges = rule.style.getPropertyValue("unicode-range"), weight = rule.style.getPropertyValue("font-weight");
      if (!weights.includes(weight) || !isCovered(ranges, text)) continue;
      const [, address] = /url\("?([^")]+)"?\)/.exec(rule.style.getPropertyValue("src"));
      const data = await asDataUrl(address.startsWith("data:") ? address : new URL(address, sheet.href).href);
      faces += "@font-face { font-family: '" + TYPEFACE + "'; src: url(" + data + ") format('woff2'); "
        + "font-weight: " + weight + "; unicode-range: " + ranges + "; }";
    }
  }
  return svg.replace(/<svg\b[^>]*>/, (head) => head + "<style>" + faces + "</style>");
}
// In milliseconds: what a typeface within a picture takes to load.
const FONT_PAUSE = 300;
// Returns the SVG as PNG, as bytes in base64.
export async function renderPng(svg, { width, height, mm }, dots) {
  const picture = new Image();
  picture.src = "data:image/svg+xml," + encodeURIComponent(svg);
  await picture.decode();
  const scale = dots / 96 * (mm ? mm / 25.4 * 96 / width : 1);
  const canvas = document.createElement("canvas");
  canvas.height = Math.round(height * scale);
  // A typeface within a picture is loaded when its letters are first drawn; until then they are left out.
  for (const pause of [0, FONT_PAUSE]) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    canvas.width = Math.round(width * scale);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  }
  return canvas.toDataURL("image/png").split(",")[1];
}
