#!/bin/bash
# A libjpeg of another interface than the one that the program was built with: no photo is called damaged.
. tests/support/tap.sh
program=$(realpath "${LAPEDGE:-./lapedge}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refused WORDS...: exit 3 and one line about the library, which names the interface or the size.
refused()
{
    local code=0
    env "${other[@]}" LD_PRELOAD="$work/other.so" "$program" "$@" >"$work/out" 2>"$work/said" || code=$?
    [ "$code" -eq 3 ] && [ "$(cat "$work/said" "$work/out" | grep -c 'the loaded libjpeg has')" -eq 1 ] &&
        ! grep -q 'damaged\|sampling\|unsupported' "$work/said" "$work/out" ||
        { echo "code $code"; cat "$work/said" "$work/out"; return 1; }
}

each_command()
{
    refused samples/coffee.jpg "$work/o.jpg" && refused -n samples/coffee.jpg "$work/o.jpg" &&
        refused stats samples/coffee.jpg && refused samples "$work/album" && refused stats samples &&
        refused doctor && [ ! -e "$work/o.jpg" ] && [ ! -e "$work/album" ] || return 1
    grep -q 'not everything that was built can run' "$work/out"
}

is_json()
{
    env "${other[@]}" LD_PRELOAD="$work/other.so" "$program" doctor --json >"$work/doctor.json"
    [ $? -eq 3 ] && python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
assert not o["healthy"] and o["library"]["kind"] == "backend" and "libjpeg" in o["library"]["message"], o' "$work/doctor.json"
}

if "${CC:-gcc}" -shared -fPIC -o "$work/other.so" tests/faults/other_interface.c; then
    other=()
    check "another interface is an error of the library, once, with 3" each_command
    check "doctor's object has it" is_json
    other=(OTHER_SIZE=1)
    check "objects of another size are, too" each_command
    check "the one that it was built with is fine" "$program" samples/coffee.jpg "$work/o.jpg"
else
    skip "another interface of libjpeg" "it could not be built"
fi
finish
