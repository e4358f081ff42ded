// Forms in which a person replies: drafts, keys, finding a tool, an editor of steps, scores by keys.

import { all, notice } from "./common.js";

// --- Drafts ------------------------------------------------------------------------------------
// Fields with data-draft keep their text until it is accepted, also over a reload or a new sign-in. A
// starting text (data-start) is replaced by the draft. Ctrl+Enter in such a field sends the form.
const drafted = new WeakSet();

function keepDraft(field) {
  const form = field.form;
  if (!form || drafted.has(field)) return;
  drafted.add(field);
  const area = field.tagName === "TEXTAREA";
  const key = "draft-" + form.dataset.draftKey + (area ? "" : "-" + field.name);
  const attempt = (act) => { try { return act(); } catch { return null; } };
  const draft = attempt(() => sessionStorage.getItem(key));
  if (draft && (!field.value || field.value === field.dataset.start)) field.value = draft;
  field.addEventListener("input", () => attempt(() => sessionStorage.setItem(key, field.value)));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}
const keepDrafts = () => document.querySelectorAll("textarea[data-draft], input[data-draft]").forEach(keepDraft);
keepDrafts();
document.addEventListener("htmx:load", keepDrafts);

// A text longer than a reply may be is refused before it is inserted: browsers need half a minute to lay out a
// million characters.
document.addEventListener("beforeinput", (event) => {
  const field = event.target, longest = Number(field.closest("[data-longest]")?.dataset.longest);
  if (!longest || !event.inputType.startsWith("insertFrom")) return;
  const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
  const kept = field.value.slice(0, field.selectionStart) + field.value.slice(field.selectionEnd);
  const length = (kept + text).replace(/\r?\n/g, "\r\n").length;  // as it is sent
  if (length <= longest) return;
  event.preventDefault();
  const words = (count) => count.toLocaleString("en");
  notice("Not inserted: your reply would have " + words(length) + " characters, and " + words(longest) + " are the most. What you typed stays.", { kind: "warning", key: "longest" });
});

// --- Keys that lead to the parts of a system's reply form ---------------------------------------
const prepared = new WeakSet();
const firstNew = (selector) => all(selector).find((element) => !prepared.has(element) && prepared.add(element));

// Tabs over several forms show one of them: one that was refused, the one that the page says comes first, or
// the last that the person chose.
let tab = "";
function panelOf(tabs, link) {
  const target = document.querySelector(link.getAttribute("href"));
  return Array.from(document.getElementById(tabs.dataset.tabs).children).find((one) => one.contains(target));
}
function showTab(tabs, chosen) {
  for (const link of all("a", tabs)) {
    const panel = panelOf(tabs, link);
    if (panel) panel.hidden = link !== chosen;
    if (link === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
function showTabs() {
  for (const tabs of all("[data-tabs]")) {
    const links = all("a[data-key]", tabs);
    if (links.some((link) => link.hasAttribute("aria-current"))) continue;
    const withKey = (key) => links.find((link) => link.dataset.key === key);
    const refused = links.find((link) => panelOf(tabs, link)?.querySelector(".errorlist"));
    showTab(tabs, refused || withKey(tabs.dataset.first) || withKey(tab) || links[0]);
  }
}
showTabs();
document.addEventListener("htmx:load", showTabs);

function goTo(element) {
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-reply-keys] a[data-key]");
  const target = link && document.querySelector(link.getAttribute("href"));
  if (!target) return;
  event.preventDefault();
  const tabs = link.closest("[data-tabs]");
  if (tabs) showTab(tabs, link);
  tab = link.dataset.key;
  goTo(target);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
  const link = document.querySelector('[data-reply-keys] a[data-key="' + CSS.escape(event.key) + '"]');
  if (!link) return;
  event.preventDefault();
  link.click();
});

// Buttons fill a field: with a suggestion, the last plan, or nothing.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fill]");
  if (!button) return;
  const field = document.getElementById(button.dataset.fill);
  field.value = button.dataset.fillText;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
});

// --- Steps of a plan: Enter begins the next number; a preview shows how the text is parsed ------
const number = /^\s*(?:step\s*)?(\d{1,3})\s*(?:[.):](?!\d)|-(?!\w))\s*/i;
const bullet = /^\s*[-*•]\s+/;

function readSteps(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const marker = [number, bullet].find((one) => lines.some((line) => one.test(line)));
  if (!marker) return lines;
  const steps = [];
  for (const line of lines) {
    if (marker.test(line)) steps.push(line.replace(marker, "").trim());
    else if (steps.length) steps[steps.length - 1] = (steps[steps.length - 1] + " " + line).trim();
  }
  return steps.filter(Boolean);
}

function showSteps(field) {
  const preview = document.getElementById(field.dataset.steps);
  const steps = readSteps(field.value);
  preview.hidden = !steps.length;
  preview.querySelector("ol").replaceChildren(...steps.map((step) => {
    const item = document.createElement("li");
    item.textContent = step;
    return item;
  }));
}

// A number that somebody types after the one that Enter has begun stands there twice.
const doubled = /^(\s*(\d{1,3})\. )(?:step\s*)?\2[.):]\s/im;

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.matches("textarea[data-steps]")) return;
  const match = doubled.exec(field.value);
  if (match) field.setRangeText("", match.index + match[1].length, match.index + match[0].length, "preserve");
  showSteps(field);
});
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!field.matches("textarea[data-steps]") || event.key !== "Enter" || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const start = field.selectionStart;
  const line = field.value.slice(field.value.lastIndexOf("\n", start - 1) + 1, start);
  const match = number.exec(line);
  if (!match || line.trim() === match[0].trim()) return;
  event.preventDefault();
  field.setRangeText("\n" + (Number(match[1]) + 1) + ". ", start, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
});

// --- Terms in parentheses: a picker writes them, a preview shows how they are read ---------------
// "(name object object)": known names with how many objects they take, and known objects, stand in
// [data-term-sizes] of the form. What is unknown is named; whether a term is right nobody knows here.
const term = /\(([^()]*)\)/g;

function termNames(form) {
  const sizes = new Map(all("[data-name]", form).map((one) => [one.dataset.name.toLowerCase(), Number(one.dataset.size)]));
  const objects = new Set(all("[data-object]", form).map((one) => one.dataset.object.toLowerCase()));
  return { sizes, objects };
}

function termFault(text, { sizes, objects }) {
  const [name, ...given] = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  if (!name) return "nothing in the parentheses";
  if (!sizes.has(name)) return "“" + name + "” is not a name of this question";
  if (given.length !== sizes.get(name)) return name + " takes " + sizes.get(name) + ", not " + given.length;
  const unknown = given.find((one) => !objects.has(one));
  return unknown ? "“" + unknown + "” is not an object of this question" : "";
}

function showTerms(field) {
  const preview = document.getElementById(field.dataset.terms);
  const names = termNames(field.form);
  const terms = [...field.value.matchAll(term)].map((found) => found[1].trim().split(/[\s,]+/).join(" "));
  const rest = field.value.replace(term, " ").replace(/,/g, " ").trim();
  const none = "termsNone" in field.dataset && /^\(?none\)?$/i.test(field.value.trim());
  // Only what is new is read out, and not the whole list at every letter.
  const list = preview.querySelector("ol"), read = none ? [] : terms;
  if (list.dataset.read !== read.join()) list.replaceChildren(...read.map((text) => {
    const item = document.createElement("li");
    const code = document.createElement("code");
    const fault = termFault(text, names);
    code.textContent = "(" + text + ")";
    item.append(code);
    if (fault) {
      const words = document.createElement("span");
      words.className = "sub";
      words.textContent = " " + fault;
      item.append(words);
    }
    return item;
  }));
  list.dataset.read = read.join();
  let words = "";
  if (none) words = "None: there is no such answer.";
  else if (rest) words = "Not in parentheses: " + rest.slice(0, 60);
  else if ("termsOne" in field.dataset && terms.length > 1) words = "Only one is wanted.";
  preview.querySelector("p").textContent = words;
  preview.hidden = !field.value.trim();
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-terms]")) showTerms(event.target);
});
document.addEventListener("change", (event) => {
  const name = event.target.closest("[data-term-name]");
  if (!name) return;
  const size = Number(name.selectedOptions[0].dataset.size || 0);
  all("[data-term-place]", name.closest("[data-term-picker]")).forEach((place, number) => {
    place.hidden = number >= size;
  });
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-term-add]");
  if (!button) return;
  const picker = button.closest("[data-term-picker]");
  const name = picker.querySelector("[data-term-name]");
  const places = all("[data-term-place]:not([hidden]) select", picker);
  const status = picker.querySelector("[data-term-missing]");
  const missing = [name, ...places].find((one) => !one.value);
  status.textContent = missing ? "Choose a " + (missing === name ? "name" : "value for every object") + " first." : "";
  if (missing) return missing.focus();
  const field = document.getElementById(button.dataset.termAdd);
  const text = "(" + [name, ...places].map((one) => one.value).join(" ") + ")";
  const before = "termOne" in button.dataset ? "" : field.value.trimEnd();
  field.value = before ? before + "\n" + text : text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
});

// --- Scores: 1 to 5 answers the focused question, else the first open one -----------------------
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-5]$/.test(event.key)) return;
  if (event.target.closest("input:not([type=radio]), textarea, select, dialog")) return;
  const form = document.querySelector("[data-scale-keys]");
  if (!form) return;
  const scales = all(".score", form);
  const scale = scales.find((one) => one.contains(event.target))
    || scales.find((one) => !one.querySelector(":checked"));
  if (!scale) return;
  event.preventDefault();
  const choice = scale.querySelector('[type=radio][value="' + event.key + '"]');
  choice.checked = true;
  choice.dispatchEvent(new Event("input", { bubbles: true }));
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  const next = scales[scales.indexOf(scale) + 1];
  goTo(next ? next.querySelector("[type=radio]:checked") || next.querySelector("[type=radio]")
    : form.querySelector("button[type=submit]"));
});

// --- Finding a tool; set-up, also of forms that htmx brings in ----------------------------------
function setUp() {
  const finder = firstNew("[data-find]");
  if (finder) bindFinder(finder);
  const refused = firstNew("[aria-invalid=true]");
  if (refused) goTo(refused);
  const steps = firstNew("textarea[data-steps]");
  if (steps && steps.value) showSteps(steps);
  for (const field of all("[data-terms]")) {
    if (!prepared.has(field) && prepared.add(field) && field.value) showTerms(field);
  }
}

function bindFinder(finder) {
  const field = finder.querySelector("input");
  const status = finder.querySelector("[data-found]");
  const tools = () => all("[data-tool]");
  const earlier = document.querySelector("[data-earlier]");
  finder.hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    if (wanted.length && earlier) earlier.open = true;
    for (const tool of tools()) {
      const words = tool.querySelector("summary").textContent.toLowerCase();
      tool.hidden = !wanted.every((word) => words.includes(word));
      count += tool.hidden ? 0 : 1;
    }
    status.textContent = wanted.length ? count + (count === 1 ? " tool fits." : " tools fit.") : "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    // A name that is typed whole opens that tool, and not one before it with a longer name.
    const exact = field.value.trim().toLowerCase();
    const fits = tools().find((tool) => tool.dataset.tool.toLowerCase() === exact) || tools().find((tool) => !tool.hidden);
    if (!fits) return;
    fits.open = true;
    goTo(fits.querySelector("form input[type=text], form button"));
  });
}

setUp();
document.addEventListener("htmx:load", setUp);
