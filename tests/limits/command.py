#!/usr/bin/env python3
"""Corners of the command line: abbreviations, empty shares, logs and reports that do not fit. Prints TAP."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from made import BUILD, PHOTO, PLANTED, PROGRAM, SAMPLE, lapedge, noise, pnm, run_all


def no_abbreviations():
    """The beginning of an option's name is no option."""
    for word in ("--back=c", "--qual=90", "--no-syn", "--kern=identity", "--stri"):
        _, said = lapedge(word, PHOTO, "o.jpg", code=2)
        assert "unknown option" in said or "not an option" in said, said


def empty_share():
    """A share without any photo of its own is done; a folder without photos is not."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    codes = [subprocess.run([PROGRAM, "--no-sync", "in", "out", f"--shard={i}/5"], capture_output=True).returncode
             for i in range(5)]
    assert codes == [0] * 5
    Path("none").mkdir()
    lapedge("none", "out2", code=4)


def log_on_a_full_disk():
    """A log that cannot be written costs the run its 0."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    _, said = lapedge("--no-sync", "in", "out", "--log=/dev/full", code=1)
    assert "the log could not be written" in said
    assert Path("out/a.jpg").exists()


def shares_of_time():
    """--tolerance takes 0.05 and 5 %, and they are the same."""
    words = ["bench", "--json", "--sizes=64x48", "--runs=1", "--backends=c", "--threads=1"]
    base = json.loads(lapedge(*words)[0])
    Path("b.json").write_text(json.dumps(base))
    got = [json.loads(subprocess.run([PROGRAM, *words, "--baseline=b.json", f"--tolerance={share}"],
                                     capture_output=True).stdout)["tolerance"] for share in ("0.05", "5%", "1", "100%")]
    assert got == [0.05, 0.05, 1, 1], got


def names_in_a_report():
    """A report shows names with <, > and & as they are."""
    shutil.copy(PHOTO, "a&b<c>.jpg")
    lapedge("compare", "-q", "--backends=c", "--report=r.html", "a&b<c>.jpg")
    page = Path("r.html").read_text()
    title = re.search("<title>(.*?)</title>", page, re.S).group(1)
    assert "a&amp;b&lt;c&gt;.jpg" in title, title


def products_that_are_no_numbers():
    """A product that is not a number has no relative error, and is not equal."""
    if not PLANTED.exists():
        return "the planted program was not built"
    pnm("in.pgm", 96, 96, 1, noise(9216))
    out, _ = lapedge("compare", "--json", "--ops=matvec", "--backends=nan,c", "in.pgm", code=1, program=PLANTED)
    rows = {row["backend"]: row for row in json.loads(out)["rows"]}
    assert rows["nan"]["identical"] is False and rows["nan"]["relative_error"] is None, rows["nan"]
    assert rows["c"]["identical"] is True and rows["c"]["relative_error"] is not None


def last_line_of_a_list():
    """The last line of a list may have one character and no newline."""
    for name in ("a", "bb"):
        Path(name).write_bytes(SAMPLE)
    for text, count in (("bb\na", 2), ("a", 1), ("bb\na\n", 2), ("\n\na", 1)):
        Path("list").write_text(text)
        shutil.rmtree("out", ignore_errors=True)
        lapedge("--no-sync", "--files-from=list", "out", "--format=jpg")
        assert len(list(Path("out").glob("*.jpg"))) == count, text


def dots_in_front():
    """What follows a dot in front of a name is no extension."""
    Path("in").mkdir()
    Path("in/.jpg").write_bytes(SAMPLE)
    Path("in/.hidden.jpg").write_bytes(SAMPLE)
    lapedge("--no-sync", "in/.jpg", "in/.hidden.jpg", "out/", "--format=png")
    names = sorted(os.listdir("out"))
    assert names == [".hidden.png", ".jpg.png", ".lapedge"], names


def dry_runs_sweep_nothing():
    """A dry run leaves the temporary files of dead runs alone; the next run removes them."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    lapedge("--no-sync", "in", "out")
    old = Path("out/.lapedge-00000000-1-1-0000000b.tmp")
    old.write_bytes(b"")
    os.utime(old, (10**9, 10**9))
    lapedge("-n", "in", "out")
    assert old.exists()
    lapedge("--no-sync", "-f", "in", "out")
    assert not old.exists()


def one_job_at_a_time():
    """With -j1 a file is opened when the one before it has been written."""
    library = BUILD / "tests/nth_call.so"
    if not library.exists():
        return "the preloaded library needs glibc and no sanitizer"
    Path("in").mkdir()
    for i in range(6):
        shutil.copy(PHOTO, f"in/{i}.jpg")
    lapedge("--no-sync", "-j1", "--threads=2", "in", "out",
            env={**os.environ, "LD_PRELOAD": str(library), "LAP_RECORD": str(Path("record").resolve())})
    now, opened = None, []
    for line in Path("record").read_text().splitlines():
        call, *words = line.split("\t")
        if call == "use" and words[0].endswith(".jpg"):
            opened.append(words[0])
            now = None
        elif call == "open" and words[0].endswith(".tmp"):
            assert now is None, "two are written at once"
            now = words[1]
        elif call == "write" and now:
            assert words[0] == now or len(opened) == 6, "written when the next one was under way"
    assert len(set(opened)) == 6


def noisy_rows():
    """Rows are called noisy where their times say so: a spread, or a first run, large beside the median."""
    for size in ("64x48", "1000x1000"):
        got = json.loads(lapedge("bench", f"--sizes={size}", "--runs=7", "--backends=c,simd", "--threads=1", "--json")[0])
        said = " ".join(got["warnings"])
        for row in got["rows"]:
            times = row["times_ms"]
            if not times or len(times) < 3:
                continue
            spread, first = row["stddev_ms"] / row["median_ms"], times[0] / row["median_ms"]
            noisy = spread > 0.1 or first > 1.3
            assert noisy == (f"noisy: {row['backend']}," in said) or abs(spread - 0.1) < 1e-6, (row, said)


if __name__ == "__main__":
    os.environ.pop("LAPEDGE_CORPUS", None)
    run_all([no_abbreviations, empty_share, log_on_a_full_disk, shares_of_time, names_in_a_report,
             products_that_are_no_numbers, last_line_of_a_list, dots_in_front, dry_runs_sweep_nothing,
             one_job_at_a_time, noisy_rows])
