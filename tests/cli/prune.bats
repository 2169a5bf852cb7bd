# --prune: outputs whose photo is gone.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# Two folders and their outputs; of each something is removed.
prepare()
{
    local name
    pgm 40 30 tiny.pgm
    mkdir -p in/sub more
    for name in in/a in/b in/sub/c in/sub/d more/z; do
        lapedge tiny.pgm "$name.jpg"
    done
    lapedge -q in more out
    echo mine >out/mine.jpg
    rm in/b.jpg in/sub/c.jpg
}

outputs() { (cd "$1" && find . -type f -not -path '*/.lapedge/*' | LC_ALL=C sort | paste -sd' '); }

ALL="./a.jpg ./b.jpg ./mine.jpg ./sub/c.jpg ./sub/d.jpg ./z.jpg"

# kept CODE TEXT WORD...: the run says TEXT, and removes nothing.
kept()
{
    local code=$1 text=$2
    shift 2
    run --separate-stderr lapedge --prune "$@"
    if [ "$status" -ne "$code" ] || [[ $stderr != *"$text"* ]]; then
        printf 'lapedge --prune %s\ncode %s, expected %s\nsaid %s\nexpected %s\n' "$*" "$status" "$code" "$stderr" "$text"
        return 1
    fi
    [ -e out/b.jpg ]
    [ -e out/sub/c.jpg ]
}

@test "outputs whose photo is gone are removed, and nothing else; -n shows them" {
    prepare
    run --separate-stderr lapedge -n --prune in more out
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = $'remove out/b.jpg\nremove out/sub/c.jpg' ]
    [[ $stderr == "0 to be done, 3 up to date, 2 to be removed (photo gone)" ]]
    [ "$(outputs out)" = "$ALL" ]
    lapedge -n --prune --json in more out >dry.json
    json dry.json 'o["pruned"]["files"] == 2 and sorted(o["pruned"]["outputs"]) == ["out/b.jpg", "out/sub/c.jpg"]'
    json dry.json 'o["pruned"]["refused"] is None and o["dry_run"]'
    lapedge -q in more out --json >without.json
    json without.json 'o["pruned"] is None'
    [ "$(outputs out)" = "$ALL" ]
    run --separate-stderr lapedge --prune -v "$PWD/in" ./more// out/
    [ "$status" -eq 0 ]
    [[ $stderr == *"removed out/b.jpg"* && $stderr == *"0 done, 3 up to date, 2 removed (photo gone); "* ]]
    [ -z "$output" ]
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/d.jpg ./z.jpg" ]
    # What comes back is made again.
    cp in/a.jpg in/b.jpg
    run --separate-stderr lapedge --prune in more out
    [[ $stderr == "1 done, 3 up to date; "* ]]
}

@test "only what is ours, of folders of this run, and of no other input" {
    prepare
    # Changed since; moved away and copied back: no longer the file that was written, whose inode is still taken.
    echo more >>out/b.jpg
    mv out/sub/c.jpg kept && cp kept out/sub/c.jpg
    run --separate-stderr lapedge --prune in more out
    [ "$status" -eq 0 ]
    [ "$(outputs out)" = "$ALL" ]
    # A photo of a folder that is not named now, and one that was named by itself.
    lapedge tiny.pgm one.jpg
    lapedge -q one.jpg in out2
    rm one.jpg
    rm more/z.jpg
    lapedge -q --prune in out2
    [ "$(outputs out2)" = "./a.jpg ./one.jpg ./sub/d.jpg" ]
    lapedge -q --prune in out
    [ -e out/z.jpg ]
    # Another photo leads to the same output.
    lapedge -q --format=png in out3
    mv in/a.jpg in/a.jpeg
    lapedge -q --prune --format=png in out3
    [ -e out3/a.png ]
    # Links are not followed, and a name that climbs leads nowhere.
    mkdir elsewhere
    mv out3/sub elsewhere
    ln -s ../elsewhere/sub out3/sub
    rm in/sub/d.jpg
    echo text >in/sub/note
    lapedge -q --prune --format=png in out3
    [ -e elsewhere/sub/d.png ]
    sed -i 's,"output":"sub/d.png","output":"../elsewhere/sub/d.png",' out3/.lapedge/*.jsonl
    lapedge -q --prune --format=png in out3
    [ -e elsewhere/sub/d.png ]
}

@test "nothing is removed where a folder is missing, empty or cannot be read" {
    prepare
    mkdir empty
    kept 1 "lapedge: --prune: nothing was removed: empty: holds no photo" in empty more out
    kept 1 "lapedge: --prune: nothing was removed: none: no such file" in none more out
    rm more/z.jpg
    kept 1 "nothing was removed: more: holds no photo" in more out
    kept 4 "empty: holds no photo" empty out
    kept 4 "none/: no such folder" none/ out
    mkfifo in/pipe.jpg
    kept 1 "nothing was removed: in/pipe.jpg: not a regular file" in out
    lapedge --prune --json in out >refused.json || true
    json refused.json 'o["pruned"]["files"] == 0 and o["pruned"]["refused"]["kind"] == "unreadable"'
    rm in/pipe.jpg
    touch more/other
    # The folder of a photo is there and has nothing in it: as one that is not mounted.
    rm in/sub/d.jpg
    run --separate-stderr lapedge --prune --json-file=left.json in out
    [ "$status" -eq 0 ]
    json left.json 'o["pruned"]["elsewhere"] == 1 and o["pruned"]["kept"] == 2 and o["pruned"]["others"] == 0'
    [[ $stderr == *"--prune: 2 outputs left: a folder in the photo's path is empty; its disk may not be mounted"$'\n'* ]]
    [[ $stderr == *"--prune: 1 output left: its photo was in a folder that is not part of this run, and is not there any more" ]]
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/c.jpg ./sub/d.jpg ./z.jpg" ]
    # The same if the photos were in subfolders of what is not mounted.
    mkdir -p in/disk/may/last && cp in/a.jpg in/disk/may/last/e.jpg
    lapedge -q in out
    rm -r in/disk/may
    run --separate-stderr lapedge --prune in out
    [ "$status" -eq 0 ]
    [[ $stderr == *"--prune: 3 outputs left: a folder in the photo's path is empty"* ]]
    [ -e out/disk/may/last/e.jpg ]
    rmdir in/disk in/sub
    lapedge -q --prune in out
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./z.jpg" ]
}

@test "a folder that was moved to another disk is noticed; -f takes it; outputs that were copied stay, and are counted" {
    prepare
    rm -r more out/z.jpg
    # By content, as to another disk: other inodes. The old folder keeps its inode, or a later one could get it.
    cp -r --preserve=timestamps in elsewhere && mv in gone
    kept 1 "elsewhere: is not the recorded folder, $PWD/in: name and inode must be the same" elsewhere out
    cp -a out copied
    run --separate-stderr lapedge --prune -f elsewhere out
    [ "$status" -eq 0 ]
    [[ $stderr == *"elsewhere: counts as the recorded folder, $PWD/in"* ]]
    [[ $stderr == *"0 done, 2 up to date, 2 removed (photo gone); "* ]]
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/d.jpg" ]
    run --separate-stderr lapedge --prune -f elsewhere copied
    [ "$status" -eq 0 ]
    [[ $stderr == *"--prune: 2 outputs left: changed or copied after lapedge wrote them"* ]]
    [ "$(outputs copied)" = "./a.jpg ./b.jpg ./mine.jpg ./sub/c.jpg ./sub/d.jpg" ]
    # Another folder that is gone shows nothing: it may be a disk that is not mounted.
    mv elsewhere gone-too && mkdir other && lapedge tiny.pgm other/new.jpg
    run --separate-stderr lapedge --prune -f other out
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./new.jpg ./sub/d.jpg" ]
    [[ $stderr == *"--prune: 2 outputs left: their photos were in folders that are not part of this run, and are not "* ]]
    # Outputs that were copied are counted in the same way, and with -q nothing is said.
    cp -a out copied2
    run --separate-stderr lapedge --prune other copied2
    [ "$status" -eq 0 ]
    [[ $stderr == *"--prune: 2 outputs left: their photos were in folders that are"* ]]
    expect 0 "" "" -q --prune other copied2
}

@test "a folder inside the recorded one, or beside it, is not taken for it, with -f either, and no message leads to -f" {
    prepare
    lapedge tiny.pgm in/d.jpg && lapedge -q in out6 && rm in/d.jpg
    mkdir -p in/sub/sub && cp in/a.jpg in/sub/sub/d.jpg
    local force
    for force in "" -f; do
        # shellcheck disable=SC2086 # nothing or -f
        expect 1 "" "lapedge: --prune: nothing was removed: in/sub: lies in the recorded folder, $PWD/in; name that one" \
            -q --prune $force --format=png in/sub out6
    done
    [ -e out6/d.jpg ]
    # The words of a record, from another current folder.
    mkdir -p there/in && lapedge tiny.pgm there/in/x.jpg
    (cd there && for force in "" -f; do
        # shellcheck disable=SC2086 # nothing or -f
        expect 1 "" "lapedge: --prune: nothing was removed: in: is not the recorded folder, ${PWD%/there}/in, which still exists; name that one, or another OUTDIR" \
            -q --prune $force --format=png in ../out
    done)
    [ -e out/b.jpg ]
}

@test "--prune says what records of version 0.1 do not tell, and counts no output of photos that are elsewhere" {
    python3 "$repo/tests/cli/records/place.py" "$repo/tests/cli/records/0.1"
    mv in moved
    rm moved/c.jpg
    run --separate-stderr lapedge --prune moved out
    [ "$status" -eq 0 ]
    [[ $stderr == *"2 up to date"*"--prune: 1 output left: its photo was in a folder that is not part of this run, and is not there any more" ]]
    [ -e out/c.jpg ]
    mkdir -p in && cp moved/a.jpg in/c.jpg
    run --separate-stderr lapedge --prune moved out
    [ "$status" -eq 0 ]
    [[ $stderr != *left* ]]
}

@test "nothing is removed where a folder may not be read" {
    prepare
    mkdir in/closed
    cp in/a.jpg in/closed
    chmod 0 in/closed
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || { chmod 700 in/closed; skip "root, and no setpriv"; }
        chmod -R o+rwX out in
        chmod 0 in/closed
        chmod o+rwx . .. ../.. 2>/dev/null || true
        run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$LAPEDGE" --prune in out
        chmod 700 in/closed
        [[ $stderr != *"error while loading"* && $status -ne 127 && $status -ne 126 ]] || skip "nobody cannot run the program here"
    else
        run --separate-stderr lapedge --prune in out
        chmod 700 in/closed
    fi
    [ "$status" -ne 0 ]
    [[ $stderr == *"nothing was removed: in/closed: cannot read this folder: Permission denied" ]]
    [ "$(outputs out)" = "$ALL" ]
}

@test "nothing is removed after a run that stopped" {
    prepare
    echo junk >in/broken.jpg
    kept 1 "--prune: nothing was removed: the run has stopped early" --fail-fast in more out
    rm in/broken.jpg
    for i in {1..40}; do cp "$photo" "in/$i.jpg"; done
    cp -r out before
    local code=0 pid
    for _ in {1..20}; do
        rm -rf out
        cp -r before out
        env --default-signal=INT "$LAPEDGE" --prune -j1 --threads=1 -b c in more out 2>err &
        pid=$!
        ! standing $pid || kill -INT $pid
        kill -CONT $pid 2>/dev/null || true
        wait $pid && code=0 || code=$?
        [ "$code" -eq 0 ] || break
    done
    [ "$code" -eq 130 ]
    [ -e out/b.jpg ]
    [ -e out/sub/c.jpg ]
}

@test "an output whose photo cannot be looked for stays, and is reported once" {
    prepare
    # The folder of two photos is a link that leads to itself.
    rm -r in/sub
    ln -s sub in/sub
    run --separate-stderr lapedge --prune in more out
    [ "$status" -eq 1 ]
    for name in c d; do
        [ "$(grep -c "out/sub/$name.jpg: is kept, because lapedge cannot check whether its photo exists: Too many levels" <<<"$stderr")" -eq 1 ]
    done
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/c.jpg ./sub/d.jpg ./z.jpg" ]
    lapedge --prune --json in more out >stays.json 2>/dev/null || true
    json stays.json 'o["pruned"]["failed"] == 2 and o["pruned"]["files"] == 0 and o["pruned"]["kept"] == 0'
    # An input that cannot be examined.
    rm in/a.jpg
    ln -s loop loop
    run --separate-stderr lapedge --prune in loop more out
    [ "$status" -eq 1 ]
    [[ $stderr == *"--prune: nothing was removed: loop: cannot be examined: Too many levels"* ]]
    [ -e out/a.jpg ]
    # Nobody knows whether the folder of the records still stands.
    mv in moved
    ln -s in in
    cp more/z.jpg moved/y.jpg
    run --separate-stderr lapedge -q --prune -f moved out
    [ -e out/a.jpg ]
    rm in
    run --separate-stderr lapedge --prune -f moved out
    [[ $stderr == *"moved: counts as the recorded folder"* ]]
    [ ! -e out/a.jpg ]
}

@test "photos behind a link that leads nowhere, or is not followed, are out of sight, but not gone" {
    prepare
    mv in/sub disk
    ln -s ../disk in/sub
    # They are there, and a run without --follow does not see them.
    lapedge -q --prune --follow in more out # c.jpg is gone, and the run looks behind the link
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/d.jpg ./z.jpg" ]
    mv disk/d.jpg disk/other.jpg
    local left="--prune: 1 output left: its photo may be behind a symbolic link that leads nowhere or is not followed, $PWD/in/sub"
    expect 1 "" "lapedge: $left" -q --prune in more out
    # The disk is not mounted.
    mv disk away
    expect 1 "" "lapedge: $left" -q --prune in more out
    lapedge --prune --json in more out >left.json 2>/dev/null || true
    json left.json 'o["pruned"]["hidden"] == 1 and o["pruned"]["files"] == 0 and o["links"] == 1'
    lapedge tiny.pgm in/gone.jpg
    lapedge -q in out
    rm in/gone.jpg
    run --separate-stderr lapedge --prune --follow in more out
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: in/sub: a broken symbolic link"*"--prune: nothing was removed: in/sub: a broken symbolic link" ]]
    [ -e out/gone.jpg ]
    # Only what is behind the link stays.
    expect 1 "" "lapedge: $left" -q --prune in more out
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./sub/d.jpg ./z.jpg" ]
    # The folder of the records itself became such a link: -f takes no folder above it for that folder.
    mkdir -p top/sub && lapedge tiny.pgm top/sub/e.jpg && lapedge tiny.pgm top/f.jpg
    lapedge -q top/sub out4
    mv top/sub away2
    ln -s ../gone top/sub
    expect 1 "" "lapedge: ${left%/in/sub}/top/sub" -q --prune -f top out4
    [ -e out4/e.jpg ]
    # Without the link, the photo is gone.
    rm in/sub
    lapedge -q --prune in more out
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./z.jpg" ]
}

@test "an output goes only if it has all that its record says" {
    prepare
    local record fact name=out/.lapedge/
    record=$(echo $name*.jsonl)
    cp "$record" kept
    for fact in device inode size mtime_s mtime_ns; do
        # Another number, whatever it was.
        python3 -c 'import re, sys
print(re.sub(rf"(\"output_{sys.argv[1]}\":)(\d+)", lambda m: m[1] + str(int(m[2]) ^ 1), sys.stdin.read()), end="")' \
            $fact <kept >"$record"
        cmp -s kept "$record" && return 1
        run --separate-stderr lapedge -n --prune in more out
        [ -z "$output" ] || { echo "$fact: $output"; return 1; }
    done
    sed -E 's/"output_hash":"[0-9a-f]*"/"output_hash":"0123456789abcdef"/' kept >"$record"
    run --separate-stderr lapedge -n --prune in more out
    [ -z "$output" ]
    cp kept "$record"
    run --separate-stderr lapedge -n --prune in more out
    [ "$(sort <<<"$output")" = $'remove out/b.jpg\nremove out/sub/c.jpg' ]
}

@test "a folder that was moved is named once, however many outputs go" {
    prepare
    rm in/a.jpg
    cp more/z.jpg in/y.jpg
    mv in moved
    kept 1 "moved: is not the recorded folder" more moved out
    run --separate-stderr lapedge --prune -f more moved out
    [ "$status" -eq 0 ]
    [ "$(grep -c "moved: counts as the recorded folder, $PWD/in" <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"3 removed"* ]]
    [ "$(outputs out)" = "./mine.jpg ./sub/d.jpg ./y.jpg ./z.jpg" ]
}

@test "no output that is looked at keeps a descriptor open" {
    mkdir -p in/sub
    pgm 8 8 tiny.pgm
    lapedge tiny.pgm in/sub/0.jpg
    for i in {1..80}; do cp in/sub/0.jpg "in/sub/$i.jpg"; done
    lapedge -q in out
    rm in/sub/{1..80}.jpg
    for i in {41..80}; do echo more >>"out/sub/$i.jpg"; done
    # As many as this, and not one for each file.
    (ulimit -n 40; lapedge -q -j1 --threads=1 --prune in out)
    [ "$(find out/sub -name '*.jpg' | wc -l)" -eq 41 ]
}

@test "the only share of one sees all photos" {
    prepare
    run --separate-stderr lapedge -n --prune --shard=0/1 in out
    [ "$status" -eq 0 ]
    [[ $stderr == *"2 to be removed (photo gone)"* ]]
    expect 2 "" "lapedge: --prune and --shard cannot be combined: a share does not see which photos are gone" \
        --prune --shard=0/2 in out
}

@test "other folders of the records are no matter, wherever the run begins" {
    prepare
    for words in "in/. . ../out" "more/.. $PWD/in $PWD/in/../out"; do
        # shellcheck disable=SC2086 # words
        set -- $words
        (cd "$1" && run --separate-stderr lapedge -n --prune "$2" "$3" && [ "$status" -eq 0 ] &&
            [[ $stderr == *"2 to be removed (photo gone)"* ]])
    done
}

@test "a folder that was moved and run again is the recorded one from then on" {
    prepare
    rm -r out
    cp in/a.jpg in/b.jpg
    lapedge -q in out
    mv in moved
    lapedge -q moved out # notes the new place
    rm moved/b.jpg
    run --separate-stderr lapedge --prune moved out
    [ "$status" -eq 0 ]
    [[ $stderr == *", 1 removed (photo gone)"* ]]
    [[ $stderr != *"recorded"* ]]
    [ "$(outputs out)" = "./a.jpg ./sub/d.jpg" ]
    # A copy is not proof: photos on another disk would look gone.
    cp -a moved copied
    lapedge -q copied out
    rm -r moved
    rm copied/sub/d.jpg
    run --separate-stderr lapedge --prune copied out
    [ "$status" -eq 1 ]
    [[ $stderr == *"--prune: nothing was removed: copied: is not the recorded folder, "* ]]
    [ -e out/sub/d.jpg ]
}

@test "--prune is refused with options that hide photos" {
    prepare
    kept 2 "--prune and --shard cannot be combined: a share does not see which photos are gone" --shard=0/2 in out
    kept 2 "--prune and --include cannot be combined: photos left out would look gone" --include='*.jpg' in out
    kept 2 "--prune and --exclude cannot be combined" --exclude='x*' in out
    kept 2 "--prune and --ext cannot be combined" --ext=jpg in out
    kept 2 "--prune applies only to folders, and --files-from names files" --files-from=list out
    kept 2 "none of the inputs is a folder, and only photos of a folder can be gone" in/a.jpg out/
    kept 2 "--prune does not apply to one image" in/a.jpg o.jpg
}

@test "transform prunes, too" {
    prepare
    lapedge -q transform --flip=h in turned
    rm in/a.jpg
    lapedge -q transform --flip=h --prune in turned
    [ "$(outputs turned)" = "./sub/d.jpg" ]
}

# early FILE...: takes the folder of the photo out of records, as versions before 0.2 wrote them
early() { sed -i -E 's/"input_folder[a-z_]*":("[^"]*"|[0-9]+),?//g; s/"input_below":[0-9]+,?//; s/,}/}/' "$@"; }

@test "a photo that is still there keeps an older output, whatever its folder is called now" {
    prepare
    # The outputs of now have other names, so that only the look at the photo keeps a.jpg.
    mv in moved
    lapedge -q --prune -f --format=png moved out
    [ -e out/a.jpg ]
    [ ! -e out/b.jpg ]
    rm -r out moved more
    prepare
    early out/.lapedge/*.jsonl
    for name in in "$PWD/in" ./in//; do
        kept 1 "in" --format=png "$name" out
        run --separate-stderr env MALLOC_PERTURB_=90 "$LAPEDGE" -n --prune -f --format=png "$name" out
        [ "$(sort <<<"$output" | paste -sd' ')" = "remove out/b.jpg remove out/sub/c.jpg" ]
    done
}

@test "a record that cannot be checked keeps its output, although another one says that its photo is gone" {
    pgm 40 30 tiny.pgm
    mkdir -p p1 q/p2
    for name in p1/stays p1/x q/p2/other; do
        lapedge tiny.pgm "$name.jpg"
    done
    lapedge -q p1 out
    mv p1/x.jpg q/p2
    rm q/p2/other.jpg
    lapedge -q q/p2 out
    mv q moved
    ln -s q q # leads to itself
    run --separate-stderr lapedge --prune p1 out
    [ "$status" -eq 1 ]
    [[ $stderr == *"out/x.jpg: is kept, because lapedge cannot check whether its photo exists: Too many levels"* ]]
    [ -e out/x.jpg ]
    rm q
    mv moved q
    rm q/p2/x.jpg # now it is gone from both
    cp p1/stays.jpg q/p2/y.jpg
    run --separate-stderr lapedge --prune p1 q/p2 out
    [ "$status" -eq 0 ]
    [ ! -e out/x.jpg ]
}

@test "a record of a folder that was copied, or restored from a backup, keeps the copy of its output" {
    pgm 40 30 tiny.pgm
    mkdir -p photos/sub other
    for name in stays x; do
        lapedge tiny.pgm "photos/sub/$name.jpg"
    done
    cp -p photos/sub/*.jpg other
    lapedge -q photos edges
    cp -a edges copy
    lapedge -q other copy/sub
    rm other/x.jpg
    run --separate-stderr lapedge --prune other copy/sub # copy/.lapedge is above
    [ "$status" -eq 0 ]
    [ -z "$stderr" ] || [[ $stderr == *"1 up to date; "* ]]
    [ -e copy/sub/x.jpg ]
    rm photos/sub/x.jpg
    run --separate-stderr lapedge --prune other copy/sub
    [ "$status" -eq 0 ]
    [ ! -e copy/sub/x.jpg ]
    # The same in one folder.
    cp -p photos/sub/stays.jpg photos/sub/x.jpg
    cp -p photos/sub/x.jpg other
    lapedge -q photos/sub out
    lapedge -q other out
    cp -a out out2
    lapedge -q other out2
    rm other/x.jpg
    run --separate-stderr lapedge --prune other out2
    [ "$status" -eq 0 ]
    [ -e out2/x.jpg ]
    # What lapedge has written there again is no copy: the records of another disk, which is gone, do not count.
    cp -r photos/sub disk
    lapedge -q -f --rebuild disk out
    rm -r photos other disk/x.jpg
    run --separate-stderr lapedge --prune disk out
    [ "$status" -eq 0 ]
    [ ! -e out/x.jpg ]
    [ -e out/stays.jpg ]
}

# Makes photos with two photos, out with their outputs, and a copy of each, photos2 and out2.
two_copied_folders() {
    pgm 40 30 tiny.pgm
    mkdir photos
    for name in a b; do
        lapedge tiny.pgm "photos/$name.jpg"
    done
    lapedge -q photos out
    cp -a photos photos2
    cp -a out out2
}

@test "a record that came with a synchronised copy of the folder keeps an output that lapedge wrote here" {
    two_copied_folders
    lapedge -q photos2 out2 # up to date: the records of out2 name photos2, too
    cp -au out2/. out/
    rm photos/b.jpg
    run --separate-stderr lapedge --prune photos out
    [ "$status" -eq 0 ]
    [ -e out/b.jpg ]
    rm photos2/b.jpg
    run --separate-stderr lapedge --prune photos out
    [ "$status" -eq 0 ]
    [ ! -e out/b.jpg ]
}

@test "after a move of photos and outputs to another disk, an output that stays is counted, and -f removes it" {
    two_copied_folders
    rm -r photos out
    lapedge -q photos2 out2
    rm photos2/b.jpg
    run --separate-stderr lapedge --prune photos2 out2
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 output left: its photo was in a folder that is not part of this run, and is not there any more"* ]]
    [[ $stderr != *"changed or copied"* ]]
    [ -e out2/b.jpg ]
    run --separate-stderr lapedge --prune -f photos2 out2
    [ "$status" -eq 0 ]
    [ ! -e out2/b.jpg ]
}

@test "of several folders the one that an early record names is refused by its name" {
    prepare
    early out/.lapedge/*.jsonl
    kept 1 "nothing was removed: in: " more in out
    kept 1 "nothing was removed: ./in//: " ./in// more out
}

@test "a folder that only looks alike is not the folder of a record" {
    pgm 40 30 tiny.pgm
    mkdir in in2 x y .h other
    for name in in/a in2/a in2/b x/c x/d y/e .h/f other/g; do lapedge tiny.pgm $name.jpg; done
    # The name of one folder begins the name of another one.
    lapedge -q in2 out
    rm in2/b.jpg
    run --separate-stderr lapedge -q --prune --format=png in out
    [ "$status" -eq 0 ]
    [ -e out/b.jpg ]
    # The folder of the records is gone with all its photos: it is not one of this run's folders.
    rm -r in2
    expect 0 "" "" -q --prune other out
    [ -e out/b.jpg ]
    # Early records have only the words of the command line.
    lapedge -q x out2
    early out2/.lapedge/*.jsonl
    rm x/d.jpg
    for name in y .h; do
        expect 0 "" "" -q --prune $name out2
        [ -e out2/d.jpg ]
    done
}

@test "a folder that became a file holds no photo, and links alone are no photos" {
    prepare
    rm -r in/sub
    echo text >in/sub
    lapedge -q --prune in more out
    [ "$(outputs out)" = "./a.jpg ./mine.jpg ./z.jpg" ]
    mkdir links
    ln -s ../more/z.jpg links/z.jpg
    rm in/a.jpg
    cp more/z.jpg in/y.jpg
    run --separate-stderr lapedge --prune links in out
    [[ $stderr == *"nothing was removed: links: holds no photo"* ]]
    [ -e out/a.jpg ]
    # An input below a file is missing: the run says so, and not that it could not look.
    run --separate-stderr lapedge --prune in more/z.jpg/x out
    [[ $stderr == *"nothing was removed: more/z.jpg/x: no such"* ]]
    [ -e out/a.jpg ]
}

@test "a photo that became a folder is gone, and so are the photos of a folder that became one" {
    pgm 40 30 tiny.pgm
    mkdir -p in/b.jpg
    lapedge tiny.pgm in/a.jpg
    lapedge tiny.pgm in/b.jpg/x.jpg
    lapedge tiny.pgm in/z.jpg
    lapedge -q in out
    mv in/a.jpg photo
    rm -r in/b.jpg
    mkdir in/a.jpg
    cp photo in/a.jpg/x.jpg
    cp photo in/b.jpg
    for words in "" -f --rebuild "-f --rebuild"; do # nothing goes without --prune
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge $words in out
        [ "$status" -eq 1 ]
        [[ $stderr == *"lapedge: out/a.jpg: is not a folder; move or remove it first"* ]]
        [[ $stderr == *"lapedge: out/b.jpg: is not a regular file; remove it first"* ]]
        [ "$(outputs out)" = "./a.jpg ./b.jpg/x.jpg ./z.jpg" ]
    done
    run --separate-stderr lapedge --prune in out
    [[ $status -eq 1 && $stderr == *"2 removed (photo gone)"* ]]
    [ "$(outputs out)" = ./z.jpg ]
    rmdir out/b.jpg
    lapedge -q --prune in out
    [ "$(outputs out)" = "./a.jpg/x.jpg ./b.jpg ./z.jpg" ]
    lapedge --prune in out 2>&1 | grep -q '^0 done, 3 up to date'
}

@test "a record that is not believed is named once, before anything is removed" {
    prepare
    cp in/a.jpg in/later.jpg
    lapedge -q in more out
    local later
    later=$(find out/.lapedge -name '*.jsonl' | LC_ALL=C sort | tail -n 1)
    chmod o+w "$later"
    run --separate-stderr lapedge --prune -v in more out
    [ "$status" -eq 0 ]
    # In the order of the records, which is that in which the outputs were done.
    [ "$(grep -E "everybody|^removed" <<<"$stderr" | LC_ALL=C sort)" = "lapedge: warning: out/.lapedge: ${later##*/} may be written by everybody
removed out/b.jpg
removed out/sub/c.jpg" ]
    # Not one is believed: this is why nothing is removed, and no warning.
    rm in/a.jpg
    chmod o+w out/.lapedge/*.jsonl
    run --separate-stderr lapedge --prune -v in more out
    [ "$status" -eq 1 ]
    [ "$(grep -cE "may be written by everybody" <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"--prune: nothing was removed: out/.lapedge: "* ]]
    [ -e out/a.jpg ]
}

@test "a prune that is refused says nothing of single outputs" {
    local library n
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_call.so")
    [ -e "$library" ] || skip "nth_call.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    prepare
    mv in moved
    for n in {1..200}; do # the deeper the folder of the test, the more calls
        rm -f fired
        run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS="fstatat:$n:5" LAP_FIRED=fired "$LAPEDGE" \
            -n --prune -j1 --threads=1 --format=png moved more out
        [ -e fired ] || break
        echo "$n: code $status: $(paste -sd' ' <<<"$stderr")" >>log
    done
    [ "$n" -lt 200 ]
    [ "$(grep -c "nothing was removed" log)" -gt 5 ]
    run grep -E "nothing was removed.* out/[a-z/]+\.jpg: |out/[a-z/]+\.jpg: .*nothing was removed" log
    [ -z "$output" ] || { echo "$output"; return 1; }
}

@test "a call that fails while photos are looked for: what has a photo stays, and the failure is said" {
    local library call n
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_call.so")
    [ -e "$library" ] || skip "nth_call.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    prepare
    for call in stat lstat opendir readdir; do
        for n in {1..200}; do
            rm -f fired
            run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS="$call:$n:5" LAP_FIRED=fired "$LAPEDGE" \
                -n --prune -j1 --threads=1 --format=png in more out
            [ -e fired ] || break
            echo "$call $n: code $status: $(sort <<<"$output" | paste -sd' '); $(paste -sd' ' <<<"$stderr")" >>log
        done
    done
    # What was not looked for is kept and named; a run that says nothing has found both outputs, and only them.
    [ "$(grep -c "in: cannot be examined: Input/output error" log)" -ge 2 ]
    for call in lstat opendir readdir; do
        [ "$(grep -c "^$call .*: is kept, because lapedge cannot check whether its photo exists: Input/output error" log)" -ge 2 ]
    done
    local whole='code 0: .* remove out/b.jpg remove out/sub/c.jpg; 3 to be done, 2 to be removed \(photo gone\)$'
    local said='code 1: .*(nothing was removed: |: is kept, because lapedge cannot check whether its photo exists: Input/output error'
    said+='|: is kept, because lapedge did not find its photo gone when it first looked|: out: cannot be examined: Input/output error)'
    run grep -vE "$whole|$said|code 4: ; lapedge: out: Input/output error$" log
    [ -z "$output" ] || { echo "$output"; return 1; }
    run grep -E "remove out/(a|sub/d|z|mine)\.|but empty" log
    [ -z "$output" ] || { echo "$output"; return 1; }
}
