// Tables of analysis pages are sorted by a click on a column's head: ascending, descending, as they came.
// A cell counts by the number that it shows first, else by its words; cells without a value stay last.
const MINUS = /\u2212/g;

function value(cell) {
  const shown = cell.querySelector("a, [data-tip]") || cell;
  const text = (shown.firstChild ? shown.firstChild.textContent : "").trim();
  if (cell.querySelector(".undefined") || !text) return null;
  const number = parseFloat(text.replace(MINUS, "-").replace(/,/g, "").replace(/^[<+]\s*/, ""));
  return cell.classList.contains("num") && !Number.isNaN(number) ? number : text.toLowerCase();
}
function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}
function sort(head) {
  const table = head.closest("table");
  const body = table.tBodies[0];
  const place = head.cellIndex;
  const now = head.getAttribute("aria-sort");
  const next = now === "ascending" ? "descending" : now === "descending" ? "" : "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  const rows = Array.from(body.rows);
  rows.forEach((row, at) => { if (!row.dataset.at) row.dataset.at = String(at); });
  const found = rows.map((row) => [value(row.cells[place]), row]);
  found.sort(([one, first], [other, second]) => {
    const came = Number(first.dataset.at) - Number(second.dataset.at);
    if (!next) return came;
    const undefinedLast = one === null || other === null;
    return (next === "descending" && !undefinedLast ? -1 : 1) * compare(one, other) || came;
  });
  if (next) head.setAttribute("aria-sort", next);
  body.append(...found.map(([, row]) => row));
}
function equip(root) {
  for (const table of root.querySelectorAll("table[data-sortable]")) {
    table.removeAttribute("data-sortable");
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      // The explanation belongs to what is focused.
      if (head.dataset.tip) {
        button.dataset.tip = head.dataset.tip;
        head.removeAttribute("data-tip");
        head.removeAttribute("tabindex");
      }
      button.addEventListener("click", () => sort(head));
      head.append(button);
    }
  }
}

equip(document);
document.addEventListener("htmx:load", (event) => equip(event.detail.elt.parentElement || document));
