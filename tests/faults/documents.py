#!/usr/bin/env python3
"""documents.py [--all] [TEXT]: the N-th allocation fails, once. What a run then prints, and what its log and its report
hold, is as whole as without a fault, or its exit code is not the one of a run without a fault, and it says why.

By itself the first allocation of each stack of callers, and a few others, drawn by TEST_SEED; --all: every one. TEXT:
only commands with it in their names. Prints TAP."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "tests/support")
import tap

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())
SHIM = Path(os.environ.get("B", "build") + "/tests/nth_malloc.so").resolve()
MOST, MORE = 190, 5 # stacks of one command, and other allocations
rng = random.Random(f"documents {os.environ.get('TEST_SEED', '')}")
ONE = ["--threads=1"]
QUICK = ["--runs=1", "--backends=c", *ONE]


def shape(value):
    """Members, kinds of values, and the lengths of long texts. Numbers are not compared: some are times, which are null
    where they are too short."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(member) for member in value]
    if isinstance(value, str) and len(value) > 100:
        return len(value)
    return "number or null" if value is None or isinstance(value, (int, float)) else type(value).__name__


def parsed(text):
    """The shapes of the objects in a text: one object, or one on each line."""
    try:
        return [shape(json.loads(text))]
    except json.JSONDecodeError:
        return [shape(json.loads(line)) for line in text.splitlines()]


def plain(text):
    """A text without the figures, and without the spaces that line them up."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.]+", "#", text))


def page(text):
    """The data of a report."""
    return parsed(re.search(r'<script[^>]*type="?application/json"?[^>]*>(.*?)</script>', text, re.S)[1])


def differences(left, right, place=""):
    """Where two shapes differ, a line each."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in {**left, **right}:
            yield from differences(left.get(key), right.get(key), f"{place}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for i, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from differences(one, other, f"{place}[{i}]")
    elif left != right:
        yield f"{place}: {str(left)[:200]} instead of {str(right)[:200]}"


class Case:
    """A command in a fresh folder, which has photos in `in`, and what it leaves: stdout and a file."""

    def __init__(self, work, name, words, read=parsed, file=None, read_file=parsed, photos=(), most=MOST):
        self.work, self.name, self.words, self.read = work, name, words, read
        self.file, self.read_file, self.photos = file, read_file, photos # photos: those that are in `out` before
        self.most = most

    def run(self, n):
        """Runs the command and returns whether the allocation was met, the exit code, and what was left."""
        for path in (self.work / "out").glob("**/*"):
            if path.is_file():
                path.unlink()
        for name in self.photos:
            shutil.copy(self.work / "in" / name, self.work / "out")
        fired = self.work / "fired"
        fired.unlink(missing_ok=True)
        done = subprocess.run([PROGRAM, *self.words], cwd=self.work, capture_output=True, text=True,
                              env={**os.environ, "LAP_FAIL_AT": str(n), "LAP_FAIL_FIRED": str(fired),
                                   "LAP_FAIL_COUNT": str(self.work / "count"), "LD_PRELOAD": str(SHIM),
                                   **({} if n else {"LAP_FAIL_PLACES": str(self.work / "places")})})
        if done.returncode != 0:
            return fired.exists(), done, None
        left = [self.read(done.stdout)]
        if self.file:
            left.append(self.read_file((self.work / "out" / self.file).read_text()))
        return fired.exists(), done, left

    def chosen(self):
        """Which allocations are to fail."""
        every = range(1, int((self.work / "count").read_text()) + 1)
        if "--all" in sys.argv[1:]:
            return every
        places = [int(line) for line in (self.work / "places").read_text().split()]
        return sorted({*rng.sample(places, min(self.most, len(places))), *rng.sample(every, min(MORE, len(every)))})

    def check(self):
        _, done, right = self.run(0)
        bad = [] if right else [f"exit {done.returncode} without a fault: {done.stderr}"]
        met = 0
        for n in self.chosen():
            try:
                is_met, done, left = self.run(n)
                bad += [f"N={n}: {line}" for line in differences(left, right)] if left else []
                if left is None and not 0 < done.returncode <= 5:
                    bad.append(f"N={n}: exit {done.returncode}")
                if left is None and not done.stderr.strip():
                    bad.append(f"N={n}: exit {done.returncode} without a word")
                met += is_met
            except (OSError, ValueError, TypeError) as problem:
                bad.append(f"N={n}: cannot be read: {problem}")
        tap.report(not bad and met > 10, f"{self.name}: whole, or with another exit code",
                   "\n".join([f"{met} allocations were met", *bad[:5]]))


def cases(work):
    yield Case(work, "run --json", ["--json", *ONE, "in/a.jpg", "out/a.ppm"])
    yield Case(work, "info --json", ["info", "--json", "in/a.jpg"])
    yield Case(work, "info", ["info", "in/a.jpg"], plain)
    yield Case(work, "stats --json", ["stats", "--json", *ONE, "in/a.jpg"])
    yield Case(work, "diff --json", ["diff", "--json", "--max-abs=255", *ONE, "in/a.jpg", "in/b.jpg"])
    yield Case(work, "compare --json", ["compare", "--json", *QUICK, "in"])
    yield Case(work, "compare of a folder", ["compare", *QUICK, "in"], plain)
    yield Case(work, "bench --json", ["bench", "--json", "--sizes=16x16", *QUICK], most=50) # 150 ms each
    yield Case(work, "a folder, --json and --log",
               ["--no-sync", "--json", "--log=out/log.jsonl", "-j1", *ONE, "in", "out"], file="log.jsonl")
    yield Case(work, "photos in place", ["--in-place", "--no-sync", "--json", "-j1", *ONE, "out/a.jpg", "out/b.jpg"],
               photos=("a.jpg", "b.jpg"))
    yield Case(work, "transform --json", ["transform", "--flip=h", "--json", *ONE, "in/a.jpg", "out/a.jpg"])
    yield Case(work, "explain", ["explain", "c"], plain)
    yield Case(work, "stats of a folder", ["stats", "--json", "-j1", *ONE, "in"])
    yield Case(work, "stats of a folder, --csv", ["stats", "--csv", "-j1", *ONE, "in"], plain)
    yield Case(work, "run --report", ["--report=out/page.html", *ONE, "in/a.jpg", "out/a.ppm"], str, "page.html", page)


if not SHIM.exists():
    tap.skip("documents", "the shim needs glibc and no sanitizer")
else:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        (place / "in").mkdir()
        (place / "out").mkdir()
        for photo, step in (("a", 1), ("b", 3)):
            grey = bytes(i * step % 251 for i in range(40 * 30))
            (place / "grey.pgm").write_bytes(b"P5 40 30 255\n" + grey)
            subprocess.run([PROGRAM, "--no-sync", "grey.pgm", f"in/{photo}.jpg"], cwd=place, check=True)
        (place / "in/notes.txt").write_text("not taken\n")
        wanted = "".join(word for word in sys.argv[1:] if word != "--all")
        for case in cases(place):
            if wanted in case.name:
                case.check()
tap.finish()
