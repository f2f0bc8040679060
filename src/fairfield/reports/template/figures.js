// What all pictures share: colours of the theme, room, a caption that is also read aloud.

const SERIES = {
  light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9"],
  dark: ["#4ea3d8", "#f0b43c", "#2fb98f", "#dd9bc0", "#ee8548", "#8ccdf5"],
};
const DASHES = ["solid", "dash", "dot", "dashdot"];
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"];

const isDark = () => document.documentElement.dataset.theme === "dark";
const series = (k) => SERIES[isDark() ? "dark" : "light"][k % 6];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const line = (k) => ({ color: series(k), width: 2, dash: DASHES[Math.floor(k / 6) % 4] });

function axis(more = {}) {
  return {
    gridcolor: colour("line"), linecolor: colour("quiet"), zerolinecolor: colour("quiet"), zerolinewidth: 1,
    automargin: true, ticks: "", ...more, title: { text: drawn(more.title ?? "", 60), font: { size: 12 }, standoff: 8 },
  };
}

/** A logarithmic axis with ticks at powers of ten, and at 2 and 5 between them where there is room. */
function decades(numbers, title) {
  const logs = numbers.filter((each) => each > 0).map(Math.log10);
  const low = Math.min(...logs), high = Math.max(...logs);
  const ticks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    for (const digit of high - low < 2.5 ? [1, 2, 5] : [1]) ticks.push(digit * 10 ** power);
  }
  const text = (tick) => (tick >= 1e-3 && tick <= 1e4 ? short(tick) : `10<sup>${Math.round(Math.log10(tick))}</sup>`);
  return axis({ title, type: "log", tickmode: "array", tickvals: ticks, ticktext: ticks.map(text), zeroline: false });
}

/** An axis of names beside lines 0, 1, … from the top. */
function names(labels) {
  return axis({
    tickmode: "array", tickvals: labels.map((_, k) => k), ticktext: labels.map((name) => drawn(name)),
    range: [labels.length - 0.4, -0.6], showgrid: false, zeroline: false,
  });
}

/** Draw into a figure and say in its caption, and to screen readers, what is seen. */
function draw(id, traces, layout, caption) {
  const place = byId(id);
  place.closest("figure").querySelector("figcaption").textContent = caption;
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", caption);
  const common = {
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("text") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", height: 340,
    margin: { l: 8, r: 12, t: 12, b: 40 }, showlegend: false, hovermode: "closest",
    hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") }, align: "left" },
    legend: { orientation: "h", x: 0, y: -0.22, yanchor: "top", font: { size: 11 } },
    ...layout,
  };
  const config = {
    displaylogo: false, responsive: true,
    // Where nothing hovers, the buttons would never leave, and cover what is drawn below them.
    displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };
  pending.set(id, [place, traces, common, config]);
  paint(id);
}

// Pictures are painted when they come near the screen, so that a slider moves only what is seen.
const pending = new Map();
const near = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) near.add(target.id);
    else near.delete(target.id);
    paint(target.id);
  }
}, { rootMargin: "300px" });

function paint(id, anyhow = false) {
  if (!window.Plotly || !pending.has(id) || !(anyhow || near.has(id))) return;
  Plotly.react(...pending.get(id));
  pending.delete(id);
}

const paintAll = (anyhow) => [...pending.keys()].forEach((id) => paint(id, anyhow));
addEventListener("beforeprint", () => paintAll(true));

/** A vertical line at the temperature that is chosen. */
function marker() {
  const temperature = stops[state.stop].temperature[state.row];
  return { type: "line", x0: temperature, x1: temperature, yref: "paper", y0: 0, y1: 1, line: { color: colour("quiet"), width: 1.5, dash: "dot" } };
}

const MOST_NAMED = 10;
const MOST_GREY = 300;

/** A line per player along x: the largest in colour, by name, others in grey as one trace. */
function lines(x, tables, leading) {
  const grey = { x: [], y: [], mode: "lines", line: { color: colour("line"), width: 1 }, hoverinfo: "skip", showlegend: false, name: "" };
  for (const i of leading.slice(MOST_NAMED, MOST_NAMED + MOST_GREY)) {
    x.forEach((at, k) => { grey.x.push(at); grey.y.push(tables[k][i]); });
    grey.x.push(null);
    grey.y.push(null);
  }
  const named = leading.slice(0, MOST_NAMED).map((i, k) => ({
    x, y: tables.map((table) => table[i]), mode: "lines", name: drawn(players[i], 22), line: line(k),
    hovertemplate: "%{fullData.name}<br>%{y:.4~g} at %{x:.4~g}<extra></extra>",
  }));
  return [grey, ...named];
}

const others = () => (players.length > MOST_NAMED ? ` The ${MOST_NAMED} ${words.players} of the largest values are named${players.length > MOST_NAMED + MOST_GREY ? `, ${MOST_GREY} more drawn in grey` : ", the others grey"}.` : "");
