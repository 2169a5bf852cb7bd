#!/bin/bash
# Format, static analysis and shell scripts. A tool that is not installed, or whose other version would
# format differently, is a skip.
. tests/support/tap.sh

mapfile -t c_files < <(find src cpu_simd -name '*.c' | sort)
mapfile -t formatted < <(find src cpu_simd cuda tests lessons -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
mapfile -t scripts < <(find tools tests lessons .ci -type f | sort |
    while IFS= read -r file; do head -n 1 "$file" | grep -qE '^#!.*\b(ba)?sh\b' && echo "$file"; done)
mapfile -t bats_files < <(find tests -name '*.bats' -o -name '*.bash' | sort)
format_version=14 # what .clang-format was written for
# What the sources were made clean with. Other versions know other checks, which are not a user's affair.
cppcheck_version=2.10 tidy_version=14
defines=(-std=c11 -fopenmp -D_GNU_SOURCE -Isrc -I. -DLAP_HAVE_{PNG,STB,OPENMP}"=1" -DLAP_HAVE_CUDA=0
    -DLAP_RUNG_FLAGS='""')

isa_of() # the instruction set that the name of a file stands for, as in the Makefile
{
    case $1 in
    *_sse41*) echo -msse4.1 ;;
    *peak_*_avx2*) echo "-mavx2 -mbmi2 -mfma" ;;
    *encode_*_avx2*) echo "-mavx2 -mbmi -mbmi2 -mlzcnt" ;;
    *_avx2*) echo "-mavx2 -mbmi2" ;;
    *_neon*) echo "--target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include" ;;
    *_avx512vbmi2*)
        echo "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mbmi -mbmi2 -mlzcnt"
        ;;
    *_avx512*) echo "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mbmi2" ;;
    esac
}

# How many states of a function clang's analyzer looks at before it gives up. Its own limit, 225000, takes ten times as
# long for all files, and is for make test-long.
deep=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang "--extra-arg=max-nodes=${TIDY_NODES:-8000}")

tidy()
{
    # shellcheck disable=SC2046 # flags are words
    clang-tidy --quiet "${deep[@]}" "$1" -- "${defines[@]}" $(isa_of "$1") 2>/dev/null
}

# A leak on one of two paths, in a separate folder with our settings.
planted_leak_is_found()
{
    local folder
    folder=$(mktemp -d)
    cp .clang-tidy "$folder"
    printf '#include <stdlib.h>\nint f(int a);\nint f(int a) { char *p = malloc(4); if (a) return 1; free(p); return 0; }\n' \
        >"$folder/leak.c"
    ! tidy "$folder/leak.c" >"$folder/said"
    grep -c 'Potential leak' "$folder/said"
    local status=$?
    rm -rf "$folder"
    return $status
}

tidy_all() # one per core; the output of each file stays together
{
    local file logs status=0
    logs=$(mktemp -d)
    for file in "${c_files[@]}"; do
        [ "$file" != src/codec/stb_write.c ] || continue # mostly stb's own code, of which we are not the judges
        # The headers of vectors take clang-tidy 0.6 s a file, with or without its analyzer: in make test-long.
        [[ -n ${TIDY_NODES:-} || -z $(isa_of "$file") ]] || continue
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        { tidy "$file" >"$logs/${file//\//_}" || touch "$logs/failed"; } &
    done
    wait
    [ ! -e "$logs/failed" ] || status=1
    grep -h -A 2 'error:' "$logs"/*.c
    rm -rf "$logs"
    return $status
}

# judge NAME TOOL VERSION COMMAND...: like check; but what another version of TOOL finds is shown and skipped.
judge()
{
    local name=$1 tool=$2 version=$3 output
    shift 3
    if "$tool" --version | grep -qiE "(version|cppcheck) $version(\.|\$)"; then
        check "$name" "$@"
    elif output=$("$@" 2>&1); then
        check "$name" true
    else
        printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
        skip "$name" "this version of $tool finds what version $version does not"
    fi
}

# In the middle of a test bats does not see that the first of two commands is false.
no_half_conditions()
{
    ! grep -nE '^ *(\[.* \]\]? && \[[^|]*\]$|[^#|]*[^&]&& json )' "${bats_files[@]}"
}
check "no condition of the command-line tests is joined to another by &&" no_half_conditions

no_conflicts() # of a merge, in text that no compiler reads
{
    ! grep -rnE --exclude-dir={.git,build,seeds} '^(<{7}|>{7}|\|{7})( |$)' . --include='*.md' --include='*.txt' --include='*.sh' \
        --include='*.py' --include='*.mk' --include='*.bats' --include=Makefile
}
check "no marks of a merge are left" no_conflicts

no_build_outputs()
{
    ! git ls-files | grep -E '^build|\.(o|a|so|d)$'
}
if [ -e .git ]; then
    check "no build output is under version control" no_build_outputs
else
    skip "no build output is under version control" "this tree is not a checkout"
fi

if have clang-format && clang-format --version | grep -q "version $format_version\."; then
    check "clang-format has nothing to change" clang-format --dry-run -Werror "${formatted[@]}"
else
    skip "clang-format has nothing to change" "clang-format $format_version is not installed"
fi
if have cppcheck; then
    judge "cppcheck" cppcheck "$cppcheck_version" cppcheck --quiet -Isrc -I. -j "$(nproc)" --std=c11 --language=c --enable=warning,portability \
        --inline-suppr --error-exitcode=1 --suppressions-list=tests/structure/cppcheck.txt \
        --suppress=normalCheckLevelMaxBranches -D{__VERSION__,PNG_LIBPNG_VER_STRING}='""' \
        -D__x86_64__=1 -DLAP_HAVE_PNG=1 -DLAP_HAVE_STB=1 \
        -DLAP_HAVE_OPENMP=1 -DLAP_HAVE_CUDA=0 "${c_files[@]}"
else
    skip "cppcheck" "cppcheck is not installed"
fi
if have clang-tidy; then
    judge "clang-tidy" clang-tidy "$tidy_version" tidy_all
    check "clang-tidy finds a planted leak" planted_leak_is_found
else
    skip "clang-tidy" "clang-tidy is not installed"
fi
if have shellcheck; then
    check "shellcheck: scripts" shellcheck -x -S warning "${scripts[@]}"
    # bats loads common.bash and sets stderr, which shellcheck cannot see.
    check "shellcheck: command-line tests" shellcheck -x -S warning -e SC2034,SC2154 "${bats_files[@]}"
else
    skip "shellcheck" "shellcheck is not installed"
fi
finish
