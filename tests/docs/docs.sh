#!/bin/bash
# What the documents say is so: links lead somewhere, the example is the tested one, figures were measured.
. tests/tap.sh

links_lead_somewhere()
{
    local file link bad=0
    for file in *.md docs/*.md samples/*.md; do
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
    diff <(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d') tests/install/example.c
}

# table NAME: the marked table is what ladder-table makes of docs/bench/NAME.json.
table()
{
    tools/ladder-table --check "$2" "$1" "docs/bench/$1.json"
}

ladder_table_works()
{
    diff - <(tools/ladder-table tests/docs/bench.json) <<'TABLE'
| rung | ms, 1 thread | ms, 2 threads | Mpixel/s | GB/s | of the ceiling | times `c` |
|---|---:|---:|---:|---:|---:|---:|
| memcpy | 4.00 |  | 5000 | 30.0 | 100 % |  |
| `c` | 200.00 |  | 100 | 0.6 | 2 % | 1.0 |
| `simd-avx2` | 8.00 | 5.00 | 2500 | 15.0 | 50 % | 25.0 |

4992 x 3744 x 3, 3 runs, medians; figures right of the times are for one thread.
TABLE
}

# Every rung that the README names is a row of the table of filters, and the other way round.
rungs_exist()
{
    # The measured table below names what simd resolves to.
    diff <(sed '/^<!-- ladder-cpu -->/,/^<!-- .ladder-cpu -->/d' README.md |
        sed -n '/^## The ladder/,/^### /p' | grep -oE '^\| `.*\| ' | cut -d'|' -f2 | grep -oE '`[a-z0-9-]+`' |
        tr -d '`' | grep -v '^-' | sort -u) \
        <("${LAPEDGE:-./lapedge}" backends --json | python3 -c '
import json, re, sys
names = {row["name"] for row in json.load(sys.stdin)["rows"] if row["op"] == "filter"}
print("\n".join(sorted({re.sub(r"^(simd)-.*|^(cuda-shared4)-.*", r"\1\2", name) for name in names})))')
}

# Every command and every option that the program completes stands in its manual.
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

version=$(sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
check "links in the documents lead somewhere" links_lead_somewhere
check "the example in README.md is the one that is tested" example_is_the_tested_one
check "CHANGELOG.md has an entry for $version" grep -q "^## $version" CHANGELOG.md
check "the manual has every command and option" manual_is_whole
check "rungs of the README are rungs of the table" rungs_exist
# between NAME: what stands between the lines <!-- NAME --> and <!-- /NAME --> of docs/ladder.md.
between()
{
    sed -n "/<!-- $1 -->/,/<!-- \\/$1 -->/p" docs/ladder.md | sed '1d;$d'
}

gpu_figures_were_measured()
{
    diff <(between gpu-times) <(tools/ladder-chart docs/profile/times.json) &&
        diff <(between gpu-counters) <(tools/profile-gpu --from=docs/profile/counters.json) &&
        diff docs/img/ladder-gpu.svg <(tools/ladder-chart --svg docs/profile/times.json)
}

# What is no bench on a device beside the copy is refused in words; the copy is found by its name.
chart_refuses()
{
    local said
    for file in docs/bench/ladder-cpu.json tests/docs/bench.json tests/docs/docs.sh /nonexistent; do
        ! said=$(tools/ladder-chart "$file" 2>&1) && [[ $said == "ladder-chart: "* && $said != *Traceback* ]] ||
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
    tools/ladder-chart "$scratch/fast.json" | grep -E '^\| copy .* 1\.00 \|$' &&
        ! tools/ladder-chart --svg "$scratch/fast.json" | grep 'width="-'
}

if have python3; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    check "tools/ladder-chart finds the copy and refuses what is no such bench" chart_refuses
    check "tables and chart of docs/ladder.md were measured" gpu_figures_were_measured
    check "tools/ladder-table makes a table" ladder_table_works
    check "the tables of docs/benchmarks.md were measured" tools/peers-report --check
    for bench in docs/bench/*.json; do
        [ -e "$bench" ] || continue
        name=$(basename "$bench" .json)
        file=$(grep -lF "<!-- $name -->" README.md docs/*.md 2>/dev/null | head -n 1)
        check "the table of $name was measured" table "$name" "${file:-README.md}"
    done
else
    skip "tools/ladder-chart finds the copy and refuses what is no such bench" "no python3"
    skip "tables and chart of docs/ladder.md were measured" "no python3"
    skip "tools/ladder-table makes a table" "no python3"
    skip "the tables of docs/benchmarks.md were measured" "no python3"
fi
finish
