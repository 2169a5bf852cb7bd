#!/usr/bin/env bats
# Statistics, against NumPy's.
load common

numpy()
{
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
    /usr/bin/python3 -
}

@test "every figure equals NumPy's, of the picture and of its edges" {
    lapedge "$photo" in.ppm --kernel=identity
    lapedge "$photo" edges.ppm
    lapedge stats --json --threshold=100 "$photo" >stats.json
    numpy <<'PY'
import json, math, numpy as np
def ppm(path):
    data = open(path, "rb").read().split(b"\n", 3)
    w, h = map(int, data[1].split())
    return np.frombuffer(data[3], np.uint8).reshape(h, w, 3)
stats = json.load(open("stats.json"))
assert stats["schema"] == "lapedge.stats/1" and stats["threshold"] == 100 and stats["profiles"] is None
for name, path in (("input", "in.ppm"), ("edges", "edges.ppm")):
    pixels = ppm(path)
    for c, got in enumerate(stats[name]["channels"]):
        v = pixels[..., c].ravel()
        counts = np.bincount(v, minlength=256)
        share = counts[counts > 0] / v.size
        assert got["histogram"] == counts.tolist()
        assert got["name"] == ("red", "green", "blue")[c]
        assert (got["min"], got["max"], got["sum"]) == (v.min(), v.max(), v.astype(int).sum())
        assert got["mean"] == v.astype(int).sum() / v.size
        assert math.isclose(got["stddev"], v.astype(float).std(), rel_tol=1e-12)
        assert math.isclose(got["entropy"], -(share * np.log2(share)).sum(), rel_tol=1e-12)
        for p in (1, 50, 99):
            assert got[f"p{p}"] == np.percentile(v, p, method="inverted_cdf")
        assert got["above"] == (v >= 100).mean()
PY
}

@test "profiles are the means of rows and columns, or weighted sums" {
    lapedge --gray "$photo" edges.pgm
    seq 1 600 | sed 's/$/e-3/' >w600.txt
    lapedge stats --json --profiles "$photo" >mean.json
    lapedge stats --json --profiles --weights=w600.txt "$photo" >weighted.json
    numpy <<'PY'
import json, numpy as np
data = open("edges.pgm", "rb").read().split(b"\n", 3)
w, h = map(int, data[1].split())
plane = np.frombuffer(data[3], np.uint8).reshape(h, w).astype(float)
mean = json.load(open("mean.json"))["profiles"]
assert np.allclose(mean["rows"], plane.mean(1), rtol=1e-5) and np.allclose(mean["columns"], plane.mean(0), rtol=1e-5)
weighted = json.load(open("weighted.json"))["profiles"]
assert np.allclose(weighted["rows"], plane @ (np.arange(1, 601) * 1e-3), rtol=1e-5)
assert np.allclose(weighted["columns"], plane.mean(0), rtol=1e-5)
PY
}

@test "--stats of a run writes the same numbers" {
    lapedge "$photo" edges.jpg --stats=run.json --threads=3
    lapedge stats --json "$photo" >stats.json
    cmp <(grep -v '"path"' run.json) <(grep -v '"path"' stats.json)
}

@test "plain text without a terminal, and a line a figure with --csv" {
    run lapedge stats "$photo"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 9 ]
    [[ ${lines[1]} == input*stddev*p99 ]]
    lapedge stats --csv "$photo" >out.csv
    [ "$(head -1 out.csv)" = "image,channel,figure,index,value" ]
    [ "$(grep -c ',histogram,' out.csv)" -eq 1536 ]
}

@test "fits the terminal" {
    for width in 60 80 200; do
        run script -qec "stty cols $width; TERM=dumb LC_ALL=C '$LAPEDGE' stats --profiles --threshold=9 '$photo'" /dev/null
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -gt 30 ]
        for line in "${lines[@]:1}"; do line=${line%$'\r'} && [ "${#line}" -le $width ]; done
        [[ $output == *entropy* ]] || [ $width -lt 80 ]
    done
}

@test "wrong words are refused" {
    expect 2 "" "lapedge: IN is missing: lapedge stats IN" stats
    expect 2 "" "lapedge: --json and --csv cannot be combined" stats --json --csv "$photo"
    expect 2 "" "lapedge: --weights needs --profiles" stats --weights=w "$photo"
    echo 1 2 3 >w
    expect 2 "" "lapedge: 3 weights: expected 600 (for rows), 400 (for columns) or 1000 (both)" \
        stats --profiles --weights=w "$photo"
    echo 1 x >w
    expect 2 "" "lapedge: --weights=w: number 2 cannot be read" stats --profiles --weights=w "$photo"
}

@test "a broken picture has no statistics" {
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge stats --json cut.jpg
    [ "$status" -eq 1 ]
    grep -q "lapedge.error/1" <<<"$output"
    [[ $stderr == "lapedge: cut.jpg: truncated"* ]]
}
