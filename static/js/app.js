// What every page needs: theme, menus, tips, relative times, panes, and words when a request fails.
(function () {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

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
  function notice(text, { kind = "info", key = text } = {}) {
    const box = document.getElementById("notices");
    if (!box) return;
    const old = all("[data-key]", box).find((item) => item.dataset.key === key);
    if (old) old.remove();
    const item = document.createElement("div");
    item.className = "note " + kind;
    item.dataset.key = key;
    const words = document.createElement("p");
    words.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.className = "quiet compact close";
    close.textContent = "Close";
    close.addEventListener("click", () => item.remove());
    item.append(words, close);
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
  const said = {
    403: "You may not do this, or your session has ended. Reload the page and sign in again.",
    404: "This no longer exists. Reload the page to see what is there now.",
    409: "Someone changed this in the meantime. Reload the page to see it as it is now.",
    413: "This is larger than the server accepts.",
    429: "Too many requests at once. Wait a moment and try again.",
  };
  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    const outage = status === 503 && (event.detail.xhr.getResponseHeader("Content-Type") || "").startsWith("text/plain") && event.detail.xhr.responseText;
    const words = outage || said[status] || "The server could not do this (" + status + "). Nothing was changed; try again.";
    notice(words, { kind: "error", key: "response-" + status });
  });
  // A request that is given up, because another one takes its place or the page is left, has not
  // failed. htmx writes the error of every request to the console, and tells nobody before that.
  let left = false;
  for (const name of ["pagehide", "pageshow"]) window.addEventListener(name, () => { left = name === "pagehide"; });
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    const { onabort, onerror } = detail.xhr;
    detail.xhr.onabort = function (event) { detail.error = ""; onabort.call(this, event); };
    detail.xhr.onerror = function (event) { if (left) detail.error = ""; onerror.call(this, event); };
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => {
      if (left) return;
      notice("No connection to the server. The page tries again when you do.", { kind: "warning", key: NETWORK });
    });
  }
  // What is sent may have to wait for a busy database; whoever waits is told within seconds.
  const SLOW = "slow", slow = new Map();
  document.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.requestConfig.verb === "get") return;
    slow.set(detail.xhr, setTimeout(() => notice("The server takes long to answer. Keep this page open: what you sent is on its way.", { kind: "info", key: SLOW }), 3000));
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    clearTimeout(slow.get(detail.xhr));
    if (slow.delete(detail.xhr)) clearNotice(SLOW);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) clearNotice(NETWORK);
  });
  window.addEventListener("online", () => clearNotice(NETWORK));

  // --- Relative times; the exact time is the tip -------------------------------------------------
  const STEPS = [["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
  function tellTime(time) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime()) || "exact" in time.dataset) return;
    const seconds = (at.getTime() - Date.now()) / 1000;
    const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
    // What lies behind is counted in whole units; what lies ahead is rounded: 6.99 days are 7.
    const whole = seconds > 0 ? Math.round : Math.trunc;
    const text = step ? relative.format(whole(seconds / step[1]), step[0]) : "just now";
    if (time.textContent !== text) time.textContent = text;
    time.dataset.tip = exact.format(at);
    // Within a link the link takes the focus and shows the tip.
    if (!time.closest("a, button, summary")) time.tabIndex = 0;
  }
  const tellTimes = (within) => all("time[datetime]", within).forEach(tellTime);
  setInterval(() => tellTimes(document), 30000);
  // On paper only the exact time makes sense.
  window.addEventListener("beforeprint", () => {
    for (const time of all("time[data-tip]")) time.textContent = time.dataset.tip;
  });
  window.addEventListener("afterprint", () => tellTimes(document));

  // --- Tips: [data-tip] on hover and focus; one element, so that no scroll box cuts it off -------
  let tip = null;
  function hideTip() {
    if (!tip) return;
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
    document.body.append(tip);
    placeTip();
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
    return node.closest("[data-tip]") || (node.matches(":focus-visible") && node.querySelector("[data-tip]"));
  };
  for (const [name, show] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
    document.addEventListener(name, (event) => {
      const owner = tipOwner(event.target);
      if (!owner) return;
      if (show && !(tip && tip.owner === owner)) showTip(owner);
      // What has the focus keeps its tip when the pointer leaves.
      if (!show && tip && tip.owner === owner && !(name === "pointerout" && owner.matches(":focus"))) hideTip();
    });
  }
  document.addEventListener("scroll", placeTip, { capture: true, passive: true });

  // --- Menus, the bar on a phone, two panes on a phone -------------------------------------------
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

    const pane = target.closest("button[data-show-pane]");
    if (pane) showPane(pane.dataset.showPane);
  });
  function showPane(name) {
    for (const pane of all("[data-pane]")) pane.toggleAttribute("data-shown", pane.dataset.pane === name);
    for (const button of all("button[data-show-pane]")) {
      button.setAttribute("aria-pressed", String(button.dataset.showPane === name));
    }
    document.dispatchEvent(new CustomEvent("panechange", { detail: name }));
  }

  const writing = (element) => element.closest("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      hideTip();
      for (const menu of all("details[data-menu][open]")) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    }
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !writing(event.target)) {
      const search = document.querySelector("[data-search]");
      if (search && search.offsetParent) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    }
  });

  // --- Filters: beside the list they are always open, for helpers too that go by the attribute ----
  const wide = matchMedia("(min-width: 60rem)");
  const openRails = () => all("details:is(.rail, .places)").forEach((rail) => { rail.open = wide.matches; });
  wide.addEventListener("change", openRails);
  openRails();
  // A form with data-autosubmit is sent when a choice changes; typing waits for Enter.
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    // Not form.dataset: a field named "dataset" would stand in its place.
    if (form && form.hasAttribute("data-autosubmit")) form.requestSubmit();
  });

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
      notice("The text is marked; copy it with the keyboard.", { kind: "info" });
    }
  });

  // data-copy-from="URL" copies the text behind that address, which the page need not hold.
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-copy-from]");
    if (!button) return;
    const text = fetch(button.dataset.copyFrom, { credentials: "same-origin" }).then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.text();
    });
    try {
      // The promise goes to the clipboard as such: some browsers forget the click while it is awaited.
      if (window.ClipboardItem) {
        const blob = text.then((words) => new Blob([words], { type: "text/plain" }));
        await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      } else await navigator.clipboard.writeText(await text);
      notice("Copied.", { kind: "success" });
    } catch (error) {
      notice("It could not be copied. The link beside it downloads the same text.", { kind: "warning" });
    }
  });

  // --- Start, and again for whatever htmx brings in ----------------------------------------------
  document.addEventListener("htmx:load", (event) => tellTimes(event.detail.elt.parentElement || document));
  showTheme();
  tellTimes(document);
  const first = document.querySelector("button[data-show-pane][aria-pressed='true']");
  if (first) showPane(first.dataset.showPane);
  // Where a row of tabs is too long for the screen, the current one is brought into view.
  for (const here of all(".tabs [aria-current]")) {
    const row = here.closest(".tabs"), box = here.getBoundingClientRect();
    row.scrollLeft += box.left - row.getBoundingClientRect().left - (row.clientWidth - box.width) / 2;
  }
  window.planjury = { notice, clearNotice, showPane };
})();
