"""Masks against matrices written out by hand, and their text."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import UsageError
from heedful.masks import Band, Mask, backward, dense_keep, everything, forward, not_self, parse_mask, window
from heedful.masks.spec import MASK_NAMES, Both, Either
from heedful.structures import Sentences


def sentences(*lengths: int) -> Sentences:
    valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return Sentences(valid.long(), valid)


def picture(mask: Mask, length: int) -> list[str]:
    """Rows are queries, columns keys; x where a query may look."""
    batch = sentences(length)
    keep = dense_keep(mask.visible(batch), batch.valid)[0]
    return ["".join(".x"[int(cell)] for cell in row) for row in keep]


BY_HAND = [
    ("forward", ["...", "x..", "xx."]),
    ("backward", [".xx", "..x", "..."]),
    ("not_self", [".xx", "x.x", "xx."]),
    ("everything", ["xxx", "xxx", "xxx"]),
    ("window(0)", ["x..", ".x.", "..x"]),
    ("window(1)", ["xx..", "xxx.", ".xxx", "..xx"]),
    ("window(2)", ["xxx..", "xxxx.", "xxxxx", ".xxxx", "..xxx"]),
    ("window(9)", ["xxx", "xxx", "xxx"]),
    ("forward & window(2)", [".....", "x....", "xx...", ".xx..", "..xx."]),
    ("backward & window(1)", [".x...", "..x..", "...x.", "....x", "....."]),
    ("not_self & window(1)", [".x..", "x.x.", ".x.x", "..x."]),
    ("forward & backward", ["...", "...", "..."]),
    ("forward | backward", [".xx", "x.x", "xx."]),
    ("forward | window(0)", ["x..", "xx.", "xxx"]),
    ("backward | window(1)", ["xxxx", "xxxx", ".xxx", "..xx"]),
    ("forward & window(1) | backward & window(2)", [".xx..", "x.xx.", ".x.xx", "..x.x", "...x."]),
    ("(forward | window(0)) & window(1)", ["x...", "xx..", ".xx.", "..xx"]),
    ("forward", ["."]),
    ("everything", ["x"]),
]


@pytest.mark.parametrize(("text", "expected"), BY_HAND, ids=[text for text, _ in BY_HAND])
def test_equals_the_matrix_written_by_hand(text: str, expected: list[str]) -> None:
    assert picture(parse_mask(text), len(expected)) == expected


def test_every_name_has_a_matrix_by_hand() -> None:
    shown = {text.split("(")[0] for text, _ in BY_HAND}
    assert {name.split("(")[0] for name in MASK_NAMES} <= shown
    assert len(MASK_NAMES) >= 5


def test_padding_never_attends_and_is_never_attended_to() -> None:
    batch = sentences(3, 2, 0)
    keep = dense_keep(everything().visible(batch), batch.valid)
    assert keep.int().tolist() == [
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
        [[1, 1, 0], [1, 1, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    ]


def test_a_dense_mask_of_the_batch_combines_with_a_band() -> None:
    class Given(Mask):
        def visible(self, sentences: Sentences) -> torch.Tensor:
            return torch.tensor([[[1, 0, 1], [1, 1, 0], [0, 1, 1]]]).bool()

    assert picture(Given() & forward(), 3) == ["...", "x..", ".x."]
    assert picture(Given() | forward(), 3) == ["x.x", "xx.", "xxx"]


LEAVES = st.sampled_from([forward(), backward(), not_self(), everything()]) | st.builds(
    window, st.integers(0, 4)
)
MASKS = st.recursive(
    LEAVES, lambda inner: st.builds(Both, inner, inner) | st.builds(Either, inner, inner), max_leaves=6
)


def may_look(mask: Mask, query: int, key: int) -> bool:
    """The brute-force twin: one pair of positions at a time, from the meaning of the words."""
    if isinstance(mask, Both):
        return may_look(mask.first, query, key) and may_look(mask.second, query, key)
    if isinstance(mask, Either):
        return may_look(mask.first, query, key) or may_look(mask.second, query, key)
    name = str(mask)
    if name.startswith("window"):
        return abs(query - key) <= int(name[7:-1])
    return {"forward": key < query, "backward": key > query, "not_self": key != query, "everything": True}[
        name
    ]


@settings(max_examples=150, deadline=None)
@given(MASKS, st.lists(st.integers(0, 5), min_size=1, max_size=3))
def test_equals_brute_force(mask: Mask, lengths: list[int]) -> None:
    batch = sentences(*lengths)
    keep = dense_keep(mask.visible(batch), batch.valid)
    for row, length in enumerate(lengths):
        for query in range(max(lengths)):
            for key in range(max(lengths)):
                real = query < length and key < length
                assert bool(keep[row, query, key]) == (real and may_look(mask, query, key))


@settings(max_examples=150, deadline=None)
@given(MASKS)
def test_reads_back_from_its_text(mask: Mask) -> None:
    assert parse_mask(str(mask)) == mask


def test_and_binds_tighter_than_or_and_brackets_group() -> None:
    assert parse_mask("forward | backward & window(1)") == Either(forward(), Both(backward(), window(1)))
    assert parse_mask("(forward|backward)&window( 1 )") == Both(Either(forward(), backward()), window(1))
    assert str(parse_mask("  forward&window(5) ")) == "forward & window(5)"


def test_the_intersection_of_bands_stays_a_band() -> None:
    assert (forward() & window(3)).visible(sentences(4)) == Band(-3, -1)
    assert (not_self() & backward() & window(2)).visible(sentences(4)) == Band(1, 2, diagonal=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a mask is missing"),
        ("   ", "a mask is missing"),
        ("forward &", "a mask is missing"),
        ("& forward", "unexpected '&'"),
        ("forward backward", "unexpected 'backward'"),
        ("forward)", "unexpected ')'"),
        ("(forward", "a bracket is not closed"),
        ("forward & 3", "cannot read '3'"),
        ("forward & window(-1)", "window needs a width: window(5)"),
        ("window", "window needs a width: window(5)"),
        ("forward(3)", "forward takes no number"),
        ("forwards", "unknown mask 'forwards': did you mean 'forward'?"),
        ("sideways", "unknown mask 'sideways': valid: backward, everything, forward, not_self, window(N)"),
    ],
)
def test_an_unreadable_text_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_mask(text)
    message = str(caught.value)
    assert message.startswith(f"mask {text!r}: ")
    assert message.endswith("; write for example 'forward & window(5)'")
    assert why in message


@pytest.mark.parametrize("width", [-1, 1.5, "3", True, None])
def test_a_window_of_no_sensible_width_is_refused(width: object) -> None:
    with pytest.raises(UsageError, match=r"window: width must be a whole number of tokens, 0 or more; got "):
        window(width)  # type: ignore[arg-type]
