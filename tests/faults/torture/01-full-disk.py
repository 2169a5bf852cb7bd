#!/usr/bin/env python3
"""Class 1, full disks: file systems of all sizes up to twice what is needed, for a photo alone, over an older output,
in place, a folder; /dev/full as output. Then, with room, the same command completes. Beside it, what others leave."""

import shutil
import subprocess
from pathlib import Path

from torture import WORK, Disk, check, digest, finish, have, photo, photos, result, run, said, temporary, times

PEERS = {
    "jpegtran": lambda a, b: ["jpegtran", "-outfile", b, a],
    "convert": lambda a, b: ["convert", a, b],
    "vips": lambda a, b: ["vips", "copy", a, b],
    "ffmpeg": lambda a, b: ["ffmpeg", "-v", "error", "-y", "-i", a, b],
    "jpegoptim": lambda a, b: ["jpegoptim", "-q", f"--dest={Path(b).parent}", a],
}


def points(need, count):
    return [int(4096 + 2.0 * need * i / count) for i in range(count)]


def single(older):
    """(lost, tries, full)"""
    photo(WORK / "in.jpg", 400, 300)
    assert run("--no-sync", WORK / "in.jpg", WORK / "want.jpg").returncode == 0
    assert run("--no-sync", "-Q20", WORK / "in.jpg", WORK / "older.jpg").returncode == 0
    want, old = (WORK / "want.jpg").read_bytes(), (WORK / "older.jpg").read_bytes()
    lost, full = [], 0
    sizes = points(len(want) + (len(old) if older else 0), times(40))
    for size in sizes:
        with Disk(size) as disk:
            if not disk.mounted:
                return None, 0, 0
            out = disk.place / "out.jpg"
            if older:
                try:
                    out.write_bytes(old)
                except OSError:
                    continue
            done = run(WORK / "in.jpg", out)
            now = out.read_bytes() if out.exists() else None
            full += done.returncode != 0
            if done.returncode == 0 and now != want or done.returncode and now != (old if older else None):
                lost.append(f"{size} bytes: exit {done.returncode}, {None if now is None else len(now)} bytes there")
            if done.returncode not in (0, 1, 4) or (done.returncode and "No space" not in said(done)):
                lost.append(f"{size} bytes: exit {done.returncode}: {said(done)}")
            if temporary(disk.place):
                lost.append(f"{size} bytes: {temporary(disk.place)}")
            subprocess.run(["mount", "-o", f"remount,size={16 * len(want)}", str(disk.place)], check=True)
            if run(WORK / "in.jpg", out).returncode or out.read_bytes() != want:
                lost.append(f"{size} bytes: not completed with room")
    shutil.rmtree(WORK / "disk")
    return lost, len(sizes), full


def folder():
    photos(WORK / "photos", 12)
    assert run("--no-sync", WORK / "photos", WORK / "want").returncode == 0
    want = digest(WORK / "want")
    need = sum(-(-path.stat().st_size // 4096) * 4096 for path in (WORK / "want").rglob("*") if path.is_file())
    lost, full = [], 0
    sizes = points(need, times(40))
    for size in sizes:
        with Disk(size) as disk:
            done = run(WORK / "photos", disk.place / "out")
            full += done.returncode != 0
            now = digest(disk.place)
            wrong = [name for name, value in now.items() if want.get(name[4:]) != value]
            if wrong or (done.returncode == 0 and len(now) != 12):
                lost.append(f"{size} bytes: exit {done.returncode}, {wrong}")
            if done.returncode not in (0, 1, 4) or temporary(disk.place):
                lost.append(f"{size} bytes: exit {done.returncode}, {temporary(disk.place)}")
            subprocess.run(["mount", "-o", f"remount,size={8 * need}", str(disk.place)], check=True)
            if run(WORK / "photos", disk.place / "out").returncode or digest(disk.place / "out") != want:
                lost.append(f"{size} bytes: not completed with room")
    return lost, len(sizes), full


def in_place():
    photos(WORK / "mine", 4)
    before = digest(WORK / "mine")
    shutil.copytree(WORK / "mine", WORK / "edges")
    run("--in-place", *sorted(map(str, (WORK / "edges").rglob("*.jpg"))))
    want = digest(WORK / "edges")
    lost, full = [], 0
    need = sum(path.stat().st_size for path in (WORK / "mine").rglob("*.jpg"))
    sizes = [int(need * (1.1 + i / times(40))) + 16384 for i in range(times(40))]
    for size in sizes:
        with Disk(size) as disk:
            try:
                shutil.copytree(WORK / "mine", disk.place / "p")
            except (OSError, shutil.Error):
                continue
            names = sorted(map(str, (disk.place / "p").rglob("*.jpg")))
            done = run("--in-place", *names)
            full += done.returncode != 0
            now = digest(disk.place / "p")
            changed = [name for name in before if now.get(name) != before[name]]
            if set(now) != set(before) or (done.returncode == 0) != (len(changed) == 4) or temporary(disk.place):
                lost.append(f"{size} bytes: exit {done.returncode}, {changed}, {temporary(disk.place)}")
            for name in changed: # a whole photo of ours
                if run("--no-sync", disk.place / "p" / name, WORK / "again.ppm").returncode:
                    lost.append(f"{size} bytes: {name} cannot be read")
            subprocess.run(["mount", "-o", f"remount,size={8 * need}", str(disk.place)], check=True)
            if run("--in-place", *names).returncode or digest(disk.place / "p") != want:
                lost.append(f"{size} bytes: not continued with room, or filtered twice")
    return lost, len(sizes), full


def campaign():
    lost, tries, full = [], 0, 0
    for part in (lambda: single(False), lambda: single(True), folder, in_place):
        found, count, stopped = part()
        if found is None:
            return "mounting needs root"
        lost, tries, full = lost + found, tries + count, full + stopped
    for words in ([WORK / "in.jpg", "/dev/full", "--format=jpg"], [WORK / "in.jpg", "/dev/full", "--format=png"]):
        tries += 1
        if run(*words).returncode == 0:
            lost.append("/dev/full was taken for a success")
    result(1, "disks of all sizes", tries, len(lost), fired=full)
    for tool, command in PEERS.items():
        if have(tool):
            peer(tool, command)
    return lost


def peer(tool, command):
    """The same photo: how often a cut file stands under the final name, or the older file is gone."""
    photo(WORK / "small.jpg", 16, 16) # an older file that fits where hardly anything does
    old = (WORK / "small.jpg").read_bytes()
    cut = gone = silent = 0
    with Disk("64M", "roomy") as disk:
        out = disk.place / "in.jpg"
        subprocess.run(command(str(WORK / "in.jpg"), str(out)), capture_output=True)
        whole = out.read_bytes() if out.exists() else None
    if whole is None:
        return
    sizes = [8192 + len(whole) * i // 20 for i in range(20)]
    for size in sizes:
        with Disk(size) as disk:
            out = disk.place / "in.jpg"
            try:
                out.write_bytes(old)
            except OSError:
                continue
            done = subprocess.run(command(str(WORK / "in.jpg"), str(out)), capture_output=True)
            now = out.read_bytes() if out.exists() else None
            if now in (whole, old):
                continue
            cut += now is not None
            gone += now is None
            silent += done.returncode == 0
    result(1, "a photo over an older one", len(sizes), cut + gone, tool=tool, cut=cut, gone=gone, exit_0=silent)


check("full disks: reported, complete or absent, completed once there is room", campaign)
finish()
