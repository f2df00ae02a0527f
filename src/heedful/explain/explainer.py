"""The one explainer: what each word contributes to an answer, and what the network looked at, whatever computes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from heedful.errors import UsageError
from heedful.explain.explanation import Explanation
from heedful.explain.explanation_parts import (
    Reader,
    ValuesExplained,
    assembled,
    averages,
    explained_by,
    side_names,
    with_looked,
    with_quantity,
)
from heedful.explain.explanation_record import SentenceView
from heedful.explain.legends import SYSTEMS, SystemNames, by_caption
from heedful.explain.method_ranking import by_default
from heedful.explain.methods import WITH_TORCH, MethodChoice, Question
from heedful.explain.methods.word_game import Examples, Game, game_of
from heedful.explain.neighbors import SHOWN, Neighbor, neighbors
from heedful.explain.novelty import Strangeness, strangeness
from heedful.explain.tag_explanations import explain_tags
from heedful.explain.word_pieces import on_words
from heedful.machine.canceling import in_steps
from heedful.model.attention_records import Sight
from heedful.model.engine import NO_NETWORK, Floats
from heedful.model.model import Model

_STEP = 64
"""Examples that are computed before it is looked whether the explanation is still waited for."""
_OLD = "this folder does not say what an explanation shows; use heedful explain"


def explain(
    model: Model[Any, Any],
    request: object,
    choice: MethodChoice | None = None,
    word: int | str | None = None,
    *,
    faithfulness: bool = True,
    alike: int | None = None,
) -> Explanation:
    """Show what each word contributes to an answer, and what the model looked at.

    Args:
        model: a model of `heedful.runtime.load` or `heedful.tasks.load_model`.
        request: a text, a pair of texts, or for a model of tags also a sequence of ready-made words.
        choice: the method that says what each word contributes; by default the model's own, or the best one that was
            measured among those that the engine has.
        word: for tags the word whose tag is explained; see `heedful.explain.tag_explanations.place_of`.
        faithfulness: with a method other than the default, also delete the heaviest words of a classified example and
            see what happens.
        alike: how many training examples that the request resembles are shown, of a model that keeps them; None for 3
            where it does.

    Returns:
        The record that the pictures are drawn from.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtifactError: if the network gives a number that is not finite.
        UsageError: if the folder does not say what an explanation shows, or the method is not one that the engine has.
    """
    engine = model.engine
    if "methods" not in engine.can:
        found: Explanation = model.attention(request)
        return found
    lacks = () if "gradients" in engine.can else WITH_TORCH
    choice, standing = by_default(choice or MethodChoice(), model.metrics, without=lacks)
    if choice.method in lacks:
        raise UsageError(
            f"the method {choice.method} needs torch; choose contributions, occlusion or shapley"
        )
    if "look" not in engine.can or not (model.kind.of_words or model.pooling):
        raise UsageError(_OLD)
    if model.kind.of_words:
        return explain_tags(model, request, choice, word)
    asked = _Reading.of(model, request, choice.why)
    explanation, sight = asked.seen(model)
    beside = replace(
        explanation,
        standing=standing or explanation.standing,
        neighbors=_alike(model, asked.texts, alike),
        none_of_these=_strange(model, asked, explanation.nearest),
    )
    return explained_by(
        beside,
        choice,
        asked.game,
        asked.values,
        engine.gradients(asked.block, asked.values.value),
        deletions=faithfulness and asked.values.shown.deletable,
        added=len(sight.prefix),
    )


def _strange(model: Model[Any, Any], asked: _Reading, nearest: str | None) -> Strangeness | None:
    """Return how unlike all training texts the texts are; in a tree the nearest class may be a parent."""
    found = strangeness(model, asked.block, asked.whole)
    return found if found is None or model.tree is None else replace(found, nearest=str(nearest))


def _alike(model: Model[Any, Any], texts: tuple[str, ...], count: int | None) -> tuple[Neighbor, ...]:
    """Return the training examples that an example resembles; none where none are asked for, or none are kept."""
    wanted = SHOWN if count is None and model.examples is not None else count
    if not wanted:
        return ()
    (found,) = neighbors(model, [texts if model.is_pair else texts[0]], wanted)
    return found


def question_about(model: Model[Any, Any], request: object, why: str | None = None) -> tuple[Question, str]:
    """Ask a model about the probability that it answers, for any choice of the words of an example.

    Args:
        model: of texts or pairs.
        request: one text or one pair.
        why: the class or label that is asked about; None for that of the answer.

    Returns:
        The question, and the class that it is about.
    """
    asked = _Reading.of(model, request, why)
    return asked.game.question(asked.values.value, as_shown=True), asked.values.value.label


@dataclass(frozen=True, eq=False)
class _Reading:
    """One request, read; the model as a game of its words, and what is explained."""

    block: Any
    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    whole: Floats
    game: Game
    values: ValuesExplained

    @classmethod
    def of(cls, model: Model[Any, Any], request: object, why: str | None) -> _Reading:
        engine, reading = model.engine, model.reading
        block = reading.one(request)
        texts, (read,) = reading.texts(block), reading.read(block)
        # the logits of the answer itself, which may round in another way than those of the steps one by one
        (whole,) = engine.run(block)

        def network(examples: Examples) -> list[Floats]:
            # an engine that is not exact chooses its batches, and stops between them, itself
            size = _STEP if engine.is_exact else max(len(examples), 1)
            starts = in_steps(range(0, len(examples), size))
            return [row for start in starts for row in engine.of_words(examples[start : start + size])]

        sides = Reader(reading.cutter, reading.knows).sides(texts, read.tokens)
        alone, parts = model.encoder == NO_NETWORK, engine.parts.about(reading.row(block))
        game = game_of(sides, whole, None if alone else network, parts, engine.mask)
        shown = with_quantity(model.decision.shown(whole), model.run_settings)
        shown = shown if model.tree is None else model.tree.shown(shown)
        return cls(block, texts, read.tokens, whole, game, ValuesExplained.of(shown, why))

    def seen(self, model: Model[Any, Any]) -> tuple[Explanation, Sight]:
        """Return the answer with what the network looked at."""
        sight, reading = model.engine.look(self.block), model.reading
        names = side_names(model.run_settings, len(self.texts))
        words = Reader(reading.cutter, reading.knows, sight.prefix, names).views(self.texts, self.lengths)
        read = [_of_pieces(len(place)) for place in sight.pieces] or words
        alone = model.encoder == NO_NETWORK  # whose weights of words say nothing
        explanation = assembled(
            words if alone else [with_looked(*each) for each in zip(read, sight.texts, strict=True)],
            self.values.shown,
            SYSTEMS.get(model.encoder, SystemNames(model.encoder)),
            model.pooling,
            alignments=by_caption(sight.alignments),
            averaged=averages(sight),
        )
        if sight.pieces and not alone:
            explanation = on_words(explanation, words, sight.pieces, summary=sight.has_summary)
        return explanation, sight


def _of_pieces(count: int) -> SentenceView:
    """Return the view of a sentence whose words are the pieces."""
    return SentenceView.from_words("pieces", [str(number) for number in range(count)])
