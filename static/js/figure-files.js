// Draws the figures of a page that is read by a program: each as SVG and PNG, as text of the page.
(async function () {
  "use strict";
  const { specs, width, dots, notes } = JSON.parse(document.getElementById("figure-data").textContent);
  const look = window.planjuryFigures;
  const SIZE = 9.5, LINE = 14, EDGE = 8, LETTER = 5.1;
  // Words in lines that fit the width.
  function lines(text, room) {
    const found = [""];
    for (const word of text.split(" ").filter(Boolean)) {
      const longer = (found[found.length - 1] + " " + word).trim();
      if (longer.length * LETTER > room && found[found.length - 1]) found.push(word);
      else found[found.length - 1] = longer;
    }
    return found.filter(Boolean);
  }
  // The picture with what marks it as not the real thing under it.
  function noted(svg, note, made) {
    const by = made.mm ? made.width / (made.mm / 25.4 * 96) : 1;
    const said = lines(note, (made.width - 2 * EDGE) / by);
    if (!said.length) return { svg, ...made };
    const height = made.height + Math.ceil((said.length * LINE + EDGE) * by);
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
    said.forEach((line, n) => add("text", {
      x: EDGE * by, y: made.height + (n + 0.75) * LINE * by,
      "font-size": SIZE * by, "font-family": "Helvetica, Arial, 'Liberation Sans', sans-serif", fill: "#555",
    }, line));
    return { ...made, height, svg: new XMLSerializer().serializeToString(picture) };
  }
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
    const plain = await window.Plotly.toImage({ data: made.data, layout: made.layout }, size);
    const drawn = noted(plain, notes[name] || "", made);
    const svg = look.measured(drawn.svg, drawn);
    files[name] = { svg, png: await png(svg, drawn) };
  }
  const text = document.createElement("pre");
  text.id = "figure-files";
  text.textContent = JSON.stringify(files);
  document.body.append(text);
})();
