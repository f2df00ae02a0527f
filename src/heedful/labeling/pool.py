"""The texts to label: each once, in a fixed random order, searched in milliseconds, followed when the file changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from heedful.data.examples import Corpus
from heedful.data.readers.written_labels import checked_name
from heedful.errors import DataError, HeedfulError
from heedful.labeling.label_file import key_of
from heedful.storage.file_states import state_of

Texts = tuple[str, ...]
FOUND = 50
"""Texts that a search returns at most."""


class Pool:
    """The texts of a file; those without words, and copies, are left out.

    Args:
        corpus: what the file holds.

    Attributes:
        texts: of each example.
        keys: what stands for it; see `heedful.labeling.label_file.key_of`.
        rows: its row in the file.
        place: key to place.
        order: places in a random order, the same for the same texts: every beginning of it is a fair sample.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.texts: list[Texts] = []
        self.keys: list[str] = []
        self.rows: list[int] = []
        self.place: dict[str, int] = {}
        for example in corpus.examples:
            if not all(text.strip() for text in example.texts):
                continue
            for text in example.texts:
                checked_name(
                    text, f"{corpus.source}: row {example.row}", "text"
                )  # no file of labels can hold it
            key = key_of(example.texts)
            if key not in self.place:
                self.place[key] = len(self.keys)
                self.texts.append(example.texts)
                self.keys.append(key)
                self.rows.append(example.row)
        if not self.keys:
            raise DataError(f"{corpus.source}: holds no text to label")
        self.order = sorted(range(len(self.keys)), key=self.keys.__getitem__)
        self._folded = ["\n".join(texts).casefold() for texts in self.texts]

    def __len__(self) -> int:
        return len(self.keys)

    def search(self, query: str) -> tuple[list[int], int]:
        """Find the texts that hold all words of a query, wherever they stand.

        Args:
            query: words with blanks between; what stands in quotation marks is one word.

        Returns:
            The places of the first `FOUND` texts, and how many there are.
        """
        words = _words(query)
        if not words:
            return [], 0
        found = [k for k, text in enumerate(self._folded) if all(word in text for word in words)]
        return found[:FOUND], len(found)


def _words(query: str) -> list[str]:
    parts = query.casefold().split('"')
    quoted, plain = parts[1::2], " ".join(parts[::2]).split()
    return [word for word in (*quoted, *plain) if word.strip()]


class WatchedPool:
    """A pool that is read again when its file has changed; one that cannot be read changes nothing.

    Args:
        path: the file.
        read: reads it.
        print_line: tells what happened, one line each.

    Attributes:
        pool: the texts.
    """

    def __init__(self, path: Path, read: Callable[[], Corpus], print_line: Callable[[str], None]) -> None:
        self._path, self._read, self._say = path, read, print_line
        self._seen = state_of(self._path)
        self.pool = Pool(read())

    def follow(self) -> bool:
        """Read the file again if it has changed.

        Returns:
            Whether there is another pool now.
        """
        now = state_of(self._path)
        if now == self._seen:
            return False
        self._seen = now
        try:
            pool = Pool(self._read())
        except (HeedfulError, OSError) as error:
            self._say(f"{self._path} has changed and cannot be read, so the texts stay as they were: {error}")
            return False
        added = len(set(pool.keys) - self.pool.place.keys())
        gone = len(self.pool.place.keys() - set(pool.keys))
        self.pool = pool
        self._say(f"{self._path} has changed: {added:,} texts are new, {gone:,} are gone")
        return True
