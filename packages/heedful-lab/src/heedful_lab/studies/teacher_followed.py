"""How closely `en-sentences` follows the sentence encoder that it learned from, on the training texts of each set.

    python -m heedful_lab.studies.teacher_followed --data DIR --encoder DIR/minilm --out FILE [--texts 300]

Of so many training texts, drawn by ``random.Random(0)``, it gives the mean cosine of both vectors of a text, and
Spearman's correlation of the similarities of all pairs of texts by the one and by the other: where that is low, what
the teacher knows of such texts was not learned. What the file has already is not measured again.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.rivals import FrozenEncoder
from heedful_lab.cells import measured
from heedful_lab.studies.few_labels import SETS, load

Vectors = NDArray[np.floating]


def agreement(own: Vectors, taught: Vectors) -> dict[str, float]:
    """Compare two encoders on the same texts.

    Args:
        own: vectors of texts, [N, D].
        taught: those of the other encoder, [N, D].

    Returns:
        "cosine" of both vectors of a text, the mean; and "spearman" of the similarities of pairs of texts.
    """
    from scipy.stats import spearmanr

    one, other = (
        each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (own, taught)
    )
    upper = np.triu_indices(len(one), 1)
    ranks = spearmanr((one @ one.T)[upper], (other @ other.T)[upper])
    return {"cosine": float((one * other).sum(axis=1).mean()), "spearman": float(ranks.statistic)}


def measure(name: str, data: Path, encoder: Path, count: int) -> dict[str, float]:
    """Compare both encoders on some training texts of a set.

    Args:
        name: the set, as `heedful_lab.studies.few_labels` calls it.
        data: folder of data sets.
        encoder: folder of the teacher.
        count: texts, at most.

    Returns:
        See `agreement`, and the number of texts.
    """
    import heedful

    every = list(dict.fromkeys(load(name, data)[0][0]))
    texts = random.Random(0).sample(every, min(count, len(every)))
    own = np.asarray(heedful.load("en-sentences").encode(texts))
    taught = FrozenEncoder(encoder).fit([]).transform([(text,) for text in texts])
    return {"texts": len(texts), **agreement(own, taught)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the file does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the teacher")
    parser.add_argument("--out", type=Path, required=True, help="file of the figures")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--sets", default=",".join(SETS))
    given = parser.parse_args(arguments)
    cells = {
        f"{name}, {given.texts} texts": partial(measure, name, given.data, given.encoder, given.texts)
        for name in given.sets.split(",")
    }
    for line in measured(given.out, cells):
        print(line, flush=True)


if __name__ == "__main__":
    main()
