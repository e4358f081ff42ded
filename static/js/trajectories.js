// Pages of trajectories: changes, the comparison tray, keys, the turn in view, facets, side by side.
import { all } from "./common.js";

const MAX_COMPARED = 8;
const stored = (name, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch (error) {
    return otherwise;
  }
};
const store = (name, value) => {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch (error) {
    // No storage: the choice holds for this page.
  }
};

// --- Changes from the previous plan, shown or hidden -------------------------------------------
const toggle = document.querySelector("[data-diff-toggle]");
function showChanges(shown) {
  for (const turns of all("[data-turns]")) turns.classList.toggle("diff-off", !shown);
  if (toggle) toggle.setAttribute("aria-pressed", String(shown));
}
if (toggle) {
  toggle.hidden = !document.querySelector("[data-turns] .diff");
  toggle.addEventListener("click", () => {
    const shown = toggle.getAttribute("aria-pressed") !== "true";
    store("show-changes", shown);
    showChanges(shown);
  });
  showChanges(stored("show-changes", true));
}

// --- Comparison tray: at most eight; the oldest drops out ---------------------------------------
const tray = document.querySelector("[data-tray]");
let kept = stored("comparison", []);
if (!Array.isArray(kept)) kept = [];
kept = kept.filter((item) => item && /^\d+$/.test(String(item.id)) && typeof item.name === "string");
function keep(items) {
  kept = items.slice(-MAX_COMPARED);
  store("comparison", kept);
  showTray();
}
function showTray() {
  for (const button of all("[data-compare]")) {
    const has = kept.some((item) => item.id === button.dataset.compare);
    button.querySelector("span").textContent = has ? "In comparison" : "Compare";
    button.toggleAttribute("data-kept", has);
  }
  if (!tray) return;
  tray.hidden = kept.length === 0;
  tray.replaceChildren();
  if (tray.hidden) return;
  const text = document.createElement("p");
  text.textContent = kept.length === 1 ? "Kept for comparison: " + kept[0].name : kept.length + " kept for comparison";
  const clear = document.createElement("button");
  clear.type = "button";
  clear.className = "quiet compact";
  clear.textContent = "Empty";
  clear.addEventListener("click", () => keep([]));
  tray.append(text);
  if (kept.length > 1) {
    const go = document.createElement("a");
    go.className = "button compact";
    go.href = tray.dataset.url + "?" + kept.map((item) => "t=" + item.id).join("&");
    go.textContent = "Compare";
    tray.append(go);
  }
  tray.append(clear);
}
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : document.body;
  const add = target.closest("[data-compare]");
  if (add && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const id = add.dataset.compare;
    const rest = kept.filter((item) => item.id !== id);
    keep(rest.length < kept.length ? rest : [...rest, { id, name: add.dataset.compareName }]);
  }
  const out = target.closest("[data-compare-remove]");
  if (out) keep(kept.filter((item) => item.id !== out.dataset.compareRemove));
  if (target.closest("[data-compare-clear]")) {
    keep([]);
    location.assign(location.pathname);
  }
});
showTray();
// The trajectories compared on this page become the tray's.
const compared = all("[data-compare-item]");
if (compared.length) {
  keep(compared.map((row) => ({ id: row.dataset.compareItem, name: row.dataset.compareName })));
}
// A list that htmx brings in shows which trajectories are in the tray.
document.addEventListener("htmx:afterSwap", showTray);

// --- Keys: data-key names the button or link that a key presses --------------------------------
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input:not([type=range]), textarea, select, [contenteditable]")) return;
  const control = document.querySelector('[data-key="' + CSS.escape(event.key) + '"]');
  if (!control) return;
  event.preventDefault();
  control.click();
});

// --- The line of turns marks the turn in view; htmx may bring in turns later --------------------
const line = document.querySelector(".turn-line");
if (line) {
  const seen = new Set();
  const linkOf = (id) => line.querySelector('a[href$="#' + id + '"]');
  let current = null;
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    const first = all(".turn[id]").find((turn) => seen.has(turn.id));
    const link = first ? linkOf(first.id) : null;
    if (link === current) return;
    if (current) current.removeAttribute("aria-current");
    if (link) link.setAttribute("aria-current", "true");
    current = link;
  }, { rootMargin: "-10% 0px -60%" });
  const watch = () => all(".turn[id]").forEach((turn) => watcher.observe(turn));
  document.addEventListener("htmx:afterSettle", watch);
  watch();
  // A link to a folded turn opens it.
  const open = () => {
    const turn = document.getElementById(location.hash.slice(1));
    if (turn && turn.matches("details")) turn.open = true;
  };
  addEventListener("hashchange", open);
  open();
}

// --- Facets: every choice brings new ones with new counts; open ones stay open -----------------
function keepFolds(facets) {
  // What the reader has opened or folded, by id.
  const folded = new Map();
  document.addEventListener("toggle", (event) => {
    const part = event.target;
    if (part instanceof HTMLDetailsElement && facets.contains(part) && part.id) folded.set(part.id, part.open);
  }, true);
  document.addEventListener("htmx:oobAfterSwap", () => {
    for (const [id, open] of folded) {
      const part = document.getElementById(id);
      if (part instanceof HTMLDetailsElement) part.open = open;
    }
  });
}
const facets = document.querySelector("[data-facets]");
if (facets) keepFolds(facets);

// --- Side by side: one trajectory at a time on a phone, keys for choices, the scroll position --
// The trajectory that a narrow screen shows; it is part of the address.
function hideOthers() {
  const only = document.querySelector("[data-only]")?.dataset.only;
  for (const cell of all("[data-col]")) cell.toggleAttribute("data-off", !["0", cell.dataset.col].includes(only));
}
function pick(link) {
  const frame = document.querySelector("[data-only]");
  if (!frame) return;
  frame.dataset.only = link.dataset.pick;
  hideOthers();
  for (const other of all("[data-pick]")) {
    if (other === link) other.setAttribute("aria-current", "true");
    else other.removeAttribute("aria-current");
  }
  const address = new URL(location.href);
  if (link.dataset.pick === "1") address.searchParams.delete("col");
  else address.searchParams.set("col", link.dataset.pick);
  history.replaceState(history.state, "", address);
}
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("[data-pick]") : null;
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  pick(link);
});

// Each key takes the next of a few choices, counted from the one that is being loaded.
let pending = null;
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, () => { pending = null; });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const links = all('[data-switch="' + CSS.escape(event.key) + '"]');
  if (!links.length) return;
  event.preventDefault();
  const now = links.includes(pending)
    ? links.indexOf(pending)
    : links.findIndex((link) => link.hasAttribute("aria-current"));
  pending = links[(now + 1) % links.length];
  pending.click();
});

// The frame keeps its scroll position when its rows are replaced.
let position = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const frame = document.querySelector("[data-frame]");
  position = event.detail.target.id === "compare" && frame ? [frame.scrollLeft, frame.scrollTop] : null;
});
document.addEventListener("htmx:afterSettle", () => {
  hideOthers();
  const frame = document.querySelector("[data-frame]");
  if (frame && position) frame.scrollTo(position[0], position[1]);
  position = null;
});
