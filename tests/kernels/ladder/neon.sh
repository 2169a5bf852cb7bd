#!/bin/bash
# lapedge on aarch64, run by qemu-user: the same bytes as this machine's program, and simd-neon as short as simd-sse41.
. tests/support/tap.sh
B=${B:-build}
program=${LAPEDGE:-./lapedge}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

same()
{
    ./lapedge -q samples/coffee.jpg "$scratch/here" --format=jpg "$@" &&
        "$program" -q samples/coffee.jpg "$scratch/there" --format=jpg "$@" && cmp "$scratch/here" "$scratch/there"
}

uses_neon()
{
    "$program" backends --json >"$scratch/backends" &&
        python3 - "$scratch/backends" <<'PYTHON'
import json, sys
rows = {(r["op"], r["name"]): r["resolved"] for r in json.load(open(sys.argv[1]))["rows"]}
for op in ("filter", "transpose", "reduce", "matvec"):
    assert rows[op, "auto"] == rows[op, "simd"] == rows[op, "simd-neon"] == "simd-neon", op
    assert rows[op, "simd-sse41"] is None, op
PYTHON
}

# Compares the compiled loops: simd-neon needs no instructions to interleave bytes.
is_short()
{
    tools/measure/inner-loop "$B/cpu_simd/filter/filter_7_simd_neon.o" build/cpu_simd/filter/filter_4_simd_sse41.o |
        python3 -c 'import json, sys
found = json.load(sys.stdin)
print("# instructions per sample:", found)
sys.exit(found["simd-neon"] > found["simd-sse41"])'
}

check "auto is simd-neon" uses_neon
check "a photo: the same file" same
check "with scale and offset" same --scale=0.3 --offset=100.5 --range=abs
check "another kernel, in 16 bits" same --kernel=npp5 --border=reflect101
check "a kernel of fractions" same --kernel=0.5,0,0,0,0,0,0,0,0,0,0,0,-3.25,0,0,0,0,0,0,0,0,0,0,0,2 --gray
if [ "$(uname -m)" = x86_64 ]; then
    check "the inner loop of simd-neon has no more instructions than that of simd-sse41" is_short
fi
finish
