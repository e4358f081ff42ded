// Passages marked with labels: select text, then choose a label by its button or number.

const MOST_MARKED = 200;
const MOST_QUOTE = 2000;

// save(slot, spans) stores an answer. text: the reading pane's (reading.js). formHidden(): on a phone, the form is
// behind the text, so the labels stand below a selection.
export function makeSpans({ desk, signal, slots, text, save, say, locked, current, showText, formHidden }) {
  const all = slots.all.filter(slots.isSpans);
  if (!all.length || !text) return { has: () => false, choose: () => false };
  const labels = (slot) => Array.from(slot.querySelectorAll("[data-span-label]"));
  const nameOf = (button) => button.firstChild.textContent.trim();
  const nameAt = (slot, key) => nameOf(labels(slot).find((one) => one.dataset.spanLabel === key) || { firstChild: { textContent: key } });

  function button(words, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "quiet compact";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  }
  function draw() {
    const ranges = all.flatMap((slot) => slots.read(slot) || []).map(text.rangeOf).filter(Boolean);
    text.highlight("evidence-labelled", ranges);
  }
  function list(slot) {
    const spans = slots.read(slot) || [];
    slot.querySelector("[data-spans]").replaceChildren(...spans.map((span, place) => {
      const item = document.createElement("li");
      const quote = span.quote.length > 90 ? span.quote.slice(0, 88).trimEnd() + "…" : span.quote;
      const words = nameAt(slot, span.label) + ": “" + quote + "”" + (span.turn ? " turn " + span.turn : "");
      item.append(button(words, () => jump(span)));
      if (!locked) {
        const remove = button("Remove", () => change(slot, spans.filter((_, other) => other !== place), true));
        remove.setAttribute("aria-label", "Remove " + words);
        item.append(remove);
      }
      return item;
    }));
    draw();
  }
  function jump(span) {
    const range = text.rangeOf(span);
    if (!range) return;
    showText();
    text.reveal(range);
  }
  // Without the last passage the question is open again: nothing to mark is an answer of its own.
  function change(slot, spans, removed = false) {
    const value = removed && !spans.length ? null : spans;
    slots.show(slot, value);
    save(slot, value);
  }
  function mark(slot, label) {
    if (locked) return;
    const span = text.selected();
    if (!span) {
      say("Select text first, then choose the label.");
      return;
    }
    const before = slots.read(slot) || [];
    const same = (one) => ["turn", "where", "start", "end"].every((name) => one[name] === span[name]) && one.label === label;
    if (before.some(same)) say("This text has this label already.");
    else if (Array.from(span.quote).length > MOST_QUOTE) say("A passage has at most " + MOST_QUOTE + " characters.");
    else if (before.length >= MOST_MARKED) say("At most " + MOST_MARKED + " passages can be marked.");
    else {
      change(slot, [...before, { ...span, label }]);
      getSelection().removeAllRanges();
      say("Marked: " + nameAt(slot, label));
    }
  }
  // Pressing a button must not clear the selection.
  const keepsSelection = (element) => element.addEventListener("pointerdown", (event) => event.preventDefault());
  for (const slot of all) {
    slot.addEventListener("spans", () => list(slot));
    for (const label of labels(slot)) {
      keepsSelection(label);
      label.addEventListener("click", () => mark(slot, label.dataset.spanLabel));
    }
  }
  const bar = document.createElement("div");
  bar.className = "row span-bar";
  bar.hidden = true;
  desk.append(bar);
  keepsSelection(bar);
  document.addEventListener("selectionchange", () => {
    const slot = current();
    const shown = !locked && all.includes(slot) && formHidden() && text.selected();
    bar.hidden = !shown;
    if (shown) bar.replaceChildren(...labels(slot).map((label) => button(nameOf(label), () => mark(slot, label.dataset.spanLabel))));
  }, { signal });
  return {
    has: (slot, key) => all.includes(slot) && (key === "0" || labels(slot).some((label) => label.dataset.key === key)),
    // A number marks the selection; 0 says that there is nothing to mark. True if that ends the question.
    choose(slot, key) {
      if (key !== "0") {
        mark(slot, labels(slot).find((label) => label.dataset.key === key).dataset.spanLabel);
        return false;
      }
      if ((slots.read(slot) || []).length) {
        say("Remove the passages first.");
        return false;
      }
      change(slot, []);
      return true;
    },
  };
}
