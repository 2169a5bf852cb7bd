#!/usr/bin/env python3
"""Class 8, files that are not regular files, named like a photo: refused by name, never waited for, never overwritten."""

import os
import socket

from torture import WORK, check, finish, photo, result, run, said


def campaign():
    os.chdir(WORK)
    photo("good.jpg", 60, 40)
    os.mkdir("in")
    photo("in/a.jpg", 60, 40)
    os.mkfifo("in/fifo.jpg")
    os.mkdir("in/folder.jpg")
    os.symlink("nowhere", "in/dangling.jpg")
    os.symlink("loop.jpg", "in/loop.jpg")
    os.link("in/a.jpg", "in/hard.jpg")
    os.symlink("/dev/zero", "in/zero.jpg")
    server = socket.socket(socket.AF_UNIX)
    server.bind("in/socket.jpg")
    lost, tries = [], 0
    done = run("--no-sync", "in", "out")
    tries += 1
    made = sorted(os.listdir("out"))
    if done.returncode != 1 or made != [".lapedge", "a.jpg", "hard.jpg"]:
        lost.append(f"folder: exit {done.returncode}, {made}: {said(done)}")
    for name in ("fifo", "folder", "dangling", "loop", "socket"):
        tries += 1
        code = 0
        try: # a pipe that is named alone is read from, and nobody writes to it
            done = run("--no-sync", "--timeout=2", f"in/{name}.jpg", f"o-{name}.jpg", timeout=20)
            code = done.returncode
        except Exception as error:
            lost.append(f"{name}: {error}")
        if code not in (1, 2, 4, 5) or os.path.isfile(f"o-{name}.jpg"):
            lost.append(f"{name} as input: exit {code}")
    for source in ("/dev/null", "/dev/zero", "/proc/self/status", "/proc/self/mem", "/dev/full"):
        tries += 1
        done = run("--no-sync", "--timeout=5", source, "o-dev.jpg", timeout=60)
        if done.returncode not in (1, 5) or os.path.exists("o-dev.jpg"):
            lost.append(f"{source}: exit {done.returncode}: {said(done)}")
    for target in ("in/folder.jpg", "in/loop.jpg", "in/socket.jpg"):
        tries += 1
        done = run("--no-sync", "good.jpg", target, timeout=20)
        if done.returncode == 0 and not target.endswith("folder.jpg"):
            lost.append(f"{target} as output: exit 0")
    for name in ("fifo", "folder", "dangling", "loop", "zero"):
        tries += 1
        done = run("--in-place", f"in/{name}.jpg", timeout=20) if name != "fifo" else None
        if done and done.returncode == 0:
            lost.append(f"{name} in place: exit 0")
    if not os.path.islink("in/dangling.jpg") or not os.path.islink("in/loop.jpg") or not os.path.isdir("in/folder.jpg"):
        lost.append("something special was replaced")
    result(8, "files that are not regular files", tries, len(lost))
    return lost


check("special files", campaign)
finish()
