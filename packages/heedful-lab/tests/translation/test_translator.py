"""A model that translates: what it shows of its source, what it reads at a time, what it refuses to save."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import DivergedError, UsageError
from heedful.models import ModelConfig
from heedful.models.precision import at_precision
from heedful.tasks import TextSettings, load_model
from heedful.tasks.saved_model import even_batches
from heedful_lab.translation.beam import SearchConfig
from heedful_lab.translation.decoder import DecoderConfig
from heedful_lab.translation.subwords import Languages, Subwords
from heedful_lab.translation.translation_network import TranslationConfig
from heedful_lab.translation.translation_task import build_translation
from heedful_lab.translation.translator import Translator

pytest.importorskip("tokenizers")

TEXT = "a café noir"


def translator(**text: object) -> Translator:
    """Build one that has learned nothing."""
    torch.manual_seed(0)
    subwords = Subwords.learn([TEXT, "naïve café"] * 3, 300)
    model = ModelConfig("translation", "transformer", {"layers": 1, "heads": 2}, width=8, activation="relu")
    decoder = DecoderConfig(layers=1, heads=2, hidden=8)
    translation = TranslationConfig(decoder=decoder, search=SearchConfig(beam=2, extra_tokens=3))
    network = build_translation(model, translation, len(subwords), len(subwords))
    languages = Languages(subwords, subwords)
    return Translator(network, model, translation, languages, TextSettings(**text))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_an_explanation_shows_all_of_the_source_in_either_form(form: str) -> None:
    text = unicodedata.normalize(form, TEXT)
    found = translator().explain(text).sides[1]
    assert found.words == (*text.split(), "[END]")
    assert not found.truncated
    last = unicodedata.normalize(form, "noir café")
    assert translator().explain(last).sides[1].words == (*last.split(), "[END]")
    assert not translator().explain(last).sides[1].truncated


def test_an_explanation_says_where_the_source_was_cut() -> None:
    found = translator(max_tokens=1, truncate="head").explain(TEXT).sides[1]
    assert found.truncated
    assert TEXT.startswith("".join(found.words[:-1]))


def test_a_rounded_model_is_not_saved(tmp_path: Path) -> None:
    model = translator()
    model.save(tmp_path / "full")
    assert load_model(tmp_path / "full").answer([TEXT]) == model.answer([TEXT])
    model.network = at_precision(model.network, "int8")
    with pytest.raises(UsageError, match="int8 is for answering"):
        model.save(tmp_path / "rounded")
    assert not (tmp_path / "rounded").exists()


def test_weights_that_are_no_numbers_end_the_answer() -> None:
    model = translator()
    with torch.no_grad():
        next(model.network.parameters()).fill_(torch.nan)
    with pytest.raises(DivergedError, match="not finite"):
        model.answer([TEXT])


def test_long_texts_are_read_in_smaller_batches() -> None:
    model = translator(max_tokens=1000, eval_size=2)
    sizes: list[tuple[int, ...]] = []
    begin = model.network.begin

    def watched(source):
        sizes.append(tuple(source.ids.shape))
        return begin(source)

    model.network.begin = watched  # type: ignore[method-assign]
    model.search([[5] * length for length in (3, 100, 4, 101)])
    assert sorted(sizes) == [(1, 100), (1, 101), (2, 4)]


@pytest.mark.parametrize("sides", [0, 1, 2])
def test_batches_hold_every_example_and_no_more_padding_than_usual(sides: int) -> None:
    shape = (50, sides) if sides else 50
    lengths = np.random.default_rng(0).integers(0, 300, shape)
    batches = even_batches(lengths, 8)
    assert sorted(np.concatenate(batches)) == list(range(50))
    for batch in batches:
        padded = lengths[batch].reshape(len(batch), -1).max(axis=0).sum() * len(batch)
        assert len(batch) == 1 or padded <= 8 * 64 * max(1, sides)
    assert max(map(len, batches)) > 1
    assert even_batches(np.zeros((0, 2), np.int64), 8) == []
