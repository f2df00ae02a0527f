"""Try ways to read unknown words on a finished run of `train_sentences.py`, without any training.

    python packages/heedful-en/making/try_spelling.py DATA RUN FIGURES

DATA is the folder of data sets, RUN the finished run. Every way is judged on what chose nothing yet: Spearman's
correlation on the dev part of STS-B, on all pairs and on those with an unknown word; and logistic regression on the
states, on rows of the training parts of five sets: four folds of 1,000 rows, and ten draws of 100 rows, judged on 1,000
others. Test parts are not read. Ways that FIGURES has are not tried again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from torch import Tensor
from torch.nn import functional

from heedful.structures import Sentences
from heedful.text.vocabulary import NgramRule, Vocabulary
from measure_sentences import SETS, Features, examples, similarity_rows
from train_sentences import Student, words_of

LENGTHS, ROWS, FEW = (2, 4, 8), 1_500, 100
Read = Callable[[str], Tensor]
"""The vector of a word."""


def drawn(text: str) -> Tensor:
    """Return the random vector of a string, of unit length."""
    seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")
    vector = np.random.default_rng(seed).standard_normal(300).astype(np.float32)
    return torch.from_numpy(vector / np.linalg.norm(vector))


def ways(network: Student, vocabulary: Vocabulary) -> dict[str, Read]:
    """Return ways to read an unknown word with the network as it is."""
    table, rule = network.embedding.weight.detach(), NgramRule(20_000)

    def ngrams(word: str) -> Tensor:
        return functional.normalize(torch.stack([drawn(each) for each in rule.ngrams_of(word)]).sum(0), dim=0)

    unknown: dict[str, Read] = {
        "nearest known word": lambda word: table[vocabulary.id(word)],
        "nothing": lambda _: torch.zeros(300),
    }
    for length in LENGTHS:
        unknown[f"a random vector, {length} long"] = _scaled(drawn, length)
        unknown[f"random vectors of n-grams, {length} long"] = _scaled(ngrams, length)

    def reading(read: Read) -> Read:
        return lambda word: table[vocabulary.id(word)] if vocabulary.knows(word) else read(word)

    return {name: reading(read) for name, read in unknown.items()}


def _scaled(read: Read, length: float) -> Read:
    return lambda word: length * read(word)


@torch.inference_mode()
def read(network: Student, of: Read, texts: Sequence[str]) -> tuple[Features, Features]:
    """Return the states and the vectors of texts."""
    made: list[tuple[Features, Features]] = []
    for start in range(0, len(texts), 64):
        rows = [[of(word.lower()) for word in words_of(text)[:256]] for text in texts[start : start + 64]]
        valid = (
            torch.arange(max(1, *map(len, rows)))[None] < torch.tensor([len(row) for row in rows])[:, None]
        )
        words = torch.zeros(*valid.shape, 300)
        for place, row in zip(words, rows, strict=True):
            if row:
                place[: len(row)] = torch.stack(row)
        states = network.states(words, Sentences(valid.long(), valid))
        vectors = functional.normalize(network.output(states), dim=-1)
        made.append((states.numpy(), vectors.numpy()))
    states_of, vectors_of_texts = zip(*made, strict=True)
    return np.concatenate(states_of), np.concatenate(vectors_of_texts)


def judged(network: Student, of: Read, known: Vocabulary, data: Path) -> dict[str, float]:
    """Return the figures of a way to read words; unknown words are those that the run does not know."""
    network.eval()
    first, second, gold = similarity_rows(data, "dev")
    cosines = np.multiply(*(read(network, of, texts)[1] for texts in (first, second))).sum(axis=1)
    new = np.array(
        [not all(map(known.knows, words_of(f"{a} {b}"))) for a, b in zip(first, second, strict=True)]
    )
    found = {
        "STS-B dev": float(spearmanr(cosines, gold).statistic),
        "with unknown words": float(spearmanr(cosines[new], np.array(gold)[new]).statistic),
    }
    folds, few = [], []
    for name in SETS:
        texts, labels, training, _ = examples(data, name)
        some = np.random.default_rng(0).choice(training, ROWS, replace=False)
        states, answers = read(network, of, [texts[row] for row in some])[0], np.array(labels)[some]
        model = LogisticRegression(C=16, max_iter=200)
        folds.append(cross_val_score(model, states[:1000], answers[:1000], cv=4).mean())
        for draw in range(10):
            order = np.random.default_rng(draw).permutation(ROWS)
            fitted = LogisticRegression(C=4, max_iter=200).fit(states[order[:FEW]], answers[order[:FEW]])
            few.append(fitted.score(states[order[500:]], answers[order[500:]]))
    return {**found, "1,000 rows": 100 * float(np.mean(folds)), "100 rows": 100 * float(np.mean(few))}


def main() -> None:
    """Read the command line, and judge what is missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("data", "run", "figures"):
        options.add_argument(name, type=Path)
    given = options.parse_args()
    torch.set_num_threads(1)
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures.exists() else {}
    before = Vocabulary.from_json((given.run / "vocabulary.json").read_text(encoding="ascii"))
    weights = load_file(given.run / "student.safetensors")
    network = Student(weights["embedding.weight"], len(weights["output.weight"]))
    network.load_state_dict(weights)
    for name, of in ways(network, before).items():
        if name not in figures:
            figures[name] = judged(network, of, before, given.data)
            given.figures.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
            print(name, json.dumps(figures[name]), flush=True)


if __name__ == "__main__":
    main()
