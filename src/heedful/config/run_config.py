"""The settings of distillation: the ``[distil]`` table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from heedful.checked import Settings, above, at_least, changed_fields, inside, one_of, ranged, share, up_to
from heedful.data.encoding import Truncate
from heedful.models import ModelConfig, TranslationConfig
from heedful.text.boundaries import AUTO
from heedful.text.tokenize import TOKENIZERS, Markup
from heedful.text.unknown_words import MOST_ROWS
from heedful.training.train_settings import TrainSettings

Swap = Literal["auto", "relation", "frequency"]
_MOST_COPIES = 1_000


def _from_0_to_1(value: float) -> str:
    return "" if 0 <= value <= 1 else "must be from 0 to 1"


@dataclass(frozen=True)
class DistilConfig(Settings):
    """What a student learns from a teacher beside the gold labels; without a teacher none of it is used.

    The loss of an example is ``weight * CE + (1 - weight) * T² * KL(teacher || student) + vectors * MSE``. A text
    without gold has no cross-entropy, and a text that no teacher answered has neither of the other two.

    Attributes:
        teacher: model folders or run folders of Heedful; of several the mean of the probabilities is learned. Or one
            file of soft labels, which ends in .jsonl: ``{"text": ..., "probabilities": {...}}``, of pairs with
            "premise" and "hypothesis". Relative to ``--data`` or to the working folder.
        texts: file of texts without labels that the teacher answers too, with the columns of the training data; empty
            for none.
        weight: share of the cross-entropy with the gold labels.
        temperature: T, at which teacher and student are compared.
        vectors: weight of the square error between the teacher's sentence vectors and a linear map of the student's,
            which is dropped after training; 0 for none.
        augment: changed copies of each training text that are drawn (Tang et al., 2019); copies that came out alike
            count once.
        mask: probability that a word of a copy becomes [MASK], which has a row of its own if ``train.word_mask`` is
            above 0.
        swap: probability that it becomes another word of the same kind.
        ngram: probability that of a copy only a run of 1 to 5 words is left.
        kind: what a kind of word is: "relation", the word's relation in the tree of the parser that the package
            heedful-en brings; "frequency", words that are about equally frequent; "auto", the first if that package is
            installed.
        seed: of the copies; the same for every training seed, so that the teacher answers them once.
    """

    teacher: tuple[str, ...] = ()
    texts: str = ""
    weight: float = ranged(0.5, _from_0_to_1)
    temperature: float = ranged(2.0, above(0))
    vectors: float = ranged(0.0, at_least(0))
    augment: int = ranged(0, up_to(0, _MOST_COPIES))
    mask: float = ranged(0.1, share)
    swap: float = ranged(0.1, share)
    ngram: float = ranged(0.25, share)
    kind: Swap = "auto"
    seed: int = ranged(0, at_least(0))

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if not self.teacher and (self.texts or self.augment):
            problems.append("texts and augment are for a teacher to answer: name distil.teacher too")
        if self.mask + self.swap > 1:
            problems.append(f"mask + swap must be at most 1; got {self.mask} + {self.swap}")
        if self.teacher and self.weight == 1 and self.vectors == 0:
            problems.append(
                "with weight = 1 and vectors = 0 nothing is learned from the teacher: lower weight"
            )
        return problems


Protocol = Literal["honest", "paper"]
"""``honest``: a dev part selects, test data is read once. ``paper``: what the published tables did where they differ,
the best of all evaluations on the test data itself."""


def _two_or_none(languages: Sequence[str]) -> str:
    return "" if len(languages) in (0, 2) else "must name source and target"


def _part_or_all(value: float) -> str:
    return "" if 0 < value <= 1 else "must be above 0 and at most 1"


@dataclass(frozen=True)
class DataConfig(Settings):
    """Where examples come from and how they are split.

    Attributes:
        set: name of a known data set (``heedful data list``) or "scenes", the corpus Heedful generates; empty when
            files are named instead.
        train: file of training examples (csv, tsv, jsonl, parquet, also compressed), relative to ``--data``.
        dev: file that selects; empty cuts ``dev_fraction`` from the training examples.
        test: file that is read once, at the end; may be empty. With a known data set, ``train`` and ``test`` name
            splits of it instead, for example ``train = "train-part"``, and so does ``dev``, by default the split "dev".
        train_limit: train on the first so many examples of a known data set that has a split; 0 for all.
        text: column of the text, for a text task.
        premise: column of the first text, for pairs.
        hypothesis: column of the second text, for pairs.
        label: column of the class.
        score: column of the score, for relatedness.
        label_type: what a class is in Python, where a file or model folder keeps its name alone: the classifiers of
            `heedful` predict 3 rather than "3" where it is "int". They set it themselves when they are trained.
        languages: for translation of one's own files, the endings of source and target: with ["en", "de"],
            ``train = "train"`` reads train.en and train.de, whose line n says the same.
        options: options of the data set's reader, for example ``phrases = true`` for SST.
        dev_fraction: share of the training examples that becomes the dev part where the data has none.
        protocol: "honest" or "paper".
        folds: number of folds of cross-validation, for data without a split.
        fold: which fold is held out, from 1.
        max_tokens: longest sentence, in tokens.
        truncate: what happens to a longer one: "error"; "head" to keep its beginning (counted and reported); or "drop"
            to leave out training examples with a longer text (counted and reported), while a longer text to evaluate or
            to answer stays an error. "window" loses nothing: the encoder reads ``max_tokens`` at a time, in windows
            that overlap by a quarter, and the pooling weighs the words of all windows together.
        length_share: with "drop", the share of the training texts that the longest one allowed covers, in place of
            ``max_tokens``: 0.97 is the cut of the published SNLI code. 1 allows ``max_tokens``.
    """

    set: str = ""
    train: str = ""
    dev: str = ""
    test: str = ""
    train_limit: int = ranged(0, at_least(0))
    text: str = ""
    premise: str = ""
    hypothesis: str = ""
    label: str = ""
    score: str = ""
    label_type: Literal["str", "int", "float", "bool"] = "str"
    languages: tuple[str, ...] = ranged((), _two_or_none)
    options: dict[str, object] = field(default_factory=dict)
    dev_fraction: float = ranged(0.1, inside(0, 1))
    protocol: Protocol = "honest"
    folds: int = ranged(10, at_least(2))
    fold: int = ranged(1, at_least(1))
    max_tokens: int = ranged(400, at_least(1))
    truncate: Truncate = "error"
    length_share: float = ranged(1.0, _part_or_all)

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if self.fold > self.folds:
            problems.append(f"fold must be 1 to folds = {self.folds}; got {self.fold}")
        if self.length_share < 1 and self.truncate != "drop":
            given = f"got truncate = {self.truncate!r}"
            problems.append(f'length_share = {self.length_share} is the limit of truncate = "drop"; {given}')
        return problems


@dataclass(frozen=True)
class TextConfig(Settings):
    """How text becomes word ids and word vectors.

    Attributes:
        tokenizer: "treebank" for raw text in Latin letters, "unicode" for any script, "whitespace" for tokenised files
            (see `heedful.text.tokenize`); or "auto" to choose between the first two by a look at the training split.
        markup: what becomes of HTML tags and links: "keep" them as text, "drop" them, or make each one "token".
        lowercase: whether words are lower-cased.
        min_count: a training word rarer than this is unknown.
        vectors: file of pretrained word vectors, relative to ``--data``, or the name of those that an installed package
            brings, such as "heedful-en"; empty for none.
        baseforms: file of ``form<TAB>base`` lines, or the name of such a package: a word without a vector takes its
            base form's.
        extra_words: keep the vectors of words that the training data lacks, frozen.
        random: how other rows start: "uniform" in [-0.05, 0.05], or "normal" with deviation 1.
        vector_norm: scale every pretrained vector to this length; 0 leaves them as they are. The papers' settings fit
            GloVe's length of about 5.
        unit_norm: scale all vectors to length 1 (decomposable attention).
        oov: what an unknown word is: "unknown" (the zero vector, still visible), "hash" (one of 100 frozen rows) or
            "nearest" (the most frequent training word that is one edit away, where both have four letters or more).
        subwords: rows of a table of hashed character n-grams that is trained with the word vectors and added to them,
            so that a word unseen in training has a vector; 20,000 suits most data, 0 is for none.
        subword_case: whether the n-grams keep capitals, also where words are lower-cased; helps to tag names.
        parser: where dependency trees come from, for encoders that read them: "builtin" (English), "spacy:MODEL",
            "stanza:LANGUAGE", or a file that ends in .conllu, as ``heedful parse`` writes it, relative to ``--data``;
            empty for none.
    """

    tokenizer: str = ranged("treebank", one_of((AUTO, *TOKENIZERS)))
    markup: Markup = "keep"
    lowercase: bool = True
    min_count: int = ranged(1, at_least(1))
    vectors: str = ""
    baseforms: str = ""
    extra_words: bool = True
    random: Literal["uniform", "normal"] = "uniform"
    vector_norm: float = 0.0
    unit_norm: bool = False
    oov: Literal["unknown", "hash", "nearest"] = "unknown"
    subwords: int = ranged(0, up_to(0, MOST_ROWS))
    subword_case: bool = False
    parser: str = ""

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if self.baseforms and not self.vectors:
            problems.append("baseforms are used to look vectors up: name text.vectors too")
        if self.subword_case and not self.subwords:
            problems.append("subword_case is about n-grams: set subwords too, to 20000 for instance")
        return problems


@dataclass(frozen=True)
class BatchConfig(Settings):
    """How examples are grouped into batches.

    Attributes:
        size: most examples a batch.
        tokens: most tokens a batch, padding counted; 0 for no limit.
        bucketing: put sentences of similar length together; off, batches are cut from a plain shuffle.
        group: put pairs that share a text together, encode it once for all of them and draw its dropout once: less work
            where premises have several hypotheses (SNLI and MultiNLI write each three times), and other batches.
        eval_size: most examples a batch when evaluating and predicting.
    """

    size: int = ranged(32, at_least(1))
    tokens: int = ranged(0, at_least(0))
    bucketing: bool = True
    group: bool = False
    eval_size: int = ranged(128, at_least(1))


@dataclass(frozen=True)
class RunConfig(Settings):
    """Everything that defines a run. The one seed is ``train.seed``: split, initial weights, batches, dropout.

    Attributes:
        name: what the run is called in reports.
        data: the ``[data]`` table.
        text: the ``[text]`` table.
        batches: the ``[batches]`` table.
        model: the ``[model]`` table.
        train: the ``[train]`` table.
        translation: the ``[translation]`` table, read by translation alone.
        distil: the ``[distil]`` table, read by the classes of texts and pairs.
    """

    name: str = ""
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    batches: BatchConfig = field(default_factory=BatchConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainSettings = field(default_factory=TrainSettings)
    translation: TranslationConfig = field(default_factory=TranslationConfig)
    distil: DistilConfig = field(default_factory=DistilConfig)

    def __repr__(self) -> str:
        """Return the settings that differ from their defaults, by their dotted names."""
        return f"RunConfig({', '.join(changed_fields(self, type(self)()))})"
