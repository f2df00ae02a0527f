"""What every mask keeps to. A new name or class joins by itself; one without a sample fails."""

from __future__ import annotations

import pytest
import torch

import heedful.attention
import subclasses
from heedful.attention.masks import MASK_NAMES, Mask, parse_mask
from heedful.attention.visibility import dense_keep
from heedful.structures import Sentences

SAMPLES = [name.replace("(N)", "(2)") for name in MASK_NAMES]
COMBINED = [f"{one} {sign} {two}" for one in SAMPLES for two in SAMPLES for sign in "&|"]
LENGTHS = (4, 1, 0, 5)


def batch(lengths: tuple[int, ...], width: int) -> Sentences:
    """Sentences whose tree is a chain that hangs on its first word, padded to ``width``."""
    valid = torch.arange(width) < torch.tensor(lengths)[:, None]
    position = torch.arange(width)
    distance = (position[:, None] - position[None, :]).abs()
    pairs = valid[:, :, None] & valid[:, None, :]
    heads = torch.where(valid, position - 1, -1)
    return Sentences(valid.long(), valid, torch.where(pairs, distance, -1).to(torch.int16), heads=heads)


def keep(mask: Mask, sentences: Sentences) -> torch.Tensor:
    return dense_keep(mask.visible(sentences), sentences.valid)


def mask_classes() -> set[type[Mask]]:
    return subclasses.concrete(Mask, heedful.attention)


def parts(mask: Mask) -> set[type]:
    inner = [value for value in vars(mask).values() if isinstance(value, Mask)]
    return {type(mask)}.union(*(parts(value) for value in inner))


def test_no_mask_escapes() -> None:
    covered = set().union(*(parts(parse_mask(text)) for text in COMBINED))
    assert mask_classes() <= covered
    assert len(SAMPLES) >= 5
    assert len(COMBINED) >= 50


def test_text_reads_back() -> None:
    read = {text: parse_mask(text) for text in SAMPLES + COMBINED}
    assert [text for text, mask in read.items() if parse_mask(str(mask)) != mask] == []


@pytest.mark.parametrize("text", SAMPLES + COMBINED)
def test_padding_is_never_kept_and_changes_nothing(text: str) -> None:
    mask = parse_mask(text)
    together = keep(mask, batch(LENGTHS, max(LENGTHS) + 2))
    for row, length in enumerate(LENGTHS):
        alone = keep(mask, batch((length,), max(length, 1)))[0]
        assert torch.equal(together[row, :length, :length], alone[:length, :length])
        assert not together[row, length:].any()
        assert not together[row, :, length:].any()


@pytest.mark.parametrize("sign", "&|")
@pytest.mark.parametrize("one", SAMPLES)
def test_signs_are_and_and_or(one: str, sign: str) -> None:
    sentences = batch(LENGTHS, 6)
    for two in SAMPLES:
        first, second = keep(parse_mask(one), sentences), keep(parse_mask(two), sentences)
        expected = first & second if sign == "&" else first | second
        assert torch.equal(keep(parse_mask(f"{one} {sign} {two}"), sentences), expected), two


@pytest.mark.parametrize("text", SAMPLES)
def test_equal_values_are_equal_and_hash_alike(text: str) -> None:
    assert parse_mask(text) == parse_mask(text)
    assert len({parse_mask(text), parse_mask(text)}) == 1
