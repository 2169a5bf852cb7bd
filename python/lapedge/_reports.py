"""info(), stats(), diff(): what is in a file, in its pixels, and between two."""
import os
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple, Union

import numpy

from . import _views
from ._arrays import filter
from ._content import Image, is_path, named
from ._files import FILE_OUT, JPEG_OUT, refuse, settings_of
from ._interface import ffi, lib
from ._library import UsageError, call, contexts, error_of, text
from ._pixels import DECODING, decode


@dataclass(frozen=True)
class Metadata:
    """All pieces of one kind: "EXIF", "XMP", "ICC", "IPTC", "comment", ..."""
    kind: str
    segments: int
    bytes: int


@dataclass(frozen=True)
class Info:
    """width, height, components: as stored. frame: of a JPEG "baseline", "extended sequential", "progressive", else
    None. sampling: of a JPEG, (horizontal, vertical) of each component. restart_interval: MCUs, 0 for none.
    orientation: EXIF's, 1 to 8. longest_scan, longest_percent: of scans that are decoded in parallel, else 0."""
    format: str
    bytes: int
    width: int
    height: int
    components: int
    frame: Optional[str]
    arithmetic: bool
    sampling: Tuple[Tuple[int, int], ...]
    quantization_tables: int
    huffman_tables: int
    scans: int
    restart_interval: int
    orientation: int
    metadata: Tuple[Metadata, ...]
    longest_scan: int
    longest_percent: int


def checked(code: int, err, image: Image) -> None:
    """Raises Error with the path as its subject, even if the library has not seen the path."""
    if code != lib.LAP_OK:
        raise error_of(err, os.fsdecode(image) if is_path(image) else "memory")


def info(image: Image) -> Info:
    """Describes an image file without decoding its pixels. image: a path, or the content of a file. Raises Error for a
    file that cannot be read, or that decode() would refuse.

    >>> found = info("samples/chelsea.jpg")
    >>> found.format, found.width, found.height, found.frame
    ('jpeg', 451, 300, 'baseline')
    """
    c, err = ffi.new("lap_info *"), ffi.new("lap_error *")
    with named(image) as path:
        checked(lib.lap_info_read(os.fsencode(path), c, err), err, image)
    is_jpeg = text(c.format) == "jpeg"
    sampling = tuple((c.sample_h[i], c.sample_v[i]) for i in range(c.components)) if is_jpeg else ()
    metadata = tuple(Metadata(text(m.kind), m.segments, m.bytes) for m in c.metadata[0:c.metadata_count])
    return Info(text(c.format), c.bytes, c.width, c.height, c.components, text(c.frame), c.arithmetic, sampling,
                c.quantization_tables, c.huffman_tables, c.scans, c.restart_interval, c.orientation, metadata,
                c.longest_scan, c.longest_percent)


@dataclass(frozen=True)
class Channel:
    """histogram: 256 counts of int64. stddev: of all samples. entropy: bits a sample. p1, p50, p99: the smallest value
    such that at least 1, 50, 99 % of the samples are not larger. above: the share of samples from the threshold on, or
    None."""
    name: str
    histogram: numpy.ndarray
    count: int
    sum: int
    min: int
    max: int
    mean: float
    stddev: float
    entropy: float
    p1: int
    p50: int
    p99: int
    above: Optional[float]


@dataclass(frozen=True)
class Stats:
    """Statistics of an image and of its edges, by channel: "gray", or "red", "green", "blue" and "alpha". resolved: the
    backend that filtered. rows, columns: profiles, height and width values of float32, or None if not asked for."""
    width: int
    height: int
    input: Dict[str, Channel]
    edges: Dict[str, Channel]
    resolved: Optional[str]
    rows: Optional[numpy.ndarray] = None
    columns: Optional[numpy.ndarray] = None


def channels_of(stats) -> Dict[str, Channel]:
    found = {}
    for c in stats.channel[0:stats.channels]:
        histogram = numpy.frombuffer(ffi.buffer(c.histogram), numpy.int64).copy()
        above = None if c.above != c.above else c.above
        found[text(c.name)] = Channel(text(c.name), histogram, c.count, c.sum, c.min, c.max, c.mean, c.stddev,
                                      c.entropy, c.p1, c.p50, c.p99, above)
    return found


def is_pixels(image: Any) -> bool:
    return isinstance(image, numpy.ndarray) and image.ndim > 1


def view_of(name: str, array: numpy.ndarray):
    """A view, and the array that it describes: a copy if the samples of a row are not adjacent."""
    if array.dtype != numpy.uint8:
        raise TypeError(f"{name}: uint8 is needed, not {array.dtype}")
    _views.is_image(name, _views.on_host(array))
    view = _views.view_of(_views.on_host(array))
    if view is None:
        array = numpy.ascontiguousarray(array)
        view = _views.view_of(_views.on_host(array))
    return view, array


def stats_of_array(array: numpy.ndarray, threshold: int, threads: int) -> Dict[str, Channel]:
    (view, _kept), c, err = view_of("image", array), ffi.new("lap_stats *"), ffi.new("lap_error *")
    code = lib.lap_stats_of_view(contexts.get(threads), view, b"auto", 0, threshold, c, err)
    checked(code, err, array)
    return channels_of(c)


def profiles_of_array(edges: numpy.ndarray, threads: int) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Returns the means of the rows and of the columns."""
    if edges.ndim == 3 and edges.shape[2] != 1:
        raise ValueError(f"profiles: they are of one channel, and the array has {edges.shape[2]}")
    (view, _kept), err = view_of("image", edges), ffi.new("lap_error *")
    rows, columns = (numpy.empty(size, numpy.float32) for size in edges.shape[:2])
    code = lib.lap_profiles(contexts.get(threads), view, ffi.NULL, ffi.NULL, ffi.from_buffer("float[]", rows),
                            ffi.from_buffer("float[]", columns), err)
    checked(code, err, edges)
    return rows, columns


def floats(pointer, count: int) -> Optional[numpy.ndarray]:
    return numpy.frombuffer(ffi.buffer(pointer, 4 * count), numpy.float32).copy() if pointer else None


def stats(image: Union[Image, numpy.ndarray], *, above: Optional[int] = None, mask_border: int = 0,
          profiles: bool = False, threads: int = 0, **settings) -> Stats:
    """Exact statistics of an image and of its edges. Writes nothing.

    image: a path, the content of a file, or pixels: uint8, (height, width) or (height, width, channels) with 1, 3 or 4.
    above: 0 to 255, for Channel.above; it does not change the edges. mask_border: pixels at each side that the edges'
    statistics leave out. profiles: also the mean of each row and column of the edges: for a file, of its luma; for
    pixels, of their only channel. settings: for a file, those of run() that do not concern the output; for pixels,
    those of filter(). Raises what these raise.

    >>> stats("samples/chelsea.jpg").input["red"].count
    135300
    """
    if above is not None and not 0 <= above <= 255:
        raise ValueError(f"above: {above} is not in 0 to 255")
    threshold = -1 if above is None else above
    if is_pixels(image):
        edges = filter(image, threads=threads, **settings)
        height, width = edges.shape[:2]
        m = mask_border
        if m < 0:
            raise ValueError(f"mask_border: {m} is negative")
        lines = profiles_of_array(edges, threads) if profiles else (None, None)
        inner = edges[m:height - m, m:width - m] if 2 * m < min(height, width) else None
        return Stats(width, height, stats_of_array(image, threshold, threads),
                     {} if inner is None else stats_of_array(inner, threshold, threads), None, *lines)
    refuse(settings, {"filter", "rotate", "flip", "format", "strip", "keep", "lossless", *FILE_OUT, *JPEG_OUT},
           "stats() filters the image as it is stored and writes no image")
    s, options = settings_of({"threads": threads, **settings}), ffi.new("lap_measure_options *")
    c, err = ffi.new("lap_measurement *"), ffi.new("lap_error *")
    options.threshold, options.mask_border, options.profiles = threshold, mask_border, profiles
    with named(image) as path:
        name = os.fsencode(path)
        code = call(threads, lambda context: lib.lap_measure_file(context, name, s.c, options, c, err))
    try:
        checked(code, err, image)
        return Stats(c.width, c.height, channels_of(c.stats.input), channels_of(c.stats.edges), text(c.resolved),
                     floats(c.rows, c.height), floats(c.columns, c.width))
    finally:
        lib.lap_measurement_free(c)


@dataclass(frozen=True)
class Difference:
    """samples, pixels: how many were compared. max_abs, mean_abs, rmse: levels. psnr: dB, None if identical. ssim: -1
    to 1, None if not asked for or below 11x11 pixels. first: (x, y, channel, a, b) of the first difference in raster
    order, or None. differing_border: how many of the differing pixels are among the two at each edge of the image."""
    identical: bool
    samples: int
    pixels: int
    max_abs: int
    mean_abs: float
    rmse: float
    psnr: Optional[float]
    ssim: Optional[float]
    differing_pixels: int
    differing_border: int
    first: Optional[Tuple[int, int, int, int, int]]


def diff(a: Union[Image, numpy.ndarray], b: Union[Image, numpy.ndarray], *, mask_border: int = 0, ssim: bool = False,
         **decoding) -> Difference:
    """How b differs from a. Each is a path, the content of a file, or pixels (uint8, as for stats()).

    mask_border: pixels at each side to leave out. ssim: also the structural similarity (Wang et al. 2004, Gaussian
    window of 11x11), a mean over the channels. decoding: for files, channels, threads and the settings of decode() that
    edges() accepts. Raises Error of the kind "different" about both if sizes or channels differ, and what decode()
    raises.

    >>> diff("samples/chelsea.jpg", decode("samples/chelsea.jpg")).identical
    True
    """
    wrong = sorted(decoding.keys() - DECODING - {"channels", "threads"})
    if wrong:
        raise TypeError(f"{wrong[0]}: it is not a setting of decode() that diff() takes")
    if decoding and is_pixels(a) and is_pixels(b):
        raise UsageError("usage", "", f"{min(decoding)}: both images are pixels already")
    arrays = [image if is_pixels(image) else decode(image, **decoding) for image in (a, b)]
    (view_a, _a), (view_b, _b) = (view_of(name, array) for name, array in zip("ab", arrays))
    c, err = ffi.new("lap_difference *"), ffi.new("lap_error *")
    if lib.lap_compare_views(view_a, view_b, mask_border, ssim, c, err) != lib.LAP_OK:
        names = [os.fsdecode(image) if is_path(image) else name for name, image in zip("ab", (a, b))]
        raise error_of(err, " and ".join(names))
    first = None if c.first_x < 0 else (c.first_x, c.first_y, c.first_channel, c.first_a, c.first_b)
    return Difference(c.identical, c.samples, c.pixels, c.max_abs, c.mean_abs, c.rmse,
                      None if c.psnr != c.psnr else c.psnr, None if c.ssim != c.ssim else c.ssim, c.differing_pixels,
                      c.differing_border, first)
