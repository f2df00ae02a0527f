"""Texts drawn together by class: each has a partner, the loss has its ends, and the head is a logistic regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.nn.heads import ClassifierHead
from heedful.structures import NetworkOutput
from heedful.tasks.sentences.contrast import Partnered, check_head, contrast, fit_linear_head
from tiny_encoder import write_encoder


class Batches:
    def batches(self, epoch: int) -> list[list[int]]:
        return [[0, 1, 2, 3, 4], [5, 6]]

    def collate(self, rows: list[int]) -> list[int]:
        return rows


def test_every_text_has_a_partner_of_its_class_and_is_read_once_an_epoch() -> None:
    classes = np.array([0, 0, 1, 1, 0, 1, 2])
    partnered = Partnered(Batches(), classes, seed=3)  # type: ignore[arg-type]
    first = partnered.batches(0)
    anchors = [row for rows in first for row in rows[: len(rows) // 2]]
    assert sorted(anchors) == list(range(7))
    for rows in first:
        half = len(rows) // 2
        for row, partner in zip(rows[:half], rows[half:], strict=True):
            assert classes[row] == classes[partner]
            assert (row != partner) == (row != 6)  # the only one of its class has itself
    assert first == partnered.batches(0)
    assert first != partnered.batches(1)


def test_the_loss_is_zero_where_classes_are_at_right_angles_and_largest_where_they_are_swapped() -> None:
    vectors = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, 1.0]])

    def loss(classes: list[int]) -> torch.Tensor:
        return contrast(NetworkOutput(torch.zeros(4, 2), (vectors,)), torch.tensor(classes))

    assert loss([0, 0, 1, 1]).tolist() == pytest.approx([0.0] * 4)
    assert loss([0, 1, 0, 1]).tolist() == pytest.approx(
        [0.75] * 4
    )  # a like text is far, one of two others is near
    assert loss([0, 0, 0, 0]).tolist() == pytest.approx([1 / 3] * 4)  # there are no others
    assert loss([0, 1, 2, 3]).tolist() == pytest.approx([1 / 6] * 4)  # there is nothing alike


@pytest.mark.parametrize(("classes", "hidden"), [(2, 2), (3, 8), (5, 4)])
def test_the_head_gives_what_the_regression_gives(classes: int, hidden: int) -> None:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(0)
    centers, gold = random.normal(size=(classes, 4)) * 3, np.arange(60) % classes
    vectors = (centers[gold] + random.normal(size=(60, 4))).astype(np.float32)
    head = ClassifierHead(4, hidden, classes, activation="linear")
    check_head(head)
    fit_linear_head(head.eval(), vectors, gold, np.ones(60))
    length = float(np.linalg.norm(vectors, axis=1).mean())
    expected = LogisticRegression(max_iter=1_000).fit(vectors / length, gold).predict_proba(vectors / length)
    found = head(torch.from_numpy(vectors)).softmax(dim=1).detach().numpy()
    assert np.abs(found - expected).max() < 1e-5


def test_a_class_without_examples_is_not_answered() -> None:
    head = ClassifierHead(2, 3, 3, activation="linear").eval()
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]] * 5, np.float32)
    fit_linear_head(head, vectors, np.array([0, 2] * 5), np.ones(10))
    assert head(torch.from_numpy(vectors)).argmax(dim=1).tolist() == [0, 2] * 5
    fit_linear_head(head, vectors, np.full(10, 1), np.ones(10))
    assert head(torch.from_numpy(vectors)).argmax(dim=1).tolist() == [1] * 10


@pytest.mark.parametrize(
    ("head", "named"),
    [
        (ClassifierHead(4, 9, 3), "model.activation=linear"),
        (ClassifierHead(4, 9, 3, activation="linear", highway=True), "model.highway=false"),
        (ClassifierHead(4, 9, 3, activation="linear", final_bias=False), "model.final_bias=true"),
        (ClassifierHead(4, 2, 3, activation="linear"), "set model.hidden=3 or more; it is 2"),
    ],
)
def test_a_head_that_cannot_be_linear_is_refused(head: ClassifierHead, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        check_head(head)


def test_a_transformer_is_tuned_so_by_one_command(tmp_path: Path) -> None:
    write_encoder(tmp_path / "encoder")
    tiny.write_csv(tmp_path / "reviews.csv", tiny.texts()[:60], ["text", "label"])
    command = ["train", "my-texts-setfit", "--no-baseline", "-q", "--set"]
    command += [
        f"data.train={tmp_path / 'reviews.csv'}",
        "--set",
        f"model.pretrained.name={tmp_path / 'encoder'}",
    ]
    few = ["--set", "train.least_steps=12", "--set", "model.hidden=12"]
    done = tiny.run(*command, *few, "--out", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    record = done.json()
    assert (record["best_step"], record["steps"] >= 12) == (-1, True)
    answered = tiny.run("predict", tmp_path / "run", "--text", "a dull film", "--json").json()
    assert set(answered["probabilities"]) == {"neg", "pos"}
    taught = tiny.run(*command, *few, "--teacher", tmp_path / "run", "--out", tmp_path / "student")
    assert taught.code == 2
    assert "leave distil.teacher out" in taught.err.splitlines()[-1]
