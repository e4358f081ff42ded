// Moving in what is read: turns, folds, changes, search.
(function () {
  "use strict";

  // turnChosen(number): the reader went to a turn; showText(): what is read has to be in view.
  function makeReading({ desk, text, showText, turnChosen, byTurn }) {
    const pane = desk.querySelector(".desk-read");
    const turns = pane ? Array.from(pane.querySelectorAll(".turns > .turn")) : [];
    const numberOf = (turn) => Number(turn.id.slice(5));
    const fold = (open) => turns.forEach((turn) => (turn.open = open));
    const current = () => turns.find((turn) => "current" in turn.dataset);

    // Shows which turn the form is about; with move, brings it into view.
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
      if (byTurn) turnChosen(numberOf(turn));
    }
    const showFinal = () => goTo(pane.querySelector(".turn.final") || turns[turns.length - 1]);
    // From the turn at the top of the screen; backwards first to its own beginning, if that is past.
    function passTurns(by) {
      if (byTurn) {
        const place = turns.indexOf(current());
        goTo(turns[Math.min(turns.length - 1, Math.max(0, place + by))]);
        return;
      }
      const bar = desk.querySelector(".desk-bar").getBoundingClientRect().bottom;
      const boxes = turns.map((turn) => turn.getBoundingClientRect());
      // A turn that was gone to stands a little below the bar.
      const place = boxes.findIndex((box) => box.bottom > bar + 48);
      if (place < 0) {
        goTo(turns[by > 0 ? -1 : turns.length - 1]);
        return;
      }
      const begun = boxes[place].top <= bar + 48;
      goTo(turns[by > 0 ? place + begun : place - (boxes[place].top >= bar)]);
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
        // The first click takes the form there; a turn that it is about folds as ever.
        turn.querySelector("summary").addEventListener("click", (event) => {
          if ("current" in turn.dataset) return;
          event.preventDefault();
          turn.open = true;
          turnChosen(numberOf(turn));
        });
      }
    }

    // --- Search ----------------------------------------------------------------------------------
    const search = pane && pane.querySelector("[data-search]");
    const told = pane && pane.querySelector("[data-found]");
    let found = [];
    let at = -1;
    function lookFor() {
      found = text.find(search.value);
      at = -1;
      text.highlight("search", found);
      text.highlight("search-current", []);
      told.textContent = !search.value.trim() ? "" : found.length ? found.length + " found" : "not found";
    }
    function nextFound(by) {
      if (!found.length) return;
      at = (at + by + found.length) % found.length;
      text.highlight("search-current", [found[at]]);
      text.reveal(found[at]);
      told.textContent = at + 1 + " of " + found.length;
    }
    if (search) {
      search.addEventListener("input", lookFor);
      search.addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          if (at < 0) lookFor();
          nextFound(event.shiftKey ? -1 : 1);
        }
      });
    }
    function clearSearch() {
      if (!search || !search.value) return;
      search.value = "";
      lookFor();
    }
    // Leaving the search selects the place, so that it can be marked by keys alone; what was looked
    // for stays until Escape is pressed once more.
    function leaveSearch() {
      search.blur();
      if (at < 0 || !found[at]) {
        clearSearch();
        return;
      }
      const range = found[at];
      getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    }

    return { setTurn, fold, showFinal, passTurns, toggleChanges, search, leaveSearch, clearSearch, turns };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeReading });
})();
