#!/usr/bin/env python3
"""Class 26, the same files by the CPU and by a device: the samples, made photos, and LAPEDGE_CORPUS where it is set
(files of up to 40 KB). Exit code, message and bytes must be those of the CPU, with --codec=cuda and with each CUDA
backend; the largest difference of a pixel is counted, and is 0. By the CPU runtime of the CUDA tests."""

import os
from pathlib import Path

from torture import NO_RUNTIME, ON_CPU, WORK, check, finish, on_cpu, photo, result, rng, run, times

BACKENDS = ["cuda-global", "cuda-shared2", "cuda-shared3", "cuda-shared4", "cuda-shared4-conflict", "cuda-shared4-pad",
            "cuda-shared4-wide", "cuda-fast"]
SETTINGS = [[], ["--border=replicate"], ["--border=wrap"], ["--range=abs"], ["--gray"], ["--kernel=log5", "--invert"],
            ["--scale=0.5", "--offset=64"], ["--threshold=90"], ["--auto-orient"], ["--fail-on=none"]]


def files():
    """Small ones, by kind, then those of the corpus."""
    found = []
    for i, options in enumerate([["--subsampling=444"], ["--subsampling=422"], ["--subsampling=420"], ["--progressive"],
                                 ["--optimize"], ["--restart=on"], ["-Q100"], ["-Q10"]] * times(2)):
        found.append(WORK / f"made/{i}.jpg")
        photo(found[-1], rng.randint(1, 150), rng.randint(1, 150), *options, gray=i % 5 == 4)
    corpus = os.environ.get("LAPEDGE_CORPUS")
    others = [path for path in sorted(Path(corpus).rglob("*")) if path.is_file() and path.stat().st_size < 40000] if corpus else []
    return found, rng.sample(others, min(len(others), times(120)))


def outcome(path, words, runtime=None):
    out = WORK / "out.jpg"
    out.unlink(missing_ok=True)
    common = ["--no-sync", "--max-pixels=4M", *words, path, out]
    if runtime is None:
        done = run(*common)
        code, said = done.returncode, done.stderr.decode(errors="replace").splitlines()
    else:
        code, said, _ = on_cpu(runtime, *common, timeout=600)
    return code, said, out.read_bytes() if out.exists() else None


def campaign():
    if NO_RUNTIME:
        return NO_RUNTIME
    lost, tries, differing = [], 0, 0
    made, corpus = files()
    for path in [*made, *corpus]:
        for backend in ([rng.choice(BACKENDS), "cuda-fast"] if path in made else ["cuda-fast"]):
            setting = rng.choice(SETTINGS)
            tries += 1
            right = outcome(path, ["--backend=c", *setting])
            codec = rng.choice(["auto", "cuda", "cuda"])
            got = outcome(path, [f"--backend={backend}", f"--codec={codec}", *setting], "order=now")
            if got != right:
                differing += got[2] != right[2]
                lost.append(f"{path.name} {backend} {codec} {setting}: {got[:2]}, not {right[:2]}")
    result(26, "the same files by CPU and device", tries, len(lost), files=len(made) + len(corpus), differing=differing)
    return lost


check(f"the same by {ON_CPU.name} on the CPU and with its CUDA backends", campaign)
finish()
