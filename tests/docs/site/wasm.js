// wasm.js MODULE CASES: runs the playground's module on each case of a JSON list and prints what it gives, one
// line of base64 per case: {width, height, pixels (base64, RGB), backend, kernel, border, range}. A border is a
// number of lapedge.h. Cases of another kind: {look: [x, y, channel]} after a run prints the 77 floats.
"use strict";
const fs = require("fs");
const load = require(fs.realpathSync(process.argv[2]));

load().then((wasm) => {
  const call = (name, result, types) => wasm.cwrap("lap_play_" + name, result, types);
  const name = call("backend", "string", ["number"]), error = call("error", "string", []);
  const backends = [];
  for (let i = 0; name(i); i++) backends.push(name(i));
  console.log(JSON.stringify(backends));
  for (const c of JSON.parse(fs.readFileSync(process.argv[3], "utf8"))) {
    const pixels = Buffer.from(c.pixels, "base64"), n = c.width * c.height;
    const at = call("photo", "number", ["number", "number"])(c.width, c.height);
    for (let i = 0; i < n; i++) wasm.HEAPU8.set([pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2], 7], at + 4 * i);
    call("take", null, [])();
    if (call("set", "number", ["string", "number", "number"])(c.kernel, c.border, c.range)) {
      console.log(JSON.stringify({ error: error() }));
      continue;
    }
    if (call("run", "number", ["number"])(backends.indexOf(c.backend))) throw new Error(error());
    const windows = (c.look || []).map((w) => {
      const from = call("look", "number", ["number", "number", "number"])(...w) / 4;
      return Array.from(wasm.HEAPF32.subarray(from, from + 77));
    });
    call("give", null, [])();
    const edges = Buffer.alloc(3 * n);
    for (let i = 0; i < n; i++) edges.set(wasm.HEAPU8.subarray(at + 4 * i, at + 4 * i + 3), 3 * i);
    console.log(JSON.stringify({ edges: edges.toString("base64"), windows }));
  }
});
