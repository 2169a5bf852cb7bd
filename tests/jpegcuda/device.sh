#!/bin/bash
# device.sh FOLDER PHOTO [OUT]: the JPEG decoder on this machine's GPU, in one call of some minutes: right first, then
# how fast and what limits it. FOLDER has jpeg_check and jpeg_bench (`make portable-tests`: build/portable); whatever
# tool is missing is left out. Long output goes to OUT (default .). SANITIZE=1: compute-sanitizer too; FULL=1: every
# size from 1x1 to 70x70 too.
set -uo pipefail
folder=$1 photo=$2 out=${3:-.}
fail=0

echo "== pixels, as make test has them"
timeout 120 "$folder/jpeg_check" 2>/dev/null | tail -n 20 || fail=1
timeout 60 "$folder/jpeg_check" "$photo" || fail=1
echo "== the default, alone and with several streams"
timeout 60 "$folder/jpeg_bench" decode "$photo" || fail=1
echo "== lengths of subsequences, groups, lanes"
timeout 120 "$folder/jpeg_bench" decode "$photo" --streams=8 --photos=300 --runs=20 --subs=256,512 --groups=2,4,8,16 \
    --lanes=8192,16384,65536 | tee "$out/tuning.txt" | paste -sd ' ' | sed 's/subsequences/\nsubsequences/g' || fail=1
if command -v ncu >/dev/null; then
    echo "== what limits each kernel (full report: $out/ncu.txt)"
    timeout 120 ncu --clock-control none --launch-skip 40 --launch-count 14 --section SpeedOfLight --section Occupancy \
        --section WarpStateStats --section SchedulerStats --section LaunchStats \
        "$folder/jpeg_bench" decode "$photo" --streams=1 --photos=1 --runs=2 >"$out/ncu.txt" 2>&1
    grep -E '^  [a-z_]+kernel|^  void|Duration|Issue Slots Busy|Compute \(SM\)|Memory Throughput  |Achieved Occ|Registers Per|Warp Cycles Per Issued' \
        "$out/ncu.txt" | sed 's/  */ /g' | head -n 130
fi
if command -v compute-sanitizer >/dev/null && [ -n "${SANITIZE:-}" ]; then
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== compute-sanitizer $tool"
        timeout 100 compute-sanitizer --tool "$tool" --error-exitcode 9 "$folder/jpeg_check" --few 2>&1 | tail -n 4 ||
            fail=1
    done
fi
if [ -n "${FULL:-}" ]; then
    echo "== every width and height from 1 to 70"
    timeout 400 "$folder/jpeg_check" --full 2>/dev/null | tail -n 20 || fail=1
fi
echo "device.sh: $([ $fail = 0 ] && echo all passed || echo FAILED)"
exit $fail
