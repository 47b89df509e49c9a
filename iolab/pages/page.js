"use strict";
// Tables of a page: sorted by a click on a heading, filtered, folded, and saved as CSV.  Without it all rows are shown.
const SHOWN = 13;
const FILTERED = 20;

function element(name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function numberOf(text) {
  const found = /^[^\d.-]*(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)/i.exec(text.trim());
  return found ? parseFloat(found[1].replace(/,/g, "")) : NaN;
}

function valueOf(row, place, isNumber) {
  const text = row.cells[place] ? row.cells[place].textContent.trim() : "";
  if (text === "") return null;
  const number = isNumber ? numberOf(text) : NaN;
  return isNumber ? (Number.isNaN(number) ? null : number) : text;
}

function sortRows(table, place, falling) {
  const isNumber = table.tHead.rows[0].cells[place].classList.contains("number");
  const rows = Array.from(table.tBodies[0].rows, (row, at) => ({ row, at, value: valueOf(row, place, isNumber) }));
  rows.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.at - b.at;
    const order = isNumber ? a.value - b.value : a.value.localeCompare(b.value);
    return (falling ? -order : order) || a.at - b.at;
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
}

function csvOf(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = [table.tHead.rows[0], ...table.tBodies[0].rows];
  return rows.map((row) => Array.from(row.cells, (cell) => quoted(cell.textContent.trim())).join(",")).join("\r\n");
}

function titleOf(box) {
  for (let one = box; one && one.tagName !== "MAIN"; one = one.parentElement) {
    for (let before = one.previousElementSibling; before; before = before.previousElementSibling) {
      if (/^(H[1-4]|SUMMARY)$/.test(before.tagName)) return before.textContent.trim();
    }
  }
  return document.title;
}

const unfolding = [];

function prepare(box) {
  const table = box.querySelector("table");
  if (!table || !table.tHead || !table.tBodies.length) return;
  const rows = Array.from(table.tBodies[0].rows);
  const bar = element("p", "", "tools");
  let isOpen = rows.length <= SHOWN + 2;
  const more = isOpen ? null : element("button", "", "more");
  const filter = rows.length >= FILTERED ? document.createElement("input") : null;
  const show = () => {
    const word = filter ? filter.value.toLowerCase() : "";
    let shown = 0;
    let matching = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = !word || row.textContent.toLowerCase().includes(word);
      matching += fits;
      row.hidden = !fits || (!isOpen && shown >= SHOWN);
      shown += !row.hidden;
    }
    if (more) {
      more.textContent = isOpen ? "fewer" : `${matching - shown} more`;
      more.hidden = matching <= SHOWN;
    }
  };
  if (more) {
    more.type = "button";
    more.addEventListener("click", () => { isOpen = !isOpen; show(); });
    unfolding.push(() => { isOpen = true; show(); });
    bar.append(more);
  }
  if (filter) {
    filter.type = "search";
    filter.placeholder = "filter";
    filter.setAttribute("aria-label", `filter the rows of ${titleOf(box)}`);
    filter.addEventListener("input", show);
    bar.append(filter);
  }
  const save = element("button", "CSV");
  save.type = "button";
  save.setAttribute("aria-label", `save ${titleOf(box)} as CSV`);
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", csvOf(table)], { type: "text/csv" }));
    link.download = `${titleOf(box).replace(/[^\w.-]+/g, "_")}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  bar.append(save);
  box.after(bar);
  show();
  if (rows.length < 2) return;
  Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
    const button = element("button", "", "sort");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "descending"
        : head.classList.contains("number");
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      sortRows(table, place, falling);
      show();
    });
  });
}

document.querySelectorAll("main div.wide").forEach(prepare);
const folds = document.querySelectorAll("main details");
if (folds.length || unfolding.length) {
  const all = element("button", "unfold all");
  all.type = "button";
  all.addEventListener("click", () => {
    folds.forEach((one) => { one.open = true; });
    unfolding.forEach((open) => open());
  });
  const foot = element("p", "", "tools");
  foot.append(all);
  document.querySelector("main").append(foot);
}
// A link to something within a fold opens the fold.
function openTarget() {
  const id = decodeURIComponent(location.hash.slice(1));
  for (let one = id && document.getElementById(id); one; one = one.parentElement) {
    if (one.tagName === "DETAILS") one.open = true;
  }
}
window.addEventListener("hashchange", openTarget);
openTarget();
