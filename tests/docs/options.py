#!/usr/bin/env python3
"""options.py LAPEDGE: the manual page has every option of the program's table, with the same value and letter,
and no other; README and the pages about the command line name no option that is not there."""
import re
import subprocess
import sys

PAGES = ["README.md", "docs/folders.md", "docs/json.md", "docs/damage.md"]


def manual(path):
    """name -> (letters, value) of each .It line with an option."""
    options = {}
    with open(path) as page:
        for line in page:
            if not line.startswith(".It Fl"):
                continue
            text = re.sub(r" Ns | Ns$", "", line[4:].strip())
            text = re.sub(r"(?<![A-Z])(Fl|Ar|Cm) ?", lambda m: "-" if m[1] == "Fl" else "", text)
            letter = ""
            for word in re.split(r" , |, | ,", text):
                if not word.startswith("--"):
                    letter = word.strip("- ,")
                    continue
                name, _, value = word[2:].partition("=")
                options.setdefault(name, set()).add((letter, value.replace(" ", "")))
                letter = ""
    return options


def main():
    rows = [line.split("\t") for line in
            subprocess.run([sys.argv[1], "__options"], capture_output=True, text=True, check=True).stdout.splitlines()]
    table = {row[0]: ("h" if row[0] == "help" else row[1], row[2]) for row in rows}
    page, problems = manual("docs/lapedge.1"), []
    for name, (letter, value) in table.items():
        if name not in page:
            problems.append("docs/lapedge.1 has no --%s" % name)
        elif (letter, value) not in page[name]:
            problems.append("docs/lapedge.1: --%s is %s, not %s" % (name, sorted(page[name]), (letter, value)))
    problems += ["docs/lapedge.1: no option is called --" + name for name in page if name not in table]
    named = 0
    for path in PAGES:
        with open(path) as file:
            text = file.read()
        for word in set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text)):
            named += 1
            if word not in table:
                problems.append("%s: no option is called --%s" % (path, word))
    if named < 20:
        problems.append("only %d options are named in the pages" % named)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
