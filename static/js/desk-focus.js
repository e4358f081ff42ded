// Which question is in focus, and which turn's group of questions is shown.
(function () {
  "use strict";

  // turned(number, {move}): the form went to a turn; moved(): another question is in focus;
  // ended(): there is nothing further down, or nothing left to answer.
  function makeFocus({ form, slots, parts, isOpen, missing, touch, turned, moved, ended }) {
    let current = null;
    const turnOf = (part) => Number(part.dataset.part.slice(5));
    const partOf = (name) => parts.find((part) => part.dataset.part === name);
    const showOnly = (part) => {
      for (const other of parts) other.toggleAttribute("data-shown", other === part);
    };
    function firstOf(part) {
      const inside = slots.all.filter((slot) => part.contains(slot));
      return inside.find(isOpen) || inside[0];
    }
    // Shows the group of a turn, and takes what is read along.
    function showPart(part, { follow = true } = {}) {
      if ("shown" in part.dataset) return;
      showOnly(part);
      form.closest(".desk-form").scrollTop = 0;
      for (const link of form.querySelectorAll("[data-part-link]")) {
        if (link.dataset.partLink === part.dataset.part) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
      turned(turnOf(part), { move: follow });
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
      moved();
    }
    function step(by) {
      const place = slots.all.indexOf(current) + by;
      if (place >= 0 && place < slots.all.length) focusOn(slots.all[place]);
      else if (place >= slots.all.length) ended();
    }
    // To the next question without an answer. A text that may stay empty is passed over by touch
    // alone, where typing hides half the screen.
    function goOn() {
      const place = slots.all.indexOf(current);
      const waits = (slot) => isOpen(slot) && (slots.required(slot) || (slots.isText(slot) && !touch));
      const next = slots.all.slice(place + 1).find(waits) || missing()[0];
      if (!next) {
        focusOn(current, { move: false });
        ended();
        return;
      }
      focusOn(next);
      if (slots.isText(next)) slots.area(next).focus({ preventScroll: true });
    }
    // The turn of a question stands first where the form is opened.
    function begin(first) {
      const part = slots.part(first) || parts[0];
      if (part) {
        showOnly(part);
        turned(turnOf(part), { move: false });
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
        turned(turnOf(part), { move: true });
      });
    }
    return {
      focusOn, step, goOn, begin,
      current: () => current,
      name: () => (current ? current.dataset.slot : ""),
      onTurn(number) {
        const part = partOf("turn-" + number);
        if (part) focusOn(firstOf(part), { move: false, follow: false });
      },
    };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeFocus });
})();
