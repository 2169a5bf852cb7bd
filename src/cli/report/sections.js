/* Fills the page from top to bottom. */
const results = report.results;
const rows = results.rows || [];
const isCeiling = (row) => ["memcpy", "copy", "copy-kernel", "copy-shared", "multiply-add"].includes(row.backend);

/* Returns each backend once: omits a name such as "auto" if the backend that it stands for is there, too. */
function distinct(all) {
  const key = (row) => [row.op, row.resolved, row.threads, row.type, row.form].join();
  const isOwn = (row) => row.resolved === row.backend, rungs = all.filter((row) => !isCeiling(row)), own = new Set(rungs.filter(isOwn).map(key));
  return rungs.filter((row, i) => isOwn(row) || (!own.has(key(row)) && rungs.findIndex((other) => key(other) === key(row)) === i));
}

function cells(row, values) {
  for (const value of values) row.append(value instanceof Node && value.tagName?.match(/^T[HD]$/) ? value : element("td", {}, value));
  return row;
}
function head(titles) {
  return element("thead", {}, cells(element("tr"), titles.map((title) => element("th", { scope: "col" }, title))));
}
const chip = (good, text) => element("span", { className: `chip ${good === null ? "plain" : good ? "good" : "bad"}` }, text);


/* Fills a table. If it is wider than its box, a hint says how many columns are hidden. */
function fillTable(table, titles, body) {
  const box = table.parentElement, hint = box.nextElementSibling;
  const look = () => {
    const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more", hidden > 4);
    const edge = box.getBoundingClientRect().right, beyond = [...table.tHead.rows[0].cells].filter((cell) => cell.getBoundingClientRect().right > edge + 4).length;
    hint.textContent = hidden > 4 ? `${beyond} more column${beyond === 1 ? "" : "s"}: scroll the table sideways →` : "";
  };
  table.className = titles.length >= 10 ? "dense" : "";
  table.replaceChildren(head(titles), body);
  if (!box.dataset.watched) {
    box.dataset.watched = "yes";
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
  }
  look();
}

function rungHead(row, withThreads) {
  const also = row.resolved && row.resolved !== row.backend ? element("span", { className: "also" }, ` = ${row.resolved}`) : null;
  return element("th", { scope: "row" }, withThreads ? rungName(row) : row.backend, also);
}

function showAbsent(absent) {
  const box = byId("absent");
  box.hidden = absent.length === 0;
  box.firstElementChild.textContent = `${absent.length} ${absent.length === 1 ? "backend was" : "backends were"} not run here`;
  const reasons = new Map();
  for (const row of absent) reasons.set(row.reason, [...(reasons.get(row.reason) || []), row.backend]);
  box.lastElementChild.replaceChildren(...[...reasons].flatMap(([reason, names]) =>
    [element("dt", {}, [...new Set(names)].join(", ")), element("dd", {}, reason || "")]));
}

/* ---- bench ---- */
const caseName = (row) => `${row.op} ${row.height > 1 ? `${row.width} × ${row.height}${row.channels > 0 ? ` × ${row.channels}` : ""}` : whole(row.width)}${row.op === "reduce" && row.type ? ` ${row.type}` : ""}`;

const isRepeated = (row) => (row.times_ms?.length ?? row.runs) > 1;
const spreadCell = (row, median) => element("td", { className: row.noisy ? "noisy" : "" }, isRepeated(row) && known(row.stddev_ms) && median > 0 ? deviation(row.stddev_ms / median) : "–");

function benchTable(shown) {
  const body = element("tbody");
  const device = shown.some((row) => known(row.kernel_ms));
  const first = shown.some((row) => known(row.first_ms));
  /* A device's columns replace two other columns. */
  const titles = ["backend", ...(device ? [] : ["threads"]), "median time", ...(device ? [] : ["shortest time"]), "spread", "Mpixel/s", "GB/s", "share of its ceiling", "times as fast as plain C"];
  if (first) titles.push("time of the first run");
  if (device) titles.push("upload time", "download time", "time end to end");
  for (const row of shown.filter((each) => known(each.median_ms))) {
    const line = element("tr", { className: isCeiling(row) ? "ceiling" : "" });
    const rate = row.backend === "multiply-add" ? `${figure(row.gflop_per_s)} GFLOP/s` : figure(row.gb_per_s);
    const values = [rungHead(row, device), ...(device ? [] : [row.threads]), milliseconds(row.median_ms), ...(device ? [] : [milliseconds(row.min_ms)]), spreadCell(row, row.median_ms),
      figure(row.mpix_per_s), rate, percent(row.roof_share), known(row.speedup) && !isCeiling(row) ? figure(row.speedup) : "–"];
    if (first) values.push(milliseconds(row.first_ms));
    if (device) values.push(milliseconds(row.upload_ms), milliseconds(row.download_ms), milliseconds(row.end_to_end_ms));
    body.append(cells(line, values));
  }
  fillTable(byId("rungs-table"), titles, body);
  showAbsent(shown.filter((row) => row.reason));
}

/* The notes at the head of each backend's file, as `lapedge explain` prints them. */
function showNotes(shown) {
  const list = byId("explained").querySelector("dl"), named = [...new Set(distinct(shown).map((row) => `${row.op} ${row.resolved}`))];
  const noted = named.filter((name) => report.notes && report.notes[name]);
  list.replaceChildren(...noted.flatMap((name) => [element("dt", {}, name.split(" ")[1]), element("dd", {}, report.notes[name])]));
  byId("explained").hidden = noted.length === 0;
}

/* Returns one row for each measurement, since "auto", "simd" and "simd-avx2" may show the same measurement. */
const measured = (some) => [...new Map(some.filter((row) => known(row.median_ms ?? row.ms)).map((row) =>
  [[row.op, row.resolved, row.threads, row.width, row.height, row.channels, row.type, row.form, row.median_ms ?? row.ms, row.stddev_ms].join(), row])).values()];

/* Writes one sentence about all marked measurements; `because` is the reason for the mark. */
function showNoise(some, because) {
  const all = measured(some), marked = all.filter((row) => row.noisy).length;
  byId("noise").textContent = marked ? `${marked} of ${all.length} measurements are noisy (marked ~): ${because}, since the machine was busy, or clocks changed. More runs (--runs) on a quiet machine give steadier times.` : "";
}
const SPREAD = "their times vary by more than 10 % of the median", FIRST = "or their first run took more than 1.3 times as long";

function startBench() {
  const groups = new Map();
  for (const row of rows) groups.set(caseName(row), [...(groups.get(caseName(row)) || []), row]);
  let unit = "ms";
  const show = (name) => {
    const shown = groups.get(name);
    benchTable(shown);
    drawTimes(distinct(shown), unit);
    showNotes(shown);
    drawRoofline(shown);
  };
  let name = [...groups.keys()][0];
  byId("rungs").hidden = false;
  byId("rungs-title").textContent = "Every backend and its ceiling";
  if (groups.size > 1)
    choice(byId("cases"), "case", "Measured", [...groups.keys()].map((key) => [key, key]), name, (key) => show((name = key)));
  choice(byId("units"), "unit", "Unit", [["ms", "Milliseconds"], ["share", "Share of its own time"]], unit, (key) => {
    unit = key;
    drawTimes(distinct(groups.get(name)), unit);
  });
  byId("times-note").textContent = "Medians, with the standard deviation beside them and a line from the least time to the largest. One row per backend, with the number of its threads; convert is the conversion of bytes to floats and back.";
  show(name);
  const noisy = measured(rows).filter((row) => row.noisy).length;
  showNoise(rows, `${SPREAD}, ${FIRST}`);
  const timed = distinct(groups.get(name)).filter((row) => known(row.median_ms));
  const best = timed.reduce((a, b) => (b.median_ms < a.median_ms ? b : a), timed[0]);
  if (!best) return;
  verdict(noisy ? null : true, noisy ? `${noisy} noisy measurement${noisy > 1 ? "s" : ""}: the machine was busy` : "a quiet run");
  tile(rungName(best), `is the fastest of ${timed.length}: ${milliseconds(best.median_ms)}`);
  if (known(best.speedup)) tile(`${figure(best.speedup)} ×`, "as fast as plain C on one thread");
  if (known(best.roof_share)) tile(`${figure(100 * best.roof_share)} %`, "of what a copy of memory reaches");
  tile(`${figure(best.mpix_per_s)} Mpixel/s`, name);
}

/* ---- compare ---- */
function whereFirst(row, a = "in c", b = "here") {
  const first = row.first_difference;
  if (!first) return row.detail || "–";
  return `x ${first.x}, y ${first.y}, channel ${first.channel}: ${first.a} ${a}, ${first.b} ${b}${first.at_border ? ", in the border" : ""}`;
}

function startCompare() {
  const body = element("tbody"), ran = rows.filter((row) => !row.reason), several = new Set(rows.map((row) => row.op)).size > 1;
  const differs = ran.some((row) => row.identical === false), device = ran.some((row) => known(row.kernel_ms)), repeated = ran.some((row) => row.runs > 1);
  const titles = ["backend", ...(several ? ["ladder"] : []), "result", "largest difference, levels", ...(differs ? ["RMSE, levels", "PSNR, dB"] : []), "differing pixels", ...(differs ? ["first difference"] : []), "time",
    ...(repeated ? ["spread", "runs"] : []), ...(device ? ["upload time", "kernel time", "download time"] : [])];
  for (const row of ran) {
    const psnr = known(row.psnr) ? figure(row.psnr, "dB") : "–";
    body.append(cells(element("tr"), [rungHead(row), ...(several ? [row.op] : []), element("td", {}, row.identical ? chip(true, "identical") : chip(false, "differs")), whole(row.max_abs),
      ...(differs ? [figure(row.rmse), psnr] : []), whole(row.differing_pixels), ...(differs ? [element("td", { className: "long" }, whereFirst(row))] : []), milliseconds(row.ms),
      ...(repeated ? [spreadCell(row, row.ms), row.runs] : []), ...(device ? [row.upload_ms, row.kernel_ms, row.download_ms].map(milliseconds) : [])]));
  }
  byId("rungs").hidden = false;
  byId("rungs-title").textContent = "Every backend compared with plain C";
  fillTable(byId("rungs-table"), titles, body);
  showNoise(ran, SPREAD);
  showAbsent(rows.filter((row) => row.reason));
  let unit = "ms";
  const times = () => drawTimes(distinct(ran.filter((row) => row.op === ran[0].op)), unit);
  choice(byId("units"), "unit", "Unit", [["ms", "Milliseconds"], ["share", "Share of its own time"]], unit, (key) => {
    unit = key;
    times();
  });
  if (ran.length) times();
  byId("times-note").textContent = `${ran.some((row) => row.runs > 1) ? "Medians of a few runs of each backend" : "A single run of each backend"}${results.files > 1 ? ", added up over all files" : ""}; for reliable timings, use lapedge bench.`;
  const wrong = ran.filter((row) => !row.identical).length;
  verdict(wrong === 0, wrong ? `${wrong} of ${ran.length} backends differ from plain C` : `all ${ran.length} backends gave the same result, to the last bit`);
  tile(ran.length, "backends compared");
  tile(wrong, "of them differ");
  tile(whole(Math.max(0, ...ran.map((row) => row.max_abs ?? 0))), "levels: largest difference");
  tile(milliseconds(results.decode_ms), `to decode ${results.files === 1 ? "it" : `${results.files} files`}`);
  if (rows.length > ran.length) tile(rows.length - ran.length, "not run here");
}

/* For a folder, shows one row per photo. */
function showPhotos() {
  if (!results.photos) return;
  byId("photos").hidden = false;
  const body = element("tbody"), start = results.input.replace(/\/*$/, "/");
  const nameOf = (path) => (path.startsWith(start) ? path.slice(start.length) : path);
  if (pictures) {
    byId("pictures-title").textContent += ` of ${nameOf(pictures.input)}`;
    byId("statistics-title").textContent += ` of ${nameOf(pictures.input)}`;
  }
  for (const photo of results.photos) {
    const name = element("th", { scope: "row", className: "long" }, nameOf(photo.input));
    const size = known(photo.width) ? `${photo.width}\u00a0×\u00a0${photo.height}` : "–";
    const result = photo.error ? chip(false, "failed") : photo.identical ? chip(true, "identical") : chip(false, "differs");
    const what = photo.error ?? (photo.worst ? `${photo.worst} differs most` : "");
    body.append(cells(element("tr"), [name, size, element("td", {}, result), whole(photo.max_abs), whole(photo.differing_pixels), milliseconds(photo.decode_ms), milliseconds(photo.c_ms),
      element("td", { className: "name" }, photo.fastest ? `${milliseconds(photo.fastest_ms)}, ${photo.fastest}` : "–"), element("td", { className: "long" }, what)]));
  }
  const says = results.photos.some((photo) => photo.error || photo.worst);
  if (!says) for (const row of body.rows) row.lastElementChild.remove();
  fillTable(byId("photos-table"), ["photo", "width × height, pixels", "result", "largest difference, levels", "differing pixels", "time to decode", "time of plain C", "time of the fastest", ...(says ? ["remark"] : [])], body);
}

/* ---- diff: two images, in figures ---- */
function startDiff() {
  const { width, height } = results, share = results.differing_pixels / (width * height);
  const figures = [["largest difference", whole(results.max_abs)], ["mean difference", figure(results.mean_abs)], ["RMSE", figure(results.rmse)],
    ["PSNR", known(results.psnr) ? figure(results.psnr, "dB") : "–"], ["SSIM", known(results.ssim) ? results.ssim.toFixed(6) : "–"],
    ["differing pixels", `${whole(results.differing_pixels)}, ${percent(share)}`], ["first difference", results.first_difference ? whereFirst(results, "in A", "in B") : "–"]];
  byId("rungs").hidden = false;
  byId("rungs-title").textContent = "How far B differs from A";
  fillTable(byId("rungs-table"), ["figure", "value (differences in levels, 0 to 255)"], element("tbody", {}, ...figures.map(([name, value]) => cells(element("tr"), [element("th", { scope: "row" }, name), element("td", { className: "long" }, value)]))));
  const limits = Object.entries(results.tolerance).filter(([, value]) => known(value) && value !== 0).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  verdict(results.equal, results.identical ? "identical" : results.equal ? `equal within the tolerance: ${limits.join(", ")}` : "different");
  tile(whole(results.max_abs), "levels: largest difference");
  tile(percent(share), "of the pixels differ");
  tile(known(results.psnr) ? figure(results.psnr, "dB") : "–", "PSNR");
  tile(known(results.ssim) ? results.ssim.toFixed(4) : "–", "SSIM");
}

/* ---- run: one photo, and what its time went into ---- */
function startRun() {
  const stages = Object.entries(results.ms).filter(([name, ms]) => name !== "total" && ms > 0);
  drawTimes(stages.map(([name, ms]) => ({ backend: name, stages: { time: ms } })), "ms");
  byId("times-note").textContent = "Busy times, added up over all threads: together they can be more than the time that passed.";
  verdict(results.status === "ok" ? true : null, results.status === "ok" ? "done" : results.status);
  tile(milliseconds(results.ms.total), "from file to file");
  tile(results.resolved ?? results.backend, "did it");
  tile(`${figure(results.bytes_in / 1000)}\u00a0kB`, "read");
  tile(`${figure(results.bytes_out / 1000)}\u00a0kB`, "written");
}

/* ---- statistics ---- */
function startStatistics(statistics, isMain) {
  if (!statistics?.input?.channels) return;
  byId("statistics").hidden = false;
  const above = statistics.input.channels.some((c) => known(c.above));
  const body = element("tbody"), images = [[imageNames[0], statistics.input], [imageNames[1], statistics.edges]];
  for (const [name, image] of images)
    for (const c of image.channels)
      body.append(cells(element("tr"), [element("th", { scope: "row" }, `${name}, ${c.name}`), c.min, c.max, figure(c.mean), figure(c.stddev), figure(c.entropy), c.p1, c.p50, c.p99, ...(above ? [`${figure(100 * c.above)} %`] : [])]));
  fillTable(byId("statistics-table"), ["channel", "min, level", "max, level", "mean, level", "deviation, levels", "entropy, bits", "1 % are at most, level", "median, level", "99 % are at most, level", ...(above ? [`share ≥ ${statistics.threshold}`] : [])], body);
  const boxes = images.map(([name]) => element("div", { className: "chart small", id: `histogram-${name.toLowerCase()}` }));
  byId("histograms").append(...boxes);
  const show = (scale) => images.forEach(([name, image], i) => drawHistogram(boxes[i], name, image, scale));
  choice(byId("heights"), "heights", "Counts", [["linear", "Linear"], ["logarithmic", "Logarithmic"]], "logarithmic", show);
  show("logarithmic");
  if (statistics.profiles) {
    byId("profiles").hidden = false;
    const parts = [["rows", "Rows, top to bottom", "y"], ["columns", "Columns, left to right", "x"]];
    for (const [key, title, axis] of parts) {
      const box = element("div", { className: "chart small", id: `profile-${key}` });
      byId("profile-charts").append(box);
      drawProfile(box, title, axis, statistics.profiles[key]);
    }
  }
  if (!isMain) return;
  const mean = (image) => image.channels.reduce((sum, c) => sum + c.mean, 0) / image.channels.length;
  tile(figure(mean(statistics.input)), "mean of the photo");
  tile(figure(mean(statistics.edges)), "mean of its edges");
  tile(figure(Math.max(...statistics.input.channels.map((c) => c.entropy)), "bit"), "highest entropy of a channel");
}

/* ---- head and foot ---- */
function tile(figureText, meaning) {
  byId("tiles").append(element("li", {}, element("b", {}, String(figureText)), element("span", {}, meaning)));
}
function verdict(good, text) {
  byId("verdict").className = good === null ? "plain" : good ? "good" : "bad";
  byId("verdict").textContent = text;
}
function showFacts() {
  const put = (list, name, value) => value !== null && value !== undefined && list.append(element("dt", {}, name), element("dd", {}, value));
  for (const [name, value] of report.machine) put(byId("machine"), name, value);
  for (const [name, value] of report.settings) {
    const parts = (className, all) => element("span", { className }, ...all.flatMap((part) => [element("span", {}, String(part)), " "]));
    put(byId("settings"), name, Array.isArray(value) ? parts("matrix", value) : name === "Command" ? parts("command", value.split(" ")) : String(value));
  }
  byId("command").textContent = report.command;
  byId("subject").textContent = report.subject;
  byId("raw").addEventListener("toggle", () => (byId("raw").lastElementChild.textContent = JSON.stringify(results, null, 1)), { once: true });
  byId("licence").hidden = typeof Chart === "undefined";
  byId("made").textContent = `Made by lapedge ${report.version} on ${report.date}. This page is self-contained and needs no network.`;
}

showFacts();
if (results.photos) tile(results.photos.length, `photo${results.photos.length === 1 ? "" : "s"}`);
else if (pictures) tile(`${pictures.width}\u00a0×\u00a0${pictures.height}`, `pixels, ${pictures.channels} channel${pictures.channels > 1 ? "s" : ""}`);
if (report.folder) startFolder(report.folder);
else if (report.command === "diff") startDiff();
else if (report.command === "run") startRun();
if (report.command === "bench") startBench();
if (report.command === "compare") {
  startCompare();
  showPhotos();
}
startStatistics(report.statistics, report.command === "stats");
startViewer();
