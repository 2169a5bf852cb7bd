/* Code that every part of the page uses: the data, elements made from text (never from markup), numbers. */
const report = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* element("td", {className: "x"}, "text", otherElement) */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const known = (value) => typeof value === "number" && Number.isFinite(value);

/* Formats a number with three significant digits, without exponents: 1234, 12.3, 0.0123. */
function figure(value, unit = "") {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  const digits = size >= 100 || value === 0 ? 0 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  const text = value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit ? `${text}\u00a0${unit}` : text;
}
/* Formats a share in percent: 0.7 %, 12 %. */
function percent(share) {
  if (!known(share)) return "–";
  const text = share < 0.001 && share > 0 ? "<0.1" : share < 0.0995 ? (100 * share).toFixed(1) : whole(Math.round(100 * share));
  return `${text}\u00a0%`;
}
/* Formats a deviation as a share: ±12 %. */
const deviation = (share) => (known(share) && share < 0.001 ? percent(share) : `±${percent(share)}`);
const whole = (value) => (known(value) ? value.toLocaleString("en-US") : "–");
const milliseconds = (value) => (known(value) && value < 1 ? figure(value * 1000, "µs") : figure(value, "ms"));

/* Adds a row of radio buttons to a bar. Calls changed(value) for each change, but not for the initial value. */
function choice(bar, name, legend, options, value, changed) {
  const row = element("div");
  for (const [key, label] of options) {
    const input = element("input", { type: "radio", name, value: key, checked: key === value });
    input.addEventListener("change", () => changed(key));
    row.append(element("label", {}, input, element("span", {}, label)));
  }
  const field = element("fieldset", { className: "choice", id: `choose-${name}` });
  field.append(element("legend", {}, legend), row);
  bar.append(field);
  return field;
}

/* ---- theme: the system's, until the button is used ---- */
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const redrawn = []; /* functions to call when colours change */
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const redraw of redrawn) redraw();
}
const isDark = () => document.documentElement.dataset.theme === "dark";
let chosen = false;
setTheme(darkSystem.matches);
darkSystem.addEventListener("change", () => chosen || setTheme(darkSystem.matches));
byId("theme").addEventListener("click", () => {
  chosen = true;
  setTheme(!isDark());
});
/* Print in the light theme, because paper is white. */
let darkBeforePrint = false, onPaper = false;
addEventListener("beforeprint", () => {
  darkBeforePrint = isDark();
  onPaper = true;
  setTheme(false);
});
addEventListener("afterprint", () => {
  onPaper = false;
  setTheme(darkBeforePrint);
});

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
