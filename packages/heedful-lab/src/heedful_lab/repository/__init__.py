"""What writes, checks and counts files of a checkout: pages of results and settings, typed settings, kernels of pages.

Each module is run by hand as ``python -m heedful_lab.repository.NAME``.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
"""The checkout; these modules serve nobody who installed the laboratory from a wheel."""
