/* The viewer has two panes, one on top of the other and clipped at the divider, with the same transform. Each
 * pane shows a layer: the picture scaled down, covered in places by crops that have every pixel. */
const pictures = report.pictures;
const imageNames = report.command === "diff" ? ["A", "B"] : ["Photo", "Edges"];

/* Colours of differences: OKLab with evenly rising lightness, so that equal steps look equal. */
function heat(t) {
  const lightness = 0.5 + 0.45 * t, chroma = 0.19 - 0.04 * t, hue = ((320 + 145 * t) * Math.PI) / 180;
  const a = chroma * Math.cos(hue), b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => {
    const x = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
  });
}

function place(node, box) {
  node.style.left = `${box.x}px`;
  node.style.top = `${box.y}px`;
  node.style.width = `${box.width}px`;
  node.style.height = `${box.height}px`;
  return node;
}

/* Draws a gray picture of differences on a canvas: zero stays transparent, 1 to largest get the colours of the ramp. */
function heatCanvas(source, box, largest, exact = []) {
  const canvas = place(element("canvas"), box);
  const picture = new Image();
  picture.onload = () => {
    canvas.width = picture.naturalWidth;
    canvas.height = picture.naturalHeight;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    const data = context.getImageData(0, 0, canvas.width, canvas.height);
    const colours = [];
    for (let v = 1; v <= 255; v++) colours[v] = heat(largest > 1 ? Math.min(1, (v - 1) / (largest - 1)) : 0.6);
    for (let i = 0; i < data.data.length; i += 4) {
      const value = data.data[i];
      if (value) [data.data[i], data.data[i + 1], data.data[i + 2]] = colours[value];
      else data.data[i + 3] = 0;
    }
    context.putImageData(data, 0, 0);
    /* Clear the overview where a crop shows each pixel; otherwise the coarse picture would hide them. */
    for (const crop of exact) {
      const [x, y] = [(crop.x * canvas.width) / box.width, (crop.y * canvas.height) / box.height];
      context.clearRect(x, y, (crop.width * canvas.width) / box.width, (crop.height * canvas.height) / box.height);
    }
    canvas.dataset.drawn = "yes";
  };
  picture.src = source;
  return canvas;
}

function startViewer() {
  if (!pictures) return;
  const { width, height } = pictures, full = { x: 0, y: 0, width, height };
  const viewer = byId("viewer"), split = byId("split");
  const stages = { left: byId("left").firstElementChild, right: byId("right").firstElementChild };
  const differences = pictures.differences || [];
  const state = { left: "photo", right: "edges", rung: 0, zoom: 1, x: 0, y: 0 };
  byId("pictures").hidden = false;

  /* ---- layers ---- */
  const img = (source, box, name) => place(element("img", { src: source, alt: name, draggable: false }), box);
  function layer(name) {
    const difference = differences[state.rung];
    if (name === "photo" || name === "edges") {
      const crops = pictures.crops.map((crop) => img(crop[name], crop, ""));
      return [img(pictures[name], full, imageNames[name === "photo" ? 0 : 1]), ...crops];
    }
    const nodes = [img(pictures.photo, full, "the photo, dimmed")];
    nodes[0].className = "dim";
    if (difference.overview) nodes.push(heatCanvas(difference.overview, full, difference.max_abs, difference.crops));
    for (const crop of difference.crops) {
      nodes.push(heatCanvas(crop.difference, crop, difference.max_abs));
      const ring = element("i", { className: "ring", title: `x ${crop.peak.x}, y ${crop.peak.y}: ${crop.peak.value} apart` });
      ring.style.left = `${crop.peak.x}px`;
      ring.style.top = `${crop.peak.y}px`;
      nodes.push(ring);
    }
    return nodes;
  }
  const outlines = () => pictures.crops.map((crop) => place(element("i", { className: "detail" }), crop));
  function showLayers() {
    for (const side of ["left", "right"]) stages[side].replaceChildren(...layer(state[side]), ...outlines(), ...stages[side].querySelectorAll(".kernel"));
    const shown = state.left === "difference" || state.right === "difference";
    const difference = differences[state.rung];
    viewer.classList.toggle("one", state.left === state.right);
    byId("empty").hidden = !shown || difference.differing_pixels > 0;
    byId("scale").hidden = !shown || difference.differing_pixels === 0;
    if (shown && difference.differing_pixels > 0) showScale(difference.max_abs);
    showViews();
  }
  function showScale(largest) {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => `rgb(${heat(largest > 1 ? t : 0.6).join(" ")})`);
    const ramp = element("i", { className: "ramp" });
    ramp.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    byId("scale").replaceChildren(element("i", { className: "zero" }), element("span", {}, "0: equal"), ramp,
      element("span", {}, largest > 1 ? `1 to ${largest} levels apart` : "1 level apart"));
  }

  /* ---- zoom and pan: one transform for both panes ---- */
  const fit = () => Math.min(viewer.clientWidth / width, viewer.clientHeight / height); /* the whole picture fits, whatever its shape */
  const within = (at, seen, all) => (seen >= all ? (all - seen) / 2 : Math.min(Math.max(0, at), all - seen)); /* a picture smaller than the view is centred */
  function place_() {
    const scale = fit() * state.zoom, seenWidth = viewer.clientWidth / scale, seenHeight = viewer.clientHeight / scale;
    state.x = within(state.x, seenWidth, width);
    state.y = within(state.y, seenHeight, height);
    for (const stage of Object.values(stages)) {
      stage.style.transform = `scale(${scale}) translate(${-state.x}px, ${-state.y}px)`;
      stage.style.setProperty("--upright", 1 / scale);
      stage.classList.toggle("pixels", scale * devicePixelRatio >= 1);
      stage.classList.toggle("close", scale >= 18); /* a pixel is large enough for numbers */
    }
    viewer.classList.toggle("zoomed", state.zoom > 1.001);
  }
  function resize() {
    viewer.style.height = `${Math.round(viewer.clientWidth * Math.min(Math.max(height / width, 0.25), 1.2))}px`;
    place_();
  }
  /* Zooms so that the point of the picture under (clientX, clientY) does not move. */
  function zoomTo(zoom, clientX, clientY) {
    const box = viewer.getBoundingClientRect(), maxZoom = Math.max(1, 32 / fit());
    const atX = (clientX ?? box.left + box.width / 2) - box.left, atY = (clientY ?? box.top + box.height / 2) - box.top;
    const before = fit() * state.zoom;
    state.zoom = Math.min(maxZoom, Math.max(1, zoom));
    const after = fit() * state.zoom;
    state.x += atX / before - atX / after;
    state.y += atY / before - atY / after;
    place_();
  }
  function lookAt(box) {
    state.zoom = Math.max(1, Math.min(viewer.clientWidth / box.width, viewer.clientHeight / box.height) / fit());
    state.x = box.x + box.width / 2 - viewer.clientWidth / fit() / state.zoom / 2;
    state.y = box.y + box.height / 2 - viewer.clientHeight / fit() / state.zoom / 2;
    place_();
  }
  /* Fills the view with a detail of the picture; for a detail of a difference, centres its peak in the layer's half. */
  function showDetail(crop) {
    if (!crop.peak) return lookAt(crop);
    const side = state.right === "difference" ? 0.5 + split.value / 200 : split.value / 200;
    state.zoom = Math.max(1, Math.min(12, viewer.clientWidth / 24) / fit());
    state.x = crop.peak.x + 0.5 - (side * viewer.clientWidth) / fit() / state.zoom;
    state.y = crop.peak.y + 0.5 - viewer.clientHeight / 2 / fit() / state.zoom;
    place_();
  }
  const move = (dx, dy) => {
    state.x += dx / fit() / state.zoom;
    state.y += dy / fit() / state.zoom;
    place_();
  };

  /* ---- divider ---- */
  const setSplit = (percent) => {
    split.value = percent;
    viewer.style.setProperty("--split", `${split.value}%`);
    split.setAttribute("aria-valuetext", `${Math.round(split.value)} % ${state.left}`);
  };
  split.addEventListener("input", () => setSplit(split.value));

  /* ---- pointers: one moves the divider if near it or if nothing is hidden, else the picture; two zoom ---- */
  const pointers = new Map();
  let dragging = null;
  const dividerAt = () => viewer.getBoundingClientRect().left + (viewer.clientWidth * split.value) / 100;
  viewer.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    viewer.setPointerCapture(event.pointerId);
    readOut(event);
    dragging = state.zoom < 1.001 || Math.abs(event.clientX - dividerAt()) < 24 ? "divider" : "picture";
    if (dragging === "divider") followDivider(event);
  });
  const followDivider = (event) => {
    const box = viewer.getBoundingClientRect();
    setSplit((100 * (event.clientX - box.left)) / box.width);
  };
  viewer.addEventListener("pointermove", (event) => {
    readOut(event);
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    pointers.set(event.pointerId, event);
    if (others.length === 1) {
      const distance = (p) => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY) || 1;
      zoomTo((state.zoom * distance(event)) / distance(before), (event.clientX + others[0].clientX) / 2,
        (event.clientY + others[0].clientY) / 2);
    } else if (dragging === "divider") followDivider(event);
    else move(before.clientX - event.clientX, before.clientY - event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"])
    viewer.addEventListener(end, (event) => pointers.delete(event.pointerId));
  viewer.addEventListener("pointerleave", () => (byId("readout").textContent = ""));
  viewer.addEventListener("dblclick", (event) => zoomTo(state.zoom * 3, event.clientX, event.clientY));
  /* The wheel scrolls the page unless the picture has the focus. */
  viewer.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== viewer) return;
    event.preventDefault();
    zoomTo(state.zoom * Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
  }, { passive: false });
  viewer.addEventListener("keydown", (event) => {
    const step = viewer.clientWidth / 10;
    const keys = {
      ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -step),
      ArrowDown: () => move(0, step), "+": () => zoomTo(state.zoom * 1.5), "=": () => zoomTo(state.zoom * 1.5),
      "-": () => zoomTo(state.zoom / 1.5), 0: () => lookAt(full),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  /* ---- values of the pixel under the pointer: exact if a detail contains it ---- */
  const shown = (values) => (values ? values.slice(0, pictures.channels === 1 ? 1 : 3).join(" ") : "…");
  function valueAt(name, x, y) {
    const crop = detailAt(x, y);
    if (crop) return shown(samples.at(crop[name], x - crop.x, y - crop.y));
    const small = samples.context(pictures[name])?.canvas;
    return `≈ ${shown(small && samples.at(pictures[name], Math.floor((x * small.width) / width), Math.floor((y * small.height) / height)))}`;
  }
  function readOut(event) {
    const box = viewer.getBoundingClientRect(), scale = fit() * state.zoom;
    const x = Math.floor((event.clientX - box.left) / scale + state.x), y = Math.floor((event.clientY - box.top) / scale + state.y);
    if (x < 0 || y < 0 || x >= width || y >= height) return (byId("readout").textContent = "");
    const readout = [`x ${x}, y ${y}`, `${imageNames[0].toLowerCase()} ${valueAt("photo", x, y)}`, `${imageNames[1].toLowerCase()} ${valueAt("edges", x, y)}`];
    const different = differences[state.rung]?.crops.find((each) => inside(each, x, y));
    if (different) readout.push(`difference ${samples.at(different.difference, x - different.x, y - different.y)?.[0] ?? "…"}`);
    byId("readout").textContent = readout.join("  ·  ");
    if (detailAt(x, y)) lens.lookAt(x, y);
  }

  /* ---- the choices ---- */
  const names = [["photo", imageNames[0]], ["edges", imageNames[1]]];
  if (differences.length) names.push(["difference", "Difference"]);
  const show = (side) => (name) => {
    state[side] = name;
    setSplit(split.value);
    showLayers();
  };
  if (report.command === "diff") byId("pictures-title").textContent = "A and B";
  if (differences.length) {
    const differing = differences.findIndex((each) => each.differing_pixels > 0);
    state.rung = Math.max(0, differing);
    /* The difference is shown on the side where its largest value lies. */
    const peak = differences[state.rung].crops[0]?.peak;
    if (peak) [state.left, state.right] = peak.x < width / 2 ? ["difference", "edges"] : ["edges", "difference"];
    if (report.command !== "diff") choice(byId("layers"), "rung", "Backend", differences.map((each, i) => [String(i), each.backend]), String(state.rung), (key) => {
      state.rung = Number(key);
      showLayers();
    });
  }
  choice(byId("layers"), "left", "Left", names, state.left, show("left"));
  choice(byId("layers"), "right", "Right", names, state.right, show("right"));
  function showViews() {
    const button = (label, action, title) => {
      const made = element("button", { type: "button", title: title || "" }, label);
      made.addEventListener("click", action);
      return made;
    };
    const boxes = (differences[state.rung]?.crops.length ? differences[state.rung].crops : pictures.crops);
    byId("views").replaceChildren(
      button("Whole", () => lookAt(full)), button("−", () => zoomTo(state.zoom / 1.5), "Zoom out"),
      button("+", () => zoomTo(state.zoom * 1.5), "Zoom in"),
      ...boxes.map((crop, i) => button(`Detail ${i + 1}`, () => showDetail(crop), `x ${crop.x}, y ${crop.y}: every pixel`)));
  }
  const fullNames = report.command === "diff" ? [`A: ${report.results.a}`, `B: ${report.results.b}`] : imageNames;
  for (const name of ["photo", "edges"])
    byId("printed").append(element("figure", {}, element("img", { src: pictures[name], alt: name }), element("figcaption", {}, fullNames[name === "photo" ? 0 : 1])));
  byId("picture-note").textContent =
    (report.command === "diff" ? `${fullNames.join(", ")}. ` : "") + "Drag the divider, or use the slider and its arrow keys. Zoom with + and −, a double click, two fingers, or the wheel " +
    "once the image is selected. " +
    (pictures.scaled ? "The image is embedded scaled down; inside the details every pixel is there, as it was computed. " : "") +
    (pictures.scaled && report.command !== "diff" ? "Scaled-down edges are root mean squares, so that thin lines stay visible." : "");
  setSplit(50);
  showLayers();
  const lens = startLens([stages.left, stages.right]);
  new ResizeObserver(resize).observe(viewer.parentElement);
  resize();
}
