#!/bin/bash
# exercise.sh N [NAME=VALUE]: one exercise of docs/course.md, judged: exit 0 when it is solved. It works on copies under
# $B/exercise; the sources stay as they are. `make exercise-N NAME=VALUE` calls it.
set -u
number=${1:?usage: exercise.sh N [NAME=VALUE]}
shift
for setting in "$@"; do declare "$setting"; done
B=${B:-build} work=${B:-build}/exercise
mkdir -p "$work"
compile=("${CXX:-g++}" -x c++ -std=c++17 -Wno-unknown-pragmas -DLAP_CUDACPU -DLAP_HAVE_CUDA=1 -DLAP_HAVE_OPENMP=0
    -Itests/cudacpu/include -Isrc -I.)

# banks PITCH: how many banks a warp of 16-wide blocks reads twice.
banks()
{
    python3 -c '
import sys
hits = [0] * 32
for lane in range(32):
    hits[(lane // 16 * int(sys.argv[1]) + lane % 16 * 3) % 32] += 1
print(sum(n > 1 for n in hits))' "$1"
}

case $number in
1) # a pitch other than 80 without conflicts: the kernel's own assertion judges
    sed "s/C == 1 ? 48 : 80/C == 1 ? 48 : ${PITCH:?make exercise-1 PITCH=words}/" cuda/filter/filter_5_shared4_pad.cu >"$work/pad.cu"
    if [ "$PITCH" = 80 ]; then
        echo "80 is what stands there; find another."
        exit 1
    elif "${compile[@]}" -Icuda/filter -fsyntax-only "$work/pad.cu" 2>"$work/said"; then
        echo "Rows of $PITCH words: no bank is read twice."
    else
        grep -o 'static assertion failed.*' "$work/said" | head -n 1
        echo "Rows of $PITCH words: $(banks "$PITCH") banks are read twice."
        exit 1
    fi
    ;;
2) # predicted before it is computed
    if [ "${ANSWER:?make exercise-2 ANSWER=number, of PITCH=65}" = "$(banks "${PITCH:-65}")" ]; then
        echo "Right: with rows of ${PITCH:-65} words that many banks are read twice."
    else
        echo "No: draw lanes 0 to 15 at words 3k, lanes 16 to 31 from word ${PITCH:-65} on, all modulo 32."
        exit 1
    fi
    ;;
3) # a barrier of the halving is removed, and ThreadSanitizer has to see it
    kernels=$B/cudacpu/tsan
    [ -e "$kernels/libkernels.a" ] || { echo "first: make $kernels/libkernels.a $B/tests/cudacpu_races_ops" && exit 2; }
    mkdir -p "$work/cuda"
    cp -r cuda/reduce "$work/cuda/"
    awk '/__syncthreads/ && ++n == 2 { next } { print }' cuda/reduce/reduce.cuh >"$work/cuda/reduce/reduce.cuh"
    "${compile[@]}" -O1 -g -fsanitize=thread -DLAP_FEW_SIZES -ffp-contract=off -c "$work/cuda/reduce/reduce_1d_shared.cu" \
        -o "$work/shared.o" &&
        "${CXX:-g++}" -fsanitize=thread -o "$work/races" "$work/shared.o" "$kernels"/tests/ops/*.o "$kernels/libkernels.a" \
            -lpthread -lm || exit 2
    if "$work/races" >"$work/said" 2>&1 || ! grep -q 'data race' "$work/said"; then
        echo "Nothing was seen."
        exit 1
    fi
    echo "Seen: $(grep -m 1 'data race' "$work/said"), in $(grep -om 1 'lap_halve[^ ]*' "$work/said")"
    ;;
4) # the lecture's square with another pitch: still the same product, and how many lanes share a bank
    kernels=$B/cudacpu/asan
    [ -e "$kernels/libkernels.a" ] || { echo "first: make $kernels/libkernels.a $B/tests/cudacpu_ops" && exit 2; }
    sed "s/\\(true\\|false\\), 32>/\\1, ${PITCH:?make exercise-4 PITCH=words}>/g" cuda/matvec/matvec_1d_tile_ax.cu >"$work/ax.cu"
    "${compile[@]}" -Icuda/matvec -O1 -g -fsanitize=address,undefined -ffp-contract=off -c "$work/ax.cu" -o "$work/ax.o" &&
        "${CXX:-g++}" -fsanitize=address,undefined -o "$work/ops" "$work/ax.o" "$kernels"/tests/ops/*.o \
            "$kernels/libkernels.a" -lpthread -lm || exit 2
    "$work/ops" 2>&1 | grep 'matvec cuda-tile-ax' | sed 's/^ok [0-9]* - /The tests: /'
    ways=$(python3 -c 'import sys; print(max(sum(32 > t and t * int(sys.argv[1]) % 32 == b for t in range(32)) for b in range(32)))' "$PITCH")
    echo "Rows of $PITCH words: $ways lanes on one bank."
    [ "$ways" = 1 ]
    ;;
*) echo "exercise.sh: there are exercises 1 to 4" && exit 2 ;;
esac
