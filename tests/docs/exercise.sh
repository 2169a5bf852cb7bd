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
    if ! [[ ${PITCH:?make exercise-1 PITCH=words} =~ ^[0-9]+$ ]] || [ "$PITCH" -lt 60 ] || [ "$PITCH" -ge 128 ]; then
        echo "A row has 60 words; asked for is a whole number from 60 to 127."
        exit 1
    fi
    sed "s/C == 1 ? 48 : 80/C == 1 ? 48 : $PITCH/" cuda/filter/filter_5_shared4_pad.cu >"$work/pad.cu"
    if [ "$PITCH" = 80 ]; then
        echo "80 is what stands there; find another."
        exit 1
    elif "${compile[@]}" -Icuda/filter -fsyntax-only "$work/pad.cu" 2>"$work/said"; then
        echo "Rows of $PITCH words: no bank is read twice."
    else
        grep -o 'static assertion failed.*' "$work/said" | head -n 1
        echo "Rows of $PITCH words: some banks are read twice. Where does lane 16 read?"
        exit 1
    fi
    ;;
2) # predicted before it is computed
    [[ ${PITCH:=67} =~ ^[0-9]+$ ]] && [ "$PITCH" -ge 60 ] || { echo "A row has 60 words at least." && exit 1; }
    if [ "${ANSWER:?make exercise-2 ANSWER=number}" = "$(banks "$PITCH")" ]; then
        echo "Right: with rows of $PITCH words that many banks are read twice."
    else
        echo "No: draw lanes 0 to 15 at words 3k, lanes 16 to 31 from word $PITCH on, all modulo 32."
        exit 1
    fi
    ;;
3) # the barrier in the loop of the halving is left out of the last passes, and ThreadSanitizer judges
    kernels=$B/cudacpu/tsan
    [ -e "$kernels/libkernels.a" ] || { echo "first: make $kernels/libkernels.a $B/tests/cudacpu_races_ops" && exit 2; }
    [[ ${LEAST:?make exercise-3 LEAST=offset} =~ ^[0-9]+$ ]] || { echo "LEAST is a number: 0, 1, 2, ..." && exit 1; }
    mkdir -p "$work/cuda"
    cp -r cuda/reduce "$work/cuda/"
    # races OFFSET: whether there is one if passes of that offset and less have no barrier.
    races()
    {
        awk -v least="$1" '/__syncthreads/ && ++n == 2 { sub(/__syncthreads/, "if (offset > " least ") __syncthreads") }
            { print }' cuda/reduce/reduce.cuh >"$work/cuda/reduce/reduce.cuh"
        "${compile[@]}" -O1 -g -fsanitize=thread -DLAP_FEW_SIZES -ffp-contract=off \
            -c "$work/cuda/reduce/reduce_1d_shared.cu" -o "$work/shared.o" &&
            "${CXX:-g++}" -fsanitize=thread -o "$work/races" "$work/shared.o" "$kernels"/tests/ops/*.o \
                "$kernels/libkernels.a" -lpthread -lm || exit 2
        ! "$work/races" >"$work/said" 2>&1 && grep -q 'data race' "$work/said"
    }
    if races "$LEAST"; then
        echo "No: $(grep -m 1 'data race' "$work/said"), in $(grep -om 1 'lap_halve[^ ]*' "$work/said")"
        exit 1
    elif ! races $((LEAST + 1)); then
        echo "No race, but the barrier can be left out of more passes."
        exit 1
    fi
    echo "Right: offsets of $LEAST and less need no barrier behind them, larger ones do."
    ;;
4) # the lecture's square with another pitch: still the same product, no lanes on one bank, and no smaller one does
    kernels=$B/cudacpu/asan
    [[ ${PITCH:?make exercise-4 PITCH=words} =~ ^[0-9]+$ ]] || { echo "PITCH is a whole number of words." && exit 1; }
    [ -e "$kernels/libkernels.a" ] || { echo "first: make $kernels/libkernels.a $B/tests/cudacpu_ops" && exit 2; }
    sed "s/\\(true\\|false\\), 32>/\\1, $PITCH>/g" cuda/matvec/matvec_1d_tile_ax.cu >"$work/ax.cu"
    "${compile[@]}" -Icuda/matvec -O1 -g -fsanitize=address,undefined -ffp-contract=off \
        -c "$work/ax.cu" -o "$work/ax.o" &&
        "${CXX:-g++}" -fsanitize=address,undefined -o "$work/ops" "$work/ax.o" "$kernels"/tests/ops/*.o \
            "$kernels/libkernels.a" -lpthread -lm || exit 2
    "$work/ops" >"$work/said" 2>&1
    right=$?
    grep 'matvec cuda-tile-ax' "$work/said" | sed 's/^\(not \)\?ok [0-9]* - /The tests: \1/'
    python3 - "$PITCH" "$right" <<'PYTHON'
import sys
pitch, failed = map(int, sys.argv[1:])
ways = lambda p: max(sum(t * p % 32 == bank for t in range(32)) for bank in range(32))
print(f"Rows of {pitch} words: {ways(pitch)} lanes on one bank.")
if failed:
    sys.exit("The result is wrong, or memory of others was read or written: a row of the square has 32 words.")
if ways(pitch) > 1 or any(ways(p) == 1 for p in range(32, pitch)):
    sys.exit("Not this one." if ways(pitch) > 1 else "It works, but a smaller one does, too.")
PYTHON
    ;;
*) echo "exercise.sh: there are exercises 1 to 4" && exit 2 ;;
esac
