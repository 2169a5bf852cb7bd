#!/usr/bin/env python3
"""Class 18, good files beside bad ones: their outputs are those of a run without the bad ones, with any number of jobs."""

import shutil

from torture import WORK, check, digest, finish, photos, result, rng, run, said, times


def campaign():
    photos(WORK / "good", 10)
    assert run("--no-sync", WORK / "good", WORK / "want").returncode == 0
    want = digest(WORK / "want")
    data = [path.read_bytes() for path in sorted((WORK / "good").rglob("*.jpg"))]
    lost, pairs = [], 0
    for n in range(times(40)):
        for place in ("in", "out"):
            shutil.rmtree(WORK / place, ignore_errors=True)
        shutil.copytree(WORK / "good", WORK / "in")
        bad = 10
        for i in range(bad):
            broken = bytearray(rng.choice(data))
            kind = rng.randrange(5)
            if kind == 0:
                del broken[rng.randrange(len(broken)):]
            elif kind == 1:
                broken = bytearray(rng.randbytes(500))
            elif kind == 2:
                at = rng.randrange(150, len(broken) - 40)
                broken[at:at + 30] = rng.randbytes(30)
            elif kind == 3:
                at = broken.index(b"\xff\xc0")
                broken[at + 5:at + 9] = b"\xff\xdc\xff\xdc"
            else:
                broken = bytearray()
            (WORK / "in" / f"bad{i}.jpg").write_bytes(broken)
        jobs = rng.choice([1, 2, 3, 8, 64])
        done = run("--no-sync", f"-j{jobs}", f"--threads={rng.choice([1, 2, 4])}", WORK / "in", WORK / "out")
        pairs += bad * len(want)
        now = digest(WORK / "out")
        wrong = [name for name in want if now.get(name) != want[name]]
        if wrong or done.returncode not in (0, 1):
            lost.append(f"run {n}, {jobs} jobs: exit {done.returncode}, {wrong}: {said(done)}")
    result(18, "good files beside bad ones", pairs, len(lost))
    return lost


check("good files beside bad ones", campaign)
finish()
