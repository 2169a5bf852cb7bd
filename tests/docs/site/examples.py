#!/usr/bin/python3
"""Every example on the pages of the site is run: the commands here, on small photos, and the rest by the tests that
are named below. A block that is neither fails, so nothing is shown that nothing runs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/support")
import tap  # noqa: E402

ROOT = pathlib.Path.cwd()
LAPEDGE = pathlib.Path(os.environ.get("LAPEDGE", "./lapedge")).resolve()
# Commands that are not run, by their first words: what they name has to exist. Of schedulers the part that is
# lapedge's runs here; tests/cli/cluster runs it under real ones.
NAMED = {"make", "tests/kernels/jpegcuda/device.sh", "tools/measure/codec", "tools/figures/codec-table", "pip", "cc", "sbatch", "sacct",
         "scontrol", "export"}
LAUNCHERS = {"srun", "mpirun", "exec", "sh"}
# Blocks that are no examples: formulas, drawings, tables, a licence. They begin with this.
OTHERS = ("o(y,x) =", "bytes up ->", "| number of the guess", "+-----", "file -> source", "cli -> lapedge.h",
          "pixels --->", "bytes ---> coeff", "scan 2, luma", "bits of the block", "place  ", "words  ", "band  ",
          "31    27", "first  ", "31          ", "bytes ---> bits", "bits >> 53", "63    52",
          "laplace5  ", "The MIT License")
# Fenced blocks that other tests compile, run or compare: in the page, the language.
TESTED = {("README.md", "c"), ("docs/library.md", "c"),  # tests/docs, tests/package/install, tests/kernels/views
          ("docs/pipeline.md", "c"), ("docs/pipeline.md", "python"),  # tests/package/install, tests/package/python
          ("docs/architecture.md", ""),  # tests/structure
          ("docs/teaching.md", "sh")}  # tests/kernels/lessons


def blocks(page):
    """(language or None, lines) of each block of code. Lines of source and tables that tools/figures/fill writes and
    tests/docs compares stand between marks; they are counted, not returned."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    if page.endswith(".1"):
        return [(None, [line]) for line in re.findall(r"^\.Dl (.*)", text, re.M)]
    text = re.sub(r"<!-- (\w+)\b(?:(?!-->).)*-->\n(?:(?!<!-- /).)*<!-- /\1 -->", "", text, flags=re.S)
    found = []
    for fence, language, body, indented in re.findall(
            r"(^```(\w*)\n(.*?)^```$)|((?:(?<=\n\n)|\A)(?:    [^\n]*\n|\n(?=    ))+)", text, re.S | re.M):
        if fence:
            found.append((language, body.splitlines()))
        elif indented.strip():
            found.append((None, [line[4:] for line in indented.splitlines()]))
    return found


def commands(lines):
    """Lines of a shell, continued ones joined, without their comments."""
    text = re.sub(r"\\\n *", "", "\n".join(lines))
    lines = [re.sub(r"(^|\s)#.*$", "", line).strip() for line in text.split("\n")]
    return [line for line in lines if line]


class Sandbox:
    """A folder with the photos that the examples name, small ones."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        photo = self.folder / "small.jpg"
        subprocess.run([LAPEDGE, "-q", "--backend=c", "--kernel=identity", "--format=jpg", "-", photo], check=True,
                       input=b"P6 40 30 255\n" + bytes(range(256)) * 14 + bytes(16))
        self.photo = photo.read_bytes()
        photo.unlink()
        # The only pod of an indexed job of Kubernetes, for --shard=auto.
        self.path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.environment = dict(os.environ, PATH=self.path, JOB_COMPLETION_INDEX="0", JOB_COMPLETIONS="1")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/lapedge").symlink_to(LAPEDGE)
        (self.folder / "tools").symlink_to(ROOT / "tools")

    def fill(self):
        for name in ("in.jpg", "photo.jpg", "a.jpg", "b.png", "one.jpg", "photos/1.jpg", "photos/deep/2.jpg",
                     "more/3.jpg", "old/1.jpg", "new/1.jpg", "data/photos/1.jpg"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.photo)
        subprocess.run([LAPEDGE, "-q", "--kernel=identity", "a.jpg", "b.png"], cwd=self.folder, check=True)
        (self.folder / "stamp").touch()
        os.utime(self.folder / "stamp", (0, 0))

    def run(self, command):
        """None, or what went wrong. A bench is shortened; a backend of CUDA may be missing (3)."""
        for name in ("edges", "upright", "data/edges"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.fill()
        command = re.sub("/data/|/srv/|/var/log/edges/", lambda at: at[0][1:] if at[0] == "/data/" else "",
                         command).replace("uploads", "photos")
        command = re.sub(r"lapedge bench.*", r"\g<0> --sizes=64x48 --runs=1", command)
        command = command.replace(" *.jpg", " in.jpg out.jpg") if command == "lapedge *.jpg" else command
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        if done.returncode == 0 or (done.returncode == 3 and "cuda-" in command):
            return None
        return f"{command}\nexit {done.returncode}: {done.stderr or done.stdout}"


def own_part(command):
    """What of a scheduler's command is lapedge's, or a container's command as YAML has it."""
    found = re.search(r"lapedge( [^'|]*|$)", command)
    return found[0].strip() if found else None


def exists(command):
    """Whether what a command that is not run names is there: targets of make, files; others' programs are theirs."""
    makefiles = [ROOT / "Makefile", ROOT / "lessons/rules.mk", *ROOT.glob("t*s/**/*.mk")]
    problems = []
    for part in command.split("&&"):
        words = part.split()
        if words[0] == "make":
            rules = "\n".join(path.read_text() for path in makefiles)
            problems += [word for word in words[1:] if not re.search(rf"^(## )?{word}:", rules, re.M)]
        elif "/" in words[0] and not os.path.exists(words[0]):
            problems.append(words[0])
    return problems


def run_python(sandbox, lines):
    """The lines with a small picture, in the built module; None where it is not built."""
    built = pathlib.Path(os.environ.get("B", "build")).resolve() / "python"
    if not (built / "lapedge").is_dir():
        return None
    sandbox.fill()
    before = ["import numpy", "pixels = numpy.zeros((300, 20, 3), numpy.uint8)",
              "place = numpy.empty((190, 20, 3), numpy.uint8)"]
    done = subprocess.run(["/usr/bin/python3", "-c", "\n".join(before + lines)], cwd=sandbox.folder,
                          capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=str(built)))
    return "" if done.returncode == 0 and "simd" in done.stdout else done.stdout + done.stderr


def look_at(page, sandbox, unknown):
    """Runs the page's examples; (how many ran, what went wrong)."""
    ran, problems = 0, []
    for language, lines in blocks(page):
        if language is None and lines[0].startswith(OTHERS) and not any("lapedge -" in line for line in lines):
            continue
        if (page, language) in TESTED:
            continue
        if language == "python":
            compile("\n".join(lines), page, "exec")
            if "torch" not in "\n".join(lines):  # tests/package/python/device.py runs the other one on a GPU
                said = run_python(sandbox, lines)
                if said is None:
                    tap.skip(f"{page}: the first example in Python", "the module is not built")
                else:
                    ran += 1
                    problems += [said] if said else []
            continue
        if language == "yaml":
            lines = [re.sub(r"[][,]", " ", line.split("command:")[1]) for line in lines if "command:" in line]
        if language == "ini": # units of systemd
            lines = [line for line in commands(lines) if line.startswith("ExecStart=")]
            lines = [line.removeprefix("ExecStart=/usr/local/bin/") for line in lines]
        for command in commands(lines):
            first = next((word for word in command.split() if not re.match(r"[A-Z_]+=", word)), command)
            if first in NAMED:
                problems += [f"{command}: there is no {name}" for name in exists(command)]
                continue
            if first in LAUNCHERS:
                command = own_part(command) or first
            if not re.match(r"(lapedge|find|tools/figures/timeline)\b", command):
                unknown.append(f"{page}: {command}")
                continue
            piped = re.findall(r"\| *(\w+)", command)
            missing = [word for word in piped if not shutil.which(word, path=sandbox.path)]
            if missing:
                tap.skip(f"{page}: {command}", f"no {missing[0]}")
                continue
            ran += 1
            said = sandbox.run(command)
            problems += [said] if said else []
    return ran, problems


def main():
    unknown, total = [], 0
    pages = subprocess.run(["tools/figures/site", "pages"], check=True, capture_output=True, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(folder)
        for page in pages:
            if not page.endswith((".md", ".1")):
                continue
            ran, problems = look_at(page, sandbox, unknown)
            total += ran
            if ran:
                tap.report(not problems, f"{page}: its {ran} examples run", "\n".join(problems))
            elif problems:
                tap.report(False, f"{page}: its examples", "\n".join(problems))
        broken = sandbox.run("lapedge --no-such-option in.jpg out.jpg")
    tap.report(broken and "exit 2" in broken, "an example that fails is found", broken)
    tap.report(not unknown and total >= 45, f"{total} commands ran; every block is an example or is known to be none",
               "\n".join(unknown))
    tap.finish()


main()
