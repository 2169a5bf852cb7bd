#!/usr/bin/env python3
"""docs/kernels.md prints the coefficients that the program uses, of every kernel with a name. Prints TAP."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "tests/support")
from tap import finish, report # noqa: E402 pylint: disable=wrong-import-position

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())


def printed(text):
    """{name: 25 numbers} of the page: kernels stand side by side below their names."""
    found = {}
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        names, *rows = block.splitlines()
        numbers = [list(map(int, row.split())) for row in rows]
        for i, name in enumerate(names.split()):
            found[name] = [number for row in numbers for number in row[5 * i:5 * i + 5]]
    return found


def used(image, kernel):
    done = subprocess.run([PROGRAM, "compare", "--backends=c", "--json", f"--kernel={kernel}", image], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["coefficients"]


page = Path("docs/kernels.md").read_text()
known = subprocess.run([PROGRAM, "help", "run"], check=True, capture_output=True, text=True).stdout
said = re.search(r"5x5 coefficients \((\w+)\); also\s+([\w\s,-]+?), or", known)
names = [said[1], *re.split(r",\s+", said[2])]
kernels = printed(page) | {"identity": [0] * 12 + [1] + [0] * 12}
report(sorted(kernels) == sorted(names), "the page has each kernel that help names", sorted(names))
with tempfile.TemporaryDirectory() as folder:
    dot = Path(folder) / "dot.pgm"
    dot.write_bytes(b"P5\n1 1\n255\n\0")
    for kernel, numbers in kernels.items():
        report(used(dot, kernel) == numbers, f"the coefficients of {kernel}", numbers)
finish()
