/* Shows where the time goes: one row per rung, with its stages as stacked bars. If the largest value is more than
 * longestSpan times the smallest, values are dots on a logarithmic axis: it has no zero, so a bar has no length. */
const longestSpan = 30;

function stagesOf(row) {
  if (row.stages) return row.stages;
  const ms = row.ms; /* in a comparison: the total time */
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

/* Returns how much a row's runs vary; the range (low, high) only if the runs are those of the row's total. */
function spreadOf(row) {
  const median = row.median_ms ?? row.ms, few = (row.times_ms?.length ?? row.runs ?? 0) < 2;
  if (few || !known(row.stddev_ms) || !(median > 0)) return null;
  const share = deviation(row.stddev_ms / median);
  return known(row.kernel_ms) && known(row.median_ms) ? { text: `kernel ${share}` } : { text: share, low: row.min_ms, high: row.max_ms };
}

/* Draws the total and the spread beside each row, and a whisker from the shortest time to the longest. */
const besideRows = {
  id: "besideRows",
  afterDatasetsDraw(chart) {
    const context = chart.ctx, { rows: timed, whiskers, gap } = chart.$beside;
    context.save();
    context.font = chartFont();
    context.textBaseline = "middle";
    context.fillStyle = context.strokeStyle = colour("ink");
    timed.forEach((row, i) => {
      const ends = chart.data.datasets.map((_, set) => chart.getDatasetMeta(set).data[i]).filter((each) => Number.isFinite(each?.x));
      const y = ends[0].y, at = (ms) => Math.min(chart.chartArea.right, Math.max(chart.chartArea.left, chart.scales.x.getPixelForValue(ms)));
      let end = Math.max(...ends.map((each) => each.x));
      if (whiskers && row.spread && row.spread.high > row.spread.low) {
        const low = at(row.spread.low), high = at(row.spread.high);
        context.beginPath();
        for (const [from, to] of [[[low, y], [high, y]], [[low, y - 4], [low, y + 4]], [[high, y - 4], [high, y + 4]]]) {
          context.moveTo(...from);
          context.lineTo(...to);
        }
        context.stroke();
        end = Math.max(end, high);
      }
      context.textAlign = "left";
      context.fillText(row.text, end + gap, y);
    });
    context.restore();
  },
};

function timesData(timed, names, of, dots) {
  const bar = (name, i) => ({ label: name, data: timed.map((row) => of(row, name)), backgroundColor: palette(i), borderRadius: 3, barPercentage: 0.75 });
  const dot = (name, i) => ({ label: name, data: timed.map((row) => (Object.keys(row.stages).length > 1 ? row.stages[name] || null : null)), showLine: false, clip: false, pointRadius: 4, pointHoverRadius: 6,
    backgroundColor: palette(i), borderColor: palette(i), pointStyle: "rectRot" });
  const all = { label: names.length > 1 ? "all" : names[0], data: timed.map((row) => row.total), showLine: false, clip: false, pointRadius: 6, pointHoverRadius: 8, backgroundColor: colour("ink"), borderColor: colour("ink") };
  return { labels: timed.map((row) => row.name), datasets: dots ? [all, ...(names.length > 1 ? names.map(dot) : [])] : names.map(bar) };
}

function timesAxis(box, unit, dots, values, least) {
  if (unit === "share") return { stacked: true, beginAtZero: true, max: 100, title: { display: true, text: "% of its own time" } };
  if (!dots) return { stacked: true, beginAtZero: true, title: { display: true, text: "milliseconds" } };
  const ticks = (ms) => (isDecade(ms) ? (ms < 1 ? `${decade(ms * 1000)} µs` : `${decade(ms)} ms`) : "");
  return { type: "logarithmic", min: decadeBelow(Math.min(least, ...values)), max: decadeAbove(Math.max(...values)), grid: decades, ticks: { callback: ticks, maxRotation: 0 },
    title: axisTitle(box, "logarithmic: each line is ten times the one before", "logarithmic") };
}

function drawTimes(rows, unit) {
  const timed = rows.map((row) => ({ name: rungName(row), stages: stagesOf(row), spread: spreadOf(row) })).filter((row) => Object.keys(row.stages).length);
  const names = [...new Set(timed.flatMap((row) => Object.keys(row.stages)))];
  byId("times").hidden = timed.length === 0;
  if (!timed.length) return;
  const box = byId("times-chart"), narrow = box.clientWidth < 520;
  for (const row of timed) {
    row.total = Object.values(row.stages).reduce((sum, value) => sum + value, 0);
    row.text = [milliseconds(row.total), !narrow || row.spread?.low ? row.spread?.text : ""].filter(Boolean).join(" ");
  }
  const of = (row, name) => ((row.stages[name] ?? 0) * (unit === "share" ? 100 / row.total : 1));
  const values = timed.flatMap((row) => [row.total, ...Object.values(row.stages)]).filter((value) => value > 0);
  const dots = unit !== "share" && Math.max(...values) > longestSpan * Math.min(...values);
  const least = Math.min(...timed.map((row) => row.spread?.low || row.total));
  box.style.height = `${5.5 + 1.9 * timed.length}rem`;
  box.dataset.least = 13 * timed.length + 90;
  box.dataset.form = dots ? "dots" : "bars";
  draw(box, `Time of each stage, one ${dots ? "row of dots" : "bar"} per backend`, () => ({
    type: dots ? "line" : "bar",
    plugins: [besideRows, { id: "rows", beforeInit: (chart) => (chart.$beside = { rows: timed, whiskers: unit !== "share", gap: dots ? 12 : 8 }) }],
    data: timesData(timed, names, of, dots),
    options: {
      indexAxis: "y",
      layout: { padding: { right: 18 + Math.max(...timed.map((row) => textWidth(row.text))) } },
      scales: { x: timesAxis(box, unit, dots, values, least), y: { stacked: !dots, offset: true, grid: { display: dots }, ticks: { autoSkip: false }, afterFit: (axis) => (axis.width = 12 + Math.max(...timed.map((row) => textWidth(row.name)))) } },
      plugins: {
        legend: { display: names.length > 1, position: "top", align: "start", labels: { boxWidth: dots ? 7 : 12, boxHeight: dots ? 7 : 12, usePointStyle: dots } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${unit === "share" ? figure(item.raw, "%") : milliseconds(item.raw)}` } },
      },
    },
  }));
}
