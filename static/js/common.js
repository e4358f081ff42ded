// What every page needs: theme, notices, failed requests, times, tips, menus, copying, sign-out.
const root = document.documentElement;
export const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

// --- Theme -------------------------------------------------------------------------------------
function showTheme() {
  const chosen = root.dataset.theme || "auto";
  for (const button of all("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosen));
  }
}
function chooseTheme(theme) {
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "auto") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch (error) {
    // No storage: the choice holds for this page.
  }
  showTheme();
  document.dispatchEvent(new CustomEvent("themechange"));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  document.dispatchEvent(new CustomEvent("themechange"));
});

// --- Notices: one line each, at the lower right ------------------------------------------------
export function notice(text, { kind = "info", key = text, action = null } = {}) {
  const box = document.getElementById("notices");
  if (!box) return;
  const old = all("[data-key]", box).find((item) => item.dataset.key === key);
  // A warning that stands there is not read out again at each poll.
  if (old && kind === "warning" && !action && old.querySelector("p").textContent === text) return;
  if (old) old.remove();
  const item = document.createElement("div");
  item.className = "note " + kind;
  item.dataset.key = key;
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet compact close";
  close.textContent = "Close";
  close.addEventListener("click", () => item.remove());
  item.append(paragraph, close);
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "secondary compact";
    button.textContent = action.words;
    button.addEventListener("click", () => {
      item.remove();
      action.act();
    });
    item.insertBefore(button, close);
  }
  box.append(item);
  if (kind === "success" || kind === "info") setTimeout(() => item.remove(), 6000);
}
function clearNotice(key) {
  for (const item of all("#notices [data-key]")) if (item.dataset.key === key) item.remove();
}
// A server answer may carry HX-Trigger: {"notice": {"text": "…", "kind": "success"}}.
document.addEventListener("notice", (event) => notice(event.detail.text, event.detail));

// --- Requests that fail ------------------------------------------------------------------------
const NETWORK = "network";
const ERRORS = {
  403: "You may not do this, or your session has ended. Reload the page and sign in again.",
  404: "This no longer exists. Reload the page to see what is there now.",
  409: "Someone changed this in the meantime. Reload the page to see it as it is now.",
  413: "This is larger than the server accepts.",
  429: "Too many requests at once. Wait a moment and try again.",
};
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  const outage = status === 503 && (event.detail.xhr.getResponseHeader("Content-Type") || "").startsWith("text/plain") && event.detail.xhr.responseText;
  const text = outage || ERRORS[status] || "The server could not do this (" + status + "). Nothing was changed; try again.";
  notice(text, { kind: "error", key: "response-" + status });
});
// A request that another one replaces, or that ends because the page is left, has not failed. htmx logs
// every such error to the console; `detail.error` is the only way to keep it from doing so.
let leavingPage = false;
for (const name of ["pagehide", "pageshow"]) window.addEventListener(name, () => { leavingPage = name === "pagehide"; });
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const { onabort, onerror } = detail.xhr;
  detail.xhr.onabort = function (event) { detail.error = ""; onabort.call(this, event); };
  detail.xhr.onerror = function (event) { if (leavingPage) detail.error = ""; onerror.call(this, event); };
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, () => {
    if (leavingPage) return;
    notice("No connection to the server. Nothing was sent; try again.", { kind: "warning", key: NETWORK });
  });
}
// A busy database can delay a save: say so after three seconds.
const SLOW = "slow", slow = new Map();
document.addEventListener("htmx:beforeSend", ({ detail }) => {
  if (detail.requestConfig.verb === "get") return;
  slow.set(detail.xhr, setTimeout(() => notice("The server is slow to answer. Keep this page open: your changes are being sent.", { kind: "info", key: SLOW }), 3000));
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  clearTimeout(slow.get(detail.xhr));
  if (slow.delete(detail.xhr)) clearNotice(SLOW);
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) clearNotice(NETWORK);
});
window.addEventListener("online", () => clearNotice(NETWORK));

// --- Parts that renew themselves keep the focus ------------------------------------------------
// htmx gives it back to an element with an id; one without is found by what it says and where it leads.
let renewed = null;
const looksOf = (one) => [one.tagName, one.getAttribute("href"), one.closest("form")?.action, one.textContent.trim()].join("\n");
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const at = document.activeElement, renews = detail.requestConfig.elt === detail.target && detail.target.id;
  renewed = renews && !at.id && detail.target.contains(at) ? { part: detail.target.id, at, looks: looksOf(at) } : null;
});
document.addEventListener("htmx:afterSettle", () => {
  if (renewed && !renewed.at.isConnected && document.activeElement === document.body) {
    const same = all("a[href], button, summary", document.getElementById(renewed.part) || root).find((one) => looksOf(one) === renewed.looks);
    same?.focus({ preventScroll: true });
  }
  renewed = null;
});
// Filters come anew with their list: what was typed into one since then stays in it.
let typed = null;
for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) {
  document.addEventListener(name, ({ detail }) => {
    const at = document.activeElement;
    const typing = at.id && at.form?.method === "get" && at.value !== at.defaultValue;
    if (typing && detail.target.contains(at)) typed = { at, value: at.value, caret: at.selectionStart };
  });
}
document.addEventListener("htmx:afterSettle", () => {
  const field = typed && !typed.at.isConnected && document.getElementById(typed.at.id);
  if (field && field.value !== typed.value) {
    field.value = typed.value;
    if (typed.caret !== null) field.setSelectionRange(typed.caret, typed.caret);
  }
  typed = null;
});

// --- Relative times; the exact time is the tip -------------------------------------------------
const STEPS = [["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
function showTime(time) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime()) || "exact" in time.dataset) return;
  const seconds = (at.getTime() - Date.now()) / 1000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  // A past time counts whole units only; a future time is rounded: 6.99 days are 7.
  const whole = seconds > 0 ? Math.round : Math.trunc;
  const text = step ? relative.format(whole(seconds / step[1]), step[0]) : "just now";
  if (time.textContent !== text) time.textContent = text;
  time.dataset.tip = exact.format(at);
  // Inside a link, the link itself has the focus and shows the tip.
  if (!time.closest("a, button, summary")) time.tabIndex = 0;
}
const showTimes = (within) => all("time[datetime]", within).forEach(showTime);
setInterval(() => showTimes(document), 30000);
// On paper only the exact time makes sense.
window.addEventListener("beforeprint", () => {
  for (const time of all("time[data-tip]")) time.textContent = time.dataset.tip;
});
window.addEventListener("afterprint", () => showTimes(document));

// --- Tips: [data-tip] on hover and focus; one element, so that no scroll box cuts it off -------
let tip = null;
// What a tip says may change while it is shown, or no longer apply.
const tipWatch = new MutationObserver(() => {
  if (!tip) return;
  if (!tip.owner.dataset.tip) return hideTip();
  tip.textContent = tip.owner.dataset.tip;
  placeTip();
});
function hideTip() {
  if (!tip) return;
  tipWatch.disconnect();
  if (tip.owner.getAttribute("aria-describedby") === "tip") tip.owner.removeAttribute("aria-describedby");
  tip.remove();
  tip = null;
}
function showTip(owner) {
  hideTip();
  tip = document.createElement("div");
  tip.id = "tip";
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.textContent = owner.dataset.tip;
  tip.owner = owner;
  tip.addEventListener("pointerleave", () => setTimeout(leaveTip, 200));
  document.body.append(tip);
  placeTip();
  tipWatch.observe(owner, { attributeFilter: ["data-tip"] });
  if (!owner.hasAttribute("aria-describedby")) owner.setAttribute("aria-describedby", "tip");
}
function placeTip() {
  if (!tip) return;
  const at = tip.owner.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - width / 2), innerWidth - width - 8);
  const above = at.top - height - 6;
  tip.style.left = left + "px";
  tip.style.top = (above > 4 ? above : at.bottom + 6) + "px";
}
const tipOwner = (node) => {
  if (!(node instanceof Element)) return null;
  return node.closest("[data-tip]") || (node.tabIndex >= 0 && node.matches(":focus-visible") && node.querySelector("[data-tip]"));
};
for (const [name, show] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
  document.addEventListener(name, (event) => {
    const owner = tipOwner(event.target);
    if (!owner) return;
    if (show && !(tip && tip.owner === owner)) showTip(owner);
    if (show || !tip || tip.owner !== owner) return;
    if (name === "focusout") hideTip();
    else setTimeout(leaveTip, 200);
  });
}
// The pointer may move onto the tip, and the focused element keeps its tip when the pointer leaves.
function leaveTip() {
  if (tip && !tip.owner.matches(":focus, :hover") && !tip.matches(":hover")) hideTip();
}
document.addEventListener("scroll", placeTip, { capture: true, passive: true });

// --- Menus, the bar on a phone ------------------------------------------------------------------
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : root;
  for (const menu of all("details[data-menu][open]")) if (!menu.contains(target)) menu.open = false;

  const theme = target.closest("[data-theme-choice]");
  if (theme) chooseTheme(theme.dataset.themeChoice);

  const toggle = target.closest("[data-nav-toggle]");
  if (toggle) {
    const open = toggle.closest("[data-topbar]").toggleAttribute("data-open");
    toggle.setAttribute("aria-expanded", String(open));
  }

  // A button with data-dialog="ID" opens that dialog; one with data-close, or a click beside it, closes it.
  const opener = target.closest("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog) dialog.showModal();
  else if (target.closest("[data-close]") || target.matches("dialog[open]")) target.closest("dialog")?.close();
});

export const isTyping = (element) => element.closest("input:not([type=range]), textarea, select, [contenteditable]");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hideTip();
    for (const menu of all("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  // The desk has keys of its own, which can be switched off.
  if (event.key === "/" && !document.querySelector("[data-desk]") && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
    const search = document.querySelector("[data-search]");
    if (search && search.offsetParent) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  }
});

// --- Filters: always open beside a list; `open` is set so that assistive technology agrees -------
const wide = matchMedia("(min-width: 60rem)");
const RAILS = "details:is(.rail, .places)";
const openRails = () => all(RAILS).forEach((rail) => { rail.open = wide.matches; });
// Filters that htmx brings in with an analysis page are new elements.
const openReportRails = () => all("#analysis " + RAILS).forEach((rail) => { rail.open = wide.matches; });
wide.addEventListener("change", openRails);
document.addEventListener("htmx:load", openReportRails);
openRails();
// A form with data-autosubmit is sent when a choice changes; typing waits for Enter.
document.addEventListener("change", (event) => {
  const form = event.target.form;
  // Not form.dataset: a field named "dataset" would stand in its place.
  // What is taken from suggestions is still being typed.
  if (form && form.hasAttribute("data-autosubmit") && !event.target.list) form.requestSubmit();
});

// --- People to pick: the filter shows matching names, and the line below says how many are chosen ---
function countPicked(picker) {
  const chosen = all("input:checked", picker).length;
  picker.querySelector("[data-count]").textContent = chosen ? chosen + " chosen" : "";
}
for (const picker of all("[data-picker]")) {
  countPicked(picker);
  picker.addEventListener("change", () => countPicked(picker));
  const filter = picker.querySelector("[data-filter]");
  if (!filter) continue;
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.trim().toLowerCase();
    for (const row of all("[data-picker-list] > label", picker)) {
      row.hidden = !row.textContent.toLowerCase().includes(words) && !row.querySelector("input:checked");
    }
  });
}

// --- Copy: a button with data-copy="ID" copies the text of that element ------------------------
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copy]");
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  try {
    await navigator.clipboard.writeText(source.innerText.trim());
    notice("Copied.", { kind: "success" });
  } catch (error) {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    notice("The text is selected. Copy it with the keyboard.", { kind: "info" });
  }
});

// Fetches the text of a file; one that a job still writes (202) is asked for again.
async function fetchFile(address) {
  for (;;) {
    const answer = await fetch(address, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    if (answer.status !== 202) return answer.text();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// A file for which a page waited (analysis/_file_wait.html) is downloaded once it is there.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  const link = target instanceof Element && document.querySelector("#file-wait a[data-download-now]");
  if (!link) return;
  delete link.dataset.downloadNow;
  location.assign(link.href);
});

// data-copy-file copies the text of the file that its form would download.
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copy-file]");
  if (!button) return;
  const text = fetchFile(button.form.action + "?" + new URLSearchParams(new FormData(button.form)));
  try {
    // Pass the promise itself: some browsers forget the click while it is awaited.
    if (window.ClipboardItem) {
      const blob = text.then((content) => new Blob([content], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    } else await navigator.clipboard.writeText(await text);
    notice("Copied.", { kind: "success" });
  } catch (error) {
    notice("Copying failed. Download the same text with the button beside it.", { kind: "warning" });
  }
});

// --- The first error of a form that was refused: in sight, its field focused ---------------------
const refused = document.querySelector("main form .errorlist:not(.nonfield)");
if (refused) {
  const field = refused.closest(".field")?.querySelector("input:not([type=hidden]), select, textarea");
  field?.focus({ preventScroll: true });
  refused.scrollIntoView({ block: "center" });
}

// --- Start, and again for content that htmx brings in ------------------------------------------
document.addEventListener("htmx:load", (event) => showTimes(event.detail.elt.parentElement || document));
showTheme();
showTimes(document);
// Where a row of tabs or of pages is wider than the screen, scroll the current one into view.
for (const here of all(":is(.tabs, .subnav) [aria-current]")) {
  const row = here.closest(".tabs, .subnav"), box = here.getBoundingClientRect();
  row.scrollLeft += box.left - row.getBoundingClientRect().left - (row.clientWidth - box.width) / 2;
}

// --- Signing out -------------------------------------------------------------------------------
// Warns about unsent answers first, then removes the person's answers and drafts from this browser.
const ANSWERS = "planjury.answers.";
const LEAVING = "planjury.leaving";
const LEFT = "planjury.left";
const person = document.body.dataset.person || "";
const attempt = (act) => { try { return act(); } catch { return null; } };

const unsentAnswers = (owner) => attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(ANSWERS + owner + "."))) || [];
// Drafts of live sessions that the server does not have yet.
const DRAFTS = "planjury.draft.";
const unsentDrafts = (owner) => attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS + owner + "."))) || [];
const removeUnsent = (owner) => [...unsentAnswers(owner), ...unsentDrafts(owner)].forEach((key) => localStorage.removeItem(key));

// Sign-out has worked if the next page has no person.
const signedOut = attempt(() => sessionStorage.getItem(LEAVING));
if (signedOut) {
  sessionStorage.removeItem(LEAVING);
  if (!person) {
    removeUnsent(signedOut);
    // Other tabs still show this person's pages: have them reload.
    attempt(() => localStorage.setItem(LEFT, signedOut + "." + Date.now()));
    attempt(() => localStorage.removeItem(LEFT));
  }
}
window.addEventListener("storage", (event) => {
  if (!person || event.key !== LEFT || !event.newValue || event.newValue.split(".")[0] !== person) return;
  // What the page would keep when it is left belongs to nobody any more.
  delete document.body.dataset.person;
  location.reload();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-sign-out]") || !person) return;
  const sure = event.submitter && "sure" in event.submitter.dataset;
  if (unsentAnswers(person).length && !sure) {
    event.preventDefault();
    // The sign-out page says how many there are and sends them.
    if (!form.closest("[data-leaving]")) location.assign(form.action);
    return;
  }
  attempt(() => sessionStorage.setItem(LEAVING, person));
});

// The sign-out page: how many answers are unsent, and a button that sends them first.
function watchUnsent(page) {
  const form = page.querySelector("form[data-sign-out]");
  const find = (name) => page.querySelector("[data-" + name + "]");
  let waiting = false;
  let shown = null;

  function show() {
    const left = unsentAnswers(person).length;
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
    // The saving queue retries when the window gets the focus.
    window.dispatchEvent(new Event("focus"));
  });
  show();
  setInterval(show, 250);
}
const signOutPage = document.querySelector("[data-leaving]");
if (signOutPage) watchUnsent(signOutPage);

// --- A form that is being sent is not sent again by a second click ------------------------------
// Last, so that it sees which forms other listeners send themselves, or keep back.
const underWay = new Set();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (underWay.has(form)) {
    event.preventDefault();
    return;
  }
  underWay.add(form);
  // Whoever stops the page can try again soon.
  setTimeout(() => underWay.delete(form), 5000);
});
window.addEventListener("pageshow", () => underWay.clear());
