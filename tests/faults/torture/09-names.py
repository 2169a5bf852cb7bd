#!/usr/bin/env python3
"""Class 9, names: any bytes that a file name may have, on the command line, in a folder, in a list, in the log."""

import json
import os
import subprocess

from torture import PROGRAM, WORK, check, digest, finish, photo, result, run, said

NAMES = [b"a b.jpg", b" lead.jpg", b"trail .jpg", b"new\nline.jpg", b"tab\t.jpg", b"-dash.jpg", b"--help.jpg", b"*.jpg",
         b"?.jpg", b"[a].jpg", b"%s%n%d.jpg", b"$(x).jpg", b"`x`.jpg", b"q'uote.jpg", b'q"uote.jpg', b"back\\slash.jpg",
         b"semi;colon.jpg", b"amp&.jpg", b"<tag>.jpg", b"\xc3\xa9.jpg", b"e\xcc\x81.jpg", b"\xff\xfe.jpg", b"\xc3.jpg",
         b"\xe2\x80\xae\xd7\x90.jpg", b"\x1b[31m.jpg", b"\x01\x02.jpg", b"\x7f.jpg", b".hidden.jpg", b"..jpg", b"...jpg",
         b"double.jpg.jpg", b"UPPER.JPG", b"MiXed.JpEg", b"n" * 251 + b".jpg", b"two.dots.in.it.jpg", b"#hash.jpg",
         b"~.jpg", b"=.jpg", b"a=b.jpg", b"colon:.jpg", b"\xf0\x9f\x93\xb7.jpg"]


def campaign():
    os.chdir(WORK)
    photo("a.jpg", 40, 30)
    data = open("a.jpg", "rb").read()
    assert run("--no-sync", "a.jpg", "want.jpg").returncode == 0
    want = open("want.jpg", "rb").read()
    os.mkdir("in")
    lost, tries = [], 0
    for name in NAMES:
        with open(b"in/" + name, "wb") as file:
            file.write(data)
    done = run("--no-sync", "in", "out", "--log=log.jsonl")
    records = [json.loads(line) for line in open("log.jsonl", "rb").read().splitlines()[1:]]
    if done.returncode or len(records) != len(NAMES):
        lost.append(f"folder: exit {done.returncode}, {len(records)} records: {said(done)}")
    for name in NAMES:
        tries += 1
        if not os.path.exists(b"out/" + name) or open(b"out/" + name, "rb").read() != want:
            lost.append(f"folder: {name}")
    lists = b"\0".join(b"in/" + name for name in NAMES)
    done = run("--no-sync", "-0", "--files-from=-", "listed", stdin=None, input=lists)
    tries += len(NAMES)
    if done.returncode or len(digest(WORK / "listed")) != len(NAMES):
        lost.append(f"list: exit {done.returncode}, {len(digest(WORK / 'listed'))} outputs: {said(done)}")
    for i, name in enumerate(NAMES): # alone, into itself
        tries += 2
        done = subprocess.run([PROGRAM.encode(), b"--no-sync", b"--", b"in/" + name, b"alone%d.jpg" % i], capture_output=True)
        if done.returncode or open(f"alone{i}.jpg", "rb").read() != want:
            lost.append(f"alone: {name}: exit {done.returncode}: {said(done)}")
        done = subprocess.run([PROGRAM.encode(), b"--no-sync", b"--json", b"--", b"in/none" + name[-200:], b"x.jpg"],
                              capture_output=True)
        if any(byte < 32 and byte != 10 or byte == 127 for byte in done.stderr):
            lost.append(f"control codes in the message about {name}")
    deep = "d" * 200
    place = "deep"
    os.mkdir(place)
    here = os.getcwd()
    os.chdir(place)
    for _ in range(25): # beyond PATH_MAX
        os.mkdir(deep)
        os.chdir(deep)
    with open("x.jpg", "wb") as file:
        file.write(data)
    os.chdir(here)
    tries += 1
    done = run("--no-sync", "deep", "deep-out", timeout=60)
    if done.returncode not in (0, 1, 4):
        lost.append(f"deep: exit {done.returncode}: {said(done)}")
    result(9, "names", tries, len(lost))
    return lost


check("names of any bytes", campaign)
finish()
