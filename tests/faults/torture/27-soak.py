#!/usr/bin/env python3
"""Class 27, a soak: folder runs of other settings one after the other in one tree, for TORTURE x 60 seconds (or
SOAK_SECONDS): photos come, go and are damaged, runs are killed and interrupted, the disk is full. After each run every
output is a complete picture of its photo. Now and then one run over many photos is watched: neither memory nor
descriptors grow. Every 300 runs, and at the end, one clean run completes the tree, nothing temporary is left, and
another tree is begun: a tree keeps a record of every run."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from torture import PROGRAM, WORK, Disk, check, digest, finish, photos, result, rng, run, said, temporary, times

QUALITIES = (60, 90)
ENDED = {0, 1, 4, 143, -signal.SIGTERM, -signal.SIGKILL} # a signal after the last photo ends the program as it ends any
SECONDS = int(os.environ.get("SOAK_SECONDS") or times(60))


def wanted():
    """The bytes that may stand under each name: those of each quality."""
    want = {}
    for quality in QUALITIES:
        assert run("--no-sync", f"-Q{quality}", WORK / "in", WORK / f"want{quality}").returncode == 0
        for name, value in digest(WORK / f"want{quality}").items():
            want.setdefault(name, set()).add(value)
    return {**want, **{f"new{i}.jpg": want["0.jpg"] for i in range(20)}}


def fill(disk):
    """A file that leaves the disk a few KiB, or nothing."""
    free = shutil.disk_usage(disk.place).free
    with (disk.place / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - rng.choice([0, 8192, 32768, 131072])))


def change_a_photo():
    source = WORK / "in" / f"new{rng.randrange(20)}.jpg"
    kind = rng.randrange(3)
    if kind == 0:
        shutil.copy(WORK / "in" / "0.jpg", source)
    elif kind == 1 and source.exists():
        source.write_bytes((WORK / "in" / "0.jpg").read_bytes()[:rng.randrange(400, 900)])
    elif kind == 2:
        source.unlink(missing_ok=True)


def words(out):
    return [str(WORK / "in"), str(out), f"-Q{rng.choice(QUALITIES)}", f"-j{rng.choice([1, 2, 4])}", "--json",
            *rng.choice([[], ["--decode=parallel"], ["--sandbox"], ["--no-sync"]])]


def watched(quality):
    """One run over 1,000 photos: ([KiB of memory], [descriptors]) as they were all along."""
    shutil.rmtree(WORK / "many-out", ignore_errors=True)
    process = subprocess.Popen([PROGRAM, str(WORK / "many"), str(WORK / "many-out"), f"-Q{quality}", "-j2"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    memory, descriptors, here = [], [], Path("/proc") / str(process.pid)
    while process.poll() is None:
        try:
            pages = int((here / "statm").read_text().split()[1])
            descriptors.append(len(os.listdir(here / "fd")))
            memory.append(pages * (os.sysconf("SC_PAGE_SIZE") // 1024))
        except (OSError, IndexError):
            pass
        time.sleep(0.02)
    assert process.returncode == 0, process.returncode
    return [size for size in memory if size], descriptors[:len(memory)]


def growth(watched_runs):
    """What grew: within one run, from its second quarter to its last, or from the first runs to the last."""
    lost = []
    for what, room in ((0, 4096), (1, 4)):
        for run_of in watched_runs:
            values = run_of[what]
            part = len(values) // 4
            if part > 4 and max(values[-part:]) > 1.2 * max(values[part:2 * part]) + room:
                lost.append(f"{('memory', 'descriptors')[what]} grew in one run: {values[part:2 * part]} {values[-part:]}")
        peaks = [max(run_of[what], default=0) for run_of in watched_runs]
        part = len(peaks) // 3
        if part and max(peaks[-part:]) > 1.2 * max(peaks[:part]) + room:
            lost.append(f"{('memory', 'descriptors')[what]} grew from run to run: {peaks}")
    return lost


def completed(out):
    """What is wrong once a clean run has completed the tree, which goes then."""
    for path in (WORK / "in").glob("new*.jpg"):
        path.unlink()
    done, left, now = run("-Q90", WORK / "in", out), temporary(out), digest(out)
    wrong = [name for name, value in digest(WORK / "want90").items() if now.get(name) != value]
    shutil.rmtree(out)
    return [f"a clean run: exit {done.returncode}, {left}, {wrong}: {said(done)}"] if done.returncode or left or wrong else []


def one_run(out, disk, want, counts):
    """A run of a drawn kind, and what it lost."""
    kind = rng.choice(["kill", "term", "full" if disk.mounted else "plain", "plain"])
    if kind == "full":
        fill(disk)
    process = subprocess.Popen([PROGRAM, *words(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if kind in ("kill", "term"):
        try:
            process.wait(rng.uniform(0, 0.1))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL if kind == "kill" else signal.SIGTERM)
            counts["killed"] += 1
    message = process.communicate(timeout=300)[1].decode(errors="replace")
    if kind == "full":
        (disk.place / "filler").unlink()
        counts["full"] += "No space" in message
    lost = []
    if process.returncode not in ENDED or (process.returncode == 4 and kind != "full"):
        lost.append(f"{kind}: exit {process.returncode}: {message[:200]}")
    for name, value in digest(out).items():
        counts["complete"] += 1
        if value not in want[name]:
            lost.append(f"{kind}: {name} is not one of its pictures")
    return lost


def campaign():
    photos(WORK / "in", 16)
    want = wanted()
    shutil.copytree(WORK / "in", WORK / "clean-in")
    (WORK / "many").mkdir()
    for i in range(1000):
        os.link(WORK / "clean-in" / ["", "sub"][i % 2] / f"{i % 16}.jpg", WORK / "many" / f"{i:04}.jpg")
    lost, watched_runs, runs, counts = [], [], 0, {"killed": 0, "full": 0, "complete": 0}
    with Disk("16M") as disk:
        out, end = disk.place / "out", time.monotonic() + SECONDS
        while time.monotonic() < end:
            runs += 1
            if runs % 60 == 30:
                watched_runs.append(watched(QUALITIES[len(watched_runs) % 2]))
            if runs % 300 == 0:
                lost += completed(out)
            change_a_photo()
            lost += [f"run {runs}, {line}" for line in one_run(out, disk, want, counts)]
        lost += completed(out)
    if digest(WORK / "in") != digest(WORK / "clean-in"):
        lost.append("photos changed")
    lost += growth(watched_runs)
    result(27, "a soak of mixed runs", runs, len(lost), fired=counts["killed"] + counts["full"], seconds=SECONDS, **counts,
           watched=len(watched_runs), peak_kib=max((max(m) for m, _ in watched_runs if m), default=None),
           descriptors=max((max(d) for _, d in watched_runs if d), default=None))
    return lost


check("a soak of mixed runs", campaign)
finish()
