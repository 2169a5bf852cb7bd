#!/bin/bash
# python.sh [FOLDER [PYTHON]]: the Python module on this machine's GPU: its tests, then how fast a list of photos is
# decoded to the device, as JSON. FOLDER (build/portable/python): where `make portable-tests` put the module. PYTHON
# (python3) needs NumPy and cffi; torch and CuPy are used if they are there. With LAPEDGE_CORPUS, its files go through
# corpus.py. Exit 1 if a test failed.
set -u
folder=${1:-build/portable/python} python=${2:-python3} status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for test in device there; do
    "$python" "tests/package/python/$test.py" "$folder" >"$scratch/$test.tap" 2>&1 || status=1
    grep -E '^(not ok|# )|SKIP|Error' "$scratch/$test.tap"
    echo "$test.py: $(grep -c '^ok' "$scratch/$test.tap") passed, $(grep -c '^not ok' "$scratch/$test.tap") failed"
done
if [ -n "${LAPEDGE_CORPUS:-}" ]; then
    "$python" tests/kernels/gpu/corpus.py "$folder" samples "$LAPEDGE_CORPUS" || status=1
fi
"$python" tools/measure/pipeline --device "$folder" || status=1
exit $status
