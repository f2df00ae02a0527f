"""The systems of `heedful.baselines` as entrants: linear models, fastText, spaCy, a frozen transformer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.linear import LinearBaseline, LinearModel
from heedful.baselines.systems import System, TrainedSystem
from heedful.evaluation import fit_temperature
from heedful_lab.scoreboard.cell_file import Group
from heedful_lab.scoreboard.drawn_labels import Drawn, with_dev
from heedful_lab.scoreboard.installed_size import installed_megabytes, package_megabytes


@dataclass(frozen=True)
class SimpleEntrant:
    """A system of `heedful.baselines`; its probabilities are those of its logits at a fitted temperature.

    A linear model fits it on cross-validated logits, any other system on the tenth of the labels that it chooses by.

    Attributes:
        system: the system.
        group: what kind it is.
        packages: what it needs to predict.
        modules: packages of Heedful that it needs, by the names of their imports.
    """

    system: System
    group: Group
    packages: tuple[str, ...]
    modules: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """See `Entrant.name`."""
        return self.system.name

    def is_kept(self, drawn: Drawn) -> bool:
        """See `Entrant.is_kept`: it is trained again."""
        return True

    def train(self, drawn: Drawn) -> tuple[SimpleEntry, float]:
        """See `Entrant.train`."""
        started = time.process_time()
        splits = drawn.splits if isinstance(self.system, LinearBaseline) else with_dev(drawn.splits)
        model = self.system.train(splits)
        held = model.held if isinstance(model, LinearModel) else None
        if held is None or len(held) != len(splits.choosing):
            held = model.outputs(splits.choosing.texts)
        temperature = fit_temperature(held, splits.choosing.classes)
        return SimpleEntry(model, temperature, self.packages, self.modules), time.process_time() - started


@dataclass(frozen=True)
class SimpleEntry:
    """A trained system.

    Attributes:
        model: what was trained.
        temperature: what its logits are divided by.
        packages: what it needs to predict.
        modules: packages of Heedful that it needs.
    """

    model: TrainedSystem
    temperature: float
    packages: tuple[str, ...]
    modules: tuple[str, ...]

    @property
    def megabytes(self) -> float:
        """See `Entry.megabytes`."""
        return self.model.megabytes

    @property
    def installed(self) -> float:
        """See `Entry.installed`."""
        return self.megabytes + installed_megabytes(self.packages) + sum(map(package_megabytes, self.modules))

    @property
    def parameters(self) -> int:
        """See `Entry.parameters`; the words of a linear model are not counted."""
        return 0

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """See `Entry.scores`."""
        return self.model.outputs([(text,) for text in texts]) / self.temperature
