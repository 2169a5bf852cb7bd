# Options, their values, and what is said about wrong ones.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "nothing asked for" {
    expect 2 "" "lapedge: IN and OUT are missing; see lapedge -h"
}

@test "an output is missing" {
    expect 2 "" "lapedge: OUT is missing: lapedge a.jpg OUT, or - for standard output" a.jpg
}

@test "an image and statistics do not go to one place" {
    expect 2 "" "lapedge: --stats: name a file; lapedge stats prints to standard output" --stats=- a.jpg b.jpg
    expect 2 "" "lapedge: --stats: name a file; lapedge stats prints to standard output" --in-place --stats=- a.jpg
}

@test "an empty name" {
    expect 2 "" "lapedge: the name of a file is empty" "" a.jpg
    expect 2 "" "lapedge: the name of a file is empty" a.jpg ""
    for words in stats info diff compare "transform --flip=h" --in-place "$repo/samples"; do
        # shellcheck disable=SC2086 # words
        expect 2 "" "lapedge: the name of a file is empty" $words "" out/
    done
}

@test "a misspelt command" {
    expect 2 "" "lapedge: benhc: no such file, and no command (did you mean bench?)" benhc
    expect 2 "" "lapedge: stat: no such file, and no command (did you mean stats?)" stat a.jpg
    cp "$photo" in.jpg
    expect 2 "" "lapedge: emboss: no such file, and no command; see lapedge -h" emboss in.jpg nw.jpg
    expect 2 "" "lapedge: emboss: no such file, and no command; see lapedge -h" emboss in.jpg out/
    expect 2 "" "lapedge: emboss: no such file, and no command; see lapedge -h" --in-place emboss in.jpg
    [ ! -e nw.jpg ]
    [ ! -e out ]
    cmp in.jpg "$photo"
    expect 1 "" "lapedge: resize: no such file" run resize a.jpg
    expect 1 "" "lapedge: resize: no such file" -- resize a.jpg
    expect 1 "" "lapedge: ./resize: no such file" ./resize a.jpg
    cp "$photo" resize
    expect 0 "" "" resize a.jpg
    expect 1 "" "lapedge: stat.jpg: no such file" stat.jpg a.jpg
    expect 2 "" "lapedge: bench: unknown operation \"filtre\"; did you mean filter?" bench filtre
    expect 2 "" "lapedge: bench: unknown operation \"x\"; use filter, transpose, reduce, histogram, matvec, codec" bench x
    expect 2 "" "lapedge: unknown option --size; lapedge does not resize: an output has the size of its photo; bench has --sizes=LIST" \
        bench --size=1M
}

@test "no folder is made under the name of a file, unless a slash says so" {
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    local name
    for name in w.jpg w.PNG sub/w.jpeg w.webp w.zip edges.tar.gz sub/w.7z w.MP4 w.pdf w.json; do
        expect 2 "" "lapedge: $name: no such folder, and the name looks like a file's; write $name/ to create it" a.jpg b.jpg $name
        expect 2 "" "lapedge: $name: no such folder, and the name looks like a file's; write $name/ to create it" \
            transform --flip=h a.jpg b.jpg $name
        [ ! -e $name ]
    done
    echo a.jpg >list
    expect 2 "" "lapedge: w.jpg: no such folder, and the name looks like a file's; write w.jpg/ to create it" --files-from=list w.jpg
    lapedge -q a.jpg b.jpg w.jpg/
    lapedge -q a.jpg b.jpg w.jpg # it is there
    lapedge -q a.jpg b.jpg 2024.05
    [ -e 2024.05/a.jpg ]
    mkdir photos
    cp a.jpg photos
    expect 2 "" "lapedge: out.zip: no such folder, and the name looks like a file's; write out.zip/ to create it" photos out.zip
    lapedge -q photos/ out.zip/
    lapedge -q --rebuild photos/ out.zip # it is there
    [ -e out.zip/a.jpg ]
}

@test "an image that is replaced by another one is named" {
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    mkdir sub
    local note
    note() # FORM FILE [HOW]
    {
        note="lapedge: note: $2${3-, with other content, was} replaced; --no-clobber leaves it alone, -f replaces it \
without a note; several photos go into a folder: lapedge$1 IN... OUTDIR"
    }
    note "" b.jpg " would be"
    expect 0 "a.jpg -> b.jpg" "$note" -n a.jpg b.jpg
    note "" b.jpg
    expect 0 "" "$note" *.jpg
    expect 0 "" "" a.jpg b.jpg # a script that runs again
    note " transform" b.jpg
    expect 0 "" "$note" transform --flip=h a.jpg b.jpg
    expect 0 "" "" -q a.jpg b.jpg
    expect 0 "" "" -f transform --flip=h a.jpg b.jpg
    # In another folder, through a link, of a pipe, and inside the sandbox.
    expect 0 "" "" a.jpg sub/b.jpg
    note "" sub/b.jpg
    expect 0 "" "$note" --range=abs a.jpg sub/b.jpg
    local box=(--sandbox)
    [ -z "${EMULATOR:-}" ] || box=() # qemu-user knows no Landlock
    expect 0 "" "$note" "${box[@]}" a.jpg sub/b.jpg
    ln -s sub/b.jpg link.jpg
    note "" link.jpg
    expect 0 "" "$note" --range=abs a.jpg link.jpg
    note "" sub/b.jpg
    expect 0 "" "$note" - sub/b.jpg <a.jpg
    expect 0 "" "" - sub/b.jpg <a.jpg
    head -c 1000 sub/b.jpg >b.jpg # a beginning of the same bytes
    note "" b.jpg
    expect 0 "" "$note" a.jpg b.jpg
    cat b.jpg a.jpg >sub/b.jpg
    note "" sub/b.jpg
    expect 0 "" "$note" a.jpg sub/b.jpg
    echo text >c.jpg
    expect 2 "" "lapedge: c.jpg exists and is not an image that lapedge writes; name another file, or use -f to replace it" a.jpg c.jpg
    [ "$(cat c.jpg)" = text ]
    expect 0 "" "" -f a.jpg c.jpg
    printf 'RIFF\1\2\3\4WEBPVP8 ' >webp.jpg # another kind of photo under this name
    expect 2 "" "lapedge: webp.jpg exists and is not an image that lapedge writes; name another file, or use -f to replace it" a.jpg webp.jpg
    for format in bmp ppm tga tsv; do # what lapedge wrote, by name and by --format
        lapedge a.jpg again.$format && lapedge --format=$format a.jpg again
        note "" again.$format
        expect 0 "" "$note" --range=abs a.jpg again.$format
        expect 0 "" "" --range=abs a.jpg again.$format
        note "" again
        expect 0 "" "$note" --range=abs --format=$format a.jpg again
        rm again
    done
    lapedge a.jpg a.png && lapedge transform --flip=v a.png b.png
    note "" b.png
    expect 0 "" "$note" *.png
    echo raw >a.nef
    for form in "" "transform --flip=h" -n; do
        # shellcheck disable=SC2086 # words
        expect 2 "" "lapedge: a.nef exists and is not an image that lapedge writes; name another file, or use -f to replace it" $form --format=jpg a.jpg a.nef
    done
    [ "$(cat a.nef)" = raw ]
    for name in IMG_1.CR2 b.RAF film; do # -f would not help without a format
        echo raw >$name
        for force in "" -f; do
            run --separate-stderr lapedge $force a.jpg $name
            [[ $status -eq 2 && $stderr == "lapedge: $name: "*"format (jpg jpeg png bmp tga ppm pgm tsv); choose one with --format"* ]]
            [ "$(cat $name)" = raw ]
        done
    done
    for name in b.RAF c.orf d.xmp; do
        echo raw >$name
        expect 2 "" "lapedge: $name exists and is not an image that lapedge writes; name another file, or use -f to replace it" --format=jpg a.jpg $name
    done
    expect 1 "" "lapedge: a.nef: exists and is left alone (--no-clobber)" --no-clobber --format=jpg a.jpg a.nef
    expect 0 "" "" -f --format=jpg a.jpg a.nef
    expect 0 "" "" --format=tsv a.jpg numbers.txt
    note "" numbers.txt
    expect 0 "" "$note" --format=tsv --range=abs a.jpg numbers.txt # a table of numbers has no mark
    echo notes >notes.txt
    expect 2 "" "lapedge: notes.txt exists and is not an image that lapedge writes; name another file, or use -f to replace it" --format=tsv a.jpg notes.txt
    : >b.nef # as mktemp makes it
    expect 0 "" "" --format=jpg a.jpg b.nef
    expect 0 "" "" --in-place a.jpg
    head -c 20000 "$photo" >cut.jpg
    expect 1 "" "lapedge: cut.jpg: truncated: data ends 18 % into the image; --fail-on=none keeps what can be read" cut.jpg b.jpg
}

@test "an OUT that cannot be read is not replaced" {
    cp "$photo" a.jpg
    echo hidden >c.jpg
    unprivileged
    chmod 000 c.jpg
    run --separate-stderr lapedge a.jpg c.jpg
    [ "$status" -eq 2 ]
    [ "$stderr" = "lapedge: c.jpg exists and cannot be read: Permission denied; name another file, or use -f to replace it" ]
}

@test "an unknown option names the nearest one" {
    expect 2 "" "lapedge: unknown option --qualty; did you mean --quality?" --qualty=90 a b
    expect 2 "" "lapedge: unknown option --bakcend; did you mean --backend?" a b --bakcend simd
    expect 2 "" "lapedge: unknown option --back; did you mean --backend?" a b --back=simd
    expect 2 "" "lapedge: unknown option --zzzzzz; see lapedge --help" --zzzzzz
    expect 2 "" "lapedge: unknown option -x; see lapedge -h" -x a b
}

@test "an unknown backend names the nearest one" {
    expect 2 "" "lapedge: --backend: \"smid\" is not a known backend; did you mean simd?" --backend=smid a b
    expect 2 "" "lapedge: --backend: \"cuda-sahred4\" is not a known backend; did you mean cuda-shared4?" \
        -b cuda-sahred4 a b
    expect 2 "" "lapedge: --backend: \"cuda\" is not a known backend; did you mean cuda-fast?" -b cuda a b
    expect 2 "" "lapedge: --backend: \"zzz\" is not a known backend; see lapedge backends" -b zzz a b
    expect 2 "" "lapedge: --backends: \"simt\" is not a known backend; did you mean simd?" bench --backends=c,simt
}

@test "numbers are strict" {
    for wrong in 0 101 1.5 abc 0x10 ' 5' 5x 1e999 -1 inf; do
        expect 2 "" "lapedge: --quality: \"$wrong\" is not a whole number from 1 to 100" "--quality=$wrong" a b
    done
    expect 2 "" "lapedge: --threshold: \"256\" is not a whole number from 0 to 255" --threshold 256 a b
    expect 2 "" "lapedge: --scale: \"nan\" is not a number" --scale=nan a b
    expect 2 "" "lapedge: --scale: \"1/0\" is not a number" --scale=1/0 a b
    expect 2 "" "lapedge: --backend does not apply to bench, only to run, stats; see --backends" bench --backend=c
    expect 2 "" "lapedge: --backend does not apply to compare, only to run, stats; see --backends" compare --backend=c a
    lapedge --scale=1/256 "$photo" a.ppm
    lapedge --scale=0.00390625 "$photo" b.ppm
    cmp a.ppm b.ppm
    expect 2 "" "lapedge: --offset: \"\" is not a number" --offset= a b
    expect 2 "" "lapedge: --timeout: \"-1\" is not a number of seconds from 0 to 1000000, or of another unit, such as 500ms, 2m or 1h" --timeout=-1 a b
    expect 2 "" "lapedge: --threads: \"0\" is not a whole number from 1 to 1024" --threads=0 a b
}

@test "sizes take K, M and G, and nothing else" {
    for wrong in 1Q 1.5 1MM M -1 1e400 ''; do
        expect 2 "" "lapedge: --max-pixels: \"$wrong\" is not a whole number of at least 0, with K, M or G for \
powers of 1000" "--max-pixels=$wrong" a b
    done
    expect 5 "" "lapedge: $photo: limit: 600x400 is 0.24 million pixels, more than the limit of 0.239999 \
million (--max-pixels)" \
        --max-pixels=239999 "$photo" e.jpg
    expect 0 "" "" --max-pixels=0.24m "$photo" e.jpg
    expect 0 "" "" --max-pixels=0 "$photo" e.jpg
}

@test "words come from their list" {
    expect 2 "" "lapedge: --border: \"warp\" is not one of zero, replicate, reflect, reflect101, wrap, constant:V" --border=warp a b
    expect 2 "" "lapedge: --range: \"\" is not one of clamp, abs" --range= a b
    expect 2 "" "lapedge: --format: \"gif\" is not one of jpg, jpeg, png, bmp, tga, ppm, pgm, tsv" --format gif a b
}

@test "a backend is named once" {
    expect 2 "" "lapedge: --backends: cuda-shared-int is named twice" bench --backends=c,cuda-shared2,cuda-shared-int
    expect 2 "" "lapedge: --backends: c is named twice" compare --backends=c,sse,c "$photo"
}

@test "options that need a value, and options that take none" {
    expect 2 "" "lapedge: --backend needs a value" a b --backend
    expect 2 "" "lapedge: -Q needs a value" a b -Q
    expect 2 "" "lapedge: --json takes no value" --json=yes a b
}

@test "a number after -q was meant for -Q" {
    expect 2 "" "lapedge: -q is quiet and takes no value; quality is -Q 85" -q 85 a b
    expect 2 "" "lapedge: -q is quiet and takes no value; quality is -Q 85" -q85 a b
}

@test "an option of another command is refused by name" {
    expect 2 "" "lapedge: --runs does not apply to run, only to compare, bench" --runs=3 a b
    expect 2 "" "lapedge: --runs does not apply to backends, only to compare, bench" backends --runs=2
}

@test "options stand anywhere, in each spelling" {
    lapedge "$photo" a.ppm --border=reflect
    lapedge --border reflect "$photo" b.ppm
    lapedge "$photo" --border=reflect c.ppm
    lapedge run "$photo" --border=reflect -- d.ppm
    lapedge --border=reflect run "$photo" e.ppm
    POSIXLY_CORRECT=1 lapedge "$photo" f.ppm --border=reflect
    for each in b c d e f; do cmp a.ppm $each.ppm; done
}

@test "names like options and commands" {
    cp "$photo" ./-strip
    cp "$photo" bench
    lapedge -- -strip -o.jpg
    lapedge ./bench run.jpg
    lapedge run -- bench bench.jpg
    lapedge -- bench again.jpg
    cmp ./-o.jpg run.jpg
    cmp run.jpg bench.jpg
    cmp run.jpg again.jpg
}

@test "kernels: names, files, lists, and invalid ones" {
    lapedge --kernel=laplace5 "$photo" a.ppm
    list='-1 -1 -1 -1 -1/-1 -1 -1 -1 -1/-1 -1 24 -1 -1/-1 -1 -1 -1 -1/-1 -1 -1 -1 -1'
    lapedge --kernel="$list" "$photo" b.ppm
    echo "$list" | tr '/' '\n' >kernel.txt
    lapedge --kernel=kernel.txt "$photo" c.ppm
    cmp a.ppm b.ppm
    cmp a.ppm c.ppm
    mkdir 2024
    mv kernel.txt 2024/k.txt
    lapedge --kernel=2024/k.txt "$photo" c.ppm
    cmp a.ppm c.ppm
    lapedge --kernel=<(cat 2024/k.txt) "$photo" c.ppm
    cmp a.ppm c.ppm
    mkfifo fifo
    run --separate-stderr timeout 100 "$LAPEDGE" --kernel=fifo "$photo" d.ppm
    [ "$status" -eq 2 ]
    [[ $stderr == "lapedge: --kernel: "*"as a file: not a regular file" ]]
    run --separate-stderr lapedge --kernel=lapalce "$photo" d.ppm
    [ "$status" -eq 2 ]
    [ "$stderr" = 'lapedge: --kernel: "lapalce" is not a known kernel; did you mean laplace5?' ]
    run --separate-stderr lapedge --kernel='1 2 3' "$photo" d.ppm
    [ "$status" -eq 2 ]
    run --separate-stderr lapedge --kernel="5000000,$(yes 0 | head -24 | paste -sd,)" "$photo" d.ppm
    [ "$status" -eq 2 ]
    [ ! -e d.ppm ]
}

@test "a note says when backends may differ" {
    wild="0.5,$(yes 1 | head -24 | paste -sd,)"
    note="lapedge: note: with this kernel and scale backends may differ by more than one level"
    expect 0 "" "$note" --kernel="$wild" --scale=100 "$photo" a.ppm
    expect 0 "" "" --quiet --kernel="$wild" --scale=100 "$photo" a.ppm
    expect 0 "" "" -f --kernel="$wild" "$photo" a.ppm
    expect 0 "" "" -f --scale=1000 "$photo" a.ppm
}

@test "-h fits a small terminal, --help is 80 columns wide, both name every command" {
    lapedge -h >short
    lapedge --help >full
    [ "$(wc -l <short)" -le 25 ]
    [ "$(wc -L <short)" -le 79 ]
    [ "$(wc -L <full)" -le 79 ]
    for command in $("$LAPEDGE" __complete); do
        grep -q "lapedge \[\?$command" short
        grep -q "lapedge \[\?$command" full
        lapedge "$command" --help >"help-$command"
        [ "$(wc -L <"help-$command")" -le 79 ]
        for option in $("$LAPEDGE" __complete "$command"); do
            grep -q -e " $option" "help-$command"
        done
    done
    run ! grep -q $'\033' short full
}

@test "help COMMAND" {
    cmp <(lapedge help) <(lapedge --help)
    cmp <(lapedge help stats) <(lapedge stats --help)
    cmp <(lapedge help run) <(lapedge run --help)
    lapedge help | grep -q "lapedge stats"
    [ "$(lapedge help run | grep -c "lapedge stats")" -eq 0 ]
    # The short help ends at a semicolon, but not inside brackets.
    lapedge -h | tr -s ' \n' '  ' | grep -q "two pixels; replicate draws none)"
    lapedge bench -h | awk '{ o += gsub(/\(/, ""); c += gsub(/\)/, "") } END { exit o != c }'
    expect 2 "" 'lapedge: no command is called "stat"; did you mean stats?' help stat
}

@test "colour obeys --color and NO_COLOR" {
    lapedge --help --color=always | grep -q $'\033\[1m'
    lapedge --help --color=never >plain
    run ! grep -q $'\033' plain
    needs_terminal
    run script -qec "TERM=xterm '$LAPEDGE' --help" /dev/null
    [[ $output == *$'\033[1m'* ]]
    run script -qec "NO_COLOR=1 TERM=xterm '$LAPEDGE' --help" /dev/null
    [[ $output != *$'\033'* ]]
    run script -qec "TERM=dumb '$LAPEDGE' --help" /dev/null
    [[ $output != *$'\033'* ]]
}

@test "--version names the program, compiler and libraries" {
    run lapedge --version
    [ "$status" -eq 0 ]
    [[ ${lines[0]} =~ ^lapedge\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    [[ $output == *"libjpeg"* && $output == *"CUDA"* ]]
}

@test "a full device and a closed pipe are errors" {
    [ -w /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c "'$LAPEDGE' --help >/dev/full"
    [ "$status" -eq 1 ]
    [ "$stderr" = "lapedge: cannot write to standard output: No space left on device" ]
    run --separate-stderr bash -c "'$LAPEDGE' --help | true; exit \${PIPESTATUS[0]}"
    [ "$status" -eq 141 ] || [ "$status" -eq 0 ] # 0 where help fitted into the pipe in time
    [ -z "$stderr" ]
    run --separate-stderr bash -c "'$LAPEDGE' --format=ppm '$photo' - | true; exit \${PIPESTATUS[0]}"
    [ "$status" -eq 141 ]
    [ -z "$stderr" ]
}

@test "completion lists commands, options and values" {
    [ "$(lapedge __complete | head -1)" = run ]
    lapedge __complete run | grep -qx -e '--border='
    lapedge __complete run | grep -qx -e '--gray'
    [ "$(lapedge __complete run --border | paste -sd' ')" = "zero replicate reflect reflect101 wrap constant:V" ]
    lapedge __complete run --backend | grep -qx simd
    lapedge __complete bench operands | grep -qx filter
    run bash -c "source '$repo/tools/release/completion/lapedge.bash'
        COMP_WORDS=('$LAPEDGE' bench --siz) COMP_CWORD=2
        _lapedge 2>/dev/null
        echo \"\${COMPREPLY[*]}\""
    [ "$output" = "--sizes=" ]
}

@test "values as other programs write them are taken, or hinted at" {
    cp "$photo" a.jpg
    for word in --max-memory=4GB --max-memory=4GiB --max-memory=4gi --max-memory=500000000B --timeout=1m --timeout=90000ms \
        --timeout=30s --timeout=1h --timeout=2min --subsampling=4:2:0; do
        expect 0 "" "" -q "$word" a.jpg o.jpg
    done
    lapedge -q --subsampling=420 a.jpg one.jpg
    lapedge -q --subsampling=4:2:0 a.jpg two.jpg
    cmp one.jpg two.jpg
    lapedge transform -q --flip=h a.jpg one.jpg
    lapedge transform -q --flip=horizontal a.jpg two.jpg
    cmp one.jpg two.jpg
    lapedge transform -q --flip=vertical a.jpg two.jpg
    run ! cmp -s one.jpg two.jpg
    run --separate-stderr lapedge --max-memory=300KiB a.jpg o.ppm
    [[ $status == 5 && $stderr == *"more than the limit of 0.3"*"MB"* ]] || { echo "$stderr"; false; }
    expect 2 "" 'lapedge: --timeout: "1d" is not a number of seconds from 0 to 1000000, or of another unit, such as 500ms, 2m or 1h' \
        --timeout=1d a.jpg o.jpg
    expect 2 "" 'lapedge: --max-memory: "4GX" is not a whole number of bytes, at least 0, with K, M or G for powers of 1000, Ki, Mi or Gi of 1024' \
        --max-memory=4GX a.jpg o.jpg
    expect 2 "" 'lapedge: --border: "mirror" is not one of zero, replicate, reflect, reflect101, wrap, constant:V; a mirror is reflect, or reflect101, which does not repeat the edge pixel' \
        --border=mirror a.jpg o.jpg
    [ "$(lapedge -V)" = "$(lapedge --version)" ]
}

@test "kernels of nine numbers, of fractions, with comments" {
    printf '# Sobel, across\n-1 0 1 # above\n-2 0 2\n-1 0 1\n' >three
    lapedge --range=abs --kernel=three "$photo" a.ppm
    lapedge --range=abs --kernel='0 0 0 0 0/0 -1 0 1 0/0 -2 0 2 0/0 -1 0 1 0/0 0 0 0 0' "$photo" b.ppm
    cmp a.ppm b.ppm
    lapedge --kernel='0,1/4,0 / 1/4,0,1/4 / 0,1/4,0' "$photo" a.ppm
    lapedge --kernel='0,0.25,0/0.25,0,0.25/0,0.25,0' "$photo" b.ppm
    cmp a.ppm b.ppm
    awk 'BEGIN { for (i = 0; i < 25; i++) print "1/25" }' >five
    awk 'BEGIN { for (i = 0; i < 25; i++) print 1 / 25 }' >decimal
    lapedge --kernel=five "$photo" a.ppm
    lapedge --kernel=decimal "$photo" b.ppm
    cmp a.ppm b.ppm
    expect 2 "" "lapedge: --kernel: kernel list: 4 numbers where 25 (5x5) or 9 (3x3) are needed" --kernel=1,2,3,4 "$photo" o.ppm
    expect 2 "" "lapedge: --kernel: kernel list: number 1 is not a finite number" --kernel=1/0,0,0,0,0,0,0,0,0 "$photo" o.ppm
    printf '1 2\nx\n' >bad
    expect 2 "" "lapedge: --kernel: kernel bad: number 3 is not a decimal number, or out of range: 'x'" --kernel=bad "$photo" o.ppm
    echo '1 2 3 4 nan 6 7 8 9' >bad
    expect 2 "" "lapedge: --kernel: kernel bad: number 5 is not a decimal number, or out of range: 'nan'" --kernel=bad "$photo" o.ppm
    echo '1 2 3 4 1e39 6 7 8 9' >bad
    expect 2 "" "lapedge: --kernel: kernel bad: number 5 is not a finite number" --kernel=bad "$photo" o.ppm
    expect 2 "" "lapedge: --kernel: kernel list: number 2 is not a decimal number, or out of range: '0x1'" \
        --kernel=1,0x1,1,1,1,1,1,1,1 "$photo" o.ppm
    { seq 9; yes '# a comment' | head -400; } >bad
    expect 2 "" "lapedge: --kernel: kernel bad: has more than 4096 bytes, the most that a kernel file may have" --kernel=bad "$photo" o.ppm
}

@test "a pipe without an extension gets a JPEG; a missing input is named before a wrong extension" {
    lapedge "$photo" o.jpg
    mkfifo pipe
    cat pipe >piped &
    timeout 100 "$LAPEDGE" "$photo" pipe
    wait $!
    cmp piped o.jpg
    lapedge "$photo" /dev/stdout | cmp - o.jpg
    for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        lapedge "$photo" $name >redirected
        cmp redirected o.jpg
        lapedge transform --flip=h "$photo" $name --no-sync >redirected
        lapedge transform --flip=h "$photo" - | cmp - redirected
    done
    lapedge "$photo" /dev/null
    expect 1 "" "lapedge: nope.jpg: no such file" nope.jpg o.webp
    expect 1 "" "lapedge: nope.jpg: no such file" -n nope.jpg o.webp
    expect 2 "" "lapedge: o.webp: the extension names no known format (jpg jpeg png bmp tga ppm pgm tsv); choose one with --format" \
        "$photo" o.webp
}

@test "-v says that a PNG has 16 bits a sample, of which 8 are read" {
    python3 - <<'PYTHON'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for depth in (8, 16):
    rows = b"".join(b"\0" + bytes(16 * depth // 8) for _ in range(16))
    open("%d.png" % depth, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, depth, 0, 0, 0, 0)) +
                                       chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PYTHON
    run --separate-stderr lapedge -v 16.png o.png
    [[ $stderr == *"reduced from 16 to 8 bits per sample"* ]]
    run --separate-stderr lapedge -v 8.png o.png
    [[ $stderr != *"bits per sample"* ]]
    expect 0 "" "" 16.png o.jpg
}

@test "what is suggested can be pasted; names that the shell has split or left as a pattern are recognised" {
    mkdir "my photos" "it's"
    cp "$photo" "my photos/a b.jpg"
    expect 2 "" "lapedge: OUTDIR is missing: lapedge 'my photos' OUTDIR" "my photos"
    expect 2 "" "lapedge: OUTDIR is missing: lapedge 'it'\\''s' OUTDIR" "it's"
    expect 2 "" "lapedge: OUT is missing: lapedge 'my photos/a b.jpg' OUT, or - for standard output" "my photos/a b.jpg"
    expect 2 "" "lapedge: OUT is missing: lapedge a.jpg OUT, or - for standard output" a.jpg
    expect 2 "" "lapedge: my: no such file; put a name with spaces in quotation marks: 'my photos'" my photos out
    expect 2 "" "lapedge: my: no such file; put a name with spaces in quotation marks: 'my photos/a b.jpg'" \
        my "photos/a" b.jpg out.jpg
    expect 1 "" "lapedge: my photos/*.jpg: no such file; nothing matches this pattern, or it is in quotation marks" \
        "my photos/*.jpg" out.jpg
    nothing_left out.jpg
}

@test "a pattern that the shell has left because no file matches it does not become the name of an output" {
    local problem="no file matches this pattern; name the output, or create it first if this is its name"
    cp "$photo" a.jpg
    for out in '*.png' './edge?.png' 'edge*/' 'edge*/below/' 'new?/b.png'; do
        expect 2 "" "lapedge: $out: $problem" a.jpg "$out"
        expect 2 "" "lapedge: $out: $problem" -n a.jpg "$out"
    done
    expect 2 "" "lapedge: *.png: $problem" - '*.png' <a.jpg
    expect 2 "" "lapedge: *.png: $problem" transform --flip=h a.jpg '*.png'
    expect 2 "" "lapedge: *.out: $problem" a.jpg a.jpg '*.out'
    expect 2 "" "lapedge: --heatmap: *.png: $problem" diff a.jpg a.jpg --heatmap '*.png'
    expect 2 "" "lapedge: --log: log?: $problem" a.jpg out/ --log 'log?'
    expect 2 "" "lapedge: out?: $problem" --files-from=- 'out?' <<<a.jpg
    [ "$(find . ! -name 'separate-*')" = $'.\n./a.jpg' ]
    # Names with such characters are as good as others.
    touch 'what?.png' # by mktemp, perhaps
    lapedge a.jpg 'what?.png'
    [ -s 'what?.png' ]
    mkdir 'who*'
    lapedge a.jpg 'who*/a.png'
    lapedge a.jpg 'who*/'
    [ -s 'who*/a.jpg' ]
    lapedge a.jpg - >'when?.jpg'
    cp a.jpg 'why?.jpg'
    mkdir edges
    lapedge 'why?.jpg' 'edges/why?.jpg'
    lapedge -q 'why?.jpg' a.jpg 'new?'
    cmp 'edges/why?.jpg' 'new?/why?.jpg'
}

@test "an option of another command names that command; commands of other programs are hinted" {
    expect 2 "" "lapedge: --rotate does not apply to run, only to transform" --rotate=90 a.jpg b.jpg
    expect 2 "" "lapedge: --csv does not apply to run, only to stats" --csv a.jpg b.jpg
    expect 2 "" "lapedge: --keep does not apply to stats, only to run, transform, info" stats --keep=all a.jpg
    expect 2 "" "lapedge: rotate: no such file, and no command; lapedge transform rotates and mirrors photos" rotate a.jpg b.jpg
    expect 2 "" "lapedge: version: no such file, and no command; lapedge --version prints the versions" version
    expect 2 "" "lapedge: resize: no such file, and no command; lapedge does not resize: an output has the size of its photo" \
        resize a.jpg b.jpg
    expect 2 "" "lapedge: unknown option --watch; run the same command again: it processes new photos" --watch a b
}

@test "exit codes have the same words in the help, in README.md and in the manual" {
    lapedge --help >help
    run python3 - help "$repo/README.md" "$repo/docs/lapedge.1" <<'PYTHON'
import re, sys
help_page, readme, manual = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
def of_help():
    part = help_page.split("Exit codes:\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^(\d[\d, ]*?)  +(.*)$", re.sub(r"\n {10,}", " ", part.replace("\n  ", "\n")).lstrip(), re.M))
def of_readme():
    part = readme.split("| exit code | meaning |\n|---:|---|\n")[1].split("\n\n")[0]
    return {code: text.replace("`", "") for code, text in re.findall(r"^\| (.*?) \| (.*) \|$", part, re.M)}
def of_manual():
    codes, part = {}, manual.split(".Sh EXIT STATUS\n")[1].split(".El")[0]
    for item in part.split(".It ")[1:]:
        code, text = item.split("\n", 1)
        first = " ".join(re.sub(r"^\.\w+ ", "", text, flags=re.M).split()).split(".")[0]
        codes[code.replace(" ,", ",")] = first[0].lower() + first[1:]
    return codes
words = of_help()
assert len(words) == 8, words
assert words == of_readme(), (words, of_readme())
assert words == of_manual(), (words, of_manual())
PYTHON
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a name that begins with a dash is given as ./-name, and a misspelt command is found before its options" {
    local dash="lapedge: unknown option -dash.jpg; for a file of that name write ./-dash.jpg"
    expect 2 "" "$dash" -dash.jpg o.jpg # by its extension
    expect 2 "" "${dash//-dash/--dash}" --dash.jpg o.jpg
    expect 2 "" "lapedge: unknown option -out.png; for a file of that name write ./-out.png" "$photo" -out.png
    touch ./-zip
    expect 2 "" "lapedge: unknown option -zip; for a file of that name write ./-zip" -zip o.jpg
    cp "$photo" ./-dash.jpg
    expect 0 "" "" ./-dash.jpg o.jpg
    expect 2 "" "lapedge: transfrom: no such file, and no command (did you mean transform?)" \
        transfrom --rotate=90 ./-dash.jpg o.jpg
    expect 2 "" "lapedge: bnech: no such file, and no command (did you mean bench?)" bnech --runs=3
    expect 2 "" "lapedge: --rotate does not apply to run, only to transform" --rotate=90 ./-dash.jpg o.jpg
}

@test "small limits are told in kB, bytes and pixels; a file size limit is not called a full disk" {
    local start="lapedge: $photo: limit: takes up to"
    run --separate-stderr lapedge --max-memory=20K "$photo" o.jpg
    [[ $status == 5 && $stderr =~ ^"$start "[0-9]+" kB of memory, more than the limit of 20 kB (--max-memory)"$ ]]
    run --separate-stderr lapedge --max-memory=999 "$photo" o.jpg
    [[ $status == 5 && $stderr =~ ^"$start "[0-9]+" bytes of memory, more than the limit of 999 bytes (--max-memory)"$ ]]
    expect 5 "" "lapedge: $photo: limit: 600x400 is 240000 pixels, more than the limit of 10 (--max-pixels)" \
        --max-pixels=10 "$photo" o.jpg
    run --separate-stderr bash -c "ulimit -f 8; '$LAPEDGE' '$photo' o.png 2>&1 | cat >&2"
    [ "$stderr" = "lapedge: o.png: cannot write: File too large; the file size limit is that of the process, or of the file system" ]
}
