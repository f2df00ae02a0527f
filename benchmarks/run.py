"""Runs the benchmark as ``heedful bench`` does; every option of that command works here."""

import sys

from heedful.cli.main import main

main(["bench", *sys.argv[1:]])
