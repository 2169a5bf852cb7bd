#!/usr/bin/env python3
"""Class 16, damaged data: bits flipped, bytes overwritten, deleted, doubled, blocks swapped, ends cut.

A damaged file may be accepted (exit code 0 and not a word) only where the pixels are those of the whole file, or
those that the changed bytes plainly encode: what djpeg reads from them without a warning, or warning of one byte left
over, which is passed over (docs/damage.md). For PNG, whose every byte is
under a checksum, only the pixels of the whole file. Everything else is lost. `silent` counts files that were accepted
with other pixels than the whole file's, which no checksum of JPEG forbids; beside it, what others accept.

Each JPEG is also turned without loss: its exit code and its words have to be those of decoding, and what comes out is
read without a warning.

Some of the files also go through the CUDA codec, on the CPU runtime of the CUDA tests: its exit code, its words and
its pixels have to be those of the CPU."""

import os
import subprocess
from pathlib import Path

from torture import NO_RUNTIME, BUILD, PROGRAM, WORK, check, finish, have, on_cpu, photo, ppm, result, rng, run, said, times

ONE_LEFT = b"data: 1 extraneous bytes before marker"
FORCE = ["--no-sync", "--kernel=identity", "-q"]
JPEGS = ["gray", "ycc420", "ycc444", "scans", "progressive", "arithmetic"]


def seeds():
    """{name: bytes}"""
    folder = WORK / "seeds"
    folder.mkdir()
    if (BUILD / "tests/fuzz_exif").exists():
        subprocess.run([str(BUILD / "tests/fuzz_exif"), str(folder)], check=True)
    found = {name: (folder / name).read_bytes() for name in JPEGS if (folder / name).exists()}
    photo(WORK / "b.jpg", 200, 160, "--subsampling=420")
    found["baseline"] = (WORK / "b.jpg").read_bytes()
    photo(WORK / "r.jpg", 60, 600, "--subsampling=422", "--restart=on", gray=False)
    found["restarts"] = (WORK / "r.jpg").read_bytes()
    if have("jpegtran"):
        for name, option in (("large progressive", "-progressive"), ("large arithmetic", "-arithmetic")):
            done = subprocess.run(["jpegtran", option, str(WORK / "b.jpg")], capture_output=True)
            if done.returncode == 0:
                found[name] = done.stdout
    ppm(WORK / "p.ppm", 60, 50)
    if run(*FORCE, WORK / "p.ppm", WORK / "p.png").returncode == 0:
        found["PNG"] = (WORK / "p.png").read_bytes()
    return found


def damage(whole):
    """(what was done, bytes)"""
    data = bytearray(whole)
    at = rng.randrange(2, len(data)) if rng.random() < 0.3 else rng.randrange(len(data) // 3, len(data) - 2)
    size = rng.choice([1, 1, 2, 3, 4, 8, 16, 64])
    kind = rng.randrange(7)
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[at:at + size] = rng.randbytes(len(data[at:at + size]))
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        del data[at:at + size]
    elif kind == 4:
        data[at:at] = data[at:at + size]
    elif kind == 5:
        other = rng.randrange(2, len(data))
        one, two = bytes(data[at:at + size]), bytes(data[other:other + size])
        data[at:at + len(one)] = two[:len(one)].ljust(len(one), b"\0")
    else:
        data[at:at + size] = bytes(len(data[at:at + size]))
    return f"kind {kind} at {at}, {size} bytes", bytes(data)


def reading(words, target):
    """(exit code, words said, pixels)"""
    target.unlink(missing_ok=True)
    done = subprocess.run(words, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr, target.read_bytes() if target.exists() else None


def ours(path, decode, target):
    how = [f"--decode={decode}"] if path.suffix == ".jpg" else []
    return reading([PROGRAM, "--no-sync", "--kernel=identity", *how, str(path), str(target)], target)


def turn(option, path, target):
    return reading([PROGRAM, "transform", "--no-sync", "--decode=serial", "--rotate=180", option, str(path), str(target)],
                   target)


def judge_turn(what, path, right, tally):
    """What is lost by turning without loss: the verdict that pixels get, or an output that is not readable."""
    target = WORK / "turned.jpg"
    by_pixels, by_turn = turn("-Q90", path, WORK / "pixels.jpg"), turn("--trim", path, target)
    if b"cannot be turned without loss" in by_turn[1]: # less than an MCU, or tables that change
        return []
    one = tally.setdefault("turned", {"tries": 0, "accepted": 0, "silent": 0, "lost": 0})
    one["tries"] += 1
    accepted = by_turn[0] == 0 and not by_turn[1]
    one["accepted"] += accepted
    one["silent"] += accepted and by_turn[2] != right
    lost = []
    if by_pixels[:2] != by_turn[:2]:
        lost.append(f"{what}: turned, exit {by_turn[0]} {by_turn[1]}; by pixels {by_pixels[:2]}")
    if by_turn[0] == 0 and run("--no-sync", "--fail-on=warning", target, WORK / "turned.ppm").returncode:
        lost.append(f"{what}: turned to a file that is not readable")
    if by_turn[0] and by_turn[2] is not None:
        lost.append(f"{what}: turned, exit {by_turn[0]}, and an output")
    one["lost"] += bool(lost)
    return lost


def by_device(path, target):
    """The same by the kernels; filtered, so that the pixels come from the device, by a kernel that changes nothing."""
    target.unlink(missing_ok=True)
    code, words, _ = on_cpu("order=now", "--no-sync", "--kernel=identity", "--backend=cuda-fast", "--codec=cuda", path,
                            target)
    return code, words, target.read_bytes() if target.exists() else None


def djpeg(path):
    done = subprocess.run(["djpeg", "-pnm", "-outfile", str(WORK / "d.ppm"), str(path)], capture_output=True)
    pixels = (WORK / "d.ppm").read_bytes() if done.returncode in (0, 2) and (WORK / "d.ppm").exists() else None
    return done.returncode, done.stderr, pixels


PEERS = {
    "djpeg": djpeg,
    "convert": lambda path: reading(["convert", str(path), "-depth", "8", f"ppm:{WORK}/c.ppm"], WORK / "c.ppm"),
    "vips": lambda path: reading(["vips", "copy", str(path), f"{WORK}/v.ppm"], WORK / "v.ppm"),
    "ffmpeg": lambda path: reading(["ffmpeg", "-v", "error", "-y", "-i", str(path), f"{WORK}/f.ppm"], WORK / "f.ppm"),
}


def compare(what, by_cpu, by_gpu, tally, right):
    one = tally.setdefault("cuda", {"tries": 0, "accepted": 0, "silent": 0, "lost": 0})
    one["tries"] += 1
    accepted = by_gpu[0] == 0 and not by_gpu[1]
    one["accepted"] += accepted
    one["silent"] += accepted and by_gpu[2] != right
    one["lost"] += by_cpu != by_gpu
    return [] if by_cpu == by_gpu else [f"{what}: exit {by_gpu[0]} {by_gpu[1]} by the CUDA codec, {by_cpu[:2]} by the CPU"]


def campaign():
    lost = []
    files = seeds()
    tally = {}
    share = times(int(os.environ.get("DAMAGE", 3000 if "LAPEDGE_RESULTS" in os.environ else 150))) // len(files) + 1
    for name, whole in files.items():
        path = WORK / ("in.png" if name == "PNG" else "in.jpg")
        path.write_bytes(whole)
        target = WORK / ("o.pgm" if name == "gray" else "o.ppm")
        code, words, right = ours(path, "serial", target)
        assert code == 0 and right, words
        right_turn = turn("--trim", path, WORK / "turned.jpg")[2] if name != "PNG" else None
        peers = {tool: read(path)[2] for tool, read in PEERS.items() if have(tool) and name != "PNG"}
        if peers.get("djpeg") not in (None, right):
            lost.append(f"{name}: djpeg reads the whole file differently")
        for n in range(share):
            what, data = damage(whole)
            if data == whole:
                continue
            path.write_bytes(data)
            plain = djpeg(path) if name != "PNG" and have("djpeg") else None
            for decode in ("serial", "parallel") if name != "PNG" else ("serial",):
                code, words, pixels = ours(path, decode, target)
                if decode == "serial" and n % 4 == 0 and "LAPEDGE_RESULTS" in os.environ and not NO_RUNTIME:
                    lost += compare(f"{name}: {what}", (code, words.decode(errors="replace").splitlines(), pixels),
                                    by_device(path, target), tally, right)
                if decode == "serial" and name != "PNG":
                    lost += judge_turn(f"{name}: {what}", path, right_turn, tally)
                one = tally.setdefault(decode, {"tries": 0, "accepted": 0, "silent": 0, "lost": 0})
                one["tries"] += 1
                if code not in (0, 1, 2, 5):
                    lost.append(f"{name}: {what}: exit {code}")
                    one["lost"] += 1
                    continue
                if code or words:
                    if code and pixels is not None:
                        lost.append(f"{name}: {what}: exit {code} and an output")
                        one["lost"] += 1
                    continue
                one["accepted"] += 1
                if pixels == right:
                    continue
                one["silent"] += 1
                as_encoded = plain is None and name != "PNG" or (plain and plain[2] == pixels and
                                                                 (plain[0] == 0 or ONE_LEFT in plain[1]))
                if not as_encoded:
                    lost.append(f"{name}: {what}: accepted by {decode}, and {'refused' if plain and plain[0] else 'read otherwise'} "
                                "by djpeg")
                    one["lost"] += 1
                    keep = os.environ.get("DAMAGE_KEEP")
                    if keep:
                        Path(keep).mkdir(exist_ok=True)
                        (Path(keep) / f"{name}-{n}-{decode}{path.suffix}").write_bytes(data)
            for tool, first in peers.items():
                if tool != "djpeg" and n % 8:
                    continue
                code, words, pixels = plain if tool == "djpeg" else PEERS[tool](path)
                one = tally.setdefault(tool, {"tries": 0, "accepted": 0, "silent": 0})
                one["tries"] += 1
                one["accepted"] += code == 0 and not words
                one["silent"] += code == 0 and not words and pixels != first
    for tool, counts in tally.items():
        names = {"turned": "lapedge transform --trim",
                 "serial": "lapedge --decode=serial", "parallel": "lapedge --decode=parallel", "cuda": "lapedge --codec=cuda"}
        result(16, "damaged files", tool=names.get(tool, tool), **{"lost": None, **counts})
    return lost


check("damaged files are refused, or read as whole, or as they plainly say", campaign)
finish()
