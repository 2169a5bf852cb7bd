#!/usr/bin/python3
"""The playground's module, under node, gives the bytes of `lapedge -b c`: every backend that it has, every preset
and a list of one's own, every border, both ranges, sizes from 1x1."""
import base64
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/support")
import tap  # noqa: E402

PRESETS = ["laplace5", "laplace3-4", "laplace3-8", "log5", "npp5", "opencv5", "identity"]
OWN = "0 0 0 0 0 / 0 1 0 -1 0 / 0 2 0 -2 0 / 0 1 0 -1 0 / 0 0 0 0 0"
REAL = " ".join(["0.25"] * 12 + ["-6.125"] + ["0.25"] * 12)
BORDERS = {"zero": 0, "replicate": 1, "reflect": 2, "reflect101": 3, "wrap": 4, "constant:0": 256, "constant:77": 333,
           "constant:255": 511}
RANGES = {"clamp": 0, "abs": 1}
SIZES = [(1, 1), (2, 1), (1, 5), (3, 4), (5, 5), (16, 9), (17, 6), (67, 13), (131, 40), (300, 70)]


def reference(program, width, height, pixels, kernel, border, range_):
    """The bytes of the program's plain C, through PPM, which loses nothing."""
    done = subprocess.run(
        [program, "-q", "-b", "c", "--format=ppm", "--kernel=" + kernel, "--border=" + border, "--range=" + range_,
         "-", "-"], input=b"P6 %d %d 255\n" % (width, height) + pixels, capture_output=True, check=True)
    return done.stdout[-len(pixels):]


def combinations(rng):
    """Every kernel with every border and range at a size by chance, then every size with a few of them."""
    for kernel in PRESETS + [OWN, REAL]:
        for border in BORDERS:
            for range_ in RANGES:
                if rng.random() < 0.5 or border in ("zero", "reflect101"):
                    yield rng.choice(SIZES), kernel, border, range_
    for size in SIZES:
        for border in BORDERS:
            yield size, "laplace5", border, rng.choice(list(RANGES))


def run_module(module, cases):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        done = subprocess.run(["node", "tests/docs/site/wasm.js", module, file.name], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def levels_apart(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) if len(a) == len(b) else 256


def windows_add_up(program, module):
    """The 25 products of samples in the corners, at the edges and inside."""
    width, height, rng = 9, 7, random.Random(3)
    pixels = rng.randbytes(width * height * 3)
    looks = [[x, y, c] for x in (0, 1, 4, 8) for y in (0, 3, 6) for c in range(3)]
    shared = {"width": width, "height": height, "pixels": base64.b64encode(pixels).decode(), "backend": "simd-sse41"}
    problems = []
    for border in BORDERS:
        case = dict(shared, kernel="log5", border=BORDERS[border], range=1, look=looks)
        _, row = run_module(module, [case])
        edges = reference(program, width, height, pixels, "log5", border, "abs")
        for (x, y, c), window in zip(looks, row["windows"]):
            p, h, products, total, result = window[:25], window[25:50], window[50:75], window[75], window[76]
            at = 3 * (y * width + x) + c
            if p[12] != pixels[at] or h[12] != 16 or products != [a * b for a, b in zip(p, h)] or \
                    total != sum(products) or result != min(255, abs(total)) or result != edges[at]:
                problems.append(f"{border}, {(x, y, c)}: {window}")
            if border.startswith("constant") and y == 0 and set(p[:10]) != {float(border[9:])}:
                problems.append(f"{border}, {(x, y, c)}: beyond the edge lie {p[:10]}")
    return problems


def main():
    program, module = os.environ.get("LAPEDGE", "./lapedge"), "build/playground/lapedge-wasm.js"
    missing = [name for name in ("emcc", "node") if not shutil.which(os.environ.get(name.upper(), name))]
    if missing:
        tap.skip("the playground under node", f"no {missing[0]}: tools/install-deps site installs it")
        tap.finish()
    seed = int(os.environ.get("TEST_SEED", "1"))
    rng = random.Random(seed)
    print(f"# seed {seed}")
    (backends,) = run_module(module, [])
    tap.report(backends[0] == "c" and len(backends) >= 7 and len(set(backends)) == len(backends),
               f"the module has plain C and six more backends: {' '.join(backends)}")
    cases, wanted = [], []
    for (width, height), kernel, border, range_ in combinations(rng):
        pixels = rng.randbytes(width * height * 3)
        edges = reference(program, width, height, pixels, kernel, border, range_)
        for backend in backends:
            cases.append({"width": width, "height": height, "pixels": base64.b64encode(pixels).decode(),
                          "backend": backend, "kernel": kernel, "border": BORDERS[border], "range": RANGES[range_]})
            wanted.append((edges, 0 if kernel != REAL or backend == "c" else 1))
    # One more, compared with another border's bytes, has to be found wrong.
    cases.append(dict(cases[-1], border=BORDERS["wrap"], kernel="laplace5", backend="planted"))
    given = run_module(module, [dict(case, backend=case["backend"].replace("planted", "c")) for case in cases])[1:]
    for backend in backends:
        problems, count = [], 0
        for case, row, (edges, most) in zip(cases, given, wanted):
            if case["backend"] != backend:
                continue
            count += 1
            got = base64.b64decode(row.get("edges", ""))
            apart = levels_apart(got, edges)
            if apart > most:
                case = {key: value for key, value in case.items() if key != "pixels"}
                problems.append(f"{case}: {apart} levels apart; {row.get('error', '')}")
        tap.report(not problems and count > 100, f"{backend} in WebAssembly is `lapedge -b c` in {count} cases",
                   "\n".join(problems[:5]))
    planted = levels_apart(base64.b64decode(given[-1]["edges"]), wanted[-1][0])
    tap.report(planted > 0, "a wrong border is found")
    problems = windows_add_up(program, module)
    tap.report(not problems, "the 25 products add up to the sample that was written", "\n".join(problems[:5]))
    refused = run_module(module, [dict(cases[0], kernel=text) for text in ("nonsense", "1 2 3", "1e9 " * 25)])[1:]
    tap.report(all(row.get("error") for row in refused) and "3 numbers where 25 (5x5)" in refused[1]["error"],
               "kernels are refused in the program's words", refused)
    tap.finish()


main()
