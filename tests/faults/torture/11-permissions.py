#!/usr/bin/env python3
"""Class 11, permissions, as a user who is not root: what cannot be read or written is named, the rest is done."""

import os
import stat

from torture import PROGRAM, WORK, check, digest, finish, photo, result, run, said, temporary


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def campaign():
    if os.geteuid() == 0:
        done = run("--version", preexec_fn=as_nobody)
        if done.returncode:
            return "nobody cannot reach the program"
    prepare = as_nobody if os.geteuid() == 0 else None
    os.chdir(WORK)
    os.chmod(WORK, 0o755)
    for parent in WORK.parents:
        if str(parent) not in ("/", "/tmp", "/dev", "/dev/shm"):
            os.chmod(parent, 0o755)
    photo("in/a.jpg", 40, 30)
    photo("in/b.jpg", 40, 30)
    photo("in/shut/c.jpg", 40, 30)
    lost, tries = [], 0

    def expect(codes, text, *words):
        nonlocal tries
        tries += 1
        done = run("--no-sync", *words, preexec_fn=prepare, timeout=60)
        if done.returncode not in codes or text not in said(done):
            lost.append(f"{' '.join(words)}: exit {done.returncode}: {said(done)}")

    os.mkdir("free")
    os.chmod("free", 0o777)
    expect({0}, "", "in/a.jpg", "free/o.jpg")
    os.chmod("in/b.jpg", 0)
    expect({1}, "Permission denied", "in/b.jpg", "free/b.jpg")
    expect({1}, "Permission denied", "in", "free/out")
    if set(digest(WORK / "free/out")) != {"a.jpg", "shut/c.jpg"}:
        lost.append(f"the others were not done: {set(digest(WORK / 'free/out'))}")
    os.chmod("in/shut", 0)
    expect({1}, "Permission denied", "in", "free/out2")
    os.mkdir("closed")
    os.chmod("closed", 0o555)
    expect({1, 4}, "Permission denied", "in/a.jpg", "closed/o.jpg")
    expect({4}, "Permission denied", "in", "closed")
    expect({4}, "Permission denied", "in", "closed/new")
    expect({1, 4}, "", "--in-place", "in/a.jpg")
    os.mkdir("no-search")
    os.chmod("no-search", 0o666)
    expect({1, 4}, "Permission denied", "in/a.jpg", "no-search/o.jpg")
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    with open("sticky/o.jpg", "w") as file:
        file.write("root's")
    expect({1}, "", "in/a.jpg", "sticky/o.jpg")
    if os.geteuid() == 0 and open("sticky/o.jpg").read() != "root's":
        lost.append("a file in a sticky folder was replaced")
    os.mkdir("write-only")
    os.chmod("write-only", 0o333)
    expect({0}, "", "in/a.jpg", "write-only/o.jpg")
    mask = lambda: (prepare and prepare(), os.umask(0o077))
    tries += 1
    run("--no-sync", "in/a.jpg", "free/mask.jpg", preexec_fn=mask)
    if stat.S_IMODE(os.stat("free/mask.jpg").st_mode) != 0o600:
        lost.append("the umask was not obeyed")
    for place in ("free", "sticky", "closed"):
        if temporary(WORK / place):
            lost.append(f"left: {temporary(WORK / place)}")
    os.chmod("in/shut", 0o755)
    result(11, "permissions", tries, len(lost))
    return lost


check("permissions, as nobody", campaign)
finish()
