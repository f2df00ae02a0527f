"""Arguments are counted as the CoNLL-2005 scorer counts them: hand-made frames, and a second counter on random ones."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest

from heedful.data.readers.role_columns import brackets
from heedful.evaluation import paired_bootstrap
from heedful.evaluation.role_counts import Argument, RoleCounts, RoleScores, arguments_of, compare_frames
from heedful.evaluation.sequences import evaluate_roles
from heedful.evaluation.statistics import STATISTICS, pack_frames
from heedful.text.bio import spans_of


def tags(text: str) -> tuple[str, ...]:
    """Read ``0 0 V . 1``-like shorthand: a role once a word, ``+`` for going on, ``.`` for nothing."""
    found: list[str] = []
    role = ""
    for word in text.split():
        if word == ".":
            found.append("O")
        elif word == "+":
            found.append(f"I-{role}")
        else:
            role = word
            found.append(f"B-{role}")
    return tuple(found)


def counts(gold: str, answer: str) -> tuple[int, int, int]:
    found = compare_frames(tags(gold), tags(answer)).counts
    return found.correct, found.excess, found.missed


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("A0 + V A1 +", "A0 + V A1 +", (2, 0, 0)),
        ("A0 + V A1 +", "A0 + V A1 .", (1, 1, 1)),  # a boundary that is off is wrong on both sides
        ("A0 + V A1 +", "A1 + V A1 +", (1, 1, 1)),  # so is a role
        ("A0 + V A1 +", ". . V . .", (0, 0, 2)),
        (". . V . .", "A0 + V . .", (0, 1, 0)),
        ("A0 V A0", "A0 V .", (1, 0, 1)),  # the same role twice is two arguments
        ("A1 V C-A1 +", "A1 V C-A1 +", (1, 0, 0)),  # a discontinuous argument is one
        ("A1 V C-A1 +", "A1 V . .", (0, 1, 1)),  # and right only as a whole
        ("A1 V C-A1 +", "A1 V C-A1 .", (0, 1, 1)),
        ("A1 V C-A1 C-A1", "A1 V C-A1 +", (0, 1, 1)),  # two pieces are not one long one
        ("A1 V C-A1 A0 C-A1", "A1 V C-A1 A0 C-A1", (2, 0, 0)),
        ("A0 R-A0 V A1", "A0 R-A0 V A1", (3, 0, 0)),  # a reference is an argument of its own
        ("A0 R-A0 V A1", "A0 A0 V A1", (2, 1, 1)),
        (". V C-A1 .", ". V A1 .", (1, 0, 0)),  # what continues nothing is the role itself
        ("A0 V C-V A1", "A0 V . A1", (2, 0, 0)),  # the predicate is not counted, nor what continues it
    ],
)
def test_frames_by_hand(gold: str, answer: str, expected: tuple[int, int, int]) -> None:
    assert counts(gold, answer) == expected
    right, excess, missed = expected
    assert counts(answer, gold) == (right, missed, excess)
    assert compare_frames(tags(gold), tags(answer)).complete == (not excess and not missed)


def test_a_continuation_joins_the_nearest_before_it() -> None:
    first, second = arguments_of(tags("A1 . A1 C-A1 + ."))
    assert first == Argument("A1", ((0, 1),))
    assert second == Argument("A1", ((2, 3), (3, 5)))


def test_an_inside_tag_without_a_beginning_begins_a_span() -> None:
    assert arguments_of(("O", "I-A0", "I-A0", "I-A1")) == [
        Argument("A0", ((1, 3),)),
        Argument("A1", ((3, 4),)),
    ]


def test_figures_by_hand() -> None:
    pairs = [("A0 + V A1 +", "A0 + V A1 ."), ("A0 R-A0 V A1", "A0 R-A0 V A1"), (". V .", ". V A1")]
    scores = RoleScores.of([compare_frames(tags(gold), tags(answer)) for gold, answer in pairs])
    assert scores.overall == RoleCounts(correct=4, excess=2, missed=1)
    assert scores.metrics() == {
        "f1": pytest.approx(8 / 11),
        "precision": pytest.approx(4 / 6),
        "recall": pytest.approx(4 / 5),
        "complete": pytest.approx(1 / 3),
    }
    assert scores.by_role["V"] == RoleCounts(3, 0, 0)
    assert scores.by_role["A1"] == RoleCounts(1, 2, 1)


ROLES = ("A0", "A1", "AM-TMP", "C-A0", "C-A1", "R-A0", "V", "C-V", "C-AM-TMP")


def frame(draw: random.Random, length: int, roles: tuple[str, ...] = ROLES) -> list[str]:
    """Draw a valid sequence of tags."""
    found: list[str] = []
    while len(found) < length:
        size = min(draw.randint(1, 3), length - len(found))
        role = draw.choice(roles)
        found += ["O"] if draw.random() < 0.5 else [f"B-{role}", *[f"I-{role}"] * (size - 1)]
    return found


def changed(draw: random.Random, gold: list[str], roles: tuple[str, ...] = ROLES) -> list[str]:
    """Give a span another role, or cut its last word off, here and there."""
    found = list(gold)
    for place, tag in enumerate(gold):
        end = next((k for k in range(place + 1, len(gold)) if not gold[k].startswith("I-")), len(gold))
        if not tag.startswith("B-") or draw.random() < 0.7:
            continue
        if draw.random() < 0.5:
            role = draw.choice(roles)
            found[place:end] = [f"B-{role}", *[f"I-{role}"] * (end - place - 1)]
        elif end - place > 1:
            found[end - 1] = "O"
    return found


def second_counter(gold: list[str], answer: list[str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count by words: an argument is written as its role and, word by word, where its pieces begin and go on."""

    def written(of: list[str]) -> Counter[str]:
        arguments: list[list[str]] = []
        owner = -1
        for place, tag in enumerate(of):
            mark, _, label = tag.partition("-")
            if mark == "I":
                arguments[owner][1] += f" {place}"
            elif mark == "B":
                bare = label[2:] if label.startswith("C-") else label
                same = [k for k, argument in enumerate(arguments) if argument[0] == bare]
                if label.startswith("C-") and same:
                    owner = same[-1]
                    arguments[owner][1] += f" |{place}"
                else:
                    owner = len(arguments)
                    arguments.append([bare, f"|{place}"])
        return Counter(f"{role} {words}" for role, words in arguments)

    wanted, given = written(gold), written(answer)

    def roles(of: Counter[str]) -> Counter[str]:
        return Counter(argument.split()[0] for argument in of.elements())

    return roles(wanted & given), roles(given - wanted), roles(wanted - given)


def test_a_second_counter_agrees_on_random_frames() -> None:
    draw = random.Random(0)
    outcomes, mine = [], [Counter[str](), Counter[str](), Counter[str]()]
    whole = 0
    for _ in range(2000):
        gold = frame(draw, draw.randint(1, 14))
        answer = changed(draw, gold)
        outcomes.append(compare_frames(gold, answer))
        found = second_counter(gold, answer)
        mine = [one + other for one, other in zip(mine, found, strict=True)]
        whole += not any(count for part in found[1:] for role, count in part.items() if role != "V")
    scores = RoleScores.of(outcomes)
    assert set(scores.by_role) == {"A0", "A1", "AM-TMP", "R-A0", "V"}
    for role, found in scores.by_role.items():
        assert (found.correct, found.excess, found.missed) == tuple(part[role] for part in mine)
    assert scores.complete == whole
    assert 0 < whole < scores.frames == 2000


Part = tuple[int, int]
"""First and last word."""


def phrases(cells: list[str]) -> list[tuple[str, Part]]:
    """Read start-end tags as the official scorer does: what opens before the star, what closes after it."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[str, Part]] = []
    for place, cell in enumerate(cells):
        before, _, after = cell.partition("*")
        opened += [(label, place) for label in re.findall(r"\(([^(]+)", before)]
        for _ in after:
            label, start = opened.pop()
            found.append((label, (start, place)))
    assert not opened
    return sorted(found, key=lambda phrase: phrase[1])


def official_arguments(cells: list[str]) -> dict[Part, tuple[str, list[Part]]]:
    """Join C-X to the last X before it; without one it becomes an X. First and last word of all to role and parts."""
    arguments: list[tuple[str, list[Part]]] = []
    last: dict[str, list[Part]] = {}
    for label, part in phrases(cells):
        goes_on = re.match(r"C-(.*)", label)
        role = goes_on[1] if goes_on else label
        if goes_on and role in last:
            last[role].append(part)
        else:
            last[role] = [part]
            arguments.append((role, last[role]))
    return {(parts[0][0], parts[-1][1]): (role, parts) for role, parts in arguments}


def official_counts(gold: list[str], answer: list[str]) -> dict[str, Counter[str]]:
    """Look each answered argument up by its first and last word; it is right if role and all parts are the same."""
    counted: dict[str, Counter[str]] = {"ok": Counter(), "op": Counter(), "ms": Counter()}
    wanted = official_arguments(gold)
    for ends, (role, parts) in official_arguments(answer).items():
        right = ends in wanted and wanted[ends] == (role, parts)
        counted["ok" if right else "op"][role] += 1
        if right:
            del wanted[ends]
    counted["ms"].update(role for role, _ in wanted.values())
    return counted


HARD_ROLES = ("A0", "A1", "R-A0", "V", "C-A0", "C-A1", "C-V", "C-C-A1", "C-R-A0", "C-AM-TMP", "A0", "A1")


def test_the_official_scorer_written_out_again_agrees_on_random_frames() -> None:
    """The rules of srl-eval.pl of CoNLL-2005, on start-end tags as they stand in files."""
    draw = random.Random(3)
    seen = Counter[str]()
    for _ in range(4000):
        gold = frame(draw, draw.randint(1, 16), HARD_ROLES)
        answer = changed(draw, gold, HARD_ROLES)
        if draw.random() < 0.2:
            answer = frame(draw, len(gold), HARD_ROLES)
        cells = [brackets(spans_of(each), len(each)) for each in (gold, answer)]
        mine = official_counts(*cells)
        found = compare_frames(gold, answer)
        assert (Counter(found.correct), Counter(found.excess), Counter(found.missed)) == tuple(mine.values())
        overall = [sum(count for role, count in part.items() if role != "V") for part in mine.values()]
        assert [found.counts.correct, found.counts.excess, found.counts.missed] == overall
        assert found.complete == (not overall[1] and not overall[2])
        seen += mine["ok"]
    assert min(seen[role] for role in ("A0", "A1", "R-A0", "V", "C-A1", "AM-TMP")) > 100


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["(A1*", "*)", "(V*)", "(C-A1*)"], {(0, 3): ("A1", [(0, 1), (3, 3)]), (2, 2): ("V", [(2, 2)])}),
        (["(C-A1*)", "(C-A1*)"], {(0, 1): ("A1", [(0, 0), (1, 1)])}),
        (["(C-C-A1*)", "(C-A1*)"], {(0, 0): ("C-A1", [(0, 0)]), (1, 1): ("A1", [(1, 1)])}),
    ],
)
def test_start_end_tags_by_hand(cells: list[str], expected: dict[Part, tuple[str, list[Part]]]) -> None:
    assert official_arguments(cells) == expected


def test_the_report_sums_what_is_kept_of_each_frame() -> None:
    draw = random.Random(1)
    frames = [frame(draw, 8) for _ in range(60)]
    answers = [changed(draw, gold) for gold in frames]
    outcomes = [compare_frames(gold, answer) for gold, answer in zip(frames, answers, strict=True)]
    report = evaluate_roles(outcomes, RoleCounts(3, 1, 0), groups=["a", "b"] * 30)
    assert report.metrics["predicate_f1"] == pytest.approx(6 / 7)
    ones = np.ones((1, 60))
    for name in ("f1", "precision", "recall", "complete"):
        assert STATISTICS[name](report.gold, report.predicted, ones) == pytest.approx([report.metrics[name]])
        assert report.intervals[name].low <= report.metrics[name] <= report.intervals[name].high
    assert report.by_group["a"]["count"] == 30
    assert list(report.per_class)[-1] == "V (not counted)"
    half = sum((outcome.counts for outcome in outcomes[::2]), RoleCounts())
    assert report.by_group["a"]["f1"] == pytest.approx(half.f1)


ONE_OF_TWO = compare_frames(tags("A0 V A0"), tags("A0 V ."))
ONE_OF_NONE = compare_frames(tags(". V ."), tags(". V A1"))


def test_a_report_by_sentence_length() -> None:
    report = evaluate_roles([ONE_OF_TWO, ONE_OF_NONE], RoleCounts(), lengths=np.array([[4], [7]]))
    found = {name: (row["count"], row["precision"], row["recall"]) for name, row in report.by_length.items()}
    assert found == {"0-5": (1, 1.0, 0.5), "6-10": (1, 0.0, 0.0)}


def test_a_role_counts_as_often_as_the_gold_has_it() -> None:
    per_role = evaluate_roles([ONE_OF_TWO, ONE_OF_NONE], RoleCounts()).per_class
    assert [per_role[role]["count"] for role in ("A0", "A1")] == [2, 0]


def test_a_share_of_nothing_is_zero() -> None:
    assert RoleCounts().precision == RoleCounts().recall == RoleCounts().f1 == 0.0


def test_hundreds_of_arguments_of_a_frame_are_kept_apart() -> None:
    many = RoleCounts(correct=400, excess=500, missed=100)
    assert STATISTICS["f1"](*pack_frames([many]), np.ones((1, 1))) == pytest.approx([many.f1])


def test_two_taggers_are_compared_frame_by_frame() -> None:
    draw = random.Random(2)
    frames = [frame(draw, 10) for _ in range(200)]
    exact = [compare_frames(gold, gold).counts for gold in frames]
    poorer = [compare_frames(gold, changed(draw, gold)).counts for gold in frames]
    gold, best = pack_frames(exact)
    _, worse = pack_frames(poorer)
    found = paired_bootstrap("f1", gold, worse, best, resamples=300)
    assert found.second == pytest.approx(1)
    assert found.first == pytest.approx(sum(poorer, RoleCounts()).f1)
    assert found.p is not None
    assert found.p < 0.01
