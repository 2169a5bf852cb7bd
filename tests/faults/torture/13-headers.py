#!/usr/bin/env python3
"""Class 13, hostile headers: pairs of sides, numbers of components and samplings, with hardly any data behind. Refused
before memory is taken: peak memory and time of the worst are in the results."""

import os
import struct
import time

from torture import WORK, check, finish, measured, result, rng, times

SIDES = [0, 1, 2, 7, 8, 9, 255, 256, 16383, 16384, 32767, 32768, 65499, 65500, 65501, 65534, 65535]
FACTORS = [0x11, 0x12, 0x21, 0x22, 0x14, 0x41, 0x44, 0x00, 0x10, 0x51, 0xFF, 0x33]


def header(width, height, components, factors, kind):
    frame = struct.pack(">BHHB", 8, height, width, components)
    frame += b"".join(bytes([i + 1, factors[i % len(factors)], 0]) for i in range(components))
    tables = b"\xff\xdb\0\x43\0" + b"\x01" * 64
    codes = b"\xff\xc4\0\x14\0\x01" + b"\0" * 15 + b"\0" + b"\xff\xc4\0\x14\x10\x01" + b"\0" * 15 + b"\0"
    scan = bytes([components]) + b"".join(bytes([i + 1, 0]) for i in range(components)) + b"\0\x3f\0"
    if components > 4:
        scan = b"\1\1\0\0\x3f\0"
    part = lambda marker, data: b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    return b"\xff\xd8" + tables + part(kind, frame) + codes + part(0xDA, scan) + b"\0" * rng.randrange(40) + b"\xff\xd9"


def campaign():
    if not os.path.exists("/usr/bin/time"):
        return "GNU time is not installed"
    lost, tries, slowest, largest = [], 0, 0, 0
    path, out = WORK / "in.jpg", WORK / "o.jpg"
    for n in range(times(1500)):
        components = rng.choice([0, 1, 1, 2, 3, 3, 3, 4, 5, 255])
        data = header(rng.choice(SIDES), rng.choice(SIDES), components, [rng.choice(FACTORS) for _ in range(4)],
                      rng.choice([0xC0, 0xC1, 0xC2, 0xC2, 0xC9, 0xCA, 0xC3, 0xC5]))
        path.write_bytes(data)
        begin = time.monotonic()
        code, message, kib = measured("--no-sync", "-q", path, out)
        tries += 1
        if code != 0: # what is whole may be large
            slowest = max(slowest, time.monotonic() - begin)
            largest = max(largest, kib)
        if code not in (0, 1, 5) or (code and (not message or out.exists())) or kib > 900_000:
            lost.append(f"{data[:200].hex()}: exit {code}, {kib} KiB: {message[:200]}")
        out.unlink(missing_ok=True)
    result(13, "hostile headers", tries, len(lost), slowest_s=round(slowest, 2), largest_mib=largest >> 10)
    return lost


check("hostile headers", campaign)
finish()
