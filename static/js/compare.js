// Trajectories side by side: one at a time on a phone, keys that take the next choice, and the
// place in the frame, which stays when its rows come in anew.
(function () {
  "use strict";
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  // --- The trajectory that a narrow screen shows; the address says which --------------------------
  function pick(link) {
    const frame = document.querySelector("[data-only]");
    if (!frame) return;
    frame.dataset.only = link.dataset.pick;
    for (const other of all("[data-pick]")) {
      if (other === link) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    const address = new URL(location.href);
    if (link.dataset.pick === "1") address.searchParams.delete("col");
    else address.searchParams.set("col", link.dataset.pick);
    history.replaceState(history.state, "", address);
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("[data-pick]") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    pick(link);
  });

  // --- Keys: each takes the next of a few choices, counted from the one whose answer is under way --
  let asked = null;
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => { asked = null; });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const links = all('[data-switch="' + CSS.escape(event.key) + '"]');
    if (!links.length) return;
    event.preventDefault();
    const now = links.includes(asked)
      ? links.indexOf(asked)
      : links.findIndex((link) => link.hasAttribute("aria-current"));
    asked = links[(now + 1) % links.length];
    asked.click();
  });

  // --- The place in a frame ----------------------------------------------------------------------
  let place = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const frame = document.querySelector("[data-frame]");
    place = event.detail.target.id === "compare" && frame ? [frame.scrollLeft, frame.scrollTop] : null;
  });
  document.addEventListener("htmx:afterSettle", () => {
    const frame = document.querySelector("[data-frame]");
    if (frame && place) frame.scrollTo(place[0], place[1]);
    place = null;
  });
})();
