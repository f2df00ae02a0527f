"""A trained model as the judge of labels: ``heedful data labels runs/reviews new.csv``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.data.examples import Corpus
    from heedful.tasks import AnyModel


def judging_model(what: str, file: str | None, data: Path | None) -> AnyModel | None:
    """Return the model that judges, if the first of two arguments names one.

    Args:
        what: the first argument.
        file: the second one; None where there is none.
        data: the folder of data sets.

    Returns:
        The model; None where data, or a recipe and data, are named.

    Raises:
        UsageError: if a model stands there without data.
        ArtifactError: if what stands before data is no model either.
    """
    from heedful.run.own_file import is_own_file
    from heedful.storage.installed import recipe_names
    from heedful.storage.layout import MODEL
    from heedful.storage.manifest import MANIFEST
    from heedful.tasks import load_model

    is_model = any(os.path.isfile(Path(what) / inner / MANIFEST) for inner in ("", MODEL))
    if file is None:
        if is_model:
            raise UsageError(
                f"{what}: is a model, which judges the labels of data: heedful data labels {what} new.csv"
            )
        return None
    named = [each in recipe_names() or Path(each).suffix == ".toml" for each in (what, file)]
    if not is_model and (any(named) or is_own_file(what, data)):
        return None
    return load_model(Path(what), truncate="head")


def read_judged(model: AnyModel, file: str, overrides: Sequence[str]) -> Corpus:
    """Read the examples whose labels a model judges.

    Args:
        model: the model.
        file: a table, or a folder of classes.
        overrides: settings that say how it is read.

    Returns:
        The examples with a label.

    Raises:
        UsageError: if a setting is none of reading a file.
    """
    from heedful.run.evaluate import read_gold
    from heedful.run.recipe_tables import values_of

    given = {}
    for name, value in values_of(overrides).items():
        table, _, field = name.rpartition(".")
        if table not in ("data", "data.options"):
            raise UsageError(f"--set {name}: a trained model judges as it is; leave it out")
        given[field] = value
    return read_gold(model, Path(file), None, None, given)
