"""``python -m heedful_runtime``."""

from heedful_runtime.entry import main

main()
