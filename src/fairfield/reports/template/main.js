// The head of the page, its controls, and what is redrawn when one of them moves.

const EVERY = PICTURES.map((each) => each.id);
const MOVING = PICTURES.filter((each) => each.moves).map((each) => each.id);
const waiting = new Set();

/** Redraw what follows from the state: the table at once, pictures when there is time. */
function refresh(pictures = EVERY, announce = true) {
  drawTable();
  drawLead(announce);
  for (const id of pictures) waiting.add(id);
  requestAnimationFrame(() => {
    for (const each of PICTURES) if (waiting.delete(each.id)) each.draw();
  });
}

let speaking = 0;
function drawLead(announce) {
  const now = view();
  const order = descending(now.values);
  const temperature = now.temperature === null ? "" : ` at T = ${short(now.temperature)}`;
  const most = ranking(order, now.values);
  const least = order.at(-1);
  const verb = words.player === "feature" ? "adds" : "is worth";
  const sizes = words.player === "feature" ? magnitudes() : null;
  const largest = sizes && byMagnitude(sizes)[0];
  const text = sizes ? `By ${now.label}${temperature}, ${players[largest]} moves the ${words.worth} most (mean |value| ${short(sizes[largest])}).` : `By ${now.label}${temperature}, ${players[order[0]]} ${verb} most (${short(now.values[order[0]])})${
    order.length > 1 ? ` and ${players[least]} least (${short(now.values[least])})` : ""}.`;
  byId("lead").textContent = text;
  byId("meaning").textContent = criteria[state.criterion].meaning;
  const sum = now.values.reduce((a, b) => a + b, 0);
  const facts = [["Sum of values", short(sum)]];
  if (now.grand !== null && now.empty !== null) facts.push([capital(`${words.grand} − ${words.empty}`), short(now.grand - now.empty)]);
  if (now.error !== null) facts.push(["Decoupling error", short(now.error)]);
  byId("numbers").replaceChildren(...facts.map(([name, value]) =>
    element("span", {}, element("span", { class: "quiet" }, `${name} `), element("b", { "data-fact": name }, value))));
  clearTimeout(speaking);
  if (announce) speaking = setTimeout(() => { byId("announcement").textContent = `${now.label}${temperature}. Highest: ${most}.`; }, 400);
}

function drawAbout() {
  const { about } = summary;
  byId("title").textContent = summary.title;
  const facts = [
    [capital(words.players), about.players.toLocaleString("en")],
    ...(about.games > 1 ? [[capital(words.rows), about.games.toLocaleString("en")]] : []),
    ...(about.temperature.length ? [["Temperature", about.temperature.map((each) => short(each)).join(" to ")]] : []),
    ["Method", about.methods.length > 1 ? "several, listed below" : about.methods[0]],
    ["Evaluations", about.evaluations.toLocaleString("en")],
    ["Seconds", short(about.seconds)],
    ...(about.seed === null ? [] : [["Seed", String(about.seed)]]),
  ];
  byId("facts").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  byId("warnings").hidden = !summary.warnings.length;
  byId("warnings").replaceChildren(...summary.warnings.map((text) => element("p", {}, text)));
  byId("versions").textContent = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`).join(" · ");
  const heads = ["Criterion", "Why it stopped", "Method", "Steps", "Evaluations", "Seconds"];
  byId("how").tHead.rows[0].replaceChildren(...heads.map((head, k) => element("th", { scope: "col", class: k < 3 ? "name" : null }, element("span", {}, head))));
  byId("how").tBodies[0].replaceChildren(...criteria.map((each) => element("tr", {},
    element("th", { scope: "row", class: "name" }, each.label), element("td", { class: "text" }, each.stop), element("td", { class: "text" }, each.method),
    element("td", {}, each.steps ? short(each.steps[0]) : "–"), element("td", {}, each.evaluations.toLocaleString("en")), element("td", {}, short(each.seconds)))));
}

function drawScores() {
  const { scores } = summary;
  if (!scores) return;
  byId("scores-part").hidden = false;
  byId("scores").caption.textContent = `Means ± standard errors ${scores.held_out}: log-likelihood in nats; hiding one member at a time, its percentile rank among all that could be missing, and how often it comes first, in percent.`;
  const heads = ["Game", "Log-likelihood", "Percentile rank", "Top-1"];
  byId("scores").tHead.rows[0].replaceChildren(...heads.map((head, k) => element("th", { scope: "col", class: k < 1 ? "name" : null }, element("span", {}, head))));
  const about = (error) => error === null ? "" : ` ± ${short(error, 2)}`;
  const scored = (game, what) => game[what] === null ? "–" : short(game[what]) + about(game[`${what}_error`]);
  byId("scores").tBodies[0].replaceChildren(...scores.games.map((game) => element("tr", {}, element("th", { scope: "row", class: "name" }, game.game),
    ...["log_likelihood", "percentile_rank", "top_1"].map((what) => element("td", {}, scored(game, what))))));
}

function save(name, kind, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const choices = (list) => list.map((label, k) => element("option", { value: k }, label));

function setUpControls() {
  byId("criteria").append(...criteria.map((each, k) =>
    element("label", {}, element("input", { type: "radio", name: "criterion", value: k, checked: k === 0 }), each.label)));
  byId("criteria").addEventListener("change", (event) => { state.criterion = Number(event.target.value); refresh(); });
  for (const which of ["across", "up"]) {
    byId(which).append(...choices(criteria.map((each) => each.label)));
    byId(which).value = state[which];
    byId(which).addEventListener("change", (event) => { state[which] = Number(event.target.value); refresh(["agreement"], false); });
  }
  byId("along-player").append(...choices(players));
  byId("along-player").addEventListener("change", (event) => { state.player = Number(event.target.value); refresh(["dependence"], false); });
  byId("path-what").addEventListener("change", (event) => { state.along = event.target.value; refresh(["path"], false); });
  setUpRows();
  setUpTemperature();
  setUpTable();
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  byId("save-csv").addEventListener("click", () => save("values.csv", "text/csv", csv()));
  byId("save-json").addEventListener("click", () => save("values.json", "application/json", JSON.stringify(summary, null, 1)));
}

function setUpRows() {
  const pick = (row) => {
    state.row = Math.min(rows.length - 1, Math.max(0, row));
    byId("row").value = state.row;
    byId("row-before").disabled = state.row === 0;
    byId("row-after").disabled = state.row === rows.length - 1;
    showTemperature();
    refresh();
  };
  byId("row-control").hidden = rows.length < 2;
  byId("row").append(...choices(rows));
  byId("row").addEventListener("change", (event) => pick(Number(event.target.value)));
  byId("row-before").addEventListener("click", () => pick(state.row - 1));
  byId("row-after").addEventListener("click", () => pick(state.row + 1));
  byId("row-before").disabled = true;
}

function showTemperature() {
  if (!stops.length) return;
  const text = `T = ${short(stops[state.stop].temperature[state.row])}`;
  byId("temperature-shown").textContent = text;
  byId("temperature").setAttribute("aria-valuetext", text);
  byId("temperature-own").disabled = state.stop === ownStop;
}

function setUpTemperature() {
  if (stops.length < 2) return;
  byId("temperature-control").hidden = false;
  byId("temperature-own").hidden = ownStop === null;
  const slider = byId("temperature");
  slider.max = stops.length - 1;
  slider.value = state.stop;
  const move = (stop) => { state.stop = stop; slider.value = stop; showTemperature(); refresh(MOVING); };
  slider.addEventListener("input", () => move(Number(slider.value)));
  byId("temperature-own").addEventListener("click", () => { move(ownStop); slider.focus(); });
  showTemperature();
}

function setUpTable() {
  byId("table").tHead.addEventListener("click", (event) => {
    const key = event.target.closest("button")?.dataset.key;
    if (!key) return;
    state.sort = { column: key, down: state.sort.column === key ? !state.sort.down : key !== "player" };
    state.page = 0;
    drawTable();
  });
  byId("find").addEventListener("input", (event) => { state.find = event.target.value; state.page = 0; drawTable(); });
  byId("page-before").addEventListener("click", () => { state.page--; drawTable(); });
  byId("page-after").addEventListener("click", () => { state.page++; drawTable(); });
}

function setUpTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    const dark = chosen ?? system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").setAttribute("aria-pressed", String(dark));
    refresh(EVERY, false);
  };
  system.addEventListener("change", apply);
  byId("theme").addEventListener("click", () => { chosen = !isDark(); apply(); });
  apply();
}

/** plotly travels compressed; unpacked, it is allowed to run by its digest. */
async function unpack() {
  const letters = atob(byId("library").textContent);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  document.head.append(element("script", {}, await new Response(stream).text()));
}

drawAbout();
drawScores();
// All sections take their places before the first picture measures its own.
for (const id of EVERY) {
  byId(id).closest("section").hidden = false;
  watcher.observe(byId(id));
}
setUpControls();
setUpTheme();
unpack().then(() => { paintAll(false); document.documentElement.dataset.ready = "yes"; }).catch((reason) => {
  byId("failure").hidden = false;
  byId("failure").textContent = `The pictures could not be drawn (${reason.message}); their captions and the table are complete. A current browser is needed.`;
});
