#!/usr/bin/env python3
"""versions.py [VARIANTS]: the verdicts on photos and on damaged variants of them must not depend on the version of
libjpeg-turbo that is loaded. The other version is the one in the wheel of Pillow 13, which pip fetches once into
$B/versions. Photos: samples/ coded in several ways, and the files of LAPEDGE_CORPUS."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from tap import finish, report, skip

VARIANTS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
B = pathlib.Path(os.environ.get("B", "build")).resolve()
PLACE = B / "versions"
LAPEDGE = os.environ.get("LAPEDGE", "./lapedge")
WAYS = {"plain": [], "progressive": ["-progressive"], "restarts": ["-restart", "4B"], "arithmetic": ["-arithmetic"]}


def fetch():
    """The folder of the other libjpeg.so.62; or None and why not."""
    library = PLACE / "lib" / "libjpeg.so.62"
    if not library.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                               "--dest", PLACE, "Pillow==13.*"], capture_output=True, text=True)
        wheels = sorted(PLACE.glob("[Pp]illow-*.whl"))
        if not wheels:
            return None, "pip cannot fetch Pillow 13: " + (done.stderr.strip().splitlines() or ["no wheel"])[-1][:100]
        with zipfile.ZipFile(wheels[-1]) as wheel:
            names = [name for name in wheel.namelist() if "/libjpeg-" in name and ".so.62" in name]
            if not names:
                return None, f"{wheels[-1].name} has no libjpeg of interface 62"
            library.parent.mkdir(exist_ok=True)
            library.write_bytes(wheel.read(names[0]))
    try:
        ctypes.CDLL(str(library))
    except OSError as problem:
        return None, str(problem)
    return library.parent, None


def make_photos():
    """Each sample in each way that jpegtran can code it."""
    folder = PLACE / "photos"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for sample in sorted(pathlib.Path("samples").glob("*.jpg")):
        for way, words in WAYS.items():
            to = folder / f"{sample.stem}-{way}.jpg"
            if not words:
                shutil.copy(sample, to)
            elif shutil.which("jpegtran"):
                subprocess.run(["jpegtran", "-copy", "none", *words, "-outfile", to, sample], check=True)
    return folder


def run(words, library):
    environment = dict(os.environ)
    if library:
        environment["LD_LIBRARY_PATH"] = str(library)
    return subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True)


def compare(what, folder, variants, library):
    words = [B / "tests/verdicts", folder, variants, 24]
    ours, other = (run(words, each).stdout.splitlines() for each in (None, library))
    differing = [f"{a}\n{b}" for a, b in zip(ours, other) if a != b]
    accepted = sum(line.split("\t")[1] in ("ok", "warned") for line in ours)
    report(len(ours) > variants and len(ours) == len(other) and not differing,
           f"{what}: {len(ours)} files and variants, {accepted} of them accepted, have the same verdict, message and "
           f"pixels", "\n".join([f"{len(differing)} differ"] + differing[:20]))


def main():
    library, why = fetch()
    names = ["the version that runs", "samples and variants", "the corpus and variants", "damage", "parts", "reading"]
    if not library:
        for name in names:
            skip("another libjpeg-turbo: " + name, why)
        finish()
    line = run([LAPEDGE, "--version"], None).stdout.splitlines()[2]
    other = run([LAPEDGE, "--version"], library).stdout.splitlines()[2]
    report(other != line and other.endswith(f"(built with {line})") and other in
           run([LAPEDGE, "doctor", "--json"], library).stdout, f"--version and doctor name {other}", line)
    compare("samples", make_photos(), VARIANTS, library)
    corpus = os.environ.get("LAPEDGE_CORPUS")
    if corpus:
        compare("corpus", corpus, max(1, VARIANTS // 5), library)
    else:
        skip("the corpus and variants", "LAPEDGE_CORPUS is not set")
    for program in ("test_jpeg_left", "test_parts", "test_jpeg_read"):
        done = run([B / "tests" / program], library)
        report(done.returncode == 0, f"{program} with {other}", done.stdout[-2000:] + done.stderr[-2000:])
    finish()


main()
