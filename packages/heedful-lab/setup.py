"""Gives the package the version of heedful, in whose checkout it lies; a source distribution knows its own."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
OWN, HEEDFUL = HERE / "PKG-INFO", HERE.parents[1] / "src" / "heedful" / "version.py"
source, line = (OWN, r"^Version: (\S+)") if OWN.exists() else (HEEDFUL, r'^__version__ = "(\S+)"')
setup(version=re.findall(line, source.read_text(encoding="utf-8"), re.MULTILINE)[0])
