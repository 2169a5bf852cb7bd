#!/usr/bin/env python3
"""Class 21, sanitizers of the kernels: their harnesses on the CPU runtime of the CUDA tests, under AddressSanitizer and
UBSan (accesses out of bounds, memory that nobody wrote, barriers that some threads never reach; what memcheck,
initcheck and synccheck look for) and under ThreadSanitizer (racecheck), each time with another order of blocks, warps,
lanes and streams. All harnesses that the build has; with TORTURE below 1 some, drawn. On a GPU
tests/kernels/gpu/sanitize.sh does it with compute-sanitizer."""

import math
import os
import re
import subprocess

from torture import BUILD, SCALE, check, finish, result, rng, times

# A part of the long ones, each time another. Others are taken without words, as they are.
PARTS = 12 # not more than there are CUDA backends: a part without any is an error
WORDS = {"cudacpu_filter": [f"--part={{}}/{PARTS}"], "cudacpu_jpeg": ["--few"], "cudacpu_encode": ["--few"],
         "cudacpu_jpeg_races": ["--few"], "cudacpu_encode_races": ["--few"]}


def campaign():
    wanted = os.environ.get("LAPEDGE_HARNESSES", "").split()
    there = sorted({*wanted, *(path.name for path in (BUILD / "tests").glob("cudacpu_*") if path.is_file())})
    if not there:
        return "no harness of the kernels was built"
    programs = rng.sample(there, min(len(there), math.ceil(SCALE * len(there))))
    lost, checks, runs = [], 0, 0
    for name in sorted(programs):
        program = BUILD / "tests" / name
        if not program.exists():
            lost.append(f"{name} was not built")
            continue
        for _ in range(times(1)):
            words = [word.format(rng.randrange(PARTS)) for word in WORDS.get(name, [])]
            seed = str(rng.randrange(2**32))
            done = subprocess.run([str(program), *words], capture_output=True, text=True, errors="replace",
                                  env={**os.environ, "LAP_CUDACPU_SEED": seed}, stdin=subprocess.DEVNULL)
            runs += 1
            checks += len(re.findall(r"^ok ", done.stdout, re.M))
            bad = re.findall(r"^not ok .*|^SUMMARY: .*|.*runtime error: .*", done.stdout + done.stderr, re.M)
            if done.returncode or bad:
                lost.append(f"{name} {words} seed {seed}: exit {done.returncode}: {bad[:3]} {done.stderr[-200:]}")
    result(21, "harnesses of the kernels under sanitizers", checks, len(lost), runs=runs, programs=len(programs), of=len(there))
    return lost


check("kernels under sanitizers", campaign)
finish()
