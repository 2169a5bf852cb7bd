"""The faults that tools/test/mutants plants: rules, the draw, the planted ones, and the lists of
tests/support/mutants."""

import collections
import hashlib
import json
import math
import re
import subprocess
import sys
from pathlib import Path

# The faults are of the sources in the working folder, which may be those of another commit, and so are the tests that
# rooms.txt names: the other lists are ours.
LISTS = Path(__file__).resolve().parents[2] / "tests/support/mutants"
PLANTED, EQUIVALENT, ROOMS = LISTS / "planted.tsv", LISTS / "equivalent.tsv", Path("tests/support/mutants/rooms.txt")
SEEDS, CENSUS, SURVIVORS = LISTS / "seeds.tsv", LISTS / "census.tsv", LISTS / "survivors.tsv"
FRAME, KINDS = ("src", "cpu_simd", "cuda"), (".c", ".h", ".cu", ".cuh")

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


def tracked():
    """The files of the tree, or of a tree that git archive has unpacked."""
    if Path(".git").exists():
        return subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [str(path) for path in sorted(Path().rglob("*")) if path.is_file() and path.parts[0] != "build"]


def sources():
    return [Path(name) for name in tracked() if name.split("/")[0] in FRAME and name.endswith(KINDS) and
            not name.startswith("src/lapedge")]


def digest(*words):
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def state():
    """A name for the sources as they are now."""
    return digest(*(f"{path}\n{path.read_text()}" for path in sorted(sources())))


def read_map(path):
    """What tools/test/mutants_map wrote, with sets of lines."""
    found = json.loads(Path(path).read_text())
    if found["sources"] != state():
        sys.exit(f"mutants: {path} is about other sources")
    found["lines"] = {name: set(lines) for name, lines in found["lines"].items()}
    for cases in found["tests"].values():
        for known in cases.values():
            known["lines"] = known["lines"] and {name: set(lines) for name, lines in known["lines"].items()}
    return found


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


def census(beginnings):
    """All faults of the files whose paths begin so, in the order of the arguments and of the lines."""
    paths = [path for beginning in beginnings for path in sources() if str(path).startswith(beginning)]
    return [fault for path in dict.fromkeys(paths) for _, faults in sorted(changes(path).items()) for fault in faults]


def table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [[cell.encode().decode("unicode_escape") for cell in row] for row in rows]


def rewrite(path, rows):
    """The table with these rows below its comment."""
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    path.write_text("\n".join(head + rows) + "\n")


def escaped(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def lower_end(caught, valid):
    """The lower end of the Wilson interval of 95 percent."""
    if not valid:
        return 0.0
    z, share = 1.959964, caught / valid
    spread = z * math.sqrt(share * (1 - share) / valid + z * z / (4 * valid * valid))
    return (share + z * z / (2 * valid) - spread) / (1 + z * z / valid)


def note_seed(seed, drawn, is_sanitized):
    """The row of a draw that has come to its end: its seed, and its result with or without sanitizers."""
    count = collections.Counter(record["verdict"] for record in drawn)
    valid = count["caught"] + count["survived"]
    if not drawn:
        return
    row = [str(seed), str(len(drawn)), "yes" if is_sanitized else "no", str(count["caught"]), str(count["survived"]),
           str(count["equivalent"]), f"{lower_end(count['caught'], valid):.3f}"]
    rows = [line.split("\t") for line in SEEDS.read_text().splitlines() if not line.startswith("#")]
    rewrite(SEEDS, ["\t".join(one) for one in rows if one[:3] != row[:3]] + ["\t".join(row)])


def note_census(faults, known, listed):
    """The rows of the files of a census, in place of those they had: how many faults, what became of them."""
    files = list(dict.fromkeys(fault["file"] for fault in faults))
    kept, left = ([line for line in path.read_text().splitlines() if line and not line.startswith("#") and
                   line.split("\t")[0] not in files] for path in (CENSUS, SURVIVORS))
    for name in files:
        count = collections.Counter()
        for fault in faults:
            if fault["file"] != name:
                continue
            verdict = known.get(key(fault), {"verdict": "not tried"})["verdict"]
            verdict = "reason" if verdict == "survived" and key(fault) in listed else verdict
            count[verdict] += 1
            if verdict == "survived":
                cells = [fault[part] for part in ("file", "text", "old", "new")] + [str(fault["nth"])]
                left.append("\t".join(map(escaped, cells)))
        kept.append("\t".join([name, str(count.total())] + [str(count[verdict]) for verdict in (
            "caught", "no code", "equivalent", "reason", "survived", "not tried")]))
    rewrite(CENSUS, sorted(kept))
    rewrite(SURVIVORS, sorted(left))


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


def gone():
    """Rows of the lists that name no fault of the sources as they are now. Drawings used older sources, so a reason
    stays as long as a drawing has its fault."""
    for row in table(PLANTED):
        if not Path(row[0]).exists() or Path(row[0]).read_text().count(row[1]) != 1:
            yield f"{PLANTED.name}: {row[0]}: {row[1].strip()}"
    yield from (f"{CENSUS.name}: {row[0]}" for row in table(CENSUS) if not Path(row[0]).exists())
    lines = [line for path in LISTS.glob("drawings/*.jsonl") for line in path.read_text().splitlines()[1:]]
    drawn = {json.loads(line)["key"] for line in lines}
    for path in (EQUIVALENT, SURVIVORS):
        rows = table(path)
        there = {key(fault) for fault in census(sorted({row[0] for row in rows}))}
        for row in rows:
            nth = int((row + ["0"])[5 if path == EQUIVALENT else 4])
            name = key({"file": row[0], "text": row[1], "old": row[2], "new": row[3], "nth": nth})
            if name not in there | drawn:
                yield f"{path.name}: {row[0]}: {row[1].strip()}"


class Drawing:
    """A drawing under way, which may take several sittings: drawings/SEED.jsonl in tests/support/mutants. Its first
    line says which faults of which commit, the others what is known of them; the last line about a fault counts."""

    def __init__(self, seed):
        self.path, self.said = LISTS / f"drawings/{seed}.jsonl", None
        if self.path.exists():
            self.said = json.loads(self.path.read_text().splitlines()[0])

    def begin(self, seed, wanted, commit):
        self.said = {"seed": seed, "wanted": wanted, "commit": commit}
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(self.said) + "\n")


def read_results(path):
    """{key: record}: what was found out last about each fault."""
    records = map(json.loads, path.read_text().splitlines() if path.exists() else [])
    return {record["key"]: record for record in records if "key" in record}


def last_drawing():
    """The records of the newest drawing whose faults have all been judged: a list, in the order of their names."""
    for path in sorted((LISTS / "drawings").glob("*.jsonl"), reverse=True):
        rows = [row for row in read_results(path).values() if row["verdict"] != "no code"]
        if len(rows) >= Drawing(path.stem).said["wanted"]:
            listed = reasons()
            rows = [{**row, "verdict": "equivalent"} if row["verdict"] == "survived" and key(row) in listed else row
                    for row in rows]
            return sorted(rows, key=lambda row: (row["file"], row["line"], row["old"]))
    return []


def shown(fault):
    change = f"{fault['old']!r} -> {fault['new']!r}"
    return f"{fault['file']}:{fault['line']}: {fault['rule']}: {change} in: {fault['text']}"


def rooms():
    lines = [line for line in ROOMS.read_text().splitlines() if line and not line.startswith("#")]
    return {room: tests.split() for room, tests in (line.split(":") for line in lines)}


def room_of(name, table_of_rooms):
    """The longest folder in rooms.txt that the file is in."""
    return max((room for room in table_of_rooms if name.startswith(room)), key=len, default="all")
