#!/bin/bash
# make install into a scratch folder, then the example program built against it through pkg-config.
. tests/support/tap.sh
CC=${CC:-gcc}
PROGRAM=${LAPEDGE:-./lapedge}
root=$(mktemp -d)
trap 'rm -rf "$root"; rmdir python/examples/__pycache__ 2>/dev/null' EXIT
prefix=/opt/lapedge

# Python leaves a folder beside an example that has run: it is not installed.
install_it()
{
    mkdir -p python/examples/__pycache__
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
        diff <(for f in {README,CHANGELOG,CONTRIBUTING,SECURITY}.md LICENSE docs/*.md docs/img/* docs/schema/* \
            python/README.md python/examples/*.py samples/{SOURCES.md,chelsea.jpg}; do
            echo "./$f"
        done | sort) \
            <(cd "$root$prefix/share/doc/lapedge" && find . -type f | sort)
}

# dead_links FOLDER: prints each link in the pages of FOLDER whose file is missing. Fails if it prints one, or if the
# pages have fewer than 100 links.
dead_links()
{
    local page link looked=0 bad=0
    while IFS= read -r page; do
        while IFS= read -r link; do
            looked=$((looked + 1))
            [ -e "$(dirname "$page")/${link%%#*}" ] || { echo "$page: $link" && bad=1; }
        done < <(tr '\n' ' ' <"$page" | grep -oE '\]\([^) ]+|(src|href)="[^"]+' | sed 's/^](//; s/^[a-z]*="//' |
            grep -vE '^([a-z]+:|#)')
    done < <(find "$1" -name '*.md')
    return $((bad || looked < 100))
}

# Of a link to a file that is not installed, its words and the path stay; the header's leads to the installed one.
links_are_changed()
{
    local pages=$root$prefix/share/doc/lapedge
    diff <(sed -e 's|\[playground\](docs/playground/README.md)|playground (`docs/playground/README.md`)|' \
        -e 's|(src/lapedge.h)|(../../../include/lapedge.h)|' README.md) "$pages/README.md" &&
        grep -qF 'The manual (`man lapedge`):' "$pages/docs/README.md" &&
        grep -qF '](../../../../include/lapedge.h)' "$pages/docs/README.md" &&
        grep -qF '(file: `cuda/reduce/reduce_1_global.cu`)' "$pages/docs/claims.md" &&
        cmp LICENSE "$pages/LICENSE" && cmp docs/lapedge.1 "$root$prefix/share/man/man1/lapedge.1"
}

# The sysroot stands for the machine it was installed on.
config()
{
    PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" lapedge
}

pc_file_is_whole()
{
    pkg-config --validate "$root$prefix/lib/pkgconfig/lapedge.pc" &&
        grep -qx "License: MIT" "$root$prefix/lib/pkgconfig/lapedge.pc"
}

# The library of OpenMP that this compiler links, since another compiler's -fopenmp may link another one.
pc_file_names_openmp()
{
    local compiler=$1 libraries name
    libraries=$(env -u MAKEFLAGS make -s print-libs B="$root/of-$compiler" CC="$compiler" HAVE_CUDA=0) || return
    echo 'int main(void) { return 0; }' >"$root/main.c"
    echo "$libraries" && [[ " $libraries " != *" -fopenmp "* ]] || return
    if ! "$compiler" -fopenmp -Wl,--no-as-needed "$root/main.c" -o "$root/main"; then
        [[ $libraries != *omp* ]] # OpenMP is not installed for this compiler
        return
    fi
    name=$(readelf -d "$root/main" | sed -n 's/.*(NEEDED).*\[lib\([a-z0-9]*omp[0-9]*\)\.so.*/\1/p')
    # shellcheck disable=SC2086 # words
    [ -n "$name" ] && [[ " $libraries " == *" -l$name "* ]] &&
        "${CC:-gcc}" "$root/main.c" -o "$root/main" $libraries
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
check "the .pc file has a licence, and is valid" pc_file_is_whole
check "links of the installed pages lead to what is installed" dead_links "$root$prefix/share/doc/lapedge"
check "other links became words and paths" links_are_changed
for compiler in gcc clang; do
    if have "$compiler"; then
        check "the static library's OpenMP is that of $compiler" pc_file_names_openmp "$compiler"
    else
        skip "the static library's OpenMP is that of $compiler" "no $compiler"
    fi
done
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
blank_in_a_folder() {
    local folder target
    for folder in "PREFIX=/opt/my apps" LIBDIR=/lib:64; do
        for target in install uninstall; do
            ! make -s "$target" DESTDIR="$root/odd" "$folder" B="${B:-build}" CC="$CC" 2>"$root/said" &&
                grep -qx "$folder: must not contain a blank or a colon" "$root/said" && rm "$root/said" &&
                [ ! -e "$root/odd" ] || return 1
        done
    done
}
check "a folder with a blank or a colon is refused, also by uninstall" blank_in_a_folder
slashes()
{
    local target
    for target in install uninstall; do
        make -n "$target" PREFIX=/opt LIBDIR=/lib64 DOCDIR=/doc B="${B:-build}" CC="$CC" >"$root/without" &&
            make -n "$target" PREFIX=/opt/ LIBDIR=/lib64// DOCDIR=/doc/ B="${B:-build}" CC="$CC" >"$root/with" &&
            cmp "$root/without" "$root/with" || return 1
    done
}
check "slashes at the end of a folder change nothing" slashes
# Empty folders may be another program's, or the user's: also without an install before.
leaves_folders()
{
    mkdir -p "$root"/others/{bin,include,lib/pkgconfig} \
        "$root"/others/share/{bash-completion/completions,doc,fish/vendor_completions.d,man/man1,zsh/site-functions} &&
        find "$root/others" | sort >"$root/before" &&
        make -s uninstall PREFIX="$root/others" && find "$root/others" | sort | diff "$root/before" - &&
        make -s uninstall DESTDIR="$root" PREFIX=/others/ && find "$root/others" | sort | diff "$root/before" -
}
check "uninstall leaves folders that are not lapedge's" leaves_folders

# Nothing is compiled: the files of the build are there.
keeps_the_owner()
{
    mkdir "$root/built" && touch "$root"/built/{lapedge,liblapedge.{a,"so.${version%%.*}"}} && chown -R 65534 "$root/built" &&
        make -s -o all install B="$root/built" DESTDIR="$root/roots" PREFIX=$prefix CC="$CC" &&
        [ -e "$root/built/lapedge.pc" ] && [ -e "$root/built/pages/README.md" ] &&
        find "$root/built" ! -user 65534 >"$root/said" && cat "$root/said" && [ ! -s "$root/said" ]
}
if [ "$(id -u)" -eq 0 ]; then
    check "root's install leaves the user's build to the user" keeps_the_owner
else
    skip "root's install leaves the user's build to the user" "not root"
fi

# Each completion has a folder that can be chosen; uninstall finds it there.
chosen_completions()
{
    local folders=(COMPLETIONDIR=/c/bash ZSHCOMPLETIONDIR=/c/zsh FISHCOMPLETIONDIR=/c/fish)
    make -s install DESTDIR="$root/chosen" PREFIX=$prefix B="${B:-build}" CC="$CC" "${folders[@]}" &&
        diff <(cd "$root/chosen" && find . -path '*complet*' -o -path '*/c/*' -type f | sort) \
            <(printf '%s\n' ./c/bash/lapedge ./c/fish/lapedge.fish ./c/zsh/_lapedge) &&
        make -s uninstall DESTDIR="$root/chosen" PREFIX=$prefix "${folders[@]}" &&
        [ -z "$(find "$root/chosen" ! -type d)" ]
}
check "each shell's completion goes to the folder that is chosen for it" chosen_completions
check "make uninstall" make -s uninstall DESTDIR="$root" PREFIX=$prefix
check "nothing is left" test -z "$(files)"
check "nor a folder of the documents" test ! -e "$root$prefix/share/doc/lapedge"
# A file that somebody put there stays, with its folder.
keeps_notes()
{
    make -s install DESTDIR="$root" PREFIX=$prefix B="${B:-build}" CC="$CC" &&
        touch "$root$prefix/share/doc/lapedge/docs/notes" && make -s uninstall DESTDIR="$root" PREFIX=$prefix &&
        [ "$(cd "$root$prefix/share/doc/lapedge" && echo * */*)" = "docs docs/notes" ]
}
check "but one with a file of somebody else stays" keeps_notes
finish
