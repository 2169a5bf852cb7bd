# What a folder run takes, what it does not, and under which names outputs stand.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# A small JPEG: tiny FILE
tiny()
{
    mkdir -p "$(dirname "$1")"
    [ -e "$BATS_FILE_TMPDIR/tiny.jpg" ] || { pgm 24 16 t.pgm && lapedge -q t.pgm "$BATS_FILE_TMPDIR/tiny.jpg"; }
    cp "$BATS_FILE_TMPDIR/tiny.jpg" "$1"
}

# The outputs below a folder, in a line.
outputs()
{
    (cd "$1" && find . -type f ! -path '*/.lapedge/*' | sed 's,^\./,,' | sort | paste -sd' ')
}

@test "the summary and --json name the files that were not taken" {
    tiny in/a.jpg
    tiny in/sub/b.JPG
    touch in/x.heic in/sub/y.HEIC in/z.mov in/.DS_Store in/notes
    run --separate-stderr lapedge --json in out
    [ "$status" -eq 0 ]
    [[ $stderr == *"lapedge: 4 other files not taken: "*"2 .heic"* ]]
    [[ $stderr == *"1 .mov"* && $stderr == *"1 without extension"* ]]
    json <(echo "$output") 'o["not_taken"] == {"files": 4, "output_folders": 0, "outputs": 0,
        "apple_doubles": 0, "photos_in_outdir": 0, "left_in": [], "kinds": {"heic": 2, "mov": 1, "": 1}, "unused_patterns": []}'
    expect 0 "" "" -q in out
}

@test "AppleDouble files of macOS are counted, not taken and not failed" {
    tiny in/a.jpg
    tiny in/._b.jpg # a photo of that name
    mkdir in/sub
    printf '\0\005\026\a\0\002\0\0Mac OS X        ' | tee in/._a.jpg in/._c.mov >in/sub/._d.png
    printf '\0\005\026\a' >in/e.txt
    echo text >in/._f.jpg
    local told="lapedge: 3 AppleDouble files not taken: macOS keeps metadata in ._NAME, not photos"
    run --separate-stderr lapedge --json in out
    [ "$status" -eq 0 ]
    [ "$(outputs out)" = "._b.jpg a.jpg" ]
    [[ $stderr == "lapedge: 1 other file not taken: 1 .txt"$'\n'"$told"$'\n'"2 done; "* ]]
    json <(echo "$output") '(o["expected"], o["failed"], o["not_taken"]["apple_doubles"], o["not_taken"]["files"]) == (2, 0, 3, 1)'
    run --separate-stderr lapedge diff in out
    [[ $stderr == *"$told"* ]]
    # A list, as find makes it, has them, too.
    find in -name '*.jpg' ! -name '._f*' >list
    run --separate-stderr lapedge --files-from=list listed
    [ "$status" -eq 0 ]
    [[ $stderr == "${told/3 AppleDouble files/1 AppleDouble file}"$'\n'"2 done; "* ]]
    run --separate-stderr lapedge stats --files-from=list
    [ "$status" -eq 0 ]
    expect 1 "" "lapedge: in/._a.jpg: unsupported: an AppleDouble file, metadata that macOS keeps beside a photo; \
JPEG, PNG and binary PNM are read" in/._a.jpg x.jpg
}

@test "--ext and --include take other kinds, --exclude leaves out" {
    tiny in/a.jpg
    tiny in/raw/b.jpg
    tiny in/raw/deep/c.jpg
    pgm 9 9 in/d.pgm
    lapedge --kernel=identity in/a.jpg in/e.PNG
    lapedge -q --ext=jpg,.png in one
    [ "$(outputs one)" = "a.jpg e.PNG raw/b.jpg raw/deep/c.jpg" ]
    lapedge -q --ext=pgm --format=jpg in two
    [ "$(outputs two)" = "d.jpg" ]
    lapedge -q --include='*.p*' in three
    [ "$(outputs three)" = "d.pgm e.PNG" ]
    lapedge -q --include='raw/*' --exclude=deep in four
    [ "$(outputs four)" = "raw/b.jpg" ]
    lapedge -q --exclude=raw --exclude='A.*' in five || [ $? -eq 4 ]
    [ "$(outputs five)" = "" ]
    lapedge -q --include='*' --exclude='*.pgm' --ext=png,pgm in six
    [ "$(outputs six)" = "e.PNG" ]
    # What cannot be read is not taken, whatever pattern it matches; nor can it be asked for.
    touch in/a.xmp in/a.cr2 in/a
    run --separate-stderr lapedge --include='A*' in seven
    [ "$status" -eq 0 ]
    [ "$(outputs seven)" = "a.jpg" ]
    [[ $stderr == *"1 .xmp"* && $stderr == *"1 .cr2"* ]]
    expect 2 "" 'lapedge: files with the extension "heic" cannot be read, only those with jpg,jpeg,jpe,jfif,png,ppm,pgm,pnm' \
        --ext=jpg,heic in eight
    [ ! -e eight ]
    expect 2 "" 'lapedge: files with the extension "cr2" cannot be read, only those with jpg,jpeg,jpe,jfif,png,ppm,pgm,pnm' \
        --include='*.JPG' --include='raw/*.cr2' in eight
    [ ! -e eight ]
    run --separate-stderr lapedge --include='*.{jpg,png}' in eight
    [ "$status" -eq 4 ]
    [[ $stderr == *"--include=*.{jpg,png} matches nothing (braces are matched literally; repeat the option for each pattern)"* ]]
    [ ! -e eight ] # nothing was to be written there
    expect 2 "" "lapedge: --include applies only to folders, and --files-from names files" --include='*' --files-from=list out
    expect 2 "" "lapedge: --include applies only to folders, and in/a.jpg is not one" --include='b*' in/a.jpg in/d.pgm new/
    lapedge -q --include='b*' in/d.pgm in nine # of the folder
    [ "$(outputs nine)" = "d.pgm raw/b.jpg" ]
}

@test "patterns: ./ before them, slashes behind, the folder's own name; what matches nothing is reported" {
    tiny in/top.jpg
    tiny in/2024/a.jpg
    tiny in/may/b.jpg
    tiny in/2024/may/c.jpg
    local pattern left
    while read -r pattern left; do
        run --separate-stderr lapedge -q --exclude="$pattern" in out
        [ "$(outputs out)" = "$left" ] || { echo "--exclude=$pattern: $(outputs out)"; return 1; }
        rm -r out
    done <<'CASES'
2024/ may/b.jpg top.jpg
./2024 may/b.jpg top.jpg
./2024/ may/b.jpg top.jpg
in/2024 may/b.jpg top.jpg
./in/2024/ may/b.jpg top.jpg
may/* 2024/a.jpg 2024/may/c.jpg top.jpg
may/ 2024/a.jpg top.jpg
*/may/ 2024/a.jpg top.jpg
top.jpg/ 2024/a.jpg 2024/may/c.jpg may/b.jpg top.jpg
CASES
    lapedge -q --include=./2024/ in some
    [ "$(outputs some)" = "2024/a.jpg 2024/may/c.jpg" ]
    lapedge -q --include=MAY/ "$PWD/in" below
    [ "$(outputs below)" = "2024/may/c.jpg may/b.jpg" ]
    expect 0 "in/top.jpg -> o/top.jpg" "lapedge: --exclude=mai matches nothing
lapedge: --exclude=24/may matches nothing (a pattern with a slash begins at the named folder; */ before it matches at any depth)
1 to be done" -n --exclude=mai --exclude='2*' --exclude=24/may --exclude=may --exclude='MAY*' in o
    lapedge -n --json --include='x*' --include=top.jpg in o >json 2>/dev/null
    json json 'o["not_taken"]["unused_patterns"] == [{"option": "--include", "pattern": "x*"}]'
    run --separate-stderr lapedge stats --include='x*' --include=top.jpg in
    [[ $stderr == *"lapedge: --include=x* matches nothing"* ]]
}

@test "--suffix and --flat name the outputs; names that clash are refused" {
    tiny in/a.jpg
    tiny in/sub/b.jpg
    lapedge -q --suffix=-edge in one
    [ "$(outputs one)" = "a-edge.jpg sub/b-edge.jpg" ]
    lapedge -q --suffix=-edge --format=png --flat in two
    [ "$(outputs two)" = "a-edge.png b-edge.png" ]
    run --separate-stderr lapedge --suffix=-edge --format=png --flat in two
    [[ $stderr == "0 done, 2 up to date; "* ]]
    tiny in/sub/a.jpg
    run --separate-stderr lapedge --flat in three
    [ "$status" -eq 1 ]
    [[ $stderr == *"2 inputs would be written to three/a.jpg; none was"* ]]
    [ "$(outputs three)" = "b.jpg" ]
    expect 2 "" 'lapedge: --suffix: "a/b" is not part of a file'"'"'s name' --suffix=a/b in four
}

@test "an input that is named twice counts once, also if it fails; advice about --flat is given where it helps" {
    tiny in/a.jpg
    tiny more/a.jpg
    echo >bad.jpg
    for words in "bad.jpg bad.jpg" "--in-place bad.jpg ./bad.jpg"; do
        # shellcheck disable=SC2086 # words
        [[ $words == --in-place* ]] || words="$words out/"
        run --separate-stderr lapedge --log=log.jsonl $words
        [ "$status" -eq 4 ]
        [[ $stderr != *"up to date"* ]]
    done
    run --separate-stderr lapedge in in/a.jpg in/ twice
    [ "$status" -eq 0 ]
    [[ $stderr == "1 done; "* ]]
    run --separate-stderr lapedge --log=log.jsonl --json in in/a.jpg twice
    json <(echo "$output") 'o["expected"] == o["found"] == 1 and o["kinds"] == {"up_to_date": 1}'
    [ "$(wc -l <log.jsonl)" -eq 2 ]
    run --separate-stderr lapedge --flat in more flat
    [ "$status" -eq 4 ]
    [[ $stderr == *"none was; write them into different folders"* ]]
    mkdir tree
    mv in more tree
    run --separate-stderr lapedge --flat tree flat
    [[ $stderr == *"none was; without --flat, outputs keep the folders of their photos"* ]]
}

@test "--follow walks links, each folder once" {
    tiny real/a.jpg
    mkdir in
    ln -s ../real in/link
    ln -s ../real/a.jpg in/b.jpg
    ln -s .. real/up
    ln -s nowhere in/c.jpg
    ln -s ../real/a.jpg in/by_content
    echo text >text
    ln -s ../text in/text
    run --separate-stderr lapedge in one
    [ "$status" -eq 4 ]
    [[ $stderr == *"3 symbolic links not followed; --follow does"* ]] # the folder, too
    run --separate-stderr lapedge -n --exclude='lin*' in one
    [[ $stderr == *"2 symbolic links not followed; --follow does"* ]]
    run --separate-stderr timeout 60 "$LAPEDGE" --follow in two
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: in/c.jpg: "* ]]
    [ "$(outputs two)" = "b.jpg by_content link/a.jpg" ]
}

@test "--follow: a folder is walked under its own name, not as a link to it, whatever their order" {
    tiny A/real/sub/1.jpg
    ln -s real A/alias
    ln -s real/sub A/other
    ln -s real/sub A/zz
    expect 0 "" "" -q --follow A one
    [ "$(outputs one)" = "real/sub/1.jpg" ]
    mkdir wide && cp -a A wide
    lapedge -q --follow wide all
    [ "$(outputs all)" = "A/real/sub/1.jpg" ]
    # The folder is excluded, or not below an input: the first link counts.
    lapedge -q --follow --exclude=real A two
    [ "$(outputs two)" = "alias/sub/1.jpg" ]
    mkdir B && ln -s ../A/real B/b && ln -s ../A/real B/c
    lapedge -q --follow B three
    [ "$(outputs three)" = "b/sub/1.jpg" ]
    # Another input is the folder, or the folder around it.
    lapedge -q --follow B A four
    [ "$(outputs four)" = "real/sub/1.jpg" ]
    lapedge -q --follow B A/real/ five
    [ "$(outputs five)" = "sub/1.jpg" ]
    # diff walks each folder like this, and says where a link leads.
    run --separate-stderr lapedge diff --follow A one
    [ "$status" -eq 1 ]
    json <(lapedge stats --json --follow A 2>/dev/null | head -1) 'o["input"]["path"] == "A/real/sub/1.jpg"'
}

@test "a link that leads nowhere may lead to a folder: it is counted, and with --follow it fails, whatever its name" {
    tiny in/a.jpg
    local name
    for name in 2019 12.05.2019 .hidden; do ln -s ../disk/$name in/$name; done
    run --separate-stderr lapedge in one
    [ "$status" -eq 0 ]
    [[ $stderr == *"3 symbolic links not followed; --follow does"* ]]
    for words in "--follow in one" "stats --follow in" "diff --follow in in" "transform --follow --rotate=90 in two"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge $words
        [[ $status -eq 1 || ($words == diff* && $status -eq 2) ]]
        for name in 2019 12.05.2019 .hidden; do
            [[ $stderr == *"in/$name: a broken symbolic link"* ]]
        done
    done
    run --separate-stderr lapedge -n --follow --exclude=2019 --exclude='12*/' --exclude=.hidden in one
    [ "$status" -eq 0 ]
    [[ $stderr != *"link"* ]]
}

@test "--skip-existing passes over, --no-clobber leaves alone and exits 1" {
    tiny in/a.jpg
    tiny in/b.jpg
    mkdir out
    echo mine >out/a.jpg
    run --separate-stderr lapedge --skip-existing in out
    [ "$status" -eq 0 ]
    [[ $stderr == "1 done, 1 there already; "* ]]
    [ "$(cat out/a.jpg)" = mine ]
    run --separate-stderr lapedge --no-clobber in out
    [ "$status" -eq 1 ]
    [[ $stderr == *"out/a.jpg: exists and is left alone (--no-clobber)"*"2 left alone (--no-clobber)"* ]]
    expect 1 "" "lapedge: out/a.jpg: exists and is left alone (--no-clobber)" --no-clobber in/a.jpg out/a.jpg
    expect 1 "" "lapedge: out/a.jpg: exists and is left alone (--no-clobber)" -n --no-clobber in/a.jpg out/a.jpg
    expect 0 "" "" --skip-existing in/a.jpg out/a.jpg
    expect 1 "" "lapedge: out/a.jpg: exists and is left alone (--no-clobber)" transform --no-clobber --flip=h in/a.jpg out/a.jpg
    [ "$(cat out/a.jpg)" = mine ]
    lapedge --no-clobber in/a.jpg new.jpg
    ln -s nowhere dangling.jpg
    expect 1 "" "lapedge: dangling.jpg: exists and is left alone (--no-clobber)" --no-clobber in/a.jpg dangling.jpg
    expect 2 "" "lapedge: --no-clobber and --force contradict each other" -f --no-clobber in out
    expect 2 "" "lapedge: --skip-existing and --force contradict each other" -f --skip-existing in out
    expect 2 "" "lapedge: --rebuild and --no-clobber contradict each other" --rebuild --no-clobber in out
    expect 2 "" "lapedge: --rebuild and --skip-existing contradict each other" --rebuild --skip-existing in out
    expect 2 "" "lapedge: out/a.jpg exists and is not an image that lapedge writes; name another file, or use -f to replace it" \
        in/a.jpg out/a.jpg
    lapedge -f in/a.jpg out/a.jpg
    [ "$(head -c 4 out/a.jpg)" != mine ]
}

@test "files asked for are written, or their lack is an error, when the output is there already" {
    tiny a.jpg
    expect 0 "" "" --stats=full.json --threshold=20 a.jpg out.jpg
    expect 0 "" "" --skip-existing --stats=s.json --report=r.html --threshold=20 a.jpg out.jpg
    cmp full.json s.json
    grep -q '<html' r.html
    cp a.jpg b.jpg
    expect 0 "" "" -q --in-place --stats=first.json b.jpg
    run --separate-stderr lapedge --in-place --stats=again.json b.jpg
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: again.json: not written, because b.jpg holds its edges already"* ]]
    [ ! -e again.json ]
    expect 0 "" "lapedge: out.jpg: there already" -n --skip-existing a.jpg out.jpg
}

@test "a command that only prints ends when its output cannot be written" {
    [ -w /dev/full ] || skip "no /dev/full"
    mkdir in
    for i in 1 2 3 4 5 6 7 8; do cp "$photo" in/$i.jpg; done
    cp -r in two
    for form in --json --csv -v; do
        run --separate-stderr bash -c "'$LAPEDGE' stats $form -j1 in >/dev/full"
        [ "$status" -eq 1 ]
        [ "$(grep -c 'cannot write to standard output: No space left on device' <<<"$stderr")" -eq 1 ]
        [[ $stderr == *" measured, "*" left; "* ]]
    done
    run --separate-stderr bash -c "'$LAPEDGE' diff -v -j1 in two >/dev/full"
    [ "$status" -eq 2 ]
    [ "$(grep -c 'cannot write to standard output: No space left on device' <<<"$stderr")" -eq 1 ]
    run --separate-stderr bash -c "'$LAPEDGE' diff in/1.jpg two/1.jpg >/dev/full"
    [ "$status" -eq 2 ]
}

@test "a full disk ends a folder run with 1 if outputs are complete, whichever run made them" {
    unshare -rm true 2>/dev/null || skip "no namespaces of users and mounts"
    mkdir small
    tiny tiny/t.jpg
    for i in 1 2 3; do cp "$photo" in$i.jpg; done
    run --separate-stderr unshare -rm bash -c "
        mount -t tmpfs -o size=512k tmpfs small || exit 99
        '$LAPEDGE' -q --format=ppm tiny small || exit 98
        '$LAPEDGE' -q --format=ppm in?.jpg small; echo \$?
        '$LAPEDGE' -q --format=ppm tiny in?.jpg small; echo \$?"
    [ "$status" -ne 99 ] || skip "no tmpfs"
    [ "${lines[*]}" = "4 1" ]
}

@test "OUTDIR that lies in the input by a mount: its photos are not replaced" {
    unshare -rm true 2>/dev/null || skip "no namespaces of users and mounts"
    mkdir -p in/may out
    cp "$photo" in/1.jpg
    cp "$photo" in/may/1.jpg
    for form in "run -f" "run -f --flat" "transform -f --flip=h"; do
        run --separate-stderr unshare -rm bash -c "mount --bind in/may out || exit 99; '$LAPEDGE' $form in out"
        [ "$status" -ne 99 ] || skip "no bind mount"
        [ "$status" -eq 1 ]
        [[ $stderr == "lapedge: out/1.jpg: exists, was not made by lapedge, and lies in in, so it may be a photo: "* ]]
        cmp "$photo" in/may/1.jpg
    done
}

@test "stats ends soon when the reader of its pipe leaves" {
    tiny one.jpg
    mkdir in
    for ((i = 0; i < 600; i++)); do cp one.jpg in/$i.jpg; done
    run --separate-stderr bash -c "set -o pipefail; '$LAPEDGE' stats --csv -j1 in | head -n 1"
    [ "$status" -eq 141 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $stderr =~ ^([0-9]+)" measured, " ]]
    [ "${BASH_REMATCH[1]}" -lt 500 ]
}

@test "-f replaces files that lapedge did not write, --rebuild makes every output again" {
    tiny in/a.jpg
    tiny in/b.jpg
    tiny in/c.jpg
    lapedge -q in out
    rm out/b.jpg
    echo mine >out/b.jpg
    run --separate-stderr lapedge -n -f in out
    [[ $stderr == "1 to be done, 2 up to date" ]]
    local before
    before=$(stat -c '%i %y' out/a.jpg)
    run --separate-stderr lapedge -f in out
    [ "$status" -eq 0 ]
    [[ $stderr == "1 done, 2 up to date; "* ]]
    [ "$(stat -c '%i %y' out/a.jpg)" = "$before" ]
    cmp out/a.jpg out/b.jpg
    rm out/b.jpg
    echo mine >out/b.jpg
    run --separate-stderr lapedge --rebuild in out
    [ "$status" -eq 1 ]
    [[ $stderr == *"out/b.jpg: exists and was changed since lapedge made it; -f replaces it"*"2 done, 1 left alone"* ]]
    [ "$(cat out/b.jpg)" = mine ]
    [ "$(stat -c '%i %y' out/a.jpg)" != "$before" ]
    run --separate-stderr lapedge --rebuild -f in out
    [[ $stderr == "3 done; "* ]]
    run --separate-stderr lapedge -f in out
    [[ $stderr == "0 done, 3 up to date; "* ]]
    run --separate-stderr lapedge transform --flip=h in turned
    [[ $stderr == "3 done; "* ]]
    run --separate-stderr lapedge transform --flip=h --rebuild in turned
    [[ $stderr == "3 done; "* ]]
    expect 2 "" "lapedge: --rebuild does not apply to files in place, only to a folder run" --in-place --rebuild in/a.jpg
}

@test "a list of names: zero bytes without -0 are refused, carriage returns are named" {
    tiny in/a.jpg
    tiny in/b.jpg
    printf 'in/a.jpg\0in/b.jpg\0' >zero
    printf 'in/a.jpg\r\nin/b.jpg\r\n' >crlf
    expect 2 "" "lapedge: zero: the names of this list are separated by zero bytes, not line ends; give -0" --files-from=zero out
    expect 2 "" "lapedge: standard input: the names of this list are separated by zero bytes, not line ends; give -0" --files-from=- out <zero
    expect 2 "" "lapedge: zero: the names of this list are separated by zero bytes, not line ends; give -0" stats -q --files-from=zero
    [ ! -e out ]
    # A photo in the list's place: -0 would not help.
    for words in "--files-from=in/a.jpg out" "-0 --files-from=in/a.jpg out" "stats --files-from=in/a.jpg" "--in-place --files-from=in/a.jpg"; do
        # shellcheck disable=SC2086 # words
        expect 2 "" "lapedge: --files-from: in/a.jpg is an image, not a list of names" $words
    done
    # Nothing is done with a list that cannot be read.
    expect 4 "" "lapedge: in: this list cannot be read: Is a directory" --files-from=in out
    echo "P5 a.jpg" >names # a name may begin as a picture does
    expect 4 "" "lapedge: P5 a.jpg: no such file" -q --files-from=names out
    run --separate-stderr lapedge --files-from=crlf out
    [ "$status" -eq 4 ]
    [[ $stderr == *'in/a.jpg\x0d: no such file: the lines of this list end in carriage returns; remove them, as tr -d '"'\\r'"' does'* ]]
    mv in/a.jpg $'in/c.jpg\r'
    lapedge -q --files-from=- --format=jpg out < <(printf 'in/c.jpg\r\n') # a file may be called so
    lapedge -q -0 --files-from=- two < <(printf 'in/b.jpg\0')
    run --separate-stderr lapedge -0 --files-from=- three < <(printf 'in/b.jpg\nin/c.jpg\n')
    [ "$status" -eq 4 ]
    [[ $stderr == *': no such file: the names of this list are separated by line ends, not zero bytes; leave out -0'* ]]
    run --separate-stderr lapedge --files-from=- three < <(printf '\xef\xbb\xbfin/b.jpg\r\n')
    [ "$status" -eq 4 ]
    [[ $stderr == *"in/b.jpg\x0d: no such file: this list begins with a byte order mark; remove it, as sed '1s/^\\xef\\xbb\\xbf//' does"* ]]
    expect 2 "" "lapedge: standard input: this list is UTF-16; convert it to UTF-8, for example with iconv" \
        --files-from=- three < <(printf '\xff\xfei\0n\0\n\0')
    [ "$(outputs two)" = "in/b.jpg" ]
}

@test "outputs below a named folder are left out, counted and named; naming their folder takes them" {
    tiny photos/a.jpg
    lapedge -q photos photos/edges/
    run --separate-stderr lapedge -n photos/ again/
    [ "$status" -eq 0 ]
    [ "$output" = "photos/a.jpg -> again/a.jpg" ]
    [ "${stderr_lines[0]}" = "lapedge: 1 output of earlier runs not taken: 1 in photos/edges; to take outputs, name their folder" ]
    expect 0 "photos/edges/a.jpg -> twice/a.jpg" \
        $'lapedge: warning: 1 input was filtered by lapedge before (photos/edges/a.jpg): its output is edges of edges\n1 to be done' \
        -n photos/edges/ twice//
    run --separate-stderr lapedge stats --json photos
    json <(tail -1 <<<"$output") 'o["expected"] == 1 and o["not_taken"]["outputs"] == 1'
    [[ $stderr == *"1 in photos/edges; to take outputs, name their folder"* ]]
    cp -r photos other
    run --separate-stderr lapedge diff photos other # the copied outputs are known by their content
    [ "$status" -eq 0 ]
    [ "$output" = "equal: 1 identical; 2 files not compared" ]
    [[ $stderr == *"2 outputs of earlier runs not taken: 1 in photos/edges, 1 in other/edges; "* ]]
}

@test "an output among photos leaves out none of them" {
    tiny p/a.jpg
    tiny p/trip/b.jpg
    tiny p/trip/c.jpg
    tiny p/trip/deep/d.jpg
    lapedge -q --suffix=-edge p/trip/b.jpg p/trip/
    run --separate-stderr lapedge --json --log=log p edges
    [ "$status" -eq 0 ]
    [ "$(outputs edges)" = "a.jpg trip/b.jpg trip/c.jpg trip/deep/d.jpg" ]
    [[ $stderr == *"1 output of earlier runs not taken: 1 in p/trip; to take outputs, name their folder"*"4 done"* ]]
    json <(echo "$output") '(o["not_taken"]["outputs"], o["not_taken"]["output_folders"], o["not_taken"]["left_in"],
        o["filtered_before"]) == (1, 1, [{"path": "p/trip", "outputs": 1, "photos": 0}], 0)'
    json <(tail -1 log) 'o["schema"] == "lapedge.not_taken/1" and o["not_taken"]["outputs"] == 1'
    [ "$(wc -l <log)" -eq 6 ] # settings, four photos, what was left out
    expect 0 "" "" -q transform --rotate=180 p turned
    [ "$(outputs turned)" = "a.jpg trip/b.jpg trip/c.jpg trip/deep/d.jpg" ]
    # An output that was changed since is a photo; a record alone makes no file an output.
    cp p/a.jpg p/trip/b-edge.jpg
    rm -r edges && lapedge -q p edges
    [ "$(outputs edges)" = "a.jpg trip/b-edge.jpg trip/b.jpg trip/c.jpg trip/deep/d.jpg" ]
    # Two runs' folders, one in the other.
    lapedge -q p/trip p/trip/deep/e
    rm -r edges && lapedge -q p edges
    [ "$(outputs edges)" = "a.jpg trip/b-edge.jpg trip/b.jpg trip/c.jpg trip/deep/d.jpg" ]
}

@test "photos in the output folder are not taken, and are counted by name" {
    tiny p/a.jpg
    tiny p/trip/b.jpg
    tiny p/trip/deep/c.jpg
    cp "$BATS_FILE_TMPDIR/tiny.jpg" p/trip/plain
    touch p/trip/x.heic
    run --separate-stderr lapedge --json --log=log p p/trip/
    [ "$status" -eq 0 ]
    [[ $stderr == "lapedge: 3 photos in the output folder not taken (p/trip/b.jpg, ...); move them, or write elsewhere"$'\n'"1 done"* ]]
    json <(echo "$output") '(o["expected"], o["not_taken"]["photos_in_outdir"], o["not_taken"]["left_in"]) == (
        1, 3, [{"path": "p/trip", "outputs": 0, "photos": 3}])'
    json <(tail -1 log) 'o["not_taken"]["photos_in_outdir"] == 3'
    rm -r p/trip && mkdir p/trip
    lapedge -q p p/trip/
    expect 0 "" "0 to be done, 1 up to date" -n p p/trip/ # its own outputs are nothing to report
}

@test "a photo in an output folder inside the photos' folder is never replaced; outputs there are" {
    tiny ph/a.jpg
    tiny ph/b.jpg
    tiny ph/2024/a.jpg
    ln -s ph link
    cp ph/2024/a.jpg kept.jpg
    for words in "ph ph/2024" "-f ph ph/2024" "-f --rebuild link ph/2024/" "-f ./ph/b.jpg ph link/2024"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge $words
        [ "$status" -eq 1 ]
        [[ $stderr == *"/2024/a.jpg: exists, was not made by lapedge, and lies in "*", so it may be a photo: move it, or write elsewhere"* ]]
        [[ $stderr != *"-f replaces"* ]]
        cmp ph/2024/a.jpg kept.jpg
    done
    lapedge -q ph ph/edges
    echo mine >ph/edges/a.jpg
    lapedge -q -f ph ph/edges
    lapedge -q --rebuild -f ph ph/edges
    cmp ph/edges/a.jpg ph/edges/b.jpg
    # Beside the photos, -f replaces.
    mkdir beside
    echo mine >beside/a.jpg
    lapedge -q -f ph beside
    cmp beside/a.jpg beside/b.jpg
}

@test "a photo in an output folder stays when memory runs out, wherever that is" {
    local library n fired=0
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_malloc.so")
    [ -e "$library" ] || skip "nth_malloc.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    tiny ph/a.jpg
    tiny ph/b.jpg
    tiny ph/2024/a.jpg
    cp ph/2024/a.jpg kept.jpg
    for n in {1..600..3}; do
        rm -rf fired ph/2024/b.jpg ph/2024/.lapedge
        LD_PRELOAD=$library LAP_FAIL_AT=$n LAP_FAIL_FIRED=fired "$LAPEDGE" -q -j1 --threads=1 --no-sync -f ph ph/2024 \
            2>said || true
        cmp ph/2024/a.jpg kept.jpg
        [ -e fired ] || break
        fired=$((fired + 1))
    done
    [ "$fired" -ge 100 ]
}

@test "a folder, a pipe or a link under an output's name is to be removed; no message leads to -f" {
    tiny in/a.jpg
    tiny in/b.jpg
    tiny in/c.jpg
    mkdir -p out/a.jpg
    mkfifo out/b.jpg
    ln -s ../in/a.jpg out/c.jpg
    for words in "1 in out" "4 -f in out"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge ${words#* }
        [ "$status" -eq "${words%% *}" ]
        [[ $stderr == *"out/a.jpg: is not a regular file; remove it first"*"out/b.jpg: is not a regular file; remove it first"* ]]
        [[ $stderr != *"-f replaces"* ]]
    done
    [ -d out/a.jpg ]
    [ -p out/b.jpg ]
    [ -L out/c.jpg ]
}

@test "a folder of inputs that is missing is named, exit 4, whatever exists beside it" {
    mkdir there
    for out in there new; do
        for words in "" "--prune" "--ext=jpg" "--flat"; do
            # shellcheck disable=SC2086 # words
            expect 4 "" "lapedge: nowhere/: no such folder" $words nowhere/ $out
        done
        expect 4 "" "lapedge: nowhere/: no such folder" transform --rotate=90 nowhere/ $out
    done
    # However it is spelt, a missing folder is exit 4; only a first word without dot or slash may be a command.
    for name in ./nowhere $PWD/nowhere $PWD/nowhere.2024 a/nowhere; do
        expect 4 "" "lapedge: $name: no such file" $name new
        expect 4 "" "lapedge: $name: no such file" $name new/
        expect 4 "" "lapedge: $name: no such file" -n transform --flip=h $name new
        expect 4 "" "lapedge: $name: no such file" stats -q $name
    done
    expect 4 "" "lapedge: nowhere: no such file" run nowhere new
    expect 4 "" "lapedge: nowhere: no such file" -- nowhere new
    expect 2 "" "lapedge: nowhere: no such file, and no command; see lapedge -h" nowhere new
    # A name like that of an image means an image, and so does --format.
    expect 1 "" "lapedge: ./nowhere.jpg: no such file" ./nowhere.jpg new
    expect 1 "" "lapedge: ./nowhere: no such file" ./nowhere new.jpg
    expect 1 "" "lapedge: ./nowhere: no such file" ./nowhere - >/dev/null
    expect 1 "" "lapedge: ./nowhere: no such file" --format=jpg ./nowhere new
    # An option of folder runs means a folder, too.
    expect 4 "" "lapedge: ./nowhere: no such file" --prune ./nowhere new
    expect 4 "" "lapedge: ./nowhere: no such file" --ext=jpg ./nowhere new
    expect 4 "" "lapedge: ./nowhere.jpg: no such file or folder" --prune ./nowhere.jpg new
    expect 4 "" "lapedge: ./nowhere.jpg: no such file or folder" --ext=jpg ./nowhere.jpg new
    expect 4 "" "lapedge: ./nowhere.jpg: no such file or folder" stats --exclude=x ./nowhere.jpg
    expect 4 "" "lapedge: nowhere/: no such folder" stats -q nowhere/
    [ ! -e new ]
    rmdir there
}

@test "edges and photos named in the wrong order: nobody is led to replace the photos" {
    tiny photos/a.jpg
    tiny photos/b.jpg
    cp -r photos before
    lapedge -q photos edges
    run --separate-stderr lapedge edges photos
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: photos/a.jpg: exists and was not made by lapedge; some inputs are outputs of lapedge: is the order of the operands right?"* ]]
    [[ $stderr == *"0 done, 2 left alone (not made by lapedge, changed since, made from other photos, or by another run); "* ]]
    [[ $stderr != *-f* ]]
    lapedge -q transform --flip=h photos turned
    run --separate-stderr lapedge transform --flip=h turned photos
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: photos/b.jpg: exists and was not made by lapedge; some inputs are outputs"* && $stderr != *-f* ]]
    diff -r photos before -x .lapedge
    # Other photos with these names: -f is the way.
    run --separate-stderr lapedge photos before
    [[ $status -eq 1 && $stderr == *"before/a.jpg: exists and was not made by lapedge; -f replaces it"* ]]
}

@test "a run takes photos that were filtered before, and says so" {
    tiny q/a.jpg
    tiny q/b.jpg
    cp -r q new
    lapedge -q --in-place q/a.jpg
    run --separate-stderr lapedge --json --log=log q edges
    [ "$status" -eq 0 ]
    [ "$(outputs edges)" = "a.jpg b.jpg" ]
    [[ $stderr == "lapedge: warning: 1 input was filtered by lapedge before (q/a.jpg): its output is edges of edges"* ]]
    json <(echo "$output") 'o["filtered_before"] == 1 and o["ok"] == 2'
    json <(tail -1 log) 'o["filtered_before"] == 1'
    cp -r q copied # the record comes along
    printf '%s\n' copied/b.jpg copied/a.jpg edges/a.jpg >list
    run --separate-stderr lapedge -n --files-from=list out
    [[ $stderr == "lapedge: warning: 2 inputs were filtered by lapedge before (copied/a.jpg, ...): their outputs are edges of edges"* ]]
    if lapedge --sandbox "$photo" out.jpg 2>/dev/null; then
        run --separate-stderr lapedge --sandbox -n --files-from=list out
        [[ $stderr == "lapedge: warning: 2 inputs were filtered by lapedge before"* ]]
    fi
    mkdir -p edges/sub && mv edges/b.jpg edges/sub/ # below an output folder
    run --separate-stderr lapedge -n edges/sub out
    [[ $stderr == *"1 input was filtered by lapedge before (edges/sub/b.jpg)"* ]]
    lapedge -q transform --flip=h new turned
    expect 0 "" "" -q -n turned out
    run --separate-stderr lapedge turned out # edges of a turned photo are no edges of edges
    [[ $stderr == "2 done; "* ]]
    run --separate-stderr lapedge transform --flip=h edges t # nor is a turned edge map
    [[ $stderr == "2 done; "* ]]
}

@test "run and transform do not replace each other's outputs unless -f is given" {
    tiny in/a.jpg
    lapedge -q in edges
    cp edges/a.jpg before
    run --separate-stderr lapedge transform --flip=h in edges
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: edges/a.jpg: exists and is an edge map that lapedge made, not a rotated or mirrored photo; -f replaces it"* ]]
    cmp edges/a.jpg before
    run --separate-stderr lapedge transform --rebuild --flip=h in edges
    [ "$status" -eq 1 ]
    lapedge -q transform -f --flip=h in edges
    run --separate-stderr lapedge in edges
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: edges/a.jpg: exists and is a photo that lapedge rotated or mirrored, not an edge map; -f replaces it"* ]]
    lapedge -q -f in edges
    cmp edges/a.jpg before
    # Lines of earlier versions do not name the command: then other settings make an output anew, as before.
    sed -i 's/"command":"run",//' edges/.lapedge/*.jsonl
    sed -i '/"command"/d' edges/.lapedge/*.jsonl
    expect 0 "" "" -q transform --flip=h in edges
}

@test "lists and results come in the order of the names, a folder's files first" {
    local name
    for name in q b/2 z 10 9 B a/z a/a k é _ b/10 m x y; do tiny "in/$name.jpg"; done
    (cd in && find . -name '*.jpg' | sed 's,^\./,,' | LC_ALL=C awk -F/ '{ print NF == 1 ? 0 : 1, $0 }' | LC_ALL=C sort |
        sed 's/^. //') >sorted
    expect 0 "$(sed 's,.*,in/& -> out/&,' sorted)" "15 to be done" -n in out
    cmp sorted <(lapedge stats --csv in 2>stderr | sed -n 's,^\(in/[^,]*\)\,.*,\1,p' | uniq | sed 's,^in/,,')
    lapedge -q in out
    run --separate-stderr lapedge diff in out
    cmp sorted <(sed -n 's/: different.*//p' <<<"$output")
}

@test "a text that is taken for OUTDIR: no advice to replace it" {
    mkdir in
    cp "$photo" in/a.jpg
    echo text >n.txt
    expect 2 "" "lapedge: n.txt, the last of 2 operands, is taken for OUTDIR, but is not a folder; add one: in n.txt OUTDIR" \
        in n.txt
}

@test "a file that is taken for OUTDIR is named, with what to write" {
    for name in a b c; do tiny "$name.jpg"; done
    cp a.jpg before
    expect 2 "" "lapedge: c.jpg, the last of 3 operands, is taken for OUTDIR, but is not a folder; add one: a.jpg ... c.jpg OUTDIR" *.jpg
    expect 2 "" "lapedge: c.jpg, the last of 3 operands, is taken for OUTDIR, but is not a folder; add one: a.jpg ... c.jpg OUTDIR" \
        transform --flip=h *.jpg
    mkdir in && mv a.jpg in
    expect 2 "" "lapedge: b.jpg, the last of 2 operands, is taken for OUTDIR, but is not a folder; add one: in b.jpg OUTDIR" in b.jpg
    echo in/a.jpg >list
    expect 2 "" "lapedge: b.jpg is taken for OUTDIR, but is not a folder" --files-from=list b.jpg
    cmp in/a.jpg before
}

@test "input formats that lapedge does not read are refused by name" {
    for case in 'RIFF....WEBPVP8 |a WebP image' 'GIF89a|a GIF' '\0\0\0\014jP  \r\n\207\n|a JPEG 2000 image' \
        '\377\012|a JPEG XL image' '\0\0\0\030ftypheic|a HEIC image' 'II*\0\010\0\0\0CR|a raw photo (CR2)' \
        'II*\0\010\0\0\0|a TIFF image, or a raw photo based on TIFF' 'FUJIFILMCCD-RAW |a raw photo (RAF)' \
        '\0\0\0\040ftypavif|an AVIF image' '%%PDF-1.7|a PDF document'; do
        # shellcheck disable=SC2059 # the bytes
        printf "${case%|*}" >photo.jpg
        expect 1 "" "lapedge: photo.jpg: unsupported: ${case#*|}; JPEG, PNG and binary PNM are read" photo.jpg o.jpg
    done
}

@test "transform of folders: as one by one, and only what is missing" {
    tiny in/a.jpg
    cp "$photo" in/b.jpg
    run --separate-stderr lapedge transform --rotate=90 in out
    [ "$status" -eq 0 ]
    [[ $stderr == "2 done; "* ]]
    lapedge transform --rotate=90 in/b.jpg one.jpg
    cmp one.jpg out/b.jpg
    run --separate-stderr lapedge transform --rotate=90 in out
    [[ $stderr == "0 done, 2 up to date; "* ]]
    run --separate-stderr lapedge transform --rotate=180 in out
    [[ $stderr == "2 done; "* ]]
    expect 0 "in/a.jpg -> new/a.jpg" "1 to be done" transform -n --flip=h --exclude=b.jpg in new
    expect 2 "" "lapedge: --suffix does not apply to transform of one image, only to transform of folders" \
        transform --flip=h --suffix=-e in/a.jpg o.jpg
}

@test "lapedge.file/1 has all that makes the same bytes again" {
    lapedge --json --range=abs --scale=0.5 --offset=3 --invert --threshold=100 --gray -Q77 --subsampling=444 --restart=on \
        --optimize --keep=exif,icc --kernel=log5 --border=constant:9 --fail-on=warning "$photo" a.jpg >a.json
    python3 - a.json >words <<'PYTHON'
import json, sys
s = json.load(open(sys.argv[1]))["settings"]
words = ["--kernel=" + ",".join(str(h) for h in s["coefficients"])]
words += ["--%s=%s" % (k.replace("_", "-"), s[k]) for k in ("border", "range", "scale", "offset", "threshold", "quality",
          "subsampling", "restart", "fail_on")]
words += ["--" + k for k in ("invert", "gray", "progressive", "optimize", "strip") if s[k]]
words += ["--keep=" + ",".join(s["keep"])] if s["keep"] is not None else []
print("\n".join(words))
PYTHON
    mapfile -t words <words
    lapedge "${words[@]}" "$photo" b.jpg
    cmp a.jpg b.jpg
    run lapedge --json none.jpg o.jpg
    head -c 20000 "$photo" >cut.jpg
    lapedge --json cut.jpg o.jpg >cut.json 2>/dev/null || true
    json cut.json 'o["bytes_out"] == 0 and o["status"] == "failed"'
    head -c -2 "$photo" >endless.jpg
    lapedge --json endless.jpg o.jpg >warned.json 2>/dev/null
    json warned.json 'o["warnings"] == 1 and o["warning"] == "the end marker is missing" and o["bytes_out"] > 0'
}

@test "PNG keeps profile, EXIF and XMP" {
    python3 - "$photo" <<'PYTHON'
import sys
def segment(marker, body):
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0\0\0\0\0"
part = lambda i, text: segment(0xE2, b"ICC_PROFILE\0" + bytes([i, 2]) + text)
data = open(sys.argv[1], "rb").read()
open("in.jpg", "wb").write(data[:2] + segment(0xE1, exif) + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>") +
    part(1, bytes(16) + b"RGB " + bytes(108)) + part(2, b"the end") + data[2:])
PYTHON
    lapedge in.jpg out.png
    lapedge --strip in.jpg bare.png
    lapedge --keep=icc in.jpg icc.png
    lapedge --gray in.jpg gray.png
    python3 - <<'PYTHON'
import struct, zlib
def chunks(name):
    data, at, found = open(name, "rb").read(), 8, []
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), (name, kind)
        found.append((kind.decode(), body))
        at += 12 + size
    return found
out = chunks("out.png")
assert [kind for kind, _ in out] == ["IHDR", "iCCP", "eXIf", "iTXt", "IDAT", "IEND"], out
kept = dict(out)
name, method, packed = kept["iCCP"][:11], kept["iCCP"][11:13], kept["iCCP"][13:]
assert name == b"ICC profile" and method == b"\0\0" and zlib.decompress(packed) == bytes(16) + b"RGB " + bytes(108) + b"the end"
assert kept["eXIf"].startswith(b"MM\0*")
assert kept["iTXt"] == b"XML:com.adobe.xmp\0\0\0\0\0<x/>", kept["iTXt"]
kinds = lambda name: [kind for kind, _ in chunks(name)]
assert kinds("bare.png") == ["IHDR", "IDAT", "IEND"]
assert kinds("icc.png") == ["IHDR", "iCCP", "IDAT", "IEND"]
assert kinds("gray.png") == ["IHDR", "eXIf", "iTXt", "IDAT", "IEND"]
assert dict(chunks("bare.png"))["IDAT"] == kept["IDAT"]
PYTHON
    # And back: EXIF that was kept is read again.
    lapedge --kernel=identity out.png back.jpg
    grep -aq Exif back.jpg
}

@test "--codec names what encodes on the CPU: the same bytes, or exit 3" {
    lapedge "$photo" turbo.jpg --codec=turbo
    run --separate-stderr lapedge "$photo" c.jpg --codec=c -v
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"encoded by c"* ]]
    cmp turbo.jpg c.jpg
    lapedge "$photo" auto.jpg
    cmp turbo.jpg auto.jpg
    local name seen=0
    for name in avx2 avx512 neon; do
        run --separate-stderr lapedge "$photo" "$name.jpg" --codec="$name"
        if [ "$status" -eq 0 ]; then
            cmp turbo.jpg "$name.jpg"
        else
            [ "$status" -eq 3 ]
            [[ $stderr == *"codec '$name' cannot run here: "* ]]
            [ ! -e "$name.jpg" ]
        fi
        LAP_CPU_MASK=avx2,avx512,neon run --separate-stderr lapedge "$photo" masked.jpg --codec="$name"
        [ "$status" -eq 3 ]
        seen=$((seen + 1))
    done
    [ "$seen" -eq 3 ]
    run --separate-stderr lapedge "$photo" o.jpg --codec=avx
    [ "$status" -eq 2 ]
}

@test "a picture that our encoders do not support goes to libjpeg-turbo, and -v names both" {
    lapedge "$photo" turbo.jpg --codec=turbo --progressive
    run --separate-stderr lapedge "$photo" c.jpg --codec=c --progressive -v
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"encoded by turbo, not by c: the file is progressive"* ]]
    cmp turbo.jpg c.jpg
    run --separate-stderr lapedge "$photo" o.jpg --codec=c --optimize -v
    [[ $output$stderr == *"encoded by turbo, not by c: the file has optimized Huffman tables"* ]]
    djpeg -ppm "$photo" | cjpeg -sample 1x4 >odd.jpg
    run --separate-stderr lapedge odd.jpg o.jpg --codec=c -v
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"encoded by turbo, not by c: its sampling is not 4:4:4"* ]]
    lapedge odd.jpg t.jpg --codec=turbo
    cmp o.jpg t.jpg
}
