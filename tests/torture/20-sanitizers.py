#!/usr/bin/env python3
"""Class 20, sanitizers: failing calls, cuts, damage and hostile headers again with the program of make test-asan
(build/asan), which ends at the first report."""

import os
import subprocess
from pathlib import Path

from torture import SCALE, check, finish, result

PARTS = ["13-headers.py", "15-cuts.py", "16-damage.py", "08-special-files.py", "09-names.py", "10-clashes.py"]


def campaign():
    program = Path("build/asan/lapedge").resolve()
    if not program.exists():
        return "build/asan is not there: make test-asan builds it"
    lost = []
    for part in PARTS:
        done = subprocess.run([f"tests/torture/{part}"], capture_output=True, text=True,
                              env={**os.environ, "LAPEDGE": str(program), "TORTURE": str(0.2 * SCALE), "LAPEDGE_RESULTS": "",
                                   "ASAN_OPTIONS": "detect_leaks=1:exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1"})
        if done.returncode:
            lost.append(f"{part}: {done.stdout[-300:]}")
    result(20, "classes again under AddressSanitizer and UBSan", len(PARTS), len(lost), unit="classes")
    return lost


check("classes again under sanitizers", campaign)
finish()
