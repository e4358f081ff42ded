// A system's own reply form: keys that lead to its parts, a field that finds among folded tools, an
// editor of steps, and scores by keys.
(function () {
  "use strict";
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const known = new WeakSet();
  const first = (selector) => all(selector).find((found) => !known.has(found) && known.add(found));

  function goTo(place) {
    place.scrollIntoView({ block: "center" });
    place.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-reply-keys] a[data-key]");
    const place = link && document.querySelector(link.getAttribute("href"));
    if (!place) return;
    event.preventDefault();
    goTo(place);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    const link = document.querySelector('[data-reply-keys] a[data-key="' + CSS.escape(event.key) + '"]');
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  // The start of a text: a draft, the last plan, or nothing.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fill]");
    if (!button) return;
    const field = document.getElementById(button.dataset.fill);
    field.value = button.dataset.fillText;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });

  // Steps of a plan: Enter begins the next number, and how the text is read (as
  // systems/adaplanbench/plans.py reads it) shows below.
  const number = /^\s*(?:step\s*)?(\d{1,3})\s*(?:[.):](?!\d)|-(?!\w))\s*/i;
  const bullet = /^\s*[-*•]\s+/;

  function readSteps(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const marker = [number, bullet].find((one) => lines.some((line) => one.test(line)));
    if (!marker) return lines;
    const steps = [];
    for (const line of lines) {
      if (marker.test(line)) steps.push(line.replace(marker, "").trim());
      else if (steps.length) steps[steps.length - 1] = (steps[steps.length - 1] + " " + line).trim();
    }
    return steps.filter(Boolean);
  }

  function showSteps(field) {
    const preview = document.getElementById(field.dataset.steps);
    const steps = readSteps(field.value);
    preview.hidden = !steps.length;
    preview.querySelector("ol").replaceChildren(...steps.map((step) => {
      const item = document.createElement("li");
      item.textContent = step;
      return item;
    }));
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("textarea[data-steps]")) showSteps(event.target);
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches("textarea[data-steps]") || event.key !== "Enter" || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const start = field.selectionStart;
    const line = field.value.slice(field.value.lastIndexOf("\n", start - 1) + 1, start);
    const found = number.exec(line);
    if (!found || line.trim() === found[0].trim()) return;
    event.preventDefault();
    field.setRangeText("\n" + (Number(found[1]) + 1) + ". ", start, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // A sheet of scores: 1 to 5 answers the question that has the focus, else the first open one.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-5]$/.test(event.key)) return;
    if (event.target.closest("input:not([type=radio]), textarea, select, dialog")) return;
    const form = document.querySelector("[data-scale-keys]");
    if (!form) return;
    const scales = all(".score", form);
    const scale = scales.find((one) => one.contains(event.target))
      || scales.find((one) => !one.querySelector(":checked"));
    if (!scale) return;
    event.preventDefault();
    const choice = scale.querySelector('[type=radio][value="' + event.key + '"]');
    choice.checked = true;
    choice.dispatchEvent(new Event("input", { bubbles: true }));
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    const next = scales[scales.indexOf(scale) + 1];
    goTo(next ? next.querySelector("[type=radio]:checked") || next.querySelector("[type=radio]")
      : form.querySelector("button[type=submit]"));
  });

  function setUp() {
    const finder = first("[data-find]");
    if (finder) find(finder);
    const refused = first("[aria-invalid=true]");
    if (refused) goTo(refused);
    const steps = first("textarea[data-steps]");
    if (steps && steps.value) showSteps(steps);
  }

  function find(finder) {
    const field = finder.querySelector("input");
    const said = finder.querySelector("[data-found]");
    const tools = all("[data-tool]").map((tool) => ({
      tool,
      words: tool.querySelector("summary").textContent.toLowerCase(),
    }));
    const earlier = document.querySelector("[data-earlier]");
    finder.hidden = false;
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      if (wanted.length && earlier) earlier.open = true;
      for (const { tool, words } of tools) {
        tool.hidden = !wanted.every((word) => words.includes(word));
        count += tool.hidden ? 0 : 1;
      }
      said.textContent = wanted.length ? count + (count === 1 ? " tool fits." : " tools fit.") : "";
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const fits = tools.find(({ tool }) => !tool.hidden);
      if (!fits) return;
      fits.tool.open = true;
      goTo(fits.tool.querySelector("form input[type=text], form button"));
    });
  }

  setUp();
  // What a script brings in later.
  document.addEventListener("htmx:load", setUp);
})();
