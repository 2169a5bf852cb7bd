#!/usr/bin/env python3
"""Class 17, a corpus of odd files (LAPEDGE_CORPUS), alone and in one folder run: verdicts as tests/fuzz/corpus keeps
them, and a run over all of them neither dies nor disturbs the good ones."""

import os
import subprocess
from pathlib import Path

from torture import BUILD, PROGRAM, WORK, check, finish, result, run, said


def campaign():
    corpus = os.environ.get("LAPEDGE_CORPUS")
    if not corpus:
        return "LAPEDGE_CORPUS is not set"
    lost = []
    verdicts = subprocess.run([str(BUILD / "tests/verdicts")], capture_output=True, text=True)
    if verdicts.returncode:
        lost += [line for line in verdicts.stdout.splitlines() if not line.startswith("ok")][:5]
    names = sorted(path for path in Path(corpus).rglob("*.jp*g") if path.is_file())
    done = run("--no-sync", "--max-pixels=20M", corpus, WORK / "out", "--log", WORK / "log", timeout=600)
    if done.returncode not in (0, 1):
        lost.append(f"folder: exit {done.returncode}: {said(done)}")
    alone = 0
    for path in names:
        one = run("--no-sync", "--max-pixels=20M", path, WORK / "o.jpg", timeout=60)
        alone += 1
        together = WORK / "out" / path.relative_to(corpus)
        if one.returncode not in (0, 1, 5):
            lost.append(f"{path}: exit {one.returncode}: {said(one)}")
        elif (one.returncode == 0) != together.exists() or (
                one.returncode == 0 and (WORK / "o.jpg").read_bytes() != together.read_bytes()):
            lost.append(f"{path}: alone and in a folder differ")
        (WORK / "o.jpg").unlink(missing_ok=True)
    result(17, "files of a corpus", len(names) * 2, len(lost))
    return lost


check("a corpus of odd files", campaign)
finish()
