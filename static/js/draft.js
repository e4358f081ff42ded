// A text area with data-draft keeps what is typed until it was taken: reloading the page, or signing
// in again in between, loses nothing. Ctrl and Enter send its form.
(function () {
  "use strict";
  for (const field of document.querySelectorAll("textarea[data-draft]")) {
    const form = field.form;
    const key = "draft-" + form.dataset.draftKey;
    const keep = (act) => { try { return act(); } catch { return null; } };
    const kept = keep(() => sessionStorage.getItem(key));
    if (kept && !field.value) field.value = kept;
    field.addEventListener("input", () => keep(() => sessionStorage.setItem(key, field.value)));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
  }
})();
