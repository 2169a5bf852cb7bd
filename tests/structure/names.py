#!/usr/bin/env python3
"""What comments and pages name is there: files by their names, and identifiers (lap_..., LAP_..., words with an
underscore) in code. A page may write about what was: a list of faults that were tried once is left out."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tap  # noqa: E402

FOLDERS = ("src", "cpu_simd", "cuda", "tests", "tools", "lessons", "python", "docs", "samples")
CODE = (".c", ".h", ".cu", ".cuh", ".cpp")
# Files of others, and those that a page writes as an example.
STRANGERS = {"jdhuff.c", "jdphuff.c", "jpeglib.h", "stb_image_write.h", "nvjpeg.h", "Python.h", "qemu-plugin.h",
             "filter_N_NAME.c", "filter_N_NAME.cu", "test_NAME.c", "lesson_N_NAME.cu", "time.h"}
# Words of others: the lab sheet's, libjpeg's, and a key made of another.
FOREIGN = {"conv_filter", "downsampled_width", "key_raw", "LAP_KEEP_"}
WRITTEN = re.compile(r"<!-- mutants:.*?<!-- end -->", re.S)
SHOWN = re.compile(r'`(tests/[\w./-]+)`: "([^"]+)"')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
SCRIPT = re.compile(r"^ *#(?!include|if|define).*", re.M)
FILE = re.compile(r"(?<![\w.*%<{}$-])[\w/-]*\w\w\.(?:cuh?|[ch])(?![\w.(*}])")
NAME = re.compile(r"(?<![\w/.-])(?:(?:lap|LAP)_\w+|[a-z]+(?:_[a-z0-9]+)+)(?![\w*]|\.(?:cuh?|[ch])\b)")


def taken_apart(text):
    """Code with its strings, and the comments with the lines that they begin in."""
    comments = []

    def take(found):
        if found[1] is None:
            comments.append((text.count("\n", 0, found.start()) + 1, found[0]))
        return found[1] or " "
    return COMMENT.sub(take, text), comments


def missing(text, line, files, words):
    """What a comment or page names that is not there."""
    for found in FILE.finditer(text):
        name = found[0].rsplit("/", 1)[-1]
        if name not in files and name not in STRANGERS:
            yield line + text.count("\n", 0, found.start()), found[0]
    for found in NAME.finditer(text):
        if found[0] not in words and found[0] not in FOREIGN:
            yield line + text.count("\n", 0, found.start()), found[0]


def ends(word):
    """A function may be named without what its neighbours begin with, too."""
    at = [found.start() + 1 for found in re.finditer("_", word)]
    return [word[i:] for i in at] if word.startswith("lap_") else []


def main():
    paths = [p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*"))
             if p.is_file() and not {"build", "__pycache__"} & set(p.parts)]
    paths += [p for p in sorted(ROOT.glob("*")) if p.is_file() and not p.name.startswith("lapedge")]  # programs
    files = {p.name for p in paths} | {"explain.c", "report_assets.c"}  # which make writes
    sources = {p: taken_apart(p.read_text(encoding="utf-8")) for p in paths if p.suffix in CODE}
    scripts = {p: p.read_text(encoding="utf-8", errors="ignore") for p in paths
               if p.suffix in (".sh", ".py", ".mk", ".bats", "") and p.name != pathlib.Path(__file__).name}
    words = {w for text in [code for code, _ in sources.values()] + [*scripts.values()] for w in re.findall(r"\w+", text)}
    words |= {end for word in words for end in ends(word)} | {p.stem for p in paths}
    pages = {p: WRITTEN.sub(lambda m: "\n" * m[0].count("\n"), p.read_text(encoding="utf-8")) for p in paths
             if p.suffix == ".md" and p.name != "CHANGELOG.md"}
    named_in = [(p, line, text) for p, (_, comments) in sources.items() for line, text in comments]
    for p, text in scripts.items():
        named_in += [(p, text.count("\n", 0, found.start()) + 1, found[0]) for found in SCRIPT.finditer(text)]
    named = [f"{p.relative_to(ROOT)}:{at}: {name}" for p, line, text in named_in
             for at, name in missing(text, line, files, words)]
    tap.report(len(named_in) > 5000 and not named, "files and identifiers that comments name are there",
               "\n".join(named))
    named = [f"{p.relative_to(ROOT)}:{at}: {name}" for p, text in pages.items()
             for at, name in missing(text, 1, files, words) if "." in name or name.lower().startswith("lap_")]
    tap.report(len(pages) > 20 and not named, "files and names of ours that pages name are there", "\n".join(named))
    shown = [(p, *found.groups()) for p, text in pages.items() for found in SHOWN.finditer(text)]
    gone = [f"{p.relative_to(ROOT)}: {name}: {words}" for p, name, words in shown
            if not (ROOT / name).is_file() or words not in (ROOT / name).read_text(encoding="utf-8")]
    tap.report(len(shown) > 10 and not gone, "tests that pages quote are there", "\n".join(gone))
    planted = "/* As no_such_file.c and src/io/gone.h have it; see lap_no_such() and no_such_thing. sink.c */"
    found = [name for _, name in missing(planted, 1, files, words)]
    tap.report(found == ["no_such_file.c", "src/io/gone.h", "lap_no_such", "no_such_thing"],
               "names that are not there are found", found)
    tap.finish()


if __name__ == "__main__":
    main()
