# Nothing is lost: dry runs, files that are an input and an output, inputs that change, a line that drops.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# The same bytes, time and inode: as if nobody had been there.
untouched() # FILE
{
    cmp "$1" "$photo"
    [ "$(stat -c '%i %y' "$1")" = "$before" ]
}

@test "-n writes nothing: one picture, and in place" {
    cp "$photo" a.jpg
    before=$(stat -c '%i %y' a.jpg)
    expect 0 "" "a.jpg -> a.jpg" -n --in-place a.jpg
    untouched a.jpg
    expect 0 "" "a.jpg -> o.jpg" -n a.jpg o.jpg
    expect 0 "" "a.jpg -> -" -n a.jpg -
    expect 0 "" "" -n -q a.jpg o.jpg
    expect 1 "" "lapedge: none.jpg: no such file" -n none.jpg o.jpg
    expect 2 "" "lapedge: a.jpg: is the input file itself (use --in-place to replace it)" -n ./a.jpg a.jpg
    run --separate-stderr lapedge -n a.jpg none/o.jpg
    [ "$status" -eq 4 ]
    run --separate-stderr lapedge -n a.jpg o.xyz
    [ "$status" -eq 2 ]
    lapedge -n --json a.jpg o.jpg >run.json 2>/dev/null
    json run.json 'o["status"] == "skipped" and o["error"] is None and o["output"] == "o.jpg"'
    expect 2 "" "lapedge: -n writes nothing, and --stats neither: leave one of them out" -n --stats=s.json a.jpg o.jpg
    expect 2 "" "lapedge: -n writes nothing, and --log neither: leave one of them out" -n --log=l.jsonl . out
    for file in o.jpg o.xyz none s.json l.jsonl out; do nothing_left $file; done
}

@test "a picture that standard input or output was redirected from is not replaced" {
    cp "$photo" b.jpg
    before=$(stat -c '%i %y' b.jpg)
    run --separate-stderr lapedge - b.jpg <b.jpg
    [ "$status" -eq 2 ]
    [ "$stderr" = "lapedge: b.jpg: is the input file itself (use --in-place to replace it)" ]
    run --separate-stderr bash -c "'$LAPEDGE' b.jpg - 1<>b.jpg"
    [ "$status" -eq 2 ]
    [ "$stderr" = "lapedge: standard output: is the input file itself (use --in-place to replace it)" ]
    run --separate-stderr bash -c "'$LAPEDGE' - - <b.jpg 1<>b.jpg"
    [ "$status" -eq 2 ]
    untouched b.jpg
}

@test "a hang-up ends a run with 129 and leaves nothing; nohup lets it go on" {
    { printf 'P6\n5000 4000\n255\n'; head -c 60000000 /dev/zero; } >huge.ppm
    env --default-signal=HUP "$LAPEDGE" --threads=1 --backend=c huge.ppm out.jpg 2>err &
    local pid=$!
    sleep 0.3
    kill -HUP $pid
    wait $pid && code=0 || code=$?
    [ "$code" -eq 129 ]
    nothing_left out.jpg
    [ ! -s err ]
    env --ignore-signal=HUP "$LAPEDGE" --no-sync --threads=1 --backend=c huge.ppm out.jpg 2>err &
    pid=$!
    sleep 0.3
    kill -HUP $pid
    wait $pid
    [ -s out.jpg ]
}

@test "an output folder that cannot be looked at is named as the reason" {
    cp "$photo" a.jpg
    ln -s nowhere dangling
    ln -s loop loop
    expect 4 "" "lapedge: dangling: a link that leads nowhere: No such file or directory" a.jpg dangling
    expect 4 "" "lapedge: loop: Too many levels of symbolic links" a.jpg loop
    mkdir in
    cp a.jpg in
    expect 4 "" "lapedge: loop: Too many levels of symbolic links" in loop
    run --separate-stderr lapedge a.jpg edges
    [ "$status" -eq 2 ]
    [[ $stderr == *"the extension names no known format"* ]]
}
