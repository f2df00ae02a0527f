"""The linear part of tags: fitted, joined, saved and read again, with the answers of every door the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heedful.baselines.board_text import render
from heedful.baselines.run_baselines import beside_source
from heedful.baselines.tag_board import TagRun, tag_board
from heedful.baselines.tag_rival import CRF, TagRival, TagSplit
from heedful.data.examples import Corpus, Example, WordTags
from heedful.errors import ArtifactError, UsageError
from heedful.explain.explainer import explain
from heedful.explain.methods import MethodChoice, Sampling
from heedful.export import described
from heedful.export.folder import Numbers, export_folder
from heedful.model.answers import TagsAnswer
from heedful.model.decisions.tag_paths import TagChain
from heedful.run import from_examples, prepare_examples, train
from heedful.run.recipe_files import load_config
from heedful.run.record import RunResult
from heedful.runtime import load
from heedful.runtime.tag_model import Tagger
from heedful.storage.fields import read_json
from heedful.storage.manifest import CONFIG, MODEL_FILES, write_json, write_manifest
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import TagsModel, load_model
from heedful.tasks.tags import best_step
from heedful.tasks.words.fitting_chain import ChainStrength, fit_chain
from heedful.tasks.words.tag_joining import TagGold, fit_by_folds
from heedful.tasks.words.tag_rows import TagReading
from heedful.tasks.words.tag_sequences import ScaledParts, allowed_chain, torch_chain
from heedful.text.bio import bio_tags, mistake_in

NAMES, VERBS = ("Anna", "Bob", "Clara", "Dora", "Emil", "Frida"), ("sees", "calls", "finds")
LABELS = bio_tags(["PER"])
TEXTS = ["Anna Smith calls Nora .", "", "xyzzy", "the dog " * 30]


def sentences(count: int) -> list[Example]:
    """Return sentences such as ``Anna Miller sees Bob .`` with the names as spans."""
    found = []
    for k in range(count):
        words = [NAMES[k % 6], "Miller", VERBS[k % 3], NAMES[(k * 5 + 2) % 6], "."]
        tags = ["B-PER", "I-PER", "O", "B-PER", "O"]
        if k % 2:
            words, tags = [words[0], *words[2:]], [tags[0], *tags[2:]]
        found.append(Example((" ".join(words),), WordTags(tuple(tags)), words=(tuple(words),)))
    return found


@pytest.fixture(scope="module")
def trained() -> RunResult:
    settings = ["data.few_rows=0", "model.width=8", "train.epochs=1", "text.subwords=50", "data.train=x"]
    config = load_config("my-tags", [*settings, "model.sentence=none"])
    source = from_examples(sentences(36), sentences(12), "tags", config.data.dev_fraction, 0)
    return train(config, prepare_examples(config, source))


@pytest.fixture(scope="module")
def by_folds() -> RunResult:
    config = load_config("my-tags", ["data.train=x", "model.sentence=none"])
    source = from_examples(sentences(30), None, "tags", config.data.dev_fraction, 0, few_rows=300)
    return train(config, prepare_examples(config, source))


def model_of(result: RunResult) -> TagsModel:
    assert isinstance(result.predictor, TagsModel)
    return result.predictor


def same_answers(made: TagsModel, model: Tagger, atol: float = 2e-6) -> None:
    for wanted, found in zip(made.answer(TEXTS), model.predict(TEXTS), strict=True):
        assert isinstance(found, TagsAnswer)
        assert wanted.tags == found.tags
        np.testing.assert_allclose(
            np.array(wanted.probabilities), np.array(found.probabilities), atol=atol, rtol=1e-5
        )


def test_the_linear_part_joins_and_says_so(trained: RunResult) -> None:
    model = model_of(trained)
    assert model.about.tagging is not None
    assert model.joining is None
    assert "linear part f1" in trained.parts
    assert "network f1" in trained.parts
    assert trained.parts in model.about.card
    assert trained.dev.metrics["f1"] > 0.9
    assert trained.fit.best_metrics["f1"] < trained.dev.metrics["f1"]  # which is the network alone


def test_few_sentences_need_no_network(by_folds: RunResult) -> None:
    model = model_of(by_folds)
    assert model.model.encoder == "none"
    assert by_folds.dev.count == 30
    assert by_folds.dev.metrics["f1"] > 0.9
    for answer in model.answer(TEXTS):
        assert mistake_in(answer.tags, "bio") is None


@pytest.mark.parametrize("kind", ["trained", "by_folds"])
def test_a_folder_gives_the_same_answers(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    made = model_of(request.getfixturevalue(kind))
    path = tmp_path / "model"
    made.save(path)
    again = load_model(path)
    assert isinstance(again, TagsModel)
    assert [answer.as_dict() for answer in again.answer(TEXTS)] == [a.as_dict() for a in made.answer(TEXTS)]
    model = load(path)
    assert isinstance(model, Tagger)
    same_answers(made, model)
    folder = load_model_folder(path)
    formats: tuple[Numbers, ...] = ("int8", "float16")
    for numbers in formats:
        export_folder(folder, described(made.network), tmp_path / numbers, numbers)
        small = load(tmp_path / numbers)
        assert isinstance(small, Tagger)
        same_answers(made, small, atol=0.05)
        back = load_model(tmp_path / numbers)
        assert isinstance(back, TagsModel)
        same_answers(back, small, atol=0.02)


def test_a_text_in_windows_has_the_emissions_of_the_whole(trained: RunResult, tmp_path: Path) -> None:
    made = model_of(trained)
    short = made.reading_as(replace(made.text, max_tokens=7, truncate="head"))
    short.save(tmp_path / "model")
    same_answers(short, load(tmp_path / "model"))  # type: ignore[arg-type]


def test_folders_that_do_not_fit_are_refused(trained: RunResult, tmp_path: Path) -> None:
    path = tmp_path / "model"
    model_of(trained).save(path)
    whole = read_json(path / CONFIG, dict)
    for change, said in (
        ({"shapes": {"affixes": 99, "reach": 2}, "vectors": {}, "outside": 0.0}, "affixes must be"),
        ({"shapes": {"affixes": 4, "reach": 2}, "vectors": {}, "outside": -1.0}, "outside must be"),
        (
            {
                "shapes": {"affixes": 4, "reach": 2},
                "vectors": {"reach": 1, "rows": {}},
                "outside": 0.0,
            },
            "expected the kind",
        ),
    ):
        write_json(path / CONFIG, {**whole, "tagging": change})
        write_manifest(path, MODEL_FILES)
        for read in (load, load_model):
            with pytest.raises(ArtifactError, match=said):
                read(path)


def gold(count: int) -> TagGold:
    examples = sentences(count)
    number = {tag: k for k, tag in enumerate(LABELS)}
    tags = [number[tag] for each in examples for tag in each.target.tags]  # type: ignore[union-attr]
    return TagGold([list(each.words[0] or ()) for each in examples], np.array(tags))


def test_weaker_regularization_fits_better() -> None:
    data, allowed = gold(24), allowed_chain(LABELS)
    rows = TagReading.of(data.texts, len(LABELS), None).rows(data.texts)
    losses = []
    for strength in (0.1, 100.0):
        fit = fit_chain(rows, data.tags, allowed, ChainStrength(strength, strength), epochs=30)
        chain = torch_chain(TagChain(fit.follows, fit.first, fit.last))
        problem = ScaledParts([fit.emissions(rows)], chain, allowed, rows.offsets, data.tags)
        losses.append(problem.loss(np.ones(2))[0])
    assert losses[1] < 0.02 < losses[0]


def test_the_same_seed_gives_the_same_weights() -> None:
    data, allowed = gold(12), allowed_chain(LABELS)
    rows = TagReading.of(data.texts, len(LABELS), None).rows(data.texts)
    first, second = (fit_chain(rows, data.tags, allowed, ChainStrength(), epochs=2, seed=3) for _ in range(2))
    for one, other in zip(first.tensors(), second.tensors(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_slope_of_the_weights_is_that_of_the_loss() -> None:
    generator = np.random.default_rng(0)
    parts = [generator.normal(size=(7, 3)) for _ in range(2)]
    chain = torch_chain(TagChain(*(generator.normal(size=s) for s in ((3, 3), (3,), (3,)))))
    tags = np.array([0, 1, 2, 1, 2, 0, 0])
    problem = ScaledParts(parts, chain, allowed_chain(LABELS), np.array([0, 3, 3, 7]), tags)
    at = np.array([0.5, 1.2, 0.7])
    _, slope = problem.loss(at)
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        wanted = (problem.loss(at + step)[0] - problem.loss(at - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(wanted, abs=1e-7)


def test_a_sentence_with_a_tag_that_is_not_known_chooses_nothing() -> None:
    parts = [np.random.default_rng(0).normal(size=(4, 3))]
    chain = torch_chain(TagChain(np.zeros((3, 3)), np.zeros(3), np.zeros(3)))
    offsets = np.array([0, 2, 4])
    both = ScaledParts(parts, chain, allowed_chain(LABELS), offsets, np.array([0, 1, -1, 0]))
    one = ScaledParts([parts[0][:2]], chain, allowed_chain(LABELS), offsets[:2], np.array([0, 1]))
    assert both.loss(np.ones(2))[0] == pytest.approx(one.loss(np.ones(2))[0])


def test_nested_answers_come_from_other_folds() -> None:
    data = gold(12)
    found = fit_by_folds(data, np.arange(12) % 3, LABELS, None, 0)
    assert len(found.tags) == len(data.tags)
    cut = np.split(found.tags, np.cumsum([len(text) for text in data.texts])[:-1])
    assert all(mistake_in([LABELS[k] for k in tags], "bio") is None for tags in cut)


def test_corpora_and_words_are_what_the_task_reads(trained: RunResult) -> None:
    model = model_of(trained)
    ready = Corpus([Example(("Anna calls",), words=(("Anna", "calls"),))])
    (answer,) = model.answer(ready)
    assert answer.words == ("Anna", "calls")
    dataset, _ = model.encode_examples(ready.examples)
    with pytest.raises(UsageError, match="has a linear part"):
        model.tag(replace(dataset, kept=None))
    assert model.logits(ready).shape == (2, len(LABELS))


@pytest.mark.parametrize("kind", ["trained", "by_folds"])
def test_explanations_add_up_to_the_log_odds_of_the_marginal(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = model_of(request.getfixturevalue(kind))
    made.save(tmp_path / "model")
    text = "Anna Smith calls Nora ."
    (answer,) = made.answer([text])
    for word, label in ((2, None), (4, "O"), (1, None)):
        theirs = explain(load(tmp_path / "model"), text, MethodChoice(None, Sampling(5), label), word=word)
        for found in (made.explain(text, word=word, why=label), theirs):
            said = found.attribution
            assert said is not None
            total = said.start + sum(float(side.sum()) for side in said.values)
            if label is None:
                assert said.probability == pytest.approx(answer.probabilities[word - 1], abs=1e-5)
            assert said.probability is not None
            odds = np.log(said.probability) - np.log1p(-said.probability)
            assert total == pytest.approx(odds, abs=2e-2)
            assert found.tags[word - 1].tag == answer.tags[word - 1]
            assert len(found.sides[0].maps) == (4 if kind == "trained" else 0)
            if kind == "by_folds":  # all is linear: nothing is drawn
                assert said.samples == 0


@pytest.mark.parametrize("method", ["occlusion", "shapley", "gradient", "integrated"])
def test_the_other_methods_take_the_chain_along(method: str, trained: RunResult) -> None:
    found = model_of(trained).explain("Anna Smith calls Nora .", method=method, samples=3, word=1)
    assert found.attribution is not None
    assert np.isfinite(np.concatenate([np.asarray(side) for side in found.attribution.values])).all()
    assert found.faithfulness is not None


def test_the_rival_is_trained_on_the_same_sentences(trained: RunResult, by_folds: RunResult) -> None:
    config = load_config("my-tags", ["data.train=x"])
    source = from_examples(sentences(36), sentences(12), "tags", config.data.dev_fraction, 0)
    found = beside_source(source, trained)
    assert found is not None
    assert (found.metric, found.deciding, list(found.tests["dev"])) == ("f1", "dev", [CRF])
    assert found.tests["dev"][CRF].second > 0.9
    assert CRF in found.render()
    few = from_examples(sentences(30), None, "tags", config.data.dev_fraction, 0, few_rows=300)
    beside = beside_source(few, by_folds)
    assert beside is not None
    test = beside.tests["dev"][CRF]
    assert test.first == test.second  # the linear part without vectors is the same model
    assert not beside.warning


def test_a_rival_of_plain_tags_is_measured_by_accuracy() -> None:
    split = TagSplit([["a", "dog"], ["a", "cat"], ["the", "dog"]], [("D", "N")] * 3)
    rival = TagRival.train({"train": split}, ("D", "N"), 0)
    assert rival.report(split).metrics["accuracy"] == 1
    other = TagSplit([["a", "dog"]], [("D", "X")])
    assert rival.report(other).metrics["accuracy"] == 0.5


def test_a_board_of_tags_compares_chains_and_networks() -> None:
    config = load_config("my-tags", ["data.train=x", "model.width=8", "train.epochs=1", "data.few_rows=0"])
    corpora = {name: Corpus(sentences(count)) for name, count in (("train", 24), ("dev", 12), ("test", 18))}
    first = from_examples(sentences(24), sentences(12), "tags", 0.1, 0)
    run = TagRun(config, replace(first, load=lambda: dict(corpora)), 0)
    board = tag_board("made up", {"train.seed=0": run}, without=["with word vectors"])
    assert [row.system for row in board.rows] == [CRF]
    assert (board.metric, board.examples, board.tested) == ("f1", 24, 18)
    assert board.rows[0].mean("metric") == 1
    assert CRF in render(board)
    without_test = TagRun(config, first, 0)
    with pytest.raises(UsageError, match="no test split"):
        tag_board("made up", {"train.seed=0": without_test})


def test_a_model_without_a_network_is_asked_for_by_name() -> None:
    config = load_config("my-tags", ["data.train=x", "model.encoder=none", "model.sentence=none"])
    source = from_examples(sentences(30), sentences(12), "tags", 0.1, 0)
    config = replace(config, data=replace(config.data, few_rows=10))
    model = model_of(train(config, prepare_examples(config, source)))
    assert model.model.encoder == "none"
    assert model.about.tagging is not None
    (answer,) = model.answer(["Anna calls Bob ."])
    assert answer.tags == ("B-PER", "O", "B-PER", "O")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("model.sentence=en-sentences", "reads whole texts"),
        ("model.sentence=overlap", "reads whole texts"),
    ],
)
def test_what_tags_do_not_read_is_refused(setting: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_config("my-tags", ["data.train=x", setting])


def test_a_model_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"set model\.wide"):
        load_config("my-tags", ["data.train=x", "model.encoder=none", "model.wide=none"])


def test_without_a_linear_part_no_vectors_are_looked_for() -> None:
    config = load_config("my-tags", ["data.train=x", "model.wide=none", "model.width=8", "train.epochs=1"])
    source = from_examples(sentences(24), sentences(12), "tags", 0.1, 0)
    prepared = prepare_examples(config, source)
    assert prepared.decided["model.sentence"] == "none"
    assert not [note for note in prepared.notes if "vectors" in note]


@pytest.mark.parametrize("count", [2, 3])
def test_two_sentences_are_enough(count: int) -> None:
    data = gold(count)
    found = fit_by_folds(data, np.zeros(count, np.int64), LABELS, None, 0)
    assert found.part.outputs == len(LABELS)
    assert len(found.tags) == len(data.tags)


def test_a_lower_score_of_outside_finds_more_spans_at_the_same_probabilities(
    trained: RunResult, tmp_path: Path
) -> None:
    made = model_of(trained)
    lower = made.reading_as(made.text)
    assert made.about.tagging is not None
    lower.about = replace(made.about, tagging=replace(made.about.tagging, outside=50.0))
    (before,), (after,) = (model.answer(["the dog . sees"]) for model in (made, lower))
    assert set(after.tags) <= {"B-PER", "I-PER"}
    assert before.tags.count("O") > 0
    assert min(after.probabilities) < 0.5  # what is chosen is not what is likeliest
    lower.save(tmp_path / "model")
    same_answers(lower, load(tmp_path / "model"))  # type: ignore[arg-type]


def test_the_step_is_the_least_of_the_best() -> None:
    assert best_step({0.0: 0.5, 0.5: 0.503, 1.0: 0.502}) == 0.0
    assert best_step({0.0: 0.3, 0.5: 0.4, 1.0: 0.45, 1.5: 0.44, 2.0: 0.2}) == 1.0
    assert best_step({0.0: 0.3, 0.5: 0.31, 1.0: 0.6, 1.5: 0.1, 2.0: 0.1}) == 1.0
