#!/usr/bin/env python3
"""tests/README.md says where the test of X is: every room, folder of backends and file of src/cli has a row, every
folder of tests/ has one, and what the rows name is there. The tests and the lines that the lists of tools/test/mutants
name exist, too."""
import pathlib
import re
import sys
import tempfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools/test")]
import mutants_rules  # noqa: E402
import tap  # noqa: E402

PAGE, TESTS, CLI = ROOT / "tests/README.md", ROOT / "tests", ROOT / "src/cli"
OTHERS = ("cpu_simd", "cuda", "python", "lessons")
OPENS = (".bats", ".py", ".sh", ".c", ".cu", ".cpp", ".tsv")


def rows(text, title):
    """{first cell's word: words of the second} of the table that follows a heading with these words."""
    found = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = re.findall(r"^\| `([^`]+)` \| (.*) \|$", found[1] if found else "", re.M)
    return {name: re.findall(r"`([^`]+)`", tests) for name, tests in lines}


def houses():
    return {f"src/{p.name}" for p in (ROOT / "src").iterdir() if p.is_dir() and p.name != "cli"} | set(OTHERS)


def files():
    return {str(p.relative_to(CLI)) for p in CLI.rglob("*.c")}


def is_test(name):
    """A file with tests, or a folder that has some."""
    path = TESTS / name
    some = [path] if path.is_file() else path.rglob("*") if path.is_dir() else ()
    return any(p.suffix in OPENS for p in some)


def problems(text, rooms, of_cli):
    """What the page has wrong, beside these rooms and files."""
    by_room, by_file = rows(text, "Folders of the sources"), rows(text, "Files of the program")
    bad = [f"no row: {name}" for name in sorted((rooms - by_room.keys()) | (of_cli - by_file.keys()))]
    bad += [f"a row, but it is gone: {name}" for name in by_room if name not in rooms]
    bad += [f"a row, but it is gone: src/cli/{name}" for name in by_file if not any(CLI.glob(name))]
    for name, tests in [*by_room.items(), *by_file.items()]:
        bad += [f"{name}: no test: {test}" for test in tests or [""] if not test or not is_test(test)]
    # A subject with a separate test folder is looked up there first.
    first = {tests[0] for tests in by_file.values() if tests}
    bad += [f"no row begins with unit/cli/{p.name}" for p in sorted((TESTS / "unit/cli").glob("test_*.c"))
            if f"unit/cli/{p.name}" not in first]
    for folder in sorted(p.name for p in (TESTS / "unit").iterdir() if p.is_dir() and p.name != "cli"):
        room = folder if folder in OTHERS else f"src/{folder}"
        if by_room.get(room, [None])[0] != f"unit/{folder}":
            bad.append(f"{room}: its row does not begin with unit/{folder}")
    return bad


def folders(text):
    """Folders of tests/ without a row, and rows without a folder."""
    listed = set(re.findall(r"^\| `(\w+)/` \|", text, re.M))
    return sorted(listed ^ {p.name for p in TESTS.iterdir() if p.is_dir() and any(p.rglob("*.*"))})


def lost():
    """Tests of rooms.txt that are not there."""
    made = "\n".join(p.read_text(encoding="utf-8") for p in TESTS.rglob("*.mk"))
    made += " ".join(p.stem for p in TESTS.rglob("*.c"))
    for line in (TESTS / "support/mutants/rooms.txt").read_text(encoding="utf-8").splitlines():
        for word in [] if line.startswith("#") else line.split(": ", 1)[1].split():
            name = word.split("@")[0]
            short = re.sub("^(cudacpu|fuzz)_", "", name)  # the rules put that in front of some
            if not ((ROOT / name).is_file() if "/" in name else re.search(rf"\b({name}|{short})\b", made)):
                yield f"{line.split(':')[0]}: {word}"


GONE = {"PLANTED": "src/base/text.c\tgone();\t;\n", "EQUIVALENT": "src/base/text.c\tgone();\tgone();\t;\twhy\n",
        "SURVIVORS": "src/base/text.c\tgone();\tgone();\t;\t0\n", "CENSUS": "src/base/gone.c\t1\n"}


def of_a_gone_line(name, row):
    """What is said of a list with a row about a line, or a file, that is not there."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file, mock.patch.object(
            mutants_rules, name, pathlib.Path(file.name)):
        file.write(row)
        file.flush()
        return list(mutants_rules.gone())


def main():
    text = PAGE.read_text(encoding="utf-8")
    bad = problems(text, houses(), files())
    tap.report(not bad and len(files()) > 40, "every room and every file of src/cli has a row, and its tests are there",
               "\n".join(bad))
    tap.report(not folders(text), "every folder of tests/ has a row", folders(text))
    tap.report(not any(lost()), "the tests that rooms.txt names are there", "\n".join(lost()))
    gone = list(mutants_rules.gone())
    tap.report(not gone, "the lists of faults name lines of the sources", "\n".join(gone))
    homeless = sorted(str(p.relative_to(ROOT)) for p in TESTS.glob("unit/test_*.c"))
    tap.report(not homeless, "every test of unit/ is in the folder of its room", homeless)
    for what, found in (("a new room", problems(text, houses() | {"src/new"}, files())),
                        ("a new file", problems(text, houses(), files() | {"cmd_new.c"})),
                        ("a test that is gone", problems(text.replace("cli/diff.bats", "cli/x.bats"), houses(), files())),
                        ("a file that is gone", problems(text + "| `gone.c` | `cli/run.bats` |\n", houses(), files())),
                        *((f"a row of {name} whose line is gone", of_a_gone_line(name, row))
                          for name, row in GONE.items())):
        tap.report(bool(found), f"{what} is found")
    tap.finish()


if __name__ == "__main__":
    main()
