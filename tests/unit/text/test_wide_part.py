"""The linear model beside an encoder, by itself: features, fit, weight, contributions."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from heedful.data.examples import ragged_of
from heedful.errors import UsageError
from heedful.explain.linear_parts import of_wide
from heedful.tasks.sentences.fitting_wide import (
    MOST_WEIGHTS,
    Fitter,
    best_fit,
    empty_part,
    feature_rows,
    of_new_texts,
    wide_settings,
    with_fit,
)
from heedful.tasks.sentences.linear_fits import interpolated, log_ratios
from heedful.tasks.sentences.linear_targets import ClassTargets
from heedful.tasks.sentences.part_weights import FittedPart, Joining
from heedful.text.wide_part import WIDE, PhraseRule, WidePart
from tiny import texts

RULE = PhraseRule(*WIDE)
ROWS = texts()
CLASSES = np.array([int(label == "pos") for _, label in ROWS])
WORDS = [text.split() for text, _ in ROWS]
FEATURES = [RULE.numbers(words) for words in WORDS]
EVERY = ragged_of(FEATURES)


_ONE_EACH = (([0.25, 0.25, 1.25], [2.25, 2.25, 1.25]), ([0.25, 1.25, 1.25], [2.25, 1.25, 1.25]))
"""Counts inside and outside the classes of the fourth and of the third row of a small table, 0.25 added."""


def targets(classes: np.ndarray, outputs: int = 2) -> ClassTargets:
    return ClassTargets.of_classes(classes, outputs, np.ones(len(classes)))


def fitted(outputs: int = 2) -> WidePart:
    own, others = targets(CLASSES[:90], outputs), targets(CLASSES[90:120], outputs)
    training, held = ragged_of(FEATURES[:90]), ragged_of(FEATURES[90:120])
    empty = empty_part(RULE, training, outputs)
    rows, held_rows = feature_rows(empty, training), feature_rows(empty, held)
    return with_fit(empty, best_fit(Fitter(rows, own), wide_settings(own), held_rows, others))


def fit_weight(network: np.ndarray, wide: np.ndarray, classes: np.ndarray) -> float:
    """Return the weight of a part relative to that of a network, 0 where it does not join."""
    part = FittedPart("wide", wide, lambda about, weight: about)
    joined = Joining(targets(classes, network.shape[1]), (part,)).join(network)
    return joined.weight("wide") / joined.network


def number(kind: int, side: int, text: str) -> int:
    digest = hashlib.blake2b(f"{kind}{side}{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % 2**30 * 2 + kind


def test_features_are_those_of_the_stated_hash_each_once() -> None:
    rule = PhraseRule(2, 3, 3)
    runs = ("<it", "it>", "<is", "is>")
    expected = {number(0, 1, text) for text in ("it", "is", "it is", "is it")} | {
        number(1, 1, run) for run in runs
    }
    found = rule.numbers(["It", "is", "it"], side=1)
    assert found.tolist() == sorted(expected)
    assert not set(found) & set(rule.numbers(["It", "is", "it"], side=0))
    occurrences = list(rule.phrases(["It", "is", "it"], side=1))
    assert {phrase.number for phrase in occurrences} == expected
    assert [(p.start, p.end, p.text) for p in occurrences][3:5] == [(0, 2, "it is"), (1, 3, "is it")]
    assert rule.numbers([]).tolist() == []
    assert PhraseRule().numbers(["a"]).tolist() == []
    assert not PhraseRule().reads


@pytest.mark.parametrize(
    "wrong", [{"words": -1}, {"words": 17}, {"shortest": 0}, {"longest": 17}, {"words": True}]
)
def test_rules_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        PhraseRule(**wrong)


def test_it_learns_and_knows_typos_by_their_characters() -> None:
    part = fitted()
    logits = part.logits(FEATURES[120:])
    assert (logits.argmax(axis=1) == CLASSES[120:]).mean() > 0.9
    typo = part.logits([RULE.numbers(["lovley"]), RULE.numbers(["draery"])])
    assert typo.argmax(axis=1).tolist() == [1, 0]


def test_log_ratios_are_those_of_naive_bayes() -> None:
    """By hand: three features, in 2 and 0, 1 and 1, and 0 and 2 of the examples of two classes."""
    rows = sparse.csr_matrix(np.array([[0.5, 0, 0], [0.3, 0.9, 0], [0, 0.2, 0.7], [0, 0, 0.1]]))
    strong = np.log(2.25 / 0.25)
    two = np.array([[strong, -strong], [0, 0], [-strong, strong]])
    assert log_ratios(rows, targets(np.array([0, 0, 1, 1]))) == pytest.approx(two)
    second, third = (np.log(np.divide(p, sum(p)) / np.divide(q, sum(q))) for p, q in _ONE_EACH)
    expected = np.stack([np.log([9, 1, 1 / 9]), second, third, np.zeros(3)], axis=1)
    assert log_ratios(rows, targets(np.array([0, 0, 2, 1]), 4)) == pytest.approx(expected)


def test_interpolated_weights_lie_between_those_of_the_fit_and_naive_bayes() -> None:
    """By hand: the weights of a class have the size 3, its log ratios 6, so that these count half."""
    weights, ratios = np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([[2.0, 0.0], [4.0, 0.0]])
    assert interpolated(weights, ratios, 1.0) == pytest.approx(weights)
    assert interpolated(weights, ratios, 0.25)[:, 0] == pytest.approx([1.25, 1.25])
    assert interpolated(weights, ratios, 0.25)[:, 1].tolist() == [0, 0]  # a class without an example


def test_of_the_three_ways_to_fit_dev_takes_the_likeliest(monkeypatch: pytest.MonkeyPatch) -> None:
    """All see the values of a saved part: a scale that was not multiplied into the weights would show here."""

    def fit(**candidates: tuple[float, ...]) -> WidePart:
        with monkeypatch.context() as patch:
            for name, values in candidates.items():
                patch.setattr(f"heedful.tasks.sentences.fitting_wide.{name}", values)
            return fitted()

    def loss(part: WidePart) -> float:
        logits = part.logits(FEATURES[90:120]).astype(np.float64)
        margins = np.where(CLASSES[90:120] == 1, 1, -1) * (logits[:, 1] - logits[:, 0])
        return min(float(np.log1p(np.exp(-scale * margins)).mean()) for scale in np.geomspace(0.1, 5, 41))

    shares = []

    def recorded(weights: np.ndarray, ratios: np.ndarray, share: float) -> np.ndarray:
        shares.append(share)
        return interpolated(weights, ratios, share)

    plain = fit(RATIO_STRENGTHS=())
    scaled = fit(STRENGTHS=(), SHARES=())
    monkeypatch.setattr("heedful.tasks.sentences.fitting_wide.interpolated", recorded)
    mixed = fit(STRENGTHS=(), RATIO_STRENGTHS=(1.0,), SHARES=(0.5, 0.25))
    assert shares == [0.5, 0.25]
    assert (scaled.logits(FEATURES[120:]).argmax(axis=1) == CLASSES[120:]).mean() > 0.9
    assert loss(fitted()) <= min(loss(plain), loss(scaled), loss(mixed))
    assert loss(scaled) != loss(plain)


def test_a_text_of_unknown_features_has_the_bias_alone() -> None:
    part = fitted()
    np.testing.assert_allclose(
        part.logits([RULE.numbers(["中"]), RULE.numbers([])]), np.tile(part.bias, (2, 1))
    )


def test_a_class_without_an_example_is_never_preferred() -> None:
    logits = fitted(outputs=4).logits(FEATURES)
    assert set(logits.argmax(axis=1)) == {0, 1}


def test_of_its_values_each_kind_has_length_one() -> None:
    part = fitted()
    rows, values = part.values(FEATURES[0])
    kinds = part.numbers[rows] & 1
    for kind in (0, 1):
        assert np.linalg.norm(values[kinds == kind]) == pytest.approx(1)


def test_contributions_are_the_logits_and_nothing_else() -> None:
    part = fitted().weighing(0.7)
    sides = [["The", "film", "was", "lovely", ",", "lovely", "film"], ["draery", "unheard"]]
    numbers = np.unique(np.concatenate([RULE.numbers(words, side) for side, words in enumerate(sides)]))
    said = of_wide(part, sides)
    np.testing.assert_allclose(said.total, part.logits([numbers])[0], rtol=1e-5, atol=1e-6)
    first = said.words[0]
    assert first[3, 1] > max(0, *np.delete(first[:, 1], [3, 5])), (
        "the word that tells the class says most for it"
    )
    assert {(p.side, p.start, p.end) for p in said.joint} >= {(0, 1, 3), (0, 2, 4)}


def test_two_parts_of_the_same_features_add_as_one() -> None:
    part = fitted()
    other = replace(part.weighing(0.5), weights=part.weights[::-1].copy(), bias=part.bias - 1)
    both = part.weighing(2.0).beside(other)
    assert both.weight == 1.0
    alone = part.weighing(2.0).logits(FEATURES[:5]) + other.logits(FEATURES[:5])
    assert both.logits(FEATURES[:5]) == pytest.approx(alone, abs=1e-4)


def test_the_weight_is_none_where_it_does_not_help() -> None:
    draw = np.random.default_rng(0)
    classes = draw.integers(0, 3, 300)
    right = np.eye(3)[classes] * 2 + draw.normal(size=(300, 3))
    other = np.eye(3)[classes] * 2 + draw.normal(size=(300, 3))
    assert 0.5 < fit_weight(right, other, classes) < 2
    assert 5 < fit_weight(right, other / 10, classes) <= 20
    assert fit_weight(right, draw.normal(size=(300, 3)), classes) < 0.2
    assert fit_weight(right, -other, classes) == 0


def test_the_sum_is_better_than_either_where_the_two_err_apart() -> None:
    draw = random.Random(0)
    noise = np.random.default_rng(1)
    classes = np.array([draw.randrange(2) for _ in range(2_000)])
    first, second = (np.eye(2)[classes] + noise.normal(size=(2_000, 2)) for _ in range(2))
    weight = fit_weight(first[:1_000], second[:1_000], classes[:1_000])
    right = [
        (z[1_000:].argmax(axis=1) == classes[1_000:]).mean() for z in (first, second, first + weight * second)
    ]
    assert right[2] > max(right[:2]) + 0.03


@pytest.mark.parametrize(
    "changed",
    [
        {"numbers": np.int32([3, 2, 9])},
        {"numbers": np.int32([2, 2, 9])},
        {"rarity": np.ones(2, np.float32)},
        {"weights": np.ones((3, 3), np.float32)},
        {"weights": np.full((3, 2), np.nan, np.float32)},
        {"bias": np.float32([np.inf, 0])},
        {"weight": -1.0},
        {"weight": float("nan")},
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, object]) -> None:
    sound = {
        "rule": RULE,
        "numbers": np.int32([2, 3, 9]),
        "rarity": np.ones(3, np.float32),
        "weights": np.ones((3, 2), np.float32),
        "bias": np.zeros(2, np.float32),
    }
    WidePart(**sound)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="wide"):
        WidePart(**{**sound, **changed})  # type: ignore[arg-type]


def test_many_outputs_are_bounded_in_weights_and_fits() -> None:
    few, many = targets(CLASSES, 2), targets(CLASSES % 2, 900)
    assert (
        len(wide_settings(few, 1_000))
        > len(wide_settings(many, 20_000))
        > len(wide_settings(many, 10**6))
        == 1
    )
    part = empty_part(RULE, EVERY, MOST_WEIGHTS // 50)
    assert part.weights.size <= MOST_WEIGHTS
    assert len(part.numbers) <= 50 < len(empty_part(RULE, EVERY, 2).numbers)


def test_values_in_new_texts_are_larger_by_the_features_that_are_known_in_training_texts_alone() -> None:
    """Each text has two words of many texts, and two of its own, which in a new text are not known."""
    rule = PhraseRule(1)
    texts = [[f"a{k % 3}", f"b{k % 4}", f"own{k}", f"other{k}"] for k in range(24)]
    features = ragged_of([rule.numbers(words) for words in texts])
    part = empty_part(rule, features, 1)
    _, seen = part.values(rule.numbers(texts[0]))
    _, new = part.values(rule.numbers(["a0", "b0", "never", "met"]))
    shares = of_new_texts(part, features)
    assert np.allclose(shares, shares[0])
    assert np.sort(seen)[:2] == pytest.approx(shares[0] * np.sort(new))
    assert (of_new_texts(part, ragged_of([rule.numbers(words) for words in (*texts, *texts)])) == 1).all()


def test_few_long_texts_may_still_be_scaled_by_what_tells_classes_apart() -> None:
    """Where one sentence of forty decides, plain values learn next to nothing."""
    given, much = targets(CLASSES), 25_000_000
    assert not any(setting.scaled for setting in wide_settings(given, much))
    assert any(setting.scaled for setting in wide_settings(given, much, few=True))
    assert len(wide_settings(given, 10 * much, few=True)) == 1
