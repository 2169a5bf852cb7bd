#!/usr/bin/env python3
"""power.py [--states=N] [--seed=S]: the power fails at every moment of a run, and the disk keeps what it may.

The preloaded library nth_call.so records what a run does to the disk. The record is replayed on a model of a disk,
cut after each of its calls. Before the cut a sync of a file keeps its bytes, one of a folder its names, one of the
file system all; of everything else any part may be lost, also out of order: names without bytes, sizes without bytes
(zeros), bytes without names, some of the names. A few such states are made at every cut in a fixed way, N more by
chance. Each must keep the promises: an output is whole or absent, one that the manifest calls done is whole where it
is there, a photo of --in-place is the old one or the new one, with --backup the old one is there too, and (for some
of the states, on a real disk) the same command again completes the folder: in place it filters nothing twice. Runs
with --no-sync make no such promise, and must be seen to lose something.

Prints TAP."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = str(Path(os.environ.get("LAPEDGE", "./lapedge")).resolve())
LIBRARY = Path(os.environ.get("B", "build") + "/tests/nth_call.so").resolve()


class Disk:
    """Names and bytes after some calls were applied. `names`: path to inode number; `data`: inode to bytes."""

    def __init__(self, names, data):
        self.names, self.data = dict(names), {inode: bytearray(bytes_) for inode, bytes_ in data.items()}

    def name(self, event):
        kind = event["call"]
        if kind == "make":
            self.names.setdefault(event["path"], event["inode"])
        elif kind == "rename" and event["old"] in self.names:
            self.names[event["new"]] = self.names.pop(event["old"])
        elif kind == "link" and event["old"] in self.names:
            self.names.setdefault(event["new"], self.names[event["old"]])
        elif kind == "unlink":
            self.names.pop(event["path"], None)

    def bytes(self, event, zeros=False):
        data = self.data.setdefault(event["inode"], bytearray())
        if event["call"] == "ftruncate":
            del data[event["size"]:]
            data.extend(bytes(event["size"] - len(data)))
            return
        new = bytes(len(event["bytes"])) if zeros else event["bytes"]
        data.extend(bytes(max(event["at"] + len(new) - len(data), 0)))
        data[event["at"]:event["at"] + len(new)] = new

    def content(self, path):
        return bytes(self.data.get(self.names[path], b""))


def read_record(path, root):
    """The calls of a record, in order. A file that comes to be is one call, what is opened once more none."""
    lines, data, at = path.read_text().splitlines(), Path(f"{path}.data").read_bytes(), 0
    events, known = [], set()
    for line in lines:
        call, *words = line.split("\t")
        if call == "write":
            inode, offset, size = map(int, words)
            events.append({"call": call, "inode": inode, "at": offset, "bytes": data[at:at + size]})
            at += size
        elif call in ("create", "open", "use"):
            place, inode = os.path.normpath(words[0]), int(words[1])
            if call != "use" and place.startswith(root) and inode not in known:
                known.add(inode)
                events.append({"call": "make", "path": place, "inode": inode})
        elif call in ("rename", "link"):
            events.append({"call": call, "old": os.path.normpath(words[0]), "new": os.path.normpath(words[1])})
        elif call == "unlink":
            events.append({"call": call, "path": os.path.normpath(words[0])})
        elif call in ("fsync", "fdatasync", "syncfs", "ftruncate"):
            events.append({"call": call, "path": os.path.normpath(words[0]), "inode": int(words[1]), "size": int(words[2])})
    return [event for event in events if root in json.dumps(event, default=str) or "inode" in event]


def is_name(event):
    return event["call"] in ("make", "rename", "link", "unlink")


def is_data(event):
    return event["call"] in ("write", "ftruncate")


def folders(event):
    return {os.path.dirname(event[part]) for part in ("path", "old", "new") if part in event}


def durable(events, cut):
    """The numbers of the calls before the cut that the syncs before the cut have kept."""
    kept = set()
    for i, event in enumerate(events[:cut]):
        if event["call"] == "syncfs":
            kept.update(range(i))
        elif event["call"] in ("fsync", "fdatasync"):
            kept.update(k for k, e in enumerate(events[:i])
                        if (is_data(e) and e["inode"] == event["inode"]) or
                        (is_name(e) and event["path"] in folders(e)))
    return kept


def state(start, events, cut, keep, zeros=frozenset()):
    disk = Disk(*start)
    for i, event in enumerate(events[:cut]):
        if i not in keep:
            continue
        if is_name(event):
            disk.name(event)
        elif is_data(event):
            disk.bytes(event, i in zeros)
    return disk


def states(start, events, count, rng):
    """Disks that the power may leave: (what it is, Disk)"""
    for cut in range(len(events) + 1):
        sure = durable(events, cut)
        pending = [i for i in range(cut) if i not in sure and (is_name(events[i]) or is_data(events[i]))]
        names = {i for i in pending if is_name(events[i])}
        data = set(pending) - names
        yield f"cut {cut}: only what was synced", state(start, events, cut, sure)
        if pending:
            yield f"cut {cut}: everything", state(start, events, cut, sure | set(pending))
            yield f"cut {cut}: names without bytes", state(start, events, cut, sure | names)
            yield f"cut {cut}: bytes without names", state(start, events, cut, sure | data)
            yield f"cut {cut}: zeros for bytes", state(start, events, cut, sure | set(pending), data)
    for n in range(count):
        cut = rng.randrange(len(events) + 1)
        sure = durable(events, cut)
        pending = [i for i in range(cut) if i not in sure]
        share = rng.random()
        some = {i for i in pending if rng.random() < share}
        zeros = {i for i in some if rng.random() < 0.3}
        yield f"cut {cut}, chance {n}", state(start, events, cut, sure | some, zeros)


def below(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Run:
    """One recorded run in a separate folder: in/ and out/."""

    def __init__(self, box, words, first=None, in_place=False):
        self.box, self.words, self.in_place = box, words, in_place
        self.backup = "--backup=.orig" in words
        (box / "out").mkdir(parents=True)
        make_photos(box / "in")
        if first:
            subprocess.run([PROGRAM, *first], cwd=box, check=True, stderr=subprocess.DEVNULL)
        before = below(box)
        numbers = {path: os.stat(path).st_ino for path in before}
        self.start = (numbers, {numbers[path]: before[path] for path in before})
        self.before = before
        record = box.parent / (box.name + ".record")
        subprocess.run([PROGRAM, *words], cwd=box, check=True, stderr=subprocess.DEVNULL,
                       env={**os.environ, "LD_PRELOAD": str(LIBRARY), "LAP_RECORD": str(record)})
        self.events = read_record(record, str(box))
        self.right = below(box)

    def problem(self, disk):
        """What a state breaks of the promises, or None."""
        done = set()
        for path in disk.names:
            if "/.lapedge/" in path and path.endswith(".jsonl"):
                for line in disk.content(path).split(b"\n"):
                    try:
                        record = json.loads(line)
                        if record.get("event") == "done":
                            done.add(str(self.box / "out" / record["output"]))
                    except (ValueError, AttributeError, KeyError):
                        pass
        for path in self.before:
            if "/in/" in path and path not in disk.names:
                return f"{path} is gone"
        for path in disk.names:
            if "/.lapedge" in path:
                continue
            now = disk.content(path)
            kept = disk.content(path + ".orig") if path + ".orig" in disk.names else None
            if self.backup and path in self.before and self.before[path] not in (now, kept):
                return f"{path} is neither there nor kept"
            if now != self.right.get(path) and now != self.before.get(path):
                return f"{path} is cut{', and the manifest calls it done' if path in done else ''}"
        return None

    def kept(self):
        """After exit code 0: what the syncs have kept for sure is all of the result."""
        disk = state(self.start, self.events, len(self.events), durable(self.events, len(self.events)))
        for path, content in self.right.items():
            if "/.lapedge" not in path and (path not in disk.names or disk.content(path) != content):
                return f"the run has ended, and {path} was not synced"
        return None

    def completes(self, disk, folder):
        """The same command on a disk like this, made in a folder that takes the place of the box."""
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("in", "out"):
            (folder / part).mkdir(parents=True)
        for path in disk.names:
            place = folder / os.path.relpath(path, self.box)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(disk.content(path))
        for path in self.before: # times of inputs as they were
            if path in disk.names and "/in/" in path:
                st = os.stat(path) if os.path.exists(path) else None
                if st:
                    os.utime(folder / os.path.relpath(path, self.box), ns=(st.st_atime_ns, st.st_mtime_ns))
        again = subprocess.run([PROGRAM, *self.words, "--no-sync"], cwd=folder, capture_output=True)
        if again.returncode:
            return f"the next run: exit {again.returncode}: {again.stderr.decode(errors='replace')[:200]}"
        for path, content in self.right.items():
            place = folder / os.path.relpath(path, self.box)
            if "/.lapedge" not in path and (not place.exists() or place.read_bytes() != content):
                return f"the next run did not make {path}"
        return None


def make_photos(folder):
    (folder / "sub").mkdir(parents=True)
    text = b"".join(b"%d\n" % i for i in range(1, 20000))
    for i in range(6):
        source = folder / "source.pgm"
        source.write_bytes(b"P5\n150 100\n255\n" + text[i:i + 15000])
        subprocess.run([PROGRAM, "--no-sync", "--kernel=identity", str(source), str(folder / ["", "sub"][i % 2] / f"{i}.jpg")],
                       check=True)
        source.unlink()


def judge(run, count, rng, reruns):
    """(states, violations, the first few)"""
    problem = run.kept()
    tried, bad, shown = 1, int(problem is not None), [f"# {problem}"] if problem else []
    for what, disk in states(run.start, run.events, count, rng):
        tried += 1
        problem = run.problem(disk)
        # All of it: what a kill leaves.
        if not problem and (rng.random() < reruns or (run.in_place and what.endswith("everything"))):
            problem = run.completes(disk, run.box.parent / "again")
        if problem:
            bad += 1
            shown.append(f"# {what}: {problem}")
    return tried, bad, shown[:5]


def twice(run):
    """Whether the next run filters an output: all names have survived, and of the bytes all but those of the record."""
    records = {event["inode"] for event in run.events if event["call"] == "make" and event["path"].endswith(".jsonl")}
    lost = {i for i, event in enumerate(run.events) if is_data(event) and event["inode"] in records}
    keep = set(range(len(run.events)))
    return run.completes(state(run.start, run.events, len(run.events), keep, lost), run.box.parent / "again") is not None


def main():
    if not LIBRARY.exists():
        print("ok 1 - power loss # SKIP the preloaded library needs glibc and no sanitizer\n1..1")
        return 0
    options = dict(word[2:].split("=", 1) for word in sys.argv[1:] if "=" in word)
    count = int(options.get("states", 150))
    seed = int(options.get("seed", os.environ.get("TEST_SEED", 1)))
    rng = random.Random(seed)
    print(f"# seed {seed}")
    quick = ["--threads=2"]
    older = ["in", "out", "-Q", "30", "--no-sync"]
    places = ["in/0.jpg", "in/2.jpg", "in/sub/1.jpg"]
    cases = [
        ("a folder", ["in", "out", "-j2", *quick], None, False),
        ("a folder over older outputs", ["in", "out", "-j2", *quick], older, False),
        ("one photo", ["in/0.jpg", "out/0.jpg", *quick], None, False),
        ("one photo over an older output", ["in/0.jpg", "out/0.jpg", *quick], ["in/0.jpg", "out/0.jpg", "-Q30"], False),
        ("photos in place", ["--in-place", *places, *quick], None, True),
        ("photos in place, kept", ["--in-place", "--backup=.orig", *places, *quick], None, True),
        ("photos in place, some of them before", ["--in-place", *places, *quick], ["--in-place", *places[:2]], True),
    ]
    failed = total = lost = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        for i, (what, words, first, in_place) in enumerate(cases, 1):
            run = Run(Path(name) / f"case{i}", words, first, in_place)
            tried, bad, shown = judge(run, count, rng, (100 if in_place else 25) / (count + 5 * len(run.events)))
            print(*shown, sep="\n", end="\n" if shown else "")
            print(f"{'not ok' if bad else 'ok'} {i} - power loss, {what}: {tried} states of a disk")
            failed |= bad > 0
            total, lost = total + tried, lost + bad
        run = Run(Path(name) / "unsynced", ["in", "out", "-j2", "--no-sync", *quick])
        tried, bad, shown = judge(run, count, rng, 0)
        print(f"{'ok' if bad else 'not ok'} {len(cases) + 1} - the same without syncs is seen to lose files")
        failed |= bad == 0
        run = Run(Path(name) / "forgetful", ["--in-place", "--no-sync", *places, *quick], None, True)
        forgotten = twice(run)
        print(f"{'ok' if forgotten else 'not ok'} {len(cases) + 2} - in place without syncs is seen to filter twice")
        failed |= not forgotten
    print(f"# result: class=6 tool=replay tries={total} lost={lost} unsynced_tries={tried} unsynced_lost={bad}")
    print(f"1..{len(cases) + 2}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
