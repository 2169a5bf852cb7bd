/* The lens shows the 25 coefficients over one pixel of the photo, the products there, their sum, and each step
 * from the sum to the result, with the program's own arithmetic in float32. Only details have exact pixels. */
const samples = {
  contexts: new Map(),
  /* Returns a context with the picture's pixels. Returns null until the picture is decoded; then calls then(). */
  context(source, then) {
    if (!this.contexts.has(source)) {
      const picture = new Image();
      this.contexts.set(source, null);
      picture.onload = () => {
        const canvas = element("canvas", { width: picture.naturalWidth, height: picture.naturalHeight });
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(picture, 0, 0);
        this.contexts.set(source, context);
        then?.();
      };
      picture.src = source;
    }
    return this.contexts.get(source);
  },
  at(source, x, y, then) {
    const data = this.context(source, then)?.getImageData(x, y, 1, 1).data;
    return data ? [...data.slice(0, 3)] : null;
  },
};
const inside = (crop, x, y) => x >= crop.x && y >= crop.y && x < crop.x + crop.width && y < crop.y + crop.height;
const detailAt = (x, y) => pictures.crops.find((crop) => inside(crop, x, y));

/* Returns the index that a pixel beyond the edges is copied from, or null for a constant. */
function borderIndex(rule, at, length) {
  if (at >= 0 && at < length) return at;
  if (rule === "replicate") return at < 0 ? 0 : length - 1;
  if (rule === "wrap") return ((at % length) + length) % length;
  if (rule !== "reflect" && rule !== "reflect101") return null;
  const twice = rule === "reflect101" ? 1 : 0;
  while ((at < 0 || at >= length) && length > 1) at = at < 0 ? -at - 1 + twice : 2 * length - 1 - twice - at;
  return Math.min(length - 1, Math.max(0, at));
}

/* Returns the photo's pixel at (x, y), or the border rule's value for it; undefined if no detail contains the pixel. */
function photoAt(x, y, then) {
  const rule = report.filter.border, [from, to] = [borderIndex(rule, x, pictures.width), borderIndex(rule, y, pictures.height)];
  if (from === null || to === null) return Array(3).fill(Number(rule.split(":")[1] ?? 0)); /* zero, constant:7 */
  const crop = detailAt(from, to);
  return (crop && samples.at(crop.photo, from - crop.x, to - crop.y, then)) || undefined;
}

const toEven = (value) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/* Computes the products of one channel, their sum, and each step after the sum. */
function filterAt(values) {
  const { h, range, scale, offset, invert, threshold } = report.filter, f = Math.fround;
  const products = values.map((value, i) => f(f(h[i]) * value));
  const sum = products.reduce((total, product) => f(total + product), 0);
  const steps = [["sum of the 25 products", sum]];
  let result = f(f(f(scale) * sum) + f(offset));
  if (scale !== 1 || offset !== 0) steps.push([`× ${scale} + ${offset}`, result]);
  result = range === "abs" ? Math.min(255, toEven(Math.abs(result))) : Math.min(255, Math.max(0, toEven(result)));
  steps.push([range === "abs" ? "absolute value, at most 255" : "rounded, within 0 and 255", result]);
  if (invert) steps.push(["255 minus it", (result = 255 - result)]);
  if (threshold >= 0) steps.push([`255 where at least ${threshold}, else 0`, (result = result >= threshold ? 255 : 0)]);
  return { products, steps, result };
}

const shortNumber = (value) => (Number.isInteger(value) ? String(value).replace("-", "−") : figure(value));

function startLens(stages) {
  if (!report.filter) return { lookAt() {} };
  const { width, height } = pictures, { h } = report.filter, largest = Math.max(...h.map(Math.abs)) || 1;
  const state = { x: 0, y: 0, channel: 0 };
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  /* ---- over both pictures: orange where a coefficient is positive, blue where it is negative ---- */
  const overlays = stages.map((stage) => {
    const picture = svg("svg", { viewBox: "0 0 5 5", class: "kernel", "aria-hidden": "true" });
    h.forEach((value, i) => {
      const [x, y] = [i % 5, Math.floor(i / 5)];
      picture.append(svg("rect", { x, y, width: 1, height: 1, fill: value > 0 ? "#ff9a3c" : value < 0 ? "#3c8cff" : "#888", "fill-opacity": value ? 0.25 + (0.5 * Math.abs(value)) / largest : 0.1 }));
      const text = svg("text", { x: x + 0.5, y: y + 0.64, "text-anchor": "middle" });
      text.textContent = shortNumber(value);
      picture.append(text);
    });
    picture.append(svg("rect", { x: 0, y: 0, width: 5, height: 5, class: "frame" }));
    return picture;
  });

  /* ---- the 25 products ---- */
  const grid = byId("lens-grid"), cell = Array.from({ length: 25 }, () => element("li", {}, element("span"), element("b")));
  grid.replaceChildren(...cell);
  function show() {
    const waiting = () => show();
    byId("lens-x").value = state.x;
    byId("lens-y").value = state.y;
    for (const [i, overlay] of overlays.entries()) {
      if (overlay.parentElement !== stages[i]) stages[i].append(overlay);
      Object.assign(overlay.style, { left: `${state.x - 2}px`, top: `${state.y - 2}px` });
    }
    const pixels = h.map((_, i) => photoAt(state.x + (i % 5) - 2, state.y + Math.floor(i / 5) - 2, waiting));
    const whole = pixels.every(Boolean), crop = detailAt(state.x, state.y);
    const { products, steps, result } = whole ? filterAt(pixels.map((pixel) => pixel[state.channel])) : {};
    cell.forEach((item, i) => {
      const pixel = pixels[i], gray = pictures.channels === 1;
      item.style.setProperty("--pixel", pixel ? `rgb(${(gray ? [pixel[0], pixel[0], pixel[0]] : pixel.map((v, c) => (c === state.channel ? v : 0))).join(" ")})` : "transparent");
      item.firstElementChild.textContent = pixel ? `${pixel[state.channel]} × ${shortNumber(h[i])}` : "";
      item.lastElementChild.textContent = whole ? shortNumber(products[i]) : "";
    });
    byId("lens-steps").replaceChildren(...(steps ?? []).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, shortNumber(value))]));
    const edge = whole && crop ? samples.at(crop.edges, state.x - crop.x, state.y - crop.y, waiting)?.[state.channel] : undefined;
    if (known(edge)) byId("lens-steps").append(element("dt", {}, "in the edges above"), element("dd", {}, chip(edge === result, `${edge}${edge === result ? " – the same" : ""}`)));
    byId("lens-note").textContent = whole ? "" : crop && samples.contexts.get(crop.photo) === null ? "…" : "This pixel's neighbourhood is not embedded exactly: point inside one of the dashed details.";
  }
  const lookAt = (x, y) => {
    Object.assign(state, { x: Math.min(width - 1, Math.max(0, Math.round(x) || 0)), y: Math.min(height - 1, Math.max(0, Math.round(y) || 0)) });
    show();
  };
  for (const axis of ["x", "y"]) {
    byId(`lens-${axis}`).max = (axis === "x" ? width : height) - 1;
    byId(`lens-${axis}`).addEventListener("change", () => lookAt(Number(byId("lens-x").value), Number(byId("lens-y").value)));
  }
  if (pictures.channels > 1)
    choice(byId("lens-channel"), "channel", "Channel", ["red", "green", "blue"].map((name, i) => [String(i), name]), "0", (key) => {
      state.channel = Number(key);
      show();
    });
  byId("lens").hidden = pictures.crops.length === 0;
  const first = pictures.crops[0];
  if (first) lookAt(first.x + Math.floor(first.width / 2), first.y + Math.floor(first.height / 2));
  return { lookAt };
}
