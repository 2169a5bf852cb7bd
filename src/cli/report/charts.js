/* Charts, by the library that was built into the page; without it each chart says so. */
const haveCharts = typeof Chart === "function";
const charts = {}; /* by the id of their box, for whoever wants to look inside */

/* Okabe and Ito's colours, which differ for every kind of eye; some lighter on dark ground. */
const palette = (i) => (isDark() ? ["#56b4e9", "#e69f00", "#35c79b", "#cc79a7", "#f0e442", "#ff8552", "#8fa8ff"]
  : ["#0072b2", "#d97800", "#008f68", "#b04d84", "#8a7a00", "#c04a00", "#4455aa"])[i % 7];

/* make() gives a configuration in the theme's colours; it is asked again when the theme changes. */
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

/* ---- stacked stages ---- */
function stagesOf(row) {
  const ms = row.ms; /* of a comparison: all of it */
  if (known(row.kernel_ms)) {
    const stages = { upload: row.upload_ms, kernel: row.kernel_ms, download: row.download_ms };
    const rest = (row.end_to_end_ms ?? ms) - row.upload_ms - row.kernel_ms - row.download_ms;
    if (rest > 0) stages["memory and launch"] = rest;
    return Object.fromEntries(Object.entries(stages).filter(([, value]) => known(value)));
  }
  if (known(ms)) return { compute: ms };
  if (known(row.convert_ms)) return { convert: row.convert_ms, compute: Math.max(0, row.median_ms - row.convert_ms) };
  return known(row.median_ms) ? { compute: row.median_ms } : {};
}
const rungName = (row) => row.backend + (row.threads > 1 ? ` ×${row.threads}` : "");

/* The total of each bar, at its end. */
const totals = {
  id: "totals",
  afterDatasetsDraw(chart) {
    const context = chart.ctx;
    context.save();
    context.font = `12px ${Chart.defaults.font.family}`;
    context.textBaseline = "middle";
    chart.$totals.forEach((text, i) => {
      const ends = chart.data.datasets.map((_, set) => chart.getDatasetMeta(set).data[i]).filter((bar) => Number.isFinite(bar?.x));
      const end = Math.max(...ends.map((bar) => bar.x)), inside = end + 8 + context.measureText(text).width > chart.width;
      context.textAlign = inside ? "right" : "left";
      context.fillStyle = inside ? (isDark() ? "#000" : "#fff") : colour("ink");
      context.fillText(text, end + (inside ? -8 : 8), ends[0].y);
    });
    context.restore();
  },
};

function drawTimes(rows, unit) {
  const timed = rows.map((row) => ({ name: rungName(row), stages: stagesOf(row) })).filter((row) => Object.keys(row.stages).length);
  const names = [...new Set(timed.flatMap((row) => Object.keys(row.stages)))];
  const total = (row) => Object.values(row.stages).reduce((sum, value) => sum + value, 0);
  const of = (row, name) => ((row.stages[name] ?? 0) * (unit === "share" ? 100 / total(row) : 1));
  byId("times").hidden = timed.length === 0;
  if (!timed.length) return;
  byId("times-chart").style.height = `${5.5 + 1.9 * timed.length}rem`;
  draw(byId("times-chart"), "Time of each stage, one bar per backend", () => ({
    type: "bar",
    plugins: [totals, { id: "texts", beforeInit: (chart) => (chart.$totals = timed.map((row) => milliseconds(total(row)))) }],
    data: {
      labels: timed.map((row) => row.name),
      datasets: names.map((name, i) => ({ label: name, data: timed.map((row) => of(row, name)), backgroundColor: palette(i), borderRadius: 3, barPercentage: 0.75 })),
    },
    options: {
      indexAxis: "y",
      layout: { padding: { right: 64 } },
      scales: {
        x: { stacked: true, beginAtZero: true, max: unit === "share" ? 100 : undefined, title: { display: true, text: unit === "share" ? "% of its own time" : "milliseconds" } },
        y: { stacked: true, grid: { display: false }, ticks: { autoSkip: false } },
      },
      plugins: {
        legend: { display: names.length > 1, position: "top", align: "start", labels: { boxWidth: 12, boxHeight: 12 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${unit === "share" ? figure(item.raw, "%") : milliseconds(item.raw)}` } },
      },
    },
  }));
}

/* ---- roofline ---- */

/* Moves labels, sorted by y, so that they lie at least step apart: those that meet share their shift evenly. */
function apart(labels, step, top, bottom) {
  const blocks = [];
  for (const label of labels) {
    let block = { labels: [label], middle: label.y };
    for (let last = blocks[blocks.length - 1]; last && last.middle + (step * (last.labels.length + block.labels.length)) / 2 > block.middle; last = blocks[blocks.length - 1]) {
      blocks.pop();
      const all = [...last.labels, ...block.labels];
      block = { labels: all, middle: all.reduce((sum, each) => sum + each.y, 0) / all.length };
    }
    const half = (step * (block.labels.length - 1)) / 2;
    block.middle = Math.max(top + half, Math.min(bottom - half, block.middle));
    blocks.push(block);
  }
  for (const block of blocks) block.labels.forEach((label, i) => (label.at = block.middle + step * (i - (block.labels.length - 1) / 2)));
}

/* Names beside their points, moved apart where they would lie on each other. */
const pointNames = {
  id: "pointNames",
  afterDatasetsDraw(chart) {
    const context = chart.ctx, points = [];
    chart.data.datasets.forEach((set, index) => set.names && chart.getDatasetMeta(index).data.forEach((point, i) => set.names[i] && points.push({ x: point.x, y: point.y, text: set.names[i] })));
    apart(points.sort((a, b) => a.y - b.y), 14, chart.chartArea.top + 7, chart.chartArea.bottom - 7);
    context.save();
    context.font = `12px ${Chart.defaults.font.family}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const point of points) {
      const left = point.x + 16 + context.measureText(point.text).width > chart.chartArea.right;
      context.textAlign = left ? "right" : "left";
      const x = point.x + (left ? -16 : 16);
      context.strokeStyle = colour("line");
      context.beginPath();
      context.moveTo(point.x + (left ? -6 : 6), point.y);
      context.lineTo(x + (left ? 3 : -3), point.at);
      context.stroke();
      context.strokeStyle = colour("panel");
      context.lineWidth = 4;
      context.strokeText(point.text, x, point.at);
      context.lineWidth = 1;
      context.fillStyle = colour("ink");
      context.fillText(point.text, x, point.at);
    }
    context.restore();
  },
};

function roofsOf(rows) {
  const roofs = [];
  for (const row of rows) {
    const many = row.threads > 1 ? `, ${row.threads} threads` : "";
    if (row.backend === "memcpy" || row.backend === "copy")
      roofs.push({ memory: row.gb_per_s, device: row.backend === "copy", threads: row.threads, label: `${row.backend}${many}: ${figure(row.gb_per_s, "GB/s")}` });
    if (row.backend === "multiply-add")
      roofs.push({ compute: row.gflop_per_s, threads: row.threads, label: `multiply-add${many}: ${figure(row.gflop_per_s, "GFLOP/s")}` });
  }
  return roofs;
}

function drawRoofline(rows) {
  const points = rows.filter((row) => !isCeiling(row) && known(row.gb_per_s) && known(row.flops_per_byte) && row.flops_per_byte > 0);
  const roofs = roofsOf(rows);
  byId("roofline").hidden = points.length === 0;
  if (!points.length) return;
  const intensities = points.map((row) => row.flops_per_byte), rates = points.map((row) => row.gb_per_s * row.flops_per_byte);
  const host = roofs.filter((roof) => !roof.device), compute = host.filter((roof) => roof.compute);
  const ridge = Math.max(1, ...compute.flatMap((roof) => host.filter((m) => m.memory).map((m) => roof.compute / m.memory)));
  const low = 10 ** Math.floor(Math.log10(Math.min(...intensities, 1) / 3)), high = 10 ** Math.ceil(Math.log10(Math.max(...intensities, ridge) * 3));
  /* A memory roof ends where the compute roof of as many threads begins. */
  const lines = roofs.map((roof) => {
    if (roof.compute) {
      const memory = host.find((m) => m.memory && m.threads === roof.threads) ?? host.find((m) => m.memory);
      return { roof, data: [{ x: memory ? roof.compute / memory.memory : low, y: roof.compute }, { x: high, y: roof.compute }] };
    }
    const limit = roof.device ? undefined : compute.find((c) => c.threads === roof.threads);
    const end = limit ? limit.compute / roof.memory : high;
    return { roof, data: [{ x: low, y: low * roof.memory }, { x: end, y: end * roof.memory }] };
  });
  const floor = 10 ** Math.floor(Math.log10(Math.min(...rates) / 2));
  const top = 10 ** Math.ceil(Math.log10(1.5 * Math.max(...rates, ...compute.map((roof) => roof.compute))));
  draw(byId("roofline-chart"), "Roofline: arithmetic intensity against rate, both axes logarithmic", () => ({
    type: "scatter",
    plugins: [pointNames],
    data: {
      datasets: [
        { label: "backends", data: points.map((row, i) => ({ x: intensities[i], y: rates[i] })), names: points.map((row) => (row.resolved === row.backend ? rungName(row) : "")),
          backgroundColor: points.map((row) => palette(row.kernel_ms != null ? 1 : row.threads > 1 ? 2 : 0)), pointRadius: 5, pointHoverRadius: 7 },
        ...lines.map(({ roof, data }, i) => ({ label: roof.label, data, showLine: true, pointRadius: 0, pointHitRadius: 0, borderWidth: 2,
          borderColor: palette(roof.device ? 1 : roof.threads > 1 ? 2 : 0), borderDash: roof.compute ? [6, 4] : [] })),
      ],
    },
    options: {
      scales: {
        x: { type: "logarithmic", min: low, max: high, title: { display: true, text: "floating-point operations per byte moved (textbook form)" }, grid: decades, ticks: { callback: decade, maxRotation: 0 } },
        y: { type: "logarithmic", min: floor, max: top, title: { display: true, text: "GFLOP/s (textbook operations)" }, grid: decades, ticks: { callback: decade } },
      },
      plugins: {
        legend: { position: "top", align: "start", labels: { boxWidth: 22, boxHeight: 2, filter: (item) => item.text !== "backends" } },
        tooltip: { filter: (item) => item.datasetIndex === 0,
          callbacks: { label: (item) => `${rungName(points[item.dataIndex])}: ${figure(item.raw.y, "GFLOP/s")}, ${figure(points[item.dataIndex].gb_per_s, "GB/s")}` } },
      },
    },
  }));
  const above = points.some((row, i) => compute.some((roof) => roof.threads === row.threads && rates[i] > roof.compute));
  byId("roofline-note").textContent =
    "Slanted: what memory can deliver, by a copy measured in this run. Dashed: what the vector units can multiply and add, measured too. " +
    "Rates count the operations of the textbook form, 25 multiplications and 24 additions per filtered value. " +
    (above ? "A point above the dashed roof does fewer operations than the textbook: its sums slide." : "");
}
const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
const decades = { color: (context) => (context.tick && isDecade(context.tick.value) ? colour("line") : "transparent") };
const decade = (value) => (isDecade(value) ? value.toLocaleString("en-US", { maximumSignificantDigits: 3 }) : "");

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
      scales: { x: { ticks: { maxTicksLimit: 9, maxRotation: 0 }, grid: { display: false }, title: { display: true, text: "value" } },
        y: { type: scale, ticks: { maxTicksLimit: 6, callback: scale === "logarithmic" ? decade : undefined } } },
      plugins: { title: { display: true, text: title, align: "start", color: colour("ink") }, legend: { display: image.channels.length > 1, labels: { boxWidth: 12, boxHeight: 2 } } },
    },
  }));
}

/* Up to `limit` values. Peaks must not vanish in means, so the highest value stands for its group. */
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
  /* The border rule makes edges of its own at both ends, higher than most: the axis ends below them. */
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
