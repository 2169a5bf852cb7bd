#!/bin/bash
# The lessons: solutions are judged right, holes are not, and each planted mistake gets one finding, at its line.
. tests/support/tap.sh
export B=${B:-build}
built=$(realpath "$B")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
jobs_at_once=$(nproc)

# judge NUMBER FILE: runs in the background; the output is in FILE.said, the exit status in FILE.status.
judge()
{
    while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n; done
    { lessons/lesson check "$1" "$2" >"$2.said" 2>&1; echo $? >"$2.status"; } &
}

said()
{
    cat "$1.said"
    [ "$(cat "$1.status")" = "$2" ]
}

solved()
{
    said "$1" 0 && grep -qx 'Solved\.' "$1.said" && ! grep -q FOUND "$1.said"
}

not_solved()
{
    said "$1" 1 && ! grep -qx 'Solved\.' "$1.said"
}

# The results are right, but the lesson's idea is missing.
missed()
{
    not_solved "$1" && grep -q 'The results are right' "$1.said" && ! grep -q FOUND "$1.said"
}

untouched()
{
    not_solved "$1" && { grep -q 'The hole is still as it was' "$1.said" || [[ $1 == *lesson_5_* ]]; }
}

# found FILE TITLE PATTERN: one finding, with this title; one of its lines has the pattern.
found()
{
    local lines line
    cat "$1.said"
    [ "$(cat "$1.status")" = 1 ] && [ "$(grep -c FOUND "$1.said")" = 1 ] || return 1
    grep -q "FOUND at line [0-9]*: $2" "$1.said" || return 1
    lines=$(sed -nE 's/.*at line ([0-9]+).*/\1/p' "$1.said")
    for line in $lines; do
        sed -n "${line}p" "$1" | grep -q -- "$3" && return 0
    done
    return 1
}

# What a lesson's holes begin and end with.
edges()
{
    grep -E 'HOLE:|END OF THE HOLE' "$1"
}

# SOLUTION fills each hole of LESSON, contains nothing else, and changes every hole.
fills_the_holes()
{
    local lesson=$1 solution=$2
    edges "$lesson" | grep -q 'HOLE:' && diff <(edges "$lesson") <(edges "$solution") &&
        ! sed '/HOLE:/,/END OF THE HOLE/d' "$solution" | grep . && ! diff -q "$lesson" "$3"
}

# of NUMBER: the whole solution's file.
mkdir "$scratch/solutions"
for lesson in lessons/lesson_*.c*; do
    number=${lesson#lessons/lesson_}
    lessons/lesson solve "${number%%_*}" >"$scratch/solutions/$(basename "$lesson")"
done
of()
{
    echo "$scratch"/solutions/lesson_"$1"_*.c*
}

# said_of NUMBER: the file with what the judge said of the solution.
said_of()
{
    echo "$scratch"/solved_lesson_"$1"_*.said
}

# Fills in predictions that are all wrong: without predictions, a lesson is not solved.
predict='s/(PREDICT [a-z0-9-]+:) \?/\1 999999/'
checks=()
# changed NUMBER NAME SED...: the solution, changed by sed: $file.
changed()
{
    local number=$1 name=$2 solution
    shift 2
    solution=$(of "$number")
    file=$scratch/changed_${number}_${name// /_}_$(basename "$solution")
    sed -E "$@" "$solution" >"$file"
    ! cmp -s "$solution" "$file" || { check "lesson $number, $name: the solution is changed" false; return 1; }
    sed -i -E "$predict" "$file"
    judge "$number" "$file"
}

# Each is compiled, which takes most of the time: the first of each kind is judged, and all with LESSONS_ALL=1 (make
# test-long).
declare -A judged=()
had() # KIND
{
    [ -z "${LESSONS_ALL:-}" ] && [ -n "${judged[$1]:-}" ] && return
    judged[$1]=1
    return 1
}

# planted NUMBER NAME TITLE PATTERN SED...: a mistake.
planted()
{
    local file
    ! had "planted $3" || return 0
    changed "$1" "$2" "${@:5}" && checks+=("lesson $1, $2: one finding at its line|found|$file|$3|$4")
}

# wasteful NUMBER NAME SED...: right results without the lesson's idea.
wasteful()
{
    local file
    ! had wasteful || return 0
    changed "$1" "$2" "${@:3}" && checks+=("lesson $1, $2: right, and not solved|missed|$file")
}

# right NUMBER NAME SED...: an equally good way to write it.
right()
{
    local file
    ! had right || return 0
    changed "$1" "$2" "${@:3}" && checks+=("lesson $1, $2: solved|solved|$file")
}

# advised NUMBER NAME WORDS SED...: the report on the mistake, its lines joined, has these words.
advised()
{
    local file
    ! had advised || return 0
    changed "$1" "$2, advice" "${@:4}" && checks+=("lesson $1, $2: what is said of it|says|$file|$3")
}

says()
{
    cat "$1.said"
    [ "$(cat "$1.status")" != 0 ] && tr -s ' \n' ' ' <"$1.said" | grep -qF -- "$2"
}

# The vectors of lessons 11 and 12 are those of one kind of processor.
can_run()
{
    case $1 in
    *_sse.c) grep -qw sse4_1 /proc/cpuinfo ;;
    *_avx2.c) grep -qw avx2 /proc/cpuinfo ;;
    esac
}

for lesson in lessons/lesson_*.c*; do
    name=$(basename "$lesson") number=${lesson#lessons/lesson_}
    number=${number%%_*}
    can_run "$name" || { skip "$name" "this processor has not its instructions"; continue; }
    # The answers to the predictions are checked below.
    sed -E "$predict" "$scratch/solutions/$name" >"$scratch/solved_$name"
    cp "$lesson" "$scratch/hole_$name"
    judge "$number" "$scratch/solved_$name"
    judge "$number" "$scratch/hole_$name"
    check "$name: the solution fills the hole" fills_the_holes "$lesson" "lessons/solutions/${name%.*}.txt" \
        "$scratch/solutions/$name"
    checks+=("$name: the solution is judged right|solved|$scratch/solved_$name" "$name: the hole is not|untouched|$scratch/hole_$name")
done

bounds='an access out of bounds' race='a race' barrier='a barrier that not all threads reach'
unwritten='a read of memory that nothing wrote' warp='a warp function that does not fit its lanes'
aligned='an address that the width does not allow'
planted 1 'off by one in x' "$bounds" 'out\[' 's/x >= width \|\|/x > width ||/'
planted 1 'off by three in y' "$bounds" 'sum += weight' 's/y >= height\)/y > height + 2)/'
planted 1 'no check' "$bounds" '\[.*\]' '/if \(x >= width/,+1d'
planted 1 'race between blocks' "$race" 'out\[' 's/blockIdx.x \* blockDim.x/0/'
planted 1 'an endless loop' 'a kernel that does not end' 'sum += weight' 's/fx <= 2; fx\+\+/fx <= 2; fx += 0/'
wasteful 1 'a warp reads columns' 's/threadIdx\.x\);/threadIdx.T);/; s/threadIdx\.y\);/threadIdx.x);/; s/threadIdx\.T/threadIdx.y/'
wasteful 2 'stores down columns' 's/threadIdx\.x\), row/threadIdx.T), row/; s/(row = .*)threadIdx\.y/\1threadIdx.x/; s/threadIdx\.T/threadIdx.y/'
wasteful 4 'a barrier more for each colour' 's/if \(c < 2\)/__syncthreads();/'
wasteful 5 'an odd pitch' 's/MY_PITCH = 80/MY_PITCH = 65/'
wasteful 6 'a warp loads columns' \
    's/row = warp; row < ROWS; row \+= BLOCK_Y/row = lane; row < ROWS; row += BLOCK_X/; s/column = lane; column < ROW; column \+= BLOCK_X/column = warp; column < ROW; column += BLOCK_Y/'
wasteful 7 'a value loaded for each of its sums' '/const float value/d; s/\* value;/* window[r * ROW + fx * 3];/'
wasteful 8 'a barrier more' '/shuffled\(/,/^}/s/__syncthreads\(\);/__syncthreads(); __syncthreads();/'
wasteful 10 'the row that leaves is loaded again' 's/box -= rows\[y % 5\];/box -= row_sum(in, pitch, x, y - 2);/'
wasteful 9 'all atomics on global memory' 's/atomicAdd\(&mine\[value\], 1u\)/atomicAdd(\&counts[in[i]], 1u)/'
wasteful 3 'one thread loads all' 's/int i = t; i < SIDE \* ROW; i \+= BLOCK \* BLOCK/int i = 0; t == 0 \&\& i < SIDE * ROW; i++/'
wasteful 3 'neighbours load far bytes' \
    's/int i = t; i < SIDE \* ROW; i \+= BLOCK \* BLOCK/int i = 5 * t; i < 5 * t + 5 \&\& i < SIDE * ROW; i++/'
planted 2 'wrong pitch' "$bounds" 'out\[row' 's/out\[row \* height/out[row * width/'
planted 2 'unaligned vector' "$aligned" 'float4' \
    's/(out\[row.*=) in\[(.*)\];/{ const float4 v = *(const float4 *)(in + \2); \1 v.x; }/'
planted 3 'off by one' "$bounds" 'tile\[i\] =' 's/top \+ row < height/top + row <= height/'
planted 3 'beyond the right side' "$bounds" 'tile\[i\] =' 's/ && left \* 3 \+ column < \(width \+ 2\) \* 3//'
planted 3 'no barrier' "$race" 'tile\[' '/__syncthreads\(\);/d'
planted 3 'wrong pitch' "$race" 'tile\[row' 's/tile\[i\] =/tile[row * SIDE + column] =/'
planted 3 'uninitialised read' "$unwritten" 'sum += weight' 's/i \+= BLOCK \* BLOCK/i += 2 * BLOCK * BLOCK/'
planted 4 'no first barrier' "$race" 'tile\[' '0,/__syncthreads\(\);/{/__syncthreads\(\);/d}'
planted 4 'no second barrier' "$race" 'tile\[' '/if \(c < 2\)/,+1d'
planted 4 'divergent barrier' "$barrier" '__syncthreads' \
    '0,/__syncthreads\(\);/s/__syncthreads\(\);/if (x < width) __syncthreads();/'
planted 4 'a return before the barrier' "$barrier" '__syncthreads' 's/(for \(int c = 0)/if (x >= width) return; \1/'
planted 5 'wrong pitch' "$bounds" 'tile\[row' 's/tile\[row \* PITCH/tile[row * 80/'
planted 6 'uninitialised read' "$unwritten" 'sum += weight' 's/row < ROWS; row/row < BLOCK_Y; row/'
planted 6 'beyond the right side' "$bounds" 'tile\[row' 's/ && left \* 3 \+ column < \(width \+ 2\) \* 3//'
planted 6 'no barrier' "$race" 'tile\[' '/__syncthreads\(\);/d'
planted 7 'off by one' "$unwritten" 'window\[' 's/r < rows \+ 4/r <= rows + 4/'
planted 8 'no barrier' "$race" 'warps\[' '/shuffled\(/,/^}/{/__syncthreads\(\);$/d}'
planted 8 'halving without its barrier' "$race" 'tile\[' '/^__global__ void divergent/,/^}/{/^ {12}__syncthreads\(\);$/d}'
planted 8 'race between blocks' "$race" 'sums\[' 's/sums\[group\] = warps/sums[0] = warps/'
planted 8 'half a warp' "$warp" 'shfl' 's/value \+= (__shfl.*;)/if (t % 32 < 16) value += \1/'
planted 9 'no first barrier' "$race" 'mine\[' '0,/__syncthreads\(\);/{/__syncthreads\(\);/d}'
planted 9 'no atomic' "$race" 'mine\[' 's/atomicAdd\(&mine\[value\], 1u\)/mine[value]++/'
planted 9 'nothing set to zero' "$unwritten" 'atomicAdd' '/mine\[threadIdx.x\] = 0;/d'
planted 10 'off by one' "$bounds" 'sum += in' 's/y < end; y\+\+/y <= end; y++/'
planted 10 'an index below the sums kept' "$bounds" 'rows\[y % 5\]' '0,/rows\[\(y \+ 2\) % 5\] = /s//rows[y % 5] = /'
planted 7 'an index before the sums' "$bounds" 'sum\[' 's/for \(int i = 0; i < DEEP/for (int i = -1; i < DEEP/'
planted 1 'the number within the block for that in the image' "$race" 'out\[' \
    's/blockIdx\.x \* blockDim\.x \+ //; s/blockIdx\.y \* blockDim\.y \+ //'
planted 1 'and for or' "$bounds" 'sum += weight' 's/x >= width \|\|/x >= width \&\&/'
planted 1 'width and height exchanged' "$bounds" 'sum += weight' 's/x >= width \|\| y >= height/x >= height || y >= width/'
planted 1 'every thread all pixels' "$race" 'out\[' \
    's/(.*)const int x = .*/\1for (int x = 0; x < width; x++)/; s/(.*)const int y = .*/\1for (int y = 0; y < height; y++)/; /if \(x >= width/,+1d'
planted 1 'a loop without an access that does not end' 'a kernel that does not end' 'while' 's/if \(x >= width (.*)/while (x >= width \1/; s/^( *)return;$/\1;/'
planted 1 'a division by zero' 'a division by zero' '/ threadIdx.x' 's/(const int x = .*)\(blockIdx.x \* blockDim.x \+ threadIdx.x\)/\1(blockIdx.x \/ threadIdx.x)/'
planted 2 'or for and' "$bounds" 'in\[column' 's/column < height && row/column < height || row/'
planted 2 'a tile without a barrier' "$race" 'tile\[' \
    's/(.*)out\[row .*/\1{ tile[threadIdx.y][threadIdx.x] = in[column * width + row];\n\1out[row * height + column] = tile[threadIdx.x][threadIdx.y]; }/; s/(.*)(const int column = .*)/\1__shared__ float tile[BLOCK][BLOCK];\n\1\2/'
planted 3 'one byte too many' "$bounds" 'tile\[i\] =' 's/i < SIDE \* ROW/i <= SIDE * ROW/'
planted 3 'a byte for each thread' "$unwritten" 'sum += weight' 's/i < SIDE \* ROW; i/i < 256; i/'
planted 3 'pixels for bytes' "$unwritten" 'sum += weight' 's/\* ROW; i \+=/* SIDE; i +=/; s/i \/ ROW, column = i % ROW/i \/ SIDE, column = i % SIDE/; s/tile\[i\] =/tile[row * ROW + column] =/'
planted 3 'a barrier in the loop' "$barrier" '__syncthreads' 's/(tile\[i\] = .*)/\1\n__syncthreads();/'
planted 4 'a barrier of warps' "$race" 'tile\[' '0,/__syncthreads\(\);/s/__syncthreads\(\);/__syncwarp();/'
planted 4 'a barrier behind the first colour only' "$race" 'tile\[' 's/if \(c < 2\)/if (c == 0)/'
planted 4 'continue before the barrier' "$barrier" '__syncthreads' \
    '0,/__syncthreads\(\);/s/__syncthreads\(\);/if (x >= width) continue; __syncthreads();/'
planted 6 'each warp every row' "$race" 'tile\[row' 's/row \+= BLOCK_Y/row++/'
planted 6 'one row too many' "$bounds" 'tile\[row' 's/row < ROWS; row/row <= ROWS; row/'
planted 6 'as many bytes as lanes' "$unwritten" 'sum += weight' 's/column < ROW; column/column < BLOCK_X; column/'
planted 6 'four times 32' "$bounds" 'tile\[row' 's/column < ROW; column/column < 128; column/; /if \(top \+ row/d'
planted 7 'the sum of another window' "$bounds" 'sum\[r' 's/sum\[i\] \+= \(fx/sum[r - i] += (fx/; /if \(r - i >= 0/d'
planted 7 'rows beyond the image' "$unwritten" 'window\[' 's/r < rows \+ 4/r < DEEP + 4/'
planted 8 'all lanes write' "$race" 'warps\[' '/if \(t % 32 == 0\)/d'
planted 8 'a barrier for some lanes' "$barrier" '__syncthreads' \
    '/shuffled\(/,/^}/{s/(warps\[t \/ 32\] = value;)/{ \1 __syncthreads(); }/; /^ *__syncthreads\(\);$/d}'
planted 8 'the thread for its warp' "$bounds" 'warps\[t\]' 's/warps\[t \/ 32\]/warps[t]/'
planted 8 'all threads write the sum' "$race" 'sums\[' '/shuffled\(/,/^}/{/if \(t == 0\)/d}'
planted 8 'a condition around a shuffle' "$warp" 'shfl' 's/(value \+= __shfl)/if (t % 32 + n < 32) \1/'
planted 8 'a mask of half a warp' "$warp" 'shfl' 's/0xffffffff, value/0xffff, value/'
planted 9 'a return before the barrier' "$barrier" '__syncthreads' '/shared\(const/,/^}/s/^( *)(for \(unsigned i = first.*)/\1if (first >= n) return;\n\1\2/'
planted 9 'a barrier in the loop' "$barrier" '__syncthreads' 's/(atomicAdd\(&mine.*)/{ \1 __syncthreads(); }/'
planted 9 'counters are added without an atomic' "$race" 'counts\[' 's/atomicAdd\(&counts\[threadIdx.x\], (.*)\);/counts[threadIdx.x] += \1;/'
planted 9 'the place of a value for the value' "$bounds" 'mine\[i\]' 's/mine\[value\]/mine[i]/'
planted 10 'no modulo' "$bounds" 'rows\[y - top' 's/rows\[\(y \+ 4\) % 5\]/rows[y - top + 4]/'
planted 10 'rows of the result as long as those of the image' "$bounds" 'out\[' 's/out\[\(long\)y \* width/out[(long)y * pitch/'
planted 10 'all of a walk' "$bounds" 'sum += in' 's/y < end; y/y < top + DEEP; y/'
advised 2 'a race without a loop' 'between the two lines: what makes one thread wait' \
    's/(.*)out\[row .*/\1{ tile[threadIdx.y][threadIdx.x] = in[column * width + row];\n\1out[row * height + column] = tile[threadIdx.x][threadIdx.y]; }/; s/(.*)(const int column = .*)/\1__shared__ float tile[BLOCK][BLOCK];\n\1\2/'
planted 2 'two floats behind the last' "$bounds" 'float2' 's/(out\[row.*) = (in\[.*\]);/*(float2 *)\&\1 = *(float2 *)\&\2;/'
advised 9 'no atomic' 'or an atomic function?' 's/atomicAdd\(&mine\[value\], 1u\)/mine[value]++/'
advised 3 'a return in the loop' 'kept from it by a condition, or returned before.' \
    's/if \(top \+ row < height \+ 2 \&\& (.*)\)$/if (!(top + row < height + 2 \&\& \1)) return;/'
advised 5 'a pitch below that of a row' 'MY_PITCH must be 60 to 127' 's/MY_PITCH = 80/MY_PITCH = 59/'
advised 8 'a shuffle whose value is not used' 'returns a value and changes none' 's/value \+= __shfl/(void)__shfl/'
advised 8 'four steps of five' 'n = 16 to 1' 's/n = 16; n > 0/n = 16; n > 1/'
advised 8 'all threads write the sum of a warp' 'Or should only one of them write' 's/if \(t % 32 == 0\)/if (true)/'
advised 9 'values PER apart' 'PER is their number' '/HOLE:/,/END OF/s/i \+= BLOCK/i += PER/'
advised 8 'the thread for its warp' 'element 64 of warps, whose elements are 0 to 3.' 's/warps\[t \/ 32\]/warps[t]/'
right 7 'the weights are a constant' \
    's/(float sum\[DEEP\] = .*)/\1 static const float h[2] = {-1, 24};/; s/\(fx == 2 && r - i == 2 \? 24.0f : -1.0f\)/h[fx == 2 \&\& r - i == 2]/'
right 4 'a barrier behind the last colour' '/if \(c < 2\)/d'
right 3 'rows by rows of threads' \
    's/for \(int i = t; i < SIDE \* ROW; i \+= BLOCK \* BLOCK\)/for (int i = t; i < 2 * 256 * 5; i += 256)/; s/(const int row = .*;)/if (i >= SIDE * ROW) break; \1/'
advised 1 'an unsigned index' 'is a variable of this index unsigned?' 's/const int (x|y) = \(int\)/const unsigned \1 = /'
advised 3 'rows beyond the image' 'row 26, byte 1, counted from pixel (0, 0)' 's/top \+ row < height \+ 2/top + row < height + 4/'
advised 4 'no second barrier' 'of its next turn: what makes a thread wait there' '/if \(c < 2\)/,+1d'
advised 4 'no first barrier' 'between the two lines: what makes one thread wait' '0,/__syncthreads\(\);/{/__syncthreads\(\);/d}'
advised 7 'a row too many' 'does a loop go too far?' 's/r < rows \+ 4/r <= rows + 4/'
advised 2 'a length of rows' 'How long is a row of the result?' 's/out\[row \* height \+ column\]/out[column * width + row]/'
advised 6 'a pixel for a byte' 'The code below the hole is right' 's/left \* 3 \+ column\]/left + column]/'
advised 6 'a tile as one list' 'all 32 of one row' \
    's/row = warp; row < ROWS; row \+= BLOCK_Y/i = warp * 32 + lane; i < ROWS * ROW; i += 256/; s/for \(int column = lane.*/{ const int row = i \/ ROW, column = i % ROW;/; s/(tile\[row \* ROW \+ column\] = .*)/\1 }/'

# ends NUMBER NAME CALL WORDS: the kernel makes this CALL (of exit or of the judge), and the report contains WORDS.
ends()
{
    local file
    changed "$1" "$2" "/HOLE:/a $3;" && checks+=("lesson $1, $2: not solved|is_not_solved|$file|$4")
}
is_not_solved() { [ "$(cat "$1.status")" = 1 ] && says "$@"; }
ends 1 'exit with 0' 'exit(0)' 'Not solved: the program ended before the judge had compared the results.'
ends 1 'exit with 3' 'exit(3)' 'Not solved: the program ended before the judge had compared the results.'
ends 1 'exit with 124' '_Exit(124)' 'Not solved: the program ended before the judge had compared the results.'
ends 1 'the judge in the kernel' '_Exit(judge::end())' 'Not solved: the kernel called the judge.'
if can_run lesson_11_sse.c; then
    ends 11 'exit with 0' 'exit(0)' 'Not solved: the program ended before the judge had compared the results.'
    ends 11 'the judge in the row' '_Exit(judge::end())' 'Not solved: the kernel called the judge.'
fi

wait
for c in "${checks[@]}"; do
    IFS='|' read -ra words <<<"$c"
    check "${words[@]}"
done

# ---- what is only read -----------------------------------------------------------------------------

# The codewords of "se..." are 111 0: from bit 1 on, 110 is read and ends where the right ones end.
huffman_falls_into_step()
{
    local said
    "${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -o "$scratch/huffman" lessons/read_huffman.c || return 1
    said=$("$scratch/huffman") && echo "$said"
    [ "$(grep -c 'in step after' <<<"$said")" = 10 ] && grep -A 1 '^from 1 .* a  |' <<<"$said" | grep 'after 3 bits' &&
        grep -A 1 '^from 0 ' <<<"$said" | grep 'after 0 bits'
}
check "wrong starts of a Huffman code fall into step" huffman_falls_into_step

# ---- the student's copies ----------------------------------------------------------------------------

copies_once()
{
    local mine=$scratch/mine
    MINE=$mine lessons/lesson get 1 && cmp "$mine/lesson_1_index.cu" lessons/lesson_1_index.cu || return 1
    echo changed >"$mine/lesson_1_index.cu"
    MINE=$mine lessons/lesson get 1 | grep 'is there already, and stays as it is' && [ "$(cat "$mine/lesson_1_index.cu")" = changed ]
}

asks_for_predictions()
{
    MINE=$scratch/other lessons/lesson get 1 | grep 'Predict "sectors"'
}

prediction_stands_beside()
{
    sed 's/PREDICT sectors: ?/PREDICT sectors: 7.5/' "$(of 1)" >"$scratch/predicted_1.cu"
    lessons/lesson check 1 "$scratch/predicted_1.cu" >"$scratch/predicted"
    grep -E 'sectors a load of a warp +7\.5 +4\.80 +4\.80' "$scratch/predicted"
}

# The kernel as it is counts 4 sectors and a good one 16: neither prediction is right or wrong yet; the one about the
# kernel without a hole is.
prediction_waits_for_the_solution()
{
    local sectors
    for sectors in 4 16; do
        sed -E "s/PREDICT sectors-loaded: \?/PREDICT sectors-loaded: $sectors/; s/(PREDICT sectors-stored:) \?/\1 16/
            s/blockIdx.x \* BLOCK \+ threadIdx.x\), row = \(int\)\(blockIdx.y \* BLOCK \+ threadIdx.y/blockIdx.x * BLOCK + threadIdx.y), row = (int)(blockIdx.y * BLOCK + threadIdx.x/" \
            "$(of 2)" >"$scratch/waits_2.cu"
        lessons/lesson check 2 "$scratch/waits_2.cu" >"$scratch/waits"
        cat "$scratch/waits"
        grep -q 'sectors-stored: as you predicted' "$scratch/waits" && ! grep 'sectors-loaded:' "$scratch/waits" &&
            grep -q 'are answered once the' "$scratch/waits" || return 1
    done
}

# A file with the line ends of Windows.
prediction_of_another_editor()
{
    sed 's/PREDICT sectors: ?/PREDICT sectors: 4.8/; s/$/\r/' "$(of 1)" >"$scratch/dos_1.cu"
    lessons/lesson check 1 "$scratch/dos_1.cu" | grep 'sectors: as you predicted'
}

barrier_that_could_go_is_named()
{
    sed -E "$predict; /if \(c < 2\)/d" "$(of 4)" >"$scratch/six_4.cu"
    lessons/lesson check 4 "$scratch/six_4.cu" | grep '5 barriers are enough' && ! grep '5 barriers are enough' "$(said_of 4)"
}

# An error that the compiler sees only after the student's file is reported as such.
error_behind_the_file()
{
    local said
    sed -E 's/(if \(x >= width .*)/\1 {/' "$(of 1)" >"$scratch/brace_1.cu"
    said=$(lessons/lesson check 1 "$scratch/brace_1.cu" 2>&1)
    [ $? = 2 ] && grep 'a brace without its other one' <<<"$said" || return 1
    sed -E 's/(const int x = .*);/\1/' "$(of 1)" >"$scratch/semicolon_1.cu"
    said=$(lessons/lesson check 1 "$scratch/semicolon_1.cu" 2>&1)
    [ $? = 2 ] && grep 'the first error above says where' <<<"$said"
}

# A prediction that differs is explained, one that fits is confirmed, and a word is not a prediction.
prediction_is_answered()
{
    grep 'sectors: 7.5 predicted, 4.80 counted. The 16 bytes' "$scratch/predicted" || return 1
    sed -i 's/PREDICT sectors: 7.5/PREDICT sectors: 4.8/' "$scratch/predicted_1.cu"
    lessons/lesson check 1 "$scratch/predicted_1.cu" | grep 'sectors: as you predicted' || return 1
    sed -i 's/PREDICT sectors: 4.8/PREDICT sectors: many/' "$scratch/predicted_1.cu"
    lessons/lesson check 1 "$scratch/predicted_1.cu" | grep 'sectors: "many" is not a number'
}

# A solution that lacks one of two predictions, or has a word for it, is not solved, and no counts are shown.
prediction_is_asked_for_again()
{
    local p said
    for p in '?' many nan; do
        sed "s/PREDICT sectors-stored: ?/PREDICT sectors-stored: 16/; s/PREDICT sectors-loaded: ?/PREDICT sectors-loaded: $p/" \
            "$(of 2)" >"$scratch/asked_2.cu"
        said=$(lessons/lesson check 2 "$scratch/asked_2.cu")
        [ $? = 1 ] && echo "$said" && grep -q 'The results are right' <<<"$said" || return 1
        ! grep -E '^Solved|sectors-stored|as you predicted|What each line asks|Predicted and counted' <<<"$said" || return 1
        [ "$p" = '?' ] || { grep "sectors-loaded: \"$p\" is not a number" <<<"$said" && continue; } || return 1
        grep 'PREDICT sectors-loaded: write a number for the ?' <<<"$said" || return 1
    done
    # What is missed may name the figure that is asked for.
    said=$(lessons/lesson check 5 lessons/lesson_5_banks.cu)
    [ $? = 1 ] && grep -F 'The aim is not met. The judge says why once you have predicted.' <<<"$said" &&
        ! grep -E '[0-9] passes' <<<"$said"
}

# Each figure to predict has its reason in the exam.
predictions_have_reasons()
{
    local lesson number name
    for lesson in lessons/lesson_*.c*; do
        number=${lesson#lessons/lesson_}
        can_run "$lesson" || continue
        while read -r name; do
            grep -E "$name: 999999 predicted, [0-9.]+ counted\. [A-Z0-9]" "$(said_of "${number%%_*}")" || return 1
        done < <(sed -nE 's/.*PREDICT ([a-z0-9-]+): \?.*/\1/p' "$lesson")
    done
}

wrong_pixel_is_named()
{
    sed 's/r - i == 2 ?/r == 2 ?/' "$(of 7)" >"$scratch/wrong_7.cu"
    ! cmp -s "$(of 7)" "$scratch/wrong_7.cu" && lessons/lesson check 7 "$scratch/wrong_7.cu" |
        grep -E 'The first, (red|green|blue) of pixel [0-9]+ of row [0-9]+, is'
}

next_step_is_named()
{
    grep '^Next: make lesson-2: what a warp.*(10 minutes)\.$' "$(said_of 1)" || return 1
    ! can_run lesson_12_avx2.c || grep 'That was the last lesson' "$(said_of 12)"
}

lesson_that_does_not_exist()
{
    local target
    for target in lesson check time solution; do
        env -u MAKEFLAGS make -n HAVE_CUDA=0 "$target-99" | grep "lessons/lesson [a-z]* 99" || return 1
    done
    lessons/lesson get 99 2>&1 | grep 'no lesson 99: they are 1 to 12'
}

lessons_are_listed()
{
    local said number
    said=$(env -u MAKEFLAGS make --no-print-directory HAVE_CUDA=0 MINE="$scratch/mine" lesson) && echo "$said"
    for ((number = 1; number <= 12; number++)); do
        grep -E "^ *$number  .* \([0-9]+ minutes\)" <<<"$said" >/dev/null || return 1
    done
    grep -E "^  1 .*, in $scratch/mine$" <<<"$said" && ! grep -E "^  2 .*, in" <<<"$said"
}

# Uses a compiler whose programs do nothing, and a lapedge that prints its arguments. Each lesson that names a step of a
# ladder must run that step, and the real program must have it.
times_its_step()
{
    local lesson number step steps=0
    mkdir -p "$scratch/times" && ln -sfn "$PWD/lessons" "$scratch/times/lessons"
    printf '#!/bin/sh\necho "lapedge $*"\n' >"$scratch/times/lapedge"
    # shellcheck disable=SC2016 # the written program expands these
    printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nprintf "#!/bin/sh\\n" >"$2" && chmod +x "$2"\n' >"$scratch/times/compiler"
    chmod +x "$scratch/times/lapedge" "$scratch/times/compiler"
    for lesson in lessons/lesson_*.c*; do
        number=${lesson#lessons/lesson_} number=${number%%_*}
        step=$(tr -d '*\n' <"$lesson" | grep -oE 'ladder: +[a-z]+ +[a-z0-9-]+' | tr -s ' ')
        [ -n "$step" ] || continue
        steps=$((steps + 1)) step=${step#ladder: }
        (cd "$scratch/times" && CC=./compiler NVCC=./compiler lessons/lesson time "$number" "$lesson") >"$scratch/timed"
        cat "$scratch/timed"
        grep -qx "lapedge bench ${step% *} --backends=${step#* }" "$scratch/timed" || return 1
        "$LAPEDGE" explain "${step#* }" | grep -x "$step" || return 1
    done
    [ "$steps" -ge 11 ]
}

says_what_is_missing()
{
    local said
    said=$(MINE=$scratch/none lessons/lesson check 1 2>&1)
    [ $? = 2 ] && grep 'first make lesson-1' <<<"$said" || return 1
    said=$(NVCC=no-such-nvcc lessons/lesson time 1 lessons/lesson_1_index.cu 2>&1)
    [ $? = 3 ] && grep 'make check-1 needs neither' <<<"$said"
}

# ---- docs/teaching.md --------------------------------------------------------------------------------

# Runs the loop of the page on a solved lesson, an unsolved one and one that does not compile; a folder has a space.
teacher_judges_a_folder()
{
    local course=$scratch/course name
    mkdir -p "$course/handed-in/anna" "$course/handed-in/b c" && for name in lessons tests src cpu_simd docs; do
        ln -sfn "$PWD/$name" "$course/$name" || return
    done
    sed -E "$predict" "$(of 1)" >"$course/handed-in/b c/lesson_1_index.cu"
    cp lessons/lesson_2_coalescing.cu "$course/handed-in/anna"
    sed 's/__global__/__globe__/' "$(of 1)" >"$course/handed-in/anna/lesson_1_index.cu"
    sed -n '/^```sh$/,/^```$/p' docs/teaching.md | sed '/^```/d' >"$course/loop"
    (cd "$course" && B=$built bash ./loop) >"$course/said" && cat "$course/said"
    diff - "$course/said" <<'TEXT' || return
2 handed-in/anna/lesson_1_index.cu
1 handed-in/anna/lesson_2_coalescing.cu
0 handed-in/b c/lesson_1_index.cu
TEXT
    grep -qx 'Solved\.' "$course/handed-in/b c/report_1.txt" && grep 'The hole is still' "$course/handed-in/anna/report_2.txt"
}

# Without the solutions, lessons are judged as before, and no message promises a solution.
lessons_without_solutions()
{
    local tree=$scratch/tree name said
    mkdir -p "$tree/lessons" && for name in tests src cpu_simd docs lessons/judge lessons/lesson lessons/lesson_{1,2}_*; do
        ln -sfn "$PWD/$name" "$tree/$name" || return
    done
    sed -E "$predict" "$(of 1)" >"$tree/mine.cu"
    said=$(cd "$tree" && B=$built lessons/lesson check 1 mine.cu) || return
    grep -qx 'Solved\.' <<<"$said" && ! grep solution <<<"$said" || return 1
    said=$(cd "$tree" && lessons/lesson solve 1 2>&1)
    [ $? = 2 ] && grep 'There are no solutions here' <<<"$said"
}

# The page's minutes are the sum of its lessons' minutes, plus 15 for reading in the first hour and 10 for the Huffman
# code.
sessions_add_up()
{
    local first last minutes session extra
    while IFS='|' read -r session first last minutes; do
        extra=0
        [ "$session" != 1 ] || extra=15
        [ "$session" != 4 ] || extra=10
        lessons/lesson list | awk -v first="$first" -v last="$last" -v extra="$extra" -v minutes="$minutes" '
            $1 >= first && $1 <= last && match($0, /\([0-9]+ minutes/) { sum += substr($0, RSTART + 1) }
            END { if (sum + extra == minutes) print first, last, minutes }'
    done < <(sed -nE 's/^\| ([1-4]) \| .*lessons ([0-9]+) (to|and) ([0-9]+).* \| ([0-9]+) \|$/\1|\2|\4|\5/p' docs/teaching.md) |
        tee "$scratch/sessions"
    [ "$(wc -l <"$scratch/sessions")" = 4 ]
}

check "the loop of docs/teaching.md judges a folder" teacher_judges_a_folder
check "the minutes of docs/teaching.md add up" sessions_add_up
check "lessons without their solutions" lessons_without_solutions
check "a copy is made once, and never written over" copies_once
check "a prediction is asked for" asks_for_predictions
check "a prediction stands beside what is counted and what the H200 counted" prediction_stands_beside
check "a prediction is answered" prediction_is_answered
check "a missing prediction is asked for again" prediction_is_asked_for_again
check "a prediction waits until the lesson is solved" prediction_waits_for_the_solution
check "a prediction of another editor" prediction_of_another_editor
check "lesson 4: a barrier that could go is named" barrier_that_could_go_is_named
check "an error behind the student's file" error_behind_the_file
check "each figure to predict has its reason" predictions_have_reasons
check "a wrong result names the pixel" wrong_pixel_is_named
check "a solved lesson names the next step" next_step_is_named
check "a lesson that does not exist: which do" lesson_that_does_not_exist
check "make lesson lists them, and which are copied" lessons_are_listed
check "time runs the lesson's step of the ladder, too" times_its_step
check "what is missing is said" says_what_is_missing
finish
