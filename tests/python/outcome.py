"""How a call ends: with an exception, or by Ctrl-C before its work is done."""
import os
import signal
import threading
import time


def raises(kind, words, function, *arguments, **more):
    """The exception of that kind whose text has these words; else something false."""
    try:
        function(*arguments, **more)
    except kind as problem:
        return words in str(problem) and problem
    return None


def interrupted(work):
    """Whether Ctrl-C after a tenth of the time that work() takes ends it before half of that time, and what happened."""
    begin = time.monotonic()
    work()
    whole = time.monotonic() - begin
    timer = threading.Timer(whole / 10, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    try:
        work()
        return False, "it came to its end"
    except KeyboardInterrupt:
        took = time.monotonic() - begin
        return took < whole / 2, f"{took:.3f} s after a signal at {whole / 10:.3f} s, of {whole:.3f} s"
