// The fields of the desk: what an answer is in each kind of scale, and how it is read and shown.
// An answer is a number (points, choice), a list (marks; empty: none applies), a text, or null.
(function () {
  "use strict";

  function makeSlots(form) {
    const all = Array.from(form.querySelectorAll("fieldset[data-slot]"));
    const named = new Map(all.map((slot) => [slot.dataset.slot, slot]));
    const inputs = (slot) => Array.from(slot.querySelectorAll(".score-scale input, .mark-list input"));
    const area = (slot) => slot.querySelector(":scope > textarea");
    const plain = (element) => (element ? element.textContent.trim().replace(/\s+/g, " ") : "");

    function read(slot) {
      const checked = inputs(slot).filter((input) => input.checked);
      switch (slot.dataset.scale) {
        case "text": return area(slot).value || null;
        case "marks": return checked.length ? checked.map((input) => input.value).filter(Boolean) : null;
        default: return checked.length ? Number(checked[0].value) : null;
      }
    }
    function show(slot, said) {
      if (slot.dataset.scale === "text") {
        if (area(slot) !== document.activeElement) area(slot).value = said || "";
        return;
      }
      const marks = slot.dataset.scale === "marks";
      for (const input of inputs(slot)) {
        if (!marks) input.checked = said !== null && Number(input.value) === said;
        else input.checked = said !== null && (input.value ? said.includes(input.value) : !said.length);
      }
    }
    // What is ticked and what says that nothing applies exclude each other.
    function settle(slot, changed) {
      if (slot.dataset.scale !== "marks" || !changed.checked) return;
      for (const input of inputs(slot)) {
        if (input !== changed && (!changed.value || !input.value)) input.checked = false;
      }
    }
    const label = (input) => plain(input.closest("label").querySelector("span"));
    function words(slot, said) {
      if (said === null || said === undefined) return "no answer";
      if (slot.dataset.scale === "text") return "“" + said + "”";
      if (slot.dataset.scale === "marks") return said.length ? said.length + " marked" : "none";
      const input = inputs(slot).find((one) => Number(one.value) === said);
      return input ? label(input) : String(said);
    }
    // The option that a key stands for; nothing where this question has no such key.
    function keyed(slot, key) {
      for (const option of slot.querySelectorAll("[data-key]")) if (option.dataset.key === key) return option.querySelector("input");
      return null;
    }
    function wire(slot, said) {
      switch (slot.dataset.scale) {
        case "marks": return { chosen: said };
        case "text": return { text: said || "" };
        default: return { value: said };
      }
    }
    const part = (slot) => slot.closest("[data-part]");
    return {
      all, named, read, show, settle, words, keyed, wire, part,
      area,
      isText: (slot) => slot.dataset.scale === "text",
      required: (slot) => "required" in slot.dataset,
      number: (slot) => plain(slot.querySelector("legend .n")),
      title(slot) {
        const turn = part(slot);
        const title = plain(slot.querySelector("legend .n")) + " " + plain(slot.querySelector("[data-title]"));
        return turn ? title + " (turn " + turn.dataset.part.slice(5) + ")" : title;
      },
    };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeSlots });
})();
