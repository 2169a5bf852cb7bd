"""wheel.py FOLDER: uses the module, where there is nothing but Python, on the photos of FOLDER. For each photo PHOTO.jpg
it writes the pixels (PHOTO.ppm) and the edges (PHOTO-edges.jpg). It fails if the pixels of a batch, those of a worker
process by fork or by spawn, the edges or an encoded photo are others."""
import multiprocessing
import os
import sys
import time
from pathlib import Path

start = time.perf_counter()
import numpy  # noqa: E402

between = time.perf_counter()
import lapedge  # noqa: E402

import_ms = (time.perf_counter() - between) * 1e3, (between - start) * 1e3


def pixels(path):
    return lapedge.decode(str(path), channels=3)


def device_error():
    try:
        lapedge.decode(str(PHOTOS[0]), device=0)
    except lapedge.Error as problem:
        return problem
    return None


def round_trip(photo, decoded):
    """The ways to the same pixels; and encoding, which loses little of a photo."""
    batch = lapedge.decode_batch([str(photo), b"no photo"], channels=3, errors="return")
    assert numpy.array_equal(batch[0], decoded), "decode_batch"
    assert batch[1].kind == "not_jpeg", batch[1].kind
    assert numpy.array_equal(lapedge.edges(str(photo)), lapedge.filter(decoded)), "edges"
    again = lapedge.decode(lapedge.encode(decoded, quality=95))
    assert numpy.abs(again.astype(int) - decoded).mean() < 2, "encode"


PHOTOS = sorted(path for path in Path(sys.argv[1]).glob("*.jpg") if not path.stem.endswith("-edges"))

if __name__ == "__main__":
    print("import lapedge: %.1f ms, after %.1f ms of NumPy" % import_ms)
    assert not os.environ.get("PATH"), "PATH is not empty"
    for photo in PHOTOS:
        decoded = pixels(photo)
        round_trip(photo, decoded)
        height, width = decoded.shape[:2]
        photo.with_suffix(".ppm").write_bytes(b"P6\n%d %d\n255\n" % (width, height) + decoded.tobytes())
        lapedge.run(str(photo), str(photo.with_name(photo.stem + "-edges.jpg")))
    for method in sys.argv[2:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert numpy.array_equal(pool.apply(pixels, (PHOTOS[0],)), pixels(PHOTOS[0])), method
    problem = device_error()
    print("a device without a driver:", repr(problem.kind), problem)
    assert problem.kind == "backend", problem.kind
