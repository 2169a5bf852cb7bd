# Photos in place: what was filtered is known again, whatever became of it.
load common

record=.lapedge-in-place.jsonl

photos() # N: photos/1.jpg and so on, each another one, and the same in before/
{
    mkdir -p photos
    for i in $(seq "$1"); do
        pgm $((40 + i)) 30 p.pgm
        lapedge --kernel=identity p.pgm "photos/$i.jpg"
    done
    rm p.pgm
    cp -r photos before
}

wanted() # FILE: the edges of the photo of that name
{
    lapedge --no-sync "before/$(basename "$1")" want.jpg && cmp "$1" want.jpg
}

untouched() # WORD...: such a run changes no photo
{
    local code=0
    sha256sum photos/*.jpg >sums
    lapedge "$@" 2>stderr || code=$?
    sha256sum -c --quiet sums
    return "$code"
}

@test "the same command again filters nothing, and what it did not reach" {
    photos 5
    lapedge --in-place photos/1.jpg photos/2.jpg
    run --separate-stderr lapedge --in-place photos/*.jpg
    [ "$status" -eq 0 ]
    [[ $stderr == "3 done, 2 up to date; "* ]]
    for i in 1 2 3 4 5; do
        wanted "photos/$i.jpg"
    done
    untouched --in-place photos/*.jpg
    [[ $(cat stderr) == "0 done, 5 up to date; "* ]]
    [ ! -e photos/.lapedge ]
    [ "$(wc -l <photos/$record)" -eq 10 ]
    expect 0 "" "lapedge: photos/1.jpg: up to date" --in-place photos/1.jpg
    expect 0 "" "" -q --in-place photos/1.jpg
}

@test "an output is known by its content: copied, renamed, restored, touched" {
    photos 2
    lapedge --in-place photos/*.jpg
    cp photos/1.jpg photos/3.jpg
    mv photos/2.jpg photos/other.jpg
    touch -d 2001-01-01 photos/1.jpg
    cp -r photos elsewhere
    untouched --in-place photos/*.jpg
    sha256sum elsewhere/*.jpg >sums
    lapedge -q --in-place elsewhere/*.jpg
    sha256sum -c --quiet sums
    # The photo itself, restored over its edges, is a photo again.
    cp before/1.jpg photos/1.jpg
    run --separate-stderr lapedge --in-place photos/*.jpg
    [[ $status -eq 0 && $stderr == "1 done, 2 up to date; "* ]]
    wanted photos/1.jpg
}

@test "other settings: exists, and exit 1" {
    photos 2
    lapedge --in-place -q photos/1.jpg
    run --separate-stderr untouched --in-place -Q 50 photos/1.jpg
    [ "$status" -eq 1 ]
    [ "$(cat stderr)" = "lapedge: photos/1.jpg: was filtered in place before, with other settings, and is left alone; to filter the photo with these, restore the original photo first" ]
    run --separate-stderr lapedge --in-place --json -Q 50 photos/1.jpg photos/2.jpg
    [ "$status" -eq 1 ]
    [ "$(python3 -c 'import json, sys
print(*[(o["status"], o["error"] and o["error"]["kind"]) for o in map(json.loads, sys.argv[1].splitlines())])' "$output")" = \
        "('skipped', 'exists') ('ok', None)" ]
    # Backend, threads and jobs change no bytes.
    untouched --in-place --backend=c --threads=1 -j1 photos/1.jpg
}

@test "another --fail-on: up to date, but for what it would have refused" {
    photos 3
    head -c 900 photos/3.jpg >cut.jpg
    cp cut.jpg photos/3.jpg
    run --separate-stderr lapedge --in-place photos/*.jpg
    [ "$status" -eq 1 ]
    [[ $stderr == *"--fail-on=none keeps what can be read"*"2 done, 1 failed"* ]]
    # As the hint says: one photo is left to do.
    run --separate-stderr lapedge --in-place --fail-on=none photos/*.jpg
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 done (1 with warnings), 2 up to date; "* ]]
    wanted photos/1.jpg
    untouched --in-place --fail-on=none photos/*.jpg
    # Those without warnings pass every level; the third one did not.
    for level in truncated warning; do
        run --separate-stderr untouched --in-place --fail-on=$level photos/1.jpg photos/2.jpg
        [ "$status" -eq 0 ]
        run --separate-stderr untouched --in-place --fail-on=$level photos/*.jpg
        [ "$status" -eq 1 ]
        [[ $(cat stderr) == *"photos/3.jpg: was filtered in place before, with other settings"*"2 up to date, 1 left alone"* ]]
    done
}

@test "--filter-again filters it all the same, and no hint names it" {
    photos 1
    lapedge --in-place photos/1.jpg
    lapedge --kernel=laplace5 photos/1.jpg twice.jpg
    lapedge --in-place --filter-again photos/1.jpg
    cmp photos/1.jpg twice.jpg
    untouched --in-place photos/1.jpg
    chmod o+w photos/$record
    run --separate-stderr lapedge --in-place photos/1.jpg
    [[ $status -eq 4 && $stderr != *filter-again* ]]
    lapedge --in-place --filter-again photos/1.jpg
    expect 2 "" "lapedge: --filter-again does not apply to one image, only to files in place" --filter-again a.jpg b.jpg
}

@test "if a record cannot be trusted, nothing is filtered: exit 4, and each photo is named" {
    photos 3
    mkdir fine
    cp before/1.jpg before/2.jpg fine
    lapedge -q --in-place photos/1.jpg
    cp photos/$record kept
    doubted() # WHY
    {
        run --separate-stderr lapedge --in-place photos/2.jpg photos/3.jpg fine/1.jpg
        [ "$status" -eq 4 ] || return
        [ "$(head -n 2 <<<"$stderr")" = "lapedge: photos/2.jpg: is left alone, because of photos/$record: $1
lapedge: photos/3.jpg: is left alone, because of photos/$record: $1" ] || return
        [[ $stderr == *$'\n'*"1 done, 2 failed (2 unreadable); "* || $stderr == *$'\n'*"0 done, 1 up to date, 2 failed"* ]] || return
        cmp photos/2.jpg before/2.jpg && cmp photos/3.jpg before/3.jpg
    }
    chmod o+w photos/$record
    doubted "may be written by everybody (chmod o-w prevents that, if its lines are true)"
    chmod o-w photos/$record
    chmod o+w photos
    doubted "lies in a folder that everybody may write (chmod o-w prevents that)"
    chmod o-w photos
    rm photos/$record
    ln -s ../kept photos/$record
    doubted "is a symbolic link (replace it by the file itself)"
    rm photos/$record
    mkfifo photos/$record
    doubted "is not a regular file (move it away)"
    rm photos/$record
    mkdir photos/$record
    doubted "is not a regular file (move it away)"
    rmdir photos/$record
    echo "a list of birthdays" >photos/$record
    doubted "line 1 was not written by lapedge (remove that line, or restore the record)"
    sed '1s/"event"/"event/' kept >photos/$record
    doubted "line 1 was not written by lapedge (remove that line, or restore the record)"
    if [ "$(id -u)" -eq 0 ]; then
        cp kept photos/$record
        chown nobody photos/$record
        doubted "belongs to another user (run as that user, or have root chown it, if its lines are true)"
    fi
    wanted fine/1.jpg
}

@test "a line that a crash has cut, or blocks that it has not written, are no doubt" {
    photos 3
    lapedge -q --in-place photos/1.jpg
    head -c 100 photos/$record >half
    cat half >>photos/$record
    lapedge -q --in-place photos/2.jpg
    head -c 300 /dev/zero >>photos/$record
    lapedge -q --in-place photos/3.jpg
    untouched --in-place photos/*.jpg
    [[ $(cat stderr) == "0 done, 3 up to date; "* ]]
}

@test "a folder that may not be written: what is an output is up to date, the rest is left alone, exit 4" {
    [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null || skip "root writes everywhere"
    photos 2
    local as=()
    if [ "$(id -u)" -eq 0 ]; then
        chown -R nobody . && chmod 755 .
        as=(setpriv --reuid=nobody --clear-groups)
        "${as[@]}" test -x "$LAPEDGE" || skip "nobody may not run the program here"
        "${as[@]}" test -x . || skip "nobody may not enter this folder"
    fi
    "${as[@]}" "$LAPEDGE" --in-place photos/1.jpg
    closed() # SUMMARY FILE...: with the photo that was not filtered
    {
        local summary=$1
        shift
        run --separate-stderr "${as[@]}" "$LAPEDGE" --in-place "$@"
        chmod 755 photos
        [ "$status" -eq 4 ] || return
        [[ $stderr == "lapedge: photos/2.jpg: is left alone, because of photos/$record: cannot write: Permission denied"$summary ]] ||
            return
        cmp photos/2.jpg before/2.jpg
    }
    chmod 555 photos
    closed $'\n0 done, 1 up to date, 1 failed (1 write); *' photos/1.jpg photos/2.jpg
    chmod 444 photos/$record
    closed "" photos/2.jpg
    rm photos/$record
    chmod 555 photos
    closed "" photos/2.jpg
    chmod 555 photos
    run --separate-stderr "${as[@]}" "$LAPEDGE" --in-place --filter-again photos/2.jpg
    chmod 755 photos
    [ "$status" -eq 4 ]
    [[ $stderr == "lapedge: photos/2.jpg: cannot create a file in its folder: Permission denied"* ]]
    nothing_left none
}

@test "--backup keeps the photo, and replaces none" {
    photos 3
    lapedge -q --in-place --backup=.orig photos/1.jpg photos/2.jpg
    cmp photos/1.jpg.orig before/1.jpg
    cmp photos/2.jpg.orig before/2.jpg
    wanted photos/1.jpg
    # Of what a stopped run left: the photo under both names, as a link or as a copy.
    ln photos/3.jpg photos/3.jpg.orig
    lapedge -q --in-place --backup=.orig photos/3.jpg
    cmp photos/3.jpg.orig before/3.jpg
    cp before/1.jpg photos/1.jpg
    lapedge -q --in-place --backup=.orig photos/1.jpg
    wanted photos/1.jpg
    # Another file stays, and so does the photo.
    cp before/2.jpg photos/1.jpg
    expect 1 "" "lapedge: photos/1.jpg: is left alone, since its backup 1.jpg.orig exists and is another file" \
        --in-place --backup=.orig photos/1.jpg
    cmp photos/1.jpg before/2.jpg
    cmp photos/1.jpg.orig before/1.jpg
    # A backup that is moved back is filtered.
    mv photos/2.jpg.orig photos/2.jpg
    lapedge -q --in-place --backup=.orig photos/2.jpg
    wanted photos/2.jpg
    cmp photos/2.jpg.orig before/2.jpg
    for ending in .jpg .webp .HEIC .zip; do
        expect 2 "" "lapedge: --backup: \"$ending\" is not a safe backup suffix, such as .orig" --in-place --backup=$ending a.jpg
    done
    expect 2 "" 'lapedge: --backup: "x/y" is not part of a file'"'"'s name' --in-place --backup=x/y a.jpg
    nothing_left none
}

@test "--backup reports that a photo filtered earlier has no backup" {
    photos 2
    lapedge --in-place photos/1.jpg
    ln -s photos/1.jpg link.jpg
    for name in photos/1.jpg link.jpg; do
        expect 0 "" "lapedge: $name: up to date, but without a backup: there is no $name.orig" --in-place --backup=.orig $name
        expect 0 "" "" -q --in-place --backup=.orig $name
        expect 0 "" "lapedge: $name: up to date" --in-place $name
    done
    for _ in 1 2; do
        run --separate-stderr lapedge --in-place --backup=.orig photos/1.jpg photos/2.jpg
        [ "$status" -eq 0 ]
        [[ $stderr == *" up to date (1 without a backup); "* ]]
    done
    expect 0 "" "lapedge: photos/2.jpg: up to date" --in-place --backup=.orig photos/2.jpg
    ln -s photos/2.jpg other.jpg # a backup lies beside the file, not beside a link
    expect 0 "" "lapedge: other.jpg: up to date" --in-place --backup=.orig other.jpg
}

@test "hard links are a photo each; a backup is one more link" {
    photos 1
    ln photos/1.jpg photos/2.jpg
    cp photos/1.jpg before/2.jpg
    lapedge -q --in-place --backup=.old photos/*.jpg
    wanted photos/1.jpg
    cmp photos/1.jpg photos/2.jpg
    cmp photos/1.jpg.old before/1.jpg
    untouched --in-place photos/*.jpg
}

@test "two runs at once filter nothing twice" {
    photos 12
    for _ in 1 2 3; do
        rm -r photos && cp -r before photos
        for _ in 1 2 3; do
            lapedge -q --no-sync --in-place -j2 photos/*.jpg &
        done
        wait
        for i in $(seq 12); do
            wanted "photos/$i.jpg"
        done
        untouched --in-place photos/*.jpg
    done
    nothing_left none
}

@test "a list: --in-place wins, and takes no OUTDIR" {
    photos 3
    printf '%s\0' photos/*.jpg >list
    run --separate-stderr lapedge --in-place -0 --files-from=list --log=log.jsonl -j2
    [[ $status -eq 0 && $stderr == "3 done; "* ]]
    [ "$(grep -c '"lapedge.file/1"' log.jsonl)" -eq 3 ]
    head -n 1 log.jsonl >first
    json first 'o["schema"] == "lapedge.log/1" and o["settings"]["filter"]'
    [ "$(grep -c coefficients log.jsonl)" -eq 1 ]
    wanted photos/3.jpg
    cp before/1.jpg photos/1.jpg
    lapedge --in-place -0 --files-from=- --json <list >lines 2>/dev/null
    [ "$(python3 -c 'import json; print(*[json.loads(line)["status"] for line in open("lines")])')" = "ok skipped skipped" ]
    expect 2 "" "lapedge: --in-place takes no OUTDIR: with --files-from the list names all photos" \
        --in-place --files-from=list out
    expect 2 "" "lapedge: --log: photos/1.jpg is the input" --in-place --log=photos/1.jpg photos/1.jpg
    run --separate-stderr lapedge --in-place -0 --files-from=list --log=photos/1.jpg
    [[ $status -eq 2 && $stderr == "lapedge: --log: photos/1.jpg is an image, and would be replaced" ]]
    wanted photos/1.jpg
}

@test "a stopped run says how many are left, and the same command continues" {
    photos 60
    for i in $(seq 60); do
        pgm 700 $((700 + i)) p.pgm
        lapedge --no-sync --kernel=identity p.pgm "photos/$i.jpg"
    done
    cp photos/*.jpg before
    local code=0
    "$LAPEDGE" --in-place -j1 --threads=1 photos/*.jpg 2>stderr &
    until [ -s photos/$record ]; do
        sleep 0.01
    done
    kill -TERM $! || true
    wait $! || code=$?
    nothing_left none
    if [ "$code" -ne 0 ]; then # else all was done before the signal came
        [ "$code" -eq 143 ]
        [[ $(cat stderr) =~ ^([0-9]+)\ done\;\ cancelled,\ ([0-9]+)\ left\;\ the\ same\ command\ continues$ ]]
        local over=${BASH_REMATCH[1]}
        [ $((over + BASH_REMATCH[2])) -eq 60 ]
        run --separate-stderr lapedge --no-sync --in-place photos/*.jpg
        [[ $status -eq 0 && $stderr == "$((60 - over)) done, $over up to date; "* ]]
    fi
    wanted photos/1.jpg
    wanted photos/60.jpg
}

@test "a folder run takes every photo beside a record, and none of the record" {
    photos 3
    lapedge -q --in-place --backup=.orig photos/1.jpg
    run --separate-stderr lapedge photos edges
    [ "$status" -eq 0 ]
    [[ $stderr == *"3 done"* ]]
    [ "$(ls edges)" = "1.jpg
2.jpg
3.jpg" ]
    run --separate-stderr lapedge --prune photos edges
    [[ $status -eq 0 && $stderr == *"3 up to date"* ]]
    [ -e photos/$record ]
}

@test "in the sandbox it is the same" {
    lapedge --sandbox "$photo" out.jpg 2>/dev/null || skip "no sandbox here"
    photos 3
    run --separate-stderr lapedge --sandbox --in-place --backup=.orig photos/1.jpg photos/2.jpg
    [[ $status -eq 0 && $stderr == "2 done; "* ]]
    cmp photos/1.jpg.orig before/1.jpg
    ls photos/*.jpg >list
    expect 0 "photos/3.jpg -> photos/3.jpg" "1 to be done, 2 up to date" --sandbox -n --in-place photos/*.jpg
    run --separate-stderr lapedge --sandbox --in-place --files-from=list
    [[ $status -eq 0 && $stderr == "1 done, 2 up to date; "* ]]
    wanted photos/3.jpg
}

@test "-n in place judges, and writes nothing" {
    photos 2
    expect 0 "photos/1.jpg -> photos/1.jpg" "" -n --in-place photos/1.jpg
    [ ! -e photos/$record ]
    lapedge --in-place photos/1.jpg
    sha256sum photos/* photos/$record >sums
    expect 0 "photos/2.jpg -> photos/2.jpg" "1 to be done, 1 up to date" -n --in-place photos/*.jpg
    sha256sum -c --quiet sums
}

@test "no side file takes the name of a record" {
    photos 1
    lapedge --in-place photos/1.jpg
    for option in --log --json-file; do
        expect 2 "" "lapedge: $option: photos/$record is the name of lapedge's own records" \
            --in-place "$option=photos/$record" photos/1.jpg
    done
    expect 2 "" "lapedge: --trace: photos/$record is the name of lapedge's own records" \
        "--trace=photos/$record" photos edges
    untouched --in-place photos/1.jpg
}

@test "no output takes the place of a record" {
    mkdir photos
    cp "$photo" photos/1.jpg
    lapedge -q photos edges
    lapedge --in-place photos/1.jpg
    cp photos/.lapedge-in-place.jsonl before
    expect 2 "" "lapedge: photos/.lapedge-in-place.jsonl: is reserved for lapedge's own records; name another path" \
        --format=jpg "$photo" photos/.lapedge-in-place.jsonl
    expect 2 "" "lapedge: edges/.lapedge//: is reserved for lapedge's own records; name another path" photos edges/.lapedge//
    expect 2 "" "lapedge: edges/.lapedge/x.jpg: is reserved for lapedge's own records; name another path" \
        transform --flip=h "$photo" edges/.lapedge/x.jpg
    cmp photos/.lapedge-in-place.jsonl before
    [ "$(find edges/.lapedge -type f | wc -l)" -eq 1 ]
    mkdir -p .lapedge/mine
    expect 0 "" "" -q photos .lapedge/mine/edges # a folder that only lies below one
}

@test "a file that is not a photo leaves no record" {
    echo text >bad.jpg
    expect 1 "" "lapedge: bad.jpg: not a JPEG, PNG or binary PNM image" --in-place bad.jpg
    [ ! -e $record ]
}

@test "a file beside the photos is never a photo, a backup or an output" {
    mkdir ph
    cp "$photo" ph/a.jpg
    cp "$photo" ph/b.jpg
    printf 'ph/a.jpg\nph/b.jpg\n' >list
    local option
    for option in --json-file --log; do
        expect 2 "" "lapedge: $option: ph/a.jpg is an image, and would be replaced" $option=ph/a.jpg ph out
        expect 2 "" "lapedge: $option: ph/a.jpg is an image, and would be replaced" $option=ph/a.jpg --in-place --files-from=list
        expect 2 "" "lapedge: $option: ph/a.jpg.orig is the name of a backup" \
            --in-place --backup=.orig $option=ph/a.jpg.orig ph/a.jpg ph/b.jpg
    done
    expect 2 "" "lapedge: --stats: ph/a.jpg.orig is the name of a backup" --in-place --backup=.orig --stats=ph/a.jpg.orig ph/a.jpg
    lapedge -q --in-place --backup=.orig ph/b.jpg
    expect 2 "" "lapedge: --json-file: ph/b.jpg.orig is an image, and would be replaced" --json-file=ph/b.jpg.orig ph/a.jpg o.jpg
    cmp ph/a.jpg "$photo"
    cmp ph/b.jpg.orig "$photo"
    lapedge -q ph out
    local record=(out/.lapedge/*.jsonl)
    cp "${record[0]}" before
    expect 2 "" "lapedge: ${record[0]}: lies in the folder of lapedge's own records" -f "--json-file=${record[0]}" ph out
    expect 2 "" "lapedge: --json-file: ${record[0]} exists and is not JSON that lapedge wrote; name another file, or remove it" \
        "--json-file=${record[0]}" ph out
    cmp before "${record[0]}"
    ln -s ph/a.jpg sum.json
    expect 2 "" "lapedge: --json-file: sum.json is an image, and would be replaced" --json-file=sum.json ph out
    cmp ph/a.jpg "$photo"
}

@test "the exit code of several photos is that of a folder run, of one its own" {
    for name in a b; do head -c 9000 "$photo" >cut_$name.jpg; done
    cp "$photo" good.jpg
    cp "$photo" kept.orig
    run --separate-stderr lapedge --in-place cut_a.jpg cut_b.jpg
    [ "$status" -eq 4 ]
    run --separate-stderr lapedge --in-place cut_a.jpg good.jpg cut_b.jpg
    [[ $status -eq 1 && $stderr == *"1 done, 2 failed (2 truncated)"* ]]
    run --separate-stderr lapedge --in-place --max-memory=100K --filter-again good.jpg
    [ "$status" -eq 5 ]
    run --separate-stderr lapedge --in-place cut_a.jpg
    [ "$status" -eq 1 ]
    # A photo keeps its name, so there is no format to choose.
    run --separate-stderr lapedge --in-place kept.orig
    [[ $status -eq 2 && $stderr == *"names no known format"* && $stderr != *--format* ]]
    cmp kept.orig "$photo"
    mkdir z
    cp "$photo" z/x.bak
    expect 2 "" "lapedge: z/x.bak: the extension names no known format (jpg jpeg png bmp tga ppm pgm tsv)" --in-place z/x.bak
    cp "$photo" fresh.jpg
    run --separate-stderr lapedge --in-place kept.orig fresh.jpg
    [[ $status -eq 1 && $stderr == *"1 done, 1 failed"* ]]
}

@test "a run that is stopped before the photos are counted says so" {
    photos 1
    mkfifo list
    local code=0
    env --default-signal=INT "$LAPEDGE" --in-place --files-from=list >out 2>err &
    exec 7>list # the list does not end
    echo photos/1.jpg >&7
    catches $! 2 --in-place
    kill -INT $!
    wait $! || code=$?
    exec 7>&-
    [ "$code" -eq 130 ]
    [ "$(cat err)" = "lapedge: cancelled" ]
    cmp photos/1.jpg before/1.jpg
}

stranger() # WORD...: lapedge as a user who owns no file here
{
    setpriv --reuid=65534 --regid=65534 --clear-groups ./lapedge "$@"
}

@test "owner, group and mode stay; what cannot be kept is said" {
    [ "$(id -u)" -eq 0 ] || skip "only root can give files away"
    photos 3
    chown 1234:2345 photos/*.jpg && chmod 660 photos/*.jpg
    lapedge -q --in-place photos/1.jpg
    local box=(--sandbox)
    [ -z "${EMULATOR:-}" ] || box=() # qemu-user knows no Landlock
    ASAN_OPTIONS=detect_leaks=0 lapedge -q --in-place "${box[@]}" photos/2.jpg # no search for leaks is allowed there
    lapedge -q before/1.jpg photos/3.jpg
    [ "$(stat -c '%u:%g %a' photos/*.jpg | sort -u)" = "1234:2345 660" ]
    # Outputs of a folder run, too: made anew, and those of another program that -f replaces.
    mkdir out && echo >out/3.jpg
    run -1 lapedge -q before out
    chown 1234:2345 out/*.jpg
    lapedge -q -f --rebuild before out
    [ "$(stat -c '%u:%g' out/*.jpg | sort -u)" = "1234:2345" ]
    # Somebody else: the group loses what others do not have, since it is another group now.
    cp "$LAPEDGE" . && mkdir his && cp before/1.jpg before/2.jpg his
    chown 65534 his && chown 1234:2345 his/1.jpg && chown 1234:65534 his/2.jpg && chmod 664 his/*.jpg
    chmod 755 . "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/{suite,file,test} "$BATS_RUN_TMPDIR"/{file,test}/*
    stranger --version >version 2>&1 || skip "the tests' folder is closed to others"
    run --separate-stderr stranger --in-place his/1.jpg his/2.jpg
    [ "$status" -eq 0 ]
    [[ $stderr == *"his/1.jpg: warning: owner and group cannot be kept: user 1234, group 2345"* ]]
    [[ $stderr == *"his/2.jpg: warning: the owner cannot be kept: user 1234"$'\n'"2 done (2 with warnings)"* ]]
    [ "$(stat -c '%u:%g %a' his/*.jpg)" = $'65534:65534 644\n65534:65534 664' ]
    # The photo itself was read without a warning.
    run --separate-stderr stranger --in-place --fail-on=warning his/1.jpg
    [[ $status -eq 0 && $stderr == *"up to date" ]]
}

@test "the access control list of a photo stays, and the group gains nothing" {
    photos 2
    python3 - photos/*.jpg before/1.jpg <<'END' || skip "no access control lists here"
import os, struct, sys
entries = [(1, 6, -1), (2, 6, 65534), (4, 0, -1), (16, 6, -1), (32, 0, -1)]
for path in sys.argv[1:]:
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", value)
END
    lists() { python3 -c 'import os, sys
for path in sys.argv[1:]: print(os.getxattr(path, "system.posix_acl_access"), os.stat(path).st_mode)' "$@"; }
    lists photos/1.jpg before/1.jpg photos/2.jpg >want
    lapedge -q --in-place photos/1.jpg
    mkdir out && lapedge -q --preserve before/1.jpg out/1.jpg
    lapedge -q --in-place --backup=.orig photos/2.jpg
    lists photos/1.jpg out/1.jpg photos/2.jpg >got
    diff want got
}

@test "messages: edges of edges, an empty list" {
    photos 2
    lapedge -q before edges
    expect 0 "" "lapedge: warning: 1 input was filtered by lapedge before (edges/1.jpg): its output is edges of edges" \
        --in-place edges/1.jpg
    expect 0 "" "lapedge: edges/1.jpg: up to date" --in-place edges/1.jpg
    run --separate-stderr lapedge --in-place --log=log.jsonl edges/*.jpg photos/1.jpg
    [[ $status -eq 0 && $stderr == "2 done, 1 up to date; "*$'\n'"lapedge: warning: 1 input was filtered by lapedge before (edges/2.jpg): its output is edges of edges" ]]
    grep -q '"filtered_before":1' log.jsonl
    expect 4 "" "lapedge: no photo found: the list names none" --in-place --files-from=/dev/null
    expect 4 "" "lapedge: no photo found: the list names none" -q --in-place --files-from=/dev/null
}

@test "few descriptors mean fewer photos at once, not photos that fail" {
    photos 40
    (ulimit -n 40; lapedge --no-sync --in-place --threads=1 -j64 photos/*.jpg 2>err)
    [[ $(cat err) == "40 done; "* ]]
    for i in $(seq 40); do wanted "photos/$i.jpg"; done
}

@test "a full disk: the same command continues once there is room" {
    local library
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_call.so")
    [ -e "$library" ] || skip "nth_call.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    photos 40
    run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS=write:9+:28 \
        "$LAPEDGE" --in-place --no-sync -j1 --threads=1 photos/*.jpg
    local n="([0-9]+)"
    local said="$n done, $n failed \\($n disk_full\\); the disk is full, $n left; once there is room, the same command continues$"
    [[ $stderr =~ $said ]]
    [ $((BASH_REMATCH[1] + BASH_REMATCH[2] + BASH_REMATCH[4])) -eq 40 ]
    lapedge --in-place --no-sync photos/*.jpg
    for i in {1..40}; do wanted "photos/$i.jpg"; done
}

@test "a photo that cannot be looked at is said to be so, and one that is gone to be gone" {
    local library n
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_call.so")
    [ -e "$library" ] || skip "nth_call.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    photos 1
    for number in 2:"no such file" 5:"cannot be examined: Input/output error"; do
        for n in {1..200}; do
            rm -f fired
            run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS="fstatat:$n:${number%%:*}" LAP_FIRED=fired \
                "$LAPEDGE" --in-place --no-sync -j1 --threads=1 photos/1.jpg
            [ -e fired ] || break
            cp before/1.jpg photos/1.jpg && rm -f photos/.lapedge-in-place.jsonl
            echo "$stderr" >>"said.${number%%:*}"
        done
        grep -qx "lapedge: photos/1.jpg: ${number#*:}" "said.${number%%:*}" || { cat "said.${number%%:*}"; return 1; }
    done
    # Each number is called what it is.
    run cat said.2 said.5
    [[ $(cat said.2) != *"cannot be examined: No such file"* ]]
    run grep -x "lapedge: photos/1.jpg: no such file" said.5
    [ -z "$output" ]
}

@test "a name that is no file: nothing is changed" {
    photos 3
    rm before/3.jpg photos/3.jpg
    cp -r photos more
    untouched --in-place photos/1.jpg photos/3.jpg || [ $? -eq 2 ]
    [ "$(cat stderr)" = "lapedge: --in-place: photos/3.jpg: no such file; nothing is changed unless every FILE exists; for \
IN OUT leave --in-place out" ]
    local none="lapedge: --in-place: photos/3.jpg: no such file; nothing is changed unless every FILE exists"
    expect 2 "" "$none" --in-place photos/1.jpg photos/2.jpg photos/3.jpg
    expect 2 "" "$none" -n --in-place photos/3.jpg photos/1.jpg photos/2.jpg
    expect 2 "" "lapedge: --in-place: photos/1.jpg/: no such file; nothing is changed unless every FILE exists; for \
IN OUT leave --in-place out" --in-place photos/2.jpg photos/1.jpg/
    expect 2 "" "lapedge: --in-place: more is a folder; name the files in it" --in-place photos/1.jpg more
    ln -s nowhere.jpg photos/link.jpg
    expect 2 "" "lapedge: --in-place: photos/link.jpg: no such file; nothing is changed unless every FILE exists; for \
IN OUT leave --in-place out" --in-place photos/1.jpg photos/link.jpg
    sha256sum -c --quiet sums
    [ ! -e photos/.lapedge-in-place.jsonl ]
    # A single photo fails as any single photo; a file of a list may vanish.
    expect 1 "" "lapedge: photos/3.jpg: no such file" --in-place photos/3.jpg
    printf 'photos/1.jpg\nphotos/3.jpg\n' >list
    run --separate-stderr lapedge --in-place --files-from=list
    [ "$status" -eq 1 ]
    [[ $stderr == *"photos/3.jpg: no such file"*"1 done, 1 failed (1 missing)"* ]]
    wanted photos/1.jpg
}
