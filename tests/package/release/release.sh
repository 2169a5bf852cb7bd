#!/bin/bash
# What a release is made of: one version everywhere, a tarball that is the same each time, its parts list, and the
# interface of the library as it was when tests/package/release/*.abi was written.
. tests/support/tap.sh
B=${B:-build}
version=$(sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

numbers()
{
    [ "$version" = "$(sed -nE 's/^#define LAP_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' src/lapedge.h | paste -sd.)" ]
}

changes()
{
    [ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ]
}

program()
{
    [ "$("${LAPEDGE:-./lapedge}" --version | head -n 1)" = "lapedge $version" ]
}

# A clone, so that what is not yet committed here does not matter.
dist()
{
    git clone -q . "$scratch/$1" && make -s -C "$scratch/$1" dist >"$scratch/$1.sums"
}

same_twice()
{
    dist one && dist two && cmp "$scratch/one.sums" "$scratch/two.sums" &&
        (cd "$scratch/one/build/dist" && sha256sum -c --quiet SHA256SUMS)
}

all_files()
{
    diff <(git -C "$scratch/one" ls-files | sort) \
        <(tar tzf "$scratch/one/build/dist/lapedge-$version.tar.gz" | sed -n "s|^lapedge-$version/\(.*[^/]\)$|\1|p" | sort)
}

refuses_changes()
{
    echo "/* changed */" >>"$scratch/one/src/lapedge.h"
    ! make -s -C "$scratch/one" dist >"$scratch/said" 2>&1 && grep -q 'not committed' "$scratch/said"
}

# Every library that the linker is given stands in the list.
parts()
{
    python3 - "$scratch/two/build/dist/lapedge-$version.spdx.json" "$(make -s B="$B" print-libs)" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
text = " ".join(p["name"] for p in document["packages"]).lower()
names = {"jpeg": "libjpeg-turbo", "png": "libpng", "z": "zlib", "cudart_static": "cuda", "xxhash": "xxhash"}
libraries = {w[2:] for w in sys.argv[2].split() if w.startswith("-l")} - {"m", "pthread", "dl", "rt"}
missing = [l for l in libraries if names.get(l, l) not in text]
assert not missing, missing
identifiers = {p["SPDXID"] for p in document["packages"]} | {"SPDXRef-DOCUMENT"}
for r in document["relationships"]:
    assert {r["spdxElementId"], r["relatedSpdxElement"]} <= identifiers, r
PYTHON
}

check "the version's numbers make its name" numbers
check "CHANGELOG begins with the version" changes
check "the program says the version" program
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    check "make dist: the same bytes from two clones, and checksums that hold" same_twice
    check "make dist: the files of the repository, all of them" all_files
    check "make dist: refuses what is not committed" refuses_changes
    check "make dist: the parts list has every library" parts
else
    skip "make dist" "this is no git repository"
fi

debian_version()
{
    [ "$(sed -n '1s/^lapedge (\(.*\)) .*/\1/p' debian/changelog)" = "$version" ]
}

# dpkg-gensymbols refuses one that is gone; this also sees one that is new.
debian_symbols()
{
    diff <(sed -n 's/^ \(lap_.*\)@Base .*/\1/p' debian/liblapedge1.symbols) \
        <(nm -D --defined-only "$B/liblapedge.so" | awk '{ print $NF }' | sort)
}

check "debian/changelog begins with the version" debian_version
check "debian/*.symbols lists what the library exports" debian_symbols

# New functions are allowed; whatever else changes shows here, and make abi keeps it if it is meant.
interface()
{
    abidiff --no-added-syms "$1" "$(readlink -f "$B/liblapedge.so")" >"$scratch/said" 2>&1
}

# A field of another size, a function that is gone.
notices()
{
    sed "$1" tests/package/release/liblapedge.so.*.abi >"$scratch/other.abi"
    ! cmp -s "$scratch/other.abi" tests/package/release/liblapedge.so.*.abi && ! interface "$scratch/other.abi"
}

if command -v abidiff >/dev/null; then
    check "the library's interface is that of $(basename tests/package/release/*.abi)" interface tests/package/release/*.abi ||
        sed 's/^/# /' "$scratch/said"
    check "a function that is gone is noticed" notices "s/'lap_batch'/'lap_batched'/g"
    check "a struct of another size is noticed" notices "s/\(class-decl name='lap_view' size-in-bits='\)[0-9]*/\164/"
else
    skip "the library's interface" "abidiff (abigail-tools) is not installed"
fi
finish
