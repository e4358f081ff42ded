// On a page that a program reads: prints one figure to PDF, or draws all of them as SVG and PNG, as text
// of the page (analysis/exports/figure_page.py).
import { embedTypeface, fitToPaper, loadTypeface, PRINT_FONT, renderPng, setSize } from "./figure-look.js";

// Draws the figure on a sheet of its size, each of its parts on one.
function printFigure({ spec, width }) {
  const parts = fitToPaper(spec, width);
  const mm = parts[0].mm || parts[0].width * 25.4 / 96;
  const scale = mm * 96 / 25.4 / parts[0].width;
  const highest = Math.max(...parts.map((part) => part.height));
  document.styleSheets[0].insertRule("@page { size: " + mm + "mm " + (highest * scale * 25.4 / 96 + 0.1) + "mm; margin: 0; }", 0);
  const sheets = document.getElementById("figure");
  sheets.style.zoom = scale;
  for (const [n, part] of parts.entries()) {
    const box = document.createElement("div");
    if (n) box.style.breakBefore = "page";
    sheets.append(box);
    window.Plotly.newPlot(box, part.data, { ...part.layout, width: part.width, height: part.height }, { staticPlot: true });
  }
}

// Size of the text under a picture, in px.
const NOTE_FONT = 9.5, LINE = 14, EDGE = 8, LETTER = 5.1;

// Breaks a text into lines that fit the width.
function breakLines(text, room) {
  const lines = [""];
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = (lines[lines.length - 1] + " " + word).trim();
    if (longer.length * LETTER > room && lines[lines.length - 1]) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.filter(Boolean);
}
// Writes a note under the picture, such as "simulated data".
function addNote(svg, note, made) {
  const by = made.mm ? made.width / (made.mm / 25.4 * 96) : 1;
  const texts = breakLines(note, (made.width - 2 * EDGE) / by);
  if (!texts.length) return { svg, ...made };
  const height = made.height + Math.ceil((texts.length * LINE + EDGE) * by);
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml");
  const root = picture.documentElement;
  const add = (name, attributes, text) => {
    const part = picture.createElementNS(root.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    if (text) part.textContent = text;
    root.append(part);
  };
  root.setAttribute("height", height);
  root.setAttribute("viewBox", "0 0 " + made.width + " " + height);
  add("rect", { x: 0, y: made.height, width: made.width, height: height - made.height, fill: "#fff" });
  texts.forEach((line, n) => add("text", {
    x: EDGE * by, y: made.height + (n + 0.75) * LINE * by,
    "font-size": NOTE_FONT * by, "font-family": PRINT_FONT, fill: "#555",
  }, line));
  return { ...made, height, svg: new XMLSerializer().serializeToString(picture) };
}
async function makeFiles({ specs, width, dots, notes }) {
  const files = {};
  for (const [name, spec] of Object.entries(specs)) {
    const parts = fitToPaper(spec, width);
    for (const [n, made] of parts.entries()) {
      const size = { format: "svg", imageDataOnly: true, width: made.width, height: made.height };
      const plain = await window.Plotly.toImage({ data: made.data, layout: made.layout }, size);
      const drawn = addNote(plain, n === parts.length - 1 && notes[name] || "", made);
      const svg = await embedTypeface(setSize(drawn.svg, drawn));
      // What leads to addresses of the server is left out.
      const figure = { data: made.data.map((trace) => ({ ...trace, customdata: undefined })), layout: made.layout };
      files[n ? name + "-part-" + (n + 1) : name] = { svg, figure, png: await renderPng(svg, drawn, dots) };
    }
  }
  const text = document.createElement("pre");
  text.id = "figure-files";
  text.textContent = JSON.stringify(files);
  document.body.append(text);
}

await loadTypeface();
const figureData = JSON.parse(document.getElementById("figure-data").textContent);
if (figureData.specs) await makeFiles(figureData);
else printFigure(figureData);
