#!/usr/bin/env python3
"""Class 3, calls that fail: the preloaded library (tests/faults/nth_call.py, a sample of TORTURE x 800), and strace,
which also meets the calls that the C library makes inside itself."""

import errno
import os
import random
import subprocess
import sys
from pathlib import Path

from torture import PROGRAM, SEED, WORK, check, finish, have, result, times

sys.path.insert(0, "tests/faults")
import nth_call # noqa: E402

CALLS = {
    "openat": "EMFILE EACCES EIO ENOSPC", "read": "EIO EINTR", "pread64": "EIO", "write": "ENOSPC EIO EDQUOT EINTR",
    "close": "EIO EINTR", "fsync": "EIO", "fdatasync": "EIO", "syncfs": "EIO ENOSPC", "renameat2": "EIO EINVAL EACCES",
    "renameat": "EIO", "unlinkat": "EIO", "mkdirat": "ENOSPC EACCES", "mkdir": "ENOSPC", "mmap": "ENOMEM",
    "clone3": "EAGAIN", "newfstatat": "EIO ENOMEM", "getdents64": "EIO", "ftruncate": "EIO", "lseek": "EIO",
    "fchmod": "EPERM", "madvise": "EINVAL", "readlink": "EACCES", "getrandom": "ENOSYS", "mprotect": "ENOMEM",
    "clone": "EAGAIN ENOMEM", "fcntl": "EMFILE", "fallocate": "ENOSPC EOPNOTSUPP", "linkat": "EPERM", "access": "EIO",
    "ioctl": "ENOTTY", "getcwd": "ENOENT", "uname": "EFAULT", "sysinfo": "EFAULT", "prlimit64": "EPERM",
    "sched_getaffinity": "EINVAL", "poll": "EINTR", "utimensat": "EPERM", "unlink": "EIO", "prctl": "EINVAL",
    "landlock_create_ruleset": "ENOSYS EOPNOTSUPP", "landlock_add_rule": "EINVAL ENOMEM",
    "landlock_restrict_self": "EPERM E2BIG", "seccomp": "EINVAL ENOMEM",
}


class Traced(nth_call.Scenario):
    """The same command under strace; faults are CALL:N[+]:ERRNO. (Not brk: the kernel answers with a place, never with an
    error.) Writing to stderr fails like all other writing, so that nothing may be said."""

    def trial(self, faults, calls, invisible):
        problem = super().trial(faults, calls, invisible)
        return None if problem and problem.endswith("without a word") and "write" in calls else problem

    def run(self, faults, counts=False):
        words, environment = [PROGRAM, *self.words], dict(os.environ)
        trace = self.box / "trace"
        if counts:
            subprocess.run(["strace", "-f", "-qq", "-o", str(trace), *words], cwd=self.box, capture_output=True)
            for line in trace.read_text(errors="replace").splitlines():
                call = line.split(None, 1)[1].split("(")[0]
                self.counts[call] = self.counts.get(call, 0) + 1
            trace.unlink()
            self.reset()
        if faults:
            call, when, number = faults.split(":")
            words = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={call}", "-e",
                     f"inject={call}:error={errno.errorcode[int(number)]}:when={when}", *words]
        done = subprocess.run(words, cwd=self.box, env=environment, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        if faults and trace.exists() and "INJECTED" in trace.read_text(errors="replace"):
            (self.box / "fired").touch()
        trace.unlink(missing_ok=True)
        return done


class TracedPruning(Traced, nth_call.Pruned):
    """The same with a photo that is gone."""


def before_main():
    """How often each call is made by a program that does nothing: the loader's."""
    trace = WORK / "start"
    subprocess.run(["strace", "-f", "-qq", "-o", str(trace), PROGRAM, "--version"], capture_output=True)
    counts = {}
    for line in trace.read_text(errors="replace").splitlines():
        call = line.split(None, 1)[1].split("(")[0]
        counts[call] = counts.get(call, 0) + 1
    return counts


def faults_of(scenario, first):
    for call, names in CALLS.items():
        for n in range(first.get(call, 0) + 1, scenario.counts.get(call, 0) + 1):
            for name in names.split():
                invisible = (call, name) in {("write", "EINTR"), ("read", "EINTR"), ("close", "EINTR")}
                yield f"{call}:{n}:{getattr(errno, name)}", {call}, invisible
                if name not in ("EINTR",):
                    yield f"{call}:{n}+:{getattr(errno, name)}", {call}, False


def preloaded():
    if not nth_call.LIBRARY.exists():
        return "the preloaded library needs glibc and no sanitizer"
    everything = [(s, trial) for s in nth_call.scenarios(WORK) for trial in nth_call.trials(s)]
    random.Random(SEED).shuffle(everything)
    fired, runs, bad = nth_call.campaign(everything[:times(800)])
    result(3, "failing calls, preloaded library", runs, bad, fired=fired, of=len(everything))
    return [f"{bad} of {runs} runs"] if bad else []


def traced():
    if not have("strace") or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"]).returncode:
        return "strace cannot trace here"
    work = WORK / "traced"
    work.mkdir()
    nth_call.make_photos(work / "photos")
    first = before_main()
    scenarios = [Traced(work, "one photo", ["in/0.jpg", "out/0.jpg", "--threads=2"]),
                 Traced(work, "in place", ["--in-place", "in/0.jpg", "in/sub/1.jpg"], in_place=True),
                 Traced(work, "folder", ["in", "out", "-j2", "--threads=2"]),
                 TracedPruning(work, "pruning", ["--prune", "in", "out", "-j2"], first=["in", "out", "-Q30", "--no-sync"]),
                 Traced(work, "statistics", ["in/0.jpg", "out/0.jpg", "--stats=out/s.json"], also=("s.json",))]
    boxed = Traced(work, "sandbox", ["in", "out", "-j2", "--sandbox"])
    if boxed.counts.get("seccomp"): # else this kernel has none
        scenarios.append(boxed)
    everything = [(s, trial) for s in scenarios for trial in faults_of(s, first)]
    random.Random(SEED).shuffle(everything)
    fired, runs, bad = nth_call.campaign(everything[:times(300)])
    result(3, "failing calls, strace", runs, bad, fired=fired, of=len(everything))
    return [f"{bad} of {runs} runs"] if bad else []


check("calls that fail, by a preloaded library", preloaded)
check("calls that fail, by strace", traced)
finish()
