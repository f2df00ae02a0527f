"""Make and time one model in the source tree of any commit: the half of `predictions_of_two_commits` that runs in it.

    python -m heedful_lab.studies.predicting_alone make FOLDER --encoder disan
    python -m heedful_lab.studies.predicting_alone time FOLDER --texts FILE

With a file of sentences, one a line, the model's words stand for theirs, the commonest for the commonest, so that
words come again as they do in these. It imports what commits since c7e2665 have, and nothing of the laboratory, so
that an older tree can run the file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

TRAINED, FROZEN, BATCH, ROUNDS, BLOCK, SINGLES = 9_000, 32_000, 64, 40, 4, 30
"""Words with a trained and with a frozen vector; texts of a batch; batches; batches and single texts of a block."""
KINDS: tuple[Literal["float32", "int8"], ...] = ("float32", "int8")
WORDS = [f"w{n}" for n in range(TRAINED)] + [f"x{n}" for n in range(FROZEN)]


def texts(count: int, seed: int, length: int = 0) -> list[str]:
    """Return texts of 5 to 30 words, or of a length; words are as frequent as in natural text, by Zipf's law."""
    generator = np.random.default_rng(seed)
    chances = 1 / (np.arange(len(WORDS)) + 2.7)
    chances /= chances.sum()
    lengths = [length or int(generator.integers(5, 31)) for _ in range(count)]
    return [" ".join(WORDS[i] for i in generator.choice(len(WORDS), each, p=chances)) for each in lengths]


def sentences(file: Path) -> list[str]:
    """Return the distinct sentences of a file, their words exchanged for those of the model, by how common they are."""
    lines = list(dict.fromkeys(filter(None, file.read_text(encoding="utf-8").lower().splitlines())))
    common = Counter(word for line in lines for word in line.split()).most_common(len(WORDS))
    ranks = {word: rank for rank, (word, _) in enumerate(common)}
    return [" ".join(WORDS[ranks.get(word, -1)] for word in line.split()) for line in lines]


def make(folder: Path, encoder: str) -> None:
    """Save a model with random weights and 41,000 words in each kind of numbers."""
    import torch

    from heedful.export import described
    from heedful.export.folder import export_folder
    from heedful.models import ModelConfig
    from heedful.storage.model_folder import load_model_folder
    from heedful.tasks import Predictor, TextSettings, build_network, load_model
    from heedful.text.vocabulary import Vocabulary

    torch.manual_seed(0)
    activation: dict[str, Any] = {} if encoder == "disan" else {"activation": "relu"}
    config = ModelConfig(task="text", outputs=6, encoder=encoder, **activation)
    tables = torch.randn(TRAINED + 2, 300) / 20, torch.randn(FROZEN, 300) / 20
    vocabulary = Vocabulary(tuple(WORDS[:TRAINED]), extra=tuple(WORDS[TRAINED:]))
    model = Predictor(build_network(config, *tables), config, vocabulary, tuple("abcdef"), TextSettings())
    model.save(folder / "plain")
    steps = described(load_model(folder / "plain").network)
    for kind in KINDS:
        export_folder(load_model_folder(folder / "plain"), steps, folder / kind, kind)


def milliseconds(call: Callable[[Sequence[str]], object], batches: Sequence[Sequence[str]]) -> float:
    """Return the median of the wall's time."""
    found = list[float]()
    for batch in batches:
        start = time.perf_counter()
        call(batch)
        found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found)


class Timed:
    """A model that is timed in blocks of a few batches, so that other models can be timed in between.

    Args:
        folder: of a model.
        file: sentences for ``new`` and ``again``, a line each, in their order; None for words drawn by Zipf's law.

    Attributes:
        BLOCKS: what is measured in which order, and in how many blocks. ``new``: milliseconds of 64 texts that were not
            read before; ``kept``: the share of words of ``new`` whose values were kept; ``again``: milliseconds of 64
            texts that were read before; ``one``: of one text of ten words; ``threads``: how many times as fast two
            threads are. The first block of each is for warming up: it is not counted.
    """

    BLOCKS: Mapping[str, int] = {
        "new": 1 + ROUNDS // BLOCK,
        "kept": 1,
        "again": 1 + ROUNDS // BLOCK // 2,
        "one": 1 + 10,
        "threads": 1 + 5,
    }

    def __init__(self, folder: Path, file: Path | None = None) -> None:
        from heedful.runtime import load

        self._model: Any = load(folder)
        self._new, self._ten = texts((ROUNDS + BLOCK) * BATCH, 1), texts(BATCH, 2, 10)
        if file is not None:
            self._new = sentences(file)[: (ROUNDS + BLOCK) * BATCH]
        self._two: Any = None
        self._before: Any = None

    def measure(self, what: str, block: int) -> float | None:
        """Return a figure of `BLOCKS`; None if this commit has no such thing."""
        batches = [self._new[i : i + BATCH] for i in range(0, len(self._new), BATCH)]
        if what == "new":
            if block == 1:
                self._before = _counts(self._model)
            return milliseconds(self._answer, batches[block * BLOCK : (block + 1) * BLOCK])
        if what == "again":
            return milliseconds(self._answer, [batches[-1]] * BLOCK)
        if what == "one":
            return milliseconds(self._answer, [[self._ten[n % BATCH]] for n in range(SINGLES)])
        if what == "kept":
            if self._before is None:
                return None
            after = _counts(self._model)
            return 1 - (after.computed - self._before.computed) / (after.requested - self._before.requested)
        if not hasattr(self._model, "threaded"):
            return None
        if self._two is None:
            self._two = self._model.threaded(2)
        some = self._new[: ROUNDS * BATCH]
        single = milliseconds(self._answer, [some])
        return single / milliseconds(lambda batch: list(self._two.predict(batch)), [some])

    def _answer(self, batch: Sequence[str]) -> None:
        list(self._model.predict(batch))


def _counts(model: Any) -> Any:
    """Return what became of the words; None in commits that keep no values of words."""
    return getattr(getattr(model, "program", None), "word_counts", None)


def main() -> None:
    """Make models; or time one, a block for each line of standard input such as "new 3"."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("make", "time"))
    parser.add_argument("folder", type=Path, help="of all kinds of numbers (make), or of one model (time)")
    parser.add_argument("--encoder", default="disan", help="disan, mtsa or mssan")
    parser.add_argument("--texts", type=Path, help="a file of at least 2,816 sentences, one a line")
    given = parser.parse_args()
    if given.step == "make":
        make(given.folder, given.encoder)
        return
    model = Timed(given.folder, given.texts)
    for line in sys.stdin:
        what, block = line.split()
        print(json.dumps(model.measure(what, int(block))), flush=True)


if __name__ == "__main__":
    main()
