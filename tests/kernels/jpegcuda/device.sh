#!/bin/bash
# device.sh FOLDER PHOTO [OUT]: the JPEG codec on this machine's GPU, in one call of at most SECONDS_AT_MOST (200):
# first its results, then its speed. FOLDER has the programs of `make portable-tests` (build/portable); ./lapedge
# (LAPEDGE) is needed too. A missing tool is skipped, with a message. Each step has its own time limit; its output
# goes to OUT/STEP.txt (default .), its verdict to standard output; exit 1 if one failed. STEPS names those that are
# wanted, of
#   check     as `make test`, this photo, lap_stream       grid     all widths and heights to 70, 20000 damaged files
#   sanitize  memcheck and racecheck over small pictures       bench    `lapedge bench codec`: OUT/bench.json
#   nvjpeg    its engine, default decoder and encoder          tune     lengths of subsequences, groups, lanes
#   verdicts  samples, FILES (names, folders) and damaged variants of them by both codecs
#   profile   what limits each kernel of the decoder     orientation  photos with each EXIF tag, turned by both
#   stats     of the photo and samples: the CPU's numbers
# shellcheck disable=SC2317 # steps are called by their names
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,11s/^# //p' "$0" && exit 2; }
folder=$1 photo=$2 out=${3:-.} lapedge=${LAPEDGE:-./lapedge} at_most=${SECONDS_AT_MOST:-200}
steps=${STEPS:-check grid sanitize verdicts orientation stats bench nvjpeg} fail=0
shares=$(($(nproc) / 2)) # of decoder and encoder each, a process each: one thread feeds a device badly
[ "$shares" -ge 1 ] || shares=1
mkdir -p "$out"
here=$(cd "$(dirname "$0")" && pwd)

# limited SECONDS COMMAND...: runs it for at most this long, and at most the time left for the whole script.
limited()
{
    local left=$((at_most - SECONDS)) limit=$1
    shift
    [ "$left" -gt 0 ] || { echo "no time left" && return 1; }
    timeout -k 5 $((limit < left ? limit : left)) "$@"
}

# all_of PID...: waits for each; all must have succeeded.
all_of()
{
    local status=0 pid
    for pid in "$@"; do
        wait "$pid" || status=1
    done
    return "$status"
}

check()
{
    limited 40 "$folder/jpeg_check" 2>&1 && limited 20 "$folder/jpeg_check" "$photo" &&
        limited 40 "$folder/encode_check" && stream_is_the_program
}

# lap_stream's result for the photo; the PPM in between has no metadata and no sampling, just as pixels have none.
stream_is_the_program()
{
    limited 20 "$lapedge" -q --kernel=identity "$photo" "$out/photo.ppm" &&
        limited 20 "$lapedge" -q "$out/photo.ppm" "$out/program.jpg" &&
        limited 20 "$folder/stream_example" "$photo" "$out/stream.jpg" && cmp "$out/program.jpg" "$out/stream.jpg"
    local status=$?
    rm -f "$out/photo.ppm" "$out/program.jpg" "$out/stream.jpg"
    return "$status"
}

grid()
{
    local i pids=() status=0
    for ((i = 0; i < shares; i++)); do
        limited 100 "$folder/jpeg_check" --full --part="$i/$shares" >"$out/grid-decode-$i.txt" 2>&1 &
        pids+=($!)
        limited 100 "$folder/encode_check" --sizes=all --part="$i/$shares" >"$out/grid-encode-$i.txt" 2>&1 &
        pids+=($!)
    done
    all_of "${pids[@]}" || status=1
    grep -H '^not ok' -A2 "$out"/grid-*.txt && status=1
    echo "$shares shares: $(cat "$out"/grid-decode-*.txt | grep -c '^ok') checks of the decoder," \
        "$(cat "$out"/grid-encode-*.txt | grep -c '^ok') of the encoder passed;" \
        "$(cat "$out"/grid-encode-*.txt | sed -n 's/.* \([0-9]*\) cases$/\1/p' |
            awk '{ n += $1 } END { print n + 0 }') pictures encoded"
    cat "$out"/grid-decode-*.txt | sed -n 's/^# \([0-9]* decoded, .*\)/\1/p'
    return "$status"
}

sanitize()
{
    local kind program pids=() status=0
    command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed" && return 77; }
    for kind in memcheck racecheck; do
        for program in jpeg_check encode_check; do
            limited 60 compute-sanitizer --tool "$kind" --report-api-errors no --error-exitcode 9 \
                "$folder/$program" --few >"$out/sanitize-$kind-$program.txt" 2>&1 &
            pids+=($!)
        done
    done
    all_of "${pids[@]}" || status=1
    tail -n 3 "$out"/sanitize-*.txt
    return "$status"
}

verdicts()
{
    # shellcheck disable=SC2086 # FILES is a list
    limited 60 "$here/verdicts.py" "$lapedge" 100 "$here/../../../samples" ${FILES:-}
}

# The photo with the tag of each orientation: both give the same bytes, and the device does all the work.
orientation()
{
    limited 60 python3 - "$lapedge" "$photo" "$out" <<'PYTHON'
import os, subprocess, sys
program, photo, out = sys.argv[1:]
names = [f"{out}/turn-{name}" for name in ("in.jpg", "cpu.jpg", "cuda.jpg")]
with open(photo, "rb") as f:
    data = f.read()
bad = []
for turn in range(1, 9):
    tag = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\x01" + bytes([0, turn, 0, 0, 0, 0, 0, 0])
    with open(names[0], "wb") as f:
        f.write(data[:2] + b"\xff\xe1" + (len(tag) + 2).to_bytes(2, "big") + tag + data[2:])
    for options in ([], ["--gray"], ["--subsampling=444", "--restart=off"]):
        both = ((["--backend=simd"], names[1]), (["--backend=cuda-fast", "--codec=cuda"], names[2]))
        done = [subprocess.run([program, "-v", "--no-sync", "--auto-orient", *words, *options, names[0], name],
                               capture_output=True, text=True, check=True) for words, name in both]
        with open(names[1], "rb") as a, open(names[2], "rb") as b:
            if a.read() != b.read():
                bad.append(f"turn {turn} {options}: the files differ")
        if "on the device, encoded on the device" not in done[1].stderr:
            bad.append(f"turn {turn} {options}: not by the device: {done[1].stderr}")
for name in names:
    os.remove(name)
print("\n".join(bad) or "8 orientations, 3 sets of options: the same bytes")
sys.exit(bool(bad))
PYTHON
}

# The statistics of samples and photo, computed by both, in the same order.
stats()
{
    local backend samples=("$here"/../../../samples/*.jpg)
    for backend in simd cuda-fast; do
        limited 30 "$lapedge" stats --json --backend="$backend" "${samples[@]}" "$photo" "${samples[0]}" \
            >"$out/stats-$backend.jsonl" || return
    done
    tail -n 1 "$out/stats-cuda-fast.jsonl" | grep -o '"work":.*'
    cmp <(head -n -1 "$out/stats-simd.jsonl") <(head -n -1 "$out/stats-cuda-fast.jsonl")
    local status=$?
    rm -f "$out"/stats-*.jsonl
    return "$status"
}

bench()
{
    limited 60 "$lapedge" bench codec --image="$photo" --runs=10 --json >"$out/bench.json" || return
    grep -q '"decode-cuda"' "$out/bench.json" || { echo "no rows of a device" && return 1; }
    python3 - "$out/bench.json" <<'PYTHON'
import json, sys
for row in json.load(open(sys.argv[1], encoding="utf-8"))["rows"]:
    rate = f"{1000 / row['median_ms']:10.1f} photos/s" if row["median_ms"] else row["reason"]
    print(f"{row['backend']:14} {row['threads']:4} {rate}")
PYTHON
}

nvjpeg()
{
    NVJPEG_SECONDS=20 FIND_SECONDS=10 limited 110 "$here/../../../tools/measure/gpu-peers" --nvjpeg --runs=10 --photo="$photo"
}

tune()
{
    limited 60 "$folder/jpeg_bench" decode "$photo" && limited 120 "$folder/jpeg_bench" decode "$photo" --streams=8 \
        --photos=300 --runs=20 --subs=256,512 --groups=2,4,8,16 --lanes=8192,16384,65536
}

profile()
{
    command -v ncu >/dev/null || { echo "ncu is not installed" && return 77; }
    limited 120 ncu --clock-control none --launch-skip 40 --launch-count 14 --section SpeedOfLight --section Occupancy \
        --section WarpStateStats --section SchedulerStats --section LaunchStats \
        "$folder/jpeg_bench" decode "$photo" --streams=1 --photos=1 --runs=2
}

if "$folder/jpeg_check" --few | grep -q '# SKIP'; then
    echo "device.sh: $("$folder/jpeg_check" --few | sed -n 's/.*# SKIP //p')"
    exit 1
fi
for step in $steps; do
    start=$SECONDS status=0
    "$step" >"$out/$step.txt" 2>&1 || status=$?
    case $status in
    0) verdict=passed ;;
    77) verdict="left out: $(tail -n 1 "$out/$step.txt")" ;;
    *) verdict="FAILED ($status)" fail=1 ;;
    esac
    echo "$step: $verdict, $((SECONDS - start)) s"
    case $step in
    bench | nvjpeg | grid) cat "$out/$step.txt" ;;
    *) [ "$status" -eq 0 ] || tail -n 20 "$out/$step.txt" ;;
    esac
done
echo "device.sh: $([ $fail = 0 ] && echo all passed || echo FAILED), $SECONDS s"
exit $fail
