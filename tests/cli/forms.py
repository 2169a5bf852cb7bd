#!/usr/bin/env python3
"""forms.py LAPEDGE [--terminal] [--each]: every option in every form of a command line is honoured, refused with exit 2
and a reason, or, if it tunes what is not there or asks for what happens anyway, accepted: then bytes, standard output
and exit code are those without it, and -v notes it. Honoured is what changes something that can be seen: output,
messages, files, the exit code; on a terminal; or in what is asked of the system. Each option stands where it can show:
SCENES, BESIDE."""
import hashlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
CLOCK = os.path.join(os.path.abspath(os.environ.get("B", "build")), "tests/step_clock.so")
ON_TERMINAL = "--terminal" in sys.argv[2:]  # only the options that are seen there, for which others need no terminal

# A command line of each form; what it reads is made by fresh().
FORMS = {
    "one image": ["--json", "in.jpg", "out.jpg"],
    "files in place": ["--in-place", "--json", "in.jpg"],
    "a folder run": ["--json", "photos", "done"],
    "transform of one image": ["transform", "--json", "--flip=h", "in.jpg", "out.jpg"],
    "transform of folders": ["transform", "--json", "--flip=h", "photos", "done"],
    "stats": ["stats", "in.jpg"],
    "stats of folders": ["stats", "--json", "photos"],
    "diff": ["diff", "in.jpg", "other.jpg"],
    "diff of folders": ["diff", "--json", "photos", "others"],
    "backends": ["backends"],
    "help": ["help"],
    "info": ["info", "in.jpg"],
    "doctor": ["doctor"],
}
EACH = "--each" in sys.argv[2:]  # also the operations that make check leaves out; no option is only for these
OPERATIONS = ["filter", "transpose", "reduce", "histogram", "matvec"] if EACH else ["filter"]
for op in OPERATIONS:
    FORMS["compare of " + op] = ["compare", "--ops=" + op, "--backends=c", "--runs=1", "--json", "in.jpg"]
    FORMS["bench of " + op] = ["bench", op, "--backends=c", "--runs=1", "--json",
                               "--n=50" if op in ("reduce", "matvec") else "--sizes=48x48"]
FORMS["bench of codec"] = ["bench", "codec", "--runs=1", "--json", "--sizes=48x48"]

# A value that shows; several words where it needs company.
VALUES = {
    "backend": ["--backend=sse"], "kernel": ["--kernel=log5"], "border": ["--border=reflect"],
    "range": ["--range=abs"], "scale": ["--scale=0.5"], "offset": ["--offset=9"], "threshold": ["--threshold=9"],
    "format": ["--format=ppm"], "quality": ["--quality=40"], "subsampling": ["--subsampling=420"],
    "restart": ["--restart=on"], "rotate": ["--rotate=90"], "flip": ["--flip=v"],
    "jobs": ["--jobs=2", "--threads=3", "-v"], "force": ["--force", "--json-file=theirs.json"],
    "shard": ["--shard=0/2"], "files-from": ["--files-from=list"], "null": ["--null", "--files-from=nulls"],
    "log": ["--log=log.jsonl"], "stats": ["--stats=stats.json"], "weights": ["--weights=weights", "--profiles"],
    "ops": ["--ops=matvec"], "max-abs": ["--max-abs=255"], "max-differing": ["--max-differing=100%"],
    "min-psnr": ["--min-psnr=1"], "mask-border": ["--mask-border=8"], "threshold-per-pixel": ["--threshold-per-pixel=255"],
    "ignore": ["--ignore=0,0,9999,9999"], "heatmap": ["--heatmap=map.png"],
    "backends": ["--backends=c,openmp"], "sizes": ["--sizes=64x48"], "image": ["--image=in.jpg"],
    "channels": ["--channels=1"], "runs": ["--runs=2"], "omp-loop": ["--omp-loop=x"], "block": ["--block=8x8"],
    "type": ["--type=f64"], "n": ["--n=1000"], "value": ["--value=2"], "baseline": ["--baseline=base.json"],
    "tolerance": ["--tolerance=5%", "--baseline=base.json"], "max-pixels": ["--max-pixels=1"],
    "max-scans": ["--max-scans=1"], "max-memory": ["--max-memory=1K"], "timeout": ["--timeout=1e-9"],
    "fail-on": ["--fail-on=warning"], "report": ["--report=page.html"], "color": ["--color=never"],
    "progress": ["--progress=off"], "json-file": ["--json-file=file.json"], "threads": ["--threads=1", "-v"],
    "decode": ["--decode=parallel", "-v"], "devices": ["--devices=0,1"], "device-memory": ["--device-memory=1G"],
    "trace": ["--trace=trace.json"], "codec": ["--codec=cuda"],
    "flip-kernel": ["--flip-kernel", "--kernel=1" + 24 * ",0"],
    "keep": ["--keep=none"], "include": ["--include=a*"], "exclude": ["--exclude=a*"], "ext": ["--ext=jpeg"],
    "suffix": ["--suffix=-x"], "backup": ["--backup=.orig"],
    "gray": ["--gray"], "json": ["--json"], "sandbox": ["--sandbox"],
}


# ---- scenes: what must be there for an option to show -------------------------------------------------------

def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


INPUTS = ["in.jpg", "photos/a.jpg", "photos/b.jpg"]


def with_segments(folder):
    """A comment, and EXIF that says: turn."""
    tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    exif, comment = b"Exif\0\0" + tiff, b"remember"
    for name in INPUTS:
        data = read(folder, name)
        write(folder, name, data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif +
              b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:])


def progressive(folder):
    for name in INPUTS:
        run(["--progressive", "in.ppm", name], folder)


def old(folder):
    for name in INPUTS:
        os.chmod(os.path.join(folder, name), 0o640)
        os.utime(os.path.join(folder, name), (OLD, OLD))


def unreadable(folder):
    for i in range(300):
        write(folder, "photos/%03d.jpg" % i, b"\xff\xd8\xffjunk")


def large(folder):
    """What takes so long that a terminal shows how far it is: a black picture in a file of holes."""
    header = b"P5 4096 16384 255\n"
    write(folder, "in.jpg", header)
    os.truncate(os.path.join(folder, "in.jpg"), len(header) + 4096 * 16384)


def filtered(folder):
    run(["--in-place", "in.jpg"], folder)


def in_the_way(folder):
    for name in ("out.jpg", "done/a.jpg", "theirs.json"):
        write(folder, name, b"somebody's")


def deeper(folder):
    write(folder, "photos/sub/c.jpg", read(folder, "in.jpg"))


def linked(folder):
    os.symlink(os.path.join("..", "in.jpg"), os.path.join(folder, "photos", "link.jpg"))


def gone(folder):
    """Outputs of an earlier run, and one photo fewer."""
    run(["-q", "photos", "done"], folder)
    os.remove(os.path.join(folder, "photos", "b.jpg"))


def partial_mcus(folder):
    write(folder, "odd.ppm", b"P6\n31 47\n255\n" + read(folder, "in.ppm")[13:13 + 31 * 47 * 3])
    for name in INPUTS:
        run(["--kernel=identity", "odd.ppm", name], folder)


OLD = 1000000000
SCENES = {
    "preserve": old, "fail-fast": unreadable, "flat": deeper, "follow": linked, "no-clobber": in_the_way,
    "skip-existing": in_the_way, "force": in_the_way, "max-scans": progressive, "auto-orient": with_segments,
    "strip": with_segments, "keep": with_segments, "progress": large, "prune": gone,
    "trim": partial_mcus, "perfect": partial_mcus, "filter-again": filtered,
}
AGAIN = {"rebuild"}  # seen where the same command has run before
# Seen on a terminal alone, and in what the program asks of the system.
TERMINAL = {"color", "progress"}
SYSTEM = {"no-sync": "fsync,fdatasync,syncfs", "sandbox": "seccomp,prctl"}


# A clock that goes by steps of 10 ms: bench warms up in a few of them, and progress is shown however fast the machine.
STEPS = {"LD_PRELOAD": CLOCK, "LAP_STEP_NS": "10000000"} if os.path.exists(CLOCK) else {}


def run(words, folder):
    clock = STEPS if words[0] == "bench" else {}
    return subprocess.run([PROGRAM] + words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          env={"PATH": os.environ["PATH"], **clock}, timeout=60)


def prepare(folder):
    os.mkdir(os.path.join(folder, "photos"))
    noise = bytes((x * x * 7 + x // 3) % 251 for x in range(64 * 48))
    for name, data in (("in.ppm", noise + noise[:1536]), ("other.ppm", noise + noise[1536:])):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"P6\n32 48\n255\n" + data)
        made = run(["--kernel=identity", "--subsampling=444", name, name[:-4] + ".jpg"], folder)
        assert made.returncode == 0, made.stderr
    made = run(["bench", "--backends=c", "--sizes=48x48", "--runs=1", "--json-file=base.json"], folder)
    assert made.returncode == 0, made.stderr
    # Without an end marker: a warning.
    for name in ("in", "other"):
        with open(os.path.join(folder, name + ".jpg"), "rb") as file:
            data = file.read()
        with open(os.path.join(folder, name + ".jpg"), "wb") as file:
            file.write(data[:-2])
    shutil.copy(os.path.join(folder, "in.jpg"), os.path.join(folder, "photos", "a.jpg"))
    shutil.copy(os.path.join(folder, "in.jpg"), os.path.join(folder, "photos", "b.jpg"))
    shutil.copytree(os.path.join(folder, "photos"), os.path.join(folder, "others"))
    shutil.copy(os.path.join(folder, "other.jpg"), os.path.join(folder, "others", "b.jpg"))
    for name, text in (("list", "photos/a.jpg\n"), ("nulls", "photos/a.jpg\0photos/b.jpg\0"),
                       ("weights", " ".join(str(x * x) for x in range(32)))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


TIMES = (r'"(read|decode|upload|filter|download|encode|write|total|ms|[a-z]+_ms)": ?[0-9.e+-]+|(?:, )?[0-9.]+ m?s\b|'
         r'[0-9]+ Mpixel/s|"started": ?"[0-9TZ:-]+"')


def on_terminal(words, folder):
    """What shows on a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([PROGRAM] + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=follower,
                               stderr=follower, env={"PATH": os.environ["PATH"], "TERM": "xterm", **STEPS})
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 65536):
            seen += piece
    except OSError: # the end, on Linux
        pass
    os.close(leader)
    return re.sub("[0-9. %~]+", "", seen.decode()), process.wait()


def calls(words, folder, names):
    """Whether any of these is asked of the system, after the program has been loaded."""
    log = os.path.join(folder, "calls")
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=" + names, "-o", log, PROGRAM] + words, cwd=folder,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(log) as file:
        return any(name in line for line in file for name in names.split(","))


def without_times(text):
    """What a run of bench prints, but for how long things took: of JSON the number of times is left."""
    try:
        seen = json.loads(text)
    except ValueError:
        return re.sub("[0-9. %~e+-]+", "", text)
    seen["warnings"] = []  # of a busy machine
    seen["date"] = bool(seen.get("date"))  # midnight may come
    for row in seen.get("rows", []):
        row["times_ms"] = len(row["times_ms"])
        for key in [key for key in row if key.endswith(("_ms", "_per_s")) and key != "times_ms"]:
            row[key] = row[key] is not None
        for key in ("roof_share", "speedup", "noisy"):
            del row[key]
    return json.dumps(seen, indent=1)


def trace(words, original, option=None):
    """What a run leaves to be seen; times of machines taken out."""
    folder = tempfile.mkdtemp(dir=os.path.dirname(original))
    shutil.rmtree(folder)
    shutil.copytree(original, folder)
    if option in SCENES:
        SCENES[option](folder)
    if option in AGAIN:
        run([word for word in words if word != "--" + option], folder)
    if option in SYSTEM:
        text, code = calls(words, folder, SYSTEM[option]), 0
    elif option in TERMINAL:
        text, code = on_terminal(words, folder)
    else:
        result = run(words, folder)
        said = result.stdout.decode(errors="replace") + result.stderr.decode()
        text, code = re.sub(TIMES, "0 ms", said), result.returncode
        if words[0] == "bench":
            text = without_times(result.stdout.decode()) + re.sub("[0-9. %]+", "", result.stderr.decode())
        text = sorted(text.splitlines()) # files of a folder are done in any order
    seen = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".lapedge")
        for name in sorted(files):
            path = os.path.join(root, name)
            if name == ".lapedge-in-place.jsonl": # has inodes and times
                continue
            seen.update(os.path.relpath(path, folder).encode() + (b"old" if os.stat(path).st_mtime == OLD else b""))
            data = read(root, name)
            seen.update(re.sub(TIMES, "", data.decode()).encode() if name.endswith((".json", ".jsonl")) else data)
    shutil.rmtree(folder)
    return code, text, seen.hexdigest()


# What the base of a form must do without beside an option.
WITHOUT = {"ops": "--ops=", "backends": "--backends=", "csv": "--json", "json": "--json", "rotate": "--flip",
           "flip": "--flip", "transpose": "--flip", "transverse": "--flip", "files-from": ("photos", "in.jpg"),
           "null": ("photos", "in.jpg"), "fail-fast": "in.jpg",
           "image": "--sizes=", "color": "--json", "quiet": "--json", "verbose": "--json", "devices": "--backends="}
# What it needs beside.
BESIDE = {
    ("backend", "a folder run"): ["--log=log.jsonl"], ("backend", "stats"): ["-v"],
    ("backend", "stats of folders"): ["-v"],
    ("decode", "a folder run"): ["--log=log.jsonl"], ("decode", "transform of folders"): ["--log=log.jsonl"],
    ("fail-fast", "a folder run"): ["--jobs=1"], ("fail-fast", "transform of folders"): ["--jobs=1"],
    ("auto-orient", "stats of folders"): ["--kernel=" + 11 * "0," + "1,0,-1" + 11 * ",0"],
    ("fail-fast", "files in place"): ["photos/000.jpg", "photos/001.jpg"],
    ("jobs", "files in place"): ["photos/a.jpg"],
    ("progress", "one image"): ["--backend=c", "--threads=1", "--no-sync"],
    ("progress", "files in place"): ["--backend=c", "--threads=1", "--no-sync"],
    ("progress", "transform of one image"): ["--progressive", "--threads=1", "--no-sync"],
}
BESIDE.update({("fail-fast", "compare of " + op): ["photos"] for op in OPERATIONS})
# Seen in nothing but times.
TIMED = {"warm"}
# Tuning of speed, of messages, or of a coder: accepted in every form.
TUNING = {"force", "jobs", "threads", "fail-fast", "no-sync", "quiet", "verbose", "color", "progress", "quality",
          "subsampling", "restart", "optimize", "progressive", "devices", "device-memory"}
# What asks for what happens anyway.
ONE = ("one image", "transform of one image")
SAME = {"flat": (ONE, "--flat"), "follow": (ONE + ("stats", "diff"), "--follow"), "rebuild": (ONE, "--rebuild"),
        "shard": (ONE + ("files in place",), "--shard=0/1")}
# Command lines without what an option needs: whether it is accepted, the base, the option.
WANTING = [(True, ["in.jpg", "out.png"], word) for word in
           ("-Q40", "--subsampling=420", "--restart=on", "--optimize", "--progressive")]
WANTING += [(True, ["--format=ppm", "photos", "done"], "-Q40"), (True, ["--format=jpg", "in.ppm", "-"], "--no-sync"),
            (True, ["--backend=c", "in.jpg", "out.jpg"], "--devices=0,1"),
            (True, ["--backend=c", "photos", "done"], "--device-memory=1G"),
            (True, ["--sandbox", "in.jpg", "out.jpg"], "--devices=0"),
            (True, ["in.ppm", "out.jpg"], "--decode=serial"), (True, ["in.ppm", "out.jpg"], "--decode=parallel"),
            (False, ["in.jpg", "-"], "--no-clobber"), (False, ["in.jpg", "-"], "--skip-existing"),
            (False, ["in.jpg", "-"], "--preserve"), (False, ["transform", "--flip=h", "in.jpg", "out.png"], "--trim"),
            (False, ["bench", "--backends=c"], "--omp-loop=x"), (False, ["bench", "--backends=c"], "--block=8x8")]
# Options that choose among what is found in folders, where only files are named.
for words in (["photos/a.jpg", "photos/b.jpg", "done/"], ["stats", "photos/a.jpg", "photos/b.jpg"],
              ["transform", "--flip=h", "photos/a.jpg", "photos/b.jpg", "done/"], ["--files-from=list", "done"]):
    WANTING += [(False, words, word) for word in ("--include=a*", "--exclude=a*", "--ext=jpg")] + [(True, words, "--follow")]
# Given again: each value counts, or it is refused, or the last one counts. Of all others the same value is accepted, and
# another one is refused unless the option is tuning.
LAST = {"backend": "simd", "codec": "turbo", "decode": "serial"}
ADDS, NEVER = {"include", "exclude", "ignore"}, {"rotate", "flip", "transpose", "transverse"}
OTHER = {"jobs": "3", "threads": "2", "quality": "41", "subsampling": "444", "restart": "off", "color": "always",
         "progress": "auto", "devices": "1", "device-memory": "2G", "include": "b*", "exclude": "b*", "ignore": "1,1,2,2"}
# These make a command line one of another form.
MAKERS = {"in-place", "files-from"}


def has_device():
    shown = json.loads(subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, check=False).stdout)
    return bool(shown["devices"])


def apart(words, original):
    folder = original + ".apart"
    shutil.copytree(original, folder)
    result = run(words, folder)
    shutil.rmtree(folder)
    return result


def idle(words, word, original, base):
    """An option that is accepted and changes nothing, which -v notes."""
    if trace(words + [word], original) != base:
        return "%s is accepted, and changes something" % word
    if word in ("--quiet", "--verbose"):
        return None
    said = apart(words + [word, "-v"], original).stderr.decode()
    return None if "note: " + "--" in said else "-v does not note %s: %s" % (word, said)


def wanting(accepted, words, word, original):
    if accepted:
        return idle(words, word, original, trace(words, original))
    done = apart(words + [word], original)
    reason = done.stderr.decode()
    return None if done.returncode == 2 and "applies only to" in reason else "%s: not refused: %s" % (word, reason)


def again(name, argument, text, repeats, original):
    """With --help behind them the options are read, and nothing is done."""
    expected = "adds" if name in ADDS else "never" if name in NEVER else "last" if name in LAST else "same"
    if repeats != expected or ("may be repeated" in text) != (repeats == "adds"):
        return "the table says %s, its help %s" % (repeats, text)
    value = VALUES.get(name, ["--" + name])[0]
    for other, allowed in ((value, name not in NEVER),
                           ("--%s=%s" % (name, {**OTHER, **LAST}.get(name, "another")), name in {*ADDS, *TUNING, *LAST})):
        if other != value and not argument:
            continue
        done = run([value, other, "--help"], original)
        said = done.stderr.decode()
        if (done.returncode, "is given twice" in said) != ((0, False) if allowed else (2, True)):
            return "%s %s: exit %d, %s" % (value, other, done.returncode, said.strip())
    return None


def check(form, option, argument, applies, original, base):
    if option in MAKERS and not applies:
        return None
    value = VALUES.get(option, ["--" + option] if not argument else None)
    if value is None:
        return "no value is known"
    if not applies and option in TUNING:
        return idle(FORMS[form], value[0], original, base)
    if not applies and form in SAME.get(option, ((), ""))[0]:
        problem = idle(FORMS[form], SAME[option][1], original, base)
        if problem or value[0] == SAME[option][1]:
            return problem
    if not applies:
        message = run(FORMS[form] + value[:1], original)
        text = message.stderr.decode()
        if message.returncode == 2 and text.startswith("lapedge: --%s does not apply" % option):
            return None
        return "not refused: exit %d, %s" % (message.returncode, text.strip())
    if option in TIMED or (option in TERMINAL) != ON_TERMINAL:
        return None
    company = [] if form.startswith("bench") and option == "threads" else value[1:]  # bench has no -v
    beside = company + BESIDE.get((option, form), [])
    words = [word for word in FORMS[form] if not word.startswith(WITHOUT.get(option, "\0"))]
    same = not beside and words == FORMS[form] and option not in SCENES.keys() | AGAIN and option not in TERMINAL | SYSTEM.keys()
    plain = base if same else trace(words + beside, original, option)
    return None if trace(words + value[:1] + beside, original, option) != plain else "accepted, and nothing changes"


def main():
    table = [line.split("\t") for line in
             subprocess.run([PROGRAM, "__options"], capture_output=True, text=True, check=True).stdout.splitlines()]
    problems, pairs = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        original = os.path.join(scratch, "original")
        os.mkdir(original)
        prepare(original)
        for form in FORMS:
            base = trace(FORMS[form], original)
            if not ON_TERMINAL and base != trace(FORMS[form], original):
                problems.append("%s: not the same twice" % form)
            for name, _, argument, forms, _, _ in table:
                if name in ("help", "version") or (form, name) == ("files in place", "in-place"):
                    continue
                if name == "device-memory" and has_device():
                    print("device-memory: not tried, a device is here and the photos are too few for it")
                    continue
                if ON_TERMINAL and (name not in TERMINAL or form not in forms.split(", ")):
                    continue
                pairs += 1
                problem = check(form, name, argument, form in forms.split(", "), original, base)
                if problem:
                    problems.append("%s, --%s: %s" % (form, name, problem))
        for name, _, argument, _, text, repeats in [] if ON_TERMINAL else table:
            pairs += 1
            problem = again(name, argument, text, repeats, original)
            if problem:
                problems.append("--%s twice: %s" % (name, problem))
        for accepted, words, word in [] if ON_TERMINAL else WANTING:
            pairs += 1
            problem = wanting(accepted, words, word, original)
            if problem:
                problems.append("%s: %s" % (" ".join(words), problem))
    print("%d pairs" % pairs)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


main()
