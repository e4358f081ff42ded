// The desk's keys, and the time that somebody is at work on an item.
(function () {
  "use strict";

  // choose(key): answers the question in focus, true where the key means something to it;
  // leave(field): Escape in a field; pass(field): Enter in it, true where that goes on; acts: what
  // the other keys do.
  function bindKeys({ help, submit, choose, leave, pass, acts }) {
    let arrowing = false;
    // A selection grows and shrinks by words and lines, wherever the focus is.
    function changeSelection(key) {
      const selection = getSelection();
      if (selection.isCollapsed) return false;
      const way = key.slice(5).toLowerCase();
      const along = way === "left" || way === "right";
      selection.modify("extend", along ? way : way === "up" ? "backward" : "forward", along ? "word" : "line");
      return true;
    }
    function act(event) {
      const { key, target } = event;
      if (target.closest("textarea, select, input:not([type=radio], [type=checkbox])")) {
        if (key === "Escape") {
          leave(target);
          return true;
        }
        return key === "Enter" && pass(target);
      }
      if (key === "?") {
        if (help.open) help.close();
        else help.showModal();
        return true;
      }
      if (help.open) return false;
      if (event.shiftKey && key.startsWith("Arrow")) return changeSelection(key);
      if (choose(key)) return true;
      if (key === "Enter") {
        // Links, buttons and folds keep their own meaning of Enter.
        if (target.closest("a, button, summary")) return false;
        submit();
        return true;
      }
      if (!(key in acts)) return false;
      acts[key]();
      return true;
    }
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      arrowing = event.key === "ArrowLeft" || event.key === "ArrowRight";
      if (act(event)) event.preventDefault();
    });
    document.addEventListener("keyup", () => (arrowing = false));
    return { arrowing: () => arrowing };
  }

  // What passes within a while of the last movement, in milliseconds.
  function countActive(before, idleSeconds) {
    let active = before;
    let moved = performance.now();
    let told = moved;
    for (const name of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
      document.addEventListener(name, () => (moved = performance.now()), { capture: true, passive: true });
    }
    setInterval(() => {
      const now = performance.now();
      if (document.visibilityState === "visible" && now - moved < idleSeconds * 1000) active += now - told;
      told = now;
    }, 1000);
    return { active: () => Math.round(active) };
  }

  window.planjury = Object.assign(window.planjury || {}, { bindKeys, countActive });
})();
