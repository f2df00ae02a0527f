"""Subwords: byte-pair encoding over bytes, learned and applied by the package tokenizers.

Why that package: it is the well-kept one that keeps the place of every piece in the text (which explanations need) and
writes itself as readable JSON (so that a model folder holds no binary of another format). Working on bytes, it reads
any text without an unknown piece and gives exactly that text back, but for runs of white space.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from heedful.errors import ArtifactError, DataError, needing
from heedful.text.pieces import tokenizer_errors

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

PADDING, BEGIN, END = 0, 1, 2
SPECIAL = ("<pad>", "<s>", "</s>")
"""The rows 0 to 2; text that looks like one of them is ordinary text."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The subwords of one text.

    Attributes:
        ids: their rows; neither begin nor end is added.
        spans: for each its first character in the text and the one after its last. A piece that holds a part of a
            character only has its whole character where it is the first to do so, and else an empty span.
        words: for each the number of the word or mark it is a piece of, from 0, never falling.
    """

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[int, ...]


class Subwords:
    """A vocabulary of subwords.

    Args:
        model: the tokenizer of the package.
    """

    def __init__(self, model: Tokenizer) -> None:
        self._model = model
        # Not kept in the JSON: what looks like a special row in a text is no such row.
        self._model.encode_special_tokens = True

    @classmethod
    def learn(cls, texts: Iterable[str], pieces: int) -> Subwords:
        """Learn subwords from the training data (Sennrich, Haddow and Birch, 2016).

        A merge needs two occurrences, so that there may be fewer pieces than asked for.

        Args:
            texts: the training texts.
            pieces: most pieces, special rows and the 256 bytes included.

        Returns:
            The vocabulary; the same texts give the same one.

        Raises:
            MissingExtraError: without the package tokenizers.
        """
        package = _package()
        model = package.Tokenizer(package.models.BPE())
        model.normalizer = package.normalizers.Sequence(
            [
                package.normalizers.NFC(),
                package.normalizers.Replace(package.Regex(r"\s+"), " "),
                package.normalizers.Strip(),
            ]
        )
        model.pre_tokenizer = package.pre_tokenizers.ByteLevel(add_prefix_space=True)
        model.decoder = package.decoders.ByteLevel()
        trainer = package.trainers.BpeTrainer(
            vocab_size=pieces,
            min_frequency=2,
            special_tokens=list(SPECIAL),
            initial_alphabet=package.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        model.train_from_iterator(texts, trainer)
        return cls(model)

    def __len__(self) -> int:
        return int(self._model.get_vocab_size())

    def encode(self, texts: Sequence[str]) -> list[Pieces]:
        """Cut texts into pieces.

        Args:
            texts: the texts; an empty one has no pieces.

        Returns:
            One record a text.

        Raises:
            DataError: if one is no string.
        """
        for number, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise DataError(f"text {number}: expected a string, got {text!r:.60}")
        # A lone surrogate cannot be given to the package: it is read as the character that stands for the unreadable.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        found = self._model.encode_batch(clean, add_special_tokens=False)
        return [_pieces(text, each) for text, each in zip(clean, found, strict=True)]

    def decode(self, ids: Iterable[int]) -> str:
        """Join pieces to a text; special rows vanish, bytes that are no character become the replacement character."""
        return str(self._model.decode(list(ids), skip_special_tokens=True)).strip()

    def to_json(self) -> dict[str, object]:
        """Return the vocabulary as plain values, which `from_json` reads."""
        content: dict[str, object] = json.loads(self._model.to_str())
        return content

    @classmethod
    def from_json(cls, content: object, source: str = "vocabulary") -> Subwords:
        """Read what `to_json` returned.

        Args:
            content: the plain values.
            source: name for messages, usually the file.

        Returns:
            The vocabulary.

        Raises:
            ArtifactError: if it is not such a record.
            MissingExtraError: without the package tokenizers.
        """
        with tokenizer_errors(
            lambda reason: ArtifactError(f"{source}: not a vocabulary of subwords: {reason}")
        ):
            model = _package().Tokenizer.from_str(json.dumps(content))
            model.encode("a")
        if [model.id_to_token(row) for row in range(len(SPECIAL))] != list(SPECIAL):
            raise ArtifactError(f"{source}: rows 0 to 2 must be {', '.join(SPECIAL)}")
        if max(model.get_vocab().values()) >= model.get_vocab_size():
            raise ArtifactError(f"{source}: subwords must be numbered from 0 without a gap")
        return cls(model)


def _package() -> ModuleType:
    with needing("tokenizers", "translation", "Reading subwords"):
        import tokenizers
    return tokenizers


def _pieces(text: str, found: Encoding) -> Pieces:
    spans, reached = [], 0
    held = {place for start, end in found.offsets for place in range(start, end)}
    for start, end in found.offsets:
        while start < end and text[start].isspace():  # the package counts the space before a word in
            start += 1
        start, end = max(start, reached), max(end, reached)
        # The package counts a character that NFC has made of several as the first of them.
        while end < len(text) and end not in held and not text[end].isspace():
            end += 1
        spans.append((start, end))
        reached = end
    words = tuple(word for word in found.word_ids if word is not None)  # nothing is added, so each has one
    return Pieces(tuple(found.ids), tuple(spans), words)


FORMAT = 1
_KIND = "subwords"


@dataclass(frozen=True)
class Languages:
    """The subwords of both sides of a translation.

    Attributes:
        source: of what is translated.
        target: of the translation; the same object where both sides share one vocabulary.
    """

    source: Subwords
    target: Subwords

    @property
    def shared(self) -> bool:
        """Whether both sides have one vocabulary."""
        return self.source is self.target

    def to_json(self) -> dict[str, object]:
        """Return plain values, which `from_json` reads; a shared vocabulary is written once."""
        sides = {"source": self.source.to_json()}
        if not self.shared:
            sides["target"] = self.target.to_json()
        return {"format": FORMAT, "kind": _KIND, **sides}

    @classmethod
    def from_json(cls, content: dict[str, object], where: str) -> Languages:
        """Read what `to_json` returned.

        Args:
            content: the plain values.
            where: the file, for messages.

        Returns:
            The subwords.

        Raises:
            ArtifactError: if it is not such a record.
            MissingExtraError: without the package tokenizers.
        """
        if content.get("format") != FORMAT or content.get("kind") != _KIND:
            raise ArtifactError(f"{where}: expected subwords of format {FORMAT}. Train the model again.")
        source = Subwords.from_json(content.get("source"), where)
        if "target" not in content:
            return cls(source, source)
        return cls(source, Subwords.from_json(content["target"], where))
