// Draws the one figure of a page that is printed to PDF, on a sheet of its size.
(function () {
  "use strict";
  const { spec, width } = JSON.parse(document.getElementById("figure-data").textContent);
  const drawn = window.planjuryFigures.paper(spec, width);
  const mm = drawn.mm || drawn.width * 25.4 / 96;
  const scale = mm * 96 / 25.4 / drawn.width;
  document.styleSheets[0].insertRule("@page { size: " + mm + "mm " + (drawn.height * scale * 25.4 / 96 + 0.1) + "mm; margin: 0; }", 0);
  const box = document.getElementById("figure");
  box.style.zoom = scale;
  window.Plotly.newPlot(box, drawn.data, { ...drawn.layout, width: drawn.width, height: drawn.height }, { staticPlot: true });
})();
