#!/usr/bin/env python3
"""Whole messages: every line on standard error, and the exit code, of runs that have something to say. Prints TAP."""

import json
import math
import os
import re
import shutil
from pathlib import Path

from made import BUILD, PHOTO, SAMPLE, WRONG, lapedge, noise, pnm, run_all

CLOCK = BUILD / "tests/step_clock.so"
TIME = r"\d+\.\d s"


def photos(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(SAMPLE)


def says(*words, lines, code=0, **more):
    """Standard error must be these lines; times in it are shown as TIME. Returns standard output."""
    out, said = lapedge(*words, code=code, **more)
    got = re.sub(rf"; {TIME}(, \d+ Mpixel/s)?$", r"; TIME", said, flags=re.M).splitlines()
    assert got == lines, f"{words}:\n" + "\n".join(got) + "\nexpected:\n" + "\n".join(lines)
    return out.decode()


def has_clock():
    return CLOCK.exists() and not os.environ.get("SANITIZED")


def stepping(step=10_000_000):
    """The environment with a clock that goes by steps, which makes a bench quick, where there is one."""
    return {**os.environ, **({"LD_PRELOAD": str(CLOCK), "LAP_STEP_NS": str(step)} if has_clock() else {})}


# ---- folders -----------------------------------------------------------------------------------------


def patterns():
    """Each pattern that matches nothing is named, in order, with the advice that it needs."""
    photos("in/a.jpg", "in/sub/b.jpg")
    braces = " (braces are matched literally; repeat the option for each pattern)"
    slash = " (a pattern with a slash begins at the named folder; */ before it matches at any depth)"
    plain = " (a pattern without a slash matches file names; end it with a slash for folders)"
    cases = [("include", "y*", plain), ("include", "24/x", slash), ("include", "x{a", braces), ("include", "b}/c", braces),
             ("exclude", "z*", ""), ("exclude", "24/y", slash), ("exclude", "{", braces), ("exclude", "x/}", braces)]
    given = [f"--{option}={pattern}" for option, pattern, _ in cases]
    out = says("-n", "--include=*.jpg", *given, "--exclude=b*", "in", "o",
               lines=[f"lapedge: {word} matches nothing{advice}" for word, (_, _, advice) in zip(given, cases)] + ["1 to be done"])
    assert out == "in/a.jpg -> o/a.jpg\n"
    said = json.loads(lapedge("-n", "-q", "--json", "--include=*.jpg", *given, "--exclude=b*", "in", "o")[0])["not_taken"]
    assert said["unused_patterns"] == [{"option": f"--{option}", "pattern": pattern} for option, pattern, _ in cases]


def many_patterns():
    """The last of as many patterns as there may be counts like the first, and no pattern counts for the other option."""
    photos("in/a.jpg", "in/b.jpg", "in/c.jpg")
    for option, all_but in (("include", ["in/a.jpg -> o/a.jpg"]), ("exclude", ["in/b.jpg -> o/b.jpg", "in/c.jpg -> o/c.jpg"])):
        other = ["--exclude=c.jpg"] if option == "include" else []
        unused = [f"--{option}=n{i}/" for i in range(63)]
        out, said = lapedge("-n", *unused, f"--{option}=a.jpg", *other, "in", "o")
        assert out.decode().splitlines() == all_but, out
        said = said.splitlines()
        assert said[-1] == f"{len(all_but)} to be done" and len(said) == 63 + len(other) + 1, said
        assert all(line.startswith(f"lapedge: {word} matches nothing (") for line, word in zip(said, unused)), said


def kinds_of_others():
    """Files that are not taken are counted by kind, 32 kinds at most; an ellipsis stands for more."""
    photos("in/a.jpg")
    Path("in/plain").touch()
    says("-n", "in", "o", lines=["lapedge: 1 other file not taken: 1 without extension", "1 to be done"])
    Path("in/plain2").touch()
    Path("in/x.k00").touch()
    out, said = lapedge("-n", "in", "o")
    assert said.splitlines()[0] in ("lapedge: 3 other files not taken: 2 without extension, 1 .k00",
                                    "lapedge: 3 other files not taken: 1 .k00, 2 without extension"), said
    for i in range(1, 31):
        Path(f"in/x.k{i:02}").touch()
    for last in ("", ", ..."):
        line = lapedge("-n", "in", "o")[1].splitlines()[0]
        head, kinds = line.split(": ", 2)[1:]
        kinds = kinds.removesuffix(", ...") if last else kinds
        assert head == f"{34 if last else 33} other files not taken" and line.endswith(last), line
        found = kinds.split(", ")
        assert len(set(found)) == 32 and all(re.fullmatch(r"1 \.k\d\d|2 without extension", kind) for kind in found), line
        Path("in/x.k31").touch()


def folders_of_outputs():
    """Outputs that are not taken are counted by folder, 8 folders at most; an ellipsis stands for more."""
    photos("in/a.jpg", "x/b.jpg", "x/c.jpg")
    lapedge("-q", "--no-sync", "in/a.jpg", "in/e0/")
    says("-n", "in", "o", lines=["lapedge: 1 output of earlier runs not taken: 1 in in/e0; to take outputs, name their folder",
                                 "1 to be done"])
    lapedge("-q", "--no-sync", "x", "in/e1/")
    end = "; to take outputs, name their folder"
    says("-n", "in", "o", lines=["lapedge: 3 outputs of earlier runs not taken: 1 in in/e0, 2 in in/e1" + end, "1 to be done"])
    for i in range(2, 8):
        shutil.copytree("in/e0", f"in/e{i}")
    named = ", ".join(f"{1 + (i == 1)} in in/e{i}" for i in range(8))
    says("-n", "in", "o", lines=[f"lapedge: 9 outputs of earlier runs not taken: {named}{end}", "1 to be done"])
    shutil.copytree("in/e0", "in/e8")
    says("-n", "in", "o", lines=[f"lapedge: 10 outputs of earlier runs not taken: {named}, ...{end}", "1 to be done"])
    said = json.loads(lapedge("-n", "-q", "--json", "in", "o")[0])["not_taken"]
    assert (said["outputs"], said["output_folders"], said["photos_in_outdir"]) == (10, 9, 0)
    assert said["left_in"] == [{"path": f"in/e{i}", "outputs": 1 + (i == 1), "photos": 0} for i in range(8)]


def photos_in_the_output_folder():
    """Photos in the output folder and outputs elsewhere are counted apart."""
    photos("in/a.jpg", "in/trip/b.jpg")
    lapedge("-q", "--no-sync", "in/a.jpg", "in/edges/")
    outputs = "lapedge: 1 output of earlier runs not taken: 1 in in/edges; to take outputs, name their folder"
    says("-n", "in", "in/trip/", lines=[
        outputs, "lapedge: 1 photo in the output folder not taken (in/trip/b.jpg); move it, or write elsewhere", "1 to be done"])
    photos("in/trip/c.jpg")
    says("-n", "in", "in/trip/", lines=[
        outputs, "lapedge: 2 photos in the output folder not taken (in/trip/b.jpg, ...); move them, or write elsewhere",
        "1 to be done"])
    said = json.loads(lapedge("-n", "-q", "--json", "in", "in/trip/")[0])["not_taken"]
    assert (said["outputs"], said["output_folders"], said["photos_in_outdir"]) == (1, 1, 2)
    assert said["left_in"] == [{"path": "in/edges", "outputs": 1, "photos": 0}, {"path": "in/trip", "outputs": 0, "photos": 2}]


def forgotten_folders():
    """A file in the place of OUTDIR: the command that is proposed can be pasted, whatever the names."""
    photos("my photos/a.jpg", "my a.jpg", "it's.jpg", "c.jpg")
    last = "is taken for OUTDIR, but is not a folder; add one:"
    for words, line in (
            (["my photos", "it's.jpg"], f"it's.jpg, the last of 2 operands, {last} 'my photos' 'it'\\''s.jpg' OUTDIR"),
            (["c.jpg", "it's.jpg", "my a.jpg"], f"my a.jpg, the last of 3 operands, {last} c.jpg ... 'my a.jpg' OUTDIR"),
            (["it's.jpg", "my a.jpg", "c.jpg"], f"c.jpg, the last of 3 operands, {last} 'it'\\''s.jpg' ... c.jpg OUTDIR")):
        for command in ([], ["transform", "--flip=h"]):
            says(*command, *words, lines=[f"lapedge: {line}"], code=2)


def summary_of_a_folder():
    """The summary of a folder run: each number is that of its kind, and the first three failures are named."""
    photos("in/a.jpg", "in/b.jpg", "in/c.jpg", "out/z.jpg")
    words = ("--no-sync", "--fail-on=none", "-j1", "--threads=1", "in", "out")
    says(*words, lines=["3 done; TIME"])
    says(*words, lines=["0 done, 3 up to date; TIME"])
    cut = SAMPLE[:len(SAMPLE) // 2]
    for name in ("d", "e"):
        Path(f"in/{name}.jpg").write_bytes(cut)
    photos("in/z.jpg")
    for name in ("f", "g", "h"):
        Path(f"in/{name}.jpg").write_text(name)
    out, said = lapedge(*words, code=1)
    lines = re.sub(rf"; {TIME}, \d+ Mpixel/s$", "; TIME", said, flags=re.M).splitlines()
    assert lines[-1] == ("2 done (2 with warnings), 3 up to date, 1 left alone (not made by lapedge, changed since, made from "
                         "other photos, or by another run), 3 failed (3 not_jpeg); TIME"), lines
    assert len(lines) == 7 and sum(": warning: " in line for line in lines) == 2, lines
    for name in ("i", "k"):
        Path(f"in/{name}.jpg").write_bytes(SAMPLE[:150])
    for quiet, shown in (([], True), (["-q"], False)):
        lines = re.sub(rf"; {TIME}(, \d+ Mpixel/s)?$", "; TIME", lapedge(*quiet, *words, code=1)[1], flags=re.M).splitlines()
        failed = [line.split(": ")[1] for line in lines if line.startswith("lapedge: in/")]
        assert sorted(failed) == [f"in/{name}.jpg" for name in "fghik"], lines
        if shown:
            number = re.search(r"5 failed \((.*)\); TIME$", lines[-2])
            assert number and number[1] == "3 not_jpeg, 2 truncated", lines
            assert lines[-1] == "first to fail: " + ", ".join(failed[:3]), lines
        else:
            assert len(lines) == 6, lines # and z.jpg


def summary_in_place():
    """The summary of --in-place: each number is that of its kind, and a photo up to date without its backup is counted."""
    photos(*(f"{name}.jpg" for name in "abcxyde"))
    common = ("--no-sync", "--in-place", "-j1", "--threads=1")
    says(*common, "--kernel=log5", "x.jpg", lines=[])
    says(*common, "a.jpg", "b.jpg", "c.jpg", lines=["3 done; TIME"])
    shutil.copy("y.jpg", "b.jpg.orig")
    Path("t1.jpg").write_text("text")
    Path("t2.jpg").write_text("text")
    Path("w.jpg").write_bytes(SAMPLE[:len(SAMPLE) // 2])
    names = [f"{name}.jpg" for name in ("a", "b", "c", "x", "d", "e", "w", "t1", "t2")]
    other = ("lapedge: x.jpg: was filtered in place before, with other settings, and is left alone; to filter the photo with "
             "these, restore the original photo first")
    out = says("-n", *common, "--backup=.orig", *names, code=1,
               lines=[other, "5 to be done, 3 up to date (2 without a backup), 1 left alone"])
    assert out == "".join(f"{name} -> {name}\n" for name in names[4:]), out
    lines = re.sub(rf"; {TIME}$", "; TIME", lapedge(*common, "--backup=.orig", "--fail-on=none", *names, code=1)[1],
                   flags=re.M).splitlines()
    assert lines[-1] == ("3 done (1 with warnings), 3 up to date (2 without a backup), 1 left alone, 2 failed (2 not_jpeg); "
                         "TIME"), lines
    assert [line.split(": ")[1] for line in lines[:-1]] == ["x.jpg", "w.jpg", "t1.jpg", "t2.jpg"], lines


def nothing_found():
    """Where no photo is found: what would have been taken, after which options, and what --ext could take."""
    Path("in").mkdir()
    for name in ("a.bmp", "b.txt", "c.png"):
        Path("in", name).touch()
    usual, others = "*.jpg *.jpeg *.jpe *.jfif, or JPEG by content", "; to take the others: --ext=png"
    for options, taken in (([], f"({usual}){others}"), (["--exclude=g*"], f"({usual}), after --exclude{others}"),
                           (["--include=g*"], f"({usual}), after --include"), (["--ext=jpe,jfif"], "(--ext=jpe,jfif)"),
                           (["--include=g*", "--exclude=h*"], f"({usual}), after --include and --exclude"),
                           (["--ext=jpe", "--include=g*", "--exclude=h*"], "(--ext=jpe), after --include and --exclude")):
        for words in (["-q", *options, "in", "o"], ["stats", "-q", *options, "in"]):
            says(*words, lines=[f"lapedge: no photo found {taken}"], code=4)
    assert not Path("o").exists()
    for name in ("d.ppm", "e.pgm", "f.pnm"):
        Path("in", name).touch()
    said = lapedge("-q", "in", "o", code=4)[1]
    start = f"lapedge: no photo found ({usual}); to take the others: --ext="
    assert said.startswith(start) and sorted(said[len(start):-1].split(",")) == ["pgm", "png", "pnm", "ppm"], said


def stopped_runs():
    """--fail-fast: what failed, and how many are left, of a folder, in place and of statistics."""
    photos("in/b.jpg", "in/c.jpg", "in/d.jpg")
    Path("in/a.jpg").write_text("text")
    files = [f"in/{name}.jpg" for name in "abcd"]
    error = lapedge("-q", "in/a.jpg", "o.jpg", code=1)[1][:-1]
    common = ("--no-sync", "--fail-fast", "-j1", "--threads=1")
    says(*common, "in", "out", lines=[error, "0 done, 1 failed (1 not_jpeg), 3 left; TIME"], code=1)
    says(*common, "--in-place", *files, lines=[error, "0 done, 1 failed (1 not_jpeg); stopped, 3 left"], code=1)
    says("stats", *common[1:], "in", lines=[error, "0 measured, 1 failed (1 not_jpeg), 3 left; TIME"], code=1)
    assert all(Path(name).read_bytes() == SAMPLE for name in files[1:])


def recoded_photos():
    """Photos that a lossless turn has to encode again are counted, and the first is named."""
    photos("in/a.jpg", "in/b.jpg")
    end = "--trim cuts to whole MCUs, --perfect refuses, -v says why"
    why = "because a lossless transformation is impossible"
    for name, line in (("in/a.jpg", f"1 JPEG was re-encoded, {why} (in/a.jpg); {end}"),
                       ("in", f"2 JPEGs were re-encoded, {why} (in/a.jpg, ...); {end}")):
        shutil.rmtree("out", ignore_errors=True)
        says("transform", "--rotate=180", "--no-sync", "-j1", name, "out/", code=0,
             lines=[f"lapedge: note: {line}", f"{1 if name != 'in' else 2} done; TIME"])


# ---- details -----------------------------------------------------------------------------------------


def matches(said, patterns):
    """Each line is of its form; returns what the groups have found."""
    lines = said.splitlines()
    found = [re.fullmatch(pattern, line) for pattern, line in zip(patterns, lines)]
    assert len(lines) == len(patterns) and all(found), said
    return [group for match in found for group in match.groups()]


def details():
    """-v: every line of a run over one image, and of one over a folder; the times of stages add up."""
    photos("in/a.jpg", "in/b.jpg")
    number = r"\d+\.\d"
    stages = rf"read {number}, decode {number}, filter {number}, encode {number}, write {number}"
    for threads, what in ((1, "1 thread"), (2, "2 threads")):
        said = lapedge("-v", "-f", "--no-sync", "--backend=c", f"--threads={threads}", "in/a.jpg", "o.jpg")[1]
        matches(said, [r"in/a\.jpg -> o\.jpg", "  image     451 x 300, 3 channels",
                       rf"  bytes     {len(SAMPLE)} in, {os.path.getsize('o.jpg')} out", f"  backend   c, up to {what}",
                       rf"  ms        {stages}, wall {number}"])
    resolved = next(row["resolved"] for row in json.loads(lapedge("backends", "--json")[0])["rows"]
                    if row["op"] == "filter" and row["name"] == "simd")
    for extra, what in ((b"x", "1 byte"), (b"xy", "2 bytes")):
        Path("in.jpg").write_bytes(SAMPLE + extra)
        said = lapedge("-v", "-f", "--no-sync", "--backend=simd", "--threads=1", "--gray", "in.jpg", "o.jpg")[1]
        matches(said, [r"in\.jpg -> o\.jpg", "  image     451 x 300, 1 channel", rf"  bytes     {len(SAMPLE) + len(extra)} in, .*",
                       f"  backend   simd -> {resolved}, up to 1 thread",
                       f"  note      {what} after the end of the JPEG left out", rf"  ms        {stages}, wall {number}"])
    said = lapedge("transform", "-v", "--trim", "--flip=h", "--no-sync", "--threads=1", "in/a.jpg", "t.jpg")[1].splitlines()
    assert said[3] == "  backend   none, up to 1 thread" and said[0] == "in/a.jpg -> t.jpg", said
    said = lapedge("-v", "--no-sync", "-j1", "--threads=1", "in", "out", env=stepping(3_000_000))[1]
    times = matches(said, [rf"in/{name}\.jpg -> out/{name}\.jpg  451 x 300, {number} ms" for name in "ab"] +
                    [rf"2 done; {TIME}, \d+ Mpixel/s", "  by        the CPU alone: .+", "  at once   up to 1",
                     rf"  ms        read ({number}), decode ({number}), filter ({number}), encode ({number}), "
                     rf"write ({number}), added up ({number})"])
    assert math.isclose(sum(map(float, times[:5])), float(times[5]), abs_tol=0.4), said
    said = lapedge("stats", "-v", "--backend=simd", "-j1", "--threads=2", "in")[1]
    matches(said, ["lapedge: up to 1 files at once, 2 threads"] +
            [rf"lapedge: in/{name}\.jpg: backend {resolved}, {number} ms" for name in "ab"] +
            [rf"2 measured; {TIME}, \d+ Mpixel/s", "  by        the CPU alone: .+", "  at once   up to 1", "  ms        read .*"])
    for backend, name in (("c", "c"), ("simd", f"simd -> {resolved}")):
        said = lapedge("stats", "-v", f"--backend={backend}", "--threads=2", "in/a.jpg")[1]
        matches(said, [rf"lapedge: in/a\.jpg: backend {name}, up to 2 threads, {number} ms"])


# ---- bench -------------------------------------------------------------------------------------------


QUICK = ("bench", "-q", "transpose", "--sizes=32x24", "--runs=1", "--threads=1", "--backends=c")


def no_baselines():
    """What is not the output of bench --json is refused before anything is timed: 2, with the reason if it is no JSON."""
    row = {"op": "transpose"}
    for name, text in (("empty", ""), ("text", "text"), ("half", '{"schema": "lapedge.bench/1", "rows": [')):
        Path(name).write_text(text)
        said = lapedge(*QUICK, f"--baseline={name}", code=2)[1]
        assert re.fullmatch(rf"lapedge: --baseline: {name}: not the output of lapedge bench --json: [^\n]+\n", said), said
    says(*QUICK, "--baseline=none", lines=["lapedge: --baseline: none: cannot be read: No such file or directory"], code=2)
    for i, document in enumerate(({}, [], {"rows": [row]}, {"schema": 1, "rows": [row]}, {"schema": "lapedge.bench/1"},
                                  {"schema": "lapedge.bench/2", "rows": [row]}, {"schema": "lapedge.compare/1", "rows": [row]})):
        Path(f"{i}.json").write_text(json.dumps(document))
        assert says(*QUICK[:1], *QUICK[2:], f"--baseline={i}.json", code=2,
                    lines=[f"lapedge: --baseline: {i}.json: not the output of lapedge bench --json"]) == ""
    Path("no.json").write_text(json.dumps({"schema": "lapedge.bench/1", "rows": []}))
    says(*QUICK, "--baseline=no.json", code=2, env=stepping(),
         lines=["lapedge: not compared: no.json has no row for transpose c in this size",
                "lapedge: --baseline: no.json has no row in common with this run"])


def timed(*words, step=10_000_000, code=0):
    """A bench by a clock that knows each time beforehand: its messages."""
    return lapedge(*words, code=code, env=stepping(step))[1].splitlines()


def slower_than_before():
    """A row that is slower than in the baseline: both times with as many digits as tell them apart, and the share."""
    if not has_clock():
        return "a sanitizer is loaded first"
    timed(*QUICK, "--json-file=now.json")
    now = json.loads(Path("now.json").read_text())
    for then, digits, share in ((5, 3, "+100"), (9.998, 3, "+0"), (9.9991, 4, "+0"), (9.99995, 5, "+0"), (8, 3, "+25"),
                                (10 - 5e-9, 9, "+0"), (10 - 5e-10, 9, "+0")):
        rows = [{**row, "median_ms": then if row["backend"] == "c" else 1e-3} for row in now["rows"]]
        Path("then.json").write_text(json.dumps({**now, "rows": rows}))
        line = f"lapedge: slower: transpose c, 1 thread: {10:.{digits}f} ms, {then:.{digits}f} in the baseline ({share} %)"
        assert timed(*QUICK, "--baseline=then.json", "--tolerance=0", code=1) == [line], (then, line)
    for then, tolerance, code in ((10, "0", 0), (8, "25%", 0), (8, "24%", 1), (8, "1", 0), (1e-3, "5%", 1)):
        rows = [{**row, "median_ms": then} for row in now["rows"]]
        Path("then.json").write_text(json.dumps({**now, "rows": rows}))
        assert len(timed(*QUICK, "--baseline=then.json", f"--tolerance={tolerance}", code=code)) == code, (then, tolerance)
    said = json.loads(lapedge(*QUICK, "--baseline=now.json", "--tolerance=1000000", "--json-file=o.json")[0] or
                      Path("o.json").read_text())
    assert (said["baseline"], said["tolerance"]) == ("now.json", 1e6)
    assert [row["baseline_ms"] for row in said["rows"]] == [row["median_ms"] for row in now["rows"]]


def other_cases():
    """Only a row that is the same in all that names its case is compared; other settings are refused, each with its name."""
    now = json.loads(lapedge(*QUICK, "--json-file=now.json", env=stepping())[0] or Path("now.json").read_text())
    common = ["lapedge: not compared: then.json has no row for transpose c in this size",
              "lapedge: --baseline: then.json has no row in common with this run"]
    for key in ("op", "backend", "threads", "width", "height", "channels", "type", "form"):
        value = now["rows"][-1][key]
        other = value + 1 if isinstance(value, int) else "x"
        Path("then.json").write_text(json.dumps({**now, "rows": [{**row, key: other} for row in now["rows"]]}))
        says(*QUICK, "--baseline=then.json", lines=common, code=2, env=stepping())
    huge = [{**row, "median_ms": 1e9} for row in now["rows"]]
    words = ("bench", "-q", "filter", *QUICK[3:])
    lapedge(*words, "--json-file=filter.json", env=stepping())
    both = json.loads(Path("filter.json").read_text())
    slow = [{**row, "median_ms": 1e9} for row in both["rows"]]
    for run, document, line in (
            (words, {**both, "filter": {**both["filter"], "border": "wrap"}}, "another filter"),
            (QUICK, {**now, "warm": True}, "buffers in another state (--warm)"),
            (QUICK, {**now, "image": "x.jpg"}, "another image"),
            (QUICK, {**now, "filter": both["filter"]}, None), (words, {**both, "filter": None}, None),
            (QUICK, {key: now[key] for key in ("schema", "rows")}, None)):
        document["rows"] = slow if run == words else huge
        Path("then.json").write_text(json.dumps(document))
        says(*run, "--baseline=then.json", code=2 if line else 0, env=stepping(),
             lines=[f"lapedge: --baseline: then.json was measured with {line}"] if line else [])


def rows_without_counterpart():
    """A backend that the baseline lacks is named once, however many rows it has, and the others are compared."""
    if not has_clock():
        return "a sanitizer is loaded first"
    words = ("bench", "-q", "filter", "--sizes=32x24", "--runs=1", "--threads=3", "--backends=c,simd,openmp")
    timed(*words, "--json-file=now.json")
    now = json.loads(Path("now.json").read_text())
    rows = {name: [row for row in now["rows"] if row["backend"] == name] for name in ("c", "simd", "openmp")}
    assert len(rows["openmp"]) > 1 and len(rows["c"]) == 1, [(row["backend"], row["threads"]) for row in now["rows"]]
    Path("then.json").write_text(json.dumps({**now, "rows": [{**row, "median_ms": 4} for row in rows["c"] + rows["simd"]]}))
    slower = [f"lapedge: slower: filter {row['backend']}, {row['threads']} thread{'s' if row['threads'] > 1 else ''}: "
              "TIME ms, 4.000 in the baseline" for row in rows["c"] + rows["simd"]]
    missing = "lapedge: not compared: then.json has no row for filter openmp in this size"
    said = [re.sub(r"[0-9.]+ (ms, 4.000 in the baseline) .*", r"TIME \1", line)
            for line in timed(*words, "--baseline=then.json", code=1)]
    notes = [line for line in said if " threads share " in line]
    assert sorted(line for line in said if line not in notes) == sorted(slower + [missing]), said


def rows_that_did_not_run():
    """bench: a backend that is wrong fails the run, one that was named and cannot run has its exit code, else it has none."""
    absent = next(((row["op"], row["name"], row["reason"]) for row in json.loads(lapedge("backends", "--json")[0])["rows"]
                   if row["op"] in ("transpose", "filter") and not row["available"]), None)
    words = ("--sizes=120x50", "--runs=1", "--threads=1")
    if absent:
        line = f"lapedge: backend '{absent[1]}' cannot run here: "
        said = lapedge("bench", "-q", "filter", *words, f"--backends=c,{absent[1]}", code=3, env=stepping())[1].splitlines()
        assert len(said) == 1 and said[0].startswith(line), said
    says("bench", "-q", "transpose", *words, lines=[], env=stepping())
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    for backends, names in (("c,no-border", ["no-border"]), ("no-border,off-by-one,c", ["off-by-one", "no-border"])):
        said = lapedge("bench", "-q", "filter", *words, f"--backends={backends}", code=1, program=WRONG,
                       env=stepping())[1].splitlines()
        assert sorted(line.split(": ")[1] for line in said) == sorted(f"filter {name}" for name in names), said
        assert all(re.fullmatch(r"lapedge: filter [a-z-]+: refused: at x=\d+.*", line) for line in said), said
    return None


def results_that_cannot_be_written():
    """What is asked for and cannot be written costs each command its 0, and is said once."""
    if not os.access("/dev/full", os.W_OK):
        return "no /dev/full"
    photos("in/a.jpg", "b.jpg", "c.jpg", "d.jpg")
    full = "lapedge: /dev/full: disk full: cannot write: No space left on device"
    quick, bench = ("--runs=1", "--backends=c"), ("bench", "-q", "--sizes=16x16", "--runs=1", "--backends=c")
    for words, code, more in (
            (("b.jpg", "o.jpg"), 1, []), (("--skip-existing", "b.jpg", "o.jpg"), 1, []), (("-n", "-q", "b.jpg", "p.jpg"), 1, []),
            (("in", "out"), 1, ["1 done; TIME"]), (("-n", "in", "out2"), 1, ["1 to be done"]),
            (("--in-place", "c.jpg"), 1, []), (("--in-place", "b.jpg", "d.jpg"), 1, None),
            (("stats", "b.jpg"), 1, []), (("stats", "in"), 1, ["1 measured; TIME"]),
            (bench, 1, []), (("compare", "-q", *quick, "in"), 2, []), (("compare", "-q", *quick, "in/a.jpg"), 2, [])):
        sync = () if words[0] in ("stats", "bench", "compare") else ("--no-sync",)
        said = lapedge(*words, *sync, "--json-file=/dev/full", code=code, env=stepping())[1].splitlines()
        assert said.count(full) == 1, (words, said)
        others = [re.sub(rf"; {TIME}(, \d+ Mpixel/s)?$", "; TIME", line) for line in said if line != full]
        assert more is None or others == more, (words, said)
    no = "cannot create a file in its folder: No such file or directory"
    for words, line, code in ((("compare", "-q", *quick, "b.jpg", "--heatmap=no/x.png"), f"--heatmap: no/x.png: {no}", 2),
                              (("compare", "-q", *quick, "b.jpg", "--report=no/x.html"), f"--report: no/x.html: {no}", 2),
                              (("-f", "--no-sync", "b.jpg", "o.jpg", "--stats=/dev/full"),
                               "the statistics were not written: /dev/full: disk full: cannot write: No space left on device", 1)):
        says(*words, lines=[f"lapedge: {line}"], code=code)
    return None


def threads_and_cores():
    """bench: as many threads as cores are nothing to note; one more is."""
    cores = len(os.sched_getaffinity(0))
    note = f"{cores + 1} threads share {cores} core{'s' if cores > 1 else ''}"
    for threads, notes in ((cores, []), (cores + 1, [note])):
        words = (*QUICK, f"--threads={threads}", "--json-file=o.json")
        says(*words, lines=[], env=stepping())
        assert [line for line in json.loads(Path("o.json").read_text())["warnings"] if "share" in line] == notes
        says(*words[:1], *words[2:], lines=[f"lapedge: note: {line}" for line in notes], env=stepping())


# ---- compare -----------------------------------------------------------------------------------------


def verdicts():
    """compare: exit code and message of what differs, what fails, what cannot run, and of several at once."""
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    pnm("in.pgm", 120, 50, 1, noise(6000))
    absent = next((row["name"] for row in json.loads(lapedge("backends", "--json")[0])["rows"]
                   if row["op"] == "filter" and not row["available"]), None)
    for backends, code in (("c", 0), ("off-by-one", 1), ("c,no-border", 1), ("fails", 2), ("c,off-by-one,fails", 2)):
        for options in ((), ("-q",), ("--json",)):
            says("compare", *options, "--runs=1", f"--backends={backends}", "in.pgm", code=code, lines=[], program=WRONG)
        said = json.loads(lapedge("compare", "--json", "--runs=1", f"--backends={backends}", "in.pgm", code=code, program=WRONG)[0])
        assert said["equal"] is (code == 0) and [row["backend"] for row in said["rows"]] == backends.split(",")
    if absent:
        words = ("compare", "--runs=1", f"--backends=c,{absent}", "in.pgm")
        reason = json.loads(lapedge(*words, "--json", code=3)[0])["rows"][1]["reason"]
        says(*words, code=3, lines=[f"lapedge: {absent}: named, but cannot run here"])
        for option in ("-q", "--json"):
            says(*words, option, code=3, lines=[f"lapedge: {reason}"])
    return None


def places():
    """compare: where a backend first differs, how much of it is in the border, and in which file of a folder."""
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    pnm("small.ppm", 120, 50, 3, noise(18000))
    Path("in").mkdir()
    for name in ("a", "b"):
        lapedge("--kernel=identity", "--no-sync", "small.ppm", f"in/{name}.jpg")
    for of, count in (("small.ppm", 1), ("in", 2)):
        out = lapedge("compare", "--runs=1", "--backends=c,off-by-one,no-border", "--json-file=o.json", of, code=1, program=WRONG)[0]
        rows = json.loads(Path("o.json").read_text())["rows"]
        want = []
        for row in rows[1:]:
            first = row["first_difference"]
            line = (f"    first at x {first['x']}, y {first['y']}, channel {first['channel']}: c {first['a']}, it {first['b']}, "
                    f"in the {'border' if first['at_border'] else 'interior'}")
            if row["differing_pixels"] > 1:
                line += f"; {row['differing_border']} of {row['differing_pixels']} in the border of two"
            want += [line] + ([f"    in {row['input']}"] if count > 1 else [])
        assert [line for line in out.decode().splitlines() if line.startswith("    ")] == want, (out.decode(), want)
        assert (rows[1]["differing_pixels"], rows[1]["differing_border"], rows[1]["input"]) == (
            count, 0, "in/a.jpg" if count > 1 else "small.ppm"), rows[1]
        assert rows[2]["differing_pixels"] == rows[2]["differing_border"] > 1 and rows[0]["input"] is None
        assert [rows[1]["first_difference"][key] for key in ("x", "y", "channel", "at_border")] == [101, 37, 1, False]
    photos = json.loads(Path("o.json").read_text())["photos"]
    most = max(rows[1:], key=lambda row: row["max_abs"])
    assert [(photo["worst"], photo["max_abs"], photo["identical"]) for photo in photos] == [
        (most["backend"], most["max_abs"], False)] * 2, photos
    return None


# ---- stats -------------------------------------------------------------------------------------------


def lines_of_a_folder():
    """stats of a folder: a line a photo, worked out from its histograms; the summary has each number."""
    Path("in").mkdir()
    pnm("small.pgm", 20, 16, 1, noise(320))
    lapedge("--kernel=identity", "--no-sync", "small.pgm", "in/a.jpg")
    shutil.copy(PHOTO, "in/b.jpg")
    Path("in/cut.jpg").write_text("text")
    Path("in/n.txt").touch()
    words = ("stats", "--mask-border=10", "-j1", "--json-file=o.jsonl", "in")
    out, said = lapedge(*words, code=1)
    said = re.sub(rf"; {TIME}, \d+ Mpixel/s$", "; TIME", said, flags=re.M).splitlines()
    assert said[1:] == ["lapedge: 1 other file not taken: 1 .txt", "2 measured, 1 failed (1 not_jpeg); TIME",
                        "lapedge: --mask-border covers all edges of 1 photo"], said
    assert said[0].startswith("lapedge: in/cut.jpg: not a JPEG"), said
    want = ["  input mean  stddev  edges mean  stddev  p99     width x height  file"]
    for line in Path("o.jsonl").read_text().splitlines()[:2]:
        photo = json.loads(line)
        if photo["schema"] != "lapedge.stats/1":
            continue
        cells = []
        for part in ("input", "edges"):
            channels = (photo[part] or {"channels": []})["channels"]
            counts = [sum(c["histogram"][v] for c in channels) for v in range(256)]
            total = sum(counts)
            if not total:
                cells.append(None)
                continue
            mean = sum(v * n for v, n in enumerate(counts)) / total
            var = sum(n * (v - mean) ** 2 for v, n in enumerate(counts)) / total
            p99 = next(v for v in range(256) if sum(counts[:v + 1]) >= math.ceil(0.99 * total))
            cells.append((mean, math.sqrt(var), p99))
        name = photo["input"]["path"]
        width, height = (20, 16) if name == "in/a.jpg" else (600, 400)
        begin = "%12.3f %7.3f " % cells[0][:2]
        middle = "%11.3f %7.3f %4d" % cells[1] if cells[1] else f"{'-':>11} {'-':>7} {'-':>4}"
        want.append(begin + middle + f"  {width:7} x {height:<7} {name}")
        assert (cells[1] is None) == (name == "in/a.jpg")
    got = out.decode().splitlines()
    assert got[:3] == want, (got[:3], want)
    assert [line for line in got if "together" in line] == ["1 photo in gray together", "1 photo in colour together"], got


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = "" # devices have messages of their own
    run_all([patterns, many_patterns, kinds_of_others, folders_of_outputs, photos_in_the_output_folder, forgotten_folders,
             summary_of_a_folder, summary_in_place, nothing_found, stopped_runs, recoded_photos, details, no_baselines,
             slower_than_before, other_cases, rows_without_counterpart, rows_that_did_not_run, threads_and_cores,
             results_that_cannot_be_written, verdicts, places, lines_of_a_folder])
