"""Distillation: the transfer set, teachers of every kind, exact resume, the command, and what is refused."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
import tiny
from heedful.data.cache import cache_folder
from heedful.data.examples import Corpus, Example
from heedful.data.readers.soft_labels import read_soft_labels, read_unlabeled
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.nn.losses import cross_entropy, divergence, softened
from heedful.run import prepare, train
from heedful.run.distilling import distillation, find_teacher
from heedful.run.distilling.teachers import ModelTeacher
from heedful.run.recipe_files import load_config, override
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.structures import NetworkOutput
from heedful.tasks import load_model, task_named
from heedful.text.augmenting import MASK, ChangeRule, WordPools, changed, frequency_kinds
from heedful.training.run_folder import RunFolder

LABELS = ("neg", "pos")
SHORT = {"train.epochs": 2, "data.dev_fraction": 0.2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny tasks, files of texts, and two teachers of texts in teacher-1 and teacher-2."""
    root = tiny.write_tasks(tmp_path_factory.mktemp("distil"))
    for seed in (1, 2):
        config = override(load_config(str(root / "text.toml")), {"train.seed": seed})
        train(config, prepare(config, root), folder=root / f"teacher-{seed}")
    rows = [text for text, _ in tiny.texts()]
    tiny.write_csv(root / "more.csv", [[text] for text in [*rows[120:], "A frobnicated film ."]], ["text"])
    (root / "more.txt").write_text("A bleak garden .\n\nA frobnicated film .\n", encoding="utf-8")
    return root


def settings(folder: Path, **distil: object) -> RunConfig:
    given = {"teacher": ["teacher-1"], **distil}
    return override(
        load_config(str(folder / "text.toml")), {**SHORT, **{f"distil.{k}": v for k, v in given.items()}}
    )


def weights(model: Path) -> dict[str, torch.Tensor]:
    return load_model(model).network.state_dict()


def write_soft(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# The loss --------------------------------------------------------------------------------------------------------


def test_the_divergence_by_hand() -> None:
    logits = torch.tensor([[1.0, -0.5, 0.25]]).double()
    taught = torch.tensor([[0.7, 0.2, 0.1]]).double()
    teacher = torch.softmax(taught.log() / 3, dim=-1)
    student = torch.softmax(logits / 3, dim=-1)
    expected = 9 * float((teacher * (teacher / student).log()).sum())
    assert divergence(logits, taught, 3.0).item() == pytest.approx(expected, abs=1e-12)
    assert divergence(taught.log(), taught, 3.0).item() == pytest.approx(0, abs=1e-12)


def test_a_sure_teacher_is_the_cross_entropy_and_no_answer_is_nothing() -> None:
    logits = torch.tensor([[1.0, -0.5], [1.0, -0.5]], requires_grad=True)
    taught = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    loss = divergence(logits, taught, 1.0)
    assert loss.tolist() == pytest.approx(
        [cross_entropy(logits[:1], torch.tensor([1])).item(), 0.0], abs=1e-6
    )
    loss.sum().backward()
    assert logits.grad is not None
    assert logits.grad[1].tolist() == [0, 0]
    assert bool(logits.grad.isfinite().all())


def test_a_high_temperature_makes_answers_even() -> None:
    rows = softened(torch.tensor([[0.9, 0.1]]), 1e6)
    assert rows.tolist()[0] == pytest.approx([0.5, 0.5], abs=1e-5)


@pytest.mark.parametrize(
    ("weight", "gold", "expected"),
    [(1.0, 1, "gold"), (0.0, 1, "teacher"), (0.3, 1, "both"), (0.3, -1, "less")],
)
def test_the_loss_is_the_weighted_sum(folder: Path, weight: float, gold: int, expected: str) -> None:
    distil = DistilConfig(("t",), weight=weight, temperature=2.0, vectors=0.5)
    config = replace(settings(folder), distil=distil)
    model = load_model(folder / "teacher-1")
    logits, taught = torch.tensor([[0.3, -1.0]]), torch.tensor([[0.8, 0.2]])
    vector, wanted = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 4.0]])
    targets = torch.cat([torch.tensor([[float(gold)]]), taught, wanted], dim=1)
    found = task_named("text").objective(config, model)(NetworkOutput(logits, (vector,)), targets).item()
    of_gold = cross_entropy(logits, torch.tensor([1])).item() if gold >= 0 else 0.0
    of_teacher = divergence(logits, taught, 2.0).item()
    sums = {
        "gold": of_gold,
        "teacher": of_teacher,
        "both": 0.3 * of_gold + 0.7 * of_teacher,
        "less": 0.7 * of_teacher,
    }
    assert found == pytest.approx(sums[expected] + 0.5 * 2.0, abs=1e-6)


# Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "a", "probabilities": {"pos": 0.5, "neg": 0.4}}, "sum"),
        ({"text": "a", "probabilities": {"pos": 1.5, "neg": -0.5}}, "-0.5"),
        ({"text": "a", "probabilities": {"pos": "1", "neg": 0}}, "'1'"),
        ({"text": "a", "probabilities": {"pos": True, "neg": 0}}, "True"),
        ({"text": "a", "probabilities": {"pos": float("nan"), "neg": 1}}, "nan"),
        ({"text": "a", "probabilities": {"good": 1.0}}, "good"),
        ({"text": "a", "probabilities": [0.5, 0.5]}, "[0.5, 0.5]"),
        ({"text": "a"}, "probabilities"),
        ({"text": 3, "probabilities": {"pos": 1}}, "text"),
        ({"probabilities": {"pos": 1}}, "text"),
    ],
)
def test_a_wrong_row_of_soft_labels_is_named(tmp_path: Path, row: object, said: str) -> None:
    file = write_soft(
        tmp_path / "soft.jsonl", [{"text": "b", "probabilities": {"pos": 0.25, "neg": 0.75}}, row]
    )
    with pytest.raises(DataError) as caught:
        read_soft_labels(file, ("text",), LABELS)
    assert f"{file}: row 2" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_soft_labels_of_pairs_are_read_in_the_order_of_the_labels(tmp_path: Path) -> None:
    rows = [{"premise": "a", "hypothesis": "b", "probabilities": {"pos": 0.9, "neg": 0.1}}]
    rows += [{"premise": "c", "hypothesis": "d", "probabilities": {"pos": 1}}]
    found = read_soft_labels(write_soft(tmp_path / "soft.jsonl", rows), ("premise", "hypothesis"), LABELS)
    assert [example.texts for example in found.corpus.examples] == [("a", "b"), ("c", "d")]
    assert found.probabilities.tolist() == [[0.1, 0.9], [0.0, 1.0]]


def test_votes_become_shares_and_wrong_ones_are_named(tmp_path: Path) -> None:
    rows: list[object] = [
        {"text": "a", "votes": {"pos": 3, "neg": 1}},
        {"text": "b", "votes": ["pos", "pos"]},
        {"text": "c", "votes": ["pos", "neg", "neg", "neg"], "probabilities": {"pos": 1.0}},
    ]
    found = read_soft_labels(write_soft(tmp_path / "votes.jsonl", rows), ("text",), LABELS)
    assert found.probabilities.tolist() == [[0.25, 0.75], [0.0, 1.0], [0.0, 1.0]]
    for votes, said in [
        ({}, "there is no vote"),
        ([], "there is no vote"),
        ({"pos": -1}, "a whole number from 0 on"),
        ({"pos": 1.5}, "a whole number from 0 on"),
        ({"pos": True}, "a whole number from 0 on"),
        (["other"], "unknown label 'other'"),
        ("pos", "or a list of labels"),
    ]:
        file = write_soft(tmp_path / "wrong.jsonl", [{"text": "a", "votes": votes}])
        with pytest.raises(DataError, match=said):
            read_soft_labels(file, ("text",), LABELS)


def test_texts_without_labels_are_read_from_tables_and_lines(folder: Path, tmp_path: Path) -> None:
    assert len(read_unlabeled(folder / "more.csv", ("text",)).examples) > 10
    lines = read_unlabeled(folder / "more.txt", ("text",))
    assert [(e.texts, e.row) for e in lines.examples] == [
        (("A bleak garden .",), 1),
        (("A frobnicated film .",), 3),
    ]
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("a\tb\nc\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 2"):
        read_unlabeled(pairs, ("premise", "hypothesis"))


# Changed copies --------------------------------------------------------------------------------------------------


TEXTS = [("a", "b", "c", "d"), ("a", "b"), ("a", "e")]


def change(rule: ChangeRule, seed: int = 0) -> tuple[str, ...]:
    kinds = frequency_kinds(TEXTS)
    return changed(TEXTS[0], kinds[0], WordPools(TEXTS, kinds), rule, random.Random(seed))


def test_words_are_masked_swapped_within_their_kind_and_cut() -> None:
    assert change(ChangeRule(0.999999, 0, 0)) == (MASK,) * 4
    assert change(ChangeRule(0, 0, 0)) == TEXTS[0]
    assert frequency_kinds(TEXTS)[0] == ("2", "2", "1", "1")  # 3 and 2 times, once, once
    for seed in range(20):
        swapped = change(ChangeRule(0, 0.999999, 0), seed)
        assert all(word in ("a", "b") for word in swapped[:2])
        assert all(word in ("c", "d", "e") for word in swapped[2:])
        cut = change(ChangeRule(0, 0, 0.999999), seed)
        assert 1 <= len(cut) <= 4
        assert " ".join(cut) in " ".join(TEXTS[0])
    assert change(ChangeRule(0.3, 0.3, 0.3), 5) == change(ChangeRule(0.3, 0.3, 0.3), 5)


# The transfer set ------------------------------------------------------------------------------------------------


def test_the_transfer_set_holds_gold_texts_copies_and_answers(folder: Path) -> None:
    config = settings(folder, texts="more.csv", augment=2, kind="frequency", vectors=0.1)
    prepared = prepare(config, folder)
    again = prepare(config, folder)
    assert prepared.transfer is not None
    assert again.transfer is not None
    train_size, targets = len(prepared.datasets["train"]), prepared.transfer.targets
    assert targets.shape[1] == 1 + 2 + load_model(folder / "teacher-1").network.sentence_encoder.width_out
    assert (targets[:train_size, 0] == prepared.datasets["train"].targets).all()
    assert (targets[train_size:, 0] == -1).all()
    assert np.allclose(targets[:, 1:3].sum(axis=1), 1, atol=1e-6)
    assert len(prepared.transfer) > 2 * train_size
    assert (targets == again.transfer.targets).all()
    assert prepared.transfer.sides[0].values.tolist() == again.transfer.sides[0].values.tolist()
    teacher = load_model(folder / "teacher-1")
    assert any(name.startswith("teacher 1") for name in prepared.fingerprint)
    assert "more.csv" in prepared.fingerprint
    assert prepared.lexicon.vocabulary.knows("frobnicated")  # a word that only the texts without labels have
    assert not teacher.vocabulary.knows("frobnicated")


def test_words_of_other_languages_are_not_exchanged_by_the_tree_of_an_english_parser(
    folder: Path, tmp_path: Path
) -> None:
    rows = [
        (f"电影 很 {'好' if i % 2 else '差'} {i % 7}", load_model(folder / "teacher-1").labels[i % 2])
        for i in range(40)
    ]
    file = tiny.write_csv(tmp_path / "chinese.csv", rows, ["text", "label"])
    config = override(settings(folder, augment=2), {"data.train": str(file), "data.dev": "", "data.test": ""})
    assert any("words swapped by their frequency" in note for note in prepare(config, folder).notes)


def test_texts_of_the_test_part_are_not_taught(folder: Path) -> None:
    plain = prepare(settings(folder), folder)
    prepared = prepare(settings(folder, texts="more.csv"), folder)
    assert plain.transfer is not None
    assert prepared.transfer is not None
    more = read_unlabeled(folder / "more.csv", ("text",)).examples
    test = {row[0] for row in tiny.texts()[120:160]}
    expected = len({e.texts for e in more if e.texts[0] not in test})
    assert len(prepared.transfer) - len(plain.transfer) == expected


def test_an_ensemble_is_the_mean_and_its_answers_are_kept(folder: Path) -> None:
    corpus = Corpus([Example((text,)) for text, _ in tiny.texts()[:50]])
    names = [str(folder / f"teacher-{seed}") for seed in (1, 2)]
    both = find_teacher(names, LABELS, "text", None, None)
    alone = [find_teacher([name], LABELS, "text", None, None) for name in names]
    found = both.teach(corpus, vectors=True)
    parts = [teacher.teach(corpus, vectors=True) for teacher in alone]
    assert np.allclose(found.probabilities, (parts[0].probabilities + parts[1].probabilities) / 2)
    assert (found.vectors == np.concatenate([part.vectors for part in parts], axis=1)).all()
    kept = cache_folder() / "teachers"
    before = sorted(kept.iterdir())
    assert before
    both.teach(corpus, vectors=True)
    assert sorted(kept.iterdir()) == before
    own = alone[0].model.answer([text for text, _ in tiny.texts()[:50]])
    assert np.allclose(
        parts[0].probabilities[:, 1], [answer.probabilities["pos"] for answer in own], atol=1e-6
    )


def test_kept_answers_are_used_and_damaged_ones_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    corpus = Corpus([Example((text,)) for text, _ in tiny.texts()[:30]])
    teacher = find_teacher([str(folder / "teacher-1")], LABELS, "text", None, tmp_path)
    first = teacher.teach(corpus)
    asked: list[int] = []
    answers = teacher._answers  # type: ignore[attr-defined]
    monkeypatch.setattr(teacher, "_answers", lambda *given: asked.append(1) or answers(*given))
    assert (teacher.teach(corpus).probabilities == first.probabilities).all()
    assert not asked
    [block] = (tmp_path / "teachers").iterdir()
    (block / "probabilities.npy").write_bytes(b"damaged")
    assert (teacher.teach(corpus).probabilities == first.probabilities).all()
    assert asked == [1]


def test_a_killed_teacher_goes_on_after_the_last_block(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    corpus = Corpus([Example((text,)) for text, _ in tiny.texts()[:35]])
    teacher = find_teacher([str(folder / "teacher-1")], LABELS, "text", None, tmp_path)
    answers, asked = teacher._answers, list[int]()  # type: ignore[attr-defined]
    monkeypatch.setattr("heedful.run.distilling.teachers.BLOCK", 10)

    def killed(block: Corpus, vectors: bool) -> dict[str, np.ndarray]:
        asked.append(len(block.examples))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return answers(block, vectors)

    monkeypatch.setattr(teacher, "_answers", killed)
    with pytest.raises(KeyboardInterrupt):
        teacher.teach(corpus)
    found = teacher.teach(corpus).probabilities
    assert asked == [10, 10, 10, 10, 5]
    own = teacher.model.answer([text for text, _ in tiny.texts()[:35]])  # type: ignore[attr-defined]
    assert np.allclose(found[:, 1], [answer.probabilities["pos"] for answer in own], atol=1e-6)


def test_the_teacher_answers_the_test_split_when_all_training_is_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[str] = []
    test = {text for text, _ in tiny.texts()[120:160]}
    for place, name in ((distillation, "train"), (ModelTeacher, "teach")):
        original = getattr(place, name)

        def recorded(*given, original=original, name=name, **options):
            asked = {example.texts[0] for example in given[1].examples} if name == "teach" else set()
            seen.append("test" if asked & test else name)
            return original(*given, **options)

        monkeypatch.setattr(place, name, recorded)
    distillation.distil(settings(folder, augment=2), distillation.Places(tmp_path / "out", folder))
    assert seen == ["teach", "train", "train", "test"]


@pytest.mark.parametrize("labels", [("neg", "other"), ("neg", "neutral", "pos")])
def test_a_teacher_of_other_classes_is_refused(folder: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="classes"):
        find_teacher([str(folder / "teacher-1")], labels, "text", None, None)


def test_a_teacher_of_another_kind_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError):
        find_teacher([str(folder / "teacher-1")], LABELS, "pair", None, None)
    with pytest.raises(ArtifactError):
        find_teacher([str(folder / "nothing")], LABELS, "text", None, None)
    with pytest.raises(UsageError):
        find_teacher(["a.jsonl", "b"], LABELS, "text", None, None)


@pytest.mark.parametrize(
    "distil",
    [
        {"teacher": [], "augment": 1},
        {"teacher": [], "texts": "more.csv"},
        {"weight": 1.0},
        {"weight": 1.5},
        {"temperature": 0.0},
        {"mask": 0.6, "swap": 0.6},
        {"vectors": -1.0},
    ],
)
def test_settings_that_contradict_each_other_are_refused(folder: Path, distil: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="distil"):
        settings(folder, **distil)


def test_tasks_without_a_teacher_refuse_one(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"distil\.teacher"):
        override(load_config("mtsa-ewt-srl"), {"distil.teacher": ["teacher-1"]})


@pytest.mark.parametrize("name", ["nothing", "more.csv", "empty"])
def test_what_is_no_teacher_is_told_what_one_is(folder: Path, name: str) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    with pytest.raises(ArtifactError, match=r"a model of Heedful .* a transformer .* soft labels"):
        prepare(settings(folder, teacher=[name]), folder)


def test_texts_that_the_data_holds_are_counted(folder: Path) -> None:
    notes = prepare(settings(folder, texts="more.csv"), folder).notes
    said = next(note for note in notes if "left out" in note)
    assert re.fullmatch(r"texts without labels .* are left out: .*\b40 of test.*", said)


@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_scores_are_learned_as_the_mean_of_gold_and_teacher(
    folder: Path, tmp_path: Path, weight: float
) -> None:
    plain = override(load_config(str(folder / "score.toml")), SHORT)
    train(plain, prepare(plain, folder), folder=tmp_path / "teacher")
    taught = override(plain, {"distil.teacher": [str(tmp_path / "teacher")], "distil.weight": weight})
    prepared = prepare(taught, folder)
    assert prepared.transfer is not None
    gold, targets = prepared.datasets["train"].targets, prepared.transfer.targets
    model = load_model(tmp_path / "teacher")
    own = model.scores(model.run(prepared.datasets["train"])[0])
    assert np.allclose(targets, weight * gold + (1 - weight) * own, atol=1e-5)
    result = train(taught, prepared, folder=tmp_path / "student")
    assert np.isfinite(result.dev.metrics["pearson"])
    with pytest.raises(UsageError, match=r"distil\.vectors"):
        prepare(override(taught, {"distil.vectors": 1.0}), folder)
    with pytest.raises(UsageError, match="a model of texts cannot teach one of relatedness"):
        prepare(override(plain, {"distil.teacher": [str(folder / "teacher-1")]}), folder)
    with pytest.raises(UsageError, match="soft labels are of classes"):
        prepare(override(plain, {"distil.teacher": ["soft.jsonl"]}), folder)


def test_several_labels_and_numbers_take_a_teacher(tmp_path: Path) -> None:
    rows = tiny.texts()[:60]
    tiny.write_csv(
        tmp_path / "labels.csv", [[t, f"{m},long" if len(t) > 24 else m] for t, m in rows], ["text", "label"]
    )
    tiny.write_csv(tmp_path / "numbers.csv", [[t, len(t) + (m == "pos")] for t, m in rows], ["text", "score"])
    tiny.write_csv(tmp_path / "pool.csv", [["a frobnicated film"], ["a bleak song"]], ["text"])
    small = [f"{name}={value}" for name, value in _SMALL.items()]
    for kind, part in (("labels", "label"), ("numbers", "score")):
        data = [f"data.train={tmp_path / kind}.csv", f"data.{part}={part}"]
        plain = load_config(f"my-{kind}", [*data, *small])
        train(plain, prepare(plain, None), folder=tmp_path / f"{kind}-teacher")
        named = [f'distil.teacher=["{tmp_path}/{kind}-teacher"]', f"distil.texts={tmp_path / 'pool.csv'}"]
        taught = load_config(f"my-{kind}", [*data, *small, *named])
        prepared = prepare(taught, None)
        assert prepared.transfer is not None
        size = len(prepared.datasets["train"])
        assert len(prepared.transfer) == size + 2
        if kind == "labels":
            flags, mixed = prepared.datasets["train"].targets, prepared.transfer.targets
            assert ((mixed[:size] >= 0.5) == (flags > 0)).all(), "gold has half of the weight"
            assert ((mixed > 0) & (mixed < 1)).all()
        result = train(taught, prepared, folder=tmp_path / f"{kind}-student")
        assert all(np.isfinite(value) for value in result.dev.metrics.values())


_SMALL = {
    "train.epochs": 1,
    "model.wide": "none",
    "model.sentence": "none",
    "text.vectors": '""',
    "model.width": 8,
    "model.hidden": 8,
    "data.dev_fraction": 0.2,
}


# Training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectors", [0.0, 0.1])
def test_a_run_that_was_cut_off_goes_on_to_the_bit(folder: Path, tmp_path: Path, vectors: float) -> None:
    config = settings(folder, augment=1, kind="frequency", vectors=vectors)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train(config, prepare(config, folder), folder=whole)
    train(override(config, {"train.max_steps": 7}), prepare(config, folder), folder=cut)
    result = train(config, prepare(config, folder, tmp_path / "cache"), folder=cut, resume=True)
    assert result.fit.resumed == 1
    ours, theirs = weights(whole), weights(cut)
    assert ours.keys() == theirs.keys()
    assert not any("map" in name for name in ours)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_run_is_not_resumed_with_another_teacher(folder: Path, tmp_path: Path) -> None:
    config = settings(folder)
    train(override(config, {"train.max_steps": 3}), prepare(config, folder), folder=tmp_path)
    other = settings(folder, teacher=["teacher-2"])
    with pytest.raises(UsageError, match=r"distil\.teacher"):
        train(other, prepare(other, folder), folder=tmp_path, resume=True)
    assert json.loads(RunFolder(tmp_path).config.read_text(encoding="utf-8"))["distil"]["teacher"] == [
        "teacher-1"
    ]


def test_votes_of_people_teach_by_the_same_command(folder: Path, tmp_path: Path) -> None:
    rows = [{"text": text, "votes": [mood, mood, "pos"]} for text, mood in tiny.texts()[160:200]]
    votes = write_soft(tmp_path / "votes.jsonl", list(rows))
    tiny.write_csv(tmp_path / "train.csv", tiny.texts()[:60], ["text", "label"])
    small = [part for name, value in _SMALL.items() for part in ("--set", f"{name}={value}")]
    command = [
        "train",
        tmp_path / "train.csv",
        "--teacher",
        votes,
        "--out",
        tmp_path / "run",
        "--no-baseline",
    ]
    done = tiny.run(*command, *small)
    assert done.code == 0, done.err
    assert re.search(r"transfer set: \d+ texts: \d+ with gold labels, 40 without", done.err)


def test_a_student_learns_from_the_teacher_alone(folder: Path, tmp_path: Path) -> None:
    """Of a student with weight 0 the gold labels count nothing: it learns the turned-round answers of its teacher."""
    rows = [
        {
            "text": text,
            "probabilities": {"pos": 0.02, "neg": 0.98} if label == "pos" else {"pos": 0.98, "neg": 0.02},
        }
        for text, label in tiny.texts()[:120]
    ]
    soft = write_soft(tmp_path / "soft.jsonl", rows)
    config = override(
        settings(folder, teacher=[str(soft)], weight=0.0), {"train.max_steps": 60, "train.epochs": 0}
    )
    config = override(config, {"train.evaluate_from": 60})
    result = train(config, prepare(config, folder))
    assert result.dev.metrics["accuracy"] < 0.2


def test_the_wide_part_and_pairs_can_be_taught(folder: Path, tmp_path: Path) -> None:
    config = override(settings(folder), {"model.wide": "linear"})
    assert train(config, prepare(config, folder)).predictor is not None
    pair = override(load_config(str(folder / "pair.toml")), SHORT)
    train(pair, prepare(pair, folder), folder=tmp_path / "teacher")
    taught = override(
        pair,
        {
            "distil.teacher": [str(tmp_path / "teacher")],
            "distil.augment": 3,
            "distil.vectors": 0.1,
            "batches.group": True,
        },
    )
    prepared = prepare(taught, folder)
    assert prepared.transfer is not None
    assert prepared.transfer.targets.shape[1] > 3
    assert train(taught, prepared).fit.steps > 0


# The command and the estimators ----------------------------------------------------------------------------------


def test_the_command_compares_teacher_and_students(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "small"
    arguments = [
        "distil",
        folder / "text.toml",
        "--data",
        folder,
        "--teacher",
        "teacher-1",
        "--teacher",
        "teacher-2",
    ]
    arguments += ["--out", out, "--set", "train.epochs=2", "--texts", "more.txt", "-q"]
    done = tiny.run(*arguments, "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert set(found["systems"]) == {"teacher", "student without teacher", "student with teacher"}
    assert found["split"] == "test"
    assert found["test"]["runs"] == 1
    assert (
        found["systems"]["student with teacher"]["examples"]
        > found["systems"]["student without teacher"]["examples"]
    )
    assert json.loads((out / "distillation.json").read_text(encoding="utf-8"))["systems"] == found["systems"]
    assert tiny.run("predict", out, "--text", "A bleak film .").code == 0
    assert tiny.run("predict", out / "plain", "--text", "A bleak film .").code == 0
    assert tiny.run(*arguments).code == 2  # it holds a run
    again = tiny.run(*arguments, "--resume", "--json")
    assert again.code == 0
    assert (
        again.json()["systems"]["student with teacher"]["metrics"]
        == found["systems"]["student with teacher"]["metrics"]
    )
    shown = tiny.run(*arguments, "--overwrite", "--no-plain")
    assert shown.code == 0, shown.err
    assert "student with teacher" in shown.out


def test_the_command_refuses_what_it_cannot_do(folder: Path, tmp_path: Path) -> None:
    base = ["distil", folder / "text.toml", "--data", folder, "--out", tmp_path / "out", "-q"]
    assert tiny.run(*base).code == 2
    assert tiny.run(*base, "--teacher", "teacher-1", "--resume", "--overwrite").code == 2
    assert tiny.run(*base, "--teacher", "nothing").code == 5
    lacking = tiny.run(*base, "--teacher", "teacher-1", "--column", "text=comment")
    assert (lacking.code, "no column 'comment'" in lacking.err) == (3, True)
    soft = write_soft(tmp_path / "soft.jsonl", [{"text": "a", "probabilities": {"pos": 0.5, "neg": 0.4}}])
    wrong = tiny.run(*base, "--teacher", soft)
    assert wrong.code == 3
    assert f"{soft}: row 1" in wrong.err
    good = write_soft(tmp_path / "soft.jsonl", [{"text": "a", "probabilities": {"pos": 0.5, "neg": 0.5}}])
    assert tiny.run(*base, "--teacher", good, "--texts", "more.txt").code == 2
    assert tiny.run(*base, "--teacher", good, "--set", "distil.vectors=1").code == 2


def test_own_data_and_a_recipe_stand_behind_each_other(folder: Path, tmp_path: Path) -> None:
    rows = tiny.texts()[:60]
    file = tiny.write_csv(tmp_path / "reviews.csv", [list(row) for row in rows], ["review", "mood"])
    soft = [
        {"text": text, "probabilities": {label: 0.9, {"neg": "pos", "pos": "neg"}[label]: 0.1}}
        for text, label in rows
    ]
    asked = ["--teacher", write_soft(tmp_path / "soft.jsonl", soft), "--no-plain", "--json"]
    short = ["--set", "model.encoder=embedding", "--set", "train.epochs=1", "--set", "text.vectors=''"]
    for both in ((file,), ("my-texts", file)):
        out = tmp_path / f"small{len(both)}"
        done = tiny.run("distil", *both, *asked, *short, "--set", "model.width=16", "--out", out)
        assert done.code == 0, done.err
        assert "texts in “review”, classes in “mood” (neg, pos); trained as my-texts" in done.err
        assert "student with teacher" in done.json()["systems"]
    other = tiny.run("distil", "my-numbers", file, *asked, "--out", tmp_path / "other")
    assert (other.code, other.err.count("\n")) == (2, 1), other.err


def classifier(**given: object) -> heedful.TextClassifier:
    return heedful.TextClassifier(
        model__width=16, model__hidden=16, train__epochs=2, model__wide="none", **given
    )


def test_estimators_take_a_folder_several_and_a_function(folder: Path) -> None:
    rows = tiny.texts()[:120]
    texts, y = [text for text, _ in rows], [int(label == "pos") for _, label in rows]
    by_function = classifier(distil__weight=0.2)
    asked: list[int] = []

    def function(given: list[str]) -> np.ndarray:
        asked.append(len(given))
        return np.tile([0.25, 0.75], (len(given), 1))

    by_function.fit(texts, y, teacher=function, texts=["a new text", "another one"], baseline=False)
    assert sum(asked) == len(texts) - round(len(texts) * 0.1) + 2
    assert by_function.result_.predictor.about.run["distil"]["teacher"] == ["python:function"]
    assert by_function.get_params()["distil__weight"] == 0.2
    assert "distil__teacher" not in by_function.get_params()
    mapped = classifier().fit(texts, y, teacher=lambda given: [{0: 0.5, 1: 0.5}] * len(given), baseline=False)
    assert set(mapped.predict(texts)) <= {0, 1}
    named = [label for _, label in rows]
    teachers = [folder / "teacher-1", str(folder / "teacher-2")]
    several = classifier(distil__augment=1).fit(texts, named, teacher=teachers, baseline=False)
    assert several.score(texts, named) > 0.5
    with pytest.raises(UsageError):
        classifier().fit(texts, named, texts=["a"])
    with pytest.raises(DataError, match="answer 1"):
        classifier().fit(texts, named, teacher=lambda given: [[0.5, 0.6]] * len(given), baseline=False)
    with pytest.raises(UsageError):
        classifier().fit(texts, named, teacher=lambda given: [[1.0]] * len(given), baseline=False)
    with pytest.raises(UsageError):
        classifier().fit(texts, named, teacher=lambda given: [], baseline=False)


def test_pairs_are_taught_by_a_function() -> None:
    rows = tiny.pairs()[:60]
    pairs, y = [row[:2] for row in rows], [row[2] for row in rows]
    model = heedful.PairClassifier(model__width=16, model__hidden=16, train__epochs=1, model__wide="none")
    model.fit(
        pairs, y, teacher=lambda given: [[0.5, 0.5] for _, _ in given], texts=[("a", "b")], baseline=False
    )
    assert model.predict(pairs).shape == (60,)


@pytest.mark.parametrize(
    ("without", "taught", "best", "closed"),
    [(0.8, 0.85, 0.9, 0.5), (0.8, 0.95, 0.9, 1.5), (0.9, 0.95, 0.9, None)],
)
def test_the_gap_is_that_between_student_and_teacher(
    without: float, taught: float, best: float, closed: float | None
) -> None:
    names = (distillation.WITHOUT, distillation.WITH, distillation.TEACHER)
    systems = {
        name: distillation.DistilledSystem({"accuracy": value})
        for name, value in zip(names, (without, taught, best), strict=True)
    }
    found = distillation.Distillation(None, None, "test", systems, None, 0.0)  # type: ignore[arg-type]
    assert found.gap_closed == (None if closed is None else pytest.approx(closed))
    alone = {name: system for name, system in systems.items() if name != distillation.TEACHER}
    assert distillation.Distillation(None, None, "test", alone, None, 0.0).gap_closed is None  # type: ignore[arg-type]
