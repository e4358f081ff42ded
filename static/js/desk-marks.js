// Lists of conditions: one has the focus, and a key decides about it and goes on to the next.
// Where each condition has buttons of its own, every decision is saved at once. A list of boxes is answered by
// the set of its violated conditions, so it is saved with the first of them, or with its last decision where none
// is violated.

const VIOLATED = "1";
const RESPECTED = "2";
const NONE_OF_REST = "0";

// save(slot): the boxes of a list were changed. onDone(): every condition of the current list is decided.
// undoSaved(): undoes the last saved change.
export function makeMarks({ slots, save, onDone, undoSaved }) {
  const lists = slots.all.filter((slot) => slots.isMarks(slot) || slots.isDecisions(slot));
  const labels = (slot) => (slots.isDecisions(slot) ? slots.conditions(slot) : Array.from(slot.querySelectorAll(".mark-list > label:not(.none)")));
  const buttons = (condition) => Array.from(condition.querySelectorAll("input"));
  const box = (label) => label.querySelector("input");
  const none = (slot) => slot.querySelector(".mark-list > .none input");
  // Conditions of which a person has said here that they are not violated.
  const respected = new Set();
  const history = [];
  let cursor = null;

  function draw(slot) {
    if (slots.isDecisions(slot)) return;
    // A stored answer tells of every condition; one that is being given here does not yet.
    const decided = slots.read(slot) !== null && !history.some((entry) => entry.slot === slot);
    for (const label of labels(slot)) {
      const no = !box(label).checked && (respected.has(label) || decided);
      label.querySelector(".decision").textContent = box(label).checked ? "violated" : no ? "not violated" : "";
    }
  }
  const open = (slot) => labels(slot).find((label) => !buttons(label).some((input) => input.checked) && !respected.has(label));
  function point(label, { scroll = true } = {}) {
    if (cursor) delete cursor.dataset.cursor;
    cursor = label;
    if (!label) return;
    label.dataset.cursor = "";
    if (scroll) label.scrollIntoView({ block: "nearest" });
  }
  // The list has got the focus.
  function enter(slot) {
    if (!lists.includes(slot)) {
      point(null);
      return;
    }
    if (cursor && slot.contains(cursor)) return;
    const first = labels(slot)[0];
    point(slots.isOpen(slot) ? open(slot) || first : first, { scroll: false });
  }
  // Moves within the list; false where it ends.
  function step(slot, by) {
    if (!lists.includes(slot) || !cursor) return false;
    const rows = labels(slot);
    const next = rows[rows.indexOf(cursor) + by];
    if (next) point(next);
    return Boolean(next);
  }
  function change(slot, entry) {
    const before = JSON.stringify(slots.read(slot));
    for (const [label, violated] of entry.rows) {
      box(label).checked = violated;
      if (violated) respected.delete(label);
      else respected.add(label);
    }
    const any = labels(slot).some((label) => box(label).checked);
    if (any) none(slot).checked = false;
    else if (!open(slot)) none(slot).checked = true;
    entry.saved = JSON.stringify(slots.read(slot)) !== before;
    history.push(entry);
    if (entry.saved) save(slot);
    draw(slot);
  }
  // The condition has got its decision: on to the next, at the end to one that was left out.
  function goOn(slot, at) {
    const rows = labels(slot);
    const next = rows[rows.indexOf(at) + 1] || open(slot);
    if (next) point(next);
    else onDone();
  }
  // True if the key decides about the condition in focus.
  function decide(slot, key) {
    if (slots.isDecisions(slot)) {
      const input = cursor && buttons(cursor)[Number(key) - 1];
      if (!input) return false;
      input.checked = true;
      save(slot);
      goOn(slot, cursor);
      return true;
    }
    if (!lists.includes(slot) || !cursor || ![VIOLATED, RESPECTED, NONE_OF_REST].includes(key)) return false;
    const rows = labels(slot);
    const at = cursor;
    if (key === NONE_OF_REST) {
      const rest = rows.filter((label) => !box(label).checked);
      change(slot, { slot, at, rows: rest.map((label) => [label, false]), was: rest.filter((label) => respected.has(label)) });
      onDone();
      return true;
    }
    change(slot, { slot, at, rows: [[at, key === VIOLATED]], was: respected.has(at) ? [at] : [] });
    const next = rows[rows.indexOf(at) + 1];
    if (next) point(next);
    else onDone();
    return true;
  }
  // Undoes the last decision made here; null where there is none, else its list.
  function undo() {
    const entry = history.pop();
    if (!entry) return null;
    for (const [label] of entry.rows) if (!entry.was.includes(label)) respected.delete(label);
    if (entry.saved) undoSaved();
    draw(entry.slot);
    return entry;
  }
  // The boxes were changed by the pointer, another tab or the server.
  function changed(slot) {
    if (!lists.includes(slot) || slots.isDecisions(slot)) return;
    for (const label of labels(slot)) if (box(label).checked) respected.delete(label);
    draw(slot);
  }
  for (const slot of lists) draw(slot);
  return {
    enter, step, decide, undo, changed, point,
    // An answer was taken back: to the condition that is open again.
    pointOpen: (slot) => lists.includes(slot) && open(slot) && point(open(slot)),
    // By pointer: the box is changed already.
    clicked(slot, input, goes) {
      if (slots.isDecisions(slot)) {
        point(input.closest(".condition"), { scroll: false });
        if (goes) goOn(slot, cursor);
        return;
      }
      const label = input.closest("label");
      if (labels(slot).includes(label)) point(label, { scroll: false });
      history.length = 0;
      changed(slot);
    },
  };
}
