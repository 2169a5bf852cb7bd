#!/usr/bin/python3
"""Restart markers change no pixel, whoever reads the file: each decoder at hand reads what
--restart=on, auto and off wrote, and must see the same picture. Run in the root of the tree after
`make`; TAP on stdout."""

import base64
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ.get("LAPEDGE", "lapedge"))
# More than one band of 128 rows each; the widths fill no MCU.
PICTURES = [
    ("samples/chelsea.jpg", ["--subsampling=420"]),
    ("samples/coffee.jpg", ["--subsampling=422"]),
    ("samples/astronaut.jpg", ["--subsampling=444"]),
    ("samples/chelsea.jpg", ["--gray"]),
]
SMALLEST = 451 * 300  # bytes of the smallest picture
LIMIT_S = 120


def output_of(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=True)
    return done.stdout, done.stderr


def picture_of(*command):
    """What a program writes to stdout; a warning is a failure."""
    pixels, said = output_of(*command)
    if said.strip():
        raise ValueError(said.decode(errors="replace").strip())
    return pixels


def pillow(path):
    from PIL import Image

    with Image.open(path) as image:
        return image.mode.encode() + image.tobytes()


def opencv(path):
    import cv2

    return cv2.imread(path, cv2.IMREAD_UNCHANGED).tobytes()


# Name, what must be there (a program, or a module of Python), and how a file becomes bytes.
DECODERS = [
    ("djpeg (libjpeg-turbo)", "djpeg", lambda p: picture_of("djpeg", "-pnm", p)),
    ("Pillow", "PIL", pillow),
    ("OpenCV", "cv2", opencv),
    ("FFmpeg", "ffmpeg", lambda p: picture_of("ffmpeg", "-v", "warning", "-i", p, "-f", "rawvideo", "-")),
    ("ImageMagick", "convert", lambda p: picture_of("convert", p, "pnm:-")),
    ("GraphicsMagick", "gm", lambda p: picture_of("gm", "convert", p, "pnm:-")),
    ("libvips", "vips", lambda p: picture_of("vips", "rawsave", p, "/dev/stdout")),
]

PAGE = """<!doctype html><meta charset="utf-8"><body>IMAGES<script>
function pixels(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height).data;
}
onload = () => {
  let equal = 0;
  const images = document.images;
  for (let i = 0; i < images.length; i += 2) {
    const p = pixels(images[i]), q = pixels(images[i + 1]);
    const shows = p.some((value, at) => at % 4 < 3 && value);
    equal += shows && p.length === q.length && p.every((value, at) => value === q[at]);
  }
  document.body.textContent = "pairs:" + images.length / 2 + " equal:" + equal;
};
</script></body>"""


def chromium(pairs, folder):
    """All pairs in one page, which counts those whose canvases show the same."""
    page = os.path.join(folder, "page.html")
    with open(page, "w", encoding="utf-8") as file:
        images = ""
        for path in [path for _, f in pairs for how in ("on", "auto") for path in (f[how], f["off"])]:
            with open(path, "rb") as picture:
                images += f'<img src="data:image/jpeg;base64,{base64.b64encode(picture.read()).decode()}">\n'
        file.write(PAGE.replace("IMAGES", images))
    shown, said = output_of("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        f"--user-data-dir={folder}/profile", "--dump-dom", "file://" + page)
    answer = re.search(r">pairs:(\d+) equal:(\d+)<", shown.decode())
    if not answer:
        return None, said.decode(errors="replace").strip().splitlines()[-1:]
    return answer[1] == answer[2] == str(2 * len(pairs)), answer[0]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def say(self, good, name, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good and why:
            print(f"# {why}")

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)


def write_pairs(folder):
    pairs = []
    for number, (photo, options) in enumerate(PICTURES):
        files = {how: os.path.join(folder, f"{number}-{how}.jpg") for how in ("on", "auto", "off")}
        for how, path in files.items():
            output_of(PROGRAM, "--no-sync", f"--restart={how}", *options, photo, path)
        pairs.append((photo + " " + " ".join(options), files))
    return pairs


def has_markers(path):
    """A DRI segment, and RST0 in the data."""
    with open(path, "rb") as file:
        data = file.read()
    return b"\xff\xdd\x00\x04" in data and b"\xff\xd0" in data


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        pairs = write_pairs(folder)
        tap.say(all(has_markers(f["on"]) and has_markers(f["auto"]) and not has_markers(f["off"]) for _, f in pairs),
            "--restart writes markers, or none")
        for name, needs, decode in DECODERS:
            title = f"{name} sees the same with and without restart markers"
            there = importlib.util.find_spec(needs) if needs in ("PIL", "cv2") else shutil.which(needs)
            if not there:
                tap.skip(title, f"{needs} is not installed")
                continue
            try:
                wrong = []
                for what, files in pairs:
                    on, auto, off = (decode(files[how]) for how in ("on", "auto", "off"))
                    if not on == auto == off or len(off) < SMALLEST:
                        wrong.append(what)
                tap.say(not wrong, title, ", ".join(wrong))
            except (subprocess.SubprocessError, ValueError, OSError) as error:
                tap.say(False, title, error)
        title = "Chromium sees the same with and without restart markers"
        if not shutil.which("chromium"):
            tap.skip(title, "chromium is not installed")
        else:
            same, said = chromium(pairs, folder)
            if same is None:
                tap.skip(title, f"chromium does not start here: {said}")
            else:
                tap.say(same, title, said)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


sys.exit(main())
