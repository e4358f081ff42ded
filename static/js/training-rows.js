// Review of training rows by keys: a accepts, e edits, v vetoes, u undoes, j and k go on and back.

function openRows(list) {
  const cards = () => Array.from(list.querySelectorAll("[data-row]"));
  const button = (card, key) => card && card.querySelector(`button[data-key="${key}"]`);
  const isTyping = (node) => node instanceof Element && node.matches("textarea, select, input");
  const decided = [];
  let current = null;
  // The decisions that are under way: verdict by row.
  const sent = new Map();

  function focusOn(card) {
    if (!card) return;
    for (const other of list.querySelectorAll("[data-current]")) other.removeAttribute("data-current");
    card.setAttribute("data-current", "");
    current = card.id;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }
  const chosen = () => document.getElementById(current);
  function step(by) {
    const all = cards();
    const at = all.indexOf(chosen());
    focusOn(all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]);
  }
  function goOn(card) {
    const all = cards();
    const rest = all.slice(all.indexOf(card) + 1);
    focusOn(rest.find((other) => other.dataset.state === "open") || card);
  }
  function edit(card) {
    const fold = card && card.querySelector("[data-edit]");
    if (!fold) return;
    fold.open = true;
    fold.querySelector("textarea").select();
  }
  // Without a decision on the row in focus, the last one that was made here is taken back.
  function undo() {
    let found = button(chosen(), "u");
    while (!found && decided.length) {
      const card = document.getElementById(decided.pop());
      found = button(card, "u");
      if (found) focusOn(card);
    }
    if (found) found.click();
  }

  list.addEventListener("focusin", (event) => {
    const card = event.target.closest("[data-row]");
    if (!card || card.id === current) return;
    for (const other of list.querySelectorAll("[data-current]")) other.removeAttribute("data-current");
    card.setAttribute("data-current", "");
    current = card.id;
  });
  list.addEventListener("submit", (event) => {
    const card = event.target.closest("[data-row]");
    sent.set(card.id, event.submitter ? event.submitter.value : "");
  }, true);
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!detail.successful) sent.delete(detail.target.id);
  });
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    const { id } = detail.target;
    if (!sent.has(id)) return;
    const verdict = sent.get(id);
    sent.delete(id);
    const card = document.getElementById(id);
    if (!card) return;
    const refused = card.querySelector("[role=alert]");
    if (id !== current) {
      // The person is at another row by now, and perhaps types there.
      if (!refused && verdict !== "undone") decided.push(id);
    } else if (refused) {
      focusOn(card);
      if (verdict === "edited") edit(card);
    } else if (verdict === "undone") focusOn(card);
    else {
      decided.push(id);
      goOn(card);
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const fold = event.target instanceof Element && event.target.closest("[data-edit]");
    if (fold && event.target.matches("textarea")) {
      if (event.key === "Escape") {
        fold.open = false;
        focusOn(fold.closest("[data-row]"));
      } else if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        fold.querySelector("button").click();
      }
      return;
    }
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const card = chosen();
    // The row whose decision is under way is about to be replaced.
    if (card && sent.has(card.id) && "avue".includes(event.key)) return;
    const context = card && card.querySelector("[data-context]");
    const act = {
      a: () => button(card, "a")?.click(),
      v: () => button(card, "v")?.click(),
      u: undo,
      e: () => edit(card),
      o: () => context && (context.open = !context.open),
      j: () => step(1),
      k: () => step(-1),
      "?": () => document.getElementById("keys").showModal(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

const list = document.querySelector("[data-rows]");
if (list) openRows(list);
