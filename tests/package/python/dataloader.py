#!/usr/bin/python3
"""python/examples/dataloader.py by fork and by spawn: all photos, and the broken one named. LAPEDGE_TORCH: an
interpreter that has torch, for its DataLoader; else the pool of multiprocessing alone. Run in the root of the tree
after `make`; TAP on stdout."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = os.path.abspath(os.path.join(os.environ.get("B", "build"), "python"))
sys.path[:0] = [MODULE, "tests/support"]
from tap import finish, report, skip  # noqa: E402

try:
    import numpy as np

    import lapedge
except ImportError as problem:
    print(f"1..1\nok 1 - a DataLoader # SKIP {problem}")
    sys.exit(0)


def has_torch(python):
    return subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def check(python, name, photos):
    whole = [lapedge.decode(path).reshape(-1, 3) for path in photos.glob("[0-9]*.jpg")]
    means = np.concatenate(whole).astype(np.float64).mean(axis=0)
    for method in ("fork", "spawn"):
        done = subprocess.run([python, "python/examples/dataloader.py", str(photos), method], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False,
                              env={**os.environ, "PYTHONPATH": MODULE})
        words = done.stdout.split()
        report(done.returncode == 0 and words[:1] == [str(len(whole))] and
               np.allclose(np.array(words[-3:], float), means, atol=1e-3) and "cut.jpg: truncated" in done.stderr,
               f"{name} by {method}: every photo, and the broken one is named", done.stdout + done.stderr)


with tempfile.TemporaryDirectory() as scratch:
    for i, photo in enumerate(sorted(Path("samples").glob("*.jpg")) * 5):
        shutil.copy(photo, f"{scratch}/{i}.jpg")
    Path(scratch, "cut.jpg").write_bytes(Path("samples/chelsea.jpg").read_bytes()[:9000])
    torch = os.environ.get("LAPEDGE_TORCH", sys.executable)
    if has_torch(torch):
        check(torch, "a DataLoader", Path(scratch))
    else:
        skip("a DataLoader", "torch is not installed; LAPEDGE_TORCH names an interpreter that has it")
    if has_torch(sys.executable):
        skip("a pool of multiprocessing", "torch is installed")
    else:
        check(sys.executable, "a pool of multiprocessing", Path(scratch))
finish()
