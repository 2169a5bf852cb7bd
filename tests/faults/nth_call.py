#!/usr/bin/env python3
"""nth_call.py [--all | --runs=N] [--seed=S]: the N-th call of each function that can fail does, with each plausible error.

Single photos, --in-place, a folder, a second run over the same folder, a list, --prune, statistics, a log and a report.
Through the preloaded library nth_call.so (calls inside the C library by tests/faults/torture/3-calls). After every run:
inputs as they were, outputs complete or absent, nothing temporary left, an exit code of 0 only if all is done, a
message where it is not; and the same command without a fault then completes. A run counts only if its fault fired.

By itself a sample of a fixed seed and one of TEST_SEED; --all: everything. Prints TAP."""

import errno
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())
LIBRARY = Path(os.environ.get("B", "build") + "/tests/nth_call.so").resolve()
DOCUMENTED = {0, 1, 2, 3, 4, 5}
OPEN = "EMFILE ENFILE EACCES EIO ENOMEM ENOSPC EINTR"
ERRORS = {
    "open": OPEN, "openat": OPEN, "fopen": "EMFILE EACCES ENOMEM", "fclose": "EIO ENOSPC", "fflush": "EIO ENOSPC",
    "read": "EIO EINTR EISDIR", "pread": "EIO EINTR", "write": "ENOSPC EIO EDQUOT EFBIG EINTR EAGAIN",
    "close": "EIO ENOSPC EINTR", "fsync": "EIO ENOSPC EDQUOT", "fdatasync": "EIO ENOSPC", "syncfs": "EIO ENOSPC EDQUOT",
    "renameat2": "EIO ENOSPC EACCES EINVAL ENOSYS EROFS", "renameat": "EIO ENOSPC EACCES EROFS",
    "linkat": "EIO EPERM EMLINK ENOSPC", "unlinkat": "EIO EACCES", "unlink": "EIO", "mkdir": "ENOSPC EACCES EDQUOT",
    "mkdirat": "ENOSPC EACCES EIO", "ftruncate": "EIO ENOSPC", "fallocate": "ENOSPC EOPNOTSUPP EINTR",
    "fchmod": "EPERM EIO", "fchown": "EPERM EIO", "futimens": "EPERM EIO", "lseek": "EIO",
    "stat": "EIO EACCES ENOMEM", "lstat": "EIO EACCES",
    "fstat": "EIO ENOMEM", "fstatat": "EIO EACCES", "readlink": "EIO EACCES", "realpath": "ENOMEM EACCES",
    "access": "EACCES EIO", "fdopendir": "ENOMEM EMFILE", "readdir": "EIO", "scandirat": "ENOMEM EMFILE EACCES EIO",
    "mmap": "ENOMEM", "madvise": "ENOMEM EINVAL", "pthread_create": "EAGAIN", "pthread_mutex_init": "ENOMEM",
    "pthread_cond_init": "ENOMEM", "pthread_condattr_init": "ENOMEM", "opendir": "EMFILE EACCES ENOMEM", "fopencookie": "ENOMEM",
    "open_memstream": "ENOMEM", "getdelim": "ENOMEM EIO", "fcntl": "EMFILE EIO", "getcwd": "ENOENT EACCES",
    "sched_getaffinity": "EINVAL", "poll": "EINTR", "getrandom": "EINTR ENOSYS",
}
# From then on these would never end, by their meaning: try again.
NOT_FOR_GOOD = {("write", "EINTR"), ("write", "EAGAIN"), ("read", "EINTR"), ("pread", "EINTR"), ("poll", "EINTR"),
                ("open", "EINTR"), ("openat", "EINTR")}
# Nothing of these may be seen outside: the whole result, and exit code 0.
INVISIBLE = {("write", "EINTR"), ("read", "EINTR"), ("pread", "EINTR"), ("close", "EINTR"),
             ("madvise", "ENOMEM"), ("madvise", "EINVAL"), ("getrandom", "EINTR"), ("getrandom", "ENOSYS"),
             ("poll", "EINTR")}
# A temporary file cannot be removed where these fail: the next run does it.
NO_REMOVAL = {"unlinkat", "unlink"}


def digest(folder):
    """Every file below a folder, without the program's own."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".lapedge" not in path.parts and not path.name.startswith(".lapedge-")}


def temporary(folder):
    return [str(path) for path in folder.rglob(".lapedge-*.tmp")]


class Scenario:
    """A command over copies of the same photos. Outputs lie in out/; in place they are the inputs."""

    def __init__(self, work, name, words, in_place=False, first=None, also=()):
        self.name, self.words, self.in_place, self.first, self.also = name, words, in_place, first, also
        self.box = work / name.replace(" ", "-")
        self.photos = work / "photos"
        self.reset()
        self.originals = digest(self.box / "in")
        self.counts = {}
        done = self.run("", counts=True)
        if done.returncode:
            raise SystemExit(f"{name}: exit {done.returncode} without a fault: {done.stderr}")
        self.right = digest(self.box / "in") if in_place else self.outputs()
        self.before = {}
        self.reset()
        if first:
            self.before = self.outputs()

    def reset(self):
        shutil.rmtree(self.box, ignore_errors=True)
        shutil.copytree(self.photos, self.box / "in")
        (self.box / "out").mkdir()
        if self.first:
            subprocess.run([PROGRAM, *self.first], cwd=self.box, check=True, stderr=subprocess.DEVNULL)

    def outputs(self):
        return digest(self.box / "out")

    def run(self, faults, counts=False, record=None):
        environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "LAP_FIRED": str(self.box / "fired")}
        environment.pop("LAPEDGE_CORPUS", None)
        if faults:
            environment["LAP_FAULTS"] = faults
        if record:
            environment["LAP_RECORD"] = str(record)
        if counts:
            environment["LAP_COUNTS"] = str(self.box / "counts")
        done = subprocess.run([PROGRAM, *self.words], cwd=self.box, env=environment, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        if counts:
            for line in (self.box / "counts").read_text().splitlines():
                call, number = line.split()
                self.counts[call] = int(number)
        return done

    def halves(self):
        """What is neither right nor what stood there before."""
        if self.in_place:
            now = digest(self.box / "in")
            kept = self.originals if "--backup=.orig" not in self.words else \
                {name: now.get(name + ".orig", now.get(name)) for name in self.originals}
            return [name for name in self.originals
                    if now.get(name) not in (self.originals[name], self.right[name]) or
                    self.originals[name] not in (now.get(name), kept[name])]
        now = self.outputs()
        return [name for name in now
                if name not in self.also and now[name] not in (self.right.get(name), self.before.get(name))]

    def broken_side(self):
        for name in self.also:
            path = self.box / "out" / name
            if path.exists() and name.endswith(".json"):
                json.loads(path.read_text())
            if path.exists() and name.endswith(".html") and "</html>" not in path.read_text():
                return f"{name} is cut"
        return None

    def whole(self):
        now = digest(self.box / "in") if self.in_place else self.outputs()
        return all(now.get(name) == self.right[name] for name in self.right if name not in self.also) and \
            all(name in now for name in self.also)

    def trial(self, faults, calls, invisible):
        """None, "not fired", or what is wrong."""
        self.reset()
        done = self.run(faults)
        if not (self.box / "fired").exists():
            return "not fired"
        said = done.stderr.decode(errors="replace")
        if done.returncode not in DOCUMENTED:
            return f"exit {done.returncode}: {said[:300]}"
        if not self.in_place and digest(self.box / "in") != self.originals:
            return "an input was changed"
        if self.halves():
            return f"exit {done.returncode}, neither whole nor absent: {self.halves()}"
        if self.broken_side():
            return self.broken_side()
        if temporary(self.box) and not calls & NO_REMOVAL and "+" not in faults:
            return f"left: {temporary(self.box)}"
        if done.returncode == 0 and not self.whole():
            return f"exit 0 and not all is there: {said[:300]}"
        if "Success" in said:
            return f"no reason: {said[:300]}"
        if done.returncode and not said:
            return f"exit {done.returncode} without a word"
        if invisible and done.returncode:
            return f"exit {done.returncode}, and it should not be seen: {said[:300]}"
        if done.returncode == 0 and not temporary(self.box) and not self.in_place:
            return None
        again = self.run("")
        if again.returncode:
            return f"the rerun: exit {again.returncode}: {again.stderr.decode(errors='replace')[:300]}"
        if not self.whole():
            return "the rerun did not complete, or filtered twice" if self.in_place else "the rerun did not complete"
        if temporary(self.box):
            return f"left after the rerun: {temporary(self.box)}"
        return None


class Listed(Scenario):
    """The inputs are named in a file."""

    def reset(self):
        super().reset()
        (self.box / "list").write_text("in/0.jpg\nin/sub/1.jpg\n")


class Pruned(Scenario):
    """One photo is gone since the first run: its output has to go, too."""

    def reset(self):
        super().reset()
        (self.box / "in/2.jpg").unlink()

    def whole(self):
        return self.outputs() == self.right


def make_photos(folder):
    (folder / "sub").mkdir(parents=True)
    text = b"".join(b"%d\n" % i for i in range(1, 20000))
    for i, (width, height) in enumerate([(150, 100), (60, 90), (40, 300)]):
        source = folder / "source.pgm"
        source.write_bytes(b"P5\n%d %d\n255\n" % (width, height) + text[i:i + width * height])
        target = folder / ["", "sub"][i % 2] / f"{i}.jpg"
        subprocess.run([PROGRAM, "--no-sync", "--kernel=identity", str(source), str(target)], check=True)
        source.unlink()


def scenarios(work):
    make_photos(work / "photos")
    quick = ["--threads=2"]
    return [
        Scenario(work, "one photo", ["in/0.jpg", "out/0.jpg", *quick]),
        Scenario(work, "one photo by parts", ["in/0.jpg", "out/0.jpg", "--decode=parallel", *quick]),
        Scenario(work, "over an older one", ["in/0.jpg", "out/0.jpg", *quick],
                 first=["in/0.jpg", "out/0.jpg", "-Q", "30", "--no-sync"]),
        Scenario(work, "PNG of a turned photo", ["in/0.jpg", "out/0.png", "--auto-orient", "--preserve", *quick]),
        Scenario(work, "transform", ["transform", "--rotate=90", "in/0.jpg", "out/0.jpg"]),
        Scenario(work, "in place", ["--in-place", "in/0.jpg", "in/sub/1.jpg", *quick], in_place=True),
        Scenario(work, "in place, kept", ["--in-place", "--backup=.orig", "in/0.jpg", "in/sub/1.jpg", *quick], in_place=True),
        Scenario(work, "in place again", ["--in-place", "in/0.jpg", "in/sub/1.jpg", "in/2.jpg", *quick], in_place=True,
                 first=["--in-place", "in/0.jpg", "in/sub/1.jpg", *quick]),
        Scenario(work, "folder", ["in", "out", "-j2", *quick]),
        Scenario(work, "folder again", ["in", "out", "-j2", "-f", *quick],
                 first=["in", "out", "-Q", "30", "--no-sync"]),
        Scenario(work, "folder with a log", ["in", "out", "-j1", "--log=out/log.jsonl", *quick], also=("log.jsonl",)),
        Listed(work, "files of a list", ["--files-from=list", "out", "-j2", *quick]),
        Pruned(work, "pruning", ["--prune", "in", "out", "-j2", *quick], first=["in", "out", "-Q", "30", "--no-sync"]),
        Scenario(work, "statistics", ["in/0.jpg", "out/0.jpg", "--stats=out/s.json", *quick], also=("s.json",)),
        Scenario(work, "report", ["compare", "--backends=c,simd", "--report=out/r.html", "in/0.jpg", *quick], also=("r.html",)),
    ]


def trials(scenario):
    """All faults of a scenario: (faults, calls, invisible)"""
    for call, count in sorted(scenario.counts.items()):
        for name in ERRORS.get(call, "").split():
            number = getattr(errno, name)
            invisible = (call, name) in INVISIBLE
            for n in range(1, count + 1):
                yield f"{call}:{n}:{number}", {call}, invisible
                if (call, name) not in NOT_FOR_GOOD:
                    yield f"{call}:{n}+:{number}", {call}, invisible
            if name == "EINTR":
                yield f"{call}:1%:{number}", {call}, invisible
        if call in ("read", "pread", "write"):
            yield f"{call}:1+:0", {call}, True
            yield f"{call}:1:0", {call}, True
    # File systems that cannot rename without overwriting, and then some.
    for n in range(1, scenario.counts.get("renameat2", 0) + 1):
        for name in ERRORS["linkat"].split():
            yield f"renameat2:1+:{errno.EINVAL},linkat:{n}:{getattr(errno, name)}", {"linkat"}, False
        yield f"renameat2:1+:{errno.ENOSYS},linkat:1+:{errno.EPERM},renameat:{n}:{errno.EIO}", {"renameat"}, False


# Whatever of these fails costs the run its 0: all of them, or (close) at least that of the output.
SHOWN = {"fsync": all, "fdatasync": all, "syncfs": all, "renameat": all, "renameat2": all, "close": any,
         "pthread_mutex_init": all, "pthread_condattr_init": all, "pthread_cond_init": all}


# Of runs that do more. Pruning looks for a photo twice: what failed in the first reading succeeds in the second.
SHOWN_BY = {"report": {"fclose": any}, "pruning": {"opendir": lambda codes: codes[-1] != 0, "getcwd": all}}


def hidden(scenario):
    """Calls whose failure the exit code does not show. A run may make fewer calls than the one that was counted, which
    a busy machine may have made slower: then nothing has failed."""
    found = []
    for call, needed in SHOWN_BY.get(scenario.name, SHOWN).items():
        codes = []
        for n in range(1, scenario.counts.get(call, 0) + 1):
            scenario.reset()
            code = scenario.run(f"{call}:{n}:{errno.EIO}").returncode
            codes += [code] if (scenario.box / "fired").exists() else []
        if codes and not needed(codes):
            found.append(f"{call}: exit codes {codes}")
    return found


def unsynced(scenario):
    """Calls of openat whose failure leaves the name of a new .lapedge unsynced, in a run that ends with 0."""
    found = []
    for n in range(1, scenario.counts["openat"] + 1):
        scenario.reset()
        record = scenario.box.parent / "record"
        record.unlink(missing_ok=True)
        done = scenario.run(f"openat:{n}:{errno.EMFILE}", record=record)
        lines = [line.split("\t") for line in record.read_text().splitlines()]
        out = str(scenario.box / "out")
        made = lines.index(["mkdir", f"{out}/.lapedge", "0"]) if done.returncode == 0 else len(lines)
        written = [words[0] for words in lines[made:]].index("fdatasync") if made < len(lines) else 0
        after = lines[made + written:]
        # The sync at the end of a group comes after the outputs have their names.
        before_names = after[:next((i for i, words in enumerate(after) if words[0] == "rename"), len(after))]
        if done.returncode == 0 and not any(words[0] == "syncfs" or words[:2] == ["fsync", out] for words in before_names):
            found.append(f"openat {n}: exit 0, and nothing has synced the name of .lapedge")
    return found


def campaign(chosen, seconds=float("inf")):
    """Prints what is wrong; returns (runs whose fault fired, runs, violations)."""
    end, fired, runs, bad = time.monotonic() + seconds, 0, 0, 0
    for scenario, (faults, calls, invisible) in chosen:
        if time.monotonic() > end:
            break
        try:
            problem = scenario.trial(faults, calls, invisible)
        except subprocess.TimeoutExpired:
            problem = "no end within 60 s"
        except ValueError as error:
            problem = f"not JSON: {error}"
        runs += 1
        fired += problem != "not fired"
        if problem and problem != "not fired":
            bad += 1
            print(f"# {scenario.name}: {faults}: {problem}")
    return fired, runs, bad


def main():
    if not LIBRARY.exists():
        print("ok 1 - calls that fail # SKIP the preloaded library needs glibc and no sanitizer\n1..1")
        return 0
    seeds = [int(word[7:]) for word in sys.argv[1:] if word.startswith("--seed=")]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        all_scenarios = scenarios(Path(name))
        everything = [(scenario, trial) for scenario in all_scenarios for trial in trials(scenario)]
        runs = [int(word[7:]) for word in sys.argv[1:] if word.startswith("--runs=")]
        if runs or "--all" in sys.argv:
            seed = seeds[0] if seeds else random.randrange(10**6)
            print(f"# seed {seed}")
            random.Random(seed).shuffle(everything)
            fired, runs, bad = campaign(everything[:runs[0]] if runs else everything)
            print(f"# result: class=3 tool=preload tries={fired} runs={runs} lost={bad}")
            print(f"{'not ok' if bad else 'ok'} 1 - each call of {len(everything)} fails: {fired} fired\n1..1")
            return int(bad > 0)
        tap = 0
        failed = False
        for what, seed, count in (("seed 1", 1, 70),
                                  ("TEST_SEED", seeds[0] if seeds else int(os.environ.get("TEST_SEED", 2)), 40)):
            print(f"# seed {seed}")
            chosen = random.Random(seed).sample(everything, count)
            fired, runs, bad = campaign(chosen)
            failed |= bad > 0 or fired < runs * 0.8
            tap += 1
            print(f"{'not ok' if bad or fired < runs * 0.8 else 'ok'} {tap} - calls that fail, {what}: {fired} of "
                  f"{len(everything)} faults fired")
        for scenario in all_scenarios:
            if scenario.name in ("one photo", "in place", "folder", *SHOWN_BY):
                found = hidden(scenario)
                for text in found:
                    print(f"# {text}")
                tap += 1
                failed |= bool(found)
                print(f"{'not ok' if found else 'ok'} {tap} - {scenario.name}: the exit code shows what was not "
                      f"{'looked at' if scenario.name == 'pruning' else 'made, synced, closed or renamed'}")
        found = unsynced(next(scenario for scenario in all_scenarios if scenario.name == "folder"))
        print(*[f"# {text}" for text in found], sep="\n", end="\n" if found else "")
        tap += 1
        failed |= bool(found)
        print(f"{'not ok' if found else 'ok'} {tap} - the name of the record is synced, whichever file cannot be opened")
        storm = ",".join(f"{call}:1%:{errno.EINTR}" for call in ("read", "pread", "write", "poll", "getrandom"))
        fired, runs, bad = campaign([(scenario, (storm, {"read", "write"}, True)) for scenario in all_scenarios])
        tap += 1
        failed |= bad > 0 or fired < runs
        print(f"{'not ok' if bad or fired < runs else 'ok'} {tap} - a storm of interrupted calls is not seen from outside")
        print(f"1..{tap}")
        return int(failed)


if __name__ == "__main__":
    sys.exit(main())
