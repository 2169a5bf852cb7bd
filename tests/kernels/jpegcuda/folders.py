#!/usr/bin/env python3
"""folders.py [PROGRAM] [--each]: the same folder by way of CUDA devices and by --codec=cpu: outputs, log lines (but for
ms, resolved and note), messages and exit code must be equal; with devices that fail too. PROGRAM: on the CPU runtime of the
CUDA tests. --each: every call and every operation fails in turn, not some of them; more small photos."""
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from tap import finish, report

each = "--each" in sys.argv
MANY = 200 if each else 110  # small photos: more than one chain, and more than descriptors
words = [word for word in sys.argv[1:] if not word.startswith("--")]
program = os.path.abspath(words[0] if words else os.environ.get("B", "build") + "/cudacpu/asan/lapedge")
samples = os.path.abspath("samples")
SUMMARY = re.compile(r"\d+ done.*; [\d.]+ s")


def tool(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def make_photos():
    """Many kinds of files: for a device, not for one, and for nobody."""
    os.makedirs("all/sub")
    os.makedirs("few")
    crop = tool("jpegtran", "-copy", "all", "-crop", "120x72+160+96", samples + "/chelsea.jpg")
    write("p.ppm", subprocess.run(["djpeg"], input=crop, stdout=subprocess.PIPE, check=True).stdout)
    write("all/a.jpg", crop)
    tag = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\x01\0\x06\0\0\0\0\0\0"
    write("all/turned.jpg", b"\xff\xd8\xff\xe1" + (len(tag) + 2).to_bytes(2, "big") + tag + crop[2:])
    for name, options in {"444": ["-sample", "1x1"], "422": ["-sample", "2x1"], "440": ["-sample", "1x2"],
                          "411": ["-sample", "4x1"], "gray": ["-grayscale"], "progressive": ["-progressive"],
                          "arithmetic": ["-arithmetic"], "restarts": ["-restart", "3B"], "rgb": ["-rgb"]}.items():
        write(f"all/{name}.jpg", tool("cjpeg", "-quality", "85", *options, "p.ppm"))
    flipped = bytearray(crop)
    flipped[len(crop) * 2 // 3] ^= 16
    write("all/sub/flipped.jpg", flipped)
    write("all/sub/cut.jpg", crop[:3000])
    write("all/sub/trailing.jpg", crop + bytes(200000))
    write("all/sub/text.jpg", b"no photo at all")
    write("all/sub/without-extension", crop)
    small = tool("jpegtran", "-crop", "40x24+200+120", samples + "/chelsea.jpg")
    write("few/x.jpg", small)
    write("few/y.jpg", tool("jpegtran", "-crop", "56x40+160+96", samples + "/coffee.jpg"))
    os.makedirs("pure")
    write("pure/x.jpg", small)
    write("few/z.jpg", small[:len(small) // 2])
    write("few/w.jpg", tool("jpegtran", "-progressive", "-crop", "40x24+160+96", samples + "/chelsea.jpg"))
    os.makedirs("metadata")
    bare = tool("jpegtran", "-copy", "none", "-crop", "40x24+200+120", samples + "/chelsea.jpg")
    profile = b"ICC_PROFILE\0\1\1" + bytes(16) + b"GRAY" + bytes(108)
    for name, segments in {"broken": [(0xe1, tag[:10] + b"\0\0\0\x30" + tag[14:])], "twice": [(0xe1, tag)] * 2,
                           "comment": [(0xfe, b"hello"), (0xe5, b"of a program")], "profile": [(0xe2, profile)]}.items():
        head = b"".join(b"\xff" + bytes([kind]) + (len(data) + 2).to_bytes(2, "big") + data for kind, data in segments)
        write(f"metadata/{name}.jpg", bare[:2] + head + bare[2:])


def make_many():
    """Small photos, which go through a device in chains, with odd ones between them."""
    crop = tool("jpegtran", "-crop", "48x32+200+120", samples + "/chelsea.jpg")
    write("small.ppm", subprocess.run(["djpeg"], input=crop, stdout=subprocess.PIPE, check=True).stdout)
    kinds = [tool("cjpeg", "-quality", str(50 + 7 * i), *options.split(), "small.ppm") for i, options in enumerate(
        ("-sample 1x1", "-sample 2x1", "-sample 2x2", "-grayscale", "-optimize", "-restart 1B"))]
    progressive = tool("cjpeg", "-progressive", "small.ppm")
    for folder, count in (("many", MANY), ("chain", 30)):
        os.makedirs(folder)
        for i in range(count):
            data = bytearray(kinds[i % len(kinds)])
            if i % 11 == 5:
                data[len(data) - 20 - i] ^= 16
            elif i % 29 == 7:
                data = progressive
            elif i % 31 == 9:
                del data[len(data) // 2:]
            write(f"{folder}/{i:03d}.jpg", data)


def contents(folder):
    """Every output below it, by name."""
    found = {}
    for path, folders, files in os.walk(folder):
        if ".lapedge" in folders:
            folders.remove(".lapedge")
        for name in files:
            with open(os.path.join(path, name), "rb") as f:
                found[os.path.relpath(os.path.join(path, name), folder)] = f.read()
    return found


def log_lines(name):
    lines = []
    with open(name, encoding="utf-8") as f:
        for line in f:
            record = json.loads(line)
            notes = (record.get("note") or "").split("; ")
            record["lost"] = [note for note in notes if "left out" in note or "dropped" in note]
            for key in ("ms", "resolved", "note"):  # how it was done
                record.pop(key, None)
            for key in ("backend", "codec"):
                record.get("settings", {}).pop(key, None)
            lines.append(json.dumps(record, sort_keys=True))
    return sorted(lines)


class Run:
    """A run over a folder, with what it left."""

    def __init__(self, folder, options, runtime=""):
        subprocess.run(["rm", "-rf", "out", "log.jsonl"], check=True)
        env = dict(os.environ, LAP_CUDACPU=runtime)
        done = subprocess.run([program, folder, "out", "--no-sync", "--log=log.jsonl", "--json", *options],
                              capture_output=True, env=env, timeout=300)
        self.code = done.returncode
        lines = done.stderr.decode(errors="replace").splitlines()
        self.seed = next((line for line in lines if line.startswith("# CUDA on CPU")), "")
        lines = [line for line in lines if not line.startswith("# CUDA on CPU") and not SUMMARY.match(line)
                 and not line.startswith("first to fail")]
        self.warnings = [line for line in lines if ": warning: CUDA device" in line]
        self.messages = sorted(line for line in lines if line not in self.warnings)
        self.outputs = contents("out")
        self.log = log_lines("log.jsonl")
        self.work = json.loads(done.stdout)["work"] if done.stdout else None

    def differs(self, other):
        if self.code != other.code:
            return f"exit code {self.code}, not {other.code}: {self.messages}"
        for what in ("messages", "log"):
            mine, its = getattr(self, what), getattr(other, what)
            if mine != its:
                return f"{what}: {[a for a in mine if a not in its]}, not {[b for b in its if b not in mine]}"
        if self.outputs != other.outputs:
            return "outputs: " + " ".join(name for name in sorted({*self.outputs, *other.outputs})
                                          if self.outputs.get(name) != other.outputs.get(name))
        return None

    def differs_but_backend(self, other):
        """The settings name another backend: the log has that, too."""
        for run in (self, other):
            run.log = [re.sub(r'"backend": "[^"]*"', "", line) for line in run.log]
        return self.differs(other)

    def on_devices(self):
        return sum(device["done"] for device in self.work["devices"])


def check_same(what, folder, options, runtime="", least=1, lost=0):
    """lost: devices that must be; -1: any number."""
    backend = [] if any(option.startswith("--backend") for option in options) else ["--backend=cuda-fast"]
    expected = Run(folder, backend + options + ["--codec=cpu"])
    found = Run(folder, backend + options, runtime)
    wrong = found.differs(expected)
    if not wrong and lost >= 0 and len(found.warnings) != lost:
        wrong = f"{lost} devices are lost: {found.warnings}"
    if not wrong and found.on_devices() < least:
        wrong = f"only {found.on_devices()} photos were done on devices: {found.work}"
    report(not wrong, what, f"{wrong}\n{found.seed} {runtime}")


def check_backends():
    listed = json.loads(tool(program, "backends", "--json"))["rows"]
    names = [row["name"] for row in listed if row["op"] == "filter" and row["family"] == "cuda"]
    report(len(names) >= 8, "the CUDA backends are listed", names)
    for name in names:
        check_same(f"{name}: the CPU's files", "few", ["--backend=" + name], "order=now", least=2)


def check_one_way():
    """What a device leaves undone goes on the same way in a folder and alone: the notes say who coded."""
    options = ["--backend=cuda-fast", "--no-sync"]
    subprocess.run(["rm", "-rf", "out", "log.jsonl"], check=True)
    subprocess.run([program, "all", "out", "--log=log.jsonl", *options], capture_output=True, timeout=60)
    with open("log.jsonl", encoding="utf-8") as lines:
        found = {one["input"]: one["note"] for one in map(json.loads, lines) if "input" in one}
    half, bad = 0, []
    for name, note in found.items():
        done = subprocess.run([program, name, "one.jpg", "--json", *options], capture_output=True, timeout=60)
        alone = json.loads(done.stdout)["note"]
        half += "decoded on the CPU, encoded on the device" in (alone or "")
        if alone != note:
            bad.append(f"{name}: {note}, alone: {alone}")
    report(not bad and half >= 3, "photos that a device cannot finish continue alike in a folder and alone",
           "\n".join([f"{half} of {len(found)}", *bad]))


def check_options():
    for options in (["--gray"], ["--auto-orient"], ["--restart=off"], ["--strip", "--quality=70"], ["--format=png"],
                    ["--fail-on=none"], ["--subsampling=420", "--border=reflect"], ["--max-pixels=900"],
                    ["--max-memory=1M"], ["--preserve", "--invert"]):
        check_same(" ".join(options) + ": the CPU's files", "few", options, least=0)


def check_metadata():
    """What a photo loses is told, whoever writes it."""
    for options in ([], ["--keep=exif"], ["--keep=icc,comment"], ["--strip"], ["--keep=exif", "--fail-on=warning"]):
        check_same(" ".join(["metadata", *options]) + ": the CPU's warnings", "metadata", options,
                   least=0 if "--fail-on=warning" in options else 4)
    found = Run("metadata", ["--backend=cuda-fast", "--keep=exif"])
    report(any("EXIF" in line for line in found.messages) and sum('"warned"' in line for line in found.log) == 2,
           "two of them with a warning", found.log)


def check_pipe():
    """Nobody writes: the time limit ends the wait for the file that a device is to decode."""
    read, write_end = os.pipe()
    done = subprocess.run(["timeout", "30", program, "--backend=cuda-fast", "--timeout=1", "-", "out.jpg"], stdin=read,
                          capture_output=True)
    os.close(read)
    os.close(write_end)
    report(done.returncode == 5 and b"timeout" in done.stderr, "an empty pipe is read no longer than --timeout says",
           f"{done.returncode} {done.stderr}")


def check_auto():
    """Files that look large: bytes behind the end of a photo are normal."""
    os.makedirs("large")
    with open("pure/x.jpg", "rb") as f:
        photo = f.read()
    for i in range(12):
        write(f"large/{i}.jpg", photo + bytes(4000000))
    on_cpu = Run("large", ["--backend=simd", "--threads=1"])
    found = Run("large", ["--threads=1"])
    wrong = found.differs_but_backend(on_cpu)
    report(not wrong and "and the CPU" in found.work["how"] and len(found.work["devices"]) == 1,
           "auto takes a device beside the CPU where there is much to do, and writes the same bytes",
           f"{wrong} {found.work}")
    os.makedirs("some")
    for i in range(3):
        os.link(f"large/{i}.jpg", f"some/{i}.jpg")
    hows = [Run("some", ["--threads=1"], runtime).work["how"] for runtime in ("devices=1", "devices=3")]
    report("and the CPU" in hows[0] and hows[1].startswith("the CPU alone"),
           "auto counts the start of all devices that CUDA sees", hows)
    found = Run("few", [])
    report(found.work["how"].startswith("the CPU alone") and not found.work["devices"],
           "auto does not start a device for a few photos", found.work)
    found = Run("large", ["--threads=1", "--backend=simd"])
    report(not found.work["devices"], "a named backend of the CPU is not replaced", found.work)


def measured(words, runtime=""):
    """Exit code, messages, statistics of each photo, and who did it."""
    done = subprocess.run([program, "stats", "--json", *words], capture_output=True, timeout=300,
                          env=dict(os.environ, LAP_CUDACPU=runtime))
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    work = objects[-1].pop("work", None)
    for one in objects:
        one.pop("ms", None)
    messages = [line for line in done.stderr.decode().splitlines() if " measured" not in line and
                not line.startswith("# CUDA on CPU")]
    lost = [line for line in messages if ": warning: CUDA device" in line]
    return (done.returncode, [line for line in messages if line not in lost], objects), work, lost


def check_stats():
    """Statistics of many files: the CPU's numbers, in the order of the files."""
    for words, runtime, least, losses in (
            (["all"], "", 9, 0), (["all", "--auto-orient", "--threshold=9"], "devices=2,order=now", 9, 0),
            (["pure", "--gray"], "pageable=error", 1, 0), (["few", "--profiles"], "order=now", 0, 0),
            (["few", "--mask-border=1"], "order=now", 0, 0), (["few", "--codec=cpu"], "order=now", 0, 0),
            (["all/a.jpg", "all/gray.jpg", "all/444.jpg"], "lost=12:719", 0, 1),
            (["few"], "fail=cudaLaunchKernel:9:700:sticky", 0, 1), (["few"], "fail=30:2", 0, -1)):
        expected = measured([*words, "--backend=c"])[0]
        found, work, lost = measured([*words, "--backend=cuda-fast", "--devices=all"], runtime)
        by_devices = sum(device["done"] for device in work["devices"])
        wrong = [(str(a)[:300], str(b)[:300]) for mine, its in zip(found, expected) if mine != its
                 for a, b in zip(*([x] if isinstance(x, int) else x for x in (mine, its))) if a != b]
        report(found == expected and by_devices >= least and losses in (-1, len(lost)),
               f"stats {' '.join(words)} ({runtime}): the CPU's numbers, {by_devices} by devices, {len(lost)} lost",
               f"{wrong} {work} {lost}")
    alone = [subprocess.run([program, "stats", "--json", "all/turned.jpg", "--auto-orient", "--backend=" + backend],
                            capture_output=True, timeout=60, check=True).stdout for backend in ("c", "cuda-fast")]
    report(alone[0] == alone[1], "stats of one photo: the CPU's numbers", alone)
    work = measured(["large", "--threads=1"])[1]
    report("and the CPU" in work["how"] and len(work["devices"]) == 1, "stats: auto takes a device where there is "
           "much to do", work)
    work = measured(["few"])[1]
    report(work["how"].startswith("the CPU alone"), "stats: auto does not start a device for a few photos", work)


def check_shares():
    """Tasks of one machine share its devices."""
    used = []
    for rank, size in ((0, 2), (1, 2), (5, 6)):
        os.environ.update(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1", OMPI_COMM_WORLD_LOCAL_RANK=str(rank),
                          OMPI_COMM_WORLD_LOCAL_SIZE=str(size))
        found = Run("few", ["--backend=cuda-fast", "--shard=auto"], "devices=4")
        used.append([device["device"] for device in found.work["devices"]])
    for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"):
        del os.environ["OMPI_COMM_WORLD_" + name]
    report(used == [[0, 2], [1, 3], [1]], "tasks of one machine share its devices", used)
    found = subprocess.run([program, "few", "out", "--backend=cuda-fast", "--devices=3"], capture_output=True)
    report(found.returncode == 3 and b"CUDA device 3 does not exist" in found.stderr,
           "a device that does not exist is refused", found.stderr)


def check_many():
    """Small photos in chains."""
    for words, runtime in (([], ""), (["--devices=all", "--auto-orient"], "devices=2"), (["--gray"], "order=now"),
                           (["--device-memory=3M", "--kernel=log5", "--border=wrap"], ""),
                           (["--backend=cuda-global"], "")):
        check_same(f"{MANY} small photos, some of them odd, {' '.join(words)}", "many", words, runtime, least=MANY // 2)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (80, before[1]))
    check_same(f"{MANY} small photos, and 80 files may be open", "many", [], "slow=cudaLaunchKernel:1", least=MANY // 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    expected = measured(["many", "--backend=c"])[0]
    found, work, _ = measured(["many", "--backend=cuda-fast"])
    report(found == expected and work["devices"][0]["done"] > MANY // 2, f"stats of {MANY} small photos: the CPU's numbers",
           work)
    check_faults("chain", 20261125)


def check_trace():
    Run("few", ["--backend=cuda-fast", "--trace=trace.json"])
    with open("trace.json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    names = {event["name"] for event in events}
    report({"read", "write", "photo", "upload", "decode", "filter", "encode", "download"} <= names and
           all(event["dur"] >= 0 for event in events if event["ph"] == "X"), "--trace has all stages", names)
    done = subprocess.run([program, "few", "out", "--trace=few/x.jpg"], capture_output=True)
    report(done.returncode == 2, "--trace never replaces an input", done.stderr)


def check_faults(folder, seed):
    """Calls that fail, operations that do not happen: nothing is lost, and each device is reported once."""
    generator = random.Random(seed)
    expected = Run(folder, ["--backend=cuda-fast", "--codec=cpu"])
    bad, lost = [], 0
    kinds = ["fail=%d:2", "fail=%d:700:sticky", "lost=%d:719", "fail=%d:999"]
    numbers = range(4, 420) if each else sorted(generator.sample(range(8, 300), 2))
    for n in numbers:
        for kind in kinds:
            for devices in (1, 2) if each else (generator.randint(1, 2),):
                runtime = f"devices={devices}," + kind % n
                found = Run(folder, ["--backend=cuda-fast", "--devices=all"], runtime)
                wrong = found.differs(expected)
                if len(found.warnings) > devices:
                    wrong = wrong or f"more warnings than devices: {found.warnings}"
                if wrong:
                    bad.append(f"{runtime} {found.seed}: {wrong}")
                lost += len(found.warnings)
    report(not bad, f"{len(numbers) * len(kinds)} faults, seed {seed}: the CPU's files", "\n".join(bad))
    report(lost > 0, f"{lost} devices were lost on the way")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    make_photos()
    make_many()
    check_same("a folder of many kinds of files", "all", [], least=9)
    check_same("two devices, a photo to be turned", "all", ["--devices=0,1", "--auto-orient"], "devices=2", least=9)
    check_same("all of three devices", "all", ["--devices=all"], "devices=3,order=now", least=9)
    check_same("nothing is copied from or to pageable memory", "pure", [], "pageable=error")
    check_same("memory for less than one photo", "few", ["--device-memory=10K"], least=0)
    check_same("memory for one photo at a time", "few", ["--device-memory=200K"], least=1)
    check_same("a device without memory", "few", [], "memory=100K", least=0, lost=-1)
    check_metadata()
    check_pipe()
    check_auto()
    check_stats()
    check_shares()
    check_trace()
    check_many()
    check_one_way()
    check_backends()
    check_options()
    check_faults("few", 20261122)
    check_faults("few", int(os.environ.get("TEST_SEED", 1)))
finish()
