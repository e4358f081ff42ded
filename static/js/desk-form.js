// The form as it stands: how much of it is answered, what is wrong with it, texts while they are
// written.
(function () {
  "use strict";
  const PAUSE = 1200;

  // written(fieldset): what is stored of a text; keep(fieldset, said) stores it.
  function makeForm({ desk, form, slots, parts, locked, written, keep }) {
    const isOpen = (slot) => slots.read(slot) === null;
    const required = slots.all.filter(slots.required);
    const missing = () => required.filter(isOpen);

    function count() {
      const text = required.length - missing().length + " of " + required.length;
      for (const place of desk.querySelectorAll("[data-answered]")) place.textContent = text;
      for (const link of form.querySelectorAll("[data-part-link]")) {
        const part = parts.find((one) => one.dataset.part === link.dataset.partLink);
        const done = !required.some((slot) => part.contains(slot) && isOpen(slot));
        link.classList.toggle("done", done);
        link.querySelector("[data-done]").textContent = done ? ", complete" : "";
      }
    }

    // --- What is wrong with an answer --------------------------------------------------------------
    function unmark(fieldset) {
      fieldset.classList.remove("missing");
      fieldset.removeAttribute("aria-describedby");
      for (const list of fieldset.querySelectorAll(".errorlist")) list.remove();
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

    // --- Texts -------------------------------------------------------------------------------------
    const textOf = (target) => (target.closest(".remarks") ? null : target.closest("[data-scale=text]"));
    function keepText(fieldset) {
      const said = slots.read(fieldset);
      if (!locked && (said || "") !== (written(fieldset) || "")) keep(fieldset, said);
    }
    let timer = null;
    form.addEventListener("input", (event) => {
      const fieldset = textOf(event.target);
      if (!fieldset) return;
      clearTimeout(timer);
      timer = setTimeout(() => keepText(fieldset), PAUSE);
    });
    form.addEventListener("focusout", (event) => {
      const fieldset = textOf(event.target);
      if (fieldset) keepText(fieldset);
    });

    return {
      isOpen, missing, count, mark, unmark,
      keepTexts: () => slots.all.filter(slots.isText).forEach(keepText),
    };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeForm });
})();
