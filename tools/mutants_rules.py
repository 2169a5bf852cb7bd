"""The faults that tools/mutants plants: rules, the draw, the planted ones, and the lists under tests/mutants."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

PLANTED = Path("tests/mutants/planted.tsv")
EQUIVALENT = Path("tests/mutants/equivalent.tsv")
ROOMS = Path("tests/mutants/rooms.txt")

COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|else\b|case\b|static\b|const\b|typedef\b)"
                       r"(\(void\))?[\w\->.\[\]*]+(\(.*\)| [-+|&]?= [^{]*|\+\+|--);$")
DECLARES = re.compile(r"^\s+(const |unsigned |struct |lap_\w+ \*?\w+ =|\w+_t |int |bool |char |double |float |FILE )")


def comparisons(line):
    for match in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", line):
        yield match.span(), COMPARE[match.group()]


def one_off(line):
    for match in re.finditer(r" [+-] 1\b(?![.\w])", line):
        yield match.span(), ""
    for match in re.finditer(r"(?<![\w.\[-])([2-9]|[1-9]\d{1,4})(?![\w.])", line):
        yield match.span(), str(int(match.group()) + 1)


def negated(line):
    match = re.match(r"^\s+(?:\} else )?(?:if|while) (\(.*\))( \{)?$", line)
    if match:
        yield match.span(1), "(!" + match.group(1) + ")"


def joined(line):
    for match in re.finditer(r"&&|\|\|", line):
        yield match.span(), "||" if match.group() == "&&" else "&&"


def dropped(line):
    if STATEMENT.match(line) and not DECLARES.match(line):
        yield (len(line) - len(line.lstrip()), len(line)), ";"


RULES = {"comparison": comparisons, "one off": one_off, "negated condition": negated, "and/or": joined,
         "dropped statement": dropped}


def masked(text):
    """The text with comments, strings, characters and preprocessor lines overwritten, lengths kept."""
    def blank(match):
        return re.sub(r"[^\n]", "~", match.group())
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def changes(path):
    """All faults that the rules know in a file, by line: {line number: [fault]}. `nth` tells apart those that read the
    same, line and change alike."""
    text = path.read_text()
    lines, at, before, found, same = text.split("\n"), 0, "", {}, {}
    for number, line in enumerate(masked(text).split("\n"), 1):
        for rule, find in RULES.items():
            if find is dropped and not re.search(r"[;{}~:]\s*$|^\s*$", before):
                continue
            for (begin, end), new in find(line):
                old = text[at + begin:at + end]
                if rule == "negated condition": # the mask hides strings in conditions
                    new = "(!" + old + ")"
                fault = {"file": str(path), "line": number, "rule": rule, "text": lines[number - 1].strip(),
                         "old": old, "new": new, "begin": at + begin, "end": at + end}
                what = (fault["text"], old, new)
                fault["nth"] = same[what] = same.get(what, -1) + 1
                found.setdefault(number, []).append(fault)
        at, before = at + len(line) + 1, line
    return found


def sources():
    names = subprocess.run(["git", "ls-files", "src", "cpu_simd"], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in names.split() if name.endswith((".c", ".h")) and not name.startswith("src/lapedge")]


def digest(*words):
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def draw(seed):
    """All faults in the order of the draw: first one of each line, lines by chance, so each folder has its share by
    its lines; then the second ones. The order hangs on the words of a line and the seed, not on its place, so what is
    edited elsewhere does not change it."""
    rows = []
    for path in sources():
        same = {}
        for _, faults in sorted(changes(path).items()):
            text = faults[0]["text"]
            same[text] = same.get(text, -1) + 1
            faults.sort(key=lambda fault: digest(seed, key(fault)))
            line = digest(seed, str(path), text, same[text])
            rows += [(turn, line, fault) for turn, fault in enumerate(faults)]
    return [fault for _, _, fault in sorted(rows, key=lambda row: row[:2])]


def table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [[cell.encode().decode("unicode_escape") for cell in row] for row in rows]


def planted():
    for row in table(PLANTED):
        name, old, new = row[:3]
        text = Path(name).read_text()
        if text.count(old) != 1:
            print(f"left out: {text.count(old)} places in {name} read: {old}")
            continue
        begin = text.index(old)
        yield {"file": name, "line": text.count("\n", 0, begin) + 1, "rule": "planted", "text": old.strip(),
               "old": old, "new": new, "begin": begin, "end": begin + len(old), "nth": 0}


def key(fault):
    what = [fault[part] for part in ("file", "text", "old", "new")] + ([fault["nth"]] if fault.get("nth") else [])
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def reasons():
    """{key: why} of the faults that are listed as equivalent. A sixth column is the fault's `nth`."""
    rows = ((row + ["0"])[:6] for row in table(EQUIVALENT))
    return {key({"file": row[0], "text": row[1], "old": row[2], "new": row[3], "nth": int(row[5])}): row[4]
            for row in rows}


def read_results(path):
    """{key: record}: what was found out last about each fault."""
    return {record["key"]: record for record in map(json.loads, path.read_text().splitlines())} if path.exists() else {}


def shown(fault):
    change = f"{fault['old']!r} -> {fault['new']!r}"
    return f"{fault['file']}:{fault['line']}: {fault['rule']}: {change} in: {fault['text']}"


def rooms():
    lines = [line for line in ROOMS.read_text().splitlines() if line and not line.startswith("#")]
    return {room: tests.split() for room, tests in (line.split(":") for line in lines)}


def room_of(name, table_of_rooms):
    """The longest folder in rooms.txt that the file is in."""
    return max((room for room in table_of_rooms if name.startswith(room)), key=len, default="all")
