"""The result of a search: the best settings as a recipe, and every trial as a table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.run.recipe_files import override, to_toml
from heedful.run.run_config import RunConfig
from heedful.run.tuning.space import current
from heedful.run.tuning.store import completed, finished, folder_of, importances
from heedful.run.tuning.trials import Search, held, show
from heedful.storage import write_text
from heedful.storage.fields import Fields

if TYPE_CHECKING:
    from optuna import Study

    from heedful.evaluation import Report


@dataclass(frozen=True)
class SearchOutcome:
    """The result of a search.

    Attributes:
        metric: the metric by which settings were chosen.
        held: what it was measured on: "dev", or "cross-validated" where few rows have no dev split.
        score: score of the best trial.
        trials: trials that ended.
        pruned: how many of them were stopped early.
        number: number of the best trial.
        best: the best settings, complete.
        changed: setting to its best value.
        before: setting to its value in the recipe; settings that the recipe does not name are missing.
        recipe_score: score of the recipe itself; None if it was not a trial.
        importance: setting to its estimated share of the differences between scores; empty if it cannot be estimated.
        model: run folder of the best trial.
        recipe: file of the best settings, which the search wrote.
    """

    metric: str
    held: str
    score: float
    trials: int
    pruned: int
    number: int
    best: RunConfig
    changed: dict[str, object]
    before: dict[str, object]
    recipe_score: float | None
    importance: dict[str, float]
    model: Path
    recipe: Path

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON, without the complete settings."""
        plain = {name: value for name, value in vars(self).items() if name != "best"}
        return {**plain, "model": str(self.model), "recipe": str(self.recipe)}

    def render(self, test: Report | None = None) -> str:
        """Return lines for a terminal.

        Args:
            test: of the test part, if it was read.

        Returns:
            The lines.
        """
        where = "on the dev split" if self.held == "dev" else "by cross-validation"
        last = (
            f"{self.trials} trials were scored {where}, so the best score is too optimistic. The test split "
            + ("was not read." if test is None else "was read once, after the search, with this model only:")
        )
        lines = [
            f"best of {self.trials} trials ({self.pruned} given up early): trial {self.number}, "
            f"{self.held} {self.metric} {self.score:.4f}{self._gain()}",
            "",
            *_columns(self._table()),
            "",
            last,
            *([] if test is None else ["", f"test  {test.render()}"]),
            "",
            f"model: {self.model / 'model'}",
        ]
        return "\n".join(lines)

    def _gain(self) -> str:
        return "" if self.recipe_score is None else f"; the recipe itself {self.recipe_score:.4f}"

    def _table(self) -> list[list[str]]:
        rows = [["setting", "recipe", "best", *(["importance"] if self.importance else [])]]
        for name in sorted(self.changed, key=lambda name: -self.importance.get(name, 0.0)):
            share = [f"{self.importance.get(name, 0.0):.2f}"] if self.importance else []
            rows.append([name, show(self.before.get(name, "-")), show(self.changed[name]), *share])
        return rows


def outcome(search: Search, study: Study) -> SearchOutcome:
    """Read what a study found.

    Args:
        search: what was searched.
        study: with at least one trial.

    Returns:
        The best settings and how they came about.

    Raises:
        UsageError: if no trial was trained to its end.
    """
    ended, complete = finished(study), completed(study)
    if not complete:
        reasons = dict.fromkeys(trial.user_attrs.get("why", "given up") for trial in ended)
        raise UsageError(
            f"{search.folder}: no trial was trained to its end: {'; '.join(reasons) or 'there is none yet'}. "
            "Ask for more --trials, or for another --out with other ranges."
        )
    best = study.best_trial
    recipe = next((trial.value for trial in complete if trial.user_attrs.get("recipe")), None)
    return SearchOutcome(
        metric=search.config.train.metric,
        held=held(best),
        score=study.best_value,
        trials=len(ended),
        pruned=len(ended) - len(complete),
        number=best.number,
        best=override(search.config, best.params),
        changed=dict(best.params),
        before=current(search.space, search.config),
        recipe_score=recipe,
        importance=importances(study),
        model=search.folder / "trials" / folder_of(best),
        recipe=search.folder / "best.toml",
    )


def write_outcome(search: Search, study: Study) -> None:
    """Write the best settings as a recipe, ``best.toml``, and all trials as ``trials.csv``; nothing without a best one.

    Args:
        search: what was searched; the caller has its folder to itself.
        study: the study.
    """
    if not completed(study):
        return
    found = outcome(search, study)
    write_text(search.folder / "trials.csv", _trials(study, list(search.space)))
    head = (
        f"# Best of {found.trials} trials of heedful tune by {found.held} {found.metric}: {found.score:.4f}, "
        f"seed {found.best.train.seed}.\n"
    )
    write_text(found.recipe, head + to_toml(found.best))


def report_on_test(found: SearchOutcome, data: Path | None) -> Report | None:
    """Read the test part, for the first time, with the model of the best trial.

    Args:
        found: from `outcome`.
        data: the folder of data sets.

    Returns:
        The report; None where the data has no test part.
    """
    from heedful.run import prepare
    from heedful.run.run import report
    from heedful.tasks import load_model

    prepared = prepare(found.best, data)
    if "test" not in prepared.datasets:
        return None
    return report(load_model(found.model), prepared.datasets["test"])


def _trials(study: Study, names: list[str]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["trial", "state", "score", "seconds", *names, "why"])
    for trial in finished(study):
        facts = Fields(trial.user_attrs, f"trial {trial.number}")
        values = [trial.params.get(name, "") for name in names]
        score = "" if trial.value is None else trial.value
        writer.writerow(
            [
                trial.number,
                trial.state.name.lower(),
                score,
                round(facts.number("seconds"), 1),
                *values,
                facts.text("why", ""),
            ]
        )
    return stream.getvalue()


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
