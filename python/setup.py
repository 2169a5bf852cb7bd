"""Builds the module for pip install: with the library of the checkout around this folder, or the installed one
(build_interface.py says which)."""
import os
import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent))
from build_interface import CHECKOUT, is_checkout, is_installed, version  # noqa: E402

options = {"bdist_wheel": {"py_limited_api": "cp39"}}
if is_checkout(): # build output goes to make's build folder
    folder = os.environ.get("LAPEDGE_PYTHON_BUILD", "python-installed" if is_installed() else "python-build")
    place = CHECKOUT / os.environ.get("LAPEDGE_BUILD", "build") / folder
    place.mkdir(parents=True, exist_ok=True)
    options.update(build={"build_base": str(place)}, egg_info={"egg_base": str(place)})
setup(version=version(), cffi_modules=["build_interface.py:ffi"], options=options)
