#!/usr/bin/env python3
"""Tables for people, cell by cell, worked out from the JSON of the same run. Prints TAP."""

import fcntl
import json
import math
import os
import pty
import re
import resource
import struct
import subprocess
import termios
import time
from pathlib import Path

from made import BUILD, PHOTO, PROGRAM, SAMPLE, WRONG, Skip, lapedge, noise, pnm, run_all

CLOCK = str(BUILD / "tests/step_clock.so")
PICTURES = ("filter", "transpose")


def both(*words, code=0, **more):
    """What a run prints, as lines, and its JSON."""
    out = lapedge(*words, "--json-file=o.json", code=code, **more)[0]
    return out.decode().split("\n"), json.loads(Path("o.json").read_text())


def typed(columns, *words):
    """What a run prints on a terminal that wide, as lines."""
    try:
        master, terminal = pty.openpty()
    except OSError:
        raise Skip("no pseudo-terminal can be had here") from None
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
                          env={**os.environ, "TERM": "dumb", "LC_ALL": "C"}) as process:
        os.close(terminal)
        text = b""
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError: # its end
            pass
    os.close(master)
    assert process.returncode == 0, text
    return text.decode().replace("\r\n", "\n").split("\n")


def number(value, width, digits):
    return f" {'-':>{width}}" if value is None else f" {value:{width}.{digits}f}"


def ms(value, width):
    return number(value, width, 0 if value is None else 5 if value < 0.01 else 3 if value < 10 else 2)


def called(backend, resolved):
    """A backend, and which one it stands for."""
    if resolved in (None, backend):
        return backend
    return f"{backend} ({resolved[len(backend) + 1:] if resolved.startswith(backend + '-') else resolved})"


def bench_name(row):
    name, resolved = row["backend"], row["resolved"]
    if name == "multiply-add":
        resolved = resolved.removeprefix("simd-")
    if row["op"] in ("encode", "decode"):
        return f"{row['op']} {name}"
    mark = row["form"] if row["op"] == "matvec" else row["type"] if row["op"] == "reduce" else None
    return f"{name} {mark}" if mark and resolved == name else called(name, resolved)


def bench_cells(row):
    """A row of the host's table."""
    text = f"{bench_name(row):<22} {row['threads']:7d}" + ms(row["median_ms"], 9) + ms(row["min_ms"], 9)
    if row["gflop_per_s"] is not None and row["gb_per_s"] is None:
        return text + f" {row['gflop_per_s']:9.0f} GFLOP/s"
    text += number(row["mpix_per_s"], 9, 0) + number(row["gb_per_s"], 7, 2)
    text += f" {'-':>9}" if row["roof_share"] is None else f" {100 * row['roof_share']:7.0f} %"
    speedup = row["speedup"]
    text += number(speedup, 7, 2 if speedup is None or speedup < 100 else 0)
    if row["op"] == "filter":
        text += ms(row["convert_ms"], 10)
    if row["op"] == "reduce":
        text += f" {'-':>16} {'-':>9}" if row["value"] is None else f" {row['value']:16.9g} {row['relative_error']:9.1e}"
    return text


def bench_rows():
    """bench: each row is that of the JSON, under titles that end where its cells do."""
    for op in ("filter", "transpose", "reduce", "histogram", "matvec", "codec"):
        size = ["--n=64"] if op in ("reduce", "matvec") else ["--sizes=64x48"]
        lines, said = both("bench", op, *size, "--runs=3", "--threads=2")
        assert lines[0] == op and lines[1] == f"machine   {said['machine']}, 2 threads", lines
        words = dict(re.findall(r"^(\S[^\t]*)\t+: *(.*)$", Path("/proc/cpuinfo").read_text().split("\n\n")[0], re.M))
        if "model name" in words:
            kind = f", family {words['cpu family']}, model {words['model']}" if "cpu family" in words else ""
            assert said["machine"] == words["model name"] + kind
        begin = next(i for i, line in enumerate(lines) if line.startswith("backend "))
        width, height = (64, 1) if op == "reduce" else (64, 64) if op == "matvec" else (64, 48)
        channels = 1 if op in ("reduce", "matvec") else 3
        assert lines[begin - 1] == ("64 values, host" if op == "reduce" else f"{width} x {height} x {channels}, host")
        rows = [row for row in said["rows"] if row["reason"] is None]
        for line, row in zip(lines[begin + 1:], rows):
            assert line == bench_cells(row) + (" ~" if row["noisy"] else ""), (line, bench_cells(row))
            assert row["end_to_end_ms"] is row["kernel_ms"] is row["upload_ms"] is row["download_ms"] is None, row
        assert lines[begin + 1 + len(rows)] == "" and len(rows) > 2
        last = {"filter": "convert ms", "reduce": "rel.error"}.get(op, "vs c")
        assert lines[begin].endswith(last) and len(lines[begin]) == len(bench_cells(rows[0]))
        if op == "reduce":
            assert all(row["relative_error"] is not None for row in rows if row["backend"] == "c")


def bench_cells_of_known_times():
    """bench: five decimals below a hundredth of a millisecond, three below ten, two from there on."""
    for step, cell in ((9_000, "0.00900"), (9_990, "0.00999"), (10_010, "0.010"), (9_996_000, "9.996"), (9_999_700, "10.000"),
                       (10_001_000, "10.00"), (10_500_000, "10.50"), (10_999_000, "11.00"), (123_456_000, "123.46")):
        lines, said = both("bench", "transpose", "--sizes=64x48", "--runs=2", "--backends=c", "--threads=1",
                           env={**os.environ, "LD_PRELOAD": CLOCK, "LAP_STEP_NS": str(step)})
        for name in ("memcpy", "c"):
            row = next(row for row in said["rows"] if row["backend"] == name)
            assert all(math.isclose(row[key], step / 1e6) for key in ("median_ms", "min_ms", "mean_ms")), row
            line = next(line for line in lines if line.split(" ")[0] == name)
            assert line.startswith(f"{name:<22} {1:7d} {cell:>9} {cell:>9} "), line


def bench_absent():
    """bench: what was not timed, by reason, and the day that it ran."""
    before = time.strftime("%Y-%m-%d", time.gmtime())
    lines, said = both("bench", "--sizes=64x48", "--runs=1")
    assert before <= said["date"] <= time.strftime("%Y-%m-%d", time.gmtime())
    names = {}
    for row in said["rows"]:
        if row["reason"]:
            names.setdefault(row["reason"], []).append(row["backend"])
    want = [f"not timed: {', '.join(group)}: {reason}" for reason, group in names.items()]
    assert [line for line in lines if line.startswith("not timed: ")] == want


HALF_NS = 5e-7
ROUNDINGS = [(ms, stddev) for ms in (-HALF_NS, HALF_NS, 0.0) for stddev in (-HALF_NS, HALF_NS, 0.0)]
rounding_ms, rounding_stddev = ROUNDINGS[-1]


def compare_ms(value):
    if value is None:
        return f"{'-':>10}"
    value += rounding_ms
    return f"{value:10.{4 if value < 0.1 else 3 if value < 10 else 2}f}"


def assert_table(lines, make):
    """lines are those that make() makes of the JSON. It has whole nanoseconds, and the table is printed from times that
    are finer: one that lies between two of the table's digits may be rounded to either, and so may a spread."""
    global rounding_ms, rounding_stddev
    wants = []
    for rounding_ms, rounding_stddev in ROUNDINGS:
        wants.append(make())
    odd = [(line, *would) for line, *would in zip(lines, *wants) if line not in would]
    assert not odd and len(lines) == len(wants[0]), (odd, lines, wants[-1])


def compare_line(row, width):
    line = f"{called(row['backend'], row['resolved']):<{width}}{'yes' if row['identical'] else 'NO':<4}"
    if row["op"] in PICTURES:
        line += f"{row['max_abs']:8d}"
        line += (f"{0:11}{0:11}{'-':>8}" if row["identical"] else
                 f"{row['mean_abs']:11.3g}{row['rmse']:11.3g}{row['psnr']:8.2f}")
        line += f"{row['differing_pixels']:12d}"
    else:
        line += f"{'-':>16}" if row["relative_error"] is None else f"{row['relative_error']:16.2g}"
    spread = 100 * (row["stddev_ms"] + rounding_stddev) / (row["ms"] + rounding_ms) if row["runs"] > 1 else None
    share = "-" if spread is None else f"{spread:.0f} %"
    return line + compare_ms(row["ms"]) + f"{share:>8}" + (" ~" if row["noisy"] else "")


def compare_table(rows, promise=None):
    """The tables of all ladders, as lines; places of differences left out."""
    lines = []
    for op in dict.fromkeys(row["op"] for row in rows):
        here = [row for row in rows if row["op"] == op]
        ran = [row for row in here if row["reason"] is None]
        width = max([8] + [len(called(row["backend"], row["resolved"])) for row in ran]) + 2
        title = f"{'largest':>8}{'mean':>11}{'RMSE':>11}{'PSNR':>8}{'pixels':>12}" if op in PICTURES else f"{'relative error':>16}"
        lines += [""] * bool(lines) + [f"{op:<{width}}same{title}{'ms':>10}{'spread':>8}"]
        lines += [compare_line(row, width) for row in ran]
        groups = {}
        for row in here:
            if row["reason"] is not None:
                what = "failed" if row["resolved"] else "cannot run here"
                cause = row["reason"] if row["resolved"] else row["reason"].split(": ", 1)[1]
                groups.setdefault((what, cause), []).append(row["backend"])
        lines += [f"{what}: {', '.join(names)}: {cause}" for (what, cause), names in groups.items()]
        if any(row["noisy"] for row in ran):
            lines.append("~ the machine was busy, or its clocks changed: times vary by more than 10 % of the median. "
                         "More runs (--runs) are steadier.")
        if op == "filter" and promise:
            lines.append(promise)
    return lines


def compare_rows():
    """compare: each row of each ladder is that of the JSON, columns end under their titles, ladders stand apart."""
    lines, said = both("compare", "--ops=all", "--runs=3", PHOTO)
    assert (said["width"], said["height"], said["channels"]) == (600, 400, 3)
    assert (said["border"], said["range"], said["kernel"]) == ("zero", "clamp", "laplace5") and said["decode_ms"] > 0
    assert_table(lines, lambda: ["600 x 400, 3 channels"] + compare_table(said["rows"]) + [""])
    said = both("compare", "--runs=1", "--backends=c", "--range=abs", "--border=wrap", PHOTO)[1]
    assert (said["border"], said["range"]) == ("wrap", "abs")


def compare_wrong_rows():
    """compare: rows that differ, and what failed."""
    if not WRONG.exists():
        return "the program with wrong rungs was not built"
    lines, said = both("compare", "--runs=3", PHOTO, code=2, program=WRONG)
    assert_table([line for line in lines if not line.startswith("    ")],
                 lambda: ["600 x 400, 3 channels"] + compare_table(said["rows"]) + [""])


def compare_photos():
    """compare of a folder: a line a photo, what they take together, and all of them added up."""
    Path("in/deep").mkdir(parents=True)
    Path("in/a.jpg").write_bytes(SAMPLE)
    Path("in/deep/b.jpg").write_bytes(Path(PHOTO).read_bytes())
    lines, said = both("compare", "--backends=c,simd", "--runs=2", "in")

    def table():
        want = [f"{'photo':<40}{'size':>12}{'same':>5}{'largest':>8}{'c ms':>10}{'fastest':>10}  backend"]
        for photo in said["photos"]:
            size = f"{photo['width']}x{photo['height']}"
            want.append(f"{photo['input'].removeprefix('in/'):<40}{size:>12}{'yes':>5}{photo['max_abs']:8d}" +
                        compare_ms(photo["c_ms"]) + compare_ms(photo["fastest_ms"]) + f"  {photo['fastest']}")
        return want + ["", "2 files together"] + compare_table(said["rows"]) + [""]

    assert_table(lines, table)
    decoded = sum(photo["decode_ms"] for photo in said["photos"])
    assert decoded > 0 and abs(said["decode_ms"] - decoded) < 1e-9 * decoded
    assert "1 file together" in lapedge("compare", "--backends=c", "--runs=1", "in/deep")[0].decode().split("\n")
    assert lapedge("compare", "-q", "--backends=c", "--runs=1", "in")[0] == b""
    Path("in/cut.jpg").write_bytes(SAMPLE[:9000])
    lines = both("compare", "--backends=c", "--runs=1", "in", code=2)[0]
    assert f"{'cut.jpg':<40}{'failed':>12}" in lines, lines


def stats_lines(said, narrow):
    lines = []
    for name in ("input", "edges"):
        above = said["threshold"] is not None
        lines.append(f"{name:<8}     min  max      mean{'' if narrow else '    stddev   entropy'}    p1   p50   p99" +
                     ("   above" if above else ""))
        for c in said[name]["channels"]:
            line = f"  {c['name']:<8} {c['min']:4d} {c['max']:4d} {c['mean']:9.3f}"
            line += "" if narrow else f" {c['stddev']:9.3f} {c['entropy']:9.4f}"
            line += f" {c['p1']:5d} {c['p50']:5d} {c['p99']:5d}" + (f" {100 * c['above']:6.2f}%" if above else "")
            lines.append(line)
    return lines


def plot(counts, columns):
    """Three lines of bars, each the mean of its counts, as high as its square root."""
    ends = [len(counts) * x // columns for x in range(columns + 1)]
    heights = [math.sqrt(sum(counts[a:b]) / (b - a)) for a, b in zip(ends, ends[1:])]
    eighths = [math.ceil(height / max(heights) * 24) for height in heights]
    return ["  " + "".join(" ..::||##"[min(max(bar - 8 * line, 0), 8)] for bar in eighths) for line in (2, 1, 0)]


def stats_rows():
    """stats: each line is that of the JSON, with and without a threshold, and of a folder's sums."""
    for words in ([], ["--threshold=0"], ["--threshold=77"]):
        lines, said = both("stats", *words, PHOTO)
        assert lines[0].startswith(f"{PHOTO}: 600 x 400, 3 channels, edges by ")
        assert lines[1:] == stats_lines(said, False) + [""], lines
    Path("in").mkdir()
    Path("in/a.jpg").write_bytes(SAMPLE)
    Path("in/b.jpg").write_bytes(Path(PHOTO).read_bytes())
    for threshold in (0, 100):
        out = lapedge("stats", f"--threshold={threshold}", "--json-file=o.jsonl", "in")[0].decode().split("\n")
        photos = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
        total = photos.pop()
        assert total["threshold"] == threshold and total["gray"] is None
        for part in ("input", "edges"):
            for i, channel in enumerate(total["color"][part]["channels"]):
                counts = [sum(n) for n in zip(*(p[part]["channels"][i]["histogram"] for p in photos))]
                assert channel["histogram"] == counts and sum(counts) == total["pixels"]
        at = out.index("2 photos in colour together")
        assert out[at + 1:] == stats_lines({**total["color"], "threshold": threshold}, False) + [""]


def stats_on_terminals():
    """stats: the columns that a terminal has room for, and plots with the ends of their axes."""
    pnm("in.ppm", 300, 40, 3, bytes(value * value // 255 | 1 for value in noise(36000)))
    for words, full in (([], 69), (["--threshold=9"], 77)):
        said = both("stats", *words, "in.ppm")[1]
        for columns in (full, full - 1):
            lines = [line for line in typed(columns, "stats", *words, "in.ppm") if line[:7] in ("input  ", "edges  ") or
                     line[:8].strip() in ("red", "green", "blue")]
            want = stats_lines(said, columns < full)
            assert lines == want and max(map(len, lines)) <= columns, (columns, lines, want)
            assert columns < full or max(map(len, lines)) == full
    for columns in (60, 200):
        bars = min(columns - 4, 64)
        lines = typed(columns, "stats", "--profiles", "in.ppm")
        counts = both("stats", "in.ppm")[1]
        at = next(i for i, line in enumerate(lines) if line.startswith("  red"))
        for channel in counts["input"]["channels"]:
            assert lines[at].startswith("  " + channel["name"])
            assert lines[at + 1:at + 4] == plot(channel["histogram"], bars), (lines[at:at + 4], plot(channel["histogram"], bars))
            at += 4
        axes = [line[:bars + 2] for line in lines if re.match(r"  0 +\d+", line)]
        assert axes == [f"  0{last:>{bars - 1}}" for last in (255, 255, 39, 299)], axes


def backends_rows():
    """backends: each row is that of the JSON; each reason has one number, and its text below."""
    lines, said = lapedge("backends")[0].decode().split("\n"), json.loads(lapedge("backends", "--json")[0])
    reasons = list(dict.fromkeys(row["reason"] for row in said["rows"] if row["reason"]))
    assert len(reasons) > 0
    rows = [line for line in lines if re.match(r"  [a-z]", line) and not line.startswith("  none: ")]
    for line, row in zip(rows, said["rows"]):
        state = f"no [{reasons.index(row['reason']) + 1}]" if row["reason"] else "yes" if row["resolved"] == row["name"] else row["resolved"]
        assert line.startswith(f"  {row['name']:<23}{state} "), (line, row)
    assert len(rows) == len(said["rows"])
    at = next(i for i, line in enumerate(lines) if line.startswith("[1] "))
    assert lines[at:at + len(reasons) + 1] == [f"[{i}] {reason}" for i, reason in enumerate(reasons, 1)] + [""]
    facts = subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, check=False).stdout
    assert lines[lines.index("CUDA devices") + 1:] == [f"  none: {json.loads(facts)['no_device']}", ""]


def doctor_lines():
    """doctor: a line for each fact of the JSON."""
    done = subprocess.run([PROGRAM, "doctor", "--json-file=o.json"], capture_output=True, text=True, check=False)
    lines, said = done.stdout.split("\n"), json.loads(Path("o.json").read_text())
    assert done.returncode == (0 if said["healthy"] else 3), done
    build = ", ".join([f"lapedge {said['version']}"] + said["build"].split("\n"))
    many = "" if said["threads"] == 1 else "s"
    want = [f"build     {build}", f"machine   {said['cpu']}, {said['threads']} thread{many}",
            f"memory    {said['memory_bytes'] / 1e9:.1f} GB for this process", f"limits    {said['open_files']} open files"]
    assert lines[0] == want[0] and lines[1] == want[1] and lines[3] == want[3], (lines, want)
    starts = [[f"{said[key] + part:.1f}" for part in (-HALF_NS, HALF_NS)] for key in ("threads_start_ms", "device_start_ms")]
    shown = re.fullmatch(r"start     threads (.*) ms, CUDA (.*) ms", lines[4])
    assert shown and all(one in either for one, either in zip(shown.groups(), starts)), (lines, starts)
    assert re.fullmatch(r"memory    \d+\.\d GB for this process", lines[2])
    chosen = {row["name"]: row["resolved"] for row in json.loads(lapedge("backends", "--json")[0])["rows"]
              if row["op"] == "filter" and row["name"] in ("simd", "auto")}
    assert lines[5:7] == [f"backend   {name} -> {resolved}" for name, resolved in chosen.items()], lines
    verdict = "everything that was built can run" if said["healthy"] else "not everything that was built can run"
    assert lines[7:9] == [f"device    none: {said['no_device']}", f"verdict   {verdict}"], lines


def heads_of_many_benches():
    """bench: the machine is named above each table, however few files may be open."""
    ops = ("filter", "transpose", "reduce", "histogram", "matvec")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7))
    lines = lapedge("bench", *ops, "--sizes=16x16", "--n=16", "--runs=1", "--backends=c", preexec_fn=few)[0].decode().split("\n")
    machines = [line for line in lines if line.startswith("machine ")]
    assert len(machines) == 5 and machines == machines[:1] * 5, machines
    # Its exit code is 3 where something that was built cannot run.
    said = json.loads(subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, check=False).stdout)
    assert machines[0].startswith(f"machine   {said['cpu']}, ")


def data_of(page):
    text = re.search('<script type="application/json" id="data">(.*?)</script>', Path(page).read_text(), re.S).group(1)
    return json.loads(text)


def settings_of_a_report():
    """--report: all settings in words, once each."""
    for words, more in (([], []), (["--invert"], [["Inverted", "yes"]]), (["--threshold=7"], [["Threshold", 7]]),
                        (["--kernel=log5", "--range=abs", "--border=wrap", "--scale=2", "--offset=3"], [])):
        lapedge("compare", "-q", "--runs=1", "--backends=c", *words, "--report=r.html", PHOTO)
        got = data_of("r.html")["settings"]
        given = dict(word[2:].split("=") for word in words if "=" in word)
        kernel = dict(got)["Coefficients"]
        assert len(kernel) == 25 and kernel[12] == (24 if "kernel" not in given else max(kernel, key=abs))
        want = [["Command", " ".join(["lapedge compare -q --runs=1 --backends=c", *words, f"--report=r.html {PHOTO}"])],
                ["Kernel", given.get("kernel", "laplace5")], ["Coefficients", kernel], ["Border", given.get("border", "zero")],
                ["Range", "abs: the absolute value of the result" if "range" in given else "clamp: negative results become 0"],
                ["Scale, offset", f"{given.get('scale', 1)}, {given.get('offset', 0)}"], *more,
                ["Promise", "all backends give the same bytes"]]
        assert got == want, (got, want)


def statistics_of_a_report():
    """--report: statistics and pictures are those of the photo that is shown, whatever the command."""
    def alone(photo):
        said = json.loads(lapedge("stats", "--json", photo)[0])
        return said["input"]["channels"], said["edges"]["channels"]
    def shown(page):
        data = data_of(page)
        assert data["pictures"]["photo"].startswith("data:image/") and data["pictures"]["edges"].startswith("data:image/")
        return data["statistics"]["input"]["channels"], data["statistics"]["edges"]["channels"]
    lapedge("bench", "-q", f"--image={PHOTO}", "--sizes=16x16", "--runs=1", "--backends=c", "--report=bench.html")
    lapedge("compare", "-q", "--runs=1", "--backends=c", "--report=compare.html", PHOTO)
    assert shown("bench.html") == shown("compare.html") == alone(PHOTO)
    if not WRONG.exists():
        return None
    Path("in").mkdir() # only the second differs from c: its pixel has a place
    pnm("small.pgm", 40, 30, 1, noise(1200))
    lapedge("--kernel=identity", "--no-sync", "small.pgm", "in/a.jpg")
    Path("in/b.jpg").write_bytes(SAMPLE)
    lapedge("compare", "-q", "--runs=1", "--backends=c,off-by-one", "--report=album.html", "in", code=1, program=WRONG)
    data = data_of("album.html")
    assert shown("album.html") == alone("in/b.jpg") and data["pictures"]["input"] == "in/b.jpg"
    assert [entry["differing_pixels"] for entry in data["pictures"]["differences"]] == [0, 1], data["pictures"]["differences"]
    return None


def times_of_stages():
    """Each stage of a run takes its time, more of a larger photo, and all together not more than the run"""
    if os.environ.get("SANITIZED") or not Path(CLOCK).exists():
        return "a sanitizer is loaded first"
    environment = {**os.environ, "LD_PRELOAD": CLOCK, "LAP_STEP_NS": "1000000"}
    for name, height in (("small", 100), ("large", 900)): # one band, and several
        pnm(f"{name}.pgm", 60, height, 1, noise(60 * height))
        lapedge("--no-sync", "--kernel=identity", f"{name}.pgm", f"{name}.jpg")

    def spent(words):
        times = json.loads(lapedge(*words, "-f", "--no-sync", "--json", "--threads=1", env=environment)[0])["ms"]
        stages = ["read", "decode", "filter", "encode", "write"] # a turn counts as a filter
        assert all(times[stage] > 0 for stage in stages), (words, times)
        assert sum(times[stage] for stage in stages) <= times["total"], (words, times)
        assert times["upload"] is None and times["download"] is None
        return times

    for words in (["pgm", "o.jpg"], ["jpg", "o.jpg"], ["jpg", "o.ppm"], ["jpg", "o.jpg", "--decode=parallel"],
                  ["jpg", "o.jpg", "--border=wrap"], ["jpg", "o.jpg", "--progressive"]):
        small, large = (spent([f"{name}.{words[0]}", *words[1:]]) for name in ("small", "large"))
        for stage in ("decode", "filter", "encode"):
            alike = "--border=wrap" in words and stage != "encode" # the whole picture at once
            assert large[stage] > small[stage] or alike, (words, small, large)
    spent(["transform", "--rotate=90", "small.pgm", "o.jpg"])
    return None


if __name__ == "__main__":
    os.environ["CUDA_VISIBLE_DEVICES"] = "" # times of a device have tables of their own
    run_all([bench_rows, bench_cells_of_known_times, bench_absent, compare_rows, compare_wrong_rows, compare_photos, stats_rows, stats_on_terminals,
             backends_rows, doctor_lines, heads_of_many_benches, settings_of_a_report, statistics_of_a_report, times_of_stages])
