# What scripts read.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "--json of a run has every key of lapedge.file/1" {
    run --separate-stderr lapedge --json --threads=1 --backend=simd --border=reflect --range=abs "$photo" out.jpg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    echo "$output" >o.json
    json o.json 'list(o) == "schema input output status error width height channels backend resolved kernel border range ms bytes_in bytes_out warnings warning recoded note settings started exit_code".split()'
    json o.json 'o["schema"] == "lapedge.file/1" and o["status"] == "ok" and o["error"] is None'
    json o.json '(o["width"], o["height"], o["channels"]) == (600, 400, 3)'
    json o.json 'o["backend"] == "simd" and o["resolved"].startswith("simd-") and o["kernel"] == "laplace5"'
    json o.json 'o["border"] == "reflect" and o["range"] == "abs"'
    json o.json 'list(o["ms"]) == "read decode upload filter download encode write total".split()'
    json o.json 'o["ms"]["upload"] is None and o["ms"]["download"] is None and o["ms"]["total"] > 0'
    json o.json "o['bytes_in'] == $(stat -c %s "$photo") and o['bytes_out'] == $(stat -c %s out.jpg)"
}

@test "--json of a run that failed, and of one that warned" {
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge --json cut.jpg out.jpg
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json 'o["status"] == "failed" and o["error"]["kind"] == "truncated" and "cut.jpg" in o["error"]["message"]'
    [[ $stderr == "lapedge: cut.jpg: truncated: "* ]]
    run --separate-stderr lapedge --json --fail-on=none cut.jpg out.jpg
    echo "$output" >o.json
    json o.json 'o["status"] == "warned" and o["error"] is None'
    run --separate-stderr lapedge --json nothing.jpg out.jpg
    echo "$output" >o.json
    json o.json 'o["error"]["kind"] == "missing" and o["width"] is None and o["resolved"] is None'
}

@test "--json of a run has when it started, and its exit code" {
    before=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    lapedge --json "$photo" out.jpg >one.json
    mkdir in
    cp "$photo" in/a.jpg
    head -c 20000 "$photo" >in/b.jpg
    run --separate-stderr lapedge --json --json-file=file.json in out
    [ "$status" -eq 1 ]
    echo "$output" >some.json
    run --separate-stderr lapedge --json --ext=png in none
    [ "$status" -eq 4 ]
    echo "$output" >none.json
    run --separate-stderr lapedge --json in/b.jpg out.jpg
    [ "$status" -eq 1 ]
    echo "$output" >cut.json
    lapedge -n --json "$photo" new.jpg 2>/dev/null >dry.json
    lapedge --json --skip-existing "$photo" out.jpg >skipped.json
    run --separate-stderr lapedge --json --in-place in/b.jpg
    [ "$status" -eq 1 ]
    echo "$output" >placed.json
    TZ=Asia/Kolkata lapedge --json --in-place in/a.jpg >place.json
    after=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    cmp some.json file.json
    for name in one:0 some:1 none:4 cut:1 dry:0 skipped:0 placed:1 place:0; do
        json "${name%:*}.json" "o['exit_code'] == ${name#*:} and '$before' <= o['started'] <= '$after'"
    done
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    lapedge --json --in-place a.jpg b.jpg | tail -1 >last.json
    json last.json 'o["exit_code"] is None and o["started"]'
    # In a log the keys are missing.
    lapedge -q --log=log.jsonl --rebuild in/a.jpg a.jpg b.jpg out3 2>/dev/null || true
    run ! grep -q 'started\|exit_code' log.jsonl
}

@test "the exit code in --json counts a log that could not be written" {
    [ -w /dev/full ] || skip "there is no /dev/full"
    mkdir in
    cp "$photo" in/a.jpg
    cp "$photo" b.jpg
    run --separate-stderr lapedge -q --json --log=/dev/full in out
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json 'o["exit_code"] == 1 and o["ok"] == 1 and o["error"] is None'
    run --separate-stderr lapedge -q --json --log=/dev/full --in-place b.jpg
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json 'o["exit_code"] == 1 and o["status"] == "ok"'
}

@test "--json without a filter names none" {
    lapedge transform --rotate=90 --json "$photo" out.jpg >o.json
    json o.json 'all(o[key] is None for key in "backend resolved kernel border range".split())'
    json o.json '(o["width"], o["height"]) == (400, 600)'
}

@test "--json and an image on stdout cannot be combined" {
    expect 2 "" "lapedge: --json and the image cannot both go to standard output; name OUT" --json "$photo" -
    expect 2 "" "lapedge: --json and the image cannot both go to standard output; name OUT" --json "$photo" /dev/stdout
    expect 2 "" "lapedge: --json-file=- and the image cannot both go to standard output; name OUT" --json-file=- "$photo" -
    expect 2 "" "lapedge: --stats=/dev/stdout and the image cannot both go to standard output; name OUT" \
        --stats=/dev/stdout "$photo" -
}

@test "one kind of data goes to standard output; --json-file=- is --json" {
    mkdir in
    cp "$photo" in/a.jpg
    expect 2 "" "lapedge: --trace=- and --json cannot both go to standard output" --trace=- in out --json
    expect 2 "" "lapedge: --trace=- and --log=- cannot both go to standard output" --trace=- --log=- in out
    expect 2 "" "lapedge: --log=/dev/fd/1 and --json-file=- cannot both go to standard output" \
        --log=/dev/fd/1 --json-file=- in out
    expect 2 "" "lapedge: --csv and --json-file=/dev/stdout cannot both go to standard output" \
        stats --csv --json-file=/dev/stdout in
    [ ! -e out ]
    for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        lapedge stats --json-file=$name "$photo" >o.json # without the table for people
        json o.json 'o["schema"] == "lapedge.stats/1"'
    done
    lapedge -n --json --json-file=- in out 2>list >o.json
    json o.json 'o["dry_run"]'
    grep -q "in/a.jpg -> out/a.jpg" list
    lapedge --json-file=- none.jpg out.jpg >o.json 2>/dev/null || true
    json o.json 'o["error"]["kind"] == "missing"'
}

@test "--json of several files in place is an object each" {
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    lapedge --json --in-place a.jpg b.jpg >two.json
    python3 - two.json <<'PYTHON'
import json, sys
decoder, text = json.JSONDecoder(), open(sys.argv[1]).read()
first, end = decoder.raw_decode(text)
second, end = decoder.raw_decode(text[end:].lstrip())
assert (first["input"], second["input"]) == ("a.jpg", "b.jpg")
PYTHON
}

@test "paths that are not UTF-8 are shown, and given exactly beside" {
    name=$'caf\xe9 100%\n.jpg'
    cp "$photo" "$name"
    lapedge --json "$name" out.jpg >o.json
    json o.json 'o["input"] == "caf\ufffd 100%\n.jpg" and o["input_raw"] == "caf%E9%20100%25%0A.jpg"'
    json o.json '"output_raw" not in o'
    lapedge --json out.jpg $'\xc3\xa9.jpg' >o.json
    json o.json 'o["output"] == "\u00e9.jpg" and "output_raw" not in o'
    lapedge --json out.jpg $'\xed\xa0\x80.jpg' >o.json # a surrogate is no character
    json o.json 'o["output_raw"] == "%ED%A0%80.jpg"'
}

@test "backends --json has every rung, with its reason" {
    lapedge backends --json >o.json
    json o.json 'o["schema"] == "lapedge.backends/1"'
    json o.json 'all(list(r)[:6] == "op name aliases family available reason".split() for r in o["rows"])'
    json o.json 'all((r["reason"] is None) == r["available"] for r in o["rows"])'
    json o.json '{r["op"] for r in o["rows"]} >= {"filter", "transpose", "reduce", "matvec"}'
    json o.json '{"c", "openmp", "sse", "simd", "cuda-shared4", "cuda-fast", "auto"} <= {r["name"] for r in o["rows"] if r["op"] == "filter"}'
    json o.json '[r["aliases"] for r in o["rows"] if r["name"] == "cuda-shared4"] == [["cuda-shared-float"]]'
    json o.json 'all(r["available"] for r in o["rows"] if r["name"] in ("c", "auto"))'
}

@test "explain says of every backend what it does, what was measured of it, and where that stands" {
    local op name file seen=0
    lapedge backends --json >o.json
    while read -r op name; do
        run --separate-stderr lapedge explain "$name"
        [ "$status" -eq 0 ]
        [ "$name" != turbo ] || continue # a library
        grep -A40 -x "$op $name" <<<"$output" | sed '/^$/q' >part
        # A name that stands for others is explained by the one that runs here, if one does.
        grep -q '^  stands for' part && ! grep -q '^  which is' part && continue
        grep -qE '^  (Limit|Measured): .' part
        file=$(sed -n 's/^  Read on: \([^,]*\), .*/\1/p' part)
        [ -e "$BATS_TEST_DIRNAME/../../$file" ]
        [ "$name" = c ] || grep -qE '^  Since [a-z0-9-]+: .|^  stands for|^  cuda-(naive|global|simple|shared): ' part
        seen=$((seen + 1))
    done < <(python3 -c 'import json; [print(r["op"], r["name"]) for r in json.load(open("o.json"))["rows"]]')
    [ "$seen" -gt 50 ]
    expect 2 "" 'lapedge: "cuda-fats" is not a known backend; did you mean cuda-fast?' explain cuda-fats
    expect 2 "" "lapedge: explain takes the name of one backend; see lapedge backends" explain
}

# From c on, `explain` leads through all steps with notes; each comes after the step that it is compared with.
@test "explain names the next step of the ladder" {
    local op name seen since
    for op in filter transpose reduce matvec histogram encode decode; do
        name=c seen=" "
        while [ -n "$name" ]; do
            lapedge explain "$name" | grep -A40 -x "$op $name" | sed '/^$/q' >part
            since=$(sed -nE 's/^  Since ([a-z0-9-]+): .*/\1/p' part)
            [[ $seen == *" ${since:-} "* || -z $since ]]
            [[ $seen != *" $name "* ]]
            seen="$seen$name "
            name=$(sed -nE 's/^  Read on: .*; next: lapedge explain (.*)/\1/p' part)
        done
        echo "$op:$seen"
        [[ $op != filter || $seen == *" sse-slide simd-sse41 simd-avx2 simd-avx512 simd-neon cuda-global "* ]]
        [[ $op != encode || $seen == " c avx2 avx512 neon " ]]
    done
}

@test "backends as a table" {
    run --separate-stderr lapedge backends
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *"CUDA devices"* ]]
    for word in filter transpose reduce matvec cuda-shared4-conflict cuda-shared-int; do [[ $output == *"$word"* ]]; done
    expect 2 "" 'lapedge: backends takes no operands, but "filter" is given' backends filter
}

@test "bench --json: a row per backend and number of threads, numbers that agree" {
    for_x86
    lapedge bench --json --threads=2 --sizes=200x100,64x48 --runs=3 --backends=c,sse,simd >o.json
    json o.json 'o["schema"] == "lapedge.bench/1"'
    json o.json 'set("op backend resolved threads width height times_ms median_ms mean_ms stddev_ms min_ms max_ms mpix_per_s gb_per_s roof_share".split()) <= set(o["rows"][0])'
    json o.json '[(r["backend"], r["threads"]) for r in o["rows"] if r["width"] == 64] == [("memcpy", 1), ("multiply-add", 1), ("multiply-add", 2), ("c", 1), ("sse", 1), ("sse", 2), ("simd", 1), ("simd", 2)]'
    json o.json 'all(len(r["times_ms"]) == 3 and sorted(r["times_ms"])[1] == r["median_ms"] for r in o["rows"])'
    json o.json 'all(r["min_ms"] == min(r["times_ms"]) and r["max_ms"] == max(r["times_ms"]) for r in o["rows"])'
    json o.json 'all(r["gflop_per_s"] > 0 and r["gb_per_s"] is None for r in o["rows"] if r["backend"] == "multiply-add")'
    json o.json 'all(abs(r["gflop_per_s"] / r["gb_per_s"] / 24.5 - 1) < 1e-9 and r["first_ms"] > 0 for r in o["rows"] if r["backend"] in ("c", "sse", "simd"))'
    json o.json 'all(abs(r["gb_per_s"] * r["median_ms"] * 1e6 / (2 * 3 * r["width"] * r["height"]) - 1) < 1e-9 for r in o["rows"] if r["backend"] != "multiply-add")'
    json o.json '[r["speedup"] for r in o["rows"] if r["backend"] == "c"] == [1.0, 1.0]'
    json o.json '[r["roof_share"] for r in o["rows"] if r["backend"] == "memcpy"] == [1.0, 1.0]'
    json o.json 'all((r["convert_ms"] is None) == (r["backend"] in ("memcpy", "multiply-add", "simd")) for r in o["rows"])'
}

@test "bench as a table, on a photo's pixels, for every kernel and border" {
    run --separate-stderr lapedge bench --image="$photo" --runs=1 --backends=c,simd --kernel=log5 --border=reflect101
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *"600 x 400 x 3, host"* ]]
    [[ $output == *$'\nmemcpy '* && $output == *$'\nc '* && $output == *$'\nsimd ('* ]]
    for channels in 1 4; do
        run lapedge bench --image="$photo" --sizes=65x33 --channels=$channels --runs=1 --backends=c,simd
        [ "$status" -eq 0 ]
        [[ $output == *"65 x 33 x $channels, host"* && $output != *refused* ]]
    done
    expect 2 "" 'lapedge: --channels: "2" is not 1, 3 or 4' bench --channels=2
    run --separate-stderr lapedge bench --image=no.jpg --json
    [ "$status" -eq 4 ]
    [ "$stderr" = "lapedge: no.jpg: no such file" ]
}

@test "bench --report reads the photo again: one that is read up by then is an error, and there is no page" {
    run --separate-stderr lapedge bench -q --image=/dev/stdin --runs=1 --backends=c --report=page.html < <(cat "$photo")
    [ "$status" -eq 1 ]
    [ "$stderr" = "lapedge: /dev/stdin: the file is empty" ]
    [ ! -e page.html ]
}

@test "bench filter says which filter it timed" {
    lapedge bench filter --sizes=64x48 --runs=1 --backends=c --kernel=npp5 --border=wrap --range=abs --json >o.json
    json o.json '[o["filter"][name] for name in ("kernel", "border", "range")] == ["npp5", "wrap", "abs"]'
}

@test "bench in a terminal of 80 columns does without the least columns, in titles and rows" {
    for_x86
    words="bench filter transpose histogram reduce matvec --n=64 --sizes=64x48 --runs=1 --backends=c,simd,simd-avx2,auto"
    needs_terminal
    run script -qec "stty cols 80; TERM=dumb '$LAPEDGE' $words" /dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"median ms"* && $output != *"min ms"* && $output != *"rel.error"* ]]
    for line in "${lines[@]}"; do line=${line%$'\r'} && [ "${#line}" -le 80 ]; done
    # shellcheck disable=SC2086 # words
    lapedge $words >wide
    [[ $(<wide) == *"min ms"*"convert ms"*"rel.error"* ]]
    printf '%s\n' "${lines[@]%$'\r'}" >narrow
    # Cells end where their titles do: those of rows, and up to the rate those of multiply-add.
    for table in narrow wide; do
        awk '/^backend /{ titled++; ms = index($0, "median ms") + 8; rate = match($0, /M(pixel|value)\/s/) + RLENGTH - 1 }
             titled && $1 ~ /^(memcpy|c|simd|multiply-add)$/ { rows++
                 if (substr($0, ms, 2) !~ /[0-9] / || substr($0, rate, 2) !~ /[-0-9] /) { print; bad = 1 } }
             END { exit bad || titled < 5 || rows < 15 }' $table
    done
}

@test "explain keeps to the width of a terminal" {
    needs_terminal
    local name
    for name in cuda-shared4 simd cuda-fast; do
        run script -qec "stty cols 70; TERM=dumb '$LAPEDGE' explain $name" /dev/null
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -ge 3 ]
        run ! grep -E '.{71}' <(tr -d '\r' <<<"$output")
    done
}

@test "bench marks noisy rows in the table, counts them once, and warnings name the size" {
    lapedge bench --sizes=64x48,1x1 --runs=20 --backends=c,simd --json-file=o.json >table
    marked=$(grep -c ' ~$' table || true)
    [ "$(grep -c '^~ noisy: ' table || true)" -eq $((marked > 0)) ]
    # A measurement under several names is one; what is printed of two may be equal.
    json o.json "sum(r['noisy'] for r in o['rows']) == $marked"
    once=$(python3 -c 'import json
print(len({(r["resolved"], r["median_ms"], r["stddev_ms"]) for r in json.load(open("o.json"))["rows"] if r["noisy"]}))')
    [ "$marked" -eq 0 ] || grep -q "^~ noisy: $once measurement" table
    run ! grep -q '^noisy' table
    json o.json 'all(any(w.split(", ")[2].startswith(s + ":") for s in ("64 x 48", "1 values")) for w in o["warnings"])'
}

@test "bench times a rung that has several names once" {
    # In so many runs no two rungs take the same times by chance.
    lapedge bench --json --sizes=64x48 --runs=20 --threads=2 >o.json
    json o.json '[r["times_ms"] for r in o["rows"] if r["backend"] == "simd"] == [r["times_ms"] for r in o["rows"] if r["backend"] == next(s["resolved"] for s in o["rows"] if s["backend"] == "simd")]'
    json o.json 'len({str(r["times_ms"]) for r in o["rows"] if r["backend"] == "auto"}) == 2'
    json o.json 'len({(r["resolved"], r["threads"]) for r in o["rows"] if r["flags"]}) == len({str(r["times_ms"]) for r in o["rows"] if r["flags"]})'
}

@test "bench and compare have OpenMP wait without spinning, unless the environment says how" {
    ! lapedge --version | grep -q 'OpenMP: not built in' || skip "OpenMP was not built in"
    [ -z "${EMULATOR:-}" ] || skip "an emulated program cannot start itself anew"
    # How long a waiting thread spins, as GNU's and LLVM's runtimes call it.
    waits() { OMP_DISPLAY_ENV=verbose lapedge "$@" 2>&1 >out | sed -nE "s/.*(GOMP_SPINCOUNT = |KMP_BLOCKTIME=)'([0-9]+).*/\2/p" | tail -1; }
    [ "$(waits bench --sizes=1x1 --runs=1 --backends=openmp)" = 0 ]
    [ "$(waits --json compare "$photo" --backends=openmp)" = 0 ]
    grep -q '"schema": "lapedge.compare/1"' out
    [ "$(KMP_BLOCKTIME=77 GOMP_SPINCOUNT=77 waits compare "$photo" --backends=openmp)" = 77 ]
    [ "$(waits --kernel=<(yes 1 | head -25) compare "$photo" --backends=openmp)" = 0 ] # a pipe is read once
    grep -q '^openmp *yes' out
}

@test "bench reports backends that cannot run, and does not time them" {
    lapedge backends --json >backends.json
    json backends.json 'any(r["name"] == "cuda-fast" and not r["available"] for r in o["rows"])' || skip "cuda-fast runs here"
    run --separate-stderr lapedge bench --json --sizes=64x48 --runs=1 --backends=c,cuda-fast
    [ "$status" -eq 3 ]
    [[ $stderr == "lapedge: backend 'cuda-fast' cannot run here: "* ]]
    echo "$output" >o.json
    json o.json 'o["rows"][-1]["backend"] == "cuda-fast" and o["rows"][-1]["resolved"] is None and o["rows"][-1]["times_ms"] == [] and o["rows"][-1]["reason"]'
    run ! lapedge bench --sizes=64x48 --runs=1 --backends=c,cuda-fast
    echo "$output" >table
    lapedge bench --json --sizes=64x48 --runs=1 >o.json # named is another thing than listed
    grep -q '^not timed: cuda-fast: ' table
    run lapedge bench transpose --sizes=64x48 --runs=1 --backends=cuda-padded16,cuda-padded
    [[ $output == *'not timed: cuda-padded16, cuda-padded: '* ]]
    expect 2 "" 'lapedge: --backends: "pairwise" is not a backend of filter' bench --backends=pairwise
}

@test "bench --block: a block of threads, or refused" {
    for block in 0x16 16x0 33x32 16 16x 16x16x1 -8x8 axb ""; do
        expect 2 "" "lapedge: --block: \"$block\" is not a block of at most 1024 threads, such as 16x16 or 32x32" \
            bench --block="$block" --sizes=64x48 --runs=1 --backends=c
    done
    for block in 1x1 32x8 32x32 1024x1; do
        run --separate-stderr lapedge bench --block=$block --sizes=64x48 --runs=1 --backends=c,cuda-global
        [[ $status -eq 0 || $stderr == "lapedge: backend 'cuda-global' cannot run here: "* ]]
    done
}

@test "what cannot be written is not a difference: diff and compare exit with 2" {
    [ -w /dev/full ] || skip "there is no /dev/full"
    run lapedge diff --json-file=/dev/full "$photo" "$photo"
    [ "$status" -eq 2 ]
    run lapedge compare --runs=1 --backends=c --json-file=/dev/full "$photo"
    [ "$status" -eq 2 ]
    lapedge compare --runs=1 --backends=c "$photo" >/dev/full 2>err || [ $? -eq 2 ]
    grep -q "cannot write to standard output: No space left on device" err
    lapedge info "$photo" >/dev/full 2>err || [ $? -eq 1 ]
}

@test "bench refuses what an operation would ignore, before any operation runs" {
    expect 2 "" "lapedge: --type=u8: bench reduce runs only on f32 and f64" bench transpose reduce --type=u8
    expect 2 "" "lapedge: --type=f32: bench filter runs only on u8" bench transpose filter --type=f32
    expect 2 "" "lapedge: --type=f64: bench matvec runs only on f32" bench reduce matvec --type=f64
    for type in f32 f64; do
        expect 2 "" "lapedge: --channels=3: bench transpose of $type has one channel" bench transpose --type=$type --channels=3
    done
    lapedge bench -q transpose --type=f32 --channels=1 --sizes=32x16 --runs=1 --backends=c
    lapedge bench -q transpose --type=u8 --channels=4 --sizes=32x16 --runs=1 --backends=c
    expect 2 "" "lapedge: --channels=4: a JPEG of bench codec has 1 or 3 channels" bench codec --channels=4
    for option in --sizes=64x64 --channels=1; do
        expect 2 "" "lapedge: ${option%=*}: bench codec uses the photos of --image unchanged" \
            bench codec --image="$photo" $option
    done
}

@test "bench notes more threads than cores" {
    local cores
    cores=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))') # nproc obeys OMP_NUM_THREADS
    lapedge bench --threads=$((cores + 1)) --sizes=64x48 --runs=1 --backends=c --json-file=o.json >/dev/null 2>err
    grep -q "^lapedge: note: $((cores + 1)) threads share $cores core" err
    json o.json "o['warnings'][0].startswith('$((cores + 1)) threads share $cores core')"
    lapedge bench --threads=1 --sizes=64x48 --runs=1 --backends=c >/dev/null 2>err
    ! grep -q share err
}

@test "bench --baseline: slower, not slower, and not a baseline" {
    lapedge bench --json --sizes=64x48 --runs=3 --backends=c >now.json
    sed 's/"median_ms": [0-9.e-]*/"median_ms": 1e9/' now.json >slow.json
    sed 's/"median_ms": [0-9.e-]*/"median_ms": 1e-9/' now.json >fast.json
    run lapedge bench --sizes=64x48 --runs=3 --backends=c --baseline=slow.json
    [ "$status" -eq 0 ]
    run --separate-stderr lapedge bench --sizes=64x48 --runs=3 --backends=c --baseline=fast.json --tolerance=50%
    [ "$status" -eq 1 ]
    [[ $stderr == *"lapedge: slower: filter c, 1 thread"* ]]
    run lapedge bench --sizes=32x16 --runs=1 --backends=c --baseline=slow.json
    [ "$status" -eq 2 ]
    # A backend that is not in the baseline is named; the ceilings alone are no common row, and none is "slower".
    run --separate-stderr lapedge bench -q --sizes=64x48 --runs=2 --backends=c,openmp --baseline=slow.json
    [ "$status" -eq 0 ]
    [ "$stderr" = "lapedge: not compared: slow.json has no row for filter openmp in this size" ]
    run --separate-stderr lapedge bench -q --sizes=64x48 --runs=2 --backends=openmp --baseline=slow.json
    [ "$status" -eq 2 ]
    [[ $stderr == *"lapedge: --baseline: slow.json has no row in common with this run" ]]
    run --separate-stderr lapedge bench -q --sizes=64x48 --runs=2 --backends=c --baseline=fast.json
    [[ $stderr != *memcpy* ]]
    # Other work is not compared.
    expect 2 "" "lapedge: --baseline: slow.json was measured with another filter" \
        bench -q --sizes=64x48 --runs=1 --backends=c --kernel=log5 --baseline=slow.json
    expect 2 "" "lapedge: --baseline: slow.json was measured with another image" \
        bench -q --runs=1 --backends=c --image="$photo" --baseline=slow.json
    expect 4 "" "lapedge: none.jpg: no such file" bench -q --image=none.jpg --baseline=slow.json
    lapedge backends --json >backends.json
    expect 2 "" "lapedge: --baseline: backends.json: not the output of lapedge bench --json" bench --baseline=backends.json
    expect 2 "" "lapedge: --baseline: none.json: cannot be read: No such file or directory" bench --baseline=none.json
    expect 2 "" 'lapedge: --tolerance: "x" is not a share such as 5% or 0.05' bench --tolerance=x
}

@test "numbers have as few digits as read back to the same, milliseconds end at the nanosecond" {
    lapedge --json --scale=0.1 "$photo" o.jpg >o.json
    python3 - o.json <<'PYTHON'
import json, re, struct, sys
text = open(sys.argv[1]).read()
o = json.loads(text)
for value in re.findall(r"-?\d+\.\d+(?:e[-+]?\d+)?", text):
    assert len(value) <= max(len(repr(float(value))), 3), value
for ms in o["ms"].values():
    assert ms is None or abs(ms * 1e6 - round(ms * 1e6)) < 1e-3, ms
assert o["settings"]["scale"] == struct.unpack("f", struct.pack("f", 0.1))[0]
assert '"coefficients": [' in text and "24.0" in text
PYTHON
}
