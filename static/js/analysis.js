// Filters that htmx brings in stay open beside the report, as app.js opens the first ones.
(function () {
  "use strict";
  const wide = matchMedia("(min-width: 60rem)");
  document.addEventListener("htmx:load", () => {
    for (const rail of document.querySelectorAll("#analysis details:is(.rail, .places)")) rail.open = wide.matches;
  });
})();
