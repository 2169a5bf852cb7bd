#!/bin/bash
# bytes.sh [--write]: the output files of a fixed set of runs have the bytes that bytes.txt lists, so that no
# change alters them unseen. A change that is meant is written with --write, and CHANGELOG.md names the digest
# of the new list: whoever keeps edges of an older version then knows that they will not be made again alike.
. tests/support/tap.sh
list=tests/cli/bytes/bytes.txt
LAPEDGE=${LAPEDGE:-./lapedge}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# hash_of PHOTO EXTENSION OPTION...: of the output, the first 16 digits of its SHA-256.
hash_of()
{
    local photo=samples/$1.jpg out=$scratch/out.$2 command=()
    shift 2
    case ${1:-} in transform) command=(transform); shift ;; esac
    rm -f "$out"
    "$LAPEDGE" "${command[@]}" "$@" "$photo" "$out" && sha256sum "$out" | cut -c1-16
}

if [ "${1:-}" = --write ]; then
    while read -r _ photo extension options; do
        # shellcheck disable=SC2086 # options are words
        echo "$(hash_of "$photo" "$extension" $options) $photo $extension $options" | sed 's/ *$//'
    done <$list >"$scratch/new" && cp "$scratch/new" $list
    echo "CHANGELOG.md must name $(sha256sum $list | cut -c1-16)"
    exit
fi

as_listed()
{
    local bad=0 hash photo extension options now
    while read -r hash photo extension options; do
        # shellcheck disable=SC2086 # options are words
        now=$(hash_of "$photo" "$extension" $options)
        [ "$now" = "$hash" ] || { echo "$photo to $extension $options: $now, listed $hash"; bad=1; }
    done <$list
    return $bad
}

cases=$(grep -c . $list)
check "$cases runs are listed, at least 60" test "$cases" -ge 60
check "$cases outputs have the listed bytes" as_listed
check "CHANGELOG.md names the list" grep -q "$(sha256sum $list | cut -c1-16)" CHANGELOG.md
finish
