// The annotator's desk: one question in focus, answers by key or mouse, each sent at once.
(function () {
  "use strict";
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const settings = JSON.parse(document.getElementById("desk-settings").textContent);
  const form = document.getElementById("answers");
  const actions = document.getElementById("item-actions");
  const questions = Array.from(form.querySelectorAll("[data-question]"));
  const comment = form.elements.comment;
  const words = desk.querySelector("[data-words]");
  const undoButton = desk.querySelector("[data-undo]");
  const submitButton = desk.querySelector("[data-submit]");
  const help = document.getElementById("keys");
  const locked = "locked" in desk.dataset;
  const named = new Map(questions.map((fieldset) => [fieldset.dataset.question, fieldset]));
  const versions = settings.versions;
  // Scores that can be undone, the latest last; comments are undone in their field.
  const stack = settings.edits.filter((edit) => edit.question !== "comment");
  let storedComment = comment.value;
  let commentTimer = null;
  let arrowing = false;
  let current = null;

  // --- The form as it stands ---------------------------------------------------------------------
  const keyOf = (fieldset) => fieldset.dataset.question;
  const titleOf = (fieldset) => fieldset.querySelector("legend").textContent.trim().replace(/\s+/g, " ");
  const numberOf = (fieldset) => fieldset.querySelector("legend .n").textContent;
  const inWords = (list) => list.slice(0, -1).join(", ") + " and " + list[list.length - 1];
  function valueOf(fieldset) {
    const checked = fieldset.querySelector("input:checked");
    return checked ? Number(checked.value) : null;
  }
  function show(question, value) {
    const fieldset = named.get(question);
    if (!fieldset) return;
    for (const input of fieldset.querySelectorAll("input")) input.checked = Number(input.value) === value;
    if (value !== null) unmark(fieldset);
    count();
  }
  const open = () => questions.filter((fieldset) => valueOf(fieldset) === null);
  function count() {
    const text = questions.length - open().length + " of " + questions.length;
    for (const place of desk.querySelectorAll("[data-answered]")) place.textContent = text;
    if (undoButton) undoButton.disabled = !stack.length;
  }
  function say(text) {
    words.textContent = text;
  }

  // --- Focus -------------------------------------------------------------------------------------
  function focusOn(fieldset, { scroll = true, move = true } = {}) {
    if (!fieldset) return;
    current = fieldset;
    for (const other of questions) {
      other.classList.toggle("current", other === fieldset);
      other.classList.toggle("short", other !== fieldset);
    }
    if (move && !fieldset.contains(document.activeElement)) fieldset.focus({ preventScroll: true });
    if (scroll) fieldset.scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const place = questions.indexOf(current) + by;
    if (place >= 0 && place < questions.length) focusOn(questions[place]);
    else if (place >= questions.length && submitButton) submitButton.focus();
  }
  // To the next question without an answer; when all have one, to the button that ends the item.
  function goOn() {
    const place = questions.indexOf(current);
    const left = open();
    const next = left.find((fieldset) => questions.indexOf(fieldset) > place) || left[0];
    if (next) focusOn(next);
    else {
      focusOn(current, { move: false, scroll: false });
      submitButton.focus({ preventScroll: true });
      say("All answered. Enter submits.");
    }
  }

  // --- Answers -----------------------------------------------------------------------------------
  function record(edit) {
    cancelSubmission();
    queue.add({
      kind: "edit", id: edit.id, url: settings.answers, here: settings.here, activeMs: Math.round(active),
      edit: Object.assign({ at: new Date().toISOString() }, edit),
    });
  }
  function see(question) {
    const seen = versions[question] || 0;
    versions[question] = seen + 1;
    return seen;
  }
  function answer(fieldset, value) {
    const question = keyOf(fieldset);
    const edit = { id: queue.makeId(), question, value, seen: see(question) };
    stack.push(edit);
    show(question, value);
    say("");
    record(edit);
  }
  const before = (question) => {
    const earlier = stack.filter((edit) => edit.question === question);
    return earlier.length ? earlier[earlier.length - 1].value : null;
  };
  function undo() {
    const last = stack.pop();
    if (!last) return;
    show(last.question, before(last.question));
    focusOn(named.get(last.question));
    say("Undone: " + titleOf(named.get(last.question)));
    record({ id: queue.makeId(), question: last.question, undoes: last.id, seen: see(last.question) });
  }
  function keepComment() {
    clearTimeout(commentTimer);
    if (locked || comment.value === storedComment) return;
    storedComment = comment.value;
    // Of several versions that have not been sent yet, only the last is worth sending.
    for (const entry of queue.all()) {
      if (entry.here === settings.here && entry.kind === "edit" && entry.edit.question === "comment" && entry.unsent) queue.remove(entry);
    }
    record({ id: queue.makeId(), question: "comment", text: comment.value, seen: see("comment") });
  }

  // --- Marks on what is missing or was refused ---------------------------------------------------
  function mark(fieldset, reason) {
    unmark(fieldset);
    fieldset.classList.add("missing");
    const list = document.createElement("ul");
    list.className = "errorlist";
    list.id = fieldset.id + "-error";
    const item = document.createElement("li");
    item.textContent = reason;
    list.append(item);
    fieldset.append(list);
    fieldset.setAttribute("aria-describedby", list.id);
  }
  function unmark(fieldset) {
    fieldset.classList.remove("missing");
    fieldset.removeAttribute("aria-describedby");
    for (const list of fieldset.querySelectorAll(".errorlist")) list.remove();
  }

  // --- Submitting and skipping -------------------------------------------------------------------
  const submissions = () => queue.all().filter((entry) => entry.kind === "submit" && entry.here === settings.here);
  function cancelSubmission() {
    const waiting = submissions();
    for (const entry of waiting) queue.remove(entry);
    if (waiting.length) say("Not submitted, because you changed an answer.");
  }
  function submit() {
    if (locked) return;
    keepComment();
    const left = open();
    if (left.length) {
      for (const fieldset of left) mark(fieldset, "not answered yet");
      say("Not answered yet: " + (left.length > 3 ? "questions " + inWords(left.map(numberOf)) : left.map(titleOf).join(", ")));
      if (window.planjury.showPane) showForm();
      focusOn(left[0]);
      return;
    }
    if (submissions().length) return;
    say("Submitting");
    queue.add({ kind: "submit", url: settings.submit, here: settings.here, activeMs: Math.round(active) });
    if (!navigator.onLine) say("Will be submitted when the network is back.");
  }
  const panes = desk.querySelector(".pane-switch");
  const showForm = () => getComputedStyle(panes).display !== "none" && window.planjury.showPane("rate");
  const showText = () => getComputedStyle(panes).display !== "none" && window.planjury.showPane("read");

  // --- The queue ---------------------------------------------------------------------------------
  const state = desk.querySelector(".save-state");
  const queue = window.planjury.makeQueue({
    owner: settings.owner,
    tell(name, detail) {
      window.planjury.showState(state, name, detail);
      if (name === "waiting" && words.textContent === "Submitting") say("Will be submitted when the network is back.");
    },
    done(entry, result) {
      if (entry.here !== settings.here) return;
      if (entry.kind === "submit") {
        location.assign(result.next);
        return;
      }
      const pending = queue.all().some((other) => other.here === settings.here && other.kind === "edit" && other.edit.question === result.question && other.id !== entry.id);
      if (!pending) {
        versions[result.question] = result.version;
        if (result.question !== "comment") show(result.question, result.value);
      }
      if (result.overtook !== null && result.overtook !== undefined) {
        window.planjury.notice("This replaced the answer " + result.overtook + ", which was given in another tab. Both are kept in the history.", { kind: "warning", key: "overtook" });
      }
    },
    refused(entry, reason, reply) {
      if (entry.here !== settings.here) return;
      if (entry.kind === "submit") {
        say("Not submitted: " + reason);
        for (const key of reply.missing || []) if (named.has(key)) mark(named.get(key), "not answered yet");
        if (reply.missing && reply.missing.length) focusOn(named.get(reply.missing[0]));
        return;
      }
      const place = stack.findIndex((edit) => edit.id === entry.id);
      if (place >= 0) stack.splice(place, 1);
      const fieldset = named.get(entry.edit.question);
      if (fieldset) mark(fieldset, "not saved: " + reason);
      else say("Not saved: " + reason);
    },
  });
  // What an earlier visit could not send stands in the form again.
  for (const entry of queue.all()) {
    if (entry.here !== settings.here || entry.kind !== "edit" || locked) continue;
    const { question, undoes, value, text, id } = entry.edit;
    see(question);
    if (question === "comment") {
      comment.value = storedComment = text;
    } else if (undoes) {
      const place = stack.findIndex((edit) => edit.id === undoes);
      if (place >= 0) stack.splice(place, 1);
      show(question, before(question));
    } else {
      if (!stack.some((edit) => edit.id === id)) stack.push({ id, question, value });
      show(question, value);
    }
  }

  // --- Mouse -------------------------------------------------------------------------------------
  form.addEventListener("change", (event) => {
    const fieldset = event.target.closest("[data-question]");
    if (!fieldset || event.target.type !== "radio") return;
    focusOn(fieldset, { scroll: false, move: false });
    answer(fieldset, Number(event.target.value));
    if (!arrowing) goOn();
  });
  form.addEventListener("click", (event) => {
    const fieldset = event.target.closest("[data-question]");
    if (fieldset && fieldset !== current) focusOn(fieldset, { move: false });
  });
  form.addEventListener("focusin", (event) => {
    const fieldset = event.target.closest("[data-question]");
    if (fieldset && fieldset !== current && event.target.matches(":focus-visible")) focusOn(fieldset, { move: false });
  });
  comment.addEventListener("input", () => {
    clearTimeout(commentTimer);
    commentTimer = setTimeout(keepComment, 1200);
  });
  comment.addEventListener("blur", keepComment);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  actions.addEventListener("submit", (event) => {
    const action = event.submitter && event.submitter.value;
    if (action === "undo") {
      event.preventDefault();
      undo();
    }
    keepComment();
  });
  const turns = Array.from(desk.querySelectorAll(".turn"));
  const fold = (open) => turns.forEach((turn) => (turn.open = open));
  function goTo(turn) {
    if (!turn) return;
    showText();
    turn.open = true;
    turn.scrollIntoView({ block: "start" });
    turn.querySelector("summary").focus({ preventScroll: true });
  }
  const showFinal = () => goTo(desk.querySelector(".turn.final") || turns[turns.length - 1]);
  // From the turn at the top of the screen; backwards first to its own beginning, if that is past.
  function passTurns(by) {
    const bar = desk.querySelector(".desk-bar").getBoundingClientRect().bottom;
    const boxes = turns.map((turn) => turn.getBoundingClientRect());
    // A turn that was gone to stands a little below the bar.
    const place = boxes.findIndex((box) => box.bottom > bar + 48);
    if (place < 0) return goTo(turns[by > 0 ? -1 : turns.length - 1]);
    const begun = boxes[place].top <= bar + 48;
    goTo(turns[by > 0 ? place + begun : place - (boxes[place].top >= bar)]);
  }
  const changes = desk.querySelector("[data-changes]");
  function toggleChanges() {
    if (!changes) return;
    const on = desk.classList.toggle("diff-off");
    changes.setAttribute("aria-pressed", String(!on));
  }
  function toggleHelp() {
    if (help.open) help.close();
    else help.showModal();
  }
  function follow(relation) {
    const link = desk.querySelector("a[rel=" + relation + "]");
    if (link) link.click();
  }
  desk.querySelector("[data-fold]").addEventListener("click", () => fold(false));
  desk.querySelector("[data-unfold]").addEventListener("click", () => fold(true));
  desk.querySelector("[data-final]").addEventListener("click", showFinal);
  for (const link of desk.querySelectorAll(".desk-turns a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goTo(document.getElementById(link.hash.slice(1)));
    });
  }
  if (changes) changes.addEventListener("click", toggleChanges);

  // --- Keys --------------------------------------------------------------------------------------
  const KEYS = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    e() {
      const example = current && current.querySelector(".score-example");
      if (example) example.open = !example.open;
    },
    u: () => !locked && undo(),
    f: showFinal,
    j: () => passTurns(1),
    k: () => passTurns(-1),
    "[": () => fold(false),
    "]": () => fold(true),
    d: toggleChanges,
    c() {
      showForm();
      comment.focus();
    },
    n: () => follow("next"),
    p: () => follow("prev"),
    "?": toggleHelp,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target;
    arrowing = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (target.closest("textarea, input:not([type=radio]), select")) {
      if (event.key === "Escape") {
        target.blur();
        focusOn(current, { scroll: false });
      }
      return;
    }
    if (help.open && event.key !== "?") return;
    if (!locked && /^[1-5]$/.test(event.key) && current) {
      event.preventDefault();
      showForm();
      answer(current, Number(event.key));
      goOn();
      return;
    }
    if (event.key === "Enter") {
      // Links, buttons and folds keep their own meaning of Enter.
      if (target.closest("a, button, summary")) return;
      event.preventDefault();
      submit();
      return;
    }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("keyup", () => (arrowing = false));

  // --- Time at work: what passes within a while of the last movement -----------------------------
  let active = settings.activeMs;
  let moved = performance.now();
  let told = moved;
  for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
    document.addEventListener(name, () => (moved = performance.now()), { capture: true, passive: true });
  }
  setInterval(() => {
    const now = performance.now();
    const counts = document.visibilityState === "visible" && now - moved < settings.idleSeconds * 1000;
    if (counts) active += now - told;
    told = now;
  }, 1000);

  for (const fieldset of questions) fieldset.tabIndex = -1;
  count();
  focusOn(open()[0] || questions[0], { scroll: false, move: !matchMedia("(pointer: coarse)").matches });
  const submitted = submissions();
  if (submitted.length) say("Will be submitted when the network is back.");
})();
