#!/usr/bin/env python3
"""Class 5, runs that are killed: folders (tools/test/kill-campaign), photos in place, single photos over older ones,
and signals that ask politely."""

import os
import re
import shutil
import signal
import subprocess
import time

from torture import PROGRAM, SEED, WORK, check, digest, finish, photo, photos, result, rng, run, temporary, times


def folders():
    count = times(60)
    done = subprocess.run(["tools/test/kill-campaign", str(count), f"--seed={SEED}"], capture_output=True, text=True,
                          env={**os.environ, "LAPEDGE": PROGRAM, "LAPEDGE_KILL_DIR": str(WORK)})
    landed = re.search(r"(\d+) killed", done.stdout)
    result(5, "folder runs killed", count, int(done.returncode != 0), fired=int(landed.group(1)) if landed else 0)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def default_signals():
    """What was ignored at the start stays ignored, and a script's background jobs ignore SIGINT."""
    for how in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(how, signal.SIG_DFL)


def killed(words, how, longest):
    """Whether it was stopped before its end."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=default_signals)
    try:
        process.wait(rng.uniform(0, longest))
    except subprocess.TimeoutExpired:
        process.send_signal(how)
    code = process.wait()
    return code != 0, code


def in_place():
    """A photo is the old one or the new one, and never gone; the same command then does what is left, and no more."""
    for i in range(4):
        photo(WORK / f"p/{i}.jpg", 300 + i, 200)
    shutil.copytree(WORK / "p", WORK / "new")
    names = [f"{i}.jpg" for i in range(4)]
    begin = time.monotonic()
    assert run("--in-place", *[WORK / "new" / name for name in names]).returncode == 0
    longest = time.monotonic() - begin
    old, new = digest(WORK / "p"), digest(WORK / "new")
    lost, fired = [], 0
    count = times(150)
    for n in range(count):
        shutil.rmtree(WORK / "now", ignore_errors=True)
        shutil.copytree(WORK / "p", WORK / "now")
        how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        stopped, code = killed(["--in-place", *[WORK / "now" / name for name in names]], how, longest)
        fired += stopped
        now = digest(WORK / "now")
        bad = [name for name in names if now.get(name) not in (old[name], new[name])]
        left = temporary(WORK / "now")
        if bad or (left and how != signal.SIGKILL and code > 0) or len(left) > 4:
            lost.append(f"kill {n}, signal {how}, exit {code}: {bad} {left}")
        again = run("--in-place", *[WORK / "now" / name for name in names])
        if again.returncode or digest(WORK / "now") != new:
            lost.append(f"kill {n}, signal {how}: the next run, exit {again.returncode}, filtered one twice or not at all")
    result(5, "photos in place, killed and interrupted", count, len(lost), fired=fired)
    return lost


def over_older():
    photo(WORK / "in.jpg", 500, 400)
    begin = time.monotonic()
    assert run(WORK / "in.jpg", WORK / "want.jpg").returncode == 0
    longest = time.monotonic() - begin
    assert run("-Q30", WORK / "in.jpg", WORK / "older.jpg").returncode == 0
    want, old = (WORK / "want.jpg").read_bytes(), (WORK / "older.jpg").read_bytes()
    place = WORK / "over"
    place.mkdir()
    lost, fired = [], 0
    count = times(150)
    for n in range(count):
        (place / "out.jpg").write_bytes(old)
        stopped, _ = killed([WORK / "in.jpg", place / "out.jpg"], signal.SIGKILL, longest)
        fired += stopped
        if (place / "out.jpg").read_bytes() not in (old, want):
            lost.append(f"kill {n}: neither the old nor the new file")
    if run(WORK / "in.jpg", place / "out.jpg").returncode or temporary(place):
        lost.append(f"the next run left {temporary(place)}")
    result(5, "a photo over an older one, killed", count, len(lost), fired=fired)
    return lost


check("folder runs that are killed", folders)
check("photos in place, killed and interrupted", in_place)
check("a photo over an older one, killed", over_older)
finish()
