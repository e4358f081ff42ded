// What is said beside an answer: a comment, a flag with its reason, and words marked as evidence.
(function () {
  "use strict";
  const PAUSE = 1200;
  const MOST_PLACES = 20;
  const LONGEST = 2000;
  const BUTTON = "quiet compact";

  // give(field, said) stores; holders are the questions' fieldsets and the one of the whole item.
  function makeRemarks({ form, text, locked, places, give, current, titleOf, say, showText }) {
    const holders = new Map();
    for (const element of form.querySelectorAll("[data-slot]")) {
      if (element.querySelector(".remarks") || element.matches(".remarks")) holders.set(element.dataset.slot, element);
    }
    const folds = (holder) => (holder.matches(".remarks") ? holder : holder.querySelector(".remarks"));
    const field = (slot, aspect) => form.elements[slot + ":" + aspect];
    const saidAt = (slot, aspect) => {
      const place = places.get(slot + ":" + aspect);
      return place ? place.said : null;
    };
    const evidenceOf = (slot) => saidAt(slot, "evidence") || [];
    const timers = new Map();

    // --- Comment and flag ------------------------------------------------------------------------
    function keep(slot, aspect) {
      const area = field(slot, aspect);
      clearTimeout(timers.get(area));
      const said = aspect === "flag" ? area.value.trim() : area.value;
      if (locked || said === (saidAt(slot, aspect) || "")) return;
      give(slot + ":" + aspect, said);
      showWords(slot);
    }
    function keepAll() {
      for (const slot of holders.keys()) for (const aspect of ["comment", "flag"]) keep(slot, aspect);
    }
    for (const slot of holders.keys()) {
      for (const aspect of ["comment", "flag"]) {
        const area = field(slot, aspect);
        area.addEventListener("input", () => {
          clearTimeout(timers.get(area));
          timers.set(area, setTimeout(() => keep(slot, aspect), PAUSE));
        });
        area.addEventListener("blur", () => keep(slot, aspect));
      }
    }
    function showWords(slot) {
      const holder = holders.get(slot);
      const marked = evidenceOf(slot).length;
      const words = [];
      if (saidAt(slot, "flag")) words.push("flagged");
      if (saidAt(slot, "comment")) words.push("comment");
      if (marked) words.push(marked + (marked > 1 ? " places" : " place"));
      holder.querySelector("[data-remarked]").textContent = words.join(", ");
      holder.classList.toggle("remarked", words.length > 0);
    }
    function show(slot, aspect) {
      if (!holders.has(slot)) return;
      const area = field(slot, aspect);
      if (area && area !== document.activeElement) area.value = saidAt(slot, aspect) || "";
      if (aspect === "evidence") {
        showEvidence(slot);
        draw();
      }
      showWords(slot);
    }
    function write(slot, aspect) {
      const holder = holders.get(slot);
      if (!holder) return;
      folds(holder).open = true;
      field(slot, aspect).focus();
      field(slot, aspect).scrollIntoView({ block: "nearest" });
    }

    // --- Evidence --------------------------------------------------------------------------------
    function button(words, act, label) {
      const made = document.createElement("button");
      made.type = "button";
      made.className = BUTTON;
      made.textContent = words;
      if (label) made.setAttribute("aria-label", label);
      made.addEventListener("click", act);
      return made;
    }
    const short = (quote) => (quote.length > 90 ? quote.slice(0, 88).trimEnd() + "…" : quote);
    function showEvidence(slot) {
      const list = holders.get(slot).querySelector("[data-evidence]");
      list.replaceChildren(...evidenceOf(slot).map((span, place) => {
        const item = document.createElement("li");
        const words = "“" + short(span.quote) + "”" + (span.turn ? " turn " + span.turn : "");
        item.append(button(words, () => jump(span)));
        if (!locked) item.append(button("Remove", () => remove(slot, place), "Remove " + words));
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
      give(slot + ":evidence", evidenceOf(slot).filter((_, other) => other !== place));
      show(slot, "evidence");
      folds(holders.get(slot)).querySelector("summary").focus();
    }
    function mark(slot = current()) {
      if (locked || !holders.has(slot)) return;
      const span = text.selected();
      if (!span) {
        say("Select words of the text first, then mark them.");
        return;
      }
      const before = evidenceOf(slot);
      if (before.some((one) => one.turn === span.turn && one.where === span.where && one.start === span.start && one.end === span.end)) {
        say("These words are marked already.");
        return;
      }
      if (Array.from(span.quote).length > LONGEST || before.length >= MOST_PLACES) {
        say(before.length >= MOST_PLACES ? "At most " + MOST_PLACES + " places can be marked for one question." : "Mark at most " + LONGEST + " characters at once.");
        return;
      }
      give(slot + ":evidence", [...before, span]);
      getSelection().removeAllRanges();
      folds(holders.get(slot)).open = true;
      show(slot, "evidence");
      say("Marked for " + (slot ? titleOf(slot) : "the item as a whole") + ": “" + short(span.quote) + "”");
    }
    // A press on the button must not undo the selection that it is about.
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
      const span = !locked && holders.has(slot) ? text.selected() : null;
      const box = span && getSelection().getRangeAt(0).getBoundingClientRect();
      // What is folded, or behind the form on a phone, has no size.
      bubble.hidden = !box || !box.height;
      if (bubble.hidden) return;
      const key = document.createElement("kbd");
      key.textContent = "h";
      bubble.replaceChildren("Evidence for " + (slot ? titleOf(slot) : "the item as a whole"), key);
      const width = bubble.offsetWidth;
      bubble.style.left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), innerWidth - width - 8) + "px";
      bubble.style.top = Math.min(box.bottom + 8, innerHeight - 56) + "px";
    }
    let timer = null;
    for (const name of ["selectionchange", "scroll", "panechange"]) {
      document.addEventListener(name, () => {
        clearTimeout(timer);
        timer = setTimeout(offer, 150);
      }, { passive: true });
    }

    // What waits to be sent is not in the page yet.
    for (const slot of holders.keys()) {
      for (const aspect of ["comment", "flag"]) {
        if (places.has(slot + ":" + aspect)) field(slot, aspect).value = saidAt(slot, aspect) || "";
      }
      showEvidence(slot);
      showWords(slot);
    }
    draw();
    return { show, write, mark, draw, keepAll, has: (slot) => holders.has(slot) };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeRemarks });
})();
