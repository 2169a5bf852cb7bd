#!/usr/bin/env python3
"""Class 12, many files and a large one: the peak of memory for 1,000 and for TORTURE x 20,000 photos, nested folders,
few descriptors; the peak for a photo of 20,000 x 20,000 pixels, by a file and by a pipe."""

import hashlib
import os
import resource
import shutil
import subprocess
from pathlib import Path

from torture import PROGRAM, WORK, check, finish, measured, photo, result, rng, run, said, times


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


def large():
    """A JPEG of 400 megapixels and over 80 MB, which a pipe cannot hold for a second reading."""
    side, most = 20000, 200 * 1000 # KB
    if not os.path.exists("/usr/bin/time"):
        return "GNU time is not installed"
    if b"__asan_init" in Path(PROGRAM).read_bytes():
        return "sanitizers keep what is freed"
    row = bytes((x // 7 + rng.randrange(12)) % 256 for x in range(3 * side))
    with subprocess.Popen([PROGRAM, "--max-pixels=400M", "--no-sync", "--kernel=identity", "-Q", "90", "-",
                           str(WORK / "large.jpg")], stdin=subprocess.PIPE) as maker:
        maker.stdin.write(b"P6\n%d %d\n255\n" % (side, side))
        for y in range(side):
            maker.stdin.write(row[3 * y:] + row[:3 * y])
        maker.stdin.close()
    size = (WORK / "large.jpg").stat().st_size
    peaks, hashes, lost = {}, {}, []
    for how, source in (("file", WORK / "large.jpg"), ("pipe", "-")):
        report = WORK / "peak"
        with (WORK / "large.jpg").open("rb") as file:
            reader = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        subprocess.run(["/usr/bin/time", "-o", report, "-f", "%M", PROGRAM, "--max-pixels=400M", "--no-sync", source,
                        WORK / "large-out.jpg"], stdin=reader.stdout, check=True)
        reader.stdout.close()
        reader.wait()
        peaks[how] = int(report.read_text().split()[-1]) * 1024 // 1000
        hashes[how] = hashlib.file_digest((WORK / "large-out.jpg").open("rb"), "sha256").hexdigest()
    lost += [f"{peak} KB by a {how}" for how, peak in peaks.items() if peak > most]
    lost += ["a file and a pipe give other bytes"] if hashes["file"] != hashes["pipe"] else []
    result(12, "a photo of 400 megapixels", 2, len(lost), mb=size // 10**6, file_kb=peaks["file"], pipe_kb=peaks["pipe"])
    return lost


check("many files", campaign)
check("a large photo", large)
finish()
