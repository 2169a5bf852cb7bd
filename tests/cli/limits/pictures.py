#!/usr/bin/env python3
"""The pictures of a report, computed a second time from the pixels: which details are chosen, where they lie, each of
their pixels, and the sizes of what is scaled. Prints TAP."""

import base64
import json
import random
import re
from operator import sub
from pathlib import Path

from made import WRONG, Skip, lapedge, pnm, read_pnm, run_all

CROP, DETAILS, OVERVIEW, WIDEST = 192, 3, 640, 1600


class Picture:
    """Smooth, with a spread of random values that are added in some places."""

    def __init__(self, name, width, height, channels, noises=(), seed=1):
        rng = random.Random(seed)
        self.name, self.width, self.height, self.channels = name, width, height, channels
        self.rows = [bytearray((i // channels + 2 * y + 40 * (i % channels)) // 9 % 120
                               for i in range(width * channels)) for y in range(height)]
        for left, top, across, down, most in noises:
            for y in range(top, top + down):
                for i in range(left * channels, (left + across) * channels):
                    self.rows[y][i] += rng.randrange(most + 1)
        pnm(name, width, height, channels, b"".join(self.rows))

    def inside(self, box):
        """The rows of a box."""
        left, right = box["x"] * self.channels, (box["x"] + box["width"]) * self.channels
        return [bytes(row[left:right]) for row in self.rows[box["y"]:box["y"] + box["height"]]]


def report_of(*words, **more):
    lapedge(*words, "--report=page.html", "-q", **more)
    text = Path("page.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def pictures_of(*words, **more):
    return report_of(*words, **more)["pictures"]


def decoded(uri, kind="png"):
    """(width, height, bytes), with three channels."""
    head, text = uri.split(",")
    if kind == "png" and head == "data:image/jpeg;base64":
        raise Skip("this build writes no PNG")
    assert head == f"data:image/{kind};base64", head
    Path("uri").write_bytes(base64.b64decode(text, validate=True))
    lapedge("--kernel=identity", "--no-sync", "-f", "uri", "uri.ppm")
    width, height, _, pixels = read_pnm("uri.ppm")
    return width, height, pixels


def boxes(width, height):
    """A grid; the last box of a row or column ends with the picture."""
    across, down = min(width, CROP), min(height, CROP)
    return [{"x": min(left, width - across), "y": min(top, height - down), "width": across, "height": down}
            for top in range(0, height, down) for left in range(0, width, across)]


def heaviest(width, height, weigh):
    """The boxes with the largest weights, in falling order; of equal ones the first."""
    weighed = [(-weigh(box), number, box) for number, box in enumerate(boxes(width, height))]
    return [box for weight, _, box in sorted(weighed, key=lambda one: one[:2])[:DETAILS] if weight < 0]


def differences_in(a, b, box):
    """The rows of |a - b|, sample by sample."""
    return [list(map(abs, map(sub, one, other))) for one, other in zip(a.inside(box), b.inside(box), strict=True)]


def place_of(entry):
    return {key: entry[key] for key in ("x", "y", "width", "height")}


def check_pair(a, b):
    """What the report of a diff shows of two pictures of one size."""
    found = pictures_of("diff", a.name, b.name, code=1)
    width, height, channels = a.width, a.height, a.channels
    whole = {"x": 0, "y": 0, "width": width, "height": height}
    samples = [value for row in differences_in(a, b, whole) for value in row]
    pixels = [max(samples[i:i + channels]) for i in range(0, len(samples), channels)]
    (entry,) = found["differences"]
    assert (found["width"], found["height"], found["channels"]) == (width, height, channels), found
    assert found["scaled"] == (scaled(a)[0] < width) and entry["backend"] == "B"
    assert entry["max_abs"] == max(pixels) and entry["differing_pixels"] == sum(map(bool, pixels))
    expected = heaviest(width, height, lambda box: sum(map(sum, differences_in(a, b, box))))
    assert [place_of(crop) for crop in entry["crops"]] == expected, (entry["crops"], expected)
    assert [place_of(crop) for crop in found["crops"]] == expected
    for crop in entry["crops"]:
        rows = differences_in(a, b, crop)
        gray = bytes(max(row[i:i + channels]) for row in rows for i in range(0, len(row), channels))
        assert decoded(crop["difference"])[:2] == (crop["width"], crop["height"])
        assert decoded(crop["difference"])[2][::3] == gray, crop["x"]
        at = gray.index(max(gray))
        assert crop["peak"] == {"x": crop["x"] + at % crop["width"], "y": crop["y"] + at // crop["width"],
                                "value": max(gray)}, crop["peak"]
    for crop in found["crops"]:
        for picture, key in ((a, "photo"), (b, "edges")):
            shown = decoded(crop[key])
            assert shown[:2] == (crop["width"], crop["height"])
            step = 1 if channels == 3 else 3
            assert shown[2][::step] == b"".join(picture.inside(crop)), (key, crop["x"])
    wide = min(width, OVERVIEW)
    tall = max(1, height * wide // width)
    shown = decoded(entry["overview"])
    assert shown[:2] == (wide, tall), shown[:2]
    for y in range(0, tall, 7): # each pixel the largest of its source pixels
        for x in range(0, wide, 11):
            source = [pixels[row * width + column] for row in range(y * height // tall, (y + 1) * height // tall)
                      for column in range(x * width // wide, (x + 1) * width // wide)]
            assert shown[2][3 * (y * wide + x)] == max(source), (x, y)
    for picture, key in ((a, "photo"), (b, "edges")):
        check_scaled(picture, found[key])


def scaled(picture):
    """The size at which the whole picture is shown: at most WIDEST across, and twice that down."""
    wide = min(picture.width, WIDEST)
    if picture.height * wide // picture.width > 2 * WIDEST:
        wide = max(1, 2 * WIDEST * picture.width // picture.height)
    return wide, min(max(1, picture.height * wide // picture.width), 2 * WIDEST)


def check_scaled(picture, uri):
    """A JPEG of the whole picture, each pixel near the mean of its source pixels."""
    wide, tall = scaled(picture)
    shown = decoded(uri, "jpeg")
    assert shown[:2] == (wide, tall), shown[:2]
    off = []
    for y in range(0, tall, 5):
        for x in range(0, wide, 7):
            source = [row[column * picture.channels]
                      for row in picture.rows[y * picture.height // tall:(y + 1) * picture.height // tall]
                      for column in range(x * picture.width // wide, (x + 1) * picture.width // wide)]
            off.append(abs(shown[2][(y * wide + x) * 3] - sum(source) / len(source)))
    assert sum(off) / len(off) < 6, sum(off) / len(off)


def details_of_a_difference():
    """A report shows the details that differ most, and every pixel of them"""
    check_pair(Picture("a.ppm", 401, 210, 3),
               Picture("b.ppm", 401, 210, 3, [(250, 5, 30, 9, 9), (0, 100, 60, 110, 30), (399, 208, 2, 2, 60)]))


def details_in_gray():
    """The same of gray pictures, with two details that overlap, and one place alone"""
    check_pair(Picture("a.pgm", 300, 420, 1),
               Picture("b.pgm", 300, 420, 1, [(120, 225, 70, 6, 20), (5, 415, 9, 5, 99)]))
    check_pair(Picture("c.pgm", 90, 50, 1), Picture("d.pgm", 90, 50, 1, [(89, 49, 1, 1, 100)], seed=3))
    # Of details side by side, the second has most, and its strongest pixels are next to the first.
    noises = [(20, 5, 100, 20, 40), (192, 3, 150, 30, 110), (384, 8, 8, 20, 30)]
    check_pair(Picture("e.pgm", 600, 40, 1), Picture("f.pgm", 600, 40, 1, noises))
    check_pair(Picture("g.pgm", 40, 600, 1),
               Picture("h.pgm", 40, 600, 1, [(y, x, down, across, most) for x, y, across, down, most in noises]))


def wide_and_tall():
    """Pictures that no screen holds are scaled, and keep their shape"""
    check_pair(Picture("a.pgm", 1930, 33, 1), Picture("b.pgm", 1930, 33, 1, [(1000, 9, 800, 20, 40)]))
    check_pair(Picture("c.pgm", 20, 3900, 1), Picture("d.pgm", 20, 3900, 1, [(3, 1100, 9, 500, 50)]))
    check_pair(Picture("e.pgm", 3300, 1, 1), Picture("f.pgm", 3300, 1, 1, [(1000, 0, 800, 1, 40)]))
    check_pair(Picture("g.pgm", 1, 4100, 1), Picture("h.pgm", 1, 4100, 1, [(0, 1100, 1, 500, 50)]))


def equal_pictures():
    """Two equal pictures have no difference to show, and the details of what is in them"""
    a, b = (Picture(name, 200, 60, 1, [(150, 5, 40, 40, 90)]) for name in ("a.pgm", "b.pgm"))
    found = pictures_of("diff", a.name, b.name)
    (entry,) = found["differences"]
    assert entry == {"backend": "B", "max_abs": 0, "differing_pixels": 0, "overview": None, "crops": []}
    expected = heaviest(b.width, b.height, lambda box: sum(map(sum, b.inside(box))))
    assert [place_of(crop) for crop in found["crops"]] == expected
    for crop in found["crops"]:
        assert decoded(crop["photo"])[2][::3] == decoded(crop["edges"])[2][::3] == b"".join(b.inside(crop))


def check_statistics(report, path):
    """As stats has them, without its warnings and the filter."""
    expected, found = json.loads(lapedge("stats", "--json", "-b", "c", path)[0]), report["statistics"]
    elsewhere = ("warnings", "warning", "kernel", "border", "range", "coefficients", "scale", "offset", "invert")
    assert found == {key: expected[key] for key in expected if key not in elsewhere}


def report_of_a_run():
    """A report of one photo shows the details with the strongest edges, and its statistics"""
    photo = Picture("in.ppm", 300, 90, 3, [(210, 50, 60, 20, 99)])
    report = report_of("in.ppm", "o.ppm", "-b", "c", "--no-sync")
    found, edges = report["pictures"], read_pnm("o.ppm")[3]
    rows = [edges[900 * y:900 * y + 900] for y in range(90)]

    def inside(box):
        return [row[3 * box["x"]:3 * (box["x"] + box["width"])] for row in rows]

    assert (found["width"], found["height"], found["channels"], found["scaled"]) == (300, 90, 3, False)
    assert found["differences"] == []
    assert [place_of(crop) for crop in found["crops"]] == heaviest(300, 90, lambda box: sum(map(sum, inside(box))))
    for crop in found["crops"]:
        assert decoded(crop["photo"])[2] == b"".join(photo.inside(crop))
        assert decoded(crop["edges"])[2] == b"".join(inside(crop))
    check_scaled(photo, found["photo"])
    check_statistics(report, "in.ppm")


def backends_of_a_folder():
    """A report of backends shows the first photo in which one differs, and that photo's statistics"""
    if not WRONG.exists():
        return "the program with wrong backends was not built"
    Path("in").mkdir()
    for name, width, height in (("a", 90, 30), ("b", 400, 60), ("c", 220, 70), ("d", 80, 40)):
        Picture("new.ppm", width, height, 3, [(30, 9, 20, 20, 90)], seed=width)
        lapedge("--kernel=identity", "--no-sync", "new.ppm", f"in/{name}.jpg")
    lapedge("-b", "c", "--no-sync", "in", "edges", "--format=ppm")
    report = report_of("compare", "--runs=1", "--ops=all", "--backends=c,off-by-one,fails", "in", program=WRONG, code=2)
    found = report["pictures"]
    assert found["input"] == "in/b.jpg" and (found["width"], found["height"]) == (400, 60), found["input"]
    plain, wrong = found["differences"]
    assert plain == {"backend": "c", "max_abs": 0, "differing_pixels": 0, "overview": None, "crops": []}, plain
    assert (wrong["backend"], wrong["max_abs"], wrong["differing_pixels"]) == ("off-by-one", 1, 1), wrong
    (crop,) = wrong["crops"]
    assert [place_of(crop)] == [place_of(one) for one in found["crops"]] == boxes(400, 60)[:1]
    assert crop["peak"] == {"x": 101, "y": 37, "value": 1} and sum(decoded(crop["difference"])[2]) == 3
    edges = read_pnm("edges/b.ppm")[3]
    assert decoded(found["crops"][0]["edges"])[2] == b"".join(edges[1200 * y:1200 * y + 576] for y in range(60))
    check_statistics(report, "in/b.jpg")
    report = report_of("compare", "--runs=1", "--backends=c,no-border", "in/a.jpg", program=WRONG, code=1)
    assert [len(one["crops"]) for one in report["pictures"]["differences"]] == [0, 1]
    report = report_of("compare", "--runs=1", "--backends=c", "in", program=WRONG)
    assert report["pictures"]["input"] == "in/a.jpg" and len(report["pictures"]["differences"]) == 1
    check_statistics(report, "in/a.jpg")


if __name__ == "__main__":
    run_all([details_of_a_difference, details_in_gray, wide_and_tall, equal_pictures, report_of_a_run,
             backends_of_a_folder])
