// Draws each [data-figure] when it comes into view: JSON from data-src, the Plotly script once,
// one template for light and dark. A figure's JSON names colours as "var(--series-1)".
(function () {
  "use strict";
  const library = document.currentScript.dataset.plotly;
  const drawn = new Map();
  let loading = null;

  function loadPlotly() {
    loading ||= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = library;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => {
        loading = null;
        reject(new Error("the drawing library did not load"));
      };
      document.head.append(script);
    });
    return loading;
  }

  // Colours come from the stylesheet; scheme asks for the other theme's, e.g. light for a file.
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

  function template(colour, forFile) {
    const axis = {
      automargin: true,
      gridcolor: colour("var(--line)"),
      linecolor: colour("var(--line-strong)"),
      zerolinecolor: colour("var(--line-strong)"),
      tickcolor: colour("var(--line-strong)"),
      ticks: "outside",
      ticklen: 4,
      title: { standoff: 10, font: { size: 12.5 } },
    };
    const ground = forFile ? colour("var(--page)") : "rgba(0, 0, 0, 0)";
    const series = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour("var(--series-" + n + ")"));
    const steps = [["var(--page)", 0], ["var(--accent-line)", 0.5], ["var(--accent)", 1]];
    return {
      layout: {
        paper_bgcolor: ground,
        plot_bgcolor: ground,
        colorway: series,
        font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("var(--ink-2)") },
        margin: { t: 16, r: 16, b: 48, l: 56 },
        xaxis: { ...axis, showgrid: false },
        yaxis: axis,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { color: colour("var(--ink)"), size: 12.5 } },
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
        scatter: [{ line: { width: 2 }, marker: { size: 7 }, error_y: { thickness: 1.25, width: 3 }, error_x: { thickness: 1.25, width: 3 } }],
      },
    };
  }

  // Panels that stand side by side are stacked on a narrow screen, where the figure has a layout for it.
  const small = matchMedia("(max-width: 40rem)");
  const layoutOf = (spec) => (small.matches && spec.narrow) || spec.layout || {};
  function makeRoom(box, spec) {
    const { height, meta } = layoutOf(spec);
    box.style.height = height ? height + "px" : "var(--figure-height, 22rem)";
    box.style.minWidth = meta && meta.minWidth ? meta.minWidth + "px" : "";
    // What scrolls must be reached by keyboard.
    const plot = box.parentElement;
    if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
    else plot.removeAttribute("tabindex");
  }

  function dressed(spec, { scheme, forFile = false } = {}) {
    const { get, done } = palette(scheme);
    const layout = resolve(layoutOf(spec), get);
    layout.template = template(get, forFile);
    layout.autosize = true;
    if (matchMedia("(pointer: coarse)").matches && !("dragmode" in layout)) layout.dragmode = false;
    const figure = { data: resolve(spec.data || [], get), layout };
    done();
    return figure;
  }

  function say(plot, words, retry) {
    const note = document.createElement("div");
    note.className = "note " + (retry ? "error" : "info");
    const text = document.createElement("p");
    text.textContent = words;
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
      const [answer, Plotly] = await Promise.all([
        fetch(figure.dataset.src, { headers: { Accept: "application/json" }, credentials: "same-origin" }),
        loadPlotly(),
      ]);
      if (!answer.ok) throw new Error("the server answered " + answer.status);
      const spec = await answer.json();
      if (spec.empty) {
        say(plot, spec.empty);
        return;
      }
      const box = document.createElement("div");
      box.setAttribute("role", "img");
      box.setAttribute("aria-labelledby", figure.id + "-caption");
      plot.replaceChildren(box);
      makeRoom(box, spec);
      const { data, layout } = dressed(spec);
      await Plotly.newPlot(box, data, layout, { responsive: true, displayModeBar: false, displaylogo: false });
      // A point may link to what it counts.
      box.on("plotly_click", (event) => {
        const to = event.points[0] && event.points[0].customdata;
        const url = to && typeof to === "object" ? to.url : to;
        if (typeof url === "string" && /^\/(?!\/)/.test(url)) location.assign(url);
      });
      drawn.set(figure, { box, spec });
      figure.dataset.drawn = "";
    } catch (error) {
      const table = figure.querySelector("details .table") ? " The table below holds the same numbers." : "";
      say(plot, "The figure could not be drawn: " + error.message + "." + table, () => draw(figure));
    }
  }

  function redraw(options) {
    for (const [figure, { box, spec }] of drawn) {
      if (!figure.isConnected) {
        drawn.delete(figure);
        continue;
      }
      const { data, layout } = dressed(spec, options);
      window.Plotly.react(box, data, layout);
    }
  }
  document.addEventListener("themechange", () => redraw());
  window.addEventListener("beforeprint", () => redraw({ scheme: "light" }));
  window.addEventListener("afterprint", () => redraw());

  // Files are always light and carry their own ground.
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-save]");
    const figure = button && button.closest("[data-figure]");
    const { box, spec } = (figure && drawn.get(figure)) || {};
    if (!box) return;
    const { data, layout } = dressed(spec, { scheme: "light", forFile: true });
    window.Plotly.downloadImage({ data, layout }, {
      format: button.dataset.save,
      filename: figure.dataset.name || "figure",
      width: box.clientWidth,
      height: box.clientHeight,
      scale: button.dataset.save === "png" ? 2 : 1,
    });
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
})();
