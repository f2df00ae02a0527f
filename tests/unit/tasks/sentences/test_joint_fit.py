from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from heedful.tasks.schema import About
from heedful.tasks.sentences import cross_validation
from heedful.tasks.sentences.cross_validation import OutOfFold, PartRows, Tried
from heedful.tasks.sentences.fitting_wide import FitSetting, Fitter
from heedful.tasks.sentences.joint_fit import NAME, SPREAD, STRESS, forms, may_join, together
from heedful.tasks.sentences.linear_fits import GAIN, LinearFit, weigh
from heedful.tasks.sentences.linear_targets import ClassTargets, NumberTargets
from heedful.tasks.sentences.part_rows import WORDS_AND_CHARACTERS, in_one
from heedful.tasks.sentences.part_weights import FittedPart, Joining
from heedful.tasks.sentences.principal_rows import MOST_DIRECTIONS

DRAW = np.random.default_rng(0)
DENSE = DRAW.normal(size=(30, 12)).astype(np.float32)
SPARSE = sparse.csr_matrix(DRAW.normal(size=(30, 70)) * (DRAW.random((30, 70)) < 0.2))
CLASSES = np.array([0] * 20 + [1] * 7 + [2] * 3)
TARGETS = ClassTargets.of_classes(CLASSES, 3, np.ones(30))
SIDE_BY_SIDE = np.hstack([DENSE, np.sqrt(0.3) * SPARSE.toarray()])


def parts(put: dict[str, LinearFit] | None = None) -> list[PartRows]:
    """Return two parts of thirty examples, which note what they are given; the examples are held out too."""

    def noted(name: str) -> PartRows:
        def keep(about: About, fit: LinearFit, weight: float) -> About:
            assert weight == 2.0
            if put is not None:
                put[name] = fit
            return about

        rows = DENSE if name == "dense" else SPARSE
        return PartRows(name, rows, (FitSetting(1.0),), keep, rows)

    return [noted("dense"), noted("sparse")]


def test_parts_in_one_are_in_their_directions_and_not_turned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = together(parts(), {"sparse": 0.3}, TARGETS)
    again = replace(whole, principal=False).turned
    monkeypatch.setattr("heedful.tasks.sentences.principal_rows.directions", None)
    assert whole.turned.rows is whole.rows
    assert whole.turned.sizes == pytest.approx(again.sizes)
    assert np.abs(whole.turned.rows) == pytest.approx(np.abs(np.asarray(again.rows)), abs=1e-8)
    weights = DRAW.normal(size=(len(again.sizes), 3))
    assert whole.turned.back(weights) is weights


@pytest.mark.parametrize("even", [True, False])
def test_one_fit_is_that_of_scikit_learn_over_the_features_side_by_side(even: bool) -> None:
    given: dict[str, LinearFit] = {}
    whole = together(parts(given), {"sparse": 0.3}, TARGETS)
    fit = Fitter(whole.rows, TARGETS).fit(FitSetting(3.0, even=even))
    expected = LogisticRegression(
        C=3.0, tol=1e-8, max_iter=10_000, class_weight="balanced" if even else None
    ).fit(SIDE_BY_SIDE, CLASSES)
    logits = fit.logits(whole.rows)
    centered = logits - logits.mean(axis=1, keepdims=True)
    assert centered == pytest.approx(expected.decision_function(SIDE_BY_SIDE), abs=0.05)
    assert whole.put(About(), fit, 2.0) == About()
    assert DENSE @ given["dense"].weights + given["dense"].bias + SPARSE @ given[
        "sparse"
    ].weights == pytest.approx(logits, abs=1e-6)
    assert not given["sparse"].bias.any()  # the first part has the bias
    assert whole.held == pytest.approx(whole.rows, abs=1e-6)
    assert whole.name == "dense and sparse in one"


def test_rows_without_any_value_give_no_weights() -> None:
    empty = [replace(part, rows=0 * part.rows, held=None) for part in parts()]
    whole = together(empty, {}, TARGETS)
    assert (whole.rows.shape, whole.held) == ((30, 0), None)
    logits = Fitter(whole.rows, TARGETS).fit(FitSetting(1.0)).logits(whole.rows)
    assert (logits == logits[:1]).all()


def test_classes_may_count_alike_and_numbers_have_none() -> None:
    evened = TARGETS.evened()
    assert evened.weights @ evened.shares == pytest.approx([10, 10, 10])
    numbers = NumberTargets(np.ones(30), CLASSES.astype(float))
    assert numbers.evened() is numbers
    assert {setting.even for setting in together(parts(), {}, TARGETS).settings} == {True, False}
    weighted = replace(TARGETS, weights=np.arange(30.0))
    for given in (numbers, weighted):
        assert {setting.even for setting in together(parts(), {}, given).settings} == {False}


def test_what_all_examples_share_and_the_size_of_a_block_say_nothing() -> None:
    """As it is with long texts, and with texts around which the same notice stands."""
    given: dict[str, LinearFit] = {}
    own = [replace(part, held=None) for part in parts(given)]
    own[0] = replace(own[0], blocks=(5, 7))
    near = DENSE / 10  # texts that are near one another
    assert max(near[:, :5].var(axis=0).sum(), near[:, 5:].var(axis=0).sum()) < SPREAD
    alike = np.hstack([3 + near[:, :5] / 5, near[:, 5:] / 2 - 1])
    for share in (0.3, 5.0):
        logits = []
        for rows in (near, alike):
            whole = together([replace(own[0], rows=rows), own[1]], {"sparse": share}, TARGETS)
            fit = Fitter(whole.rows, TARGETS).fit(FitSetting(10.0))
            logits.append(fit.logits(whole.rows))
            whole.put(About(), fit, 2.0)
            split = [
                part @ given[name].weights + given[name].bias
                for part, name in ((rows, "dense"), (SPARSE, "sparse"))
            ]
            assert sum(split) == pytest.approx(logits[-1], abs=1e-4)
        assert logits[1] == pytest.approx(logits[0], abs=0.03)
        assert np.abs(logits[0]).max() > 1
    without = np.where(DRAW.random((30, 1)) < 0.2, DENSE, 0)  # a text that no vector knows has no features
    sizes = [together([replace(own[0], rows=rows), own[1]], {}, TARGETS) for rows in (without, 0 * DENSE)]
    assert (sizes[0].rows ** 2).sum() < 20 * (sizes[1].rows ** 2).sum()


def test_blocks_of_ordinary_texts_count_as_much_as_before() -> None:
    own = [replace(part, held=None) for part in parts()]
    assert min(DENSE[:, :5].var(axis=0).sum(), DENSE[:, 5:].var(axis=0).sum()) > SPREAD
    logits = []
    for blocks in ((), (5, 7)):
        whole = together([replace(own[0], blocks=blocks), own[1]], {}, TARGETS)
        logits.append(Fitter(whole.rows, TARGETS).fit(FitSetting(10.0)).logits(whole.rows))
    centered = [each - each.mean(axis=1, keepdims=True) for each in logits]
    assert centered[1] == pytest.approx(centered[0], abs=0.06)


def test_words_alone_may_be_fitted_with_classes_that_count_alike() -> None:
    words = replace(parts()[1], name=WORDS_AND_CHARACTERS)
    for targets, evens in ((TARGETS, {True, False}), (TARGETS.of(np.arange(0, 30, 2)).evened(), {False})):
        ((found,),) = in_one([words], targets)
        assert {setting.even for setting in found.settings} == evens
    even = ClassTargets.of_classes(np.arange(30) % 3, 3, np.ones(30))
    assert in_one([words], even) == [[words]]


def test_a_form_that_lacks_something_must_be_likelier_by_it() -> None:
    right, settings = np.eye(3)[CLASSES], (FitSetting(1.0),)
    nearly = right + DRAW.normal(size=right.shape) / 5
    behind = 30 * (weigh([nearly], TARGETS)[1] - weigh([right], TARGETS)[1])
    for lacks, best in ((0.5 * behind, 1), (2 * behind, 0)):
        plain, other = parts()[0], replace(parts()[1], lacks=lacks)
        both = (Tried(plain, settings[0], nearly), Tried(other, settings[0], right))
        found = OutOfFold((both,), TARGETS, TARGETS, np.arange(30) % 5)
        assert found.best() == [both[best]]


def test_a_strength_beyond_the_usual_ones_must_itself_be_the_likeliest() -> None:
    right = np.eye(3)[CLASSES]
    nearly = right + DRAW.normal(size=right.shape) / 50
    assert 0 < 30 * (weigh([nearly], TARGETS)[1] - weigh([right], TARGETS)[1]) < GAIN
    for usual, strong, weak, best in (
        (0.0, nearly, right, 0),
        (1.0, nearly, right, 1),
        (1.0, right, nearly, 0),
    ):
        part = replace(parts()[0], usual=usual)
        both = (Tried(part, FitSetting(0.3), strong), Tried(part, FitSetting(1.0), weak))
        assert OutOfFold((both,), TARGETS, TARGETS, np.arange(30) % 5).best() == [both[best]]
    assert {each.usual for each in forms(parts(), {}, TARGETS)} == {1.0}


def test_many_wrong_labels_choose_strong_regularization_where_that_is_clearly_likelier() -> None:
    """One direction of large variance tells the classes apart; 40 % of the labels are wrong."""
    draw = np.random.default_rng(0)
    directions = (draw.normal(size=(400, 301)) * np.repeat([0.5, 0.1], [1, 300])).astype(np.float32)
    classes = np.where(draw.random(400) < 0.4, directions[:, 0] <= 0, directions[:, 0] > 0).astype(int)
    targets = ClassTargets.of_classes(classes, 2, np.ones(400))
    sides = (directions[:, :150], directions[:, 150:300])
    own = [replace(part, held=None, rows=rows) for part, rows in zip(parts(), sides, strict=True)]

    def strength(part: PartRows, factor: float = 1.0) -> float:
        given = replace(targets, weights=factor * targets.weights)
        return OutOfFold.of([[part]], given, np.arange(400) % 5).best()[0].setting.strength

    whole = together(own, {}, targets)
    assert strength(whole) == 0.03
    assert strength(replace(whole, stronger=())) == 0.3
    assert strength(whole, 0.01) == 0.3  # so few examples show nothing


def test_one_part_and_many_examples_are_not_joined() -> None:
    many = [replace(part, rows=np.zeros((MOST_DIRECTIONS + 1, 1))) for part in parts()]
    assert [may_join(parts()), may_join(parts()[:1]), may_join(many)] == [True, False, False]


def test_forms_that_share_products_are_those_that_find_their_own() -> None:
    own = parts()
    own[0] = replace(own[0], named=DENSE[:3], vector=4)
    found = forms(own, {"sparse": 0.3}, TARGETS)
    asked = [{"stress": stress, "named": named} for named in (False, True) for stress in (1.0, STRESS)]
    assert len(found) == len(asked)
    for one, how in zip(found, asked, strict=True):
        alone = together(own, {"sparse": 0.3}, TARGETS, **how)  # type: ignore[arg-type]
        assert one.name == alone.name
        assert np.array_equal(one.rows, alone.rows)


def test_words_stand_beside_the_one_where_there_are_rows_enough() -> None:
    few, more = (
        [
            replace(
                part,
                rows=part.rows[:1].repeat(n, axis=0)
                if part.name == "dense"
                else sparse.vstack([part.rows[:1]] * n, "csr"),
                held=None,
            )
            for part in parts()
        ]
        for n in (299, 300)
    )
    for own in (few, more):
        own[1] = replace(own[1], name=WORDS_AND_CHARACTERS)
    names = [
        [form.name for form, *_ in in_one(own, ClassTargets.of_classes(np.arange(n) % 2, 2, np.ones(n)))]
        for own, n in ((few, 299), (more, 300))
    ]
    one = f"dense and {WORDS_AND_CHARACTERS} in one"
    assert names == [[one], [one, WORDS_AND_CHARACTERS]]
    two = ClassTargets.of_classes(np.arange(299) % 2, 2, np.ones(299))
    more = f"{one}, {WORDS_AND_CHARACTERS} times 17"
    assert [(form.name, form.lacks) for form in in_one(few, two)[0]] == [
        (one, 0.0),
        (more, pytest.approx(29.9)),
    ]
    assert [form.name for form in in_one(few, two, {more})[0]] == [one, more]
    assert [form.name for form in in_one(few, two, {one})[0]] == [one]
    assert in_one(few[:1], TARGETS) == [few[:1]]


def tried(settings: Sequence[FitSetting], logits: Sequence[NDArray[np.float64]]) -> OutOfFold:
    """Return a part that was tried in some settings, with what it gave in each."""
    own = [Tried(parts()[0], *each) for each in zip(settings, logits, strict=True)]
    return OutOfFold((tuple(own),), TARGETS, TARGETS, np.arange(30) % 5)


def test_uneven_classes_must_be_likelier_by_the_gain() -> None:
    right = np.eye(3)[CLASSES]
    settings = (FitSetting(1.0, even=True), FitSetting(1.0))
    # the same logits, and logits so much better that they are chosen
    for logits in ((right, right), (right, 5 * right + DRAW.normal(size=right.shape) / 9)):
        assert [each.setting for each in tried(settings, logits).best()] == [settings[0]]
    worse = right + 2 * DRAW.normal(size=right.shape)
    assert 30 * (weigh([worse], TARGETS)[1] - weigh([right], TARGETS)[1]) > GAIN
    assert [each.setting for each in tried(settings, (worse, right)).best()] == [settings[1]]


def test_weaker_regularization_must_be_likelier_by_the_gain() -> None:
    right = np.eye(3)[CLASSES]
    settings = (FitSetting(1.0), FitSetting(3.0), FitSetting(10.0), FitSetting(1.0, scaled=True))
    nearly = right + DRAW.normal(size=right.shape) / 5
    worse = right + 2 * DRAW.normal(size=right.shape)
    behind = 30 * (weigh([nearly], TARGETS)[1] - weigh([right], TARGETS)[1])
    assert 0 < behind < GAIN
    for logits, best in (((worse, nearly, right, worse), 1), ((worse, right, nearly, nearly), 1)):
        assert [each.setting for each in tried(settings, logits).best()] == [settings[best]]
    # what stands first is of another kind, and is worse
    assert [each.setting for each in tried(settings, (nearly, worse, worse, right)).best()] == [settings[3]]


def with_names() -> list[PartRows]:
    """Return the parts, the dense one with rows of the names of classes; its last five features are a vector."""
    dense, words = parts({})
    names = np.array([DENSE[k == CLASSES].mean(axis=0) for k in range(3)], np.float32)
    return [replace(dense, named=names, vector=5), words]


def test_names_are_examples_of_their_classes_and_vectors_may_count_more() -> None:
    given: dict[str, LinearFit] = {}
    own = [replace(part, put=other.put) for part, other in zip(with_names(), parts(given), strict=True)]
    whole = together(own, {"sparse": 0.3}, TARGETS, 4.0, named=True)
    fit = whole.fitter(TARGETS).fit(FitSetting(3.0, even=True))
    columns = np.hstack([np.ones(7), np.full(5, 2.0), np.ones(70)])
    assert own[0].named is not None
    named = np.hstack([own[0].named, np.zeros((3, 70))])
    rows = columns * np.vstack([SIDE_BY_SIDE, named])
    rows *= np.sqrt((SIDE_BY_SIDE**2).sum() / (rows[:30] ** 2).sum())
    classes = np.concatenate([CLASSES, [0, 1, 2]])
    weights = np.where(np.arange(33) < 30, 1.0, NAME)
    total = np.bincount(classes, weights)
    weights *= weights.sum() / 3 / total[classes]
    expected = LogisticRegression(C=3.0, tol=1e-8, max_iter=10_000).fit(rows, classes, weights)
    logits = fit.logits(whole.rows[:30])
    centered = logits - logits.mean(axis=1, keepdims=True)
    assert centered == pytest.approx(expected.decision_function(rows[:30]), abs=0.05)
    whole.put(About(), fit, 2.0)
    assert DENSE @ given["dense"].weights + given["dense"].bias + SPARSE @ given[
        "sparse"
    ].weights == pytest.approx(logits, abs=1e-6)
    assert whole.held == pytest.approx(whole.rows[:30], abs=1e-6)


def test_every_form_is_tried_and_a_name_is_in_no_fold() -> None:
    every = forms([replace(part, held=None) for part in with_names()], {}, TARGETS)
    names, vectors = ", with the names of the classes", ", sentence vectors times 4"
    assert [form.name.removeprefix("dense and sparse in one") for form in every] == [
        "",
        vectors,
        names,
        names + vectors,
    ]
    assert len(forms(parts(), {}, TARGETS)) == 1
    weighted = replace(TARGETS, weights=np.arange(30.0))
    assert len(forms(with_names(), {}, weighted)) == 2  # who weighs examples says what counts
    found = OutOfFold.of([every], TARGETS, np.arange(30) % 5)
    assert {len(each.logits) for each in found.parts[0]} == {30}
    assert found.nested()[0].shape == (30, 3)
    (best,) = found.joining().parts
    assert best.name == found.best()[0].part.name


def test_of_many_classes_every_form_is_tried_once_and_the_likeliest_in_all_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = forms([replace(part, held=None) for part in with_names()], {}, TARGETS)
    folds = np.arange(30) % 5
    (all_tried,) = OutOfFold.of([every], TARGETS, folds).parts
    monkeypatch.setattr(cross_validation, "_MUCH", 30 * 3 - 1)
    (fewer,) = OutOfFold.of([every], TARGETS, folds).parts
    names = [each.part.name for each in fewer]
    assert len(fewer) < len(all_tried)
    (most,) = {name for name in names if names.count(name) > 1}
    assert sorted({*names}) == sorted(form.name for form in every)
    alike = [each for each in all_tried if each.setting == FitSetting(3.0, even=True)]
    assert min(alike, key=lambda each: weigh([each.logits], TARGETS)[1]).part.name == most


def test_a_fold_without_examples_of_a_class_knows_its_name() -> None:
    own = with_names()
    form = together(own, {}, TARGETS, named=True)
    fit = form.fitter(TARGETS, np.flatnonzero(CLASSES < 2)).fit(FitSetting(3.0, even=True))
    answered = fit.logits(form.rows[:30])[CLASSES == 2].argmax(axis=1)
    assert (answered == 2).any()


def test_a_part_that_answers_alone_keeps_a_weight() -> None:
    wrong = -np.eye(3)[CLASSES]
    joined = Joining(TARGETS, (FittedPart("alone", wrong, lambda about, weight: about),)).join(None)
    assert joined.weights == {"alone": 0.1}
    both = [FittedPart(name, wrong, lambda about, weight: about) for name in ("one", "other")]
    assert set(Joining(TARGETS, tuple(both)).join(None).weights.values()) == {0.1}
