// A paper: moves blocks in place, and warns before unsaved words are left behind. Without this script
// the same buttons save the paper with the block moved.
import { notice } from "./common.js";

const form = document.querySelector("[data-paper]");
const state = form.querySelector("[data-state]");
let changed = false;

function markChanged() {
  changed = true;
  state.textContent = "Not saved yet.";
}
form.addEventListener("input", markChanged);
form.addEventListener("submit", () => { changed = false; });
window.addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  event.preventDefault();
  const block = button.closest(".block");
  const other = button.dataset.move === "up" ? block.previousElementSibling : block.nextElementSibling;
  if (!other) return;
  if (button.dataset.move === "up") other.before(block);
  else other.after(block);
  button.focus();
  block.scrollIntoView({ block: "nearest" });
  const place = Array.from(block.parentElement.children).indexOf(block) + 1;
  notice("Moved to place " + place + " of " + block.parentElement.children.length + ".");
  markChanged();
});
