"""How a call ends: with an exception, or by Ctrl-C before its work is done; and whether others work meanwhile."""
import os
import signal
import sys
import threading
import time

TRIES = 100 # on a busy machine the other thread of a check may sleep through a whole call; then the call is made again


def raises(kind, words, function, *arguments, **more):
    """The exception of that kind whose text has these words; else something false."""
    try:
        function(*arguments, **more)
    except kind as problem:
        return words in str(problem) and problem
    return None


def interrupted(work):
    """Whether Ctrl-C after a tenth of the work of work() ends it before half of it is done, and what happened. Work is
    measured in processor time, which other processes do not stretch."""
    begin = time.process_time()
    work()
    whole = time.process_time() - begin
    for _ in range(TRIES):
        is_over = threading.Event()

        def press(since):
            while time.process_time() - since < whole / 10:
                if is_over.wait(0.0005):
                    return
            os.kill(os.getpid(), signal.SIGINT)

        begin = time.process_time()
        thread = threading.Thread(target=press, args=(begin,))
        says = f"it came to its end in {whole:.3f} s"
        try:
            thread.start()
            work()
            is_over.set()
            thread.join()
        except KeyboardInterrupt:
            took = time.process_time() - begin
            says = f"{took:.3f} s of {whole:.3f} s of work were done"
            if took < whole / 2:
                return True, says
        is_over.set()
        thread.join()
    return False, says


def lets_others_work(work):
    """Whether another thread of Python gets on while work() runs, and how far. Threads are never switched by time, so
    that it can only if work() releases the interpreter's lock. Threads that work() starts and waits for give it two
    steps at most."""
    steps, is_over, interval = [], threading.Event(), sys.getswitchinterval()

    def count():
        while not is_over.wait(0.001):
            steps.append(1)

    sys.setswitchinterval(1000)
    other = threading.Thread(target=count)
    other.start()
    try:
        for _ in range(TRIES):
            before = len(steps)
            work()
            during = len(steps) - before
            if during > 4:
                break
    finally:
        sys.setswitchinterval(interval)
        is_over.set()
        other.join()
    return during > 4, f"{during} steps of the other thread"
