"""What the demo asks its model: new premises, words that it has seen."""

from __future__ import annotations

from heedful.data.scenes import generate
from heedful.run.demonstration import GOLD, PAIRS
from heedful.run.recipe_files import load_config


def test_premises_are_new_and_words_are_known() -> None:
    corpus = generate(**load_config("disan-scenes-small").data.options)
    seen = {example.texts[0] for example in corpus["train"].examples}
    words = {word for example in corpus["train"].examples for text in example.texts for word in text.split()}
    assert len(seen) > 1000
    assert len(PAIRS) == len(GOLD) >= 6
    for premise, hypothesis in PAIRS:
        assert premise not in seen
        assert {*premise.split(), *hypothesis.split()} <= words
