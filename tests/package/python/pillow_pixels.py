"""pillow_pixels.py OUT FILE...: what Pillow makes of each file, pickled: its mode, and the bytes of
convert("RGB") and convert("L"), as stored and upright; None for a file that it does not read, or complains of. With the
version of its libjpeg-turbo. Needs nothing but Pillow, so that it runs in any interpreter that has one."""
import pickle
import sys
import warnings

import PIL
from PIL import Image, ImageFile, ImageOps, features

warnings.simplefilter("error")
ImageFile.LOAD_TRUNCATED_IMAGES = False


def pixels_of(path):
    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image) or image
            return {"mode": image.mode, "size": image.size, "upright size": upright.size,
                    **{(channels, turned): picture.convert(mode).tobytes() for channels, mode in ((3, "RGB"), (1, "L"))
                       for turned, picture in ((False, image), (True, upright))}}
    except Exception:
        return None


if __name__ == "__main__":
    found = {path: pixels_of(path) for path in sys.argv[2:]}
    libjpeg = features.version_feature("libjpeg_turbo") or "?"
    with open(sys.argv[1], "wb") as out:
        pickle.dump({"libjpeg": libjpeg, "pillow": PIL.__version__, "files": found}, out)
