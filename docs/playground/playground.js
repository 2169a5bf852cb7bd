/* The playground: a photo from the reader's disk, filtered by the project's own C. Nothing leaves the page: the
 * browser decodes, the module computes, two canvases show. */
"use strict";

(async () => {
  const part = (id) => document.getElementById("pg-" + id);
  const element = (tag, textContent) => Object.assign(document.createElement(tag), { textContent });
  const say = (id, text) => { part(id).textContent = text; };
  const MOST_PIXELS = 4e6; // of a larger photo a smaller copy is filtered
  const ENUMERATORS = { border: 5, range: 2, constant: 256 }; // of lapedge.h: how many have names, LAP_CONSTANT

  let wasm;
  try {
    wasm = await lapedgeWasm();
  } catch (problem) {
    say("status", "This browser cannot run the playground: it needs WebAssembly with vectors. " + problem.message);
    return;
  }
  const call = (name, result, ...types) => wasm.cwrap(name, result, types);
  const lap = {
    backend: call("lap_play_backend", "string", "number"), what: call("lap_play_what", "string", "number"),
    error: call("lap_play_error", "string"), photo: call("lap_play_photo", "number", "number", "number"),
    take: call("lap_play_take", null), give: call("lap_play_give", null),
    set: call("lap_play_set", "number", "string", "number", "number"), run: call("lap_play_run", "number", "number"),
    tolerance: call("lap_play_tolerance", "number"),
    look: call("lap_play_look", "number", "number", "number", "number"),
    border: call("lap_border_name", "string", "number"), range: call("lap_range_name", "string", "number"),
    preset: call("lap_kernel_preset", "string", "number"),
  };
  const photo = { width: 0, height: 0, at: 0, x: 0, y: 0, isHeld: false };

  /* ---- settings ---- */

  function fill(id, name, more = []) {
    const names = [];
    for (let i = 0; name(i); i++) names.push([i, name(i)]);
    part(id).replaceChildren(...names.concat(more).map(([value, text]) => new Option(text, value)));
    return names.map(([, text]) => text);
  }
  const backends = fill("backend", lap.backend);
  const kernels = fill("kernel", lap.preset, [["own", "your own"]]);
  fill("border", (i) => (i < ENUMERATORS.border ? lap.border(i) : null), [["constant", "constant:V"]]);
  fill("range", (i) => (i < ENUMERATORS.range ? lap.range(i) : null));
  part("backend").value = backends.length - 1;

  function settings() {
    const kernel = part("kernel").value, border = part("border").value;
    return {
      kernel: kernel === "own" ? part("own").value : kernels[kernel],
      border: border === "constant" ? ENUMERATORS.constant + Number(part("value").value) : Number(border),
      range: Number(part("range").value),
    };
  }

  /* Settings into the module; false, and the program's own words, where they are refused. */
  function set() {
    const { kernel, border, range } = settings();
    const code = lap.set(kernel, border, range);
    say("problem", code ? lap.error() : "");
    return code === 0;
  }

  /* ---- pictures ---- */

  function pixels() { // the module's memory may have moved
    return new Uint8ClampedArray(wasm.HEAPU8.buffer, photo.at, 4 * photo.width * photo.height);
  }

  function show() {
    lap.give();
    const picture = new ImageData(pixels().slice(), photo.width, photo.height);
    part("out").getContext("2d").putImageData(picture, 0, 0);
  }

  const milliseconds = (ms) => (ms < 10 ? ms.toFixed(2) : ms.toFixed(1)) + " ms";

  function filter() {
    part("value-label").hidden = part("border").value !== "constant";
    part("own-label").hidden = part("kernel").value !== "own";
    if (!photo.at || !set()) return;
    const from = performance.now();
    const code = lap.run(Number(part("backend").value));
    const ms = performance.now() - from;
    if (code) return say("problem", lap.error());
    say("time", `by ${backends[part("backend").value]} in ${milliseconds(ms)}`);
    part("times").tBodies[0].replaceChildren();
    show();
    look();
  }

  async function open(source, name) {
    let picture;
    try {
      picture = await createImageBitmap(source);
    } catch {
      return say("status", `${name} is no picture that this browser can decode.`);
    }
    const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (picture.width * picture.height)));
    photo.width = Math.max(1, Math.floor(picture.width * scale));
    photo.height = Math.max(1, Math.floor(picture.height * scale));
    for (const id of ["in", "out"]) Object.assign(part(id), { width: photo.width, height: photo.height });
    const context = part("in").getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0, photo.width, photo.height);
    photo.at = lap.photo(photo.width, photo.height);
    if (!photo.at) return say("status", `${name}: out of memory.`);
    pixels().set(context.getImageData(0, 0, photo.width, photo.height).data);
    lap.take();
    Object.assign(photo, { x: photo.width >> 1, y: photo.height >> 1, isHeld: false });
    const size = `${photo.width} x ${photo.height} pixels`;
    const full = `${picture.width} x ${picture.height}`;
    say("status", scale < 1 ? `${name}, ${full}: made smaller, to ${size}.` : `${name}, ${size}.`);
    filter();
  }

  /* ---- the 25 products ---- */

  const number = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(5)).replace("-", "\u2212");
  const luminance = (rgb) => rgb.reduce((sum, v, c) => sum + [0.2126, 0.7152, 0.0722][c] * (v / 255) ** 2.2, 0);
  const cells = [];
  for (let y = 0; y < 5; y++) {
    const row = part("products").tBodies[0].insertRow();
    for (let x = 0; x < 5; x++) cells.push(row.insertCell());
  }

  function look() {
    const channel = Number(document.querySelector("[name=pg-channel]:checked").value);
    const at = lap.look(photo.x, photo.y, channel) / 4;
    if (!at) return;
    const floats = [...wasm.HEAPF32.subarray(at, at + 77)];
    const [sum, result] = floats.slice(75);
    cells.forEach((cell, i) => {
      const x = photo.x + (i % 5) - 2, y = photo.y + Math.floor(i / 5) - 2;
      const [p, h, product] = [floats[i], floats[25 + i], floats[50 + i]];
      const level = [0, 1, 2].map((c) => (c === channel ? p : p * 0.75));
      cell.style.background = `rgb(${level})`;
      cell.style.color = luminance(level) > 0.179 ? "#000" : "#fff"; // whichever has more contrast
      cell.className = x < 0 || y < 0 || x >= photo.width || y >= photo.height ? "is-beyond" : "";
      cell.title = cell.className ? `x ${x}, y ${y}: beyond the edge, by the border rule` : `x ${x}, y ${y}`;
      cell.replaceChildren(`${p} \u00d7 ${number(h)}`, element("b", number(product)));
    });
    const { border, range } = settings();
    say("place", `x ${photo.x}, y ${photo.y}: sample \u00d7 coefficient, and their product` +
      (cells.some((cell) => cell.className) ? `; dashed: beyond the edge, border ${lap.border(border)}` : ""));
    const ranged = lap.range(range) === "abs" ? `, absolute value ${number(Math.abs(sum))}` : "";
    say("sum", `Sum ${number(sum)}${ranged}; in 0 to 255 and rounded: ${result}`);
    mark();
  }

  function mark() {
    for (const id of ["in", "out"]) {
      const canvas = part(id), span = canvas.nextElementSibling, scale = canvas.clientWidth / photo.width;
      Object.assign(span.style, {
        left: `${(photo.x + 0.5) * scale}px`, top: `${(photo.y + 0.5) * scale}px`,
        width: `${Math.max(5 * scale, 12)}px`, height: `${Math.max(5 * scale, 12)}px`,
      });
    }
  }

  function go(x, y) {
    photo.x = Math.min(photo.width - 1, Math.max(0, x));
    photo.y = Math.min(photo.height - 1, Math.max(0, y));
    look();
  }

  function point(event) {
    const scale = photo.width / event.target.clientWidth;
    go(Math.floor(event.offsetX * scale), Math.floor(event.offsetY * scale));
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  for (const id of ["in", "out"]) {
    part(id).addEventListener("pointermove", (event) => photo.isHeld || point(event));
    part(id).addEventListener("click", (event) => {
      photo.isHeld = !photo.isHeld;
      point(event);
    });
    part(id).addEventListener("keydown", (event) => {
      const step = ARROWS[event.key], length = event.shiftKey ? 10 : 1;
      if (!step) return;
      event.preventDefault();
      photo.isHeld = true;
      go(photo.x + step[0] * length, photo.y + step[1] * length);
    });
  }
  for (const radio of document.getElementsByName("pg-channel")) radio.addEventListener("change", look);
  new ResizeObserver(mark).observe(part("in"));

  /* ---- times ---- */

  const later = () => new Promise((resolve) => { setTimeout(resolve); });

  /* The median of five spans of at least 20 ms each, after a run that warms up: clocks of browsers are coarse. */
  async function time(backend) {
    const spans = [];
    lap.run(backend);
    for (let i = 0; i < 5; i++) {
      await later(); // the page stays alive
      let runs = 0, ms = 0;
      for (const from = performance.now(); ms < 20; ms = performance.now() - from) {
        lap.run(backend);
        runs++;
      }
      spans.push(ms / runs);
    }
    return spans.sort((a, b) => a - b)[2];
  }

  async function timeAll() {
    if (!photo.at || !set()) return;
    const controls = [...part("form").elements, part("clock")];
    const rows = part("times").tBodies[0];
    const most = lap.tolerance();
    let first, reference;
    rows.replaceChildren();
    for (const control of controls) control.disabled = true;
    for (const [i, name] of backends.entries()) {
      const ms = await time(i);
      lap.give();
      const edges = pixels().slice();
      first ??= ms;
      reference ??= edges;
      const apart = edges.reduce((worst, value, k) => Math.max(worst, Math.abs(value - reference[k])), 0);
      const row = rows.insertRow();
      const words = [name, lap.what(i), ms.toFixed(2), (ms * 1e6 / (photo.width * photo.height)).toFixed(2),
        (first / ms).toFixed(1), apart === 0 ? "the same" : `${apart} apart` + (apart <= most ? ", as allowed" : "")];
      for (const word of words) row.insertCell().textContent = word;
      row.cells[0].replaceChildren(element("code", name));
    }
    for (const control of controls) control.disabled = false;
    lap.run(Number(part("backend").value));
    show();
  }

  /* ---- what the reader does ---- */

  const sample = async () => open(await (await fetch(lapedgeSample)).blob(), "samples/chelsea.jpg");
  part("form").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["backend", "kernel", "border", "range", "value", "own"]) part(id).addEventListener("input", filter);
  part("sample").addEventListener("click", sample);
  part("clock").addEventListener("click", timeAll);
  part("file").addEventListener("change", () => {
    const [file] = part("file").files;
    if (file) open(file, file.name);
  });
  const drop = part("drop");
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("is-over", kind === "dragover");
      const [file] = (kind === "drop" && event.dataTransfer.files) || [];
      if (file) open(file, file.name);
    });
  }
  await sample();
})();
