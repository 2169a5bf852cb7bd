#!/usr/bin/env python3
"""Figures worked out a second time: statistics, profiles, differences, times. Prints TAP."""

import csv
import json
import math
import os
import resource
import statistics
import struct
from pathlib import Path

from made import BUILD, PHOTO, WRONG, lapedge, noise, pnm, run_all

DEVICE = BUILD / "cudacpu/asan/lapedge"


def as_json(*words, code=0, **more):
    return json.loads(lapedge(*words, "--json", code=code, **more)[0])


def csv_is_json():
    """--csv says what --json says, figure by figure."""
    rows = csv.DictReader(lapedge("stats", "--csv", "--profiles", PHOTO)[0].decode().splitlines())
    want = as_json("stats", "--profiles", PHOTO)
    seen, profiles = 0, {"row_profile": [], "column_profile": []}
    for row in rows:
        if row["figure"] in profiles:
            profiles[row["figure"]].append(float(row["value"]))
            assert int(row["index"]) == len(profiles[row["figure"]]) - 1 and row["channel"] == "luma"
            continue
        channel = next(c for c in want[row["image"]]["channels"] if c["name"] == row["channel"])
        value = channel[row["figure"]][int(row["index"])] if row["index"] else channel[row["figure"]]
        assert value is None or float(row["value"]) == value, row
        seen += 1
    assert seen > 1500
    for name, part in (("row_profile", "rows"), ("column_profile", "columns")):
        there = want["profiles"][part]
        assert len(profiles[name]) == len(there), name
        assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(profiles[name], there)), name
    assert len({c[f"p{n}"] for c in want["input"]["channels"] for n in (1, 50, 99)}) > 3


def large_spread():
    """The standard deviation of 38 million samples, half of them 0 and half 255."""
    pnm("in.pgm", 6000, 6400, 1, bytes(19200000) + b"\xff" * 19200000)
    channel = as_json("stats", "--kernel=identity", "in.pgm")["input"]["channels"][0]
    assert channel["stddev"] == 127.5 and channel["mean"] == 127.5


def peaks_have_the_places_of_their_lines():
    """A bright line's edges are peaks at its own rows."""
    width, height = 60, 200
    pixels = bytearray(width * height)
    pixels[120 * width:121 * width] = b"\xff" * width
    pixels[60 * width:61 * width] = b"\x60" * width
    pnm("in.pgm", width, height, 1, pixels)
    said = lapedge("stats", "--profiles", "--border=replicate", "in.pgm")[0].decode()
    rows = as_json("stats", "--profiles", "--border=replicate", "in.pgm")["profiles"]["rows"]
    assert rows[60] == rows[120] == max(rows)
    line = next(line for line in said.splitlines() if line.startswith("row profile"))
    peaks = [int(word.split(" ")[0]) for word in line.split("peaks at ")[1].split(", ")]
    assert peaks == [60, 120], line # of the same height: in the order of their places


def only_high_values_are_peaks():
    """A value is a peak from two standard deviations above the mean on."""
    width, height = 40, 100
    pixels = bytearray(width * height)
    for y, value in ((20, 255), (40, 255), (60, 70), (80, 70)):
        pixels[y * width:(y + 1) * width] = bytes([value]) * width
    pnm("in.pgm", width, height, 1, pixels)
    words = ["stats", "--profiles", "--kernel=identity", "in.pgm"]
    rows = as_json(*words)["profiles"]["rows"]
    inner = rows[2:-2]
    floor = statistics.fmean(inner) + 2 * statistics.pstdev(inner)
    line = next(line for line in lapedge(*words)[0].decode().splitlines() if line.startswith("row profile"))
    want = [y for y in range(2, height - 2) if rows[y] > floor]
    assert sum(value > statistics.fmean(inner) + statistics.pstdev(inner) for value in inner) > len(want)
    listed = line.split("peaks at ")[1]
    peaks = [] if listed.startswith("none") else [int(word.split(" ")[0]) for word in listed.split(", ")]
    assert sorted(peaks) == want, (peaks, want)


def weights_for_both():
    """As many weights as columns and rows together: the first for the rows' sums, the others for the columns'."""
    width, height = 5, 7
    pixels = noise(width * height)
    pnm("in.pgm", width, height, 1, pixels)
    across, down = [0, 1, 0, 2, 0], [3, 0, 0, 0, 1, 0, 0]
    Path("w").write_text(" ".join(map(str, across + down)))
    got = as_json("stats", "--profiles", "--weights=w", "--kernel=identity", "in.pgm")["profiles"]
    at = lambda y, x: pixels[y * width + x]
    for y in range(height):
        assert math.isclose(got["rows"][y], sum(w * at(y, x) for x, w in enumerate(across)), rel_tol=1e-5)
    for x in range(width):
        assert math.isclose(got["columns"][x], sum(w * at(y, x) for y, w in enumerate(down)), rel_tol=1e-5)


def profiles_of_tall_and_wide():
    """Profiles of pictures of one column, and of one row."""
    for width, height in ((1, 70000), (2, 30011), (30011, 2)):
        pixels = noise(width * height)
        pnm("in.pgm", width, height, 1, pixels)
        got = as_json("stats", "--profiles", "--kernel=identity", "in.pgm")["profiles"]
        for y in range(0, height, 997):
            row = pixels[y * width:(y + 1) * width]
            assert math.isclose(got["rows"][y], statistics.fmean(row), rel_tol=1e-4, abs_tol=1e-4)
        for x in range(0, width, 997):
            assert math.isclose(got["columns"][x], statistics.fmean(pixels[x::width]), rel_tol=1e-4)


def masks_of_all_sizes():
    """A mask may leave one pixel of a side, even or odd, and not none."""
    for side, most in ((10, 4), (11, 5)):
        for width, height in ((side, 100), (100, side)):
            pnm("a.pgm", width, height, 1, bytes(width * height))
            lapedge("diff", "-q", f"--mask-border={most}", "a.pgm", "a.pgm")
            lapedge("diff", "-q", f"--mask-border={most + 1}", "a.pgm", "a.pgm", code=2)


def shares_are_of_pixels():
    """A share is one of pixels, not of samples; 0.05 is 5 %."""
    pnm("a.ppm", 10, 10, 3, bytes(300))
    for differing, share, code in ((5, "5%", 0), (6, "5%", 1), (5, "0.05", 0), (6, "0.05", 1), (2, "1%", 1), (1, "1%", 0)):
        pixels = bytearray(300)
        for i in range(differing):
            pixels[21 * i:21 * i + 3] = b"\1\2\3"
        pnm("b.ppm", 10, 10, 3, pixels)
        option = f"--max-differing={share}"
        if "." in share: # as --tolerance writes it
            option = f"--max-differing={float(share) * 100:g}%"
        lapedge("diff", "-q", option, "a.ppm", "b.ppm", code=code)


def sums_of_many_photos():
    """Differences of several photos add up, those at the border too."""
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    Path("photos").mkdir()
    for name, width, height in (("1", 30, 20), ("2", 14, 40)):
        pnm(f"{name}.pgm", width, height, 1, noise(width * height))
        lapedge(f"{name}.pgm", f"photos/{name}.jpg", "--kernel=identity", "--no-sync")
    alone = [json.loads(lapedge("compare", "--json", "--backends=no-border", name, code=1, program=WRONG)[0])
             for name in ("photos/1.jpg", "photos/2.jpg")]
    both = json.loads(lapedge("compare", "--json", "--backends=no-border", "photos", code=1, program=WRONG)[0])
    for figure in ("differing_pixels", "differing_border"):
        assert both["rows"][0][figure] == sum(one["rows"][0][figure] for one in alone) > 0


def wrong_sums_are_seen():
    """compare and bench refuse histograms, sums and products that are off in one place only."""
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    pnm("in.pgm", 96, 96, 1, noise(9216))
    pnm("rgb.ppm", 96, 96, 3, noise(27647) + b"\xff")
    for op, rung in (("histogram", "last-value"), ("reduce", "one-more"), ("matvec", "last-row"), ("matvec", "nan")):
        picture = "rgb.ppm" if op == "histogram" else "in.pgm"
        got = json.loads(lapedge("compare", "--json", f"--ops={op}", f"--backends={rung}", picture, code=1,
                                 program=WRONG)[0])
        assert got["rows"][0]["identical"] is False, op
    for op, rung in (("filter", "off-by-one"), ("histogram", "last-value"), ("reduce", "one-more"), ("matvec", "last-row")):
        size = "--n=4096" if op in ("reduce", "matvec") else "--sizes=200x100"
        _, said = lapedge("bench", op, size, "--runs=1", f"--backends={rung}", code=1,
                          program=WRONG)
        assert "refused" in said or "refused" in _.decode(), (op, said)
    for op, rung, size in (("histogram", "no-count", "--sizes=96x96"), ("matvec", "no-row", "--n=64")): # after c
        said = lapedge("bench", op, size, "--runs=1", f"--backends=c,{rung}", code=1, program=WRONG)[1]
        assert said.startswith(f"lapedge: {op} {rung}: refused: "), said
        got = json.loads(lapedge("compare", "--json", f"--ops={op}", f"--backends=c,{rung}", "in.pgm", code=1,
                                 program=WRONG)[0])
        assert [row["identical"] for row in got["rows"]] == [True, False], op


def times_add_up():
    """Median, mean, spread, rates, share of the ceiling and speed-up follow from the times of each row."""
    rows = as_json("bench", "--sizes=320x200", "--runs=4", "--backends=c,simd", "--threads=1")["rows"]
    close = lambda a, b: math.isclose(a, b, rel_tol=1e-9)
    ceiling = next(row for row in rows if row["backend"] == "memcpy")["gb_per_s"]
    c_ms = next(row for row in rows if row["backend"] == "c" and row["threads"] == 1)["median_ms"]
    seen = 0
    for row in rows:
        times = row["times_ms"]
        if not times or len(times) != 4:
            continue
        seen += 1
        assert close(row["median_ms"], statistics.median(times)), row
        assert close(row["mean_ms"], statistics.fmean(times)), row
        assert close(row["stddev_ms"], statistics.stdev(times)), row
        assert close(row["min_ms"], min(times)) and close(row["max_ms"], max(times)), row
        if row["mpix_per_s"] is not None:
            assert close(row["mpix_per_s"], 320 * 200 / row["median_ms"] / 1e3), row
        if row["backend"] in ("c", "simd"):
            assert close(row["roof_share"], row["gb_per_s"] / ceiling), row
        if row["speedup"] is not None:
            assert close(row["speedup"], c_ms / row["median_ms"]), row
    assert seen >= 3
    assert {"memcpy", "c", "simd"} <= {row["backend"] for row in rows if row["times_ms"]}
    rows = as_json("bench", "--sizes=320x200", "--runs=1", "--backends=c,openmp", "--threads=2")["rows"]
    by = {name: [row["threads"] for row in rows if row["backend"] == name and row["times_ms"]] for name in ("c", "openmp")}
    assert by["c"] == [1] and by["openmp"] in ([1, 2], []), by # the reference is one thread's work
    rows = as_json("bench", "reduce", "--n=4096", "--runs=1", "--backends=c,pairwise", "--threads=2")["rows"]
    assert {row["threads"] for row in rows if row["backend"] in ("c", "pairwise")} == {1}, rows # these never spread
    row = as_json("compare", "--runs=2", "--backends=c", PHOTO)["rows"][0]
    assert math.isclose(row["ms"], (row["min_ms"] + row["max_ms"]) / 2, abs_tol=2e-6), row # whole nanoseconds


def the_floor_of_a_codec():
    """The codec's floor is its parts, shared out to threads, and a run's share of it is what stands beside it."""
    pnm("in.ppm", 96, 64, 3, noise(18432))
    for progressive in ([], ["--progressive"]):
        lapedge("--kernel=identity", "--no-sync", *progressive, "in.ppm", "in.jpg")
        rows = as_json("bench", "codec", "--image=in.jpg", "--runs=3", "--threads=2")["rows"]
        host = {row["backend"]: row for row in rows if row["op"] == "codec" and row["end_to_end_ms"] is None}
        assert list(host) == ["decode", "filter", "encode", "floor", "run", "scan", "parallel-1", "parallel-2"]
        assert [row["threads"] for row in host.values()] == [1, 1, 1, 2, 2, 1, 1, 2]
        parts = zip(*(host[name]["times_ms"] for name in ("decode", "filter", "encode")))
        assert all(math.isclose(2 * a, sum(b)) for a, b in zip(host["floor"]["times_ms"], parts)), host
        shares = {name: row["roof_share"] for name, row in host.items() if row["roof_share"] is not None}
        assert list(shares) == ["floor", "run"] and shares["floor"] == 1
        assert math.isclose(shares["run"], host["floor"]["median_ms"] / host["run"]["median_ms"])
        for name, row in host.items():
            assert (row["width"], row["height"], row["channels"]) == (96, 64, 3)
            assert all((time > 0) == (name != "scan" or not progressive) for time in row["times_ms"]), row
            assert row["mpix_per_s"] is None or math.isclose(row["mpix_per_s"], 96 * 64 / row["median_ms"] / 1e3)


def the_most_values():
    """As many values as 31 bits count are only a matter of memory; one more are refused."""
    for count, want, code in ((2147483647, "no memory for 2147483647 values", 4),
                              (2147483648, "2147483648 values; at most 2147483647", 2)):
        said = lapedge("bench", "reduce", "-q", f"--n={count}", "--runs=1", code=code,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)))[1]
        assert want in said, said


def elements_of_all_sizes():
    """The transpose is measured with bytes, and with elements of 4 and 8 bytes."""
    for kind in ("u8", "f32", "f64"):
        rows = as_json("bench", "transpose", f"--type={kind}", "--sizes=72x50", "--runs=1", "--threads=1")["rows"]
        done = {row["backend"] for row in rows if row["times_ms"] and row["type"] == kind}
        assert {"memcpy", "c"} <= done and "simd" not in done, (kind, rows)
    rows = as_json("bench", "transpose", "--backends=simd", "--sizes=72x50", "--runs=1", "--threads=1")["rows"]
    assert [row["backend"] for row in rows if row["times_ms"]] == ["memcpy", "simd"] # a family, where it is named


def times_of_a_device():
    """A device's rows have times of the kernel and both copies; a run with it has them too, and the reference's bytes."""
    if not DEVICE.exists():
        return "CUDA on the CPU was not built"
    bench = lapedge("bench", "filter", "--json", "--sizes=64x48", "--runs=3", "--threads=1", "--backends=c,cuda-shared4",
                    program=DEVICE)[0]
    rows = {row["backend"]: row for row in json.loads(bench)["rows"]}
    for name in ("copy", "cuda-shared4"):
        row = rows[name]
        assert len(row["times_ms"]) == 3 and row["kernel_ms"] == row["median_ms"] == statistics.median(row["times_ms"]), row
        assert row["gb_per_s"] > 0 and math.isclose(row["roof_share"], row["gb_per_s"] / rows["copy"]["gb_per_s"]), row
    assert all(rows["cuda-shared4"][f"{part}_ms"] > 0 for part in ("upload", "download", "end_to_end"))
    for op, size, moved in (("reduce", 16384, 65536), ("matvec", 64, None), ("transpose", None, 2 * 64 * 48 * 3)):
        words = [f"--n={size}"] if size else ["--sizes=64x48"] # 512 bytes are the least that is copied of sums
        more = ["--type=f32"] if op == "reduce" else []
        said = json.loads(lapedge("bench", op, "--json", *words, *more, "--runs=2", "--threads=1", program=DEVICE)[0])
        assert any(row["kernel_ms"] for row in said["rows"] if row["backend"] == "cuda-fast"), op
        for row in said["rows"]:
            if row["backend"] == "copy":
                assert math.isclose(row["gb_per_s"], moved / row["median_ms"] / 1e6) and row["roof_share"] == 1, row
    pnm("in.pgm", 60, 40, 1, noise(2400))
    times = json.loads(lapedge("--json", "--no-sync", "--backend=cuda-fast", "in.pgm", "d.pgm", program=DEVICE)[0])["ms"]
    lapedge("--no-sync", "--backend=c", "in.pgm", "c.pgm")
    assert all(times[part] > 0 for part in ("upload", "filter", "download")), times
    assert Path("c.pgm").read_bytes() == Path("d.pgm").read_bytes()


def nothing_is_left_on_a_device():
    """Memory, streams and events of a device are freed at the end of a bench, a comparison, statistics and runs."""
    if not DEVICE.exists():
        return "CUDA on the CPU was not built"
    pnm("in.ppm", 60, 40, 3, noise(7200))
    Path("in").mkdir()
    lapedge("--kernel=identity", "--no-sync", "in.ppm", "in/a.jpg")
    ops = ("filter", "transpose", "reduce", "histogram", "matvec")
    for words in (["bench", "-q", *ops, "--n=64", "--sizes=64x48", "--runs=1", "--threads=1", "--backends=cuda-fast"],
                  ["compare", "-q", "--ops=all", "--runs=1", "--backends=c,cuda-fast", "in.ppm"],
                  ["stats", "-q", "--profiles", "--backend=cuda-fast", "in/a.jpg"],
                  ["--no-sync", "--backend=cuda-fast", "in.ppm", "o.ppm"], ["-q", "--no-sync", "--backend=cuda-fast", "in", "out"]):
        said = lapedge(*words, program=DEVICE, env={**os.environ, "LAP_CUDACPU": "left=said"})[1]
        assert said.splitlines()[-1:] == ["# CUDA on CPU: 0 allocations, streams and events are left"], (words, said)
    return None


def baselines_of_the_same_case():
    """--baseline compares rows of the same case only, and --tolerance is what a row may be slower."""
    words = ["bench", "--sizes=64x48", "--runs=1", "--backends=c", "--threads=1"]
    now = as_json(*words)
    Path("form.json").write_text(json.dumps({**now, "rows": [{**row, "form": "other"} for row in now["rows"]]}))
    _, said = lapedge(*words, "--baseline=form.json", code=2)
    assert "no row in common" in said
    slow = [{**row, "median_ms": (row["median_ms"] or 0) * 1.0 + 1e4} for row in now["rows"]]
    Path("slow.json").write_text(json.dumps({**now, "rows": slow}))
    lapedge(*words, "--baseline=slow.json", "--tolerance=90%")
    fast = [{**row, "median_ms": 5e-4} for row in now["rows"]] # half a microsecond, which c never reaches
    Path("fast.json").write_text(json.dumps({**now, "rows": fast}))
    lapedge(*words, "--baseline=fast.json", "--tolerance=90%", code=1)
    lapedge(*words, "--baseline=fast.json", "--tolerance=1000000000%") # 5 s


def sixteen_bits_do_not_overflow():
    """A kernel of one sign whose sums just leave 16 bits gives what c gives, on white."""
    pnm("in.pgm", 70, 40, 1, b"\xff" * 2800)
    for total in (127, 128, 129, 130, 131, 256, 257):
        each, rest = divmod(total, 25)
        kernel = ",".join(str(each + (i < rest)) for i in range(25))
        for scale in (1 / total, 1):
            lapedge("compare", "-q", f"--kernel={kernel}", f"--scale={scale}", "--ops=filter", "in.pgm")


def very_wide():
    """Rows of 400,000 pixels, on every backend."""
    pnm("in.pgm", 400000, 6, 1, noise(4000) * 600)
    lapedge("compare", "-q", "--ops=filter", "in.pgm", "--threads=2")


def many_values():
    """Sums of more values than there are pieces, on several threads."""
    pnm("in.pgm", 4200, 4100, 1, noise(4100) * 4200)
    lapedge("compare", "-q", "--ops=reduce,histogram", "in.pgm", "--threads=2")


def large_jumps_in_a_kernel():
    """Rows that are one short of a whole group of samples are counted to their ends."""
    for width in (47, 71, 72, 73, 95):
        pnm("in.pgm", width, 12000, 1, noise(width * 120) * 100)
        lapedge("compare", "-q", "--ops=histogram", "in.pgm")


if __name__ == "__main__":
    os.environ.pop("LAPEDGE_CORPUS", None)
    run_all([csv_is_json, large_spread, peaks_have_the_places_of_their_lines, only_high_values_are_peaks,
             weights_for_both, profiles_of_tall_and_wide, masks_of_all_sizes, shares_are_of_pixels,
             sums_of_many_photos, wrong_sums_are_seen, times_add_up, the_floor_of_a_codec, the_most_values,
             elements_of_all_sizes, times_of_a_device, nothing_is_left_on_a_device,
             baselines_of_the_same_case, sixteen_bits_do_not_overflow, very_wide, many_values,
             large_jumps_in_a_kernel])
