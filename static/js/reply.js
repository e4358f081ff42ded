// A system's own reply form: keys that lead to its parts, and a field that finds among folded tools.
(function () {
  "use strict";
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  function goTo(place) {
    place.scrollIntoView({ block: "center" });
    place.focus({ preventScroll: true });
  }

  const keys = document.querySelector("[data-reply-keys]");
  if (keys) {
    for (const link of all("a[data-key]", keys)) {
      link.addEventListener("click", (event) => {
        const place = document.querySelector(link.getAttribute("href"));
        if (!place) return;
        event.preventDefault();
        goTo(place);
      });
    }
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
      const link = keys.querySelector('a[data-key="' + CSS.escape(event.key) + '"]');
      if (!link) return;
      event.preventDefault();
      link.click();
    });
  }

  const finder = document.querySelector("[data-find]");
  if (finder) {
    const field = finder.querySelector("input");
    const said = finder.querySelector("[data-found]");
    const tools = all("[data-tool]").map((tool) => ({
      tool,
      words: tool.querySelector("summary").textContent.toLowerCase(),
    }));
    const earlier = document.querySelector("[data-earlier]");
    finder.hidden = false;
    const find = () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      if (wanted.length && earlier) earlier.open = true;
      for (const { tool, words } of tools) {
        tool.hidden = !wanted.every((word) => words.includes(word));
        count += tool.hidden ? 0 : 1;
      }
      said.textContent = wanted.length ? count + (count === 1 ? " tool fits." : " tools fit.") : "";
    };
    field.addEventListener("input", find);
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const first = tools.find(({ tool }) => !tool.hidden);
      if (!first) return;
      first.tool.open = true;
      goTo(first.tool.querySelector("form input[type=text], form button"));
    });
  }

  const refused = document.querySelector("[aria-invalid=true]");
  if (refused) goTo(refused);
})();
