#!/usr/bin/env python3
"""A JPEG of more than 1 GiB, through a pipe: turned without loss, in the memory that its coefficients take. Prints TAP."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = os.environ.get("LAPEDGE", "./lapedge")
SIDE, SCANS = 3600, 97 # of which three are the picture's


def main():
    with tempfile.TemporaryDirectory() as folder:
        noise, small = Path(folder, "in.ppm"), Path(folder, "in.jpg")
        script = Path(folder, "scans")
        noise.write_bytes(b"P6\n%d %d\n255\n" % (SIDE, SIDE) + os.urandom(3 * SIDE * SIDE))
        script.write_text("0;1;2;")
        subprocess.run(["cjpeg", "-quality", "100", "-sample", "1x1", "-scans", script, "-outfile", small, noise], check=True)
        jpeg = small.read_bytes()
        scan = jpeg.rindex(b"\xff\xda\0\x08\x01\x03") # the last component's: read again, it is still the picture
        head, data = jpeg[:-2], jpeg[scan:-2]
        size = len(head) + (SCANS - 3) * len(data) + 2
        assert size > 1 << 30, size
        turned = Path(folder, "turned.jpg")
        process = subprocess.Popen([PROGRAM, "transform", "--strip", "--perfect", "--rotate=90", "--max-memory=160M",
                                    "-", turned], stdin=subprocess.PIPE)
        process.stdin.write(head)
        for _ in range(SCANS - 3):
            process.stdin.write(data)
        process.stdin.write(b"\xff\xd9")
        process.stdin.close()
        assert process.wait() == 0
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        theirs = subprocess.run(["jpegtran", "-copy", "none", "-rotate", "90", small], check=True, capture_output=True).stdout
        assert turned.read_bytes() == theirs
        print(f"# {size} bytes, at most {most} KiB of memory")
        print("ok 1 - a file of more than 1 GiB is turned without loss")


if __name__ == "__main__":
    print("1..1")
    try:
        main()
    except FileNotFoundError as error:
        print(f"ok 1 - a file of more than 1 GiB is turned without loss # SKIP {error.filename} is not installed")
    except (AssertionError, subprocess.CalledProcessError) as error:
        print(f"not ok 1 - a file of more than 1 GiB is turned without loss\n# {error!r}")
        sys.exit(1)
