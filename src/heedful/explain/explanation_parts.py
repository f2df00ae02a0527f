"""The parts of an explanation that are the same wherever its numbers come from. Imports no torch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heedful.errors import UsageError
from heedful.explain.attribution import (
    JOINTS,
    LINKS,
    REACH,
    Across,
    Attribution,
    ColumnShare,
    Joint,
    with_prefix,
)
from heedful.explain.explained_value import ExplainedValue
from heedful.explain.explanation import Explanation
from heedful.explain.explanation_record import Array, SentenceView
from heedful.explain.faithfulness import deletion_of
from heedful.explain.legends import SystemNames, by_caption, caption, default_notes
from heedful.explain.methods.contributions import Explained, contributions
from heedful.explain.methods.method_names import DEFAULT, MethodChoice, attribute, check_method
from heedful.explain.methods.word_game import Game
from heedful.explain.parent_shares import ParentShares
from heedful.model.answers import ShownAnswer
from heedful.model.attention_records import Looked, Sight
from heedful.text.tokenize import Tokenizer

SIDE_NAMES = {1: ("text",), 2: ("premise", "hypothesis")}
"""What texts are called whose columns have no names of their own."""
ROUNDING = 1e-6
"""Words of two texts that together add no more than this are no link: a network in float32 rounds as much."""


def side_names(
    run: Mapping[str, object], count: int, names: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Return what the texts of an example are called: of pairs the columns of the training file.

    Args:
        run: the settings of the run that made the model.
        count: texts of an example.
        names: of texts whose columns have no names of their own; None for `SIDE_NAMES`.

    Returns:
        The names.
    """
    data, names = run.get("data"), names or SIDE_NAMES[count]
    if count == 1 or not isinstance(data, Mapping):
        return names
    named = (data.get(name) for name in SIDE_NAMES[count])
    return tuple(
        own if isinstance(own, str) and own else name for own, name in zip(named, names, strict=True)
    )


def quantity_of(run: object) -> str:
    """Return what the numbers of a model are called: the column of the training file; empty where it has no name."""
    data = run.get("data") if isinstance(run, Mapping) else None
    name = data.get("score") if isinstance(data, Mapping) else None
    return name if isinstance(name, str) else ""


def with_quantity(shown: ShownAnswer, run: Mapping[str, object]) -> ShownAnswer:
    """Call the number of an answer what the column of the training file is called.

    Args:
        shown: the answer.
        run: the settings of the run that made the model.

    Returns:
        The answer; a class as it is.
    """
    return shown if shown.score is None else replace(shown, quantity=quantity_of(run))


@dataclass(frozen=True)
class Reader:
    """How texts were cut into the words that an explanation names.

    Attributes:
        cutter: cuts them.
        knows: whether the model knows a word.
        prefix: tokens that the network puts in front of every text.
        names: what the texts are called; empty for `SIDE_NAMES`.
    """

    cutter: Tokenizer
    knows: Callable[[str], bool]
    prefix: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def views(self, texts: Sequence[str], lengths: Sequence[int]) -> list[SentenceView]:
        """Return the words of the texts of one example as they were written, with nothing that was looked at.

        Args:
            texts: one, or both of a pair.
            lengths: how many words of each were read.

        Returns:
            A view of each text.
        """
        return [
            self._view(name, text, length)
            for name, text, length in zip(self.names or SIDE_NAMES[len(texts)], texts, lengths, strict=True)
        ]

    def sides(self, texts: Sequence[str], lengths: Sequence[int]) -> list[tuple[str, ...]]:
        """Return the same words as the vocabulary reads them, without the prefix; see `views`."""
        each = zip(texts, lengths, strict=True)
        return [tuple(self.cutter.words(text)[:length]) for text, length in each]

    def _view(self, name: str, text: str, length: int) -> SentenceView:
        tokens = self.cutter.placed(text)
        own, added = tokens.head(length), self.prefix
        return SentenceView(
            name,
            text,
            (*added, *own.written),
            (*((0, 0) for _ in added), *own.spans),
            (*(False for _ in added), *(not self.knows(word) for word in own.words)),
            length < len(tokens.words),
        )


def with_looked(view: SentenceView, looked: Looked) -> SentenceView:
    """Add to a view what a network looked at."""
    return replace(
        view,
        maps=by_caption(looked.maps),
        gates=by_caption(looked.gates),
        fusion=by_caption(looked.fusion),
        places={caption(place): place for place in looked.maps},
        weights=looked.weights,
        chosen=looked.chosen,
        tree_distance=looked.tree_distance,
    )


def averages(sight: Sight) -> dict[str, str]:
    """Return caption of a map that is an average to what it is an average over."""
    return {caption(place): place.axis or "features" for place in sight.averaged}


def assembled(
    views: Sequence[SentenceView],
    shown: ShownAnswer,
    system: SystemNames,
    pooling: str,
    *,
    alignments: Mapping[str, Array],
    averaged: Mapping[str, str],
    notes: Mapping[str, str] | None = None,
) -> Explanation:
    """Put an explanation together, with its legends.

    Args:
        views: the sides, with what was looked at.
        shown: the answer.
        system: how the network's paper speaks of it.
        pooling: what made the sentence vectors.
        alignments: attention between the sides, [n1, n2], by caption.
        averaged: caption of a map to what it is an average over.
        notes: further or other notes than `heedful.explain.legends` gives.

    Returns:
        The explanation.
    """
    own = default_notes(views, alignments, system, averaged=averaged, pooling=pooling)
    return Explanation(
        sides=tuple(views),
        labels=shown.labels,
        probabilities=shown.probabilities,
        answered=None if shown.answered is None else shown.labels[shown.answered],
        chosen=None if shown.chosen is None else tuple(shown.labels[place] for place in shown.chosen),
        score=shown.score,
        score_range=shown.score_range,
        quantity=shown.quantity,
        parents=ParentShares.of(shown),
        alignments=alignments,
        method=system.name,
        notes={**own, **(notes or {})},
    )


OTHERS = 20
"""Further classes whose contributions an explanation holds: the most probable ones after the one that is explained."""


@dataclass(frozen=True)
class ValuesExplained:
    """The numbers of an answer that an explanation is about.

    Attributes:
        value: the one that is shown first.
        others: those of further classes or labels.
        shown: the answer.
    """

    value: ExplainedValue
    others: tuple[ExplainedValue, ...]
    shown: ShownAnswer

    @classmethod
    def of(cls, shown: ShownAnswer, why: str | None = None) -> ValuesExplained:
        """Choose what is explained of an answer.

        Args:
            shown: the answer.
            why: the class that is asked about; None for the one that is answered.

        Returns:
            The numbers; of classes, their parents and labels with those that are most probable beside it.

        Raises:
            UsageError: if there is no such class.
        """
        value = ExplainedValue.of_answer(shown, why)
        if not value.is_log_odds:
            return cls(value, (), shown)
        shares = dict(zip(shown.labels, shown.probabilities, strict=True))
        if (parents := ParentShares.of(shown)) is not None and shown.tree is not None:
            below = shown.tree.parents  # a parent of all classes has nothing to explain
            inner = parents.probabilities.items()
            shares |= {name: share for name, share in inner if len(below[name]) < len(shown.labels)}
        order = sorted(shares, key=lambda name: -shares[name])
        others = [name for name in order if name != value.label][:OTHERS]
        return cls(value, tuple(ExplainedValue.of_answer(shown, name) for name in others), shown)

    @property
    def reach(self) -> float:
        """The contribution with the darkest color: of a number a quarter of the range of the training numbers."""
        if self.value.is_log_odds or self.shown.score_range is None:
            return REACH
        low, high = self.shown.score_range
        return (high - low) / 4 or 1.0


def explained_by(
    explanation: Explanation,
    choice: MethodChoice,
    game: Game,
    values: ValuesExplained,
    further: Mapping[str, Callable[[], Attribution]] | None = None,
    *,
    deletions: bool,
    added: int = 0,
) -> Explanation:
    """Add what each word contributes by a method, and where it says something the deletion test.

    This is the one explainer: with torch and without, for texts, pairs, numbers, labels and tags.

    Args:
        explanation: of attention.
        choice: the method; attention leaves the weights of the words as they are.
        game: the model's logits for any choice of words.
        values: what is explained.
        further: methods that need the network.
        deletions: whether to delete the heaviest words and see what happens, of methods other than the default.
        added: words that the network puts in front of each text itself.

    Returns:
        The explanation.

    Raises:
        UsageError: if there is no such method, or this model cannot be explained by it.
    """
    method = choice.method or DEFAULT
    check_method(method)
    value = values.value
    if method == DEFAULT:
        made = contributions(game, choice.sampling.seed, rough=choice.sampling.rough)
        found = [_attribution(game, made, each, values.reach) for each in (value, *values.others)]
        first, *others = [with_prefix(each, added) for each in found]
        return replace(explanation, attribution=first, others=tuple(others))
    weights: list[Array] = [view.weights for view in explanation.sides if view.weights is not None]
    if method == "attention":
        if len(weights) < len(explanation.sides):
            raise UsageError(
                "this model has no attention weights of words; choose the method contributions, occlusion or shapley"
            )
        weights = [column[added:] for column in weights]
    else:
        attribution = attribute(method, game.question(value), choice.sampling, further)
        exact = float(
            value.value(game.whole[None])[0]
        )  # a network that reads texts together rounds in another way
        attribution = replace(
            attribution,
            whole=exact,
            together=attribution.together + exact - attribution.whole,
            reach=values.reach,
            **_named(game, value),
        )
        weights = list(attribution.values)
        explanation = replace(explanation, attribution=with_prefix(attribution, added))
    if not deletions:
        return explanation
    return replace(explanation, faithfulness=deletion_of(game.question(value, as_shown=True), weights))


def _named(game: Game, value: ExplainedValue) -> dict[str, Any]:
    """Return what every attribution says of the number that it explains."""
    shown = float(value.shown(game.whole[None])[0])
    if not value.is_log_odds:
        return {"of": value.of}
    return {"of": value.of, "label": value.label, "probability": shown}


def _attribution(game: Game, made: Explained, value: ExplainedValue, reach: float) -> Attribution:
    """Turn shares of the logits into contributions to one number, which add up to it."""
    shares = made.shares
    slope = value.mean_gradient(shares.start, game.whole)
    values = [side @ slope for side in shares.words]
    beside = [float(column.values @ slope) for column in shares.columns]
    start, whole = (float(value.value(row[None])[0]) for row in (shares.start, game.whole))
    size = sum(float(np.abs(side).sum()) for side in values) + sum(map(abs, beside))
    if size:  # what the sum over the line misses of the integral
        missing = whole - start - sum(float(side.sum()) for side in values) - sum(beside)
        values = [side + missing * np.abs(side) / size for side in values]
        beside = [value + missing * abs(value) / size for value in beside]
    else:
        start = whole
    together: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    for joint in shares.joint:
        together[joint.side, joint.start, joint.end] += float(joint.values @ slope)
    strongest = sorted(
        (Joint(*place, each) for place, each in together.items()),
        key=lambda j: _by_strength(j.value, j.side, j.start, j.end),
    )
    linked = (Across(each.first, each.second, float(each.values @ slope)) for each in shares.across)
    across = [each for each in linked if abs(each.value) > ROUNDING]
    return Attribution(
        DEFAULT,
        values=tuple(values),
        whole=whole,
        start=start,
        joint=tuple(sorted(strongest[:JOINTS], key=lambda j: (j.side, j.start, j.end))),
        across=tuple(
            sorted(across, key=lambda each: _by_strength(each.value, each.first, each.second))[:LINKS]
        ),
        columns=tuple(
            ColumnShare(column.name, column.shown, value)
            for column, value in zip(shares.columns, beside, strict=True)
        ),
        reach=reach,
        samples=made.choices,
        run=made.run,
        **_named(game, value),
    )


def _by_strength(value: float, *place: int) -> tuple[float, ...]:
    """Return the key that sorts by strength; what differs by less than its rounding goes by its place."""
    return -float(f"{abs(value):.4g}"), *place
