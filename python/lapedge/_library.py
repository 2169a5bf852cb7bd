"""What the other files share: the library, its errors, contexts, parameters, and what can run here."""
import _thread
import contextlib
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Optional, Sequence, Set, Union

import numpy

from ._interface import ffi, lib

Kernel = Union[str, Sequence[float], Sequence[Sequence[float]], numpy.ndarray]


class Error(Exception):
    """A failure of the library. kind: its name in JSON objects ("missing", "truncated", ...); subject: the file or
    folder that it is about, or ""; message: the rest."""

    def __init__(self, kind: str, subject: str, message: str):
        super().__init__(f"{subject}: {message}" if subject else message)
        self.kind, self.subject, self.message = kind, subject, message

    def __reduce__(self): # for the queues of multiprocessing
        return type(self), (self.kind, self.subject, self.message)


class UsageError(Error, ValueError):
    """A setting or an argument that the library refuses: an Error of the kind "usage", and a ValueError."""


Error.__module__ = UsageError.__module__ = "lapedge" # where they are imported from


def text(pointer) -> Optional[str]:
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


def error_of(err, about: Optional[str] = None) -> Error:
    """about: the subject, if only the caller knows it."""
    line = ffi.new("char[800]")
    lib.lap_error_text(err, line, 800)
    subject, whole = text(err.subject), text(line)
    message = whole[len(subject) + 2:] if subject and whole.startswith(subject + ": ") else whole
    kind = text(lib.lap_code_name(err.code))
    return (UsageError if kind == "usage" else Error)(kind, about or subject, message)


def check(code: int, err) -> None:
    if code != lib.LAP_OK:
        raise error_of(err)


def context_of(threads: int):
    err = ffi.new("lap_error *")
    context = lib.lap_context_create(threads, err)
    if not context:
        raise error_of(err)
    return context


def address_of(pointer) -> int:
    return int(ffi.cast("uintptr_t", pointer))


class Contexts:
    """One shared context, with its threads, for each number of threads, kept for the life of the process; and unshared
    contexts for calls that can be interrupted, since a cancelled context stays cancelled. Up to KEPT idle ones are kept
    for each number of threads and device (None: the host), with their streams, for later calls on the same device. A
    child of fork has none of its parent's threads, so it creates its own contexts."""
    KEPT = 2

    def __init__(self):
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self.lock, self.known, self.idle = threading.Lock(), {}, {}
        self.cancelled: Set[int] = set()

    def get(self, threads: int = 0):
        with self.lock:
            if threads not in self.known:
                self.known[threads] = context_of(threads)
            return self.known[threads]

    def take(self, threads: int, device: Optional[int] = None):
        """An unshared context, which the caller must give back."""
        with self.lock:
            idle = self.idle.setdefault((threads, device), [])
            context = idle.pop() if idle else None
        return context or context_of(threads)

    def cancel(self, context) -> None:
        with self.lock:
            self.cancelled.add(address_of(context))
        lib.lap_context_cancel(context)

    def give_back(self, context, threads: int, device: Optional[int] = None) -> None:
        """Keeps the context for the next call, unless it was cancelled, even if the call finished without noticing."""
        with self.lock:
            idle = self.idle.setdefault((threads, device), [])
            is_kept = address_of(context) not in self.cancelled and len(idle) < self.KEPT
            self.cancelled.discard(address_of(context))
            if is_kept:
                idle.append(context)
        if not is_kept:
            streams.destroy_of(context)
            lib.lap_context_destroy(context)


class Streams:
    """Streams of the library by context and device. Unused streams are kept with their device memory, since allocating
    it takes longer than decoding a photo. Each works on the default CUDA stream of the thread that uses it, so that
    threads work in parallel. A child of fork forgets its parent's streams."""
    PER_THREAD = 2 # cudaStreamPerThread

    def __init__(self):
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self.lock, self.idle, self.keepers = threading.Lock(), {}, {}

    @staticmethod
    def create(context: Any, device: int, address: int):
        err, made = ffi.new("lap_error *"), ffi.new("lap_stream **")
        check(lib.lap_stream_create(context, device, ffi.cast("void *", address), made, err), err)
        return made[0]

    @contextlib.contextmanager
    def of(self, context: Any, device: int) -> Iterator[Any]:
        key = address_of(context), device
        with self.lock:
            idle = self.idle.setdefault(key, [])
            stream = idle.pop() if idle else None
        stream = stream or self.create(context, device, self.PER_THREAD)
        try:
            yield stream
        finally:
            with self.lock:
                idle.append(stream)

    def keeper(self, device: int):
        """The stream with which memory of the device is freed; it lives as long as the process."""
        with self.lock:
            if device not in self.keepers:
                self.keepers[device] = self.create(context_of(1), device, 0)
            return self.keepers[device]

    def destroy_of(self, context: Any) -> None:
        address = address_of(context)
        with self.lock:
            ended = [stream for key in list(self.idle) if key[0] == address for stream in self.idle.pop(key)]
        for stream in ended:
            lib.lap_stream_destroy(stream)


contexts, streams = Contexts(), Streams()


class Call:
    """A call of the library in another thread, while the main thread handles signals."""

    def __init__(self, function: Callable, context: Any):
        self.function, self.context, self.code, self.problem = function, context, None, None
        self.lock, self.done = threading.Lock(), threading.Event()
        self.begun = self.abandoned = False

    def work(self) -> None:
        with self.lock:
            self.begun = not self.abandoned
        try:
            if self.begun:
                self.code = self.function(self.context)
        except BaseException as problem: # raised in the thread that waits
            self.problem = problem
        finally:
            self.done.set()

    def stop(self) -> None:
        """Cancels the call, and returns when the library no longer uses the caller's memory and the context. Exceptions
        of signal handlers in the meantime are ignored."""
        while True:
            try:
                with self.lock:
                    self.abandoned = True
                contexts.cancel(self.context)
                if self.begun:
                    self.done.wait()
                return
            except BaseException: # pylint: disable=broad-except
                pass


def call(threads: int, function: Callable, is_short: bool = False) -> int:
    """Calls function(context) with a context of that many threads. In the main thread, a signal handler that raises, as
    that of Ctrl-C does, ends the call within one band; but not a short call, since starting a thread would take longer
    than the call itself."""
    if is_short or threading.current_thread() is not threading.main_thread():
        return function(contexts.get(threads))
    return call_alone(threads, function)


def call_alone(threads: int, function: Callable) -> int:
    """call() with an unshared context, so that contexts.cancel() ends only this call."""
    running = Call(function, contexts.take(threads))
    try:
        _thread.start_new_thread(running.work, ())
        running.done.wait()
    except BaseException:
        running.stop()
        contexts.give_back(running.context, threads)
        raise
    contexts.give_back(running.context, threads)
    if running.problem:
        raise running.problem
    return running.code


BORDERS = {text(lib.lap_border_name(value)): value for value in
           (lib.LAP_ZERO, lib.LAP_REPLICATE, lib.LAP_REFLECT, lib.LAP_REFLECT101, lib.LAP_WRAP)}
RANGES = {text(lib.lap_range_name(value)): value for value in (lib.LAP_CLAMP, lib.LAP_ABS)}


def chosen(what: str, name: str, table: dict) -> int:
    if name not in table:
        raise ValueError(f"{what}: {name!r} is not one of {', '.join(table)}")
    return table[name]


def word_of(what: str, word: str) -> str:
    if not isinstance(word, str):
        raise TypeError(f"{what}: a str is needed, not {type(word).__name__}")
    return word


def border_value(border: str) -> int:
    """"zero", "replicate", "reflect", "reflect101", "wrap", or "constant:V" with V 0 to 255."""
    name, colon, value = word_of("border", border).partition(":")
    if name == "constant" and colon and value.isdecimal() and int(value) <= 255:
        return lib.LAP_CONSTANT + int(value)
    return chosen("border", border, {**BORDERS, "constant:V": None})


def kernel_text(kernel: Kernel) -> str:
    """The kernel as text for lap_kernel_parse."""
    if isinstance(kernel, str):
        return kernel
    numbers = numpy.asarray(kernel, numpy.float64)
    if numbers.shape not in ((5, 5), (3, 3), (25,), (9,)):
        raise ValueError(f"kernel: the shape is {numbers.shape}, not (5, 5) or (3, 3)")
    return ",".join(repr(float(number)) for number in numbers.ravel())


def fill_params(params, kernel: Kernel, flip_kernel: bool, range: str, scale: float, offset: float, invert: bool,
                threshold: Optional[int]) -> None:
    """params: lap_params *. kernel: a preset's name, a file of numbers, or an array of 5x5 or 3x3 numbers."""
    err = ffi.new("lap_error *")
    params[0] = lib.lap_params_default()
    spec = kernel_text(kernel)
    kernel_pointer = ffi.addressof(params[0], "kernel")
    check(lib.lap_kernel_parse(spec.encode(), kernel_pointer, err), err)
    if flip_kernel:
        lib.lap_kernel_flip(kernel_pointer)
    if threshold is not None and not 0 <= threshold <= 255:
        raise ValueError(f"threshold: {threshold} is not in 0 to 255")
    params.range, params.scale, params.offset = chosen("range", range, RANGES), scale, offset
    params.invert, params.threshold = invert, -1 if threshold is None else threshold


@dataclass(frozen=True)
class Backend:
    """op: "filter", "transpose", ...; reason: None, or why it cannot run here; resolved: the backend that the name
    stands for here."""
    op: str
    name: str
    family: str
    what: str
    reason: Optional[str]
    resolved: Optional[str]


def backends(op: str = "filter", probe_devices: bool = True) -> List[Backend]:
    """The ladder of an operation ("filter", "transpose", "reduce", "histogram", "matvec"), from plain C upwards, or of
    the JPEG coders ("encode", "decode").
    If CUDA is built in, this starts CUDA to find out whether its backends can run. With probe_devices=False it does
    not, and the reason of these backends says so. A reason of None always means that the backend runs here."""
    coders = lib.LAP_OP_ENCODE, lib.LAP_OP_DECODE
    ops = {text(lib.lap_op_name(value)): value for value in (*range(lib.LAP_OP_COUNT), *coders)}
    info, found, number = ffi.new("lap_rung_info *"), [], chosen("op", op, ops)
    while (lib.lap_coder_at(number, len(found), info) if number in coders
           else lib.lap_rung_at(number, len(found), probe_devices, info)):
        name, family, what, reason, resolved = (text(part) for part in
                                                (info.name, info.family, info.what, info.reason, info.resolved))
        if family == "cuda" and not probe_devices and reason is None:
            reason, resolved = "not known: CUDA was not asked", None
        found.append(Backend(op, name, family, what, reason, resolved))
    return found


@dataclass(frozen=True)
class Device:
    number: int
    name: str
    memory_bytes: int
    compute_capability: str
    driver: str


def devices() -> List[Device]:
    """The CUDA devices here; starts CUDA."""
    info, reason, found = ffi.new("lap_device_info *"), ffi.new("const char **"), []
    while lib.lap_device_at(len(found), info, reason):
        found.append(Device(info.device, text(info.name), info.memory_bytes, f"{info.cc_major}.{info.cc_minor}",
                            text(info.driver)))
    return found


def version() -> str:
    """The library's version."""
    return text(lib.lap_version())


def build_info() -> str:
    """Compiler, libraries and their versions, CUDA: one line each."""
    return text(lib.lap_build_info())
