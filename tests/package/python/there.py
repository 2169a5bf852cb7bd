#!/usr/bin/python3
"""Photos to a CUDA device and back from Python, with the pixels and bytes of the CPU: on the CUDA runtime of the tests,
or on a GPU with there.py FOLDER, where tools/release/build-python put the module (build/portable/python).
It needs NumPy and cffi; torch and CuPy are used if they are there. TAP on stdout."""
import contextlib
import ctypes
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

BUILD = os.environ.get("B", "build")
if len(sys.argv) < 2 and "LD_PRELOAD" not in os.environ: # Python itself has no sanitizer
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True)
    os.environ.update(LD_PRELOAD=os.path.realpath(asan.stdout.strip()), ASAN_OPTIONS="detect_leaks=0",
                      LAP_CUDACPU="devices=2")
    os.execv(sys.executable, [sys.executable, *sys.argv])
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(BUILD, "cudacpu", "python")
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [os.path.abspath(FOLDER), str(ROOT / "tests/support")]
sys.path.insert(0, str(ROOT / "tests/package/python"))
from outcome import raises  # noqa: E402
from tap import finish, report, skip  # noqa: E402

try:
    import numpy as np

    import lapedge
    from lapedge._interface import ffi, lib
except ImportError as problem:
    print(f"1..1\nok 1 - photos on a device # SKIP {problem}")
    sys.exit(0)
if not lapedge.devices():
    print("1..1\nok 1 - photos on a device # SKIP no CUDA device")
    sys.exit(0)

random = np.random.default_rng(20261124)
PHOTO = str(ROOT / "samples" / "chelsea.jpg")


def with_turn(data, turn):
    tag = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\x01" + bytes([0, turn, 0, 0, 0, 0, 0, 0])
    return data[:2] + b"\xff\xe1" + (len(tag) + 2).to_bytes(2, "big") + tag + data[2:]


def photos():
    """{name: bytes} of small photos of many kinds."""
    whole = lapedge.decode(PHOTO)
    small = np.ascontiguousarray(whole[50:117, 60:191])
    made = {f"{s}": lapedge.encode(small, subsampling=s) for s in ("444", "422", "420")}
    made.update(gray=lapedge.encode(small[..., 0]), progressive=lapedge.encode(small, progressive=True),
                png=lapedge.encode(small, format="png"), one=lapedge.encode(small[:1, :1]),
                turned=with_turn(made["420"], 6), mirrored=with_turn(made["444"], 2))
    try:
        import io

        from PIL import Image

        inks = io.BytesIO()
        Image.fromarray(random.integers(0, 256, (40, 50, 4), dtype=np.uint8), "CMYK").save(inks, "JPEG")
        made["inks"] = inks.getvalue()
    except ImportError:
        pass
    return made


def free_bytes():
    gc.collect()
    info = ffi.new("lap_device_info *")
    return info.free_bytes if lib.lap_device_at(0, info, ffi.NULL) else 0


FILES = photos()


def pixels():
    wrong = []
    for name, data in FILES.items():
        for channels in (None, 1, 3):
            for more in ({}, {"upright": True}, {"layout": "CHW"}, {"luma": True, "channels": None}):
                more = {"channels": channels, **more}
                wanted = lapedge.decode(data, **more)
                got = lapedge.decode(data, device=0, **more)
                if got.shape != wanted.shape or not np.array_equal(got.to_host(), wanted):
                    wrong.append((name, more))
    report(not wrong, f"{len(FILES)} kinds of photos have the CPU's pixels, whatever is asked for", wrong[:5])
    path = sorted(Path(ROOT / "samples").glob("*.jpg"))[0]
    report(np.array_equal(lapedge.decode(path, device=0).to_host(), lapedge.decode(path)), "a path")
    for kind, words, image, more in (
            (lapedge.Error, "truncated", FILES["444"][:900], {}), (lapedge.Error, "", b"none", {}),
            (lapedge.Error, "no such file", "none.jpg", {}), (lapedge.Error, "limit", PHOTO, {"max_pixels": 10}),
            (lapedge.Error, "does not exist", PHOTO, {"device": 77}), (ValueError, "device", PHOTO, {"device": "cuda"}),
            (ValueError, "device", PHOTO, {"device": -1}),
            (ValueError, "stream", PHOTO, {"device": None, "stream": 1})):
        report(raises(kind, words, lapedge.decode, image, **{"device": 0, **more}), f"refused: {words} {more}")


class Bare:
    """An array that has nothing but __cuda_array_interface__."""

    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


def outputs():
    data = FILES["420"]
    wanted = lapedge.decode(data)
    out = lapedge.decode(lapedge.encode(np.zeros_like(wanted)), device=0)
    report(lapedge.decode(data, device=0, out=out) is out and np.array_equal(out.to_host(), wanted), "out")
    bare = Bare(lapedge.decode(lapedge.encode(np.zeros_like(wanted)), device=0))
    report(lapedge.decode(data, device=0, out=bare) is bare and np.array_equal(bare.array.to_host(), wanted),
           "out with __cuda_array_interface__ alone")
    gray = lapedge.decode(data, 1, device=0)
    lapedge.decode(data, device=0, out=gray)
    report(np.array_equal(gray.to_host(), lapedge.decode(data, 1)), "the channels of `out`")
    before = out.to_host()
    typed = Bare(out)
    typed.__cuda_array_interface__ = {**typed.__cuda_array_interface__, "typestr": "<f4"}
    cases = [(ValueError, "shape", lapedge.decode(PHOTO, device=0), {}), (TypeError, "uint8", typed, {}),
             (TypeError, "CUDA device", np.zeros_like(wanted), {}), (ValueError, "shape", out, {"layout": "CHW"}),
             (ValueError, "shape", out, {"channels": 1}), (TypeError, "NumPy", out, {"device": None})]
    if len(lapedge.devices()) > 1:
        cases.append((ValueError, "device 0", lapedge.decode(data, device=1), {}))
    for kind, words, place, more in cases:
        report(raises(kind, words, lapedge.decode, FILES["444"], **{"device": 0, "out": place, **more}) and
               np.array_equal(out.to_host(), before), f"out refused, and as it was: {words} {more}")


class Stream:
    """Of a library: how often it was waited for."""
    cuda_stream = waits = 0

    def synchronize(self):
        self.waits += 1


class Foreign:
    """An array of a library that has its own current stream, as torch and CuPy have."""
    __module__ = "cupy"

    def __init__(self, array):
        self.array, self.asked, self.device = array, [], contextlib.nullcontext()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream):
        self.asked.append(stream)
        return self.array.__dlpack__(stream=stream)


def waiting():
    """What is queued with a foreign `out` is waited for on its own stream alone."""
    data, wanted = FILES["420"], lapedge.decode(FILES["420"])
    made, create, before = [], lapedge._library.Streams.create, sys.modules.get("cupy")
    cupy, current = types.ModuleType("cupy"), Stream()
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: current)
    new = lambda: lapedge.decode(lapedge.encode(np.zeros_like(wanted)), device=0)  # noqa: E731
    foreign, bare, queued = Foreign(new()), Bare(new()), Bare(new())
    queued.__cuda_array_interface__ = {**queued.__cuda_array_interface__, "stream": 2}
    old = Bare(new())
    old.__cuda_array_interface__ = {**old.__cuda_array_interface__, "version": 2}
    for _ in range(2): # the streams of the library are there
        lapedge.decode(data, device=0, out=new())
    sys.modules["cupy"] = cupy
    lapedge._there.streams.create = lambda *words: made.append(words[2]) or create(*words)
    try:
        for out, streams, waits in ((foreign, [], 1), (bare, [], 0), (queued, [2], 0), (old, [0], 0)):
            made.clear()
            current.waits = 0
            lapedge.decode(data, device=0, out=out)
            report(made == streams and current.waits == waits and np.array_equal(out.array.to_host(), wanted),
                   f"out: waits on streams {streams} and {waits} times on that of its library", (made, current.waits))
        report(set(foreign.asked) == {-1}, "DLPack is asked to wait for nothing", foreign.asked)
    finally:
        del lapedge._there.streams.create
        sys.modules.pop("cupy")
        if before:
            sys.modules["cupy"] = before


def encoding():
    wrong = []
    for name, data in FILES.items():
        host, there = lapedge.decode(data), lapedge.decode(data, device=0)
        for more in ({}, {"quality": 31, "subsampling": "444"}, {"progressive": True}, {"format": "png"}):
            for array in (there, Bare(there)):
                if lapedge.encode(array, **more) != lapedge.encode(host, **more):
                    wrong.append((name, more))
    report(not wrong, "encode gives the CPU's bytes", wrong[:5])
    planes = lapedge.decode(FILES["420"], device=0, layout="CHW")
    report(lapedge.encode(planes, layout="CHW") == lapedge.encode(lapedge.decode(FILES["420"])), "encode CHW")
    report(raises(ValueError, "shape", lapedge.encode, planes), "encode refuses other shapes")
    for more in ({}, {"channels": 1, "border": "wrap", "upright": True}):
        report(np.array_equal(lapedge.edges(FILES["turned"], device=0, **more).to_host(),
                              lapedge.edges(FILES["turned"], **more)), f"edges {more}")
    with lapedge.Stream(None) as stream:
        queued = lapedge.edges(FILES["420"], device=0, stream=stream)
        interface = queued.__cuda_array_interface__
        report(interface["stream"] == 1 and interface["version"] == 3, "what is queued names its stream")
        report(np.array_equal(queued.to_host(), lapedge.edges(FILES["420"])), "and is waited for")
        kept = lapedge.decode(FILES["420"], device=0, stream=stream)
    report(np.array_equal(kept.to_host(), lapedge.decode(FILES["420"])) and
           kept.__cuda_array_interface__["stream"] is None, "a result outlives its stream")


def use(capsule):
    """What a consumer does with a capsule: renames it, and calls the deleter later. DLManagedTensor's last word."""
    get, rename = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_SetName
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = get(capsule, b"dltensor")
    rename(capsule, USED)
    words = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint64))
    return lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(words[7])(address)


USED = b"used_dltensor"


def used_again(size):
    """The addresses that allocating so many bytes again and again gives: that of memory that is freed is among them."""
    return {lapedge._there.allocate(0, size)[1] for _ in range(140)}


def memory():
    data = FILES["420"]
    size, good = lapedge.decode(data, device=0).strides[0] * lapedge.decode(data, device=0).shape[0], True
    for _ in range(20):
        array = lapedge.decode(data, device=0)
        capsules = [array.__dlpack__(), array.__dlpack__(stream=1), array.__dlpack__(stream=-1)]
        delete, held = use(capsules[0]), array.address
        del array, capsules
        gc.collect()
        good &= held not in used_again(size)
        thread = threading.Thread(target=delete)
        thread.start()
        thread.join()
        good &= held in used_again(size)
    arrays = [lapedge._there.allocate(0, size) for _ in range(140)]
    report(good and len({address for _, address in arrays}) == 140, "capsules, used or not, free the memory once")
    del arrays
    array = lapedge.decode(data, device=0)
    report(array.__dlpack_device__() == (2, 0) and raises(BufferError, "", array.__dlpack__, copy=True) and
           raises(BufferError, "", array.__dlpack__, dl_device=(1, 0)), "DLPack: its device, no copy, no other device")
    results = lapedge.decode_batch([data] * 5, device=0, threads=1)
    size, arena, last = results.whole.shape[0], results.whole.address, results[4]
    del results, array
    report(arena not in used_again(size) and np.array_equal(last.to_host(), lapedge.decode(data)),
           "one array keeps the arena")
    del last
    before = used_again(size), free_bytes()
    report(arena in before[0] and (used_again(size), free_bytes()) == before, "and the last one frees it")


def at_once():
    wanted, wrong = {name: lapedge.decode(data) for name, data in FILES.items()}, []

    def work():
        with lapedge.Stream(2) as stream:
            for name, data in FILES.items():
                for more in ({"stream": stream}, {}):
                    if not np.array_equal(lapedge.decode(data, device=0, **more).to_host(), wanted[name]):
                        wrong.append(name)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(not wrong, "two threads with two streams", wrong)


def batches():
    images = [*FILES.values(), b"none", FILES["444"][:900]]
    for pack in (None, "arena", "padded"):
        for layout in ("HWC", "CHW"):
            host = lapedge.decode_batch(images, pack=pack, layout=layout, errors="return", threads=2)
            there = lapedge.decode_batch(images, pack=pack, layout=layout, errors="return", threads=2, device=0)
            good = [a.kind == b.kind if isinstance(a, lapedge.Error) else np.array_equal(a, b.to_host())
                    for a, b in zip(host, there)]
            report(all(good) and len(there) == len(images),
                   f"decode_batch {pack} {layout}: the CPU's, errors in place", good)
    for pack in (None, "padded"):
        for more in ({}, {"channels": 3, "border": "wrap"}, {"upright": True, "range": "abs", "invert": True},
                     {"luma": True}):
            host = lapedge.edges_batch(images, pack=pack, errors="return", **more)
            there = lapedge.edges_batch(images, pack=pack, errors="return", device=0, **more)
            good = [a.kind == b.kind if isinstance(a, lapedge.Error) else np.array_equal(a, b.to_host())
                    for a, b in zip(host, there)]
            report(all(good) and len(there) == len(images), f"edges_batch {pack} {more}: the CPU's", good)
    many = [FILES[name] for name in sorted(FILES)] * 20
    host, there = (lapedge.edges_batch(many[:9], 3, pack="padded", device=device) for device in (None, 0))
    rows = lapedge._there.DeviceArray(there[0]._memory, there.whole.address, (9 * there.whole.shape[1],
                                      there.whole.strides[1]), (there.whole.strides[1], 1), 0).to_host()
    report(np.array_equal(rows[:, :3 * host.whole.shape[2]].reshape(host.whole.shape), host.whole),
           "a padded array is 0 beyond its photos")
    for threads in (0, 1, 3):
        there = lapedge.decode_batch(many, device=0, threads=threads)
        report(all(np.array_equal(array.to_host(), lapedge.decode(data)) for array, data in zip(there, many)),
               f"{len(many)} photos on {threads} threads")
    report(raises(lapedge.Error, "runs on the CPU", lapedge.edges_batch, images[:2], device=0, backend="c"),
           "edges_batch: a backend of the CPU is refused")
    problem = raises(lapedge.Error, "", lapedge.decode_batch, images, device=0)
    report(problem and problem.kind == "not_jpeg", "decode_batch: the first Error by order is raised")
    whole = lapedge.decode_batch([FILES["444"], FILES["420"]], 3, pack="padded", device=0)
    out = Bare(whole.whole)
    again = lapedge.decode_batch([FILES["420"], FILES["gray"]], 3, out=out, device=0)
    report(again.whole is out and all(np.array_equal(a.to_host(), lapedge.decode(d, 3)) for a, d in
                                      zip(again, (FILES["420"], FILES["gray"]))), "decode_batch into `out`")
    report(raises(ValueError, "shape", lapedge.decode_batch, [PHOTO], 3, out=out, device=0), "`out` of another shape")
    report(lapedge.decode_batch([], device=0) == [], "decode_batch of nothing")


def child(queue, data, array):
    said = []
    for work in (lambda: lapedge.decode(data, device=0), lambda: lapedge.encode(array),
                 lambda: lapedge.decode_batch([data], device=0)):
        try:
            work()
            said.append("no Error")
        except lapedge.Error as problem:
            said.append(problem.kind)
    said.append(lapedge.decode(data).shape)
    queue.put(said)


def forked():
    array = lapedge.decode(FILES["420"], device=0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue, FILES["420"], array))
    process.start()
    said = queue.get(timeout=60)
    process.join(60)
    report(said[:3] == ["backend"] * 3 and process.exitcode == 0,
           "a forked child: Errors on the device, the CPU works", said)
    report(np.array_equal(array.to_host(), lapedge.decode(FILES["420"])), "and the parent goes on")


def libraries():
    for name, take, back in (("torch", lambda m, a: m.from_dlpack(a), lambda t: t.cpu().numpy()),
                             ("cupy", lambda m, a: m.from_dlpack(a), lambda a: a.get())):
        if len(sys.argv) < 2:
            skip(name, "the devices of the tests are not its own")
            continue
        try:
            module = __import__(name)
        except ImportError as problem:
            skip(name, str(problem))
            continue
        array = lapedge.decode(PHOTO, device=0)
        taken = take(module, array)
        pointer = taken.data_ptr() if name == "torch" else taken.data.ptr
        report(pointer == array.address and np.array_equal(back(taken), lapedge.decode(PHOTO)),
               f"{name} takes it as it is")
        out = taken * 0
        lapedge.decode(PHOTO, device=0, out=out)
        report(np.array_equal(back(out), lapedge.decode(PHOTO)) and lapedge.encode(out) == lapedge.encode(array),
               f"{name}: out, and encode")


if __name__ == "__main__":
    for step in (pixels, outputs, waiting, encoding, memory, at_once, batches, forked, libraries):
        step()
    finish()
