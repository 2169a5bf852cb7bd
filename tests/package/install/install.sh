#!/bin/bash
# make install into a scratch folder, then the example program built against it through pkg-config.
. tests/support/tap.sh
CC=${CC:-gcc}
PROGRAM=${LAPEDGE:-./lapedge}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
prefix=/opt/lapedge

install_it()
{
    make -s install DESTDIR="$root" PREFIX=$prefix B="${B:-build}" CC="$CC"
}

files()
{
    (cd "$root$prefix" && find . ! -type d | sort)
}

# The documents are those of the repository.
all_there()
{
    diff - <(files | grep -v '^./share/doc/') <<LIST &&
./bin/lapedge
./include/lapedge.h
./lib/liblapedge.a
./lib/liblapedge.so
./lib/liblapedge.so.1
./lib/liblapedge.so.$version
./lib/pkgconfig/lapedge.pc
./share/bash-completion/completions/lapedge
./share/fish/vendor_completions.d/lapedge.fish
./share/man/man1/lapedge.1
./share/zsh/site-functions/_lapedge
LIST
        diff <(for f in {README,CHANGELOG,CONTRIBUTING,SECURITY}.md LICENSE docs/*.md docs/img/* docs/schema/*; do
            echo "./$f"
        done | sort) \
            <(cd "$root$prefix/share/doc/lapedge" && find . -type f | sort)
}

# The sysroot stands for the machine it was installed on.
config()
{
    PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" lapedge
}

pc_file_is_whole()
{
    local page
    pkg-config --validate "$root$prefix/lib/pkgconfig/lapedge.pc" &&
        grep -qx "License: MIT" "$root$prefix/lib/pkgconfig/lapedge.pc" &&
        page=$(sed -n 's|^URL: file://||p' "$root$prefix/lib/pkgconfig/lapedge.pc") && [ -s "$root$page" ]
}

# Where nobody packs it up, and into a folder that the system's linker does not know.
says_ldconfig()
{
    make -s install-strip PREFIX="$root/direct" B="${B:-build}" CC="$CC" | grep -F "ldconfig (if it knows $root/direct/lib)"
}

stripped()
{
    local file
    for file in bin/lapedge lib/liblapedge.so lib/liblapedge.a; do
        ! readelf -SW "$root/direct/$file" | grep -F .debug_info || return
    done
    "$root/direct/bin/lapedge" --version && nm "$root/direct/lib/liblapedge.a" 2>/dev/null | grep ' T lap_run_file$'
}

# shellcheck disable=SC2046 # flags are words
shared_example()
{
    "$CC" -std=c11 -Wall -Wextra -Werror tests/package/install/example.c -o "$root/shared" $(config --cflags --libs)
}

# shellcheck disable=SC2046
static_example()
{
    # Only lapedge itself is to come from its archive, with the shared library beside it: as docs/library.md says.
    grep -qF "pkg-config --cflags --libs --static lapedge | sed 's/-llapedge/-l:liblapedge.a/'" docs/library.md &&
        "$CC" -std=c11 -Wall -Wextra -Werror tests/package/install/example.c -o "$root/static" \
            $(config --cflags --libs --static | sed 's/-llapedge/-l:liblapedge.a/')
}

same_as_the_program()
{
    LD_LIBRARY_PATH=$root$prefix/lib "$1" samples/astronaut.jpg "$root/example.jpg" >"$root/said" &&
        cat "$root/said" &&
        "$PROGRAM" samples/astronaut.jpg "$root/program.jpg" &&
        cmp "$root/example.jpg" "$root/program.jpg" &&
        grep -q 'example.jpg: 512 x 512' "$root/said" &&
        grep -qE '^square: corner 255, middle 0; as a JPEG [0-9]+ bytes$' "$root/said"
}

# Decodes and encodes in memory, as docs/pipeline.md shows. The density of the input is lost with its header.
# shellcheck disable=SC2046
pipeline_example()
{
    "$CC" -std=c11 -Wall -Wextra -Werror tests/package/install/pipeline.c -o "$root/pipeline" $(config --cflags --libs) &&
        LD_LIBRARY_PATH=$root$prefix/lib "$root/pipeline" samples/chelsea.jpg "$root/pipeline.jpg" >"$root/said" &&
        grep -qE '^451 x 300, the first pixel is [0-9]+ [0-9]+ [0-9]+$' "$root/said" &&
        "$PROGRAM" --kernel=identity --quality=85 --subsampling=420 --strip samples/chelsea.jpg "$root/identity.jpg" &&
        "$PROGRAM" diff -q "$root/pipeline.jpg" "$root/identity.jpg" &&
        ! LD_LIBRARY_PATH=$root$prefix/lib "$root/pipeline" LICENSE "$root/none.jpg" 2>"$root/said" &&
        grep -q '^pipeline-example: ' "$root/said" && [ ! -e "$root/none.jpg" ]
}

# A program compiled when two of today's fields were still reserved.
# shellcheck disable=SC2046
older_example()
{
    mkdir "$root/older" &&
        sed -e 's/^    char note\[240\];.*/    uint64_t older_note[30];/' \
            -e 's/^    void \*progress_user;.*/    uint64_t older_user;/' src/lapedge.h >"$root/older/lapedge.h" &&
        [ "$(diff src/lapedge.h "$root/older/lapedge.h" | grep -c '^<')" -eq 2 ] &&
        "$CC" -std=c11 -Wall -Wextra -Werror -DOLDER -I"$root/older" -fsyntax-only tests/package/install/abi.c &&
        "$CC" -std=c11 -Wall -Wextra -Werror -I"$root/older" tests/package/install/example.c -o "$root/old" \
            $(config --libs)
}

links_to_nothing_of_ours()
{
    ! readelf -d "$root/static" | grep -q lapedge
}

version=$(sed -n 's/^#define LAP_VERSION "\(.*\)"/\1/p' src/lapedge.h)
check "make install" install_it
check "every file is in its place, and nothing else" all_there
check "the installed program runs" "$root$prefix/bin/lapedge" --version
check "pkg-config knows the version" test "$(config --modversion)" = "$version"
check "the .pc file has licence and address, and is valid" pc_file_is_whole
check "make install-strip says that ldconfig may be needed" says_ldconfig
check "it leaves out debug information, and nothing else" stripped
check "the example builds with the shared library" shared_example
check "its output is the program's (shared)" same_as_the_program "$root/shared"
check "the example of decoding and encoding builds, and gives the program's picture" pipeline_example
check "public structs keep their sizes and fields their places" \
    "$CC" -std=c11 -Wall -Wextra -Werror -Isrc -fsyntax-only tests/package/install/abi.c
check "a program compiled with a header of fewer fields builds" older_example
check "and works with this library" same_as_the_program "$root/old"
check "the example builds with the static library" static_example
check "it does not need the shared library" links_to_nothing_of_ours
check "its output is the program's (static)" same_as_the_program "$root/static"
if have g++; then
    check "C++ can use the header" g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ \
        -include "$root$prefix/include/lapedge.h" /dev/null
else
    skip "C++ can use the header" "no g++"
fi
relative_prefix() {
    local folder
    for folder in PREFIX=opt LIBDIR=lib64 MANDIR=man; do
        ! make -s install DESTDIR="$root" "$folder" B="${B:-build}" CC="$CC" 2>"$root/said" &&
            grep -qx "$folder: must begin with /" "$root/said" && rm "$root/said" && [ ! -e "$root${folder#*=}" ] || return 1
    done
}
check "a PREFIX or LIBDIR without a slash is refused" relative_prefix
check "make uninstall" make -s uninstall DESTDIR="$root" PREFIX=$prefix
check "nothing is left" test -z "$(files)"
check "and no empty folder" test -z "$(find "$root$prefix" -mindepth 1 -type d)"
finish
