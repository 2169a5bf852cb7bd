#!/usr/bin/env python3
"""options.py LAPEDGE: README and the pages about the command line, the manual too, name no option that is not in the
program's table. (tools/figures/manual writes the manual's entries from that table.)"""
import re
import subprocess
import sys

PAGES = ["docs/lapedge.1", "README.md", "docs/folders.md", "docs/json.md", "docs/damage.md"]


def main():
    rows = [line.split("\t") for line in
            subprocess.run([sys.argv[1], "__options"], capture_output=True, text=True, check=True).stdout.splitlines()]
    table = {row[0] for row in rows}
    problems = []
    named = 0
    for path in PAGES:
        with open(path) as file:
            text = file.read()
        for word in set(re.findall(r"(?:(?<![\w-])--|Fl -)([a-z][a-z-]*)", text)):
            named += 1
            if word not in table and word != "name":  # of --name=value
                problems.append("%s: no option is called --%s" % (path, word))
    if named < 20:
        problems.append("only %d options are named in the pages" % named)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
