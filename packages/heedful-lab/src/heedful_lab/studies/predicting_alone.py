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
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

TRAINED, FROZEN, BATCH, ROUNDS, SINGLES = 9_000, 32_000, 64, 40, 300
"""Words with a trained and with a frozen vector; texts of a batch; batches; single texts."""
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
    return statistics.median(found[len(found) // 10 :])


def timed(folder: Path, file: Path | None = None) -> dict[str, float]:
    """Return the times of a folder in milliseconds, and the share of words whose values were kept.

    Args:
        folder: of a model.
        file: sentences for ``new`` and ``again``, a line each, in their order; None for words drawn by Zipf's law.

    Returns:
        ``new``: of 64 texts that were not read before; ``again``: of 64 that were; ``one``: of one text of ten words;
        ``kept``: the share of words of ``new`` that were kept; ``threads``: how many times as fast two threads are,
        where the commit lets a model have them.
    """
    from heedful.runtime import load

    model = load(folder)

    def answer(batch: Sequence[str], model: Any = model) -> None:
        list(model.predict(batch))

    warm, new, ten = texts(5 * BATCH, 0), texts(ROUNDS * BATCH, 1), texts(BATCH, 2, 10)
    if file is not None:
        warm, new = (own := sentences(file))[: 5 * BATCH], own[5 * BATCH : (5 + ROUNDS) * BATCH]
    answer(warm)
    before = _counts(model)
    found = {"new": milliseconds(answer, [new[i : i + BATCH] for i in range(0, len(new), BATCH)])}
    if before is not None and (after := _counts(model)) is not None:
        found["kept"] = 1 - (after.computed - before.computed) / (after.requested - before.requested)
    found["again"] = milliseconds(answer, [new[:BATCH]] * (ROUNDS // 2))
    found["one"] = milliseconds(answer, [[ten[n % BATCH]] for n in range(SINGLES)])
    if hasattr(model, "threaded"):
        two = model.threaded(2)
        answer(new, two)
        answer(new)
        ratios = list[float]()
        for _ in range(5):
            single = milliseconds(answer, [new])
            ratios.append(single / milliseconds(lambda batch: answer(batch, two), [new]))
        found["threads"] = statistics.median(ratios)
    return found


def _counts(model: Any) -> Any:
    """Return what became of the words; None in commits that keep no values of words."""
    return getattr(getattr(model, "program", None), "word_counts", None)


def main() -> None:
    """Make models, or print times as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("make", "time"))
    parser.add_argument("folder", type=Path, help="of all kinds of numbers (make), or of one model (time)")
    parser.add_argument("--encoder", default="disan", help="disan, mtsa or mssan")
    parser.add_argument("--texts", type=Path, help="a file of at least 2,880 sentences, one a line")
    given = parser.parse_args()
    if given.step == "make":
        make(given.folder, given.encoder)
    else:
        print(json.dumps(timed(given.folder, given.texts)))


if __name__ == "__main__":
    main()
