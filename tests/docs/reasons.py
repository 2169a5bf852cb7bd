#!/usr/bin/env python3
"""reasons.py [--list] [FOLDER]: each sentence of the pages and heads below that has a word of a reason stands in a row
of docs/reasons.md, with the counter that bears it out, or in tests/docs/no-reason.txt, as one that explains no time and no
counter.

A row quotes a part of its sentence; " ... " stands for what is left out, and numbers that tools fill in are "#". Its
verdict is one of three; a sentence whose row says conjecture says so, and these are at most a fifth. A sentence that
begins with "Predicted" needs no row (the result stands after it), nor does one with "Limit: not measured". A head's
"Measured:" has a row, too, and each number of it and of "Limit:" stands among the row's values. --list prints the
sentences that have neither.
FOLDER: the tree, if not this one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(next((word for word in sys.argv[1:] if word != "--list"),
                         pathlib.Path(__file__).resolve().parent.parent.parent))
TABLE, OTHERS = "docs/reasons.md", "tests/docs/no-reason.txt"
PAGES = ["docs/ladder.md", "docs/ladder-cpu.md", "docs/claims.md", "docs/gpu-codec.md", "docs/parallel-decoding.md",
         "docs/ports.md"]
HEADS = ["cuda/*/*.cu", "cpu_simd/*/*_[0-9]*_*.c"]
WORD = re.compile(r"\b(?:because|so|hence|therefore|limit(?:s|ed|er)?|the bound|conjecture)\b|, since |^measured:", re.I)
NONE = ("Predicted", "Limit: not measured")
NUMBER = re.compile(r"(?<![\w.^])\d+(?:\.\d+)?(?![\w^])")  # no size, no name of a device

VERDICTS = ("shown by a control", "agrees with the counter", "conjecture")
MOST = 0.2
BLOCK = re.compile(r"<!-- (table|code|kept|codec-[a-z-]+)\b.*?-->.*?<!-- /\1 -->", re.S)


def plain(text):
    """Without marks, emphasis and the targets of links; numbers that tools fill in are #."""
    text = re.sub(r"<!--= ?.*?-->(.*?)<!--/-->", lambda mark: mark[1] if re.search("[a-z]{2}", mark[1]) else "#", text,
                  flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return " ".join(re.sub(r"[`*]|\]\([^)]*\)|\[", "", text).split())


def sentences_in(text):
    return [part for part in re.split(r"(?<=[.?!])\s+(?=[A-Z#(\d-])|(?<=[a-z)]\.)\s+", plain(text)) if part]


def of_page(text):
    text = re.sub(r"```.*?```", "\n\n", BLOCK.sub("\n\n", text), flags=re.S)
    for part in re.split(r"\n\s*\n|\n(?=[-|] |\|---)", text):
        if not part.startswith("    "):
            for cell in re.sub(r"\\\|", "/", part).split(" | ") if part.lstrip("\n").startswith("|") else [part]:
                yield from sentences_in(cell.strip("|\n "))


def of_head(text):
    found = re.match(r"/\*(.*?)\*/", text, re.S)
    words = " ".join(line.strip().lstrip("*").strip() for line in found.group(1).splitlines()) if found else ""
    return sentences_in(words)


def all_sentences():
    """{file: its sentences}"""
    names = [ROOT / name for name in PAGES] + sorted(path for head in HEADS for path in ROOT.glob(head))
    found = {}
    for path in names:
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        found[name] = list((of_page if name.endswith(".md") else of_head)(text))
    return found


def fits(quote, sentence):
    return re.search(".*?".join(re.escape(part) for part in plain(quote).split(" ... ")), sentence) is not None


def rows():
    """File, quote, value, what else, verdict of each row of the page."""
    name = None
    for line in (ROOT / TABLE).read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            name = line[4:].strip("` ")
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "sentence":
            yield (cells[0].split(": ", 1)[0].strip("`") if name == "Heads of files" else name,
                   cells[0].split(": ", 1)[1] if name == "Heads of files" else cells[0], *cells[1:])


def untold(quote, sentences, value):
    """Numbers of what a head says was measured, or limits, that the row's value does not have."""
    told = set(NUMBER.findall(re.sub(r"<!--.*?-->", "", value)))
    for sentence in sentences:
        if quote.startswith(("Measured: ", "Limit: ")):
            yield from sorted(set(NUMBER.findall(re.sub(r"Zen 4", "", sentence))) - told)


def main():
    found, problems = all_sentences(), []
    covered = {name: set() for name in found}
    kept = list(rows())
    for name, quote, value, other, verdict in kept:
        hits = [s for s in found.get(name, ()) if fits(quote, s) and not s.startswith(NONE)]
        covered.setdefault(name, set()).update(hits)
        if not hits:
            problems.append(f"{TABLE}: {name} has no such sentence: {quote}")
        if verdict not in VERDICTS:
            problems.append(f"{TABLE}: no verdict: {verdict}")
        elif verdict == "conjecture" and not all("conjecture" in s for s in hits):
            problems.append(f"{name}: must say that it is a conjecture: {quote}")
        elif verdict != "conjecture" and "<!--=" not in value:
            problems.append(f"{TABLE}: {verdict}, without a value: {quote}")
        problems += [f"{TABLE}: {name}: {number} is not among the values" for number in untold(quote, hits, value)]
        if not other:
            problems.append(f"{TABLE}: what else could explain it? {quote}")
    for line in (ROOT / OTHERS).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, quote = line.split(": ", 1)
            hits = [s for s in found.get(name, ()) if fits(quote, s)]
            covered.setdefault(name, set()).update(hits)
            if not hits:
                problems.append(f"{OTHERS}: {name} has no such sentence: {quote}")
    reasons = [(name, s) for name, all_of_it in found.items() for s in all_of_it
               if WORD.search(s) and not s.startswith(NONE)]
    bare = [(name, s) for name, s in reasons if s not in covered[name]]
    guesses = sum(row[4] == "conjecture" for row in kept)
    if "--list" in sys.argv:
        print("\n".join(f"{name}: {s}" for name, s in bare))
        return
    problems += [f"{name}: no row in {TABLE}: {s}" for name, s in bare]
    if guesses > MOST * len(kept):
        problems.append(f"{TABLE}: {guesses} of {len(kept)} rows are conjectures")
    print("\n".join(problems) or f"# {len(kept)} rows, {guesses} conjectures; {len(reasons)} sentences have such a word")
    sys.exit(bool(problems))


main()
