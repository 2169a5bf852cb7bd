"""Arrays as views of the library: where their samples lie, and whether a view can describe them."""
import ctypes
from typing import Any, NamedTuple, Optional, Tuple

from cffi import FFI

from ._interface import ffi, lib

CUDA = 2 # kDLCUDA

# The start of DLPack's structs, version 0 (dmlc.github.io/dlpack); uint8 is code 1, 8 bits, 1 lane.
_dlpack = FFI()
_dlpack.cdef("""
typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides;
    uint64_t byte_offset; } DLTensor;
""")
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Samples(NamedTuple):
    """Where the samples of an array lie; strides in bytes. owner: keeps the memory alive."""
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    place: int
    owner: Any


def dense(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n
    return tuple(strides)


def device_of(array: Any) -> Optional[int]:
    """The number of the CUDA device that the array lies on, or None."""
    if hasattr(array, "__dlpack_device__"):
        kind, number = array.__dlpack_device__()
        return int(number) if int(kind) == CUDA else None
    if hasattr(array, "__cuda_array_interface__"):
        return int(getattr(getattr(array, "device", None), "id", 0))
    return None


def on_host(array) -> Samples:
    return Samples(array.ctypes.data, array.shape, array.strides, lib.LAP_ON_HOST, array)


def on_device(name: str, array: Any, stream: int) -> Samples:
    """The array's samples; work queued on the stream from now on sees them."""
    if hasattr(array, "__dlpack__"):
        capsule = array.__dlpack__(stream=stream or 1) # 1: the default stream
        tensor = _dlpack.cast("DLTensor *", _pointer_of(capsule, b"dltensor"))
        if (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) != (1, 8, 1):
            raise TypeError(f"{name}: uint8 is needed")
        shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else dense(shape)
        address = int(_dlpack.cast("uintptr_t", tensor.data)) + tensor.byte_offset
        return Samples(address, shape, strides, tensor.device.device_id, (array, capsule))
    interface = array.__cuda_array_interface__
    if interface["typestr"] != "|u1":
        raise TypeError(f"{name}: uint8 is needed, not {interface['typestr']}")
    shape = tuple(interface["shape"])
    return Samples(interface["data"][0], shape, interface.get("strides") or dense(shape), device_of(array), array)


def is_image(name: str, samples: Samples) -> None:
    shape = samples.shape
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 3, 4)):
        raise ValueError(f"{name}: the shape is {tuple(shape)}, not (height, width) or (height, width, channels) with "
                         "1, 3 or 4 channels")
    if 0 in shape:
        raise ValueError(f"{name}: it has no pixels")
    if max(shape[:2]) > lib.LAP_MAX_SIDE:
        raise ValueError(f"{name}: more than {lib.LAP_MAX_SIDE} pixels on a side")


def view_of(samples: Samples):
    """A lap_view; None if the samples of a row are not adjacent, or the rows are not stored from top to bottom."""
    height, width, channels = (*samples.shape, 1)[:3]
    row, pixel, sample = (*samples.strides, 1)[:3]
    if (channels > 1 and sample != 1) or (width > 1 and pixel != channels) or (height > 1 and row < width * channels):
        return None
    return ffi.new("lap_view *", {"base": ffi.cast("uint8_t *", samples.address),
                                  "stride": row if height > 1 else width * channels, "width": width, "height": height,
                                  "channels": channels, "apron": 0, "place": samples.place})


def pair(source: Samples, result: Samples):
    """The views of input and output for lap_filter; the first is None if the input must be copied."""
    is_image("array", source)
    if result.shape != source.shape:
        raise ValueError(f"out: the shape is {tuple(result.shape)}, that of the input {tuple(source.shape)}")
    to = view_of(result)
    if to is None:
        raise ValueError("out: the samples of a row do not lie side by side, or its rows not from top to bottom")
    return view_of(source), to
