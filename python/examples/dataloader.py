#!/usr/bin/env python3
"""dataloader.py FOLDER [fork|spawn [WORKERS]]: decodes the photos of FOLDER in worker processes, as a training run
reads them, and prints how many there were and the mean of each channel over all of them.

Uses torch's DataLoader if torch is installed, else a pool of multiprocessing. Each worker decodes on one thread, since
the workers run in parallel. A photo that cannot be decoded is reported and skipped."""
import sys
from pathlib import Path

import numpy

import lapedge


class Photos:
    """A map-style data set: (channels, height, width) of uint8 for each photo, or an error message."""

    def __init__(self, folder):
        self.paths = sorted(str(path) for path in Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, number):
        try:
            return lapedge.decode(self.paths[number], channels=3, upright=True, layout="CHW", threads=1)
        except lapedge.Error as problem:
            return str(problem)


def batches(photos, method, workers):
    """Lists of four items, in order. Photos have different sizes, so they are not stacked into one array."""
    try:
        from torch.utils.data import DataLoader
    except ImportError:
        import multiprocessing

        with multiprocessing.get_context(method).Pool(workers) as pool:
            items = pool.imap(photos.__getitem__, range(len(photos)))
            yield from ([item] for item in items)
        return
    yield from DataLoader(photos, batch_size=4, num_workers=workers, multiprocessing_context=method, collate_fn=list)


def main(folder, method="fork", workers="2"):
    sums, pixels, count = numpy.zeros(3), 0, 0
    for batch in batches(Photos(folder), method, int(workers)):
        for item in batch:
            if isinstance(item, str):
                print(item, file=sys.stderr)
                continue
            sums += item.reshape(3, -1).sum(axis=1, dtype=numpy.float64)
            pixels += item[0].size
            count += 1
    print(count, "photos, mean", " ".join(f"{value:.3f}" for value in sums / max(pixels, 1)))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
