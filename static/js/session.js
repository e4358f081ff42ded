// A session: clocks, drafts that are kept here and on the server, and a page that changes around the
// form without touching it. What is typed is never taken away: not by a poll, not by a failure.
(function () {
  "use strict";
  const person = document.body.dataset.person || "";
  // Signing out clears what begins so.
  const KEPT = "planjury.draft." + person + ".";
  const EVERY = 2000;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const attempt = (act) => { try { return act(); } catch { return null; } };
  const title = document.title;

  // --- Clocks: by the server's time --------------------------------------------------------------
  let ahead = 0;
  function setClock() {
    const poll = find("#session-poll");
    if (poll) ahead = Date.parse(poll.dataset.now) - Date.now();
  }
  const two = (n) => String(n).padStart(2, "0");
  function words(seconds) {
    const s = Math.max(0, Math.floor(seconds));
    if (s < 60) return s + " s";
    const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
    return h ? h + ":" + two(m) + ":" + two(s % 60) + " h" : m + ":" + two(s % 60) + " min";
  }
  function tick() {
    const now = Date.now() + ahead;
    for (const time of all("[data-since], [data-until]")) {
      const at = Date.parse(time.dateTime);
      const since = "since" in time.dataset;
      const text = since || at > now ? words(Math.abs(now - at) / 1000) : "no time left";
      if (time.textContent !== text) time.textContent = text;
      const word = time.previousElementSibling;
      if (word && "word" in word.dataset) word.textContent = since ? "for" : "";
    }
  }
  setInterval(tick, 1000);

  // --- Drafts ------------------------------------------------------------------------------------
  const said = { saved: "draft kept", saving: "keeping the draft", waiting: "draft waits for the network; it is kept in this browser" };
  const box = () => find("[data-draft-url]");
  function tell(state, reason) {
    const line = find("[data-draft-state]");
    if (!line) return;
    line.hidden = false;
    line.dataset.state = state;
    line.textContent = state === "refused" ? "draft not kept: " + reason : said[state];
  }
  function read(form) {
    const fields = {};
    for (const [name, value] of new FormData(form)) if (name !== "csrfmiddlewaretoken" && typeof value === "string") fields[name] = value;
    return fields;
  }
  let timer = 0, last = 0, unsent = null;
  function note(form) {
    const here = box();
    if (!here || !here.contains(form)) return;
    form.dataset.typed = "1";
    unsent = { of: here.dataset.draftOf, url: here.dataset.draftUrl, token: find("[name=csrfmiddlewaretoken]", form)?.value, fields: read(form) };
    attempt(() => localStorage.setItem(KEPT + unsent.of, JSON.stringify(unsent.fields)));
    if (!timer) timer = setTimeout(send, Math.max(0, EVERY - (Date.now() - last)));
  }
  async function send() {
    clearTimeout(timer);
    timer = 0;
    if (!unsent) return;
    const draft = unsent;
    unsent = null;
    last = Date.now();
    tell("saving");
    let answer = null;
    try {
      answer = await fetch(draft.url, {
        method: "POST", credentials: "same-origin", keepalive: true,
        headers: { "Content-Type": "application/json", "X-CSRFToken": draft.token },
        body: JSON.stringify({ fields: draft.fields }),
      });
    } catch { /* no network */ }
    const current = box() && box().dataset.draftOf === draft.of;
    if (answer && answer.ok) {
      if (!unsent) attempt(() => localStorage.removeItem(KEPT + draft.of));
      if (current) tell("saved");
    } else if (!answer || answer.status >= 500) {
      unsent = unsent || draft;
      if (current) tell("waiting");
      if (!timer) timer = setTimeout(send, 2 * EVERY);
    } else if (current) {
      const reason = await answer.json().then((told) => told.reason, () => "reload the page and sign in again");
      tell("refused", reason);
    }
  }
  document.addEventListener("input", (event) => { if (event.target.form) note(event.target.form); });
  document.addEventListener("change", (event) => { if (event.target.form) note(event.target.form); });
  document.addEventListener("focusout", () => { if (unsent) send(); });
  window.addEventListener("online", send);
  window.addEventListener("pagehide", send);

  // What this browser could not send before is newer than what the server has.
  function restore() {
    const here = box();
    const line = find("[data-draft-state]");
    if (here && here.dataset.restored) return;
    if (line) line.hidden = !(here && "drafted" in here.dataset);
    if (!here) return;
    here.dataset.restored = "1";
    const kept = attempt(() => JSON.parse(localStorage.getItem(KEPT + here.dataset.draftOf)));
    if (!kept) return;
    const form = all("form", here).find((one) => Object.keys(kept).every((name) => one.elements[name])) || find("form", here);
    if (!form) return;
    for (const [name, value] of Object.entries(kept)) {
      const field = form.elements[name];
      if (!field || field.type === "hidden") continue;
      if (field.type === "checkbox") field.checked = true;
      else field.value = value;
    }
    note(form);
  }

  // --- The page changes around the form ----------------------------------------------------------
  const inSession = (event) => event.target instanceof Element && event.target.closest("[data-session]");
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { status } = event.detail.xhr;
    // The page as it is now, with what was typed.
    if (status === 409 && inSession(event)) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
    // A page without a session must not take the place of what was typed.
    if (event.detail.requestConfig.verb === "post" && event.detail.shouldSwap && inSession(event) && !event.detail.serverResponse.includes("data-session")) {
      event.detail.shouldSwap = false;
      window.planjury.notice("Nothing was sent. Your text is still here, and a draft of it is kept: reload the page.", { kind: "warning", key: "session" });
    }
  });
  document.addEventListener("htmx:responseError", (event) => {
    const words = {
      403: "You are signed out. What you typed is kept: sign in again in another tab, then reload this page.",
      404: "This place is not yours any more. What you said is stored.",
    }[event.detail.xhr.status];
    if (event.target.id !== "session-poll" || !words) return;
    event.target.remove();
    find("#session-turn").textContent = words;
  });
  let typed = null;
  function typedNow() {
    const form = find("#session-desk form[data-typed]");
    return form && Object.entries(read(form)).filter(([name, value]) => form.elements[name]?.type !== "hidden" && value).map(([, value]) => value).join("\n");
  }
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target.id === "session-desk") typed = typedNow();
  });
  document.addEventListener("htmx:oobAfterSwap", () => {
    const place = find("[data-rescued]");
    if (!typed || !place) return;
    place.hidden = false;
    find("textarea", place).value = typed;
    typed = null;
  });

  function toEnd() {
    const talk = find("#session-talk");
    if (talk) talk.scrollTop = talk.scrollHeight;
  }
  let lines = 0;
  function settle() {
    setClock();
    tick();
    restore();
    const count = all(".talk-line").length;
    if (count !== lines) toEnd();
    lines = count;
    const poll = find("#session-poll");
    if (poll) document.title = (poll.dataset.mine ? "Your turn: " : "") + title;
  }
  // After a form was sent the focus goes to what came of it. When one's turn comes it goes to the
  // form, unless it is somewhere that somebody has put it.
  const FIELD = "#session-desk form :is(textarea, input:not([type=hidden]))";
  function focusOn(sent) {
    const told = sent && find("#session-hints, #session-errors, #session-refused");
    const at = document.activeElement;
    const idle = !at || at === document.body || at.id === "session-desk";
    if (told && !find("[aria-invalid=true]")) told.focus();
    else if (idle) (find(FIELD) || find("#session-end") || find("#session-desk"))?.focus({ preventScroll: true });
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    if (!find("[data-session]")) return;
    settle();
    focusOn(event.detail.requestConfig?.verb === "post");
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-changes-toggle]");
    if (button) toggle();
  });
  function toggle() {
    const pane = find("[data-changes]"), button = find("[data-changes-toggle]");
    if (!pane || !button) return;
    const on = pane.dataset.changes !== "on";
    pane.dataset.changes = on ? "on" : "off";
    button.setAttribute("aria-pressed", String(on));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== "d") return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    toggle();
  });
  settle();
  focusOn(Boolean(find("#session-hints, #session-errors, #session-refused")));
})();
