"""Image files by path or by content."""
import contextlib
import os
from typing import Any, Iterator, Union

import numpy

from ._library import Error

Image = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, numpy.ndarray]


def is_path(image: Any) -> bool:
    return isinstance(image, (str, os.PathLike))


def read(path: Union[str, "os.PathLike[str]"]) -> bytes:
    """The file's content. Raises Error, as the library does."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise Error("missing", os.fsdecode(path), "no such file") from None
    except OSError as problem:
        raise Error("unreadable", os.fsdecode(path), problem.strerror or str(problem)) from None


def content(image: Image):
    """The bytes of an image file, as something that ffi.from_buffer accepts."""
    if is_path(image):
        return read(image)
    if isinstance(image, (bytes, bytearray, memoryview)):
        return image
    array = numpy.asarray(image)
    if array.dtype != numpy.uint8 or array.ndim != 1:
        raise TypeError(f"image: a path, or the bytes of an image file, not {type(image).__name__}")
    return numpy.ascontiguousarray(array)


@contextlib.contextmanager
def named(image: Image) -> Iterator[str]:
    """Yields a path for functions that accept only paths: the image's own, or that of a file in memory."""
    if is_path(image):
        yield os.fsdecode(image)
        return
    handle = os.memfd_create("image")
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content(image))
        os.lseek(handle, 0, os.SEEK_SET) # the library reads from the descriptor's position
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)
