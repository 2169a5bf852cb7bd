#!/bin/bash
# What the documents say is true: links work, the examples compile, numbers were measured.
. tests/support/tap.sh

links_lead_somewhere()
{
    local file link bad=0
    for file in *.md docs/*.md samples/*.md src/*.md cuda/*.md cpu_simd/*.md lessons/*.md; do
        [ -e "$file" ] || continue
        while IFS= read -r link; do
            if [ ! -e "$(dirname "$file")/$link" ]; then
                echo "$file: $link"
                bad=1
            fi
        done < <(grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' | grep -vE '^[a-z]+:')
    done
    return $bad
}

example_is_the_tested_one()
{
    diff <(c_of docs/library.md) tests/package/install/example.c && diff <(c_of docs/library.md 2) tests/kernels/views/example.c &&
        diff <(c_of docs/pipeline.md) tests/package/install/pipeline.c &&
        diff <(c_of docs/pipeline.md 2) tests/kernels/views/batch_example.c && diff <(python_of docs/pipeline.md) python/examples/dataloader.py
}

# The include table of the architecture page is the one that tests/structure checks.
rooms_are_the_tested_ones()
{
    diff <(sed -n '/^<!-- rooms -->$/,/^<!-- .rooms -->$/p' docs/architecture.md | sed '1,2d' | sed '$d' | sed '$d') \
        <(grep -v '^#' tests/structure/rooms.txt)
}

# Source files that the documents name are there: from the root, or from the folder of a README and its folders.
# The list of faults names the files of the tree that was measured.
named_files_exist()
{
    local file name bad=0 looked=0
    for file in README.md CONTRIBUTING.md docs/*.md src/README.md cuda/README.md cpu_simd/README.md; do
        while IFS= read -r name; do
            looked=$((looked + 1))
            [ -e "$name" ] || [ -n "$(find "$(dirname "$file")" -path "*/$name" -print -quit)" ] ||
                { echo "$file: $name" && bad=1; }
        done < <(grep -vE '^- `[^`]*`: .* with .* for ' "$file" |
            grep -oE '`[a-z][a-z0-9_/]*\.(c|h|cu|cuh|txt)`' | tr -d '`' | sort -u)
    done
    return $((bad || looked < 60))
}

# 20 sentences of every kind of text and one that is mixed in; the same seed draws the same ones.
sentences_are_drawn_by_a_seed()
{
    local to=$scratch/drawn
    echo 'A sentence of somebody else.' >"$to.mix"
    tools/test/draw-sentences --count=180 --seed=7 --mix="$to.mix" "$to" && cp "$to.tsv" "$to.first" &&
        tools/test/draw-sentences --count=180 --seed=7 --mix="$to.mix" "$to" && cmp "$to.tsv" "$to.first" || return
    [ "$(wc -l <"$to.txt")" -eq 181 ] && grep -q '^[0-9]*\. A sentence of somebody else\.$' "$to.txt" &&
        [ "$(sed 1d "$to.tsv" | cut -f2 | sort | uniq -c | awk '$1 == 20' | wc -l)" -eq 9 ]
}

# Without an llvm-mca that has the models, tools/measure/ports says which one it needs.
ports_needs_a_newer_model()
{
    local said python
    python=$(python3 -c 'import sys; print(sys.executable)') && mkdir -p "$scratch/path" || return
    said=$(PATH=$scratch/path "$python" tools/measure/ports "$scratch/ports.json" 2>&1)
    [ $? = 1 ] && [[ $said == 'ports: needs llvm-mca 16 or later'*'found: none' ]] || { echo "$said"; return 1; }
    printf '#!/bin/sh\necho "  znver3         - Select the znver3 processor." >&2\n' >"$scratch/path/llvm-mca-14"
    chmod +x "$scratch/path/llvm-mca-14"
    said=$(PATH=$scratch/path "$python" tools/measure/ports "$scratch/ports.json" 2>&1)
    [ $? = 1 ] && [[ $said == 'ports: needs llvm-mca 16 or later'*"found: $scratch/path/llvm-mca-14" ]] || { echo "$said"; return 1; }
    [ ! -e "$scratch/ports.json" ]
}

# c_of FILE [N]: its N-th block of C, the first unless given.
c_of()
{
    awk -v wanted="${2:-1}" '/^```/ { inside = 0 } inside { print } /^```c$/ { inside = ++seen == wanted }' "$1"
}

# The first block of Python of FILE.
python_of()
{
    awk '/^```/ { inside = 0 } inside { print } /^```python$/ { inside = ++seen == 1 }' "$1"
}

# The few lines of the README, as the body of a main.
short_example_compiles()
{
    [ "$(c_of README.md | wc -l)" -eq 5 ] || return
    { echo '#include <lapedge.h>' && echo 'int main(void) {' && c_of README.md && echo '}'; } |
        "${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -Isrc -fsyntax-only -x c -
}

# The two ladders of the README.
ladders()
{
    tools/figures/ladder-table --check README.md ladder docs/bench/ladder-cpu.json docs/profile/times.json
}

ladder_table_works()
{
    diff - <(tools/figures/ladder-table tests/docs/bench.json) <<'TABLE'
| backend | ms, 1 thread | ms, 2 threads | Mpixel/s | GB/s | of the ceiling | times `c` |
|---|---:|---:|---:|---:|---:|---:|
| memcpy | 4.00 |  | 5000 | 30.0 | 100 % |  |
| `c` | 200.00 |  | 100 | 0.6 | 2 % | 1.0 |
| `simd-avx2` | 8.00 | 5.00 | 2500 | 15.0 | 50 % | 25.0 |

4992 x 3744 x 3, 3 runs, medians; columns right of the times are for one thread.
TABLE
}

# What the page shows of a run on 16 cores stands in the kept file.
decode_block_is_kept()
{
    local block
    block=$(sed -n '/^    run in memory/,/^ *1  /p' docs/parallel-decoding.md | sed 's/^    //')
    [ "$(wc -l <<<"$block")" -ge 12 ] &&
        diff <(sed '/^$/d' <<<"$block") <(sed -n '/^run in memory/,$p' docs/bench/decode-16-cores.txt | sed '/^$/d')
}

# A step with a higher number is a column more; one that is no output of a bench is refused with a message.
codec_table_works()
{
    local said
    cp -r docs/profile/codec "$scratch/codec" || return
    printf '# third\n  alone, us: upload 1 chains 23 | all 24 | with host 25\n   1 streams:  1234.5 photos/s, 9 us of host work\n' \
        >"$scratch/codec/decode-30.txt"
    tools/figures/codec-table "$scratch/codec" >"$scratch/tables" &&
        grep -qE '^\| us, photo alone \| 1\. .* \| [0-9]+\. third \|$' "$scratch/tables" &&
        grep -q '^| chains | .* | 23 |$' "$scratch/tables" && grep -qE '^\| [0-9]+\. third \| 1,23[45] \|' "$scratch/tables" ||
        { cat "$scratch/tables" && return 1; }
    echo nothing >"$scratch/codec/decode-31.txt"
    ! said=$(tools/figures/codec-table "$scratch/codec" 2>&1) && [[ $said == *"decode-31.txt has no stages" ]]
}

# The README's ladders name the backends that the program has for the filter, and no others.
rungs_exist()
{
    local ladders
    ladders=$(sed -n '/^<!-- ladder -->/,/^<!-- .ladder -->/p; /^## The ladders/,/^## The library/p' README.md)
    diff <(grep -oE '`[a-z0-9-]+`' <<<"$ladders" | tr -d '`' | sort -u) \
        <("${LAPEDGE:-./lapedge}" backends --json | python3 -c '
import json, sys
print("\n".join(sorted({row["name"] for row in json.load(sys.stdin)["rows"] if row["op"] == "filter"})))')
}

# The manual describes every command and every option that the program completes.
manual_is_whole()
{
    local program=${LAPEDGE:-./lapedge} command option bad=0
    for command in $("$program" __complete); do
        grep -qE "^\.(It )?(Op )?Cm $command( |\$)" docs/lapedge.1 || { echo "$command" && bad=1; }
        for option in $("$program" __complete "$command"); do
            option=${option%=}
            grep -qE "Fl ${option#-}( |\$)" docs/lapedge.1 || { echo "$command $option" && bad=1; }
        done
    done
    return $bad
}

# A page of --report has the notices and the licence of the chart library that it contains (docs/licences.md).
report_keeps_notices()
{
    grep -q '(c) 20[0-9]* Chart.js Contributors' "$1" && grep -q '(c) 20[0-9]* Jukka Kurkela' "$1" &&
        [ "$(grep -c 'Released under the MIT License' "$1")" -ge 2 ] &&
        grep -q 'Permission is hereby granted, free of charge' "$1"
}

# The manual describes every variable of the environment that the program reads.
manual_has_environment()
{
    local name names bad=0
    names=$(grep -rl getenv src cpu_simd cuda | xargs grep -ohE 'getenv\("[A-Z_]+"|"[A-Z]+_[A-Z_]+"' |
        grep -oE '[A-Z][A-Z_]+' | sort -u)
    [ "$(wc -l <<<"$names")" -ge 10 ] || return
    for name in $names; do
        grep -qE "^\.(It )?Ev (.* )?$name( |\$)" docs/lapedge.1 || { echo "$name" && bad=1; }
    done
    return $bad
}

version=$(sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
check "links in the documents work" links_lead_somewhere
check "source files that the documents name are there" named_files_exist
check "the include table of docs/architecture.md is the tested one" rooms_are_the_tested_ones
check "the examples in docs/library.md are those that are tested" example_is_the_tested_one
check "the five lines of C in README.md compile" short_example_compiles
check "CHANGELOG.md has an entry for $version" grep -q "^## $version" CHANGELOG.md
check "the manual has every command and option" manual_is_whole
check "the manual has every environment variable" manual_has_environment
check "the backends of the README are those of the program" rungs_exist
# A sentence with a reason and no row, a row without its sentence, a conjecture that does not say so, and too many
# of them are found.
reasons_find_faults()
{
    local copy=$scratch/reasons expected file said row="| Shared memory is not the only way to fewer wavefronts |"
    mkdir -p "$copy/tests/docs" && cp -r docs cuda cpu_simd "$copy" &&
        cp tests/docs/no-reason.txt "$copy/tests/docs" || return
    tests/docs/reasons.py "$copy" || return
    # fault EXPECTED FILE SED: the copy with FILE changed says so.
    fault()
    {
        expected=$1 file=$2
        cp "$copy/$file" "$scratch/kept" && sed -i "$3" "$copy/$file" &&
            ! cmp -s "$copy/$file" "$scratch/kept" && ! said=$(tests/docs/reasons.py "$copy") &&
            grep -q "$expected" <<<"$said" || { echo "$file: not found: $expected: $said" && return 1; }
        cp "$scratch/kept" "$copy/$file"
    }
    fault "docs/ladder.md: no row in" docs/ladder.md '$a\\nIt is slow because it waits.' &&
        fault "no row in" cuda/filter/filter_1_global.cu '1s/$/ Slow, hence kept./' &&
        fault "has no such sentence" docs/reasons.md "s/^$row/| what counts is money |/" &&
        fault "has no such sentence" tests/docs/no-reason.txt '$s/: .*/: so what/' &&
        fault "must say that it is a conjecture" docs/reasons.md "/^$row/s/agrees .* |\$/conjecture |/" &&
        fault "no verdict" docs/reasons.md "/^$row/s/agrees .* |\$/surely |/" &&
        fault "without a value" docs/reasons.md "s/^$row .* | \(with blocks of 32x16\)/$row much | \1/" &&
        fault "84 is not among" docs/reasons.md '/filter_6b_pixels.*Measured/s/-->84<!/-->85<!/' &&
        fault "rows are conjectures" docs/reasons.md 's/| [a-z ]* the counter |$/| conjecture |/'
}

chart_was_measured()
{
    diff docs/img/ladder-gpu.svg <(tools/figures/ladder-chart --svg docs/profile/times.json)
}

timeline_was_measured()
{
    diff docs/img/folder-timeline.svg <(tools/figures/timeline docs/profile/folders-trace.json)
}

# Rows of every thread and stream and bars of every kind are drawn; a file that is no timeline is refused.
timeline_works()
{
    local said drawn=$scratch/timeline.svg
    cat >"$scratch/trace.json" <<'JSON'
{"traceEvents":[{"name":"process_name","ph":"M","pid":0,"args":{"name":"threads"}},
{"name":"process_name","ph":"M","pid":2,"args":{"name":"CUDA device 1"}},
{"name":"read","ph":"X","ts":1000,"dur":2000,"pid":0,"tid":1,"args":{"photo":0}},
{"name":"decode","ph":"X","ts":3000,"dur":4000,"pid":2,"tid":0,"args":{"photo":0}},
{"name":"write","ph":"X","ts":20000,"dur":2000,"pid":0,"tid":2,"args":{"photo":0}}]}
JSON
    tools/figures/timeline "$scratch/trace.json" >"$drawn" && python3 - "$drawn" <<'PYTHON' || return
import re, sys, xml.etree.ElementTree as tree
page = tree.parse(sys.argv[1]).getroot()
bars = [p.get("class") for p in page.iter("{http://www.w3.org/2000/svg}path") for _ in re.findall("M", p.get("d"))]
words = [t.text for t in page.iter("{http://www.w3.org/2000/svg}text")]
# The legend, the whole run, and from 15 ms on only what was written.
assert {kind: bars.count(kind) for kind in ("read", "decode", "write")} == {"read": 2, "decode": 2, "write": 3}, bars
assert words.count("CUDA device 1: streams") == 2 and "22 ms" in words, words
PYTHON
    for file in docs/bench/ladder-cpu.json tests/docs/docs.sh /nonexistent; do
        ! said=$(tools/figures/timeline "$file" 2>&1) && [[ $said == "timeline: "* && $said != *Traceback* ]] ||
            { echo "$file: $said" && return 1; }
    done
}

# Figures of folders come from their step; of what was not measured there is a dash, or no row.
folder_figures_work()
{
    python3 - <<'PYTHON'
import sys
sys.path.insert(0, "tools/figures")
import figures_data as data
step = {"step": "large, simd", "photos": 1500, "photos_per_s": 53.4, "on_devices": 0, "busy_ms": {"write": 8.0625}}
kept = {"steps": [step]}
data.read = lambda path: kept
assert (data.folder("large, simd", "photos"), data.folder("large, simd", "write")) == (1500, 8.0625)
for wanted in (("large, simd", "steady_per_s"), ("large, auto", "photos")):
    try:
        sys.exit(f"{wanted}: {data.folder(*wanted)}")
    except data.Missing:
        pass
assert "\n| 1,500 of 18.7 Mpixel | `simd` |  |  |  |  |  |  | 8.062 |\n" in data.folder_stages("x"), data.folder_stages("x")
kept["steps"] += [{"step": f"60 photos, whole process, {name}", "photos_per_s": 50} for name in ("cuda-fast", "auto")]
kept["steps"] += [{"step": "60 photos, whole process, simd", "photos_per_s": 51.5}]
rates = data.folder_rates("x")
assert "| 1,500 of 18.7 Mpixel | `simd` |  | 53 | 0 |\n" in rates and rates.count("\n| 60 of") == 3, rates
PYTHON
}

figures_were_measured()
{
    [ "$(cat docs/*.md | grep -o '<!--= ' | wc -l)" -ge 150 ] &&
        tools/figures/fill --check docs/*.md README.md CONTRIBUTING.md SECURITY.md src/README.md cuda/README.md \
            cpu_simd/README.md
}

# Draws the picture again from the photo that the page names.
step_picture_is_kept()
{
    tools/figures/step-picture samples/coffee.jpg "$scratch/into-step.svg" &&
        diff "$scratch/into-step.svg" docs/img/into-step.svg
}

# A changed digit in a mark or in a table, a typed measurement (on any page) and changed lines of source are found.
figures_find_faults()
{
    local page=$scratch/ladder.md fault
    for fault in 's/\(<!--= us(.filter.,.copy.)[^>]*-->\)[0-9]/\17/' 's/^| copy | [0-9]/| copy | 7/' \
        's/^## Tested/It takes 40.5 us.\n&/' 's/^static_assert(lap_bank/static_assert(!lap_bank/'; do
        sed "$fault" docs/ladder.md >"$page"
        ! cmp -s "$page" docs/ladder.md && ! tools/figures/fill --check "$page" >/dev/null ||
            { echo "not found: $fault" && return 1; }
    done
    cp docs/ladder.md "$page" && tools/figures/fill --check "$page" || return
    while IFS= read -r fault; do
        { cat docs/ladder.md && printf '\n%b\n' "$fault"; } >"$page"
        ! tools/figures/fill --check "$page" >/dev/null || { echo "not found: $fault" && return 1; }
    done <<'FAULTS'
![The first rung takes 409 us](img/banks.svg)
| `cuda-global` | 409.9 |
| us |\n|---|\n| 409.9 |
It takes `409.9 us`, or **409.9** us, or 409.9&nbsp;us.
```text\nfilter 409.9 us\n```
    filter 409.9 us
It takes <!--= 409.9 -->410<!--/--> units, a typed mark.
It takes <!--= 410 -->410<!--/--> units.
It takes <!--= us('filter','copy')+379.3 -->410<!--/--> units.
<!-- mine -->409.9 us<!-- /mine -->
It is 12.5x as fast.
It is 12.5-fold.
It waits 18 cycles.
It needs 409.9 microseconds.
<!-- kept: docs/bench/compare.txt -->\nno such line\n<!-- /kept -->
FAULTS
    for page in docs/*.md README.md CONTRIBUTING.md; do
        { cat "$page" && printf '\nIt takes 40.5\nus, 7%% of it.\n'; } >"$scratch/page.md"
        [ "$(tools/figures/fill --check "$scratch/page.md" | grep -cE 'typed, not measured: (40\.5 us|7%)$')" -eq 2 ] ||
            { echo "$page: not found" && return 1; }
    done
}

# A file that is no bench of a device beside the copy is refused with a message; the copy is found by name.
chart_refuses()
{
    local said
    for file in docs/bench/ladder-cpu.json tests/docs/bench.json tests/docs/docs.sh /nonexistent; do
        ! said=$(tools/figures/ladder-chart "$file" 2>&1) && [[ $said == "ladder-chart: "* && $said != *Traceback* ]] ||
            { echo "$file: $said" && return 1; }
    done
    python3 - docs/profile/times.json <<'PYTHON' >"$scratch/fast.json" || return
import json, sys
bench = json.load(open(sys.argv[1], encoding="utf-8"))
bench["rows"].reverse()
for row in bench["rows"]:
    row["median_ms"] /= 100
json.dump(bench, sys.stdout)
PYTHON
    tools/figures/ladder-chart "$scratch/fast.json" | grep -E '^\| copy .* 1\.00 \|$' &&
        ! tools/figures/ladder-chart --svg "$scratch/fast.json" | grep 'width="-'
}

# A letter, a value, a word of the help, an entry too few and one too many.
manual_finds_faults()
{
    local page=$scratch/page.1 change
    for change in 's/^\.It Fl Q ,/.It Fl q ,/' 's/Cm clamp Ns | Ns Cm abs$/Cm clamp/' 's/^Maximum number of threads/Number of threads/' \
        '/^\.It Fl -gray$/d' 's/^\.It Fl -gray$/&\n.It Fl -grey/'; do
        sed "$change" docs/lapedge.1 >"$page"
        ! cmp -s "$page" docs/lapedge.1 && ! tools/figures/manual "${LAPEDGE:-./lapedge}" "$page" --check >"$scratch/found" &&
            grep -q "$page" "$scratch/found" || { echo "not found: $change"; return 1; }
    done
    sed 's/^\.It Fl Q ,/.It Fl q ,/; s/^Maximum number of threads/Number of threads/' docs/lapedge.1 >"$page"
    tools/figures/manual "${LAPEDGE:-./lapedge}" "$page" --write >/dev/null && cmp "$page" docs/lapedge.1
}

# The picture at the top of the README is what the command above it writes.
picture_comes_from_the_command()
{
    "${LAPEDGE:-./lapedge}" samples/chelsea.jpg "$scratch/edges.jpg" && cmp "$scratch/edges.jpg" docs/img/chelsea-edges.jpg
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check "the picture of the README comes from its command" picture_comes_from_the_command
"${LAPEDGE:-./lapedge}" stats -q --report="$scratch/page.html" samples/chelsea.jpg >/dev/null
if grep -q ').Chart=' "$scratch/page.html"; then
    check "reports have the notices and the licence of the chart library" report_keeps_notices "$scratch/page.html"
else
    skip "reports have the notices and the licence of the chart library" "built without Chart.js"
fi
check "the block of docs/parallel-decoding.md was measured" decode_block_is_kept
if have python3; then
    check "the manual says of options what their table says" tools/figures/manual "${LAPEDGE:-./lapedge}" --check
    check "tools/figures/manual finds what differs, and writes it" manual_finds_faults
    check "pages name options of the table alone" python3 tests/docs/options.py "${LAPEDGE:-./lapedge}"
    check "tools/figures/ladder-chart finds the copy and refuses other files" chart_refuses
    check "the chart of docs/ladder.md was measured" chart_was_measured
    check "the picture of docs/parallel-decoding.md is that of its photo" step_picture_is_kept
    check "the timeline of docs/folders.md was measured" timeline_was_measured
    check "sentences are drawn by a seed, as many of each kind" sentences_are_drawn_by_a_seed
    check "tools/measure/ports says which llvm-mca it needs" ports_needs_a_newer_model
    check "tools/figures/timeline draws a trace and refuses other files" timeline_works
    check "figures of folders come from their step" folder_figures_work
    check "the numbers in docs/*.md come from kept files, their lines of source from the source" figures_were_measured
    check "tools/figures/fill finds a changed digit, a typed number and a changed line" figures_find_faults
    check "under each backend stand its file and its lines" python3 tests/docs/rungs.py "${LAPEDGE:-./lapedge}"
    check "each reason stands in docs/reasons.md beside its counter" tests/docs/reasons.py
    check "a reason without a row, and a row without its sentence, are found" reasons_find_faults
    check "the drawings are made from the constants of the kernels" tools/figures/diagrams --check
    check "the tables of docs/gpu-codec.md were measured" tools/figures/codec-table --check
    check "tools/figures/codec-table takes a new step, and refuses other files" codec_table_works
    check "tools/figures/ladder-table makes a table" ladder_table_works
    check "the ladders of README.md were measured" ladders
    check "the tables of docs/benchmarks.md were measured" tools/figures/peers-report --check
    check "the tables of docs/reliability.md were measured" tools/test/torture-table docs/bench/torture.jsonl --check
else
    skip "manual, table of options, README and pages agree" "no python3"
    skip "tools/figures/ladder-chart finds the copy and refuses other files" "no python3"
    skip "the chart of docs/ladder.md was measured" "no python3"
    skip "the picture of docs/parallel-decoding.md is that of its photo" "no python3"
    skip "the timeline of docs/folders.md was measured" "no python3"
    skip "tools/figures/timeline draws a trace and refuses other files" "no python3"
    skip "figures of folders come from their step" "no python3"
    skip "the numbers in docs/*.md come from kept files, their lines of source from the source" "no python3"
    skip "tools/figures/fill finds a changed digit, a typed number and a changed line" "no python3"
    skip "under each backend stand its file and its lines" "no python3"
    skip "each reason stands in docs/reasons.md beside its counter" "no python3"
    skip "a reason without a row, and a row without its sentence, are found" "no python3"
    skip "the drawings are made from the constants of the kernels" "no python3"
    skip "the tables of docs/gpu-codec.md were measured" "no python3"
    skip "tools/figures/codec-table takes a new step, and refuses other files" "no python3"
    skip "tools/figures/ladder-table makes a table" "no python3"
    skip "the ladders of README.md were measured" "no python3"
    skip "the tables of docs/benchmarks.md were measured" "no python3"
fi
finish
