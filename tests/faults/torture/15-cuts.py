#!/usr/bin/env python3
"""Class 15, cut files: files of every kind cut at every byte (small ones) or at many places. Refused, except where
nothing but the end marker is missing."""

import subprocess
from pathlib import Path

from torture import BUILD, PROGRAM, WORK, check, finish, photo, ppm, result, rng, run, times

KINDS = ["gray", "ycc444", "ycc420", "scans", "progressive", "arithmetic", "png", "pnm"]


def files():
    folder = WORK / "seeds"
    folder.mkdir()
    if (BUILD / "tests/fuzz_exif").exists():
        subprocess.run([str(BUILD / "tests/fuzz_exif"), str(folder)], check=True)
    found = [(name, (folder / name).read_bytes()) for name in KINDS if (folder / name).exists()]
    photo(WORK / "b.jpg", 300, 200, "--subsampling=420")
    found.append(("baseline", (WORK / "b.jpg").read_bytes()))
    photo(WORK / "r.jpg", 40, 700, "--restart=on")
    found.append(("restarts", (WORK / "r.jpg").read_bytes()))
    ppm(WORK / "p.ppm", 50, 40)
    found.append(("PNM", (WORK / "p.ppm").read_bytes()))
    return found


def campaign():
    lost, tries = [], 0
    kinds = files()
    for name, whole in kinds:
        (WORK / "in").write_bytes(whole)
        assert run("--no-sync", "--kernel=identity", WORK / "in", WORK / "right.ppm", timeout=60).returncode == 0
        right = (WORK / "right.ppm").read_bytes()
        cuts = list(range(len(whole)))
        if len(cuts) > times(1200) // len(kinds):
            cuts = sorted({0, 1, 2, 3, len(whole) - 1, len(whole) - 2, len(whole) - 3,
                           *rng.sample(cuts, times(1200) // len(kinds))})
        ways = ["--decode=serial", "--decode=parallel"] if whole.startswith(b"\xff\xd8") else ["--threads=1"]
        for cut in cuts:
            for way in ways:
                tries += 1
                (WORK / "in").write_bytes(whole[:cut])
                (WORK / "o.ppm").unlink(missing_ok=True)
                done = subprocess.run([PROGRAM, "--no-sync", "--kernel=identity", way, str(WORK / "in"),
                                       str(WORK / "o.ppm")], capture_output=True, timeout=60)
                there = (WORK / "o.ppm").exists()
                if done.returncode == 0:
                    # All pixels are there: nothing but the end marker (or a checksum behind the last pixel) is missing.
                    if not there or (WORK / "o.ppm").read_bytes() != right or cut < len(whole) - 16:
                        lost.append(f"{name} cut at {cut} of {len(whole)}: exit 0")
                elif done.returncode != 1 or there or not done.stderr:
                    lost.append(f"{name} cut at {cut}: exit {done.returncode}, output {there}")
    result(15, "cut files", tries, len(lost))
    return lost


check("files cut at every place", campaign)
finish()
