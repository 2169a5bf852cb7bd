#!/usr/bin/env python3
"""Class 22, no CUDA device: none there, a driver that is too old, missing or broken, in each form of the command line.
`auto` does the work on the CPU, with the same bytes; what names CUDA is refused with exit code 3, a message and no
output. By the CPU runtime of the CUDA tests, and by the program itself on this machine where it has no device."""

import json
import shutil

from torture import NO_RUNTIME, WORK, check, digest, finish, on_cpu, photos, result, run

# 35: the driver is too old; 100: no device; 803, 804: driver and library do not fit; 999: unknown.
SETTINGS = ["devices=0", *(f"fail={call}:1:{error}" for call in ("cudaGetDeviceCount", "cudaDriverGetVersion")
                           for error in (35, 46, 100, 802, 803, 804, 999))]
CUDA_ONLY = [["--backend=cuda-fast"], ["--backend=cuda-global"], ["--backend=cuda-fast", "--codec=cuda"],
             ["--backend=cuda-shared4", "--codec=cpu"]]


def here(_, *words):
    done = run(*words)
    return done.returncode, done.stderr.decode(errors="replace").splitlines(), True


def one_setting(program, runtime, lost):
    """How many command lines were tried."""
    one, tries = WORK / "in/0.jpg", 0

    def expect(what, codes, words, out=None, same=None):
        nonlocal tries
        tries += 1
        shutil.rmtree(WORK / "out", ignore_errors=True)
        (WORK / "out").mkdir()
        code, said, _ = program(runtime, *words)
        if code not in codes or (code and not said and what != "doctor"):
            lost.append(f"{runtime}: {what}: exit {code}: {said}")
        if out and code == 0 and digest(out.parent if out.is_file() else out) != same:
            lost.append(f"{runtime}: {what}: other bytes")
        if code and out and digest(WORK / "out"):
            lost.append(f"{runtime}: {what}: exit {code}, and an output")

    out = WORK / "out/a.jpg"
    expect("auto", [0], ["--no-sync", one, out], out, digest(WORK / "right-one"))
    expect("auto, a folder", [0], ["--no-sync", "-q", WORK / "in", WORK / "out"], WORK / "out", digest(WORK / "right"))
    for words in CUDA_ONLY:
        expect(" ".join(words), [3], ["--no-sync", *words, one, out], out)
        expect(" ".join(words) + ", a folder", [3], ["--no-sync", *words, WORK / "in", WORK / "out"], out)
    expect("stats", [0], ["stats", one])
    expect("stats of a device", [3], ["stats", "--backend=cuda-fast", one])
    expect("transform", [0], ["transform", "--no-sync", "--rotate=90", one, out])
    expect("compare", [0], ["compare", "--backends=c,simd", one])
    expect("doctor", [0, 3], ["doctor"])  # 3: there might be one, and it cannot be used
    expect("backends", [0], ["backends"])
    return tries


def campaign(program, settings, tool):
    lost, tries = [], 0
    photos(WORK / "in", 4)
    shutil.rmtree(WORK / "right", ignore_errors=True)
    assert run("--no-sync", "-q", "--backend=c", WORK / "in", WORK / "right").returncode == 0
    (WORK / "right-one").mkdir(exist_ok=True)
    assert run("--no-sync", "--backend=c", WORK / "in/0.jpg", WORK / "right-one/a.jpg").returncode == 0
    for runtime in settings:
        tries += one_setting(program, runtime, lost)
    result(22, f"runs without a device{tool}", tries, len(lost))
    return lost


def on_runtime():
    return NO_RUNTIME or campaign(on_cpu, SETTINGS, ", caused in 15 ways")


def on_machine():
    rows = json.loads(run("backends", "--json").stdout)["rows"]
    if any(row["available"] for row in rows if row["family"] == "cuda"):
        return "this machine has a device"
    return campaign(here, ["this machine"], ", on a machine without one")


check("no device, by the CPU runtime", on_runtime)
check("no device, on this machine", on_machine)
finish()
