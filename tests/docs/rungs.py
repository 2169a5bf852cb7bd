#!/usr/bin/env python3
"""rungs.py LAPEDGE: under each backend of the filter, and each CUDA backend of the other ladders, its page names the
file and shows 3 to 8 lines of it."""
import json
import re
import subprocess
import sys

FAMILIES = ("auto", "simd", "cuda-shared4")  # stand for others
# Of the page of the operations: a ladder's section.
SECTIONS = {"transpose": "The transpose, step by step", "reduce": "The sum, step by step",
            "matvec": "The product, step by step", "histogram": "The histogram, step by step"}


def page_of(op, name):
    if op == "filter":
        with open("docs/ladder.md" if name.startswith("cuda") else "docs/ladder-cpu.md", encoding="utf-8") as file:
            return file.read()
    with open("docs/claims.md", encoding="utf-8") as file:
        return file.read().split("### " + SECTIONS[op] + "\n")[1].split("\n## ")[0]


def parts(page):
    """{backend: what stands from its name, in bold, to the next}; c has all that no other name has before it."""
    found, names, text = {}, ["c"], ""
    for line in page.splitlines() + ["## "]:
        bold = re.match(r"\*\*(`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*)\*\*", line)
        if bold or line.startswith("## "):
            for name in names:
                found[name] = found.get(name, "") + text
            names, text = re.findall(r"`(.*?)`", bold.group(1)) if bold else ["c"], ""
        text += line + "\n"
    return found


def main():
    said = subprocess.run([sys.argv[1], "backends", "--json"], capture_output=True, check=True, text=True).stdout
    problems, seen = [], 0
    for row in json.loads(said)["rows"]:
        op, name = row["op"], row["name"]
        if name in FAMILIES or (op != "filter" and row["family"] != "cuda"):
            continue
        seen += 1
        part = parts(page_of(op, name)).get(name, "")
        lengths = [len(block.splitlines()) for block in re.findall(r"```(?:c|cuda)\n(.*?)```", part, re.S)]
        if not any(3 <= length <= 8 for length in lengths) or max(lengths) > 8:
            problems.append(f"{op} {name}: lines of code: {lengths or 'none'}")
        if not re.search(r"\[(?:the )?file\]\(\.\./", part, re.I):
            problems.append(f"{op} {name}: no link to its file")
    print("\n".join(problems))
    sys.exit(bool(problems) or seen < 50)


main()
