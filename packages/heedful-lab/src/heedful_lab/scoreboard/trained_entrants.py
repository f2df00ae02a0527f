"""Heedful's own models as entrants, trained from files by the settings that a user would have.

The runs stand in the folder of the draw: one that was interrupted goes on, and the transformer that was fine-tuned as a
system of its own is the teacher of the student.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.model.model import Model
from heedful.opening import open_model
from heedful.run.distilling.fine_tuning import FEW, FEW_RECIPE, RECIPE, copies_of
from heedful.run.preparation import prepare
from heedful.run.recipe_files import load_config, override
from heedful.run.run import train
from heedful.run.run_config import RunConfig
from heedful.storage import write_text
from heedful.training.run_folder import RunFolder
from heedful_lab.scoreboard.cell_file import Group
from heedful_lab.scoreboard.drawn_labels import Drawn
from heedful_lab.scoreboard.installed_size import installed_megabytes, package_megabytes

OURS, TAUGHT = "Heedful, default", "Heedful, taught by "
TUNED, CONTRAST = ", fine-tuned", ", SetFit's way"
_SECONDS = "processor-seconds.json"
"""Beside a run that has ended: what its training took, that of its teacher excluded."""
_RUNTIME = ("numpy", "safetensors")
_TRANSFORMER = ("torch", "transformers", "numpy", "safetensors")
_SMALLEST = 1e-12


def default_entrant() -> TrainedEntrant:
    """Return the model of ``heedful train FILE`` without any option."""
    return TrainedEntrant(OURS, "ours", "default", _settings, _RUNTIME)


def fine_tuned_entrant(folder: Path) -> TrainedEntrant:
    """Return a transformer with all of its weights trained, as ``my-texts-transformer`` does it."""
    settings = _transformer(folder, RECIPE)
    return TrainedEntrant(f"{folder.name}{TUNED}", "transformer", "fine-tuned", settings, _TRANSFORMER)


def contrast_entrant(folder: Path) -> TrainedEntrant:
    """Return a transformer tuned by contrast with a linear head, as ``my-texts-setfit`` does it."""
    settings = _transformer(folder, FEW_RECIPE)
    return TrainedEntrant(f"{folder.name}{CONTRAST}", "transformer", "setfit", settings, _TRANSFORMER)


def taught_entrant(folder: Path) -> TrainedEntrant:
    """Return the model of ``heedful train FILE --teacher FOLDER --texts UNLABELED``.

    Its teacher is the transformer that the command would train, one of the two above.
    """

    def settings(drawn: Drawn) -> RunConfig:
        texts, teacher = drawn.unlabeled_file(), drawn.folder / _teacher(folder, drawn).run
        named: dict[str, object] = {"distil.teacher": [str(teacher.absolute())]}
        named |= {"distil.texts": str(texts.absolute())} if texts else {}
        config = _settings(drawn)
        if texts is None and (copies := copies_of(config, len(drawn.splits.train))):
            named["distil.augment"] = copies
        return override(config, named)

    name = f"{TAUGHT}{folder.name}"
    return TrainedEntrant(name, "ours", "taught", settings, _RUNTIME, lambda drawn: _teacher(folder, drawn))


def _teacher(folder: Path, drawn: Drawn) -> TrainedEntrant:
    few = len(drawn.splits.train) < FEW
    return contrast_entrant(folder) if few else fine_tuned_entrant(folder)


def _transformer(folder: Path, recipe: str) -> Callable[[Drawn], RunConfig]:
    named: dict[str, object] = {
        "model.pretrained.name": str(folder.absolute()),
        "model.pretrained.download": False,
    }
    return lambda drawn: override(_settings(drawn, recipe), named)


def _settings(drawn: Drawn, recipe: str = "my-texts") -> RunConfig:
    file = str(drawn.train_file().absolute())
    config = load_config(recipe, [f"data.train={json.dumps(file)}", "data.text=text", "data.label=label"])
    return replace(config, train=replace(config.train, seed=drawn.splits.seed))


@dataclass(frozen=True)
class TrainedEntrant:
    """A model that a run trains.

    Attributes:
        name: for tables.
        group: what kind of system it is.
        run: name of its folder within that of the draw.
        settings: the settings of its run, for a draw.
        packages: what the model needs to predict.
        teacher: the entrant that teaches it, for a draw; None for none.
    """

    name: str
    group: Group
    run: str
    settings: Callable[[Drawn], RunConfig]
    packages: tuple[str, ...]
    teacher: Callable[[Drawn], TrainedEntrant] | None = None

    def is_kept(self, drawn: Drawn) -> bool:
        """See `Entrant.is_kept`: its run has ended."""
        return (drawn.folder / self.run / _SECONDS).exists()

    def train(self, drawn: Drawn) -> tuple[TrainedEntry, float]:
        """See `Entrant.train`; a teacher's training counts."""
        seconds = 0.0 if self.teacher is None else self.teacher(drawn).run_in(drawn)
        seconds += self.run_in(drawn)
        return _entry(drawn.folder / self.run, self.packages, drawn), seconds

    def run_in(self, drawn: Drawn) -> float:
        """Train in the folder of the draw, unless that was done before, and return the processor seconds of it."""
        config, folder = self.settings(drawn), drawn.folder / self.run
        return _timed(folder, lambda: train(config, prepare(config, None), folder=folder, resume=True))


def _timed(folder: Path, run: Callable[[], object]) -> float:
    """Run, unless it has ended before, and return its processor seconds, in the last process that worked on it."""
    file = folder / _SECONDS
    if not file.exists():
        started = time.process_time()
        run()
        write_text(file, json.dumps(time.process_time() - started) + "\n")
    return float(json.loads(file.read_text(encoding="utf-8")))


def _entry(folder: Path, packages: tuple[str, ...], drawn: Drawn) -> TrainedEntry:
    model = open_model(folder, truncate="head")
    place = {label: number for number, label in enumerate(drawn.splits.labels)}
    columns = np.array([place[label] for label in model.labels])
    home = RunFolder(folder).model
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
    found = model.metrics.get("parameters", 0)
    parameters = found if isinstance(found, int) else 0
    settings = json.loads((home / "config.json").read_text(encoding="utf-8"))
    english = settings["model"]["sentence"] != "none"
    return TrainedEntry(model, columns, len(place), size / 1e6, packages, parameters, english)


@dataclass(frozen=True)
class TrainedEntry:
    """A trained model, opened as ``heedful predict`` does.

    Attributes:
        model: the model.
        columns: the place of each of its labels among those of the data set.
        classes: how many these are.
        megabytes: see `Entry.megabytes`.
        packages: what it needs to predict, Heedful itself aside.
        parameters: see `Entry.parameters`.
        english: whether it reads the vectors of the English package beside its own numbers.
    """

    model: Model[Any, Any]
    columns: NDArray[np.int64]
    classes: int
    megabytes: float
    packages: tuple[str, ...]
    parameters: int
    english: bool

    @property
    def installed(self) -> float:
        """See `Entry.installed`."""
        own = ("heedful", "heedful_en") if self.english else ("heedful",)
        return self.megabytes + installed_megabytes(self.packages) + sum(map(package_megabytes, own))

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """See `Entry.scores`: logarithms of the probabilities."""
        found = self.model.probabilities(self.model.logits(list(texts)))
        scores = np.full((len(texts), self.classes), np.log(_SMALLEST))
        scores[:, self.columns] = np.log(np.maximum(found, _SMALLEST))
        return scores
