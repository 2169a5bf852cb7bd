#!/usr/bin/env python3
"""corpus.py FOLDER PATH...: all files below the PATHs on this machine's GPU, alone and in batches of many sizes: the
pixels, edges, encoded bytes and kinds of errors are those of the CPU. Strict, and with fail_on="none".
FOLDER: where `make portable-tests` put the Python module (build/portable/python). It needs NumPy and cffi.
EACH: only every EACHth file. TAP on stdout."""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
if len(sys.argv) < 3:
    sys.exit(__doc__)
sys.path[:0] = [sys.argv[1], str(ROOT / "tests/support")]
import numpy as np  # noqa: E402

import lapedge  # noqa: E402
from lapedge import _views  # noqa: E402
from lapedge._interface import ffi, lib  # noqa: E402
from lapedge._library import contexts, streams  # noqa: E402
from tap import finish, report, skip  # noqa: E402

MOST, SIZES = 2 << 20, (1, 2, 9, 64, 65, 200)
LIMITS = {"max_pixels": 20_000_000, "timeout": 60}


def files():
    found = [path for word in sys.argv[2:] for path in sorted(Path(word).rglob("*"))
             if path.is_file() and path.stat().st_size < MOST]
    return [(str(path), path.read_bytes()) for path in found[::int(os.environ.get("EACH", "1"))]]


def alone(function, data, **more):
    try:
        return function(data, **more)
    except lapedge.Error as problem:
        return problem


def is_same(host, there):
    if isinstance(host, lapedge.Error) or isinstance(there, lapedge.Error):
        return getattr(host, "kind", None) == getattr(there, "kind", None)
    return np.array_equal(host, there.to_host())


def in_batches(items, call):
    """call(some of them), in batches of SIZES in turn."""
    results, begin, turn = [], 0, 0
    while begin < len(items):
        size = SIZES[turn % len(SIZES)]
        results += call(items[begin:begin + size])
        begin, turn = begin + size, turn + 1
    return results


def encoded(arrays):
    """Files of arrays on the device, by one call."""
    views = ffi.new("lap_view[]", len(arrays))
    for i, array in enumerate(arrays):
        views[i] = _views.view_of(_views.Samples(array.address, array.shape, array.strides, 0, array))[0]
    settings = ffi.new("lap_settings *", lib.lap_settings_default())
    settings.subsampling = lib.LAP_SUB_420
    out, sizes, err = ffi.new("void *[]", len(arrays)), ffi.new("size_t[]", len(arrays)), ffi.new("lap_error *")
    with streams.of(contexts.get(0), 0) as stream:
        code = lib.lap_stream_encode_batch(stream, views, len(arrays), settings, out, sizes, ffi.NULL, err)
    if code != lib.LAP_OK:
        raise SystemExit(f"encode_batch: {ffi.string(err.message).decode()}")
    made = [ffi.buffer(file, size)[:] for file, size in zip(out, sizes)]
    for file in out:
        lib.free(file)
    return made


def main():
    photos = files()
    names, data = zip(*photos)
    for function, batch in (lapedge.decode, lapedge.decode_batch), (lapedge.edges, lapedge.edges_batch):
        for fail_on in (None, "none"):
            more = {**LIMITS, **({"fail_on": fail_on} if fail_on else {})}
            host = [alone(function, each, **more) for each in data]
            good = sum(not isinstance(each, lapedge.Error) for each in host)
            ones = [alone(function, each, device=0, **more) for each in data]
            many = in_batches(data, lambda some: batch(some, device=0, errors="return", **more))
            for way, there in ("alone", ones), ("in batches", many):
                wrong = [name for name, a, b in zip(names, host, there) if not is_same(a, b)]
                report(good and not wrong, f"{function.__name__} {way}, fail_on={fail_on}: {len(host)} files, {good} of "
                       f"them without an error", wrong[:9])
            if fail_on:
                pixels = [(name, a, b) for name, a, b in zip(names, host, many) if not isinstance(a, lapedge.Error)]
                wanted = [lapedge.encode(a) for _, a, _ in pixels]
                ones = [lapedge.encode(b) for _, _, b in pixels]
                every = in_batches([b for _, _, b in pixels], encoded)
                for way, made in ("alone", ones), ("in batches", every):
                    wrong = [name for (name, *_), a, b in zip(pixels, wanted, made) if a != b]
                    report(not wrong, f"encode {way} what {function.__name__} gave: {len(made)} files", wrong[:9])
    finish()


if not lapedge.devices():
    skip("the corpus on a device", "no CUDA device")
    finish()
main()
