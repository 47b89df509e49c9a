"use strict";
// Tables of a page: sorted by a click on a heading, filtered, folded, saved as CSV, copied as Markdown; lanes: a range
// is chosen in all.
// Without it all rows and all of the time are shown.
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
  const text = row.cells[place] ? row.cells[place].textContent.trim().replace(/\u2212/g, "-") : "";
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

const SECONDS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
const NUMBER = "-?[\\d,]*\\.?\\d+(?:e[+-]?\\d+)?";
const CELL = new RegExp(`^(<=|[<≤]|at most)?\\s*(${NUMBER})(?:(?:-| to )(${NUMBER}))?(?: (ns|us|ms|s))?`
  + `(?: \\[(${NUMBER}), (${NUMBER})\\])?(?: ± (${NUMBER}))?(?: (ns|us|ms|s))?$`);

function texts(row) {
  return Array.from(row.cells, (cell) => cell.textContent.trim().replace(/\u2212/g, "-"));
}

// A figure as it is printed: value and bounds as numbers, and the unit of a time; null of any other text.
function figureOf(text) {
  const found = CELL.exec(text);
  if (!found) return null;
  const [, most, first, last, unit, lo, hi, wide, end] = found;
  const size = (one) => (one === undefined ? "" : typeof one === "number" ? one : Number(one.replace(/,/g, "")));
  const about = (by) => Number((size(first) + by * size(wide)).toPrecision(12));
  const ends = wide !== undefined ? [about(-1), about(1)] : last !== undefined ? [first, last] : most ? [undefined, first] : [lo, hi];
  return { parts: [most || last !== undefined ? "" : size(first), ...ends.map(size)], unit: unit || end || "" };
}

// The columns of a table as data: numbers without separators, times in seconds, bounds in columns of their own.
function columnsOf(table) {
  const rows = Array.from(table.tBodies[0].rows, texts);
  return texts(table.tHead.rows[0]).flatMap((heading, place) => {
    const [, head, unit] = /^(.*?)(?:\u00a0(m?s))?$/.exec(heading);
    const cells = rows.map((row) => (row[place] === "contains" ? "" : row[place] || ""));
    const figures = cells.map(figureOf);
    const isNumber = table.tHead.rows[0].cells[place].classList.contains("number");
    if (!isNumber || figures.some((one, at) => one === null && cells[at] !== "")) return [[head, ...cells]];
    const isTime = unit !== undefined || figures.some((one) => one && one.unit);
    const scaled = figures.map((one) => (one ? one.parts.map((part) => (
      part === "" || !isTime ? part : Number((part * (SECONDS[one.unit || unit] || 1)).toPrecision(12)))) : ["", "", ""]));
    return ["", " lo", " hi"].map((end, at) => [`${head}${isTime ? " (s)" : ""}${end}`, ...scaled.map((one) => one[at])])
      .filter((column, at) => at === 0 || column.slice(1).some((one) => one !== ""));
  });
}

const lineOf = (cells) => cells.map((one) => (/[",\n]/.test(one) ? `"${String(one).replace(/"/g, '""')}"` : one)).join(",");

function csvOf(table) {
  const columns = columnsOf(table);
  return columns[0].map((_, at) => lineOf(columns.map((column) => column[at]))).join("\r\n");
}

// Every figure of the page in a row; of which log or comparison, and of which statement, the part says.
function figuresOf(tables) {
  const lines = [["part", "table", "row", "column", "value"]];
  for (const table of tables) {
    const [names, ...others] = columnsOf(table);
    const title = titleOf(table.closest("div") || table);
    const heads = [table.closest("section")?.querySelector("h1, h2"), table.closest("details")?.querySelector("summary code")];
    const part = heads.map((one) => (one ? one.textContent.trim() : "")).filter(Boolean).join(": ");
    for (const [head, ...cells] of others) {
      cells.forEach((cell, at) => { if (typeof cell === "number") lines.push([part, title, names[at + 1], head, cell]); });
    }
  }
  return lines.map(lineOf).join("\r\n");
}

function saveAs(title, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = `${title.replace(/[^\w.-]+/g, "_")}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function markdownOf(table) {
  const line = (cells) => `| ${cells.map((one) => one.replace(/[|\\]/g, "\\$&").replace(/\s+/g, " ")).join(" | ")} |`;
  const head = table.tHead.rows[0];
  const rule = Array.from(head.cells, (cell) => (cell.classList.contains("number") ? "---:" : "---"));
  return [line(texts(head)), `| ${rule.join(" | ")} |`, ...Array.from(table.tBodies[0].rows, (row) => line(texts(row)))].join("\n");
}

// A page in a frame or from a file may not be given the clipboard: then the text is selected and copied.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

function titleOf(box) {
  const own = (box.tagName === "TABLE" ? box : box.querySelector("table")).caption;
  if (own) return own.textContent.trim();
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
  save.addEventListener("click", () => saveAs(titleOf(box), csvOf(table)));
  const copying = element("button", "Markdown");
  copying.type = "button";
  copying.setAttribute("aria-label", `copy ${titleOf(box)} as Markdown`);
  copying.addEventListener("click", async () => {
    await copy(markdownOf(table));
    copying.textContent = "copied";
    setTimeout(() => { copying.textContent = "Markdown"; }, 1500);
  });
  bar.append(save, copying);
  box.after(bar);
  show();
  if (rows.length < 2) {
    box.tabIndex = 0; // it may be wider than its box, and has no button to reach it by
    return;
  }
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

// Lanes: a range that is dragged in one of them, or given in seconds, is chosen in all; the table shows its means.
function prepareLanes(figure) {
  const start = Number(figure.dataset.start);
  const span = Number(figure.dataset.end) - start;
  const plots = Array.from(figure.querySelectorAll("svg.plot"));
  const rows = Array.from(figure.querySelectorAll(".lane-table tbody tr"));
  const said = figure.querySelector(".chosen");
  const whole = said.textContent;
  const shown = rows.map((row) => Array.from(row.cells, (cell) => cell.textContent));
  const series = rows.map((row, at) => Array.from(figure.querySelectorAll(`g[data-row="${at}"] line`), (line) => (
    { from: parseFloat(line.getAttribute("x1")) / 100, to: parseFloat(line.getAttribute("x2")) / 100, value: Number(line.dataset.v) })));
  const brushes = plots.map((plot) => {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["class", "brush"], ["y", "0"], ["height", "100%"], ["width", "0"]]) rect.setAttribute(name, value);
    plot.append(rect);
    return rect;
  });
  const fields = ["from second", "to second"].map((name) => {
    const field = document.createElement("input");
    field.type = "number";
    field.min = "0";
    field.max = String(span / 1000);
    field.setAttribute("aria-label", `chosen range, ${name} after the begin`);
    field.placeholder = name;
    return field;
  });
  const bar = element("p", "", "tools");
  bar.append(...fields);
  said.after(bar);
  const clock = (part) => new Date(start + part * span).toISOString().slice(0, 19).replace("T", " ");
  const number = (value) => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const choose = (from, to) => {
    const isChosen = to > from;
    brushes.forEach((rect) => {
      rect.setAttribute("x", `${100 * from}%`);
      rect.setAttribute("width", isChosen ? `${100 * (to - from)}%` : "0");
    });
    said.textContent = isChosen ? `${clock(from)} to ${clock(to)}` : whole;
    rows.forEach((row, at) => {
      const inside = series[at].filter((one) => one.to > from && one.from < to);
      let weight = 0;
      let sum = 0;
      for (const one of inside) {
        const overlap = Math.min(one.to, to) - Math.max(one.from, from);
        weight += overlap;
        sum += overlap * one.value;
      }
      const texts = !isChosen ? shown[at].slice(2) : [inside.length.toLocaleString("en"), weight ? number(sum / weight) : "",
        weight ? number(Math.max(...inside.map((one) => one.value))) : ""];
      texts.forEach((text, place) => { row.cells[place + 2].textContent = text; });
    });
  };
  const clear = () => {
    fields.forEach((field) => { field.value = ""; });
    choose(0, 0);
  };
  const typed = () => {
    const [from, to] = fields.map((field) => Math.min(1, Math.max(0, Number(field.value) * 1000 / span)));
    choose(from, fields[1].value === "" ? 1 : to);
  };
  fields.forEach((field) => field.addEventListener("input", typed));
  plots.forEach((plot) => {
    const place = (event) => {
      const box = plot.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };
    let first = null;
    plot.addEventListener("pointerdown", (event) => { first = place(event); plot.setPointerCapture(event.pointerId); });
    plot.addEventListener("pointermove", (event) => {
      if (first === null) return;
      const [from, to] = [first, place(event)].sort((a, b) => a - b);
      choose(from, to);
      [from, to].forEach((part, at) => { fields[at].value = String(Math.round(part * span / 1000)); });
    });
    plot.addEventListener("pointerup", (event) => {
      if (first !== null && Math.abs(place(event) - first) < 0.003) clear();
      first = null;
    });
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });
}

// The what-if box: count and average of the chosen part change its time; bounds and refusals are those of Ledger.what_if.
function prepareWhatIf(box) {
  const [least, total, most] = box.dataset.total.split(" ").map(Number);
  const select = box.querySelector("select");
  const said = box.querySelector("[role=status]");
  const main = select.selectedIndex;
  const fields = ["", "", ""].map(() => {
    const field = document.createElement("input");
    field.type = "number";
    field.min = "0";
    field.step = "any";
    field.addEventListener("input", answer);
    const label = element("label", "");
    label.append("", field);
    box.querySelector(".fields").append(label);
    return field;
  });
  const three = (value) => (value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));
  const four = (value) => Number(value.toPrecision(4));
  const old = (part) => (part.average ? [Number(part.rows) || Number(part.count), Number(part.average)] : [null, null, 1]);
  function answer() {
    const part = select.selectedOptions[0].dataset;
    const before = old(part);
    const values = fields.map((field) => (field.value.trim() === "" ? NaN : Number(field.value)));
    const isAsked = before.every((one, at) => one === null || (values[at] >= 0 && (at || !Number(part.rows) || values[at] > 0)));
    said.removeAttribute("data-after");
    const isStep = Number(part.rows) && select.selectedIndex === main && values[1] === four(before[1]);
    for (const row of box.querySelectorAll("tbody tr")) {
      row.classList.toggle("chosen", isStep && row.cells[0].textContent === values[0].toLocaleString("en"));
    }
    if (part.refused || !isAsked) {
      said.textContent = part.refused || "Give numbers that are not negative.";
      return;
    }
    const ratios = before.map((one, at) => (one === null || values[at] === four(one) ? 1 : values[at] / one));
    const often = Number(part.rows) ? 1 / ratios[0] : ratios[0];
    const factor = often * ratios[1] * (ratios.length > 2 ? ratios[2] : 1);
    const [lo, own, hi] = part.own.split(" ").map(Number);
    const longer = "rows" in part && often < 1 ? [1, Number(box.dataset.more)] : [1];
    const saved = longer.flatMap((by) => [(1 - factor * by) * lo, (1 - factor * by) * hi]);
    const after = total - (1 - factor) * own;
    const ends = [Math.min(Math.max(0, least - Math.max(...saved)), after), Math.max(most - Math.min(...saved), after)];
    said.dataset.after = [ends[0], after, ends[1]].join(" ");
    const range = ends[1] - ends[0] > 0.05 * after ? ends.map(three).join(" to ") : three(after);
    said.replaceChildren(element("b", `${range} s`), ` instead of ${three(total)} s`);
  }
  function choose() {
    const part = select.selectedOptions[0].dataset;
    const before = old(part);
    const names = [Number(part.rows) ? "rows per fetch" : "count", "ms each", "times as long"];
    fields.forEach((field, at) => {
      const isThere = !part.refused && typeof before[at] === "number";
      field.parentElement.hidden = !isThere;
      field.parentElement.firstChild.textContent = names[at];
      const first = Number(part.rows) ? [10, 1] : [1, 0.5, 0.5];
      field.value = isThere ? String(four(before[at]) * first[at]) : "";
    });
    box.querySelector("table").hidden = select.selectedIndex !== main;
    answer();
  }
  select.addEventListener("change", choose);
  box.querySelector(".fields").hidden = false;
  choose();
}

// The strip: while two reports are chosen, cells choose their column; the pair is opened if the page has it.
function prepareStrip(figure) {
  const cells = Array.from(figure.querySelectorAll("a[data-log]"));
  if (!cells.length) return;
  const bar = element("p", "", "tools");
  const button = element("button", "Compare two reports");
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  const said = element("span", "");
  said.setAttribute("role", "status");
  bar.append(button, " ", said);
  figure.append(bar);
  let chosen = null;
  const show = (names) => {
    for (const cell of cells) cell.style.outline = names.includes(cell.dataset.log) ? "2px solid currentColor" : "";
  };
  const stop = () => {
    chosen = null;
    button.setAttribute("aria-pressed", "false");
  };
  button.addEventListener("click", () => {
    if (chosen) stop();
    else {
      chosen = [];
      button.setAttribute("aria-pressed", "true");
    }
    show([]);
    said.textContent = chosen ? "Choose two columns." : "";
  });
  for (const cell of cells) {
    cell.addEventListener("click", (event) => {
      if (!chosen) return;
      event.preventDefault();
      if (!chosen.includes(cell.dataset.log)) chosen.push(cell.dataset.log);
      show(chosen);
      if (chosen.length < 2) return;
      const names = Array.from(new Set(cells.map((one) => one.dataset.log))).filter((one) => chosen.includes(one));
      const title = names.join(" and ");
      const pair = Array.from(document.querySelectorAll("#comparisons h3")).find((one) => one.textContent === title);
      said.replaceChildren(element("code", `iolab compare ${names.join(" ")}`));
      if (pair) pair.scrollIntoView();
      stop();
    });
  }
}

const contents = document.querySelector("nav.contents");
const figured = Array.from(document.querySelectorAll("main table")).filter((one) => one.tHead && one.tBodies.length);
if (contents && figured.length) {
  const save = element("button", "Figures as CSV");
  save.type = "button";
  save.addEventListener("click", () => saveAs(document.title, figuresOf(figured)));
  contents.append(save);
}
document.querySelectorAll("main div.wide").forEach(prepare);
document.querySelectorAll("figure.lanes").forEach(prepareLanes);
document.querySelectorAll(".what-if").forEach(prepareWhatIf);
document.querySelectorAll("figure.strip").forEach(prepareStrip);
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
function openTarget(id) {
  const target = id && document.getElementById(id);
  if (target && target.hidden) unfolding.forEach((open) => open());
  for (let one = target; one; one = one.parentElement) {
    if (one.tagName === "DETAILS") one.open = true;
  }
  return target;
}
const openHash = () => openTarget(decodeURIComponent(location.hash.slice(1)));
window.addEventListener("hashchange", openHash);
openHash();

// In a viewer: its theme, the place where the reader was before the log was read again, and links to lines of the log.
if (window.parent !== window) {
  const dark = Array.from(document.styleSheets, (sheet) => Array.from(sheet.cssRules)).flat()
    .filter((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"));
  const tell = (message) => window.parent.postMessage(message, "*");
  const parts = contents ? Array.from(contents.querySelectorAll("a"), (link) => [link.hash.slice(1), link.textContent]) : [];
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent) return;
    const { theme, scroll, show, csv } = event.data || {};
    if (csv === true && figured.length) saveAs(document.title, figuresOf(figured));
    if (show) openTarget(String(show))?.scrollIntoView();
    if (theme) {
      tell({ parts });
      document.documentElement.style.colorScheme = theme;
      for (const rule of dark) rule.media.mediaText = theme === "dark" ? "screen" : "not all";
    }
    if (scroll) {
      wanted = scroll;
      back();
    }
  });
  // A frame out of sight has no size, and a page is as long as its frame is narrow: until the reader moves, the place is
  // taken again at each size, and where the page stands meanwhile is not said.
  let wanted = 0;
  const back = () => wanted && window.scrollTo(0, wanted);
  window.addEventListener("resize", back);
  for (const moved of ["wheel", "keydown", "pointerdown", "mousedown", "touchstart"]) {
    window.addEventListener(moved, () => { wanted = 0; }, { passive: true });
  }
  window.addEventListener("scroll", () => wanted || tell({ scroll: window.scrollY }), { passive: true });
  const linked = (text) => {
    const link = element("a", text);
    link.href = "#";
    link.title = "open the log at this line";
    link.addEventListener("click", (event) => {
      event.preventDefault();
      tell({ line: numberOf(text) });
    });
    return link;
  };
  // Of several logs a line does not say whose it is.
  const isOne = !document.getElementById("log-2");
  for (const table of isOne ? document.querySelectorAll("main div.wide table") : []) {
    const places = Array.from(table.tHead.rows[0].cells).filter((cell) => /(^| )line$/.test(cell.textContent.trim()));
    for (const { cellIndex } of places) {
      for (const row of table.tBodies[0].rows) {
        const cell = row.cells[cellIndex];
        if (cell && /^\d[\d,]*$/.test(cell.textContent)) cell.replaceChildren(linked(cell.textContent));
      }
    }
  }
  for (const said of isOne ? document.querySelectorAll("ol.findings p") : []) {
    for (const node of Array.from(said.childNodes).filter((one) => one.nodeType === Node.TEXT_NODE)) {
      const parts = node.textContent.split(/(?<=\blines? )(\d[\d,]*\d|\d)/);
      if (parts.length > 1) node.replaceWith(...parts.map((part, at) => (at % 2 ? linked(part) : part)));
    }
  }
  if (contents) contents.remove(); // the viewer has a list of them
  tell({ ready: true });
}
