"""The request options to examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from heedful.cli.request_options import STDIN, RequestOptions
from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.storage.file_states import unchanged
from heedful.text.limits import ROWS


def gather(options: RequestOptions) -> Corpus:
    """Collect the requests of a command that needs them all at once.

    Args:
        options: the options.

    Returns:
        One example a request, in order, with its row.

    Raises:
        UsageError: if nothing was given, too much, or what does not fit the model.
        DataError: naming file, row and field, if the input is wrong, or holds more rows than `ROWS` allows.
    """
    source, examples = None, list[Example]()
    for block in _blocks(options):
        source = block.source
        examples += block.examples
        if len(examples) > ROWS.value():
            raise ROWS.exceeded(str(source), "there are more than")
    return Corpus(examples, source=source)


def stream(options: RequestOptions, check: Callable[[Corpus], None]) -> Iterator[Corpus]:
    """Yield the requests of a command in blocks, in the memory of one; errors as in `gather`.

    A file is read twice: once to its end to find what is wrong with it, before anything is answered, and once to be
    answered; one that changes meanwhile is refused at its end. Standard input can be read but once, so that a mistake
    in it ends what has been answered till then. Of a file that the model reads in its own way all rows are held.

    Args:
        options: the options.
        check: refuses examples that the model would refuse.

    Yields:
        Requests, in order, with their rows.
    """
    file = options.input_file
    if file is None or file == STDIN:
        yield from _blocks(options)
        return
    with unchanged(file):
        for block in _blocks(options):
            check(block)
        yield from _blocks(options)


def _blocks(asked: RequestOptions) -> Iterator[Corpus]:
    _check_options(asked)
    file = asked.input_file
    if file is None:
        given = [tuple(map(str, asked.pair))] if asked.is_pair else [(text,) for text in asked.texts]
        yield Corpus([Example(texts, row=n, cells=asked.cells) for n, texts in enumerate(given, start=1)])
    else:
        from heedful.cli.request_files import blocks_of

        yield from blocks_of(asked, file)


def _check_options(asked: RequestOptions) -> None:
    given_pair = asked.pair != (None, None)
    if asked.is_pair and asked.texts:
        raise UsageError(
            "this model takes pairs: use --premise and --hypothesis, or --input with both columns"
        )
    if not asked.is_pair and given_pair:
        raise UsageError("this model takes single texts: use --text, or --input")
    if given_pair and None in asked.pair:
        raise UsageError("--premise and --hypothesis go together")
    direct = "--premise and --hypothesis" if asked.is_pair else "--text"
    if asked.input_file is None and not asked.texts and not given_pair:
        raise UsageError(f"nothing to read: give {direct}, or --input FILE (- for standard input)")
    if asked.input_file is not None and (asked.texts or given_pair):
        raise UsageError(f"give either {direct} or --input, not both")
    if asked.input_file is not None and asked.cells:
        raise UsageError(
            "--feature NAME=VALUE is for a text of the command line; a file has to be a table that has the columns"
        )
    if asked.reading.on_missing == "skip":
        raise UsageError("--on-missing skip: every row gets a result here; choose error or empty")
    roles = ("premise", "hypothesis") if asked.is_pair else ("text",)
    other = [role for role in asked.reading.columns if role not in roles]
    if other:
        raise UsageError(
            f"--column {other[0]}=: this command reads the column of {' and '.join(roles)} alone"
        )
    of_tables = {**asked.reading.columns, **asked.reading.of_tables()}
    if of_tables and not _in_table(asked):
        from heedful.data.readers.table_files import TABLE_SUFFIXES

        name = "column" if asked.reading.columns else next(iter(of_tables)).replace("_", "-")
        raise UsageError(
            f"--{name} is for tables: --input with a name that ends in {', '.join(TABLE_SUFFIXES)}"
        )
    if asked.reading.encoding and asked.input_file is None:
        raise UsageError("--encoding is for files: --input FILE")


def _in_table(asked: RequestOptions) -> bool:
    if asked.input_file is None:
        return False
    from heedful.cli.request_files import is_table

    return is_table(asked.input_file, asked.reading)
