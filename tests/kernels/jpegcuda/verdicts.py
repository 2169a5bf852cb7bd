#!/usr/bin/env python3
"""verdicts.py [PROGRAM] [VARIANTS] [FILE...]: the same files by --codec=cuda and by --codec=cpu: exit code, messages
and output bytes must be equal. PROGRAM: with CUDA backends; default the one on the CPU runtime of the CUDA tests.
Photos are cut out of samples/ by jpegtran, then coded in several ways, damaged by a fixed seed and by TEST_SEED.
FILE: these too, and variants of them; a folder stands for all that is in it. Without libjpeg's tools: these
alone."""
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from tap import finish, report

program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("B", "build") + "/cudacpu/asan/lapedge")
variants = int(sys.argv[2]) if len(sys.argv) > 2 else 16
samples = os.path.abspath("samples")
given = [os.path.join(folder, name) if folder else name for word in map(os.path.abspath, sys.argv[3:])
         for folder, names in ([(found[0], sorted(found[2])) for found in sorted(os.walk(word))] or [("", [word])])
         for name in names]
pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

def run(codec, name, out, options):
    """Exit code, stderr and the output's bytes (None: it wrote no file)."""
    if os.path.exists(out):
        os.remove(out)
    env = dict(os.environ, LAP_CUDACPU="order=now")
    done = subprocess.run([program, name, out, "--backend=cuda-fast", "--codec=" + codec, "--no-sync", *options],
                          capture_output=True, env=env, timeout=120)
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if not line.startswith("# CUDA on CPU")]
    content = open(out, "rb").read() if os.path.exists(out) else None
    return done.returncode, lines, content


def differs(name, out, *options):
    on_cpu, on_device = run("cpu", name, out, options), run("cuda", name, out, options)
    if on_cpu == on_device:
        return None
    return f"{name} {' '.join(options)}: {on_cpu[:2]} {len(on_cpu[2] or b'')} bytes, with cuda {on_device[:2]} " \
           f"{len(on_device[2] or b'')} bytes"


def tool(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def make_files():
    """Small files of many kinds, by name."""
    files = {}
    crop = tool("jpegtran", "-copy", "all", "-crop", "120x72+160+96", samples + "/chelsea.jpg")
    files["photo"] = write("photo.jpg", crop)
    write("photo.ppm", tool("djpeg", "photo.jpg"))
    for sampling in ("1x1", "2x1", "2x2", "1x2", "4x1"):
        files[sampling] = write(sampling + ".jpg", tool("cjpeg", "-quality", "85", "-sample", sampling, "photo.ppm"))
    for name, options in {"gray": ["-grayscale"], "progressive": ["-progressive"], "arithmetic": ["-arithmetic"],
                          "restarts": ["-restart", "3B"], "optimised": ["-optimize"], "q100": ["-quality", "100"],
                          "rgb": ["-rgb"]}.items():
        files[name] = write(name + ".jpg", tool("cjpeg", *options, "photo.ppm"))
    files["ppm"] = "photo.ppm"
    files["trailing"] = write("trailing.jpg", crop + b"bytes behind the end" * 50)
    files["text"] = write("text.jpg", b"no photo at all")
    return files


def damaged(data, generator):
    """A copy with one bit flipped, some bytes overwritten, or the end cut off."""
    data = bytearray(data)
    kind, at = generator.randrange(3), generator.randrange(2, len(data))
    if kind == 0:
        data[at] ^= 1 << generator.randrange(8)
    elif kind == 1:
        data[at:at + 4] = generator.randbytes(len(data[at:at + 4]))
    else:
        del data[at:]
    return bytes(data)


def check_files(files):
    jobs = [pool.submit(differs, name, f"kind-{i}.jpg") for i, name in enumerate(files.values())]
    bad = [job.result() for job in jobs if job.result()]
    report(not bad, f"{len(files)} kinds of files", "\n".join(bad))


def check_given():
    jobs = [pool.submit(differs, name, f"given-{i}.jpg") for i, name in enumerate(given)]
    bad = [job.result() for job in jobs if job.result()]
    report(not bad, f"{len(given)} files that were named", "\n".join(bad))


def check_failing_calls(files):
    """One CUDA call of a run fails: the right file, or `device` and none."""
    expected = run("cpu", files["2x2"], "out.jpg", [])[2]
    bad, failed = [], 0
    for n in range(1, 100, 9 if variants < 100 else 1):
        if os.path.exists("out.jpg"):
            os.remove("out.jpg")
        done = subprocess.run([program, files["2x2"], "out.jpg", "--backend=cuda-fast", "--codec=cuda", "--no-sync"],
                              capture_output=True, env=dict(os.environ, LAP_CUDACPU=f"fail={n}:700"), timeout=120)
        content = open("out.jpg", "rb").read() if os.path.exists("out.jpg") else None
        failed += done.returncode != 0
        if (done.returncode, content) != (0, expected) and (content or done.returncode not in (1, 3) or
                                                           b"CUDA" not in done.stderr):
            bad.append(f"call {n}: exit {done.returncode}: {done.stderr.decode()}")
    report(not bad and failed > 3, "a CUDA call that fails: the right file, or an error and none", "\n".join(bad))


def check_options(files):
    options = [["--gray"], ["--border=reflect101", "--range=abs"], ["--kernel=log5"], ["--restart=off"],
               ["--restart=on"], ["--subsampling=420", "--quality=70"], ["--subsampling=444"], ["--strip"],
               ["--auto-orient"], ["--scale=0.5", "--offset=100", "--invert"], ["--threshold=60"],
               ["--kernel=0.1,0,0,0,0,0,0.3,0,0,0,0,0,-1.7,0,0,0,0,0,0.9,0,0,0,0,0,0.4", "--range=abs"]]
    bad = [found for o in options for found in [differs(files["2x2"], "out.jpg", *o)] if found]
    bad += [found for out in ("out.ppm", "out.png") for found in [differs(files["2x1"], out)] if found]
    report(not bad, f"{len(options) + 2} sets of options", "\n".join(bad))


def check_damage(files, seed, count):
    generator = random.Random(seed)
    names = [files[name] for name in ("photo", "2x2", "2x1", "gray", "restarts", "progressive", "optimised")
             if name in files] + given
    jobs = []
    for i in range(count):
        data = open(names[i % len(names)], "rb").read()
        name = write(f"damaged-{seed}-{i}.jpg", damaged(data, generator) if len(data) > 2 else data)
        jobs.append(pool.submit(differs, name, f"out-{i}.jpg", *(["--fail-on=none"] if i % 4 == 3 else [])))
    bad = [f"seed {seed} number {i} of {names[i % len(names)]}: {job.result()}"
           for i, job in enumerate(jobs) if job.result()]
    report(not bad, f"{count} damaged files, seed {seed}", "\n".join(bad))


def check_refusals(files):
    done = subprocess.run([program, files["photo"], "out.jpg", "--backend=c", "--codec=cuda"], capture_output=True)
    report(done.returncode == 2 and b"codec 'cuda'" in done.stderr, "--codec=cuda with a backend of the CPU is refused")
    if program.endswith("cudacpu/asan/lapedge"):
        for words in (["--codec=cuda"], ["--codec=cuda", "--backend=cuda-fast"]):
            done = subprocess.run([program, files["photo"], "none.jpg", *words], capture_output=True,
                                  env=dict(os.environ, LAP_CUDACPU="devices=0"))
            report(done.returncode == 3 and b"cannot run here" in done.stderr and not os.path.exists("none.jpg"),
                   f"{' '.join(words)} without a device ends with 3", done.stderr.decode())
    done = subprocess.run([program, "-v", files["photo"], "out.jpg", "--codec=cuda"], capture_output=True)
    report(done.returncode == 0 and b"decoded on the device, encoded on the device" in done.stderr,
           "--codec=cuda alone takes a CUDA backend, and -v says so", done.stderr.decode())
    done = subprocess.run([program, "-v", files["progressive"], "out.jpg", "--codec=cuda"], capture_output=True)
    report(done.returncode == 0 and b"decoded on the CPU, encoded on the device" in done.stderr,
           "what the device does not decode goes by the CPU, and -v says so", done.stderr.decode())


def check_statistics(files):
    """--stats: the file by both codecs, where the device decodes and encodes, does one of the two, and neither."""
    bad = []
    for name, out in (("2x2", "out.jpg"), ("gray", "out.jpg"), ("progressive", "out.jpg"), ("2x1", "out.ppm"),
                      ("ppm", "out.png")):
        for options in ([], ["--auto-orient", "--gray", "--threshold=9"]):
            seen = [run(codec, files[name], out, ["--stats=stats.json", *options]) +
                    (open("stats.json", encoding="utf-8").read(),) for codec in ("cpu", "cuda")]
            if seen[0] != seen[1]:
                bad.append(f"{name} {options}: {[s[:2] for s in seen]}, same numbers: {seen[0][3] == seen[1][3]}")
    on_cpu = subprocess.run([program, files["2x2"], "out.jpg", "--backend=c", "--stats=cpu.json"], capture_output=True)
    run("cuda", files["2x2"], "out.jpg", ["--stats=stats.json"])
    texts = [re.sub(r'"(backend|resolved)": *"[^"]*"', "", open(name, encoding="utf-8").read())
             for name in ("cpu.json", "stats.json")]
    report(not bad and on_cpu.returncode == 0 and texts[0] == texts[1], "--stats counts the same on the device",
           "\n".join(bad))
    done = subprocess.run([program, "-v", files["photo"], "out.jpg", "--codec=cuda", "--stats=stats.json"],
                          capture_output=True)
    report(b"decoded on the device, encoded on the device" in done.stderr, "--stats leaves the device at work",
           done.stderr.decode())


def check_times(files):
    """--json: each step on the device and on the way there took some time, and none more than all together."""
    bad = []
    for codec, name, steps in (("cpu", "2x2", ("upload", "filter", "download")), ("cuda", "ppm", ("upload", "filter"))):
        done = subprocess.run([program, files[name], "out.jpg", "--backend=cuda-fast", "--codec=" + codec, "--json"],
                              capture_output=True)
        ms = json.loads(done.stdout)["ms"]
        if not all(0 < ms[step] <= ms["total"] for step in steps):
            bad.append(f"{name}, codec {codec}: {ms}")
    report(not bad, "--json: the times of each step", "\n".join(bad))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    made = {}
    if all(map(shutil.which, ("jpegtran", "djpeg", "cjpeg"))):
        made = make_files()
        check_refusals(made)
        check_files(made)
        check_options(made)
        check_statistics(made)
        check_times(made)
        if program.endswith("cudacpu/asan/lapedge"):
            check_failing_calls(made)
    else:
        report(True, "files made by jpegtran, djpeg and cjpeg # SKIP they are not all here")
    if given:
        check_given()
    if made or given:
        check_damage(made, 20261122, variants)
        check_damage(made, int(os.environ.get("TEST_SEED", 1)), variants // 2)
finish()
