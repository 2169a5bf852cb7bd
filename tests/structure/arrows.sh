#!/bin/bash
# Which room may include and call which (rooms.txt), and the calls that live in one place only.
. tests/support/tap.sh
table=tests/structure/rooms.txt
B=${B:-build}

# Fewer files than this means that the search no longer finds them: raise it when the tree has grown.
MIN_FILES=330
MAX_CHAIN=10

mapfile -t sources < <(find src cpu_simd cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)

# What awk needs of the house: room(file), the folder that a file belongs to, and may_use(room, room).
house='
    function room(file) {
        if (file ~ "^src/lapedge(_program)?\\.h$") return "lapedge.h"
        if (file ~ "^src/[^/]+$") return "homeless"
        sub("^src/", "", file); sub("/.*", "", file)
        return file
    }
    function may_use(from, to) { return from == to || to == "lapedge.h" || (from, to) in arrow }
    function folder(file) { return file ~ "/" ? substr(file, 1, match(file, "/[^/]*$")) : "" }
    FILENAME == table { if (!/^#/) for (i = 2; i <= NF; i++) arrow[$1, $i]; next }'

includes() # prints "file target" for each quoted include: from src/ or the root, in the kernels also from the folder
{
    grep -HoE '^ *# *include "[^"]+"' "${sources[@]}" | sed -E 's/^([^:]+):.*"(.*)"/\1 \2/' |
        awk -v table=$table "$house"'
            FILENAME != "-" { is_file[$1]; next }
            { target = "missing:" $2
              if ($1 !~ "^src/" && (folder($1) $2) in is_file) target = folder($1) $2
              else if (("src/" $2) in is_file) target = "src/" $2
              else if ($2 in is_file) target = $2
              print $1, target }' $table <(printf '%s\n' "${sources[@]}") -
}

# "object D|U name" for each lap_ name that an object of this build defines or wants.
names()
{
    find "$B/src" "$B/cpu_simd" "$B/cuda" -name '*.o' -print0 2>/dev/null | xargs -0 nm -A -g |
        sed -nE "s|^$B/([^:]*):.* ([A-Z]) (lap_.*)|\\1 \\2 \\3|p" | awk '{ print $1, $2 == "U" ? "U" : "D", $3 }'
}

# "room object room object name" for each call or use of a name across rooms.
calls_between_rooms()
{
    names | awk -v table=none "$house"'
        $2 == "D" { home[$3] = $1 } { line[NR] = $0 }
        END { for (i = 1; i <= NR; i++) { split(line[i], f, " "); at = home[f[3]]
              if (f[2] == "U" && at && room(at) != room(f[1])) print room(f[1]), f[1], room(at), at, f[3] } }'
}

includes_follow_the_table()
{
    ! awk -v table=$table "$house"'
        !may_use(room($1), room($2)) { print $1, "includes", $2 }' $table - <<<"$graph" | grep .
}

# The program calls the public functions, wherever they are defined; the library's rooms call along the table.
calls_follow_the_table()
{
    [ -n "$calls" ] || { echo "no objects in $B"; return 1; }
    ! awk -v table=$table "$house"'
        $1 != "cli" && !may_use($1, $3) { print $2, "uses", $5, "of", $4 }' $table - <<<"$calls" | grep .
}

# What the test prints about the house: rooms, arrows in use, longest chain, circles.
chains()
{
    { awk -v table=none "$house"'{ print room($1), room($2) }' <<<"$graph"
      awk '{ print $1, $3 }' <<<"$calls"; } | awk -v limit=$MAX_CHAIN '
        function depth(room,    i, d, most) {
            if (busy[room]) { circles++; return 0 }
            if (room in known) return known[room]
            busy[room] = 1
            for (i = 1; i <= count[room]; i++) { d = depth(to[room, i]); if (d > most) most = d }
            busy[room] = 0
            return known[room] = most + 1
        }
        $1 != $2 && $2 != "lapedge.h" && !(($1, $2) in seen) { seen[$1, $2]; to[$1, ++count[$1]] = $2; arrows++
            rooms[$1]; rooms[$2] }
        END {
            for (room in rooms) { number++; d = depth(room); if (d > longest) longest = d }
            printf "%d rooms, %d arrows, longest chain %d, %d circles\n", number, arrows, longest, circles
            exit circles > 0 || longest > limit || number < 13
        }'
}

every_file_has_a_room()
{
    ! printf '%s\n' "${sources[@]}" | grep -E '^src/[^/]+$' | grep -vE '^src/lapedge(_program)?\.h$'
}

# Each room of the table is a folder, and each folder stands in the table.
table_is_the_folders()
{
    diff <(sed '/^#/d; s/ .*//' "$table" | sort) <(printf '%s\n' "${sources[@]}" |
        awk -v table=none "$house"'{ print room($1) }' | grep -v lapedge.h | sort -u)
}

# A test that finds nothing wrong must be able to: an include against the table, in a copy of a file.
planted_include_is_found()
{
    local graph
    graph="src/io/sink.c src/run/run.h"
    ! includes_follow_the_table
}

planted_call_is_found()
{
    local calls="jpeg src/libjpeg/jpeg_read.o run src/run/run.o lap_run"
    ! calls_follow_the_table
}

# The sources without their comments, under the same names.
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
for file in "${sources[@]}"; do
    mkdir -p "$bare/$(dirname "$file")"
    "${CC:-gcc}" -fpreprocessed -dD -E -P -x c "$file" >"$bare/$file" 2>/dev/null
done

# only_in PATTERN REGEX: all files that match REGEX have names that match PATTERN.
only_in()
{
    local pattern=$1 regex=$2
    ! (cd "$bare" && grep -rE "$regex" .) | sed 's|^\./||' | grep -vE "$pattern.*:" | grep .
}

# calls FILE PATTERN: what of a file matches, its lines joined and spaces after parentheses taken out.
calls()
{
    tr '\n' ' ' <"$bare/$1" | sed -E 's/\( +/(/g; s/ +/ /g' | grep -oP "$2" | sed "s|^|$1: |"
}

# A result of CUDA that nobody looks at is an error that the next call reports as its own. Rungs call through LAP_CUDA;
# the scaffold may look at a result itself, and throws one away only where it cleans up. What stands before the name
# decides: nothing of an expression, or (void).
cuda_calls_are_checked()
{
    local file bad=0
    for file in "${sources[@]}"; do
        case $file in
        cuda/device/*.cu | cuda/*.cuh)
            calls "$file" '([;{})]|\belse|\bdo) ?cuda(?!(Free(Host)?|EventDestroy|StreamDestroy|GetLastError)\()[A-Z]\w*\(' | grep . && bad=1
            ;;
        cuda/*/*.cu)
            calls "$file" '(?<!LAP_CUDA\()\bcuda(?!(Free(Host)?|EventDestroy|StreamDestroy)\()[A-Z]\w*\(' | grep . && bad=1
            ;;
        esac
    done
    return $bad
}

# Lessons are programs for nvcc, too: below #ifdef __CUDACC__ they launch with triple brackets, and only there.
lessons_launch_for_nvcc()
{
    local file
    for file in lessons/*.cu; do
        sed -n '/^#ifdef __CUDACC__/,$p' "$file" | grep -q '<<<' || { echo "$file launches nothing"; return 1; }
        ! sed '/^#ifdef __CUDACC__/,$d' "$file" | grep -n '<<<' || { echo "$file"; return 1; }
    done
}

# No file of the program includes one of the lessons.
nobody_uses_lessons()
{
    ! grep -nE '^ *# *include "lessons/' "${sources[@]}"
}

graph=$(includes)
calls=$(calls_between_rooms)
echo "# ${#sources[@]} files"
echo "# $(chains)"
check "${#sources[@]} files are looked at, at least $MIN_FILES" test "${#sources[@]}" -ge $MIN_FILES
check "every file of src/ has a room" every_file_has_a_room
check "the table names the folders" table_is_the_folders
check "every quoted include is a file of the tree" bash -c '! grep missing: <<<"$1"' - "$graph"
check "includes follow the table" includes_follow_the_table
check "calls follow the table" calls_follow_the_table
check "a planted include against the table is found" planted_include_is_found
check "a planted call against the table is found" planted_call_is_found
check "no circle, and no chain of more than $MAX_CHAIN rooms" chains
check "exit is called in main.c and worker.c only" only_in '^src/cli/(main|folder/worker)\.c' '(^|[^a-zA-Z_.>])(exit|abort|quick_exit)[[:space:]]*\('
# A second Ctrl-C ends the program at once.
check "_exit is called in signals.c, worker.c and sandbox_keeper.c only" \
    only_in '^src/cli/(signals|folder/worker|sandbox/sandbox_keeper)\.c' '(^|[^a-zA-Z_.>])_exit[[:space:]]*\('
# libjpeg and libpng report errors by jumping; nothing else does.
check "setjmp and longjmp in the JPEG and PNG files only" only_in '^src/libjpeg/|^src/codec/png_' '(^|[^a-zA-Z_])_?(sig)?(set|long)jmp[[:space:]]*\('
check "jpeglib.h in src/libjpeg only" only_in '^src/libjpeg/' 'include *<(jpeglib|jerror)\.h>'
check "kernels are launched by the scaffold, without triple brackets" only_in '^:' '<<<'
check "lessons launch for nvcc only" lessons_launch_for_nvcc
check "the program knows no lessons" nobody_uses_lessons
check "every call of CUDA is checked" cuda_calls_are_checked
check "no rung reads files or options" only_in '^src/' '(^|[^a-zA-Z_])(fopen|open|getopt_long|fprintf|printf)[[:space:]]*\('
finish
