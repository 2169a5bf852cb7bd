"""decode(), encode(), edges(): files to arrays and back, one photo or many."""
import functools
import itertools
import os
import threading
from typing import Any, Callable, Iterable, List, Optional, Tuple, Union

import numpy

from . import _views
from ._arrays import filter
from ._content import Image, content, is_path
from ._files import CODEC, FAIL_ON, RESTART, SUBSAMPLING
from ._interface import ffi, lib
from ._library import Error, call, check, chosen, contexts, error_of

SHORT = 1 << 18 # bytes of a file, which most likely is decoded in some 20 ms
LAYOUTS = {"HWC": False, "CHW": True}
ERRORS = {"raise": False, "return": True}
FORMATS = {name: ffi.new("char[]", name.encode()) for name in ("jpg", "png", "bmp", "tga", "ppm", "pgm")}


@functools.lru_cache(maxsize=64)
def decode_settings(upright: bool, luma: bool, fail_on: str, max_pixels: Optional[int], max_memory: Optional[int],
                    max_scans: Optional[int], timeout: Optional[float], codec: str):
    """lap_settings that nobody changes, so that threads share them."""
    settings = ffi.new("lap_settings *")
    settings[0] = lib.lap_settings_default()
    settings.auto_orient, settings.gray = upright, luma
    settings.fail_on, settings.codec = chosen("fail_on", fail_on, FAIL_ON), chosen("codec", codec, CODEC)
    for name, value in (("max_pixels", max_pixels), ("max_memory", max_memory), ("max_scans", max_scans),
                        ("timeout_s", timeout)):
        if value is not None:
            setattr(settings, name, value)
    return settings


class Asked:
    """What decode() is asked for, whichever the image."""

    def __init__(self, channels: Optional[int] = None, upright: bool = False, *, layout: str = "HWC",
                 luma: bool = False, fail_on: str = "truncated", max_pixels: Optional[int] = None,
                 max_memory: Optional[int] = None, max_scans: Optional[int] = None, timeout: Optional[float] = None,
                 codec: str = "auto"):
        if channels not in (None, 1, 3):
            raise ValueError(f"channels: {channels!r} is not None, 1 or 3")
        self.channels, self.planes = channels or 0, chosen("layout", layout, LAYOUTS)
        self.settings = decode_settings(bool(upright), bool(luma), fail_on, max_pixels, max_memory, max_scans, timeout,
                                        codec)

    def decode(self, image: Image, out: Optional[numpy.ndarray], run: Callable) -> numpy.ndarray:
        """run(function, size): calls function(context) for a file of that many bytes."""
        data = content(image)
        view, target = ffi.new("lap_view *"), None
        view.place, view.channels = lib.LAP_ON_HOST, self.channels
        if out is not None:
            target = self.target(view, out, data)
        buffer, err = ffi.from_buffer(data), ffi.new("lap_error *")
        size = len(buffer)
        code = run(lambda context: lib.lap_decode_view(context, buffer, size, self.settings, view, ffi.NULL, err), size)
        if code == lib.LAP_E_DIFFERENT:
            raise ValueError(f"out: {error_of(err).message}")
        if code != lib.LAP_OK:
            raise error_of(err, os.fsdecode(image) if is_path(image) else None)
        pixels = owned(view) if target is None else target
        if self.planes:
            pixels = pixels.reshape(view.height, view.width, view.channels).transpose(2, 0, 1)
            if out is None:
                return numpy.ascontiguousarray(pixels)
            out[...] = pixels
        return pixels if out is None else out

    def target(self, view, out: Any, data: Any) -> numpy.ndarray:
        """Fills in a view of out, or of an array of rows that is brought there afterwards; checks what can be checked
        before anything is decoded."""
        if not isinstance(out, numpy.ndarray) or out.dtype != numpy.uint8:
            raise TypeError("out: a NumPy array of uint8 is needed")
        if not out.flags.writeable:
            raise ValueError("out: the array is read-only")
        shape = out.shape
        if self.planes and out.ndim == 3:
            shape = (*shape[1:], shape[0])
        if len(shape) == 2 and not self.planes:
            shape = (*shape, 1)
        if len(shape) != 3 or shape[2] not in ((self.channels,) if self.channels else (1, 3)) or 0 in shape:
            raise ValueError(f"out: the shape is {out.shape}")
        if len(data) and numpy.may_share_memory(out, numpy.frombuffer(data, numpy.uint8)):
            raise ValueError("out: it overlaps the image's bytes")
        rows = numpy.empty(shape, numpy.uint8) if self.planes else out
        found = _views.view_of(_views.on_host(rows))
        if found is None:
            raise ValueError("out: the samples of a row do not lie side by side, or its rows not from top to bottom")
        view[0] = found[0]
        return rows


def owned(view) -> numpy.ndarray:
    """An array over the memory that the library made for a view, and that goes with the array."""
    size = view.stride * view.height
    memory = ffi.gc(view.base, lib.free, size)
    shape = (view.height, view.width) if view.channels == 1 else (view.height, view.width, view.channels)
    return numpy.frombuffer(ffi.buffer(memory, size), numpy.uint8).reshape(shape)


def decode(image: Image, channels: Optional[int] = None, upright: bool = False, *,
           out: Optional[numpy.ndarray] = None, layout: str = "HWC", luma: bool = False, fail_on: str = "truncated",
           max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
           timeout: Optional[float] = None, codec: str = "auto", threads: int = 0) -> numpy.ndarray:
    """The pixels of an image file as uint8: (height, width) if gray, else (height, width, 3), red first.

    They are those of libjpeg-turbo, and so of Pillow's `Image.open(f).convert("RGB")`, whichever coder decodes. Of
    inks (CMYK) C, M, Y, K, with 255 for none as Adobe stores them, red is (C * K + 127) // 255; M and Y likewise.

    image: a path, or the bytes of a JPEG, PNG or PNM file (any contiguous buffer).
    channels: 1 is gray, which is convert("L") of the RGB pixels; 3 repeats gray; None: as the file or `out` has it.
    upright: turned by the EXIF tag, as ImageOps.exif_transpose does. luma: one channel, the Y that a JPEG stores,
    which is decoded faster and differs from convert("L") by some levels.
    layout: "CHW" gives (channels, height, width), with gray as (1, height, width).
    out: an array of just the shape that the result has, or (height, width, 1) for gray; it is filled and returned. In
    "HWC" the samples of a row lie side by side, and rows may be any distance apart.
    fail_on: "truncated", "warning" or "none", the least damage that is an Error. max_pixels (268 million unless
    given), max_memory (bytes), max_scans, timeout (seconds): limits. threads: as for filter().

    The array needs neither the image nor the library any more. Raises Error for a file that is missing, damaged, over
    a limit or no image; ValueError and TypeError for arguments, before anything is decoded. A file of more than 256 KiB
    that the main thread decodes is stopped by Ctrl-C. Scaled decoding and regions are out of scope.

    >>> decode("samples/chelsea.jpg").shape
    (300, 451, 3)
    >>> decode(open("samples/chelsea.jpg", "rb").read(), channels=1, layout="CHW").shape
    (1, 300, 451)
    >>> decode("samples/chelsea.jpg", max_pixels=1000)
    Traceback (most recent call last):
    ...
    lapedge.Error: samples/chelsea.jpg: limit: 451x300 is 135300 pixels, more than the limit of 1000
    """
    asked = Asked(channels, upright, layout=layout, luma=luma, fail_on=fail_on, max_pixels=max_pixels,
                  max_memory=max_memory, max_scans=max_scans, timeout=timeout, codec=codec)
    return asked.decode(image, out, lambda function, size: call(threads, function, size < SHORT))


def encode(array: Any, quality: int = 90, subsampling: str = "420", *, layout: str = "HWC", format: str = "jpg",
           progressive: bool = False, optimize: bool = False, restart: str = "auto", codec: str = "auto") -> bytes:
    """The bytes of an image file of these pixels, on the calling thread.

    array: uint8, (height, width), or (height, width, channels) with 1, 3 or 4, of which the fourth is dropped if the
    format has none; with layout "CHW" (channels, height, width). Samples of a row that do not lie side by side are
    copied first. quality: 1 to 100. subsampling: "444", "422", "420". format: "jpg", "png", "bmp", "tga", "ppm", "pgm".
    progressive, optimize: smaller JPEGs that take longer to make. restart: "auto", "on", "off".

    Raises TypeError or ValueError for an array or setting that is not one of these, Error for a side that is too large
    for the format.

    >>> file = encode(numpy.zeros((20, 30, 3), numpy.uint8), quality=50)
    >>> decode(file).shape
    (20, 30, 3)
    """
    pixels = numpy.asarray(array)
    if pixels.dtype != numpy.uint8:
        raise TypeError(f"array: uint8 is needed, not {pixels.dtype}")
    if chosen("layout", layout, LAYOUTS):
        if pixels.ndim != 3:
            raise ValueError(f"array: the shape is {pixels.shape}, not (channels, height, width)")
        pixels = pixels.transpose(1, 2, 0)
    samples = _views.on_host(pixels)
    _views.is_image("array", samples)
    view = _views.view_of(samples)
    if view is None:
        pixels = numpy.ascontiguousarray(pixels)
        view = _views.view_of(_views.on_host(pixels))
    if quality < 1: # 0, which the library would take for none given
        raise ValueError(f"quality: {quality} is not in 1 to 100")
    settings, err = ffi.new("lap_settings *"), ffi.new("lap_error *")
    settings.quality, settings.subsampling = quality, chosen("subsampling", subsampling, SUBSAMPLING)
    settings.restart, settings.codec = chosen("restart", restart, RESTART), chosen("codec", codec, CODEC)
    settings.progressive, settings.optimize, settings.format = progressive, optimize, chosen("format", format, FORMATS)
    file, size = ffi.new("void **"), ffi.new("size_t *")
    check(lib.lap_encode(view, settings, file, size, err), err)
    try:
        return ffi.buffer(file[0], size[0])[:]
    finally:
        lib.free(file[0])


DECODING = {"upright", "luma", "fail_on", "max_pixels", "max_memory", "max_scans", "timeout", "codec"}


def edges(image: Image, channels: Optional[int] = None, *, out: Optional[numpy.ndarray] = None, threads: int = 0,
          **settings) -> numpy.ndarray:
    """filter(decode(image)): the edges of a photo as pixels, without coding them. run_bytes() gives a JPEG of them.

    image, channels: as for decode(). out: an array of the result's shape, as for filter(). settings: of decode()
    (upright, luma, fail_on, max_pixels, max_memory, max_scans, timeout, codec) and of filter() (backend, kernel,
    flip_kernel, border, range, scale, offset, invert, threshold). Raises what they raise.

    >>> edges("samples/chelsea.jpg", kernel=[[0, 1, 0], [1, -4, 1], [0, 1, 0]]).shape
    (300, 451, 3)
    """
    reading = {name: settings.pop(name) for name in DECODING & settings.keys()}
    return filter(decode(image, channels, threads=threads, **reading), out=out, threads=threads, **settings)


class Batch:
    """Images that several threads take one after the other, with one context, which is cancelled to stop them all."""

    def __init__(self, images: List[Any], function: Callable, errors: str, threads: int):
        self.images, self.function, self.returns = images, function, chosen("errors", errors, ERRORS)
        cores = threads or lib.lap_context_threads(contexts.get(0))
        self.jobs = max(1, min(len(images), cores))
        self.inner = max(1, cores // self.jobs)
        self.results: List[Any] = [None] * len(images)
        self.numbers, self.failed, self.stopped = itertools.count(), threading.Lock(), False
        self.first: Optional[Tuple[int, BaseException]] = None
        self.context = contexts.take(self.inner)

    def one(self, number: int) -> None:
        try:
            self.results[number] = self.function(self.images[number], self.context)
        except BaseException as problem: # raised by the thread that waits
            if isinstance(problem, Error) and self.returns:
                self.results[number] = problem
                return
            with self.failed:
                if self.first is None or number < self.first[0]:
                    self.first = number, problem
            self.stopped = True

    def work(self) -> None:
        # Numbers are given out in order, so all images before one that failed have been begun, and are finished.
        for number in self.numbers:
            if number >= len(self.images) or self.stopped:
                return
            self.one(number)

    def run(self) -> List[Any]:
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.jobs)]
        begun = []
        try:
            for thread in threads:
                thread.start()
                begun.append(thread)
            for thread in threads:
                thread.join()
        except BaseException:
            self.stopped = True
            lib.lap_context_cancel(self.context)
            for thread in begun:
                wait_for(thread)
            lib.lap_context_destroy(self.context)
            raise
        contexts.give_back(self.inner, self.context)
        if self.first:
            raise self.first[1]
        return self.results


def wait_for(thread: threading.Thread) -> None:
    """One more Ctrl-C changes nothing."""
    while True:
        try:
            thread.join()
            return
        except KeyboardInterrupt:
            pass


def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 errors: str = "raise", threads: int = 0, **settings) -> List[Union[numpy.ndarray, Error]]:
    """decode() of each image, several at once: a list of arrays, in order.

    errors: "return" puts the Error of a broken image in its place, and the others are whole; "raise" raises the first
    one by order. threads: at once, in all; 0: one per core. settings: layout, luma, fail_on, max_pixels, max_memory,
    max_scans, timeout, codec, as for decode(). Raises what decode() raises; Ctrl-C stops all threads.

    >>> photo, problem = decode_batch(["samples/chelsea.jpg", b"no photo"], errors="return")
    >>> photo.shape, problem.kind
    ((300, 451, 3), 'not_jpeg')
    """
    asked = Asked(channels, upright, **settings)
    return Batch(list(images), lambda image, context: asked.decode(image, None, lambda f, _: f(context)), errors,
                 threads).run()


def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, errors: str = "raise", threads: int = 0,
                **settings) -> List[Union[numpy.ndarray, Error]]:
    """edges() of each image, several at once, as decode_batch() does it; settings: those of edges().

    >>> [array.shape for array in edges_batch(["samples/chelsea.jpg"] * 3, channels=1)]
    [(300, 451), (300, 451), (300, 451)]
    """
    reading = {name: settings.pop(name) for name in DECODING & settings.keys()}
    asked = Asked(channels, **reading)
    work = functools.partial(filter, threads=1, **settings)
    return Batch(list(images), lambda image, context: work(asked.decode(image, None, lambda f, _: f(context))), errors,
                 threads).run()
