#!/usr/bin/python3
"""The Python module against the filter written in NumPy, on the sizes, kernels and borders of the C tests, and
against the program. Run in the root of the tree after `make`; TAP on stdout."""
import inspect
import itertools
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path[:0] = [os.path.join(os.environ.get("B", "build"), "python"), "tests/support", "tests/kernels/ladder"]
from outcome import interrupted, lets_others_work, raises  # noqa: E402
from tap import finish, report  # noqa: E402

try:
    import numpy as np

    import lapedge
    from numpy_reference import BORDERS, KERNELS, expected
except ImportError as problem:
    print(f"1..1\nok 1 - the Python module # SKIP {problem}")
    sys.exit(0)

PROGRAM = os.path.abspath(os.environ.get("LAPEDGE", "lapedge"))
SIZES = [(1, 1), (1, 2), (3, 1), (2, 3), (5, 5), (9, 64), (67, 131)]
random = np.random.default_rng(20261122)


def pixels(height, width, channels):
    return random.integers(0, 256, (height, width, channels) if channels else (height, width), dtype=np.uint8)


def is_reference(result, array, **case):
    whole = array if array.ndim == 3 else array[:, :, None]
    return np.array_equal(result.reshape(whole.shape), expected(whole, **case))


def grid():
    runs_here = [b.name for b in lapedge.backends() if b.reason is None and b.family != "cuda"]
    devices = [b.name for b in lapedge.backends() if b.family == "cuda" and not b.reason]
    report(bool(devices) == bool(lapedge.devices()), "CUDA runs here where there is a device, and nowhere else", devices)
    report(not [b.name for b in lapedge.backends(probe_devices=False) if b.family == "cuda" and not b.reason],
           "unasked, CUDA runs nowhere")
    report(set(runs_here) >= {"c", "auto"}, f"backends that run here: {' '.join(runs_here)}")
    wrong, count = [], 0
    for (height, width), channels in itertools.product(SIZES, (0, 1, 3, 4)):
        array = pixels(height, width, channels)
        for kernel, border in itertools.product(KERNELS, [*BORDERS, "constant:200"]):
            backend = runs_here[count % len(runs_here)]
            case = {"kernel": kernel, "border": border}
            count += 1
            if not is_reference(lapedge.filter(array, backend=backend, **case), array, **case):
                wrong.append((backend, array.shape, case))
    report(not wrong, f"{count} cases equal NumPy's", wrong[:3])
    array = pixels(40, 50, 3)
    wrong = [case for case in ({"scale": 0.5, "offset": 100.5, "range": "abs", "invert": True},
                               {"scale": -0.3, "offset": 7, "threshold": 40}, {"threshold": 0}, {"range": "abs"})
             if not is_reference(lapedge.filter(array, kernel="npp5", **case), array, kernel="npp5",
                                 **{{"range": "range_"}.get(k, k): v for k, v in case.items()})]
    report(not wrong, "range, scale, offset, invert, threshold", wrong)
    numbers = list(range(25))
    text = " ".join(map(str, numbers[::-1]))
    report(is_reference(lapedge.filter(array, kernel=numbers, flip_kernel=True), array, kernel=text),
           "a kernel of 25 numbers, flipped")


def strides():
    array, wide = pixels(90, 120, 3), pixels(90, 360, 4)
    whole = lapedge.filter(array)
    for name, part in (("a crop", array[7:50, 11:100]), ("every second row", array[::2]),
                       ("every second column", array[:, ::2]), ("one channel of three", array[:, :, 1]),
                       ("upside down", array[::-1]), ("transposed", array.transpose(1, 0, 2)),
                       ("three channels of four", wide[:, :, :3]), ("Fortran's order", np.asfortranarray(array)),
                       ("a list", array[:5, :5].tolist())):
        part = np.asarray(part, np.uint8) if isinstance(part, list) else part
        report(is_reference(lapedge.filter(part), part, kernel="laplace5"), f"input: {name}")
    canvas = np.full((100, 200, 3), 7, np.uint8)
    place = canvas[3:93, 30:150]
    report(lapedge.filter(array, out=place) is place and np.array_equal(place, whole) and (canvas[:3] == 7).all() and
           (canvas[:, :30] == 7).all() and (canvas[:, 150:] == 7).all() and (canvas[93:] == 7).all(),
           "output: a crop, and nothing around it")
    both = pixels(30, 80, 3)
    left = both[:, :40].copy()
    report(is_reference(lapedge.filter(both[:, :40], out=both[:, 40:]), left, kernel="laplace5"),
           "from one half of an array to the other")


def refusals():
    a = pixels(8, 9, 3)
    frozen = a.copy()
    frozen.flags.writeable = False
    for kind, words, more in (
            (lapedge.Error, "overlap", {"out": a}), (ValueError, "shape", {"out": a[1:].copy()}),
            (ValueError, "read-only", {"out": frozen}), (ValueError, "side by side", {"out": pixels(8, 18, 3)[:, ::2]}),
            (TypeError, "uint8", {"out": a.astype(float)}), (TypeError, "NumPy", {"out": bytearray(8 * 9 * 3)}),
            (ValueError, "border", {"border": "mirror"}), (ValueError, "border", {"border": "constant:256"}),
            (TypeError, "border", {"border": None}), (TypeError, "backend", {"backend": None}),
            (ValueError, "range", {"range": "wide"}), (ValueError, "threshold", {"threshold": 256}),
            (ValueError, "stream", {"stream": 1}), (lapedge.Error, "not a preset", {"kernel": "laplace6"}),
            (lapedge.Error, "nope", {"backend": "nope"}), (lapedge.Error, "thread", {"threads": 5000})):
        report(raises(kind, words, lapedge.filter, a, **more), f"refused: {', '.join(more)}: {words}")
    for name, array, kind in (("two channels", a[:, :, :2], ValueError), ("no pixels", a[:0], ValueError),
                              ("one axis", a[0, 0], ValueError), ("floats", a / 2, TypeError)):
        report(raises(kind, "array: ", lapedge.filter, array), f"refused: {name}")
    if not lapedge.devices():
        problem = raises(lapedge.Error, "cannot run here", lapedge.filter, a, backend="cuda-fast")
        report(problem and problem.kind == "backend", "a backend that cannot run here: the reason")
        copy = pickle.loads(pickle.dumps(problem))
        report(str(copy) == str(problem) and copy.kind == "backend", "an error passes through a queue")


def in_another_locale():
    with tempfile.TemporaryDirectory() as folder:
        numbers_in_another_locale(folder)


def numbers_in_another_locale(folder):
    """Numbers have points in a program whose locale has commas."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], capture_output=True,
                          check=False) if shutil.which("localedef") else None
    if not made or not Path(folder, "de_DE.UTF-8", "LC_NUMERIC").exists(): # without sources, there is an empty folder
        report(True, "numbers have points in every locale # SKIP no localedef, or no source of de_DE")
        return
    code = """if True:
        import locale, sys
        import numpy, lapedge
        folder = sys.argv[1]
        a = numpy.arange(99 * 3, dtype=numpy.uint8).reshape(9, 11, 3)
        photos = Path(folder, "photos")
        photos.mkdir()
        (photos / "a.jpg").write_bytes(lapedge.encode(a))
        def ask():
            return [lapedge.filter(a, kernel=k).tobytes() for k in ("0.5,-1.25,0.5,1,1/256,0,0,0,0.25", numpy.ones((3, 3)) / 8)]
        before = ask()
        first = lapedge.run_folder(photos, f"{folder}/out", scale=0.5)
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        assert locale.localeconv()["decimal_point"] == ","
        again = lapedge.run_folder(photos, f"{folder}/out", scale=0.5)
        assert ask() == before and first.ok == 1 and again.ok == 0 and again.skipped == 1, (first, again)
        """
    done = subprocess.run([sys.executable, "-c", "from pathlib import Path\n" + code, folder], capture_output=True,
                          text=True, check=False, env={**os.environ, "LOCPATH": folder,
                                                       "PYTHONPATH": os.path.abspath(sys.path[0])})
    report(done.returncode == 0, f"numbers have points in every locale {done.stderr[-300:]}".rstrip())


def at_once():
    arrays = [pixels(100 + i, 90, 3) for i in range(8)]
    results = [None] * len(arrays)

    def work(i):
        results[i] = lapedge.filter(arrays[i], threads=1 + i % 3)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(arrays))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(all(is_reference(r, a, kernel="laplace5") for r, a in zip(results, arrays)), "eight threads at once")
    contexts = lapedge._library.contexts
    taken = [contexts.take(3) for _ in range(contexts.KEPT + 1)]
    for context in taken:
        contexts.give_back(context, 3)
    elsewhere = contexts.take(3, 1)
    again = [contexts.take(3) for _ in taken]
    report(set(again[:-1]) == set(taken[:-1]) and elsewhere not in taken[:-1],
           "contexts of calls at once are used again, on each device by itself")
    for context in again:
        contexts.give_back(context, 3)
    contexts.give_back(elsewhere, 3, 1)
    large = pixels(2000, 3000, 3)
    good, says = lets_others_work(lambda: lapedge.filter(large, backend="c", threads=1))
    report(good, "the interpreter's lock is released", says)
    lapedge.filter(arrays[0]) # its threads are there; a child has none of them
    child = os.fork()
    if child == 0:
        os._exit(0 if is_reference(lapedge.filter(arrays[1]), arrays[1], kernel="laplace5") else 1)
    report(os.waitpid(child, 0)[1] == 0, "in a child of fork")


def ctrl_c():
    large = pixels(4000, 6000, 3)
    good, says = interrupted(lambda: lapedge.filter(large, backend="c", threads=1))
    report(good, "Ctrl-C ends a filter", says)
    with tempfile.TemporaryDirectory() as folder:
        ppm, out = Path(folder, "in.ppm"), Path(folder, "out.jpg")
        ppm.write_bytes(b"P6\n6000 4000\n255\n" + large.tobytes())
        good, says = interrupted(lambda: lapedge.run(ppm, out, backend="c", threads=1))
        report(good, "Ctrl-C ends a run", says)
        first = out.read_bytes()
        good, says = interrupted(lambda: lapedge.run_bytes(ppm.read_bytes(), backend="c", threads=1))
        report(good and out.read_bytes() == first and len(os.listdir(folder)) == 2, "Ctrl-C ends a run in memory", says)
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = lapedge.filter(large, backend="c", threads=1)
    timer.join()
    signal.signal(signal.SIGINT, before)
    report(bool(heard) and np.array_equal(result, lapedge.filter(large)), "a handler that raises nothing ends nothing")
    small = pixels(9, 9, 3)
    report(is_reference(lapedge.filter(small), small, kernel="laplace5"), "the next call works")


def files():
    with tempfile.TemporaryDirectory() as folder:
        mine, theirs = Path(folder, "mine.jpg"), os.path.join(folder, "theirs.jpg")
        photo = "samples/chelsea.jpg"
        for options, settings in (([], {}), (["--quality=70", "--restart=off", "--border=replicate"],
                                             {"quality": 70, "restart": "off", "border": "replicate"}),
                                  (["--gray", "--keep=icc", "--progressive", "--subsampling=420"],
                                   {"gray": True, "keep": ["icc"], "progressive": True, "subsampling": "420"}),
                                  (["transform", "--rotate=90", "--quality=80"],
                                   {"filter": False, "rotate": 90, "quality": 80})):
            command = options[:1] if options[:1] == ["transform"] else ["run", *options[:1]]
            subprocess.run([PROGRAM, *command, *options[1:], photo, theirs], check=True)
            done = lapedge.run(photo, mine, **settings)
            same = mine.read_bytes() == Path(theirs).read_bytes()
            report(same and done.bytes_out == len(mine.read_bytes()) and done.warnings == 0,
                   f"run: the program's bytes {' '.join(options)}")
            report(lapedge.run_bytes(Path(photo).read_bytes(), **settings) == mine.read_bytes(), "run_bytes: the same")
        problem = raises(lapedge.Error, "no such file", lapedge.run, folder + "/none.jpg", mine)
        report(problem and problem.kind == "missing" and problem.subject.endswith("none.jpg"), "a missing file")
        problem = raises(lapedge.Error, "", lapedge.run_bytes, Path(photo).read_bytes()[:5000])
        report(problem and problem.kind == "truncated", "a cut file")
        for words, more in (("quality", {"quality": 101}), ("quality", {"quality": 0}),
                            ("rotate", {"rotate": 45}), ("keep", {"keep": ["all"]}), ("'icc,exif'", {"keep": "icc,exif"}),
                            ("border", {"border": None}), ("backend", {"backend": None}), ("backend", {"backend": ""}),
                            ("colour", {"colour": 1})):
            report(raises((lapedge.Error, ValueError, TypeError), words, lapedge.run, photo, mine, **more),
                   f"refused: {words}")
        copy, before = Path(folder, "copy.jpg"), Path(photo).read_bytes()
        copy.write_bytes(before)
        for function, arguments in ((lapedge.run, (copy, copy)), (lapedge.run, (copy, mine)),
                                    (lapedge.run_bytes, (before,)), (lapedge.transform, (copy, copy)),
                                    (lapedge.run_folder, (copy, folder + "/edges")), (lapedge.stats, (copy,))):
            problem = raises(lapedge.Error, "lapedge --in-place FILE", function, *arguments, in_place=True)
            report(problem and problem.kind == "usage" and copy.read_bytes() == before and
                   not os.path.exists(folder + "/edges"), f"{function.__name__} refuses in_place, and nothing is written")
        report(lapedge.run(copy, mine, in_place=False).warnings == 0, "in_place=False")
    rows = json.loads(subprocess.run([PROGRAM, "backends", "--json"], check=True, stdout=subprocess.PIPE).stdout)["rows"]
    report([(r["op"], r["name"]) for r in rows] ==
           [(b.op, b.name) for op in dict.fromkeys(r["op"] for r in rows) for b in lapedge.backends(op)],
           "backends: those of the program")
    report(lapedge.__version__ in subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.PIPE,
                                                 text=True).stdout, "the program's version")


def interface():
    """What an editor and a type checker need to know of each public function."""
    bare = []
    for name in lapedge.__all__:
        thing = getattr(lapedge, name)
        if not inspect.isfunction(thing):
            continue
        bare += [f"{name}({each})" for each, value in inspect.signature(thing).parameters.items()
                 if value.kind != value.VAR_KEYWORD and value.annotation is value.empty]
        if inspect.signature(thing).return_annotation is inspect.Signature.empty or not inspect.getdoc(thing):
            bare.append(name)
    said = {name: inspect.getdoc(getattr(lapedge, name)) for name in
            ("decode", "encode", "edges", "decode_batch", "edges_batch", "filter", "transform", "stats", "diff", "info")}
    report(not bare, "types and docstrings of all public functions", bare)
    silent = [name for name, text in said.items() if "Raises" not in text and "raises" not in text and ">>>" not in text]
    report(not silent, "docstrings name what is raised, or show it", silent)
    report(Path(lapedge.__file__).with_name("py.typed").exists(), "type checkers take the types: py.typed")


for step in (interface, grid, strides, refusals, at_once, ctrl_c, files, in_another_locale):
    step()
finish()
