"""Rows of texts are computed once, and the oldest give way."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import pytest

from heedful.labeling.training_process import teacher
from heedful.runtime import loading
from heedful.runtime.encoder_states import EN_SENTENCES
from heedful.runtime.kernels import Floats
from heedful.runtime.loading import keep_rows, packaged_states
from heedful.runtime.row_cache import KeptRows

TEXTS = [["a", "warm", "day"], ["rain"], ["a", "warm", "day"]]


def test_each_distinct_text_is_computed_once_and_the_oldest_give_way() -> None:
    asked = list[Sequence[str]]()

    def compute(texts: Sequence[Sequence[str]]) -> Floats:
        asked.extend(texts)
        return np.array([[len(text), len("".join(text))] for text in texts], np.float32).reshape(-1, 2)

    rows = KeptRows(2)
    assert rows.of([], compute).shape == (0, 2)
    first = rows.of(TEXTS, compute)
    first[:] = 0  # whoever gets rows may change them
    assert rows.of(TEXTS, compute).tolist() == [[3, 8], [1, 4], [3, 8]]
    assert asked == [("a", "warm", "day"), ("rain",)]
    rows.of([["snow"]], compute)
    assert len(rows) == 2
    rows.of([["a", "warm", "day"]], compute)
    assert asked[2:] == [("snow",), ("a", "warm", "day")]
    assert len(copy.deepcopy(rows)) == 0


@pytest.mark.english
def test_the_process_that_teaches_keeps_what_the_encoder_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = packaged_states().of(TEXTS)
    monkeypatch.setattr(loading, "_KEPT_ROWS", {})
    monkeypatch.setattr("logging.Logger.setLevel", lambda *_: None)
    teacher()
    (kept,) = loading._KEPT_ROWS.values()
    assert packaged_states().of(TEXTS).tobytes() == plain.tobytes()
    assert len(kept) == 2
    monkeypatch.setattr(packaged_states().model, "features", None)  # is not asked again
    assert packaged_states().of(TEXTS).tobytes() == plain.tobytes()


def test_without_the_package_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_KEPT_ROWS", {})
    monkeypatch.setattr(loading, "has_sentence_encoder", lambda name: False)
    keep_rows(KeptRows(), EN_SENTENCES)
    assert not loading._KEPT_ROWS
