#include <math.h>

#include "compare/heatmap.h"

const uint8_t lap_heat_zero[3] = {43, 43, 43}, lap_heat_ground[3] = {14, 14, 14};

typedef struct lab { /* OKLab */
    double l, a, b;
} lab;

static lab of_polar(double lightness, double chroma, double hue_degrees)
{
    const double hue = hue_degrees * M_PI / 180;
    return (lab){lightness, chroma * cos(hue), chroma * sin(hue)};
}

static uint8_t gamma_coded(double linear)
{
    double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (uint8_t)lrint(255 * fmin(1, fmax(0, v)));
}

/* Matrices of B. Ottosson, "A perceptual color space for image processing", 2020. */
static void to_srgb(lab c, uint8_t rgb[3])
{
    double l = pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    double m = pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    double s = pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    rgb[0] = gamma_coded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    rgb[1] = gamma_coded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    rgb[2] = gamma_coded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

/* A quadratic Bezier curve, because a straight line from blue to yellow would cross gray, the colour of zero.
 * The middle point was chosen so that the curve stays within sRGB and as colourful as possible. */
static lab along(double t)
{
    const lab from = of_polar(0.44, 0.20, 270), by = of_polar(0.55, 0.30, 10), to = of_polar(0.93, 0.18, 104);
    const double u = (1 - t) * (1 - t), v = 2 * t * (1 - t), w = t * t;
    return (lab){
        u * from.l + v * by.l + w * to.l, u * from.a + v * by.a + w * to.a, u * from.b + v * by.b + w * to.b};
}

static double apart(lab p, lab q)
{
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}

void lap_ramp_make(lap_ramp ramp)
{
    enum { PIECES = 4096 }; /* pieces of the curve; each is almost straight */
    double length = 0, gone = 0;
    for (int i = 0; i < PIECES; i++)
        length += apart(along((double)i / PIECES), along((i + 1.0) / PIECES));
    int step = 0;
    for (int i = 0; i < PIECES; i++) {
        for (; step < LAP_RAMP_STEPS && gone >= length * step / (LAP_RAMP_STEPS - 1); step++)
            to_srgb(along((double)i / PIECES), ramp[step]);
        gone += apart(along((double)i / PIECES), along((i + 1.0) / PIECES));
    }
    for (; step < LAP_RAMP_STEPS; step++) /* the last step, and steps lost to rounding */
        to_srgb(along(1), ramp[step]);
}

const uint8_t *lap_heat_color(const lap_ramp ramp, int level, int top)
{
    if (level <= 0)
        return lap_heat_zero;
    if (level >= top)
        return ramp[LAP_RAMP_STEPS - 1];
    return ramp[(level - 1) * (LAP_RAMP_STEPS - 1) / (top - 1)];
}
