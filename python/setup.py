"""Builds the module for pip install: with the library of the checkout around this folder, or the installed one."""
import os
import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent))
from build_interface import CHECKOUT, is_checkout, version  # noqa: E402

options = {"bdist_wheel": {"py_limited_api": "cp39"}}
if is_checkout(): # build output goes to make's build folder
    place = CHECKOUT / os.environ.get("LAPEDGE_BUILD", "build") / os.environ.get("LAPEDGE_PYTHON_BUILD", "python-build")
    place.mkdir(parents=True, exist_ok=True)
    options.update(build={"build_base": str(place)}, egg_info={"egg_base": str(place)})
setup(version=version(), cffi_modules=["build_interface.py:ffi"], options=options)
