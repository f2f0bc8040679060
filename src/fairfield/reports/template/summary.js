// The data of the page, what is chosen, and what follows from both.

const summary = JSON.parse(byId("data").textContent);
const { players, criteria, rows, curves, interactions, trajectories, words, interval } = summary;
const stops = summary.temperatures ? summary.temperatures.stops : [];
const ownStop = summary.temperatures ? summary.temperatures.own : null;

const state = {
  criterion: 0,
  row: 0,
  stop: ownStop ?? Math.floor(stops.length / 2),
  // Means of the values of features cancel; how much they move predictions does not.
  sort: { column: words.player === "feature" && summary.means ? "magnitude" : "value", down: true },
  page: 0,
  find: "",
  across: 0,
  up: Math.min(1, criteria.length - 1),
  along: "values",
  player: null,
};

/** What a criterion says at a stop of the slider; by default what is chosen. */
function view(criterion = state.criterion, stop = state.stop, row = state.row) {
  const own = criteria[criterion];
  const moved = stops[stop]?.criteria[own.name] ?? {};
  // What was not followed along the temperatures stays at its own.
  const stays = !stops.length || (stop !== ownStop && !stops[stop].criteria[own.name]);
  const at = (held) => (held ? held[row] ?? null : null);
  return {
    label: own.label,
    followed: !stays,
    values: at(moved.values ?? own.values),
    stderr: at(moved.values ? moved.stderr : own.stderr),
    marginals: at(moved.marginals ?? own.marginals),
    error: at(moved.marginals ? moved.decoupling_error : own.decoupling_error),
    empty: at(own.empty),
    grand: at(own.grand),
    temperature: at(stays ? own.temperature : stops[stop].temperature),
  };
}

/** The mean |value| of each player, where the mean of all rows is shown; else null. */
function magnitudes() {
  const sizes = (state.row < summary.means && criteria[state.criterion].magnitude) || null;
  return sizes && summary.outputs ? sizes[state.row] : sizes;
}

/** The range of a criterion's values with their intervals, over all temperatures. */
const spans = new Map();
function span(criterion, row) {
  const key = `${criterion} ${row}`;
  if (!spans.has(key)) {
    let low = 0, high = 0;
    for (let stop = 0; stop < Math.max(1, stops.length); stop++) {
      const { values, stderr } = view(criterion, stop, row);
      values.forEach((value, i) => {
        const half = stderr ? interval * stderr[i] : 0;
        low = Math.min(low, value - half);
        high = Math.max(high, value + half);
      });
    }
    spans.set(key, high > low ? [low, high] : [0, 1]);
  }
  return spans.get(key);
}

const descending = (values) => values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
const byMagnitude = (values) => values.map((_, i) => i).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));

/** Ranks from 0, equal values sharing the mean of theirs. */
function ranks(values) {
  const order = descending(values);
  const found = new Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let k = start; k <= end; k++) found[order[k]] = (start + end) / 2;
    start = end + 1;
  }
  return found;
}

/** Spearman's correlation, null where one side is constant. */
function spearman(first, second) {
  const a = ranks(first), b = ranks(second), mean = (first.length - 1) / 2;
  let ab = 0, aa = 0, bb = 0;
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) ** 2;
    bb += (b[i] - mean) ** 2;
  }
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : null;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const withUnit = (text) => (words.unit ? `${text} (${words.unit})` : text);

/** The same lines that a report ending in .csv holds. */
function csv() {
  const { means } = summary;
  const axes = rows.length > 1 ? summary.axes : [];
  const columns = criteria.flatMap((each) =>
    [["values", each.name], ["stderr", `${each.name} stderr`], ["marginals", `${each.name} marginal`]]
      .filter(([what]) => each[what])
      .map(([what, name]) => [name, each[what]]));
  const head = [...axes, words.player, ...(summary.data ? ["data"] : []), ...columns.map(([name]) => name)];
  const lines = [head];
  for (let row = means; row < rows.length; row++) {
    const own = axes.length ? summary.cells[row - means] : [];
    players.forEach((player, i) => {
      const shown = summary.data ? [summary.data[row][i]] : [];
      lines.push([...own, player, ...shown, ...columns.map(([, held]) => held[row][i])]);
    });
  }
  const quoted = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
}
