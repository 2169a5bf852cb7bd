# Sourced by the tests of shared runs: a folder of photos, a single run over it as the measure, and what
# must hold after any way of sharing the work. Run from the root of the repository.
# shellcheck shell=bash disable=SC2154 # who sources this makes $scratch
. tests/support/tap.sh
export LAPEDGE=${LAPEDGE:-$PWD/lapedge}

# Programs that the photos and the checks need; prints what is missing.
missing()
{
    local program
    for program in convert python3 "$@"; do
        have "$program" || echo "no $program"
    done | paste -sd, -
}

# make_photos: $scratch/photos with 60 small photos in two folders, and $scratch/single made from them.
make_photos()
{
    mkdir -p "$scratch/photos/a folder" "$scratch/photos/b" &&
        convert samples/chelsea.jpg -crop 6x5@ +repage "$scratch/photos/a folder/tile %02d.jpg" &&
        convert samples/astronaut.jpg -crop 6x5@ +repage -quality 80 "$scratch/photos/b/tile-%02d.JPG" &&
        [ "$(photos | wc -l)" -eq 60 ] &&
        "$LAPEDGE" -q --no-sync "$scratch/photos" "$scratch/single"
}

photos() # relative names
{
    find "$scratch/photos" -type f -printf '%P\n' | sort
}

# done_lines OUTDIR: the outputs that the manifests of all runs call done, one per line.
done_lines()
{
    python3 - "$1/.lapedge" <<'PYTHON'
import json, pathlib, sys
for manifest in sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl")):
    for line in manifest.read_text().splitlines():
        record = json.loads(line)
        if record["event"] == "done":
            print(record["output"])
PYTHON
}

# complete OUTDIR SHARES: every photo done exactly once, by that many runs, with the bytes of a single run;
# one more run, unshared, finds nothing left to do.
complete()
{
    local again
    diff <(photos) <(done_lines "$1" | sort) || return 1
    diff -r -x .lapedge "$scratch/single" "$1" || return 1
    [ "$(find "$1/.lapedge" -name '*.jsonl' | wc -l)" -eq "$2" ] || { ls "$1/.lapedge"; return 1; }
    [ -z "$(find "$1" -name '.lapedge-*')" ] || { echo "temporary files are left"; return 1; }
    again=$("$LAPEDGE" --json -q "$scratch/photos" "$1") || return 1
    python3 -c 'import json, sys; run = json.loads(sys.argv[1]); assert run["skipped"] == 60 and not run["ok"], run' "$again"
}

# The program with CUDA devices that the CPU plays.
with_devices=$(realpath -m "${B:-build}/cudacpu/asan/lapedge")

# devices_are_shared COMMAND...: which starts four tasks of this machine: each of its two devices does the photos of two
# tasks, and all come out as the CPU makes them.
devices_are_shared()
{
    local i
    mkdir -p "$scratch/few" "$scratch/used" || return 1
    for i in {0..11}; do
        convert samples/chelsea.jpg -crop "48x40+$((16 * i))+96" +repage "$scratch/few/$i.jpg" || return 1
    done
    # shellcheck disable=SC2016 # for the shell of each task
    "$@" sh -c 'cd "$1" && LAP_CUDACPU=devices=2 exec "$0" -q --no-sync --json --threads=1 -b cuda-fast --shard=auto \
        few by-devices >"used/$$.json"' "$with_devices" "$scratch" || return 1
    "$LAPEDGE" -q --no-sync "$scratch/few" "$scratch/by-cpu" &&
        diff -r -x .lapedge "$scratch/by-cpu" "$scratch/by-devices" && python3 - "$scratch/used" <<'PYTHON'
import json, pathlib, sys
runs = [json.loads(file.read_text()) for file in pathlib.Path(sys.argv[1]).glob("*.json")]
assert sorted([device["device"] for device in run["work"]["devices"]] for run in runs) == [[0], [0], [1], [1]], runs
assert sum(run["ok"] for run in runs) == 12, runs
assert all(device["done"] == run["ok"] for run in runs for device in run["work"]["devices"]), runs
PYTHON
}
