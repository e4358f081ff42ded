// The annotator's desk: one question in focus, answers by key or mouse, each saved at once.
// This file connects the form, the reading pane, saving, keys and the timer.

import { notice } from "./common.js";
import { isTooLong, makeFocus, makeForm, makeRemarks, makeSlots } from "./desk-form.js";
import { bindKeys } from "./desk-keys.js";
import { makeMarks } from "./desk-marks.js";
import { makePace } from "./desk-pace.js";
import { makeSheet } from "./desk-sheet.js";
import { makeSpans } from "./desk-spans.js";
import { makeReading, makeText } from "./reading.js";
import { makeSaving, parseField, showSaving } from "./saving.js";

// The desk's own listeners go with its elements; what it listens to outside ends by `ended`.
function openDesk(desk) {
  const ended = new AbortController();
  const { signal } = ended;
  const settings = JSON.parse(document.getElementById("desk-settings").textContent);
  const find = (selector) => desk.querySelector(selector);
  const form = document.getElementById("answers");
  const message = find("[data-words]");
  const undoButton = find("[data-undo]");
  const submitButton = find("[data-submit]");
  const help = document.getElementById("keys");
  const locked = "locked" in desk.dataset;
  const touch = matchMedia("(pointer: coarse)").matches;
  const sheet = makeSheet(desk, signal);
  const slots = makeSlots(form);
  const parts = Array.from(form.querySelectorAll("[data-part]"));
  // Chosen while these scripts were still loading: shown by the browser, and saved below.
  const early = slots.all
    .filter((slot) => Array.from(slot.querySelectorAll(":is(.score-scale, .mark-list) input")).some((one) => one.checked !== one.defaultChecked))
    .map((slot) => [slot, slots.read(slot)]);

  const joinNames = (list) => list.slice(0, -1).join(", ") + " and " + list[list.length - 1];
  const say = (text) => (message.textContent = text);
  // For those who listen: which answer was taken, since the focus goes on to the next question.
  const sayAnswer = (text) => (find("[data-heard]").textContent = text);
  // The same button reveals the next turn as long as there may be one, then submits.
  const SUBMITTING = settings.reveals ? "Next turn…" : "Submitting…";
  const PRESS_ENTER = settings.reveals ? "All answered. Press Enter for the next turn." : "All answered. Press Enter to submit.";
  const sayWaiting = () => say(navigator.onLine ? "Submits when the server answers." : "Submits when you are online.");

  // --- The form ----------------------------------------------------------------------------------
  const answers = makeForm({
    desk, form, slots, parts, locked,
    stored: (fieldset) => (saving.fields.get(fieldset.dataset.slot) || { value: null }).value,
    save: (fieldset, value) => answer(fieldset, value),
  });
  const { isOpen, missing, mark, unmark } = answers;
  function count() {
    answers.count();
    if (undoButton && saving) undoButton.disabled = !saving.canUndo();
  }
  function show(field, value) {
    const { slot, aspect } = parseField(field);
    if (aspect !== "answer") {
      if (remarks) remarks.show(slot, aspect);
      return;
    }
    const fieldset = slots.named.get(slot);
    if (!fieldset) return;
    slots.show(fieldset, value);
    if (marks) marks.changed(fieldset);
    if (value !== null) unmark(fieldset);
    count();
  }

  // --- Focus -------------------------------------------------------------------------------------
  const focus = makeFocus({
    form, slots, parts, isOpen, missing, touch,
    onTurn: (number, how) => reading.setTurn(number, how),
    onMove(before) {
      const slot = focus.current();
      elsewhere.delete(before && before.dataset.slot);
      if (marks) marks.enter(slot);
      if (remarks) remarks.draw();
      // From the questions on all turns to those on the final plan: the plan comes into view.
      if (before && slots.ofFinalPlan(slot) && !slots.ofFinalPlan(before)) reading.bringFinal();
    },
    onEnd() {
      if (!submitButton) return;
      submitButton.focus({ preventScroll: true });
      if (!missing().length) say(PRESS_ENTER);
    },
  });
  const { focusOn, step, goOn } = focus;

  // --- Saving ------------------------------------------------------------------------------------
  const state = find(".save");
  // Questions in focus that were answered elsewhere since: a key must not replace that unseen.
  const elsewhere = new Set();
  const titleOf = (slot) => (slots.named.has(slot) ? slots.title(slots.named.get(slot)) : "the item");
  const ASPECT_NAMES = { comment: "Your comment on ", flag: "Your flag on ", evidence: "Your evidence for ", answer: "" };
  const nameOf = (field) => {
    const { slot, aspect } = parseField(field);
    return ASPECT_NAMES[aspect] + titleOf(slot);
  };
  const describeAnswer = (field, value) => {
    const fieldset = slots.named.get(field);
    return fieldset ? ": " + slots.describe(fieldset, value) : "";
  };
  let remarks = null;
  let marks = null;
  let saving = null;
  saving = makeSaving({
    settings,
    signal,
    show,
    encode: (slot, value) => slots.encode(slots.named.get(slot), value),
    active: () => clock.active(),
    onState(name, detail) {
      if (name === "cancelled") {
        say("Not submitted: you changed an answer.");
        return;
      }
      showSaving(state, name, detail);
      if (message.textContent !== SUBMITTING) return;
      if (name === "waiting") sayWaiting();
      if (name === "paused") say("Submits when the study continues.");
      if (name === "signed out") say("Submits when you have signed in.");
    },
    onSubmitted(next) {
      if (!settings.reveals) pace.submitted();
      if (next === settings.here) showNextTurn(next, ended, saveTexts);
      else location.assign(next);
    },
    onSubmittedElsewhere: () => location.reload(),
    onChanged(field, value) {
      if (focus.name() === field) elsewhere.add(field);
      notice(nameOf(field) + " was changed in another tab" + describeAnswer(field, value) + ".", { kind: "info", key: "changed" });
    },
    onReplaced(field, before) {
      const fieldset = slots.named.get(field);
      const what = fieldset ? "the answer " + slots.describe(fieldset, before) + " to " + slots.title(fieldset) : "a text";
      notice("You replaced " + what + " from another tab or browser.", {
        kind: "warning", key: "overtook", action: fieldset && !locked ? { words: "Undo", act: undo } : null,
      });
    },
    onRefused(field, reason, code, left) {
      if (code === "gone" || code === "not_open" || code === "closed") {
        find("[data-happened-words]").textContent = reason[0].toUpperCase() + reason.slice(1) + ". Your saved answers are kept.";
        find("[data-happened]").hidden = false;
      }
      if (field === null) {
        say("Not submitted: " + reason);
        const unanswered = left.map((name) => slots.named.get(name)).filter(Boolean);
        for (const fieldset of unanswered) mark(fieldset, "not answered");
        if (unanswered.length) focusOn(unanswered[0]);
        return;
      }
      const fieldset = slots.named.get(parseField(field).slot);
      if (fieldset) mark(fieldset, "not saved: " + reason);
      else say("Not saved: " + reason);
    },
  });
  const pane = find(".desk-read");
  if (pane) {
    remarks = makeRemarks({
      desk, form, signal, locked, say, showText: sheet.open, titleOf,
      text: (desk.text = makeText(pane)),
      fields: saving.fields,
      change(field, value) {
        saving.change(field, value);
        count();
      },
      current: () => (find(".item-remarks").contains(document.activeElement) ? "" : focus.name()),
    });
  }

  const spans = makeSpans({
    desk, signal, slots, text: desk.text, say, locked, showText: sheet.open, formHidden: sheet.coversForm,
    current: () => focus.current(),
    save: (fieldset, value) => answer(fieldset, value),
  });
  for (const slot of slots.all.filter(slots.isSpans)) slots.show(slot, saving.value(slot.dataset.slot));

  // --- Reading and answering ---------------------------------------------------------------------
  const byTurn = parts.length > 0;
  const reading = makeReading({
    desk, text: desk.text, showText: sheet.open, byTurn, foldsCookie: settings.foldsCookie,
    onTurnChosen(number) {
      focus.onTurn(number);
      reading.setTurn(number, { move: false });
    },
  });

  function answer(fieldset, value) {
    if (value !== null) unmark(fieldset);
    saving.change(fieldset.dataset.slot, value);
    say("");
    if (!slots.isText(fieldset)) sayAnswer(slots.title(fieldset) + ": " + slots.describe(fieldset, value));
    count();
  }
  function undo() {
    if (saving.submitting()) return;
    sayAnswer("");
    const entry = marks.undo();
    if (entry) {
      focusOn(entry.slot);
      marks.point(entry.at);
      count();
      say("Undone: " + slots.title(entry.slot));
      return;
    }
    const field = saving.undo();
    if (!field) return;
    const { slot, aspect } = parseField(field);
    if (slots.named.has(slot)) {
      focusOn(slots.named.get(slot));
      marks.pointOpen(slots.named.get(slot));
    }
    count();
    say("Undone: " + (aspect === "answer" ? "" : "evidence for ") + titleOf(slot));
  }
  marks = makeMarks({
    slots,
    save: (fieldset) => answer(fieldset, slots.read(fieldset)),
    undoSaved: () => saving.undo(),
    onDone: () => focus.leave(),
  });
  function submit() {
    if (locked) return;
    saveTexts();
    const long = Array.from(desk.querySelectorAll(".desk-form textarea[data-most]:not([name=reason])")).find(isTooLong);
    if (long) {
      say("Not submitted: a text is too long.");
      sheet.uncoverForm();
      const fold = long.closest("details");
      if (fold) fold.open = true;
      long.focus();
      return;
    }
    const left = missing();
    if (left.length) {
      for (const fieldset of left) mark(fieldset, "not answered");
      const few = left.length <= 2 || byTurn || new Set(left.map(slots.number)).size < left.length;
      const names = left.slice(0, 2).map(slots.title).join(", ") + (left.length > 2 ? " and " + (left.length - 2) + " more" : "");
      say("Not answered: " + (few ? names : joinNames(left.map(slots.number))));
      sheet.uncoverForm();
      focusOn(left[0]);
      return;
    }
    if (saving.submissions().length) return;
    say(SUBMITTING);
    saving.submit();
    if (!navigator.onLine) sayWaiting();
  }

  function saveTexts() {
    answers.saveTexts();
    if (remarks) remarks.saveAll();
  }

  // --- Mouse -------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    const fieldset = event.target.closest("fieldset[data-slot]");
    if (!fieldset || !event.target.matches("[type=radio], [type=checkbox]")) return;
    if (saving.submitting()) {
      slots.show(fieldset, saving.value(fieldset.dataset.slot));
      return;
    }
    if (slots.isSpans(fieldset)) {
      if (event.target.checked) spans.choose(fieldset, "0");
      else answer(fieldset, null);
      slots.show(fieldset, saving.value(fieldset.dataset.slot));
      return;
    }
    slots.excludeOthers(fieldset, event.target);
    focusOn(fieldset, { scroll: false, move: false });
    elsewhere.delete(fieldset.dataset.slot);
    answer(fieldset, slots.read(fieldset));
    marks.clicked(fieldset, event.target, !keys.arrowing());
    if (event.target.type === "radio" && !slots.isDecisions(fieldset) && !keys.arrowing()) goOn();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  document.getElementById("item-actions").addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.value === "undo") {
      event.preventDefault();
      undo();
    }
    const reason = desk.querySelector("textarea[name=reason]");
    if (event.submitter?.value === "skip" && isTooLong(reason)) {
      event.preventDefault();
      reason.focus();
    }
    saveTexts();
  });
  // A text is saved a moment after its last key; the page may be left before that.
  window.addEventListener("pagehide", () => document.body.dataset.person && saveTexts(), { signal });

  // --- Keys and time -----------------------------------------------------------------------------
  function write(slot, aspect) {
    if (!remarks || !remarks.has(slot)) return;
    sheet.uncoverForm();
    remarks.write(slot, aspect);
  }
  function follow(relation) {
    const link = find("a[rel=" + relation + "]");
    if (link) link.click();
  }
  // A digit answers the question in focus and no other: after the last one, while a submission is under
  // way, where another tab has answered it since, or where the question is out of sight behind the
  // trajectory, it says so instead.
  function choose(key, repeated) {
    const current = focus.current();
    if (!current || !(slots.optionFor(current, key) || (slots.isMarks(current) && "012".includes(key)) || (slots.isDecisions(current) && "123".includes(key)) || spans.has(current, key))) return false;
    if (repeated) return true;
    if (saving.submissions().length) return true;
    if (slots.isLocked(current)) {
      say("Scored before the next turn was shown, so it stays.");
      return true;
    }
    if (sheet.coversForm() && !(spans.has(current, key) && key !== "0")) {
      sheet.uncoverForm();
      focusOn(current);
      say(focus.ended() ? "" : "Press again to answer this question.");
      return true;
    }
    if (focus.ended()) {
      say("Choose a question to change its answer.");
      return true;
    }
    if (elsewhere.delete(current.dataset.slot)) {
      say("Answered in another tab. Press again to change it, or ↓ to go on.");
      return true;
    }
    if (spans.has(current, key)) {
      if (spans.choose(current, key)) goOn();
      return true;
    }
    if (marks.decide(current, key)) return true;
    const input = slots.optionFor(current, key);
    input.checked = true;
    answer(current, slots.read(current));
    goOn();
    return true;
  }
  // A turn that repeats an earlier plan gets that turn's scores, where it has none of its own yet.
  function copySame() {
    const part = focus.current() && slots.part(focus.current());
    const source = part && part.querySelector("[data-copy]");
    if (!source || locked || saving.submissions().length) return;
    const own = slots.all.filter((slot) => part.contains(slot) && !slots.isText(slot) && !slots.isLocked(slot) && isOpen(slot));
    for (const slot of own) {
      const before = slots.named.get(slot.dataset.slot.replace(part.dataset.part, source.dataset.copy));
      const value = before && slots.read(before);
      if (value === null || value === undefined) continue;
      // Of decisions and scores alike: the values are the same in every turn.
      slots.show(slot, value);
      answer(slot, value);
    }
    goOn();
  }
  for (const button of form.querySelectorAll("[data-copy]")) button.addEventListener("click", copySame);
  // In a one-line text, Enter goes to the next question, as everywhere else in the form.
  function confirmText(field) {
    if (field.rows > 1 || field.closest(".remarks") || !field.closest("[data-scale=text]")) return false;
    goOn();
    return true;
  }
  function sayLocked(key) {
    if (!focus.current() || !slots.optionFor(focus.current(), key)) return false;
    say(find("[value=reopen]") ? "Reopen the item to change answers." : "You can no longer change these answers.");
    return true;
  }
  const skip = find(".desk-skip");
  function openSkip() {
    if (!skip) return;
    skip.open = true;
    sheet.uncoverForm();
    skip.querySelector("input, textarea").focus();
    skip.scrollIntoView({ block: "nearest" });
  }
  if (find("[data-comment]")) find("[data-comment]").addEventListener("click", () => write(focus.name(), "comment"));
  const keys = bindKeys({
    signal, settings, help, submit, confirmText,
    choose: locked ? sayLocked : choose,
    leave(field) {
      if (field === reading.search) reading.leaveSearch();
      else field.blur();
      if (!focus.ended()) focusOn(focus.current(), { scroll: false });
    },
    actions: {
      ArrowDown: () => marks.step(focus.current(), 1) || step(1),
      ArrowUp: () => marks.step(focus.current(), -1) || step(-1),
      e() {
        const example = focus.current() && focus.current().querySelector(".score-example");
        if (example) example.open = !example.open;
      },
      u: () => !locked && undo(),
      f: () => reading.showFinal(),
      j: () => reading.passTurns(1),
      k: () => reading.passTurns(-1),
      "[": () => reading.fold(false),
      "]": () => reading.fold(true),
      d: () => reading.toggleChanges(),
      h: () => remarks && remarks.mark(),
      "=": copySame,
      "/"() {
        if (!reading.search) return;
        sheet.open();
        reading.search.focus();
        reading.search.select();
      },
      c: () => write(focus.name(), "comment"),
      "!": () => write(focus.name(), "flag"),
      s: openSkip,
      Escape: () => reading.clearSearch(),
      C: () => write("", "comment"),
      n: () => follow("next"),
      p: () => follow("prev"),
    },
  });
  const clock = countActive(settings.activeMs, settings.idleSeconds, signal);
  const pace = makePace({ desk, settings, active: () => clock.active() });

  count();
  for (const [slot, value] of locked ? [] : early) {
    show(slot.dataset.slot, value);
    answer(slot, value);
  }
  const first = missing()[0] || slots.all[0];
  if (first) focus.begin(first);
  // Somebody comes back to an item that they had begun.
  if (first && slots.ofFinalPlan(first) && !isOpen(slots.all[0])) reading.bringFinal();
  if (skip && skip.open) openSkip();
  if (settings.reveals && byTurn) reading.setTurn(Number(parts.at(-1).dataset.part.slice(5)));
  if (!locked && slots.all.length && !missing().length) say(PRESS_ENTER);
  if (saving.submissions().length) {
    if (navigator.onLine) say(SUBMITTING);
    else sayWaiting();
  }
  // Offline, a reload then shows our own page instead of the browser's error.
  if (navigator.serviceWorker) navigator.serviceWorker.register(desk.dataset.away, { scope: desk.dataset.awayFrom }).catch(() => {});
}

// Puts the same item with its next turn in place of this one: a whole page would take three times as long.
async function showNextTurn(address, ended, saveTexts) {
  ended.abort();
  const response = await fetch(address).catch(() => null);
  const page = new DOMParser().parseFromString(response?.ok ? await response.text() : "", "text/html");
  saveTexts();
  // Something else comes first, or there is no network: what the browser shows is right.
  if (!page.querySelector("[data-desk]")) return void location.assign(address);
  for (const selector of ["[data-desk]", "#keys", "#desk-settings"]) document.querySelector(selector).replaceWith(page.querySelector(selector));
  openDesk(document.querySelector("[data-desk]"));
}

// --- Active time -------------------------------------------------------------------------------
// Counts the milliseconds in which somebody was active: at most `idleSeconds` after the last input.
function countActive(before, idleSeconds, signal) {
  let active = before;
  let moved = performance.now();
  let counted = moved;
  for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
    document.addEventListener(name, () => (moved = performance.now()), { capture: true, passive: true, signal });
  }
  const timer = setInterval(() => {
    const now = performance.now();
    if (document.visibilityState === "visible" && now - moved < idleSeconds * 1000) active += now - counted;
    counted = now;
  }, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  return { active: () => Math.round(active) };
}

const page = document.querySelector("[data-desk]");
if (page) openDesk(page);
