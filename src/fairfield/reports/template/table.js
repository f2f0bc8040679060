// The table of players: sorted, searched, page by page, its bars drawn in the cells.

// Up to 40 players fit on one page; more come 25 at a time.
const PAGE = players.length <= 40 ? 40 : 25;

/** The columns of the table: a key, a head, how to sort by it, what a cell shows. */
function columns(now) {
  const digits = decimals(now.values);
  const list = [
    { key: "player", head: capital(words.player), by: (i) => players[i], name: true },
    { key: "value", head: now.label, by: (i) => now.values[i], show: (i) => fixed(now.values[i], digits) },
  ];
  const shown = summary.data && summary.data[state.row];
  if (shown) list.splice(1, 0, { key: "data", head: "In the data", by: (i) => shown[i], show: (i) => cell(shown[i]) });
  if (now.stderr) {
    const half = now.stderr.map((error) => interval * error);
    list.push({ key: "error", head: "±", by: (i) => half[i], show: (i) => fixed(half[i], digits) });
  }
  list.push({ key: "bar", bar: true });
  if (now.marginals) {
    list.push({ key: "marginal", head: "Marginal", by: (i) => now.marginals[i], show: (i) => fixed(now.marginals[i], 3) });
  }
  const magnitude = magnitudes();
  if (magnitude) {
    list.push({ key: "magnitude", head: "Mean |value|", by: (i) => magnitude[i], show: (i) => fixed(magnitude[i], digits) });
  }
  criteria.forEach((each, k) => {
    if (k === state.criterion) return;
    const other = view(k).values, places = decimals(other);
    list.push({ key: each.name, head: each.label, by: (i) => other[i], show: (i) => fixed(other[i], places) });
  });
  return list;
}

/** The column that the table is sorted by: the values, where the chosen one is not shown. */
const sortedBy = (list) => list.find((each) => each.key === state.sort.column && each.by) ?? list.find((each) => each.key === "value");

/** The players that are searched for, in the order that is chosen. */
function ordered(list) {
  const column = sortedBy(list);
  const wanted = state.find.trim().toLocaleLowerCase();
  const found = players.map((_, i) => i).filter((i) => players[i].toLocaleLowerCase().includes(wanted));
  const names = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
  const sign = state.sort.down ? -1 : 1;
  return found.sort((a, b) => sign * compare(column.by(a), column.by(b)));
}

function drawTable() {
  const now = view();
  const list = columns(now);
  const order = ordered(list);
  const pages = Math.max(1, Math.ceil(order.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  drawHead(list);
  const shown = order.slice(state.page * PAGE, (state.page + 1) * PAGE);
  drawBody(list, shown, now);
  const last = state.page * PAGE + shown.length;
  byId("page-shown").textContent = `${shown.length ? state.page * PAGE + 1 : 0}–${last} of ${order.length.toLocaleString("en")}`;
  byId("pager").hidden = players.length <= PAGE;
  byId("page-before").disabled = state.page === 0;
  byId("page-after").disabled = state.page >= pages - 1;
  const row = rows.length > 1 ? `, ${rows[state.row]}` : "";
  const temperature = now.temperature === null ? "" : `, T = ${short(now.temperature)}`;
  byId("table-caption").textContent =
    `${withUnit(now.label)}${row}${temperature}. ${now.stderr ? "Whiskers are 95 % intervals. " : ""}The heads of the columns sort the table.`;
}

/** The head is kept where its columns are, so that a focused button stays focused. */
function drawHead(list) {
  const line = byId("table").tHead.rows[0];
  const keys = list.map((each) => `${each.key} ${each.head ?? ""}`).join("\n");
  if (line.dataset.keys !== keys) {
    line.dataset.keys = keys;
    const focused = document.activeElement?.dataset?.key;
    line.replaceChildren(...list.map((each) => {
      const made = element("th", { scope: "col", class: each.name ? "name" : null });
      if (each.bar) made.append(element("span", { class: "sr" }, "Bar"));
      else made.append(element("button", { type: "button", "data-key": each.key }, each.head));
      return made;
    }));
    line.querySelector(`button[data-key="${CSS.escape(focused ?? "")}"]`)?.focus();
  }
  list.forEach((each, k) => {
    const sorted = each === sortedBy(list);
    if (sorted) line.cells[k].setAttribute("aria-sort", state.sort.down ? "descending" : "ascending");
    else line.cells[k].removeAttribute("aria-sort");
  });
}

/** Lines are reused while the players stay in place, so that their bars glide. */
function drawBody(list, shown, now) {
  const body = byId("table").tBodies[0];
  const span_ = span(state.criterion, state.row);
  const keys = list.map((each) => each.key).join("\n");
  const old = new Map(body.dataset.keys === keys ? [...body.rows].map((line) => [line.dataset.player, line]) : []);
  body.dataset.keys = keys;
  body.replaceChildren(...shown.map((i) => {
    const line = old.get(String(i)) ?? newLine(list, i);
    list.forEach((each, k) => {
      if (each.bar) moveBar(line.cells[k].firstChild, now.values[i], now.stderr && now.stderr[i], span_);
      else if (!each.name) line.cells[k].textContent = each.show(i);
    });
    return line;
  }));
}

function newLine(list, i) {
  const line = element("tr", { "data-player": i });
  for (const each of list) {
    if (each.name) line.append(element("th", { scope: "row", class: "name", title: players[i] }, players[i]));
    else if (each.bar) line.append(element("td", { class: "bar-cell" }, newBar()));
    else line.append(element("td"));
  }
  return line;
}

function newBar() {
  const parts = ["value", "whisker", "zero"].map((part) => element("span", { class: part }));
  return element("div", { class: "bar", "aria-hidden": "true" }, ...parts);
}

function moveBar(bar, value, stderr, [low, high]) {
  const place = (x) => (100 * (x - low)) / (high - low);
  const [body, whisker, zero] = bar.children;
  body.className = value < 0 ? "value minus" : "value";
  body.style.left = `${place(Math.min(0, value))}%`;
  body.style.width = `${place(Math.abs(value)) - place(0)}%`;
  zero.style.left = `${place(0)}%`;
  whisker.hidden = !stderr;
  if (stderr) {
    whisker.style.left = `${place(value - interval * stderr)}%`;
    whisker.style.width = `${place(2 * interval * stderr) - place(0)}%`;
  }
}
