"""The public header as a page: each section becomes a heading, each comment the text below its declaration. Every line
of the header appears on the page, as text, as a signature or as code."""
import re
import textwrap

NAME = re.compile(r"\b(?:lap|LAP)_\w+\b")


def groups(lines):
    """("section", title), ("text", [line]), ("code", [line]): the header in order, after its first comment."""
    i = 0
    while i < len(lines):
        line = lines[i]
        section = re.match(r"/\* ---- (.*?) -+ \*/$", line)
        if section:
            yield "section", section[1]
            i += 1
        elif line.startswith("/* clang-format "):
            i += 1
        elif line.startswith("/*"):
            first = i
            while "*/" not in lines[i]:
                i += 1
            i += 1
            yield "text", lines[first:i]
        elif line.strip():
            first, depth = i, 0
            while True:
                bare = re.sub(r"/\*.*?(\*/|$)", "", lines[i])
                depth += sum(bare.count(c) for c in "{(") - sum(bare.count(c) for c in "})")
                i += 1
                if depth == 0 and (bare.rstrip().endswith(";") or lines[first].startswith("#")) and \
                        not in_comment(lines[first:i]):
                    break
            yield "code", lines[first:i]
        else:
            yield "blank", []
            i += 1


def in_comment(lines):
    text = "\n".join(lines)
    return text.rfind("/*") > text.rfind("*/")


def words(comment):
    """The comment's text, without its marks."""
    text = [re.sub(r"^ \*/?( |$)", "", line).rstrip() for line in comment]
    text[0] = re.sub(r"^/\*+ ?", "", text[0])
    text[-1] = re.sub(r" ?\*/$", "", text[-1])
    return text


def escape(text, known):
    def token(m):
        if m[0] in known:
            return f"\\ :c:expr:`{m[0]}`\\ "
        return f"\\ ``{m[0]}``\\ "
    parts, at = [], 0
    for m in NAME.finditer(text):
        # lap_..._row: the name of several.
        if text[m.end():m.end() + 3] == "...":
            continue
        parts += [re.sub(r"([\\*`|_])", r"\\\1", text[at:m.start()]), token(m)]
        at = m.end()
    return "".join(parts + [re.sub(r"([\\*`|_])", r"\\\1", text[at:])])


def prose(text, known, indent=""):
    """Paragraphs of words; indented lines are formulas and are kept unchanged."""
    out = []
    for block in re.split(r"\n\s*\n", "\n".join(text)):
        if block.startswith("    "):
            out += ["::", ""] + ["    " + line for line in textwrap.dedent(block).split("\n")]
        elif block.strip():
            out += [escape(" ".join(block.split()), known)]
        out += [""]
    return [indent + line if line else "" for line in out]


def declared(code):
    """(directive, signature or name, whether the code is shown too) of a declaration."""
    text = " ".join(re.sub(r"/\*.*?\*/", "", "\n".join(code), flags=re.S).split())
    text = text.replace("LAP_API ", "")
    macro = re.match(r"#define (\w+)", text)
    if macro:
        return "macro", macro[1], True
    kind = re.match(r"(?:typedef )?(struct|enum) (\w+)", text)
    if kind and ("{" in text or text.endswith(f"struct {kind[2]} {kind[2]};")):
        return kind[1], kind[2], True
    if text.startswith("typedef "):
        return "type", text[len("typedef "):-1], False
    if "(" in text:
        return "function", text[:-1], False
    return None, None, True  # enumerators without a name


def page(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    end = next(i for i, line in enumerate(lines) if line.endswith("*/"))
    head = words(lines[:end + 1])
    body = lines[lines.index('extern "C" {') + 2:]
    last = len(body) - 1 - body[::-1].index("#ifdef __cplusplus")
    first = next(i for i, line in enumerate(body) if line.startswith("#define LAP_VERSION"))
    items = list(groups(body[first:last]))
    known = {name_of(*declared(code)[:2]) for kind, code in items if kind == "code"} - {None}
    title = "lapedge.h"
    out = [title, "=" * len(title), ""] + prose(head[:1] + head[1:], known)
    out += ["What a program sees before the first section::", "",
            *("    " + line for line in body[:first] if line), ""]
    pending = []
    i = 0
    while i < len(items):
        kind, value = items[i]
        if kind == "section":
            title = value[0].upper() + value[1:]
            out += [title, "-" * len(title), ""]
        elif kind == "text":
            pending = words(value)
            if i + 1 < len(items) and items[i + 1][0] != "code":
                out += prose(pending, known)
                pending = []
        elif kind == "code":
            directive, signature, shown = declared(value)
            if directive == "struct" and len(value) == 1 and f"struct {signature} {{" in "\n".join(body):
                directive = None  # defined further down
            same = [value]
            signatures = [signature]
            while directive == "function" and i + 1 < len(items) and items[i + 1][0] == "code" and \
                    declared(items[i + 1][1])[0] == "function":
                i += 1
                same.append(items[i][1])
                signatures.append(declared(items[i][1])[1])
            indent = ""
            if directive:
                out += [f".. c:{directive}:: {signatures[0]}"]
                out += [" " * len(f".. c:{directive}:: ") + more for more in signatures[1:]] + [""]
                indent = "    "
            out += prose(pending, known, indent)
            if not shown:
                for code in same:
                    for remark in re.findall(r"/\*(.*?)\*/", "\n".join(code), flags=re.S):
                        out += [indent + escape(" ".join(remark.split()), known), ""]
            else:
                out += [indent + ".. code-block:: c", ""] + [indent + "    " + line if line else "" for line in value]
                out += [""]
            pending = []
        i += 1
    return "\n".join(out) + "\n"


def name_of(directive, signature):
    if directive == "function" or (directive == "type" and "(" in signature):
        return re.search(r"(\w+)\(", signature)[1]
    return signature if directive in ("macro", "struct", "enum") else None
