#!/usr/bin/env python3
"""Class 6, power cuts: what a disk may hold after each call of a run (tests/faults/power.py)."""

import os
import re
import subprocess

from torture import BUILD, PROGRAM, SEED, check, finish, result, times


def campaign():
    if not (BUILD / "tests/nth_call.so").exists():
        return "the preloaded library needs glibc and no sanitizer"
    done = subprocess.run(["tests/faults/power.py", f"--states={times(2000)}", f"--seed={SEED}"], capture_output=True,
                          text=True, env={**os.environ, "LAPEDGE": PROGRAM, "B": str(BUILD)})
    found = re.search(r"tries=(\d+) lost=(\d+) unsynced_tries=(\d+) unsynced_lost=(\d+)", done.stdout)
    tries, lost, _, unsynced = map(int, found.groups())
    result(6, "states of a disk after a power cut", tries, lost, without_syncs_lost=unsynced)
    return [line for line in done.stdout.splitlines() if line.startswith("not ok")]


check("power cuts at every moment", campaign)
finish()
