#!/bin/bash
# The N-th allocation of a run fails, for every N until a run gets through without meeting it: a documented exit
# code, a message, and an output that is absent or whole. Once, and from then on.
. tests/support/tap.sh
program=${LAPEDGE:-./lapedge}
shim=${B:-build}/tests/nth_malloc.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# one_run EVER N ARGUMENTS...: prints what is wrong; status 9 if the fault did not fire.
one_run()
{
    local ever=$1 n=$2 status
    shift 2
    rm -f "$work/out.$format" "$work/fired"
    env ${ever:+LAP_FAIL_EVER=1} LAP_FAIL_AT="$n" LAP_FAIL_FIRED="$work/fired" LD_PRELOAD="$shim" \
        "$program" "$@" "$work/out.$format" >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
    case $status in
    0) cmp "$work/out.$format" "$work/whole.$format" || return 1 ;;
    1 | 2 | 3 | 4)
        [ ! -e "$work/out.$format" ] || { echo "N=$n: exit $status and an output"; return 1; }
        [ -s "$work/stderr" ] || { echo "N=$n: exit $status without a word"; return 1; }
        ;;
    *) echo "N=$n: exit $status: $(head -c 300 "$work/stderr")"; return 1 ;;
    esac
    [ -z "$(find "$work" -name '.lapedge*')" ] || { echo "N=$n: a temporary file is left"; return 1; }
    [ -e "$work/fired" ] || return 9
}

# campaign EVER FORMAT ARGUMENTS...
campaign()
{
    local ever=$1 format=$2 n=0 status
    shift 2
    rm -f "$work/whole.$format"
    "$program" "$@" "$work/whole.$format" || return 1
    while :; do
        # Beyond the first ones every third: each is a process. ALLOC_ALL=1: all.
        if [ -n "${ALLOC_ALL:-}" ] || [ "$n" -lt 20 ]; then n=$((n + 1)); else n=$((n + 3)); fi
        one_run "$ever" "$n" "$@"
        status=$?
        [ "$status" -ne 9 ] || break
        [ "$status" -eq 0 ] || return 1
        [ "$n" -lt 3000 ] || { echo "no end after $n allocations"; return 1; }
    done
    [ "$n" -gt 10 ] || { echo "only $n allocations were met"; return 1; }
}

# no_crash ARGUMENTS...: of a command that writes nothing
no_crash()
{
    local n=0 status
    while rm -f "$work/fired" && n=$((n + 1)) && [ "$n" -lt 3000 ]; do
        status=0
        LAP_FAIL_EVER=1 LAP_FAIL_AT="$n" LAP_FAIL_FIRED="$work/fired" LD_PRELOAD="$shim" \
            "$program" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
        [ -e "$work/fired" ] || break
        [ "$status" -eq 0 ] || { [ "$status" -le 5 ] && [ -s "$work/stderr" ]; } || { echo "N=$n: exit $status"; return 1; }
    done
    [ "$n" -gt 10 ]
}

photo=samples/chelsea.jpg
# The library is not blamed for memory that runs out while it is compared with our encoders.
no_blame()
{
    local n blamed=0
    for ((n = 1; n <= 60; n++)); do
        LAP_FAIL_EVER=1 LAP_FAIL_AT=$n LD_PRELOAD="$shim" "$program" doctor >"$work/said" 2>&1
        ! grep 'rounds differently' "$work/said" || return 1
        ! grep -q 'out of memory while' "$work/said" || blamed=$((blamed + 1))
    done
    [ $blamed -gt 0 ]
}

# A single allocation that fails does so once: a verdict keeps the reason it was found with.
verdicts_have_reasons()
{
    local n bad=0
    for ((n = 1; n <= 200; n++)); do
        LAP_FAIL_AT=$n LD_PRELOAD="$shim" "$program" doctor >"$work/said" 2>&1
        grep -q 'not everything that was built can run' "$work/said" || continue
        bad=$((bad + 1))
        grep -Eq '^library|cannot run: ' "$work/said" || { echo "N=$n: not everything can run, without a reason"; return 1; }
    done
    [ $bad -gt 0 ]
}

if [ ! -e "$shim" ]; then
    skip "allocations that fail" "the shim needs glibc and no sanitizer"
else
    common=(run --no-sync --threads=1 --backend=c)
    check "JPEG to JPEG, one allocation fails" campaign "" jpg "${common[@]}" "$photo"
    check "JPEG to JPEG, all from one on" campaign 1 jpg "${common[@]}" "$photo"
    check "decoded by parts, one allocation fails" campaign "" jpg "${common[@]}" --decode=parallel "$photo"
    check "decoded by parts, all from one on" campaign 1 jpg "${common[@]}" --decode=parallel "$photo"
    check "JPEG to PNG, one allocation fails" campaign "" png "${common[@]}" --gray "$photo"
    check "JPEG to PPM, turned upright, one allocation fails" campaign "" ppm "${common[@]}" --auto-orient "$photo"
    if "$program" --no-sync --gray "$photo" "$work/in.png" 2>/dev/null; then
        check "PNG to PNM, one allocation fails" campaign "" ppm "${common[@]}" "$work/in.png"
    fi
    python3 - "$photo" "$work/dressed.jpg" <<'PYTHON'
import sys
def segment(marker, body):
    return bytes([255, marker]) + (len(body) + 2).to_bytes(2, "big") + body
exif = b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
xmp = (b'http://ns.adobe.com/xap/1.0/\0<dc:a xmlns:dc="http://purl.org/dc/elements/1.1/" dc:coverage="here">'
       b"text</dc:a>")
iptc = b"Photoshop 3.0\0" + b"8BIM\4\4\0\0\0\0\0\6\x1c\2\x69\0\1T"
data = open(sys.argv[1], "rb").read()
new = b"".join(segment(*s) for s in ((0xE1, exif), (0xE1, xmp), (0xED, iptc), (0xFE, b"a comment")))
open(sys.argv[2], "wb").write(data[:2] + new + data[2:])
PYTHON
    kept=(--gray "--keep=exif,xmp,iptc,comment")
    check "metadata by a list, one allocation fails" campaign "" jpg "${common[@]}" "${kept[@]}" "$work/dressed.jpg"
    if "$program" --no-sync --gray "$work/dressed.jpg" "$work/dressed.png" 2>/dev/null; then
        check "metadata to PNG, one allocation fails" campaign "" png "${common[@]}" "${kept[@]}" "$work/dressed.jpg"
        check "metadata of a PNG, one allocation fails" campaign "" jpg "${common[@]}" "${kept[@]}" "$work/dressed.png"
    fi
    check "turned by a quarter, one allocation fails" campaign "" jpg transform --rotate=90 --no-sync --threads=1 "$photo"
    check "turned without loss, one allocation fails" \
        campaign "" jpg transform --trim --optimize --rotate=90 --no-sync --threads=1 "$photo"
    check "turned without loss, all from one on" \
        campaign 1 jpg transform --trim --rotate=90 --no-sync --threads=1 "$photo"
    { head -c 20 "$photo" && printf UUU && tail -c +21 "$photo"; } >"$work/stray.jpg" # worth a warning
    check "turned without loss after a warning, one allocation fails" \
        campaign "" jpg transform --trim --rotate=90 --no-sync --threads=1 "$work/stray.jpg"
    check "turned without loss after a warning, all from one on" \
        campaign 1 jpg transform --trim --rotate=90 --no-sync --threads=1 "$work/stray.jpg"
    "$program" --kernel=identity --gray "$photo" "$work/a.pgm"
    "$program" --border=reflect --gray "$photo" "$work/b.pgm"
    check "two pictures compared, one allocation fails" \
        campaign "" png diff -q --max-abs=255 "$work/a.pgm" "$work/b.pgm" --heatmap
    check "rungs compared, one allocation fails" \
        campaign "" png compare -q --runs=1 --ops=all --backends=c --threads=1 "$work/a.pgm" --heatmap
    check "rungs compared, all from one on" \
        campaign 1 png compare -q --runs=1 --ops=all --backends=c --threads=1 "$work/a.pgm" --heatmap
    mkdir "$work/folder" && "$program" --gray "$work/a.pgm" "$work/folder/a.jpg"
    check "photos of a folder compared, all from one on" no_crash compare --runs=1 --backends=c --threads=1 "$work/folder"
    check "an encoder's comparison, all from one on" no_blame
    check "doctor: no verdict without a reason, one allocation fails" verdicts_have_reasons
fi
finish
