"""The settings of a run: the tables of a recipe, each as a dataclass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from heedful.data.encoding import Truncate
from heedful.errors import UsageError
from heedful.features.feature_kinds import wanted_columns
from heedful.models import ModelConfig
from heedful.settings import Settings, above, at_least, changed_fields, inside, one_of, ranged, share, up_to
from heedful.text.boundaries import AUTO
from heedful.text.markup import Markup
from heedful.text.tokenize import TOKENIZERS, Tokenizer, tokenizer
from heedful.text.unknown_words import MOST_ROWS
from heedful.training.train_settings import TrainSettings

Swap = Literal["auto", "relation", "frequency"]
_MOST_COPIES = 1_000


def up_to_half(value: float) -> str:
    """Return what is wrong with a share that is held out; empty for nothing."""
    return "" if 0 <= value <= 0.5 else "must be from 0 to 0.5"


def _from_0_to_1(value: float) -> str:
    return "" if 0 <= value <= 1 else "must be from 0 to 1"


@dataclass(frozen=True)
class DistilConfig(Settings):
    """What a student learns from a teacher in addition to the gold labels; without a teacher this table is not used.

    The loss of an example is ``weight * CE + (1 - weight) * T² * KL(teacher || student) + vectors * MSE``. A text
    without gold has no cross-entropy, and a text that no teacher answered has neither of the other two.

    Attributes:
        teacher: model folders or run folders of Heedful; with several, the student learns the mean of their
            probabilities. Or one .jsonl file of soft labels: ``{"text": ..., "probabilities": {...}}``, for pairs with
            "premise" and "hypothesis". Paths are relative to ``--data`` or to the working folder.
        texts: file of texts without labels, for which the teacher also predicts, with the columns of the training data;
            empty for none.
        dev_fraction: where so few rows have gold that none is held out (``data.few_rows``), the share of 1,000 or more
            texts without labels that is the dev split, with the class that the teacher finds likeliest as the label; a
            network is trained then. 0 fits linear parts alone, by cross-validation on the gold.
        weight: share of the cross-entropy with the gold labels in the loss.
        temperature: temperature T at which the probabilities of teacher and student are compared.
        vectors: weight of the square error between the teacher's sentence vectors and a linear map of the student's,
            which is dropped after training; 0 for none.
        augment: number of changed copies drawn for each training text (Tang et al., 2019); equal copies count once. -1,
            the value of the recipes for own data, is none, but with a transformer that is fine-tuned first and without
            ``texts`` as many as were found to help (docs/lab/distillation.md).
        mask: probability that a word of a copy becomes [MASK], which has a word vector of its own if
            ``train.word_mask`` is above 0.
        swap: probability that a word of a copy becomes another word of the same kind.
        ngram: probability that a copy keeps only a run of 1 to 5 words.
        phrases: probability that in a copy instead of all this one to three phrases are exchanged for phrases of other
            training texts that have the same relation in the dependency tree, by the parser of heedful-en; without that
            package, and with ``kind="frequency"``, none are.
        kind: which words are of the same kind: with "relation", words that have the same relation in the dependency
            tree (by the parser of the package heedful-en); with "frequency", words that are about equally frequent;
            "auto" is "relation" if that package is installed and the texts are English, and "frequency" otherwise.
        seed: random seed of the copies. It does not depend on the training seed, so the teacher predicts for them only
            once.
    """

    teacher: tuple[str, ...] = ()
    texts: str = ""
    dev_fraction: float = ranged(0.1, up_to_half)
    weight: float = ranged(0.5, _from_0_to_1)
    temperature: float = ranged(2.0, above(0))
    vectors: float = ranged(0.0, at_least(0))
    augment: int = ranged(0, up_to(-1, _MOST_COPIES))
    mask: float = ranged(0.1, share)
    swap: float = ranged(0.1, share)
    ngram: float = ranged(0.25, share)
    phrases: float = ranged(0.0, share)
    kind: Swap = "auto"
    seed: int = ranged(0, at_least(0))

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if not self.teacher and (self.texts or self.augment > 0):
            problems.append("texts and augment are for a teacher to answer: name distil.teacher too")
        if self.mask + self.swap > 1:
            problems.append(f"mask + swap must be at most 1; got {self.mask} + {self.swap}")
        if self.teacher and self.weight == 1 and self.vectors == 0:
            problems.append(
                "with weight = 1 and vectors = 0 nothing is learned from the teacher: lower weight"
            )
        return problems


KeepExamples = Literal["none", "texts", "rows"]
Protocol = Literal["honest", "paper"]
"""``honest``: a dev split selects the best checkpoint, and the test split is read once. ``paper``: the best of all
evaluations on the test split, as in published tables."""


def _two_or_none(languages: Sequence[str]) -> str:
    return "" if len(languages) in (0, 2) else "must name source and target"


def _columns(written: Sequence[str]) -> str:
    try:
        wanted_columns(written)
    except UsageError as error:
        return f"must name columns: {error}"
    return ""


def _part_or_all(value: float) -> str:
    return "" if 0 < value <= 1 else "must be above 0 and at most 1"


@dataclass(frozen=True)
class DataConfig(Settings):
    """Where examples come from and how they are split.

    Attributes:
        set: name of a known data set (``heedful data list``) or "scenes", the corpus Heedful generates; empty when
            files are named instead.
        train: file of training examples (.csv, .tsv, .jsonl, .json or .parquet, also compressed), relative to
            ``--data``.
        dev: file of the dev split, which selects the best checkpoint. If it is empty, ``dev_fraction`` of the training
            examples is held out.
        test: file of the test split, which is read once, at the end; may be empty. With a known data set, ``train``,
            ``dev`` and ``test`` name splits of it instead of files, for example ``train = "train-part"``; the default
            of ``dev`` is the split "dev".
        train_limit: for a known data set with official splits, the number of training examples to use, from the first
            on; 0 for all.
        text: column of the text, for a text task.
        premise: column of the first text, for pairs.
        hypothesis: column of the second text, for pairs.
        label: column of the class.
        score: column of the score, for relatedness.
        features: columns that are read beside the text, such as ["price", "shop"]: numbers, categories and dates, as
            their values say, or as a kind behind a colon says, "zip:category" (docs/columns.md).
        label_type: Python type of the classes. A model folder keeps only their names; with "int" the classifiers of
            `heedful` predict 3 and not "3". The classifiers set it when they are trained.
        languages: for translation with your own files, the file endings of source and target: with ["en", "de"],
            ``train = "train"`` reads train.en and train.de. Line n of one is the translation of line n of the other.
        options: options of the data set's reader, for example ``phrases = true`` for SST.
        dev_fraction: share of the training examples that is held out as the dev split if the data has none.
        few_rows: if fewer training rows than this would be left beside a dev split, nothing is held out and no network
            is trained: which linear parts join, how strongly they are regularized, and their weights are chosen by
            cross-validation, and the model is fitted on all rows. 0 for never. It needs a part: ``model.wide`` or
            ``model.sentence``.
        protocol: with "honest" a dev split selects the best checkpoint and the test split is read once; "paper" reports
            the best of all evaluations on the test split, as published tables did.
        folds: number of folds of cross-validation, at most 1,000, for data without official splits.
        fold: which fold is held out, from 1.
        hold_out_fold: for your own files, whether this fold of ``train`` is the test split. Copies of a text share a
            fold, and every class is spread evenly. ``heedful study --folds`` sets it.
        max_tokens: length of the longest allowed text, in tokens.
        truncate: what happens to a longer text. "error" stops with an error. "head" keeps its beginning and counts it.
            "drop" skips and counts training examples with a longer text; in evaluation and prediction a longer text is
            still an error. "window" loses nothing: the encoder reads ``max_tokens`` at a time, in windows that overlap
            by a quarter, and the pooling weighs the words of all windows together.
        length_share: with "drop", a limit that replaces ``max_tokens``: the length that this share of the training
            texts does not exceed. 0.97 is the limit of the published SNLI code; with 1, ``max_tokens`` is the limit.
        keep_examples: what the model folder keeps of the training examples, so that ``predict --neighbors`` and
            ``explain`` show which of them a text resembles: "none"; "texts", whole texts of your training data with
            their labels, which everybody can read who has the model; or "rows", their rows, labels and vectors alone.
            Of more than 100,000 examples as many are drawn.
        keep_share: the share of them that is kept, drawn by ``train.seed``.
        keep_sums: whether a model of classes keeps sums over its training rows, from which it can
            learn on without them: how features occur together and with each class, and in how many rows each word is.
            They take about 3 MB, and hold no text.
        choose_again: where a model that keeps all texts learns on: how many times as many rows as when the settings of
            its linear parts were chosen last until they are chosen again. 1 chooses them each time, and gives the very
            model of training on all rows at once.
        learn_from: run folder or model folder of a model of classes that the run begins with, which ``--from``
            sets: it learns the new rows, new words and new classes on top, together with the training examples that the
            model keeps. The folder is never changed.
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
    features: tuple[str, ...] = ranged((), _columns)
    label_type: Literal["str", "int", "float", "bool"] = "str"
    languages: tuple[str, ...] = ranged((), _two_or_none)
    options: dict[str, object] = field(default_factory=dict)
    dev_fraction: float = ranged(0.1, inside(0, 1))
    few_rows: int = ranged(0, at_least(0))
    protocol: Protocol = "honest"
    folds: int = ranged(10, up_to(2, 1_000))
    fold: int = ranged(1, at_least(1))
    hold_out_fold: bool = False
    max_tokens: int = ranged(400, at_least(1))
    truncate: Truncate = "error"
    length_share: float = ranged(1.0, _part_or_all)
    keep_examples: KeepExamples = "none"
    keep_share: float = ranged(1.0, _part_or_all)
    keep_sums: bool = True
    choose_again: float = ranged(10.0, at_least(1))
    learn_from: str = ""

    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        problems = []
        if self.fold > self.folds:
            problems.append(f"fold must be 1 to folds = {self.folds}; got {self.fold}")
        if self.hold_out_fold and (self.set or self.test or self.protocol == "paper"):
            problems.append(
                "hold_out_fold makes the test split from train: leave set and test empty, and protocol honest"
            )
        if self.length_share < 1 and self.truncate != "drop":
            given = f"got truncate = {self.truncate!r}"
            problems.append(f'length_share = {self.length_share} is the limit of truncate = "drop"; {given}')
        return problems


@dataclass(frozen=True)
class TextConfig(Settings):
    """How text becomes word ids and word vectors.

    Attributes:
        tokenizer: "treebank" for raw text in Latin letters, "unicode" for any script, "whitespace" for tokenized files
            (see `heedful.text.tokenize`). "auto" chooses "treebank" or "unicode" from the letters of the training
            split.
        markup: what happens to HTML tags and links: "keep" keeps them as text, "drop" removes them, and "token" turns
            each into one token.
        normalize: whether text is normalized before it is cut into words: compatibility characters (full-width letters,
            ligatures), accents, curly apostrophes and quotation marks get one form, characters that show nothing are
            removed, and emoji become tokens of their own (docs/tokens.md has the rules).
        lowercase: whether words are lower-cased.
        min_count: a word that occurs less often than this in the training split is treated as unknown.
        vectors: file of pretrained word vectors, relative to ``--data``, or the name of an installed package that has
            word vectors, such as "heedful-en"; empty for none. With "auto", English texts begin with the vectors of
            heedful-en where that package is installed; base forms, norm and ``model.width`` are then set with them. A
            width other than 100 and 300 is yours, and the network begins without vectors.
        baseforms: file of ``form<TAB>base`` lines, or the name of such a package. A word without a vector gets the
            vector of its base form.
        extra_words: whether the model also keeps the pretrained vectors of words that are not in the training data;
            they are frozen.
        random: initial vectors of words without a pretrained vector: "uniform" in [-0.05, 0.05], or "normal" with
            standard deviation 1.
        vector_norm: scale every pretrained vector to this length; 0 leaves them as they are. The papers' settings suit
            vectors of length about 5, as GloVe's are.
        unit_norm: scale all vectors to length 1 (decomposable attention).
        oov: what an unknown word is read as: "unknown" (the zero vector; attention still sees the word), "hash" (one of
            100 frozen random vectors) or "nearest" (the most frequent training word that is one edit away, if both have
            four letters or more).
        subwords: number of rows in a table of vectors of hashed character n-grams, which is trained with the word
            vectors and added to them, so that a word unseen in training has a vector. 20,000 suits most data; 0 turns
            it off.
        subword_case: whether the n-grams keep capitals even if words are lower-cased; this helps to tag names.
        parser: source of the dependency trees, for encoders that read them: "builtin" (English), "spacy:MODEL",
            "stanza:LANGUAGE", or a .conllu file as ``heedful parse`` writes it, relative to ``--data``; empty for none.
    """

    tokenizer: str = ranged("treebank", one_of((AUTO, *TOKENIZERS)))
    markup: Markup = "keep"
    normalize: bool = False
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

    @property
    def cutter(self) -> Tokenizer:
        """What cuts texts into words, once the tokenizer is chosen."""
        return tokenizer(self.tokenizer, self.markup, normalize=self.normalize)

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
        size: largest number of examples in a batch.
        tokens: largest number of tokens in a batch, including padding; 0 for no limit.
        bucketing: whether texts of similar length are put into the same batch; otherwise the shuffled examples are
            divided into batches in their order.
        group: whether pairs that share a text are put into the same batch. The text is then encoded once, and its
            dropout is drawn once for all of them. This saves work if premises have several hypotheses (SNLI and
            MultiNLI repeat each premise three times), but it changes the batches.
        eval_size: largest number of examples in a batch in evaluation and prediction.
    """

    size: int = ranged(32, at_least(1))
    tokens: int = ranged(0, at_least(0))
    bucketing: bool = True
    group: bool = False
    eval_size: int = ranged(128, at_least(1))


@dataclass(frozen=True)
class RunConfig(Settings):
    """Everything that defines a run. ``train.seed`` sets the dev split, initial weights, batches and dropout.

    Attributes:
        name: name of the run in reports.
        data: the ``[data]`` table.
        text: the ``[text]`` table.
        batches: the ``[batches]`` table.
        model: the ``[model]`` table.
        train: the ``[train]`` table.
        distil: the ``[distil]`` table, read by all tasks that answer a text or a pair.
    """

    name: str = ""
    data: DataConfig = field(default_factory=DataConfig)
    text: TextConfig = field(default_factory=TextConfig)
    batches: BatchConfig = field(default_factory=BatchConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainSettings = field(default_factory=TrainSettings)
    distil: DistilConfig = field(default_factory=DistilConfig)

    def __repr__(self) -> str:
        """Return the settings that differ from their defaults, by their dotted names."""
        return f"RunConfig({', '.join(changed_fields(self, type(self)()))})"
