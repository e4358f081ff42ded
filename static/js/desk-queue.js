// Answers on their way to the server. Each lies in the browser's storage, under the name of the
// person who gave it, until the server has said that it is stored; so neither a reload nor a lost
// connection loses one. Sending one twice is harmless: the server knows each by its id.
(function () {
  "use strict";
  const PREFIX = "planjury.answers.";
  const PAUSES = [1000, 2000, 4000, 8000, 15000, 30000];
  // Longer than the server waits for a locked database, so that its reason arrives.
  const TIMEOUT = 25000;
  // After so long without an answer the page says that it takes long.
  const SLOW = 3000;
  const MOST = 100;

  const cookie = (name) => {
    const found = document.cookie.split("; ").find((part) => part.startsWith(name + "="));
    return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
  };
  // The cookie, not the page's copy: signing in again in another tab changes it.
  const token = () => cookie("csrftoken") || (document.querySelector("[name=csrfmiddlewaretoken]") || {}).value || "";

  function makeId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }

  // One key for each entry: two tabs add and remove without reading what the other wrote.
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
    return {
      lasting: () => memory === null,
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
          // Full: the entry stays as it was.
        }
      },
      remove(entry) {
        if (memory !== null) memory.delete(entry.key);
        try {
          localStorage.removeItem(entry.key);
        } catch (error) {
          // Then it was only in memory.
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
            // Removed by another tab in this moment.
          }
        }
        return entries.filter(Boolean);
      },
    };
  }

  const placeOf = (entry) => JSON.stringify([entry.url, entry.edit && [entry.edit.question, entry.edit.subject, entry.edit.aspect]]);

  // tell(state, detail): state is saved, saving, waiting, paused or refused; done(entry, result) and
  // refused(entry, reason, reply, code) follow each entry.
  function makeQueue({ owner, tell, done = () => {}, refused = () => {} }) {
    const store = makeStore(owner);
    let sending = false;
    let asked = false;
    let failures = 0;
    let timer = null;
    let lastRefusal = "";
    // Why the server stores nothing now, in its words or ours.
    let trouble = "";
    // After a failure of the server edits go one at a time, so that none holds the others: one that
    // fails by itself rests, by its id until when and after how many tries.
    let alone = false;
    const resting = new Map();
    // Why nothing can be sent now though the server answers: {state, words}.
    let halted = null;

    function report() {
      const left = store.all().length;
      if (halted) tell(halted.state, halted.state === "paused" ? { left, words: halted.words } : halted.words);
      else if (left && (failures || trouble || resting.size || !navigator.onLine)) tell("waiting", { left, words: navigator.onLine ? trouble || fault() : "" });
      else if (left) tell("saving", left);
      else if (lastRefusal) tell("refused", lastRefusal);
      else tell("saved", 0);
    }

    function add(entry) {
      lastRefusal = "";
      store.add(Object.assign(entry, { id: entry.id || makeId(), unsent: true }));
      report();
      flush();
      return entry;
    }

    const fault = () => (resting.size ? "the server fails on " + resting.size + " of them, the others are stored" : "");

    // What can be sent now. What rests on an edit that rests waits with it: later edits of the same
    // place, its undoing, and the submission of its item.
    function ready() {
      const entries = store.all();
      for (const id of resting.keys()) if (!entries.some((entry) => entry.id === id)) resting.delete(id);
      const rests = entries.filter((entry) => resting.has(entry.id));
      const places = new Set(rests.map(placeOf)), items = new Set(rests.map((entry) => entry.here));
      return entries.filter((entry) => {
        if (resting.has(entry.id)) return resting.get(entry.id).until <= Date.now();
        if (entry.kind === "submit") return !items.has(entry.here);
        return !places.has(placeOf(entry)) && !resting.has(entry.edit.undoes);
      });
    }

    // The next message: all edits of one item that stand first in line, or one submission.
    function nextMessage() {
      const entries = ready();
      if (!entries.length) return null;
      const [first] = entries;
      if (alone || first.kind === "submit") return { entries: [first], url: first.url };
      const end = entries.findIndex((entry) => entry.kind !== "edit" || entry.url !== first.url);
      return { entries: entries.slice(0, end < 0 ? MOST : Math.min(end, MOST)), url: first.url };
    }

    async function send(message) {
      const control = new AbortController();
      const limit = setTimeout(() => control.abort(), TIMEOUT);
      const slow = setTimeout(() => { trouble = "the server takes long to answer"; report(); }, SLOW);
      const last = message.entries[message.entries.length - 1];
      const submits = last.kind === "submit";
      const body = submits
        ? new URLSearchParams({ activeMs: String(last.activeMs || 0) })
        : JSON.stringify({ edits: message.entries.map((entry) => entry.edit), activeMs: last.activeMs || 0 });
      try {
        // Whose answers these are: somebody else may have signed in in another tab.
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

    // True when the line may move on, false when it must wait.
    async function take(message, response) {
      const reply = await response.json().catch(() => ({}));
      if (response.status === 401) {
        halted = { state: "refused", words: reply.refused || "you are signed out" };
        return false;
      }
      if (response.status === 403 && !reply.code && !reply.results) {
        halted = { state: "refused", words: "the server did not accept this page; reload it, your answers are kept" };
        return false;
      }
      trouble = response.status === 503 ? reply.refused || "" : "";
      if (response.status === 500) return rest(message);
      if (response.status === 429 || response.status > 500) throw new Error("try later");
      halted = null;
      if (message.entries[0].kind === "submit") {
        const [entry] = message.entries;
        if (reply.code === "paused") return pause(reply.refused);
        store.remove(entry);
        if (response.ok) done(entry, reply);
        else refuse(entry, reply.refused || words(response.status), reply, reply.code);
        return true;
      }
      const results = new Map((reply.results || []).map((result) => [result.id, result]));
      let paused = "";
      for (const entry of message.entries) {
        const result = results.get(entry.id);
        if (result && result.code === "paused") {
          paused = result.refused;
        } else if (result && !result.refused) {
          store.remove(entry);
          done(entry, result);
        } else if (result || !response.ok) {
          store.remove(entry);
          refuse(entry, (result && result.refused) || reply.refused || words(response.status), reply, (result && result.code) || reply.code);
        } else {
          throw new Error("an answer without a result");
        }
      }
      return paused ? pause(paused) : true;
    }

    // The server failed on this message: its edits are tried one at a time, and one alone later.
    function rest({ entries }) {
      if (entries.length > 1) {
        alone = true;
        return true;
      }
      alone = true;
      const [{ id }] = entries;
      const tries = (resting.get(id)?.tries || 0) + 1;
      resting.set(id, { tries, until: Date.now() + PAUSES[Math.min(tries, PAUSES.length) - 1] });
      return true;
    }

    // Not now, but later with the same answers.
    function pause(reason) {
      halted = { state: "paused", words: reason };
      return false;
    }

    function refuse(entry, reason, reply, code) {
      lastRefusal = reason;
      // What was to follow for the same item rests on what was just refused.
      for (const other of store.all()) if (other.kind === "submit" && other.here === entry.here) store.remove(other);
      refused(entry, reason, reply, code);
    }

    const words = (status) => (status === 404 ? "this item is not yours any more" : "the server answered " + status);

    async function flush() {
      if (sending) {
        asked = true;
        return;
      }
      sending = true;
      asked = false;
      clearTimeout(timer);
      try {
        let message = nextMessage();
        while (message) {
          report();
          for (const entry of message.entries.filter((one) => one.unsent)) store.put(Object.assign(entry, { unsent: false }));
          const response = await send(message);
          failures = 0;
          if (!(await take(message, response))) {
            again(PAUSES[PAUSES.length - 1]);
            break;
          }
          message = nextMessage();
        }
        if (!message) settle();
        if (resting.size) again(Math.max(PAUSES[0], Math.min(...Array.from(resting.values(), ({ until }) => until)) - Date.now()));
      } catch (error) {
        failures += 1;
        if (error.name === "AbortError") trouble = "the server does not answer";
        else if (error instanceof TypeError) trouble = "";
        again(PAUSES[Math.min(failures, PAUSES.length) - 1]);
      } finally {
        sending = false;
        report();
      }
      // Asked meanwhile, because the network or the reader came back: what failed may work now.
      if (asked && nextMessage()) flush();
    }

    // Nothing is left here, be it that another tab sent it.
    function settle() {
      halted = null;
      failures = 0;
      trouble = "";
      alone = resting.size > 0;
    }

    function again(pause) {
      clearTimeout(timer);
      timer = setTimeout(flush, pause);
    }

    window.addEventListener("online", flush);
    window.addEventListener("offline", report);
    window.addEventListener("focus", flush);
    window.addEventListener("storage", () => {
      if (!store.all().length) settle();
      report();
    });
    window.addEventListener("beforeunload", (event) => {
      if (!store.lasting() && store.all().length) event.preventDefault();
    });
    report();
    flush();
    return { add, flush, remove: (entry) => { store.remove(entry); report(); }, all: () => store.all(), makeId };
  }

  function showState(element, state, detail) {
    if (!element) return;
    const words = {
      saved: "saved",
      saving: "saving",
      waiting: detail && (detail.words
        ? "not stored yet (" + detail.left + "), kept in this browser: " + detail.words
        : "waiting for the " + (navigator.onLine ? "server" : "network") + " (" + detail.left + ")"),
      paused: detail && "kept here (" + detail.left + "): " + detail.words,
      refused: "refused: " + detail,
    }[state];
    element.dataset.state = state;
    if (element.textContent !== words) element.textContent = words;
  }

  window.planjury = Object.assign(window.planjury || {}, { makeQueue, showState });

  // Pages without a desk send what an earlier desk left behind, and show it while they do.
  const carrier = document.querySelector("[data-answers-of]");
  if (carrier) {
    makeQueue({
      owner: carrier.dataset.answersOf,
      tell(state, detail) {
        if (state !== "saved") carrier.hidden = false;
        showState(carrier.querySelector(".save-state"), state, detail);
      },
    });
  }
})();
