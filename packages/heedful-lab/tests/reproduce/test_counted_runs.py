"""Runs of roles and translations are kept as counts; tables test them by F1 and BLEU."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.evaluation.role_counts import RoleCounts
from heedful.evaluation.statistics import pack_frames
from heedful_lab.reproduce.cell_runs import Runs, compare
from heedful_lab.reproduce.plan import find_table
from heedful_lab.reproduce.runner import Budget, plan_cells
from made_runs import answered


def runs(task: str, answers: list[tuple[list[int], list[int]]]) -> Runs:
    """Make the runs of one cell, one a seed, from what each kept."""
    return answered("ewt-srl", task, *answers)


def kept(counts: list[RoleCounts]) -> tuple[list[int], list[int]]:
    gold, answered = pack_frames(counts)
    return gold.tolist(), answered.tolist()


def test_roles_are_compared_by_the_mean_f1_of_their_runs() -> None:
    good, fair, poor = ([RoleCounts(right, 3 - right, 3 - right)] * 50 for right in (3, 2, 1))
    found = compare(runs("roles", [kept(good), kept(fair)]), runs("roles", [kept(poor), kept(poor)]))
    assert found.first == pytest.approx(1 / 3)
    assert found.second == pytest.approx((1 + 2 / 3) / 2)
    assert found.difference == pytest.approx(0.5)
    assert found.p is not None
    assert found.p < 0.01


def test_translations_are_compared_by_bleu_as_a_share() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    from heedful_lab.translation.bleu import pack_translations

    references = [f"a {noun} sees the {other} today ." for noun in "bcdef" for other in "ghijk"]
    half = [text if k % 2 else text.replace("today", "now") for k, text in enumerate(references)]
    gold, exact = (part.tolist() for part in pack_translations(references, references))
    worse = pack_translations(references, half)[1].tolist()
    found = compare(runs("translation", [(gold, exact)]), runs("translation", [(gold, worse)]))
    assert found.second == pytest.approx(1)
    assert found.first == pytest.approx(sacrebleu.corpus_bleu(half, [references]).score / 100)


@pytest.mark.parametrize(
    ("table", "planned"),
    [
        (
            "mtsa-table4",
            ["bi-lstm-tagger", "cnn-tagger", "deep-att", "mtsa-deep-att", "mssan-tagger", "deep-att-signal"],
        ),
        ("mtsa-table6", ["transformer", "mtsa-transformer", "mssan-translator"]),
    ],
)
def test_the_tables_say_that_the_data_is_other_data(table: str, planned: list[str]) -> None:
    declared = find_table(table)
    assert [cell.system.name for cell in plan_cells(declared, Budget())] == planned
    assert any("other data" in note for note in declared.notes)
    ours = [column for column in declared.columns if column.experiment]
    assert all(column.head.startswith(("EWT ", "Multi30k ")) for column in ours)


def test_answers_of_classes_are_still_shares() -> None:
    gold, share = runs("text", [([0, 1], [0, 0]), ([0, 1], [0, 1])]).answers()
    assert gold.tolist() == [1, 1]
    assert share.tolist() == [1, 0.5]
    assert np.asarray(share).dtype == np.float64
