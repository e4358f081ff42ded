// Draws the figures of a page that is read by a program: each as SVG and PNG, as text of the page.
(async function () {
  "use strict";
  const { specs, width, dots } = JSON.parse(document.getElementById("figure-data").textContent);
  const look = window.planjuryFigures;
  async function png(svg, { width, height, mm }) {
    const picture = new Image();
    picture.src = "data:image/svg+xml," + encodeURIComponent(svg);
    await picture.decode();
    const scale = dots / 96 * (mm ? mm / 25.4 * 96 / width : 1);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png").split(",")[1];
  }
  const files = {};
  for (const [name, spec] of Object.entries(specs)) {
    const made = look.paper(spec, width);
    const size = { format: "svg", imageDataOnly: true, width: made.width, height: made.height };
    const svg = await window.Plotly.toImage({ data: made.data, layout: made.layout }, size);
    files[name] = { svg: look.measured(svg, made), png: await png(svg, made) };
  }
  const text = document.createElement("pre");
  text.id = "figure-files";
  text.textContent = JSON.stringify(files);
  document.body.append(text);
})();
