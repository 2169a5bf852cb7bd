"""decode(), encode(), edges(): files to arrays and back, one photo or many."""
import copy
import functools
import itertools
import os
import threading
from typing import Any, Callable, Iterable, List, Literal, NamedTuple, Optional, Tuple, TypeVar, Union, overload

import numpy

from . import _there, _views
from ._arrays import Filtering, filter
from ._content import Image, content, is_path
from ._files import CODEC, FAIL_ON, RESTART, SUBSAMPLING, refuse_of_jpeg
from ._interface import ffi, lib
from ._library import Error, call, check, chosen, contexts, error_of

SHORT = 1 << 18 # bytes of a file, which is most likely decoded in about 20 ms
SHORT_TO_ENCODE = 1 << 20 # samples, which take about as long
LAYOUTS = {"HWC": False, "CHW": True}
ERRORS = {"raise": False, "return": True}
PACKS = {"arena": False, "padded": True}
SHARE = 64 # images per step of a thread, if an image takes less time than switching threads
CALL = 256 # photos per call for a device: several groups of photos that share their launches
LINE = 64 # bytes: each photo of an arena begins at a multiple of this
Out = TypeVar("Out")
Item = TypeVar("Item")
FORMATS = {name: ffi.new("char[]", name.encode()) for name in ("jpg", "png", "bmp", "tga", "ppm", "pgm")}


@functools.lru_cache(maxsize=64)
def decode_settings(upright: bool, luma: bool, fail_on: str, max_pixels: Optional[int], max_memory: Optional[int],
                    max_scans: Optional[int], timeout: Optional[float], codec: str):
    """lap_settings that never change, so that threads can share them."""
    settings = ffi.new("lap_settings *")
    settings[0] = lib.lap_settings_default()
    settings.auto_orient, settings.gray = upright, luma
    settings.fail_on, settings.codec = chosen("fail_on", fail_on, FAIL_ON), chosen("codec", codec, CODEC)
    for name, value in (("max_pixels", max_pixels), ("max_memory", max_memory), ("max_scans", max_scans),
                        ("timeout_s", timeout)):
        if value is not None:
            setattr(settings, name, value)
    return settings


class Begun(NamedTuple):
    """An image of a batch: its content and its (height, width, channels). photo: None unless it goes to a device."""
    data: Any
    shape: Tuple[int, int, int]
    photo: Optional[_there.Photo]


class Asked:
    """The arguments of decode(), apart from the image, for results on the host."""

    def __init__(self, channels: Optional[int] = None, upright: bool = False, *, layout: str = "HWC",
                 luma: bool = False, fail_on: str = "truncated", max_pixels: Optional[int] = None,
                 max_memory: Optional[int] = None, max_scans: Optional[int] = None, timeout: Optional[float] = None,
                 codec: str = "auto"):
        if channels not in (None, 1, 3):
            raise ValueError(f"channels: {channels!r} is not None, 1 or 3")
        self.channels, self.planes = channels or 0, chosen("layout", layout, LAYOUTS)
        self.settings = decode_settings(bool(upright), bool(luma), fail_on, max_pixels, max_memory, max_scans, timeout,
                                        codec)

    def begin(self, images: List[Image], threads: int) -> List[Union["Begun", Error]]:
        def one(image: Image, context: Any) -> "Begun":
            data = content(image)
            return Begun(data, self.size(image, data, context), None)

        return Batch(images, one, "return", threads).run()

    def chained(self, begun: List[Any], places: List[Any], threads: int) -> dict:
        """The results of images that are decoded together, by number of the image."""
        return {}

    def packing(self, shapes: List[Optional[Tuple[int, int, int]]], pack: Optional[str], out: Any) -> Any:
        return Packing(shapes, self.planes, pack or "padded", out, self.channels)

    def clear(self, place: Any) -> None:
        place[...] = 0

    def with_channels(self, channels: int) -> "Asked":
        other = copy.copy(self)
        other.channels = channels
        return other

    def size(self, image: Image, data: Any, context: Any) -> Tuple[int, int, int]:
        """Height, width and channels of what decode() returns."""
        view, err, buffer = ffi.new("lap_view *"), ffi.new("lap_error *"), ffi.from_buffer(data)
        view.place, view.channels = lib.LAP_ON_HOST, self.channels
        if lib.lap_decode_size(context, buffer, len(buffer), self.settings, view, err) != lib.LAP_OK:
            raise error_of(err, os.fsdecode(image) if is_path(image) else None)
        return view.height, view.width, view.channels

    def decode(self, image: Image, data: Any, out: Optional[numpy.ndarray], run: Callable) -> numpy.ndarray:
        """data: the image's content. run(function, size): calls function(context) for a file of that many bytes."""
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
        """Fills in a view of out or, for planes, of a temporary array that is copied to out afterwards. Checks what can
        be checked before anything is decoded."""
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


class AskedThere(Asked):
    """The arguments of decode() for results on a device. stream: a _device.Stream; None: one for each thread."""

    def __init__(self, device: int, stream: Any, threads: int, channels: Optional[int] = None, upright: bool = False, *,
                 layout: str = "HWC", luma: bool = False, fail_on: str = "truncated", max_pixels: Optional[int] = None,
                 max_memory: Optional[int] = None, max_scans: Optional[int] = None, timeout: Optional[float] = None,
                 codec: str = "auto"):
        limits = bool(luma), fail_on, max_pixels, max_memory, max_scans, timeout
        super().__init__(channels, upright, layout=layout, luma=luma, fail_on=fail_on, max_pixels=max_pixels,
                         max_memory=max_memory, max_scans=max_scans, timeout=timeout,
                         codec="auto" if codec == "cuda" else codec)
        self.device, self.stream, self.threads = device, stream, threads
        self.both = _there.Settings(self.settings, decode_settings(False, *limits, codec))

    filtering: Optional[_there.Filter] = None # in a batch, between decoding and the result

    def filter(self, filtering: Filtering) -> None:
        self.filtering = _there.Filter(self.both.there, filtering.backend, filtering.params, filtering.border)

    def begin(self, images: List[Image], threads: int) -> List[Union[Begun, Error]]:
        def some(part: List[Image], context: Any) -> List[Union[Begun, Error]]:
            begun = [self.begin_one(image) for image in part]
            photos = [item for item in begun if not isinstance(item, Error)]
            shapes = iter(_there.sizes_of(photos, context) if photos else ())
            return [item if isinstance(item, Error) else begun_of(item, next(shapes)) for item in begun]

        def begun_of(photo: _there.Photo, shape: Any) -> Union[Begun, Error]:
            return shape if isinstance(shape, Error) else Begun(photo.data, shape, photo)

        return list(itertools.chain(*Batch(parts_of(images, SHARE), some, "raise", threads, None,
                                           self.device).run()))

    def begin_one(self, image: Image) -> Union[_there.Photo, Error]:
        try:
            photo = self.photo(image, content(image))
        except Error as problem:
            return problem
        photo.is_turned() # here, because several threads run this function
        return photo

    def chained(self, begun: List[Any], places: List[Any], threads: int) -> dict:
        """Decodes the photos that the device decodes as they are stored. Uses two threads, so that one prepares photos
        while the device decodes those of the other."""
        taken = []
        for number, item in enumerate(begun):
            if isinstance(item, Error):
                continue
            item.photo.channels = self.channels
            if not item.photo.is_converted() and not item.photo.is_turned():
                taken.append(number)

        def work(numbers: List[int], context: Any) -> List[Optional[Error]]:
            return _there.fill_many([begun[i].photo for i in numbers], [self.view(places[i]) for i in numbers],
                                    self.filtering, self.device, context)

        parts = parts_of(taken, CALL)
        problems = itertools.chain(*Batch(parts, work, "raise", threads, 2, self.device).run()) if parts else ()
        return {number: problem or places[number] for number, problem in zip(taken, problems)}

    def view(self, place: _there.DeviceArray) -> Any:
        """The lap_view of an array of a batch."""
        shape, strides = _there.interleaved(place.shape, place.strides, self.planes)
        return _views.view_of(_views.Samples(place.address, shape, strides, self.device, place))

    def edges(self, image: Image, data: Any, place: _there.DeviceArray, context: Any) -> _there.DeviceArray:
        """The edges of a photo that the CPU decodes."""
        pixels = self.decode(image, data, None, lambda function, _: function(context))
        self.filtering.run(self.view(pixels), self.view(place), self.device, context)
        return place

    def photo(self, image: Image, data: Any) -> _there.Photo:
        return _there.Photo(image, data, self.both, self.channels)

    def decode(self, image: Image, data: Any, out: Any, run: Callable) -> Any:
        return _there.decode(self.photo(image, data), self.planes, out, self.device, self.stream, self.threads, run)

    def packing(self, shapes: List[Optional[Tuple[int, int, int]]], pack: Optional[str], out: Any) -> Any:
        is_padded = pack == "padded" or out is not None
        return _there.Packing(shapes, self.planes, is_padded, out, self.channels, self.device)

    def clear(self, place: Any) -> None:
        _there.clear(place)


def asked_of(device: Optional[int], stream: Any, threads: int, *arguments: Any, **more: Any) -> Asked:
    if device is None:
        if stream is not None:
            raise ValueError("stream: device= is not given")
        return Asked(*arguments, **more)
    if not isinstance(device, int) or device < 0:
        raise ValueError(f"device: {device!r} is not the number of a CUDA device")
    return AskedThere(device, stream, threads, *arguments, **more)


def owned(view) -> numpy.ndarray:
    """An array over the memory that the library allocated for a view. The memory is freed with the array."""
    size = view.stride * view.height
    memory = ffi.gc(view.base, lib.free, size)
    shape = (view.height, view.width) if view.channels == 1 else (view.height, view.width, view.channels)
    return numpy.frombuffer(ffi.buffer(memory, size), numpy.uint8).reshape(shape)


# What type checkers are told: on the host an array of NumPy, on a device a DeviceArray, with out= that array.
@overload
def decode(image: Image, channels: Optional[int] = None, upright: bool = False, *, device: None = None,
           stream: None = None, out: None = None, layout: str = "HWC", luma: bool = False, fail_on: str = "truncated",
           max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
           timeout: Optional[float] = None, codec: str = "auto", threads: int = 0) -> numpy.ndarray: ...


@overload
def decode(image: Image, channels: Optional[int] = None, upright: bool = False, *, device: int, stream: Any = None,
           out: None = None, layout: str = "HWC", luma: bool = False, fail_on: str = "truncated",
           max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
           timeout: Optional[float] = None, codec: str = "auto", threads: int = 0) -> _there.DeviceArray: ...


@overload
def decode(image: Image, channels: Optional[int] = None, upright: bool = False, *, device: Optional[int] = None,
           stream: Any = None, out: Out, layout: str = "HWC", luma: bool = False, fail_on: str = "truncated",
           max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
           timeout: Optional[float] = None, codec: str = "auto", threads: int = 0) -> Out: ...


def decode(image: Image, channels: Optional[int] = None, upright: bool = False, *, device: Optional[int] = None,
           stream: Any = None, out: Any = None, layout: str = "HWC", luma: bool = False, fail_on: str = "truncated",
           max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
           timeout: Optional[float] = None, codec: str = "auto", threads: int = 0) -> Any:
    """The pixels of an image file as uint8: (height, width) if gray, else (height, width, 3), red first.

    They are those of libjpeg-turbo, and so of Pillow's `Image.open(f).convert("RGB")`, whichever coder decodes. For
    CMYK, where 255 means no ink as Adobe stores it, red is (C * K + 127) // 255; green and blue likewise, from M and Y.

    image: a path, or the bytes of a JPEG, PNG or PNM file (any contiguous buffer).
    channels: 1 is gray, which is convert("L") of the RGB pixels; 3 repeats gray; None: as in the file or `out`.
    upright: rotated by the EXIF tag, as ImageOps.exif_transpose does. luma: one channel, the Y that a JPEG stores,
    which is decoded faster and differs from convert("L") by a few levels.
    layout: "CHW" gives (channels, height, width), with gray as (1, height, width).
    out: an array of exactly the result's shape, or (height, width, 1) for gray; it is filled and returned. In "HWC" the
    samples of a row must be adjacent, and rows may be any distance apart.
    fail_on: "truncated", "warning" or "none", the least damage that is an Error. max_pixels (268 million unless
    given), max_memory (bytes), max_scans, timeout (seconds): limits. threads: as for filter().

    device: the number of a CUDA device; the result is a DeviceArray there, or `out`, with the same pixels. Its rows
    begin at multiples of 128 bytes, and "CHW" is a view of interleaved channels. The CPU decodes what the device
    cannot: a photo that `upright` rotates, other channels than the file's, and unusual files. out: any array of that
    device with DLPack or __cuda_array_interface__. stream: a Stream of this module, a stream of CuPy or torch, or its
    address; the work is queued on it, and decode() waits for the result. None: a stream for each thread; decode() first
    waits for what the library of `out` has queued.

    The array no longer needs the image or the library. Raises Error for a file that is missing, damaged, over a limit
    or not an image; ValueError and TypeError for arguments, before anything is decoded. Ctrl-C stops the main thread's
    decoding of a file of more than 256 KiB. Scaled decoding and regions are not supported.

    >>> decode("samples/chelsea.jpg").shape
    (300, 451, 3)
    >>> decode(open("samples/chelsea.jpg", "rb").read(), channels=1, layout="CHW").shape
    (1, 300, 451)
    >>> decode("samples/chelsea.jpg", max_pixels=1000)
    Traceback (most recent call last):
    ...
    lapedge.Error: samples/chelsea.jpg: limit: 451x300 is 135300 pixels, more than the limit of 1000
    """
    more = {"layout": layout, "luma": luma, "fail_on": fail_on, "max_pixels": max_pixels, "max_memory": max_memory,
            "max_scans": max_scans, "timeout": timeout, "codec": codec}
    with _there.opened(stream, device or 0, threads) as own:
        asked = asked_of(device, own, threads, channels, upright, **more)
        return asked.decode(image, content(image), out, lambda function, size: call(threads, function, size < SHORT))


def encode(array: Any, quality: int = 90, subsampling: str = "420", *, layout: str = "HWC", format: str = "jpg",
           progressive: bool = False, optimize: bool = False, restart: str = "auto", codec: str = "auto",
           timeout: Optional[float] = None, stream: Any = None) -> bytes:
    """The bytes of an image file of these pixels, made by one thread, or by the CUDA device that they lie on.

    array: uint8, (height, width), or (height, width, channels) with 1, 3 or 4, of which the fourth is dropped if the
    format has none; with layout "CHW" (channels, height, width). If the samples of a row are not adjacent, the array is
    copied first. quality: 1 to 100. subsampling: "444", "422", "420". format: "jpg", "png", "bmp", "tga", "ppm", "pgm".
    progressive, optimize: smaller JPEGs that take longer to make. restart: "auto", "on", "off". quality, subsampling,
    progressive, optimize and restart apply only to JPEGs. timeout: in seconds.
    On a device: an array of CuPy, torch or another library with DLPack or __cuda_array_interface__, in which the
    samples of a row are adjacent; the bytes are the same. stream: as for decode().

    Raises TypeError or ValueError for an array or setting that is not one of these, Error for a side that is too large
    for the format, or if time is up. Ctrl-C stops the main thread's call, as with decode().

    >>> file = encode(numpy.zeros((20, 30, 3), numpy.uint8), quality=50)
    >>> decode(file).shape
    (20, 30, 3)
    """
    if quality < 1: # 0, which the library would replace with the default
        raise ValueError(f"quality: {quality} is not in 1 to 100")
    refuse_of_jpeg({"quality": quality, "subsampling": subsampling, "progressive": progressive, "optimize": optimize,
                    "restart": restart}, format, ENCODING)
    settings = ffi.new("lap_settings *")
    settings.quality, settings.subsampling = quality, chosen("subsampling", subsampling, SUBSAMPLING)
    settings.restart, settings.codec = chosen("restart", restart, RESTART), chosen("codec", codec, CODEC)
    settings.progressive, settings.optimize, settings.format = progressive, optimize, chosen("format", format, FORMATS)
    if timeout is not None:
        settings.timeout_s = timeout
    planes = chosen("layout", layout, LAYOUTS)
    if _views.device_of(array) is not None:
        return _there.encode(array, planes, settings, stream, lambda function: call(1, function, True))
    if stream is not None:
        raise ValueError("stream: the array is on the host")
    return encode_host(array, planes, settings)


ENCODING = {"quality": 90, "subsampling": "420", "progressive": False, "optimize": False, "restart": "auto"}


def encode_host(array: Any, planes: bool, settings: Any) -> bytes:
    pixels = numpy.asarray(array)
    if pixels.dtype != numpy.uint8:
        raise TypeError(f"array: uint8 is needed, not {pixels.dtype}")
    if planes:
        if pixels.ndim != 3:
            raise ValueError(f"array: the shape is {pixels.shape}, not (channels, height, width)")
        pixels = pixels.transpose(1, 2, 0)
    samples = _views.on_host(pixels)
    _views.is_image("array", samples)
    view = _views.view_of(samples)
    if view is None:
        pixels = numpy.ascontiguousarray(pixels)
        view = _views.view_of(_views.on_host(pixels))
    err = ffi.new("lap_error *")
    file, size = ffi.new("void **"), ffi.new("size_t *")
    check(call(1, lambda context: lib.lap_encode_view(context, view, settings, file, size, err),
               pixels.size < SHORT_TO_ENCODE), err)
    try:
        return ffi.buffer(file[0], size[0])[:]
    finally:
        lib.free(file[0])


DECODING = {"upright", "luma", "fail_on", "max_pixels", "max_memory", "max_scans", "timeout", "codec"}


@overload
def edges(image: Image, channels: Optional[int] = None, *, device: None = None, stream: None = None, out: None = None,
          threads: int = 0, **settings: Any) -> numpy.ndarray: ...


@overload
def edges(image: Image, channels: Optional[int] = None, *, device: int, stream: Any = None, out: None = None,
          threads: int = 0, **settings: Any) -> _there.DeviceArray: ...


@overload
def edges(image: Image, channels: Optional[int] = None, *, device: Optional[int] = None, stream: Any = None, out: Out,
          threads: int = 0, **settings: Any) -> Out: ...


def edges(image: Image, channels: Optional[int] = None, *, device: Optional[int] = None, stream: Any = None,
          out: Any = None, threads: int = 0, **settings: Any) -> Any:
    """filter(decode(image)): the edges of a photo as pixels, without encoding them. run_bytes() gives a JPEG of them.

    image, channels: as for decode(). out: an array of the result's shape, as for filter(). settings: of decode()
    (upright, luma, fail_on, max_pixels, max_memory, max_scans, timeout, codec) and of filter() (backend, kernel,
    flip_kernel, border, range, scale, offset, invert, threshold). Raises what they raise. device, stream: as for
    decode(); the photo is also filtered there, and with a Stream of this module the filter is only queued.

    >>> edges("samples/chelsea.jpg", kernel=[[0, 1, 0], [1, -4, 1], [0, 1, 0]]).shape
    (300, 451, 3)
    """
    reading = {name: settings.pop(name) for name in DECODING & settings.keys()}
    pixels = decode(image, channels, device=device, stream=stream, threads=threads, **reading)
    return filter(pixels, out=out, threads=threads, stream=stream, **settings)


def parts_of(items: List[Any], size: int) -> List[List[Any]]:
    return [items[i:i + size] for i in range(0, len(items), size)]


class Batch:
    """Images that several threads process one after the other, with one context, which is cancelled to stop them
    all."""

    def __init__(self, images: List[Any], function: Callable, errors: str, threads: int, most: Optional[int] = None,
                 device: Optional[int] = None):
        self.images, self.function, self.returns = images, function, chosen("errors", errors, ERRORS)
        cores = threads or lib.lap_context_threads(contexts.get(0))
        self.jobs = max(1, min(len(images), cores, most or cores))
        self.inner = max(1, cores // self.jobs)
        self.results: List[Any] = [None] * len(images)
        self.numbers, self.failed, self.stopped = itertools.count(), threading.Lock(), False
        self.first: Optional[Tuple[int, BaseException]] = None
        self.place = self.inner, device
        self.context = contexts.take(*self.place)

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
        # Numbers are given out in order, so all images before a failed one have been begun, and are finished.
        for number in self.numbers:
            if number >= len(self.images) or self.stopped:
                return
            self.one(number)

    def stop(self, threads: List[threading.Thread]) -> None:
        """Cancels the batch, and returns when no thread uses the context. Exceptions of signal handlers are ignored."""
        while True:
            try:
                self.stopped = True
                contexts.cancel(self.context)
                for thread in threads:
                    if thread.ident: # it has begun
                        thread.join()
                return
            except BaseException: # pylint: disable=broad-except
                pass

    def run(self) -> List[Any]:
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self.stop(threads)
            contexts.give_back(self.context, *self.place)
            raise
        contexts.give_back(self.context, *self.place)
        if self.first:
            raise self.first[1]
        return self.results


class Photos(List[Item]):
    """Arrays in order, with an Error in the place of a broken photo. whole: the array that they are views of: the
    arena (one dimension) or the padded array (one more dimension than they have); None if each has its own memory."""

    def __init__(self, results: Iterable[Item], whole: Any):
        super().__init__(results)
        self.whole = whole


class Packing:
    """Where the pixels of a batch go. shapes: (height, width, channels) by photo, None for one that is broken."""

    def __init__(self, shapes: List[Optional[Tuple[int, int, int]]], planes: bool, pack: str,
                 out: Optional[numpy.ndarray], forced: int):
        good = [shape for shape in shapes if shape]
        self.planes, self.channels = planes, forced
        if pack == "arena":
            self.arena(shapes)
            return
        self.channels = forced or max((shape[2] for shape in good), default=3)
        if out is not None and not forced:
            self.channels = self.of_out(out)
        height, width = (max((shape[axis] for shape in good), default=0) for axis in (0, 1))
        self.whole = numpy.zeros((len(shapes), *self.shape(height, width)), numpy.uint8) if out is None else out
        if out is not None:
            self.check(out, len(shapes), height, width)
        rows = 2 if planes else 1
        self.places = [shape and self.whole[(i, *[slice(None)] * (rows - 1), slice(shape[0]), slice(shape[1]))]
                       for i, shape in enumerate(shapes)]

    def shape(self, height: int, width: int, channels: Optional[int] = None) -> Tuple[int, ...]:
        channels = channels or self.channels
        if self.planes:
            return channels, height, width
        return (height, width) if channels == 1 else (height, width, channels)

    def arena(self, shapes: List[Optional[Tuple[int, int, int]]]) -> None:
        sizes = [-(-shape[0] * shape[1] * shape[2] // LINE) * LINE if shape else 0 for shape in shapes]
        self.whole = numpy.empty(sum(sizes), numpy.uint8)
        starts = itertools.accumulate(sizes, initial=0)
        self.places = [shape and self.whole[start:start + shape[0] * shape[1] * shape[2]].reshape(self.shape(*shape))
                       for start, shape in zip(starts, shapes)]

    def of_out(self, out: Any) -> int:
        shape = getattr(out, "shape", ())
        return shape[1 if self.planes else 3] if len(shape) == 4 else 1

    def check(self, out: Any, count: int, height: int, width: int) -> None:
        if not isinstance(out, numpy.ndarray) or out.dtype != numpy.uint8:
            raise TypeError("out: a NumPy array of uint8 is needed")
        if not out.flags.writeable:
            raise ValueError("out: the array is read-only")
        wanted = (count, *self.shape(height, width))
        axes = (2, 3) if self.planes else (1, 2)
        if out.ndim != len(wanted) or self.channels not in (1, 3) or any(
                have < want if axis in axes else have != want
                for axis, (have, want) in enumerate(zip(out.shape, wanted))):
            raise ValueError(f"out: the shape is {out.shape}, and at least {wanted} is needed")
        if out.size and not self.planes and _views.view_of(_views.on_host(out[0])) is None:
            raise ValueError("out: the samples of a row do not lie side by side, or its rows not from top to bottom")


def in_batch(given: Iterable[Image], asked: Asked, pack: Optional[str], out: Optional[numpy.ndarray], errors: str,
             threads: int, work: Callable) -> Photos[Any]:
    """Calls work(asked, image, data, place, context) for each image, several at once. place: an array to be filled or
    None."""
    if isinstance(given, (str, os.PathLike, bytes, bytearray, memoryview)):
        raise TypeError(f"images: a list of images is needed, not {type(given).__name__}; of one image: [image]")
    images = list(given)
    if not chosen("pack", pack or "padded", PACKS) and out is not None:
        raise ValueError("out: it is a padded array, and pack='arena' makes none")
    chosen("errors", errors, ERRORS)
    if pack is None and out is None and not isinstance(asked, AskedThere):
        return Photos(Batch(images, lambda image, context: work(asked, image, content(image), None, context), errors,
                            threads).run(), None)
    begun = asked.begin(images, threads)
    shapes = [None if isinstance(item, Error) else item.shape for item in begun]
    packing = asked.packing(shapes, pack, out)
    for item in begun if isinstance(out, numpy.ndarray) else ():
        if not isinstance(item, Error) and numpy.may_share_memory(out, numpy.frombuffer(item.data, numpy.uint8)):
            raise ValueError("out: it overlaps the bytes of an image")
    if packing.channels:
        asked = asked.with_channels(packing.channels)
    done = asked.chained(begun, packing.places, threads)

    def one(number: int, context: Any) -> numpy.ndarray:
        if isinstance(begun[number], Error):
            raise begun[number]
        place = packing.places[number]
        try:
            if number in done:
                raise done[number]
            return work(asked, images[number], begun[number].data, place, context)
        except BaseException:
            asked.clear(place)
            raise

    results = {number: array for number, array in done.items() if not isinstance(array, Error)}
    left = [number for number in range(len(images)) if number not in results]
    results.update(zip(left, Batch(left, one, errors, threads).run()) if left else ())
    return Photos(map(results.__getitem__, range(len(images))), packing.whole)


@overload
def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: None = None, pack: Optional[str] = None, out: Any = None,
                 errors: Literal["raise"] = "raise", threads: int = 0, **settings: Any) -> Photos[numpy.ndarray]: ...


@overload
def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: None = None, pack: Optional[str] = None, out: Any = None,
                 errors: Literal["return"], threads: int = 0,
                 **settings: Any) -> Photos[Union[numpy.ndarray, Error]]: ...


@overload
def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: int, pack: Optional[str] = None, out: Any = None,
                 errors: Literal["raise"] = "raise", threads: int = 0,
                 **settings: Any) -> Photos[_there.DeviceArray]: ...


@overload
def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: int, pack: Optional[str] = None, out: Any = None,
                 errors: Literal["return"], threads: int = 0,
                 **settings: Any) -> Photos[Union[_there.DeviceArray, Error]]: ...


@overload
def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: Optional[int] = None, pack: Optional[str] = None, out: Any = None, errors: str,
                 threads: int = 0, **settings: Any) -> Photos[Any]: ...


def decode_batch(images: Iterable[Image], channels: Optional[int] = None, upright: bool = False, *,
                 device: Optional[int] = None, pack: Optional[str] = None, out: Any = None, errors: str = "raise",
                 threads: int = 0, **settings: Any) -> Photos[Any]:
    """decode() of each image, several at once: a list of arrays, in order.

    pack: None gives each array its own memory. "arena": all are views of one array without gaps except for alignment.
    "padded": they are views of one array (images, height, width[, channels]) of the largest height and width, which is
    0 outside of the photos; if one of them has 3 channels, all have. With layout "CHW" it is (images, channels, height,
    width). The result's attribute `whole` is that array.
    device: as for decode(); small photos share their launches there. All arrays are views of one array: the padded one
    if requested, else the arena. Its memory lives as long as any of them.
    out: the padded array to be filled, of that shape or larger; beyond the photos it stays as it was.
    errors: "return" puts the Error of a broken image in its place, and the others are complete (in a shared array its
    pixels are 0, or unchanged if its size is not known); "raise" raises the first Error in the order of the images.
    threads: in all; 0: one per core. settings: layout, luma, fail_on, max_pixels, max_memory, max_scans, timeout,
    codec, as for decode(). Raises what decode() raises; Ctrl-C stops all threads.

    >>> photo, problem = decode_batch(["samples/chelsea.jpg", b"no photo"], errors="return")
    >>> photo.shape, problem.kind
    ((300, 451, 3), 'not_jpeg')
    >>> decode_batch(["samples/chelsea.jpg", "samples/coffee.jpg"], pack="padded").whole.shape
    (2, 400, 600, 3)
    """
    asked = asked_of(device, None, 1, channels, upright, **settings)

    def work(asked: Asked, image: Image, data: Any, place: Optional[numpy.ndarray], context: Any) -> numpy.ndarray:
        return asked.decode(image, data, place, lambda function, _: function(context))

    return in_batch(images, asked, pack, out, errors, threads, work)


@overload
def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: None = None,
                pack: Optional[str] = None, out: Any = None, errors: Literal["raise"] = "raise", threads: int = 0,
                **settings: Any) -> Photos[numpy.ndarray]: ...


@overload
def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: None = None,
                pack: Optional[str] = None, out: Any = None, errors: Literal["return"], threads: int = 0,
                **settings: Any) -> Photos[Union[numpy.ndarray, Error]]: ...


@overload
def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: int,
                pack: Optional[str] = None, out: Any = None, errors: Literal["raise"] = "raise", threads: int = 0,
                **settings: Any) -> Photos[_there.DeviceArray]: ...


@overload
def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: int,
                pack: Optional[str] = None, out: Any = None, errors: Literal["return"], threads: int = 0,
                **settings: Any) -> Photos[Union[_there.DeviceArray, Error]]: ...


@overload
def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: Optional[int] = None,
                pack: Optional[str] = None, out: Any = None, errors: str, threads: int = 0,
                **settings: Any) -> Photos[Any]: ...


def edges_batch(images: Iterable[Image], channels: Optional[int] = None, *, device: Optional[int] = None,
                pack: Optional[str] = None, out: Any = None, errors: str = "raise", threads: int = 0,
                **settings: Any) -> Photos[Any]:
    """edges() of each image, several at once, like decode_batch(); settings: those of edges(). device: the photos are
    also filtered there.

    >>> [array.shape for array in edges_batch(["samples/chelsea.jpg"] * 3, channels=1)]
    [(300, 451), (300, 451), (300, 451)]
    """
    reading = {name: settings.pop(name) for name in DECODING & settings.keys()}
    asked, filtering = asked_of(device, None, 1, channels, **reading), Filtering(**settings)
    if isinstance(asked, AskedThere):
        asked.filter(filtering)

    def work(asked: Asked, image: Image, data: Any, place: Any, context: Any) -> Any:
        if isinstance(asked, AskedThere):
            return asked.edges(image, data, place, context)
        pixels = asked.decode(image, data, None, lambda function, _: function(context))
        return filtering.host(pixels, place, lambda function, _: function(context))

    return in_batch(images, asked, pack, out, errors, threads, work)
