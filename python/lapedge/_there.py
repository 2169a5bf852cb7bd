"""Photos decoded to the memory of a CUDA device, and encoded from there."""
import contextlib
import ctypes
import itertools
import os
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Tuple

import numpy

from . import _device, _views
from ._content import is_path, named
from ._interface import ffi, lib
from ._library import check, contexts, error_of, streams

LINE = 128 # bytes: rows begin at multiples of this, so that the device writes them in place
NO_STREAM = -1 # in DLPack: the consumer waits
Shape = Tuple[int, ...]

_NAME = b"dltensor" # capsules point to it
_capsule_of = ctypes.pythonapi.PyCapsule_New
_capsule_of.restype, _capsule_of.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_end_capsule = int(ffi.cast("uintptr_t", ffi.addressof(lib, "lap_python_end_capsule")))


def padded(size: int) -> int:
    return -(-size // LINE) * LINE


class DeviceArray:
    """uint8 on a CUDA device, for torch, CuPy and others with DLPack or __cuda_array_interface__, which use it without
    a copy: torch.from_dlpack(array), cupy.asarray(array).

    shape; strides, in bytes: rows may have padding, and in layout "CHW" the channels of a pixel are adjacent; device:
    its number; address of the first sample. The array no longer needs the file or the stream. The memory is freed when
    this array and all arrays that were made from it are gone, in any thread."""
    dtype = numpy.dtype(numpy.uint8)

    def __init__(self, memory: Any, address: int, shape: Shape, strides: Shape, device: int, owner: Any = None):
        self._owner = owner # of memory that lapedge did not allocate
        self._memory, self.address, self.shape, self.strides, self.device = memory, address, shape, strides, device
        self._queued: Optional[_device.Stream] = None

    def __repr__(self) -> str:
        return f"<lapedge.DeviceArray {self.shape} on device {self.device}>"

    def _is_queued(self) -> bool:
        return self._queued is not None and bool(self._queued._stream)

    @property
    def __cuda_array_interface__(self) -> dict:
        stream = (self._queued.address or 1) if self._is_queued() else None
        return {"shape": self.shape, "typestr": "|u1", "data": (self.address, False), "strides": self.strides,
                "version": 3, "stream": stream}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _views.CUDA, self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Optional[bool] = None) -> Any:
        if copy or (dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__()):
            raise BufferError("lapedge shares this memory only on its own device and without a copy")
        if self._is_queued() and stream != -1 and {0: 1, None: 1}.get(stream, stream) != (self._queued.address or 1):
            self._queued.wait()
        if self._memory is None:
            raise BufferError("the memory is that of `out`: take its part of that")
        sizes = [ffi.new("int64_t[]", part) for part in (self.shape, self.strides)]
        tensor = lib.lap_python_tensor(self._memory, self.address, len(self.shape), *sizes)
        if tensor == ffi.NULL:
            raise MemoryError
        return _capsule_of(int(ffi.cast("uintptr_t", tensor)), _NAME, _end_capsule)

    def to_host(self) -> numpy.ndarray:
        """A NumPy array of the same shape and samples. Raises Error if the device failed."""
        if self._is_queued():
            self._queued.wait()
        planes = len(self.shape) == 3 and self.strides[0] == 1
        shape, strides = interleaved(self.shape, self.strides, planes)
        pixels, err = numpy.empty(shape, numpy.uint8), ffi.new("lap_error *")
        if pixels.size:
            view = _views.view_of(_views.Samples(self.address, shape, strides, self.device, self))
            if view is None:
                raise ValueError("array: the samples of a row do not lie side by side")
            with streams.of(contexts.get(1), self.device) as stream:
                check(lib.lap_stream_copy(stream, view, _views.view_of(_views.on_host(pixels)), err), err)
        return numpy.ascontiguousarray(pixels.transpose(2, 0, 1)) if planes else pixels


def interleaved(shape: Shape, strides: Shape, planes: bool) -> Tuple[Shape, Shape]:
    """Reorders (..., channels, height, width) to (..., height, width, channels) if planes is set."""
    if not planes:
        return tuple(shape), tuple(strides)
    return tuple((*s[:-3], s[-2], s[-1], s[-3]) for s in (shape, strides)) # type: ignore


def shaped(shape: Tuple[int, int, int], row: int, planes: bool) -> Tuple[Shape, Shape]:
    """Shape and strides of an array for that height, width and channels."""
    height, width, channels = shape
    if planes:
        return (channels, height, width), (1, row, channels)
    return ((height, width), (row, 1)) if channels == 1 else (shape, (row, channels, 1))


def allocate(device: int, size: int) -> Tuple[Any, int]:
    """Zeroed memory and its address."""
    rows, err, view = max(1, -(-size // (1 << 20))), ffi.new("lap_error *"), ffi.new("lap_view *")
    keeper = streams.keeper(device)
    with streams.of(contexts.get(1), device) as stream:
        width = 1 << 20 if rows > 1 else max(1, size)
        check(lib.lap_stream_view_create(stream, width, rows, 1, 0, view, err), err)
        memory = lib.lap_python_hold(view, keeper)
        if memory == ffi.NULL:
            lib.lap_stream_view_destroy(stream, view)
            raise MemoryError
    return ffi.gc(memory, lib.lap_python_let_go), int(ffi.cast("uintptr_t", view.base))


def empty(shape: Tuple[int, int, int], device: int, planes: bool = False) -> DeviceArray:
    row = padded(shape[1] * shape[2])
    memory, address = allocate(device, row * shape[0])
    return DeviceArray(memory, address, *shaped(shape, row, planes), device)


def empty_like(array: DeviceArray) -> DeviceArray:
    made = empty((*array.shape, 1)[:3], array.device)
    strides = (*made.strides, 1)[:len(array.shape)]
    return DeviceArray(made._memory, made.address, array.shape, strides, array.device)


def samples_of(name: str, array: Any, device: int, stream: Optional[_device.Stream], context: Any) -> _views.Samples:
    """The array's samples, once work of any stream, or of the given stream, can use them."""
    if _views.device_of(array) != device:
        raise ValueError(f"{name}: it does not lie on device {device}")
    if isinstance(array, DeviceArray):
        if array._is_queued() and array._queued is not stream:
            array._queued.wait()
        return _views.Samples(array.address, array.shape, array.strides, device, array)
    if stream is not None:
        return _views.on_device(name, array, stream.address)
    if _device.wait_for(array): # DLPack would make the legacy stream wait, and so all streams of threads
        return _views.on_device(name, array, NO_STREAM)
    samples, address = _views.on_device(name, array, 0), 0
    if not hasattr(array, "__dlpack__"):
        interface = array.__cuda_array_interface__
        if interface.get("version", 0) >= 3 and interface.get("stream") is None: # nothing is queued
            return samples
        address = interface.get("stream") or 0
    queue, err = streams.create(context, device, address), ffi.new("lap_error *")
    code = lib.lap_stream_wait(queue, err)
    lib.lap_stream_destroy(queue)
    check(code, err)
    return samples


@contextlib.contextmanager
def opened(stream: Any, device: int, threads: int) -> Iterator[Optional[_device.Stream]]:
    """Yields a Stream for anything that denotes a CUDA stream; None for None."""
    if stream is None or isinstance(stream, _device.Stream):
        if stream is not None and stream.device != device:
            raise ValueError(f"stream: it is one of device {stream.device}, not {device}")
        yield stream
        return
    with _device.Stream(stream, device, threads) as own:
        yield own


@contextlib.contextmanager
def queue_of(stream: Optional[_device.Stream], context: Any, device: int) -> Iterator[Any]:
    """Yields the library's stream to work on."""
    if stream is not None:
        yield stream._open()
        return
    with streams.of(context, device) as own:
        yield own


class Settings(NamedTuple):
    """host: for decoding on the CPU; there: for decoding on the device, which does not rotate."""
    host: Any
    there: Any


class Photo:
    """One photo on its way to the device. channels: 0 for those of the file."""

    def __init__(self, image: Any, data: Any, settings: Settings, channels: int):
        self.image, self.data, self.buffer = image, data, ffi.from_buffer(data)
        self.settings, self.channels = settings, channels
        self.err, self.turned = ffi.new("lap_error *"), None

    def problem(self, err: Any = None):
        return error_of(err or self.err, os.fsdecode(self.image) if is_path(self.image) else None)

    def shape(self, context: Any) -> Tuple[int, int, int]:
        """Height, width and channels of the result. Raises Error."""
        size = sizes_of([self], context)[0]
        if not isinstance(size, tuple):
            raise size
        return size

    def is_converted(self) -> bool:
        return self.channels not in (0, self.stored)

    def is_turned(self) -> bool:
        if self.turned is None:
            self.turned = bool(self.settings.host.auto_orient) and self.has_turn()
        return self.turned

    def has_turn(self) -> bool:
        info, err = ffi.new("lap_info *"), ffi.new("lap_error *")
        with named(self.image) as path: # what cannot be read is left to the CPU decoder
            return lib.lap_info_read(os.fsencode(path), info, err) != lib.LAP_OK or info.orientation > 1

    def fill(self, context: Any, stream: Any, view: Any) -> int:
        """Decodes to the view on the device. The CPU decodes a photo that must be converted or rotated."""
        if not self.is_converted() and not self.is_turned():
            return lib.lap_stream_decode(stream, self.buffer, len(self.buffer), self.settings.there, view, ffi.NULL,
                                         self.err)
        host = ffi.new("lap_view *")
        host.place, host.channels = lib.LAP_ON_HOST, self.channels
        code = lib.lap_decode_view(context, self.buffer, len(self.buffer), self.settings.host, host, ffi.NULL, self.err)
        if code == lib.LAP_OK:
            code = lib.lap_stream_copy(stream, host, view, self.err)
            lib.free(host.base)
        return code


def sizes_of(photos: List[Photo], context: Any) -> list:
    """Photo.shape() of each, or the Error that it raises."""
    count = len(photos)
    views, errors = ffi.new("lap_view[]", count), ffi.new("lap_error[]", count)
    files, sizes = ffi.new("const void *[]", [photo.buffer for photo in photos]), [len(p.buffer) for p in photos]
    lib.lap_python_sizes(context, files, sizes, count, photos[0].settings.host, views, errors)
    found: list = []
    for i, (photo, view) in enumerate(zip(photos, views)):
        photo.stored = view.channels
        found.append((view.height, view.width, photo.channels or view.channels) if errors[i].code == lib.LAP_OK
                     else photo.problem(errors + i))
    return found


def view_on(name: str, samples: _views.Samples, planes: bool, shape: Tuple[int, int, int]) -> Any:
    """A view of samples that have this height, width and channels. Raises ValueError."""
    if planes and len(samples.shape) != 3:
        raise ValueError(f"{name}: the shape is {samples.shape}, not {(shape[2], *shape[:2])}")
    found, strides = interleaved(samples.shape, samples.strides, planes)
    if (*found, 1)[:3] != shape or len(found) not in (2, 3):
        raise ValueError(f"{name}: the shape is {tuple(samples.shape)}, and the picture has {shape[0]} rows of "
                         f"{shape[1]} pixels with {shape[2]} channels")
    view = _views.view_of(_views.Samples(samples.address, found, strides, samples.place, samples.owner))
    if view is None:
        raise ValueError(f"{name}: the samples of a row do not lie side by side, or its rows not from top to bottom")
    return view


def decode(photo: Photo, planes: bool, out: Any, device: int, stream: Optional[_device.Stream], threads: int,
           run: Callable) -> Any:
    """run(function, size): calls function(context) for a file of that many bytes."""
    context = contexts.get(threads)
    if out is not None and _views.device_of(out) is None:
        raise TypeError("out: an array on a CUDA device is needed")
    shape = photo.shape(context)
    samples = None if out is None else samples_of("out", out, device, stream, context)
    if samples is not None and not photo.channels: # those of `out`, as on the host
        channels = (*interleaved(samples.shape, samples.strides, planes and len(samples.shape) == 3)[0], 1)[2]
        if channels in (1, 3):
            photo.channels = channels
            shape = photo.shape(context)
    result = empty(shape, device, planes) if out is None else out
    view = view_on("out", samples or samples_of("out", result, device, stream, context), planes, shape)

    def work(context: Any) -> int:
        with queue_of(stream, context, device) as queue:
            return photo.fill(context, queue, view)

    if run(work, len(photo.buffer)) != lib.LAP_OK:
        raise photo.problem()
    return result


class Filter:
    """lap_settings that decode like the given ones, and filter."""

    def __init__(self, settings: Any, backend: str, params: Any, border: int):
        self.backend, self.params, self.border = ffi.new("char[]", backend.encode()), params, border
        self.settings = ffi.new("lap_settings *")
        self.settings[0] = settings[0]
        self.settings.backend, self.settings.params, self.settings.border = self.backend, params[0], border

    def run(self, source: Any, place: Any, device: int, context: Any) -> None:
        err = ffi.new("lap_error *")
        with streams.of(context, device) as queue:
            check(lib.lap_stream_filter(queue, source, place, self.backend, self.params, self.border, err), err)
            check(lib.lap_stream_wait(queue, err), err)


def fill_many(photos: List[Photo], views: List[Any], filtering: Optional[Filter], device: int, context: Any) -> list:
    """Photo.fill() for many photos that are neither converted nor rotated, then the filter if there is one. Returns an
    Error or None for each."""
    count = len(photos)
    files, sizes = ffi.new("const void *[]", [photo.buffer for photo in photos]), [len(p.buffer) for p in photos]
    places, reports = ffi.new("lap_view[]", [view[0] for view in views]), ffi.new("lap_report[]", count)
    settings = filtering.settings if filtering else photos[0].settings.there
    function = lib.lap_stream_edges_batch if filtering else lib.lap_stream_decode_batch
    with streams.of(context, device) as queue:
        function(queue, files, sizes, count, settings, places, reports, ffi.NULL)
    return [None if reports[i].error.code == lib.LAP_OK else photo.problem(ffi.addressof(reports[i], "error"))
            for i, photo in enumerate(photos)]


def encode(array: Any, planes: bool, settings: Any, stream: Any, run: Callable) -> bytes:
    """run(function): calls function(context)."""
    device, err = _views.device_of(array), ffi.new("lap_error *")
    file, size = ffi.new("void **"), ffi.new("size_t *")
    with opened(stream, device, 1) as own:
        samples = samples_of("array", array, device, own, contexts.get(1))
        if planes and len(samples.shape) != 3:
            raise ValueError(f"array: the shape is {tuple(samples.shape)}, not (channels, height, width)")
        shape, strides = interleaved(samples.shape, samples.strides, planes)
        _views.is_image("array", _views.Samples(samples.address, shape, strides, device, array))
        view = view_on("array", samples, planes, (*shape, 1)[:3])

        def work(context: Any) -> int:
            with queue_of(own, context, device) as queue:
                return lib.lap_stream_encode(queue, view, settings, file, size, ffi.NULL, err)

        check(run(work), err)
    try:
        return ffi.buffer(file[0], size[0])[:]
    finally:
        lib.free(file[0])


class Packing:
    """Where the pixels of a batch go on the device: one after the other, or in one array with the largest height and
    width. shapes: (height, width, channels) by photo, None for one that is broken."""

    def __init__(self, shapes: List[Optional[Tuple[int, int, int]]], planes: bool, is_padded: bool, out: Any,
                 forced: int, device: int):
        self.planes, self.device, self.owner = planes, device, None
        good = [shape for shape in shapes if shape]
        if not is_padded:
            self.channels = forced
            sizes = [padded(shape[1] * shape[2]) * shape[0] if shape else 0 for shape in shapes]
            self.memory, base = allocate(device, sum(sizes))
            starts = itertools.accumulate(sizes, initial=base)
            self.whole = DeviceArray(self.memory, base, (sum(sizes),), (1,), device)
            self.places = [shape and self.place(start, shape, padded(shape[1] * shape[2]))
                           for start, shape in zip(starts, shapes)]
            return
        self.channels = forced or max((shape[2] for shape in good), default=3)
        height, width = (max((shape[axis] for shape in good), default=0) for axis in (0, 1))
        if out is None:
            row = padded(width * self.channels)
            self.memory, base = allocate(device, len(shapes) * row * height)
            shape, strides = shaped((height, width, self.channels), row, planes)
            self.whole = DeviceArray(self.memory, base, (len(shapes), *shape), (row * height, *strides), device)
            step = row * height
        else:
            base, step, row = self.into(out, len(shapes), height, width)
        self.places = [shape and self.place(base + i * step, (*shape[:2], self.channels), row)
                       for i, shape in enumerate(shapes)]

    def place(self, start: int, shape: Tuple[int, int, int], row: int) -> DeviceArray:
        return DeviceArray(self.memory, start, *shaped(shape, row, self.planes), self.device, self.owner)

    def into(self, out: Any, count: int, height: int, width: int) -> Tuple[int, int, int]:
        samples = samples_of("out", out, self.device, None, contexts.get(1))
        if len(samples.shape) not in (3, 4) or (self.planes and len(samples.shape) != 4):
            raise ValueError(f"out: the shape is {tuple(samples.shape)}")
        shape, strides = interleaved(samples.shape, samples.strides, self.planes)
        n, h, w, c = (*shape, 1)[:4]
        if (n, c) != (count, self.channels) or h < height or w < width:
            raise ValueError(f"out: the shape is {tuple(samples.shape)}, and at least {count} pictures of {height} "
                             f"rows of {width} pixels with {self.channels} channels are needed")
        if (c > 1 and strides[3] != 1) or (w > 1 and strides[2] != c) or (h > 1 and strides[1] < w * c):
            raise ValueError("out: the samples of a row do not lie side by side, or its rows not from top to bottom")
        self.whole, self.memory = out, out._memory if isinstance(out, DeviceArray) else None
        self.owner = samples.owner
        return samples.address, strides[0], strides[1]


def clear(place: DeviceArray) -> None:
    """Zeroes the place of a photo that could not be decoded."""
    planes = len(place.shape) == 3 and place.strides[0] == 1
    shape, strides = interleaved(place.shape, place.strides, planes)
    view = _views.view_of(_views.Samples(place.address, shape, strides, place.device, place))
    zeros = numpy.zeros(shape, numpy.uint8)
    nothing = _views.view_of(_views.on_host(zeros))
    with streams.of(contexts.get(1), place.device) as stream:
        lib.lap_stream_copy(stream, nothing, view, ffi.NULL)
