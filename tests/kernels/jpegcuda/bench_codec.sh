#!/bin/bash
# `lapedge bench codec` with a device: the program on the CPU runtime of the CUDA tests.
. tests/support/tap.sh
program=${B:-build}/cudacpu/asan/lapedge
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# bench SETTINGS [OPTION...]: writes its JSON to $scratch/bench.json.
bench()
{
    LAP_CUDACPU=$1 timeout 120 "$program" bench codec --sizes=48x32 --runs=1 --json "${@:2}" \
        >"$scratch/bench.json" 2>"$scratch/err" || { cat "$scratch/err" && return 1; }
}

# rows CONDITION: checks a Python condition on the device's rows.
rows()
{
    python3 - "$scratch/bench.json" "$1" <<'PYTHON'
import json, sys
bench = json.load(open(sys.argv[1], encoding="utf-8"))
device = [row for row in bench["rows"] if row["backend"].endswith("-cuda") or row["backend"].startswith("copy-")]
sys.exit(0 if eval(sys.argv[2]) else f"not so: {sys.argv[2]}\n{device}")
PYTHON
}

rows_are_there()
{
    bench devices=1 &&
        rows '[r["backend"] for r in device[:4]] == ["copy-up", "copy-down", "copy-both", "copy-device"]' &&
        rows '[(r["backend"], r["threads"]) for r in device[4:]] == [(w + "-cuda", n) for w in
            ("decode", "encode", "chain") for n in (1, 4, 8, 16)]' &&
        rows 'all(r["resolved"] and not r["reason"] and r["median_ms"] > 0 and r["mpix_per_s"] > 0 for r in device)' &&
        rows 'all(0 < r["roof_share"] <= 1 for r in device if r["backend"] != "copy-device")' &&
        rows 'bench["device"] and all(r["end_to_end_ms"] == r["median_ms"] for r in device)'
}

memory_is_short()
{
    bench devices=1,memory=300K && rows 'len(device) == 16 and all("memory" in r["reason"] for r in device)'
}

no_device()
{
    bench devices=0 && rows 'not device and [r["backend"] for r in bench["rows"]][0] == "decode"'
}

if have python3; then
    check "the codec's rows on a device, alone and on several streams" rows_are_there
    check "a device without memory is a reason, not a failure" memory_is_short
    check "without a device there are none" no_device
else
    skip "the codec's rows on a device, alone and on several streams" "no python3"
    skip "a device without memory is a reason, not a failure" "no python3"
    skip "without a device there are none" "no python3"
fi
finish
