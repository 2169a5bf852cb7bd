#!/usr/bin/env python3
"""Class 10, clashes: outputs that are inputs, two inputs with one output, files of others, links, two runs at once.
Found before work begins, or left alone; no input is ever overwritten."""

import os
import subprocess

from torture import PROGRAM, WORK, check, digest, finish, photo, result, run, said, temporary, times


def put(path, text="mine"):
    with open(path, "w") as file:
        file.write(text)


def campaign():
    os.chdir(WORK)
    photo("in/a.jpg", 40, 30)
    photo("in/b.jpg", 50, 30)
    photo("other/a.jpg", 30, 30)
    os.symlink("in/a.jpg", "soft.jpg")
    os.link("in/b.jpg", "hard.jpg")
    os.symlink("in", "linked")
    before = digest(WORK / "in")
    lost, tries = [], 0

    def expect(codes, *words):
        nonlocal tries
        tries += 1
        done = run("--no-sync", *words, timeout=60)
        if done.returncode not in codes:
            lost.append(f"{' '.join(words)}: exit {done.returncode}: {said(done)}")
        if digest(WORK / "in") != before:
            lost.append(f"{' '.join(words)}: an input was changed")

    for force in ([], ["-f"]):
        for words in (["in", "in"], ["in", "linked"], ["in", "./in/"], ["in/a.jpg", "in/b.jpg", "in"], ["in", "in/../in"],
                      ["in/a.jpg", "linked/"]):
            expect({2, 4}, *words, *force)
        expect({1}, "in", "other", f"both{len(force)}", *force) # two a.jpg
    for words in (["in/a.jpg", "in/a.jpg"], ["in/a.jpg", "soft.jpg"], ["soft.jpg", "in/a.jpg"], ["in/b.jpg", "hard.jpg"],
                  ["hard.jpg", "in/b.jpg"], ["in/a.jpg", "linked/a.jpg"], ["transform", "--flip=h", "in/a.jpg", "soft.jpg"]):
        expect({2}, *words)
    for word in ("--stats=in/a.jpg", "--stats=o.jpg"):
        expect({2}, "in/a.jpg", "o.jpg", word)
    for word in ("--log=in/a.jpg", "--log=out/a.jpg"):
        expect({2, 4}, "in", "out", word)
    os.mkdir("theirs")
    put("theirs/a.jpg")
    os.mkdir("theirs/b.jpg")
    expect({1, 4}, "in", "theirs")
    if open("theirs/a.jpg").read() != "mine" or not os.path.isdir("theirs/b.jpg"):
        lost.append("a file of somebody else was replaced")
    os.mkdir("links")
    put("target")
    os.symlink("../target", "links/a.jpg")
    expect({1, 4}, "in", "links")
    expect({1, 4}, "in", "links", "-f")
    if open("target").read() != "mine":
        lost.append("a link was written through")
    for n in range(times(10)):
        tries += 1
        name = f"together{n}"
        pair = [subprocess.Popen([PROGRAM, "--no-sync", "in", name, *more], stderr=subprocess.PIPE)
                for more in ([], ["-f"] if n % 2 else [])]
        codes = [process.communicate() and process.returncode for process in pair]
        if codes != [0, 0] or len(digest(WORK / name)) != 2 or temporary(WORK / name):
            lost.append(f"two at once: {codes}")
    result(10, "clashes", tries, len(lost))
    return lost


check("clashes of inputs, outputs and runs", campaign)
finish()
