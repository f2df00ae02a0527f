"""Of texts without labels some judge, as the teacher answers them, where too few rows have gold to hold any out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import tiny
from heedful import TextClassifier
from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.run.distilling import PythonTeacher, transfer
from heedful.run.distilling.transfer import LEAST
from heedful.run.preparation import prepare_examples
from heedful.run.protocol import few_rows
from heedful.run.recipe_files import load_config, override
from heedful.run.sources import from_examples
from heedful.tasks import AnyPrepared

DICE = random.Random(0)
SIGNS = {"refund": ("money", "paid", "invoice"), "delivery": ("parcel", "courier", "doorstep")}
OTHERS = [f"thing{k}" for k in range(300)]


def text(label: str) -> str:
    return " ".join([*DICE.sample(OTHERS, 4), DICE.choice(SIGNS[label])])


LABELS = [("refund", "delivery")[k % 2] for k in range(30)]
TEXTS = [text(label) for label in LABELS]
POOL = list(dict.fromkeys(text(DICE.choice(list(SIGNS))) for _ in range(LEAST + 40)))


def teacher(texts: Sequence[str]) -> list[dict[str, float]]:
    """Know the signs; say the other class for two words of chance."""
    sure = [any(word in SIGNS["refund"] for word in each.split()) for each in texts]
    return [{"refund": 0.9, "delivery": 0.1} if each else {"refund": 0.1, "delivery": 0.9} for each in sure]


def small(**settings: object) -> TextClassifier:
    return TextClassifier(
        model__width=8, model__sentence="none", train__max_steps=6, train__epochs=0, text__vectors="",
        data__few_rows=1000, **settings,
    )  # fmt: skip


def prepared(pool: Sequence[str] = POOL, **settings: object) -> AnyPrepared:
    config = override(
        load_config("my-texts"),
        {"model.sentence": "none", "text.vectors": "", "distil.teacher": ["a function"]}
        | {name.replace("__", "."): value for name, value in settings.items()},
    )
    train = [Example((each,), label) for each, label in zip(TEXTS, LABELS, strict=True)]
    source = from_examples(train, None, "text", 0.2, 0, few_rows=few_rows(config))
    return prepare_examples(
        config, source, PythonTeacher(teacher, Corpus([Example((each,)) for each in pool]))
    )


def test_a_share_of_the_texts_judges_and_the_others_are_learned() -> None:
    found, judging = prepared(), round(0.1 * len(POOL))
    assert len(found.datasets["dev"]) == judging
    assert found.transfer is not None
    assert len(found.transfer) == len(TEXTS) + len(POOL) - judging
    assert f"{judging} of the texts without labels are the dev split" in " ".join(found.notes)
    assert found.decided["data.few_rows"] == 0
    refunds = sum(any(word in SIGNS["refund"] for word in each.split()) for each in POOL) / len(POOL)
    assert found.datasets["dev"].targets.mean() == pytest.approx(refunds, abs=0.15)  # the teacher's answers


def test_the_protocol_says_that_figures_are_agreement() -> None:
    sentence = prepared().protocol.sentence()
    assert (
        "10% of the texts without labels, with the teacher's answers as labels, are the dev split" in sentence
    )
    assert "figures on it are agreement with the teacher" in sentence


@pytest.mark.parametrize(
    ("pool", "settings", "selects"),
    [
        (POOL, {"distil__dev_fraction": 0.0}, "folds"),
        (POOL[: LEAST - 1], {}, "folds"),
        (POOL, {"data__few_rows": 0}, "cut"),
        (POOL, {"model__encoder": "none", "data__few_rows": 1000}, "folds"),
    ],
    ids=["not wanted", "too few texts", "rows enough", "no network wanted"],
)
def test_rows_with_gold_judge_otherwise(pool: list[str], settings: dict[str, object], selects: str) -> None:
    assert prepared(pool, **settings).protocol.selects == selects


def test_a_network_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LEAST", 100)
    model = small().fit(TEXTS, LABELS, teacher=teacher, texts=POOL[:120], baseline=False)
    assert model.result_.dev.count == 12
    assert model.result_.fit.steps == 6


def test_more_than_a_half_is_refused() -> None:
    with pytest.raises(UsageError, match=r"dev_fraction.*from 0 to 0\.5"):
        small(distil__dev_fraction=0.6).fit(TEXTS, LABELS, teacher=teacher, texts=POOL)


def test_by_command_two_students_are_judged_by_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "LEAST", 100)
    rows = [f"{a},{b}" for a, b in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "own.csv").write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "test.csv").write_text("\n".join(["text,label", *rows[:10]]) + "\n", encoding="utf-8")
    (tmp_path / "pool.csv").write_text("\n".join(["text", *POOL[:120]]) + "\n", encoding="utf-8")
    small().fit(TEXTS, LABELS, baseline=False).save_pretrained(tmp_path / "teacher")
    given = ("--teacher", tmp_path / "teacher", "--texts", tmp_path / "pool.csv")
    settings = (
        "model.sentence=none",
        'text.vectors=""',
        "train.max_steps=6",
        "train.epochs=0",
        "data.few_rows=1000",
    )
    fast = [f"--set={each}" for each in settings]
    alone = tiny.run("train", tmp_path / "own.csv", *given, *fast, "--out", tmp_path / "run", "--no-baseline")
    assert alone.code == 0, alone.err
    assert "agreement with the teacher" in alone.out
    compared = tiny.run("distil", tmp_path / "own.csv", *given, *fast, "--out", tmp_path / "two")
    assert compared.code == 0, compared.err
    assert "by cross-validation" in compared.out
