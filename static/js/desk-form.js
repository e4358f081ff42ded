// The desk's form: its questions, completeness and errors, the question in focus, and remarks.

// --- Questions ---------------------------------------------------------------------------------
// How an answer of each kind of scale is read and shown. It is a number (points, choice), a list (marks;
// empty: none applies), a text, or null.
export function makeSlots(form) {
  const all = Array.from(form.querySelectorAll("fieldset[data-slot]"));
  const named = new Map(all.map((slot) => [slot.dataset.slot, slot]));
  const inputs = (slot) => Array.from(slot.querySelectorAll(".score-scale input, .mark-list input"));
  // Conditions that each get a decision of their own: one group of radio buttons for each.
  const isDecisions = (slot) => slot.dataset.scale === "decisions";
  const conditions = (slot) => Array.from(slot.querySelectorAll(".condition"));
  const area = (slot) => slot.querySelector(":scope > textarea");
  const plain = (element) => (element ? element.textContent.trim().replace(/\s+/g, " ") : "");

  function read(slot) {
    const checked = inputs(slot).filter((input) => input.checked);
    switch (slot.dataset.scale) {
      case "text": return area(slot).value || null;
      case "spans": return slot.dataset.value ? JSON.parse(slot.dataset.value) : null;
      case "decisions":
      case "marks": return checked.length ? checked.map((input) => input.value).filter(Boolean) : null;
      default: return checked.length ? Number(checked[0].value) : null;
    }
  }
  function show(slot, value) {
    if (slot.dataset.scale === "text") {
      if (area(slot) !== document.activeElement) area(slot).value = value || "";
      return;
    }
    if (slot.dataset.scale === "spans") {
      slot.dataset.value = value ? JSON.stringify(value) : "";
      slot.querySelector(".mark-list input").checked = Boolean(value) && !value.length;
      slot.dispatchEvent(new Event("spans"));
      return;
    }
    const marks = slot.dataset.scale === "marks" || isDecisions(slot);
    for (const input of inputs(slot)) {
      if (!marks) input.checked = value !== null && Number(input.value) === value;
      else input.checked = value !== null && (input.value ? value.includes(input.value) : !value.length);
    }
  }
  // Of a set of marks, the box for "none" and the others exclude each other.
  function excludeOthers(slot, changed) {
    if (slot.dataset.scale !== "marks" || !changed.checked) return;
    for (const input of inputs(slot)) {
      if (input !== changed && (!changed.value || !input.value)) input.checked = false;
    }
  }
  const label = (input) => plain(input.closest("label").querySelector("span"));
  function describe(slot, value) {
    if (value === null || value === undefined) return "no answer";
    if (slot.dataset.scale === "text") return "“" + value + "”";
    if (["marks", "spans"].includes(slot.dataset.scale)) return value.length ? value.length + " marked" : "none";
    if (isDecisions(slot)) return value.length + " decided";
    const input = inputs(slot).find((one) => Number(one.value) === value);
    return input ? label(input) : String(value);
  }
  // The option with this key, or null. Where options have letters for keys, their numbers choose them, too.
  function optionFor(slot, key) {
    if (isDecisions(slot)) return null;
    const options = Array.from(slot.querySelectorAll(".score-scale > [data-key]"));
    const option = options.find((one) => one.dataset.key === key) || (options.some((one) => /\d/.test(one.dataset.key)) ? null : options[Number(key) - 1]);
    return option ? option.querySelector("input") : null;
  }
  // The answer as the server takes it.
  function encode(slot, value) {
    switch (slot.dataset.scale) {
      case "decisions":
      case "spans":
      case "marks": return { chosen: value };
      case "text": return { text: value || "" };
      default: return { value };
    }
  }
  const part = (slot) => slot.closest("[data-part]");
  // Whether a question is asked: without a condition, or if the other question has one of the answers.
  function applies(slot) {
    if (!("when" in slot.dataset)) return true;
    const other = named.get(slot.dataset.when);
    return Boolean(other) && slot.dataset.whenAnswers.split(" ").includes(String(read(other))) && applies(other);
  }
  return {
    applies,
    all, named, read, show, excludeOthers, describe, optionFor, encode, part,
    area,
    isText: (slot) => slot.dataset.scale === "text",
    isMarks: (slot) => slot.dataset.scale === "marks",
    isSpans: (slot) => slot.dataset.scale === "spans",
    isDecisions, conditions,
    // Its turn was scored before the next one was shown.
    isLocked: (slot) => inputs(slot).length > 0 && inputs(slot).every((input) => input.disabled),
    // A list of conditions is answered when each of them is decided.
    isOpen(slot) {
      if (!applies(slot)) return false;
      const value = read(slot);
      return value === null || (isDecisions(slot) && value.length < conditions(slot).length);
    },
    ofFinalPlan: (slot) => "finalPlan" in slot.dataset,
    required: (slot) => "required" in slot.dataset && applies(slot),
    number: (slot) => plain(slot.querySelector("legend .n")),
    title(slot) {
      const turn = part(slot);
      const title = plain(slot.querySelector("legend .n")) + " " + plain(slot.querySelector("[data-title]"));
      return turn ? title + " (turn " + turn.dataset.part.slice(5) + ")" : title;
    },
  };
}

// --- Texts that are too long: never cut, and not saved until they are shorter --------------------
// Says below the field how long its text is; returns whether it is too long.
export function isTooLong(field) {
  const most = Number(field.dataset.most), count = Array.from(field.value).length;
  const long = count > most;
  let words = field.nextElementSibling?.matches("[data-too-long]") ? field.nextElementSibling : null;
  if (long && !words) {
    words = document.createElement("span");
    words.className = "errorlist";
    words.dataset.tooLong = "";
    words.setAttribute("role", "alert");
    field.after(words);
  }
  if (long) words.textContent = count.toLocaleString("en") + " characters, at most " + most.toLocaleString("en") + ". Not saved: shorten it.";
  else words?.remove();
  if (long) words.scrollIntoView({ block: "nearest" });
  if (long) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return long;
}

// --- Completeness, errors, texts ---------------------------------------------------------------
// How long after the last key a text is saved.
const TYPING_PAUSE = 1200;

// stored(fieldset): the stored text; save(fieldset, value) stores it.
export function makeForm({ desk, form, slots, parts, locked, stored, save }) {
  const isOpen = slots.isOpen;
  const missing = () => slots.all.filter((slot) => slots.required(slot) && isOpen(slot));

  function count() {
    for (const slot of slots.all) if ("when" in slot.dataset) slot.classList.toggle("unmet", !slots.applies(slot));
    const required = slots.all.filter(slots.required);
    const text = required.length - missing().length + " of " + required.length;
    for (const place of desk.querySelectorAll("[data-answered]")) place.textContent = text;
    for (const link of form.querySelectorAll("[data-part-link]")) {
      const part = parts.find((one) => one.dataset.part === link.dataset.partLink);
      const done = !required.some((slot) => part.contains(slot) && isOpen(slot));
      link.classList.toggle("done", done);
      link.querySelector("[data-done]").textContent = done ? ", complete" : "";
    }
  }

  // Errors. A question's definition and anchors are read out with its name, before its scores.
  function describe(fieldset) {
    const ids = ["error", "asks", "anchors"].map((part) => fieldset.id + "-" + part).filter((id) => document.getElementById(id));
    if (ids.length) fieldset.setAttribute("aria-describedby", ids.join(" "));
    else fieldset.removeAttribute("aria-describedby");
  }
  function unmark(fieldset) {
    fieldset.classList.remove("missing");
    for (const list of fieldset.querySelectorAll(".errorlist")) list.remove();
    describe(fieldset);
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
    describe(fieldset);
  }

  // Texts
  const textOf = (target) => (target.closest(".remarks") ? null : target.closest("[data-scale=text]"));
  function saveText(fieldset) {
    if (isTooLong(slots.area(fieldset))) return;
    const value = slots.read(fieldset);
    if (!locked && (value || "") !== (stored(fieldset) || "")) save(fieldset, value);
  }
  let timer = null;
  form.addEventListener("input", (event) => {
    const fieldset = textOf(event.target);
    if (!fieldset) return;
    clearTimeout(timer);
    timer = setTimeout(() => saveText(fieldset), TYPING_PAUSE);
  });
  form.addEventListener("focusout", (event) => {
    const fieldset = textOf(event.target);
    if (fieldset) saveText(fieldset);
  });

  return {
    isOpen, missing, count, mark, unmark,
    saveTexts: () => slots.all.filter(slots.isText).forEach(saveText),
  };
}

// --- Focus: the current question, and the turn whose group of questions is shown ---------------
// onTurn(number, {move}): the form shows another turn. onMove(before): another question has the focus.
// onEnd(): there is no next question, or none left to answer. Then no key answers until one is chosen.
export function makeFocus({ form, slots, parts, isOpen, missing, touch, onTurn, onMove, onEnd }) {
  let current = null;
  let ended = false;
  const turnOf = (part) => Number(part.dataset.part.slice(5));
  const partOf = (name) => parts.find((part) => part.dataset.part === name);
  function showOnly(part) {
    for (const other of parts) other.toggleAttribute("data-shown", other === part);
    for (const link of form.querySelectorAll("[data-part-link]")) {
      if (link.dataset.partLink === part.dataset.part) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  function firstOf(part) {
    const inside = slots.all.filter((slot) => part.contains(slot));
    return inside.find(isOpen) || inside[0];
  }
  // Shows a turn's group of questions; the reading pane follows.
  function showPart(part, { follow = true } = {}) {
    if ("shown" in part.dataset) return;
    showOnly(part);
    form.closest(".desk-form").scrollTop = form.scrollTop = 0;
    onTurn(turnOf(part), { move: follow });
  }
  function focusOn(fieldset, { scroll = true, move = true, follow = true } = {}) {
    if (!fieldset) return;
    const before = current;
    current = fieldset;
    ended = false;
    const part = slots.part(fieldset);
    if (part) showPart(part, { follow });
    for (const other of slots.all) {
      other.classList.toggle("current", other === fieldset);
      other.classList.toggle("short", other !== fieldset);
    }
    if (move && !fieldset.contains(document.activeElement)) fieldset.focus({ preventScroll: true });
    if (scroll) fieldset.scrollIntoView({ block: "nearest" });
    onMove(before === fieldset ? null : before);
  }
  function end() {
    ended = true;
    onEnd();
  }
  function step(by) {
    const asked = slots.all.filter(slots.applies);
    const place = asked.indexOf(current) + by;
    if (place >= 0 && place < asked.length) focusOn(asked[place]);
    else if (place >= asked.length) end();
  }
  // Goes to the next open question. Optional texts are skipped on touch screens only, where the keyboard
  // hides half the screen.
  function goOn() {
    const place = slots.all.indexOf(current);
    const isNext = (slot) => isOpen(slot) && (slots.required(slot) || (slots.isText(slot) && !touch));
    const next = slots.all.slice(place + 1).find(isNext) || missing()[0];
    if (!next) {
      focusOn(current, { move: false });
      end();
      return;
    }
    focusOn(next);
    if (slots.isText(next)) slots.area(next).focus({ preventScroll: true });
  }
  // The current question is answered with all its parts: to the next that is open, else to the next at all.
  function leave() {
    const asked = slots.all.filter(slots.applies);
    const place = asked.indexOf(current);
    if (missing().length || place === asked.length - 1) goOn();
    else focusOn(asked[place + 1]);
  }
  // Opens the form at a question and its turn.
  function begin(first) {
    const part = slots.part(first) || parts[0];
    if (part) {
      showOnly(part);
      onTurn(turnOf(part), { move: false });
    }
    focusOn(first, { scroll: false, move: !touch });
  }

  for (const slot of slots.all) slot.tabIndex = -1;
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
      const part = partOf(link.dataset.partLink);
      focusOn(firstOf(part), { move: false });
      onTurn(turnOf(part), { move: true });
    });
  }
  return {
    focusOn, step, goOn, leave, begin,
    current: () => current,
    ended: () => ended,
    name: () => (current ? current.dataset.slot : ""),
    onTurn(number) {
      const part = partOf("turn-" + number);
      if (part) focusOn(firstOf(part), { move: false, follow: false });
    },
  };
}

// --- Remarks: a comment, a flag with its reason, and marked evidence ----------------------------
const MAX_PASSAGES = 20;
const MAX_QUOTE = 2000;

// change(field, value) stores a remark. `holders` are the questions' fieldsets and that of the whole item.
export function makeRemarks({ desk, form, signal, text, locked, fields, change, current, titleOf, say, showText }) {
  const holders = new Map();
  for (const element of desk.querySelectorAll(".desk-form [data-slot]")) {
    if (element.querySelector(".remarks") || element.matches(".remarks")) holders.set(element.dataset.slot, element);
  }
  const folds = (holder) => (holder.matches(".remarks") ? holder : holder.querySelector(".remarks"));
  const area = (slot, aspect) => form.elements[slot + ":" + aspect];
  const valueOf = (slot, aspect) => (fields.get(slot + ":" + aspect) || { value: null }).value;
  const evidenceOf = (slot) => valueOf(slot, "evidence") || [];
  const timers = new Map();

  // Comment and flag
  function save(slot, aspect) {
    const field = area(slot, aspect);
    clearTimeout(timers.get(field));
    if (isTooLong(field)) return;
    const value = aspect === "flag" ? field.value.trim() : field.value;
    if (locked || value === (valueOf(slot, aspect) || "")) return;
    change(slot + ":" + aspect, value);
    showSummary(slot);
  }
  function saveAll() {
    for (const slot of holders.keys()) for (const aspect of ["comment", "flag"]) save(slot, aspect);
  }
  for (const slot of holders.keys()) {
    for (const aspect of ["comment", "flag"]) {
      const field = area(slot, aspect);
      field.addEventListener("input", () => {
        clearTimeout(timers.get(field));
        timers.set(field, setTimeout(() => save(slot, aspect), TYPING_PAUSE));
      });
      field.addEventListener("blur", () => save(slot, aspect));
    }
  }
  function showSummary(slot) {
    const holder = holders.get(slot);
    const marked = evidenceOf(slot).length;
    const summary = [];
    if (valueOf(slot, "flag")) summary.push("flagged");
    if (valueOf(slot, "comment")) summary.push("comment");
    if (marked) summary.push(marked + (marked > 1 ? " passages" : " passage"));
    holder.querySelector("[data-remarked]").textContent = summary.join(", ");
    holder.classList.toggle("remarked", summary.length > 0);
  }
  function show(slot, aspect) {
    if (!holders.has(slot)) return;
    const field = area(slot, aspect);
    if (field && field !== document.activeElement) field.value = valueOf(slot, aspect) || "";
    if (aspect === "evidence") {
      showEvidence(slot);
      draw();
    }
    showSummary(slot);
  }
  function write(slot, aspect) {
    const holder = holders.get(slot);
    if (!holder) return;
    folds(holder).open = true;
    area(slot, aspect).focus();
    area(slot, aspect).scrollIntoView({ block: "nearest" });
  }

  // Evidence
  function button(caption, act, label) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "quiet compact";
    made.textContent = caption;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }
  const short = (quote) => (quote.length > 90 ? quote.slice(0, 88).trimEnd() + "…" : quote);
  function showEvidence(slot) {
    const list = holders.get(slot).querySelector("[data-evidence]");
    list.replaceChildren(...evidenceOf(slot).map((span, place) => {
      const item = document.createElement("li");
      const quote = "“" + short(span.quote) + "”" + (span.turn ? " turn " + span.turn : "");
      item.append(button(quote, () => jump(span)));
      if (!locked) item.append(button("Remove", () => remove(slot, place), "Remove " + quote));
      return item;
    }));
  }
  function draw() {
    const now = current();
    const ranges = { evidence: [], "evidence-current": [] };
    for (const slot of holders.keys()) {
      for (const span of evidenceOf(slot)) {
        const range = text.rangeOf(span);
        if (range) ranges[slot === now ? "evidence-current" : "evidence"].push(range);
      }
    }
    for (const [name, found] of Object.entries(ranges)) text.highlight(name, found);
  }
  function jump(span) {
    const range = text.rangeOf(span);
    if (!range) return;
    showText();
    text.reveal(range);
  }
  function remove(slot, place) {
    change(slot + ":evidence", evidenceOf(slot).filter((_, other) => other !== place));
    show(slot, "evidence");
    folds(holders.get(slot)).querySelector("summary").focus();
  }
  function mark(slot = current()) {
    if (locked || !holders.has(slot)) return;
    const span = text.selected();
    if (!span) {
      say("Select text first, then press h.");
      return;
    }
    const before = evidenceOf(slot);
    if (before.some((one) => one.turn === span.turn && one.where === span.where && one.start === span.start && one.end === span.end)) {
      say("This text is already marked.");
      return;
    }
    if (Array.from(span.quote).length > MAX_QUOTE || before.length >= MAX_PASSAGES) {
      say(before.length >= MAX_PASSAGES ? "A question takes at most " + MAX_PASSAGES + " passages." : "A passage has at most " + MAX_QUOTE + " characters.");
      return;
    }
    change(slot + ":evidence", [...before, span]);
    getSelection().removeAllRanges();
    folds(holders.get(slot)).open = true;
    show(slot, "evidence");
    say("Marked as evidence for " + (slot ? titleOf(slot) : "the item"));
  }
  // Pressing the button must not clear the selection.
  const keepsSelection = (element) => element.addEventListener("pointerdown", (event) => event.preventDefault());
  for (const [slot, holder] of holders) {
    const own = holder.querySelector("[data-mark]");
    if (!own) continue;
    keepsSelection(own);
    own.addEventListener("click", () => mark(slot));
  }
  const bubble = button("", () => mark());
  bubble.className = "evidence-bubble compact";
  bubble.hidden = true;
  keepsSelection(bubble);
  document.querySelector("[data-desk]").append(bubble);
  function offer() {
    const slot = current();
    const labelled = holders.has(slot) && holders.get(slot).dataset.scale === "spans";
    const span = !locked && holders.has(slot) && !labelled ? text.selected() : null;
    const box = span && getSelection().getRangeAt(0).getBoundingClientRect();
    // Folded text, or text behind the form on a phone, has no size.
    bubble.hidden = !box || !box.height;
    if (bubble.hidden) return;
    const key = document.createElement("kbd");
    key.textContent = "h";
    bubble.replaceChildren("Mark as evidence for " + (slot ? titleOf(slot) : "the item"), key);
    const width = bubble.offsetWidth;
    bubble.style.left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), innerWidth - width - 8) + "px";
    bubble.style.top = Math.min(box.bottom + 8, innerHeight - 56) + "px";
  }
  let timer = null;
  for (const name of ["selectionchange", "scroll", "panechange"]) {
    document.addEventListener(name, () => {
      clearTimeout(timer);
      timer = setTimeout(offer, 150);
    }, { passive: true, capture: true, signal });
  }

  // The page does not contain unsent remarks yet.
  for (const slot of holders.keys()) {
    for (const aspect of ["comment", "flag"]) {
      if (fields.has(slot + ":" + aspect)) area(slot, aspect).value = valueOf(slot, aspect) || "";
    }
    showEvidence(slot);
    showSummary(slot);
  }
  draw();
  return { show, write, mark, draw, saveAll, has: (slot) => holders.has(slot) };
}
