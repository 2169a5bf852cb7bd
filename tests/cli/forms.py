#!/usr/bin/env python3
"""forms.py LAPEDGE: every option in every form of a command line is honoured or refused with exit 2 and a
reason. Honoured is what changes something that can be seen: output, messages, files, or the exit code. What
by contract changes nothing but time or disk, or needs what this machine lacks, stands in SILENT by name."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])

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
    "backends": ["backends"],
    "help": ["help"],
    "info": ["info", "in.jpg"],
    "doctor": ["doctor"],
}
OPERATIONS = ["filter", "transpose", "reduce", "histogram", "matvec"]
for op in OPERATIONS:
    FORMS["compare of " + op] = ["compare", "--ops=" + op, "--backends=c", "--json", "in.jpg"]

# A value that shows; several words where it needs company.
VALUES = {
    "backend": ["--backend=sse"], "kernel": ["--kernel=log5"], "border": ["--border=reflect"],
    "range": ["--range=abs"], "scale": ["--scale=0.5"], "offset": ["--offset=9"], "threshold": ["--threshold=9"],
    "format": ["--format=ppm"], "quality": ["--quality=40"], "subsampling": ["--subsampling=420"],
    "restart": ["--restart=on"], "rotate": ["--rotate=90"], "flip": ["--flip=v"], "jobs": ["--jobs=2"],
    "shard": ["--shard=0/2"], "files-from": ["--files-from=list"], "null": ["--null", "--files-from=nulls"],
    "log": ["--log=log.jsonl"], "stats": ["--stats=stats.json"], "weights": ["--weights=weights", "--profiles"],
    "ops": ["--ops=matvec"], "max-abs": ["--max-abs=255"], "max-differing": ["--max-differing=100%"],
    "min-psnr": ["--min-psnr=1"], "mask-border": ["--mask-border=8"], "heatmap": ["--heatmap=map.png"],
    "backends": ["--backends=c,openmp"], "sizes": ["--sizes=64x48"], "image": ["--image=in.jpg"],
    "channels": ["--channels=1"], "runs": ["--runs=1"], "omp-loop": ["--omp-loop=x"], "block": ["--block=8x8"],
    "type": ["--type=f32"], "n": ["--n=1000"], "value": ["--value=2"], "baseline": ["--baseline=base.json"],
    "tolerance": ["--tolerance=5%", "--baseline=base.json"], "max-pixels": ["--max-pixels=1"],
    "max-scans": ["--max-scans=1"], "max-memory": ["--max-memory=1K"], "timeout": ["--timeout=1e-9"],
    "fail-on": ["--fail-on=warning"], "report": ["--report=page.html"], "color": ["--color=always"],
    "progress": ["--progress=off"], "json-file": ["--json-file=file.json"], "threads": ["--threads=1", "-v"],
    "decode": ["--decode=serial"], "devices": ["--devices=0,1"], "device-memory": ["--device-memory=1G"], "trace": ["--trace=trace.json"], "codec": ["--codec=cpu"],
    "keep": ["--keep=none"], "include": ["--include=a*"], "exclude": ["--exclude=a*"], "ext": ["--ext=jpeg"], "suffix": ["--suffix=-x"],
    "gray": ["--gray"], "json": ["--json"], "sandbox": ["--sandbox"],
}
# Nothing to be seen, and why.
SILENT = {
    "no-sync": "only when bytes reach the disk", "decode": "the same pixels by other threads",
    "codec": "the same bytes from another place", "jobs": "the same files, several at once",
    "progress": "only on a terminal", "color": "only where there is something to colour",
    "threads": "the same pixels by other threads", "fail-fast": "nothing fails here; folder.bats",
    "flat": "one folder; choose.bats", "follow": "no links here; choose.bats",
    "no-clobber": "nothing is there; choose.bats", "skip-existing": "nothing is there; choose.bats",
    "force": "nothing is in the way here; folder.bats",
    "preserve": "time and mode; options.bats", "max-scans": "one scan; inputs.bats",
    "auto-orient": "upright here; transform.bats", "strip": "nothing to strip here; options.bats",
    "keep": "nothing to keep here; borders.bats", "flip-kernel": "a symmetric kernel; borders.bats",
    "sandbox": "the same run with fewer rights; tests/sandbox", "quiet": "nothing is said here", "verbose": "compare has nothing more to say here",
    "devices": "without a device there is no difference", "device-memory": "without a device there is no difference", "max-abs": "equal pixels", "max-differing": "equal pixels",
    "min-psnr": "equal pixels", "kernel": "compare: equal pixels", "border": "compare: equal pixels",
    "range": "compare: equal pixels", "scale": "compare: equal pixels", "offset": "compare: equal pixels",
    "invert": "compare: equal pixels", "threshold": "compare: equal pixels",
}
# Options that are silent only where two equal pictures are compared.
EQUAL = {"max-abs", "max-differing", "min-psnr", "kernel", "border", "range", "scale", "offset", "invert", "threshold", "verbose"}


def run(words, folder):
    return subprocess.run([PROGRAM] + words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          env={"PATH": os.environ["PATH"]}, timeout=60)


def prepare(folder):
    os.mkdir(os.path.join(folder, "photos"))
    noise = bytes((x * x * 7 + x // 3) % 251 for x in range(64 * 48))
    for name, data in (("in.ppm", noise + noise[:1536]), ("other.ppm", noise + noise[1536:])):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"P6\n32 48\n255\n" + data)
        made = run(["--kernel=identity", "--subsampling=444", name, name[:-4] + ".jpg"], folder)
        assert made.returncode == 0, made.stderr
    # Without an end marker: a warning.
    for name in ("in", "other"):
        with open(os.path.join(folder, name + ".jpg"), "rb") as file:
            data = file.read()
        with open(os.path.join(folder, name + ".jpg"), "wb") as file:
            file.write(data[:-2])
    shutil.copy(os.path.join(folder, "in.jpg"), os.path.join(folder, "photos", "a.jpg"))
    shutil.copy(os.path.join(folder, "in.jpg"), os.path.join(folder, "photos", "b.jpg"))
    for name, text in (("list", "photos/a.jpg\n"), ("nulls", "photos/a.jpg\0photos/b.jpg\0"),
                       ("weights", " ".join(str(x * x) for x in range(32)))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


TIMES = r'"(read|decode|upload|filter|download|encode|write|total|ms)": ?[0-9.e+-]+|(?:, )?[0-9.]+ m?s\b|[0-9]+ Mpixel/s'


def trace(words, original):
    """What a run leaves to be seen; times and sizes of machines taken out."""
    folder = tempfile.mkdtemp(dir=os.path.dirname(original))
    shutil.rmtree(folder)
    shutil.copytree(original, folder)
    result = run(words, folder)
    seen = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".lapedge")
        for name in sorted(files):
            seen.update(name.encode())
            with open(os.path.join(root, name), "rb") as file:
                data = file.read()
            seen.update(re.sub(TIMES, "", data.decode()).encode() if name.endswith((".json", ".jsonl")) else data)
    shutil.rmtree(folder)
    text = re.sub(TIMES, "0 ms", result.stdout.decode() + result.stderr.decode())
    return (result.returncode, text, seen.hexdigest()), result


# What the base of a form must do without beside an option.
WITHOUT = {"ops": "--ops=", "backends": "--backends=", "csv": "--json", "json": "--json", "rotate": "--flip",
           "flip": "--flip", "transpose": "--flip", "transverse": "--flip", "files-from": "photos", "null": "photos"}


# These make a command line one of another form.
MAKERS = {"in-place", "files-from"}
# Where a backend's name is to be seen.
BACKEND = {"a folder run": ["--log=log.jsonl"], "stats": ["-v"], "stats of folders": ["-v"]}


def check(form, option, argument, applies, original, base):
    if option in MAKERS and not applies:
        return None
    value = ["--backend=sse"] + BACKEND.get(form, []) if option == "backend" else VALUES.get(option, ["--" + option] if not argument else None)
    if value is None:
        return "no value is known"
    if not applies:
        message = run(FORMS[form] + value[:1], original)
        text = message.stderr.decode()
        if message.returncode == 2 and text.startswith("lapedge: --%s does not apply" % option):
            return None
        return "not refused: exit %d, %s" % (message.returncode, text.strip())
    if option in SILENT and (option not in EQUAL or form.startswith(("compare", "diff"))):
        return None
    words = [word for word in FORMS[form] if not word.startswith(WITHOUT.get(option, "\0"))]
    plain = base if len(value) == 1 and words == FORMS[form] else trace(words + value[1:], original)[0]
    return None if trace(words + value, original)[0] != plain else "accepted, and nothing changes"


def main():
    table = [line.split("\t") for line in
             subprocess.run([PROGRAM, "__options"], capture_output=True, text=True, check=True).stdout.splitlines()]
    problems, pairs = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        original = os.path.join(scratch, "original")
        os.mkdir(original)
        prepare(original)
        for form in FORMS:
            base = trace(FORMS[form], original)[0]
            for name, _, argument, forms, _ in table:
                if name in ("help", "version") or (form, name) == ("files in place", "in-place"):
                    continue
                pairs += 1
                problem = check(form, name, argument, form in forms.split(", "), original, base)
                if problem:
                    problems.append("%s, --%s: %s" % (form, name, problem))
        # bench takes long: only what it refuses.
        for op in OPERATIONS + ["codec"]:
            for name, _, argument, forms, _ in table:
                if "bench of " + op in forms.split(", ") or name in ("help", "version"):
                    continue
                pairs += 1
                value = VALUES.get(name, ["--" + name])
                result = run(["bench", op] + value[:1], original)
                if result.returncode != 2 or b"--" + name.encode() not in result.stderr:
                    problems.append("bench of %s, --%s: not refused (%d)" % (op, name, result.returncode))
    print("%d pairs" % pairs)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


main()
