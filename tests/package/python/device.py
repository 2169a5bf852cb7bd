#!/usr/bin/env python3
"""The Python module on a machine with a GPU: arrays of CuPy and torch are filtered where they lie, on their streams,
with the bytes of the CPU. device.py [FOLDER]: where tools/release/build-python put the module. TAP on stdout."""
import os
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path[:0] = [sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "build", "python"), os.path.join(root, "tests/support")]
from tap import finish, report  # noqa: E402

import numpy as np  # noqa: E402

import lapedge  # noqa: E402

random = np.random.default_rng(20261122)
SHAPES = [(1, 1), (5, 3, 3), (67, 131), (300, 451, 3), (64, 128, 4), (1000, 777, 1)]


class Bare:
    """An array that has nothing but __cuda_array_interface__."""

    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


def check_library(name, put, get, new_stream, current):
    """put(array): onto the device; get(array): back; new_stream(): a stream; current(stream): a context of it."""
    wrong = []
    for shape in SHAPES:
        array = random.integers(0, 256, shape, dtype=np.uint8)
        for border, backend in (("zero", "auto"), ("reflect101", "cuda-fast"), ("wrap", "cuda-shared4"),
                                ("constant:9", "cuda-global")):
            there = lapedge.filter(put(array), border=border, backend=backend)
            if type(there) is not type(put(array)) or not np.array_equal(get(there), lapedge.filter(array, border=border)):
                wrong.append((shape, border, backend))
    report(not wrong, f"{name}: {len(SHAPES) * 4} cases equal the CPU's", wrong)
    array = random.integers(0, 256, (200, 300, 3), dtype=np.uint8)
    expected = lapedge.filter(array)
    place = put(np.full((220, 330, 3), 7, np.uint8))
    crop = place[10:210, 20:320]
    same = lapedge.filter(put(array), out=crop) is crop
    whole = get(place)
    report(same and np.array_equal(whole[10:210, 20:320], expected) and (whole[:10] == 7).all() and
           (whole[:, :20] == 7).all() and (whole[:, 320:] == 7).all(), f"{name}: into a crop, and nothing around it")
    report(np.array_equal(get(lapedge.filter(put(array)[5:100, 7:90])), lapedge.filter(array[5:100, 7:90])),
           f"{name}: a crop")
    stream = new_stream()
    with current(stream), lapedge.Stream(stream) as queue:
        # Each step is queued behind the one before; nothing is waited for in between.
        a = put(array)
        b, c = a * 0, a * 0
        lapedge.filter(a, out=b, stream=queue)
        twice = 255 - b
        lapedge.filter(twice, out=c, stream=queue)
        result = get(c)
    report(np.array_equal(result, lapedge.filter(255 - expected)), f"{name}: between other work of a stream")
    with current(stream):
        report(np.array_equal(get(lapedge.filter(put(array))), expected), f"{name}: on the current stream")
    for words, kind, function in (
            ("uint8", TypeError, lambda: lapedge.filter(put(array.astype(np.int16)))),
            ("side by side", ValueError, lambda: lapedge.filter(put(array)[:, ::2])),
            ("has to be there", TypeError, lambda: lapedge.filter(put(array), out=array.copy())),
            ("CPU", lapedge.Error, lambda: lapedge.filter(put(array), backend="c"))):
        try:
            function()
            good = False
        except kind as problem:
            good = words in str(problem)
        report(good, f"{name}: refused: {words}")


def check_cupy():
    import cupy

    check_library("CuPy", cupy.asarray, cupy.asnumpy, lambda: cupy.cuda.Stream(non_blocking=True), lambda s: s)
    array = random.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    out = cupy.zeros((40, 50, 3), cupy.uint8)
    lapedge.filter(Bare(cupy.asarray(array)), out=Bare(out))
    report(np.array_equal(cupy.asnumpy(out), lapedge.filter(array)), "__cuda_array_interface__ alone")
    try:
        lapedge.filter(Bare(cupy.asarray(array)))
        report(False, "no new array of an unknown library")
    except TypeError as problem:
        report("has to be given" in str(problem), "no new array of an unknown library")


def check_torch():
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch has no CUDA device")
    check_library("torch", lambda a: torch.from_numpy(np.ascontiguousarray(a)).cuda(), lambda t: t.cpu().numpy(),
                  torch.cuda.Stream, torch.cuda.stream)


for name, check in (("CuPy", check_cupy), ("torch", check_torch)):
    try:
        check()
    except ImportError as problem:
        report(True, f"{name} # SKIP {problem}")
finish()
