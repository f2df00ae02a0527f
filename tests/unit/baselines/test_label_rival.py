"""Simple models for several labels a text: what they learn, what they leave out, and when they are not trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heedful.baselines import label_rival
from heedful.baselines.label_rival import LabelRows, label_rivals
from heedful.data.examples import Corpus, Example, LabelSet

WORDS = ("zug", "boot", "rad")


def rows(count: int, *, first: int = 0, further: tuple[str, ...] = ()) -> LabelRows:
    """Texts that name their labels; no English, so that no word vectors are read."""
    examples = []
    for number in range(first, first + count):
        own = tuple(word for place, word in enumerate(WORDS) if number >> place & 1)
        text = " ".join((f"nr{number}", *own, "und", "so"))
        examples.append(Example((text,), LabelSet((*own, *further))))
    return LabelRows.of(Corpus(tuple(examples)), WORDS)


def test_labels_that_stand_in_the_text_are_found_out_of_fold() -> None:
    found = {name: reports for name, _, reports in label_rivals({"train": rows(64)}, seed=0)}
    assert "TF-IDF (words 1-2, characters 2-5) + linear SVM" in found
    for name, reports in found.items():
        assert list(reports) == ["dev"]
        assert reports["dev"].count == 64
        assert reports["dev"].metrics["micro_f1"] > 0.9, name


def test_dev_chooses_and_test_is_read_with_labels_that_training_does_not_know() -> None:
    splits = {"train": rows(64), "dev": rows(16, first=64), "test": rows(16, first=80, further=("new",))}
    for _, strength, reports in label_rivals(splits, seed=0):
        assert strength > 0
        assert reports["dev"].metrics["micro_f1"] > 0.9
        assert reports["test"].per_class["new"]["recall"] == 0.0
        assert reports["test"].per_class["zug"]["f1"] > 0.9


def test_a_label_that_all_or_none_have_takes_no_fit() -> None:
    same = rows(32)
    gold = np.column_stack([same.gold, np.ones(32, bool), np.zeros(32, bool)])
    labels = (*WORDS, "always", "never")
    found = list(label_rivals({"train": LabelRows(same.texts, gold, labels)}, seed=0))
    assert found
    for _, _, reports in found:
        assert reports["dev"].per_class["always"]["f1"] == 1.0
        assert reports["dev"].per_class["never"]["count"] == 0


def test_nothing_is_trained_where_it_would_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_rival, "MOST_FITS", 64 * len(WORDS) - 1)
    assert list(label_rivals({"train": rows(64)}, seed=0)) == []
    empty = LabelRows([("",), (" ",)], np.ones((2, 3), bool), WORDS)
    assert list(label_rivals({"train": empty}, seed=0)) == []


def test_dev_and_training_rows_count_by_their_weights() -> None:
    """A weight of 0 in dev is no row; in training the heavy one of two contradictions is learned."""
    learned, held = rows(64), rows(32, first=64)
    times = np.arange(32) % 3
    places = np.repeat(np.arange(32), times)
    weighted, repeated = (
        list(label_rivals({"train": learned, "dev": dev}, seed=0))
        for dev in (
            replace(held, weights=times.astype(float)),
            replace(held, texts=[held.texts[place] for place in places], gold=held.gold[places]),
        )
    )
    for (_, strength, one), (_, other_strength, other) in zip(weighted, repeated, strict=True):
        assert strength == other_strength
        assert one["dev"].metrics == pytest.approx(other["dev"].metrics)
    both = LabelRows(
        [*learned.texts, *learned.texts],
        np.concatenate([learned.gold, ~learned.gold]),
        WORDS,
        np.repeat([30.0, 1.0], 64),
    )
    for name, _, reports in label_rivals({"train": both, "dev": held}, seed=0):
        assert reports["dev"].metrics["micro_f1"] > 0.9, name
