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

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
LAPEDGE = os.environ.get("LAPEDGE", os.path.join(ROOT, "lapedge"))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
WRONG = os.path.join(BUILD, "tests", "lapedge-wrong")
PHOTO = os.path.join(ROOT, "samples", "coffee.jpg")
count, failed = 0, 0


def check(name, problem):
    global count, failed
    count += 1
    failed += bool(problem)
    print(f"{'not ok' if problem else 'ok'} {count} - {name}")
    if problem:
        print("# " + str(problem).replace("\n", "\n# "))


def closed(part):
    """The schema without room for keys that it does not name: readers must bear new ones, this program may not
    print what is not described."""
    if isinstance(part, list):
        return [closed(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    whole = {key: closed(value) for key, value in part.items()}
    if part.get("type") == "object" and "additionalProperties" not in part:
        whole["additionalProperties"] = False
    return whole


def schema(name):
    with open(os.path.join(ROOT, "docs", "schema", name + ".json")) as file:
        return closed(json.load(file)) if name in ("diff", "diff_folders", "compare") else json.load(file)


def problem_of(kind, text):
    def refuse(word):
        raise ValueError(f"{word} in JSON")

    try:
        jsonschema.Draft202012Validator(schema(kind)).validate(json.loads(text, parse_constant=refuse))
    except (jsonschema.ValidationError, ValueError) as error:
        return str(error)[:600]
    return None


def holds(kind, name, code, *words, program=LAPEDGE):
    command = [] if kind in ("file", "run") else [kind]
    run = subprocess.run([program, *command, "--json", *words], capture_output=True, text=True)
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
    for name in ("file", "log", "run", "stats", "stats_failed", "stats_totals", "bench", "backends", "diff", "diff_folders", "compare",
                 "error", "not_taken"):
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
    if os.access(WRONG, os.X_OK):
        holds("compare", "wrong rungs", 1, "--backends=off-by-one,no-border", PHOTO, program=WRONG)
        holds("compare", "a rung that fails", 2, PHOTO, program=WRONG)
    os.mkdir("photos")
    with open(PHOTO, "rb") as file:
        photo = file.read()
    for name in (b"photos/two.jpg", b"photos/thr\xff.jpg"):
        with open(name, "wb") as file:
            file.write(photo)
    holds("compare", "a folder", 0, "--backends=c,simd", "photos")

    os.mkdir("others")
    for name, data in (("two.jpg", photo), ("four.jpg", photo), ("cut.jpg", photo)):
        with open(os.path.join("others", name), "wb") as file:
            file.write(data)
    with open("photos/cut.jpg", "wb") as file:
        file.write(photo[:20000])
    run = subprocess.run([LAPEDGE, "diff", "--json", "photos", "others"], capture_output=True, text=True)
    check("diff_folders: equal, missing and broken ones",
          problem_of("diff_folders", run.stdout) or (None if run.returncode == 2 else run.returncode))
    is_refused("diff_folders", "an unknown outcome", run.stdout, lambda o: o["rows"][0].update(outcome="odd"))
    is_refused("diff_folders", "an unknown key", run.stdout, lambda o: o.update(extra=1))
    os.remove("photos/cut.jpg")
    text = holds("file", "a picture", 0, PHOTO, "out.jpg")
    text_of_one = text
    is_refused("file", "a time left out", text, lambda o: o["ms"].pop("upload"))
    is_refused("file", "a local time", text, lambda o: o.update(started="2026-01-31T12:00:00+01:00"))
    is_refused("file", "an exit code of no process", text, lambda o: o.update(exit_code=256))
    with open("in_place.jpg", "wb") as file:
        file.write(photo)
    holds("file", "in place", 0, "--in-place", "in_place.jpg")
    holds("file", "a picture that is not there", 1, "none.jpg", "out.jpg")
    holds("file", "a name that is not UTF-8", 0, b"photos/thr\xff.jpg", b"thr\xff.png")
    text = holds("run", "a folder", 0, "--log=log.jsonl", "photos", "done")
    is_refused("run", "no time of its start", text, lambda o: o.pop("started"))
    is_refused("run", "no exit code", text, lambda o: o.update(exit_code=None))
    holds("run", "outputs that are removed", 0, "--prune", "photos", "done")
    is_refused("run", "an unknown kind", text, lambda o: o["kinds"].update(odd=1))
    holds("run", "a folder again", 0, "photos", "done")
    with open("log.jsonl") as log:
        lines = log.read().splitlines()
    check("a log has its settings and a line an input", len(lines) != 3)
    check("log: the first line", problem_of("log", lines[0]))
    is_refused("log", "settings without a kernel", lines[0], lambda o: o["settings"].pop("coefficients"))
    for line in lines[1:]:
        check("file: a line of the log", problem_of("file", line))
    check("settings are those of a picture by itself, and stand once", None if [
        json.loads(line).get("settings") for line in lines] == [json.loads(text_of_one)["settings"], None, None]
        and schema("log")["properties"]["settings"] == schema("file")["properties"]["settings"] else lines)
    holds("run", "outputs below it", 0, "--log=log.jsonl", ".", "more/")
    with open("log.jsonl") as log:
        last = log.read().splitlines()[-1]
    check("not_taken: the last line of a log", problem_of("not_taken", last))
    is_refused("not_taken", "a count left out", last, lambda o: o["not_taken"].pop("outputs"))
    text = holds("stats", "a picture", 0, PHOTO)
    is_refused("stats", "a count left out", text, lambda o: o["edges"]["channels"][0]["histogram"].pop())
    is_refused("stats", "no border", text, lambda o: o.pop("border"))
    is_refused("stats", "an unknown border", text, lambda o: o.update(border="none"))
    holds("stats", "a constant border", 0, "--border=constant:7", "--range=abs", PHOTO)
    holds("stats", "profiles and a threshold", 0, "--profiles", "--threshold=9", "--gray", PHOTO)
    with open("photos/cut.jpg", "wb") as file:
        file.write(photo[:20000])
    run = subprocess.run([LAPEDGE, "stats", "--json", "--mask-border=2", "photos", "--threshold=9"],
                         capture_output=True, text=True)
    lines = run.stdout.splitlines()
    for line in lines:
        name = json.loads(line)["schema"].split(".")[1].split("/")[0]
        check("%s: a line of a folder" % name, problem_of(name, line))
    check("stats of a folder has all three kinds of lines",
          {json.loads(line)["schema"] for line in lines} != {"lapedge.stats/1", "lapedge.stats_failed/1",
                                                             "lapedge.stats_totals/1"} or run.returncode != 1)
    is_refused("stats_totals", "no kernel", lines[-1], lambda o: o.pop("kernel"))
    is_refused("stats_totals", "a kind of photos left out", lines[-1], lambda o: o.pop("gray"))
    is_refused("stats_failed", "no message", next(line for line in lines if "stats_failed" in line),
               lambda o: o["error"].pop("message"))
    os.remove("photos/cut.jpg")
    text = holds("bench", "every ladder", 0, "--runs=1", "--sizes=64x48", "--n=64", "filter", "transpose", "reduce",
                 "histogram", "matvec")
    is_refused("bench", "a word for a time", text, lambda o: o["rows"][0].update(median_ms="fast"))
    for words in (["stats", "none.jpg"], ["diff", "a", "b"], ["bench", "nothing"], ["--foo", "a", "b"], ["run"]):
        run = subprocess.run([LAPEDGE, "--json", *words], capture_output=True, text=True)
        check("error: " + " ".join(words), problem_of("error", run.stdout))
    is_refused("error", "no message", run.stdout, lambda o: o["error"].pop("message"))
    text = holds("info", "a photo", 0, PHOTO)
    is_refused("info", "a frame left out", text, lambda o: o.pop("frame"))
    text = subprocess.run([LAPEDGE, "doctor", "--json"], capture_output=True, text=True).stdout
    check("doctor: this machine", problem_of("doctor", text))
    is_refused("doctor", "a word for a number", text, lambda o: o.update(threads="two"))
    text = holds("backends", "every rung", 0)
    is_refused("backends", "a rung without a name", text, lambda o: o["rows"][0].pop("name"))

print(f"1..{count}")
sys.exit(failed > 0)
