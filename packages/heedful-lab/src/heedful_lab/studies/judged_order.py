"""Measure whether the labeling page is right where it says that its order brings nothing.

    python -m heedful_lab.studies.judged_order --data DIR --out FILE --sets trec,subj --runs 2

A labeler who knows the labels of a data set labels texts in the mixed order of the page. At ``--before`` labels a model
is trained as on the page; it guesses the labels of all texts that follow, up to ``--after``, half of which are those
that it is uncertain of. A line of the output says how often it was wrong on uncertain and on random texts, and what
`heedful.labeling.accuracy_estimate.order_helps` makes of it, as the page does. Lines that are there are not measured
again.
`heedful_lab.studies.simulated_labeling` has the accuracies to compare with.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from heedful.data.examples import Corpus, Example
from heedful.labeling.accuracy_estimate import off, order_helps, sample
from heedful.labeling.forms import LabelForm, form_of
from heedful.labeling.label_file import Record
from heedful.labeling.next_text import NextText
from heedful.labeling.pool import Pool
from heedful.labeling.training_process import Lesson, taught
from heedful.runtime.loading import keep_rows
from heedful.runtime.row_cache import KeptRows
from heedful_lab.studies.few_labels import Rows, load
from heedful_lab.studies.simulated_labeling import drawn

_FREE = 1_500
"""Texts among which the uncertain ones are looked for, as on the page."""


def guesses(lesson: Lesson, texts: list[str] | None = None) -> list[str] | list[int]:
    """Train as the page does, or answer with what was trained.

    Args:
        lesson: the labels.
        texts: to answer; None to train.

    Returns:
        The answers to the texts; after training the places of the texts of the pool that the model is uncertain of.
    """
    from heedful.opening import open_model

    if texts is None:
        return list(taught(lesson).uncertain)
    return [answer.label for answer in open_model(lesson.folder, truncate="head").predict(texts)]


def judged(rows: Rows, run: int, before: int, after: int) -> dict[str, object]:
    """Label in the order of the page, and judge the order as the page does.

    Args:
        rows: texts and their labels.
        run: which random order the pool has.
        before: labels with which the model is trained.
        after: labels at the end.

    Returns:
        The shares of wrong guesses, how many texts of both kinds there were, and what the page makes of it.
    """
    gold = dict(zip(rows[0], rows[1], strict=True))
    pool = Pool(Corpus([Example((text,), row=k) for k, text in enumerate(gold, 1)]))
    pool.order = np.random.default_rng(run).permutation(len(pool)).tolist()
    chooser = NextText(pool)
    chooser.typical.wait(600)
    shown: dict[str, Record] = {}

    def label_until(count: int) -> None:
        while len(shown) < count:
            found = chooser.choose(len(shown), lambda key: key not in shown, mixed=True)
            if found is None:
                return
            texts = pool.texts[found[0]]
            record = Record(texts, gold[texts[0]], chosen=found[1])
            shown[record.key] = record
            chooser.saw(record.key)

    label_until(before)
    free = [pool.texts[k] for k in pool.order if pool.keys[k] not in shown][:_FREE]
    with tempfile.TemporaryDirectory() as folder:
        learned = [(record.texts, record.label) for record in shown.values()]
        lesson = Lesson(
            "classes",
            [texts for texts, _ in learned],
            [label for _, label in learned],
            free,
            Path(folder, "model"),
            doubting=False,
        )
        chooser.uncertain = [pool.keys[pool.texts.index(free[int(k)])] for k in guesses(lesson)]
        label_until(after)
        new = list(shown)[before:]
        answers = guesses(lesson, [shown[key].texts[0] for key in new])
    for key, answer in zip(new, answers, strict=True):
        record = shown[key]
        shown[key] = Record(record.texts, record.label, chosen=record.chosen, guess=str(answer))
    return _verdict(form_of("classes", sorted(set(gold.values()))), pool, shown)


def _verdict(form: LabelForm, pool: Pool, shown: dict[str, Record]) -> dict[str, object]:
    fair = sample(pool, {key: (n, record) for n, (key, record) in enumerate(shown.items())}, frozenset())
    wrong: dict[str, list[float]] = {
        "uncertain": [
            off(form, e) for e in shown.values() if e.chosen == "uncertain" and e.guess is not None
        ],
        "random": [off(form, record) for _, record in fair if record.guess is not None],
    }
    shares = {f"{kind} wrong": float(np.mean(each)) if each else None for kind, each in wrong.items()}
    counts = {kind: len(each) for kind, each in wrong.items()}
    return {**counts, **shares, "helps": order_helps(form, list(shown.values()), fair)}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="file of the lines")
    parser.add_argument("--sets", default="trec,subj,cr,sst-2,banking77", help="names with commas between")
    parser.add_argument("--runs", type=int, default=2, help="runs of each set")
    parser.add_argument("--pool", type=int, default=1_000, help="texts to label at most")
    parser.add_argument("--before", type=int, default=160, help="labels with which the model is trained")
    parser.add_argument("--after", type=int, default=320, help="labels at the end")
    asked = parser.parse_args()
    keep_rows(KeptRows(40_000))
    lines = asked.out.read_text(encoding="utf-8").splitlines() if asked.out.exists() else []
    done = {(each["set"], each["run"]) for each in map(json.loads, lines)}
    for run in range(asked.runs):
        for name in asked.sets.split(","):
            if (name, run) not in done:
                rows = drawn(load(name, asked.data)[0], asked.pool)
                line = {"set": name, "run": run, **judged(rows, run, asked.before, asked.after)}
                with asked.out.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
