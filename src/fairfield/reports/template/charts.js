// The pictures, one function each; ``PICTURES`` says which of them have something to show.

const ranking = (order, values, count = 3) =>
  order.slice(0, count).map((i) => `${players[i]} ${short(values[i])}`).join(", ");

/** All values in falling order, where a page of the table cannot show them. */
function drawRanked() {
  const { values, stderr, label } = view();
  const order = descending(values);
  const x = order.map((_, k) => k + 1), y = order.map((i) => values[i]);
  const traces = [{
    x, y, mode: "lines", fill: "tozeroy", line: { color: colour("plus"), width: 2 }, fillcolor: colour("soft"),
    text: order.map((i) => drawn(players[i], 40)), hovertemplate: "%{x}: %{text}<br>%{y:.4~g}<extra></extra>",
  }];
  if (stderr) {
    const edge = (sign) => order.map((i) => values[i] + sign * interval * stderr[i]);
    const thin = { x, mode: "lines", line: { color: colour("quiet"), width: 1, dash: "dot" }, hoverinfo: "skip" };
    traces.push({ ...thin, y: edge(1) }, { ...thin, y: edge(-1) });
  }
  const above = values.filter((value) => value > 0).length;
  draw("ranked", traces, { xaxis: axis({ title: "rank" }), yaxis: axis({ title: withUnit(label.toLowerCase()) }) },
    `${above.toLocaleString("en")} of ${players.length.toLocaleString("en")} ${words.players} have a value above 0.${stderr ? " Dotted: 95 % intervals." : ""}`);
}

const MOST_STEPS = 15;

/** From F(∅), below, to F(N), on top, player by player; what the values do not sum to is hatched. */
function drawWaterfall() {
  const { values, empty, grand, label } = view();
  const order = byMagnitude(values);
  const kept = order.length > MOST_STEPS ? order.slice(0, MOST_STEPS - 1) : order;
  const shown = summary.data && summary.data[state.row];
  const bars = kept.map((i) => ({ name: shown ? `${players[i]} = ${cell(shown[i])}` : players[i], step: values[i] }));
  const hidden = order.slice(kept.length);
  if (hidden.length) bars.push({ name: `${hidden.length.toLocaleString("en")} other ${words.players}`, step: hidden.reduce((sum, i) => sum + values[i], 0) });
  const rest = grand - empty - values.reduce((sum, value) => sum + value, 0);
  const remains = Math.abs(rest) > 1e-9 * (Math.abs(grand) + Math.abs(empty));
  if (remains) bars.push({ name: "(remainder)", step: rest, remainder: true });
  let end = grand;
  for (const each of bars) { each.base = end - each.step; end = each.base; }
  // The colour of a hatched bar is that of its lines.
  const fill = (each) => each.remainder ? colour("quiet") : each.step < 0 ? colour("minus") : colour("plus");
  const trace = {
    type: "bar", orientation: "h", x: bars.map((each) => each.step), base: bars.map((each) => each.base), y: bars.map((_, k) => k),
    marker: {
      color: bars.map(fill), line: { width: bars.map((each) => (each.remainder ? 1 : 0)), color: colour("quiet") },
      pattern: { shape: bars.map((each) => (each.remainder ? "/" : "")), bgcolor: colour("page"), size: 6, solidity: 0.2 },
    },
    text: bars.map((each) => (each.step > 0 ? "+" : "") + short(each.step, 3)),
    textposition: "outside", cliponaxis: false, constraintext: "none",
    customdata: bars.map((each) => drawn(each.name, 60)), hovertemplate: "%{customdata}<br>%{text}<extra></extra>",
  };
  const ends = bars.flatMap((each) => [each.base, each.base + each.step]);
  const room = 0.25 * (Math.max(...ends) - Math.min(...ends) || 1);
  const upright = (x) => ({ layer: "below", type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colour("line"), width: 1 } });
  // Where the two ends are close, their names extend away from each other.
  const near = Math.abs(grand - empty) < 1.5 * room;
  const note = (x, leftmost, name) => ({
    x, yref: "paper", y: 1, text: `${name} = ${short(x)}`, showarrow: false, yanchor: "bottom",
    xanchor: !near ? "center" : leftmost ? "right" : "left", font: { size: 11, color: colour("quiet") },
  });
  draw("waterfall", [trace], {
    height: Math.max(300, 110 + 24 * bars.length), margin: { l: 8, r: 12, t: 28, b: 64 }, bargap: 0.3,
    xaxis: axis({ title: `${words.worth}, by ${label.toLowerCase()}`, range: [Math.min(...ends) - room, Math.max(...ends) + room], zeroline: false }),
    yaxis: names(bars.map((each) => each.name)),
    shapes: [upright(empty), upright(grand)],
    annotations: [note(grand, grand < empty, words.grand), note(empty, grand >= empty, words.empty)],
  }, `${rows.length > 1 ? `${rows[state.row]}: ` : ""}${words.empty} = ${short(empty)} below, ${words.grand} = ${short(grand)} on top. ${remains
    ? `${label} values leave ${short(rest)} of the difference.` : `${label} values sum to the difference.`}`);
}

const MOST_SWARMS = 12;
const MOST_DOTS = 1000;

/** The values and the data of a criterion's rows that are drawn as dots, the mean left out. */
function dots() {
  const part = (held) => held.slice(summary.means, summary.means + MOST_DOTS);
  return { values: part(criteria[state.criterion].values), data: part(summary.data), names: part(rows) };
}

const firstDots = (count) => (summary.rows.length - summary.means > count ? ` The first ${count.toLocaleString("en")} ${words.rows}.` : "");

/** Shares of the numbers that are lower, null for what is no number. */
function levels(column) {
  const sorted = [...new Set(column.filter((each) => typeof each === "number"))].sort((a, b) => a - b);
  const place = new Map(sorted.map((each, k) => [each, sorted.length > 1 ? k / (sorted.length - 1) : 0.5]));
  return column.map((each) => place.get(each) ?? null);
}

/** A dot per row and player: its value, coloured by what the player is in the data. */
function drawSwarm() {
  const { values, data, names: who } = dots();
  const sizes = criteria[state.criterion].magnitude;
  const order = byMagnitude(sizes).slice(0, MOST_SWARMS);
  const traces = order.map((i, k) => ({
    x: values.map((row) => row[i]),
    // Dots of a line are set apart by a sequence that fills it evenly.
    y: values.map((_, j) => k + 0.6 * (((j + 1) * 0.618034) % 1) - 0.3),
    mode: "markers", text: data.map((row, j) => drawn(`${who[j]}: ${players[i]} = ${cell(row[i])}`, 60)),
    marker: { size: 5, opacity: 0.8, color: levels(data.map((row) => row[i])).map((level) => level ?? 0.5), cmin: 0, cmax: 1, colorscale: "Cividis" },
    hovertemplate: "%{text}<br>%{x:.4~g}<extra></extra>",
  }));
  const { label } = view();
  draw("swarm", traces, {
    height: Math.max(340, 90 + 30 * order.length), xaxis: axis({ title: withUnit(label.toLowerCase()) }), yaxis: names(order.map((i) => players[i])),
  }, `A dot per ${words.row}, ${words.players} by their mean |value| (${ranking(order, sizes)}). Dark: low in the data; light: high.${firstDots(MOST_DOTS)}`);
}

/** The value of one player beside what the player is in the data. */
function drawDependence() {
  const { values, data, names: who } = dots();
  const i = state.player ?? byMagnitude(criteria[state.criterion].magnitude)[0];
  byId("along-player").value = i;
  const column = data.map((row) => row[i]);
  const missing = (each) => each === null || each === "nan";
  const numbers = column.every((each) => typeof each === "number" || missing(each));
  const absent = column.filter(missing).length;
  const x = column.map((each) => (missing(each) ? (numbers ? null : "missing") : each));
  const trace = {
    x: numbers ? x : x.map((each) => drawn(String(each))), y: values.map((row) => row[i]), mode: "markers", text: who.map((name) => drawn(name, 40)),
    marker: { size: 6, opacity: 0.8, color: colour("plus") }, hovertemplate: "%{text}<br>%{x} → %{y:.4~g}<extra></extra>",
  };
  const { label } = view();
  draw("dependence", [trace], { xaxis: axis({ title: players[i], type: numbers ? "linear" : "category" }), yaxis: axis({ title: withUnit(`${label.toLowerCase()} of ${players[i]}`) }) },
    `A dot per ${words.row}: ${players[i]} in the data, and its value by ${label}.${numbers && absent ? ` ${absent.toLocaleString("en")} ${words.rows} miss it.` : ""}${firstDots(MOST_DOTS)}`);
}

/** Two criteria against each other; on the line they agree. */
function drawAgreement() {
  const a = view(state.across), b = view(state.up);
  const ends = [...a.values, ...b.values];
  const low = ends.reduce((x, y) => Math.min(x, y)), high = ends.reduce((x, y) => Math.max(x, y));
  const bars = (stderr) => stderr && players.length <= 200 ? { type: "data", array: stderr.map((error) => interval * error), color: colour("quiet"), thickness: 1, width: 0 } : undefined;
  const traces = [
    { x: [low, high], y: [low, high], mode: "lines", line: { color: colour("quiet"), width: 1, dash: "dot" }, hoverinfo: "skip" },
    {
      x: a.values, y: b.values, mode: "markers", error_x: bars(a.stderr), error_y: bars(b.stderr),
      marker: { color: colour("plus"), size: players.length > 200 ? 4 : 8, opacity: players.length > 200 ? 0.55 : 0.85 },
      text: players.map((name) => drawn(name, 40)), hovertemplate: "%{text}<br>%{x:.4~g} and %{y:.4~g}<extra></extra>",
    },
  ];
  const rho = spearman(a.values, b.values);
  const top = Math.min(5, Math.ceil(players.length / 2));
  const best = (values) => new Set(descending(values).slice(0, top));
  const common = [...best(a.values)].filter((i) => best(b.values).has(i)).length;
  draw("agreement", traces, { xaxis: axis({ title: withUnit(a.label) }), yaxis: axis({ title: withUnit(b.label) }) },
    `A dot per ${words.player}; on the dotted line both give the same value. Rank correlation (Spearman) ${rho === null ? "is not defined" : rho.toFixed(3)}; ${common} of the first ${top} ${words.players} are the same.`);
}

/** Values or marginals of the players over the temperatures. */
function drawPath() {
  const at = stops.map((_, stop) => view(state.criterion, stop));
  const what = at.every((each) => each.marginals) ? state.along : "values";
  const leading = byMagnitude(view(state.criterion, ownStop ?? state.stop).values);
  const { label, followed } = view();
  const temperatures = stops.map((stop) => stop.temperature[state.row]);
  draw("path", lines(temperatures, at.map((each) => each[what]), leading), {
    showlegend: true, height: 400, shapes: [marker()],
    xaxis: decades(temperatures, "temperature"), yaxis: axis({ title: what === "values" ? withUnit(`value, ${label.toLowerCase()}`) : `marginal, ${label.toLowerCase()}` }),
  }, `${label}: ${what} of the ${words.players} from low to high temperatures.${others()} The dotted line is the temperature chosen above.${followed ? "" : ` ${label} was not followed along the temperatures.`}`);
}

function drawErrors() {
  const x = stops.map((stop) => stop.temperature[state.row]);
  const traces = criteria.map((each, k) => ({
    x, y: stops.map((_, stop) => view(k, stop)).map((each) => (each.followed ? each.error : null)), name: drawn(each.label), mode: "lines+markers",
    line: line(k), marker: { symbol: SYMBOLS[k % 6], size: 6 }, hovertemplate: "%{fullData.name}<br>%{y:.4~g} at T = %{x:.4~g}<extra></extra>",
  })).filter((trace) => trace.y.some((y) => y !== null));
  const now = view();
  draw("errors", traces, {
    showlegend: true, height: 400, shapes: [marker()],
    xaxis: decades(x, "temperature"), yaxis: decades(traces.flatMap((trace) => trace.y), "decoupling error"),
  }, `The smaller, the better the values describe F. ${now.error === null ? "" : `${now.label} at T = ${short(now.temperature)}: ${short(now.error)}.`}`);
}

/** The marginals over the K steps of the paper's iteration. */
function drawTrajectory() {
  const found = trajectories.find((each) => each.criterion === criteria[state.criterion].name) ?? trajectories[0];
  const tables = found.marginals.map((step) => step[state.row]);
  const moved = tables.at(-1).map((x) => x - 0.5);
  draw("trajectory", lines(tables.map((_, k) => k), tables, byMagnitude(moved)), {
    showlegend: true, height: 400, xaxis: axis({ title: "step", dtick: tables.length > 16 ? undefined : 1 }), yaxis: axis({ title: "marginal" }),
  }, `${found.criterion}: the marginal of every ${words.player} after each of ${tables.length - 1} steps from ½.${others()}`);
}

function drawInteractions() {
  const { label, strongest } = interactions;
  const averaged = `mean |${label} interaction|`;
  if (strongest.length) {
    const size = strongest.map(([, value]) => value);
    const trace = { type: "bar", orientation: "h", x: size, y: size.map((_, k) => k), marker: { color: size.map((value) => colour(value < 0 ? "minus" : "plus")) }, hoverinfo: "x" };
    const title = interactions.means ? averaged : `${label} interaction`;
    draw("interactions", [trace], { height: 90 + 24 * size.length, xaxis: axis({ title: withUnit(title) }), yaxis: names(strongest.map(([who]) => who.join(" + "))) },
      `The ${size.length} coalitions that interact most, by ${interactions.means ? `the ${averaged} of all ${words.rows}` : label}.`);
    return;
  }
  const row = state.row in interactions.matrix ? state.row : Math.max(0, state.row - summary.means) % interactions.matrix.length;
  const mean = row < interactions.means;
  const z = interactions.matrix[row].map((line_, i) => line_.map((value, j) => (i === j ? null : value)));
  const who = interactions.players.map((name) => drawn(name, 18));
  let top = 0, pair = [0, 0];
  z.forEach((line_, i) => line_.forEach((value, j) => { if (value !== null && Math.abs(value) > top) { top = Math.abs(value); pair = [i, j]; } }));
  const places = who.map((_, k) => k);
  const small = who.length <= 12, digits = Math.max(0, decimals([top]) - 2);
  const trace = {
    type: "heatmap", x: places, y: places, z, zmin: mean ? 0 : -(top || 1), zmax: top || 1, xgap: 1, ygap: 1,
    colorscale: [...(mean ? [] : [[0, isDark() ? "#ee8548" : "#d55e00"]]), [mean ? 0 : 0.5, isDark() ? "#22272b" : "#f4f5f6"], [1, isDark() ? "#4ea3d8" : "#0072b2"]],
    colorbar: { thickness: 10, outlinewidth: 0, len: 0.9 }, text: z.map((line_) => line_.map((value) => (value === null ? "" : fixed(value, digits)))),
    texttemplate: small ? "%{text}" : "", textfont: { size: 10 },
    customdata: z.map((_, i) => z.map((__, j) => `${who[i]} and ${who[j]}`)), hovertemplate: "%{customdata}<br>%{z:.4~g}<extra></extra>",
  };
  const side = (more) => axis({ tickmode: "array", tickvals: places, ticktext: who, showgrid: false, zeroline: false, tickfont: { size: small ? 12 : 10 }, ...more });
  draw("interactions", [trace], {
    height: Math.max(340, 120 + (small ? 30 : 15) * who.length),
    xaxis: side({ tickangle: who.length > 20 ? -90 : Math.max(...who.map((name) => name.length)) * who.length > 45 ? -60 : 0 }), yaxis: side({ autorange: "reversed" }),
  }, `${mean ? `The ${averaged} of all ${words.rows}: how much two ${words.players} add together beyond their parts, or less than these.` : `${label} interactions: blue where two ${words.players} add more together than apart, orange where they add less.`} Strongest: ${interactions.players[pair[0]]} and ${interactions.players[pair[1]]}, ${short(z[pair[0]][pair[1]])}.${
    interactions.left_out ? ` The ${who.length} ${words.players} that interact most.` : ""}`);
}

function drawCurves() {
  const traces = curves.map((each, k) => ({
    x: each.fractions.map((share) => 100 * share), y: each.worths, name: drawn(each.label, 44), mode: "lines+markers", line: line(k),
    marker: { symbol: SYMBOLS[k % 6], size: 6 }, hovertemplate: "%{fullData.name}<br>%{y:.4~g} at %{x:.3~g} %<extra></extra>",
  }));
  const games = curves[0].games;
  draw("curves", traces, { showlegend: true, height: 400, xaxis: axis({ title: `share of the ${words.players}, %` }), yaxis: axis({ title: words.worth }) },
    `The ${words.worth} of the ${words.players} that stay (or have joined). Good values make it fall early when the highest leave first.${games > 1 ? ` Mean of ${games} ${words.rows}.` : ""}`);
}

// Dots need rows with data, of one output.
const dotted = summary.data !== null && summary.means > 0 && summary.outputs === null;

/** Pictures in their order, whether there is something to show, and whether the slider moves them. */
const PICTURES = [
  { id: "ranked", draw: drawRanked, shown: players.length > PAGE, moves: true },
  { id: "waterfall", draw: drawWaterfall, shown: criteria.every((each) => each.empty && each.grand), moves: true },
  { id: "swarm", draw: drawSwarm, shown: dotted },
  { id: "dependence", draw: drawDependence, shown: dotted },
  { id: "agreement", draw: drawAgreement, shown: criteria.length > 1, moves: true },
  { id: "path", draw: drawPath, shown: stops.length > 1, moves: true },
  { id: "errors", draw: drawErrors, shown: stops.some((stop) => Object.values(stop.criteria).some((each) => each.decoupling_error)), moves: true },
  { id: "trajectory", draw: drawTrajectory, shown: trajectories.length > 0 },
  { id: "interactions", draw: drawInteractions, shown: interactions !== null },
  { id: "curves", draw: drawCurves, shown: curves.length > 0 },
].filter((each) => each.shown);
