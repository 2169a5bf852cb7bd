#!/usr/bin/python3
"""The JSON that the program prints is what docs/schema says, and the schemas refuse what is not."""
import copy
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("1..1\nok 1 - JSON schemas # SKIP python3-jsonschema is not installed")
    sys.exit(0)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAPEDGE = os.environ.get("LAPEDGE", os.path.join(ROOT, "lapedge"))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
PLANTED = os.path.join(BUILD, "tests", "lapedge-planted")
PHOTO = os.path.join(ROOT, "samples", "coffee.jpg")
count, failed = 0, 0


def check(name, problem):
    global count, failed
    count += 1
    failed += bool(problem)
    print(f"{'not ok' if problem else 'ok'} {count} - {name}")
    if problem:
        print("# " + str(problem).replace("\n", "\n# "))


def schema(name):
    with open(os.path.join(ROOT, "docs", "schema", name + ".json")) as file:
        return json.load(file)


def problem_of(kind, text):
    def refuse(word):
        raise ValueError(f"{word} in JSON")

    try:
        jsonschema.Draft202012Validator(schema(kind)).validate(json.loads(text, parse_constant=refuse))
    except (jsonschema.ValidationError, ValueError) as error:
        return str(error)[:600]
    return None


def holds(kind, name, code, *words, program=LAPEDGE):
    run = subprocess.run([program, kind, "--json", *words], capture_output=True, text=True)
    wrong = f"exit code {run.returncode}: {run.stderr}" if run.returncode != code else None
    check(f"{kind}: {name}", wrong or problem_of(kind, run.stdout))
    return run.stdout


def is_refused(kind, name, text, change):
    changed = copy.deepcopy(json.loads(text))
    change(changed)
    check(f"{kind}: {name} is refused", None if problem_of(kind, json.dumps(changed)) else "it was taken")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([LAPEDGE, PHOTO, "edges.png"], check=True)
    subprocess.run([LAPEDGE, "--gray", "--kernel=identity", PHOTO, "a.pgm"], check=True)
    for name in ("diff", "compare"):
        jsonschema.Draft202012Validator.check_schema(schema(name))

    text = holds("diff", "different pictures", 1, PHOTO, "edges.png")
    is_refused("diff", "a key left out", text, lambda o: o.pop("rmse"))
    is_refused("diff", "a word for a number", text, lambda o: o.update(psnr="inf"))
    is_refused("diff", "an unknown key", text, lambda o: o.update(extra=1))
    is_refused("diff", "another schema", text, lambda o: o.update(schema="lapedge.diff/2"))
    holds("diff", "identical pictures", 0, "a.pgm", "a.pgm")
    holds("diff", "all tolerances", 0, "--max-abs=255", "--max-differing=100%", "--min-psnr=0.1", PHOTO, "edges.png")
    os.rename("a.pgm", b"caf\xe9.pgm")
    holds("diff", "a name that is not UTF-8", 0, b"caf\xe9.pgm", b"caf\xe9.pgm")

    text = holds("compare", "every rung of every ladder", 0, "--ops=all", PHOTO)
    is_refused("compare", "a row without a key", text, lambda o: o["rows"][0].pop("identical"))
    is_refused("compare", "a rung that is not there and ran", text, lambda o: o["rows"][0].update(available=False))
    holds("compare", "a kernel of fractions", 0, "--max-abs=1", "--kernel=" + ",".join(["0.1"] * 25), PHOTO)
    if os.access(PLANTED, os.X_OK):
        holds("compare", "wrong rungs", 1, "--backends=off-by-one,no-border", PHOTO, program=PLANTED)
        holds("compare", "a rung that fails", 2, PHOTO, program=PLANTED)
    os.mkdir("photos")
    with open(PHOTO, "rb") as file:
        photo = file.read()
    for name in (b"photos/two.jpg", b"photos/thr\xff.jpg"):
        with open(name, "wb") as file:
            file.write(photo)
    holds("compare", "a folder", 0, "--backends=c,simd", "photos")

print(f"1..{count}")
sys.exit(failed > 0)
