// Adjudication by keys: an option's key answers, Enter saves, j shows the judges, n and p go on and back.
import { makeReading, makeText } from "./reading.js";

function openDecision(page) {
  const form = page.querySelector("[data-decision]");
  const reason = form.elements.reason;
  const pane = page.querySelector(".desk-read");
  const reading = makeReading({ desk: page, text: makeText(pane), showText() {}, onTurnChosen() {}, byTurn: false });
  if (page.dataset.turn) reading.setTurn(Number(page.dataset.turn), { move: false });
  const moves = { "[": () => reading.fold(false), "]": () => reading.fold(true), d: reading.toggleChanges, f: reading.showFinal };
  const submit = form.querySelector("button[type=submit]");
  const isTyping = (node) => node instanceof Element && node.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");

  // Of a set of marks, the box for "none" and the others exclude each other.
  form.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox" || !box.checked) return;
    for (const other of form.querySelectorAll("input[type=checkbox]")) {
      if (other !== box && (box.value === "" || other.value === "")) other.checked = false;
    }
  });

  function answer(key) {
    const label = Array.from(form.querySelectorAll("label[data-key]")).find((one) => one.dataset.key === key);
    if (!label) return false;
    const input = label.querySelector("input");
    input.click();
    if (input.type === "radio") reason.focus();
    return true;
  }
  function follow(selector) {
    const link = document.querySelector(selector);
    if (link) link.click();
    return Boolean(link);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    let done = false;
    if (reading.search && event.target === reading.search) {
      if (event.key !== "Escape") return;
      reading.leaveSearch();
      done = true;
    } else if (event.target === reason) {
      if (event.key === "Escape") {
        reason.blur();
        done = true;
      } else if (event.key === "Enter" && !event.shiftKey) {
        form.requestSubmit(submit);
        done = true;
      }
    } else if (!isTyping(event.target)) {
      const link = event.target instanceof Element && event.target.closest("a, button, summary");
      if (event.key === "Enter" && !link) {
        form.requestSubmit(submit);
        done = true;
      } else if (event.key === "n") done = follow("[data-next]");
      else if (event.key === "p") done = follow("[data-previous]");
      else if (answer(event.key)) done = true;
      else if (event.key === "/" && reading.search) {
        reading.search.focus();
        done = true;
      } else if (moves[event.key] && reading.turns.length) {
        moves[event.key]();
        done = true;
      }
      else if (event.key === "j") done = follow("[data-reveal]");
    }
    if (done) event.preventDefault();
  });
}

const page = document.querySelector("[data-adjudicate]");
if (page) openDecision(page);
