#!/usr/bin/env python3
"""Class 24, devices that are lost: a call returns an error that stays, or an operation does not happen and its device
is gone, or hangs and goes on, or hangs and is gone; at any call and any operation, on one to three devices. By the CPU
runtime of the CUDA tests. Every photo of a folder is done all the same, with the CPU's bytes, and each device is
reported once; a single photo is done, or refused with a message and no output; no run hangs."""

import shutil
import subprocess

import commands
from torture import NO_RUNTIME, WORK, check, digest, finish, on_cpu, photos, result, rng, run, temporary, times

STICKY = [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999]


def fault():
    n, error = rng.choice([rng.randint(1, 40), rng.randint(1, 400)]), rng.choice(STICKY)
    return rng.choice([f"fail={n}:{error}:sticky", f"lost={n}:{error}", f"fail={n}:{error}",
                       f"hang={n}:{rng.randint(1, 60)}", f"hang={n}:{rng.randint(1, 60)}:{error}"])


def one(runtime, devices, folder):
    """(what is wrong or None, whether the fault struck)"""
    shutil.rmtree(WORK / "out", ignore_errors=True)
    (WORK / "out").mkdir()
    words = ["--no-sync", "--backend=cuda-fast", "--devices=all"] if folder else ["--no-sync", "--backend=cuda-fast"]
    try:
        code, said, struck = on_cpu(runtime, *words, WORK / "in" if folder else WORK / "in/0.jpg",
                                    WORK / "out" if folder else WORK / "out/0.jpg", timeout=120)
    except subprocess.TimeoutExpired:
        return "hangs", True
    made, right = digest(WORK / "out"), digest(WORK / "right")
    lost = sum(": warning: CUDA device" in line for line in said)
    # A device that fails at its very first calls counts as missing, not as lost: then a named backend is refused.
    if code == 3 and not made and said and (not folder or "cannot run" in said[-1] or "CUDA" in said[-1]):
        return None, struck
    if folder and (code or made != right):
        return f"exit {code}, {len(made)} of {len(right)}: {said[-3:]}", struck
    if folder and lost > devices:
        return f"{lost} warnings: {said}", struck
    if not folder and (made.get("0.jpg") != right["0.jpg"] if code == 0 else made or not said or code not in (1, 3)):
        return f"exit {code}: {said}", struck
    return ("a temporary file" if temporary(WORK / "out") else None), struck


def campaign():
    if NO_RUNTIME:
        return NO_RUNTIME
    photos(WORK / "in", 6)
    assert run("--no-sync", "-q", WORK / "in", WORK / "right").returncode == 0
    lost, fired, count = [], 0, times(120)
    for i in range(count):
        devices = rng.randint(1, 3)
        runtime = f"devices={devices},{fault()}" + rng.choice(["", ",order=now"])
        wrong, struck = one(runtime, devices, i % 3 > 0)
        fired += struck
        if wrong:
            lost.append(f"{runtime}: {'a folder' if i % 3 else 'one photo'}: {wrong}")
    result(24, "persistent errors, lost and hanging devices", count, len(lost), fired=fired)
    return lost


def each_command():
    """The same in every kind of command line: a documented exit code, a message with every other than 0; three print it in their tables."""
    if NO_RUNTIME:
        return NO_RUNTIME
    lost, tries, fired = [], 0, 0
    commands.prepare()
    for words in commands.command_lines(backend="cuda-fast", bench="c,cuda-fast"):
        for _ in range(times(4)):
            runtime = rng.choice([fault(), f"fail={rng.randint(1, 60)}:2", f"fail=cudaMalloc:{rng.randint(1, 9)}:2",
                                  f"memory={2 ** rng.randint(10, 22)}"])
            commands.fresh()
            try:
                code, words_said, struck = on_cpu(runtime, *words, timeout=120)
            except subprocess.TimeoutExpired:
                code, words_said, struck = "none: it hangs", [], True
            tries, fired = tries + 1, fired + struck
            if code not in (0, 1, 2, 3, 4, 5) or (code and not words_said and words[0] not in ("doctor", "bench", "compare")):
                lost.append(f"{runtime}: {' '.join(map(str, words))}: exit {code}: {words_said[-3:]}")
    result(24, "the same in every kind of command line", tries, len(lost), fired=fired)
    return lost


check("devices that are lost", campaign)
check("devices that are lost, in every kind of command line", each_command)
finish()
