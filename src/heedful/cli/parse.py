"""``heedful parse``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from heedful.cli.guards import WrittenPath
from heedful.cli.options import text_input_options, text_option, threads_option
from heedful.cli.reading_options import reading_options
from heedful.data.readers.reading import FileReading


@click.command()
@click.option(
    "--parser",
    "parser_name",
    required=True,
    help="builtin (English) or spacy:MODEL (a name or a folder), which need heedful[spacy]; or stanza:LANGUAGE, which "
    "needs heedful[stanza].",
)
@text_option
@text_input_options
@reading_options
@click.option(
    "--tokenizer", default="treebank", show_default=True, help="Tokenizer, as in the settings of the model."
)
@click.option(
    "--output",
    type=WrittenPath(endings=(".conllu", ".conll", ".txt")),
    help="Write to this file instead of printing.",
)
@threads_option
def command(
    parser_name: str,
    texts: tuple[str, ...],
    input_file: Path | None,
    reading: FileReading,
    tokenizer: str,
    output: Path | None,
) -> None:
    """Write the dependency trees of texts as CoNLL-U, over the tokens that a model reads.

    Each distinct text is parsed once. If you name the file in the settings of a run (text.parser), the run needs no
    parser.

    Example: heedful parse --parser builtin --input questions.txt --output questions.conllu
    """
    from heedful.cli.output import exact, print_note
    from heedful.cli.request_options import RequestOptions
    from heedful.cli.requests import gather
    from heedful.data.parses import conllu_text, find_parser, sentences_of
    from heedful.data.tokens import tokenize_corpus
    from heedful.storage import write_text

    parser = find_parser(parser_name)
    is_pair = not reading.columns.keys().isdisjoint(("premise", "hypothesis"))
    requests = gather(RequestOptions(texts, (None, None), input_file, reading, is_pair))
    sentences = sentences_of(tokenize_corpus(requests.examples, tokenizer, requests.source))
    trees = conllu_text(parser.parse(sentences))
    if output is None:
        for tree in trees:
            click.echo(tree, nl=False, file=exact(sys.stdout))
        return
    write_text(output, "".join(trees))
    print_note(f"{output}: {len(sentences)} sentences")
