#!/usr/bin/env python3
"""info, of JPEGs that consist of headers: the whole text and the whole JSON, as the bytes say. Prints TAP."""

import itertools
import json
import struct
from pathlib import Path

from made import lapedge, run_all, segment

FRAMES = {0xC0: ("baseline", False), 0xC1: ("extended sequential", False), 0xC2: ("progressive", False),
          0xC9: ("extended sequential", True), 0xCA: ("progressive", True)}
NAMES = {(1, 1): "4:4:4", (1, 2): "4:4:0", (2, 1): "4:2:2", (2, 2): "4:2:0"}
TABLE = bytes(range(1, 65))
CODES = bytes([0, 1]) + bytes(15) + b"\5"


def backend():
    Path("gray.pgm").write_bytes(b"P5\n1 1\n255\n\0")
    return json.loads(lapedge("info", "--json", "gray.pgm")[0])["backend"]


def header(frame, factors, width=640, height=480, tables=1, codes=2, restart=None, scans=1, more=b""):
    """A JPEG with a frame of these sampling factors; its scans have a byte of data each."""
    parts = [b"\xff\xd8", more]
    parts += [segment(0xDB, bytes([i]) + TABLE) for i in range(tables)]
    sof = struct.pack(">BHHB", 8, height, width, len(factors))
    parts.append(segment(frame, sof + b"".join(bytes([i + 1, h << 4 | v, 0]) for i, (h, v) in enumerate(factors))))
    parts += [segment(0xC4, bytes([(i & 1) << 4 | i >> 1]) + CODES[1:]) for i in range(codes)]
    if restart is not None:
        parts.append(segment(0xDD, struct.pack(">H", restart)))
    for _ in range(scans):
        picked = b"".join(bytes([i + 1, 0]) for i in range(len(factors)))
        parts.append(segment(0xDA, bytes([len(factors)]) + picked + b"\0\x3f\0") + b"\x55")
    return b"".join(parts) + b"\xff\xd9"


def said(name):
    text, warned = lapedge("info", name)
    assert warned == "", warned
    document = json.loads(lapedge("info", "--json", name)[0])
    return text.decode(), document


def check(name, jpeg, own, frame, factors, width=640, height=480, tables=1, codes=2, restart=None, scans=1):
    """What info says must be this, line by line and member by member."""
    Path(name).write_bytes(jpeg)
    text, document = said(name)
    kind, arithmetic = FRAMES[frame]
    small = all(factor == (1, 1) for factor in factors[1:])
    usual = len(factors) == 1 or (len(factors) == 3 and small and max(factors[0]) <= 2)
    layout = NAMES.get(factors[0]) if len(factors) == 3 and small else None
    together = kind != "progressive" and not arithmetic and scans == 1 and usual
    wanted = [f"{name}: jpeg, {len(jpeg)} bytes",
              f"  size         {width} x {height}, {len(factors)} component{'s' if len(factors) > 1 else ''}",
              f"  frame        {kind}, {'arithmetic' if arithmetic else 'Huffman'} coding",
              "  sampling     " + " ".join(f"{h}x{v}" for h, v in factors) + (f" ({layout})" if layout else ""),
              f"  tables       {tables} quantization, {codes} Huffman",
              f"  restart      {f'every {restart} MCUs' if restart else 'none'}",
              f"  scans        {scans}", "  orientation  1", "  metadata     none",
              f"  would run    {own}; {'can be decoded by several threads' if together else 'decoded by one thread'}"]
    assert text.splitlines() == wanted, f"{name}: {text}\n{wanted}"
    members = {"input": name, "format": "jpeg", "bytes": len(jpeg), "width": width, "height": height,
               "components": len(factors), "frame": kind, "arithmetic": arithmetic,
               "sampling": [list(factor) for factor in factors], "quantization_tables": tables, "huffman_tables": codes,
               "restart_interval": restart or 0, "scans": scans, "orientation": 1, "metadata": {}, "left_out": [],
               "decodes_in_parallel": together, "backend": own}
    found = {key: document[key] for key in document if key not in ("schema", "lapedge")}
    assert found == members, f"{name}: {found}\n{members}"


def layouts():
    """every sampling of three components up to 2x2, and some beyond: its name, and who may decode it"""
    own, factors = backend(), list(itertools.product((1, 2), (1, 2)))
    for n, (first, second, third) in enumerate(itertools.product(factors, factors, factors)):
        check(f"{n}.jpg", header(0xC0, [first, second, third]), own, 0xC0, [first, second, third])
    for n, first in enumerate(((4, 1), (1, 4), (4, 2), (2, 4), (3, 1), (1, 3))):
        check(f"beyond{n}.jpg", header(0xC0, [first, (1, 1), (1, 1)]), own, 0xC0, [first, (1, 1), (1, 1)])
    for n, few in enumerate(([(1, 1)], [(2, 2)], [(4, 1)], [(1, 1)] * 4, [(2, 2), (1, 1), (1, 1), (2, 2)])):
        check(f"few{n}.jpg", header(0xC0, few), own, 0xC0, few)


def frames():
    """every kind of frame, sizes, tables, restart intervals and numbers of scans"""
    own, usual = backend(), [(2, 2), (1, 1), (1, 1)]
    for frame in FRAMES:
        if frame != 0xC2: # its scans would have to be those of a picture
            check(f"{frame}.jpg", header(frame, usual), own, frame, usual)
    for n, more in enumerate(({"width": 1, "height": 65500}, {"width": 65500, "height": 1}, {"tables": 4}, {"codes": 8},
                              {"tables": 2, "codes": 4}, {"restart": 0}, {"restart": 1}, {"restart": 65535},
                              {"scans": 2}, {"scans": 3})):
        check(f"more{n}.jpg", header(0xC0, usual, **more), own, 0xC0, usual, **more)


if __name__ == "__main__":
    run_all([layouts, frames])
