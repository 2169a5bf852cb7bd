#!/usr/bin/env python3
"""A decoder that was taken over, in the sandbox (SECURITY.md): in each form of a run, and on a kernel with any version
of Landlock up to this one's, it tries what no decoder needs, from a socket to the mode of an input
(tests/cli/sandbox/hostile_tries.c). One that gets through is a loss. The same tries without --sandbox count as having
struck. And what the sandbox costs: runs with it and without it in turns, in processor time, since other work on the
machine changes how long a run takes."""

import os
import resource
import shutil
import statistics
import subprocess

from torture import BUILD, PROGRAM, WORK, check, finish, photo, photos, result, rng, run, said, times

BACKENDS = ["auto", "c", "openmp", "sse", "simd"]


def attack(words, sandbox):
    """(tries that got through, tries, what is wrong)"""
    elsewhere = WORK / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    shutil.rmtree(WORK / "out", ignore_errors=True)
    elsewhere.mkdir()
    (WORK / "out").mkdir()
    for name in ("secret", "victim"):
        (elsewhere / name).write_text("mine\n")
    before = state()
    stranger = subprocess.Popen(["sleep", "1000"])
    done = run(*words, *["--sandbox"] * sandbox,
               env={**os.environ, "LAP_HOSTILE": str(elsewhere), "LAP_HOSTILE_OUT": str(WORK / "out"),
                    "LAP_HOSTILE_INPUT": str(WORK / "in/0.jpg"), "LAP_HOSTILE_PROCESS": str(stranger.pid),
                    "LAP_LANDLOCK": str(rng.randint(1, 8)), "LD_PRELOAD": str(BUILD / "tests/hostile.so")})
    killed = stranger.poll() is not None
    stranger.kill()
    stranger.wait()
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith(("reached ", "refused "))]
    reached = [line for line in lines if line.startswith("reached ")]
    wrong = [] if done.returncode == 0 and lines else [f"{words}: exit {done.returncode}: {said(done)}"]
    if sandbox:
        wrong += [f"{' '.join(map(str, words))}: {line}" for line in reached]
        if sorted(os.listdir(elsewhere)) != ["secret", "victim"]:
            wrong.append(f"{words}: left {os.listdir(elsewhere)}")
        if killed or state() != before:
            wrong.append(f"{words}: a process was killed, or an input was changed")
    return len(reached), len(lines), wrong


def state():
    files = [(path.name, path.stat()) for path in sorted((WORK / "in").iterdir())]
    return [(name, st.st_mode, st.st_ino, st.st_size, st.st_mtime_ns) for name, st in files]


def form():
    one, folder, out = WORK / "in/0.jpg", WORK / "in", WORK / "out"
    common = ["--no-sync", f"--threads={rng.choice([1, 2, 4])}", f"--decode={rng.choice(['auto', 'serial', 'parallel'])}"]
    filtered = [f"--backend={rng.choice(BACKENDS)}", f"--border={rng.choice(['zero', 'wrap'])}"]
    return rng.choice([
        [*common, *filtered, one, out / "a.jpg"], [*common, *filtered, one, out / "a.png"],
        [*common, *filtered, f"-j{rng.choice([1, 2, 8])}", folder, out / "edges"],
        ["transform", *common, "--rotate=90", one, out / "a.jpg"],
        ["stats", *common[1:], *filtered, one], ["diff", *common[1:], one, one]])


def campaign():
    lost, fired, tries = [], 0, 0
    photos(WORK / "in", 8)
    for _ in range(times(60)):
        words = form()
        fired += attack(words, False)[0]
        _, count, wrong = attack(words, True)
        tries += count
        lost += wrong
    result(28, "attacks by a hijacked decoder", tries, len(lost), fired=fired)
    return lost


def processor_ms(*words):
    """Of the program and of the process that it keeps beside the sandbox."""
    shutil.rmtree(WORK / "out", ignore_errors=True)
    (WORK / "out").mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("--no-sync", "-q", *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, said(done)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def cost():
    few, folder = WORK / "cost/0.jpg", WORK / "cost"
    photo(few, 320, 240)
    for n in range(1, 200):
        shutil.copy(few, folder / f"{n}.jpg")
    figures = {}
    for name, words, runs in (("one", [few, WORK / "out/a.jpg"], 60), ("folder", [folder, WORK / "out"], 12)):
        both = [(processor_ms(*words), processor_ms("--sandbox", *words)) for _ in range(times(runs))]
        figures[f"{name}_cpu_ms"] = round(statistics.median(plain for plain, _ in both), 2)
        figures[f"{name}_sandbox_cpu_ms"] = round(statistics.median(inside for _, inside in both), 2)
    result(28, "cost of the sandbox", 2 * times(60) + 2 * times(12), 0, **figures)
    return []


check(f"a decoder that was taken over reaches nothing ({PROGRAM})", campaign)
check("cost of the sandbox", cost)
finish()
