/* cuda-fast: each thread transposes a small block in registers, so that every access is wide.
 * Since cuda-padded-rows: a thread's elements are a block of 4x4 floats or 2x2 doubles, so that an access
 * has 16 bytes, or a block of 4x4 pixels, which are read by words and written 16 bytes at a time.
 * Global memory: each element read and written once, in pieces of 16 bytes (pixels are read by words);
 * rows of a tile are 128 to 256 bytes, whole sectors both ways.
 * Shared memory: 16 KB, the rows of the result one after the other. Within a row, a 16-byte piece is stored
 * at its number XOR the column of the small block. Eight lanes that store down a column hit eight different
 * groups of four banks, as do eight lanes that read along a row.
 * 256 threads, 16 elements per thread (64 of 1 byte, 4 of 8 bytes).
 * Measured: floats: L2 84 % busy, longest wait: loads, 26.1 cycles per instruction; doubles: L2 85,
 * loads 36.2; pixels: L2 84, loads 9.2 (4992x3744, H200). */
#include "transpose.cuh"

constexpr int THREADS = 256, PIECE = 16; /* bytes of a store, and of a load for floats */

/* Returns the first column and row of a block's tile. Blocks start in the order of their numbers, which run
 * down the columns of tiles. So blocks that run at the same time write adjacent parts of the result's rows.
 * On an H200 this saves 4 % of the time, and streaming stores save 3 % (4992x3744 floats, 2026-11-22). */
LAP_DEVICE int2 first_of_tile(int tile)
{
    const unsigned number = blockIdx.y * gridDim.x + blockIdx.x;
    return make_int2((int)(number / gridDim.y) * tile, (int)(number % gridDim.y) * tile);
}

/* Stores the first `valid` bytes of a piece; a whole piece with one store. */
LAP_DEVICE void store_piece(uint8_t *to, const uint4 &v, int valid)
{
    if (valid >= PIECE) {
        __stcs(reinterpret_cast<uint4 *>(to), v);
        return;
    }
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < PIECE; i++)
        if (i < valid)
            to[i] = (uint8_t)(word[i / 4] >> (i % 4 * 8));
}

/* ---- 4 and 8 bytes: blocks of N x N elements, one piece wide ---------------------------------------- */

LAP_DEVICE void turn_block(uint4 (&v)[4])
{
    const uint4 a = v[0], b = v[1], c = v[2], d = v[3];
    v[0] = make_uint4(a.x, b.x, c.x, d.x);
    v[1] = make_uint4(a.y, b.y, c.y, d.y);
    v[2] = make_uint4(a.z, b.z, c.z, d.z);
    v[3] = make_uint4(a.w, b.w, c.w, d.w);
}

LAP_DEVICE void turn_block(uint4 (&v)[2])
{
    const uint4 a = v[0], b = v[1];
    v[0] = make_uint4(a.x, a.y, b.x, b.y);
    v[1] = make_uint4(a.z, a.w, b.z, b.w);
}

/* A tile is 16 x 16 blocks: 64 x 64 floats or 32 x 32 doubles. */
template <int SIZE>
static __global__ void __launch_bounds__(THREADS)
    wide_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, lap_transpose_geometry g)
{
    constexpr int N = PIECE / SIZE, BLOCKS = 16, TILE = N * BLOCKS;
    static_assert(BLOCKS * BLOCKS == THREADS, "one thread per block");
    __shared__ uint4 tile[TILE * BLOCKS];
    const int bx = (int)threadIdx.x % BLOCKS, by = (int)threadIdx.x / BLOCKS;
    const int2 corner = first_of_tile(TILE);
    const int x0 = corner.x, y0 = corner.y;
    uint4 v[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int x = x0 + bx * N, y = y0 + by * N + i;
        v[i] = make_uint4(0, 0, 0, 0);
        /* A piece that begins inside the row ends inside the stride, since both are multiples of 16. */
        if (x < g.width && y < g.height)
            v[i] = __ldcs(reinterpret_cast<const uint4 *>(in + y * g.in_stride) + x / N);
    }
    turn_block(v);
#pragma unroll
    for (int i = 0; i < N; i++)
        tile[(bx * N + i) * BLOCKS + (by ^ bx)] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int row = i * BLOCKS + by, x = x0 + row, y = y0 + bx * N;
        if (x < g.width && y < g.height)
            store_piece(out + x * g.out_stride + (ptrdiff_t)y * SIZE, tile[row * BLOCKS + (bx ^ row / N)],
                (g.height - y) * SIZE);
    }
}

/* ---- 1 and 3 bytes: blocks of 4 x 4 elements, a row in 1 or 3 words ---------------------------------- */

/* Transposes rows r of four bytes. Bytes are named by row and column, the lowest byte first:
 *     r0  00 01 02 03        a  00 10 01 11        r0  00 10 20 30
 *     r1  10 11 12 13   ->   b  20 30 21 31   ->   r1  01 11 21 31
 *     r2  20 21 22 23        c  02 12 03 13        r2  02 12 22 32
 *     r3  30 31 32 33        d  22 32 23 33        r3  03 13 23 33
 * A digit of a selector names a byte: 0 to 3 of the first word, 4 to 7 of the second; the last digit is the
 * lowest byte. 0x5140: first.0, second.0, first.1, second.1. */
LAP_DEVICE void turn_block(unsigned (&r)[4][1])
{
    const unsigned a = __byte_perm(r[0][0], r[1][0], 0x5140), b = __byte_perm(r[2][0], r[3][0], 0x5140);
    const unsigned c = __byte_perm(r[0][0], r[1][0], 0x7362), d = __byte_perm(r[2][0], r[3][0], 0x7362);
    r[0][0] = __byte_perm(a, b, 0x5410);
    r[1][0] = __byte_perm(a, b, 0x7632);
    r[2][0] = __byte_perm(c, d, 0x5410);
    r[3][0] = __byte_perm(c, d, 0x7632);
}

/* Transposes rows r of four pixels: unpacks each pixel to a word, then packs four pixels into three words. */
LAP_DEVICE void turn_block(unsigned (&r)[4][3])
{
    unsigned p[4][4]; /* pixel x of row y; the highest byte is not part of it */
#pragma unroll
    for (int y = 0; y < 4; y++) {
        p[y][0] = r[y][0];
        p[y][1] = __byte_perm(r[y][0], r[y][1], 0x6543);
        p[y][2] = __byte_perm(r[y][1], r[y][2], 0x5432);
        p[y][3] = r[y][2] >> 8;
    }
#pragma unroll
    for (int x = 0; x < 4; x++) {
        r[x][0] = __byte_perm(p[0][x], p[1][x], 0x4210);
        r[x][1] = __byte_perm(p[1][x], p[2][x], 0x5421);
        r[x][2] = __byte_perm(p[2][x], p[3][x], 0x6542);
    }
}

/* A tile is 32 x 32 blocks of bytes or 16 x 16 blocks of pixels, 128 or 192 bytes wide. The lanes of a warp
 * transpose 8 x 4 blocks; the four rows of blocks go to different words of a piece. */
template <int SIZE>
static __global__ void __launch_bounds__(THREADS)
    bytes_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, lap_transpose_geometry g)
{
    constexpr int N = 4, BLOCKS = SIZE == 1 ? 32 : 16, TILE = N * BLOCKS, ROUNDS = BLOCKS * BLOCKS / THREADS;
    constexpr int SLOTS = SIZE == 1 ? 8 : 16; /* pieces in a row of the staging buffer */
    static_assert(TILE * SIZE <= SLOTS * PIECE, "a row of the result must fit its slots");
    __shared__ uint4 tile[TILE * SLOTS];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int2 corner = first_of_tile(TILE);
    const int x0 = corner.x, y0 = corner.y;
    unsigned r[ROUNDS][N][SIZE];
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        /* Blocks are assigned along x first: 2 warps (3 bytes), or 4 rounds of a warp (1 byte), cover a row.
         */
        const int bx = lane % 8 + 8 * (SIZE == 1 ? round : warp % 2);
        const int by = lane / 8 + 4 * (SIZE == 1 ? warp : warp / 2);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int y = y0 + by * N + i;
            const uint8_t *row = in + y * g.in_stride;
            const ptrdiff_t first = (ptrdiff_t)(x0 + bx * N) * SIZE, end = (ptrdiff_t)g.width * SIZE;
#pragma unroll
            for (int k = 0; k < SIZE; k++)
                r[round][i][k] = y < g.height && first + 4 * k < end
                                     ? *reinterpret_cast<const unsigned *>(row + first + 4 * k)
                                     : 0;
        }
    }
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        const int bx = lane % 8 + 8 * (SIZE == 1 ? round : warp % 2);
        const int by = lane / 8 + 4 * (SIZE == 1 ? warp : warp / 2);
        unsigned *words = reinterpret_cast<unsigned *>(tile);
        turn_block(r[round]);
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int k = 0; k < SIZE; k++) {
                const int word = by * SIZE + k, piece = word / 4 ^ bx % 8;
                words[((bx * N + i) * SLOTS + piece) * 4 + word % 4] = r[round][i][k];
            }
    }
    __syncthreads();
    for (int t = (int)threadIdx.x; t < TILE * SLOTS; t += THREADS) {
        const int row = t / SLOTS, piece = t % SLOTS, x = x0 + row;
        const ptrdiff_t at = (ptrdiff_t)y0 * SIZE + piece * PIECE, end = (ptrdiff_t)g.height * SIZE;
        if (x < g.width && piece * PIECE < TILE * SIZE && at < end)
            store_piece(out + x * g.out_stride + at, tile[row * SLOTS + (piece ^ row / N % 8)],
                end - at < PIECE ? (int)(end - at) : PIECE);
    }
}

extern "C" lap_code lap_transpose_cuda_fast(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {bytes_kernel<1>, bytes_kernel<3>, wide_kernel<4>, wide_kernel<8>};
    const int tile = in->channels == 1 ? 128 : in->channels == 8 ? 32 : 64;
    return lap_transpose_launch(
        "cuda-fast", lap_transpose_pick(kernels, in->channels), tile, dim3(THREADS), in, out, exec);
}
