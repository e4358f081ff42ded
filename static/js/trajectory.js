// Reading trajectories: keys, the marks of changes, the turn in view, and a list kept for comparison.
(function () {
  "use strict";
  const MOST = 8;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
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
      // No storage: what was chosen holds for this page.
    }
  };

  // --- Changes against the plan before, shown or not ---------------------------------------------
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

  // --- Comparison: at most eight, the oldest makes room -------------------------------------------
  const tray = document.querySelector("[data-tray]");
  let kept = stored("comparison", []);
  if (!Array.isArray(kept)) kept = [];
  kept = kept.filter((item) => item && /^\d+$/.test(String(item.id)) && typeof item.name === "string");
  function keep(items) {
    kept = items.slice(-MOST);
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
    const words = document.createElement("p");
    words.textContent = kept.length === 1 ? "Kept for comparison: " + kept[0].name : kept.length + " kept for comparison";
    const clear = document.createElement("button");
    clear.type = "button";
    clear.className = "quiet compact";
    clear.textContent = "Empty";
    clear.addEventListener("click", () => keep([]));
    tray.append(words);
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
  // What is compared on this page is what is kept from here on.
  const compared = all("[data-compare-item]");
  if (compared.length) {
    keep(compared.map((row) => ({ id: row.dataset.compareItem, name: row.dataset.compareName })));
  }
  // A list that came in anew shows again what is kept.
  document.addEventListener("htmx:afterSwap", showTray);

  // --- Keys: each names its button or link -------------------------------------------------------
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const control = document.querySelector('[data-key="' + CSS.escape(event.key) + '"]');
    if (!control) return;
    event.preventDefault();
    control.click();
  });

  // --- The line of turns marks the one in view; turns and lines may come later --------------------
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
})();
