"""Settings that the data decides: whether there are rows enough for a network, and whether the texts are English."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from heedful.data.examples import Corpus
from heedful.model.decisions import kind_of
from heedful.run.protocol import few_rows
from heedful.run.recipe_files import FEW_ROWS, override
from heedful.run.run_config import RunConfig
from heedful.runtime.encoder_states import EN_SENTENCES, has_sentence_encoder
from heedful.tasks import Corpora, Source, task_named
from heedful.tasks.registry import unread_settings
from heedful.tasks.sentences.class_means import too_few_each
from heedful.text.english import ENGLISH, is_english, package_of

NO_NETWORK: dict[str, object] = {
    "model.encoder": "none",
    "model.encoder_options": {},
    "model.width": 1,
    "model.hidden": 1,
    "model.pooling": "mean",
    "model.highway": False,
    "text.subwords": 0,
    "text.subword_case": False,
    "train.word_mask": 0.0,
}
"""What a model without a network needs: nothing that only a network reads."""
_OF_NETWORKS, WHOLE = 400, 10_000
"""Words of a text that recipes let a network read at most, and that are read without one: linear parts take any."""
ENGLISH_VECTORS: dict[str, object] = {
    "text.vectors": ENGLISH,
    "text.baseforms": ENGLISH,
    "text.vector_norm": 5.0,
    "model.width": 300,
}
"""The word vectors of the English package, as a network takes them."""

INNER = 150
"""Features to which a DiSAN maps these vectors, for a class or a number of single texts: a step takes half the time."""
MOST_INNER = 20_000
"""Training rows up to which it does so."""

WIDTHS_OF_RECIPES = (100, 300)
"""Widths that recipes for own data and the estimators have; another one is the user's, and vectors give way to it."""
_OF_GRADES, _OF_NUMBERS = "pearson", "r2"
"""What chooses the checkpoint by default, of grades and of numbers."""


@dataclass(frozen=True)
class Decided:
    """What the data decided.

    Attributes:
        settings: by their dotted names, those that replace "auto" or what the rows are too few for.
        notes: one sentence on each decision.
    """

    settings: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def after(self, settings: Mapping[str, object]) -> Decided:
        """Return the same behind settings that were decided before; where both have one the later holds."""
        return replace(self, settings={**settings, **self.settings})

    def with_(self, settings: Mapping[str, object]) -> Decided:
        """Return the same with further settings."""
        return replace(self, settings={**self.settings, **settings})


def remembered(load: Callable[[], Corpora]) -> Callable[[], Corpora]:
    """Return a function that reads once, however often it is called."""
    kept: list[Corpora] = []

    def read() -> Corpora:
        if not kept:
            kept.append(load())
        return dict(kept[0])

    return read


def decide(config: RunConfig, source: Source) -> Decided:
    """Look at the training texts for what the settings leave open.

    Args:
        config: the settings.
        source: where the texts come from.

    Returns:
        The settings that the data decides.
    """
    if problem := _wider_scores(config, source):
        return problem
    if (
        kind_of(config.model.task).of_words
        and config.model.wide == "none"
        and config.model.sentence == "auto"
    ):
        return decide(override(config, {"model.sentence": "none"}), source).with_({"model.sentence": "none"})
    limit = few_rows(config)
    if source.before is not None and source.before.has_network:  # which goes on, of however few rows
        limit = 0
    open_vectors = config.text.vectors == "auto"
    open_sentence = config.model.sentence == "auto"
    if not (limit or open_vectors or open_sentence):
        without = {**_no_network(config), FEW_ROWS: config.data.few_rows}
        return Decided(without if config.model.encoder == "none" else {})
    found_parts = source.load()
    training = found_parts["train"]
    settings: dict[str, object] = {}
    notes: list[str] = []
    if open_vectors or open_sentence:
        found, note = _vectors(config, training)
        settings |= found
        notes += [note] if note else []
    rows = sum(example.target is not None for example in training.examples)
    uncut, taught = bool(limit) and "dev" not in found_parts, source.protocol.selects == "taught"
    if taught:
        notes.append(
            f"{rows:,} training rows are fewer than data.few_rows = {limit:,}: {len(found_parts['dev'].examples):,} "
            "of the texts without labels are the dev split, as the teacher answers them. distil.dev_fraction=0 trains "
            "no network, and fits linear parts that cross-validation on the rows with labels chooses."
        )
        settings[FEW_ROWS] = 0
    elif (rows < limit or uncut) and config.model.encoder != "none":
        settings |= _no_network(config)
        left = "are" if rows < limit else "less a dev split would be"
        few = (
            f"{rows:,} training rows {left} fewer than data.few_rows = {limit:,}: no network is trained; linear parts "
            "are chosen by cross-validation and fitted on all rows. data.few_rows=0 trains a network all the same."
        )
        notes += [] if config.data.learn_from else [few]
    elif note := _very_many(config, training, settings.get("model.sentence", config.model.sentence), limit):
        settings |= _no_network(config)
        notes.append(note)
    elif config.model.encoder == "none":
        settings |= _no_network(config)
    if settings:
        settings.setdefault(FEW_ROWS, config.data.few_rows)
    return Decided(settings, tuple(notes))


def _very_many(config: RunConfig, training: Corpus, reads: object, limit: int) -> str:
    """Return why no network is trained where very many classes have few examples each; empty where one is."""
    if not limit or reads not in ("mean", EN_SENTENCES) or config.model.encoder == "none" or _pairs(config):
        return ""
    if kind_of(config.model.task).outputs != "classes":
        return ""
    found = [example.target for example in training.examples if example.target is not None]
    classes = len(set(found))
    if not too_few_each(len(found), classes):
        return ""
    return (
        f"{classes:,} classes have {len(found) / classes:.1f} training rows each: too few for a network, and none is "
        "trained; linear parts answer. data.few_rows=0 trains a network all the same."
    )


def _no_network(config: RunConfig) -> dict[str, object]:
    """Return what a model without a network needs, of the settings that its task has."""
    task = task_named(config.model.task)
    unread = unread_settings(task)
    found = {name: value for name, value in NO_NETWORK.items() if name not in unread}
    single = task.sides == 1 and not kind_of(config.model.task).of_words
    if single and (config.data.max_tokens, config.data.truncate) == (_OF_NETWORKS, "head"):
        found["data.max_tokens"] = WHOLE
    return found


def _wider_scores(config: RunConfig, source: Source) -> Decided | None:
    """Learn scores of any range as numbers, where grades from 1 were expected; what else is open is decided then."""
    if kind_of(config.model.task).outputs != "grades" or config.data.set:
        return None
    targets = [
        example.target
        for corpus in source.load().values()
        for example in corpus.examples
        if isinstance(example.target, int | float)
    ]
    if not targets or (min(targets) >= 1 and max(targets) <= config.model.outputs):
        return None
    settings: dict[str, object] = {
        "model.task": "pair-number",
        "model.outputs": 2,
        "model.matching": "symmetric",
        "model.activation": "elu",
        "train.relatedness_loss": "kl",
        FEW_ROWS: config.data.few_rows,
    }
    if config.train.metric == _OF_GRADES:  # one that the user chose stays
        settings["train.metric"] = _OF_NUMBERS
    note = (
        f"The scores go from {min(targets):g} to {max(targets):g}, not from 1 to {config.model.outputs}: they are "
        "learned as numbers (model.task = pair-number)."
    )
    further = decide(override(config, settings), replace(source, task="pair-number"))
    return Decided({**settings, **further.settings}, (note, *further.notes))


def _vectors(config: RunConfig, training: Corpus) -> tuple[dict[str, object], str]:
    """Decide on word vectors and on what the sentence part reads."""
    settings: dict[str, object] = {}
    open_vectors, open_sentence = config.text.vectors == "auto", config.model.sentence == "auto"
    english = is_english(_some(training)) and not config.model.pretrained.name
    package = package_of(ENGLISH) if english else ""
    if open_vectors:
        default = replace(config.text, vectors="", baseforms="")
        settings |= {"text.vectors": default.vectors, "text.baseforms": default.baseforms}
        if package and config.model.width in WIDTHS_OF_RECIPES:
            settings |= {name: value for name, value in ENGLISH_VECTORS.items() if _left_open(config, name)}
            if _may_narrow(config) and len(training.examples) <= MOST_INNER:
                settings["model.encoder_options"] = {"inner": INNER}
    if open_sentence:
        named = config.text.vectors not in ("", "auto")
        mean = "mean" if named or package else "overlap" if _pairs(config) else "none"
        whole = not kind_of(config.model.task).of_words
        settings["model.sentence"] = EN_SENTENCES if package and has_sentence_encoder() and whole else mean
    if package:
        reads = settings.get("model.sentence", EN_SENTENCES) == EN_SENTENCES and has_sentence_encoder()
        encoder = f", and its sentence encoder {EN_SENTENCES}" if reads else ""
        return (
            settings,
            f"The texts are English: word vectors of the installed package {package} are used{encoder}.",
        )
    if english:
        return settings, (
            f"The texts are English: pip install 'heedful[en]' brings word vectors ({ENGLISH}), with which few "
            "examples teach more."
        )
    return settings, ""


def _left_open(config: RunConfig, name: str) -> bool:
    """Return whether a setting that goes with the vectors has the value that recipes for own data have."""
    return name != "text.vector_norm" or config.text.vector_norm == 0


def _may_narrow(config: RunConfig) -> bool:
    """Return whether the network is a DiSAN for a class or a number of single texts, and no option of it is named."""
    kind, model = kind_of(config.model.task), config.model
    single = kind.outputs in ("classes", "number") and kind.texts == 1
    open_options = not model.encoder_options and not model.start
    return single and model.encoder == "disan" and open_options


def _pairs(config: RunConfig) -> bool:
    return task_named(config.model.task).sides == 2


def english_package(training: Corpus) -> str:
    """Return the installed package of English words; empty if there is none, or the texts are not English."""
    return package_of(ENGLISH) if is_english(_some(training)) else ""


def _some(corpus: Corpus) -> Iterable[str]:
    """Return some texts from all over a corpus."""
    step = max(1, len(corpus.examples) // 500)
    return [text for example in corpus.examples[::step] for text in example.texts]
