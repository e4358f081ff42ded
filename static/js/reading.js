// The reading pane: its texts as plain characters (evidence, search, highlights), and moving in it.
import { all } from "./common.js";

// --- Texts -------------------------------------------------------------------------------------
// A list is read as its items, one per line; a difference as the new text. Positions count Unicode
// characters, as the server does, not UTF-16 units.
const IGNORED = "del, .sr-only, summary, .rest > summary";

export function makeText(pane) {
  const blocks = [];
  const turnOf = (element) => {
    const turn = element.closest(".turn");
    return turn ? parseInt(turn.id.slice(5), 10) : 0;
  };
  // Messages of a dialogue are numbered within their turn; marks are stored under these names.
  const counts = new Map();
  // An agent's thoughts stand before what it says, and are numbered after it.
  const said = ".utterance:not(:has([data-text]))";
  const texts = all(`[data-text], ${said}, .kept .speech`, pane).flatMap((element) => element.matches(said)
    ? [...all(":scope > :not(.thought) .speech, :scope > .speech", element), ...all(".thought .speech", element)] : [element]);
  for (const element of texts) {
    let where = element.dataset.text;
    const turn = turnOf(element);
    if (!where) {
      const kind = element.closest(".kept") ? "kept" : "said";
      const count = (counts.get(kind + turn) || 0) + 1;
      counts.set(kind + turn, count);
      where = kind + "-" + count;
    }
    blocks.push({ element, turn, where });
  }

  function lines(element) {
    const diff = element.querySelector(".diff-lines");
    if (diff) return Array.from(diff.querySelectorAll(":scope > li:not(.removed) > span:last-child"));
    return element.matches("ol, ul") ? Array.from(element.children) : [element];
  }
  function read(block) {
    if (block.pieces) return block;
    block.pieces = [];
    let plain = "";
    lines(block.element).forEach((line, place) => {
      if (place) plain += "\n";
      const start = plain.length;
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        const out = node.parentElement.closest(IGNORED);
        if (out && line.contains(out)) continue;
        block.pieces.push({ node, start: plain.length });
        plain += node.data;
      }
      // Templates add white space at line ends; a text of its own keeps its white space.
      if (line !== block.element) plain = plain.slice(0, start) + plain.slice(start).trimEnd();
    });
    block.plain = plain;
    return block;
  }
  const piecesOf = (block) => read(block).pieces.map((piece) => ({
    node: piece.node, start: piece.start, end: Math.min(piece.start + piece.node.length, block.plain.length),
  }));
  const count = (text) => Array.from(text).length;
  const units = (text, characters) => Array.from(text).slice(0, characters).join("").length;

  const rangeAt = (block, start, end) => rangeIn(piecesOf(block), start, end);
  function rangeIn(pieces, start, end) {
    const range = document.createRange();
    let begun = false;
    for (const piece of pieces) {
      if (!begun && start < piece.end) {
        range.setStart(piece.node, Math.max(0, start - piece.start));
        begun = true;
      }
      if (begun && end <= piece.end) {
        range.setEnd(piece.node, Math.max(0, Math.min(end - piece.start, piece.node.length)));
        return range;
      }
    }
    return null;
  }

  // The selection as evidence {turn, where, start, end, quote}, within the first text that it touches; or null.
  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    for (const block of blocks) {
      if (!range.intersectsNode(block.element)) continue;
      let start = null;
      let end = null;
      for (const piece of piecesOf(block)) {
        if (!range.intersectsNode(piece.node)) continue;
        const from = piece.node === range.startContainer ? range.startOffset : 0;
        const to = piece.node === range.endContainer ? range.endOffset : piece.node.length;
        if (to <= from) continue;
        if (start === null) start = piece.start + from;
        end = Math.min(piece.start + to, piece.end);
      }
      if (start === null) continue;
      const text = block.plain.slice(start, end);
      const quote = text.trim();
      if (!quote) continue;
      start += text.length - text.trimStart().length;
      const before = count(block.plain.slice(0, start));
      return { turn: block.turn, where: block.where, start: before, end: before + count(quote), quote };
    }
    return null;
  }
  function rangeOf(span) {
    const block = blocks.find((one) => one.turn === span.turn && one.where === span.where);
    if (!block) return null;
    const { plain } = read(block);
    return rangeAt(block, units(plain, span.start), units(plain, span.end));
  }

  // Everything that is shown, as runs of text: violations and headings, too. What a difference takes away is
  // a run of its own, as the words around it belong together without it. Hidden changes are not shown,
  // and a banner belongs to the page: a match in it could not be marked.
  const RUN = "p, li, blockquote, dd, dt, h2, h3, h4, summary, td, th, pre, div, section, details";
  function runs() {
    const found = new Map();
    const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const around = node.parentElement;
      if (!node.data.trim() || around.closest(".desk-tools, .banner, .sr-only, button, .changes:not([open]) > :not(summary)")) continue;
      const removed = around.closest("del, .removed");
      if (removed && removed.closest(".diff-off")) continue;
      const holder = around.closest("del") || around.closest(RUN);
      if (!found.has(holder)) found.set(holder, { plain: "", pieces: [] });
      const run = found.get(holder);
      run.pieces.push({ node, start: run.plain.length, end: run.plain.length + node.length });
      run.plain += node.data;
    }
    return found.values();
  }
  function find(query) {
    const wanted = query.toLowerCase();
    const matches = [];
    if (!wanted.trim()) return matches;
    for (const run of runs()) {
      let plain = run.plain.toLowerCase();
      if (plain.length !== run.plain.length) plain = run.plain;
      for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
        const range = rangeIn(run.pieces, at, at + wanted.length);
        if (range) matches.push(range);
      }
    }
    return matches;
  }

  // Highlights without changing the page's nodes; browsers without this feature still show the lists of quotes.
  function highlight(name, ranges) {
    if (!window.Highlight || !CSS.highlights) return;
    if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
    else CSS.highlights.delete(name);
  }
  function reveal(range) {
    let inside = range.startContainer.parentElement;
    for (let fold = inside.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    inside = range.startContainer.parentElement;
    inside.scrollIntoView({ block: "nearest" });
    const box = range.getBoundingClientRect();
    const tools = document.querySelector(".desk-tools");
    const top = (tools ? tools.getBoundingClientRect().bottom : 80) + 8;
    if (box.top < top || box.bottom > innerHeight - 40) scroller().scrollBy({ top: box.top - Math.max(top, innerHeight / 3) });
  }

  // On a narrow screen the text is a sheet that scrolls by itself.
  const scroller = () => (getComputedStyle(pane).position === "fixed" ? pane : document.scrollingElement);

  return { selected, rangeOf, find, highlight, reveal, scroller };
}

// --- Moving: turns, folds, changes, search -----------------------------------------------------
// onTurnChosen(number): the reader went to a turn. showText(): brings the reading pane into view.
// foldsCookie: where to remember that all turns were folded; the server then sends them folded.
export function makeReading({ desk, text, showText, onTurnChosen, byTurn, foldsCookie }) {
  const pane = desk.querySelector(".desk-read");
  const turns = pane ? Array.from(pane.querySelectorAll(".turns .turn")) : [];
  const numberOf = (turn) => parseInt(turn.id.slice(5), 10);
  function fold(open) {
    for (const turn of turns) turn.open = open;
    if (foldsCookie) document.cookie = foldsCookie + "=" + (open ? "0" : "1") + "; path=/studies/; max-age=31536000; samesite=lax";
  }
  const current = () => turns.find((turn) => "current" in turn.dataset);

  // Marks the turn that the form is about; with `move`, scrolls to it.
  function setTurn(number, { move = true } = {}) {
    for (const turn of turns) turn.toggleAttribute("data-current", numberOf(turn) === number);
    const turn = current();
    if (!turn) return;
    turn.open = true;
    if (move) turn.scrollIntoView({ block: "start" });
  }
  function goTo(turn) {
    if (!turn) return;
    showText();
    turn.open = true;
    turn.scrollIntoView({ block: "start" });
    turn.querySelector("summary").focus({ preventScroll: true });
    if (byTurn) onTurnChosen(numberOf(turn));
  }
  const finalTurn = () => pane.querySelector(".turn.final") || turns[turns.length - 1];
  const showFinal = () => goTo(finalTurn());
  // Scrolls to the final plan unless its beginning is in sight; the keyboard stays where it is.
  function bringFinal() {
    const turn = pane && finalTurn();
    if (!turn || turns.length < 2) return;
    turn.open = true;
    const { top } = turn.getBoundingClientRect();
    if (top < toolsBottom() || top > innerHeight / 3) turn.scrollIntoView({ block: "start" });
  }
  const bar = () => desk.querySelector(text.scroller() === pane ? ".sheet-handle" : ".desk-bar");
  const toolsBottom = () => (desk.querySelector(".desk-tools") || bar()).getBoundingClientRect().bottom;
  // Moves on from the turn at the top of the screen; backwards, first to that turn's own beginning.
  function passTurns(by) {
    if (byTurn) {
      const place = turns.indexOf(current());
      goTo(turns[Math.min(turns.length - 1, Math.max(0, place + by))]);
      return;
    }
    const top = toolsBottom();
    const boxes = turns.map((turn) => turn.getBoundingClientRect());
    // A turn scrolled to stands a little below the bar.
    const place = boxes.findIndex((box) => box.bottom > top + 48);
    if (place < 0) {
      goTo(turns[by > 0 ? -1 : turns.length - 1]);
      return;
    }
    // Before the first scroll, the first turn stands there without anybody having gone to it.
    const tools = desk.querySelector(".desk-tools");
    const fixed = bar().getBoundingClientRect().bottom + 48;
    const begun = boxes[place].top <= top + 48 && (!tools || tools.getBoundingClientRect().top <= fixed);
    goTo(turns[by > 0 ? place + begun : place - (boxes[place].top >= top)]);
  }
  const changes = desk.querySelector("[data-changes]");
  function toggleChanges() {
    if (!changes) return;
    changes.setAttribute("aria-pressed", String(!desk.classList.toggle("diff-off")));
  }
  const on = (selector, act) => {
    const button = desk.querySelector(selector);
    if (button) button.addEventListener("click", act);
  };
  on("[data-fold]", () => fold(false));
  on("[data-unfold]", () => fold(true));
  on("[data-final]", showFinal);
  if (changes) changes.addEventListener("click", toggleChanges);
  for (const link of desk.querySelectorAll(".desk-turns a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goTo(document.getElementById(link.hash.slice(1)));
    });
  }
  if (byTurn) {
    for (const turn of turns) {
      // The first click takes the form to this turn; the current turn folds as usual.
      turn.querySelector("summary").addEventListener("click", (event) => {
        if ("current" in turn.dataset) return;
        event.preventDefault();
        turn.open = true;
        onTurnChosen(numberOf(turn));
      });
    }
  }

  // Search
  const search = pane && pane.querySelector("[data-search]");
  const status = pane && pane.querySelector("[data-found]");
  let matches = [];
  let at = -1;
  // Where the reader was before the search.
  let cameFrom = null;
  function runSearch() {
    matches = text.find(search.value);
    at = -1;
    text.highlight("search", matches);
    text.highlight("search-current", []);
    status.textContent = !search.value.trim() ? "" : matches.length ? matches.length + " found" : "not found";
  }
  function nextMatch(by) {
    if (!matches.length) return;
    at = (at + by + matches.length) % matches.length;
    text.highlight("search-current", [matches[at]]);
    text.reveal(matches[at]);
    status.textContent = at + 1 + " of " + matches.length;
  }
  if (search) {
    search.addEventListener("focus", () => (cameFrom ??= text.scroller().scrollTop));
    search.addEventListener("input", runSearch);
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        if (at < 0) runSearch();
        nextMatch(event.shiftKey ? -1 : 1);
      }
    });
  }
  // Ends the search and goes back to where the reader was before.
  function clearSearch() {
    if (!search || (cameFrom === null && !search.value)) return;
    search.value = "";
    runSearch();
    if (cameFrom !== null) text.scroller().scrollTop = cameFrom;
    cameFrom = null;
  }
  // Leaving the search selects the match, so that it can be marked by keys alone. The search text stays
  // until Escape is pressed again.
  function leaveSearch() {
    search.blur();
    if (at < 0 || !matches[at]) {
      clearSearch();
      return;
    }
    const range = matches[at];
    getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  }

  return { setTurn, fold, showFinal, bringFinal, passTurns, toggleChanges, search, leaveSearch, clearSearch, turns };
}
