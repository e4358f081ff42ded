// Copies the text of an element: a button with data-copy="ID".
(function () {
  "use strict";
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-copy]");
    const source = button && document.getElementById(button.dataset.copy);
    if (!source) return;
    const { notice } = window.planjury || {};
    try {
      await navigator.clipboard.writeText(source.innerText.trim());
      if (notice) notice("Copied.", { kind: "success" });
    } catch (error) {
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (notice) notice("The text is marked; copy it with the keyboard.", { kind: "info" });
    }
  });
})();

// Filters that htmx brings in stay open beside the report, as app.js opens the first ones.
(function () {
  "use strict";
  const wide = matchMedia("(min-width: 60rem)");
  document.addEventListener("htmx:load", () => {
    for (const rail of document.querySelectorAll("#analysis details.rail")) rail.open = wide.matches;
  });
})();
