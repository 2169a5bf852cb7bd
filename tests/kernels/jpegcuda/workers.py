#!/usr/bin/env python3
"""workers.py [PROGRAM]: a run over a folder whose process with the CUDA devices dies in the middle of it: nothing is
lost, the CPU does the rest, and signals, exit codes and what is printed are those of one process. PROGRAM: on the CPU runtime
of the CUDA tests."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from tap import finish, report, skip

program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("B", "build") + "/cudacpu/asan/lapedge")
samples = os.path.abspath("samples")
PHOTOS = 8


def make_photos(folder, count):
    os.makedirs(folder)
    photo = subprocess.run(["jpegtran", "-crop", "40x24+200+120", samples + "/chelsea.jpg"], check=True,
                           stdout=subprocess.PIPE).stdout
    for i in range(count):
        with open(f"{folder}/{i:03d}.jpg", "wb") as f:
            f.write(photo + bytes(i))  # each its own bytes


def contents(folder):
    found = {}
    for path, _, files in os.walk(folder):
        for name in files:
            if ".lapedge" not in path:
                with open(os.path.join(path, name), "rb") as f:
                    found[name] = f.read()
    return found


def words(*options, folder="photos"):
    return [program, *([] if folder is None else [folder]), "out", "--no-sync", "--threads=2", "--backend=cuda-fast",
            *options]


def run(*options, runtime="", folder="photos", **more):
    subprocess.run(["rm", "-rf", "out"], check=True)
    return again(*options, runtime=runtime, folder=folder, **more)


def again(*options, runtime="", folder="photos", **more):
    env = dict(os.environ, LAP_CUDACPU=runtime)
    return subprocess.run(words(*options, folder=folder), capture_output=True, env=env, timeout=300, **more)


def warnings(done):
    return re.findall(rb"warning: the process that used the CUDA devices has died \(([^)]*)\)", done.stderr)


def check_crash(number, at):
    done = run("--json", runtime=f"crash={at}:{number}")
    objects = re.split(rb"(?<=\n\})\n(?=\{)", done.stdout.strip())
    summary = json.loads(objects[0])
    counted = summary["ok"] + summary["kinds"].get("up_to_date", 0)
    good = (done.returncode == 0 and len(objects) == 1 and contents("out") == expected and len(warnings(done)) == 1
            and counted == PHOTOS and "died" in summary["work"]["how"])
    next_time = again("--json")
    known = json.loads(next_time.stdout)["kinds"] == {"up_to_date": PHOTOS} and next_time.returncode == 0
    report(good and known, f"signal {number} at operation {at}: the CPU does the rest, and the next run knows it",
           f"{done.returncode} {done.stdout} {done.stderr} {next_time.stdout}")


def check_bad_file():
    with open("photos/bad.jpg", "wb") as f:
        f.write(b"no photo")
    done = run("--log=log.jsonl", runtime="crash=20:11")
    with open("log.jsonl", encoding="utf-8") as f:
        names = sorted(os.path.basename(json.loads(line)["input"]) for line in list(f)[1:])
    report(done.returncode == 1 and contents("out") == expected and names == sorted([*expected, "bad.jpg"]),
           "a failed file sets the exit code, and the log lists each file once",
           f"{done.returncode} {names} {done.stderr}")
    alone = run()
    report(alone.returncode == 1 and not warnings(alone), "as without a crash", alone.stderr)
    os.remove("photos/bad.jpg")


def check_list():
    names = b"\0".join(f"photos/{name}".encode() for name in sorted(expected))
    read, write = os.pipe()
    os.write(write, names)
    os.close(write)
    done = run("-0", "--files-from=-", "--flat", runtime="crash=20:11", folder=None, stdin=read)
    os.close(read)
    report(done.returncode == 0 and len(warnings(done)) == 1 and contents("out") == expected,
           "a list from a pipe is there for both", f"{done.returncode} {done.stderr}")


def check_full_disk():
    """On a small file system: first with room for a few outputs, then for all."""
    what = "a full disk stops the run early; with room the next one does the rest"
    script = """mkdir disk && mount -t tmpfs -o size=28k none disk || exit 77
                "$@"; echo "code $?"; ls -A disk/out; cp -r disk/out first
                mount -o remount,size=8m disk && "$@"; echo "code $?"; cp -r disk/out second"""
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", program, "photos", "disk/out", "--no-sync",
                           "--threads=2", "--backend=cuda-fast"], capture_output=True, timeout=300)
    if done.returncode == 77 or b"unshare" in done.stderr:
        skip(what, "no file system can be mounted here")
        return
    first, codes = contents("first"), re.findall(rb"code (\d+)", done.stdout)
    report(codes in ([b"1", b"0"], [b"4", b"0"]) and b"stopped early" in done.stderr and len(first) < PHOTOS
           and first == {name: expected[name] for name in first} and contents("second") == expected
           and not any(name.startswith(b".lapedge-") for name in done.stdout.split()), what,
           f"{codes} {sorted(first)} {done.stdout} {done.stderr}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(**more):
    """A run that takes long, once some of it is done; with its worker."""
    subprocess.run(["rm", "-rf", "out"], check=True)
    process = subprocess.Popen(words(folder="many"), stderr=subprocess.PIPE, start_new_session=True, **more)
    until = time.time() + 100
    while time.time() < until and process.poll() is None:
        if os.path.isdir("out") and len(os.listdir("out")) > 3:  # temporary files, too: many get names at once
            return process, children(process.pid)
        time.sleep(0.01)
    return process, []


def interrupt(act):
    """Does act(process, workers) in the middle of a run, again if none or all was done: (process, workers, stderr)."""
    for _ in range(20):
        process, workers = start()
        if workers:
            act(process, workers)
        said = process.communicate(timeout=100)[1]
        if process.returncode != 0 and 0 < len(contents("out")) < 200:
            break
    return process, workers, said


def check_signal(number, everyone):
    def send(process, _):
        if everyone:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)

    process, workers, said = interrupt(send)
    left = [name for name in os.listdir("out") if name.startswith(".lapedge-")]
    some = 0 < len(contents("out")) < 200
    report(len(workers) == 1 and process.returncode == 128 + number and not is_there(workers[0]) and not left and some
           and b"died" not in said, f"signal {number} to {'all' if everyone else 'the parent'}: stopped in good order",
           f"{workers} {process.returncode} {left} {said}")


def is_pending(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"^ShdPnd:\s*(\w+)", f.read(), re.M)[1], 16) >> (number - 1) & 1


def check_stop_and_kill():
    """The parent is told to stop, once; its worker cannot be, and is killed."""
    def stop_and_kill(process, workers):
        try:
            os.kill(workers[0], signal.SIGSTOP)
            process.send_signal(signal.SIGTERM)
            until = time.time() + 100
            while time.time() < until and is_pending(process.pid, signal.SIGTERM):
                time.sleep(0.01)
            os.kill(workers[0], signal.SIGKILL)
        except ProcessLookupError:
            pass  # the run has ended

    process, _, said = interrupt(stop_and_kill)
    report(process.returncode == 128 + signal.SIGTERM and b"died" not in said and len(contents("out")) < 200,
           "a run that was told to stop does not continue when its worker dies", f"{process.returncode} {said}")


def check_kill():
    for _ in range(20):  # again if all was done before
        process, workers = start()
        process.kill()
        process.communicate()
        if workers and process.returncode == -signal.SIGKILL:
            break
    until = time.time() + 100
    while time.time() < until and any(map(is_there, workers)):
        time.sleep(0.01)
    report(len(workers) == 1 and process.returncode == -signal.SIGKILL and not any(map(is_there, workers)),
           "if the parent is killed, its worker ends, too", f"{workers} {process.returncode}")


def check_no_worker():
    for options in (["--backend=simd"], ["--backend=auto", "--codec=cpu"]):
        subprocess.run(["rm", "-rf", "out"], check=True)
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")  # that is done by a second process
        process = subprocess.Popen(words(*options, folder="many"), stderr=subprocess.DEVNULL, env=env)
        seen = []
        while process.poll() is None:
            try:
                seen += children(process.pid)
            except OSError:
                pass
            time.sleep(0.002)
        report(process.returncode == 0 and not seen, f"{' '.join(options)}: one process",
               f"{process.returncode} {seen}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    make_photos("photos", PHOTOS)
    make_photos("many", 200)
    run("--codec=cpu", "--backend=c")
    expected = contents("out")
    report(len(expected) == PHOTOS, "photos, and what the CPU makes of them", expected.keys())
    for number, at in ((signal.SIGSEGV, 3), (signal.SIGABRT, 15), (signal.SIGKILL, 30)):
        check_crash(int(number), at)
    check_bad_file()
    check_list()
    check_full_disk()
    check_signal(signal.SIGTERM, False)
    check_signal(signal.SIGINT, True)
    check_stop_and_kill()
    check_kill()
    check_no_worker()
finish()
