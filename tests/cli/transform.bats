#!/usr/bin/env bats
# Turning pictures, against programs that are not ours.
load common

@test "each turn equals ImageMagick's" {
    command -v convert >/dev/null || skip "ImageMagick is not installed"
    lapedge "$photo" /dev/stdout --kernel=identity --format=ppm >in.ppm
    check() {
        lapedge transform "$1" in.ppm ours.ppm
        # shellcheck disable=SC2086 # words
        convert in.ppm $2 -depth 8 theirs.ppm
        cmp ours.ppm theirs.ppm
    }
    check --flip=h -flop
    check --rotate=180 "-rotate 180"
    check --flip=v -flip
    check --transpose -transpose
    check --rotate=90 "-rotate 90"
    check --transverse -transverse
    check --rotate=270 "-rotate 270"
}

@test "a picture turned four times is itself again" {
    lapedge transform --flip=h "$photo" a.ppm
    cp a.ppm b.ppm
    for _ in 1 2 3 4; do
        lapedge transform --rotate 90 b.ppm c.ppm
        mv c.ppm b.ppm
    done
    cmp a.ppm b.ppm
}

@test "one turn at a time" {
    expect 2 "" "lapedge: --rotate is given twice; use one at a time" transform --rotate=90 --rotate=180 "$photo" o.jpg
    expect 2 "" "lapedge: --flip is given twice; use one at a time" transform --flip=h --flip=v "$photo" o.jpg
    [ ! -e o.jpg ]
}

@test "filter then turn equals turn then filter, for symmetric kernels" {
    for kernel in laplace5 laplace3-4 laplace3-8 log5 npp5 opencv5; do
        for turn in --rotate=90 --flip=v --transverse; do
            lapedge --kernel=$kernel --border=reflect101 "$photo" edges.ppm
            lapedge transform $turn edges.ppm one.ppm
            lapedge transform $turn "$photo" turned.ppm
            lapedge --kernel=$kernel --border=reflect101 turned.ppm two.ppm
            cmp one.ppm two.ppm
        done
    done
}

@test "all eight orientations come upright, and the tag is reset" {
    [ -n "${CORPUS:-}" ] || skip "LAPEDGE_CORPUS is not set"
    command -v convert >/dev/null || skip "ImageMagick is not installed"
    for i in 1 2 3 4 5 6 7 8; do
        file=$CORPUS/exif-orientation-examples/Landscape_$i.jpg
        [ -e "$file" ] || file=$(find "$CORPUS/exif-orientation-examples" -name "*andscape_$i.jpg")
        lapedge transform --auto-orient "$file" ours.ppm
        convert "$file" -auto-orient -depth 8 theirs.ppm
        cmp ours.ppm theirs.ppm
        lapedge transform --auto-orient "$file" ours.jpg
        [ "$(identify -format '%[EXIF:Orientation]' ours.jpg)" = 1 ]
        # a second time nothing is left to turn
        lapedge transform --auto-orient ours.jpg again.ppm
        [ "$(identify -format '%w %h' again.ppm)" = "$(identify -format '%w %h' ours.ppm)" ]
    done
}

@test "pixels stay as stored and the tag stays, unless --auto-orient is given" {
    [ -n "${CORPUS:-}" ] || skip "LAPEDGE_CORPUS is not set"
    command -v identify >/dev/null || skip "ImageMagick is not installed"
    file=$(find "$CORPUS/exif-orientation-examples" -name "*andscape_6.jpg")
    lapedge "$file" kept.jpg
    [ "$(identify -format '%w %h %[EXIF:Orientation]' kept.jpg)" = "$(identify -format '%w %h %[EXIF:Orientation]' "$file")" ]
    lapedge --auto-orient "$file" turned.jpg
    [ "$(identify -format '%h %w' turned.jpg) 1" = "$(identify -format '%w %h' "$file") $(identify -format '%[EXIF:Orientation]' turned.jpg)" ]
}

@test "two turns, or none, are refused" {
    expect 2 "" "lapedge: one of --rotate, --flip, --transpose and --transverse at a time" \
        transform --rotate=90 --transpose "$photo" o.jpg
    expect 2 "" "lapedge: nothing to do: name --rotate, --flip, --transpose, --transverse or --auto-orient" \
        transform "$photo" o.jpg
    expect 2 "" 'lapedge: --rotate: "45" is not one of 90, 180, 270' transform --rotate=45 "$photo" o.jpg
    [ ! -e o.jpg ]
}

@test "filter options are refused by name" {
    run --separate-stderr lapedge transform --rotate=90 --kernel=log5 "$photo" o.jpg
    [ "$status" -eq 2 ]
    [[ $stderr == *--kernel* ]]
}
