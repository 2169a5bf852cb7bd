"""run(): files in, files out, as the program does it."""
import os
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Optional, Union, overload

import numpy

from ._interface import ffi, lib
from ._content import named, read
from ._library import (UsageError, Kernel, backends, border_value, call, check, chosen, fill_params, text,
                       word_of)

SUBSAMPLING = {"same": lib.LAP_SUB_SAME, "444": lib.LAP_SUB_444, "422": lib.LAP_SUB_422, "420": lib.LAP_SUB_420}
RESTART = {"auto": lib.LAP_RESTART_AUTO, "on": lib.LAP_RESTART_ON, "off": lib.LAP_RESTART_OFF}
FAIL_ON = {"none": lib.LAP_FAIL_NONE, "truncated": lib.LAP_FAIL_TRUNCATED, "warning": lib.LAP_FAIL_WARNING}
CODEC = {"auto": lib.LAP_CODEC_AUTO, "cpu": lib.LAP_CODEC_CPU, "cuda": lib.LAP_CODEC_CUDA,
         "turbo": lib.LAP_CODEC_TURBO, "c": lib.LAP_CODEC_C, "avx2": lib.LAP_CODEC_AVX2,
         "avx512": lib.LAP_CODEC_AVX512, "neon": lib.LAP_CODEC_NEON}
LOSSLESS = {"no": lib.LAP_LOSSLESS_NO, "auto": lib.LAP_LOSSLESS_AUTO, "trim": lib.LAP_LOSSLESS_TRIM,
            "perfect": lib.LAP_LOSSLESS_PERFECT}
TURNS = {0: lib.LAP_TURN_NONE, 90: lib.LAP_TURN_90, 180: lib.LAP_TURN_180, 270: lib.LAP_TURN_270}
FLIPS = {"h": lib.LAP_TURN_H, "v": lib.LAP_TURN_V}
KEEP = {"exif": lib.LAP_KEEP_EXIF, "gps": lib.LAP_KEEP_GPS, "xmp": lib.LAP_KEEP_XMP, "iptc": lib.LAP_KEEP_IPTC,
        "icc": lib.LAP_KEEP_ICC, "comment": lib.LAP_KEEP_COMMENT, "thumbnail": lib.LAP_KEEP_THUMBNAIL}


@dataclass(frozen=True)
class Report:
    """What a run did. resolved: the backend that filtered, or None; warning: the first one, or None."""
    width: int
    height: int
    channels: int
    resolved: Optional[str]
    bytes_in: int
    bytes_out: int
    warnings: int
    warning: Optional[str]
    note: str
    milliseconds: float


IN_PLACE = ("in_place: the module keeps no record of the photos that it filtered, so the next call would filter the "
            "edges again, and the photos are lost; write other files, or use the program: lapedge --in-place FILE...")


class _Settings:
    """lap_settings, and the strings that it points to."""

    def __init__(self, *, filter: bool = True, backend: str = "auto", kernel: Kernel = "laplace5",
                 flip_kernel: bool = False, border: str = "zero", range: str = "clamp", scale: float = 1.0,
                 offset: float = 0.0, invert: bool = False, threshold: Optional[int] = None, gray: bool = False,
                 threads: int = 0, device: int = 0, upright: bool = False, rotate: int = 0,
                 flip: Optional[str] = None, format: Optional[str] = None, quality: Optional[int] = None,
                 subsampling: str = "same", restart: str = "auto", progressive: bool = False, optimize: bool = False,
                 sync: bool = True, strip: bool = False, keep: Optional[Iterable[str]] = None, preserve: bool = False,
                 no_clobber: bool = False, codec: str = "auto",
                 max_pixels: Optional[int] = None, max_memory: Optional[int] = None, max_scans: Optional[int] = None,
                 timeout: Optional[float] = None, fail_on: str = "truncated",
                 lossless: str = "no", in_place: bool = False):
        if in_place:
            raise UsageError("usage", "", IN_PLACE)
        self.threads = threads
        self.c = c = ffi.new("lap_settings *")
        c[0] = lib.lap_settings_default()
        fill_params(ffi.addressof(c, "params"), kernel, flip_kernel, range, scale, offset, invert, threshold)
        self.backend, self.format = (ffi.new("char[]", word.encode()) if word is not None else ffi.NULL
                                     for word in (word_of("backend", backend), format))
        c.backend, c.format, c.border = self.backend, self.format, border_value(border)
        c.filter, c.gray, c.threads, c.device, c.auto_orient = filter, gray, threads, device, upright
        if rotate and flip:
            raise ValueError("rotate, flip: one of them")
        c.turn = chosen("flip", flip, FLIPS) if flip else chosen_number("rotate", rotate, TURNS)
        c.subsampling = chosen("subsampling", subsampling, SUBSAMPLING)
        c.restart, c.codec = chosen("restart", restart, RESTART), chosen("codec", codec, CODEC)
        c.fail_on, c.lossless = chosen("fail_on", fail_on, FAIL_ON), chosen("lossless", lossless, LOSSLESS)
        c.progressive, c.optimize, c.sync, c.strip, c.preserve = progressive, optimize, sync, strip, preserve
        c.no_clobber = no_clobber
        if keep is not None:
            c.keep = lib.LAP_KEEP_LISTED
            for word in [keep] if isinstance(keep, str) else keep:
                c.keep |= chosen("keep", word, KEEP)
        if quality == 0: # which the library would replace with the default
            raise ValueError("quality: 0 is not in 1 to 100")
        for name, value in (("quality", quality), ("max_pixels", max_pixels), ("max_memory", max_memory),
                            ("max_scans", max_scans), ("timeout_s", timeout)):
            if value is not None:
                setattr(c, name, value)


DEFAULTS = _Settings.__init__.__kwdefaults__
FILTERING = {"backend", "device", "kernel", "flip_kernel", "border", "range", "scale", "offset", "invert", "threshold"}
JPEG_OUT = {"quality", "subsampling", "restart", "progressive", "optimize"}
FILE_OUT = {"sync", "preserve", "no_clobber"}
OTHER_FORMATS = {"png", "bmp", "tga", "ppm", "pgm", "tsv"}


def refuse(given: Dict[str, Any], names: Iterable[str], why: str, defaults: Dict[str, Any] = DEFAULTS) -> None:
    """Raises UsageError for the first setting that is one of these names, unless its value is the default."""
    for name, value in given.items():
        if name in names and (numpy.ndim(value) > 0 or value != defaults[name]):
            raise UsageError("usage", "", f"{name}: {why}")


def refuse_of_jpeg(given: Dict[str, Any], format: Optional[str], defaults: Dict[str, Any] = DEFAULTS) -> None:
    if format and format.lower() in OTHER_FORMATS:
        refuse(given, JPEG_OUT, f"it applies only to JPEG output, and the output is {format}", defaults)


OLD_NAMES = {"auto_orient": "upright"} # accepted by 1.0, with a warning


def with_new_names(given: Dict[str, Any]) -> Dict[str, Any]:
    """The settings with the names that they have now. Raises TypeError for a setting that is given by both names."""
    for old, new in OLD_NAMES.items():
        if old not in given:
            continue
        if new in given:
            raise TypeError(f"{old}: it is the old name of {new}, which is given, too")
        caller, level = sys._getframe(1), 2
        while caller.f_back and caller.f_globals.get("__package__") == __package__:
            caller, level = caller.f_back, level + 1
        warnings.warn(f"{old}: the setting is now called {new}; the next version refuses the old name",
                      DeprecationWarning, stacklevel=level)
        given = {new if name == old else name: value for name, value in given.items()}
    return given


def settings_of(given: Dict[str, Any], output: Any = "") -> _Settings:
    """Raises UsageError for a setting that has no effect together with the others. output: its extension gives the
    format."""
    given = with_new_names(given)
    settings, backend = _Settings(**given), given.get("backend", "auto")
    if not given.get("filter", True):
        refuse(given, FILTERING, "nothing is filtered")
    if any(found.name == backend and found.family not in ("cuda", "auto") for found in backends("filter", False)):
        refuse(given, {"device"}, f"the backend {backend!r} runs on the CPU")
    refuse_of_jpeg(given, given.get("format") or os.path.splitext(os.fsdecode(output))[1][1:])
    return settings


def chosen_number(what: str, number: int, table: dict) -> int:
    if number not in table:
        raise ValueError(f"{what}: {number} is not one of {', '.join(map(str, table))}")
    return table[number]


def report_of(report) -> Report:
    return Report(report.width, report.height, report.channels, text(report.resolved), report.bytes_in,
                  report.bytes_out, report.warnings, text(report.warning) or None, text(report.note), report.ms.total)


def run(input: Union[str, "os.PathLike[str]"], output: Union[str, "os.PathLike[str]"], **settings) -> Report:
    """Reads an image file, filters it, and writes another, which is complete or absent.

    settings are the options of the program, with its defaults: filter, backend, kernel, flip_kernel, border, range,
    scale, offset, invert, threshold, gray, threads, device, upright (the program's --auto-orient), rotate
    (90, 180, 270), flip ("h", "v"), format, quality (1 to 100), subsampling, restart, progressive, optimize, sync,
    strip, keep (a list), preserve, no_clobber, codec, max_pixels, max_memory (bytes), max_scans, timeout (seconds),
    fail_on, lossless. in_place is refused: only the program keeps the record that prevents filtering a photo twice.

    Raises Error; its kind is "usage" for a setting that would have no effect: a filter setting with filter=False, a
    JPEG setting for another format, device with a CPU backend (default values are accepted). Raises ValueError or
    TypeError for a setting that does not exist or is out of its range.
    """
    s, err, report = settings_of(settings, output), ffi.new("lap_error *"), ffi.new("lap_report *")
    names = os.fsencode(input), os.fsencode(output)
    check(call(s.threads, lambda context: lib.lap_run_file(context, *names, s.c, report, err)), err)
    return report_of(report)


def run_bytes(image: bytes, **settings) -> bytes:
    """run() in memory: takes the content of an image file, and returns that of the new one, a JPEG if format is None.
    sync, preserve and no_clobber are refused."""
    refuse(settings, FILE_OUT, "no file is written")
    s, err, report = settings_of(settings), ffi.new("lap_error *"), ffi.new("lap_report *")
    out, size = ffi.new("void **"), ffi.new("size_t *")
    data = ffi.from_buffer(image)
    try:
        check(call(s.threads, lambda context: lib.lap_run_memory(context, data, len(data), out, size, s.c, report,
                                                                 err)), err)
        return ffi.buffer(out[0], size[0])[:]
    finally:
        lib.free(out[0])


@overload
def transform(image: Union[str, "os.PathLike[str]", bytes], output: None = None, *, rotate: int = 0,
              flip: Optional[str] = None, upright: bool = False, lossless: str = "auto", **settings: Any) -> bytes: ...


@overload
def transform(image: Union[str, "os.PathLike[str]", bytes], output: Union[str, "os.PathLike[str]"], *, rotate: int = 0,
              flip: Optional[str] = None, upright: bool = False, lossless: str = "auto", **settings: Any) -> Report: ...


def transform(image: Union[str, "os.PathLike[str]", bytes], output: Union[str, "os.PathLike[str]", None] = None, *,
              rotate: int = 0, flip: Optional[str] = None, upright: bool = False, lossless: str = "auto",
              **settings: Any) -> Union[bytes, Report]:
    """Rotates, mirrors or converts an image file without filtering it.

    image: a path, or the content of a file. output: a path to write the result to, for which run()'s Report is
    returned; None: the new file's bytes are returned. rotate: 90, 180, 270 clockwise; flip: "h", "v"; upright: first
    rotate by the EXIF tag.
    lossless, from JPEG to JPEG: "auto" keeps the coded blocks if the picture consists of whole MCUs, else transforms
    the pixels; "trim" cuts off partial MCUs; "perfect" raises Error if there are any; "no" always transforms the
    pixels. settings: the other settings of run(), except those of the filter. Raises what run() raises.

    >>> from lapedge import decode
    >>> decode(transform("samples/chelsea.jpg", rotate=90)).shape
    (451, 300, 3)
    """
    refuse(settings, FILTERING, "transform() does not filter")
    if settings.pop("filter", False):
        raise ValueError("filter: transform() does not filter")
    more = {"filter": False, "rotate": rotate, "flip": flip, "lossless": lossless, **settings}
    if upright:
        more["upright"] = True
    is_path = isinstance(image, (str, os.PathLike))
    if output is None:
        return run_bytes(read(image) if is_path else image, **more)
    if is_path:
        return run(image, output, **more)
    with named(image) as path:
        return run(path, output, **more)
