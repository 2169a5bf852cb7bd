#!/usr/bin/env python3
"""dask_folder.py IN OUT [SCHEDULER]: the edges of all JPEGs below IN under OUT, over the workers of a Dask cluster.

SCHEDULER: the address of a running scheduler (tcp://...); without it, two workers are started here. All workers must be
able to access IN and OUT. If a worker dies, another one processes its photo. A photo that cannot be read is reported,
and the exit status is then 1. A photo whose output exists is skipped, so the same command continues an interrupted
run."""
import sys
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed

ENDINGS = {".jpg", ".jpeg", ".jpe", ".jfif"}


def edges(photo, output):
    """Filters one photo on one worker. Returns (photo, error message or None)."""
    import lapedge

    if Path(output).exists():
        return photo, None
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    try:
        lapedge.run(photo, output, threads=1)
    except lapedge.Error as problem:
        return photo, str(problem)
    return photo, None


def main(source, target, scheduler=None):
    cluster = scheduler or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    failed = done = 0
    with Client(cluster) as client:
        photos = [p for p in sorted(Path(source).rglob("*")) if p.suffix.lower() in ENDINGS and p.is_file()]
        jobs = [client.submit(edges, str(p), str(Path(target, p.relative_to(source))), retries=3, pure=False)
                for p in photos]
        for job in as_completed(jobs):
            photo, problem = job.result()
            done += problem is None
            failed += problem is not None
            if problem:
                print(problem, file=sys.stderr)
    if not scheduler:
        cluster.close()
    print(f"{done} done, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
