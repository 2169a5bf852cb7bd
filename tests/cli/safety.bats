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
    expect 0 "a.jpg -> a.jpg" "" -n --in-place a.jpg
    untouched a.jpg
    expect 0 "a.jpg -> o.jpg" "" -n a.jpg o.jpg
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
    expect 2 "" "lapedge: --dry-run writes nothing; leave out --stats" -n --stats=s.json a.jpg o.jpg
    expect 2 "" "lapedge: --dry-run writes nothing; leave out --log" -n --log=l.jsonl . out
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
    struck 129 HUP --threads=1 --backend=c huge.ppm out.jpg
    nothing_left out.jpg
    [ "$(cat err)" = "lapedge: cancelled" ]
    env --ignore-signal=HUP "$LAPEDGE" --no-sync --threads=1 --backend=c huge.ppm out.jpg 2>err &
    local pid=$!
    ! begun $pid || kill -HUP $pid || true
    wait $pid
    [ -s out.jpg ]
}

@test "a signal that was ignored at the start stays ignored" {
    { printf 'P6\n5000 4000\n255\n'; head -c 60000000 /dev/zero; } >huge.ppm
    local number pid
    for number in INT TERM QUIT HUP; do
        rm -f out.jpg
        env --ignore-signal=$number "$LAPEDGE" --no-sync --threads=1 --backend=c huge.ppm out.jpg 2>err &
        pid=$!
        ! begun $pid || kill -$number $pid || true
        wait $pid
        [ -s out.jpg ]
        [ ! -s err ]
    done
}

@test "an output folder that cannot be looked at is named as the reason" {
    cp "$photo" a.jpg
    ln -s nowhere dangling
    ln -s loop loop
    expect 4 "" "lapedge: dangling: a broken symbolic link: No such file or directory" a.jpg dangling
    expect 1 "" "lapedge: dangling: a broken symbolic link" dangling out.jpg
    mkdir linked && ln -s nothing.jpg linked/b.jpg
    expect 4 "" "lapedge: linked/b.jpg: a broken symbolic link" -q --follow linked out
    expect 4 "" "lapedge: loop: Too many levels of symbolic links" a.jpg loop
    mkdir in
    cp a.jpg in
    expect 4 "" "lapedge: loop: Too many levels of symbolic links" in loop
    run --separate-stderr lapedge a.jpg edges
    [ "$status" -eq 2 ]
    [[ $stderr == *"no extension names the format"*"or end a folder's name with /" ]]
}

@test "a system error says which action failed" {
    cp "$photo" a.jpg
    mkdir in
    cp a.jpg in
    run --separate-stderr lapedge in "$(printf 'x%.0s' {1..300})"
    [[ $status -eq 4 && $stderr == "lapedge: "*"x: cannot create this folder: File name too long" ]]
    expect 4 "" "lapedge: .: this list cannot be read: Is a directory" --files-from=. out
    expect 4 "" "lapedge: --log: .: cannot be opened: Is a directory" --log=. in out
    expect 2 "" "lapedge: --weights: none: cannot be read: No such file or directory" stats --profiles --weights=none a.jpg
    [ ! -e out ]
}

# refused WORD...: exit 2, and every photo as it was
refused()
{
    run --separate-stderr lapedge "$@"
    [ "$status" -eq 2 ] || { printf 'exit %s: %s\n%s\n' "$status" "$*" "$stderr"; return 1; }
    [ -z "$(find . -name '.lapedge*')" ]
    untouched a.jpg
}

@test "a place for a side file that cannot be reached is called so, and nothing is done" {
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    ln -s loop loop
    mkdir in
    cp a.jpg in
    local problem="a.jpg/x: cannot write: Not a directory"
    expect 4 "" "lapedge: --stats: $problem" --stats=a.jpg/x a.jpg o.jpg
    expect 4 "" "lapedge: --log: $problem" in out --log=a.jpg/x
    expect 4 "" "lapedge: --json-file: $problem" stats --json-file=a.jpg/x a.jpg
    expect 2 "" "lapedge: --heatmap: ${problem/x/x.png}" diff --heatmap=a.jpg/x.png a.jpg b.jpg
    expect 2 "" "lapedge: --json-file: $problem" compare --backends=c --json-file=a.jpg/x a.jpg
    expect 4 "" "lapedge: --trace: loop/x: cannot write: Too many levels of symbolic links" in out --trace=loop/x
    [ ! -e o.jpg ]
    [ ! -e out ]
}

@test "a side file elsewhere that cannot be written ends a run before it makes OUTDIR; one in OUTDIR does not" {
    pgm 40 30 tiny.pgm
    mkdir in
    lapedge tiny.pgm in/a.jpg
    for option in report=no/r.html json-file=no/r.json trace=no/t.json; do
        expect 4 "" "lapedge: --${option%%=*}: ${option#*=}: cannot create a file in its folder: No such file or directory" \
            "--$option" in out
        [ ! -e out ]
    done
    ln -s out link
    lapedge -q --report=link/r.html --json-file=./out/r.json --trace="$PWD/out/t.json" in out
    [ -s out/r.html ]
    [ -s out/r.json ]
    [ -s out/t.json ]
}

@test "records need a folder: a file named .lapedge is called one" {
    pgm 40 30 tiny.pgm
    mkdir in out
    lapedge tiny.pgm in/a.jpg
    echo mine >out/.lapedge
    expect 4 "" "lapedge: out/.lapedge: is not a folder, and lapedge keeps its records there" in out
    [ "$(ls -A out)" = .lapedge ]
    rm out/.lapedge
    ln -s ../in out/.lapedge
    expect 4 "" "lapedge: out/.lapedge: is a symbolic link, which is not followed here; remove it first" -q in out
}

@test "text that goes to standard output is never appended to an input" {
    cp "$photo" a.jpg
    mkdir in
    cp "$photo" in/b.jpg
    # appends FILE CODE MESSAGE WORD...
    appends()
    {
        local code=0
        "$LAPEDGE" "${@:4}" >>"$1" 2>err <a.jpg || code=$?
        [ "$code" -eq "$2" ]
        [ "$(cat err)" = "lapedge: $3" ]
        cmp "$1" "$photo"
    }
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" a.jpg o.jpg --json
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" - o.jpg --json
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" --in-place a.jpg --json
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" stats a.jpg
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" info a.jpg
    appends a.jpg 2 "standard output is redirected to the input, and text would be written into it" -n a.jpg o.jpg
    # A folder run looks itself for inputs that do not begin like an image.
    echo in/b.jpg >list
    echo no image | tee in/b.jpg >no.jpg
    local photo=no.jpg
    appends in/b.jpg 2 "/dev/stdout: is one of the inputs" -q in out --json
    appends in/b.jpg 2 "/dev/stdout: is one of the inputs" -q in out -n
    appends in/b.jpg 2 "/dev/stdout: is one of the photos" -q --in-place --files-from=list --json
    nothing_left o.jpg
    cp a.jpg in/b.jpg
    echo "$PWD/in/b.jpg" | lapedge -q --files-from=- out --log=/dev/stdout >log.jsonl # neither is the other
    [ "$(wc -l <log.jsonl)" -eq 2 ]
    lapedge -q --files-from=list out --json >>list && return 1
    [ "$(cat list)" = in/b.jpg ]
}

@test "nothing is appended to an image" {
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    mkdir in
    cp "$photo" in/a.jpg
    # appends MESSAGE WORD...
    appends()
    {
        local code=0
        "$LAPEDGE" "${@:2}" >>b.jpg 2>err || code=$?
        [ "$code" -eq 2 ]
        [ "$(cat err)" = "lapedge: standard output is redirected to $PWD/b.jpg, $1" ]
        cmp b.jpg "$photo"
    }
    local text="which is not text and would be damaged" image="which is not empty; name the output, or use > to replace what is there"
    for words in "stats a.jpg" "stats --json a.jpg" "info a.jpg" "diff a.jpg a.jpg" "backends --json" "doctor" \
        "explain c" "help stats" "-h" "--help" "--version" "-n a.jpg o.jpg" "--json a.jpg o.jpg" \
        "--json-file=- a.jpg o.jpg" "-q --sandbox in out --log=/dev/stdout" "--in-place --json a.jpg" "compare a.jpg" \
        "in out --json" "in out -n"; do
        # shellcheck disable=SC2086 # words
        appends "$text" $words
    done
    cmp a.jpg "$photo"
    nothing_left o.jpg out
    appends "$image" a.jpg -
    appends "$image" transform --flip=h a.jpg -
    # Nothing is printed, or it goes elsewhere.
    lapedge -v a.jpg o.jpg >>b.jpg 2>err
    lapedge stats --json-file=s.json a.jpg >s.txt
    cmp b.jpg "$photo"
    lapedge stats a.jpg >b.jpg
    [[ $(cat b.jpg) == *entropy* ]]
    # Several images in one file: a stream of JPEGs, and a PNM.
    for format in jpeg ppm; do
        lapedge --format=$format a.jpg - >film.m$format
        lapedge --format=$format a.jpg - >>film.m$format
        cmp film.m$format <(lapedge --format=$format a.jpg - && lapedge --format=$format a.jpg -)
    done
    lapedge --format=ppm a.jpg - >two.ppm
    lapedge --format=ppm a.jpg - >>two.ppm
    cmp two.ppm film.mppm
}

@test "an image is appended to nothing but images of its format, and text to nothing but text" {
    cp "$photo" a.jpg
    # appended CODE FILE CONTENT WORD...: CONTENT is still there, and alone if CODE is not 0
    appended()
    {
        local code=0
        printf "$3" >old
        cp old "$2"
        "$LAPEDGE" "${@:4}" >>"$2" 2>err || code=$?
        [ "$code" -eq "$1" ] || { printf '%s: %s\n' "$code" "$*"; return 1; }
        cmp -n "$(stat -c %s old)" old "$2"
        [ "$1" -eq 0 ] || cmp old "$2"
    }
    local content
    for content in 'RIFF\0\0\0\0WEBPVP8 ' 'BM\0\0' 'II*\0' 'GIF89a\1\0' 'FUJIFILM\0' '\0' '\2'; do
        appended 2 photo.webp "$content" a.jpg -
        appended 2 photo "$content" --format=png a.jpg -
        appended 2 photo "$content" --format=tsv a.jpg -
        appended 2 photo "$content" stats a.jpg
        appended 2 photo "$content" --version
        appended 2 photo "$content" stats --json a.jpg none.jpg
        appended 2 photo "$content" stats --json --wrong a.jpg # an error is JSON, too
    done
    for content in 'notes\n' '\33[1mbold\33[m\a\b\f\v\r\n' 'caf\303\251' '{"schema":'; do
        appended 2 notes.txt "$content" a.jpg -
        appended 2 notes.txt "$content" --format=bmp a.jpg -
        appended 0 notes.txt "$content" --format=tsv a.jpg -
        appended 0 notes.txt "$content" stats a.jpg
        appended 0 notes.txt "$content" --json a.jpg o.jpg
    done
    # A stream has one format.
    appended 2 film.mjpeg '\211PNG\r\n\32\n' a.jpg -
    appended 2 film.mjpeg 'P6 1 1 255\n000' a.jpg -
    appended 0 film.mbmp 'BM\0\0' --format=bmp a.jpg -
    appended 2 film.bmp 'BM\0\0' --format=bmp a.jpg -
    # After a > all that is there comes from the same command.
    { echo header; lapedge a.jpg -; } >mine
    cmp mine <(echo header; lapedge a.jpg -)
    echo something long >mine
    "$LAPEDGE" a.jpg - 1<>mine 2>err && return 1
    [ "$(cat mine)" = "something long" ]
}

@test "- is standard output, also beside a file of that name and among records" {
    lapedge "$photo" plain.jpg
    mkdir -p there/.lapedge
    echo mine >there/-
    echo mine >there/.lapedge/-
    for folder in there there/.lapedge; do
        (cd $folder && lapedge "$photo" -) >out.jpg
        cmp out.jpg plain.jpg
        [ "$(cat $folder/-)" = mine ]
    done
}

@test "what is written besides OUT is never an input, OUT or a list, through links neither" {
    cp "$photo" a.jpg
    cp "$photo" b.png
    before=$(stat -c '%i %y' a.jpg)
    ln -s a.jpg link.json
    ln a.jpg hard.json
    mkdir in
    ln a.jpg in/a.jpg
    for side in a.jpg ./a.jpg link.json hard.json; do
        refused --stats=$side a.jpg o.jpg
        refused --stats=$side - o.jpg <a.jpg
        refused in o --log=$side
        refused -f in o --log=$side
        refused -n in o --log=$side
        refused --in-place --stats=$side a.jpg
        refused stats --report=$side a.jpg
    done
    expect 2 "" "lapedge: --stats: o.jpg is the output" --stats=o.jpg a.jpg o.jpg
    expect 2 "" "lapedge: --stats: ./o.jpg is the output" --stats=./o.jpg a.jpg o.jpg # not there yet
    expect 2 "" "lapedge: --log: in/new.jpg lies in the input in and is named like an image; name another file" in o --log=in/new.jpg
    mkdir -p out/.lapedge
    expect 2 "" "lapedge: out/a.jpg: is one of the outputs" in out --log=out/a.jpg
    expect 2 "" "lapedge: out/.lapedge/x.jsonl: lies in the folder of lapedge's own records" \
        in out --log=out/.lapedge/x.jsonl
    [ -z "$(find out -type f)" ]
    [ ! -e o ]
    [ ! -e in/new.jpg ]
    echo a.jpg >list
    expect 2 "" "lapedge: --log: list is the list of inputs" --files-from=list o --log=list
    expect 2 "" "lapedge: --log: list is the list of inputs" --files-from=- o --log=list <list
    [ "$(cat list)" = a.jpg ]
    seq 25 >k.txt
    expect 2 "" "lapedge: --stats: k.txt is the kernel" --kernel=k.txt --stats=k.txt a.jpg o.jpg
    [ "$(wc -l <k.txt)" -eq 25 ]
    mkdir pictures
    cp "$photo" pictures/0.jpg
    cp "$photo" pictures/x.png
    cp "$photo" pictures/z.jpg
    ln pictures/z.jpg map.png
    expect 2 "" "lapedge: --heatmap: map.png is the input" compare --heatmap=map.png --backends=c pictures
    expect 2 "" "lapedge: --heatmap: b.png is the input" diff --heatmap=b.png a.jpg b.png
    expect 2 "" "lapedge: --report: p.html is the input" bench --report=p.html --image=p.html
    cmp pictures/z.jpg "$photo"
}

@test "statistics, reports and heat maps are replaced whole, through a link its target; no list is cut" {
    local old='{"schema":"lapedge.stats/1"}' page='<!doctype html><title>lapedge stats: old</title>'
    echo "$old" >old.json
    ln -s old.json link.json
    ln old.json hard.json
    lapedge --no-sync --stats=link.json "$photo" o.jpg
    [ -L link.json ]
    json old.json 'o["schema"] == "lapedge.stats/1"'
    [ "$(cat hard.json)" = "$old" ] # another file of that name took its place
    echo "$page" >report.html
    ln report.html kept.html
    lapedge stats --report=report.html "$photo" >/dev/null
    grep -q '</html>' report.html
    [ "$(cat kept.html)" = "$page" ]
    lapedge --no-sync --stats=/dev/stdout "$photo" o.jpg | grep -q lapedge.stats/1
    rm o.jpg
    expect 4 "" "lapedge: --stats: none/s.json: cannot create a file in its folder: No such file or directory" \
        --no-sync --stats=none/s.json "$photo" o.jpg
    expect 4 "" "lapedge: --json-file: .: cannot write: a folder, not a file" --json-file=. "$photo" o.jpg
    expect 2 "" "lapedge: --heatmap: none/h.png: cannot create a file in its folder: No such file or directory" \
        diff --heatmap=none/h.png "$photo" "$photo"
    [ ! -e o.jpg ]
    [ -z "$(find . -name '.lapedge-*')" ]
}

@test "a log is begun when the run begins, and every line is whole" {
    mkdir in
    cp "$photo" in/a.jpg
    echo '{"schema":"lapedge.log/1","old":1}' >log.jsonl
    expect 2 "" "lapedge: in: is the input and the output folder; name another one" in in --log=log.jsonl
    expect 2 "" "lapedge: in: is the input and the output folder; name another one" in in --log=new.jsonl
    [ "$(cat log.jsonl)" = '{"schema":"lapedge.log/1","old":1}' ]
    [ ! -e new.jsonl ]
    lapedge -q --no-sync in out --log=log.jsonl
    [ "$(wc -l <log.jsonl)" -eq 2 ]
    tail -n 1 log.jsonl >line
    json line 'o["status"] == "ok"'
    # A run that is stopped before its first photo is done leaves no older one's lines.
    mkdir many
    for i in 1 2 3 4; do cp "$repo/samples/seeding.jpg" many/$i.jpg; done
    "$LAPEDGE" -q -j1 --threads=1 --log=log.jsonl many late & # the signal is for the program, not for a shell
    while grep -q in/a.jpg log.jsonl && kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -TERM $! || true # it may be done
    wait $! || [ $? -eq 143 ]
    [[ $(cat log.jsonl) != *in/a.jpg* ]]
    mkdir empty
    lapedge -q empty out --log=none.jsonl || [ $? -eq 4 ]
    json none.jsonl 'o["schema"] == "lapedge.log/1"'
    lapedge --no-sync -f in out --log=/dev/full 2>err || [ $? -eq 1 ]
    grep -q 'lapedge: /dev/full: the log could not be written: No space left on device' err
    expect 4 "" "lapedge: --log: none/log: cannot be opened: No such file or directory" in out --log=none/log
}

# side OPTION WHAT OR WORD...: OPTION of "lapedge WORD..." leaves files of others alone, before it writes anything; it
# fills an empty file, and replaces its own
side()
{
    local option=$1 what=$2 or=$3 file=side${1##*=}
    shift 3
    for content in '<x:xmpmeta xmlns:x="adobe:ns:meta/"/>' '#!/bin/sh' '{"schema":"lapedge.manifest/1"}' '{"schema":1}' '{' \
        $'\x89PNG\r' ' '; do
        printf '%s' "$content" >"$file"
        rm -rf out o.jpg
        expect 2 "" "lapedge: ${option%=*}: $file exists and is not $what that lapedge wrote; name another file, or $or" \
            "${option%=*}=$file" "$@"
        [ "$(cat "$file")" = "$content" ]
        [ ! -e out ]
        [ ! -e o.jpg ]
    done
    : >"$file"
    lapedge "${option%=*}=$file" "$@" >/dev/null
    cp "$file" kept
    [ -s "$file" ]
    lapedge "${option%=*}=$file" "$@" >/dev/null
    echo mine >"$file"
    lapedge -f "${option%=*}=$file" "$@" >/dev/null
    [ "$(head -c 30 "$file" | base64)" = "$(head -c 30 kept | base64)" ]
}

@test "what is written beside OUT replaces an empty file and its own kind, and nothing else without -f" {
    mkdir in
    pgm 40 30 tiny.pgm
    lapedge --no-sync tiny.pgm in/a.jpg
    lapedge --no-sync --invert tiny.pgm b.jpg
    local f='give -f to replace it' r='remove it'
    side --stats=.s "statistics" "$f" --no-sync in/a.jpg o.jpg
    side --json-file=.j "JSON" "$f" --no-sync in/a.jpg o.jpg
    side --json-file=.j "JSON" "$f" info in/a.jpg
    side --json-file=.j "JSON" "$f" info "$photo"
    side --json-file=.j "JSON" "$r" -q --no-sync in out
    side --report=.html "a report" "$f" --no-sync in/a.jpg o.jpg
    side --report=.html "a report" "$f" stats in/a.jpg
    side --report=.html "a report" "$f" compare --backends=c in/a.jpg
    side --report=.html "a report" "$r" -q --no-sync in out
    side --heatmap=.png "a heat map" "$f" compare --backends=c in/a.jpg
    side --log=.l "a log" "$r" -q --no-sync in out
    side --trace=.t "a timeline" "$r" -q --no-sync in out
    # each option replaces its own kind only
    expect 2 "" "lapedge: --log: side.s exists and is not a log that lapedge wrote; name another file, or remove it" \
        --log=side.s in out2
    [ -s side.s ]
    [ ! -e out2 ]
    # a picture is no heat map; a heat map is replaced
    lapedge --no-sync in/a.jpg photo.png
    cp photo.png kept.png
    expect 2 "" "lapedge: --heatmap: photo.png exists and is not a heat map that lapedge wrote; name another file, \
or give -f to replace it" diff --heatmap=photo.png in/a.jpg b.jpg
    cmp photo.png kept.png
    lapedge diff --heatmap=map.png in/a.jpg b.jpg >/dev/null || [ $? -eq 1 ]
    lapedge diff --heatmap=map.png in/a.jpg b.jpg >/dev/null || [ $? -eq 1 ]
    # standard output is appended to, never cut
    echo first >all
    lapedge -q --no-sync --log=/dev/stdout in out3 >>all
    [ "$(head -n 1 all)" = first ]
    [ "$(wc -l <all)" -eq 3 ]
}

# photos FOLDER: two small ones, one in a folder
photos()
{
    mkdir -p "$1/sub"
    pgm 40 30 tiny.pgm
    lapedge --no-sync tiny.pgm "$1/a.jpg"
    cp "$1/a.jpg" "$1/sub/b.jpg"
}

last() # CODE START WORD...: a run over folders, its exit code and how its last line begins
{
    local code=$1 start=$2
    shift 2
    run --separate-stderr lapedge --no-sync "$@"
    [ "$status" -eq "$code" ] && [[ ${stderr##*$'\n'} == "$start"* ]] || {
        printf 'exit %s, expected %s\n%s\n' "$status" "$code" "$stderr"
        return 1
    }
}

@test "an edge map that somebody changed is left alone; one that was moved, copied or touched is known" {
    photos in
    last 0 "2 done" in out
    cp out/a.jpg made.jpg
    echo retouched >out/a.jpg
    for settings in "" --quality=50; do
        [ -z "$settings" ] || rm out/sub/b.jpg
        last 1 "" in out $settings
        [[ $stderr == *"lapedge: out/a.jpg: exists and was changed since lapedge made it; -f replaces it"* ]]
        [ "$(cat out/a.jpg)" = retouched ]
    done
    head -c "$(stat -c %s made.jpg)" /dev/urandom >out/a.jpg # as long as it was
    last 1 "0 done, 1 up to date, 1 left alone" in out --quality=50
    last 0 "2 done" in again
    cp -r again copy
    touch again/a.jpg copy/a.jpg
    last 0 "0 done, 2 up to date" in again
    last 0 "0 done, 2 up to date" in copy
    cp -p again/a.jpg save && mv save again/a.jpg # another inode
    last 0 "0 done, 2 up to date" in again
    last 0 "2 done" in again --quality=50 # and is ours to replace
    last 0 "1 done" -f in/a.jpg out # -f replaces what was changed
    cmp out/a.jpg made.jpg
}

@test "a begin line alone makes no file ours; lines of older versions count by size" {
    photos in
    last 0 "2 done" in out
    hash=$(sed -n 's/.*"settings":"\([0-9a-f]*\)".*/\1/p' out/.lapedge/*.jsonl | head -n 1)
    size=$(stat -c %s out/a.jpg)
    rm out/.lapedge/*
    echo mine >out/sub/b.jpg
    for name in a.jpg sub/b.jpg; do
        printf '{"schema":"lapedge.manifest/1","event":"begin","output":"%s","settings":"%s"}\n' $name "$hash"
    done >out/.lapedge/20250101T000000.000000000-x-1.jsonl
    printf '{"schema":"lapedge.manifest/1","event":"done","output":"a.jpg","settings":"%s","input":"in/a.jpg","input_size":%s,"input_mtime_s":1,"input_mtime_ns":0,"output_size":%s}\n' \
        "$hash" "$(stat -c %s in/a.jpg)" "$size" >>out/.lapedge/20250101T000000.000000000-x-1.jsonl
    touch -d @1 in/a.jpg
    last 1 "0 done, 1 up to date, 1 left alone" in out
    [ "$(cat out/sub/b.jpg)" = mine ]
}

# What happens while a photo is worked on: meanwhile COMMAND -- WORD... The run stands still for it. A run that was
# done before is begun again; so is one that ends with $late, which means that COMMAND came after its last look.
late=
meanwhile()
{
    local command=$1 pid
    shift 2
    for _ in {1..20}; do
        [ -e large.ppm ] || { printf 'P6\n5000 3000\n255\n'; head -c 45000000 /dev/zero; } >large.ppm
        "$LAPEDGE" --no-sync --backend=c --threads=1 "$@" 2>err &
        pid=$!
        if standing $pid; then
            "$command"
            kill -CONT $pid
            code=0
            wait $pid || code=$?
            [ "$code" = "$late" ] || return 0
            rm large.ppm
        else
            kill -CONT $pid 2>/dev/null || true
            wait $pid
        fi
        find out ! -type d -delete
    done
    return 1
}

@test "a file that appears under an output's name during the run stays" {
    mkdir out
    put() { echo mine >out/large.ppm; }
    meanwhile put -- large.ppm out
    [ "$code" -eq 1 ]
    grep -q 'out/large.ppm: exists and was not made by lapedge; -f replaces it' err
    [ "$(cat out/large.ppm)" = mine ]
    [ -z "$(find out -name '.lapedge-*')" ]
}

@test "an input that is rewritten while it is read is a failure: changed" {
    mkdir out
    grow() { echo x >>large.ppm; }
    late=0
    meanwhile grow -- large.ppm out --log=log.jsonl
    [ "$code" -eq 4 ]
    grep -q 'lapedge: large.ppm: changed while it was read' err
    tail -n 1 log.jsonl >line
    json line 'o["error"]["kind"] == "changed"'
    [ -z "$(find out -type f -not -path '*/.lapedge/*')" ]
    meanwhile grow -- large.ppm out/large.ppm
    [ "$code" -eq 1 ]
    shrink() { truncate -s 1000 large.ppm; } # then the data end early, and that is why
    meanwhile shrink -- large.ppm out/large.ppm
    [ "$code" -eq 1 ]
    grep -q 'lapedge: large.ppm: changed while it was read' err
    [ ! -e out/large.ppm ]
}

@test "links below OUTDIR are not followed: they are left alone, and named" {
    photos in
    mkdir elsewhere out records
    ln -s ../elsewhere out/sub
    ln -s out way
    for force in "" -f; do
        last 1 "" in way $force
        [[ $stderr == *"lapedge: way/sub: is a symbolic link, which is not followed here; remove it first"* ]]
        [ -z "$(ls elsewhere)" ]
        [ -f out/a.jpg ]
    done
    ln -s /etc/passwd out/.lapedge/x.jsonl
    ln -s nowhere out/.lapedge/y.jsonl
    rm out/sub
    last 0 "1 done, 1 up to date" in way
    mv out/.lapedge records/old
    ln -s ../records out/.lapedge
    last 4 "" in out
    [[ $stderr == *"lapedge: out/.lapedge: is a symbolic link, which is not followed here; remove it first"* ]]
    [ "$(ls records)" = old ]
}

@test "a link that is put in the way during the run leads nowhere" {
    mkdir -p list/sub out elsewhere
    printf 'P6\n5000 3000\n255\n' >large.ppm
    head -c 45000000 /dev/zero >>large.ppm
    ln large.ppm list/sub/large.ppm
    swap() { mv out/sub moved; ln -s ../elsewhere out/sub; }
    mkdir out/sub
    meanwhile swap -- list/sub/large.ppm out/sub # OUTDIR itself is found once
    [ "$code" -eq 0 ]
    [ -f moved/large.ppm ]
    [ -z "$(ls elsewhere)" ]
    rm -rf out moved
    mkdir out sub
    ln large.ppm sub
    echo sub/large.ppm >names
    meanwhile swap -- --files-from=names out
    [ "$code" -eq 1 ]
    grep -q 'out/sub: is a symbolic link' err
    [ -z "$(ls elsewhere)" ]
}

@test "64 descriptors are enough for any tree" {
    for i in {1..150}; do mkdir -p "in/$i/$i/$i"; done
    pgm 40 30 tiny.pgm
    lapedge --no-sync tiny.pgm in/0.jpg
    for i in {1..150}; do ln in/0.jpg "in/$i/$i/$i/a.jpg"; done
    (ulimit -n 64; lapedge --threads=64 -j64 in out 2>err)
    grep -q '^151 done' err
    (ulimit -n 64; lapedge --threads=64 in out 2>err)
    grep -q '^0 done, 151 up to date' err
}

# interrupted HOW: interrupts a folder run that waits for the reader of its log and has finished outputs without their
# names. "quit": Ctrl-\. "again": once more and once more, until it ends. "twice": two signals of one Ctrl-C, then the log is read.
interrupted()
{
    python3 - "$LAPEDGE" "$1" "$(step_clock)" <<'PYTHON'
import glob, os, select, signal, subprocess, sys, threading, time
program, how, clock = sys.argv[1:]
environment = dict(os.environ)
if how == "twice" and clock:
    environment["LD_PRELOAD"] = clock  # by which no time passes between two signals, however busy the machine is
os.mkdir(how)
os.mkdir(how + "/in")
for i in range(300):
    with open(f"{how}/in/{i}.pgm", "wb") as f:
        f.write(b"P5\n8 8\n255\n" + bytes([i % 256]) * 64)
os.mkfifo(how + "/log")
log = os.open(how + "/log", os.O_RDWR)

def default_signals():  # which a shell in the background ignores
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

run = subprocess.Popen([program, "--no-sync", "--ext=pgm", "--format=jpg", f"--log={how}/log", how + "/in", how + "/out"],
                       stderr=subprocess.PIPE, env=environment, preexec_fn=default_signals)

def temporary():
    return glob.glob(how + "/out/.lapedge-*.tmp")

def interrupt():
    """Sends a signal; returns when a thread of the program has taken it, or the program has ended."""
    run.send_signal(signal.SIGINT)
    while run.poll() is None:
        with open(f"/proc/{run.pid}/status") as f:
            pending = [int(line.split()[1], 16) for line in f if line.startswith(("ShdPnd", "SigPnd"))]
        if not any(p >> signal.SIGINT - 1 & 1 for p in pending):
            return
        time.sleep(0.001)

def is_asleep():
    """All threads wait: none is creating a file, for which a run that ends waits only a tenth of a second."""
    try:
        states = [open(path).read().rsplit(")", 1)[1].split()[0] for path in glob.glob(f"/proc/{run.pid}/task/*/stat")]
    except OSError:  # a thread has ended
        return False
    return set(states) == {"S"}

while select.select([], [log], [], 0)[1] or not temporary() or not is_asleep():  # until nobody can go on
    assert run.poll() is None, (run.returncode, run.stderr.read())
    time.sleep(0.01)
assert temporary()
if how == "quit":
    run.send_signal(signal.SIGQUIT)
    print("quit", "ended" if run.wait() in (-3, 131) else run.returncode, len(temporary()))
    sys.stdout.flush()
    os._exit(0)
interrupt()
if how == "again":
    while run.poll() is None:
        interrupt()
        time.sleep(0.05)
    print("again", "ended" if run.returncode in (-2, 130) else run.returncode, len(temporary()))
else:
    interrupt()
    def read():
        while os.read(log, 65536):
            pass
    threading.Thread(target=read, daemon=True).start()
    said = run.stderr.read().decode()
    code = run.wait()
    good = code in (0, 130) and " done" in said or not clock and code == -2  # 0: all were done before
    print("twice", "good" if good else (code, said), len(temporary()))
sys.stdout.flush()
os._exit(0)
PYTHON
}

@test "a second Ctrl-C ends a run that is stuck, and leaves no temporary files" {
    run interrupted again
    [ "$output" = "again ended 0" ]
}

@test "Ctrl-\\ ends a run at once, and leaves no temporary files" {
    run interrupted quit
    [ "$output" = "quit ended 0" ]
}

@test "two signals of one Ctrl-C are one request: the run ends cleanly" {
    run interrupted twice
    [ "$output" = "twice good 0" ]
}
