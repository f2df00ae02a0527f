"""The word pieces of a pretrained encoder: each word is cut by itself, so that every piece knows its word."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cached_property
from typing import Any

from heedful.errors import ArtefactError, MissingExtraError
from heedful.hugging_face import PieceRules
from heedful.text.vocabulary import Vocabulary

FORMAT = 1
_KIND = "pieces"


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
        """Say whether the pieces spell the word, none of them being the unknown one."""
        return self.rules.unknown not in self.pieces(word)

    def to_json(self) -> str:
        """Write as JSON; `vocabulary_from_json` gives an equal vocabulary."""
        rules = {**asdict(self.rules), "tokenizer": json.loads(self.rules.tokenizer)}
        content = {"format": FORMAT, "kind": _KIND, **rules}
        return json.dumps(content, ensure_ascii=True, indent=0) + "\n"

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("tokenizers", "transformers", "a pretrained encoder") from error
        made = Tokenizer.from_str(self.rules.tokenizer)
        made.encode_special_tokens = True  # what looks like a special token in a text is text
        return made


AnyVocabulary = Vocabulary | PieceVocabulary


def vocabulary_from_json(text: str, source: str = "vocabulary") -> AnyVocabulary:
    """Read what either kind of vocabulary wrote.

    Args:
        text: the JSON.
        source: name for error messages, usually the file.

    Returns:
        The vocabulary.

    Raises:
        ArtefactError: if the text is not such a JSON or of another format version.
    """
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        return Vocabulary.from_json(text, source)
    if content.pop("format", None) != FORMAT:
        raise ArtefactError(
            f"{source}: word pieces of another format; this version of Heedful reads {FORMAT}"
        )
    del content["kind"]
    try:
        return PieceVocabulary(PieceRules(**{**content, "tokenizer": json.dumps(content["tokenizer"])}))
    except (KeyError, TypeError) as error:
        raise ArtefactError(f"{source}: word pieces are damaged: {error}. Save the model again.") from error
