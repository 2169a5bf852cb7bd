#!/usr/bin/python3
"""Every setting in every function of the Python module changes what can be seen, or is refused. Run in the root of the
tree after `make`; TAP on stdout."""
import dataclasses
import os
import pickle
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

sys.path[:0] = [os.path.join(os.environ.get("B", "build"), "python"), "tests/support"]
from tap import finish, report  # noqa: E402

try:
    import numpy as np

    import lapedge
except ImportError as problem:
    print(f"1..1\nok 1 - settings of the Python module # SKIP {problem}")
    sys.exit(0)

# A value that shows. All photos are progressive, say that they lie on their side, and have a comment and a warning.
VALUES = {
    "filter": False, "backend": "nope", "kernel": "log5", "flip_kernel": True, "border": "wrap", "range": "abs",
    "scale": 0.5, "offset": 9.0, "invert": True, "threshold": 9, "gray": True, "threads": 5000, "device": 9,
    "auto_orient": True, "rotate": 90, "flip": "v", "format": "bmp", "quality": 40, "subsampling": "422",
    "restart": "on", "progressive": True, "optimize": True, "sync": False, "strip": True, "keep": ["icc"],
    "preserve": True, "in_place": True, "no_clobber": True, "codec": "cuda", "max_pixels": 5, "max_memory": 5,
    "max_scans": 1, "timeout": 1e-9, "fail_on": "warning", "lossless": "perfect", "upright": True, "luma": True,
    "layout": "CHW", "channels": 1, "pack": "padded", "errors": "raise", "above": 9, "mask_border": 9,
    "profiles": True, "ssim": True, "jobs": 1, "fail_fast": True, "force": True, "dry_run": True, "rebuild": True,
    "include": "*.png", "exclude": "*.jpg", "extensions": "png", "follow": True, "suffix": "-x", "flat": True,
    "skip_existing": True, "shard": (3, 3)}
BESIDE = {"flip_kernel": {"kernel": [1, *24 * [0]]}, "pack": {"layout": "HWC"}}
OF_FOLDERS = {"jobs", "fail_fast", "follow"} # they show in other folders than these
# Settings that change no output here: nobody sees a sync, this machine may have no device, and "raise" is the default.
UNSEEN = {"run": {"sync", "device", "codec"}, "run_folder": {"sync", "device", "codec"} | OF_FOLDERS,
          "transform to a file": {"sync", "codec"}, "run_bytes": {"device", "codec"}, "stats of a file": {"device"},
          "run without filter": {"sync", "filter", "codec"}, "decode_batch": {"errors"}, "edges_batch": {"errors"}}
WAS = 1000000000


def photo(folder):
    """Its path. The warning: bytes between two segments."""
    path, pixels = Path(folder, "in.jpg"), lapedge.decode("samples/chelsea.jpg")[:83, :101]
    data = lapedge.encode(pixels, progressive=True, subsampling="444")
    tag = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\x01\0\6\0\0\0\0\0\0"
    exif, comment = b"\xff\xe1" + (len(tag) + 2).to_bytes(2, "big") + tag, b"\xff\xfe\0\6note"
    path.write_bytes(data[:2] + exif + comment + b"\1\2" + data[2:])
    os.utime(path, (WAS, WAS))
    return path


def seen(result):
    """What can be compared."""
    if dataclasses.is_dataclass(result):
        return {f.name: seen(getattr(result, f.name)) for f in dataclasses.fields(result) if f.name != "milliseconds"}
    if isinstance(result, dict):
        return {name: seen(value) for name, value in result.items()}
    if isinstance(result, np.ndarray):
        return result.shape, result.tobytes()
    if isinstance(result, list):
        whole = getattr(result, "whole", None)
        return [seen(part) for part in result], whole is None or whole.shape
    return result


def outputs(folder):
    return {str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime == WAS) for p in Path(folder).rglob("*.*")
            if p.is_file() and ".lapedge" not in str(p)}


def functions(folder, path):
    """{name: function of settings that returns what can be seen}"""
    data, pixels, other = path.read_bytes(), lapedge.decode(path), lapedge.decode(path, upright=True)[::-1]
    written, worse = Path(folder, "written"), Path(folder, "worse.jpg")
    lapedge.run(path, worse, filter=False, quality=40)

    def to_file(function, name="out.jpg"):
        def work(**settings):
            written.mkdir(exist_ok=True)
            (written / name).write_bytes(b"before")
            done = function(path, written / name, **settings)
            return seen(done), outputs(written)
        return work

    def to_folder(**settings):
        """A first run, one of outputs that are up to date, and one where an output is in the way."""
        found = []
        for before in (None, {"sync": False}, b"in the way"):
            shutil.rmtree(written, ignore_errors=True)
            if isinstance(before, dict):
                lapedge.run_folder(path.parent.parent, written, **before)
            elif before:
                (written / "day").mkdir(parents=True)
                (written / "day" / path.name).write_bytes(before)
            found.append(seen(lapedge.run_folder(path.parent.parent, written, **{"sync": False, **settings})))
            found.append(outputs(written))
        return found

    def plain(function, *arguments):
        return lambda **settings: seen(function(*arguments, **settings))

    def turned(*arguments, **settings):
        return lapedge.transform(*arguments, **{"rotate": 180, **settings})

    return {"run": to_file(lapedge.run), "transform to a file": to_file(turned), "run_folder": to_folder,
            "run_bytes": plain(lapedge.run_bytes, data), "transform": plain(turned, data),
            "stats of a file": plain(lapedge.stats, path), "stats of pixels": plain(lapedge.stats, pixels),
            "diff of files": plain(lapedge.diff, path, worse),
            "diff of pixels": plain(lapedge.diff, pixels, pixels[::-1]),
            "decode": plain(lapedge.decode, path), "edges": plain(lapedge.edges, path),
            "decode_batch": plain(lapedge.decode_batch, [path]), "edges_batch": plain(lapedge.edges_batch, [path]),
            "filter": plain(lapedge.filter, pixels), "encode": plain(lapedge.encode, other),
            "run to a PNG": to_file(lapedge.run, "out.png"),
            "encode to a PNG": lambda **settings: seen(lapedge.encode(other, **{"format": "png", **settings})),
            "run without filter": lambda **settings: to_file(lapedge.run)(**{"filter": False, **settings})}


def tried(function, **settings):
    try:
        return function(**settings)
    except (lapedge.Error, TypeError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"


def old_names(folder, path):
    """An old name means what the new one does, and warns where the caller wrote it."""
    data, out = path.read_bytes(), Path(folder, "named.jpg")
    for name, work in (("run", lambda **more: (lapedge.run(path, out, **more), out.read_bytes())[1]),
                       ("run_bytes", lambda **more: lapedge.run_bytes(data, **more)),
                       ("transform", lambda **more: lapedge.transform(data, **more)),
                       ("transform to a file", lambda **more: (lapedge.transform(data, out, **more), out.read_bytes())[1]),
                       ("run_folder", lambda **more: (lapedge.run_folder(path, folder + "/named", sync=False, rebuild=True, **more),
                                                      Path(folder, "named", path.name).read_bytes())[1]),
                       ("stats", lambda **more: (lambda s: (s.width, s.height, s.edges["red"].sum))(lapedge.stats(path, **more)))):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            plain, new, quiet = work(), work(upright=True), len(said)
            old = work(auto_orient=True)
        words = [str(w.message) for w in said]
        report(old == new != plain and quiet == 0 and len(said) == 1 and said[0].category is DeprecationWarning and
               said[0].filename == __file__ and "now called upright" in words[0],
               f"{name}: auto_orient is upright, with a warning", words)
        report(str(tried(work, upright=True, auto_orient=True)).startswith("TypeError: auto_orient: "),
               f"{name}: not both names at once")


with tempfile.TemporaryDirectory() as root:
    os.makedirs(root + "/in/day")
    old_names(root, photo(root))
    os.remove(root + "/in.jpg")
    warnings.simplefilter("ignore", DeprecationWarning) # below, of the setting auto_orient
    for title, call in functions(root, photo(root + "/in/day")).items():
        wrong, unseen = [], UNSEEN.get(title.replace(" to a PNG", ""), set())
        for setting, value in {**VALUES, "filter": title.startswith("transform")}.items(): # what is not true already
            beside = BESIDE.get(setting, {}) if not isinstance(tried(call, **BESIDE.get(setting, {})), str) else {}
            if setting not in unseen and tried(call, **beside) == tried(call, **beside, **{setting: value}):
                wrong.append(setting)
        report(not wrong, f"{title}: each of {len(VALUES)} settings is honoured or refused", wrong)
    content = Path("samples/chelsea.jpg").read_bytes()
    for function, setting in ((lapedge.run_bytes, {"quality": 101}), (lapedge.edges, {"threads": -1}),
                              (lapedge.run_bytes, {"filter": False, "kernel": "log5"}),
                              (lapedge.edges, {"kernel": "sobel"}), (lapedge.edges, {"scale": float("nan")})):
        try:
            said = function(content, **setting)
        except ValueError as problem:
            said = type(problem).__name__
        report(said in ("UsageError", "ValueError"), f"a refused setting is a ValueError: {setting}", said)
    again = pickle.loads(pickle.dumps(lapedge.UsageError("usage", "a", "b")))
    report(type(again) is lapedge.UsageError and str(again) == "a: b" and isinstance(again, lapedge.Error),
           "and can be sent between processes")
    for defaults in ({"in_place": False, "border": "zero", "kernel": "laplace5", "device": 0}, {"lossless": "auto"}):
        done = lapedge.transform("samples/chelsea.jpg", **defaults)
        report(isinstance(done, bytes), f"a default is accepted: {defaults}")
    for more in ({"backend": "c", "device": 1}, {"format": "png", "quality": 40}, {"filter": False, "kernel": "log5"},
                 {"filter": False, "kernel": np.ones((5, 5))}):
        says = tried(lapedge.run_bytes, image=Path("samples/chelsea.jpg").read_bytes(), **more)
        report(str(says).startswith(f"UsageError: {list(more)[1]}: "), f"refused: {list(more)}", says[:80])
finish()
