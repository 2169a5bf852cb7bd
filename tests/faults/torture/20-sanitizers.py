#!/usr/bin/env python3
"""Class 20, sanitizers: cuts, damage, hostile headers, special files, names and clashes again with the programs of make
test-asan (build/asan) and of make msan (build/msan), which end at the first report."""

import os
import subprocess
from pathlib import Path

from torture import SCALE, check, finish, result

PARTS = ["13-headers.py", "15-cuts.py", "16-damage.py", "08-special-files.py", "09-names.py", "10-clashes.py"]
# Under MemorySanitizer libjpeg-turbo has no SIMD, which reads some damaged files in another way: nor has djpeg there.
PROGRAMS = {"AddressSanitizer and UBSan": ("build/asan/lapedge", "make test-asan", {}),
            "MemorySanitizer": ("build/msan/lapedge", "make msan", {"JSIMD_FORCENONE": "1", "B": "build/msan"})}


def campaign(sanitizer):
    place, maker, more = PROGRAMS[sanitizer]
    program = Path(place).resolve()
    if not program.exists():
        return f"{place} is not there: {maker} builds it"
    lost = []
    for part in PARTS:
        done = subprocess.run([f"tests/faults/torture/{part}"], capture_output=True, text=True,
                              env={**os.environ, "LAPEDGE": str(program), "TORTURE": str(0.2 * SCALE), "LAPEDGE_RESULTS": "",
                                   "ASAN_OPTIONS": "detect_leaks=1:exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1",
                                   "MSAN_OPTIONS": "exitcode=99", **more})
        if done.returncode:
            lost.append(f"{part}: {done.stdout[-300:]}")
    result(20, f"classes again under {sanitizer}", len(PARTS), len(lost), unit="classes")
    return lost


for name in PROGRAMS:
    check(f"classes again under {name}", lambda name=name: campaign(name))
finish()
