// Signing out: answers of a desk that are still in this browser are told of first, and none of the
// person's stays behind. Every page has this, because every page has the way out.
(function () {
  "use strict";
  const ANSWERS = "planjury.answers.";
  const LEAVING = "planjury.leaving";
  const LEFT = "planjury.left";
  const person = document.body.dataset.person || "";
  const keep = (act) => { try { return act(); } catch { return null; } };

  const entries = (owner) => keep(() => Object.keys(localStorage).filter((key) => key.startsWith(ANSWERS + owner + "."))) || [];
  // Drafts of a session that the server does not have yet go as well.
  const DRAFTS = "planjury.draft.";
  const drafts = (owner) => keep(() => Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS + owner + "."))) || [];
  const clear = (owner) => [...entries(owner), ...drafts(owner)].forEach((key) => localStorage.removeItem(key));

  // Only where signing out has worked: a page without a person follows the form.
  const leaving = keep(() => sessionStorage.getItem(LEAVING));
  if (leaving) {
    sessionStorage.removeItem(LEAVING);
    if (!person) {
      clear(leaving);
      // Other tabs of this person still show what they showed.
      keep(() => localStorage.setItem(LEFT, leaving + "." + Date.now()));
      keep(() => localStorage.removeItem(LEFT));
    }
  }
  window.addEventListener("storage", (event) => {
    if (person && event.key === LEFT && event.newValue && event.newValue.split(".")[0] === person) location.reload();
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-sign-out]") || !person) return;
    const sure = event.submitter && "sure" in event.submitter.dataset;
    if (entries(person).length && !sure) {
      event.preventDefault();
      // The page that says how many there are; it sends them, too.
      if (!form.closest("[data-leaving]")) location.assign(form.action);
      return;
    }
    keep(() => sessionStorage.setItem(LEAVING, person));
  });

  // --- The page itself ---------------------------------------------------------------------------
  const page = document.querySelector("[data-leaving]");
  if (!page) return;
  const form = page.querySelector("form[data-sign-out]");
  const find = (name) => page.querySelector("[data-" + name + "]");
  let waiting = false;
  let shown = null;

  function show() {
    const left = entries(person).length;
    if (left === shown) return;
    shown = left;
    find("unsent").hidden = !left;
    find("count").textContent = left === 1 ? "1 answer is" : left + " answers are";
    find("plain").hidden = left > 0;
    find("send").hidden = find("sure").hidden = !left;
    if (!left && waiting) form.requestSubmit();
  }
  find("send").addEventListener("click", () => {
    waiting = true;
    find("send").disabled = true;
    find("waits").hidden = false;
    // The queue tries again when the page is looked at.
    window.dispatchEvent(new Event("focus"));
  });
  show();
  setInterval(show, 250);
})();
