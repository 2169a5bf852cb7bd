"""run_folder(): many files, as the program does them."""
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

from ._files import Report, report_of, settings_of
from ._interface import ffi, lib
from ._library import Error, call_alone, check, contexts, error_of, text

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Counts:
    """found: inputs found so far; expected: inputs in all. ok, warned, skipped, failed: finished inputs. kinds: failed
    and skipped inputs by the kind of their Error; "up_to_date": skipped without an Error. pixels, bytes_in, bytes_out:
    sums over processed inputs."""
    found: int
    expected: int
    ok: int
    warned: int
    skipped: int
    failed: int
    kinds: Dict[str, int]
    pixels: int
    bytes_in: int
    bytes_out: int
    milliseconds: float


@dataclass(frozen=True)
class FolderFile:
    """A finished input. status: "ok", "warned", "skipped", "failed". error: why it failed or was skipped; None if it is
    up to date. report: None unless it was processed."""
    input: str
    output: Optional[str]
    status: str
    error: Optional[Error]
    report: Optional[Report]


Progress = Callable[[Optional[FolderFile], Counts], Any]


def counts_of(c) -> Counts:
    kinds = {"up_to_date" if i == lib.LAP_OK else text(lib.lap_code_name(i)): c.kinds[i]
             for i in range(lib.LAP_CODES) if c.kinds[i]}
    return Counts(c.found, c.expected, c.ok, c.warned, c.skipped, c.failed, kinds, c.pixels, c.bytes_in, c.bytes_out,
                  c.ms)


def file_of(c) -> FolderFile:
    r, names = c.report, [os.fsdecode(ffi.string(name)) if name else None for name in (c.input, c.output)]
    error = error_of(ffi.addressof(r, "error")) if r.error.code != lib.LAP_OK else None
    is_done = r.status in (lib.LAP_DONE, lib.LAP_WARNED)
    return FolderFile(*names, text(lib.lap_status_name(r.status)), error, report_of(r) if is_done else None)


class Watch:
    """Calls `progress` for each file. Its first exception stops the run, and run_folder() raises it."""

    def __init__(self, progress: Progress):
        self.progress, self.problem, self.context = progress, None, None

    def each(self, file, counts) -> None:
        if self.problem is not None:
            return
        try:
            self.progress(file_of(file) if file else None, counts_of(counts))
        except BaseException as problem:
            self.problem = problem
            contexts.cancel(self.context)


@ffi.def_extern()
def lap_python_each(user, file, counts):
    ffi.from_handle(user).each(file, counts)


class Options:
    """lap_batch_options, and what they point to."""

    def __init__(self, inputs: Union[Path, Iterable[Path]], output: Path, *, jobs: int = 0, fail_fast: bool = False,
                 force: bool = False, dry_run: bool = False, rebuild: bool = False, include: Iterable[str] = (),
                 exclude: Iterable[str] = (), extensions: Iterable[str] = (), follow: bool = False,
                 suffix: Optional[str] = None, flat: bool = False, skip_existing: bool = False,
                 no_clobber: bool = False, shard: Tuple[int, int] = (0, 1)):
        self.kept: List[Any] = []
        self.c = c = ffi.new("lap_batch_options *")
        names = [inputs] if isinstance(inputs, (str, bytes, os.PathLike)) else list(inputs)
        c.inputs, c.input_count = self.strings([os.fsencode(name) for name in names])
        c.out_dir = self.string(os.fsencode(output))
        c.jobs, c.fail_fast, c.force, c.dry_run, c.rebuild = jobs, fail_fast, force, dry_run, rebuild
        c.flat, c.skip_existing, c.no_clobber = flat, skip_existing, no_clobber
        c.shard, c.shards = shard
        c.suffix = self.string(suffix.encode()) if suffix is not None else ffi.NULL
        take = ffi.new("lap_batch_take *")
        take.include, take.include_count = self.words(include)
        take.exclude, take.exclude_count = self.words(exclude)
        extensions = [extensions] if isinstance(extensions, str) else list(extensions)
        take.extensions = self.string(",".join(extensions).encode()) if extensions else ffi.NULL
        take.follow, c.take = follow, take
        self.kept.append(take)

    def string(self, word: bytes):
        self.kept.append(ffi.new("char[]", word))
        return self.kept[-1]

    def words(self, words: Union[str, Iterable[str]]):
        return self.strings([word.encode() for word in ([words] if isinstance(words, str) else words)])

    def strings(self, words: List[bytes]):
        self.kept.append(ffi.new("const char *[]", [self.string(word) for word in words]))
        return self.kept[-1], len(words)


OPTIONS = {"jobs", "fail_fast", "force", "dry_run", "rebuild", "include", "exclude", "extensions", "follow", "suffix",
           "flat", "skip_existing", "shard"}


def run_folder(inputs: Union[Path, Iterable[Path]], output: Path, *, progress: Optional[Progress] = None,
               threads: int = 0, no_clobber: bool = False, **settings) -> Counts:
    """run() for the images of folders, several at once. Under the folder `output`, outputs have the same relative paths
    as their inputs. A record of the outputs lets the same call later process only what is new or was not finished.

    inputs: a file, a folder, or a list of them. progress(file, counts): called with a FolderFile for each finished
    file, and ten times a second with None. If it raises, the run stops, and run_folder() raises the same exception.
    settings: those of run(), and jobs (files at once; 0: one per thread), fail_fast, force (replace outputs that no
    earlier run wrote), dry_run, rebuild (also outputs that are up to date), include, exclude (a pattern or a list),
    extensions (["jpg", "png"]), follow (symbolic links), suffix, flat, skip_existing, no_clobber, shard ((0, 4): the
    first of four shares). A broken photo is counted as failed, and the others are processed.

    Returns Counts at the end of the run. Raises Error (no such input, no output folder, disk full), ValueError or
    TypeError for settings; Ctrl-C stops the run, and finished outputs stay.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_folder("samples/chelsea.jpg", folder, sync=False).ok
    1
    """
    chosen = {name: settings.pop(name) for name in OPTIONS & settings.keys()}
    options, s = Options(inputs, output, no_clobber=no_clobber, **chosen), settings_of({"threads": threads, **settings})
    counts, err = ffi.new("lap_batch_counts *"), ffi.new("lap_error *")
    watch = Watch(progress) if progress else None
    handle = ffi.new_handle(watch) if watch else ffi.NULL

    def work(context):
        if watch:
            watch.context = context
        return lib.lap_batch(context, options.c, s.c, lib.lap_python_each if watch else ffi.NULL, handle, counts, err)

    code = call_alone(threads, work)
    if watch and watch.problem is not None:
        raise watch.problem
    check(code, err)
    return counts_of(counts)
