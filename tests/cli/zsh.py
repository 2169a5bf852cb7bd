#!/usr/bin/env python3
"""zsh.py LAPEDGE FOLDER: types into a zsh that has the completion of that folder, presses the tabulator, and compares
the words that the program is then given."""
import os
import pty
import re
import select
import subprocess
import sys
import time

# What is typed, a tabulator at each "^"; what the program gets.
CASES = [
    ("lapedge sta^", "stats"),
    ("lapedge --threa^4 in.jpg", "--threads=4 in.jpg"),
    ("lapedge --borde^repl^ in.jpg", "--border=replicate in.jpg"),
    ("lapedge stats --ran^ab^ in.jpg", "stats --range=abs in.jpg"),
    ("lapedge stats --qual^", "stats --qual"),
    ("lapedge bench transp^", "bench transpose"),
    ("lapedge help expl^", "help explain"),
    ("lapedge phot^", "photo.jpg"),
]
SETUP = """PS1='> '; setopt no_beep no_list_beep; unsetopt zle_bracketed_paste 2>/dev/null; zstyle ':completion:*' menu no
fpath=('%s' $fpath); autoload -U compinit; compinit -u -D
lapedge() { if [[ $1 == __* ]]; then '%s' "$@"; else print -r -- "GIVEN<$*>"; fi; }; : >photo.jpg; print REA''DY
"""


def read_until(leader, pattern, seconds=100):
    seen, end = "", time.monotonic() + seconds
    while not re.search(pattern, seen):
        if not select.select([leader], [], [], max(0, end - time.monotonic()))[0]:
            raise SystemExit("zsh: %r did not come, but %r" % (pattern, seen))
        seen += os.read(leader, 65536).decode(errors="replace")
    return seen


def main():
    leader, follower = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
                             env={"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": os.getcwd()})
    os.close(follower)
    problems = []
    try:
        os.write(leader, (SETUP % (sys.argv[2], os.path.abspath(sys.argv[1]))).encode())
        read_until(leader, "READY\r")
        for typed, wanted in CASES:
            for part in re.split(r"(\^)", typed):
                os.write(leader, part.replace("^", "\t").encode())
                time.sleep(0.05) # as somebody types; the shell takes its time anyway
            os.write(leader, b"\n")
            given = re.search("GIVEN<(.*?)>\r", read_until(leader, "GIVEN<.*?>\r"))[1].strip()
            if given != wanted:
                problems.append("%r gave %r, not %r" % (typed, given, wanted))
    finally:
        shell.kill()
        shell.wait()
        os.close(leader)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


main()
