"""Masks against matrices written out by hand, and their text."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.attention.masks import (
    MASK_NAMES,
    Both,
    Either,
    Mask,
    arcs,
    backward,
    causal,
    child,
    everything,
    forward,
    not_self,
    parent,
    parse_mask,
    window,
)
from heedful.attention.visibility import Band, dense_keep
from heedful.errors import UsageError
from heedful.structures import Sentences


def head(word: int) -> int:
    """The tree of these tests: words 0 and 3 are roots, 1 hangs on 0, 2 on 1, 4 on 3 and so on."""
    return -1 if word % 3 == 0 else word - 1


def steps(one: int, other: int) -> int:
    """Arcs between two words by climbing: at least two through the virtual root if their roots differ."""

    def way_up(word: int) -> list[int]:
        return [word] if word < 0 else [word, *way_up(head(word))]

    first, second = way_up(one), way_up(other)
    meeting = next(word for word in first if word in second)
    return first.index(meeting) + second.index(meeting)


def sentences(*lengths: int) -> Sentences:
    valid = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    words = range(max(lengths))
    tree = torch.tensor([[steps(i, j) for j in words] for i in words], dtype=torch.int16).view(
        max(lengths), max(lengths)
    )
    tree = torch.where(valid[:, :, None] & valid[:, None, :], tree, -1)
    heads = torch.where(valid, torch.tensor([head(i) for i in words], dtype=torch.int64), -1)
    return Sentences(valid.long(), valid, tree, heads=heads)


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
    ("causal", ["x..", "xx.", "xxx"]),
    ("parent", [".....", "x....", ".x...", ".....", "...x."]),
    ("child", [".x...", "..x..", ".....", "....x", "....."]),
    ("parent | child", [".x...", "x.x..", ".x...", "....x", "...x."]),
    ("arcs(0)", ["x..", ".x.", "..x"]),
    ("arcs(1)", ["xx...", "xxx..", ".xx..", "...xx", "...xx"]),
    ("arcs(2) & not_self", [".xxx.", "x.x..", "xx...", "x...x", "...x."]),
    ("forward & arcs(1)", [".....", "x....", ".x...", ".....", "...x."]),
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


LEAVES = (
    st.sampled_from([forward(), backward(), causal(), not_self(), everything(), parent(), child()])
    | st.builds(window, st.integers(0, 4))
    | st.builds(arcs, st.integers(0, 4))
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
    if name.startswith("arcs"):
        return steps(query, key) <= int(name[5:-1])
    return {
        "forward": key < query,
        "backward": key > query,
        "causal": key <= query,
        "not_self": key != query,
        "everything": True,
        "parent": head(query) == key,
        "child": head(key) == query,
    }[name]


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
        ("arcs", "arcs needs a width: arcs(5)"),
        ("forward(3)", "forward takes no number"),
        ("forwards", "unknown mask 'forwards': did you mean 'forward'?"),
        (
            "sideways",
            "unknown mask 'sideways': valid: " + ", ".join(sorted(MASK_NAMES)),
        ),
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
    with pytest.raises(
        UsageError, match=r"window: width must be a whole number of tokens from 0 to 1073741824; got "
    ):
        window(width)  # type: ignore[arg-type]


def test_arcs_of_no_sensible_width_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"arcs: width must be a whole number of arcs from 0 to 1073741824; got -1"
    ):
        arcs(-1)


@pytest.mark.parametrize("text", ["arcs(1)", "parent", "child", "forward & parent", "window(1) | arcs(2)"])
def test_without_a_parse_a_mask_of_trees_asks_for_one(text: str) -> None:
    batch = sentences(3)
    with pytest.raises(UsageError, match=r"text\.parser"):
        parse_mask(text).visible(Sentences(batch.ids, batch.valid))
    assert parse_mask(text).reads_trees
    assert not parse_mask("forward & window(1) | causal").reads_trees


def test_pieces_see_the_pieces_of_the_words_their_word_is_related_to() -> None:
    """Two words of two pieces and one: word 1 hangs on word 0."""
    places = torch.tensor([[0, 0, 1, 1, 1, 0]])
    valid = torch.tensor([[True, True, True, True, True, False]])
    pieces = Sentences(valid.long(), valid, words=places, heads=torch.tensor([[-1, -1, 0, 0, 0, -1]]))
    keep = dense_keep(parent().visible(pieces), valid)[0].int().tolist()
    assert keep == [[0] * 6, [0] * 6, *[[1, 1, 0, 0, 0, 0]] * 3, [0] * 6]
    keep = dense_keep(child().visible(pieces), valid)[0].int().tolist()
    assert keep == [*[[0, 0, 1, 1, 1, 0]] * 2, [0] * 6, [0] * 6, [0] * 6, [0] * 6]
