"""Labels of a training set that are likely wrong, found by models that did not see them (Northcutt et al., 2021)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from heedful.baselines.linear import Sides, word_tfidf
from heedful.baselines.settled_logistic import SettledLogistic
from heedful.data.examples import Corpus, Example
from heedful.data.folds import copies, together
from heedful.data.gold import collect_labels
from heedful.errors import DataError, UsageError
from heedful.evaluation.confident_learning import rank_suspects
from heedful.model.decisions import Kind, kind_of
from heedful.run import from_examples, prepare_examples, train
from heedful.run.run_config import RunConfig
from heedful.run.sources import Source
from heedful.tasks import AnyModel

CHANGED = 0.05
"""Share of the labels that are changed on purpose to measure the judge."""
MOST_WORDS = 5
"""How many words are shown for each suspect."""
_LONGEST = 200
"""Words of a text that are left out one by one at most."""
Floats = NDArray[np.float64]
Held = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
Against = Callable[[int, int, int], list[tuple[str, float]]]
"""Place of an example, number of its label and of the suggested one, to words with how much each speaks against."""


@dataclass(frozen=True)
class LabelSuspect:
    """An example whose label is likely wrong.

    Attributes:
        row: in the file; for examples of several files see `texts`.
        label: as the file has it.
        suggestion: the class that models would give it.
        probability: of the label, from a model that was trained without the example.
        suggested: likewise of the suggestion.
        against: words and pairs of words that speak most against the label, the strongest first, each with how much:
            of the linear model the difference of the two logits, of a network the probability that the label gains
            where the word is left out.
        texts: the text, or the two of a pair.
    """

    row: int
    label: str
    suggestion: str
    probability: float
    suggested: float
    against: tuple[tuple[str, float], ...]
    texts: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def find_suspects(
    source: Source,
    folds: int,
    seed: int,
    config: RunConfig | None = None,
    *,
    most: int = 0,
    root: Path | None = None,
) -> tuple[list[LabelSuspect], int, int]:
    """Find labels of the training examples that are likely wrong.

    Args:
        source: where the examples come from; what a run would hold out of them for dev is taken too.
        folds: parts that are held out in turn.
        seed: of the cut into parts.
        config: the settings of a network to train on the other parts; None trains TF-IDF (words and pairs of
            neighbors) with logistic regression.
        most: how many suspects are returned; 0 for all.
        root: the folder of data sets, where the network's word vectors may lie.

    Returns:
        The suspects, how many there are in all, and how many examples were looked at.

    Raises:
        UsageError: if the data is no classes of texts or pairs.
        DataError: if there are fewer examples than folds, or fewer than two classes.
    """
    examples, labels, gold, held = _held_out(source, folds, seed)
    if config is None:
        probabilities, against = _linear(examples, gold, len(labels), held)
    else:
        probabilities, against = _network(examples, labels, held, config, root)
    ranked = rank_suspects(probabilities, gold)
    shown = ranked[:most] if most else ranked
    return _suspects(shown, examples, labels, gold, probabilities, against), len(ranked), len(examples)


def suspects_by_model(
    model: AnyModel, corpus: Corpus, seed: int, *, most: int = 0
) -> tuple[list[LabelSuspect], int, int, Judge]:
    """Find labels that a trained model doubts, of examples that it was not trained on.

    Args:
        model: of classes of texts or pairs.
        corpus: the examples; those whose label is no class of the model are left out.
        seed: of the labels that are changed on purpose.
        most: how many suspects are returned; 0 for all.

    Returns:
        The suspects, how many there are in all, how many examples were looked at, and how accurate the model is as a
        judge.

    Raises:
        UsageError: if the model answers no classes.
        DataError: if no example has a class of the model.
    """
    _refuse_others(model.kind, model.task)
    number = {label: place for place, label in enumerate(model.labels)}
    examples = [example for example in corpus.examples if str(example.target) in number]
    if not examples:
        raise DataError(f"{corpus.source}: no row has a label of the model ({', '.join(model.labels)[:80]})")
    gold = np.array([number[str(example.target)] for example in examples], np.int64)
    probabilities = _probabilities(model, examples)
    ranked = rank_suspects(probabilities, gold)
    against = _leaving_out(examples, lambda _: model)
    shown = _suspects(ranked[:most] if most else ranked, examples, model.labels, gold, probabilities, against)
    chosen, changed = _changed(gold, len(model.labels), seed)
    doubted = set(rank_suspects(probabilities, changed).tolist())
    judge = Judge(len(chosen), sum(place in doubted for place in chosen.tolist()), len(doubted))
    return shown, len(ranked), len(examples), judge


def _suspects(
    places: NDArray[np.int64],
    examples: Sequence[Example],
    labels: Sequence[str],
    gold: NDArray[np.int64],
    probabilities: Floats,
    against: Against,
) -> list[LabelSuspect]:
    best = probabilities.argmax(axis=1)
    return [
        LabelSuspect(
            examples[place].row,
            labels[gold[place]],
            labels[best[place]],
            float(probabilities[place, gold[place]]),
            float(probabilities[place, best[place]]),
            tuple(against(int(place), int(gold[place]), int(best[place]))),
            examples[place].texts,
        )
        for place in places
    ]


def _refuse_others(kind: Kind, task: str) -> None:
    if kind.outputs != "classes":
        raise UsageError(f"labels are looked at in classes of texts and pairs; this is data of {task!r}")


def _held_out(
    source: Source, folds: int, seed: int
) -> tuple[list[Example], tuple[str, ...], NDArray[np.int64], Held]:
    """Return the examples, the labels, the number of each example's label, and the parts that are held out."""
    _refuse_others(kind_of(source.task), source.task)
    parts = source.load()
    chosen = ("train", "dev") if source.protocol.selects == "cut" else ("train",)
    examples = [e for name in chosen if name in parts for e in parts[name].examples if e.target is not None]
    examples.sort(key=lambda example: example.row)
    labels = source.labels or collect_labels(examples, parts["train"].source)
    if len(examples) < folds:
        raise DataError(f"there are {len(examples)} examples, too few for {folds} folds")
    number = {label: place for place, label in enumerate(labels)}
    gold = np.array([number[str(example.target)] for example in examples], np.int64)
    cuts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class may have fewer examples than there are folds
        try:
            fold = np.zeros(len(gold), np.int64)
            for number_of, (_, out) in enumerate(cuts.split(gold, gold)):
                fold[out] = number_of
        except ValueError as error:
            raise DataError(
                f"every class has fewer examples than the {folds} folds; choose --folds 2"
            ) from error
    fold = together(fold, copies(examples))  # a copy in another fold would tell the model the answer
    held = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold).tolist()]
    if len(held) < 2:
        raise DataError(f"all {len(examples)} examples are copies of one text; there is nothing to compare")
    return examples, tuple(labels), gold, held


@dataclass(frozen=True)
class Judge:
    """How accurate the linear model is as a judge, measured on labels that were changed on purpose.

    Attributes:
        changed: how many labels were changed.
        found: how many of them are suspect then.
        suspected: how many labels are suspect then, the changed ones among them.
    """

    changed: int
    found: int
    suspected: int

    def sentence(self) -> str:
        """Return it in words."""
        rest = "the others are labels of yours that it doubts, some of them rightly"
        return (
            f"How accurate this is: of {self.changed:,} labels that were changed on purpose, {self.found:,} were "
            f"suspect ({self.found / self.changed:.0%}), and of the {self.suspected:,} suspects then, "
            f"{self.found / max(1, self.suspected):.0%} were the changed ones; {rest}."
        )


def judged(source: Source, folds: int, seed: int) -> Judge:
    """Change a twentieth of the labels at random and count how many of them the linear model suspects.

    Args:
        source: where the examples come from.
        folds: parts that are held out in turn.
        seed: of the cut into parts, and of the changes.

    Returns:
        The counts.
    """
    examples, labels, gold, held = _held_out(source, folds, seed)
    chosen, changed = _changed(gold, len(labels), seed)
    probabilities, _ = _linear(examples, changed, len(labels), held)
    ranked = set(rank_suspects(probabilities, changed).tolist())
    return Judge(len(chosen), sum(place in ranked for place in chosen.tolist()), len(ranked))


def _changed(gold: NDArray[np.int64], classes: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which labels are changed on purpose, and all labels with these changed."""
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(gold))[: max(1, round(CHANGED * len(gold)))]
    changed = gold.copy()
    changed[chosen] = (gold[chosen] + generator.integers(1, classes, len(chosen))) % classes
    return chosen, changed


def _linear(
    examples: Sequence[Example], gold: NDArray[np.int64], classes: int, held: Held
) -> tuple[Floats, Against]:
    probabilities = np.zeros((len(examples), classes))
    rows: dict[int, tuple[sparse.csr_matrix, Floats, list[str]]] = {}
    for seen, out in held:
        features = Sides(word_tfidf())
        matrix = features.fit([examples[k].texts for k in seen]).transform([examples[k].texts for k in seen])
        model = SettledLogistic(10.0).fit(matrix, gold[seen])
        found = features.transform([examples[k].texts for k in out])
        probabilities[np.ix_(out, model.classes_)] = model.predict_proba(found)
        coefficients = np.zeros((classes, matrix.shape[1]))
        own = model.coef_ if len(model.coef_) > 1 else np.concatenate([-model.coef_, model.coef_]) / 2
        coefficients[model.classes_] = own
        names = _names(features, matrix.shape[1])
        rows |= {int(place): (found[k], coefficients, names) for k, place in enumerate(out)}

    def against(place: int, label: int, suggestion: int) -> list[tuple[str, float]]:
        row, coefficients, names = rows[place]
        worth = row.data * (coefficients[suggestion] - coefficients[label])[row.indices]
        order = np.argsort(-worth, kind="stable")[:MOST_WORDS]
        return [(names[row.indices[k]], float(worth[k])) for k in order if worth[k] > 0]

    return probabilities, against


def _names(features: Sides, width: int) -> list[str]:
    """Name the columns of the features; of pairs, whose text has them, and in what the two differ and agree."""
    terms = features.vectorizer.get_feature_names_out().tolist()
    if width == len(terms):
        return terms
    return [f"{where}: {term}" for where in ("first", "second", "in one", "in both") for term in terms]


def _network(
    examples: Sequence[Example],
    labels: Sequence[str],
    held: Held,
    config: RunConfig,
    root: Path | None,
) -> tuple[Floats, Against]:
    probabilities = np.zeros((len(examples), len(labels)))
    models: dict[int, AnyModel] = {}
    for seen, out in held:
        source = from_examples(
            [replace(examples[k], row=0) for k in seen],
            None,
            config.model.task,
            config.data.dev_fraction,
            config.train.seed,
            labels=labels,
        )
        predictor = train(config, prepare_examples(config, source, root=root)).predictor
        probabilities[out] = _probabilities(predictor, [examples[k] for k in out])
        models |= dict.fromkeys(map(int, out), predictor)
    return probabilities, _leaving_out(examples, models.__getitem__)


def _probabilities(model: AnyModel, examples: Sequence[Example]) -> Floats:
    found: Floats = model.probabilities(model.logits(Corpus(list(examples))))
    return found


def _leaving_out(examples: Sequence[Example], model_of: Callable[[int], AnyModel]) -> Against:
    """Return which words speak against labels: those without which the model of a place finds them likelier."""

    def against(place: int, label: int, suggestion: int) -> list[tuple[str, float]]:
        predictor = model_of(place)
        cutter = predictor.reading.cutter
        sides = [cutter.words(text)[:_LONGEST] for text in examples[place].texts]
        spots = [(side, k) for side, words in enumerate(sides) for k in range(len(words))]
        without = [
            _with_words(
                examples[place], [w[:k] + w[k + 1 :] if s == side else w for s, w in enumerate(sides)]
            )
            for side, k in spots
        ]
        found = _probabilities(predictor, [_with_words(examples[place], sides), *without])[:, label]
        gain = found[1:] - found[0]
        order = np.argsort(-gain, kind="stable")[:MOST_WORDS]
        return [(sides[spots[k][0]][spots[k][1]], float(gain[k])) for k in order if gain[k] > 0]

    return against


def _with_words(example: Example, sides: Sequence[Sequence[str]]) -> Example:
    """Return an example with other words; the columns beside them stay."""
    return Example(tuple(" ".join(words) for words in sides), cells=example.cells)
