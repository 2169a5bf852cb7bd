"""Arrays on a CUDA device, and streams."""
import contextlib
import sys
from typing import Any

from . import _views
from ._interface import ffi, lib
from ._library import check, contexts


def library_of(array: Any):
    """The imported module that the array belongs to: torch, cupy, ..."""
    return sys.modules.get(type(array).__module__.partition(".")[0])


def current_stream(array: Any) -> Any:
    """The stream on which torch or CuPy queues work on the array; None for other libraries."""
    library = library_of(array)
    name = getattr(library, "__name__", "")
    if name == "torch":
        return library.cuda.current_stream(array.device)
    if name == "cupy":
        with array.device:
            return library.cuda.get_current_stream()
    return None


def wait_for(array: Any) -> bool:
    """Waits for the work that torch or CuPy has queued on the array. Returns False for an array of another library."""
    stream = current_stream(array)
    if stream is None:
        return False
    # CuPy's default stream is that of the current device.
    with array.device if library_of(array).__name__ == "cupy" else contextlib.nullcontext():
        stream.synchronize()
    return True


def address_of(stream: Any, array: Any = None) -> int:
    """The cudaStream_t of a stream of CuPy, torch or another library; if it is None, of the array's current stream."""
    if stream is None and array is not None:
        stream = current_stream(array)
        if stream is None:
            stream = getattr(array, "__cuda_array_interface__", {}).get("stream") or 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"): # torch, CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if isinstance(stream, int):
        return stream
    raise TypeError(f"stream: {type(stream).__name__} is no stream of a CUDA device")


def empty_like(array: Any) -> Any:
    library = library_of(array)
    name = getattr(library, "__name__", "")
    if name == "lapedge":
        return library._there.empty_like(array)
    if name == "torch":
        return library.empty(tuple(array.shape), dtype=library.uint8, device=array.device)
    if name == "cupy":
        with array.device:
            return library.empty(array.shape, library.uint8)
    raise TypeError(f"out: it has to be given for arrays of {type(array).__module__}")


class Stream:
    """Work queued on a CUDA stream: filter() with stream=this returns at once, before the pixels are computed; work
    that is queued on the CUDA stream afterwards sees them. The Stream keeps the device memory that the work needs.

    cuda_stream: a stream of CuPy or torch, its address, or None for the default one. It must outlive this object, which
    only one thread may use at a time. Arrays must not change until the stream has done the work."""

    def __init__(self, cuda_stream: Any = None, device: int = 0, threads: int = 0):
        err, made = ffi.new("lap_error *"), ffi.new("lap_stream **")
        self.address, self.device, self._stream = address_of(cuda_stream or 0), device, None
        self._kept, self._cuda_stream = [], cuda_stream
        cuda = ffi.cast("void *", self.address)
        check(lib.lap_stream_create(contexts.get(threads), device, cuda, made, err), err)
        self._stream = made[0]

    def wait(self) -> None:
        """Waits until all queued work is done."""
        err = ffi.new("lap_error *")
        check(lib.lap_stream_wait(self._open(), err), err)
        self._kept.clear()

    def close(self) -> None:
        """Waits, and frees the stream's memory."""
        if self._stream:
            lib.lap_stream_destroy(self._stream)
            self._stream = None
            self._kept.clear()

    def _open(self):
        if not self._stream:
            raise ValueError("stream: it is closed")
        return self._stream

    def _filter(self, array: Any, out: Any, backend: str, params, border: int) -> None:
        source, result = (_views.on_device(name, a, self.address) for name, a in (("array", array), ("out", out)))
        if not source.place == result.place == self.device:
            raise ValueError(f"array, out: on device {source.place} and {result.place}, the stream on {self.device}")
        taken, to = _views.pair(source, result)
        if taken is None:
            raise ValueError("array: the samples of a row do not lie side by side; copy it first")
        err = ffi.new("lap_error *")
        check(lib.lap_stream_filter(self._open(), taken, to, backend.encode(), params, border, err), err)
        # The capsules of DLPack keep memory from being freed before the work is done.
        self._kept.append((source.owner, result.owner))
        del self._kept[:-16]
        if hasattr(out, "_queued"): # a DeviceArray
            out._queued = self

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def filter(array: Any, out: Any, backend: str, params, border: int, threads: int, stream: Any) -> Any:
    result = empty_like(array) if out is None else out
    if _views.device_of(result) is None:
        raise TypeError("out: the input is on a CUDA device, so the output has to be there")
    if isinstance(stream, Stream):
        stream._filter(array, result, backend, params, border)
        return result
    with Stream(address_of(stream, array), _views.device_of(array), threads) as own:
        own._filter(array, result, backend, params, border)
        own.wait()
    return result
