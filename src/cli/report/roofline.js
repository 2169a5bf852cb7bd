/* The roofline: the limits that memory and arithmetic of this machine set, and the speed of each rung below them. */

/* Moves labels, which are sorted by y, so that they are at least `step` apart. Overlapping labels share the shift. */
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

/* Draws the names beside the chart, where there are no lines. Each is joined to its point, and no two overlap. */
const nameStep = 15;
const pointNames = {
  id: "pointNames",
  afterDatasetsDraw(chart) {
    const context = chart.ctx, points = [], left = chart.chartArea.right + 18;
    chart.data.datasets.forEach((set, index) => set.names && chart.getDatasetMeta(index).data.forEach((point, i) => set.names[i] && points.push({ x: point.x, y: point.y, text: set.names[i] })));
    apart(points.sort((a, b) => a.y - b.y), nameStep, nameStep / 2, chart.chartArea.bottom - nameStep / 2);
    context.save();
    context.font = chartFont();
    context.textBaseline = "middle";
    context.fillStyle = colour("ink");
    context.strokeStyle = colour("soft");
    context.lineWidth = 0.6;
    for (const point of points) {
      context.beginPath();
      context.moveTo(point.x + 5, point.y);
      context.lineTo(chart.chartArea.right + 4, point.at);
      context.lineTo(left - 3, point.at);
      context.stroke();
      context.fillText(point.text, left, point.at);
    }
    context.restore();
    chart.$names = points.map((point) => ({ text: point.text, left, right: left + context.measureText(point.text).width, top: point.at - nameStep / 2, bottom: point.at + nameStep / 2 }));
  },
};

function roofsOf(rows) {
  const roofs = [];
  for (const row of rows) {
    const many = row.threads > 1 ? ` ×${row.threads}` : "";
    if (row.backend === "memcpy" || row.backend === "copy")
      roofs.push({ memory: row.gb_per_s, device: row.backend === "copy", threads: row.threads, label: `${row.backend}${many}: ${figure(row.gb_per_s, "GB/s")}` });
    if (row.backend === "multiply-add")
      roofs.push({ compute: row.gflop_per_s, threads: row.threads, label: `multiply-add${many}: ${figure(row.gflop_per_s, "GFLOP/s")}` });
  }
  return roofs;
}

/* Operations per value of backends that compute laplace5 as 25 p - box, with fewer operations than the textbook's 49.
 * A box from sums of rows takes 4 + 4 additions, or 4 + 2 if it slides; 25 p and the difference are two more. */
const TEXTBOOK = 49;
const FEWER = { "sse-box": 10, "sse-slide": 8, "simd-sse41": 8, "simd-avx2": 8, "simd-avx512": 8, "cuda-box-sum": 10, "cuda-slide": 8,
  "cuda-pairs": 8, "cuda-shuffle": 8, "cuda-fast": 8 };
function shareDone(row) {
  const laplace5 = report.filter?.h.every((value, i) => value === (i === 12 ? 24 : -1));
  return row.op === "filter" && laplace5 ? (FEWER[row.resolved] ?? TEXTBOOK) / TEXTBOOK : 1;
}

function drawRoofline(rows) {
  const points = distinct(rows).filter((row) => known(row.gb_per_s) && known(row.flops_per_byte) && row.flops_per_byte > 0);
  const roofs = roofsOf(rows);
  byId("roofline").hidden = points.length === 0;
  if (!points.length) return;
  const intensities = points.map((row) => row.flops_per_byte * shareDone(row)), rates = points.map((row, i) => row.gb_per_s * intensities[i]);
  const host = roofs.filter((roof) => !roof.device), compute = host.filter((roof) => roof.compute);
  const ridge = Math.max(1, ...compute.flatMap((roof) => host.filter((m) => m.memory).map((m) => roof.compute / m.memory)));
  const low = decadeBelow(Math.min(...intensities, 1) / 3), high = decadeAbove(Math.max(...intensities, ridge) * 1.5);
  /* A memory roof ends where the compute roof for the same number of threads begins. */
  const lines = roofs.map((roof) => {
    if (roof.compute) {
      const memory = host.find((m) => m.memory && m.threads === roof.threads) ?? host.find((m) => m.memory);
      return { roof, data: [{ x: memory ? roof.compute / memory.memory : low, y: roof.compute }, { x: high, y: roof.compute }] };
    }
    const limit = roof.device ? undefined : compute.find((c) => c.threads === roof.threads);
    const end = limit ? limit.compute / roof.memory : high;
    return { roof, data: [{ x: low, y: low * roof.memory }, { x: end, y: end * roof.memory }] };
  });
  const floor = decadeBelow(Math.min(...rates) / 2);
  const top = decadeAbove(1.5 * Math.max(...rates, ...compute.map((roof) => roof.compute)));
  const names = points.map(rungName);
  const box = byId("roofline-chart"), least = names.length * nameStep + 60; /* the axis below takes the remaining height */
  box.dataset.least = least;
  box.style.height = `max(26rem, ${least}px)`;
  draw(box, "Roofline: arithmetic intensity against rate, both axes logarithmic", () => ({
    type: "scatter",
    plugins: [pointNames],
    data: {
      datasets: [
        { label: "backends", data: points.map((row, i) => ({ x: intensities[i], y: rates[i] })), names,
          backgroundColor: points.map((row) => palette(row.kernel_ms != null ? 1 : row.threads > 1 ? 2 : 0)), pointRadius: 5, pointHoverRadius: 7 },
        ...lines.map(({ roof, data }, i) => ({ label: roof.label, data, showLine: true, pointRadius: 0, pointHitRadius: 0, borderWidth: 2,
          borderColor: palette(roof.device ? 1 : roof.threads > 1 ? 2 : 0), borderDash: roof.compute ? [6, 4] : [] })),
      ],
    },
    options: {
      layout: { padding: { right: 20 + Math.max(...names.map(textWidth)) } },
      scales: {
        x: { type: "logarithmic", min: low, max: high, title: axisTitle(box, "operations done per byte moved", "operations per byte"), grid: decades, ticks: { callback: decade, maxRotation: 0 } },
        y: { type: "logarithmic", min: floor, max: top, title: axisTitle(box, "billion operations done per second", "10⁹/s"), grid: decades, ticks: { callback: decade } },
      },
      plugins: {
        legend: { display: false },
        tooltip: { filter: (item) => item.datasetIndex === 0,
          callbacks: { label: (item) => `${rungName(points[item.dataIndex])}: ${figure(item.raw.y, "billion operations/s")}, ${figure(points[item.dataIndex].gb_per_s, "GB/s")}` } },
      },
    },
  }));
  byId("roofline-legend").replaceChildren(...lines.map(({ roof }) => {
    const line = element("i", { className: roof.compute ? "dashed" : "" });
    line.style.setProperty("--line-colour", `var(--chart-${roof.device ? 1 : roof.threads > 1 ? 2 : 0})`);
    return element("li", {}, line, roof.label);
  }));
  byId("roofline-note").textContent =
    "Slanted: what memory can deliver, by a copy measured in this run. Dashed: what the vector units can multiply and add, measured too. " +
    (points.some((row) => row.op === "filter")
      ? `Operations are those that a backend does, in floats or integers: 25 multiplications and 24 additions per filtered value, or about ${FEWER["simd-avx2"]} where sums slide. A device has no dashed roof here: docs/ladder.md draws its issue slots.`
      : "");
}
