# Which option belongs to which form of a command line.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "every option is honoured or refused with a reason, in every form" {
    python3 "$BATS_TEST_DIRNAME/forms.py" "$LAPEDGE"
}

@test "what is seen on a terminal only is honoured there, in every form" {
    needs_terminal
    python3 "$BATS_TEST_DIRNAME/forms.py" "$LAPEDGE" --terminal
}

@test "the message names the form to which an option does not apply" {
    expect 2 "" "lapedge: --suffix does not apply to one image, only to a folder run" --suffix=-e "$photo" o.jpg
    expect 2 "" "lapedge: --kernel does not apply to bench of reduce, only to bench of filter, bench of codec" \
        bench reduce --kernel=log5
    expect 2 "" "lapedge: --heatmap does not apply to compare of reduce, only to compare of filter, compare of \
transpose" compare --ops=reduce --heatmap=m.png "$photo"
    expect 2 "" "lapedge: --tolerance needs --baseline" bench --tolerance=5%
    expect 2 "" "lapedge: --rotate is given twice; use one at a time" transform --rotate=90 --rotate=180 a b
    for word in --no-clobber --skip-existing; do
        expect 2 "" "lapedge: $word applies only to a file, and the output is standard output" "$word" "$photo" -
    done
    expect 2 "" "lapedge: --preserve applies only to files, and the output is standard output" --preserve "$photo" -
    lapedge "$photo" - | expect 2 "" "lapedge: --preserve applies only to files, and the input is a pipe" --preserve - o.jpg
    lapedge --preserve - copy.jpg <"$photo"
    [ "$(stat -c %Y copy.jpg)" = "$(stat -Lc %Y "$photo")" ]
    expect 2 "" "lapedge: --omp-loop applies only to openmp, and it is not named" bench --backends=c --omp-loop=x
    expect 2 "" "lapedge: --block applies only to cuda-global, and it is not named" bench --backends=c,simd --block=8x8
    expect 2 "" "lapedge: bench: filter is named twice" bench filter filter
    [ ! -e o.jpg ]
}

@test "tuning of what is not there is accepted, and -v notes it; what asks for what happens anyway, too" {
    local words=(-f -j4 --threads=2 --fail-fast --no-sync --progress=off -Q80 --restart=on --device-memory=1G --flat --shard=0/1)
    lapedge "$photo" plain.png
    expect 0 "" "" "${words[@]}" "$photo" o.png
    cmp plain.png o.png
    run --separate-stderr lapedge -v "${words[@]}" "$photo" o.png
    [[ $stderr == *"lapedge: note: --jobs does not apply to one image, only to files in place, a folder run"* ]]
    [[ $stderr == *"lapedge: note: --quality applies only to JPEG output, and the output is .png"* ]]
    [[ $stderr == *"lapedge: note: --flat does not apply to one image, only to a folder run"* ]]
    [ "$(lapedge info -q -Q80 "$photo")" = "$(lapedge info "$photo")" ]
    expect 2 "" "lapedge: --shard does not apply to one image, only to a folder run" --shard=0/2 "$photo" o.png
    expect 2 "" 'lapedge: --quality: "101" is not a whole number from 1 to 100' -Q101 "$photo" o.png
    SLURM_NTASKS=2 SLURM_PROCID=1 run --separate-stderr lapedge --shard=auto "$photo" o.png
    [ "$status" -eq 2 ]
}

@test "an option that is given again with another value: of tuning the last one counts, which -v notes; else exit 2" {
    lapedge -Q 60 "$photo" plain.jpg
    lapedge -v -Q 50 --quality=60 "$photo" o.jpg 2>said
    cmp plain.jpg o.jpg
    [ "$(grep -c "^lapedge: note: --quality is given more than once; the last value counts" said)" -eq 1 ]
    lapedge -v -Q 60 --quality=60 --backend=c --backend=simd "$photo" o.jpg 2>said
    [ "$(grep -c "more than once" said)" -eq 1 ]
    grep -q "note: --backend is given more than once" said
    expect 2 "" 'lapedge: --border is given twice, as "zero" and as "reflect"; leave one out' \
        --border=zero --border=reflect "$photo" o.jpg
    expect 2 "" 'lapedge: --keep is given twice, as "exif" and as "icc"; separate values by commas' \
        --keep=exif --keep=icc "$photo" o.jpg
    for list in all,none none,exif exif,none; do
        expect 2 "" "lapedge: --keep: \"$list\" is not a list: none stands alone" --keep=$list "$photo" o.jpg
    done
}

@test "options for JPEGs are accepted if no input is a JPEG: other files have no scans" {
    pgm 20 10 in.pgm
    lapedge in.pgm in.png
    expect 0 "" "" --decode=parallel in.png o.jpg
    lapedge -v --decode=parallel in.png o.jpg 2>said
    grep -q "note: --decode applies only to JPEGs, and in.png is not one" said
    for limit in 0 3 100; do
        expect 0 "" "" -q --max-scans=$limit in.png o.jpg
        lapedge stats -q --max-scans=$limit in.pgm
        lapedge diff -q --max-scans=$limit in.png in.png
    done
    lapedge compare -q --max-scans=3 --backends=c,simd in.png
    lapedge --max-scans=3 - o.jpg <in.pgm
    lapedge --max-scans=3 in.pgm "$photo" out/
    lapedge -q --max-scans=3 in.pgm ./new/
    cp in.png place.png
    lapedge -q --max-scans=3 --decode=parallel --in-place place.png
}

@test "--format beside a name of another format" {
    expect 2 "" "lapedge: --format=png: o.jpg is a name of another format; write o.png, or --format=jpg" \
        --format=png "$photo" o.jpg
    expect 2 "" "lapedge: --format=jpeg: new.d/o.pgm is a name of another format; write new.d/o.jpg, or --format=pgm" \
        transform --flip=h --format=jpeg "$photo" new.d/o.pgm
    [ ! -e o.jpg ]
    lapedge --format=jpg "$photo" o.JPEG
    lapedge --format=png "$photo" o.edges
    lapedge --format=png "$photo" photo
    lapedge --format=png "$photo" - | cmp - photo
    cmp photo o.edges
}

@test "--version and --help take no other words" {
    expect 2 "" "lapedge: --version takes no operand, such as foo" --version foo
    expect 2 "" "lapedge: --invert does not apply to --version" --version --invert
    expect 2 "" 'lapedge: no command is called "transfrom"; did you mean transform?' --help transfrom
    cmp <(lapedge stats --help) <(lapedge --help stats)
    lapedge a.jpg b.jpg --help >/dev/null # a line that is being written
}

@test "-q leaves nothing to read but errors, and what was asked for" {
    expect 0 "" "" stats -q "$photo"
    [ "$(lapedge stats -q --csv "$photo")" = "$(lapedge stats --csv "$photo")" ]
    expect 0 "" "" bench -q --sizes=64x48 --runs=1 --backends=c
    lapedge bench -q --sizes=64x48 --runs=1 --backends=c --json >bench.json
    json bench.json 'o["rows"][-1]["backend"] == "c"'
}

@test "--fail-fast in place stops at the first that fails" {
    without_summary
    cp "$photo" a.jpg
    echo text >text.jpg
    expect 1 "" "lapedge: text.jpg: not a JPEG, PNG or binary PNM image" --in-place --fail-fast text.jpg a.jpg
    cmp a.jpg "$photo"
}

@test "options of other programs get a hint at lapedge's own" {
    expect 2 "" "lapedge: unknown option -r; folders are walked at any depth: lapedge photos/ edges/" -r a b
    expect 2 "" "lapedge: unknown option -r in -rv; folders are walked at any depth: lapedge photos/ edges/" -rv a b
    expect 2 "" "lapedge: unknown option -r in -resize; lapedge does not resize: an output has the size of its photo" -resize 50% a b
    expect 2 "" "lapedge: unknown option -i in -interlace; see lapedge -h" -interlace Plane a b
    expect 2 "" "lapedge: unknown option --recursive; folders are walked at any depth: lapedge photos/ edges/" --recursive a b
    expect 2 "" "lapedge: unknown option -o; the output is the last operand: lapedge IN OUT" a -o b
    expect 2 "" "lapedge: unknown option --output; the output is the last operand: lapedge IN OUT" a --output=b
    expect 2 "" "lapedge: unknown option --out-dir; the output folder is the last operand: lapedge IN... OUTDIR" a --out-dir b
    run --separate-stderr lapedge -b gpu a b
    [ "$status" -eq 2 ]
    # Where it was not built in, the reason stands behind it.
    [[ $stderr == 'lapedge: --backend: "gpu" is not a known backend; did you mean cuda-fast?'?(' ('*')') ]]
    expect 2 "" "lapedge: unknown option -quality=80; did you mean --quality=80?" -quality=80 a b
    expect 2 "" "lapedge: unknown option -rotate; did you mean --rotate?" transform -rotate 90 a b
    expect 2 "" "lapedge: --backend: \"avx2\" is not a known backend; did you mean simd-avx2?" -b avx2 a b
    run --separate-stderr lapedge --kernel=sobel a b
    [ "$status" -eq 2 ]
    [[ $stderr == 'lapedge: --kernel: "sobel" is not a known kernel; a gradient has a kernel for each direction'* ]]
    # The list that the hint gives is a kernel.
    lapedge --range=abs --kernel='0 0 0 0 0/0 -1 0 1 0/0 -2 0 2 0/0 -1 0 1 0/0 0 0 0 0' "$photo" o.ppm
    expect 2 "" "lapedge: unknown option --strict; --fail-on=warning makes inputs with a warning fail" --strict a b
    expect 2 "" "lapedge: unknown option -p; --preserve keeps time and mode" -p a b
    expect 2 "" "lapedge: batch: no such file, and no command; folders need no command: lapedge IN... OUTDIR" batch a b
}

@test "-q before a folder called 2024, a log in a folder still to be made, a log on standard output" {
    mkdir 2024
    cp "$photo" 2024/a.jpg
    expect 0 "" "" -q 2024 out
    lapedge -q 2024 new --log=new/log.jsonl
    grep -q '"lapedge.file/1"' new/log.jsonl
    lapedge -q 2024 ./other/ --log=other/log.jsonl
    [ "$(wc -l <other/log.jsonl)" -eq 2 ]
    lapedge -q 2024 third --log=- | tail -n 1 >lines
    json lines 'o["schema"] == "lapedge.file/1" and o["output"] == "third/a.jpg"'
    expect 2 "" "lapedge: --log=- and --json cannot both go to standard output" 2024 out --log=- --json
    expect 4 "" "lapedge: --log: none/log: cannot be opened: No such file or directory" -q 2024 out --log=none/log
}

@test "--json: an object also when a command fails; --json-file" {
    for words in "stats none.jpg" "compare none.jpg" "diff a b" "bench nothing" "run" "transform a b" "backends x" "stats --foo a b" "run --foo a b"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge --json $words
        [ "$status" -gt 0 ]
        printf '%s\n' "$output" >failed.json
        json failed.json 'o["error"]["message"] != "" and o["schema"].startswith("lapedge.")'
        [ -n "$stderr" ]
    done
    json failed.json 'o == {"schema": "lapedge.error/1", "command": "run", "exit_code": 2,
        "error": {"kind": "usage", "message": "unknown option --foo; see lapedge --help"}}'
    lapedge stats --json "$photo" >plain.json
    lapedge stats --json-file=file.json "$photo" >text
    cmp plain.json file.json
    cmp text <(lapedge stats "$photo")
    lapedge --json-file=run.json "$photo" - >out.jpg
    json run.json 'o["output"] == "-" and o["status"] == "ok"'
    cp out.jpg a.jpg
    cp out.jpg b.jpg
    lapedge --in-place --json a.jpg b.jpg >lines
    [ "$(wc -l <lines)" -eq 2 ]
    json <(head -1 lines) 'o["output"] == "a.jpg"'
    cp a.jpg before.jpg
    expect 2 "" "lapedge: --json-file: a.jpg is the input" stats --json-file=a.jpg a.jpg
    expect 2 "" "lapedge: unknown option --foo; see lapedge --help" --json-file=a.jpg --foo
    mkdir around && cp "$photo" around/a.jpg
    for side in json-file log trace; do
        expect 2 "" "lapedge: --$side: around/new.jpg lies in the input around and is named like an image; name another file" \
            --$side=around/new.jpg around out
    done
    expect 2 "" "lapedge: --json-file: around/new.png lies in the input around and is named like an image; name another file" \
        stats --json-file=around/new.png around
    lapedge -q --json-file=around/new.json --log=new.jpg around out # not where photos are looked for
    cmp a.jpg before.jpg
}

@test "a closed pipe ends quietly, exit 141" {
    mkdir in
    cp "$photo" in
    for words in "--format=ppm $photo -" "backends" "help" "stats --json $photo" "-q in out --log=-" \
        "-q in out2 --trace=-" "-q in out3 --json-file=-"; do
        # The reader is gone before the first byte.
        run --separate-stderr bash -c "exec 7> >(:); wait \$!; '$LAPEDGE' $words >&7"
        [ "$status" -eq 141 ]
        [ -z "$stderr" ]
    done
    # A timeline that is lost, after the outputs were made: not 4, for something was done.
    run --separate-stderr bash -c "exec 7> >(:); wait \$!; '$LAPEDGE' -q in out4 --trace=/dev/fd/7"
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: /dev/fd/7: cannot write: Broken pipe" ]]
    [ -e "out4/$(basename "$photo")" ]
}
