// On a narrow screen, what is read is a sheet over the questions (desk.css): closed, half or full height.
// It is no popover: what stands in the browser's top layer would cover the buttons beside a selection.

import { isTyping } from "./common.js";

const HANDLE = 44;

export function makeSheet(desk, signal) {
  if (!("sheet" in desk.dataset)) return { coversForm: () => false, open() {}, uncoverForm() {} };
  const pane = desk.querySelector(".desk-read");
  const bar = desk.querySelector(".desk-bar");
  const handle = pane.querySelector(".sheet-handle");
  const narrow = () => getComputedStyle(pane).position === "fixed";
  // Half of a low window leaves no room for a question.
  const half = () => (innerHeight < 600 ? "full" : "half");

  function set(state) {
    const heights = { closed: HANDLE + "px", half: "50dvh", full: `calc(100dvh - ${bar.offsetHeight}px)` };
    desk.dataset.sheet = state;
    desk.style.setProperty("--sheet", heights[state]);
    handle.querySelector("[data-sheet-open]").setAttribute("aria-expanded", String(state !== "closed"));
    handle.querySelector("[data-sheet-full]").setAttribute("aria-pressed", String(state === "full"));
    // The question in focus stays in sight above the sheet.
    if (narrow() && state !== "full") desk.querySelector(".score.current")?.scrollIntoView({ block: "nearest" });
    document.dispatchEvent(new CustomEvent("panechange"));
  }
  const coversForm = () => narrow() && desk.dataset.sheet === "full";

  let drag = null;
  handle.addEventListener("pointerdown", ({ clientY }) => (drag = { from: clientY, height: pane.offsetHeight, moved: false }));
  document.addEventListener("pointermove", ({ clientY }) => {
    if (!drag) return;
    drag.moved ||= Math.abs(clientY - drag.from) > 8;
    const height = Math.min(Math.max(drag.height + drag.from - clientY, HANDLE), innerHeight - bar.offsetHeight);
    if (drag.moved) desk.style.setProperty("--sheet", height + "px");
  }, { signal });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => {
      if (drag?.moved) {
        const share = pane.offsetHeight / innerHeight;
        set(share < 0.25 ? "closed" : share < 0.7 ? half() : "full");
      }
      // The click that ends a drag comes right after it.
      setTimeout(() => (drag = null));
    }, { signal });
  }
  handle.addEventListener("click", ({ target }) => {
    if (drag?.moved) return;
    const { sheet } = desk.dataset;
    if (target.closest("[data-sheet-open]")) set(sheet === "closed" ? half() : "closed");
    else if (target.closest("[data-sheet-full]")) set(sheet !== "full" ? "full" : half() === "full" ? "closed" : "half");
  });
  addEventListener("resize", () => desk.dataset.sheet === "half" && !isTyping(document.activeElement) && set(half()), { signal });
  // After the desk's scripts have begun at a question.
  setTimeout(() => set(half()));
  return {
    coversForm,
    open: () => desk.dataset.sheet === "closed" && set(half()),
    uncoverForm: () => coversForm() && set(half() === "full" ? "closed" : "half"),
  };
}

// The style guide shows a desk without its scripts.
const shown = document.querySelector(".desk[data-sheet]:not([data-desk])");
if (shown) makeSheet(shown);
