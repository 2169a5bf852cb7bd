#!/usr/bin/python3
"""Decoding and encoding from Python: the pixels of two Pillows, the bytes of the program, arrays of all kinds, batches,
threads, forks. Run in the root of the tree after `make`; TAP on stdout."""
import concurrent.futures
import ctypes
import doctest
import gc
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = os.environ.get("B", "build")
sys.path[:0] = [os.path.join(BUILD, "python"), "tests/support"]
from outcome import interrupted, lets_others_work, raises  # noqa: E402
from tap import finish, report, skip  # noqa: E402

try:
    import numpy as np

    import lapedge
except ImportError as problem:
    print(f"1..1\nok 1 - decoding from Python # SKIP {problem}")
    sys.exit(0)
try:
    from PIL import Image
except ImportError:
    Image = None

PROGRAM = os.path.abspath(os.environ.get("LAPEDGE", "lapedge"))
PR_SET_THP_DISABLE = 41
PHOTO, CORPUS = "samples/chelsea.jpg", os.environ.get("LAPEDGE_CORPUS")
random = np.random.default_rng(20261123)


# ---- the pixels of Pillow ------------------------------------------------------------------------


def make_files(folder):
    """JPEGs of many kinds and odd sizes; all orientations."""
    photo = Image.open("samples/astronaut.jpg")
    kinds = [("444", "RGB", {"subsampling": 0}), ("422", "RGB", {"subsampling": 1}), ("420", "RGB", {"subsampling": 2}),
             ("gray", "L", {}), ("progressive", "RGB", {"progressive": True, "subsampling": 2}),
             ("gray-progressive", "L", {"progressive": True}), ("optimized", "RGB", {"optimize": True, "quality": 97}),
             ("coarse", "RGB", {"quality": 11, "subsampling": 2})]
    for i, (width, height) in enumerate([(1, 1), (2, 1), (7, 9), (16, 16), (17, 33), (64, 31), (251, 190), (500, 375)]):
        for name, mode, how in kinds:
            exif = Image.Exif()
            exif[0x0112] = 1 + i
            photo.convert(mode).resize((width, height)).save(f"{folder}/{name}-{width}x{height}.jpg", exif=exif, **how)


def new_pillow():
    """An interpreter with the newest Pillow of PyPI, or why there is none."""
    place = Path(BUILD, "pillow")
    python = place / "bin" / "python"
    if not (place / ".built").exists():
        for command in ([sys.executable, "-m", "venv", str(place)],
                        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "pillow"]):
            made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  timeout=300)
            if made.returncode:
                return None, (made.stdout.strip().splitlines() or ["no venv"])[-1]
        (place / ".built").touch()
    return str(python), ""


def differing(path, theirs):
    """The settings with which the file's pixels are not Pillow's."""
    wrong = []
    for (channels, upright), size in (((c, u), theirs["upright size" if u else "size"]) for c in (1, 3)
                                      for u in (False, True)):
        shape = (size[1], size[0]) if channels == 1 else (size[1], size[0], 3)
        ours = lapedge.decode(path, channels, upright)
        if ours.shape != shape or ours.tobytes() != theirs[channels, upright]:
            wrong.append((path, channels, upright))
    stored = lapedge.decode(path)
    channels = 1 if theirs["mode"] == "L" else 3
    if stored.ndim == (2 if channels == 1 else 3) and stored.tobytes() == theirs[channels, False]:
        return wrong
    return [*wrong, (path, None, False)]


def is_taken(path):
    """Whether it is decoded without a complaint, so that no decoder had to guess."""
    try:
        lapedge.decode(path, fail_on="warning")
        return True
    except lapedge.Error:
        return False


def same_as_pillow(python, name, files):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([python, "tests/package/python/pillow_pixels.py", out.name, *files], check=True)
        theirs = pickle.load(out)
    libjpeg = next(line for line in lapedge.build_info().splitlines() if "jpeg" in line.lower())
    name = f"{name} {theirs['pillow']} (libjpeg-turbo {theirs['libjpeg']}; ours: {libjpeg.strip()})"
    compared = [f for f in files if theirs["files"][f] and theirs["files"][f]["mode"] in ("L", "RGB") and is_taken(f)]
    wrong = [case for f in compared for case in differing(f, theirs["files"][f])]
    report(compared and not wrong, f"{len(compared)} of {len(files)} files have the pixels of {name}", wrong[:5])


def pillow():
    if not Image:
        skip("the pixels of Pillow", "python3-pil is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        files = sorted(map(str, [*Path(folder).glob("*.jpg"), *Path("samples").glob("*.jpg")]))
        if CORPUS:
            files += sorted(str(p) for p in Path(CORPUS).rglob("*.jp*g") if p.stat().st_size < 1 << 20)[:400]
        same_as_pillow(sys.executable, "the system's Pillow", files)
        python, why = new_pillow()
        if python:
            same_as_pillow(python, "PyPI's Pillow", files)
        else:
            skip("the pixels of PyPI's Pillow", why)
        inks = random.integers(0, 256, (40, 50, 4), dtype=np.uint8)
        Image.fromarray(inks, "CMYK").save(f"{folder}/inks.jpg", quality=95)
        with Image.open(f"{folder}/inks.jpg") as image: # which gives inks with 255 for full
            stored = 255 - np.asarray(image).astype(int)
        expected = ((stored[..., :3] * stored[..., 3:] + 127) // 255).astype(np.uint8)
        report(np.array_equal(lapedge.decode(f"{folder}/inks.jpg"), expected), "CMYK by its formula")


# ---- arrays -------------------------------------------------------------------------------------


def inputs():
    data = Path(PHOTO).read_bytes()
    whole = lapedge.decode(PHOTO)
    for name, image in (("bytes", data), ("a bytearray", bytearray(data)), ("a memoryview", memoryview(data)),
                        ("a path object", Path(PHOTO)), ("an array", np.frombuffer(data, np.uint8)),
                        ("every second of an array", np.repeat(np.frombuffer(data, np.uint8), 2)[::2])):
        report(np.array_equal(lapedge.decode(image), whole), f"decodes {name}")
    for name, image, kind, words in (
            ("a file that is missing", "none.jpg", lapedge.Error, "none.jpg: no such file"),
            ("a folder", "samples", lapedge.Error, "samples: "), ("a number", 7, TypeError, "image: "),
            ("pixels", whole, TypeError, "image: "), ("no bytes", b"", lapedge.Error, ""),
            ("a cut file", data[:20000], lapedge.Error, "truncated")):
        report(raises(kind, words, lapedge.decode, image), f"refuses {name}")
    report(lapedge.decode(data[:20000], fail_on="none").shape == whole.shape, "a cut file with fail_on='none'")
    for words, more in (("channels", {"channels": 4}), ("layout", {"layout": "WHC"}), ("fail_on", {"fail_on": "never"}),
                        ("limit", {"max_pixels": 1000}), ("limit", {"max_memory": 1000}), ("codec", {"codec": "x"}),
                        ("host", {"codec": "cuda"})):
        report(raises((lapedge.Error, ValueError), words, lapedge.decode, PHOTO, **more), f"refused: {more}")
    report(np.array_equal(lapedge.decode(PHOTO, luma=True),
                          lapedge.decode(lapedge.run_bytes(data, filter=False, gray=True, format="pgm"))),
           "luma is the program's gray")
    image = bytearray(data)
    pixels = lapedge.decode(image)
    image[:] = bytes(len(image))
    del image
    gc.collect()
    others = [lapedge.decode(PHOTO, channels=1) for _ in range(20)]
    report(np.array_equal(pixels, whole) and pixels.flags.c_contiguous and pixels.flags.writeable and len(others) == 20,
           "an array outlives its image, is contiguous and can be written to")


def outputs():
    whole, gray = lapedge.decode(PHOTO), lapedge.decode(PHOTO, 1)
    height, width = gray.shape
    canvas = np.full((height + 7, width + 9, 3), 7, np.uint8)
    place = canvas[3:-4, 4:-5]
    report(lapedge.decode(PHOTO, out=place) is place and np.array_equal(place, whole) and (canvas[:3] == 7).all() and
           (canvas[:, :4] == 7).all() and (canvas[-4:] == 7).all() and (canvas[:, -5:] == 7).all(),
           "into a crop, and nothing around it")
    for shape, more, expected in (
            ((height, width), {}, gray), ((height, width, 1), {}, gray[..., None]), ((height, width), {"channels": 1}, gray),
            ((3, height, width), {"layout": "CHW"}, whole.transpose(2, 0, 1)),
            ((1, height, width), {"layout": "CHW"}, gray[None])):
        out = np.zeros(shape, np.uint8)
        report(lapedge.decode(PHOTO, out=out, **more) is out and np.array_equal(out, expected), f"out: {shape} {more}")
    planes = lapedge.decode(PHOTO, layout="CHW")
    report(np.array_equal(planes, whole.transpose(2, 0, 1)) and planes.flags.c_contiguous, "CHW is contiguous")
    strided = np.zeros((3, height, 2 * width), np.uint8)[:, ::-1, ::2]
    report(lapedge.decode(PHOTO, out=strided, layout="CHW") is strided and np.array_equal(strided, planes),
           "CHW into any strides")
    frozen = whole.copy()
    frozen.flags.writeable = False
    data = np.fromfile(PHOTO, np.uint8)
    big = np.zeros((height, width * 2, 3), np.uint8)
    room = np.zeros(max(whole.nbytes, data.nbytes), np.uint8)
    room[:data.nbytes] = data
    for kind, words, out, more in (
            (ValueError, "picture has 451x300", whole[1:].copy(), {}), (ValueError, "shape", gray, {"channels": 3}),
            (ValueError, "shape", whole, {"channels": 1}), (ValueError, "shape", whole[..., :2].copy(), {}),
            (ValueError, "shape", planes, {}), (ValueError, "shape", gray, {"layout": "CHW"}),
            (ValueError, "picture", planes[:, 1:].copy(), {"layout": "CHW"}),
            (ValueError, "read-only", frozen, {}), (ValueError, "side by side", big[:, ::2], {}),
            (ValueError, "top to bottom", whole.copy()[::-1], {}), (TypeError, "uint8", whole.astype(np.int16), {}),
            (TypeError, "NumPy", bytearray(whole.nbytes), {})):
        before = np.array(out)
        problem = raises(kind, words, lapedge.decode, PHOTO, out=out, **more)
        report(problem and np.array_equal(before, out), f"out: refused, and as it was: {words} {more}")
    problem = raises(ValueError, "overlaps", lapedge.decode, room[:data.nbytes],
                     out=room[:whole.nbytes].reshape(whole.shape))
    report(problem and np.array_equal(room[:data.nbytes], data), "out: refused over the image's bytes")


def encoding():
    with tempfile.TemporaryDirectory() as folder:
        for shape in ((40, 51), (40, 51, 1), (40, 51, 3)):
            array = random.integers(0, 256, shape, dtype=np.uint8)
            ppm = Path(folder, "in.ppm")
            ppm.write_bytes(b"P%d\n51 40\n255\n" % (6 if shape[-1] == 3 else 5) + array.tobytes())
            for more in ({}, {"quality": 31, "restart": "on"}, {"progressive": True}, {"optimize": True}):
                ours = lapedge.encode(array, **more)
                report(ours == lapedge.run_bytes(ppm.read_bytes(), filter=False, subsampling="420", **more),
                       f"encode: the bytes of a run without a filter {shape} {more}")
        array = random.integers(0, 256, (40, 51, 4), dtype=np.uint8)
        report(lapedge.encode(array) == lapedge.encode(array[..., :3]), "the fourth channel is dropped")
        report(lapedge.encode(array[::-1, ::-1, :3]) == lapedge.encode(array[::-1, ::-1, :3].copy()), "any strides")
        report(lapedge.encode(array[..., :3].transpose(2, 0, 1), layout="CHW") == lapedge.encode(array[..., :3]), "CHW")
        report(np.array_equal(lapedge.decode(lapedge.encode(array[..., :3], format="png")), array[..., :3]) and
               np.array_equal(lapedge.decode(lapedge.encode(array[..., 0], format="pgm")), array[..., 0]), "PNG and PGM")
        report(len(lapedge.encode(array, subsampling="444")) > len(lapedge.encode(array, subsampling="422")) >
               len(lapedge.encode(array)), "444, 422, 420")
    for words, arguments, more in (
            ("uint8", (array / 2,), {}), ("shape", (array[0, 0],), {}), ("shape", (array[..., :2],), {}),
            ("no pixels", (array[:0],), {}), ("shape", (array[..., 0],), {"layout": "CHW"}), ("quality", (array, 0), {}),
            ("quality", (array, 101), {}), ("subsampling", (array, 90, "411"), {}), ("format", (array,), {"format": "gif"}),
            ("65500", (np.zeros((1, 70000), np.uint8),), {}),
            ("timeout", (array,), {"timeout": 1e-9})):
        report(raises((lapedge.Error, ValueError, TypeError), words, lapedge.encode, *arguments, **more),
               f"encode refuses: {words} {more}")


def kernels():
    array = random.integers(0, 256, (30, 41, 3), dtype=np.uint8)
    small = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    framed = np.pad(small, 1)
    expected = lapedge.filter(array, kernel=" ".join(map(str, framed.ravel())))
    for name, kernel in (("3x3", small), ("5x5", framed), ("nested lists", small.tolist()), ("25 numbers", framed.ravel()),
                         ("floats", framed.astype(np.float32)), ("Fortran's order", np.asfortranarray(framed))):
        report(np.array_equal(lapedge.filter(array, kernel=kernel), expected), f"kernel: {name}")
    lopsided = (np.arange(25) - 12).reshape(5, 5)
    report(np.array_equal(lapedge.filter(array, kernel=lopsided.T), lapedge.filter(array, kernel=lopsided.T.copy())) and
           not np.array_equal(lapedge.filter(array, kernel=lopsided.T), lapedge.filter(array, kernel=lopsided)),
           "kernel: rows are rows")
    for kernel in (np.zeros((4, 4)), np.zeros((2, 2, 2)), [1, 2, 3]):
        report(raises(ValueError, "kernel: the shape", lapedge.filter, array, kernel=kernel), "kernel: another shape")
    report(raises((lapedge.Error, ValueError), "", lapedge.filter, array, kernel=np.full((3, 3), np.nan)), "kernel: NaN")
    report(np.array_equal(lapedge.edges(PHOTO, 1, upright=True, kernel=small, border="wrap"),
                          lapedge.filter(lapedge.decode(PHOTO, 1), kernel=small, border="wrap")), "edges")


# ---- many at once -------------------------------------------------------------------------------


def batches():
    images = sorted(Path("samples").glob("*.jpg")) * 5
    data = [p.read_bytes() for p in images]
    expected = [lapedge.decode(p) for p in images]
    for name, given, more in (("paths", images, {}), ("bytes", data, {"threads": 3}), ("a generator", iter(data), {}),
                              ("more threads than images", images[:2], {"threads": 7})):
        arrays = lapedge.decode_batch(given, **more)
        report(all(map(np.array_equal, arrays, expected)) and len(arrays) in (2, len(images)), f"decode_batch of {name}")
    report(lapedge.decode_batch([]) == [], "decode_batch of nothing")
    report(all(map(np.array_equal, lapedge.edges_batch(data, 1, border="reflect"),
                   [lapedge.edges(d, 1, border="reflect") for d in data])), "edges_batch")
    broken = [*data[:3], b"none", *data[3:7], data[0][:9000], data[1]]
    for function in (lapedge.decode_batch, lapedge.edges_batch):
        for one in ("samples/chelsea.jpg", b"\xff\xd8", bytearray(2), memoryview(b"ab"), Path("samples/chelsea.jpg")):
            report(raises(TypeError, "images: a list", function, one, errors="return"),
                   f"{function.__name__} refuses {type(one).__name__} as the list")
        results = function(broken, errors="return", threads=4)
        kinds = [r.kind if isinstance(r, lapedge.Error) else r.shape for r in results]
        whole = [a.shape for a in expected]
        report(kinds == [*whole[:3], "not_jpeg", *whole[3:7], "truncated", whole[1]],
               f"{function.__name__}: an Error in its place, the others whole", kinds)
        problem = raises(lapedge.Error, "", function, broken, threads=4)
        report(problem and problem.kind == "not_jpeg", f"{function.__name__}: the first Error by order is raised")
        report(raises(TypeError, "image: ", function, [data[0], 7], errors="return"),
               f"{function.__name__}: what is no image at all is raised")
    report(raises(ValueError, "errors", lapedge.decode_batch, data, errors="ignore"), "errors='ignore' is refused")
    array = random.integers(0, 256, (3000, 3000, 3), dtype=np.uint8)
    large = lapedge.encode(array)
    for name, work in (("encode", lambda: lapedge.encode(array)),
                       ("encode, progressive", lambda: lapedge.encode(array, progressive=True)),
                       ("decode", lambda: lapedge.decode(large, threads=1)),
                       ("decode_batch", lambda: lapedge.decode_batch([large] * 8, threads=2))):
        good, says = interrupted(work)
        report(good, f"Ctrl-C ends {name}", says)
    report(all(map(np.array_equal, lapedge.decode_batch(images), expected)), "and the next batch works")


def packed():
    """Batches in one array: what is in it, beyond it, and what is refused before any work."""
    files = sorted(p for p in Path("samples").glob("*.jpg") if p.stat().st_size < 1 << 20)
    gray = lapedge.encode(lapedge.decode(files[1], 1))
    images = [*files, b"none", gray, files[0].read_bytes()[:9000]]
    for function, alone in ((lapedge.decode_batch, lapedge.decode), (lapedge.edges_batch, lapedge.edges)):
        for channels, layout in ((None, "HWC"), (1, "HWC"), (3, "HWC"), (None, "CHW"), (1, "CHW")):
            more = {"layout": layout} if layout == "CHW" else {}
            if more and alone is lapedge.edges:
                continue
            each = function(images, channels, errors="return", **more)
            for pack in ("arena", "padded"):
                wanted = [lapedge.Error if isinstance(e, lapedge.Error) else
                          alone(i, channels if pack == "arena" else channels or 3, **more)
                          for i, e in zip(images, each)]
                got = function(images, channels, pack=pack, errors="return", **more)
                good = all(isinstance(g, w) if isinstance(w, type) else np.array_equal(g, w) and
                           np.shares_memory(g, got.whole) for g, w in zip(got, wanted))
                rest = int(got.whole.sum(dtype=np.int64)) - sum(int(g.sum(dtype=np.int64)) for g in got
                                                                if not isinstance(g, lapedge.Error))
                report(good and (pack == "arena" or rest == 0) and each.whole is None,
                       f"{function.__name__} {pack} {channels} {layout}", [rest])
    images = [*files, gray]
    wanted = lapedge.decode_batch(images, 3)
    height, width = (max(a.shape[axis] for a in wanted) for axis in (0, 1))
    out = np.full((len(images), height + 3, width + 5, 3), 7, np.uint8)
    got = lapedge.decode_batch(images, out=out)
    beyond = int((out == 7).sum()) - sum(int((a == 7).sum()) for a in wanted)
    report(got.whole is out and all(map(np.array_equal, got, wanted)) and
           beyond == out.size - sum(a.size for a in wanted), "decode_batch into a larger array, and nothing around")
    planes = np.zeros((len(images), 1, height, width), np.uint8)
    got = lapedge.decode_batch(images, out=planes, layout="CHW")
    report(all(np.array_equal(a[0], lapedge.decode(i, 1)) for a, i in zip(got, images)), "the channels of `out`")
    edges = lapedge.edges_batch(images, out=out)
    report(all(map(np.array_equal, edges, map(lapedge.filter, wanted))), "edges_batch into an array")
    frozen = np.zeros_like(out)
    frozen.flags.writeable = False
    room = np.zeros(out.size, np.uint8)
    room[:len(gray)] = np.frombuffer(gray, np.uint8)
    inside, over = room[:len(gray)], room.reshape(out.shape)
    for words, kind, place, more in (
            ("shape", ValueError, out[1:], {}), ("shape", ValueError, out[:, 4:], {}),
            ("shape", ValueError, out[:, :, 6:], {}), ("shape", ValueError, out[..., :2], {}),
            ("shape", ValueError, out[..., 0], {"channels": 3}), ("shape", ValueError, out, {"layout": "CHW"}),
            ("read-only", ValueError, frozen, {}), ("uint8", TypeError, out.astype(np.int16), {}),
            ("NumPy", TypeError, [1], {}), ("side by side", ValueError, np.repeat(out, 2, 2)[:, :, ::2], {}),
            ("padded", ValueError, out, {"pack": "arena"}), ("overlaps", ValueError, over, {})):
        before = np.array(place)
        given = [*files, inside] if words == "overlaps" else images
        report(raises(kind, words, lapedge.decode_batch, given, out=place, **more) and np.array_equal(before, place),
               f"decode_batch refuses `out`, and leaves it: {words} {more}")
    report(raises(ValueError, "pack", lapedge.decode_batch, images, pack="tight"), "pack='tight' is refused")
    for pack in ("arena", "padded"):
        report(lapedge.decode_batch([], pack=pack) == [], f"nothing in one array: {pack}")
        problem = raises(lapedge.Error, "", lapedge.decode_batch, [images[0], b"none", b"x"], pack=pack)
        report(problem and problem.kind == "not_jpeg", f"{pack}: the first Error by order is raised")


def at_once():
    files = sorted(Path("samples").glob("*.jpg"))
    expected = [lapedge.decode(f) for f in files]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(lambda i: lapedge.decode(files[i % len(files)], threads=1 + i % 3), range(64)))
    report(all(np.array_equal(a, expected[i % len(files)]) for i, a in enumerate(arrays)), "64 calls by eight threads")
    large = lapedge.encode(random.integers(0, 256, (2500, 2500, 3), dtype=np.uint8))
    good, says = lets_others_work(lambda: lapedge.decode(large, threads=1))
    report(good, "the interpreter's lock is released", says)


def decoded(path):
    return lapedge.decode(path, threads=2).tobytes()


def children():
    files = [str(p) for p in sorted(Path("samples").glob("*.jpg"))] * 3
    expected = [decoded(f) for f in files] # the pool of threads is there; a child of fork has none of it
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            report(pool.map_async(decoded, files).get(120) == expected, f"workers by {method}")


def never_grows():
    """Memory after many calls, good and bad."""
    data, cut = Path(PHOTO).read_bytes(), Path(PHOTO).read_bytes()[:9000]
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) # the kernel would make huge pages of what is there meanwhile

    def round_of(n):
        for _ in range(n):
            lapedge.decode(data, threads=1)
            lapedge.decode(data, 1, layout="CHW", threads=1)
            raises(lapedge.Error, "", lapedge.decode, cut, threads=1)
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    first, last = round_of(100), round_of(1000)
    report(last - first < 4 << 20, "3,000 calls take no memory", f"{first} to {last} bytes")


def documentation():
    for name in ("_pixels", "_files", "_reports", "_folders"):
        module = sys.modules[f"lapedge.{name}"]
        said = io.StringIO()
        runner = doctest.DocTestRunner()
        for test in doctest.DocTestFinder().find(module):
            runner.run(test, out=said.write)
        done = runner.summarize(verbose=False)
        report(done.attempted > 0 and done.failed == 0, f"{done.attempted} examples of lapedge.{name}", said.getvalue())


if __name__ == "__main__": # spawned children import this file
    for step in (pillow, inputs, outputs, encoding, kernels, batches, packed, at_once, children, never_grows,
                 documentation):
        step()
    finish()
