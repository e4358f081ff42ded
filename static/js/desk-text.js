// The texts beside the form as plain characters: places in them, what is found, what is highlighted.
// A list is its items, one a line; a difference is the new text. Characters are counted as people
// and the server count them, not in the halves that scripts see of rarer ones.
(function () {
  "use strict";
  const LEFT_OUT = "del, .sr-only, summary, .rest > summary";

  function makeText(pane) {
    const blocks = [];
    const turnOf = (element) => {
      const turn = element.closest(".turn");
      return turn ? Number(turn.id.slice(5)) : 0;
    };
    // Messages of a dialogue are counted within their turn.
    const counts = new Map();
    for (const element of pane.querySelectorAll("[data-text], .said .speech, .kept .speech")) {
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
          const out = node.parentElement.closest(LEFT_OUT);
          if (out && line.contains(out)) continue;
          block.pieces.push({ node, start: plain.length });
          plain += node.data;
        }
        // Templates end lines in space; texts as they were written keep theirs.
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

    function rangeAt(block, start, end) {
      const range = document.createRange();
      let begun = false;
      for (const piece of piecesOf(block)) {
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

    // --- Evidence: {turn, where, start, end, quote} ---------------------------------------------
    // What is selected, within the first text that it touches; null where it touches none.
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

    function find(words) {
      const wanted = words.toLowerCase();
      const found = [];
      if (!wanted.trim()) return found;
      for (const block of blocks) {
        let plain = read(block).plain.toLowerCase();
        if (plain.length !== block.plain.length) plain = block.plain;
        for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
          const range = rangeAt(block, at, at + wanted.length);
          if (range) found.push(range);
        }
      }
      return found;
    }

    // Without a change to the page's nodes; a browser that cannot do it has the lists of quotations.
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
      const top = 80;
      if (box.top < top || box.bottom > innerHeight - 40) scrollBy({ top: box.top - innerHeight / 3 });
    }

    return { selected, rangeOf, find, highlight, reveal };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeText });
})();
