"""Small files for the tests of limits and metadata, made byte by byte, and a way to run the program and print TAP."""

import atexit
import os
import struct
import subprocess
import sys
import tempfile
import traceback
import zlib
from pathlib import Path

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())
BUILD = Path(os.environ.get("B", "build")).resolve()
WRONG = BUILD / "tests/lapedge-wrong"
SAMPLE = Path("samples/chelsea.jpg").resolve().read_bytes()
PHOTO = str(Path("samples/coffee.jpg").resolve())

_folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
atexit.register(_folder.cleanup)


class Skip(Exception):
    """A test cannot run here: why."""


def run_all(tests):
    """Runs each function in a separate folder; a failed assertion fails the test. Prints TAP."""
    failed = 0
    for i, test in enumerate(tests, 1):
        place = Path(_folder.name) / test.__name__
        place.mkdir()
        os.chdir(place)
        what = test.__doc__.split("\n")[0].rstrip(".")
        try:
            reason = test()
            print(f"ok {i} - {what}{f' # SKIP {reason}' if reason else ''}")
        except Skip as reason:
            print(f"ok {i} - {what} # SKIP {reason}")
        except Exception: # whatever it is, the test failed
            failed += 1
            print(f"not ok {i} - {what}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
        sys.stdout.flush()
    print(f"1..{len(tests)}")
    sys.exit(failed > 0)


def lapedge(*words, code=0, program=PROGRAM, **more):
    """Runs it; the exit code must be this one. Returns (stdout, stderr), stdout as bytes."""
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, timeout=120,
                          **{"stdin": subprocess.DEVNULL, **more})
    said = done.stderr.decode(errors="replace")
    assert done.returncode == code, f"{' '.join(map(str, words))[:300]}: exit {done.returncode}, not {code}: {said[:400]}"
    return done.stdout, said


# ---- pictures ----------------------------------------------------------------------------------------


def pnm(path, width, height, channels, pixels):
    Path(path).write_bytes(b"P%d\n%d %d\n255\n" % (5 if channels == 1 else 6, width, height) + bytes(pixels))


def read_pnm(path):
    """(width, height, channels, bytes)"""
    data = Path(path).read_bytes()
    kind, size, _, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    return width, height, 1 if kind == b"P5" else 3, pixels


def noise(count, seed=1):
    out = bytearray()
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(seed >> 24)
    return bytes(out)


def png(path, width, height, channels, pixels, chunks=()):
    """8 bits, gray or RGB, no filter; chunks: (name, bytes) before the pixels."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    line = width * channels
    raw = b"".join(b"\0" + pixels[y * line:(y + 1) * line] for y in range(height))
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" +
                           chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)) +
                           b"".join(chunk(name, data) for name, data in chunks) +
                           chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def seeds():
    """Folder of small JPEGs of every kind that libjpeg writes, and others; None without the program that makes them."""
    maker = BUILD / "tests/fuzz_exif"
    folder = Path(_folder.name) / "seeds"
    if not folder.exists() and maker.exists():
        folder.mkdir()
        subprocess.run([str(maker), str(folder)], check=True)
    return folder if folder.exists() else None


# ---- segments of a JPEG ------------------------------------------------------------------------------


def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data


def with_segments(jpeg, *new):
    """Right behind SOI."""
    return jpeg[:2] + b"".join(new) + jpeg[2:]


def segments(jpeg):
    """(marker, bytes) up to the first scan; then ("scan", offset)."""
    at, found = 2, []
    while jpeg[at] == 0xFF:
        marker, size = jpeg[at + 1], struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        if marker == 0xDA:
            found.append(("scan", at))
            break
        found.append((marker, jpeg[at + 4:at + 2 + size]))
        at += 2 + size
    return found


def scans(jpeg):
    """Offsets of all SOS markers."""
    at, found = 2, []
    while at < len(jpeg) - 1:
        if jpeg[at] == 0xFF and jpeg[at + 1] == 0xDA:
            found.append(at)
        if jpeg[at] == 0xFF and jpeg[at + 1] not in (0, 0xFF) and not 0xD0 <= jpeg[at + 1] <= 0xD9:
            at += 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        else:
            at += 1
    return found


def exif(orientation, after=b""):
    return b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, orientation, 0, 0) + after
