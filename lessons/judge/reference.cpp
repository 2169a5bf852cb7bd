/* Makes images, and computes the expected results with the program's backend c. */
#include <cstdio>
#include <cstdlib>

#include "judge.h"

extern "C" {
#include "cpu_simd/host_rungs.h"
}

namespace judge
{

image picture(int width, int height, int channels, unsigned seed)
{
    constexpr size_t LINE = 128;
    image p = {width, height, channels, 0, 0, {}};
    p.pitch = ((size_t)(width + 2 * LAP_APRON) * (size_t)channels + 2 * LINE - 1) / LINE * LINE;
    p.origin = LAP_APRON * p.pitch + LINE;
    p.bytes = noise((size_t)(height + 2 * LAP_APRON) * p.pitch + LINE, seed);
    return p;
}

image picture_without_gaps(int width, int height, int channels, unsigned seed)
{
    image p = {width, height, channels, 0, 0, {}};
    p.pitch = (size_t)(width + 2 * LAP_APRON) * (size_t)channels;
    p.origin = LAP_APRON * (p.pitch + (size_t)channels);
    p.bytes = noise((size_t)(height + 2 * LAP_APRON) * p.pitch, seed);
    return p;
}

std::vector<unsigned char> laplace(const image &p)
{
    std::vector<unsigned char> result((size_t)p.width * (size_t)p.height * (size_t)p.channels),
        copy = p.bytes;
    const lap_view in = {
        copy.data() + p.origin, (ptrdiff_t)p.pitch, p.width, p.height, p.channels, LAP_APRON, LAP_ON_HOST};
    const lap_view out = {
        result.data(), (ptrdiff_t)p.width * p.channels, p.width, p.height, p.channels, 0, LAP_ON_HOST};
    lap_params params = lap_params_default();
    lap_exec exec = {};
    exec.threads = 1;
    if (lap_filter_c(&in, &out, &params, &exec) != LAP_OK) {
        fprintf(stderr, "the backend c is out of memory\n");
        give_up(2);
    }
    return result;
}

} // namespace judge
