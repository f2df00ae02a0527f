"""One session of labeling, from the lock of the file to the end of the server."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.data.examples import Corpus
from heedful.errors import ExitCode
from heedful.labeling.forms import LabelForm
from heedful.labeling.label_file import LabelFile, Record
from heedful.labeling.labeling_app import LabelingApp
from heedful.labeling.learner import Learner
from heedful.labeling.pool import WatchedPool
from heedful.labeling.session import Session
from heedful.machine import threads
from heedful.serving.guarded_app import Access
from heedful.serving.request_limits import Bounds
from heedful.serving.server import listen, run
from heedful.storage.lock import alone


@dataclass(frozen=True)
class Labeling:
    """What is labeled.

    Attributes:
        pool: the file of the texts.
        read: reads it.
        form: what is asked of each text.
        output: the file of the labels.
        mixed: whether other texts than random ones are shown too.
        taken: returns labels that are taken over first; None for none.
    """

    pool: Path
    read: Callable[[], Corpus]
    form: LabelForm
    output: Path
    mixed: bool = True
    taken: Callable[[], Sequence[Record]] | None = None


def label_in_browser(
    labeling: Labeling, address: tuple[str, int], access: Access, print_line: Callable[[str], None]
) -> ExitCode:
    """Serve the page until a signal comes.

    Args:
        labeling: what is labeled.
        address: host and port to listen on; port 0 for any that is free.
        access: who may open the page.
        print_line: writes a line to the log.

    Returns:
        The exit code.

    Raises:
        InUseError: if another process labels into the same file.
        UsageError: if the address cannot be listened on.
        DataError: if the pool or the file of labels cannot be read.
        OutputError: if the file of labels cannot be written.
    """
    target = Path(os.path.realpath(labeling.output))
    lock = f".{target.name}.heedful-lock"
    with alone(target.parent, f"heedful label with {target.name}", name=lock, option="--output"):
        told: list[Callable[[str], None]] = [print_line]

        def print_everywhere(line: str) -> None:
            for each in told:
                each(line)

        pool = WatchedPool(labeling.pool, labeling.read, print_everywhere)
        file = LabelFile(target, labeling.form, print_everywhere)
        if labeling.taken is not None:
            _take_over(file, labeling.taken(), print_line)
        listening = listen(*address)
        session = Session(
            labeling.form,
            file,
            pool,
            lambda done: Learner(labeling.form, threads.share(1), done),
            mixed=labeling.mixed,
        )
        told.append(session.print_line)
        app = LabelingApp(session, Bounds(), access, print_line)
        try:
            return run(
                app,
                listening,
                print_line,
                stand=lambda: print_line(_where(address, listening.getsockname()[1], access, labeling)),
            )
        finally:
            session.close()


def _take_over(file: LabelFile, records: Sequence[Record], print_line: Callable[[str], None]) -> None:
    """Add the labels of the pool, those that the file has already left out."""
    known = {(each.key, each.by) for each in file.records}
    new = [each for each in records if (each.key, each.by) not in known]
    if new:
        file.add(new)
    print_line(f"{file.path}: {len(new):,} labels were taken over")


def _where(address: tuple[str, int], port: int, access: Access, labeling: Labeling) -> str:
    name = f"[{address[0]}]" if ":" in address[0] else address[0]
    key = f"#key={access.key.decode()}" if access.key else ""
    return f"label at http://{name}:{port}/{key} into {labeling.output} (Ctrl+C ends)"
