// A live session: clocks, drafts in this browser and on the server, replies that wait for the network, and a
// page that updates around the form. Typed text is never lost: neither by a poll nor by a failure.
import { all, notice } from "./common.js";

const person = document.body.dataset.person || "";
// Sign-out removes the keys with this prefix.
const DRAFTS = "planjury.draft." + person + ".";
const INTERVAL = 2000;
const find = (selector, within = document) => within.querySelector(selector);
const attempt = (act) => { try { return act(); } catch { return null; } };
const title = document.title;

// --- Clocks, by the server's time --------------------------------------------------------------
let ahead = 0;
function setClock() {
  const poll = find("#session-poll");
  if (poll) ahead = Date.parse(poll.dataset.now) - Date.now();
}
const two = (n) => String(n).padStart(2, "0");
function formatDuration(seconds) {
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
    const text = since || at > now ? formatDuration(Math.abs(now - at) / 1000) : "no time left";
    if (time.textContent !== text) time.textContent = text;
    const word = time.previousElementSibling;
    if (word && "word" in word.dataset) word.textContent = since ? "for" : "";
  }
}
setInterval(tick, 1000);

// --- Drafts ------------------------------------------------------------------------------------
const DRAFT_STATES = { saved: "Draft saved", saving: "Saving draft", waiting: "Offline: draft kept in this browser" };
const box = () => find("[data-draft-url]");
function showDraftState(state, reason) {
  const line = find("[data-draft-state]");
  if (!line) return;
  let words = DRAFT_STATES[state];
  if (state === "refused") words = "Draft not saved: " + reason;
  else if (state === "waiting" && reason) words = "Draft kept in this browser: " + reason;
  line.hidden = false;
  line.dataset.state = state;
  // Read out only what is wrong: whoever types would hear the rest at every letter.
  line.ariaLive = state === "saving" || state === "saved" ? "off" : "polite";
  if (line.textContent !== words) line.textContent = words;
}
function read(form) {
  const fields = {};
  for (const [name, value] of new FormData(form)) if (name !== "csrfmiddlewaretoken" && typeof value === "string") fields[name] = value;
  return fields;
}
// Per ask: the version of the server's draft that the text is based on, and the last draft that was sent
// without an answer. So a draft that another tab saves in between is not overwritten.
const versions = {}, unconfirmed = {};
const same = (a, b) => Boolean(a && b) && Object.keys({ ...a, ...b }).every((name) => a[name] === b[name]);
let timer = 0, last = 0, unsent = null, busy = false, newer = null;
const storeLocally = (draft) => document.body.dataset.person && attempt(() => localStorage.setItem(DRAFTS + draft.of, JSON.stringify({ fields: draft.fields, version: versions[draft.of], sent: unconfirmed[draft.of] })));
function note(form) {
  const here = box();
  if (!here || !here.contains(form) || sending.has(here.dataset.draftOf)) return;
  form.dataset.typed = "1";
  unsent = { of: here.dataset.draftOf, url: here.dataset.draftUrl, token: find("[name=csrfmiddlewaretoken]", form)?.value, fields: read(form) };
  storeLocally(unsent);
  if (!newer && find("[data-draft-state]")?.dataset.state !== "waiting") showDraftState("saving");
  if (!timer) timer = setTimeout(send, Math.max(0, INTERVAL - (Date.now() - last)));
}
async function send(event) {
  clearTimeout(timer);
  timer = 0;
  if (!unsent || (newer && newer.of === unsent.of)) return;
  // One request at a time, except when the page is left: then nothing can wait.
  if (busy && event?.type !== "pagehide") return void (timer = setTimeout(send, INTERVAL));
  const draft = unsent;
  const before = unconfirmed[draft.of];
  unsent = null;
  last = Date.now();
  showDraftState("saving");
  busy = true;
  unconfirmed[draft.of] = draft.fields;
  storeLocally(draft);
  const body = JSON.stringify({ fields: draft.fields, version: versions[draft.of] || 0 });
  let answer = null;
  try {
    answer = await fetch(draft.url, {
      method: "POST", credentials: "same-origin",
      // Browsers refuse to keep a request of more than 64 kB alive.
      keepalive: body.length < 20000, body,
      headers: { "Content-Type": "application/json", "X-CSRFToken": draft.token },
    });
  } catch { /* no network */ }
  const reply = answer && (answer.status < 500 || answer.status === 503) ? await answer.json().catch(() => ({})) : {};
  busy = false;
  // The reply itself is under way or stored: what its draft came to does not matter any more.
  if (sending.has(draft.of)) return;
  const current = box() && box().dataset.draftOf === draft.of;
  if (answer && answer.ok) {
    versions[draft.of] = reply.version;
    delete unconfirmed[draft.of];
    if (!unsent) attempt(() => localStorage.removeItem(DRAFTS + draft.of));
    else storeLocally(unsent);
    if (current) showDraftState(unsent ? "saving" : "saved");
  } else if (!answer || answer.status >= 500) {
    unsent = unsent || draft;
    if (current) showDraftState("waiting", reply.refused);
    if (!timer) timer = setTimeout(send, 2 * INTERVAL);
  } else if (answer.status === 409 && reply.fields) {
    unsent = unsent || draft;
    delete unconfirmed[draft.of];
    if (same(reply.fields, before)) {  // this page's own draft, whose answer was lost
      versions[draft.of] = reply.version;
      timer = setTimeout(send, 0);
    } else if (current) offer({ of: draft.of, ...reply });
  } else if (current) {
    showDraftState("refused", reply.reason || "reload the page, then sign in again");
  }
}
document.addEventListener("input", (event) => { if (event.target.form) note(event.target.form); });
document.addEventListener("change", (event) => { if (event.target.form) note(event.target.form); });
document.addEventListener("focusout", () => { if (unsent) send(); });
window.addEventListener("online", send);
window.addEventListener("pagehide", send);

// Two tabs have different drafts: the person chooses, and both stay until then.
const texts = (form, fields) => Object.entries(fields).filter(([name, value]) => value.trim() && form?.elements[name]?.matches?.("textarea, [type=text], [type=search]")).map(([, value]) => value).join("\n");
function offer(draft) {
  const place = find("[data-newer]"), shown = find("[data-newer-shown]");
  if (!place) return;
  newer = draft;
  const text = texts(formOf(box(), draft.fields), draft.fields);
  shown.hidden = !text;
  find("textarea", shown).value = text;
  place.hidden = false;
  showDraftState("refused", "there is another one");
}
function choose(take) {
  const place = find("[data-newer]"), here = box();
  if (!newer || !here || here.dataset.draftOf !== newer.of) return;
  const { of, fields, version } = newer;
  versions[of] = version;
  newer = null;
  place.hidden = true;
  if (!take) return void send();
  unsent = null;
  fill(here, fields);
  attempt(() => localStorage.removeItem(DRAFTS + of));
  showDraftState("saved");
}
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-newer-take], [data-newer-mine]");
  if (button) choose("newerTake" in button.dataset);
});
function formOf(here, fields) {
  return all("form", here).find((one) => Object.keys(fields).every((name) => one.elements[name])) || find("form", here);
}
// Fills a form from a draft; boxes that are not in the draft are cleared.
function fill(here, fields, form = formOf(here, fields)) {
  if (!form) return null;
  for (const field of Array.from(form.elements)) {
    if (!field.name || field.type === "hidden" || field.type === "submit") continue;
    if (field.type === "checkbox" || field.type === "radio") field.checked = fields[field.name] === field.value;
    else if (field.name in fields) field.value = fields[field.name];
  }
  return form;
}

// A draft that this browser could not send is sent now, with the version that it was based on.
function restore(posted) {
  const here = box();
  const line = find("[data-draft-state]");
  if (here && here.dataset.restored) return;
  if (line) line.hidden = !(here && "drafted" in here.dataset);
  newer = null;
  for (const of of [...sending.keys()]) if (here?.dataset.draftOf !== of) endReply(of);
  if (!here) return;
  here.dataset.restored = "1";
  const of = here.dataset.draftOf;
  // A posted form keeps its version; a fetched page shows the newest draft.
  if (!posted || !(of in versions)) versions[of] = Number(here.dataset.draftVersion);
  if ((!posted || sending.has(of)) && restoreReply(here)) return;
  const stored = attempt(() => JSON.parse(localStorage.getItem(DRAFTS + of)));
  if (!stored || !stored.fields) return;
  versions[of] = stored.version;
  if (stored.sent) unconfirmed[of] = stored.sent;
  const form = fill(here, stored.fields);
  if (form) note(form);
}

// --- Replies that wait for the network ---------------------------------------------------------
// By ask: the reply that was sent and not yet acknowledged. It is sent again until the server answers, also
// after a reload; the same text twice is stored once. While one waits the page does not poll, so that the
// server's answer to it comes first.
const REPLIES = DRAFTS + "reply.", PAUSES = [1000, 2000, 4000, 8000];
const sending = new Map();
let again = 0, tries = 0, underWay = false;
const replyForm = (of) => box()?.dataset.draftOf === of && find("[data-reply-sent]", box());
function beginReply(form, submitter) {
  const here = box();
  if (!here || !here.contains(form)) return;
  const of = here.dataset.draftOf;
  clearTimeout(timer);
  timer = 0;
  unsent = null;
  form.dataset.replySent = "1";
  const button = submitter?.name ? { name: submitter.name, value: submitter.value } : null;
  sending.set(of, button);
  attempt(() => localStorage.setItem(REPLIES + of, JSON.stringify({ at: location.pathname, form: all("form", here).indexOf(form), fields: read(form), button })));
}
function endReply(of) {
  clearTimeout(again);
  tries = 0;
  sending.delete(of);
  attempt(() => localStorage.removeItem(REPLIES + of));
}
function queueReply(words) {
  const here = box(), line = find("[data-queued]");
  if (!here || !line || !sending.has(here.dataset.draftOf)) return;
  line.hidden = false;
  find("[data-draft-state]").hidden = true;
  find("[data-queued-words]").textContent = words;
  here.inert = true;
  clearTimeout(again);
  again = setTimeout(resendReply, PAUSES[Math.min(tries++, PAUSES.length - 1)]);
}
function resendReply() {
  const of = box()?.dataset.draftOf, form = of && sending.has(of) && replyForm(of);
  if (!form || underWay) return;
  box().inert = false;
  const button = sending.get(of);
  const by = button && Array.from(form.elements).find((one) => one.type === "submit" && one.name === button.name && one.value === button.value);
  form.requestSubmit(by || undefined);
  box().inert = !find("[data-queued]").hidden;
}
const OFFLINE = "No connection. Your reply is kept in this browser and sent when the connection is back.";
document.addEventListener("submit", (event) => {
  // A reply that is being sent is not sent again by a second press.
  if (underWay && box()?.contains(event.target)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  beginReply(event.target, event.submitter);
}, true);
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  // Before the listener that says of every other request that nothing was sent.
  document.addEventListener(name, (event) => {
    const polls = event.target.id === "session-poll";
    if (polls) notice("No connection. The page reconnects by itself.", { kind: "warning", key: "network" });
    else if (event.target.closest?.("[data-reply-sent]")) queueReply(OFFLINE);
    else return;
    event.stopPropagation();
  }, true);
}
window.addEventListener("online", resendReply);
window.addEventListener("focus", resendReply);
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || !event.target.closest("[data-queued-cancel]")) return;
  const here = box(), form = replyForm(here.dataset.draftOf);
  endReply(here.dataset.draftOf);
  here.inert = false;
  find("[data-queued]").hidden = true;
  delete form.dataset.replySent;
  note(form);
  find("textarea, input:not([type=hidden])", form)?.focus();
});
// The form is locked while its reply is under way, and while it waits for the network.
function lock(is) {
  underWay = is;
  const here = box();
  if (!here) return;
  here.inert = is || !find("[data-queued]").hidden;
  const button = find("[data-reply-sent] button[type=submit]", here);
  if (is) button?.setAttribute("aria-busy", "true");
  else button?.removeAttribute("aria-busy");
}
for (const [name, is] of [["htmx:beforeSend", true], ["htmx:afterRequest", false]]) {
  document.addEventListener(name, (event) => { if (event.detail.requestConfig?.path?.includes("/reply/")) lock(is); });
}
// The server answers a reply as it answers a poll: with what this page does not show yet.
document.addEventListener("htmx:configRequest", (event) => {
  const poll = find("#session-poll")?.getAttribute("hx-get");
  if (poll && event.target.matches?.("[data-reply-sent]")) event.detail.headers["X-Session-Shown"] = poll.split("?")[1];
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.id === "session-poll" && sending.size) event.preventDefault();
});
// The page was reloaded before the server had answered.
function restoreReply(here) {
  const stored = attempt(() => JSON.parse(localStorage.getItem(REPLIES + here.dataset.draftOf)));
  const form = stored && stored.fields && all("form", here)[stored.form];
  if (!form) return false;
  fill(here, stored.fields, form);
  form.dataset.replySent = "1";
  sending.set(here.dataset.draftOf, stored.button);
  queueReply("Your reply is being sent.");
  return true;
}

// Replies to asks that are not open any more were stored, or came too late: then their text is shown.
function forgetReplies() {
  const open = find("#session-poll")?.dataset.asks?.split(",");
  for (const key of attempt(() => Object.keys(localStorage)) || []) {
    const of = key.startsWith(REPLIES) && key.slice(REPLIES.length);
    const stored = of && open && !open.includes(of) && attempt(() => JSON.parse(localStorage.getItem(key)));
    if (!stored || stored.at !== location.pathname) continue;
    attempt(() => localStorage.removeItem(key));
    attempt(() => localStorage.removeItem(DRAFTS + of));
    const text = stored.fields.text?.trim(), place = find("[data-rescued]");
    if (!text || !place || all(".talk-line.own").some((line) => line.textContent.includes(text.split("\n")[0].replace(/^\W*\d+\W+/, "").slice(-40)))) continue;
    place.hidden = false;
    find("textarea", place).value = text;
  }
}

// --- The page updates around the form ----------------------------------------------------------
const inSession = (event) => event.target instanceof Element && event.target.closest("[data-session]");
document.addEventListener("htmx:beforeSwap", (event) => {
  const { status } = event.detail.xhr;
  // Set here, too: a form that is no longer on the page has no attributes to read.
  if (event.detail.boosted && event.detail.target.id === "session") {
    event.detail.selectOverride = "#session";
    event.detail.swapOverride = "outerHTML show:none";
  }
  // Show the current page, with the typed text.
  if (status === 409 && inSession(event)) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
  // A page without a session must not replace the typed text.
  if (event.detail.requestConfig.verb === "post" && event.detail.shouldSwap && inSession(event) && !event.detail.serverResponse.includes("session-poll")) {
    event.detail.shouldSwap = false;
    queueReply("Not sent. Your reply is kept in this browser. Sign in again in another tab; it is then sent.");
    return;
  }
  // The server has answered: stored, refused, or asks to look again.
  stored = event.detail.requestConfig.verb === "post" && status < 400;
  if (status < 500 && event.detail.shouldSwap && event.detail.requestConfig.elt?.matches?.("[data-reply-sent]")) for (const of of [...sending.keys()]) {
    endReply(of);
    if (status < 400) attempt(() => localStorage.removeItem(DRAFTS + of));
  }
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (event.target.closest?.("[data-reply-sent]") && (status >= 500 || status === 429)) queueReply("The server can’t store your reply now. It is kept in this browser and sent again.");
  if (event.target.id !== "session-poll" || (status !== 403 && status !== 404)) return;
  event.stopPropagation();
  event.target.remove();
  const badge = document.createElement("span");
  badge.className = "badge warn";
  badge.textContent = status === 403 ? "Signed out" : "Session not found";
  find("#session-turn").replaceChildren(badge);
  notice(status === 403 ? "You are signed out. Your text is kept. Sign in again in another tab, then reload this page." : "This session no longer exists.", { kind: "warning", key: "session" });
}, true);
let typed = null, stored = false;
function typedNow() {
  const form = find("#session-desk form[data-typed]");
  return form && Object.entries(read(form)).filter(([name, value]) => form.elements[name]?.type !== "hidden" && value).map(([, value]) => value).join("\n");
}
document.addEventListener("htmx:beforeSwap", (event) => {
  // Another person has the place: what was typed is shown on the page that says so.
  if (event.detail.serverResponse.includes("data-left")) typed = typedNow();
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (target.id === "session-desk") typed = stored ? null : typedNow();
  // That a reply was not sent stays until the player sends again or closes it.
  if (target.id === "session-note" && !stored && find("[data-unsent]", target)) event.detail.shouldSwap = false;
  // A watcher's status that is written anew is read out anew, even where it is the same.
  if (target.id === "session-turn" && target.textContent.trim() === fragment.textContent.trim()) event.detail.shouldSwap = false;
});
for (const name of ["htmx:oobAfterSwap", "htmx:afterSettle"]) {
  document.addEventListener(name, () => {
    const place = find("[data-rescued]");
    if (!typed || !place) return;
    place.hidden = false;
    find("textarea", place).value = typed;
    typed = null;
  });
}

document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-close-note]")) find("#session-note").replaceChildren();
});

// --- Scrolling: the end follows new messages only for a reader who is there ---------------------
const talk = () => find("#room-talk");
const atEnd = () => !talk() || talk().scrollHeight - talk().scrollTop - talk().clientHeight < 80;
let follows = true, place = 0, sentByMe = false;
function toEnd() {
  if (talk()) talk().scrollTop = talk().scrollHeight;
  const button = find("[data-to-end]");
  if (button) button.hidden = true;
}
document.addEventListener("htmx:beforeSwap", (event) => {
  follows = atEnd();
  place = talk()?.scrollTop || 0;
  sentByMe = event.detail.requestConfig?.verb === "post";
});
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-to-end]")) toEnd();
});
document.addEventListener("scroll", (event) => {
  if (event.target === talk() && atEnd()) find("[data-to-end]").hidden = true;
}, true);
// A log beside the room says what is new, each message once. The dialogue itself is silent: a duel is swapped
// as a whole, and Firefox has every numbered step read again whenever a list changes anywhere on the page.
const heard = new Set();
let whose = "", told = [];
const ERRORS = "#session-refused p, #session-errors p, #session-hints :is(p, li), #session-desk .errorlist";
function announce(opened, posted) {
  const log = find("#room-news");
  if (!log) return;
  const newer = all(".talk-line[id]").filter((line) => !heard.has(line.id));
  for (const line of newer) heard.add(line.id);
  const words = newer.filter((line) => !line.classList.contains("own"))
    .map((line) => (line.closest("[data-side]")?.dataset.side || find("strong", line).textContent) + ": " + find("#" + line.id + "-text").textContent);
  if (posted) words.push(...all(ERRORS).map((one) => one.textContent.trim()));
  const notes = all("[data-note]").map((one) => one.textContent.trim());
  words.push(...notes.filter((text) => !told.includes(text)));
  told = notes;
  // Whose turn it is, why the session waits, or why it ended.
  const turn = all("#session-turn, .session-words:not([data-note]), #session-end + p").map((one) => one.textContent.trim()).filter(Boolean).join(". ");
  if (whose !== (whose = turn) && turn) words.push(turn);
  if (!opened && words.length) log.replaceChildren(...words.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
}
let lines = -1;
function settleLines(posted) {
  announce(lines < 0, posted);
  const count = all(".talk-line").length;
  const button = find("[data-to-end]");
  // Also where only the panel under the dialogue has grown: a form, or the one that shows the end.
  if (lines < 0 || follows || (sentByMe && count !== lines)) toEnd();
  else if (talk()) {
    talk().scrollTop = place;
    if (button && count > lines && !atEnd()) button.hidden = false;
  }
  lines = count;
}

// --- A reply of a model grows while it is written -------------------------------------------------
let stream = null;
function watchWriting() {
  const url = find("#session-writing")?.dataset.stream;
  if (!url || stream) {
    if (!url && stream) closeStream();
    return;
  }
  stream = new EventSource(url);
  stream.onmessage = (event) => {
    const text = find("#session-writing"), end = atEnd();
    if (text) text.innerHTML = JSON.parse(event.data);  // the server has escaped it
    if (end) toEnd();
  };
  stream.addEventListener("end", () => {
    closeStream();
    htmx.trigger("#session-poll", "look");
  });
  // No room for another stream, or a server that has gone: the polls go on, and it is tried again.
  stream.onerror = () => {
    closeStream();
    setTimeout(watchWriting, 1000);
  };
}
function closeStream() {
  stream.close();
  stream = null;
}

// A keyboard on the screen covers part of the window: the room is as high as what is left. Zoomed with two
// fingers, less of the window is seen, too, but nothing is covered.
const view = window.visualViewport;
let height = "100dvh";
function fitRoom() {
  const seen = Math.round(view.height * view.scale), covered = seen < window.innerHeight - 1;
  if (covered && find(".room")) window.scrollTo(0, 0);
  document.body.dataset.keyboard = covered ? "open" : "closed";
  if (height === (height = covered ? seen + "px" : "100dvh")) return;
  document.documentElement.style.setProperty("--room-height", height);
  if (follows) toEnd();
  document.activeElement?.closest(".room-composer :is(textarea, input, select)")?.scrollIntoView({ block: "nearest" });
}
for (const name of ["resize", "scroll"]) view?.addEventListener(name, fitRoom);

// The panel of information is a drawer on narrow screens.
function setDrawer(open) {
  const button = find("[data-drawer-toggle]");
  if (!button) return;
  document.body.dataset.drawer = open ? "open" : "closed";
  for (const each of all("[data-drawer-toggle]")) each.setAttribute("aria-expanded", String(open));
  if (open) find("#room-side").focus({ preventScroll: true });
  else if (find("#room-side")?.contains(document.activeElement)) button.focus();
}
// On a phone a form of many fields is a sheet over the dialogue.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-composer-toggle]");
  if (!button) return;
  const open = document.body.dataset.composer !== "open";
  document.body.dataset.composer = open ? "open" : "closed";
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "Show the dialogue" : "Show all fields";
  if (follows) toEnd();
});
const drawerOpen = () => document.body.dataset.drawer === "open";
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest("[data-drawer-toggle]")) setDrawer(!drawerOpen());
  else if (drawerOpen() && !event.target.closest(".room-side, .with-aside > :nth-child(2)")) setDrawer(false);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawerOpen()) setDrawer(false);
});

// Whoever closes the page is seen as away at once, not after a while. A closed page that the browser brings
// back is loaded anew: the server counts it no more.
window.addEventListener("pageshow", (event) => { if (event.persisted && find("#session-poll")) location.reload(); });
window.addEventListener("pagehide", () => {
  const url = find("#session-poll")?.dataset.leave, token = find("#session [name=csrfmiddlewaretoken]")?.value;
  if (url && token) fetch(url, { method: "POST", credentials: "same-origin", keepalive: true, headers: { "X-CSRFToken": token } }).catch(() => {});
});

function settle(posted) {
  setClock();
  tick();
  restore(posted);
  settleLines(posted);
  watchWriting();
  setDrawer(drawerOpen() && innerWidth < 1024);
  const aside = find("#session-desk .with-aside > :nth-child(2)");
  if (aside) aside.tabIndex = 0;  // it scrolls by itself
  const players = find(".room-side > .room-players");
  if (players) find("#session").style.setProperty("--players", players.offsetHeight + 16 + "px");
  forgetReplies();
  const poll = find("#session-poll");
  if (poll) document.title = (poll.dataset.mine ? "Your turn: " : "") + title;
}
// After a form was sent, the focus goes to its result. When it becomes the person's turn, or the swap took
// the focused element away, it goes to the form, unless the person has put it elsewhere. Without a form it goes
// to what is around its place and stays on the page: Orca is silent when the focus leaves what was taken away.
// A page that opens without a form is read from its top.
const FIELD = "#session-desk :is(form, [data-find]) :is(textarea, input:not([type=hidden]))";
function focusOn(sent, opened = false) {
  const result = sent && find("#session-hints, #session-errors, #session-refused");
  const at = document.activeElement;
  // A field that its tab hides keeps the focus until the browser draws the page.
  const idle = !at || at === document.body || at.matches("#session-desk, .room-composer") || !at.checkVisibility();
  if (result && !find("[aria-invalid=true]")) result.focus();
  else if (idle) (all(FIELD).find((one) => one.checkVisibility()) || find("#session-end") || (opened ? null : find(".room-composer") || find("#session-desk")))?.focus({ preventScroll: true });
  // Where the form has less room than fields, as on a phone, the first one to fill in is in sight.
  if (!result) all("#session-desk :is(textarea, select, input:not([type=hidden]))").find((one) => one.checkVisibility() && !one.value)?.scrollIntoView({ block: "nearest" });
}
let shown = find("#session-desk"), focused = null;
document.addEventListener("htmx:beforeSwap", () => { focused = document.activeElement; });
document.addEventListener("htmx:afterSettle", (event) => {
  if (!find("[data-session]")) return;
  const posted = event.detail.requestConfig?.verb === "post", desk = find("#session-desk");
  settle(posted);
  if (posted || desk !== shown || !focused?.isConnected) focusOn(posted);
  shown = desk;
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
focusOn(Boolean(find("#session-hints, #session-errors, #session-refused")), true);
