// Pace: a gentle word at the next item where one was submitted faster than it can be read.

import { notice } from "./common.js";

// Nobody reads more words in a second, or scores more questions with thought.
const WORDS_PER_SECOND = 15;
const SECONDS_PER_QUESTION = 0.7;
const KEY = "planjury.pace.";

// active(): milliseconds of work on this item.
export function makePace({ desk, settings, active }) {
  const key = KEY + settings.owner;
  const store = (change) => {
    try {
      return change(sessionStorage);
    } catch (error) {
      return null;
    }
  };
  const last = store((storage) => storage.getItem(key));
  if (last) {
    store((storage) => storage.removeItem(key));
    notice(last, { kind: "info", key: "pace" });
  }

  function submitted() {
    const pane = desk.querySelector(".desk-read");
    const words = pane ? pane.textContent.trim().split(/\s+/).length : 0;
    const questions = desk.querySelectorAll("fieldset[data-slot]").length;
    const seconds = Math.round(active() / 1000);
    if (seconds >= words / WORDS_PER_SECOND + questions * SECONDS_PER_QUESTION) return;
    const text = "You spent " + Math.max(seconds, 1) + (seconds > 1 ? " seconds" : " second") + " on the last item, which has " + words + " words. Take the time you need; you can go back with p.";
    store((storage) => storage.setItem(key, text));
  }
  return { submitted };
}
