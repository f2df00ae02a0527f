"""Strings, or pairs of strings, without gold as an encoded data set."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.data.encoding import EncodedDataset, encode
from heedful.data.examples import Example
from heedful.data.tokens import tokenize_corpus
from heedful.text.vocabulary import Vocabulary


def encode_texts(
    texts: Sequence[str | tuple[str, ...]], vocabulary: Vocabulary, *, max_tokens: int | None = None
) -> EncodedDataset:
    examples = [Example(text if isinstance(text, tuple) else (text,)) for text in texts]
    return encode(tokenize_corpus(examples), vocabulary, max_tokens=max_tokens)
