#!/bin/bash
# A JPEG library that rounds differently from our encoders: it encodes everything, and doctor and -v say why.
. tests/support/tap.sh
program=${LAPEDGE:-./lapedge}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# with_it ARGUMENT...: the program with that library.
with_it()
{
    timeout 200 env LD_PRELOAD="$scratch/other.so" "$program" "$@"
}

encodes_by_the_library()
{
    "$program" -q samples/chelsea.jpg "$scratch/a.jpg" --codec=turbo &&
        with_it -q samples/chelsea.jpg "$scratch/b.jpg" && cmp "$scratch/a.jpg" "$scratch/b.jpg" &&
        with_it backends --json >"$scratch/rows" &&
        python3 - "$scratch/rows" <<'END'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["op"] == "encode"]
assert [r["name"] for r in rows if r["available"]] == ["turbo"], rows
assert any("rounds differently" in (r["reason"] or "") for r in rows), rows
END
}

is_refused()
{
    local status=0
    with_it samples/chelsea.jpg "$scratch/c.jpg" --codec=c 2>"$scratch/said" || status=$?
    [ "$status" -eq 3 ] && grep -q "codec 'c' cannot run here: the JPEG library here rounds" "$scratch/said" &&
        [ ! -e "$scratch/c.jpg" ] || { cat "$scratch/said" && return 1; }
}

# --codec=c names both directions, so it is refused then; without --codec, each direction is chosen separately.
encodes_by_ours()
{
    with_it -q samples/chelsea.jpg "$scratch/d.jpg" && "$program" -q samples/chelsea.jpg "$scratch/a.jpg" &&
        cmp "$scratch/a.jpg" "$scratch/d.jpg" &&
        with_it backends --json >"$scratch/rows" &&
        python3 - "$scratch/rows" <<'END' && is_refused
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
runs = {op: [r["name"] for r in rows if r["op"] == op and r["available"]] for op in ("encode", "decode")}
assert runs["decode"] == ["turbo"] and "c" in runs["encode"], runs
END
}

doctor_says_why()
{
    with_it doctor >"$scratch/said" 2>&1
    grep -q 'the JPEG library here rounds differently' "$scratch/said" || { cat "$scratch/said" && return 1; }
}

# The rungs of one ladder get a message instead of a time, and the exit code is 1; the other ladder's are timed.
bench_refuses()
{
    local ladder=$1 why=$2 status=0
    env OTHER="${ladder}s" WHERE=large LD_PRELOAD="$scratch/other.so" timeout 200 "$program" bench codec --runs=1 \
        --threads=1 --image=samples/chelsea.jpg --json >"$scratch/rows" 2>"$scratch/said" || status=$?
    [ "$status" -eq 1 ] && grep -q "^lapedge: $ladder c: $why" "$scratch/said" || { cat "$scratch/said" && return 1; }
    python3 - "$scratch/rows" "$ladder" "$why" <<'END'
import json, sys
_, path, ladder, why = sys.argv
for op in ("encode", "decode"):
    rows = [r for r in json.load(open(path))["rows"] if r["op"] == op and r["backend"] != "turbo"]
    timed = [r["backend"] for r in rows if r["median_ms"] is not None]
    refused = [r["backend"] for r in rows if r["reason"] == why]
    assert ("c" in refused and not timed) if op == ladder else ("c" in timed and not refused), rows
END
}

if [ "${SANITIZED:-0}" = 1 ]; then
    skip "a library that rounds differently" "a sanitizer's runtime has to be loaded first"
elif "${CC:-gcc}" -shared -fPIC -o "$scratch/other.so" tests/kernels/encode/other_library.c -ldl; then
    check "with a library that rounds differently it encodes, and our encoders are off" encodes_by_the_library
    check "--codec=c is refused with it" is_refused
    check "doctor says why" doctor_says_why
    check "bench does not time an encoder whose bytes differ" bench_refuses encode "its bytes differ from libjpeg-turbo's"
    check "bench does not time a decoder whose pixels differ" bench_refuses decode "its pixels differ from libjpeg-turbo's"
    export OTHER=decodes
    check "a library that only decodes otherwise leaves the encoders on" encodes_by_ours
else
    skip "a library that rounds differently" "it could not be built"
fi
finish
