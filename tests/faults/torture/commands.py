"""Command lines of every kind, small and quick, for the classes that let calls fail in each of them."""

import shutil

from torture import WORK, photo, photos, run, said

IN, OUT = WORK / "commands", WORK / "made"


def prepare():
    """Inputs of every kind, in WORK/commands."""
    shutil.rmtree(IN, ignore_errors=True)
    photos(IN / "photos", 3)
    photo(IN / "a.jpg", 72, 48, "--subsampling=420")
    photo(IN / "long.jpg", 40, 700, "--subsampling=422")
    for name, options in (("a.png", []), ("a.ppm", []), ("a.pgm", ["--gray"]), ("progressive.jpg", ["--progressive"]),
                          ("b.jpg", ["--invert"])):
        done = run("--no-sync", *options, IN / "a.jpg", IN / name)
        assert done.returncode == 0, said(done)
    (IN / "list").write_text("".join(f"{path}\n" for path in sorted((IN / "photos").rglob("*.jpg"))))
    (IN / "kernel").write_text(" ".join(["-1"] * 12 + ["24"] + ["-1"] * 12))
    (IN / "weights").write_text(" ".join(str(x) for x in range(120)))


def command_lines(backend="c", bench="c,simd"):
    """[words]; what they write lies in WORK/made."""
    one, quick = ["--no-sync", f"--backend={backend}", "--threads=1"], ["--runs=1", "--sizes=64x48", f"--backends={bench}"]
    out = OUT / "o.jpg"
    return [
        [*one, "--decode=parallel", IN / "long.jpg", out], [*one, "--restart=on", "--threads=2", IN / "long.jpg", out],
        [*one, "--progressive", IN / "progressive.jpg", out], [*one, "--optimize", "--gray", IN / "a.jpg", out],
        [*one, "--border=wrap", f"--kernel={IN}/kernel", "--auto-orient", IN / "a.png", OUT / "o.png"],
        [*one, "--strip", "--range=abs", "--threshold=9", IN / "a.pgm", OUT / "o.tsv"],
        [*one, IN / "a.ppm", OUT / "o.bmp"], [*one, IN / "a.jpg", OUT / "o.tga"],
        [*one, f"--stats={OUT}/s.json", f"--report={OUT}/r.html", f"--json-file={OUT}/j.json", IN / "a.jpg", out],
        [*one, "-j2", f"--log={OUT}/l.jsonl", f"--trace={OUT}/t.json", "--json", IN / "photos", OUT / "edges"],
        [*one, f"--files-from={IN}/list", "--flat", "--suffix=-e", "--format=png", OUT / "edges"],
        [*one, "--include=*.jpg", "--exclude=0*", "--shard=0/2", IN / "photos", OUT / "edges"],
        ["transform", "--no-sync", "--rotate=90", IN / "a.jpg", out],
        ["transform", "--no-sync", "--trim", "--transverse", "--progressive", IN / "progressive.jpg", out],
        ["transform", "--no-sync", "--transverse", IN / "long.jpg", OUT / "o.png"],
        ["transform", "--no-sync", "--flip=h", "-j2", IN / "photos", OUT / "edges"],
        ["stats", "--profiles", f"--weights={IN}/weights", "--json", IN / "a.jpg"],
        ["stats", "--csv", IN / "a.png"], ["stats", "--auto-orient", "--threads=2", IN / "long.jpg"],
        ["diff", f"--heatmap={OUT}/h.png", "--max-abs=255", IN / "a.jpg", IN / "b.jpg"],
        ["compare", "--runs=1", "--ops=all", f"--backends={bench}", IN / "photos"],
        ["compare", "--runs=1", f"--backends={bench}", f"--report={OUT}/c.html", IN / "a.jpg"],
        ["info", IN / "a.jpg"], ["info", "--json", IN / "progressive.jpg"], ["info", IN / "a.png"], ["info", IN / "a.ppm"],
        ["bench", *quick, "filter", "transpose", "histogram"], ["bench", *quick, "--warm", f"--image={IN}/a.jpg", "filter"],
        ["bench", "--runs=1", "--n=1000", f"--backends={bench}", "reduce"],
        ["bench", "--runs=1", "--n=40", f"--backends={bench}", "--json", "matvec"],
        ["bench", "--runs=1", f"--image={IN}/a.jpg", "codec"],
        ["bench", "--runs=1", f"--image={IN}/photos", "codec"],
        ["backends", "--json"], ["doctor"],
    ]


def fresh():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
