#!/usr/bin/env python3
"""Corners of the command line: abbreviations, empty shares, logs and reports that do not fit. Prints TAP."""

import base64
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from made import (BUILD, PHOTO, PROGRAM, SAMPLE, WRONG, exif, lapedge, noise, pnm, read_pnm, run_all, segment,
                  with_segments)


def no_abbreviations():
    """The beginning of an option's name is no option."""
    for word in ("--back=c", "--qual=90", "--no-syn", "--kern=identity", "--stri"):
        _, said = lapedge(word, PHOTO, "o.jpg", code=2)
        assert "unknown option" in said or "not an option" in said, said


def empty_share():
    """A share without photos ends with success; a folder without photos does not."""
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
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    pnm("in.pgm", 96, 96, 1, noise(9216))
    out, _ = lapedge("compare", "--json", "--ops=matvec", "--backends=nan,c", "in.pgm", code=1, program=WRONG)
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


def details_of_a_run():
    """-v names both files, the picture, and whether a large photo was decoded in parallel; a small one is not."""
    width, height = 1300, 800
    pnm("large.pgm", width, height, 1, (i * 7 + i // width * 3 & 255 for i in range(width * height)))
    lapedge("--no-sync", "--kernel=identity", "large.pgm", "large.jpg")
    for name, size, parallel in (("large.jpg", "1300 x 800, 1 channel", True), (PHOTO, "600 x 400, 3 channels", False)):
        _, said = lapedge("-f", "-v", "--no-sync", "--threads=4", name, "o.jpg")
        lines = [line.strip() for line in said.splitlines()]
        assert lines[0] == f"{name} -> o.jpg", said
        assert lines[1].split() == ["image", *size.split()], said
        assert ("decoded in parallel" in said) == parallel, said


def report_data(name):
    """What a report's scripts show."""
    text = re.search('<script type="application/json" id="data">(.*?)</script>', Path(name).read_text(), re.S).group(1)
    return json.loads(text)


def facts_of_a_report():
    """A report's data: crops of the heaviest places with both pictures, notes by operation and backend."""
    lapedge("compare", "-q", "--backends=c,simd", "--report=r.html", PHOTO)
    data = report_data("r.html")
    crops = data["pictures"]["crops"]
    assert len(crops) == 3 and all(crop[part].startswith("data:image/png") for crop in crops for part in ("photo", "edges"))
    resolved = {f"filter {row['resolved']}" for row in data["results"]["rows"]}
    assert "filter c" in data["notes"] and set(data["notes"]) <= resolved, data["notes"].keys()
    if WRONG.exists():
        lapedge("compare", "-q", "--backends=no-border", "--report=p.html", PHOTO, code=1, program=WRONG)
        data = report_data("p.html")
        row = data["pictures"]["differences"][0]
        assert row["overview"].startswith("data:image") and len(row["crops"]) == 3, row["crops"]


def means_in_a_report():
    """A report's reduced photo has the mean of the pixels, rounded to the nearest value."""
    # 3200 wide is shown at half the size: of 100, 101 in each of two rows the mean is 100.5.
    width, height = 3200, 64
    pnm("in.pgm", width, height, 1, bytes([100, 101] * (width // 2)) * height)
    lapedge("--no-sync", "--kernel=identity", "in.pgm", "in.png")
    lapedge("compare", "-q", "--runs=1", "--backends=simd", "--report=r.html", "in.png")
    data = report_data("r.html")
    assert data["pictures"]["scaled"], "it is shown as it is"
    Path("photo.jpg").write_bytes(base64.b64decode(data["pictures"]["photo"].split(",")[1]))
    lapedge("--no-sync", "--kernel=identity", "--gray", "photo.jpg", "photo.pgm")
    _, _, _, pixels = read_pnm("photo.pgm")
    assert set(pixels) == {101}, set(pixels)


def noise_in_a_report():
    """The quality of a report's pictures gives way to size, and where that does not suffice they are large."""
    pnm("in.pgm", 1600, 2500, 1, random.Random(1).randbytes(1600 * 2500))
    lapedge("compare", "-q", "--runs=1", "--backends=simd", "--report=r.html", "in.pgm")
    photo = report_data("r.html")["pictures"]["photo"]
    assert photo.startswith("data:image/jpeg") and 750_000 < len(photo) < 2_000_000, len(photo)


def far_too_long_a_name():
    """An output folder whose path is as long as no path may be is refused before anything is made."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    _, said = lapedge("in", "o/" * 2048, code=4)
    assert "this path is too long" in said, said[-200:]
    assert not Path("o").exists()


def last_of_two_counts():
    """An option that is given twice counts as it was given last."""
    for words in (["-Q", "20", "-Q", "90"], ["-Q", "90"]):
        lapedge("--no-sync", *words, PHOTO, f"{len(words)}.jpg")
    assert Path("4.jpg").read_bytes() == Path("2.jpg").read_bytes()


def what_a_difference_is_of():
    """diff --json says how large the pictures are."""
    pnm("a.pgm", 31, 17, 1, bytes(31 * 17))
    got = json.loads(lapedge("diff", "--json", "a.pgm", "a.pgm")[0])
    assert (got["width"], got["height"], got["channels"]) == (31, 17, 1)


def lines_of_a_manifest():
    """A line about a finished photo names the photo that it is of, with size and time, and the output."""
    Path("in/sub").mkdir(parents=True)
    Path("in/sub/a.jpg").write_bytes(SAMPLE)
    lapedge("--no-sync", "in", "out")
    there = os.stat("in/sub/a.jpg")
    lines = [json.loads(line) for path in Path("out/.lapedge").rglob("*") if path.is_file()
             for line in path.read_text(errors="replace").splitlines() if line.startswith("{")]
    done = [line for line in lines if line["event"] == "done"]
    assert len(done) == 1 and done[0]["output"] == "sub/a.jpg" and done[0]["input"] == "in/sub/a.jpg", lines
    assert done[0]["input_size"] == there.st_size and done[0]["input_mtime_s"] == int(there.st_mtime), done


def shapes_of_other_formats():
    """info says how large files are that are no JPEG, too."""
    pnm("in.ppm", 31, 17, 3, noise(31 * 17 * 3))
    lapedge("--no-sync", "--kernel=identity", "in.ppm", "a.png")
    for name in ("in.ppm", "a.png"):
        got = json.loads(lapedge("info", "--json", name)[0])
        assert (got["bytes"], got["width"], got["height"]) == (os.path.getsize(name), 31, 17), got


def devices_or_none():
    """backends lists devices, or says that there are none, and why."""
    lines = lapedge("backends")[0].decode().split("CUDA devices\n")[1].splitlines()
    assert lines and any(line.startswith("  none: ") for line in lines) != any(re.match("  [0-9]+  ", line) for line in lines)


def head_of_a_bench():
    """A bench's table begins with the operation, the machine and the parts that the program was built with."""
    lines = lapedge("bench", "--sizes=64x48", "--runs=1", "--backends=c", "--threads=1")[0].decode().splitlines()
    parts = lapedge("--version")[0].decode().splitlines()[1:]
    assert lines[0] == "filter" and lines[1].startswith("machine ") and lines[1].endswith(", 1 thread"), lines[:3]
    assert " ".join(lines[2:6]).startswith("build     " + ", ".join(parts[:4])), lines[2]


def log_without_a_place():
    """A log that cannot be opened is named, with the reason, and nothing is done."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    _, said = lapedge("in", "out", "--log=missing/log", code=4)
    assert "missing/log: cannot be opened: No such file or directory" in said, said
    assert not Path("out/a.jpg").exists()


def work_of_a_folder():
    """A folder's --json says how long the parts of the work took, one by one."""
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    work = json.loads(lapedge("--no-sync", "--json", "in", "out")[0])["work"]
    assert work["jobs"] >= 1 and work["ms"]["decode"] > 0 and work["ms"]["encode"] > 0, work


def ends_of_quality():
    """Quality goes from 1 to 100, both counted, and more quality takes more bytes."""
    for quality in (1, 100):
        lapedge("--no-sync", f"--quality={quality}", PHOTO, f"{quality}.jpg")
    assert os.path.getsize("1.jpg") < os.path.getsize("100.jpg") / 10


def notes_about_the_tag():
    """Formats without a place for the orientation tag say that the picture is shown as stored; others do not."""
    Path("in.jpg").write_bytes(with_segments(SAMPLE, segment(0xE1, exif(6))))
    for name, warns in (("o.ppm", True), ("o.jpg", False), ("o.png", False)):
        _, said = lapedge("--no-sync", "-v", "in.jpg", name)
        assert ("shown as stored" in " ".join(said.split())) == warns, (name, said)
    Path("plain.jpg").write_bytes(SAMPLE)
    assert "shown as stored" not in " ".join(lapedge("--no-sync", "-v", "plain.jpg", "p.ppm")[1].split())


F_GETPIPE_SZ = 1032 # which fcntl has from Python 3.10
POLL = {"x86_64": "7"}.get(os.uname().machine, "73") # the number of the call that waits for room


def ended_while_it_prints(number, ignored, *words):
    """What a run that waits for room for its last words returns after a signal, and these words."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    filled = 0
    while True:
        try:
            filled += os.write(write, bytes(4096))
        except BlockingIOError:
            break
    os.set_blocking(write, True)
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    process = subprocess.Popen([PROGRAM, *words], stdout=write, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(number, handler))
    os.close(write)
    waiting = Path(f"/proc/{process.pid}/syscall") # its number comes first
    while process.poll() is None and waiting.read_text().split()[0] != POLL:
        time.sleep(0.01)
    process.send_signal(number)
    if not ignored:
        process.wait(100)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()[filled:]
    return process.wait(100), said


def last_page_of_a_pipe():
    """Words that fit into a pipe are written, also if only its last page, which is partly filled, has room."""
    wanted, _ = lapedge("--version")
    read, write = os.pipe()
    filled = os.write(write, bytes(fcntl.fcntl(write, F_GETPIPE_SZ) - 4096 + 500))
    with subprocess.Popen([PROGRAM, "--version"], stdout=write) as process:
        os.close(write)
        try:
            assert process.wait(30) == 0
        finally:
            process.kill()
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read()[filled:] == wanted, wanted


def signals_at_the_end():
    """A signal while the last words are printed ends a run at once; a hang-up does not, under nohup."""
    try:
        Path("/proc/self/syscall").read_text()
    except OSError as problem:
        return f"what a process waits for cannot be seen here: {problem}"
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    for ignored in (False, True):
        code, said = ended_while_it_prints(signal.SIGHUP, ignored, "--no-sync", "--json", "in", f"out{ignored}")
        assert code == (0 if ignored else -signal.SIGHUP), code
        assert not ignored or json.loads(said)["ok"] == 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        code, said = ended_while_it_prints(number, False, "stats", "in/a.jpg")
        assert (code, said) == (-number, b""), (code, said)


if __name__ == "__main__":
    os.environ.pop("LAPEDGE_CORPUS", None)
    run_all([no_abbreviations, empty_share, log_on_a_full_disk, shares_of_time, names_in_a_report, last_page_of_a_pipe,
             products_that_are_no_numbers, last_line_of_a_list, dots_in_front, dry_runs_sweep_nothing,
             one_job_at_a_time, noisy_rows, details_of_a_run, facts_of_a_report, means_in_a_report, noise_in_a_report,
             far_too_long_a_name,
             last_of_two_counts, what_a_difference_is_of, lines_of_a_manifest, shapes_of_other_formats,
             devices_or_none, head_of_a_bench, log_without_a_place, work_of_a_folder, ends_of_quality, notes_about_the_tag,
             signals_at_the_end])
