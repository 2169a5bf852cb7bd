#!/usr/bin/env python3
"""Class 21, sanitizers of the kernels: their harnesses on the CPU runtime of the CUDA tests, under AddressSanitizer and
UBSan (accesses out of bounds, memory that nobody wrote, barriers that some threads never reach; what memcheck,
initcheck and synccheck look for) and under ThreadSanitizer (racecheck), each time with another order of blocks, warps,
lanes and streams. On a GPU tests/gpu/sanitize.sh does it with compute-sanitizer."""

import os
import re
import subprocess

from torture import BUILD, check, finish, result, rng, times

# A part of the long ones, each time another.
PROGRAMS = {"cudacpu_filter": ["--part={}/40"], "cudacpu_ops": [], "cudacpu_scaffold": [], "cudacpu_jpeg": ["--few"],
            "cudacpu_encode": ["--few"], "cudacpu_views": [], "cudacpu_stream": [], "cudacpu_device_pool": [],
            "cudacpu_races": [], "cudacpu_races_ops": [], "cudacpu_jpeg_races": ["--few"],
            "cudacpu_encode_races": ["--few"]}


def campaign():
    there = {name: words for name, words in PROGRAMS.items() if (BUILD / "tests" / name).exists()}
    if not there:
        return "no harness of the kernels was built"
    lost, checks, runs = [], 0, 0
    for name, words in there.items():
        for _ in range(times(1)):
            words = [word.format(rng.randrange(40)) for word in words]
            seed = str(rng.randrange(2**32))
            done = subprocess.run([str(BUILD / "tests" / name), *words], capture_output=True, text=True, errors="replace",
                                  env={**os.environ, "LAP_CUDACPU_SEED": seed}, stdin=subprocess.DEVNULL)
            runs += 1
            checks += len(re.findall(r"^ok ", done.stdout, re.M))
            bad = re.findall(r"^not ok .*|^SUMMARY: .*|.*runtime error: .*", done.stdout + done.stderr, re.M)
            if done.returncode or bad:
                lost.append(f"{name} {words} seed {seed}: exit {done.returncode}: {bad[:3]} {done.stderr[-200:]}")
    result(21, "harnesses of the kernels under sanitizers", checks, len(lost), runs=runs, programs=len(there))
    return lost


check("kernels under sanitizers", campaign)
finish()
