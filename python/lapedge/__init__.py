"""The 5x5 Laplace filter on arrays and image files: the library lapedge, with the same bytes on every backend.

    edges = lapedge.filter(pixels)                      # NumPy: on the CPU; CuPy, torch on a GPU: there
    lapedge.run("in.jpg", "out.jpg", quality=90)        # file to file
    for backend in lapedge.backends(): print(backend.name, backend.reason or "runs here")

All functions may be called from several threads at once; while the library works, the interpreter's lock is released.
Failures raise lapedge.Error. The mathematics, and what each setting means, are in the library's header, lapedge.h."""
from ._arrays import filter
from ._device import Stream
from ._files import Report, run, run_bytes
from ._library import Backend, Device, Error, backends, build_info, devices, version

__all__ = ["Backend", "Device", "Error", "Report", "Stream", "backends", "build_info", "devices", "filter", "run",
           "run_bytes", "version"]
__version__ = version()
