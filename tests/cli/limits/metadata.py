#!/usr/bin/env python3
"""What is kept of a file's metadata, in which order, and what is not. Prints TAP."""

import os
import re
import struct
import subprocess
from pathlib import Path

from made import PROGRAM, SAMPLE, exif, lapedge, noise, png, pnm, read_pnm, run_all, segment, segments, with_segments


def written(*new, options=()):
    """The segments of the output for the sample with these in front."""
    Path("in.jpg").write_bytes(with_segments(SAMPLE, *new))
    lapedge("in.jpg", "o.jpg", "--no-sync", *options)
    return segments(Path("o.jpg").read_bytes())


def profile(size):
    """An ICC profile that libpng accepts: a display's, RGB, without tags, and noise behind."""
    head = bytearray(132)
    struct.pack_into(">I", head, 0, size)
    head[8:12] = b"\x02\x40\0\0"
    head[12:24] = b"mntrRGB XYZ "
    head[36:40] = b"acsp"
    struct.pack_into(">III", head, 68, 0xF6D6, 0x10000, 0xD32D)
    return bytes(head) + noise(size - 132)


def icc_in_any_order():
    """A profile's parts count by their numbers, not by their order."""
    one, two = (b"ICC_PROFILE\0" + bytes([part, 2]) + data for part, data in ((1, profile(400)), (2, noise(300))))
    kept = [data for marker, data in written(segment(0xE2, two), segment(0xE2, one)) if marker == 0xE2]
    assert kept == [two, one]
    other = one[:14 + 16] + b"CMYK" + one[14 + 20:]
    assert not [1 for marker, _ in written(segment(0xE2, two), segment(0xE2, other)) if marker == 0xE2]


def two_sets_of_resources():
    """Two segments of image resources stay two, each with its own bytes."""
    one, two = (b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0\0\0\0\x04" + text for text in (b"abcd", b"wxyz"))
    kept = [data for marker, data in written(segment(0xED, one), segment(0xED, two)) if marker == 0xED]
    assert kept == [one, two]


def extended_xmp():
    """Extended XMP is kept beside XMP."""
    one = b"http://ns.adobe.com/xap/1.0/\0<x/>"
    two = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32 + bytes([0, 0, 0, 4, 0, 0, 0, 0]) + b"<y/>"
    kept = [data for marker, data in written(segment(0xE1, one), segment(0xE1, two)) if marker == 0xE1]
    assert kept == [one, two]


def first_exif_counts():
    """Of two EXIF segments the first one says how the picture lies."""
    Path("in.jpg").write_bytes(with_segments(SAMPLE, segment(0xE1, exif(6)), segment(0xE1, exif(1))))
    lapedge("in.jpg", "o.ppm", "--auto-orient", "--no-sync")
    assert read_pnm("o.ppm")[:2] == (300, 451)


def long_profile_of_a_png():
    """A profile of more than 64 KB comes from PNG to JPEG in numbered parts, in order."""
    import zlib
    whole = profile(200000)
    png("in.png", 16, 16, 3, noise(768), [(b"iCCP", b"x\0\0" + zlib.compress(whole))])
    try:
        lapedge("in.png", "o.jpg", "--no-sync")
    except AssertionError as error:
        if "libpng" in str(error) or "PNG" in str(error):
            return "no libpng in this build"
        raise
    parts = [data for marker, data in segments(Path("o.jpg").read_bytes()) if marker == 0xE2]
    assert [(part[12], part[13]) for part in parts] == [(i + 1, len(parts)) for i in range(len(parts))]
    assert len(parts) == 4 and b"".join(part[14:] for part in parts) == whole


def sampling_turns_with_the_picture():
    """A quarter turn of 4:2:2 is sampled down where it was sampled across."""
    pnm("in.ppm", 64, 48, 3, noise(9216))
    lapedge("in.ppm", "in.jpg", "--subsampling=422", "--kernel=identity", "--no-sync")
    for turn, factors in (("--rotate=90", 0x12), ("--transpose", 0x12), ("--rotate=180", 0x21)):
        lapedge("transform", turn, "in.jpg", "o.jpg", "--subsampling=same", "--no-sync")
        frame = next(data for marker, data in segments(Path("o.jpg").read_bytes()) if marker == 0xC0)
        assert frame[7] == factors, (turn, hex(frame[7]))


def thumbnail_beside_a_directory():
    """A thumbnail that ends where a directory begins is wiped, and the directory stays."""
    picture = b"\xff\xd8" + noise(30) + b"\xff\xd9" # 34 bytes
    thumb, link = 8 + 2 + 2 * 12 + 4, 8 + 2 + 2 * 12
    sub = thumb + len(picture)
    first = sub + 2 + 12 + 4
    body = struct.pack("<HHHIHHHHII", 2, 0x112, 3, 1, 1, 0, 0x8769, 4, 1, sub) + struct.pack("<I", first)
    assert len(body) == link - 8 + 4
    body += picture + struct.pack("<HHHIHHI", 1, 0xA001, 3, 1, 1, 0, 0)
    body += struct.pack("<HHHIIHHIII", 2, 0x201, 4, 1, thumb, 0x202, 4, 1, len(picture), 0)
    kept = [data for marker, data in written(segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0" + body)) if marker == 0xE1]
    assert len(kept) == 1
    tiff = kept[0][6:]
    assert tiff[thumb:sub] == bytes(len(picture)), tiff[thumb:sub]
    assert tiff[sub:sub + 14] == struct.pack("<HHHIHH", 1, 0xA001, 3, 1, 1, 0)


def memory_of(name, limit, code=0):
    """The most memory that a run takes, and its message."""
    command = [PROGRAM, "-f", name, "o.jpg", "--no-sync", "--threads=1", f"--max-memory={limit}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == code, said
    return usage.ru_maxrss * 1024, said


def memory_counts_metadata():
    """--max-memory counts all copies of a file's metadata"""
    if os.environ.get("SANITIZED"):
        return "a sanitizer takes memory, too"
    size, piece = 48_000_000, 60_000
    extended = [b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32 + struct.pack(">II", size, at) + b" " * piece
                for at in range(0, size, piece)]
    block = [b"Photoshop 3.0\0" + b"8BIM\x12\x34\0\0" + struct.pack(">I", piece) + bytes(piece)] * (size // piece)
    Path("plain.jpg").write_bytes(with_segments(SAMPLE))
    for marker, data, least in ((0xE1, extended, 4), (0xED, block, 8)):
        Path("in.jpg").write_bytes(with_segments(SAMPLE, *(segment(marker, each) for each in data)))
        _, said = memory_of("in.jpg", "10M", 5)
        promised = float(re.search(r"takes up to ([0-9.]+) MB", said)[1]) * 1e6
        assert promised > least * size, said
        taken, plain = (memory_of(name, int(promised))[0] for name in ("in.jpg", "plain.jpg"))
        assert taken - plain < promised, (taken, plain, promised)


if __name__ == "__main__":
    os.environ.pop("LAPEDGE_CORPUS", None)
    run_all([icc_in_any_order, two_sets_of_resources, extended_xmp, first_exif_counts, long_profile_of_a_png,
             sampling_turns_with_the_picture, thumbnail_beside_a_directory, memory_counts_metadata])
