#!/usr/bin/env bats
# What people read fits their terminal.
load common

# typed COLUMNS WORD...: what the program shows on a terminal of that many columns, in the file `typed`
typed()
{
    local columns=$1
    shift
    script -qec "stty cols $columns; '$LAPEDGE' $*" /dev/null | sed 's/\r*$//' >typed || true
    [ -s typed ]
}

# widest COLUMNS: no line of `typed` has more characters, once what was drawn over is gone
widest()
{
    python3 - "$1" <<'EOF'
import re, sys
lines = [re.sub("\x1b\\[[0-9;]*[mK]", "", line.rstrip("\n")).split("\r")[-1] for line in open("typed", encoding="utf-8", newline="\n")]
wide = [line for line in lines if len(line) > int(sys.argv[1])]
sys.exit("\n".join(wide) if wide else 0)
EOF
}

@test "no line is wider than a terminal of 80 columns" {
    needs_terminal
    local words
    "$LAPEDGE" --quality=40 "$photo" other.jpg
    mkdir in
    cp "$photo" in/a.jpg
    cp other.jpg in/b.jpg
    for words in --help "transform --help" "stats --help" "compare --help" "diff --help" "bench --help" "info --help" \
        "doctor --help" "backends --help" "explain --help" backends doctor "info other.jpg" "explain simd" \
        "stats --profiles --threshold=9 other.jpg" "stats in" "-v other.jpg o.jpg" \
        "-v -f in out" "transform -v --rotate=90 in/a.jpg turned.jpg" \
        "compare --runs=1 --backends=c,simd in" "compare --runs=1 --ops=all --backends=simd other.jpg" \
        "bench filter transpose reduce --runs=3 --n=1000 --sizes=64x48 --backends=c,simd"; do
        typed 80 "$words"
        widest 80
    done
    typed 80 "diff '$photo' other.jpg"
    widest 80
    grep -q "^differing pixels " typed
}

@test "backends, doctor and diff fit 40 columns, too" {
    needs_terminal
    typed 40 backends
    widest 40
    grep -q "^  simd-sse41 " typed
    typed 40 doctor
    widest 40
    "$LAPEDGE" --quality=40 "$photo" other.jpg
    typed 40 "diff '$photo' other.jpg"
    widest 40
    { printf 'P5\n64 48\n255\n'; head -c 3072 /dev/zero | tr '\0' 'x'; } >flat.pgm
    typed 60 "stats --profiles flat.pgm"
    widest 60
    [ "$(grep -c "values, no peaks$" typed)" -eq 2 ]
}

@test "columns of the list of backends do not touch" {
    run lapedge backends
    [ "$status" -eq 0 ]
    # A name, what runs for it, and the description behind two spaces.
    awk '/^  [a-z]/ && $2 ~ /^(simd|cuda|c$|openmp)/ { print $2 }' <<<"$output" >states
    [ -s states ]
    while read -r state; do
        grep -q "^  [a-z0-9-]* *$state  " <<<"$output"
    done <states
}
