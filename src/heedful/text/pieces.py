"""Words to the ids of their pieces, as a pretrained encoder's own tokenizer cuts them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Self

from heedful.errors import ArtifactError, HeedfulError, MissingExtraError, UsageError, needing

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from heedful.storage.hugging_face import PieceRules

PIECES_FORMAT = 1
PIECES_KIND = "pieces"


class PieceVocabulary:
    """Words to the ids of their pieces.

    A word has at least one piece: one that the rules leave nothing of, such as a zero-width space, is the unknown
    piece. A text cannot name the special tokens: "[SEP]" is cut like any other word.

    Args:
        rules: of the encoder's tokenizer.
    """

    def __init__(self, rules: PieceRules) -> None:
        self.rules = rules
        self._known: dict[str, tuple[int, ...]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PieceVocabulary) and self.rules == other.rules

    def __hash__(self) -> int:
        return hash(self.rules)

    def pieces(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's pieces, at least one."""
        found = self._known.get(word)
        if found is None:
            # A lone surrogate cannot be written as UTF-8, which the rules work on.
            storable = word.encode("utf-8", "replace").decode("utf-8")
            encoding = self._tokenizer.encode([storable], is_pretokenized=True, add_special_tokens=False)
            found = self._known[word] = tuple(encoding.ids) or (self.rules.unknown,)
        return found

    def knows(self, word: str) -> bool:
        """Return whether the pieces spell the word, none of them being the unknown one."""
        return self.rules.unknown not in self.pieces(word)

    def to_plain(self) -> dict[str, object]:
        """Return plain values for JSON; `vocabulary_from_plain` gives an equal vocabulary."""
        rules = {**asdict(self.rules), "tokenizer": json.loads(self.rules.tokenizer)}
        return {"format": PIECES_FORMAT, "kind": PIECES_KIND, **rules}

    def to_json(self) -> str:
        """Write as JSON; `vocabulary_from_json` gives an equal vocabulary."""
        return json.dumps(self.to_plain(), ensure_ascii=True, indent=0) + "\n"

    @classmethod
    def from_plain(cls, content: Mapping[str, object], source: str = "vocabulary") -> Self:
        """Read what `to_plain` gave, and check that the package tokenizers can use it.

        Args:
            content: the plain values.
            source: name for error messages, usually the file.

        Returns:
            The vocabulary.

        Raises:
            ArtifactError: if the values are damaged or of another format.
        """
        from heedful.storage.hugging_face import PieceRules

        if content.get("format") != PIECES_FORMAT:
            raise ArtifactError(
                f"{source}: word pieces of another format; this version of Heedful reads {PIECES_FORMAT}"
            )
        names = ("unknown", "start", "end", "limit")
        given = ((name, content.get(name)) for name in names)
        numbers = {name: value for name, value in given if type(value) is int and 0 <= value < 2**31}
        if (
            content.keys() != {*names, "format", "kind", "tokenizer"}
            or not {*names} <= {*numbers}
            or not numbers["limit"]
        ):
            expected = "a tokenizer and the whole numbers unknown, start, end and limit, which is 1 or more"
            raise ArtifactError(
                f"{source}: word pieces are damaged: expected {expected}. Save the model again."
            )
        made = cls(PieceRules(json.dumps(content["tokenizer"]), **numbers))
        made.check(source)
        return made

    def check(self, source: str) -> None:
        """Check that the rules can be used.

        Args:
            source: name for error messages, usually the file.

        Raises:
            ArtifactError: if the package tokenizers cannot read them, or not cut a word by them.
            MissingExtraError: without that package.
        """
        with tokenizer_errors(
            lambda reason: ArtifactError(f"{source}: tokenizer: {reason}. Save the model again.")
        ):
            self.pieces("a")

    def check_rows(self, rows: int) -> None:
        """Check that every piece has a vector.

        Args:
            rows: of the encoder's table.

        Raises:
            UsageError: naming a piece beyond the table.
        """
        pieces = self._tokenizer.get_vocab()
        named = {"start": self.rules.start, "end": self.rules.end, "unknown": self.rules.unknown}
        beyond = [name for name, number in {**pieces, **named}.items() if number >= rows]
        if beyond:
            raise UsageError(f"piece {min(beyond)!r:.80} lies beyond the encoder's {rows:,} rows")

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        with needing("tokenizers", "transformers", "a pretrained encoder"):
            from tokenizers import Tokenizer
        made = Tokenizer.from_str(self.rules.tokenizer)
        made.encode_special_tokens = True  # what looks like a special token in a text is text
        return made


@contextmanager
def tokenizer_errors(error_of: Callable[[str], HeedfulError]) -> Iterator[None]:
    """Turn whatever the package tokenizers raises in the body into an error of Heedful.

    Args:
        error_of: makes the error from a short reason.

    Raises:
        HeedfulError: if the package raised anything.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except BaseException as error:  # the package raises nothing narrower, and its panics are no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise error_of(f"{reason:.200}") from error
