#!/usr/bin/env python3
"""Class 14, files crafted to need much time or memory: scans without end, an interval of one, huge segments, fill bytes,
compressed nothing, endless pipes. Each ends by a limit or within --timeout and a second."""

import struct
import subprocess
import time
import zlib

from torture import BUILD, PROGRAM, WORK, check, finish, have, photo, pgm, result, run


def png(width, height, data):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


def bombs():
    """(name, bytes)"""
    photo(WORK / "a.jpg", 64, 64)
    jpeg = (WORK / "a.jpg").read_bytes()
    seeds = WORK / "seeds"
    seeds.mkdir()
    if (BUILD / "tests/fuzz_exif").exists():
        subprocess.run([str(BUILD / "tests/fuzz_exif"), str(seeds)], check=True)
        progressive = (seeds / "progressive").read_bytes()
        last = progressive.rindex(b"\xff\xda")
        for count in (200, 100000):
            yield f"{count} scans", progressive[:-2] + progressive[last:-2] * count + b"\xff\xd9"
    if have("cjpeg"):
        blank, script = WORK / "blank.pgm", WORK / "scans"
        blank.write_bytes(b"P5\n8000 8000\n255\n" + bytes(64_000_000))
        script.write_text("0: 0-0, 0, 0;" + "".join(f"0: {k}-{k}, 0, {k <= 33:d};" for k in range(1, 64)) +
                          "".join(f"0: {k}-{k}, 1, 0;" for k in range(1, 34)))
        yield "97 scans of nothing", subprocess.run(["cjpeg", "-scans", script, blank], check=True, capture_output=True).stdout
        blank.unlink()
    yield "100 MB of fill bytes in front", jpeg[:2] + b"\xff" * 100_000_000 + jpeg[2:]
    yield "100 MB of fill bytes behind", jpeg[:-2] + b"\xff" * 100_000_000 + jpeg[-2:]
    yield "100 MB of comments", jpeg[:2] + (b"\xff\xfe\xff\xff" + b"x" * 65533) * 1600 + jpeg[2:]
    yield "100 MB of zeros behind", jpeg[:-2] + bytes(100_000_000)
    yield "a frame of 65500 x 65500", jpeg.replace(b"\0\x40\0\x40", b"\xff\xdc\xff\xdc", 1)
    yield "a PNG of 60000 x 60000 zeros", png(60000, 60000, zlib.compress(bytes(30_000_000), 1))
    yield "a PNG whose data is 100 MB of zeros", png(100, 100, zlib.compress(bytes(100_000_000), 1))
    yield "a PNM without its pixels", b"P5\n30000 30000\n255\n"
    yield "a PNM with a long comment", b"P5\n#" + b"x" * 100_000_000


def campaign():
    lost, slow, tries, worst = [], [], 0, 0
    out = WORK / "o.jpg"
    for name, data in bombs():
        (WORK / "bomb").write_bytes(data)
        for source, words in (("file", []), ("pipe", []), ("file", ["transform", "--rotate=90"]),
                              ("pipe", ["transform", "--trim", "--flip=h", "--progressive"])):
            tries += 1
            begin = time.monotonic()
            with open(WORK / "bomb", "rb") as file:
                done = subprocess.run([PROGRAM, *words, "--no-sync", "-q", "--timeout=10",
                                       str(WORK / "bomb") if source == "file" else "-", str(out)], stdin=file,
                                      capture_output=True, timeout=100)
            took = time.monotonic() - begin
            worst = max(worst, took)
            if took > 11:
                slow.append(f"{name} by {source} {words}: {took:.1f} s")
            if done.returncode not in (0, 1, 5) or (done.returncode and out.exists()):
                lost.append(f"{name} by {source} {words}: exit {done.returncode}, {took:.1f} s: {done.stderr[:200]}")
            out.unlink(missing_ok=True)
        (WORK / "bomb").unlink()
    for first in (b"", b"\xff\xd8", b"\xff\xd8\xff\xe0\0\x10JFIF\0", b"P5\n100 100\n255\n"):
        tries += 1
        begin = time.monotonic()
        process = subprocess.Popen([PROGRAM, "--no-sync", "-q", "--timeout=2", "-", str(out)], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(first)
        process.stdin.flush() # and nobody closes it
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            code = None
            process.kill()
        worst = max(worst, time.monotonic() - begin)
        if code not in (1, 5) and not (first.startswith(b"P5") and code == 5):
            lost.append(f"a pipe that stays open after {first}: exit {code}")
    result(14, "files crafted to be slow", tries, len(lost), slowest_s=round(worst, 1), slow=slow)
    return lost


check("files crafted to be slow", campaign)
finish()
