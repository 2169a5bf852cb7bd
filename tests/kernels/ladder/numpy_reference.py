"""The filter of src/lapedge.h written once more, in NumPy, with the kernels that tests use."""
import numpy as np

# Modes of np.pad; constant:V pads with V.
BORDERS = {"zero": "constant", "replicate": "edge", "reflect": "symmetric", "reflect101": "reflect", "wrap": "wrap"}
KERNELS = {
    "laplace5": "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 24 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
    "laplace3-4": "0 0 0 0 0 0 0 -1 0 0 0 -1 4 -1 0 0 0 -1 0 0 0 0 0 0 0",
    "laplace3-8": "0 0 0 0 0 0 -1 -1 -1 0 0 -1 8 -1 0 0 -1 -1 -1 0 0 0 0 0 0",
    "log5": "0 0 -1 0 0 0 -1 -2 -1 0 -1 -2 16 -2 -1 0 -1 -2 -1 0 0 0 -1 0 0",
    "npp5": "-1 -3 -4 -3 -1 -3 0 6 0 -3 -4 6 20 6 -4 -3 0 6 0 -3 -1 -3 -4 -3 -1",
    "opencv5": "2 4 4 4 2 4 0 -8 0 4 4 -8 -24 -8 4 4 0 -8 0 4 2 4 4 4 2",
    "identity": "0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0",
    # Not symmetric: a flipped or turned kernel would show.
    "1,2,3,4,5,6,7,8,9,10,-11,-12,-13,14,15,16,-17,18,19,20,21,22,23,-24,-25": None,
}


def expected(pixels, kernel, border="zero", range_="clamp", scale=1, offset=0, invert=False, threshold=None):
    """pixels: height x width x channels, uint8; the formula of src/lapedge.h, the border as np.pad makes it."""
    text = KERNELS.get(kernel) or kernel.replace(",", " ")
    h = np.array(text.split(), dtype=np.int64).reshape(5, 5)
    name, _, value = border.partition(":")
    how = {"mode": "constant", "constant_values": int(value)} if value else {"mode": BORDERS[name]}
    p = np.pad(pixels.astype(np.int64), ((2, 2), (2, 2), (0, 0)), **how)
    height, width = pixels.shape[:2]
    o = sum(h[y, x] * p[y : y + height, x : x + width] for y in range(5) for x in range(5))
    r = np.float32(scale) * o.astype(np.float32) + np.float32(offset)
    out = np.clip(np.rint(np.abs(r) if range_ == "abs" else r), 0, 255).astype(np.uint8)
    out = 255 - out if invert else out
    return out if threshold is None else np.where(out >= threshold, 255, 0).astype(np.uint8)
