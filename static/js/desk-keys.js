// The desk's keys: what each does, and which a person chose instead.

import { token } from "./saving.js";

// --- A person's own keys -----------------------------------------------------------------------
// Keys of one character act alone, with Alt, or not at all, and any of them may be moved to another
// character, as somebody chose in the dialog of guidelines.
// Returns what an event's key means to the desk; empty where it means nothing.
function chosenKeys(settings, signal, help) {
  const mode = document.getElementById("key-mode");
  const form = document.getElementById("key-form");
  if (!mode || !form) return ({ key, altKey }) => (altKey ? "" : key);
  const choice = keptChoice(settings, signal), chosen = choice.keys;
  mode.value = choice.mode;
  mode.addEventListener("change", () => {
    choice.mode = mode.value;
    choice.keep();
  });

  const words = keysOf(help);
  const error = form.querySelector("[data-error]"), rows = form.querySelector("[data-rows]");
  const keyFor = (meaning) => chosen[meaning] || meaning;
  const inputs = Array.from(words, ([meaning, what]) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { maxLength: 1, size: 2, autocomplete: "off", value: keyFor(meaning) });
    input.dataset.meaning = meaning;
    input.setAttribute("autocapitalize", "off");
    label.append(input, " " + what);
    rows.append(label);
    return input;
  });
  // Shows the chosen key wherever the page names one.
  function draw() {
    for (const kbd of document.querySelectorAll("kbd")) {
      kbd.dataset.meaning ??= kbd.textContent;
      if (words.has(kbd.dataset.meaning)) kbd.textContent = keyFor(kbd.dataset.meaning);
    }
  }
  // Why the typed keys cannot be kept; empty where they can.
  function conflict() {
    for (const input of inputs) {
      const same = inputs.find((other) => other !== input && other.value === input.value);
      if (!/^[!-~\u00a1-\uffff]$/.test(input.value)) return [input, "Enter one character for: " + words.get(input.dataset.meaning) + "."];
      if (same) return [input, "Two actions have “" + input.value + "”: " + words.get(input.dataset.meaning) + "; " + words.get(same.dataset.meaning) + ". Not saved."];
    }
    return null;
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (event.submitter?.value === "reset") for (const input of inputs) input.value = input.dataset.meaning;
    const found = conflict();
    for (const input of inputs) input.toggleAttribute("aria-invalid", Boolean(found) && input.value === found[0].value);
    error.textContent = found ? found[1] : "Saving…";
    error.classList.toggle("errorlist", Boolean(found));
    if (found) {
      found[0].focus();
      return;
    }
    // Keys of other questionnaires stay as they are.
    for (const { value, dataset } of inputs) {
      if (value === dataset.meaning) delete chosen[dataset.meaning];
      else chosen[dataset.meaning] = value;
    }
    draw();
    error.textContent = await choice.keep() ? "Saved for your account." : "Saved in this browser, and for your account once you are online.";
  });
  draw();

  return ({ key, code, altKey }) => {
    if (key.length > 1) return altKey ? "" : key;
    if (mode.value === "off" || altKey !== (mode.value === "alt")) return "";
    // With Alt, some keyboards write another character.
    const typed = altKey && /^(Key|Digit)./.test(code) ? code.replace(/^(Key|Digit)/, "").toLowerCase() : key;
    const meaning = Array.from(words.keys()).find((one) => keyFor(one) === typed);
    return meaning || (words.has(typed) ? "" : typed);
  };
}

// What a person chose, kept for the account. What the server has not taken yet waits in this browser, by
// account, and comes first. keep() sends it; returns whether the server has it.
function keptChoice({ owner, keys, keysAddress }, signal) {
  const places = { mode: "desk-keys." + owner, keys: "desk-keymap." + owner };
  const unsent = (name) => localStorage.getItem(places[name]);
  const choice = { mode: unsent("mode") || keys?.mode || "alone", keys: keys?.keys || {} };
  try {
    choice.keys = JSON.parse(unsent("keys")) || choice.keys;
  } catch (fault) {
    // What waits cannot be read: what the server has.
  }
  async function send() {
    const body = JSON.stringify({ mode: choice.mode, keys: choice.keys });
    const headers = { "X-CSRFToken": token(), "X-Answers-Of": owner, "Content-Type": "application/json" };
    const response = await fetch(keysAddress, { method: "POST", headers, body, redirect: "error", keepalive: true }).catch(() => null);
    if (!response?.ok) return false;
    // Another choice may have been made meanwhile, which is still to be taken.
    if (body === JSON.stringify({ mode: choice.mode, keys: choice.keys })) for (const place of Object.values(places)) localStorage.removeItem(place);
    return true;
  }
  const sendWaiting = () => (unsent("mode") || unsent("keys")) && send();
  window.addEventListener("online", sendWaiting, { signal });
  sendWaiting();
  choice.keep = () => {
    localStorage.setItem(places.mode, choice.mode);
    localStorage.setItem(places.keys, JSON.stringify(choice.keys));
    return send();
  };
  return choice;
}

// Key → what it does, from the list in the dialog; a range of digits stands for all of them.
function keysOf(help) {
  const words = new Map();
  for (const term of help.querySelectorAll(".keys dt")) {
    const kbds = Array.from(term.querySelectorAll("kbd"), (kbd) => kbd.textContent);
    const what = term.nextElementSibling.textContent.trim().replace(/\s+/g, " ");
    const keys = kbds[0] === "Shift" ? [kbds[1].toUpperCase()] : kbds.filter((key) => /^[!-~]$/.test(key));
    const digits = kbds.length > 1 && kbds.every((key) => /^\d$/.test(key));
    for (const key of digits ? "1234567890".slice(0, Number(kbds.at(-1)) || 10) : keys) {
      if (!words.has(key)) words.set(key, digits ? "answer " + key : what);
    }
  }
  return words;
}

// --- What keys do ------------------------------------------------------------------------------
// choose(key): answers the question in focus; true if the key is one of its options. leave(field): Escape
// in a text field. confirmText(field): Enter in it; true if that moved on. actions: all other keys.
export function bindKeys({ signal, settings, help, submit, choose, leave, confirmText, actions }) {
  let arrowing = false;
  // Shift and arrows extend the selection by words and lines, wherever the focus is.
  function changeSelection(key) {
    const selection = getSelection();
    if (selection.isCollapsed) return false;
    const way = key.slice(5).toLowerCase();
    const along = way === "left" || way === "right";
    selection.modify("extend", along ? way : way === "up" ? "backward" : "forward", along ? "word" : "line");
    return true;
  }
  const keyOf = chosenKeys(settings, signal, help);
  function act(event) {
    const { target } = event;
    const key = keyOf(event);
    if (!key) return false;
    if (target.closest("textarea, select, input:not([type=radio], [type=checkbox])")) {
      if (help.open) return false;
      if (key === "Escape") {
        leave(target);
        return true;
      }
      return key === "Enter" && confirmText(target);
    }
    if (key === "?") {
      if (help.open) help.close();
      else help.showModal();
      return true;
    }
    if (help.open) return false;
    if (event.shiftKey && key.startsWith("Arrow")) return changeSelection(key);
    if (choose(key, event.repeat)) return true;
    if (key === "Enter") {
      if (event.repeat) return true;
      // Enter keeps its own meaning on links, buttons and folds.
      if (target.closest("a, button, summary")) return false;
      submit();
      return true;
    }
    if (!(key in actions)) return false;
    actions[key]();
    return true;
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.isComposing) return;
    arrowing = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (act(event)) event.preventDefault();
  }, { signal });
  document.addEventListener("keyup", () => (arrowing = false), { signal });
  return { arrowing: () => arrowing };
}
