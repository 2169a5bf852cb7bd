"""Lines of source for tools/figures/fill: the decisive lines of each step of the operations' ladders."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of each backend: its file, where its lines are if elsewhere, and a text of the first and of the last of them. MORE has
# what lies behind a line that names a constant alone.
TILE, HALVES, WHOLE, SQUARE = ("cuda/transpose/tile.cuh", "cuda/reduce/reduce.cuh", "cuda/matvec/matvec.cuh",
                               "cuda/matvec/square.cuh")
STEPS = {
    "transpose": [
        ("cuda-naive", "transpose_1_naive.cu", None, "const int x =", "*lap_out<T>"),
        ("cuda-naive-write", "transpose_1b_naive_write.cu", None, "const int x =", "*lap_out<T>"),
        ("cuda-shared", "transpose_2_shared.cu", TILE, "x = (int)(blockIdx.y * TILE", "= tile[threadIdx.x]"),
        ("cuda-padded16", "transpose_2b_padded16.cu", None, "extern", "}"),
        ("cuda-shared32", "transpose_2c_shared32.cu", None, "extern", "}"),
        ("cuda-padded", "transpose_2d_padded.cu", None, "extern", "}"),
        ("cuda-padded-rows", "transpose_2e_padded_rows.cu", TILE, "int x = (int)(blockIdx.x * TILE", "= *lap_in<T>"),
        ("cuda-fast", "transpose_3_fast.cu", None, "const uint4 a = v[0], b = v[1], c", "v[3] = make_uint4"),
    ],
    "reduce": [
        ("cuda-global", "reduce_1_global.cu", None, "for (unsigned offset", "}"),
        ("cuda-divergent", "reduce_1b_divergent.cu", None, "for (unsigned step", "}"),
        ("cuda-interleaved", "reduce_1c_interleaved.cu", None, "for (unsigned step", "}"),
        ("cuda-shared", "reduce_1d_shared.cu", HALVES, "for (unsigned offset", "}"),
        ("cuda-dynamic", "reduce_1e_dynamic.cu", None, "LAP_DYNAMIC_SHARED", "lap_halve("),
        ("cuda-first-add", "reduce_1f_first_add.cu", None, "const size_t i =", "lap_halve("),
        ("cuda-shuffle", "reduce_1g_shuffle.cu", HALVES, "value = lap_warp_sum(value)", "block_sums[blockIdx.x] = (w"),
        ("cuda-grid", "reduce_1h_grid.cu", None, "#pragma unroll 1", "sum += x[i]"),
        ("cuda-wide", "reduce_1i_wide.cu", None, "#pragma unroll 1", "sum += lap_vector_sum"),
        ("cuda-unrolled", "reduce_1j_unrolled.cu", None, "for (; i + 3 * walk.threads", "sum += (lap_vector_sum(a)"),
        ("cuda-fast", "reduce_2_fast.cu", None, "V v[LOADS];", "sum += (double)((sum_of"),
    ],
    "matvec": [
        ("cuda-simple", "matvec_1_simple.cu", WHOLE, "const float *a = p.a", "p.y[row] = sum"),
        ("cuda-strided", "matvec_1b_strided.cu", None, "const unsigned rounded", "}"),
        ("cuda-tile-x", "matvec_1c_tile_x.cu", None, "if (t < n)", "sum += p.a[row"),
        ("cuda-tile-ax", "matvec_1d_tile_ax.cu", SQUARE, "if (t < n) {", "sum += a_tile"),
        ("cuda-tile-pad", "matvec_1e_tile_pad.cu", None, "extern", "}"),
        ("cuda-unrolled", "matvec_1f_unrolled.cu", None, "float v[FLIGHT];", "sum += v[k]"),
        ("cuda-fast", "matvec_2_fast.cu", None, "float4 v[ROWS];", "add_products("),
    ],
    "histogram": [
        ("cuda-shared", "histogram_1_shared.cu", None, "const uint8_t *row = in", "atomicAdd("),
        ("cuda-fast", "histogram_2_fast.cu", None, "const unsigned at =", "1u);"),
    ],
}

PITCH = (TILE, "__shared__ T tile", "= *lap_in<T>")
COLUMN = (TILE, "x = (int)(blockIdx.y * TILE", "= tile[threadIdx.x]")
MORE = {("transpose", "cuda-padded16"): PITCH, ("transpose", "cuda-shared32"): PITCH,
        ("transpose", "cuda-padded"): COLUMN, ("matvec", "cuda-tile-pad"): (SQUARE, "for (unsigned j", "sum += a_tile")}


def code(name, first, last):
    """Lines of a source file as a block of code, from the one with the first text to the next with the second."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if first in line), None)
    end = next((i for i in range(start, len(lines)) if last in lines[i]), None) if start is not None else None
    if end is None:
        sys.exit(f"figures: {name} has no lines from '{first}' to '{last}'")
    part = lines[start:end + 1]
    indent = min((len(line) - len(line.lstrip()) for line in part if line.strip() and line[0] != "#"), default=0)
    language = "c" if name.endswith((".c", ".h")) else "cuda"
    return f"```{language}\n" + "\n".join(line if line[:1] == "#" else line[indent:] for line in part) + "\n```\n"


def since(name):
    """What a file's head says of the step before; of a first one, what it says of itself."""
    head = re.match(r"/\*(.*?)\*/", (ROOT / name).read_text(encoding="utf-8"), re.S).group(1)
    text = " ".join(line.strip().lstrip("*").strip() for line in head.splitlines())
    found = re.search(r"Since ([a-z0-9-]+): (.*?) (?:Global memory|Memory|Fixed):", text)
    before, what = found.groups()
    return f"Since `{before}`: {what}"


def steps(ladder):
    """Each rung of a ladder on the GPU: its file, what changed, its decisive lines."""
    text = ""
    for backend, file, place, first, last in STEPS[ladder]:
        name = f"cuda/{ladder}/{file}"
        text += f"**`{backend}`** ([file](../{name})). {since(name)}\n\n{code(place or name, first, last)}\n"
        if (ladder, backend) in MORE:
            more = MORE[ladder, backend]
            text += f"What the constants are for, in [{pathlib.Path(more[0]).name}](../{more[0]}):\n\n{code(*more)}\n"
    return text
