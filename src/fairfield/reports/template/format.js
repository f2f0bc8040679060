// Numbers, names and elements as they are shown.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts become text nodes, never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const minus = (text) => text.replace("-", "−");

/** Decimals that show three digits of the largest number of a column. */
function decimals(column) {
  let top = 0;
  for (const each of column) if (each !== null) top = Math.max(top, Math.abs(each));
  return top === 0 ? 0 : Math.min(10, Math.max(0, 3 - Math.floor(Math.log10(top))));
}

function fixed(value, digits) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 && value !== 0 ? "≈0" : minus(text);
}

/** A single number, so many digits of it. */
function short(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e7) return minus(value.toExponential(digits - 2));
  if (size >= 1e4) return minus(Math.round(value).toLocaleString("en"));
  return minus(String(Number(value.toPrecision(digits))));
}

/** A value of the data: numbers short, anything else as it is. */
const cell = (value) => (typeof value === "number" ? short(value) : value === null ? "–" : String(value));

/** A name for a picture: cut in its middle, and without what plotly would read as markup. */
function drawn(name, longest = 26) {
  const letters = Array.from(name);
  const half = Math.floor((longest - 1) / 2);
  const text = letters.length <= longest ? name
    : letters.slice(0, half).join("") + "…" + letters.slice(-(longest - 1 - half)).join("");
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
