#!/usr/bin/env python3
"""Class 19, fuzzing under AddressSanitizer and UBSan (make fuzz; libFuzzer needs clang): TORTURE x 5 seconds a target."""

import os
import re
import subprocess

from torture import check, finish, have, result, times


def campaign():
    if not have("clang"):
        return "clang is not installed"
    done = subprocess.run(["make", "-s", "fuzz", f"FUZZ_SECONDS={times(5)}"], capture_output=True, text=True,
                          env={**os.environ, "MAKEFLAGS": ""})
    runs = [int(n) for n in re.findall(r"stat::number_of_executed_units: *(\d+)", done.stdout + done.stderr)]
    crashes = re.findall(r"Test unit written to (\S+)", done.stdout + done.stderr)
    if done.returncode and not crashes and not runs:
        return "the targets could not be built here"
    result(19, "fuzzing", sum(runs), len(crashes), targets=len(runs))
    return crashes + ([] if done.returncode == 0 else [(done.stdout + done.stderr)[-400:]])


check("fuzzing", campaign)
finish()
