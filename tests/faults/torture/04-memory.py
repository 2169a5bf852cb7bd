#!/usr/bin/env python3
"""Class 4, memory that runs out: every allocation of a run in turn (tests/faults/alloc.sh), and limits of the address
space (ulimit -v) from none to enough, for a photo and a folder."""

import os
import resource
import shutil
import subprocess

import commands
from torture import BUILD, PROGRAM, WORK, check, digest, finish, result, rng, run, said, temporary, times, wanted


def each_allocation():
    if not (BUILD / "tests/nth_malloc.so").exists():
        return "the preloaded library needs glibc and no sanitizer"
    done = subprocess.run(["tests/faults/alloc.sh"], capture_output=True, text=True,
                          env={**os.environ, "LAPEDGE": PROGRAM, "B": str(BUILD)})
    bad = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
    good = [line for line in done.stdout.splitlines() if line.startswith("ok")]
    result(4, "the N-th allocation fails, for all N", len(good) + len(bad), len(bad), unit="kinds of runs")
    return bad


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def address_space():
    want, all_want = wanted(400, 300)
    lost, tries, fired = [], 0, 0
    first = 4 << 20 # not even the libraries fit
    while run("--version", preexec_fn=limited(first)).returncode:
        first += 1 << 20
    for i in range(times(60)):
        size = first + i * (64 << 20) // times(60)
        prepare = limited(size)
        tries += 2
        (WORK / "out.jpg").unlink(missing_ok=True)
        shutil.rmtree(WORK / "out", ignore_errors=True)
        done = run("--no-sync", WORK / "in.jpg", WORK / "out.jpg", preexec_fn=prepare)
        now = (WORK / "out.jpg").read_bytes() if (WORK / "out.jpg").exists() else None
        fired += done.returncode != 0
        if done.returncode not in (0, 1, 5) or now != (want if done.returncode == 0 else None) or not (
                done.returncode == 0 or said(done)):
            lost.append(f"{size >> 20} MiB: exit {done.returncode}: {said(done)}")
        done = run("--no-sync", WORK / "photos", WORK / "out", preexec_fn=prepare)
        fired += done.returncode != 0
        wrong = [name for name, value in digest(WORK / "out").items() if all_want.get(name) != value]
        if done.returncode not in (0, 1, 4, 5) or wrong or temporary(WORK / "out"):
            lost.append(f"{size >> 20} MiB: folder: exit {done.returncode}, {wrong}: {said(done)}")
    result(4, "limits of the address space", tries, len(lost), fired=fired)
    return lost


def each_command():
    """In every kind of command line some allocations, once and from then on: a documented exit code, a message with
    every other than 0, nothing temporary left."""
    shim = BUILD / "tests/nth_malloc.so"
    if not shim.exists():
        return "the preloaded library needs glibc and no sanitizer"
    lost, tries, fired_ever, flag = [], 0, 0, WORK / "fired"
    commands.prepare()
    for words in commands.command_lines():
        n, fired = 1, True
        while fired:
            ever = rng.random() < 0.3
            commands.fresh()
            flag.unlink(missing_ok=True)
            done = run(*words, env={**os.environ, "LAP_FAIL_AT": str(n), "LAP_FAIL_FIRED": str(flag),
                                    "LD_PRELOAD": str(shim), **({"LAP_FAIL_EVER": "1"} if ever else {})})
            fired = flag.exists()
            tries, fired_ever = tries + 1, fired_ever + fired
            # What doctor finds is its output.
            is_verdict = words[0] == "doctor" and done.returncode == 3 and b"out of memory" in done.stdout
            if done.returncode not in range(6) or (done.returncode and not (done.stderr or is_verdict)) or temporary(commands.OUT):
                lost.append(f"{' '.join(map(str, words))}: N={n}{' and on' * ever}: exit {done.returncode}: {said(done)}")
            n += rng.randint(1, max(1, round(n / (4 * times(1)))))
    result(4, "allocations fail in every kind of command line", tries, len(lost), fired=fired_ever)
    return lost


check("allocations fail in every kind of command line", each_command)
check("every allocation fails in turn", each_allocation)
check("limits of the address space", address_space)
finish()
