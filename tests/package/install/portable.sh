#!/bin/bash
# make portable: one file that needs nothing but libc, and does the same.
. tests/support/tap.sh
PROGRAM=${LAPEDGE:-./lapedge}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ ! -e "$("${CC:-gcc}" -print-file-name=libgomp.a)" ]; then
    skip "make portable" "needs gcc's static libgomp"
    finish
fi

only_libc()
{
    ! readelf -d lapedge-portable | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux-[a-z0-9-]+)\.so'
}

same_bytes()
{
    local photo
    for photo in samples/astronaut.jpg samples/coffee.jpg; do
        ./lapedge-portable "$photo" "$scratch/portable.jpg" && "$PROGRAM" "$photo" "$scratch/program.jpg" &&
            cmp "$scratch/portable.jpg" "$scratch/program.jpg" || return 1
    done
}

check "make portable" make -s portable B="${B:-build}" CC="${CC:-gcc}"
check "it needs nothing but libc" only_libc
check "it gives the same bytes" same_bytes
check "it lists the same backends" diff <(./lapedge-portable backends) <("$PROGRAM" backends)
finish
