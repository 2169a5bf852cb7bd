#!/usr/bin/env python3
"""Class 12, many files: the peak of memory for 1,000 and for TORTURE x 20,000 photos, nested folders, few descriptors."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

from torture import PROGRAM, WORK, check, finish, measured, photo, result, run, said, times


def peak(folder, files):
    """KiB of a run over that many links to one photo"""
    (WORK / folder).mkdir()
    source = WORK / "a.jpg"
    for i in range(files):
        if i % 20000 == 0: # a file system limits the links of a file
            source = Path(shutil.copy(WORK / "a.jpg", WORK / folder / f"{i}.jpg"))
        else:
            os.link(source, WORK / folder / f"{i}.jpg")
    code, _, kib = measured("--no-sync", WORK / folder, WORK / "out")
    shutil.rmtree(WORK / "out")
    return kib if code == 0 else None


def campaign():
    photo(WORK / "a.jpg", 16, 16)
    lost = []
    if not os.path.exists("/usr/bin/time"):
        return "GNU time is not installed"
    if b"__asan_init" in Path(PROGRAM).read_bytes():
        return "sanitizers keep what is freed"
    few, many = peak("few", 1000), peak("many", times(20000))
    if not few or not many or many > 1.2 * few:
        lost.append(f"{few} KiB for 1000 files, {many} KiB for {times(20000)}")
    place = WORK / "nested"
    place.mkdir()
    here = os.getcwd()
    os.chdir(place)
    for i in range(1000):
        os.mkdir("d")
        os.chdir("d")
        if i % 100 == 99:
            shutil.copy(WORK / "a.jpg", "x.jpg")
    os.chdir(here)
    done = run("--no-sync", place, WORK / "nested-out")
    if done.returncode not in (0, 1) or b"10 done" not in done.stderr:
        lost.append(f"1,000 nested folders: exit {done.returncode}: {said(done)}")
    subprocess.run(["rm", "-rf", str(place), str(WORK / "nested-out")], check=True)
    for files in (16, 24, 32, 64):
        done = run("--no-sync", WORK / "few", WORK / f"out{files}",
                   preexec_fn=lambda n=files: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
        if done.returncode:
            lost.append(f"{files} descriptors: exit {done.returncode}: {said(done)}")
    result(12, "many files, deep folders, few descriptors", 1000 + times(20000) + 4000, len(lost), few_kib=few,
           many_kib=many)
    return lost


check("many files", campaign)
finish()
