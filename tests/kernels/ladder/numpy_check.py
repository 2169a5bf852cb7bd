#!/usr/bin/python3
"""The program against the filter written once more, in NumPy: a second opinion on rung c too.

Pixels go in and come out as binary PNM, which is exact. Run in the root of the
tree after `make`; TAP on stdout."""

import itertools
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np

    from numpy_reference import BORDERS, KERNELS, expected
except ImportError:
    print("1..1\nok 1 - results equal to NumPy's # SKIP python3-numpy is not installed")
    sys.exit(0)

PROGRAM = os.path.abspath("lapedge")


def write_pnm(path, pixels):
    height, width, channels = pixels.shape
    with open(path, "wb") as file:
        file.write(b"P%d\n%d %d\n255\n" % (6 if channels == 3 else 5, width, height) + pixels.tobytes())


def read_pnm(data):
    magic, width, height, most = data[:32].split()[:4]
    channels = {b"P5": 1, b"P6": 3}[magic]
    size = int(width) * int(height) * channels
    assert most == b"255"
    return np.frombuffer(data[-size:], np.uint8).reshape(int(height), int(width), channels)


def lapedge(path, *options):
    command = [PROGRAM, path, "-", "--format=ppm" if path.endswith("ppm") else "--format=pgm", *options]
    return read_pnm(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def images(folder):
    random = np.random.default_rng(20261122)
    made = {f"{w}x{h}": (h, w) for w, h in [(1, 1), (2, 1), (1, 3), (3, 2), (5, 5), (64, 9), (131, 67)]}
    for name, (h, w) in made.items():
        for channels, extension in [(1, "pgm"), (3, "ppm")]:
            pixels = random.integers(0, 256, (h, w, channels), dtype=np.uint8)
            path = os.path.join(folder, f"{name}.{extension}")
            write_pnm(path, pixels)
            yield f"random {name}x{channels}", path, pixels
    for sample in ["astronaut", "chelsea", "coffee"]:
        path = os.path.join(folder, f"{sample}.ppm")
        command = [PROGRAM, f"samples/{sample}.jpg", path, "--kernel=identity"]
        subprocess.run(command, check=True)
        with open(path, "rb") as file:
            yield f"samples/{sample}.jpg", path, read_pnm(file.read())


def cases(is_photo):
    if is_photo:
        for backend in ["c", "openmp", "auto"]:
            yield {"kernel": "laplace5"}, backend
        yield {"kernel": "npp5", "range_": "abs", "border": "reflect101"}, "auto"
        return
    for kernel, border in itertools.product(KERNELS, BORDERS):
        yield {"kernel": kernel, "border": border, "range_": "abs" if len(border) % 2 else "clamp"}, "c"
    yield {"kernel": "npp5", "scale": 0.5, "offset": 100.5, "range_": "abs", "invert": True}, "c"
    yield {"kernel": "log5", "scale": -0.3, "offset": 7, "threshold": 40, "invert": True}, "auto"
    yield {"kernel": "laplace5", "scale": 1 / 16, "offset": 128}, "auto"


def options(case, backend):
    yield f"--backend={backend}"
    for name, value in case.items():
        yield f"--{name.rstrip('_')}" + ("" if value is True else f"={value}")


def main():
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path, pixels in images(folder):
            count += 1
            wrong = [
                " ".join(words)
                for case, backend in cases(name.startswith("samples"))
                for words in [list(options(case, backend))]
                if not np.array_equal(lapedge(path, *words), expected(pixels, **case))
            ]
            print(f"{'not ok' if wrong else 'ok'} {count} - {name}: equal to NumPy's", flush=True)
            for words in wrong:
                print(f"# differs: {words}")
            failed += bool(wrong)
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
