"""filter(): arrays in, arrays out."""
from typing import Any, Callable, Optional

import numpy

from . import _device, _views
from ._interface import ffi, lib
from ._library import Kernel, border_value, call, check, fill_params, word_of

SHORT = 1 << 20 # samples; plain C filters that many in about 20 ms


class Filtering:
    """The arguments of filter(), apart from the arrays."""

    def __init__(self, *, backend: str = "auto", kernel: Kernel = "laplace5", flip_kernel: bool = False,
                 border: str = "zero", range: str = "clamp", scale: float = 1.0, offset: float = 0.0,
                 invert: bool = False, threshold: Optional[int] = None):
        self.params = ffi.new("lap_params *")
        fill_params(self.params, kernel, flip_kernel, range, scale, offset, invert, threshold)
        self.border, self.backend = border_value(border), word_of("backend", backend)

    def host(self, array: Any, out: Any, run: Callable) -> numpy.ndarray:
        """run(function, is_short): calls function(context)."""
        source = numpy.asarray(array)
        if source.dtype != numpy.uint8:
            raise TypeError(f"array: uint8 is needed, not {source.dtype}")
        result = numpy.empty(source.shape, numpy.uint8) if out is None else out
        if not isinstance(result, numpy.ndarray) or result.dtype != numpy.uint8:
            raise TypeError("out: a NumPy array of uint8 is needed, as the input is on the host")
        if not result.flags.writeable:
            raise ValueError("out: the array is read-only")
        taken, to = _views.pair(_views.on_host(source), _views.on_host(result))
        if taken is None:
            source = source.copy(order="C")
            taken, to = _views.pair(_views.on_host(source), _views.on_host(result))
        err, name = ffi.new("lap_error *"), self.backend.encode()
        check(run(lambda context: lib.lap_filter(context, taken, to, name, self.params, self.border, err),
                  source.size < SHORT), err)
        return result


def filter(array: Any, *, out: Any = None, backend: str = "auto", kernel: Kernel = "laplace5",
           flip_kernel: bool = False, border: str = "zero", range: str = "clamp", scale: float = 1.0,
           offset: float = 0.0, invert: bool = False, threshold: Optional[int] = None, threads: int = 0,
           stream: Any = None) -> Any:
    """The filtered array: uint8, of the shape of `array`, (height, width) or (height, width, channels) with 1, 3 or 4
    channels; each channel is filtered separately. lapedge.h has the formula.

    array: on the host, anything that numpy.asarray converts to an array of uint8. Rows may be any distance apart, as in
    a crop; if the samples of a row are not adjacent, a copy is filtered. On a CUDA device, an array of CuPy, torch or
    another library with DLPack or __cuda_array_interface__: it is filtered there; nothing passes through the host.
    out: an array in the same place, of the same shape and type, that does not overlap `array`; the samples of a row
    must be adjacent. It is filled and returned. None: a new array.
    backend: a name of backends(); "auto": the fastest. kernel: a preset, a file, or an array of 5x5 or
    3x3 numbers.
    border: "zero", "replicate", "reflect", "reflect101", "wrap", "constant:V". range: "clamp" or "abs".
    threshold: 0 to 255. threads: 1 to 1024, or 0 for one per core.
    stream: the device's stream to queue the work on: a Stream of this module, with which filter() returns at once; a
    stream of CuPy or torch, or its address; None: the current stream of the array's library. Except with a Stream,
    filter() waits for the result.

    Raises Error (a backend that cannot run here, a device that failed), TypeError or ValueError (arrays, settings)."""
    asked = Filtering(backend=backend, kernel=kernel, flip_kernel=flip_kernel, border=border, range=range, scale=scale,
                      offset=offset, invert=invert, threshold=threshold)
    if _views.device_of(array) is not None:
        return _device.filter(array, out, backend, asked.params, asked.border, threads, stream)
    if stream is not None:
        raise ValueError("stream: the array is on the host")
    return asked.host(array, out, lambda function, is_short: call(threads, function, is_short))
