"""What the scripts of the fault classes share. A script prints TAP and appends what it tried to LAPEDGE_RESULTS, one
JSON object a line: class, what, tool, tries, lost, and more. TORTURE=10 asks for ten times as many tries."""

import atexit
import ctypes
import datetime
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())
BUILD = Path(os.environ.get("B", "build")).resolve()
ON_CPU = BUILD / "cudacpu/asan/lapedge"
NO_RUNTIME = None if ON_CPU.exists() else f"{ON_CPU} was not built"
SCALE = float(os.environ.get("TORTURE", "1"))
RESULTS = Path(os.environ["LAPEDGE_RESULTS"]).resolve() if os.environ.get("LAPEDGE_RESULTS") else None
# A campaign has a new seed each time, a script among the tests the same one.
SEED = int(os.environ.get("TORTURE_SEED") or (random.randrange(10**6) if RESULTS else os.environ.get("TEST_SEED", 16)))
DOCUMENTED = {0, 1, 2, 3, 4, 5}
rng = random.Random(SEED)

# Disks are mounted where only this process and its children see them, so that they end with it, even if it is killed.
_libc, CLONE_NEWNS, MS_REC, MS_PRIVATE = ctypes.CDLL(None), 0x20000, 1 << 14, 1 << 18
OWN_MOUNTS = (_libc.unshare(CLONE_NEWNS) == 0 and
               _libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None) == 0)

_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
_folder = tempfile.TemporaryDirectory(dir=_memory)
atexit.register(_folder.cleanup)
WORK = Path(_folder.name)
_count = _failed = 0


def times(count):
    return max(1, round(count * SCALE))


def have(tool):
    return shutil.which(tool) is not None


def run(*words, program=PROGRAM, **more):
    more = {"capture_output": True, "timeout": 300, "stdin": subprocess.DEVNULL, **more}
    return subprocess.run([program, *map(str, words)], **more)


def on_cpu(runtime, *words, **more):
    """(exit code, what was said, whether a fault of LAP_CUDACPU=runtime struck), of the program whose CUDA kernels run
    on the CPU runtime of the CUDA tests."""
    done = run(*words, program=str(ON_CPU), env={**os.environ, "LAP_CUDACPU": runtime}, **more)
    lines = done.stderr.decode(errors="replace").splitlines()
    struck = any(line.startswith("# CUDA on CPU: a fault struck") for line in lines)
    return done.returncode, [line for line in lines if not line.startswith("# CUDA on CPU")], struck


def measured(*words):
    """(exit code, what was said, peak of memory in KiB): by GNU time, as the peak that wait4 has is that of this
    interpreter before it becomes the program."""
    report = WORK / "peak"
    done = run("-o", report, "-f", "%M", PROGRAM, *words, program="/usr/bin/time")
    return done.returncode, said(done), int(report.read_text().split()[-1])


def said(done):
    return done.stderr.decode(errors="replace")[:400]


def noise(count):
    return rng.randbytes(count)


def pgm(path, width, height, pixels=None):
    Path(path).write_bytes(b"P5\n%d %d\n255\n" % (width, height) + (pixels or noise(width * height)))


def ppm(path, width, height, pixels=None):
    Path(path).write_bytes(b"P6\n%d %d\n255\n" % (width, height) + (pixels or noise(3 * width * height)))


def photo(path, width, height, *options, gray=False):
    """A smooth picture with some noise, as a JPEG."""
    channels = 1 if gray else 3
    pixels = bytes((x * 3 + y * 2 + (x // 9 ^ y // 7) * 16 + rng.randrange(12) + 40 * c) & 255
                   for y in range(height) for x in range(width) for c in range(channels))
    source = WORK / "source.pnm"
    (pgm if gray else ppm)(source, width, height, pixels)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    done = run("--no-sync", "--kernel=identity", *options, source, path)
    assert done.returncode == 0, said(done)


def photos(folder, count):
    """Small photos in two folders."""
    for i in range(count):
        photo(Path(folder) / ["", "sub"][i % 2] / f"{i}.jpg", 40 + 17 * i % 90, 30 + 29 * i % 120)


def digest(folder):
    """Every file below, without the program's own."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file() and ".lapedge" not in path.parts and not path.name.startswith(".lapedge-")}


def wanted(width, height):
    """A photo and a folder of six; what comes of the one, and of the other."""
    photo(WORK / "in.jpg", width, height)
    photos(WORK / "photos", 6)
    assert run("--no-sync", WORK / "in.jpg", WORK / "want.jpg").returncode == 0
    assert run("--no-sync", WORK / "photos", WORK / "want").returncode == 0
    return (WORK / "want.jpg").read_bytes(), digest(WORK / "want")


def temporary(folder):
    return [str(path) for path in Path(folder).rglob(".lapedge-*.tmp")]


def check(name, test):
    """test() returns the list of what was lost, or (list, reason to skip)."""
    global _count, _failed
    _count += 1
    try:
        lost = test()
    except Exception:
        lost = traceback.format_exc().splitlines()
    if isinstance(lost, str):
        print(f"ok {_count} - {name} # SKIP {lost}")
        return
    _failed += bool(lost)
    for line in lost[:8]:
        print(f"# {line}")
    print(f"{'not ok' if lost else 'ok'} {_count} - {name}", flush=True)


def result(number, what, tries, lost, tool="lapedge", **more):
    record = {"class": number, "what": what, "tool": tool, "tries": tries, "lost": lost, "seed": SEED,
              "date": datetime.date.today().isoformat(), **more}
    print(f"# {json.dumps(record)}")
    if RESULTS:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")


def finish():
    print(f"1..{_count}")
    sys.exit(_failed > 0)


class Disk:
    """A tmpfs of some size; None of it without the right to mount."""

    def __init__(self, size, name="disk"):
        self.place = WORK / name
        self.place.mkdir(exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(self.place)]
        self.mounted = OWN_MOUNTS and subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.place)], check=True)
