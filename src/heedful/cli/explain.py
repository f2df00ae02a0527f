"""``heedful explain``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heedful.cli.answer_options import TreeOptions
from heedful.cli.explained_input import FeatureOptions, MethodOptions, feature_options
from heedful.cli.guards import PAGE
from heedful.cli.option_groups import Requests, TextLimits, grouped
from heedful.cli.options import (
    PATH,
    figures_option,
    input_options,
    json_option,
    limit_options,
    neighbors_option,
    threads_option,
    tree_options,
    typed_inputs,
)
from heedful.cli.output import print_json, print_note, print_text, terminal_width
from heedful.cli.reading_options import reading_options
from heedful.cli.request_options import STDIN
from heedful.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heedful.explain import Explanation


@dataclass(frozen=True)
class Views:
    """Where an explanation is shown."""

    compare: Path | None
    html: Path | None
    figures: tuple[Path, ...]
    attention: bool
    as_json: bool

    @property
    def shows_attention(self) -> bool | None:
        """Whether links, gates and weights are shown; None where nothing else is there."""
        return True if self.attention else None

    def refuse_beside_all(self) -> None:
        """Refuse what shows one explanation, where a whole model is looked at."""
        given = {"--figure": self.figures, "--compare": self.compare, "--attention": self.attention}
        for option, value in given.items():
            if value:
                raise UsageError(f"{option} is for one text; leave it out with --all")

    def check(self) -> None:
        """Refuse figures that cannot be drawn, before anything is explained."""
        from heedful.figure_style import check_figure

        for path in self.figures:
            check_figure(path, "The figure of an explanation")
        if self.compare is not None and self.figures:
            raise UsageError("--figure draws one model; write --html PAGE for two, or leave --compare out")


@click.command()
@click.argument("model", type=PATH)
@typed_inputs
@click.option(
    "--method",
    metavar="NAME",
    help="How the contribution of each word is computed: contributions, occlusion, shapley, gradient, integrated or "
    "attention. The default is the method that 'heedful faithfulness' found to be best for MODEL, or contributions if "
    "nothing was measured.",
)
@click.option(
    "--why",
    metavar="LABEL",
    help="Explain this class, label or tag in place of the one that is predicted: why is it LABEL, or why not?",
)
@click.option(
    "--attention",
    is_flag=True,
    help="Also show what the network looked at: the strongest links, gates and weights. The page always has them.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    help="Random orders of the words for --method shapley.  [default: 50]",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of these orders.  [default: 0]")
@click.option(
    "--word",
    metavar="WORD",
    help="For tags: the word whose tag is explained, as the word or as its number from 1. The default is the word "
    "whose tag is least certain.",
)
@neighbors_option(
    "Training examples that are shown beside the answer, of a model that keeps them.  [default: 3; 0 for none]",
    0,
)
@feature_options
@tree_options
@input_options
@reading_options
@click.option(
    "--policy",
    is_flag=True,
    help="For MDMAN: also show step by step how the policy opened the masks, with its probabilities. Needs torch.",
)
@click.option(
    "--compare",
    type=PATH,
    metavar="MODEL",
    help="Another model that explains the same input. The page shows both predictions and the gates of both models "
    "side by side.",
)
@click.option(
    "--all",
    "whole",
    type=PATH,
    metavar="FILE",
    help="Look at the whole model: let it answer a table with labels, and show the words and phrases that matter for "
    "each class, what is confused, the surest mistakes, weak slices, calibration and suspect labels.",
)
@click.option("--html", type=PAGE, help="Write a page that works offline.")
@figures_option("Write a figure as .png, .svg or .pdf. May be repeated.")
@limit_options
@threads_option
@json_option
@grouped(requests=Requests, method=MethodOptions, tree=TreeOptions, limits=TextLimits, views=Views)
def command(
    model: Path,
    requests: Requests,
    method: MethodOptions,
    features: FeatureOptions,
    tree: TreeOptions,
    policy: bool,
    whole: Path | None,
    limits: TextLimits,
    views: Views,
) -> None:
    """Show what each word contributes to the prediction of MODEL, and what its network looked at.

    Every word has one number: above 0 it speaks for the prediction, below 0 against it. With the base, which is what
    MODEL predicts without words, the numbers add up to the log-odds of the probability that is shown, or to the
    predicted number. With --method attention the words have the weights of the sentence vector.

    For semantic roles, one predicate is shown: the first that is found, or the one in --predicates. For a translation,
    each translated word is shown with the source words that it attended to.

    Attention is averaged over its features. --features-of WORD also shows single features of one word, and --beside
    shows the same features in another sentence. --compare explains the input by a second model too.
    --policy shows how the policy of MDMAN opened the masks.

    With --tree, classes are paths, such as sport/football: the words are explained of the class or parent that is
    answered, and --why names any of them.

    --all FILE looks at the whole model instead of one text: FILE is a table with labels that MODEL was not trained on.

    Example: heedful explain runs/reviews "I found that song superb." --html why.html
    """
    from heedful.cli.explained_input import ExplainingOptions
    from heedful.cli.opened_model import request_options
    from heedful.cli.requests import gather

    views.check()
    how = ExplainingOptions(method, features, policy, {"predicates": requests.predicates}, limits, tree)
    if whole is not None:
        from heedful.cli.whole_model import show_whole

        views.refuse_beside_all()
        if tree != TreeOptions():
            raise UsageError("--tree and --at-least are for one text; leave them out with --all")
        show_whole(model, whole, how, requests, views.html, as_json=views.as_json)
        return
    explaining = how.opened(model)
    corpus = gather(request_options(explaining, requests))
    if len(corpus.examples) > 1 and requests.input_file not in (None, STDIN):
        file = requests.input_file
        raise UsageError(
            f"{file} has {len(corpus.examples):,} texts, and one is explained at a time; of all: --all {file}"
        )
    if views.compare is not None:
        _show_two(how.compared(model, views.compare, explaining, corpus), views)
        return
    explanation = how.explain(model, explaining, corpus)
    if views.as_json:
        print_json(explanation.to_dict())
    else:
        text = explanation.to_text(terminal_width(), _color(), views.shows_attention)
        print_text(text, colored=_color())
    for path in [views.html] if views.html else []:
        print_note(f"wrote {explanation.to_html(path)}")
    for path in views.figures:
        print_note(f"wrote {explanation.to_figure(path, attention=views.shows_attention)}")


def _show_two(explained: Mapping[str, Explanation], views: Views) -> None:
    from heedful.explain import render_side_by_side
    from heedful.storage import write_text
    from heedful.text.characters import visible

    page = render_side_by_side(explained)
    html = views.html
    if views.as_json:
        print_json([{"model": name, "explanation": each.to_dict()} for name, each in explained.items()])
    else:
        texts = (
            f"{visible(name)}\n{each.to_text(terminal_width(), _color(), views.shows_attention)}"
            for name, each in explained.items()
        )
        print_text("\n\n".join(texts), colored=_color())
    if html is not None:
        write_text(html, page)
        print_note(f"wrote {html}")


def _color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
