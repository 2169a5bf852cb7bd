"""The kept measurements as functions, for tools/figures/fill. A value that is not in its file raises Missing.

Run as a program: prints values of the same measurements for other tools."""
import csv
import functools
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/figures"))
import figures_steps  # noqa: E402

PROFILE, BENCH = ROOT / "docs" / "profile", ROOT / "docs" / "bench"


class Missing(Exception):
    """Not measured yet."""


@functools.lru_cache(maxsize=None)
def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Missing(path.name) from None


def gpu_bench(run):
    """The bench of that name of tools/measure/gpu, or, as "reduce-f64", the rows of one type of the bench before the
    hyphen; of the filter, times.json has one before that tool."""
    name, _, kind = run.rpartition("-")
    try:
        kept = read(PROFILE / "gpu-bench.json")
        if run in kept:
            return kept[run]
        return {**kept[name], "rows": [row for row in kept[name]["rows"] if row["type"] == kind]}
    except (Missing, KeyError):
        if run == "filter":
            return read(PROFILE / "times.json")
        raise Missing(run) from None


def row_of(bench, backend, **wanted):
    for row in bench["rows"]:
        fits = all(row.get(key) == value for key, value in wanted.items())
        if row["backend"] == backend and row["median_ms"] is not None and fits:
            return row
    raise Missing(backend)


def us(run, backend, form=None, key="median_ms"):
    """Median microseconds of a backend on the GPU; form: "unchecked", or None."""
    return 1e3 * row_of(gpu_bench(run), backend, form=form)[key]


def gbs(run, backend, form=None):
    return row_of(gpu_bench(run), backend, form=form)["gb_per_s"]


def field(run, backend, key):
    value = row_of(gpu_bench(run), backend)[key]
    if value is None:
        raise Missing(key)
    return value


def fast_abs_registers():
    found = counters("filter")
    return (found.get("cuda-fast abs") or found["cuda-fast, laplace5 abs" if "cuda-fast, laplace5 abs" in found
            else "cuda-fast laplace5 abs"])["registers"]


def lines(width, channels=3):
    """Lines of 128 bytes that a warp touches per load of one sample, with blocks of that width: the average over the 25
    places of the window and all places of a block in a row of lines."""
    rows, touched, cases = 32 // width, 0, 0
    for block in range(128 // width * width):
        for fx in range(-2, 3):
            first = (block * width + fx) * channels
            for channel in range(channels):
                bytes_read = {(first + lane * channels + channel) // 128 for lane in range(width)}
                touched, cases = touched + rows * len(bytes_read), cases + 1
    return touched / cases


def device(run="filter"):
    return gpu_bench(run)["device"]


COUNTERS = {"filter": "filter 4992 3744 3", "transpose": "transpose 4992 3744 4", "reduce": "reduce 100000000 4",
            "matvec": "matvec 16000", "histogram": "histogram 4992 3744 3", "filter4": "filter 4992 3744 4",
            "transpose3": "transpose 4992 3744 3", "transpose8": "transpose 4992 3744 8",
            "reduce8": "reduce 100000000 8"}
OLD_COUNTERS = {"filter": "counters.json", "filter4": "counters-4-channels.json"}


def counters(ladder):
    try:
        return read(PROFILE / "gpu-counters.json")[COUNTERS[ladder]]
    except (Missing, KeyError):
        if ladder in OLD_COUNTERS:
            return read(PROFILE / OLD_COUNTERS[ladder])
        raise Missing(ladder) from None


def counter(ladder, backend, key, per=None):
    """A counter of the profiler, or its ratio to another."""
    try:
        found = counters(ladder)[backend]
        value = found[key] / (found[per] if isinstance(per, str) else per or 1)
    except (KeyError, TypeError, ZeroDivisionError):
        raise Missing(key) from None
    return value


@functools.lru_cache(maxsize=None)
def program(name):
    """A program of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(re.sub(r"\W", "_", name), str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


MULTIPROCESSORS = 132  # of the H200; of each, a wavefront a cycle passes through L1


def wavefronts(ladder, backend):
    """Of L1 and shared memory: cycles in which its data path was used, of all multiprocessors."""
    return counter(ladder, backend, "waves_used") / 100 * counter(ladder, backend, "cycles") * MULTIPROCESSORS


def idle(ladder, backend):
    """Percent of a multiprocessor's time, on the average, in which it has no warp: before the first, after the last."""
    return 100 * (1 - counter(ladder, backend, "active_cycles", "cycles"))


def blocks_at_once(ladder, backend):
    """How many blocks the registers of the device have room for."""
    return 65536 // (counter(ladder, backend, "threads") * counter(ladder, backend, "registers")) * MULTIPROCESSORS


def tile_passes(width, pitch, size):
    """Passes of a warp's load down a column of a tile in shared memory: blocks of width x 32 / width threads, rows of
    pitch elements; elements of three bytes are read byte by byte. Computed from the addresses alone."""
    parts = 3 if size == 3 else 1
    passes = 0
    for part in range(parts):
        banks = {}
        for lane in range(32):
            at = (lane % width * pitch + lane // width) * size + part * (size // parts)
            banks.setdefault(at // 4 % 32, set()).add(at // 4)
        passes = max(passes, max(map(len, banks.values())))
    return passes


def megahertz(ladder, backend):
    return counter(ladder, backend, "cycles", "us")


def lines_most(width, channels=3):
    """lines() at its worst: a window that begins where each row of it reaches into another line."""
    return 32 // width * (1 + ((width - 1) * channels + 127) // 128)


def control(group, name, key="median_us"):
    """From tools/measure/controls: microseconds of a kernel that differs from its neighbours in one thing."""
    for row in read(PROFILE / "gpu-controls.json")["rows"]:
        if (row["group"], row["name"]) == (group, name):
            return row[key]
    raise Missing(name)


def control_counter(group, name, key, per=None):
    try:
        found = read(PROFILE / "controls-counters.json")["controls 4992 3744"][f"{group}: {name}"]
        return found[key] / (found[per] if per else 1)
    except (KeyError, TypeError, ZeroDivisionError):
        raise Missing(key) from None


def codec_lanes(kind, kernel):
    """Average number of lanes of a warp that executed an instruction, for a kernel of the codec."""
    return read(PROFILE / "codec" / "lanes.json")[kind][kernel]["lanes"]


def part(name, key="min_ms"):
    """From tools/measure/parts: least milliseconds of processor time, instructions or mispredicted (per pixel)."""
    value = read(BENCH / "parts.json")["rows"][name][key]
    if value is None:
        raise Missing(key)
    return value


def op_ms(op, backend):
    """Least milliseconds of processor time of an operation's backend, from tools/measure/parts."""
    try:
        return read(BENCH / "parts.json")["ops"][op][backend]
    except KeyError:
        raise Missing(op) from None


def port(backend, key):
    """From tools/measure/ports: cycles, ports_alone, uops, instructions, measured; or a port's busy cycles, per
    pass."""
    kept = read(BENCH / "ports.json")
    row = kept["rows"][backend]
    value = kept.get(key, row.get(key, row["ports"].get(key)))
    if value is None:
        raise Missing(key)
    return value


def sass(backend, key):
    """For a kernel's main loop as compiled (tools/measure/sass): the number of instructions, of moves, or of a kind."""
    try:
        kept = read(PROFILE / "sass.json")["kernels"][backend]
        return kept[key] if key in kept else kept["kinds"][key]
    except KeyError:
        raise Missing(backend) from None


def shifts():
    """What tools/measure/sass found about a division by two and a shift."""
    same, count = (read(PROFILE / "sass.json")["shift"][key] for key in ("same", "instructions"))
    return f"the same {count} instructions" if same else "other instructions"


def cycles(ladder, backend):
    """Average cycles between two instructions of a scheduler."""
    return 100 / counter(ladder, backend, "issue")


def busy(ladder, backend, unit="l1"):
    """Microseconds that a unit worked: its share of the time."""
    return counter(ladder, backend, unit) / 100 * counter(ladder, backend, "us")


def ms(run, backend, threads=1, key="median_ms"):
    """Median milliseconds of a backend on the CPU, from tools/measure/cpu."""
    bench = read(BENCH / "cpu.json")["benches"].get(run)
    if not bench:
        raise Missing(run)
    value = row_of(bench, backend, threads=threads)[key]
    if value is None:
        raise Missing(key)
    return value


def inner_loop(backend):
    """Instructions per sample of the loop that filters, from the disassembly (tools/measure/inner-loop)."""
    return read(BENCH / "inner-loop.json")[backend]


def loop_kind(backend, kind):
    """For the loop of sse-box or sse-slide and 16 samples of a row: instructions, or those of one kind (inner-loop)."""
    return read(BENCH / "loop-kinds.json")[backend].get(kind, 0)


def gbs_cpu(run, backend, threads=1):
    return ms(run, backend, threads, "gb_per_s")


def instructions(backend):
    """Per pixel of three channels."""
    value = read(BENCH / "cpu.json")["instructions"][backend]
    if value is None:
        raise Missing(backend)
    return value


def mispredicted(backend):
    """Branches per pixel that valgrind's predictor gets wrong."""
    value = read(BENCH / "cpu.json").get("mispredicted", {}).get(backend)
    if value is None:
        raise Missing(backend)
    return value


def deviation(run, backend, threads=1):
    """Standard deviation of a backend's times on the CPU, in percent of their median."""
    return 100 * ms(run, backend, threads, "stddev_ms") / ms(run, backend, threads)


QUIET = 0.05  # of the cores' time


def quiet():
    """How reliable the times of tools/measure/cpu are: how much of the machine's time went to others during the run."""
    kept = read(BENCH / "cpu.json")
    others = kept.get("others")
    if others is not None and others <= QUIET:
        return (f"Other programs took {100 * others:.1f} % of the cores' time during the run; {kept['noisy']} of "
                f"{kept['rows']} rows of this bench vary by more than a tenth.")
    how = (f"{100 * others:.0f} % of its cores' time" if others is not None
           else f"a load of {kept['load_before']:.1f} before and {kept['load_after']:.1f} after")
    return (f"The machine was busy with other work ({how}): steps of a few percent, two threads that are more than "
            "twice as fast as one, and what one thread and two disagree about are noise.")


def cpu(key):
    """About the machine of tools/measure/cpu: machine, date, build, or load_before and load_after."""
    kept = read(BENCH / "cpu.json")
    return kept[key] if key in kept else kept["benches"]["filter"][key].split("\n")[0]


def image(gpu, backend, size, key="median_us"):
    """From docs/profile/images.json: sizes and devices other than the first; medians over its runs."""
    found = sorted(row[key] for row in read(PROFILE / "images.json")
                   if row["device"] == gpu and row["backend"] == backend and row["size"] == size)
    if not found:
        raise Missing(size)
    return found[len(found) // 2]


def sheet(key):
    """From the maker's data sheet, not measured."""
    return read(PROFILE / "data-sheet.json")[key]


def peer(text, file="peers-h200.txt"):
    """Median microseconds of a line of what tools/measure/gpu-peers printed."""
    for line in (PROFILE / file).read_text(encoding="utf-8").splitlines():
        if line.startswith(text):
            return float(line[len(text):].split()[0])
    raise Missing(text)


def library(op, name, case):
    """Median microseconds of a library, from tools/measure/gpu_peers_ops.cu as tools/measure/gpu runs it."""
    try:
        lines = (PROFILE / "gpu-peers-ops.txt").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise Missing(name) from None
    for line in lines:
        cells = line.split("\t")
        if cells[:3] == [op, name, case]:
            return float(cells[3])
    raise Missing(name)


def decode16(words):
    """From the output of tools/measure/decode on 16 cores: the number in a line of text, or the median of a row."""
    for line in (BENCH / "decode-16-cores.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(words):
            parts = line[len(words):].replace(":", " ").split()
            return float(parts[0] if "," in words else parts[1])
    raise Missing(words)


def limit16(words, key):
    """From the controls of 16 cores: the number after the key, in the line that begins with these words."""
    for line in (BENCH / "decode-limit-16-cores.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(words):
            parts = line[len(words):].replace(",", " ").split()
            return float(parts[parts.index(key) + 1])
    raise Missing(words)


def tool(group, program, key):
    """From docs/benchmarks.json: group photo or folder; for a program median_s, min_s; for "floor" floor, floor_min."""
    part = read(ROOT / "docs" / "benchmarks.json")[group]
    return part["floor"][key] if program == "floor" else part["rows"][program][key]


def folder(step, key, kept="folders.json"):
    """For a step of tools/measure/folders: a figure, or a stage's busy ms per photo."""
    for row in read(PROFILE / kept)["steps"]:
        if row["step"] == step:
            value = row.get(key, row.get("busy_ms", {}).get(key))
            if value is None:
                raise Missing(key)
            return value
    raise Missing(step)


def two_devices(step, key):
    """The same on a machine with two devices."""
    return folder(step, key, "folders-2.json")


def small_photos(step, key):
    """The same of the steps "small" and "small stats"."""
    return folder(step, key, "folders-small.json")


def small_rates(command):
    """Small photos per second in whole processes: with batches, on the CPU, and on a device that takes one photo after
    the other."""
    lines = []
    ways = ("cuda-fast", "simd", "auto", "before")
    for name, step in (("20,000 of 500x375", "small, 20000 photos"), ("100,000 of 500x375", "small, 100000 photos"),
                       ("100,000 of 162x121", "thumb, 100000 photos"),
                       ("100,000 of 500x375, `stats`", "stats of small photos, 100000")):
        step += ": medians of photos per second"
        lines.append([name, *(count(small_photos(step, way)) for way in ways)])
    step = "stats of small photos, 100000: medians of photos per second"
    lines.append(["20,000 of 500x375, `stats --json`", *(count(small_photos(step, way + " --json")) for way in ways)])
    head = ["photos", "`cuda-fast`", "`simd`", "`auto`", "`cuda-fast` before batches"]
    return table(head, lines) + f"\n`{command}`\n"


def chains():
    """{(streams, photos a chain): {work: photos a second}} of tests/kernels/jpegcuda/chain_bench.c"""
    text = (PROFILE / "codec" / "chains.txt").read_text(encoding="utf-8")
    rows = re.findall(r"# +(\d+) streams, chains of +(\d+): (decode(?:, filter, encode)?) +(\d+)", text)
    if not rows:
        raise Missing("chains.txt")
    found = {}
    for streams, together, work, rate in rows:
        found.setdefault((int(streams), int(together)), {})[work] = float(rate)
    return found


def chain_rates():
    return table(["streams", "photos a batch", "decode", "decode, filter, encode"],
                 [[str(streams), str(together), count(one["decode"]), count(one["decode, filter, encode"])]
                  for (streams, together), one in chains().items()])


def one_of_two(step, key):
    """The same on that machine when CUDA sees only one of its two devices."""
    return folder(step, key, "folders-1-of-2.json")


def codec(backend, threads, key="median_ms"):
    """From `bench codec` on the machine with the GPU; threads: for a device, the number of photos at once."""
    return row_of(read(PROFILE / "codec" / "bench.json"), backend, threads=threads)[key]


def codec_table():
    """tools/figures/codec-table: it reads what the profiler and the benches of the codec printed."""
    return program("figures/codec-table")


def codec_file(kind, step, end):
    path = PROFILE / "codec" / f"{kind}-{step}.{end}"
    if not path.exists():
        raise Missing(path.name)
    return path


def codec_step(kind, step):
    """From decode-STEP.txt or encode-STEP.txt: microseconds by stage, photos per second by number of streams."""
    text = codec_file(kind, step, "txt").read_text(encoding="utf-8")
    return (codec_table().decode_step if kind == "decode" else codec_table().encode_step)(text)


def codec_us(kind, step, stage):
    found = codec_step(kind, step)[0]
    if stage not in found:
        raise Missing(stage)
    return found[stage]


def codec_rate(kind, step, streams):
    found = codec_step(kind, step)[1]
    if streams not in found:
        raise Missing(str(streams))
    return found[streams]


def codec_counter(kind, step, kernel, column):
    """A column of codec-table's counters, for the longest launch of a kernel (named without template arguments)."""
    found = [columns for name, columns, _ in codec_table().kernels_of(codec_file(kind, step, "csv"))
             if name.split("<")[0] == kernel and columns["us"] is not None]
    value = max(found, key=lambda columns: columns["us"], default={}).get(column)
    if value is None:
        raise Missing(kernel)
    return value


def codec_stall(kind, step, kernel, stall):
    """Percent of a warp's time that a kernel's first launch waits for something, named as the profiler does."""
    text = codec_file(kind, step, "csv").read_text(encoding="utf-8")
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        if row["Kernel Name"].startswith(kernel) and f"stalled_{stall}_per" in row["Metric Name"]:
            return float(row["Metric Value"])
    raise Missing(stall)


def bank_ways(pitch):
    """The most lanes of a warp on one bank if neighbours read words that far apart."""
    banks = [lane * pitch % 32 for lane in range(32)]
    return max(banks.count(bank) for bank in banks)


def codec_bytes(kind, step):
    """Bytes of the photo's file that was decoded, or of the scan that was encoded."""
    text = codec_file(kind, step, "txt").read_text(encoding="utf-8")
    return int(re.search(r", (\d+) bytes$" if kind == "decode" else r'"scan_bytes":(\d+)', text, re.M).group(1))


def says(condition, yes, no):
    return yes if condition else no


def row_value(run, backend, key="value"):
    """A field of a row of tools/measure/cpu."""
    return row_of(read(BENCH / "cpu.json")["benches"][run], backend)[key]


# ---- tables ------------------------------------------------------------------------------------------------


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def coders(file):
    """Milliseconds of each coder for each photo, and how many times libjpeg-turbo's speed the last one has; empty for
    coders that leave a photo to libjpeg-turbo."""
    photos = [(photo, {row["backend"]: row for row in photo["rows"] if row["median_ms"] is not None})
              for photo in read(BENCH / file)["photos"]]
    names = list(max((rows for _, rows in photos), key=len))
    lines = []
    for photo, rows in photos:
        turbo, fastest = rows["turbo"], rows.get(names[-1])
        size = f"{turbo['width']} x {turbo['height']}"
        lines.append([f"{photo['name']}, {photo['what']}", size] +
                     [f"{rows[name]['min_ms']:.2f}" if name in rows else "" for name in names] +
                     [f"{turbo['min_ms'] / fastest['min_ms']:.2f}" if fastest else ""])
    heads = ["photo", "pixels"] + [f"`{name}` ms" for name in names] + [f"`turbo` / `{names[-1]}`"]
    return table(heads, lines) + "\n"


def coder_ms(file, coder):
    """Least milliseconds of a coder for the first row of the bench photo in docs/bench/FILE.json."""
    photo = next(photo for photo in read(BENCH / f"{file}.json")["photos"] if photo["name"] == "bench")
    return row_of({"rows": photo["rows"]}, coder)["min_ms"]


def decode_share(coder, stage):
    """Percent of a decoder's time, from tools/measure/decode-shares."""
    return 100 * read(BENCH / "decode-shares.json")["coders"][coder][stage]


def encoders():
    return coders("encoder.json")


def encoders_c():
    """The encoder `c` beside libjpeg-turbo without its vectors."""
    lines = []
    for photo in read(BENCH / "encoder.json")["without_vectors"]:
        ms = {row["backend"]: row["min_ms"] for row in photo["rows"]}
        lines.append([f"{photo['name']}, edges"] +
                     [f"{value:.2f}" for value in (ms["turbo"], ms["c"], ms["turbo"] / ms["c"])])
    return table(["photo", "`turbo` without vectors ms", "`c` ms", "`turbo` / `c`"], lines) + "\n"


def encoder_steps():
    """Each rung: what was expected of it before it was built, and what was measured. neon: all instructions."""
    kept = read(BENCH / "encoder.json")
    edges = {row["backend"]: row["min_ms"] for row in kept["photos"][0]["rows"] if row["median_ms"] is not None}
    plain = {row["backend"]: row["min_ms"] for row in kept["without_vectors"][0]["rows"]}
    counted = read(BENCH / "neon.json")["coders"]
    lines = [["`c`", "1.0, relative to libjpeg-turbo without vectors", f"{plain['turbo'] / plain['c']:.2f}",
              f"{kept['instructions']['c']:.1f}", f"{edges['c']:.1f}"]]
    for name, expected in (("avx2", "2.1"), ("avx512", "4.4, from a trial of the method")):
        lines.append([f"`{name}`", expected, f"{edges['turbo'] / edges[name]:.2f}",
                      f"{kept['instructions'][name]:.1f}", f"{edges[name]:.1f}"])
    lines.append(["`neon`", "1.6, in instructions", f"{counted['turbo'] / counted['neon']:.2f}",
                  f"{counted['neon'] / 512 ** 2:.1f}", ""])
    return table(["rung", "expected", "measured", "instructions per pixel", "ms"], lines) + "\n"


def on_xeon():
    return read(BENCH / "encoder-xeon.json")


def encoder_forms():
    """libjpeg-turbo and both forms of `avx512` on an Intel processor."""
    lines = []
    for photo in on_xeon()["forms"]:
        ms = {name: row["min_ms"] for name, row in photo.items() if isinstance(row, dict)}
        lines.append([f"{photo['photo']}, {photo['what']}"] +
                     [f"{value:.2f}" for value in (ms["turbo"], ms["avx2"], ms["stores"], ms["scatter"],
                                                   ms["turbo"] / ms["scatter"])])
    return table(["photo", "`turbo` ms", "`avx2` ms", "by stores ms", "by scatter ms", "`turbo` / by scatter"],
                 lines) + "\n"


def encoder_speed(rows, name, key="min_ms"):
    """How many times libjpeg-turbo's speed an encoder has, in the same run."""
    return row_of({"rows": rows}, "turbo")[key] / row_of({"rows": rows}, name)[key]


def encoder_speeds(name, what, file="encoder.json"):
    """The same for each photo of a kept file, the bench photo first."""
    return [encoder_speed(photo["rows"], name) for photo in read(BENCH / file)["photos"] if photo["what"] == what]


def encoder_speeds_xeon(name, what):
    return encoder_speeds(name, what, "encoder-xeon.json")


def at_once(name):
    """The same when one process runs on each of 16 cores: the median."""
    return statistics.median(encoder_speed(rows, name, "median_ms") for rows in on_xeon()["at_once"])


def form_at_once(form):
    """The same of a form in a trial version."""
    return statistics.median(p["turbo"]["median_ms"] / p[form]["median_ms"] for p in on_xeon()["forms_at_once"])


def goal_row(work, machine, goal, aim, values, *, less=False):
    """values: the first decides; the others, of more photos, are shown as a range."""
    first, others = values[0], sorted(values[1:])
    reached = ["missed", "goal", "aim"][(first <= goal) + (first <= aim) if less else (first >= goal) + (first >= aim)]
    more = f" ({others[0]:.2f} to {others[-1]:.2f})" if others else ""
    return [work, machine, f"{goal}", f"{aim}", f"{first:.2f}{more}", reached]


def encoder_goals():
    """The encoders' targets, what was hoped for, and what they reach."""
    zen, xeon = "Zen 5", "Xeon"
    here, there = read(BENCH / "encoder.json"), on_xeon()
    lines = []
    for name, goal, aim in (("avx512", 4.2, 6), ("avx2", 2.1, 2.6)):
        work = f"`{name}`, edges"
        lines += [goal_row(work, zen, goal, aim, encoder_speeds(name, "edges")),
                  goal_row(f"{work}, two processes at once", zen, goal, aim,
                           [min(encoder_speed(rows, name) for rows in here["at_once"])]),
                  goal_row(work, xeon, goal, aim, encoder_speeds_xeon(name, "edges")),
                  goal_row(f"{work}, two processes at once", xeon, goal, aim,
                           [min(encoder_speed(rows, name) for rows in there["two_at_once"])]),
                  goal_row(f"{work}, 16 processes at once", xeon, goal, aim, [at_once(name)])]
    lines += [goal_row("`avx512`, own pixels", zen, 3.5, 4.5, encoder_speeds("avx512", "own pixels")),
              goal_row("`avx512`, own pixels", xeon, 3.5, 4.5, encoder_speeds_xeon("avx512", "own pixels"))]
    lines.append(goal_row("`neon`, instructions of a tile", "qemu-user", 1.6, 2, [neon("neon")]))
    lines.append(goal_row("`c`, compared with libjpeg-turbo without vectors", zen, 1.0, 1.3,
                          [encoder_speed(photo["rows"], "c") for photo in here["without_vectors"]]))
    whole = there["whole_ms"]["2"]
    lines.append(goal_row("whole process on 2 cores, time relative to the older version", xeon, 0.78, 0.70,
                          [whole["new"] / whole["old"]], less=True))
    folder_row = there["photos_a_second"]["18.7 Mpixel"]
    lines.append(goal_row("folder of 18.7 Mpixel on 16 cores, rate relative to the older version", xeon, 1.5, 1.7,
                          [statistics.median(folder_row["new"]) / statistics.median(folder_row["old"])]))
    heads = ["work", "machine", "goal", "aim", "measured", "reached"]
    return "\n".join(["| " + " | ".join(heads) + " |", "|---|---|---:|---:|---:|---|"] +
                     ["| " + " | ".join(line) + " |" for line in lines]) + "\n\n"


def bounds(machine):
    return read(BENCH / "encoder-bounds.json")[machine]


def bound(machine, stage, kind):
    """Cycles that an instruction takes when it is added to a stage of avx512; stage "nothing": by itself."""
    return bounds(machine)["alone"][kind] if stage == "nothing" else bounds(machine)["stages"][stage][kind]


def stage_share(machine, *stages):
    """Percent of the time of avx512."""
    kept = bounds(machine)
    return 100 * sum(kept["stages"][stage]["cycles a unit"] for stage in stages) / kept["cycles a unit"]


def bound_change(machine, change):
    """Percent of its time that a change of avx512 saves."""
    return 100 * (1 - bounds(machine)["changes"][change] / bounds(machine)["cycles a unit"])


def encoder_bounds(machine):
    kinds = list(bounds(machine)["alone"])
    lines = [["nothing", ""] + [f"{bound(machine, 'nothing', kind):.2f}" for kind in kinds]]
    for stage, row in bounds(machine)["stages"].items():
        lines.append([stage, f"{stage_share(machine, stage):.0f} %"] +
                     [f"{row[kind]:.2f}" if kind in row else "" for kind in kinds])
    return table(["added to", "share of the time"] + kinds, lines) + "\n"


def encoder_whole():
    """Whole processes before we had coders of our own, and with them, by cores."""
    lines = [[cores, f"{row['old']:.1f}", f"{row['new']:.1f}", f"{row['new'] / row['old']:.2f}"]
             for cores, row in on_xeon()["whole_ms"].items()]
    return table(["cores", "with libjpeg-turbo, ms", "with our coders, ms", "ratio"], lines) + "\n"


def encoder_folders():
    """Photos a second of folder runs on 16 cores, likewise."""
    lines = []
    for kind, row in on_xeon()["photos_a_second"].items():
        old, new = statistics.median(row["old"]), statistics.median(row["new"])
        lines.append([kind, f"{old:,.0f}", f"{new:,.0f}", f"{new / old:.2f}"])
    return table(["photos", "with libjpeg-turbo, photos/s", "with our coders, photos/s", "ratio"], lines) + "\n"


def unmarked():
    """Whole processes with and without restart markers, bands one after the other and joined, by cores."""
    lines = [[cores] + [f"{row[key]['min_ms']:.1f}" for key in ("on join", "off before", "off join")]
             for cores, row in on_xeon()["restart"].items() if cores != "1"]
    return table(["cores", "with markers, ms", "without, one after the other, ms", "without, joined, ms"], lines) + "\n"


def restart_ms(restart):
    """Processor time of a whole run with restart markers ("on") and without: the best."""
    return min(read(BENCH / "encoder.json")["restart"][restart])


def decoders():
    return coders("decoder.json")


def pipeline_row(name):
    return next(row for row in read(BENCH / "pipeline.json")["rows"] if row["name"] == name)


def pipeline_rate(name):
    """Photos per second of processor time; "C" is the library without Python."""
    return 1e3 / pipeline_row(name)["ms"]


def pipeline_cost():
    """Percent that decoding from Python takes longer than the C decoder."""
    return 100 * (pipeline_row("lapedge")["ms"] / pipeline_row("C")["ms"] - 1)


def pipeline_about(key):
    return read(BENCH / "pipeline.json")[key]


def pipeline_bytes(which):
    return which(pipeline_about("bytes")) / 1e3


def pipeline():
    """Decoding to NumPy by each library: its JPEG library, rate, and the share of samples that differ from Pillow's."""
    lines = []
    for row in pipeline_about("rows"):
        name = "the C decoder" if row["name"] == "C" else f"{row['name']} {row['version']}"
        differs = f"{100 * row['differing_share']:.1f} %" if "differing_share" in row else ""
        lines.append([name, row.get("library", "the same"), f"{row['ms']:.3f}", f"{1e3 / row['ms']:,.0f}",
                      f"{pipeline_rate('lapedge') * row['ms'] / 1e3:.2f}", differs])
    heads = ["", "its JPEG library", "ms", "photos/s", "lapedge's rate / this one", "samples that differ from Pillow's"]
    return table(heads, lines) + "\n"


def kept_numbers(name, row):
    """The numbers of a row of docs/bench/NAME that follow the words it begins with."""
    path = BENCH / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        if line.startswith(row):
            return [float(word.replace(",", "")) for word in re.findall(r"[\d,.]*\d", line[len(row):])]
    raise Missing(row)


def steady_small():
    """Photos a second of a folder beyond its first 20,000: the start does not count."""
    seconds = [count / small_photos(f"small, {count} photos: medians of photos per second", "cuda-fast")
               for count in (20_000, 100_000)]
    return 80_000 / (seconds[1] - seconds[0])


def or_none(function, *words):
    try:
        return function(*words)
    except Missing:
        return None


def whole_run(row):
    """From docs/bench/whole-runs.txt: photos per second of a whole process; None if it is not measured yet."""
    found = or_none(kept_numbers, "whole-runs.txt", row)
    return found and statistics.median(found)


def thumbnails():
    """For the larger folder and each round: the rates of `cuda-fast` with 8 threads, then those of `simd`."""
    rounds = []
    for there, cpu in (("before: cuda-fast -j 8", "before: simd"), ("now: cuda-fast", "now: simd")):
        found = [kept_numbers("thumbnails.txt", row) for row in (there, cpu)]
        rounds += [tuple({"whole": numbers[at], "steady": numbers[at + 1]} for numbers in found) for at in (1, 4)]
    return rounds


def batch_goal(work, goal, aim, steady, whole=None, *, less=False, digits=0):
    """A row: steady has a value for each run; without one, the whole run is judged."""
    judged = [value if not less else -value for value in steady or [whole]]
    passed = [sum(value >= (limit if not less else -limit) for value in judged) for limit in (goal, aim or goal)]
    reached = f"in {passed[0]} of {len(judged)} runs"
    if passed[0] in (0, len(judged)):
        reached = "missed" if not passed[0] else "aim" if aim and passed[1] == len(judged) else "goal"
    show = lambda value: "" if value is None else f"{value:,.{digits}f}"  # noqa: E731
    return [work, show(goal), show(aim), ", ".join(map(show, steady)), show(whole), reached]


def batch_goals():
    """The targets for decoding and encoding many photos, what was hoped for, and what they reach."""
    both, large, rates = "decode, filter, encode", "18.7 megapixels", ": medians of photos per second"
    stats = f"stats of small photos, 100000{rates}"
    thumbs = thumbnails()
    text = (PROFILE / "two-devices.txt").read_text(encoding="utf-8")
    two = {name: [float(re.search(rf"^{name}.* ([\d.]+) times", text, re.M)[1])] for name in
           (f"{call} of {size} photos" for call in ("stats", "decode_batch") for size in ("large", "small"))}
    rows = [
        batch_goal("Python list of 1,024 of 500x375 to the device", 40_000, 60_000,
                   kept_numbers("large-python.txt", "decode_batch of 1,024 of 500x375")[-2:],
                   whole_run("Python, list of 1,024")),
        batch_goal(f"C, {both} 500x375, batch calls on one stream", 30_000, 50_000,
                   kept_numbers("batches.txt", f"{both}           1,024")[-2:], whole_run(f"C, {both} 500x375")),
        batch_goal("the same in batches on eight streams", 30_000, 50_000,
                   [chains()[8, 64][both]]),
        batch_goal("folder of 100,000 of 500x375", 15_000, 25_000, [steady_small()],
                   small_photos(f"small, 100000 photos{rates}", "cuda-fast")),
        batch_goal("folder of thumbnails, 8 threads", 20_000, 35_000, [there["steady"] for there, _ in thumbs],
                   statistics.median(there["whole"] for there, _ in thumbs)),
        batch_goal("the same, rate relative to `simd`", 1.2, None,
                   [there["steady"] / cpu["steady"] for there, cpu in thumbs],
                   statistics.median(there["whole"] / cpu["whole"] for there, cpu in thumbs), digits=2),
        batch_goal("`stats` of 500x375", 20_000, None, [], small_photos(stats, "cuda-fast")),
        batch_goal("`stats --json` of 500x375", 12_000, None, [], small_photos(stats, "cuda-fast --json")),
        batch_goal(f"Python, {large} to the device, 16 threads", 4_000, 4_500,
                   kept_numbers("large-python.txt", "                  16 threads")[-2:],
                   whole_run("Python, 18.7 megapixels")),
        batch_goal(f"encode {large}, 16 streams", 3_300, 3_600, [1e3 / codec("encode-cuda", 16)],
                   whole_run("C, encode 18.7 megapixels")),
        batch_goal(f"{both} {large}, 16 streams", 2_100, 2_500, [1e3 / codec("chain-cuda", 16)],
                   whole_run(f"C, {both} 18.7 megapixels")),
        batch_goal("500x375 to NumPy, one thread", 1_600, 2_200, [pipeline_rate("lapedge")]),
        batch_goal("the same, extra time over the C decoder, %", 5, None, [pipeline_cost()], less=True, digits=1),
        *(batch_goal(f"two devices relative to one, {name}", 1.8, None, found, digits=2)
          for name, found in two.items()),
    ]
    return table(["work", "goal", "aim", "steady", "whole run", "reached"], rows) + "\n"


def progressive_rows(photo):
    return {row["backend"]: row for row in photo["rows"] if row["median_ms"] is not None}


def progressive():
    """Milliseconds of a progressive photo by libjpeg-turbo and by our fastest decoder, and how many times
    libjpeg-turbo's speed ours has with one thread, and with more if they were measured."""
    photos = read(BENCH / "progressive.json")["photos"]
    teams = sorted((name for name in progressive_rows(photos[0]) if name.startswith("parallel-")),
                   key=lambda name: int(name.split("-")[1]))[1:]
    fastest = [name for name in progressive_rows(photos[0]) if not name.startswith("parallel-")][-1]
    lines = []
    for photo in photos:
        rows = progressive_rows(photo)
        turbo = rows["turbo"]["min_ms"]
        lines.append([photo["name"], f"{rows['turbo']['width']} x {rows['turbo']['height']}", f"{photo['percent']} %",
                      f"{turbo:.1f}", f"{rows[fastest]['min_ms']:.1f}", f"{turbo / rows[fastest]['min_ms']:.2f}"] +
                     [f"{turbo / rows[name]['min_ms']:.2f}" for name in teams])
    heads = (["photo", "pixels", "longest scan", "`turbo` ms", f"`{fastest}` ms", f"`turbo` / `{fastest}`"] +
             [f"`turbo` / {name.split('-')[1]} threads" for name in teams])
    return table(heads, lines) + "\n"


def neon(coder, other="turbo"):
    """The instructions of one coder divided by those of another, on aarch64."""
    coders = read(BENCH / "neon.json")["coders"]
    return coders[other] / coders[coder]


def fused(key):
    """What encoding strips as they are filtered takes, divided by what encoding whole bands takes: medians."""
    kept = read(BENCH / "fused.json")
    return statistics.median(kept["new"][key]) / statistics.median(kept["old"][key])


def shown(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


CEILINGS = ("copy", "copy-kernel", "copy-shared", "memcpy")


def gpu_rows(bench):
    """What ran on the device, ceilings first."""
    rows = [row for row in bench["rows"] if row.get("kernel_ms") is not None and row["median_ms"]]
    rows = [row for row in rows if row["resolved"] in (row["backend"], None)]
    return [row for row in rows if row["backend"] in CEILINGS] + [row for row in rows if row["backend"] not in CEILINGS]


def copy_rate(run, rows):
    """GB/s of the copy measured with a ladder; if its bench has none, of the copy measured with the sums in the same
    call."""
    for found in (rows, gpu_rows(gpu_bench("reduce-f32"))):
        rate = next((row["gb_per_s"] for row in found if row["backend"] == "copy"), None)
        if rate:
            return rate
    raise Missing(run)


def ladder(run, command):
    """A ladder on the GPU: time, GB/s, share of the copy's rate, step and cumulative speed-up."""
    try:
        bench = gpu_bench(run)
    except Missing:
        return "Not measured yet: `tools/measure/gpu`.\n\n"
    rows = gpu_rows(bench)
    ceiling = copy_rate(run, rows)
    lines, before, first = [], None, None
    for row in rows:
        name, time = row["backend"], 1e3 * row["median_ms"]
        is_ceiling = name in CEILINGS
        form = f", {row['form']}" if row.get("form") else ""
        plain = not is_ceiling and not form
        first = time if plain and first is None else first
        share = 100 * row["gb_per_s"] / ceiling
        lines.append([(name if is_ceiling else f"`{name}`") + form, shown(time, 1), shown(row["gb_per_s"], 0),
                      f"{share:.0f} %",
                      shown(before / time if before and plain else None, 2),
                      shown(first / time if first and plain else None, 2)])
        before = time if plain else before
    heads = ["backend", "us", "GB/s", "of the copy", "step", "since the first"]
    return (table(heads, lines) + f"\n`{command}`: medians of {len(rows[0]['times_ms'])} runs, {bench['device']}, "
            f"{bench['date']}." + ("" if any(row["backend"] == "copy" for row in rows)
                                   else " The copy is that of the sums' bench.") + "\n")


def ladder_values(run, command):
    """As ladder, for sums: with value and relative error."""
    try:
        bench = gpu_bench(run)
    except Missing:
        return "Not measured yet: `tools/measure/gpu`.\n\n"
    lines, before, first, ceiling = [], None, None, copy_rate(run, gpu_rows(bench))
    for row in gpu_rows(bench):
        time, plain = 1e3 * row["median_ms"], row["backend"] not in CEILINGS
        first = time if plain and first is None else first
        lines.append([f"`{row['backend']}`" if plain else row["backend"], shown(time, 1), shown(row["gb_per_s"], 0),
                      f"{100 * row['gb_per_s'] / ceiling:.0f} %",
                      shown(before / time if before and plain else None, 2),
                      shown(first / time if first and plain else None, 2),
                      "" if row.get("value") is None else f"{row['value']:.12g}",
                      "" if row.get("relative_error") is None else f"{row['relative_error']:.1e}"])
        before = time if plain else before
    heads = ["backend", "us", "GB/s", "of the copy", "step", "since the first", "value", "relative error"]
    return (table(heads, lines) + f"\n`{command}`: {bench['device']}, {bench['date']}. A copy also writes, so a "
            "sum of the same number of bytes can exceed its rate.\n")


def ladder_cpu(command):
    """The filter's ladder on the CPU, with instructions per pixel."""
    kept = read(BENCH / "cpu.json")
    bench = kept["benches"]["filter"]
    rows = [row for row in bench["rows"] if row["median_ms"] and row["gb_per_s"]
            and row["resolved"] in (row["backend"], None)]
    order = [row["backend"] for row in rows if not row["backend"].startswith("simd-")]
    order = list(dict.fromkeys(order)) + ["simd-sse41", "simd-avx2", "simd-avx512"]
    roof, lines, before, first = row_of(bench, "memcpy")["median_ms"], [], None, None
    for name in order:
        of = {row["threads"]: row for row in rows if row["backend"] == name}
        if 1 not in of:
            continue
        time, plain = of[1]["median_ms"], name not in CEILINGS
        first = time if plain and first is None else first
        count, missed = kept["instructions"].get(name), kept.get("mispredicted", {}).get(name)
        lines.append([f"`{name}`" if plain else name, shown(time, 2), shown(of[2]["median_ms"] if 2 in of else None, 2),
                      shown(of[1]["gb_per_s"], 2), f"{100 * roof / time:.1f} %" if plain else "100 %",
                      shown(before / time if before and plain else None, 2),
                      shown(first / time if first and plain else None, 1), shown(count, 1), shown(missed, 2)])
        before = time if plain else before
    row = rows[0]
    heads = ["backend", "ms, 1 thread", "ms, 2 threads", "GB/s", "of memcpy", "step", "since the first",
             "instructions per pixel", "mispredicted branches"]
    return (table(heads, lines) + f"\n`{command}`: {row['width']} x {row['height']} x 3, medians of "
            f"{len(row['times_ms'])} runs, {bench['machine']}, {kept['cores']} cores, {bench['date']}. The columns "
            f"to the right of the times are for one thread.\n\n{quiet()}\n")


WORDS = {"stall_loads": "loads", "stall_shared": "shared memory", "stall_barrier": "a barrier",
         "stall_lsu_queue": "the queue of loads", "stall_shared_queue": "the queue of shared memory",
         "stall_arithmetic": "arithmetic units", "stall_fixed": "the instruction before", "stall_ready": "other warps"}
# The columns of profile(): head, what it means, the counter of tools/measure/profile-gpu.
COLUMNS = [
    ("us", "the kernel's time in this run", "us"),
    ("DRAM %", "share of the highest rate of the device's memory", "dram"),
    ("L2 %", "share of the highest rate of the L2 cache", "l2"),
    ("L1/shared %", "the busiest part of L1 and shared memory, which are one unit of a multiprocessor", "l1"),
    ("issue %", "share of the cycles with warps in which a scheduler started an instruction", "issue"),
    ("wavefronts, million", "passes through the data path of L1 and shared memory: a warp's access takes one pass if "
     "all its bytes can be delivered at once, more if they lie in several lines or conflict in a bank; the counter is "
     "passes as a share of all cycles", "waves_used"),
    ("sectors per load, per store", "pieces of 32 bytes that a warp's access of global memory touches", "load_sectors"),
    ("conflicts per shared load", "additional passes, because lanes need different words of one bank", "conflicts"),
    ("warps per SM", "warps of 32 threads that a multiprocessor holds on average; at most 64", "warps"),
    ("waves of blocks", "how many times the blocks fill the device; if that is slightly more than a whole number, "
     "multiprocessors are idle in the last wave", "waves_of_blocks"),
    ("registers", "of a thread; a multiprocessor has 65,536", "registers"),
]
WAITS = {
    "stall_loads": "the result of a load from global memory",
    "stall_shared": "the result of an access to shared memory, or of a special unit",
    "stall_barrier": "other warps of the block, at `__syncthreads`",
    "stall_lsu_queue": "room in the queue before the unit that loads and stores global memory",
    "stall_shared_queue": "room in the queue before shared memory and the special units",
    "stall_arithmetic": "an arithmetic unit that another warp uses",
    "stall_fixed": "the fixed latency of the previous instruction",
    "stall_ready": "nothing: the warp was ready, but the scheduler chose another",
}


def glossary():
    """What the tables of counters call each counter, with the profiler's own names."""
    profiler = program("measure/profile-gpu")
    metrics = {**profiler.METRICS, **profiler.MORE, **profiler.EXTRA}
    rows = [[head, what, f"`{metrics[key]}`"] for head, what, key in COLUMNS]
    rows += [[f"waits for {word}", WAITS[key], f"`{metrics[key]}`"] for key, word in WORDS.items()]
    return table(["column", "what it counts", "the profiler's name"], rows).replace("|---:|---:|", "|---|---|")


def waits(found):
    """The two things that warps waited for most."""
    known = sorted(((found.get(key) or 0, word) for key, word in WORDS.items()), reverse=True)
    return ", ".join(f"{word} {value:.1f}" for value, word in known[:2] if value > 0)


def per(found, over, under):
    if found.get(over) is None or not found.get(under):
        return None
    return found[over] / found[under]


def profile(ladder_name):
    """The profiler's counters of a ladder, on which its reasons rest."""
    try:
        kept = counters(ladder_name)
    except Missing:
        return "Not profiled yet: `tools/measure/profile-gpu`.\n\n"
    heads = ["backend", *(head for head, _, _ in COLUMNS), "waits for (cycles per instruction)"]
    lines = []
    for name, f in kept.items():
        word, *rest = name.split()
        sectors = [shown(per(f, f"{way}_sectors", f"{way}_requests"), 1) for way in ("load", "store")]
        lines.append([f"`{word}`" + "".join(f" {w}" for w in rest), shown(f["us"], 1), shown(f["dram"], 0),
                      shown(f["l2"], 0), shown(f["l1"], 0), shown(f["issue"], 0),
                      shown(wavefronts(ladder_name, name) / 1e6, 1), ", ".join(s for s in sectors if s),
                      shown(per(f, "conflicts", "shared_loads"), 2), shown(f.get("warps"), 0),
                      shown(f.get("waves_of_blocks"), 1), shown(f["registers"], 0), waits(f)])
    return table(heads, lines) + "\n`tools/measure/profile-gpu`: one run with cold caches.\n"


SIZES = {"4992x3744x3": "filter", "4991x3743x3": "filter-odd", "4992x3744x1": "filter-gray",
         "4991x3743x1": "filter-odd-gray", "4992x3744x4": "filter-rgba", "2048x1365x3": "filter-small"}


def all_sizes():
    return all(run in read(PROFILE / "gpu-bench.json") for run in SIZES.values())


def sized(size, backend):
    """Median microseconds by width, height and channels: from tools/measure/gpu if it has all sizes, else from older
    measurements."""
    if all_sizes():
        return us(SIZES[size], backend)
    return image("NVIDIA H200", backend, size)


def sizes():
    """cuda-fast and the copy, by size and channels."""
    lines = []
    for size in SIZES:
        copy, fast = sized(size, "copy"), sized(size, "cuda-fast")
        width, height, channels = map(int, size.split("x"))
        lines.append([size.replace("x", " x "), f"{copy:.1f}", f"{fast:.1f}",
                      f"{2 * width * height * channels / fast / 1e3:.0f}", f"{100 * copy / fast:.0f} %"])
    return (table(["image", "copy us", "`cuda-fast` us", "GB/s", "of the copy"], lines)
            + "\n`lapedge bench filter --sizes=4991x3743 --channels=1`, and so on"
            + ("" if all_sizes() else "; in a separate run") + ".\n")


def controls(group, what="microseconds"):
    """The controls of a group: time, and how many times as fast as the one above."""
    try:
        kept = [row for row in read(PROFILE / "gpu-controls.json")["rows"] if row["group"] == group]
    except Missing:
        return "Not measured yet: `tools/measure/controls`.\n\n"
    lines, before = [], None
    for row in kept:
        lines.append([row["name"], shown(row["median_us"], 1), shown(before / row["median_us"] if before else None, 2)])
        before = row["median_us"]
    return table(["kernel", what, "times as fast as the one above"], lines) + (
        f"\n`tools/measure/controls`: {kept[0]['width']} x {kept[0]['height']}, medians, "
        f"{read(PROFILE / 'gpu-controls.json')['device']}.\n")


def tall():
    """The walking rungs with eight times the rows: the time of the usual image, and how many times as fast the same
    number of rows is there."""
    try:
        rows = [row for row in read(PROFILE / "gpu-controls.json")["rows"] if row["group"] == "tall"]
    except Missing:
        return "Not measured yet: `tools/measure/controls`.\n\n"
    lines = []
    for row in rows:
        name, eighth = row["name"], row["median_us"] * 3744 / row["height"]
        lines.append([f"`{name}`", shown(counter("filter", name, "waves_of_blocks"), 2), shown(idle("filter", name), 0),
                      shown(us("filter", name), 1), shown(eighth, 1), shown(us("filter", name) / eighth, 2)])
    return table(["backend", "waves of blocks", "idle, %", "us", f"us of 3744 of {rows[0]['height']} rows",
                  "times as fast"], lines) + "\n`tools/measure/controls`, relative to the first tables of this page.\n"


def parts(*names):
    """What the ideas of a CPU backend gain, one at a time (tools/measure/parts)."""
    try:
        kept = read(BENCH / "parts.json")
    except Missing:
        return "Not measured yet: `tools/measure/parts`.\n\n"
    lines, first = [], None
    for name in names:
        row = kept["rows"][name]
        first = first or row["min_ms"]
        lines.append([name, shown(row["min_ms"], 2), shown(first / row["min_ms"], 2), shown(row["instructions"], 1),
                      shown(row["mispredicted"], 2)])
    row = kept["rows"][names[0]]
    return table(["form", "ms of processor time", "times as fast as the first", "instructions per pixel",
                  "mispredicted branches"], lines) + (
        f"\n`tools/measure/parts`: {row['width']} x {row['height']} x 3, the least of {row['runs']} runs, one thread, "
        f"{kept['machine']}, {kept['date']}.\n")


PORTS = {"FP0": "FP0, FP1: multiply, add, shuffle", "FP2": "FP2, FP3: add, shuffle",
         "FP45": "FP4, FP5: vectors to and from the cache", "Load": "loads", "Store": "stores",
         "ALU0": "a port for addresses and counters"}


def ports():
    """The loops of the simd backends: what a model says about their ports, and what was measured."""
    kept = read(BENCH / "ports.json")
    rows, names = kept["rows"], list(kept["rows"])
    lines = [["instructions of a pass", *(str(rows[name]["instructions"]) for name in names)],
             ["cycles, model", *(shown(rows[name]["cycles"], 1) for name in names)],
             ["cycles, model without latencies", *(shown(rows[name]["ports_alone"], 1) for name in names)],
             ["cycles, model, front end: 6 operations a cycle", *(shown(rows[name]["uops"] / 6, 1) for name in names)],
             ["cycles, measured", *(shown(rows[name]["measured"], 1) for name in names)]]
    lines += [[f"busy: {what}", *(shown(rows[name]["ports"].get(key), 1) for name in names)]
              for key, what in PORTS.items()]
    return table(["four rows of one vector", *(f"`{name}`" for name in names)], lines) + (
        f"\n`tools/measure/ports`: llvm-mca {kept['llvm']}, model {kept['model']}; measured at "
        f"{kept['gigahertz']:.1f} GHz, {kept['date']}.\n")


def libraries():
    fast, lines = peer("cuda-fast"), []
    for words, text in (("cuda-fast", "`cuda-fast`"),
                        ("NPP nppiFilter_8u_C3R", "NPP 13.0 `nppiFilter_8u_C3R`, the same 25 coefficients"),
                        ("torch conv2d, float in and out", "torch 2.11 depthwise `conv2d`, float in and out"),
                        ("torch conv2d, bytes in and out", "torch 2.11, bytes in and out"),
                        ("CuPy convolve, bytes in, float out", "CuPy 14.2 `ndimage.convolve`, bytes in, float out"),
                        ("CuPy convolve, bytes in and out", "CuPy 14.2, bytes in and out")):
        lines.append([text, f"{peer(words):.0f}", f"{peer(words) / fast:.1f}"])
    return table(["", "us", "times `cuda-fast`"], lines)


def precision():
    """Relative errors of ways to add, from tools/measure/sum-precision."""
    try:
        kept = read(BENCH / "precision.json")
    except Missing:
        return "Not measured yet: `tools/measure/sum-precision`.\n\n"
    rows = [[name, f"{row['equal']:.1e}", f"{row['random']:.1e}"] for name, row in kept["ways"].items()]
    return table(["way", "all 1.23", "random"], rows) + f"\n`tools/measure/sum-precision`: {kept['n']} values.\n"


def sample(name):
    """What the program printed, as tools/measure/cpu kept it."""
    try:
        return "```text\n" + (BENCH / name).read_text(encoding="utf-8").rstrip("\n") + "\n```\n"
    except FileNotFoundError:
        return "Not run yet: `tools/measure/cpu`.\n\n"


FOLDERS = {"large": "18.7 Mpixel", "middle": "2 Mpixel", "thumb": "0.02 Mpixel"}
STAGES = ("read", "upload", "decode", "filter", "encode", "download", "write")


def count(value):
    return "" if value is None else f"{value:,.0f}"


def folder_steps():
    """Of the rates: step, photos and backend as the tables name them, and its row."""
    rows = {row["step"]: row for row in read(PROFILE / "folders.json")["steps"]}
    for size, photos in FOLDERS.items():
        for backend in ("cuda-fast", "auto", "simd"):
            row = rows.get(f"{size}, {backend}")
            if row:
                yield [f"{row['photos']:,} of {photos}", f"`{backend}`"], row


def folder_rates(command):
    """Photos per second over a folder, and those of whole processes over a few photos."""
    lines = [name + [count(row.get("steady_per_s")), count(row["photos_per_s"]), f"{row['on_devices']:,}"]
             for name, row in folder_steps()]
    for backend in ("cuda-fast", "auto", "simd"):
        step = f"60 photos, whole process, {backend}"
        lines.append([f"60 of {FOLDERS['large']}", f"`{backend}`", "", count(folder(step, "photos_per_s")), ""])
    heads = ["photos", "backend", "photos/s, steady", "photos/s, whole process", "done on the device"]
    return table(heads, lines).replace("|---|---:|", "|---|---|", 1) + f"\n`{command}`\n"


def folder_stages(command):
    """Milliseconds of a thread or stream per photo."""
    lines = [name + [shown(row["busy_ms"].get(stage), 3) for stage in STAGES] for name, row in folder_steps()]
    return (table(["busy ms per photo", "backend", *STAGES], lines).replace("|---|---:|", "|---|---|", 1)
            + f"\n`{command}`\n")


def package_sizes():
    """Debian packages, from tools/measure/packages."""
    rows = [[f"`{name}`", f"{row['bytes'] / 1e6:.2f}", f"{row['installed'] / 1e6:.1f}"]
            for name, row in sorted(read(BENCH / "packages.json")["packages"].items()) if "-dbgsym" not in name]
    return table(["package", "MB to download", "MB installed"], rows)


def program_sizes():
    """Programs in one file, and the device code in them."""
    rows = []
    for name, row in read(BENCH / "packages.json")["programs"].items():
        stored, unpacked = (sum(part[key] for part in row["device_code"].values()) for key in ("stored", "unpacked"))
        rows.append([name, f"{row['bytes'] / 1e6:.1f}", f"{row['xz'] / 1e6:.1f}",
                     f"{stored / 1e6:.1f}" if stored else "", f"{unpacked / 1e6:.1f}" if stored else ""])
    return table(["program", "MB", "MB under xz", "device code, MB", "unpacked, MB"], rows)


def program_mb(name, key="bytes"):
    """Megabytes of a program: bytes, xz, or its device code as stored."""
    row = read(BENCH / "packages.json")["programs"][name]
    return (row[key] if key in row else sum(part[key] for part in row["device_code"].values())) / 1e6


def launch(name, how, key="median_ms"):
    """Milliseconds of a whole process, from tools/measure/launch."""
    return read(PROFILE / "launch.json")["programs"][name][how][key]


def launches(words):
    """Its table; words: what each program is."""
    try:
        kept = read(PROFILE / "launch.json")
    except Missing:
        return "Not measured yet: `tools/measure/launch`.\n"
    spread = [[words.get(name, name), *(f"{row[how][key]:.0f}" for how in ("cold", "warm")
                                        for key in ("median_ms", "min_ms", "max_ms"))]
              for name, row in kept["programs"].items()]
    return table(["program", "cold, ms", "least", "most", "warm, ms", "least", "most"], spread) + (
        f"\n`tools/measure/launch`, {kept['photo']}, {min(row['runs'] for row in kept['programs'].values())} runs of "
        f"each; {', '.join(device['name'] for device in kept['device'])}, {kept['date']}.\n")


def names():
    known = (package_sizes, program_sizes, program_mb, launch, launches,
             us, gbs, field, device, counter, wavefronts, idle, megahertz, lines_most, control,
             control_counter, codec_lanes, codec_stall, bank_ways, tile_passes, blocks_at_once, loop_kind,
             part, parts, op_ms, port, ports, controls, tall, glossary, ms,
             instructions, mispredicted, deviation, quiet, cpu, image,
             sheet, peer, lines, fast_abs_registers, says, decode16, limit16, library, sass, shifts, gbs_cpu, cycles,
             busy, tool,
             row_value, ladder, ladder_values, ladder_cpu, profile, precision, sizes, sized, libraries, folder,
             codec, codec_us, codec_rate, codec_counter, codec_bytes, coder_ms, decode_share, decoders, progressive,
             batch_goals, kept_numbers, pipeline, pipeline_about, pipeline_bytes, pipeline_cost, pipeline_rate,
             encoders, encoders_c, encoder_steps, encoder_forms, encoder_whole, encoder_folders, at_once,
             form_at_once, unmarked, encoder_goals, encoder_bounds, bound, bound_change, stage_share,
             restart_ms, neon, fused, figures_steps.steps,
             folder_rates, folder_stages, small_photos, small_rates, chain_rates, sample, inner_loop,
             two_devices, one_of_two, max, min, abs)
    return {function.__name__: function for function in known}


def spread():
    """README's table and the chart are also made from the filter's bench of tools/measure/gpu."""
    try:
        bench = read(PROFILE / "gpu-bench.json")["filter"]
    except (Missing, KeyError):
        return
    (PROFILE / "times.json").write_text(json.dumps(bench) + "\n", encoding="utf-8")


if __name__ == "__main__":
    spread()
