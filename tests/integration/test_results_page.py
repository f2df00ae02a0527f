"""The results page is what its runs and notes make of it, so no figure in it was typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_results_page_is_up_to_date() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(root / "scripts" / "results_page.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
