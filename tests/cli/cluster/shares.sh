#!/bin/bash
# --shard: N runs cover each file exactly once, at the same time or one after the other.
. tests/cli/cluster/cluster.bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

by_hand()
{
    local shard
    for shard in 2 0 1; do
        "$LAPEDGE" -q --no-sync --shard=$shard/3 "$scratch/photos" "$scratch/by-hand" || return 1
    done
    complete "$scratch/by-hand" 3
}

# What a Kubernetes indexed job sets, all pods at once.
indexed()
{
    local index pods=() pod
    for index in 0 1 2 3 4; do
        JOB_COMPLETION_INDEX=$index JOB_COMPLETIONS=5 "$LAPEDGE" -q --no-sync --shard=auto "$scratch/photos" \
            "$scratch/indexed" &
        pods+=($!)
    done
    for pod in "${pods[@]}"; do
        wait "$pod" || return 1
    done
    complete "$scratch/indexed" 5
}

# A share that was run twice changes nothing, and says so.
same_share_again()
{
    "$LAPEDGE" --json -q --shard=1/3 "$scratch/photos" "$scratch/by-hand" >"$scratch/again.json" || return 1
    python3 - "$scratch/again.json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["ok"] == 0 and 0 < run["skipped"] < 60 and run["skipped"] + run["other_shards"] == 60, run
PYTHON
}

lacking=$(missing)
if [ -n "$lacking" ]; then
    skip "runs share a folder" "$lacking"
    finish
fi
check "60 photos, and a single run over them" make_photos
check "three shares, one after the other" by_hand
check "the same share again" same_share_again
check "a Kubernetes indexed job of five" indexed
finish
