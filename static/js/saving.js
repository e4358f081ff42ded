// Saving answers: the queue that sends them, and the state of a desk's fields (value, version, undo).

// --- The queue ---------------------------------------------------------------------------------
// Every answer stays in the browser's storage, under its owner, until the server confirms it, so that
// neither a reload nor a lost connection loses one. Sending one twice is harmless: each has an id.
const PREFIX = "planjury.answers.";
const PAUSES = [1000, 2000, 4000, 8000, 15000, 30000];
// Longer than the server waits for a locked database, so that its error message arrives.
const TIMEOUT = 25000;
// After this long without an answer the page says that the server is slow.
const SLOW = 3000;
const MAX_BATCH = 100;
// How long a page that is being left may still be there; longer ones were not left after all.
const LEAVING = 5000;

const cookie = (name) => {
  const found = document.cookie.split("; ").find((part) => part.startsWith(name + "="));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
};
// Read from the cookie, because signing in again in another tab changes the token.
export const token = () => cookie("csrftoken") || (document.querySelector("[name=csrfmiddlewaretoken]") || {}).value || "";

function makeId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

// One key per entry, so that two tabs can add and remove without reading each other's entries.
function makeStore(owner) {
  const prefix = PREFIX + owner + ".";
  let memory = null;
  try {
    localStorage.setItem(prefix + "probe", "1");
    localStorage.removeItem(prefix + "probe");
  } catch (error) {
    memory = new Map();
  }
  let last = 0;
  // What is confirmed while the page is being left stays in the storage: the next page may have been made just
  // before it was stored, and would show what was there before. Its queue sends it once more, which is harmless.
  let leaving = false;
  const confirmed = new Map();
  return {
    lasting: () => memory === null,
    leave() {
      leaving = true;
      setTimeout(() => {
        leaving = false;
        confirmed.forEach(this.remove);
        confirmed.clear();
      }, LEAVING);
    },
    confirm(entry) {
      if (leaving) confirmed.set(entry.id, entry);
      else this.remove(entry);
    },
    add(entry) {
      last = Math.max(last + 1, Date.now() * 1000);
      entry.key = prefix + String(last).padStart(18, "0") + "." + entry.id;
      const text = JSON.stringify(entry);
      if (memory === null) {
        try {
          localStorage.setItem(entry.key, text);
          return;
        } catch (error) {
          memory = new Map(this.all().map((old) => [old.key, JSON.stringify(old)]));
        }
      }
      memory.set(entry.key, text);
    },
    put(entry) {
      if (memory !== null) {
        memory.set(entry.key, JSON.stringify(entry));
        return;
      }
      try {
        localStorage.setItem(entry.key, JSON.stringify(entry));
      } catch (error) {
        // Storage is full: the entry stays as it was.
      }
    },
    remove(entry) {
      if (memory !== null) memory.delete(entry.key);
      try {
        localStorage.removeItem(entry.key);
      } catch (error) {
        // No storage: the entry was only in memory.
      }
    },
    all() {
      const keys = memory !== null ? Array.from(memory.keys()) : Object.keys(localStorage).filter((key) => key.startsWith(prefix));
      const read = (key) => (memory !== null ? memory.get(key) : localStorage.getItem(key));
      const entries = [];
      for (const key of keys.sort()) {
        try {
          entries.push(JSON.parse(read(key)));
        } catch (error) {
          // Another tab has just removed it.
        }
      }
      return entries.filter((entry) => entry && !confirmed.has(entry.id));
    },
  };
}

// What an edit changes: later edits of the same target must arrive after it.
const targetOf = (entry) => JSON.stringify([entry.url, entry.edit && [entry.edit.question, entry.edit.subject, entry.edit.aspect]]);

// onState(state, detail): state is saved, saving, waiting, paused, "signed out" or refused. onSaved(entry, result) or
// onRefused(entry, reason, reply, code) follows each entry.
export function makeQueue({ owner, signal, onState, onSaved = () => {}, onRefused = () => {} }) {
  const store = makeStore(owner);
  let sending = false;
  // The ids of what is under way: the server may have it already.
  let underWay = [];
  // flush() was called while a message was under way.
  let askedAgain = false;
  let failures = 0;
  let timer = null;
  let lastRefusal = "";
  // Why the server stores nothing now: its own message or ours.
  let trouble = "";
  // After a server error edits are sent one at a time, so that a faulty one does not block the others.
  // An edit that fails alone is postponed: id → {tries, until}.
  let oneByOne = false;
  const postponedIds = new Map();
  // Why nothing can be sent although the server answers: {state, words, signIn}.
  let halted = null;

  function report() {
    const left = store.all().length;
    if (halted) onState(halted.state, halted.state === "refused" ? halted.words : { ...halted, left });
    else if (left && (failures || trouble || postponedIds.size || !navigator.onLine)) onState("waiting", { left, words: navigator.onLine ? trouble || fault() : "" });
    else if (left) onState("saving", left);
    else if (lastRefusal) onState("refused", lastRefusal);
    else onState("saved", 0);
  }

  function add(entry) {
    lastRefusal = "";
    store.add(Object.assign(entry, { id: entry.id || makeId(), unsent: true }));
    report();
    flush();
    return entry;
  }

  const fault = () => (postponedIds.size ? "The server could not store " + postponedIds.size + " of your answers; it will try again. The others are stored." : "");

  // What can be sent now. Whatever depends on a postponed edit waits with it: later edits of the same
  // target, its undoing, and the submission of its item.
  function ready() {
    const entries = store.all();
    for (const id of postponedIds.keys()) if (!entries.some((entry) => entry.id === id)) postponedIds.delete(id);
    const postponed = entries.filter((entry) => postponedIds.has(entry.id));
    const targets = new Set(postponed.map(targetOf)), items = new Set(postponed.map((entry) => entry.here));
    return entries.filter((entry) => {
      if (postponedIds.has(entry.id)) return postponedIds.get(entry.id).until <= Date.now();
      if (entry.kind === "submit") return !items.has(entry.here);
      return !targets.has(targetOf(entry)) && !postponedIds.has(entry.edit.undoes);
    });
  }

  // The next message: the first edits in the queue that belong to one item, or one submission.
  function nextMessage() {
    const entries = ready();
    // After `signal`, the queue of the desk that took this one's place sends them.
    if (!entries.length || signal?.aborted) return null;
    const [first] = entries;
    if (oneByOne || first.kind === "submit") return { entries: [first], url: first.url };
    const end = entries.findIndex((entry) => entry.kind !== "edit" || entry.url !== first.url);
    return { entries: entries.slice(0, end < 0 ? MAX_BATCH : Math.min(end, MAX_BATCH)), url: first.url };
  }

  async function send(message) {
    const control = new AbortController();
    const limit = setTimeout(() => control.abort(), TIMEOUT);
    const slow = setTimeout(() => { trouble = "The server is slow to answer."; report(); }, SLOW);
    const last = message.entries[message.entries.length - 1];
    const submits = last.kind === "submit";
    const body = submits
      ? new URLSearchParams({ activeMs: String(last.activeMs || 0), revealed: String(last.revealed || "") })
      : JSON.stringify({ edits: message.entries.map((entry) => entry.edit), activeMs: last.activeMs || 0 });
    try {
      // Names the owner, because somebody else may have signed in in another tab.
      const headers = { "X-CSRFToken": token(), "X-Answers-Of": owner, Accept: "application/json" };
      if (!submits) headers["Content-Type"] = "application/json";
      return await fetch(message.url, {
        method: "POST", headers, body, credentials: "same-origin", redirect: "error", keepalive: true, signal: control.signal,
      });
    } finally {
      clearTimeout(limit);
      clearTimeout(slow);
    }
  }

  // Returns true if the queue may go on, false if it must wait.
  async function handleReply(message, response) {
    const reply = await response.json().catch(() => ({}));
    if (response.status === 401) {
      halted = { state: "signed out", words: reply.refused, signIn: reply.sign_in };
      return false;
    }
    if (response.status === 403 && !reply.code && !reply.results) {
      halted = { state: "refused", words: "the server did not accept this page; reload it, your answers are kept" };
      return false;
    }
    trouble = response.status === 503 ? reply.refused || "" : "";
    if (response.status === 500) return postpone(message);
    if (response.status === 429 || response.status > 500) throw new Error("try later");
    halted = null;
    if (message.entries[0].kind === "submit") {
      const [entry] = message.entries;
      if (reply.code === "paused") return pause(reply.refused);
      store.remove(entry);
      if (response.ok) onSaved(entry, reply);
      else refuse(entry, reply.refused || statusMessage(response.status), reply, reply.code);
      return true;
    }
    const results = new Map((reply.results || []).map((result) => [result.id, result]));
    let paused = "";
    for (const entry of message.entries) {
      const result = results.get(entry.id);
      if (result && result.code === "paused") {
        paused = result.refused;
      } else if (result && !result.refused) {
        store.confirm(entry);
        onSaved(entry, result);
      } else if (result || !response.ok) {
        store.remove(entry);
        refuse(entry, (result && result.refused) || reply.refused || statusMessage(response.status), reply, (result && result.code) || reply.code);
      } else {
        throw new Error("an answer without a result");
      }
    }
    return paused ? pause(paused) : true;
  }

  // The server failed on this message: send its edits one by one, and postpone one that fails alone.
  function postpone({ entries }) {
    if (entries.length > 1) {
      oneByOne = true;
      return true;
    }
    oneByOne = true;
    const [{ id }] = entries;
    const tries = (postponedIds.get(id)?.tries || 0) + 1;
    postponedIds.set(id, { tries, until: Date.now() + PAUSES[Math.min(tries, PAUSES.length) - 1] });
    return true;
  }

  // The study is paused: try again later with the same answers.
  function pause(reason) {
    halted = { state: "paused", words: reason };
    return false;
  }

  function refuse(entry, reason, reply, code) {
    lastRefusal = reason;
    // An item must not be submitted without the answer that was just refused.
    for (const other of store.all()) if (other.kind === "submit" && other.here === entry.here) store.remove(other);
    onRefused(entry, reason, reply, code);
  }

  const statusMessage = (status) => (status === 404 ? "this item is not yours any more" : "the server answered " + status);

  async function flush() {
    if (sending) {
      askedAgain = true;
      return;
    }
    sending = true;
    askedAgain = false;
    clearTimeout(timer);
    try {
      let message = nextMessage();
      while (message) {
        report();
        for (const entry of message.entries.filter((one) => one.unsent)) store.put(Object.assign(entry, { unsent: false }));
        underWay = message.entries.map((entry) => entry.id);
        const response = await send(message);
        failures = 0;
        if (!(await handleReply(message, response))) {
          retryIn(PAUSES[PAUSES.length - 1]);
          break;
        }
        message = nextMessage();
      }
      if (!message) resetState();
      if (postponedIds.size) retryIn(Math.max(PAUSES[0], Math.min(...Array.from(postponedIds.values(), ({ until }) => until)) - Date.now()));
    } catch (error) {
      failures += 1;
      if (error.name === "AbortError") trouble = "The server does not answer.";
      else if (error instanceof TypeError) trouble = "";
      retryIn(PAUSES[Math.min(failures, PAUSES.length) - 1]);
    } finally {
      sending = false;
      underWay = [];
      report();
    }
    // The network or the reader came back meanwhile: what failed may work now.
    if (askedAgain && nextMessage()) flush();
  }

  // The queue is empty, perhaps because another tab sent the rest.
  function resetState() {
    halted = null;
    failures = 0;
    trouble = "";
    oneByOne = postponedIds.size > 0;
  }

  function retryIn(pause) {
    clearTimeout(timer);
    timer = setTimeout(flush, pause);
  }

  window.addEventListener("online", flush, { signal });
  window.addEventListener("offline", report, { signal });
  window.addEventListener("focus", flush, { signal });
  window.addEventListener("storage", () => {
    if (!store.all().length) resetState();
    report();
  }, { signal });
  window.addEventListener("beforeunload", (event) => {
    store.leave();
    if (!store.lasting() && store.all().length) event.preventDefault();
  }, { signal });
  report();
  flush();
  return { add, flush, isUnderWay: (entry) => underWay.includes(entry.id), remove: (entry) => { store.remove(entry); report(); }, all: () => store.all(), makeId };
}

// What a state is called, in one or two words.
function nameState(state, detail) {
  const left = (detail && detail.left) || 0;
  switch (state) {
    case "waiting": return navigator.onLine ? left + " waiting" : "offline (" + left + ")";
    case "paused": return "paused (" + left + ")";
    default: return state;
  }
}
const sentence = (words) => words[0].toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
const waitIn = (left) => (left === 1 ? "1 answer waits" : left + " answers wait") + " in this browser";
// Why, and what to do; empty where the name says all.
function explainState(state, detail) {
  switch (state) {
    case "waiting":
      if (!navigator.onLine) return "You are offline. " + waitIn(detail.left) + " and will be sent when you are online.";
      return waitIn(detail.left) + ". " + (detail.words ? sentence(detail.words) : "No connection to the server.") + " Keep this page open: it tries again.";
    case "paused": return sentence(detail.words) + " " + waitIn(detail.left) + " and will be sent when the study continues.";
    case "signed out": return detail.signIn ? "Signed out. Sign in; " + keptHere(detail.left) + "." : sentence(detail.words);
    case "refused": return sentence(detail);
    default: return "";
  }
}
const keptHere = (left) => (left === 1 ? "1 answer is" : left + " answers are") + " kept here";
// The same as nodes: signed out, it holds the link by which to come back to this page. Answers that wait are
// sent by the page that opens then.
function explainIn(element, state, detail) {
  if (state !== "signed out" || !detail.signIn) return void (element.textContent = explainState(state, detail));
  const link = document.createElement("a");
  link.href = detail.signIn + "?next=" + encodeURIComponent(location.pathname);
  link.textContent = "Sign in";
  element.replaceChildren("Signed out. ", link, "; " + keptHere(detail.left) + ".");
}
function nameIn(element, state, detail) {
  element.dataset.state = state;
  const text = nameState(state, detail);
  if (element.textContent !== text) element.textContent = text;
}

// On pages without a desk: the state with its explanation, in one line.
export function showState(element, state, detail) {
  if (!element) return;
  const why = explainState(state, detail);
  element.dataset.state = state;
  if (element.textContent === (why || nameState(state, detail))) return;
  if (why) explainIn(element, state, detail);
  else element.textContent = nameState(state, detail);
}
// On the desk: its name in the bar, and below it, over the page, why and what to do. Being offline needs no
// more than its name, with the rest as a tip.
export function showSaving(element, state, detail) {
  if (!element) return;
  const status = element.querySelector(".save-state");
  // Read out only what is wrong, and that it is well again: the desk says each answer by itself.
  if (state !== "saved" && state !== "saving") status.dataset.wrong = "";
  status.ariaLive = "wrong" in status.dataset && state !== "saving" ? "polite" : "off";
  if (state === "saved") delete status.dataset.wrong;
  nameIn(status, state, detail);
  const why = explainState(state, detail);
  const box = element.querySelector("[data-save-why]");
  const words = box.querySelector("p");
  if (words.textContent !== why) explainIn(words, state, detail);
  box.hidden = !why || (state === "waiting" && !navigator.onLine);
  if (why) element.dataset.tip = why;
  else delete element.dataset.tip;
}

// --- The fields of a desk ----------------------------------------------------------------------
// What each field holds, which version of it is stored, and what can be undone. Every change goes through
// the queue with an id and the version that was seen; other tabs of this browser hear of it.
const REMARKS = ["comment", "flag", "evidence"];

// Field names of the form: "safety.turn-3", "safety.turn-3:comment", ":comment".
export function parseField(field) {
  const end = field.lastIndexOf(":");
  const isRemark = end >= 0 && REMARKS.includes(field.slice(end + 1));
  const slot = isRemark ? field.slice(0, end) : field;
  const dot = slot.indexOf(".");
  return {
    slot,
    question: dot < 0 ? slot : slot.slice(0, dot),
    subject: dot < 0 ? "" : slot.slice(dot + 1),
    aspect: isRemark ? field.slice(end + 1) : "answer",
  };
}
function fieldOf({ question, subject, aspect }) {
  const slot = subject ? question + "." + subject : question;
  return aspect === "answer" ? slot : slot + ":" + aspect;
}
const valueOf = ({ value, chosen, text }) => chosen ?? (text || (value ?? null));
const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

// encode(slot, value): an answer as the server takes it. show(field, value), onRefused(field, reason, code,
// missing), onSubmitted(next), onChanged(field, value), onReplaced(field, before), onSubmittedElsewhere() and
// onState(state, detail) are the page's.
export function makeSaving({ settings, signal, encode, active, show, onRefused, onChanged, onReplaced, onSubmitted, onSubmittedElsewhere, onState }) {
  const here = settings.here;
  const fields = new Map(Object.entries(settings.places));
  const undoStack = settings.edits.map((edit) => ({ id: edit.id, field: edit.slot, value: valueOf(edit) }));
  const channel = window.BroadcastChannel ? new BroadcastChannel("planjury.desk." + settings.owner) : null;

  const version = (field) => (fields.get(field) || { version: 0 }).version;
  const setField = (field, value, count) => fields.set(field, { value, version: count });
  const pending = () => queue.all().filter((entry) => entry.here === here && entry.kind === "edit");
  const isPending = (field, id) => pending().some((entry) => fieldOf(entry.edit) === field && entry.id !== id);

  function body(field, value) {
    const { slot, aspect } = parseField(field);
    if (aspect === "answer") return encode(slot, value);
    if (aspect === "evidence") return { chosen: value };
    return aspect === "flag" ? { value: value ? 1 : 0, text: value || "" } : { text: value || "" };
  }
  function record(field, edit) {
    cancel();
    const { question, subject, aspect } = parseField(field);
    queue.add({
      kind: "edit", id: edit.id, url: settings.answers, here, activeMs: active(),
      edit: Object.assign({ question, subject, aspect, at: new Date().toISOString() }, edit),
    });
  }
  const valueAt = (field) => (fields.get(field) || { value: null }).value;
  function store(field, value) {
    const edit = { id: queue.makeId(), seen: version(field), ...body(field, value) };
    // Of several unsent versions of a text, only the last needs sending.
    if (parseField(field).aspect !== "answer") for (const entry of pending()) if (entry.unsent && fieldOf(entry.edit) === field) queue.remove(entry);
    setField(field, value, version(field) + 1);
    record(field, edit);
    return edit.id;
  }
  // Stores a change. Answers and marks can be undone; a text is edited instead.
  function change(field, value) {
    const { aspect } = parseField(field);
    const was = valueAt(field);
    const id = store(field, value);
    if (aspect === "answer") undoStack.push({ id, field, value });
    else if (aspect === "evidence") undoStack.push({ id, field, value, was });
  }
  function before(field) {
    const earlier = undoStack.filter((edit) => edit.field === field);
    return earlier.length ? earlier[earlier.length - 1].value : null;
  }
  // Undoes the last answer or mark; returns its field.
  function undo() {
    const last = undoStack.pop();
    if (!last) return null;
    if ("was" in last) {
      store(last.field, last.was || []);
      show(last.field, last.was);
      return last.field;
    }
    const seen = version(last.field);
    setField(last.field, before(last.field), seen + 1);
    show(last.field, before(last.field));
    record(last.field, { id: queue.makeId(), undoes: last.id, seen });
    return last.field;
  }
  // Marks that another tab has changed cannot be undone here: that would remove the other tab's marks, too.
  const forgetMarks = (field) => {
    for (const edit of undoStack.filter((one) => one.field === field && "was" in one)) forget(edit.id);
  };
  const forget = (id) => {
    const at = undoStack.findIndex((edit) => edit.id === id);
    if (at >= 0) undoStack.splice(at, 1);
  };

  // Submitting
  const submissions = () => queue.all().filter((entry) => entry.kind === "submit" && entry.here === here);
  const submitting = () => submissions().some(queue.isUnderWay);
  // What the server may have already cannot be called off.
  function cancel() {
    const waiting = submissions().filter((entry) => !queue.isUnderWay(entry));
    for (const entry of waiting) queue.remove(entry);
    if (waiting.length) onState("cancelled");
  }
  function submit() {
    queue.add({ kind: "submit", url: settings.submit, here, activeMs: active(), revealed: settings.revealed });
  }

  // What comes back
  function applyResult(entry, result) {
    const field = fieldOf(result);
    if (!isPending(field, entry.id)) {
      setField(field, valueOf(result), result.version);
      show(field, valueOf(result));
    }
    return field;
  }
  const queue = makeQueue({
    owner: settings.owner,
    signal,
    onState,
    onSaved(entry, result) {
      if (channel) channel.postMessage({ here: entry.here, kind: entry.kind, edit: entry.edit, result });
      if (entry.here !== here) return;
      if (entry.kind === "submit") {
        onSubmitted(result.next);
        return;
      }
      const field = applyResult(entry, result);
      if (result.overtook !== null && result.overtook !== undefined) onReplaced(field, result.overtook);
    },
    onRefused(entry, reason, reply, code) {
      if (entry.here !== here) return;
      if (entry.kind === "edit") forget(entry.id);
      onRefused(entry.kind === "edit" ? fieldOf(entry.edit) : null, reason, code, reply.missing || []);
    },
  });
  if (channel) {
    signal.addEventListener("abort", () => channel.close());
    channel.addEventListener("message", ({ data }) => {
      if (data.here !== here) return;
      if (data.kind === "submit") {
        if (!pending().length) onSubmittedElsewhere();
        return;
      }
      const field = fieldOf(data.result);
      // An entry that the other tab has just removed may still be in the storage as seen from here.
      if (data.result.version <= version(field) || isPending(field, data.result.id)) return;
      const old = valueAt(field);
      if (data.edit.undoes) forget(data.edit.undoes);
      else if (data.result.aspect === "answer") undoStack.push({ id: data.edit.id, field, value: valueOf(data.result) });
      else forgetMarks(field);
      setField(field, valueOf(data.result), data.result.version);
      show(field, valueOf(data.result));
      if (!same(old, valueOf(data.result))) onChanged(field, valueOf(data.result));
    });
  }

  // Show again what an earlier visit could not send.
  for (const { edit, id } of pending()) {
    const field = fieldOf(edit);
    if (edit.undoes) {
      forget(edit.undoes);
      setField(field, before(field), version(field) + 1);
    } else {
      if (edit.aspect === "answer" && !undoStack.some((one) => one.id === id)) undoStack.push({ id, field, value: valueOf(edit) });
      setField(field, valueOf(edit), version(field) + 1);
    }
    show(field, fields.get(field).value);
  }

  return { fields, change, undo, submit, submissions, submitting, value: valueAt, canUndo: () => undoStack.length > 0 };
}

// --- Pages without a desk ----------------------------------------------------------------------
// Pages without a desk send what an earlier desk has left in the queue, and show that they do.
const carrier = document.querySelector("[data-answers-of]");
if (carrier) {
  makeQueue({
    owner: carrier.dataset.answersOf,
    onState(state, detail) {
      if (state !== "saved") carrier.hidden = false;
      showState(carrier.querySelector(".save-state"), state, detail);
    },
  });
}
