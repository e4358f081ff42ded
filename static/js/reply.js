// A system's own reply form: keys that lead to its parts, and a field that finds among folded tools.
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

  function setUp() {
    const finder = first("[data-find]");
    if (finder) find(finder);
    const refused = first("[aria-invalid=true]");
    if (refused) goTo(refused);
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
