"""Rows of a table with columns beside the text, and the command line in this process."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from heedful.cli.main import run

PLAIN = ("text.vectors=", "model.sentence=none")
"""Settings without the vectors of a package, so that a fit takes a second."""


def table(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows whose label comes from a word, a price and a shop, and not from a column of noise."""
    rng, rows = np.random.default_rng(seed), list[dict[str, Any]]()
    for _ in range(count):
        good, price, shop = (
            rng.random() < 0.5,
            float(rng.normal(10, 2)),
            str(rng.choice(["north", "south", "east"])),
        )
        words = [str(word) for word in rng.choice(["it", "was", "the", "a", "film", "we", "saw"], 5)]
        words.insert(2, str(rng.choice(["fine", "great"] if good else ["poor", "bad"])))
        logit = (2 if good else -2) + 1.5 * (price - 10) / 2 + {"north": 1, "south": -1, "east": 0}[shop]
        label = "yes" if rng.random() < 1 / (1 + np.exp(-logit)) else "no"
        missing = rng.random() < 0.05
        rows.append(
            {
                "text": " ".join(words),
                "price": None if missing else round(price, 2),
                "shop": shop,
                "noise": round(float(rng.normal()), 3),
                "label": label,
            }
        )
    return rows


def command(*arguments: str) -> tuple[int, str]:
    """Run a command; return its code and what it prints."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = run(list(arguments))
    stream.flush()
    return code, stream.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
