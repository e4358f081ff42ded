// The annotator's desk: one question in focus, answers by key or mouse, each sent at once.
(function () {
  "use strict";
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const { makeSlots, makeForm, makeText, makeReading, makeFocus, makeRemarks, makeSaving, placeOf, bindKeys, countActive, showState, notice, showPane } = window.planjury;
  const settings = JSON.parse(document.getElementById("desk-settings").textContent);
  const find = (selector) => desk.querySelector(selector);
  const form = document.getElementById("answers");
  const words = find("[data-words]");
  const undoButton = find("[data-undo]");
  const submitButton = find("[data-submit]");
  const panes = find(".pane-switch");
  const help = document.getElementById("keys");
  const locked = "locked" in desk.dataset;
  const touch = matchMedia("(pointer: coarse)").matches;
  const slots = makeSlots(form);
  const parts = Array.from(form.querySelectorAll("[data-part]"));
  let going = false;

  const inWords = (list) => list.slice(0, -1).join(", ") + " and " + list[list.length - 1];
  const say = (text) => (words.textContent = text);
  const sayLater = () => say("Will be submitted when the " + (navigator.onLine ? "server answers again" : "network is back") + ". Until then this browser keeps your answers.");
  const narrow = () => panes && getComputedStyle(panes).display !== "none";
  const showForm = () => narrow() && showPane("rate");
  const showText = () => narrow() && showPane("read");

  // --- The form as it stands ---------------------------------------------------------------------
  const filled = makeForm({
    desk, form, slots, parts, locked,
    written: (fieldset) => (saving.places.get(fieldset.dataset.slot) || { said: null }).said,
    keep: (fieldset, said) => answer(fieldset, said),
  });
  const { isOpen, missing, mark, unmark } = filled;
  function count() {
    filled.count();
    if (undoButton && saving) undoButton.disabled = !saving.canUndo();
  }
  function show(field, said) {
    const { slot, aspect } = placeOf(field);
    if (aspect !== "answer") {
      if (remarks) remarks.show(slot, aspect);
      return;
    }
    const fieldset = slots.named.get(slot);
    if (!fieldset) return;
    slots.show(fieldset, said);
    if (said !== null) unmark(fieldset);
    count();
  }

  // --- Focus -------------------------------------------------------------------------------------
  const focus = makeFocus({
    form, slots, parts, isOpen, missing, touch,
    turned: (number, how) => reading.setTurn(number, how),
    moved: () => remarks && remarks.draw(),
    ended() {
      if (!submitButton) return;
      submitButton.focus({ preventScroll: true });
      if (!missing().length) say("All answered. Enter submits.");
    },
  });
  const { focusOn, step, goOn } = focus;

  // --- Saving ------------------------------------------------------------------------------------
  const state = find(".save-state");
  const titleOf = (slot) => (slots.named.has(slot) ? slots.title(slots.named.get(slot)) : "the item");
  const ASPECTS = { comment: "The comment on ", flag: "The flag of ", evidence: "The evidence for ", answer: "" };
  const named = (field) => {
    const { slot, aspect } = placeOf(field);
    return ASPECTS[aspect] + titleOf(slot);
  };
  const answerWords = (field, said) => {
    const fieldset = slots.named.get(field);
    return fieldset ? ": " + slots.words(fieldset, said) : "";
  };
  let remarks = null;
  let saving = null;
  saving = makeSaving({
    settings,
    show,
    wire: (slot, said) => slots.wire(slots.named.get(slot), said),
    active: () => clock.active(),
    tell(name, detail) {
      if (name === "cancelled") {
        say("Not submitted, because you changed an answer.");
        return;
      }
      showState(state, name, detail);
      if (words.textContent !== "Submitting") return;
      if (name === "waiting") sayLater();
      if (name === "paused") say("Will be submitted when the study goes on.");
    },
    submitted: (next) => location.assign(next),
    elsewhere: () => location.reload(),
    changed(field, said) {
      notice(named(field) + " was changed in another tab" + answerWords(field, said) + ".", { kind: "info", key: "changed" });
    },
    replaced(field, before) {
      const what = slots.named.has(field) ? "the answer " + slots.words(slots.named.get(field), before) : "what was there";
      notice("This replaced " + what + ", which was given in another tab. Both are kept in the history.", { kind: "warning", key: "overtook" });
    },
    refuse(field, reason, code, left) {
      if (code === "gone" || code === "not_open" || code === "closed") {
        find("[data-happened-words]").textContent = reason[0].toUpperCase() + reason.slice(1) + ". What was saved before is kept.";
        find("[data-happened]").hidden = false;
      }
      if (field === null) {
        say("Not submitted: " + reason);
        const lacking = left.map((name) => slots.named.get(name)).filter(Boolean);
        for (const fieldset of lacking) mark(fieldset, "not answered yet");
        if (lacking.length) focusOn(lacking[0]);
        return;
      }
      const fieldset = slots.named.get(placeOf(field).slot);
      if (fieldset) mark(fieldset, "not saved: " + reason);
      else say("Not saved: " + reason);
    },
  });
  const pane = find(".desk-read");
  if (pane) {
    remarks = makeRemarks({
      form, locked, say, showText, titleOf,
      text: (desk.text = makeText(pane)),
      places: saving.places,
      give(field, said) {
        saving.give(field, said);
        count();
      },
      current: () => (form.querySelector(".item-remarks").contains(document.activeElement) ? "" : focus.name()),
    });
  }

  // --- Reading and answering ---------------------------------------------------------------------
  const byTurn = parts.length > 0;
  const reading = makeReading({
    desk, text: desk.text, showText, byTurn,
    turnChosen(number) {
      focus.onTurn(number);
      reading.setTurn(number, { move: false });
    },
  });

  function answer(fieldset, said) {
    if (said !== null) unmark(fieldset);
    saving.give(fieldset.dataset.slot, said);
    say("");
    count();
  }
  function undo() {
    const field = saving.undo();
    if (!field) return;
    const { slot, aspect } = placeOf(field);
    if (slots.named.has(slot)) focusOn(slots.named.get(slot));
    count();
    say("Undone: " + (aspect === "answer" ? "" : "what was marked for ") + titleOf(slot));
  }
  function submit() {
    if (locked) return;
    keepTexts();
    const left = missing();
    if (left.length) {
      for (const fieldset of left) mark(fieldset, "not answered yet");
      const few = left.length <= 3 || byTurn || new Set(left.map(slots.number)).size < left.length;
      const names = left.slice(0, 3).map(slots.title).join(", ") + (left.length > 3 ? " and " + (left.length - 3) + " more" : "");
      say("Not answered yet: " + (few ? names : "questions " + inWords(left.map(slots.number))));
      showForm();
      focusOn(left[0]);
      return;
    }
    if (saving.submissions().length) return;
    say("Submitting");
    saving.submit();
    if (!navigator.onLine) sayLater();
  }

  function keepTexts() {
    filled.keepTexts();
    if (remarks) remarks.keepAll();
  }

  // --- Mouse -------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    const fieldset = event.target.closest("fieldset[data-slot]");
    if (!fieldset || !event.target.matches("[type=radio], [type=checkbox]")) return;
    slots.settle(fieldset, event.target);
    focusOn(fieldset, { scroll: false, move: false });
    answer(fieldset, slots.read(fieldset));
    if (event.target.type === "radio" && !keys.arrowing() && !fieldset.matches(".compact")) goOn();
    else if (going || (event.target.type === "radio" && !missing().length)) goOn();
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
    keepTexts();
  });
  // Beside a narrow form what is read was out of sight when the turn changed.
  document.addEventListener("panechange", (event) => {
    const turn = event.detail === "read" && find(".turn[data-current]");
    if (turn) turn.scrollIntoView({ block: "start" });
  });

  // --- Keys and time -----------------------------------------------------------------------------
  function write(slot, aspect) {
    if (!remarks || !remarks.has(slot)) return;
    showForm();
    remarks.write(slot, aspect);
  }
  function follow(relation) {
    const link = find("a[rel=" + relation + "]");
    if (link) link.click();
  }
  function choose(key) {
    const current = focus.current();
    const input = current && slots.keyed(current, key);
    if (!input) return false;
    showForm();
    if (input.type === "radio") {
      input.checked = true;
      answer(current, slots.read(current));
      goOn();
    } else {
      going = !input.value && !input.checked;
      input.click();
      going = false;
    }
    return true;
  }
  // In a text of one line Enter goes on, as it does everywhere else in the form.
  function pass(field) {
    if (field.rows > 1 || field.closest(".remarks") || !field.closest("[data-scale=text]")) return false;
    goOn();
    return true;
  }
  function sayLocked(key) {
    if (!focus.current() || !slots.keyed(focus.current(), key)) return false;
    say("These answers are locked." + (find("[value=reopen]") ? " Reopen the item to change one." : ""));
    return true;
  }
  const skip = find(".desk-skip");
  function openSkip() {
    if (!skip) return;
    skip.open = true;
    showForm();
    skip.querySelector("textarea").focus();
    skip.scrollIntoView({ block: "nearest" });
  }
  if (find("[data-skip]")) find("[data-skip]").addEventListener("click", openSkip);
  const keys = bindKeys({
    help, submit, pass,
    choose: locked ? sayLocked : choose,
    leave(field) {
      if (field === reading.search) reading.leaveSearch();
      else field.blur();
      focusOn(focus.current(), { scroll: false });
    },
    acts: {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
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
      c: () => write(focus.name(), "comment"),
      "!": () => write(focus.name(), "flag"),
      s: openSkip,
      Escape: () => reading.clearSearch(),
      C: () => write("", "comment"),
      n: () => follow("next"),
      p: () => follow("prev"),
    },
  });
  const clock = countActive(settings.activeMs, settings.idleSeconds);

  count();
  const first = missing()[0] || slots.all[0];
  if (first) focus.begin(first);
  if (skip && skip.open) openSkip();
  if (!locked && slots.all.length && !missing().length) say("All answered, not submitted yet. Enter submits.");
  if (saving.submissions().length) {
    if (navigator.onLine) say("Submitting");
    else sayLater();
  }
  // A reload while the network is away leads to a page that says so, not to the browser's own.
  if (navigator.serviceWorker) navigator.serviceWorker.register(desk.dataset.away, { scope: desk.dataset.awayFrom }).catch(() => {});
})();
