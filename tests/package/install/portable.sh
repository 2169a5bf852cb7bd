#!/bin/bash
# make portable: one file that needs nothing but libc, and does the same.
. tests/support/tap.sh
B=${B:-build}
PROGRAM=${LAPEDGE:-./lapedge}
portable=./lapedge-portable
[ "$B" = build ] || portable=$B/lapedge-portable
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# words_of TARGET PATTERN: the words like this in what make would run for it with another build folder.
words_of()
{
    env -u MAKEFLAGS make -n "$1" B="$scratch/other" HAVE_CUDA=0 CC="${CC:-gcc}" 2>&1 | grep -oE -- "$2" | sort -u
}

# The programs of another build folder are in that folder, as its objects are. On x86-64 there are two static ones.
below_its_folder()
{
    local folder=$scratch/other said
    [ "$(words_of portable '[^ ]*lapedge-portable$')" = "$folder/lapedge-portable" ] &&
        said=$(words_of portable-static '(STATIC_PROGRAM|B)=[^ ]*') &&
        grep -qx "STATIC_PROGRAM=$folder/lapedge-static-$machine" <<<"$said" && grep -qx "B=$folder" <<<"$said" &&
        ! grep -vE "=$folder(/|\$)" <<<"$said"
}

machine=$("${CC:-gcc}" -dumpmachine)
machine=${machine%%-*}
check "B=FOLDER: make portable and portable-static write below it" below_its_folder

if [ ! -e "$("${CC:-gcc}" -print-file-name=libgomp.a)" ]; then
    skip "make portable" "needs gcc's static libgomp"
    finish
fi

only_libc()
{
    ! readelf -d "$portable" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux-[a-z0-9-]+)\.so'
}

same_bytes()
{
    local photo
    for photo in samples/astronaut.jpg samples/coffee.jpg; do
        "$portable" "$photo" "$scratch/portable.jpg" && "$PROGRAM" "$photo" "$scratch/program.jpg" &&
            cmp "$scratch/portable.jpg" "$scratch/program.jpg" || return 1
    done
}

check "make portable" make -s portable B="$B" CC="${CC:-gcc}"
check "it needs nothing but libc" only_libc
check "it gives the same bytes" same_bytes
check "it lists the same backends" diff <("$portable" backends) <("$PROGRAM" backends)
finish
