#!/usr/bin/env python3
"""Class 2, limits of the file size (ulimit -f) with SIGXFSZ ignored and not, and read-only places."""

import resource
import shutil
import signal
import subprocess

from torture import WORK, Disk, check, digest, finish, result, run, said, temporary, times, wanted


def limited(size, ignore):
    def prepare():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignore else signal.SIG_DFL)
    return prepare


def campaign():
    want, all_want = wanted(300, 200)
    lost, tries, fired = [], 0, 0
    for i in range(times(24)):
        size = int(len(want) * 1.2 * i / times(24))
        for ignore in (False, True):
            tries += 2
            (WORK / "out.jpg").unlink(missing_ok=True)
            shutil.rmtree(WORK / "out", ignore_errors=True)
            done = run(WORK / "in.jpg", WORK / "out.jpg", preexec_fn=limited(size, ignore))
            now = (WORK / "out.jpg").read_bytes() if (WORK / "out.jpg").exists() else None
            fired += done.returncode != 0
            if done.returncode not in (0, 1) or now != (want if done.returncode == 0 else None):
                lost.append(f"{size}: exit {done.returncode}: {said(done)}")
            done = run(WORK / "photos", WORK / "out", preexec_fn=limited(size, ignore))
            fired += done.returncode != 0
            wrong = [name for name, value in digest(WORK / "out").items() if all_want.get(name) != value]
            if done.returncode not in (0, 1, 4) or wrong or temporary(WORK / "out"):
                lost.append(f"{size}: exit {done.returncode}, {wrong}: {said(done)}")
            if run("--no-sync", WORK / "photos", WORK / "out").returncode or digest(WORK / "out") != all_want:
                lost.append(f"{size}: not completed without the limit")
    with Disk("1M") as disk:
        if disk.mounted:
            (disk.place / "out").mkdir()
            subprocess.run(["mount", "-o", "remount,ro", str(disk.place)], check=True)
            for words in ([WORK / "in.jpg", disk.place / "o.jpg"], [WORK / "photos", disk.place / "out"],
                          [WORK / "photos", disk.place / "new"]):
                tries, fired = tries + 1, fired + 1
                done = run(*words)
                if done.returncode not in (1, 4) or "Read-only" not in said(done):
                    lost.append(f"read-only: exit {done.returncode}: {said(done)}")
    result(2, "limits of the file size, read-only places", tries, len(lost), fired=fired)
    return lost


check("limits of the file size", campaign)
finish()
