"""Runs the lab sheet's filter with torch or CuPy, for tools/measure/gpu-peers.

    gpu_peers.py torch|cupy RUNS COPY_US IN.raw OUT.raw

IN and OUT: 4992 x 3744 x 3 bytes, OUT as c makes it. Prints a line for each way of doing it."""
import statistics
import sys

import numpy

WIDTH, HEIGHT, CHANNELS, SETS, WARM_UPS = 4992, 3744, 3, 4, 3


def show(name, times, copy_us, right):
    median = statistics.median(times)
    print(f"{name:<34} {median:10.1f} {min(times):10.1f} {median / copy_us:8.2f}  {'equal' if right else 'DIFFERENT'}")


def with_torch(runs, copy_us, image, reference):
    import torch
    coefficients = torch.full((CHANNELS, 1, 5, 5), -1.0, device="cuda")
    coefficients[:, :, 2, 2] = 24.0
    pixels = [torch.from_numpy(image).cuda().permute(2, 0, 1).unsqueeze(0).contiguous() for _ in range(SETS)]
    floats = [p.float() for p in pixels]

    def filter_float(x):
        return torch.nn.functional.conv2d(x, coefficients, padding=2, groups=CHANNELS)

    def filter_bytes(x):
        return filter_float(x.float()).clamp_(0, 255).to(torch.uint8)

    def timed(function, inputs):
        times = []
        for turn in range(WARM_UPS + runs):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            function(inputs[turn % SETS])
            stop.record()
            torch.cuda.synchronize()
            if turn >= WARM_UPS:
                times.append(1000 * start.elapsed_time(stop))
        return times

    right = numpy.array_equal(filter_bytes(pixels[0])[0].permute(1, 2, 0).cpu().numpy(), reference)
    show("torch conv2d, float in and out", timed(filter_float, floats), copy_us, right)
    show("torch conv2d, bytes in and out", timed(filter_bytes, pixels), copy_us, right)


def with_cupy(runs, copy_us, image, reference):
    import cupy
    from cupyx.scipy import ndimage
    weights = cupy.full((5, 5, 1), -1, dtype=cupy.float32)
    weights[2, 2, 0] = 24
    pixels = [cupy.asarray(image) for _ in range(SETS)]

    def filter_float(x):
        return ndimage.convolve(x, weights, output=cupy.float32, mode="constant")

    def filter_bytes(x):
        return cupy.clip(filter_float(x), 0, 255).astype(cupy.uint8)

    def timed(function):
        times = []
        for turn in range(WARM_UPS + runs):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            function(pixels[turn % SETS])
            stop.record()
            stop.synchronize()
            if turn >= WARM_UPS:
                times.append(1000 * cupy.cuda.get_elapsed_time(start, stop))
        return times

    right = numpy.array_equal(cupy.asnumpy(filter_bytes(pixels[0])), reference)
    show("CuPy convolve, bytes in, float out", timed(filter_float), copy_us, right)
    show("CuPy convolve, bytes in and out", timed(filter_bytes), copy_us, right)


def main():
    library, runs, copy_us, source, result = sys.argv[1:]
    image, reference = (numpy.fromfile(f, dtype=numpy.uint8).reshape(HEIGHT, WIDTH, CHANNELS) for f in (source, result))
    {"torch": with_torch, "cupy": with_cupy}[library](int(runs), float(copy_us), image, reference)


main()
