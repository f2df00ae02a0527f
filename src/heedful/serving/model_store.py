"""The models of a server by name; a folder that is replaced is taken up while requests are answered."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import UsageError
from heedful.machine.child import is_passing
from heedful.opening import Truncate
from heedful.serving.batcher import Batcher
from heedful.serving.counters import Counters
from heedful.serving.request_limits import Bounds
from heedful.serving.served_model import ServedModel, open_served, stamp
from heedful.storage.checked_paths import checked_path
from heedful.storage.layout import MODEL
from heedful.storage.named_models import find_model

LOOK = 1.0
"""Seconds between two looks at the folders, and until the second try after an error of the system."""
_DOUBLED = 6
"""How often that pause is doubled."""
Tasks = Mapping[str, tuple[str, bool]]
"""Name of a model to its task and whether it takes pairs."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass
class Served:
    """One model of the server.

    Attributes:
        folder: a model folder, or the run folder that holds it.
        model: the version that answers new requests.
        batcher: its queue and thread.
        known: stamp of the folder that was last taken up or refused.
        seen: stamp of the folder at the last look.
        tries: of the folder as it is, each of which an error of the system ended.
        due: when the next try may be, on the monotonic clock.
    """

    folder: Path
    model: ServedModel
    batcher: Batcher
    known: tuple[int, ...]
    seen: tuple[int, ...]
    tries: int = 0
    due: float = 0.0


class ModelStore:
    """The models of a server.

    Args:
        folders: name to folder.
        bounds: the limits of the server.
        counters: what is counted.
        open_folder: reads a model folder.
        print_line: writes a line to the log.

    Attributes:
        models: name to model.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        bounds: Bounds,
        counters: Counters,
        open_folder: Callable[[Path], ServedModel],
        print_line: Callable[[str], None],
    ) -> None:
        self._counters, self._open_folder, self._say = counters, open_folder, print_line
        self.models: dict[str, Served] = {}
        for name, folder in folders.items():
            before = stamp(folder)
            model = open_folder(folder)
            batcher = Batcher(name, bounds.queue, counters)
            self.models[name] = Served(folder, model, batcher, before, before)
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._look_again, name="model folders", daemon=True)

    @property
    def tasks(self) -> Tasks:
        """Task of each model, and whether it takes pairs."""
        return {name: (served.model.task, served.model.is_pair) for name, served in self.models.items()}

    def refuse_other_tasks(self, tasks: Tasks) -> None:
        """Refuse folders that hold other tasks than other processes of this server serve.

        Args:
            tasks: what `tasks` said there; a name that is missing may have any.

        Raises:
            UsageError: if one does.
        """
        for name, (task, is_pair) in tasks.items():
            served = self.models[name]
            _refuse_another_task(served.folder, served.model, task, is_pair)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models, in the order in which they were given."""
        return tuple(self.models)

    def remove_copies(self) -> None:
        """Remove the temporary copies of the models, as their end would; nothing can be explained afterwards."""
        for served in self.models.values():
            served.model.remove_copy()

    def watch(self) -> None:
        """Begin to look at the folders."""
        self._watch.start()

    def close(self) -> None:
        """Answer what waits, then end the threads."""
        self._closed.set()
        if self._watch.ident is not None:
            self._watch.join(LOOK)  # a large model may be read at this moment
        for served in self.models.values():
            served.batcher.close()

    def look(self) -> None:
        """Take up the folders that have changed since the last look and stand still since the one before."""
        for name, served in self.models.items():
            now = stamp(served.folder)
            still, served.seen = now == served.seen, now
            if not still:
                served.tries, served.due = 0, 0.0
            elif now != served.known and time.monotonic() >= served.due:
                served.known = now
                self._take_up(name, served)

    def _take_up(self, name: str, served: Served) -> None:
        try:
            model = self._open_folder(served.folder)
            _refuse_another_task(served.folder, model, served.model.task, served.model.is_pair)
        except Exception as error:
            if is_passing(error):
                seconds = LOOK * 2 ** min(served.tries, _DOUBLED)
                served.tries, served.due, served.known = served.tries + 1, time.monotonic() + seconds, ()
                why = str(error) or type(error).__name__
                self._say(
                    f"{name}: the new model cannot be read now, next try in {seconds:.0f} seconds: {why}"
                )
                return
            self._counters.load(name, good=False)
            self._say(f"{name}: the new model is not served, and the old one goes on: {error}")
            return
        served.model = model
        self._counters.load(name, good=True)
        self._say(f"{name}: a new model was taken up from {served.folder}")

    def _look_again(self) -> None:
        while not self._closed.wait(LOOK):
            try:
                self.look()
            except Exception as error:  # the watch must not end
                self._say(f"the model folders cannot be looked at: {type(error).__name__}")


def _refuse_another_task(folder: Path, model: ServedModel, task: str, is_pair: bool) -> None:
    if (model.task, model.is_pair) != (task, is_pair):
        raise UsageError(
            f"{folder}: holds a model of the task {model.task!r}, the one that is served has the task {task!r}"
        )


def named(models: Sequence[str]) -> dict[str, Path]:
    """Read what a user calls the models.

    Args:
        models: folders, or NAME=FOLDER; a folder may be the name of a model of an installed package.

    Returns:
        Name to folder; a folder without a name is called as the run folder or itself is.

    Raises:
        UsageError: if a name occurs twice, or cannot be one.
    """
    found: dict[str, Path] = {}
    for each in models:
        name, equals, rest = each.partition("=")
        folder = checked_path(rest if equals else each, f"the model {name!r}" if equals else "MODEL")
        if not equals:
            whole = Path(os.path.realpath(folder))
            name = whole.parent.name if whole.name == MODEL else whole.name
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{each!r:.200}: a model's name has letters, digits, dots, dashes and underscores, at most 64; write "
                "NAME=FOLDER"
            )
        if name in found:
            raise UsageError(f"two models are called {name!r}: write NAME=FOLDER to tell them apart")
        found[name] = find_model(folder)
    return found


def opener(
    max_tokens: int | None, truncate: Truncate | None, word_memory: int | None = None
) -> Callable[[Path], ServedModel]:
    """Return a function that reads a model folder under limits; see `open_served`."""
    return lambda folder: open_served(folder, max_tokens, truncate, word_memory)
