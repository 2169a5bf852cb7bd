#!/usr/bin/env python3
"""Every limit on both sides, and damage that is easily overlooked. Prints TAP."""

import json
import os
import struct
import subprocess
from pathlib import Path

from made import (BUILD, PROGRAM, SAMPLE, lapedge, noise, png, pnm, read_pnm, run_all, scans, seeds, segment, segments,
                  with_segments)


def scans_of_a_file():
    """--max-scans: as many as there are, and one fewer."""
    if not seeds():
        return "the maker of files was not built"
    path = seeds() / "progressive"
    count = len(scans(path.read_bytes()))
    assert count > 3
    lapedge(path, "o.jpg", f"--max-scans={count}", "--no-sync")
    _, said = lapedge(path, "p.jpg", f"--max-scans={count - 1}", code=5)
    assert "max-scans" in said


def segments_in_a_header():
    """4096 segments are read, also in pieces; one more is refused."""
    own = len(segments(SAMPLE))
    for count, code in ((4096 - own, 0), (4097 - own, 5)):
        Path("in.jpg").write_bytes(with_segments(SAMPLE, segment(0xFE, b"x" * 150) * count))
        lapedge("in.jpg", "o.jpg", "--no-sync", code=code)


def garbage_between_segments():
    """1 MiB of garbage between segments, all together, is read over; more is refused."""
    most = 1 << 20
    for size, code in ((most // 2, 0), (most // 2 + 1, 5)):
        piece = b"\x01" * size + segment(0xFE, b"x")
        Path("in.jpg").write_bytes(with_segments(SAMPLE, piece, piece))
        _, said = lapedge("in.jpg", "o.jpg", "--no-sync", "--fail-on=none", code=code)
        assert code == 0 or "1 MB" in said, said


def segments_of_all_sizes():
    """Segments longer than any buffer, in the header and between scans, change no pixel."""
    Path("plain.jpg").write_bytes(SAMPLE)
    lapedge("plain.jpg", "plain.ppm", "--no-sync")
    sizes = [0, 1, 2, 4095, 4096, 16383, 16384, 32764, 32765, 32766, 65533]
    Path("in.jpg").write_bytes(with_segments(SAMPLE, *(segment(0xE5, noise(size)) for size in sizes)))
    lapedge("in.jpg", "o.ppm", "--no-sync", "--fail-on=warning")
    assert Path("o.ppm").read_bytes() == Path("plain.ppm").read_bytes()
    if not seeds():
        return None
    jpeg = (seeds() / "progressive").read_bytes()
    jpeg = jpeg[:2] + jpeg[jpeg.index(b"\xff\xe0"):] # without its EXIF, behind which stands a stray byte
    second = scans(jpeg)[1]
    at = jpeg.rfind(b"\xff\xc4", 0, second) # its table stands before it
    Path("in.jpg").write_bytes(jpeg)
    lapedge("in.jpg", "plain.ppm", "--no-sync", "--fail-on=warning")
    for size in sizes:
        Path("in.jpg").write_bytes(jpeg[:at] + segment(0xE5, noise(size)) * (9 * 65536 // (size + 4)) + jpeg[at:])
        lapedge("in.jpg", "p.ppm", "--no-sync", "--fail-on=warning")
        assert Path("p.ppm").read_bytes() == Path("plain.ppm").read_bytes(), size


def fill_bytes():
    """Fill bytes in front of markers change no pixel, decoded by one thread or by several."""
    Path("plain.jpg").write_bytes(SAMPLE)
    lapedge("plain.jpg", "plain.ppm", "--no-sync")
    at, pieces = 2, [SAMPLE[:2]]
    while SAMPLE[at + 1] != 0xDA:
        size = 2 + struct.unpack(">H", SAMPLE[at + 2:at + 4])[0]
        pieces += [b"\xff" * (len(pieces) % 5), SAMPLE[at:at + size]]
        at += size
    Path("in.jpg").write_bytes(b"".join([*pieces, b"\xff\xff", SAMPLE[at:]]))
    for decode in ("serial", "parallel"):
        lapedge("in.jpg", f"{decode}.ppm", "--no-sync", f"--decode={decode}", "--timeout=60")
        assert Path(f"{decode}.ppm").read_bytes() == Path("plain.ppm").read_bytes(), decode


def no_picture_for_long():
    """Segments without end behind the first scan are a limit, not a wait."""
    if not seeds():
        return "the maker of files was not built"
    jpeg = (seeds() / "progressive").read_bytes()
    at = jpeg.rfind(b"\xff\xc4", 0, scans(jpeg)[1])
    process = subprocess.Popen([PROGRAM, "-", "o.jpg", "--no-sync"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    piece = segment(0xFE, b"x" * 65533) * 16
    try:
        process.stdin.write(jpeg[:at])
        for _ in range(512): # 512 MiB
            process.stdin.write(piece)
        process.stdin.close()
    except BrokenPipeError:
        pass
    said = process.stderr.read().decode()
    assert process.wait() == 5 and "without image data" in said, said


def endless_scans():
    """A file whose scans do not end is stopped by --timeout."""
    if not seeds():
        return "the maker of files was not built"
    jpeg = (seeds() / "progressive").read_bytes()
    last = scans(jpeg)[-1]
    process = subprocess.Popen([PROGRAM, "-", "o.jpg", "--max-scans=0", "--timeout=0.3", "--fail-on=none"], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    piece = jpeg[last:-2] * 1000
    try:
        process.stdin.write(jpeg[:-2])
        for _ in range(100000): # until the pipe breaks
            process.stdin.write(piece)
        raise AssertionError("all scans were read")
    except BrokenPipeError:
        pass
    said = process.stderr.read().decode()
    assert process.wait() == 5 and "timeout" in said.lower(), said


def each_part_of_a_turn_looks_at_the_clock():
    """Turning without loss looks at the clock in each scan it reads, while it moves blocks, and while it writes."""
    clock = BUILD / "tests/step_clock.so"
    if os.environ.get("SANITIZED"):
        return "a sanitizer is loaded first"
    if not seeds():
        return "the maker of files was not built"
    jpeg = bytearray((seeds() / "progressive").read_bytes())
    rows = 500 # of MCUs; they hold nothing, so the data ends early in each scan, and all is let through
    at = jpeg.index(b"\xff\xc2")
    jpeg[at + 5:at + 9] = struct.pack(">HH", 16 * rows, 16)
    Path("in.jpg").write_bytes(jpeg)
    count = len(scans(jpeg))

    def turn(seconds, *words, code=0):
        """Each look at the clock takes a second."""
        _, said = lapedge("transform", "in.jpg", "o.jpg", "--flip=h", "--perfect", "--no-sync", "--fail-on=none",
                          f"--timeout={seconds}", *words, code=code,
                          env={**os.environ, "LD_PRELOAD": str(clock), "LAP_STEP_NS": "1000000000"})
        assert code == 0 or "timeout" in said, said
        return code

    def looks(*words):
        """How many looks it takes to the end."""
        low, high = 1, 10 * count * rows
        while high - low > 1:
            middle = (low + high) // 2
            try:
                turn(middle, *words)
                high = middle
            except AssertionError:
                turn(middle, *words, code=5)
                low = middle
        return high

    plain, optimized, progressive = looks(), looks("--optimize"), looks("--progressive")
    parts = 3 # moved, checked, written
    assert plain >= (count + parts) * rows, (plain, count)
    assert optimized >= plain + rows, (plain, optimized) # written twice
    assert progressive >= plain + 10 * rows, (plain, progressive) # in ten scans, most of them twice


def each_scan_looks_at_the_clock():
    """Decoding a progressive picture looks at the clock in each scan."""
    clock = BUILD / "tests/step_clock.so"
    if os.environ.get("SANITIZED"):
        return "a sanitizer is loaded first"
    pnm("in.ppm", 16, 6400, 3, noise(16 * 6400 * 3))
    for name, words in (("plain.jpg", []), ("several.jpg", ["--progressive"])):
        lapedge("--kernel=identity", "--no-sync", *words, "in.ppm", name)

    def looks(name):
        """How many looks it takes to the end; each takes a second."""
        low, high = 1, 10000
        while high - low > 1:
            middle = (low + high) // 2
            try:
                lapedge(name, "o.ppm", "--codec=c", "--threads=1", "--no-sync", f"--timeout={middle}",
                        env={**os.environ, "LD_PRELOAD": str(clock), "LAP_STEP_NS": "1000000000"})
                high = middle
            except AssertionError:
                low = middle
        return high

    _, said = lapedge(Path("several.jpg"), "o.ppm", "--codec=c", "--no-sync", "-v")
    assert "decoded by c" in said, said
    count, turns = len(scans(Path("several.jpg").read_bytes())), 32
    assert count >= 10
    plain, several = looks("plain.jpg"), looks("several.jpg")
    assert several >= plain + count * turns, (plain, several)


def memory_is_not_wasted_on_decoders():
    """What libjpeg-turbo decodes with so much memory is decoded whoever is to decode it, with the same bytes."""
    pnm("in.ppm", 1000, 700, 3, noise(2100000))
    for name, words in (("plain.jpg", ["--restart=off"]), ("several.jpg", ["--progressive"])):
        lapedge("--kernel=identity", "--no-sync", "--quality=60", *words, "in.ppm", name)

        def runs(codec, kilobytes, name=name):
            try:
                lapedge(name, f"{codec}.jpg", f"--codec={codec}", "--threads=2", "--no-sync", f"--max-memory={kilobytes}K")
            except AssertionError as why:
                assert "--max-memory" in str(why), why
                return False
            return True

        low, high = 100, 100000
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if runs("turbo", middle) else (middle, high)
        for more in (0, 1, 50, 100, 200, 400, 1000, 2000, 4000):
            assert runs("c", high + more), (name, high, more)
            assert Path("c.jpg").read_bytes() == Path("turbo.jpg").read_bytes(), (name, high, more)
        assert not runs("c", high - 1), (name, high)


def no_limit_of_libjpeg():
    """JPEGMEM, by which libjpeg limits its memory, changes nothing: that is --max-memory."""
    Path("in.jpg").write_bytes(SAMPLE)
    lapedge("--progressive", "--kernel=identity", "--no-sync", "in.jpg", "several.jpg")
    for words in (["in.jpg"], ["several.jpg"], ["--progressive", "in.jpg"], ["transform", "--trim", "--rotate=90", "in.jpg"],
                  ["transform", "--trim", "--transpose", "--progressive", "several.jpg"]):
        lapedge(*words, "a.jpg", "--no-sync")
        lapedge(*words, "b.jpg", "--no-sync", env={**os.environ, "JPEGMEM": "10"})
        assert Path("a.jpg").read_bytes() == Path("b.jpg").read_bytes(), words


def statistics_have_a_timeout():
    """stats ends at --timeout, too."""
    pnm("in.pgm", 4000, 4000, 1, bytes(16000000))
    lapedge("stats", "--timeout=0.000001", "in.pgm", code=5)


def sides_of_tga():
    """TGA and BMP have sides of at most 65535; one more is refused."""
    for width, height in ((65535, 1), (1, 65535)):
        pnm("in.pgm", width, height, 1, bytes(65535))
        if lapedge_supports("tga", "in.pgm"):
            lapedge("in.pgm", "o.tga", "--no-sync")
        else:
            return "no stb_image_write in this build"
    for width, height in ((65536, 1), (1, 65536)):
        pnm("in.pgm", width, height, 1, bytes(65536))
        _, said = lapedge("in.pgm", "p.tga", "--no-sync", code=1)
        assert "at most 65535" in said, said


def lapedge_supports(extension, path):
    done = subprocess.run([PROGRAM, path, f"try.{extension}", "--no-sync"], stderr=subprocess.PIPE)
    return done.returncode == 0 or b"built" not in done.stderr


def sum_of_a_kernel():
    """A kernel's absolute values may sum up to 2^22, and not to one more."""
    pnm("in.pgm", 8, 8, 1, noise(64))
    zeros = ",0" * 23
    lapedge("in.pgm", "o.pgm", "--no-sync", f"--kernel=4194303,-1{zeros}")
    _, said = lapedge("in.pgm", "p.pgm", f"--kernel=4194303,-2{zeros}", code=2)
    assert "2^22" in said


def missing_scans():
    """A file without one of its scans is damaged, sequential or progressive."""
    if not seeds():
        return "the maker of files was not built"
    jpeg = (seeds() / "scans").read_bytes()
    places = scans(jpeg)
    assert len(places) == 3
    for cut in (places[2], places[1]):
        at = max(jpeg.rfind(b"\xff\xc4", 0, cut), jpeg.rfind(b"\xff\xda", 0, cut)) if cut == places[2] else cut
        at = cut if jpeg[at:at + 2] == b"\xff\xda" else at
        Path("in.jpg").write_bytes(jpeg[:at] + b"\xff\xd9")
        _, said = lapedge("in.jpg", "o.jpg", code=1)
        assert "damaged" in said or "missing" in said, said


def bytes_before_each_restart_marker():
    """Bytes left over before any of the eight restart markers are damage."""
    pnm("in.pgm", 40, 1300, 1, noise(52000))
    lapedge("in.pgm", "in.jpg", "--no-sync", "--kernel=identity", "--restart=on")
    jpeg = Path("in.jpg").read_bytes()
    begin, seen = scans(jpeg)[0], set()
    for at in range(begin, len(jpeg) - 1):
        if jpeg[at] == 0xFF and 0xD0 <= jpeg[at + 1] <= 0xD7 and jpeg[at + 1] not in seen:
            seen.add(jpeg[at + 1])
            Path("bad.jpg").write_bytes(jpeg[:at] + b"\x12\x34" * 10 + jpeg[at:])
            for decode in ("serial", "parallel"):
                lapedge("bad.jpg", "o.jpg", f"--decode={decode}", code=1)
    assert len(seen) == 8


def nothing_old_in_what_is_missing():
    """What a cut PNG leaves out is black, whatever stood in the memory before."""
    width, height = 100, 2000
    png("in.png", width, height, 3, bytes(value | 0xC0 for value in noise(width * height * 3)))
    whole = Path("in.png").read_bytes()
    for share in (0.3, 0.5, 0.8):
        Path("cut.png").write_bytes(whole[:int(len(whole) * share)])
        lapedge("cut.png", "o.ppm", "--fail-on=none", "--kernel=identity", "--no-sync")
        _, _, _, pixels = read_pnm("o.ppm")
        rows = [pixels[y * width * 3:(y + 1) * width * 3] for y in range(height)]
        first = next(y for y in range(height) if any(p < 0xC0 for p in rows[y]))
        assert first > 0
        assert all(not any(row) for row in rows[first + 1:]), first


def long_header_in_few_steps():
    """100 MB of comments are refused after memory was asked for a few times only."""
    library = BUILD / "tests/nth_call.so"
    if not library.exists():
        return "the preloaded library needs glibc and no sanitizer"
    Path("in.jpg").write_bytes(with_segments(SAMPLE, segment(0xFE, b"x" * 65533) * 1600))
    _, said = lapedge("in.jpg", "o.jpg", code=5,
                      env={**os.environ, "LD_PRELOAD": str(library), "LAP_COUNTS": str(Path("counts").resolve())})
    assert "of header without a picture" in said, said
    counts = dict(line.split() for line in Path("counts").read_text().splitlines())
    assert int(counts.get("madvise", 0)) < 40, counts


def wrong_restart_segment():
    """A restart segment of any length but two is damage."""
    for size in (0, 1, 3, 4):
        Path("in.jpg").write_bytes(with_segments(SAMPLE, segment(0xDD, b"\0\1\0\0"[:size])))
        _, said = lapedge("in.jpg", "o.jpg", code=1)
        assert "restart" in said, said


def one_warning_is_one():
    """A single warning is a warning: in the status and on stderr."""
    Path("in.jpg").write_bytes(SAMPLE[:len(SAMPLE) // 2])
    out, _ = lapedge("in.jpg", "o.jpg", "--fail-on=none", "--json", "--no-sync")
    assert json.loads(out)["status"] == "warned"
    png("in.png", 50, 50, 1, noise(2500))
    Path("cut.png").write_bytes(Path("in.png").read_bytes()[:1500]) # exactly one
    try:
        out, _ = lapedge("cut.png", "c.jpg", "--fail-on=none", "--json", "--no-sync")
        assert json.loads(out)["status"] == "warned"
    except AssertionError as error:
        if "PNG" not in str(error): # a build without libpng
            raise
    Path("in.jpg").write_bytes(SAMPLE)
    out, _ = lapedge("in.jpg", "p.jpg", "--fail-on=none", "--json", "--no-sync")
    assert json.loads(out)["status"] == "ok"


def memory_of_a_tall_picture():
    """What a file with several scans takes grows with its height: refused before it is decoded."""
    if not seeds():
        return "the maker of files was not built"
    jpeg = bytearray((seeds() / "progressive").read_bytes())
    at = jpeg.index(b"\xff\xc2")
    jpeg[at + 5:at + 9] = struct.pack(">HH", 60000, 1000) # height, width
    Path("in.jpg").write_bytes(jpeg)
    _, said = lapedge("in.jpg", "o.jpg", "--max-memory=150M", code=5)
    assert "--max-memory" in said, said


if __name__ == "__main__":
    os.environ.pop("LAPEDGE_CORPUS", None)
    run_all([scans_of_a_file, segments_in_a_header, garbage_between_segments, segments_of_all_sizes, fill_bytes, no_picture_for_long,
             endless_scans, each_part_of_a_turn_looks_at_the_clock, each_scan_looks_at_the_clock, memory_is_not_wasted_on_decoders, no_limit_of_libjpeg,
             statistics_have_a_timeout, sides_of_tga, sum_of_a_kernel, missing_scans,
             bytes_before_each_restart_marker, nothing_old_in_what_is_missing,
             long_header_in_few_steps, wrong_restart_segment, one_warning_is_one, memory_of_a_tall_picture])
