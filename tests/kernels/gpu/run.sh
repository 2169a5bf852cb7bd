#!/bin/bash
# run.sh [FOLDER]: the harnesses in FOLDER (default build/portable) on this machine's GPU, then every CUDA rung
# at small, odd sizes under the tools of compute-sanitizer. TOOLS= names some of these, or none.
# The last line has the counts; exit 0: all passed, none was skipped.
set -u
folder=${1:-build/portable}
for program in filter_ladder ops scaffold; do
    if [ ! -x "$folder/$program" ]; then
        echo "test-gpu: $folder/$program is missing: \`make portable-tests\` builds it, here or elsewhere" >&2
        exit 2
    fi
done
more=() # these need libjpeg to be built
for program in jpeg_check encode_check; do
    if [ -x "$folder/$program" ]; then
        more+=("$folder/$program")
    else
        echo "test-gpu: without $program, which \`make portable-tests\` builds where libjpeg is"
    fi
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
B=${B:-build} tests/run GPU_TESTS="$folder" "$folder/filter_ladder" "$folder/ops" "$folder/scaffold" \
    "${more[@]}" tests/kernels/gpu/sanitize.sh | tee "$log"
status=${PIPESTATUS[0]}
if grep -q '^No GPU was used' "$log"; then
    echo "test-gpu: no GPU was used: $("$folder/scaffold" | sed -n 's/.*# SKIP //p')"
    exit 1
fi
exit "$status"
