"""Photos, their pixels and their edges: the library lapedge, with the same bytes on every backend.

    pixels = lapedge.decode("in.jpg")                   # those of libjpeg-turbo, and so of Pillow
    edges = lapedge.filter(pixels)                      # NumPy: on the CPU; CuPy, torch on a GPU: there
    data = lapedge.encode(edges, quality=90)
    there = lapedge.decode("in.jpg", device=0)          # on a GPU; torch and CuPy take it without a copy
    many = lapedge.decode_batch(paths, errors="return") # an Error in the place of a broken photo
    lapedge.run("in.jpg", "out.jpg", quality=90)        # file to file
    lapedge.run_folder("photos", "edges", progress=lambda file, counts: print(counts.ok))
    for backend in lapedge.backends(): print(backend.name, backend.reason or "runs here")

All functions may be called from several threads at once; while the library works, the interpreter's lock is released.
Failures raise lapedge.Error. The mathematics, and what each setting means, are in the library's header, lapedge.h."""
from ._arrays import filter
from ._device import Stream
from ._files import Report, run, run_bytes, transform
from ._folders import Counts, FolderFile, run_folder
from ._library import Backend, Device, Error, UsageError, backends, build_info, devices, version
from ._pixels import decode, decode_batch, edges, edges_batch, encode
from ._reports import Channel, Difference, Info, Metadata, Stats, diff, info, stats
from ._there import DeviceArray

__all__ = ["Backend", "Channel", "Counts", "Device", "DeviceArray", "Difference", "Error", "FolderFile", "Info",
           "Metadata", "Report", "Stats", "Stream", "UsageError", "backends", "build_info", "decode", "decode_batch",
           "devices", "diff", "edges", "edges_batch", "encode", "filter", "info", "run", "run_bytes", "run_folder",
           "stats", "transform", "version"]
__version__ = version()
