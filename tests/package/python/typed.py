#!/usr/bin/python3
"""What the types of the module promise: overloads have the parameters of their function, and mypy, if it is there, finds
one type for a call. Run in the root of the tree after `make`; TAP on stdout."""
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tempfile
import typing
from pathlib import Path

FOLDER = os.path.abspath(os.path.join(os.environ.get("B", "build"), "python"))
sys.path[:0] = [FOLDER, "tests/support"]
from tap import finish, report  # noqa: E402

try:
    import lapedge
except ImportError as problem:
    print(f"1..1\nok 1 - types of the Python module # SKIP {problem}")
    sys.exit(0)

NAMES = {"decode": 3, "edges": 3, "decode_batch": 5, "edges_batch": 5, "transform": 2}
# mypy accepts each line but those that say what it must find.
CALLS = '''
from typing import List, Optional, Union
import numpy
import lapedge
from lapedge import DeviceArray, Error, Report
photo: str = "in.jpg"

def maybe(number: Optional[int]) -> Union[numpy.ndarray, DeviceArray]:
    return lapedge.decode(photo, device=number)

pixels: numpy.ndarray = lapedge.decode(photo)
pixels = lapedge.decode(photo, 1, True, layout="CHW", threads=2)
pixels = lapedge.decode(photo, device=None)
pixels = lapedge.decode(photo, out=pixels)
pixels = lapedge.edges(photo, upright=True, kernel="log5")
pixels = lapedge.edges(photo, out=pixels)
height: int = lapedge.decode(photo).shape[0]
there: DeviceArray = lapedge.decode(photo, device=0)
there = lapedge.edges(photo, device=0)
there = lapedge.decode(photo, device=0, out=there)
where: str = lapedge.decode(photo, device=0, out="a tensor")
arrays: List[numpy.ndarray] = lapedge.decode_batch([photo])
arrays = lapedge.edges_batch([photo], errors="raise")
tried: List[Union[numpy.ndarray, Error]] = lapedge.decode_batch([photo], errors="return")
tried = lapedge.edges_batch([photo], errors="return")
on_device: List[DeviceArray] = lapedge.decode_batch([photo], device=0)
on_device = lapedge.edges_batch([photo], device=0)
data: bytes = lapedge.transform(photo, rotate=90)
done: Report = lapedge.transform(photo, "out.jpg")
there = lapedge.decode(photo) # assignment
pixels = lapedge.decode(photo, device=0) # assignment
done = lapedge.transform(photo) # assignment
arrays = lapedge.decode_batch([photo], errors="return") # assignment
lapedge.decode_batch([photo], errors="return")[0].shape # union-attr
lapedge.decode(photo, uprigth=True) # call-overload
'''


def overloads():
    for name, count in NAMES.items():
        function = getattr(lapedge, name)
        found = typing.get_overloads(function)
        parameters = inspect.signature(function).parameters
        wrong = []
        for each in found:
            theirs = inspect.signature(each).parameters
            wrong += [n for n in parameters if n not in theirs or theirs[n].kind != parameters[n].kind]
            wrong += [n for n in theirs if n not in parameters or
                      theirs[n].default not in (parameters[n].default, inspect.Parameter.empty)]
        report(len(found) == count and not wrong, f"{name}: {count} overloads with its parameters and defaults",
               [len(found), *wrong])


def checked():
    """Compares the lines that mypy refuses with those that say so."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "calls.py")
        source.write_text(CALLS, encoding="utf-8")
        done = subprocess.run([sys.executable, "-m", "mypy", "--no-incremental", "--show-error-codes", "--cache-dir",
                               os.devnull, str(source)], capture_output=True, text=True, check=False,
                              env={**os.environ, "MYPYPATH": FOLDER})
    found = {(int(line), code) for line, code in
             re.findall(r"calls\.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, flags=re.M)}
    wanted = {(number, line.split("# ")[1]) for number, line in enumerate(CALLS.splitlines(), 1) if "# " in line}
    report(found == wanted, "mypy finds one type for a call, and refuses what is wrong",
           [sorted(found ^ wanted), done.stdout[-600:], done.stderr[-300:]])
    wrong = re.findall(r".*(?:Overloaded function|\[overload-).*", done.stdout)
    report(not wrong, "mypy accepts the overloads", wrong)


if hasattr(typing, "get_overloads"):
    overloads()
else:
    report(True, "overloads have the parameters of their function # SKIP needs Python 3.11")
if importlib.util.find_spec("mypy"):
    checked()
else:
    report(True, "mypy finds one type for a call # SKIP mypy is not installed (python3-mypy)")
finish()
