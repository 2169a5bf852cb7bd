#!/usr/bin/python3
"""python/examples/dask_folder.py on a cluster of two workers, one of which is killed in mid-run: every photo once, the
program's bytes, nothing left behind. Run in the root of the tree after `make`; TAP on stdout."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from fnmatch import fnmatch
from pathlib import Path

MODULE = os.path.abspath(os.path.join(os.environ.get("B", "build"), "python"))
os.environ["PYTHONPATH"] = MODULE # of the workers, too
sys.path[:0] = [MODULE, "tests/support", "python/examples"]
from tap import finish, report  # noqa: E402

try:
    from dask.distributed import LocalCluster

    import dask_folder
    import lapedge  # noqa: F401
except ImportError as problem:
    print(f"1..1\nok 1 - a folder over Dask # SKIP {problem}")
    sys.exit(0)

PROGRAM = os.path.abspath(os.environ.get("LAPEDGE", "lapedge"))
PHOTOS = 40


def make_photos(folder):
    samples = sorted(Path("samples").glob("*.jpg"), key=lambda p: p.stat().st_size)[:4]
    for i in range(PHOTOS):
        place = folder / f"day-{i % 3}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(samples[i % len(samples)], place / f"{i}.jpg")
    (folder / "cut.JPG").write_bytes(samples[0].read_bytes()[:3000])


def outputs(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix == ".jpg"}


def kill_one(cluster, folder, killed):
    """The first worker, by SIGKILL, once a few outputs are there."""
    while len(list(folder.rglob("*.jpg"))) < 3:
        time.sleep(0.005)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    killed.append(len(list(folder.rglob("*.jpg"))))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        photos, edges, expected = Path(scratch, "photos"), Path(scratch, "edges"), Path(scratch, "expected")
        make_photos(photos)
        edges.mkdir()
        subprocess.run([PROGRAM, "-q", "--no-sync", str(photos), str(expected)], check=False)
        killed = []
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            killer = threading.Thread(target=kill_one, args=(cluster, edges, killed))
            killer.start()
            status = dask_folder.main(str(photos), str(edges), cluster.scheduler_address)
            killer.join()
            report(killed and killed[0] < PHOTOS, "a worker was killed in mid-run", killed)
            report(status == 1, "exit status 1: one photo is cut")
            report(outputs(edges) == outputs(expected) and len(outputs(edges)) == PHOTOS,
                   f"{PHOTOS} photos, each once, with the program's bytes",
                   set(outputs(expected)) ^ set(outputs(edges)))
            # SIGKILL may have struck between two calls of the worker, which then leaves its one temporary file.
            others = [p.name for p in edges.rglob("*") if p.is_file() and p.suffix != ".jpg"]
            report(len(others) <= 1 and all(fnmatch(n, ".lapedge-*.tmp") for n in others),
                   "nothing is left behind but what SIGKILL leaves", others)
            before = {p: p.stat().st_mtime_ns for p in edges.rglob("*.jpg")}
            dask_folder.main(str(photos), str(edges), cluster.scheduler_address)
            report(before == {p: p.stat().st_mtime_ns for p in edges.rglob("*.jpg")}, "a second run does nothing again")


if __name__ == "__main__":
    main()
    finish()
