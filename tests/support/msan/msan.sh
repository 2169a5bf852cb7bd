#!/bin/bash
# That the tests under MemorySanitizer can fail: it reports a byte that nobody wrote, also through a library and through
# functions of libc that its runtime does not know; and no library of the system is linked but libc's.
. tests/support/tap.sh
program=$(realpath "${LAPEDGE:-./lapedge}")
libs=$(dirname "$program")/libs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c11 -D_GNU_SOURCE -O1 -fsanitize=memory -isystem "$libs/include" -L"$libs/lib")

# reported CODE EXPRESSION: a program that decides by the expression ends with this code.
reported()
{
    cat >"$work/a.c" <<C
#include <ftw.h>
#include <stdlib.h>
#include <zlib.h>

static int seen;
static int see(const char *path, const struct stat *st, int type, struct FTW *place)
{
    seen += path[0] == '/' && st->st_size >= 0 && type >= 0 && place->level >= 0;
    return 0;
}

int main(int argc, char **argv)
{
    unsigned char *bytes = malloc(64), written[64] = {0};
    bytes[argc] = (unsigned char)argc;
    (void)written;
    (void)argv;
    nftw("$work", see, 4, FTW_PHYS);
    return $2 ? 1 : 0;
}
C
    local code=0
    clang "${flags[@]}" "$work/a.c" "$libs/lib/unseen.o" -lz -ldl -o "$work/a" || return 1
    MSAN_OPTIONS=exitcode=99 "$work/a" >"$work/said" 2>&1 || code=$?
    [ "$code" -eq "$1" ] || { echo "exit $code"; cat "$work/said"; return 1; }
}

only_libc()
{
    local linked
    linked=$(ldd "$program" | awk '/=>/ { print $1 }' |
        grep -vE '^(libc|libm|libgcc_s|ld-linux.*|libdl|librt|libpthread|libresolv)\.so')
    [ -z "$linked" ] || { echo "$linked"; return 1; }
}

check "a byte that nobody wrote is reported" reported 99 'bytes[argc + 1] == 7'
check "and one that was written is not" reported 0 'bytes[argc] == 7'
check "what a library makes of such bytes is reported" reported 99 'crc32(0, bytes, 64) == 7'
check "and what it makes of others is not" reported 0 'crc32(0, written, 64) == 7'
check "what nftw calls back with is known" reported 1 'seen > 0'
check "no library of the system is linked but libc's" only_libc
finish
