"""Writes a PGM as an interlaced PNG: interlaced.py IN.pgm OUT.png"""
import struct
import sys
import zlib

with open(sys.argv[1], "rb") as file:
    magic, size, _, pixels = file.read().split(b"\n", 3)
assert magic == b"P5"
width, height = map(int, size.split())
rows = [pixels[y * width:(y + 1) * width] for y in range(height)]
data = b""
for x0, y0, dx, dy in (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2):
    data += b"".join(b"\0" + row[x0::dx] for row in rows[y0::dy] if x0 < width)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


with open(sys.argv[2], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 1))
               + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))
