#!/usr/bin/env python3
"""tools/test/mutants on a small tree with planted faults: what --census and --survivors find out, and what they write
down.

The tree has one file: the tests look at one of its functions, and not at the other."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.path.insert(0, "tests/support")
from tap import finish, report # noqa: E402 pylint: disable=wrong-import-position

SOURCE = """int most(int a, int b);
int unseen(int a);

int most(int a, int b)
{
    int sum = a + b;
    if (sum > 10)
        sum = 10;
    return sum;
}

int unseen(int a)
{
    if (a == 7)
        return 8;
    return a;
}
"""
TEST = """int most(int a, int b);
int unseen(int a);
int main(void)
{
    return !(most(3, 4) == 7 && most(9, 9) == 10 && most(5, 6) == 10%s);
}
"""
MAKEFILE = """lapedge: build/src/toy.o
	cp $< $@
# The line must be there under a sanitizer: a change of it does not compile there.
build/src/toy.o: src/toy.c
	$(if $(SAN),grep -q 'return 8;' $<)
	mkdir -p $(@D)
	$(CC) $(OPT) -c -o $@ $<
build/tests/test_toy: tests/test_toy.c build/src/toy.o
	mkdir -p $(@D)
	$(CC) $(OPT) -o $@ $^
build/tests/%.so:
	mkdir -p $(@D)
	touch $@
print-sanitized:
	@echo AddressSanitizer build/tests/test_toy
	@echo ThreadSanitizer build/tests/test_toy
"""
RUN = '#!/bin/sh\nfor program; do :; done\nexec "$program"\n'
TABLES = {"rooms.txt": "src: test_toy\nall: test_toy\nrest: test_toy\n", "census.tsv": "# counts\n",
          "survivors.tsv": "# survivors\n", "equivalent.tsv": "# reasons\n", "planted.tsv": "# planted\n",
          "seeds.tsv": "# seeds\n"}


def write(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def grow(tree):
    for name in ("mutants", "mutants_rules.py"):
        (tree / "tools/test").mkdir(parents=True, exist_ok=True)
        shutil.copy(Path("tools/test") / name, tree / "tools/test")
    for name, text in TABLES.items():
        write(tree, "tests/support/mutants/" + name, text)
    for name, text in {"src/toy.c": SOURCE, "Makefile": MAKEFILE, "tests/run": RUN, ".gitignore": "build\n",
                       "tests/test_toy.c": TEST % ""}.items():
        write(tree, name, text)
    (tree / "tests/run").chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "toy"], cwd=tree, check=True)


def mutants(tree, *words):
    done = subprocess.run([sys.executable, "tools/test/mutants", *words], cwd=tree, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def rows(tree, name):
    lines = (tree / "tests/support/mutants" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def tries(output):
    return sum(line.startswith(("caught", "survived", "equivalent", "no code")) for line in output.splitlines())


def census(tree):
    """file, faults, caught, no code, same object, reason, survived, not tried"""
    (row,) = rows(tree, "census.tsv")
    return row[0], *map(int, row[1:])


def check(tree):
    _, listed = mutants(tree, "--census=src/toy", "--list")
    total = len(listed.splitlines())
    report(total == 8, "the rules know eight faults in the tree", listed)

    status, output = mutants(tree, "--census=src/toy", "--narrow")
    name, faults, caught, *others, left, missing = census(tree)
    report(status == 1 and name == "src/toy.c" and faults == total and missing == 0 and
           caught + sum(others) + left == total, "a census counts each fault once", output)
    survivors = rows(tree, "survivors.tsv")
    report(len(survivors) == left >= 3 and caught >= 3, "it lists the faults that survived", survivors)
    report(sum("a == 7" in row[1] or row[1] == "return 8;" for row in survivors) >= 3,
           "faults that no test looks at survive", survivors)

    status, output = mutants(tree, "--census=src/toy", "--narrow")
    report(tries(output) == left and census(tree)[2] == caught and rows(tree, "survivors.tsv") == survivors,
           "a second census tries nothing, and writes the same rows", output)

    write(tree, "tests/test_toy.c", TEST % " && unseen(7) == 8 && unseen(6) == 6")
    status, output = mutants(tree, "--census=src/toy", "--narrow", "--survivors")
    now = census(tree)
    report(now[1] == total and now[7] == 0 and now[2] > caught and now[2] + now[6] == caught + left,
           "--survivors tries what survived, and the row still counts the whole file", f"{now}\n{output}")
    report(all("a == 7" not in row[1] for row in rows(tree, "survivors.tsv")), "what is caught now is not listed",
           rows(tree, "survivors.tsv"))

    write(tree, "tests/support/mutants/equivalent.tsv", "# reasons\n" + "".join(
        "\t".join([*row[:4], "a reason", row[4]]) + "\n" for row in rows(tree, "survivors.tsv")))
    status, output = mutants(tree, "--census=src/toy", "--narrow")
    report(status == 0 and census(tree)[6] == 0 and census(tree)[5] == now[6] and not rows(tree, "survivors.tsv"),
           "a survivor with a reason is no survivor", f"{census(tree)}\n{output}")
    report((tree / "src/toy.c").read_text() == SOURCE, "the sources are as they were")


def check_drawing(tree):
    path = tree / "tests/support/mutants/drawings/5.jsonl"
    _, output = mutants(tree, "4", "--drawing", "--seed=5")
    lines = path.read_text().splitlines(keepends=True)
    (row,) = rows(tree, "seeds.tsv")
    left = int(row[4]) # are named once more at the end
    report(len(lines) == 1 + tries(output) - left and row[:3] == ["5", "4", "no"] and sum(map(int, row[3:6])) == 4,
           "a drawing is written down as it goes, and gets its row at its end", output)

    # The second sitting: one result is there; the sources have changed meanwhile, and a test has another name.
    path.write_text("".join(lines[:2]))
    write(tree, "tests/support/mutants/seeds.tsv", TABLES["seeds.tsv"])
    write(tree, "src/toy.c", SOURCE.replace("10", "11"))
    write(tree, "tests/support/mutants/rooms.txt", TABLES["rooms.txt"].replace("test_toy", "test_new"))
    _, output = mutants(tree, "--drawing", "--seed=5")
    write(tree, "tests/support/mutants/rooms.txt", TABLES["rooms.txt"])
    report(rows(tree, "seeds.tsv") == [row] and path.read_text().startswith("".join(lines[:2])) and
           "--seed=5 continues" in output, "another sitting continues it, in the sources where it began", output)
    before = path.read_text()
    _, output = mutants(tree, "--drawing", "--seed=5")
    report(path.read_text() == before and rows(tree, "seeds.tsv") == [row], "one that has ended tries nothing", output)

def check_map(tree):
    """A map says which test executes which line; a line, or a test, that it does not know: everything is run."""
    write(tree, "src/toy.c", SOURCE)
    sys.path.insert(0, str(tree / "tools/test"))
    here = Path.cwd()
    os.chdir(tree)
    from mutants_rules import state # pylint: disable=import-outside-toplevel
    sources = state()
    os.chdir(here)
    number = SOURCE.splitlines().index("    if (sum > 10)") + 1

    def verdict(of, name, known, lines):
        write(tree, "map.json", json.dumps({"sources": of, "lines": {"src/toy.c": known}, "tests": {
            "test_toy": {"": {"seconds": 1, "lines": lines}}}}))
        _, output = mutants(tree, "--census=src/toy", "--map=map.json", f"--results=map-{name}.jsonl")
        found = [line for line in output.splitlines() if "in: if (sum > 10)" in line and "negated" in line]
        return found[0].split()[0] if found else output
    for name, wanted, known, lines in (
            ("executed", "caught", [number], {"src/toy.c": [number]}), ("not executed", "survived:", [number], {}),
            ("in no map", "caught", [], {}), ("of a test that failed", "caught", [number], None)):
        found = verdict(sources, name, known, lines)
        report(found == wanted, f"a fault whose line is {name}: {wanted}", found)
    found = verdict("0", "other", [], {})
    report("is about other sources" in found, "a map of other sources is refused", found)


def check_sanitized(tree):
    """A survivor that a sanitizer build cannot contain is still a survivor."""
    write(tree, "src/toy.c", SOURCE)
    write(tree, "tests/test_toy.c", TEST % "")
    _, output = mutants(tree, "--census=src/toy", "--narrow", "--sanitize", "--results=sanitized.jsonl")
    survivors = [row[1] for row in rows(tree, "survivors.tsv")]
    report("return 8;" in survivors and any("a == 7" in text for text in survivors) and census(tree)[3] == 0,
           "a fault that does not compile under a sanitizer stays a survivor", (survivors, census(tree), output))


def check_moved(tree):
    """A map of an earlier commit holds for the lines that are the same now."""
    write(tree, "src/toy.c", SOURCE)
    lines = SOURCE.splitlines()
    changed = ["/* new */", *lines[:5], "    int sum = b + a;", "    /* new */", *lines[6:11], *lines[12:]]
    numbers = range(1, len(lines) + 1)
    sys.path.insert(0, str(Path("tools/test").resolve()))
    moved = SourceFileLoader("mutants_map", "tools/test/mutants_map").load_module().moved
    here = Path.cwd()
    os.chdir(tree)
    write(tree, "src/toy.c", "\n".join(changed) + "\n")
    found = moved("HEAD", "src/toy.c", numbers)
    os.chdir(here)
    report(found.keys() == {*numbers} - {6, 12} and all(changed[new - 1] == lines[old - 1]
                                                        for old, new in found.items()),
           "a moved map knows where each unchanged line is now, and no other", found)


with tempfile.TemporaryDirectory() as folder:
    grow(Path(folder))
    check(Path(folder))
    check_drawing(Path(folder))
    check_map(Path(folder))
    check_sanitized(Path(folder))
    check_moved(Path(folder))
finish()
