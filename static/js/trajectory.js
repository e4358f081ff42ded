// The page of one trajectory: turns loaded on demand, labels and notes by keys, comments on selected text,
// links to turns.
import { all, isTyping, notice } from "./common.js";
import { makeText } from "./reading.js";

function openTrajectory(page) {
  const turns = page.querySelector("[data-turns]");
  const turnAt = (index) => document.getElementById("turn-" + index);

  // --- A turn that is not on the page yet is fetched, then shown --------------------------------
  const gapOf = (index) => all(".turn-gap[data-first]", turns).find(
    (gap) => Number(gap.dataset.first) <= index && index <= Number(gap.dataset.last));
  function show(index) {
    const turn = turnAt(index);
    if (!turn) return false;
    for (let fold = turn; fold; fold = fold.parentElement.closest("details")) fold.open = true;
    turn.scrollIntoView({ block: "start" });
    return true;
  }
  const loading = new Map();
  function load(gap, index) {
    if (!loading.has(gap)) {
      const address = new URL(page.dataset.turnsUrl, location);
      address.searchParams.set("stretch", gap.dataset.first + "-" + gap.dataset.last);
      address.searchParams.set("turn", index);
      // With an element of its own, the request does not wait for another one, which would replace the gap.
      const source = gap.appendChild(document.createElement("span"));
      const request = htmx.ajax("GET", address.pathname + address.search, { source, target: gap, swap: "outerHTML" });
      loading.set(gap, request.catch(() => {}).finally(() => loading.delete(gap)));
    }
    return loading.get(gap);
  }
  // The turn that was asked for last: one that comes later takes nobody away from it.
  let wanted = 0;
  async function go(index) {
    wanted = index;
    let before = null;
    // A stretch that was under way already may bring other turns of the gap and leave a smaller one.
    for (let gap = gapOf(index); !turnAt(index) && gap && gap !== before; gap = gapOf(index)) {
      before = gap;
      await load(gap, index);
      if (wanted !== index || isTyping(document.activeElement)) return;
    }
    if (!show(index)) return;
    if (location.hash !== "#turn-" + index) history.pushState(null, "", "#turn-" + index);
    const summary = turnAt(index).querySelector("summary");
    summary.focus({ preventScroll: true });
  }
  const turnInAddress = () => /^#turn-(\d{1,6})$/.exec(location.hash);
  function follow() {
    const asked = turnInAddress();
    if (!asked) return;
    wanted = Number(asked[1]);
    if (!show(wanted)) go(wanted);
  }
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-open-turns]");
    if (!button) return;
    const open = button.getAttribute("aria-pressed") !== "true";
    for (const turn of all("details.turn", turns)) turn.open = open;
    button.setAttribute("aria-pressed", String(open));
  });
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest("[data-turn-link]");
    if (!link) return;
    const index = Number(link.dataset.turnLink);
    if (!turnAt(index) && !gapOf(index)) return;
    event.preventDefault();
    go(index);
  });

  // --- The map of a session: a message that is not on the page yet is fetched, too ---------------
  const map = page.parentElement.querySelector("[data-session-map]");
  if (map) openMap(map, { page, turns, go });

  // --- Links to turns are copied -------------------------------------------------------------------
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-copy-link]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(link.href);
      notice("Link copied.", { kind: "success" });
    } catch (error) {
      history.replaceState(null, "", link.href);
      notice("Copying failed. The address bar now has the link; copy it from there.");
    }
  });

  // --- Labels ----------------------------------------------------------------------------------------
  function openLabels(turn) {
    const menu = document.querySelector("[data-label-menu]");
    menu.open = true;
    menu.querySelector("[name=turn]").value = turn || "";
    const filter = menu.querySelector("[data-label-filter]");
    menu.scrollIntoView({ block: "nearest" });
    filter.focus();
  }
  const choices = (menu) => all("[data-label-choice]", menu).filter((choice) => !choice.hidden);
  function narrow(filter) {
    const menu = filter.closest("[data-label-menu]");
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const choice of all("[data-label-choice]", menu)) {
      const text = choice.textContent.toLowerCase();
      choice.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of all("[data-label-group]", menu)) {
      group.hidden = !group.querySelector("[data-label-choice]:not([hidden])");
    }
    menu.querySelector("[data-label-none]").hidden = choices(menu).length > 0;
  }
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-label-filter]")) narrow(event.target);
  });
  document.addEventListener("click", (event) => {
    const menu = event.target.closest("[data-label-menu] > summary")?.parentElement;
    if (!menu || menu.open) return;
    // Opened at once, so that the next key already narrows the list.
    event.preventDefault();
    openLabels("");
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest("[data-label-menu]");
    if (menu) {
      const shown = choices(menu);
      const at = shown.indexOf(document.activeElement);
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        if (event.target.matches("[type=number]")) return;
        event.preventDefault();
        const next = at + (event.key === "ArrowDown" ? 1 : -1);
        if (next < 0) menu.querySelector("[data-label-filter]").focus();
        else shown[Math.min(next, shown.length - 1)]?.focus();
      } else if (event.key === "Enter" && event.target.matches("[data-label-filter]")) {
        event.preventDefault();
        shown[0]?.click();
      } else if (event.key === "Escape") {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
      return;
    }
    // "L" labels the turn in view; "l" labels the whole trajectory.
    if (event.key === "L" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
      event.preventDefault();
      openLabels(turnInView());
    }
  });
  function turnInView() {
    const turn = all(".turn", turns).find((one) => one.getBoundingClientRect().bottom > innerHeight * 0.3);
    return turn ? turn.id.slice(5) : "";
  }

  // --- Notes -----------------------------------------------------------------------------------------
  function openNote({ turn = "", quote = "", where = "", start = "", end = "" }) {
    const form = document.querySelector("[data-note-form]");
    const given = { turn, quote, where, start, end };
    for (const name of Object.keys(given)) form.elements[name].value = given[name];
    form.querySelector("[data-quote-fold]").open = Boolean(quote);
    form.scrollIntoView({ block: "nearest" });
    form.elements.text.focus();
  }
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const label = target.closest("[data-label-turn]");
    const note = target.closest("[data-note-turn]");
    if (!label && !note) return;
    event.preventDefault();
    if (label) openLabels(label.dataset.labelTurn);
    else openNote({ turn: note.dataset.noteTurn });
  });
  // The note's key puts the cursor into its field. A quote that is edited has no known position.
  document.addEventListener("click", (event) => {
    if (event.target.matches("#note-text") && document.activeElement !== event.target) event.target.focus();
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-note-form] [name=quote]")) return;
    for (const name of ["where", "start", "end"]) event.target.form.elements[name].value = "";
  });

  // --- Comments on selected text -------------------------------------------------------------------
  const button = document.createElement("button");
  button.type = "button";
  button.className = "comment-button compact";
  button.textContent = "Comment";
  button.hidden = true;
  document.body.append(button);
  let selected = null;
  function selectedText() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const inside = range.startContainer.parentElement;
    const turn = inside && inside.closest(".turn");
    if (!turn || !turns.contains(turn) || inside.closest(".turn-remarks, .turn-foot, .asked, summary h2")) return null;
    const span = makeText(turns).selected();
    if (span && span.turn) {
      const known = span.where === "plan" || span.where === "feedback";
      return known ? span : { turn: span.turn, quote: span.quote };
    }
    const quote = selection.toString().trim();
    return quote ? { turn: turn.id.slice(5), quote } : null;
  }
  document.addEventListener("selectionchange", () => {
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      if (document.activeElement === button) return;
      selected = selectedText();
      button.hidden = !selected;
      if (!selected) return;
      const box = getSelection().getRangeAt(0).getBoundingClientRect();
      button.style.left = Math.max(8, Math.min(box.right, innerWidth - 110)) + scrollX + "px";
      button.style.top = box.bottom + scrollY + 6 + "px";
    }, 120);
  });
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    if (!selected) return;
    button.hidden = true;
    openNote(selected);
    getSelection().removeAllRanges();
  });

  // --- Commented passages are highlighted and link to their note by number --------------------------
  function rangeOf(text, note) {
    if (note.start !== "") {
      const range = text.rangeOf({ ...note, start: Number(note.start), end: Number(note.end) });
      if (range && bare(range.toString()) === bare(note.quote)) return range;
    }
    // Without a position, search for the quoted text.
    return text.find(note.quote).find((range) => {
      const turn = range.startContainer.parentElement.closest(".turn");
      return turn && turn.id === "turn-" + note.turn;
    }) || null;
  }
  const bare = (text) => text.replace(/\s+/g, "");
  function draw() {
    for (const mark of all(".note-mark", turns)) {
      const parent = mark.parentNode;
      mark.remove();
      parent.normalize();
    }
    const spans = all("[data-remark]").map((note, index) => ({
      id: note.id, n: index + 1, turn: Number(note.dataset.turn), where: note.dataset.where,
      start: note.dataset.start, end: note.dataset.end,
      quote: note.querySelector("[data-quote]").textContent,
    }));
    for (const span of spans) {
      const range = rangeOf(makeText(turns), span);
      if (!range) continue;
      const mark = document.createElement("a");
      mark.className = "note-mark";
      mark.href = "#" + span.id;
      mark.dataset.n = span.n;
      mark.setAttribute("aria-label", "Comment " + span.n);
      const end = range.cloneRange();
      end.collapse(false);
      end.insertNode(mark);
    }
    const text = makeText(turns);
    text.highlight("remarked", spans.map((span) => rangeOf(text, span)).filter(Boolean));
  }
  let drawing = 0;
  const drawSoon = () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(draw);
  };
  document.addEventListener("htmx:afterSettle", drawSoon);
  draw();
  follow();
}

// Moves by messages: by the range, by links to messages, and to the next message, turn or error. Each message's kinds are the
// bits of a character of data-kinds; data-sizes holds how many messages each turn has.
const KINDS = ["message", "thinking", "call", "result", "error", "plan"];
const ERROR = 1 << KINDS.indexOf("error");
function openMap(map, { page, turns, go }) {
  const range = map.querySelector("input[type=range]");
  const output = map.querySelector("output");
  const bits = Array.from(map.dataset.kinds, (char) => char.charCodeAt(0) - 48);
  const sizes = map.dataset.sizes.split(",").map(Number);
  const messageAt = (number) => document.getElementById("m-" + number);
  function tell(number) {
    const kinds = KINDS.filter((_, place) => bits[number - 1] & (1 << place));
    output.value = "Message " + number + " of " + bits.length + (kinds.length ? ": " + kinds.join(", ") : "");
    range.setAttribute("aria-valuetext", output.value);
  }
  // The turn of a message, and its place there, from 1.
  function placeOf(number) {
    let before = 0;
    let index = 0;
    while (index < sizes.length - 1 && before + sizes[index] < number) before += sizes[index++];
    return { turn: Number(map.dataset.first) + index, place: number - before };
  }
  let wanted = 0;
  async function show(number, { follow = true } = {}) {
    wanted = number;
    range.value = number;
    output.ariaLive = "polite";
    tell(number);
    const { turn, place } = placeOf(number);
    if (!messageAt(number) && !document.getElementById("turn-" + turn)) await go(turn);
    const gap = all(".turn-gap[data-from]", turns).find((one) => Number(one.dataset.turn) === turn
      && Number(one.dataset.from) <= place && place <= Number(one.dataset.to));
    if (!messageAt(number) && gap) {
      const address = new URL("../messages/", new URL(page.dataset.turnsUrl, location));
      address.search = new URLSearchParams({ turn, gap: gap.dataset.from + "-" + gap.dataset.to, at: place });
      const source = gap.appendChild(document.createElement("span"));
      await htmx.ajax("GET", address.pathname + address.search, { source, target: gap, swap: "outerHTML" }).catch(() => {});
    }
    const message = messageAt(number);
    if (!message || wanted !== number) return;
    for (let fold = message.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    page.style.setProperty("--bars", `calc(2.4rem + ${map.offsetHeight}px)`);
    message.scrollIntoView({ block: "start" });
    history.replaceState(null, "", "#m-" + number);
    // The next Tab leads to what the message holds; whoever moves the range goes on moving it.
    if (follow) message.querySelector("a.turn-note").focus({ preventScroll: true });
  }
  // The message that the reader is at: the first one that ends below the bars that stay in sight.
  function current() {
    const top = map.getBoundingClientRect().bottom + 8;
    const shown = all(".utterance[id]", turns).find((one) => one.getBoundingClientRect().bottom > Math.max(top, 8));
    return shown ? Number(shown.id.slice(2)) : 1;
  }
  let frame = 0;
  addEventListener("scroll", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (document.activeElement === range) return;
      const bottom = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      const number = bottom ? here() : current();
      // Read out where a jump led, and not each message that a reader passes.
      output.ariaLive = number === wanted ? "polite" : "off";
      range.value = number;
      tell(number);
    });
  }, { passive: true });
  range.addEventListener("input", () => tell(Number(range.value)));
  range.addEventListener("change", () => show(Number(range.value), { follow: false }));
  map.addEventListener("submit", (event) => {
    event.preventDefault();
    show(Number(range.value));
  });
  map.querySelector("svg").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    show(Math.min(bits.length, 1 + Math.floor(((event.clientX - box.left) / box.width) * bits.length)));
  });
  const isGoal = { message: () => true, turn: (number) => placeOf(number).place === 1, error: (number) => bits[number - 1] & ERROR };
  // The last messages of a page never come to its top, so the one in focus counts while it is in sight.
  function here() {
    const focused = document.activeElement.closest(".utterance[id]");
    const box = focused?.getBoundingClientRect();
    return box && box.bottom > 0 && box.top < innerHeight ? Number(focused.id.slice(2)) : Number(range.value);
  }
  for (const button of all("[data-step]", map)) {
    button.addEventListener("click", () => {
      const by = Number(button.dataset.step);
      const goal = button.dataset.goal;
      let number = here() + by;
      while (number >= 1 && number <= bits.length && !isGoal[goal](number)) number += by;
      if (number >= 1 && number <= bits.length) show(number);
      else {
        output.ariaLive = "polite";
        output.value = "No " + goal + (by > 0 ? " after this message" : " before this message");
      }
    });
  }
  map.querySelector("[data-unfold-message]").addEventListener("click", () => {
    const folds = all("details", messageAt(here()) || map);
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-message]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(Number(link.dataset.message));
  });
  function follow() {
    const asked = /^#m-(\d{1,6})$/.exec(location.hash);
    if (asked && Number(asked[1]) <= bits.length) show(Number(asked[1]));
  }
  addEventListener("hashchange", follow);
  follow();
}

const page = document.querySelector("[data-reading]");
if (page) openTrajectory(page);
