"""Spans of a tagged text, with their words and probabilities."""

from __future__ import annotations

import pytest

from heedful.model.role_spans import RoleSpan, bracketed, role_spans

TEXT, OFFSETS = "Ada  Lovelace wrote", [(0, 3), (5, 13), (14, 19)]


def test_a_span_has_its_words_as_they_stand_and_the_mean_of_its_tags() -> None:
    spans = role_spans(["B-PER", "I-PER", "O"], [0.9, 0.7, 0.5], OFFSETS, TEXT)
    assert spans == (RoleSpan("PER", 0, 2, "Ada  Lovelace", pytest.approx(0.8)),)
    assert bracketed(["Ada", "Lovelace", "wrote"], spans) == "[PER Ada Lovelace] wrote"
    assert role_spans(["O", "O", "O"], [1.0, 1.0, 1.0], OFFSETS, TEXT) == ()
    assert bracketed([], ()) == ""
