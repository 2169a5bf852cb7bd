/* Draws charts with the library that was built into the page. Without it, each chart says that it is missing. */
const haveCharts = typeof Chart === "function";
const charts = {}; /* by the id of their box, for inspection in the browser's console */

/* Okabe and Ito's colours, which colour-blind readers can also distinguish; some are lighter on a dark background. */
const palette = (i) => (isDark() ? ["#56b4e9", "#e69f00", "#35c79b", "#cc79a7", "#f0e442", "#ff8552", "#8fa8ff"]
  : ["#0072b2", "#d97800", "#008f68", "#b04d84", "#8a7a00", "#c04a00", "#4455aa"])[i % 7];

/* make() returns a configuration in the theme's colours; it is called again when the theme changes. */
function draw(box, label, make) {
  if (!haveCharts) {
    box.style.height = "auto";
    box.replaceChildren(element("p", { className: "missing" },
      "This chart is not drawn: lapedge was built where the chart library (Debian's libjs-chart.js) was not found. The values are in the table and in the JSON below."));
    return;
  }
  const redraw = () => {
    Chart.defaults.color = colour("soft");
    Chart.defaults.borderColor = colour("line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = onPaper ? 9 : 12; /* the other text on paper is smaller, too */
    Chart.defaults.animation = false;
    charts[box.id]?.destroy();
    const canvas = element("canvas", { role: "img", ariaLabel: label });
    box.replaceChildren(canvas);
    const configuration = make();
    configuration.options = { responsive: true, maintainAspectRatio: false, ...configuration.options };
    charts[box.id] = new Chart(canvas, configuration);
  };
  if (!charts[box.id]) redrawn.push(() => draw.current[box.id]());
  draw.current[box.id] = redraw;
  redraw();
}
draw.current = {};

/* A box on paper is not as wide as on the screen. */
addEventListener("beforeprint", () => {
  for (const chart of Object.values(charts)) {
    const box = chart.canvas.parentElement, height = box.classList.contains("small") ? 190 : Math.max(box.dataset.least ?? 0, Math.min(520, 0.72 * box.clientHeight));
    chart.options.devicePixelRatio = 3;
    chart.resize(box.closest(".pair") ? 320 : 660, height);
  }
});

/* ---- logarithmic axes ---- */
const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
const decades = { color: (context) => (context.tick && isDecade(context.tick.value) ? colour("line") : "transparent") };
const decade = (value) => (isDecade(value) ? value.toLocaleString("en-US", { maximumSignificantDigits: 3 }) : "");
const decadeBelow = (value) => 10 ** Math.floor(Math.log10(value));
const decadeAbove = (value) => 10 ** Math.ceil(Math.log10(value));

/* The library squeezes long axis titles instead of breaking them into lines, so a narrow box gets the short title. */
const axisTitle = (box, long, short) => ({ display: true, text: box.clientWidth < 520 ? short : long });

/* The font for text that our code draws on a chart. */
const chartFont = () => `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;

/* The width of a text in a chart. */
function textWidth(text) {
  const context = element("canvas").getContext("2d");
  context.font = chartFont();
  return context.measureText(text).width;
}

/* ---- histograms and profiles ---- */
const channelColour = (name) => (isDark() ? { red: "#ff8a80", green: "#7bd88f", blue: "#82b1ff" } : { red: "#c62f2f", green: "#23803b", blue: "#2a5fc4" })[name] ?? colour("ink");

function drawHistogram(box, title, image, scale) {
  draw(box, `${title}: how many samples have each value`, () => ({
    type: "line",
    data: {
      labels: [...Array(256).keys()],
      datasets: image.channels.map((channel) => ({ label: channel.name, data: channel.histogram.map((n) => (scale === "logarithmic" && n === 0 ? null : n)),
        borderColor: channelColour(channel.name), backgroundColor: `${channelColour(channel.name)}22`, fill: image.channels.length === 1, stepped: "middle", pointRadius: 0, borderWidth: 1.5 })),
    },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: { x: { ticks: { autoSkip: false, maxRotation: 0, callback: (value) => (value % 64 === 0 || value === 255 ? value : "") }, grid: { display: false }, title: { display: true, text: "value" } },
        y: scale === "logarithmic" ? { type: scale, min: 0.7, max: decadeAbove(Math.max(10, ...image.channels.flatMap((channel) => channel.histogram))), grid: decades, ticks: { callback: decade } }
          : { type: scale, beginAtZero: true, ticks: { maxTicksLimit: 6 } } },
      plugins: { title: { display: true, text: title, align: "start", color: colour("ink") }, legend: { display: image.channels.length > 1, labels: { boxWidth: 12, boxHeight: 2 } } },
    },
  }));
}

/* Reduces values to at most `limit`. Each group becomes its highest value, because a mean would hide peaks. */
function thinned(values, limit) {
  const step = Math.max(1, Math.ceil(values.length / limit)), points = [];
  for (let i = 0; i < values.length; i += step) {
    let best = i;
    for (let j = i; j < Math.min(values.length, i + step); j++) if (values[j] > values[best]) best = j;
    points.push({ x: best, y: values[best] });
  }
  return points;
}

function drawProfile(box, title, axis, values) {
  /* The border rule adds edges at both ends that are higher than most, so the axis ends below them. */
  const inner = values.length > 4 ? values.slice(2, -2) : values, top = 1.1 * inner.reduce((a, b) => Math.max(a, b), 0);
  draw(box, title, () => ({
    type: "line",
    data: { datasets: [{ label: "mean edge", data: thinned(values, 700), borderColor: palette(0), backgroundColor: `${palette(0)}22`, fill: true, pointRadius: 0, borderWidth: 1.3 }] },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: { type: "linear", min: 0, max: values.length - 1, title: { display: true, text: axis }, grid: { display: false }, ticks: { maxRotation: 0 } }, y: { beginAtZero: true, max: top || undefined, ticks: { maxTicksLimit: 6, callback: (value) => figure(value) } } },
      plugins: { title: { display: true, text: title, align: "start", color: colour("ink") }, legend: { display: false } },
    },
  }));
}
