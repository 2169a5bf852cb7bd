#!/usr/bin/env python3
"""Class 27, many folder runs one after the other: new photos, damaged ones, kills, full disks, other settings, all in
one tree for TORTURE x 60 seconds. At the end one clean run completes it, and nothing temporary is left."""

import shutil
import signal
import subprocess
import time

from torture import PROGRAM, WORK, check, digest, finish, photos, result, rng, run, said, temporary, times


def campaign():
    photos(WORK / "in", 16)
    end, runs, killed, lost, peaks = time.monotonic() + times(60), 0, 0, [], []
    while time.monotonic() < end:
        runs += 1
        kind = rng.randrange(6)
        source = WORK / "in" / f"new{rng.randrange(20)}.jpg"
        if kind == 0:
            shutil.copy(WORK / "in" / "0.jpg", source)
        elif kind == 1 and source.exists():
            source.write_bytes(source.read_bytes()[:rng.randrange(500, 1500)])
        elif kind == 2:
            source.unlink(missing_ok=True)
        words = [str(WORK / "in"), str(WORK / "out"), f"-Q{rng.choice([60, 90])}", f"-j{rng.choice([1, 2, 4])}", "--json"]
        process = subprocess.Popen(["/usr/bin/time", "-f", "%M", PROGRAM, *words] if kind == 5 else [PROGRAM, *words],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if kind in (3, 4):
            try:
                process.wait(rng.uniform(0, 0.1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL if kind == 3 else signal.SIGTERM)
                killed += 1
        message = process.communicate()[1].decode(errors="replace")
        if kind == 5 and message.split() and message.split()[-1].isdigit():
            peaks.append(int(message.split()[-1]))
        # A signal that comes when all work is done ends the program as it ends any.
        if process.returncode not in (0, 1, 143, -signal.SIGTERM, -signal.SIGKILL):
            lost.append(f"run {runs}: exit {process.returncode}: {message[:200]}")
    for path in (WORK / "in").glob("new*.jpg"):
        path.unlink()
    shutil.copytree(WORK / "in", WORK / "clean-in")
    assert run("--no-sync", "-Q90", WORK / "clean-in", WORK / "clean").returncode == 0
    done = run("-Q90", WORK / "in", WORK / "out")
    now, want = digest(WORK / "out"), digest(WORK / "clean")
    if done.returncode or any(now.get(name) != want[name] for name in want) or temporary(WORK / "out"):
        lost.append(f"at the end: exit {done.returncode}, {temporary(WORK / 'out')}: {said(done)}")
    half = len(peaks) // 2
    if half > 3 and max(peaks[half:]) > 1.5 * max(peaks[:half]):
        lost.append(f"memory grew: {peaks}")
    result(27, "a soak of mixed runs", runs, len(lost), fired=killed, seconds=times(60), peak_kib=max(peaks, default=None))
    return lost


check("a soak of mixed runs", campaign)
finish()
