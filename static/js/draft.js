// Fields with data-draft keep what is typed until it was taken: reloading the page, or signing in
// again in between, loses nothing. A text to start from (data-start) gives way to what was typed.
// Ctrl and Enter send the form of a text area.
(function () {
  "use strict";
  const known = new WeakSet();

  function keep(field) {
    const form = field.form;
    if (!form || known.has(field)) return;
    known.add(field);
    const area = field.tagName === "TEXTAREA";
    const key = "draft-" + form.dataset.draftKey + (area ? "" : "-" + field.name);
    const attempt = (act) => { try { return act(); } catch { return null; } };
    const kept = attempt(() => sessionStorage.getItem(key));
    if (kept && (!field.value || field.value === field.dataset.start)) field.value = kept;
    field.addEventListener("input", () => attempt(() => sessionStorage.setItem(key, field.value)));
    if (!area) return;
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
  }
  const keepAll = () => document.querySelectorAll("textarea[data-draft], input[data-draft]").forEach(keep);
  keepAll();
  // What a script brings in later.
  document.addEventListener("htmx:load", keepAll);
})();
