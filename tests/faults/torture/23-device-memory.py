#!/usr/bin/env python3
"""Class 23, device memory that runs out: devices with memory of all sizes, and the N-th allocation of device or pinned
memory fails, for N from 1 until a run gets through without meeting it. By the CPU runtime of the CUDA tests. A folder
is completed all the same, with the CPU's bytes; a single photo is, or is refused with a message and no output.
(Without nvJPEG, which is not used.)"""

import shutil

from torture import NO_RUNTIME, WORK, check, digest, finish, on_cpu, photos, result, rng, run, temporary, times

CALLS = ["cudaMalloc", "cudaMallocHost", "cudaHostAlloc", "cudaHostRegister", "cudaStreamCreateWithFlags",
         "cudaEventCreateWithFlags"]


def one(runtime, folder, lost):
    """Whether the fault struck."""
    shutil.rmtree(WORK / "out", ignore_errors=True)
    (WORK / "out").mkdir()
    name = WORK / "in" if folder else WORK / "in/0.jpg"
    target = WORK / "out" if folder else WORK / "out/0.jpg"
    code, said, struck = on_cpu(runtime, "--no-sync", "-q", "--backend=cuda-fast", name, target)
    made, right = digest(WORK / "out"), digest(WORK / "right")
    wrong = None
    if folder and code != 0 or code not in (0, 1, 3):
        wrong = f"exit {code}"
    elif code == 0 and (made != right if folder else made.get("0.jpg") != right["0.jpg"]):
        wrong = "other bytes"
    elif code and (made or not said):
        wrong = f"exit {code}, {len(made)} outputs, {len(said)} lines"
    elif temporary(WORK / "out"):
        wrong = "a temporary file"
    if wrong:
        lost.append(f"{runtime}, {'a folder' if folder else 'one photo'}: {wrong}: {said[:3]}")
    return struck


def prepare():
    photos(WORK / "in", 5)
    assert run("--no-sync", "-q", WORK / "in", WORK / "right").returncode == 0


def sizes():
    if NO_RUNTIME:
        return NO_RUNTIME
    lost, fired = [], 0
    all_sizes = [0, 1, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
    all_sizes += [int(1024 * 2 ** rng.uniform(0, 14)) for _ in range(times(14))]
    for size in all_sizes:
        for folder in (False, True):
            fired += one(f"order=now,memory={size}", folder, lost)
    result(23, "devices with little memory", 2 * len(all_sizes), len(lost), fired=fired)
    return lost


def failing():
    if NO_RUNTIME:
        return NO_RUNTIME
    lost, tries, fired, skip = [], 0, 0, max(1, round(6 / times(1)))
    for call in CALLS:
        for folder in (False, True):
            n, missed = 1, 0
            while missed < 2 and n < 400:  # two, as folders do not make the same calls each time
                tries += 1
                struck = one(f"order=now,fail={call}:{n}:2", folder, lost)
                fired += struck
                missed = 0 if struck else missed + 1
                n += 1 if n < 4 else rng.randint(1, 2 * skip)
    result(23, "the N-th allocation of a device fails", tries, len(lost), fired=fired)
    return lost


prepare()
check("devices with little memory", sizes)
check("allocations that fail", failing)
finish()
