// The annotator's desk: one question in focus, answers by key or mouse, each sent at once.
(function () {
  "use strict";
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const { makeSlots, makeText, makeReading, makeRemarks, makeSaving, placeOf, bindKeys, countActive, showState, notice, showPane } = window.planjury;
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
  let current = null;
  let going = false;

  const inWords = (list) => list.slice(0, -1).join(", ") + " and " + list[list.length - 1];
  const say = (text) => (words.textContent = text);
  const sayLater = () => say("Will be submitted when the " + (navigator.onLine ? "server answers again." : "network is back."));
  const narrow = () => panes && getComputedStyle(panes).display !== "none";
  const showForm = () => narrow() && showPane("rate");
  const showText = () => narrow() && showPane("read");

  // --- The form as it stands ---------------------------------------------------------------------
  const isOpen = (slot) => slots.read(slot) === null;
  const required = slots.all.filter(slots.required);
  const missing = () => required.filter(isOpen);
  function count() {
    const text = required.length - missing().length + " of " + required.length;
    for (const place of desk.querySelectorAll("[data-answered]")) place.textContent = text;
    if (undoButton && saving) undoButton.disabled = !saving.canUndo();
    for (const link of form.querySelectorAll("[data-part-link]")) {
      const part = parts.find((one) => one.dataset.part === link.dataset.partLink);
      const done = !required.some((slot) => part.contains(slot) && isOpen(slot));
      link.classList.toggle("done", done);
      link.querySelector("[data-done]").textContent = done ? ", complete" : "";
    }
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
      give: saving.give,
      current: () => (form.querySelector(".item-remarks").contains(document.activeElement) ? "" : current ? current.dataset.slot : ""),
    });
  }

  // --- Focus -------------------------------------------------------------------------------------
  const byTurn = parts.length > 0;
  const reading = makeReading({
    desk, text: desk.text, showText, byTurn,
    turnChosen(number) {
      const part = parts.find((one) => one.dataset.part === "turn-" + number);
      if (part) focusOn(firstOf(part), { move: false, follow: false });
      reading.setTurn(number, { move: false });
    },
  });
  const inPart = (part) => slots.all.filter((slot) => part.contains(slot));
  const firstOf = (part) => inPart(part).find(isOpen) || inPart(part)[0];
  // Shows the group of a turn, and takes what is read along.
  function showPart(part, { follow = true } = {}) {
    if ("shown" in part.dataset) return;
    for (const other of parts) other.toggleAttribute("data-shown", other === part);
    form.closest(".desk-form").scrollTop = 0;
    for (const link of form.querySelectorAll("[data-part-link]")) {
      if (link.dataset.partLink === part.dataset.part) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    reading.setTurn(Number(part.dataset.part.slice(5)), { move: follow });
  }
  function focusOn(fieldset, { scroll = true, move = true, follow = true } = {}) {
    if (!fieldset) return;
    current = fieldset;
    const part = slots.part(fieldset);
    if (part) showPart(part, { follow });
    for (const other of slots.all) {
      other.classList.toggle("current", other === fieldset);
      other.classList.toggle("short", other !== fieldset);
    }
    if (move && !fieldset.contains(document.activeElement)) fieldset.focus({ preventScroll: true });
    if (scroll) fieldset.scrollIntoView({ block: "nearest" });
    if (remarks) remarks.draw();
  }
  function step(by) {
    const place = slots.all.indexOf(current) + by;
    if (place >= 0 && place < slots.all.length) focusOn(slots.all[place]);
    else if (place >= slots.all.length && submitButton) submitButton.focus();
  }
  // To the next question without an answer; when all have one, to the button that ends the item.
  function goOn() {
    const place = slots.all.indexOf(current);
    const left = missing();
    const next = left.find((slot) => slots.all.indexOf(slot) > place) || left[0];
    if (next) focusOn(next);
    else {
      focusOn(current, { move: false, scroll: false });
      submitButton.focus({ preventScroll: true });
      say("All answered. Enter submits.");
    }
  }
  function answer(fieldset, said) {
    if (said !== null) unmark(fieldset);
    saving.give(fieldset.dataset.slot, said);
    say("");
    count();
  }
  function undo() {
    const field = saving.undo();
    if (!field) return;
    const fieldset = slots.named.get(field);
    focusOn(fieldset);
    say("Undone: " + slots.title(fieldset));
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

  // --- Texts: kept while they are written --------------------------------------------------------
  const storedText = (slot) => (saving.places.get(slot) || { said: null }).said || "";
  function keepText(fieldset) {
    const said = slots.read(fieldset);
    if (!locked && (said || "") !== storedText(fieldset.dataset.slot)) answer(fieldset, said);
  }
  function keepTexts() {
    for (const slot of slots.all) if (slot.dataset.scale === "text") keepText(slot);
    if (remarks) remarks.keepAll();
  }
  let textTimer = null;
  form.addEventListener("input", (event) => {
    const fieldset = event.target.closest("[data-scale=text]");
    if (!fieldset || event.target.closest(".remarks")) return;
    clearTimeout(textTimer);
    textTimer = setTimeout(() => keepText(fieldset), 1200);
  });
  form.addEventListener("focusout", (event) => {
    const fieldset = event.target.closest("[data-scale=text]");
    if (fieldset && !event.target.closest(".remarks")) keepText(fieldset);
  });

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
  for (const name of ["click", "focusin"]) {
    form.addEventListener(name, (event) => {
      const fieldset = event.target.closest("fieldset[data-slot]");
      const wanted = name === "click" || event.target.matches(":focus-visible");
      if (fieldset && fieldset !== current && wanted) focusOn(fieldset, { move: false, scroll: name === "focusin" });
    });
  }
  for (const link of form.querySelectorAll("[data-part-link]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const part = parts.find((one) => one.dataset.part === link.dataset.partLink);
      focusOn(firstOf(part), { move: false });
      reading.setTurn(Number(part.dataset.part.slice(5)));
    });
  }
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
  const slotName = () => (current ? current.dataset.slot : "");
  const keys = bindKeys({
    help, submit,
    choose: (key) => !locked && choose(key),
    leave(field) {
      if (field === reading.search) reading.leaveSearch();
      else field.blur();
      focusOn(current, { scroll: false });
    },
    acts: {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      e() {
        const example = current && current.querySelector(".score-example");
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
      c: () => write(slotName(), "comment"),
      "!": () => write(slotName(), "flag"),
      C: () => write("", "comment"),
      n: () => follow("next"),
      p: () => follow("prev"),
    },
  });
  const clock = countActive(settings.activeMs, settings.idleSeconds);

  for (const slot of slots.all) slot.tabIndex = -1;
  count();
  const first = missing()[0] || slots.all[0];
  if (byTurn && first) {
    const part = slots.part(first) || parts[0];
    for (const other of parts) other.toggleAttribute("data-shown", other === part);
    reading.setTurn(Number(part.dataset.part.slice(5)), { move: false });
  }
  focusOn(first, { scroll: false, move: !touch });
  if (saving.submissions().length) {
    if (navigator.onLine) say("Submitting");
    else sayLater();
  }
  // A reload while the network is away leads to a page that says so, not to the browser's own.
  if (navigator.serviceWorker) navigator.serviceWorker.register(desk.dataset.away, { scope: desk.dataset.awayFrom }).catch(() => {});
})();
