// Fields with data-draft keep what is typed until it was taken: reloading the page, or signing in
// again in between, loses nothing. Ctrl and Enter send the form of a text area.
(function () {
  "use strict";
  for (const field of document.querySelectorAll("textarea[data-draft], input[data-draft]")) {
    const form = field.form;
    const area = field.tagName === "TEXTAREA";
    const key = "draft-" + form.dataset.draftKey + (area ? "" : "-" + field.name);
    const keep = (act) => { try { return act(); } catch { return null; } };
    const kept = keep(() => sessionStorage.getItem(key));
    if (kept && !field.value) field.value = kept;
    field.addEventListener("input", () => keep(() => sessionStorage.setItem(key, field.value)));
    if (!area) continue;
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
  }
})();
