/* ---- run, transform and diff of folders ---- */
const counted = (number, one, many) => `${whole(number)}\u00a0${number === 1 ? one : many}`;

/* Makes a figure of the contact sheet: its pictures side by side, their captions, and the file name. */
function sheetItem(item, names) {
  const shown = item.pictures.map((uri, i) =>
    uri ? element("img", { src: uri, alt: `${names[i]}: ${item.name}`, title: names[i] }) : element("span", { className: "missing" }, `no picture: ${names[i]}`));
  const size = known(item.width) ? `${item.width}\u00a0×\u00a0${item.height}` : "";
  const says = [size, report.command === "diff" ? item.what : known(item.ms) && item.ms > 0 ? milliseconds(item.ms) : ""].filter(Boolean).join(", ");
  return element("figure", {}, element("div", {}, ...shown), element("figcaption", {}, element("b", {}, item.name), element("span", {}, says)));
}

function showSheet(folder, names) {
  byId("sheet").hidden = folder.sheet.length === 0;
  byId("sheet-grid").append(...folder.sheet.map((item) => sheetItem(item, names)));
  const isDiff = report.command === "diff", all = counted(folder.shown_of, isDiff ? "pair that differs" : "photo", isDiff ? "pairs that differ" : "photos");
  const which = folder.shown_of === folder.sheet.length ? `All ${all}` : `${folder.sheet.length} of ${all}`;
  const order = isDiff ? ", the largest differences first" : folder.shown_of > folder.sheet.length ? ", chosen at random" : "";
  byId("sheet-note").textContent = `${which}${order}. From left to right: ${names.join(", ")}${isDiff ? ", four times as bright" : ""}.`;
  byId("sheet-grid").className = isDiff ? "diff" : "";
}

function showSlowest(folder) {
  byId("slowest").hidden = folder.slowest.length === 0;
  const body = element("tbody");
  for (const row of folder.slowest)
    body.append(cells(element("tr"), [element("th", { scope: "row", className: "long" }, row.name), `${row.width}\u00a0×\u00a0${row.height}`, milliseconds(row.ms),
      figure(row.width * row.height / 1000 / row.ms), row.what || "–"]));
  fillTable(byId("slowest-table"), ["photo", "width × height, pixels", "time, all stages", "Mpixel/s", "backend"], body);
}

function showFailed(folder) {
  byId("failed").hidden = folder.failed.length === 0;
  byId("failed-title").textContent = report.command === "diff" ? "Not equal" : "Failed, or left alone";
  const body = element("tbody");
  for (const row of folder.failed)
    body.append(cells(element("tr"), [element("th", { scope: "row", className: "long" }, row.name), element("td", {}, chip(false, row.what.replaceAll("_", " "))),
      element("td", { className: "long" }, row.message || "–")]));
  fillTable(byId("failed-table"), [report.command === "diff" ? "image" : "photo", "kind of error", "reason"], body);
  byId("failed-note").textContent = folder.more_failed ? `and ${whole(folder.more_failed)} more; --log or --json lists all of them.` : "";
}

function folderVerdict() {
  if (report.command === "diff") {
    const { outcomes } = results;
    verdict(results.equal, results.equal ? "equal" : results.error ? "stopped early" : "not equal");
    for (const [name, text] of [["identical", "identical"], ["equal", "equal within the tolerance"], ["different", "different"], ["only_a", "only in A"], ["only_b", "only in B"], ["failed", "could not be compared"]])
      if (outcomes[name]) tile(whole(outcomes[name]), text);
    return;
  }
  const done = results.ok + results.warned, seconds = results.ms / 1000;
  verdict(results.error || results.failed ? false : results.kinds.exists ? null : true,
    results.error ? `stopped early: ${results.error.message}` : results.failed ? `${results.failed} of ${results.found} failed` : results.kinds.exists ? `${results.kinds.exists} left alone` : "all done");
  tile(whole(done), results.warned ? `done, ${results.warned} with warnings` : "done");
  if (results.kinds.up_to_date) tile(whole(results.kinds.up_to_date), "up to date");
  if (results.failed) tile(whole(results.failed), "failed");
  if (results.expected > results.found) tile(whole(results.expected - results.found), "left to do");
  tile(seconds < 1 ? milliseconds(results.ms) : figure(seconds, "s"), "in all");
  if (done) tile(`${figure(results.pixels / 1e6 / seconds)}\u00a0Mpixel/s`, "from file to file");
}

function startFolder(folder) {
  folderVerdict();
  showSlowest(folder);
  showFailed(folder);
  showSheet(folder, report.command === "diff" ? ["A", "B", "difference"] : report.command === "transform" ? ["before", "after"] : ["photo", "edges"]);
}
