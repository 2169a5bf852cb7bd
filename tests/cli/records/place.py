#!/usr/bin/env python3
"""place.py SAMPLE [restored] [hashless]: puts a kept folder of outputs, its photos and its record into the current folder.

A checkout gives every file another device, inode and time. Times become those of the record again; device and inode
in the record become those of the files, as on the machine where it was made. `restored`: they do not, as after a
backup was played back. `hashless`: done lines lose what the earliest versions did not write, hash, device, inode and
time of the output."""
import json
import os
import shutil
import sys
from pathlib import Path

sample, how = Path(sys.argv[1]), sys.argv[2:]
for name in ("in", "out"):
    shutil.copytree(sample / name, name)
lines = [json.loads(line) for line in (sample / "record.jsonl").read_text().splitlines()]
for line in lines:
    if line["event"] == "done":
        for path, what in ((line["input"], "input"), ("out/" + line["output"], "output")):
            time = line[what + "_mtime_s"] * 10**9 + line[what + "_mtime_ns"]
            os.utime(path, ns=(time, time))
    if "restored" not in how:
        state = os.stat("out/" + line["output"])
        line["output_device"], line["output_inode"] = state.st_dev, state.st_ino
    if "hashless" in how:
        for fact in ("hash", "device", "inode", "mtime_s", "mtime_ns"):
            del line["output_" + fact]
        if line["event"] == "begin":
            del line["output_size"]
os.mkdir("out/.lapedge")
Path("out/.lapedge/20261123T053607.869122633-host-1.jsonl").write_text(
    "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
