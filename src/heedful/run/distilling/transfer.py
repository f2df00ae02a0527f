"""The transfer set: training examples, texts without labels and changed copies, with a teacher's answers to all."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, Example
from heedful.data.parses import find_parser, parse_corpus
from heedful.data.readers.class_folders import find_named
from heedful.data.readers.soft_labels import read_unlabeled
from heedful.data.readers.tag_files import files_of_words
from heedful.data.readers.tag_records import holds_tokens
from heedful.data.readers.text_lines import bare_suffix
from heedful.data.tokens import TokenizedCorpus, tokenize_corpus
from heedful.errors import MissingExtraError, UsageError
from heedful.model.decisions import kind_of
from heedful.run.decided_by_data import english_package
from heedful.run.distilling.teachers import Answering, FileTeacher, FunctionTeacher, Teacher, find_teacher
from heedful.run.protocol import few_rows
from heedful.run.run_config import DistilConfig, RunConfig
from heedful.tasks import Corpora, DataFolders, Prepared, Source, task_named
from heedful.tasks.tables import published, sum_of
from heedful.tasks.words.lexicon import Lexicon
from heedful.tasks.words.word_task import WordTask
from heedful.text.augmenting import ChangeRule, Copier, frequency_kinds
from heedful.text.parsers import BUILTIN, dependency_parser
from heedful.text.phrases import Subtree, common_words, phrases_of
from heedful.text.tokenize import Tokenizer

_TRIES = 3
"""Copies that are drawn for each one that is asked for, before the rest is done without."""


@dataclass(frozen=True)
class PythonTeacher:
    """A teacher, and texts for it, that come from Python and from no settings.

    Attributes:
        function: answers texts; None where the settings name the teacher.
        texts: texts or pairs without labels; None where the settings name a file, or there are none.
        folders: where a teacher that the settings name is, if it is not there itself.
    """

    function: Answering | None = None
    texts: Corpus | None = None
    folders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Teaching:
    """A teacher with the texts that it is to answer.

    Attributes:
        config: the settings of the run.
        source: where the examples come from, with the texts without labels and the teacher's checksums.
        place: where files are found and kept.
        teacher: the teacher.
        left_out: which texts without labels the data holds already, as a sentence; empty for none.
    """

    config: RunConfig
    source: Source
    place: DataFolders
    teacher: Teacher
    left_out: str = ""

    @classmethod
    def of(
        cls, config: RunConfig, source: Source, place: DataFolders, python: PythonTeacher | None = None
    ) -> Teaching:
        """Find the teacher and read the texts.

        Args:
            config: the settings of the run.
            source: where the examples come from; they are read.
            place: where files are found and kept.
            python: what comes from Python; None for nothing.

        Returns:
            The teacher and the texts.

        Raises:
            UsageError: if settings contradict each other, or the teacher is none for the data.
            DataError: naming file and row, if a file is missing or wrong.
            ArtifactError: if a model is missing or altered.
        """
        distil, python, corpora = config.distil, python or PythonTeacher(), source.load()
        task = task_named(source.task)
        labels = source.labels or task.collect_labels(corpora["train"])
        names = [python.folders.get(name, name) for name in distil.teacher]
        teacher: Teacher = (
            find_teacher(names, labels, task.name, place.root, place.cache)
            if python.function is None
            else FunctionTeacher(python.function, labels)
        )
        _refuse_contradictions(distil, teacher)
        texts, files = python.texts, {}
        if isinstance(teacher, FileTeacher):
            texts = teacher.given.corpus
        elif distil.texts:
            file = find_named(distil.texts, place.root)
            texts = _unlabeled(file, config, task.sides)
            files = {published("texts", distil.texts): sum_of(file)}
        known = {example.texts for corpus in corpora.values() for example in corpus.examples}
        further = None if texts is None else _without(texts, known)
        judging = ("dev",) if source.protocol.selects == "taught" else ()
        gold = {name: corpus for name, corpus in corpora.items() if name not in judging}
        given_twice = "" if not files or texts is None else _held(texts, gold)
        checksums = {
            f"teacher {number}: {Path(name).name if Path(name).is_absolute() else name}": identity
            for number, (name, identity) in enumerate(teacher.names.items(), start=1)
        }
        fingerprint = {**source.fingerprint, **checksums, **files}
        source = replace(source, load=lambda: corpora, unlabeled=further, fingerprint=fingerprint)
        return cls(config, source, place, teacher, given_twice)

    def taught(self, prepared: Prepared[EncodedDataset, Lexicon]) -> Prepared[EncodedDataset, Lexicon]:
        """Add the transfer set to prepared data.

        Args:
            prepared: the data of the run, prepared from `source`.

        Returns:
            The same with the transfer set, and with notes on it.
        """
        corpora, lexicon, distil = self.source.load(), prepared.lexicon, self.config.distil
        train = [example for example in corpora["train"].examples if example.target is not None]
        further = [] if self.source.unlabeled is None else self.source.unlabeled.examples
        if kind_of(self.source.task).of_words:
            further = _in_words(further, self._cutter(lexicon))
        taken = {e.texts for name, part in corpora.items() if name != "train" for e in part.examples}
        changed, kind = self._copies(train, lexicon, taken)
        examples = [*train, *further, *changed]
        taught = self.teacher.teach(Corpus(examples), vectors=distil.vectors > 0)
        corpus = self._read(examples, lexicon)
        dataset = self._task().transfer_set(
            self.config, corpus, len(train), lexicon.vocabulary, prepared.labels, taught
        )
        unanswered = 0 if self.teacher.everything else int((taught.probabilities.sum(axis=1) == 0).sum())
        notes = [
            *([self.left_out] if self.left_out else []),
            f"transfer set: {len(dataset):,} texts: {len(train):,} with gold labels, {len(further):,} without, "
            f"{len(changed):,} changed copies" + (f" (words swapped by {kind})" if changed else ""),
            *(
                [f"transfer set: texts without a prediction of the teacher: {unanswered:,}"]
                if unanswered
                else []
            ),
            *(
                [f"transfer set: texts skipped: {len(examples) - len(dataset):,} (too long)"]
                if len(dataset) < len(examples)
                else []
            ),
        ]
        if "dev" not in prepared.datasets:
            notes.append(
                "a teacher that has learned from the training rows has seen what cross-validation judges by: its "
                "figures are then too high, and data.test names rows that measure"
            )
        return replace(prepared, transfer=dataset, notes=(*prepared.notes, *notes))

    def _task(self) -> WordTask[Any, Any, Any]:
        """Return the task, whose texts are read as words; others refuse the settings."""
        task = task_named(self.source.task)
        if not isinstance(task, WordTask):
            raise UsageError(f"distil.teacher: a model of {task.noun} takes no teacher")
        return task

    def _copies(
        self, train: list[Example], lexicon: Lexicon, taken: set[tuple[str, ...]]
    ) -> tuple[list[Example], str]:
        """Draw changed copies of the training texts; none of them is a text of the dev or the test part."""
        distil = self.config.distil
        if distil.augment <= 0:
            return [], ""
        corpus = tokenize_corpus(train, self._cutter(lexicon))
        sides = [
            tuple(corpus.words[n] for n in side[row]) for side in corpus.sides for row in range(len(train))
        ]
        if distil.kind == "auto" and not english_package(self.source.load()["train"]):
            distil = replace(distil, kind="frequency")
        kinds, phrases, kind = _kinds(sides, distil)
        rule = ChangeRule(distil.mask, distil.swap, distil.ngram, distil.phrases)
        copier = Copier(sides, kinds, rule, phrases)
        seen = taken | {example.texts for example in train}
        found = []
        for row in range(len(train)):
            drawn = copier.copies(range(row, len(sides), len(train)), random.Random(f"{distil.seed}/{row}"))
            found += list(_distinct(drawn, seen, distil.augment))
        return found, kind

    def _cutter(self, lexicon: Lexicon) -> Tokenizer:
        """Return what cut the training part into words."""
        return replace(self.config.text, tokenizer=lexicon.tokenizer).cutter

    def _read(self, examples: list[Example], lexicon: Lexicon) -> TokenizedCorpus:
        """Cut texts into words as those of the training part were."""
        config = self.config
        corpus: TokenizedCorpus = tokenize_corpus(examples, self._cutter(lexicon))
        if not config.text.parser:
            return corpus
        return parse_corpus(corpus, find_parser(config.text.parser, self.place.root), self.place.cache)


def _refuse_contradictions(distil: DistilConfig, teacher: Teacher) -> None:
    if teacher.everything:
        return
    for name, named in (("augment", distil.augment > 0), ("texts", bool(distil.texts))):
        if named:
            raise UsageError(
                f"distil.{name}: a file of soft labels answers only the texts that it holds; leave distil.{name} at "
                "its default"
            )


def _unlabeled(file: Path, config: RunConfig, sides: int) -> Corpus:
    """Read texts without labels: for tags also files of words."""
    if kind_of(config.model.task).of_words:
        own = files_of_words(config.data.options)
        if own.read is not None and (bare_suffix(file) in own.suffixes or holds_tokens(file)):
            return own.read(file)
    return read_unlabeled(file, _fields(config, sides))


def _in_words(examples: Sequence[Example], cutter: Tokenizer) -> list[Example]:
    """Return texts whose words are tagged with their words; one that is cut in another way again is left out."""
    found = []
    for example in examples:
        words = (example.words[0] if example.words else None) or tuple(cutter.words(example.texts[0]))
        if words and all(len(cutter.split_ready(word)) == 1 for word in words):
            found.append(replace(example, words=(tuple(words),)))
    return found


def _fields(config: RunConfig, sides: int) -> tuple[str, ...]:
    data = config.data
    return (
        (data.text or "text",) if sides == 1 else (data.premise or "premise", data.hypothesis or "hypothesis")
    )


def _without(corpus: Corpus, known: set[tuple[str, ...]]) -> Corpus:
    """Leave out texts that the data holds already, those of the dev and test parts above all, and repeated ones."""
    fresh = {example.texts: example for example in corpus.examples if example.texts not in known}
    return replace(corpus, examples=list(fresh.values()))


def _held(texts: Corpus, corpora: Corpora) -> str:
    """Return how many texts without labels the parts of the data hold, which are left out, as a sentence."""
    given = {example.texts for example in texts.examples}
    found = {
        name: len(given & {example.texts for example in corpus.examples}) for name, corpus in corpora.items()
    }
    parts = ", ".join(f"{count:,} of {name}" for name, count in found.items() if count)
    return f"texts without labels that the data holds already are left out: {parts}" if parts else ""


def _kinds(
    sides: list[tuple[str, ...]], distil: DistilConfig
) -> tuple[list[tuple[str, ...]], list[tuple[Subtree, ...]] | None, str]:
    """Return the kind of each word, the phrases of each text if they are exchanged, and what a kind is."""
    if distil.kind != "frequency":
        try:
            parses = dependency_parser(BUILTIN).parse(sides)
        except MissingExtraError:
            if distil.kind == "relation":
                raise
        else:
            kinds, how = [parse.relations for parse in parses], "their relation in the tree"
            if not distil.phrases:
                return kinds, None, how
            common = common_words(sides)
            phrases = [
                phrases_of(words, parse.heads, parse.relations, common)
                for words, parse in zip(sides, parses, strict=True)
            ]
            return kinds, phrases, f"{how}, phrases exchanged likewise"
    return frequency_kinds(sides), None, "their frequency"


def _distinct(
    drawn: Iterator[tuple[tuple[str, ...], ...]], seen: set[tuple[str, ...]], wanted: int
) -> Iterator[Example]:
    """Give copies that were not seen before, and add them to those."""
    count = 0
    for _ in range(_TRIES * wanted):
        words = next(drawn)
        texts = tuple(" ".join(side) for side in words)
        if texts in seen or not all(texts):
            continue
        seen.add(texts)
        yield Example(texts, words=words)
        count += 1
        if count == wanted:
            return


LEAST = 1_000
"""Texts without labels of which some judge; with fewer, linear parts are chosen by cross-validation on the gold."""


def with_taught_dev(
    config: RunConfig, source: Source, place: DataFolders, python: PythonTeacher | None = None
) -> Source:
    """Let a share of the texts without labels, ``distil.dev_fraction``, judge where no row with gold is held out.

    The label of such a text is the class that the teacher finds likeliest, so figures on it are agreement with the
    teacher. All rows with gold train, and a network is trained, which learns from the teacher's answers.

    Args:
        config: the settings of the run; they name a teacher.
        source: where the examples come from.
        place: where files are found and kept.
        python: what comes from Python; None for nothing.

    Returns:
        The source with a dev split; as it is where it has one, for other answers than classes, or where there are fewer
        than `LEAST` texts without labels.

    Raises:
        UsageError: if settings contradict each other, or the teacher is none for the data.
        DataError: naming file and row, if a file is missing or wrong.
        ArtifactError: if a model is missing or altered.
    """
    share, kind = config.distil.dev_fraction, kind_of(source.task)
    given = bool(config.distil.texts) or (python is not None and python.texts is not None)
    able = kind.outputs == "classes" and not kind.of_words and config.model.encoder != "none"
    if not (share and given and able and 0 < few_rows(config) < sys.maxsize) or "dev" in source.load():
        return source
    teaching = Teaching.of(config, source, place, python)
    further = [] if teaching.source.unlabeled is None else teaching.source.unlabeled.examples
    if len(further) < LEAST or not teaching.teacher.everything:
        return source
    order = random.Random(f"{config.distil.seed}/dev").sample(
        range(len(further)), round(share * len(further))
    )
    chosen = [further[row] for row in sorted(order)]
    answers = teaching.teacher.teach(Corpus(chosen)).probabilities.argmax(axis=1)
    labels = teaching.teacher.labels
    judging = Corpus([replace(each, target=labels[k]) for each, k in zip(chosen, answers, strict=True)])
    parts = {**source.load(), "dev": judging}
    return replace(
        source,
        load=lambda: parts,
        protocol=replace(source.protocol, selects="taught", dev_fraction=share),
        fingerprint={
            **teaching.source.fingerprint,
            "dev of texts without labels": f"{share}, {config.distil.seed}",
        },
    )
