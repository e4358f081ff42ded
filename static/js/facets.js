// The facets of a list come anew with other counts at every choice: what was open stays open.
(function () {
  "use strict";
  const form = document.querySelector("[data-facets]");
  if (!form) return;
  // What a reader has opened or folded, by id.
  const folded = new Map();
  document.addEventListener("toggle", (event) => {
    const part = event.target;
    if (part instanceof HTMLDetailsElement && form.contains(part) && part.id) folded.set(part.id, part.open);
  }, true);
  document.addEventListener("htmx:oobAfterSwap", () => {
    for (const [id, open] of folded) {
      const part = document.getElementById(id);
      if (part instanceof HTMLDetailsElement) part.open = open;
    }
  });
})();
