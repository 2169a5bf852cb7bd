#!/usr/bin/env python3
"""Class 7, inputs that are removed, cut, grown, overwritten or replaced while a folder run reads them: each fails, or
its output is that of one of its states; nothing else is disturbed."""

import os
import shutil
import subprocess
import time

from torture import PROGRAM, WORK, check, digest, finish, photo, photos, result, rng, run, temporary, times


def change(path, other):
    kind = rng.randrange(6)
    try:
        if kind == 0:
            path.unlink()
        elif kind == 1:
            with path.open("r+b") as file:
                file.truncate(rng.randrange(path.stat().st_size))
        elif kind == 2:
            with path.open("ab") as file:
                file.write(b"more" * rng.randrange(1, 1000))
        elif kind == 3:
            path.write_bytes(other)
        elif kind == 4:
            new = path.with_suffix(".new")
            new.write_bytes(other)
            new.rename(path)
        else:
            with path.open("r+b") as file:
                file.seek(rng.randrange(path.stat().st_size))
                file.write(b"\0" * 200)
    except (OSError, ValueError):
        pass # removed before
    return kind


def campaign():
    photos(WORK / "photos", 30)
    photo(WORK / "other.jpg", 90, 70)
    other = (WORK / "other.jpg").read_bytes()
    assert run("--no-sync", WORK / "photos", WORK / "want").returncode == 0
    assert run("--no-sync", WORK / "other.jpg", WORK / "other-want.jpg").returncode == 0
    want = digest(WORK / "want")
    (WORK / "x").mkdir()
    shutil.copy(WORK / "other-want.jpg", WORK / "x/o.jpg")
    other_want = digest(WORK / "x")["o.jpg"]
    lost, tries, fired = [], 0, 0
    for n in range(times(25)):
        for place in ("in", "out"):
            shutil.rmtree(WORK / place, ignore_errors=True)
        shutil.copytree(WORK / "photos", WORK / "in")
        names = sorted((WORK / "in").rglob("*.jpg"))
        victims = rng.sample(names, 12)
        process = subprocess.Popen([PROGRAM, "--no-sync", "-j2", str(WORK / "in"), str(WORK / "out"), "--log",
                                    str(WORK / "log")], stderr=subprocess.PIPE)
        changed = set()
        for path in victims:
            time.sleep(rng.uniform(0, 0.004))
            if process.poll() is None:
                change(path, other)
                changed.add(str(path.relative_to(WORK / "in")))
                tries += 1
        process.communicate()
        fired += process.returncode == 1
        now = digest(WORK / "out")
        for name, value in now.items():
            if value != want.get(name) and not (name in changed and value == other_want):
                # cut or grown before it was read: then it is what a run alone gives for the file as it is now
                alone = run("--no-sync", WORK / "in" / name, WORK / "alone.jpg")
                same = alone.returncode == 0 and (WORK / "alone.jpg").read_bytes() == (WORK / "out" / name).read_bytes()
                if name not in changed or not same:
                    lost.append(f"run {n}: {name}")
        missing = [name for name in want if name not in now and name not in changed]
        if missing or process.returncode not in (0, 1) or temporary(WORK / "out"):
            lost.append(f"run {n}: exit {process.returncode}, missing {missing}, {temporary(WORK / 'out')}")
    result(7, "inputs changed while they are read", tries, len(lost), fired=fired)
    return lost


check("inputs that change during a run", campaign)
finish()
