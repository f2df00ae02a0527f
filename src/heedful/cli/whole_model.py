"""``heedful explain MODEL --all FILE``: a whole model at a glance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.opened_model import answers_of, files_of
from heedful.cli.output import print_json, print_note, print_text
from heedful.data.readers.reading import FileReading
from heedful.errors import UsageError
from heedful.opening import AnyModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heedful.cli.explained_input import ExplainingOptions
    from heedful.cli.option_groups import Requests
    from heedful.data.examples import Corpus, Example
    from heedful.explain import Explanation
    from heedful.model.answers import AnyAnswer


def show_whole(
    model: Path, file: Path, how: ExplainingOptions, requests: Requests, html: Path | None, *, as_json: bool
) -> None:
    """Let a model answer a labeled file, and print or write what is noticed.

    Args:
        model: its folder.
        file: a table with labels.
        how: how it explains.
        requests: the options that say how the file is read; texts are refused.
        html: a page to write, or None.
        as_json: whether plain values are printed.

    Raises:
        UsageError: if texts are given too, or the model answers something that is not looked at.
    """
    from heedful.data.examples import Corpus
    from heedful.run.glance import GlanceRequest, render_whole, whole_lines, whole_report
    from heedful.storage import write_text

    given = (requests.texts, requests.words, requests.premise, requests.hypothesis, requests.input_file)
    if any(given):
        raise UsageError(
            "--all FILE looks at a whole file: leave texts, --input, --premise and --hypothesis out"
        )
    answering = how.opened(model)
    if answering.kind.outputs in ("other", "vector"):
        raise UsageError(
            f"{model}: --all is for models of classes, labels, numbers, scores and tags, and this is a model of "
            f"{answering.kind.noun}"
        )

    def answer(examples: Sequence[Example]) -> Sequence[AnyAnswer]:
        return answers_of(answering, Corpus(list(examples)))

    def explain(example: Example, why: str = "", word: str = "", *, rough: bool = False) -> Explanation:
        method = how.method
        part = replace(method, rough=rough, why=why or method.why, word=word or method.word)
        return part.explain(answering, Corpus([example]), how.task_options)

    def explain_roughly(example: Example) -> Explanation:
        return explain(example, rough=True)

    corpus, columns = _read(answering, file, requests)
    decision = answering.decision if answering.kind.outputs == "classes" else None
    reject = getattr(decision, "reject", None)
    none = "" if reject is None else reject.label
    several = answering.kind.outputs == "columns"
    asked = GlanceRequest(
        str(model),
        _classes(answering),
        answer,
        explain,
        explain_roughly,
        explain,
        none,
        label_columns=several,
    )
    found = whole_report(
        asked, corpus.examples, file.name, columns, print_line=lambda line: click.echo(line, err=True)
    )
    if as_json:
        print_json(found.as_dict())
    else:
        print_text("\n".join(whole_lines(found)))
    if html is not None:
        write_text(html, render_whole(found))
        print_note(f"wrote {html}")


def _classes(model: AnyModel) -> tuple[str, ...]:
    """Return the classes, where the model answers with one of them."""
    return model.labels if model.kind.outputs == "classes" else ()


def _read(model: AnyModel, file: Path, requests: Requests) -> tuple[Corpus, tuple[str, ...]]:
    """Read the file as the training file was read, with all columns; return the names of those with a role."""
    from heedful.data.examples import Corpus
    from heedful.data.readers.class_folders import found_data
    from heedful.data.readers.table_files import table_blocks

    found = found_data(file)
    files = files_of(model)
    if files is not None and files.read_gold is not None:
        return files.read_gold(found), ()
    how = requests.reading.beside(FileReading.of_run(model.run_settings), found)
    gold = "score" if model.kind.is_score else "label"
    roles = (*(("premise", "hypothesis") if model.is_pair else ("text",)), gold)
    several = model.kind.outputs == "columns"
    blocks = list(
        table_blocks(found, roles, how, known=_classes(model), keep_fields=True, label_columns=several)
    )
    examples = [example for block in blocks for example in block.examples]
    for block in blocks:
        for said in (
            *(f"rows skipped: {count:,} ({why})" for why, count in block.skipped.items()),
            *block.notes,
        ):
            click.echo(said, err=True)
    read = [how.columns.get(role, role) for role in roles]
    if several:
        read[-1:] = [name.strip() for name in read[-1].split(",")]
    return Corpus(examples, source=found), tuple(read)
