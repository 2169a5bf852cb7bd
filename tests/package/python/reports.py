#!/usr/bin/python3
"""info, stats, diff, transform and run_folder from Python against the program. Run in the root of the tree after
`make`; TAP on stdout."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [os.path.join(os.environ.get("B", "build"), "python"), "tests/support"]
from outcome import TRIES, interrupted, raises  # noqa: E402
from tap import finish, report  # noqa: E402

try:
    import numpy as np

    import lapedge
except ImportError as problem:
    print(f"1..1\nok 1 - reports from Python # SKIP {problem}")
    sys.exit(0)

PROGRAM = os.path.abspath(os.environ.get("LAPEDGE", "lapedge"))
PHOTO = "samples/chelsea.jpg"


def program(*words, status=0):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words}: exit status {done.returncode}")
    return done.stdout


def infos(folder):
    ppm, odd = Path(folder, "in.ppm"), Path(folder, "odd.jpg")
    ppm.write_bytes(b"P6\n8 4\n255\n" + bytes(96))
    lapedge.run(PHOTO, odd, progressive=True, subsampling="420", rotate=90)
    for path in (PHOTO, "samples/astronaut.jpg", str(ppm), str(odd)):
        theirs, ours = json.loads(program("info", "--json", path)), lapedge.info(path)
        same = [theirs[name] == getattr(ours, name) for name in ("format", "bytes", "width", "height", "components")]
        if ours.format == "jpeg":
            same += [theirs[name] == getattr(ours, name) for name in
                     ("frame", "arithmetic", "quantization_tables", "huffman_tables", "restart_interval", "scans",
                      "orientation")]
            same.append(theirs["sampling"] == [list(pair) for pair in ours.sampling])
            same.append(set(theirs["metadata"]) == {m.kind for m in ours.metadata})
        report(all(same), f"info: the program's of {Path(path).name}", (theirs, ours))
        report(lapedge.info(Path(path).read_bytes()) == ours, "and the same of its bytes")
    before = len(os.listdir("/proc/self/fd"))
    problem = raises(lapedge.Error, "memory: ", lapedge.info, b"none")
    report(problem and problem.kind == "not_jpeg", "info of no image")
    report(raises(lapedge.Error, "none.jpg", lapedge.info, folder + "/none.jpg"), "info of no file")
    report(len(os.listdir("/proc/self/fd")) == before, "no file is left open")


def same_stats(theirs, ours):
    wrong = [] if len(theirs["channels"]) == len(ours) else ["number of channels"]
    for channel in theirs["channels"]:
        mine = ours[channel["name"]]
        wrong += [(channel["name"], name) for name in channel if name != "histogram" and
                  channel[name] != getattr(mine, name)]
        wrong += [] if channel["histogram"] == mine.histogram.tolist() else [(channel["name"], "histogram")]
    return wrong


def statistics():
    for options, more in ((["--threshold=9"], {"above": 9}), (["--gray", "--border=reflect"],
                                                              {"gray": True, "border": "reflect"})):
        theirs = json.loads(program("stats", "--json", *options, PHOTO))
        for name, image in (("path", PHOTO), ("bytes", Path(PHOTO).read_bytes())):
            ours = lapedge.stats(image, **more)
            wrong = same_stats(theirs["input"], ours.input) + same_stats(theirs["edges"], ours.edges)
            report(not wrong, f"stats of a {name}: the program's {' '.join(options)}", wrong)
    pixels = lapedge.decode(PHOTO)
    for more in ({}, {"above": 30, "border": "wrap"}, {"mask_border": 7}):
        file, array = lapedge.stats(PHOTO, **more), lapedge.stats(pixels, **more)
        wrong = [name for part in ("input", "edges") for name, c in getattr(file, part).items()
                 if str(c) != str(getattr(array, part)[name])]
        report(not wrong and array.input["red"].sum == int(pixels[..., 0].astype(int).sum()), f"stats of pixels {more}")
    report(np.asarray(lapedge.stats(pixels[::2, ::-3]).input["blue"].histogram).tolist() ==
           np.bincount(pixels[::2, ::-3, 2].ravel(), minlength=256).tolist(), "of any strides")
    above, below = (lapedge.stats(image).input["red"].histogram for image in (pixels[:100], pixels[100:]))
    report((above - below).min() < 0 and above.dtype == np.int64, "histograms can be subtracted")
    gray = lapedge.decode(PHOTO, luma=True)
    of_file, of_pixels = (lapedge.stats(image, profiles=True, border="wrap") for image in (PHOTO, gray))
    edges = lapedge.filter(gray, border="wrap").astype(np.float64)
    report(np.allclose(of_file.rows, edges.mean(axis=1), rtol=1e-5) and of_file.rows.dtype == np.float32 and
           np.allclose(of_file.columns, edges.mean(axis=0), rtol=1e-5) and
           np.array_equal(of_file.rows, of_pixels.rows) and np.array_equal(of_file.columns, of_pixels.columns) and
           lapedge.stats(PHOTO).rows is None, "profiles of a file and of pixels")
    report(raises(ValueError, "one channel", lapedge.stats, pixels, profiles=True), "no profiles of three channels")
    report(lapedge.stats(pixels, mask_border=150).edges == {}, "a mask that leaves nothing")
    for kind, words, image, more in ((ValueError, "above", PHOTO, {"above": 256}), (TypeError, "uint8", pixels / 2, {}),
                                     (ValueError, "mask_border", pixels, {"mask_border": -1}),
                                     (lapedge.Error, "none.jpg: ", "none.jpg", {})):
        report(raises(kind, words, lapedge.stats, image, **more), f"stats refuses: {words}")


def differences(folder):
    worse, a = Path(folder, "worse.jpg"), lapedge.decode(PHOTO)
    lapedge.run(PHOTO, worse, filter=False, quality=40)
    theirs = json.loads(program("diff", "--json", PHOTO, str(worse), status=1))
    for name, pair in (("paths", (PHOTO, worse)), ("bytes", (Path(PHOTO).read_bytes(), worse.read_bytes())),
                       ("pixels", (a, lapedge.decode(worse)))):
        ours = lapedge.diff(*pair, ssim=True)
        wrong = [n for n in ("identical", "max_abs", "mean_abs", "rmse", "psnr", "differing_pixels", "ssim")
                 if theirs[n] != getattr(ours, n)]
        report(not wrong and not ours.identical, f"diff of {name}: the program's", (wrong, theirs, ours))
    b = a.copy()
    b[7, 9, 1] ^= 3
    ours = lapedge.diff(a[::-1], b[::-1])
    report(ours.first == (9, a.shape[0] - 8, 1, int(a[7, 9, 1]), int(b[7, 9, 1])) and ours.differing_pixels == 1 and
           ours.ssim is None, "diff: the first difference", ours)
    report(lapedge.diff(a, a).identical and lapedge.diff(a, a).psnr is None and lapedge.diff(a, a).first is None,
           "diff: none")
    for pair, about in (((a, a[1:]), "a and b"), ((PHOTO, a[1:]), PHOTO + " and b"),
                        ((PHOTO, Path("samples/coffee.jpg")), PHOTO + " and samples/coffee.jpg")):
        problem = raises(lapedge.Error, "sizes differ", lapedge.diff, *pair)
        report(problem and problem.kind == "different" and problem.subject == about, f"diff of two sizes: {about}")


def transforms(folder):
    out = Path(folder, "turned.jpg")
    for options, more in ((["--rotate=90"], {"rotate": 90}), (["--flip=h", "--trim"], {"flip": "h", "lossless": "trim"}),
                          (["--rotate=180", "--quality=70", "--subsampling=444"],
                           {"rotate": 180, "quality": 70, "subsampling": "444"})):
        theirs = Path(folder, "theirs.jpg")
        program("transform", "-q", *options, PHOTO, str(theirs))
        report(lapedge.transform(PHOTO, **more) == theirs.read_bytes(), f"transform: the program's {' '.join(options)}")
        done = lapedge.transform(Path(PHOTO).read_bytes(), out, **more)
        report(out.read_bytes() == theirs.read_bytes() and done.bytes_out == len(theirs.read_bytes()), "and from bytes")
    report(raises(lapedge.Error, "", lapedge.transform, PHOTO, rotate=90, lossless="perfect"),
           "transform: 'perfect' refuses partial blocks")
    report(raises(lapedge.Error, "none.jpg", lapedge.transform, folder + "/none.jpg", out, rotate=90), "no file")


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*.jpg")}


def make_photos(folder, copies):
    for i, photo in enumerate(sorted(Path("samples").glob("*.jpg")) * copies):
        place = Path(folder, f"day-{i % 3}")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, place / f"{i}.jpg")
    Path(folder, "cut.jpg").write_bytes(Path(PHOTO).read_bytes()[:9000])


def folders(root):
    photos, theirs, mine = (str(Path(root, name)) for name in ("photos", "theirs", "mine"))
    make_photos(photos, 3)
    program("-q", "--no-sync", "--quality=80", photos, theirs, status=1)
    seen = []
    counts = lapedge.run_folder(photos, mine, progress=lambda *what: seen.append(what), sync=False, quality=80)
    files = [file for file, _ in seen if file]
    report(tree(mine) == tree(theirs) and len(tree(mine)) == 12, "run_folder: the program's outputs")
    report((counts.ok, counts.failed, counts.expected, counts.kinds) == (12, 1, 13, {"truncated": 1}), "its counts", counts)
    cut = [file for file in files if file.status == "failed"]
    report(len(files) == 13 and len(cut) == 1 and cut[0].error.kind == "truncated" and cut[0].report is None and
           all(Path(f.output).stat().st_size == f.report.bytes_out for f in files if f.status == "ok"),
           "progress: every file with its output, the broken one with its Error", files)
    again = lapedge.run_folder([photos], mine, sync=False, quality=80)
    report((again.ok, again.skipped, again.failed, again.kinds) == (0, 12, 1, {"up_to_date": 12, "truncated": 1}), "run again: only what was not done", again)
    chosen = lapedge.run_folder([photos + "/day-0", photos + "/day-1"], Path(root, "flat"), sync=False, flat=True,
                                suffix="-edges", include=["*.jpg"], exclude=["0.jpg"], jobs=2)
    names = sorted(tree(Path(root, "flat")))
    report(chosen.ok == 7 and all(name.endswith("-edges.jpg") and "/" not in name for name in names),
           "include, exclude, flat, suffix", names)
    for name, more in (("included", {"include": "*.png"}), ("excluded", {"exclude": "*.jpg"})):
        report(lapedge.run_folder(photos, Path(root, name), dry_run=True, **more).expected == 0,
               f"a lone pattern is one pattern: {more}")
    report(lapedge.run_folder(os.fsencode(photos), Path(root, "bytes"), dry_run=True).expected == 13, "a path of bytes")
    shares = [lapedge.run_folder(photos, Path(root, "shares"), sync=False, shard=(i, 3)).ok for i in range(3)]
    report(sum(shares) == 12, "shares", shares)
    dry = lapedge.run_folder(photos, Path(root, "dry"), dry_run=True)
    report(dry.expected == 13 and not Path(root, "dry").exists(), "a dry run writes nothing", dry)

    class Stop(Exception):
        pass

    def stop(file, counts):
        raise Stop

    for number in range(TRIES): # again if all were done before the exception was raised
        some = Path(root, f"stopped-{number}")
        stopped = raises(Stop, "", lapedge.run_folder, photos, some, progress=stop, sync=False, jobs=1)
        if not stopped or len(tree(some)) < 12:
            break
    report(stopped and len(tree(some)) < 12, "progress that raises ends the run, and is raised")
    report(lapedge.run_folder(photos, some, sync=False).failed == 1 and len(tree(some)) == 12,
           "and the next run does the rest")
    broken = []
    for number, call in enumerate((lambda: lapedge.stats(PHOTO), lambda: lapedge.run(PHOTO, Path(root, "after.jpg")),
                                   lambda: lapedge.run_bytes(Path(PHOTO).read_bytes()),
                                   lambda: lapedge.transform(PHOTO, rotate=90),
                                   lambda: lapedge.run_folder(PHOTO, Path(root, "after"), sync=False))):
        stopped = raises(Stop, "", lapedge.run_folder, PHOTO, Path(root, f"last-{number}"), progress=stop, sync=False)
        broken += [] if stopped and not raises(lapedge.Error, "", call) else [number]
    report(not broken, "progress that raises at the last photo does not cancel the next call", broken)
    for kind, words, inputs, more in ((lapedge.Error, "none", root + "/none", {}), (TypeError, "colour", photos, {"colour": 1}),
                                      (lapedge.Error, "", photos, {"extensions": ["exe"]}),
                                      (lapedge.Error, "", photos, {"shard": (3, 3)})):
        report(raises(kind, words, lapedge.run_folder, inputs, Path(root, "refused"), **more), f"refused: {more}")


def ctrl_c(root):
    photos, outs = Path(root, "many"), [Path(root, "interrupted")]
    make_photos(photos, 25)

    def work():
        outs.append(Path(root, f"interrupted-{len(outs)}"))
        lapedge.run_folder(photos, outs[-1], sync=False, backend="c", threads=1)

    good, says = interrupted(work)
    report(good and len(tree(outs[-1])) < 100 == len(tree(outs[1])), "Ctrl-C ends run_folder",
           f"{says}, {len(tree(outs[-1]))} photos of {len(tree(outs[1]))}")


with tempfile.TemporaryDirectory() as scratch:
    for step in (infos, differences, transforms, folders, ctrl_c):
        step(scratch)
    statistics()
finish()
