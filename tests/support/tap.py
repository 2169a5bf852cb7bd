"""What tests in Python print, as tests/support/tap.sh does for those in bash: a line for each, then how many there were."""
import sys

tests = failures = 0


def report(ok, what, detail=""):
    """detail: printed as comments where the test failed."""
    global tests, failures
    tests += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {tests} - {what}")
    if not ok and detail:
        print("# " + str(detail).replace("\n", "\n# "))
    sys.stdout.flush()


def skip(what, why):
    global tests
    tests += 1
    print(f"ok {tests} - {what} # SKIP {why}")


def finish():
    print(f"1..{tests}")
    sys.exit(failures > 0)
