# Records in OUTDIR/.lapedge: whose they are, what they let be replaced or removed, and those of earlier versions.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# place SAMPLE WORD...: in, and out with its record
place() { python3 "$repo/tests/cli/records/place.py" "$repo/tests/cli/records/$1" "${@:2}"; }

# folder CODE TEXT WORD...: a run that ends with CODE and says TEXT
folder()
{
    local code=$1 text=$2
    shift 2
    run --separate-stderr lapedge "$@"
    [ "$status" -eq "$code" ] && [[ $stderr == *"$text"* ]] || {
        printf 'lapedge %s\ncode %s, expected %s\nsaid %s\nexpected %s\n' "$*" "$status" "$code" "$stderr" "$text"
        return 1
    }
}

# Two photos, their outputs, and one photo gone.
prepare()
{
    pgm 40 30 tiny.pgm
    mkdir in
    lapedge tiny.pgm in/a.jpg
    cp in/a.jpg in/b.jpg
    lapedge -q in out
    rm in/b.jpg
}

# facts FILE: what a line says of an output that is this file
facts()
{
    stat -c '"output_device":%d,"output_inode":%i,"output_size":%s' "$1" | tr -d '\n'
    python3 -c 'import os, sys
t = os.stat(sys.argv[1]).st_mtime_ns
print(",\"output_mtime_s\":%d,\"output_mtime_ns\":%d" % divmod(t, 10**9), end="")' "$1"
}

# forge FILE [FACT]: a record of b.jpg that means FILE, with a hash of nothing that it holds unless FACT has one
forge()
{
    printf '{"schema":"lapedge.manifest/1","event":"done","output":"b.jpg","settings":"%016x",%s,%s"input":"in/b.jpg",' \
        0 "$(facts "$1")" "${2-'"output_hash":"0123456789abcdef",'}"
    printf '"input_size":1,"input_mtime_s":1,"input_mtime_ns":1,"input_folder":"%s/in","input_folder_device":%d,' \
        "$PWD" "$(stat -c %d in)"
    printf '"input_folder_inode":%d,"input_below":5}\n' "$(stat -c %i in)"
}

@test "a folder that version 0.1 made continues" {
    place 0.1
    folder 0 "" in out
    [[ $stderr != *"left alone"* ]]
    folder 0 "0 done, 3 up to date" in out
    cmp <(cd out && ls) <(cd "$repo/tests/cli/records/0.1/out" && ls)
    # Other settings, another photo: what is replaced has the content of the record.
    rm -r in out
    place 0.1
    cp in/c.jpg in/a.jpg
    folder 0 "3 done" --gray in out
    folder 0 "0 done, 3 up to date" --gray in out
    # What was edited since, with its old time, is not the file of the record.
    rm -r in out
    place 0.1
    cp -p out/a.jpg kept
    printf x | dd of=out/a.jpg bs=1 seek=1000 conv=notrunc status=none
    touch -r kept out/a.jpg
    cp -p out/a.jpg kept
    folder 1 "out/a.jpg: exists and was changed since lapedge made it; -f replaces it" --gray in out
    [[ $stderr == *"2 done, 1 left alone"* ]]
    cmp kept out/a.jpg
}

@test "a folder that version 0.1 made continues after it was copied" {
    place 0.1 restored
    folder 0 "" in out
    [[ $stderr != *"left alone"* ]]
    folder 0 "0 done, 3 up to date" in out
    rm -r in out
    place 0.1 restored
    folder 0 "3 done" --gray in out
}

@test "photos that version 0.1 filtered: up to date, changed, pruned" {
    local words=(-Q 80 --range=abs)
    place 0.1-photos
    folder 0 "0 done, 3 up to date" "${words[@]}" in out
    # What is made today has the bytes of then, where the same libjpeg decodes.
    folder 0 "3 done" "${words[@]}" in fresh
    if lapedge -q in/coffee.jpg --kernel=identity identity.ppm && [ "$(sha256sum <identity.ppm | cut -c1-8)" = f86d7ec5 ]; then
        for file in coffee.jpg 2026/cat.jpg 2026/astronaut.jpeg; do cmp out/$file fresh/$file; done
    fi
    # A photo was replaced, another one added; an output is gone.
    cp in/2026/cat.jpg in/coffee.jpg
    cp in/2026/cat.jpg in/2026/new.jpg
    rm out/2026/astronaut.jpeg
    folder 0 "3 done, 1 up to date" "${words[@]}" in out
    cmp out/coffee.jpg out/2026/cat.jpg
    folder 0 "0 done, 4 up to date" "${words[@]}" in out
    folder 0 "0 done, 4 up to date" "${words[@]}" --fail-on=none in out
    # Photos were removed: one with a record of now, which names the folder, and one with a record of then.
    rm in/2026/new.jpg
    folder 0 "3 up to date, 1 removed (photo gone)" "${words[@]}" --prune in out
    [ ! -e out/2026/new.jpg ]
    rm in/2026/cat.jpg
    folder 1 "may be another folder than the recorded one: records of early versions do not name it" "${words[@]}" --prune in out
    [ -e out/2026/cat.jpg ]
    folder 0 "2 up to date, 1 removed (photo gone)" "${words[@]}" --prune -f in out
    [ ! -e out/2026/cat.jpg ]
    [ -e out/coffee.jpg ]
    [ -e out/2026/astronaut.jpeg ]
    # Other settings, and those of then again.
    folder 0 "2 done" in out
    folder 0 "2 done" "${words[@]}" in out
    cmp out/2026/astronaut.jpeg fresh/2026/astronaut.jpeg
}

@test "another --fail-on makes again only what it may refuse" {
    prepare
    cp in/a.jpg in/b.jpg
    head -c 900 in/a.jpg >in/cut.jpg
    folder 1 "1 done, 1 up to date, 1 failed" in out
    [[ $stderr == *"--fail-on=none keeps what can be read"* ]]
    folder 0 "1 done (1 with warnings), 2 up to date" --fail-on=none in out
    folder 0 "0 done, 3 up to date" --fail-on=none in out
    for level in truncated warning; do
        folder 1 "0 done, 2 up to date, 1 failed" --fail-on=$level in out
    done
    # A copy elsewhere, known by its content, and back.
    cp -r out copy
    folder 0 "0 done, 3 up to date" --fail-on=none in copy
    folder 1 "0 done, 2 up to date, 1 failed" --fail-on=warning in copy
    # Whatever the level of the run, it removes what is without a photo.
    rm in/b.jpg in/cut.jpg
    folder 0 "2 removed (photo gone)" --fail-on=warning --prune in out
    [ -e out/a.jpg ]
    [ ! -e out/b.jpg ]
    [ ! -e out/cut.jpg ]
}

@test "records of version 0.1: --fail-on=none continues, a stricter one looks again" {
    place 0.1
    folder 0 "0 done, 3 up to date" --fail-on=none in out
    folder 0 "3 done" --fail-on=warning in out
    folder 0 "0 done, 3 up to date" in out
}

@test "records of version 0.1 name no folder: --prune refuses, -f takes the names from here" {
    place 0.1
    rm in/a.jpg
    folder 1 "--prune: nothing was removed: in: may be another folder than the recorded one: records of early versions do not name it" \
        --prune in out
    [ -e out/a.jpg ]
    folder 1 "nothing was removed" -n --prune in out
    folder 0 "warning: in: counts as the recorded folder, because records of early versions do not name one" -n --prune -f in out
    [[ $output == *"remove out/a.jpg"* ]]
    [ -e out/a.jpg ]
    folder 0 "1 removed (photo gone)" --prune -f in out
    [ ! -e out/a.jpg ]
    [ -e out/c.jpg ]
    # Once the outputs are made again, the records do name it.
    folder 0 "" --prune -f --rebuild in out
    rm in/sub/b.jpg
    touch in/sub/note
    folder 0 "1 removed (photo gone)" --prune in out
    [ ! -e out/sub/b.jpg ]
}

@test "lines without a hash: the same content is replaced, nothing else, and nothing is removed" {
    place 0.1 hashless
    # Made with other settings, of which the record has a number: the same bytes come out.
    sed -i 's/"settings":"[0-9a-f]*"/"settings":"0000000000000001"/' out/.lapedge/*
    cp -p out/c.jpg kept
    printf x | dd of=out/c.jpg bs=1 seek=600 conv=notrunc status=none
    cp -p out/c.jpg kept
    if lapedge in fresh 2>/dev/null && cmp -s fresh/a.jpg out/a.jpg && cmp -s fresh/sub/b.jpg out/sub/b.jpg; then
        folder 1 "out/c.jpg: exists and its record is too old to tell whether it was changed; -f replaces it" in out
        [[ $stderr == *"2 done, 1 left alone"* ]]
        folder 1 "0 done, 2 up to date, 1 left alone" in out
    else # another libjpeg: nothing can be told
        folder 1 "3 left alone" in out
    fi
    cmp kept out/c.jpg
    # A file of another size by 2^32, and one of the same size.
    cp -p kept out/c.jpg
    truncate -s $(($(stat -c %s kept) + (1 << 32))) out/c.jpg
    folder 1 "out/c.jpg: exists and was changed since lapedge made it" in out
    [ "$(stat -c %s out/c.jpg)" -gt $((1 << 32)) ]
    rm -r in out
    place 0.1 hashless
    rm in/c.jpg
    folder 0 "" --prune -f in out
    [ -e out/c.jpg ]
}

@test "a record that names a user's own file does not allow removing or replacing it" {
    prepare
    # By device, inode, size and time, but not by content.
    rm out/b.jpg
    echo "my own file" >out/b.jpg
    cp -p out/b.jpg kept
    forge out/b.jpg >out/.lapedge/forged.jsonl
    folder 0 "" --prune in out
    cmp kept out/b.jpg
    folder 0 "" --prune -f in out
    cmp kept out/b.jpg
    cp in/a.jpg in/b.jpg
    folder 1 "out/b.jpg: exists and was changed since lapedge made it" in out
    cmp kept out/b.jpg
    # Without a hash, by a size modulo 2^32 or not.
    forge out/b.jpg '' >out/.lapedge/forged.jsonl
    folder 1 "out/b.jpg: exists and its record is too old to tell" in out
    cmp kept out/b.jpg
    rm in/b.jpg
    folder 0 "" --prune -f in out
    cmp kept out/b.jpg
}

@test "an output that was edited in place with its old time stays" {
    prepare
    cp -p out/b.jpg kept
    printf x | dd of=out/b.jpg bs=1 seek=600 conv=notrunc status=none
    touch -r kept out/b.jpg
    folder 0 "" -n --prune in out
    [ -z "$output" ]
    folder 0 "" --prune in out
    [ -e out/b.jpg ]
    cp kept out/b.jpg
    touch -r kept out/b.jpg
    folder 0 "1 removed" --prune in out
    [ ! -e out/b.jpg ]
}

@test "records that others may have written are not believed" {
    prepare
    local record
    record=$(echo out/.lapedge/*.jsonl)
    chmod o+w "$record"
    folder 1 "--prune: nothing was removed: out/.lapedge: ${record##*/} may be written by everybody" --prune in out
    [ -e out/b.jpg ]
    folder 0 "0 done, 1 up to date" in out
    folder 1 "out/a.jpg: exists and its record may have been written by somebody else; -f replaces it" --gray in out
    chmod o-w "$record"
    chmod o+w out/.lapedge
    folder 1 "${record##*/} lies in a folder that everybody may write" --prune in out
    [ -e out/b.jpg ]
    folder 1 "its record may have been written by somebody else" --gray in out
    chmod o-w out/.lapedge
    # A group that may write is believed.
    chmod g+w out/.lapedge "$record"
    folder 0 "1 to be removed" -n --prune in out
    if [ "$(id -u)" -eq 0 ]; then
        chown 65534 "$record"
        folder 1 "${record##*/} belongs to another user" --prune in out
        [ -e out/b.jpg ]
        folder 1 "its record may have been written by somebody else" --gray in out
        # Beside it one of ours, which removes what it names.
        cp in/a.jpg in/c.jpg
        folder 0 "1 done" in out
        rm in/c.jpg
        folder 0 "warning: out/.lapedge: ${record##*/} belongs to another user" --prune in out
        [[ $stderr == *"1 removed"* ]]
        [ ! -e out/c.jpg ]
        [ -e out/b.jpg ]
        chown 0 "$record"
    fi
    folder 0 "1 removed" --prune in out
    [ ! -e out/b.jpg ]
}

@test "--prune from another folder, and of another folder of the same name, removes nothing" {
    prepare
    mkdir -p other/in
    cp in/a.jpg other/in
    cp tiny.pgm other
    (cd other && cp ../in/a.jpg in/z.jpg)
    local before
    before=$(ls out)
    cd other
    folder 1 "--prune: nothing was removed: in: is not the recorded folder, ${PWD%/other}/in" --prune in ../out
    # By force neither: the folder of the records stands where it stood.
    folder 1 "--prune: nothing was removed: in: is not the recorded folder, ${PWD%/other}/in, which still exists" -q --prune -f in ../out
    cd ..
    [ -e out/b.jpg ]
    [ -n "$before" ]
    rm out/z.jpg
    # Named from the root, or through a link, it is the same folder.
    ln -s in link
    folder 0 "1 to be removed" -n --prune link out
    folder 0 "1 to be removed" -n --prune "$PWD/in" out
    cd other
    folder 0 "1 to be removed" -n --prune ../in ../out
    cd ..
    # A folder anew under the old name has another inode.
    cp -a in anew
    mv in old
    mv anew in
    folder 1 "in: is not the recorded folder, $PWD/in: name and inode must be the same" --prune in out
    [ -e out/b.jpg ]
    lapedge --prune --json in out >refused.json || true
    json refused.json 'o["pruned"]["refused"]["kind"] == "changed" and o["pruned"]["files"] == 0'
}

@test "a tree that was moved is taken with --prune -f, which says so" {
    prepare
    mv in moved
    folder 1 "nothing was removed: moved: is not the recorded folder, $PWD/in" --prune moved out
    [ -e out/b.jpg ]
    folder 0 "warning: moved: counts as the recorded folder, $PWD/in" --prune -f --rebuild moved out
    [[ $stderr == *"1 removed (photo gone)"* ]]
    [ ! -e out/b.jpg ]
    [ -e out/a.jpg ]
    # The records name the new place from now on.
    touch moved/note
    rm moved/a.jpg
    cp "$photo" moved/c.jpg
    folder 0 "1 removed (photo gone)" --prune moved out
    [ ! -e out/a.jpg ]
}

@test "a changed device number of the folder does not matter, that of the output does" {
    prepare
    local record
    record=$(echo out/.lapedge/*.jsonl)
    cp "$record" kept
    sed -i 's/"output_device":[0-9]*/"output_device":12345/' "$record"
    folder 0 "" --prune in out
    [ -e out/b.jpg ]
    sed 's/"input_folder_device":[0-9]*/"input_folder_device":12345/' kept >"$record"
    folder 0 "1 removed" --prune in out
    [ ! -e out/b.jpg ]
}

@test "an output of two records goes if both say that its photo is gone" {
    prepare
    mkdir more
    cp in/a.jpg more/x.jpg
    # The same file, by another record of a photo that is there.
    grep -h '"done"' out/.lapedge/*.jsonl | grep '"output":"b.jpg"' |
        sed 's,"input":"in/b.jpg","input":"in/a.jpg",' >out/.lapedge/a-second.jsonl
    folder 0 "" --prune in out
    [ -e out/b.jpg ]
    rm out/.lapedge/a-second.jsonl
    folder 0 "1 removed" --prune in out
}

@test "a photo that was named by itself is known by its folder, too" {
    pgm 40 30 tiny.pgm
    mkdir -p in/sub
    lapedge tiny.pgm in/a.jpg
    lapedge tiny.pgm in/sub/b.jpg
    (cd in && lapedge -q a.jpg sub/b.jpg ../out)
    rm in/sub/b.jpg
    touch in/sub/note
    folder 0 "1 removed" --prune in out
    [ -e out/a.jpg ]
    [ ! -e out/b.jpg ]
}

@test "photos of one name in two folders do not replace each other's outputs" {
    mkdir 2023 2024
    pgm 40 30 2023/1.pgm && pgm 41 30 2024/1.pgm
    lapedge -q --format=jpg --ext=pgm 2023 out
    cp out/1.jpg first.jpg
    run --separate-stderr lapedge --format=jpg --ext=pgm 2024/ out
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: out/1.jpg: exists and was made from a photo in another folder; name another OUTDIR, or give -f if that photo was moved here"$'\n'"0 done, 1 left alone ("* ]]
    cmp out/1.jpg first.jpg
    # The same photo, edited, renamed, moved, or with other settings.
    pgm 42 30 2023/1.pgm
    expect 0 "" "" -q --format=jpg --ext=pgm "$PWD/2023/" out
    mv 2023 2025 && pgm 43 30 2025/1.pgm
    expect 0 "" "" -q --format=jpg --ext=pgm 2025 out
    expect 0 "" "" -q --format=jpg --flat 2025/1.pgm out/
    mkdir far && cp -a 2025/1.pgm far && rm -r 2025
    expect 0 "" "" -q --format=jpg -Q 80 --ext=pgm far out
    # A run after a move notes the new place, once.
    cp -a far moved && rm -r far
    for _ in 1 2; do expect 0 "" "" -q --format=jpg -Q 80 --ext=pgm moved out; done
    [ "$(grep -l '"input_folder":"[^"]*/moved"' out/.lapedge/* | wc -l)" -eq 1 ]
    pgm 44 30 moved/1.pgm
    expect 0 "" "" -q --format=jpg --ext=pgm moved out
    # Moved, and edited before the next run: -f says so.
    cp -r moved last && rm -r moved
    run -1 lapedge -q --format=jpg --ext=pgm last out
    expect 0 "" "" -q -f --format=jpg --ext=pgm last out
}

@test "--preserve of a later run, and --rebuild of what no record proves" {
    mkdir p && pgm 40 30 p/a.pgm && touch -d 2001-02-03 p/a.pgm && chmod 604 p/a.pgm
    lapedge -q --ext=pgm p out
    lapedge -q --ext=pgm --preserve p out
    [ "$(stat -c '%a %Y' out/a.pgm)" = "$(stat -c '%a %Y' p/a.pgm)" ]
    before=$(stat -c %i out/a.pgm)
    expect 0 "" "" -q --ext=pgm --preserve p out
    [ "$(stat -c %i out/a.pgm)" = "$before" ]
    # In place the time is gone after a run without it.
    cp -p p/a.pgm one.pgm && cp -p p/a.pgm two.pgm
    lapedge -q --in-place --preserve one.pgm && lapedge -q --in-place --preserve one.pgm
    touch -d 2002-02-03 one.pgm
    lapedge -q --in-place --preserve one.pgm
    pgm 40 31 two.pgm && touch -d 2003-02-03 two.pgm && lapedge -q --in-place two.pgm
    expect 1 "" "lapedge: two.pgm: was filtered in place before, without keeping the photo's time, and is left alone; to keep it, restore the original photo first" \
        --in-place --preserve two.pgm
    # A record that others may have written says that it is done: it is skipped, but not made anew.
    chmod o+w out/.lapedge
    expect 0 "" "" -q --ext=pgm p out
    expect 1 "" "lapedge: out/a.pgm: exists and its record does not prove that lapedge made it; -f replaces it" \
        -q --rebuild --ext=pgm p out
}

@test "a photo with another content, but the old size and time, is filtered again; a copy is not" {
    mkdir p && pgm 40 30 p/a.pgm && pgm 40 30 p/b.pgm
    folder 0 "2 done" --ext=pgm p out
    cp -p p/a.pgm old
    sed -i 's/^200$/002/' p/a.pgm && touch -r old p/a.pgm
    folder 0 "1 done, 1 up to date" --ext=pgm p out
    lapedge p/a.pgm fresh.pgm && cmp fresh.pgm out/a.pgm
    folder 0 "0 done, 2 up to date" --ext=pgm p out
    # Another file takes the name, with the old time.
    cp -p p/a.pgm new && mv old p/a.pgm
    folder 0 "1 done, 1 up to date" --ext=pgm p out
    # Copies, and another mode: the content decides, once.
    cp -a p q && rm -r p && mv q p && chmod 600 p/b.pgm
    folder 0 "0 done, 2 up to date" --ext=pgm p out
    [ "$(cat out/.lapedge/*.jsonl | grep -c '"input_ctime_s":')" -ge 6 ]
    local written
    written=$(cat out/.lapedge/*.jsonl | wc -l)
    folder 0 "0 done, 2 up to date" --ext=pgm p out
    [ "$(cat out/.lapedge/*.jsonl | wc -l)" -eq "$written" ]
    # Copies of a record that says no content, and of one that says no change time either, as of version 0.1.
    sed -i -E 's/,"input_hash":"[0-9a-f]*"//' out/.lapedge/*.jsonl
    cp -p p/b.pgm old && mv old p/b.pgm
    folder 0 "1 done, 1 up to date" --ext=pgm p out
    sed -i -E 's/,"input_(hash|ctime_n?s)":"?[0-9a-f]*"?//g' out/.lapedge/*.jsonl
    cp -p p/b.pgm old && mv old p/b.pgm
    folder 0 "0 done, 2 up to date" --ext=pgm p out
}

# Outputs of photos/ in edges/, which has the only records.
nested()
{
    local name
    pgm 40 30 tiny.pgm
    mkdir -p photos/2022 photos/2023
    for name in 2022/a 2022/b 2023/c; do lapedge tiny.pgm photos/$name.jpg; done
    lapedge -q photos edges
}

@test "records of a folder above the output folder count" {
    nested
    folder 0 "0 done, 2 up to date" photos/2022 edges/2022
    ln -s edges/2022 link
    folder 0 "0 to be done, 2 up to date" -n photos/2022 link
    [ ! -e edges/2022/.lapedge ]
    run --separate-stderr lapedge --sandbox photos/2023/c.jpg one.jpg # some kernels have no sandbox
    [ "$status" -ne 0 ] || folder 0 "0 done, 2 up to date" --sandbox photos/2022 edges/2022
    # An edited output, a file without a record, and one that only has the name of an output.
    echo more >>edges/2022/a.jpg
    echo mine >edges/2022/n.jpg
    cp photos/2022/b.jpg photos/2022/n.jpg
    folder 1 "edges/2022/a.jpg: exists and was changed since lapedge made it; -f replaces it" photos/2022 edges/2022
    [[ $stderr == *"edges/2022/n.jpg: exists and was not made by lapedge"* && $stderr == *"0 done, 1 up to date, 2 left alone"* ]]
    [ "$(cat edges/2022/n.jpg)" = mine ]
    # Other photos of that name.
    mkdir other
    pgm 41 30 tiny.pgm
    lapedge tiny.pgm other/b.jpg
    folder 1 "edges/2022/b.jpg: exists and was made from a photo in another folder" other edges/2022
}

@test "two output folders, one in the other, know each other's outputs" {
    nested
    folder 0 "2 done" --invert photos/2022 edges/2022
    [ -d edges/2022/.lapedge ]
    folder 0 "1 done, 2 up to date" --invert photos edges
    folder 0 "3 done" photos edges
    folder 0 "0 done, 2 up to date" photos/2022 edges/2022
    cp photos/2022/a.jpg photos/2022/new.jpg
    folder 0 "1 done, 2 up to date" photos/2022 edges/2022
    folder 0 "0 done, 4 up to date" photos edges
    cp photos/2022/a.jpg photos/2022/newer.jpg
    folder 0 "1 done, 4 up to date" photos edges
    folder 0 "0 done, 4 up to date" photos/2022 edges/2022
}

@test "-f does not replace what a run with other settings makes meanwhile, above or below" {
    pgm 40 30 tiny.pgm
    mkdir -p photos/2022
    lapedge tiny.pgm photos/2022/a.jpg
    local over
    other_settings() { lapedge -q -f --invert "${other[@]}"; }
    for before in "" mine; do # a file that both may replace
        for held in inner outer; do
            rm -rf edges
            mkdir -p edges/2022 # and no records
            [ -z "$before" ] || echo $before >edges/2022/a.jpg
            over=(photos/2022 edges/2022) other=(photos edges)
            [ $held = inner ] || over=(photos edges) other=(photos/2022 edges/2022)
            while_held other_settings -f "${over[@]}"
            [[ $status -eq 1 && $stderr == *"a.jpg: exists and was made by another run, with other settings, during this one"* ]]
            folder 0 "0 done, 1 up to date" --invert "${other[@]}"
        done
    done
}

@test "in the sandbox, a new output folder in one that has records: they protect what that run makes meanwhile" {
    nested
    run --separate-stderr lapedge --sandbox photos/2023/c.jpg one.jpg # some kernels have no sandbox
    [ "$status" -eq 0 ] || skip "no sandbox"
    other_settings() { lapedge -q -f --invert photos edges; }
    for outdir in edges/new edges/new/deep; do
        rm -rf edges/new photos/new
        mkdir -p photos/"${outdir#edges/}"
        cp photos/2022/a.jpg photos/"${outdir#edges/}"
        while_held other_settings -f --sandbox photos/"${outdir#edges/}" $outdir
        [[ $status -eq 1 && $stderr == *"a.jpg: exists and was made by another run, with other settings, during this one"* ]]
    done
    rm -rf edges # records that appear during the run cannot be read
    while_held other_settings -f --sandbox photos/2022 edges/2022
    [[ $status -eq 1 && $stderr == *"a.jpg: exists and was made by another run, with other settings, during this one"* ]]
    folder 0 "2 done" -f --sandbox photos/2022 edges/2022
}

@test "records above or below the output folder prove nothing if others may have written them" {
    nested
    local where
    for where in edges photos; do # photos: the records lie below the second output folder
        if [ $where = photos ]; then
            rm -rf edges
            lapedge -q photos/2022 edges/2022
            set -- --include=2022/ photos edges
        else
            set -- photos/2022 edges/2022
        fi
        folder 0 "0 to be done, 2 up to date" -n "$@"
        chmod o+w edges/.lapedge edges/2022/.lapedge 2>/dev/null || true
        folder 1 "edges/2022/a.jpg: exists and was not made by lapedge" "$@"
        folder 1 "0 done, 2 left alone" --rebuild "$@"
        chmod o-w edges/.lapedge edges/2022/.lapedge 2>/dev/null || true
        if [ "$(id -u)" -eq 0 ]; then
            chown -R 65534 edges
            folder 1 "0 done, 2 left alone" "$@"
            chown -R 0 edges
        fi
        folder 0 "2 done" --rebuild "$@"
    done
}

@test "--prune removes nothing that only records above or below the output folder name, and says so" {
    nested
    rm photos/2022/b.jpg
    local all
    all=$(realpath edges)
    for more in "" -n -f; do
        # shellcheck disable=SC2086 # may be empty
        folder 0 "lapedge: --prune: 1 output left: recorded in $all; a run with that OUTDIR and its photos can remove it" $more \
            --prune photos/2022 edges/2022
        [ -e edges/2022/b.jpg ]
    done
    lapedge -q --json --prune photos/2022 edges/2022 >run.json
    json run.json 'o["pruned"]["others"] == 1 and o["pruned"]["files"] == 0'
    folder 0 "1 removed (photo gone)" --prune photos edges
    [[ ! -e edges/2022/b.jpg && $stderr != *" left: "* ]]
    cp photos/2022/a.jpg photos/2022/d.jpg
    folder 0 "1 done" photos/2022 edges/2022
    rm photos/2022/d.jpg
    folder 0 "lapedge: --prune: 1 output left: recorded in edges/2022; a run with that OUTDIR and its photos can remove it" \
        --prune photos edges
    [ -e edges/2022/d.jpg ]
    folder 0 "1 removed (photo gone)" --prune photos/2022 edges/2022
    [ ! -e edges/2022/d.jpg ]
    # It was made again with another output folder: only that one's record describes it, and nobody changed it.
    cp photos/2022/a.jpg photos/2022/d.jpg
    folder 0 "1 done" photos edges
    folder 0 "2 done" --gray photos/2022 edges/2022
    rm photos/2022/d.jpg
    folder 0 "lapedge: --prune: 1 output left: recorded in edges/2022; a run with that OUTDIR and its photos can remove it" \
        --prune photos edges
    [[ $stderr != *"changed or copied"* ]]
    printf x >>edges/2022/d.jpg
    folder 0 "lapedge: --prune: 1 output left: changed or copied after lapedge wrote it" --prune photos edges
    [[ $stderr != *"recorded in"* ]]
}

@test "--prune keeps an output that a folder above or below needs for a photo that is still there" {
    local mine theirs
    for inner in mine theirs; do
        rm -rf photos other gone edges
        nested
        [ $inner = theirs ] || rm -rf edges # the other run records what is there already
        mkdir other
        cp -rp photos/2022 other/2022
        if [ $inner = mine ]; then
            mine=(photos/2022 edges/2022) theirs=(other edges)
            lapedge -q "${mine[@]}"
        else
            mine=(photos edges) theirs=(other/2022 edges/2022)
        fi
        folder 0 "0 done, 2 up to date" "${theirs[@]}"
        rm photos/2022/b.jpg
        for more in -n "" -f; do
            # shellcheck disable=SC2086 # may be empty
            folder 0 " up to date" $more --prune "${mine[@]}"
            [[ $stderr != *removed* && $stderr != *"--prune:"* && -e edges/2022/b.jpg ]]
        done
        mv other gone # perhaps on a disk that is not there
        folder 0 "lapedge: --prune: 1 output left: its photo was in a folder that is not part of this run, and is not there any more" \
            --prune "${mine[@]}"
        if [ $inner = theirs ]; then
            folder 0 "1 removed (photo gone)" -f --prune "${mine[@]}"
        else
            mv gone other
            rm other/2022/b.jpg
            folder 0 "1 removed (photo gone)" --prune "${mine[@]}"
        fi
        [[ ! -e edges/2022/b.jpg && -e edges/2022/a.jpg ]]
    done
}

@test "--prune keeps an output that the first run above or below claims meanwhile" {
    local inner mine theirs boxes="no"
    lapedge --sandbox -q "$photo" one.jpg && boxes="no yes" || true # some kernels have no sandbox
    claims() { lapedge -q "${theirs[@]}"; }
    for inner in mine theirs; do
        for box in $boxes; do
            rm -rf photos other edges
            nested
            rm -rf edges photos/2023
            mkdir other
            cp -rp photos/2022 other/2022
            if [ $inner = mine ]; then
                mine=(photos/2022 edges/2022) theirs=(other edges)
            else
                mine=(photos edges) theirs=(other/2022 edges/2022)
            fi
            lapedge -q "${mine[@]}"
            rm photos/2022/b.jpg
            cp photos/2022/a.jpg photos/2022/new.jpg # the run is held at its output
            [ $box = no ] || mine=(--sandbox "${mine[@]}")
            while_held claims --prune "${mine[@]}"
            [[ -e edges/2022/b.jpg && $stderr != *"removed (photo gone)"* ]]
            # In the sandbox records that appear above the output folder cannot be read.
            if [ $inner$box = mineyes ]; then
                [[ $status -eq 1 && $stderr == *"--prune: nothing was removed: "*"/edges/.lapedge: appeared during the run, and may not be read"* ]]
            else
                [ "$status" -eq 0 ]
            fi
        done
    done
}
