"""Changed copies of sentences: words left out, words exchanged, two sentences joined, and single phrases."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

JOINTS = (" and ", ", but ", ". ", ", and ", ", because ", " while ", "; ", ", so ")


def left_out(text: str, drawn: random.Random) -> str | None:
    """Leave one word in eight out, at least one; None for a text of fewer than four words."""
    words = text.split()
    if len(words) < 4:
        return None
    gone = set(drawn.sample(range(len(words)), max(1, len(words) // 8)))
    return " ".join(word for place, word in enumerate(words) if place not in gone)


def exchanged(text: str, near: Mapping[str, Sequence[str]], drawn: random.Random) -> str | None:
    """Replace one or two words by words near them; None where no word has any."""
    words = text.split()
    bare = [word.strip(".,!?;:'\"()").lower() for word in words]
    places = [place for place, word in enumerate(bare) if word in near]
    if not places:
        return None
    for place in drawn.sample(places, min(len(places), drawn.choice((1, 1, 2)))):
        new = drawn.choice(near[bare[place]])
        start = words[place].lower().index(bare[place])
        old = words[place][start : start + len(bare[place])]
        new = new.capitalize() if old[:1].isupper() else new
        words[place] = words[place][:start] + new + words[place][start + len(old) :]
    return " ".join(words)


def joined(first: str, second: str, drawn: random.Random) -> str | None:
    """Join two texts by a conjunction or a mark; None where the result were long."""
    if len(first.split()) + len(second.split()) > 24:
        return None
    joint = drawn.choice(JOINTS)
    second = second if joint == ". " or second[:2].isupper() else second[0].lower() + second[1:]
    return first.rstrip(".,;: ") + joint + second


def phrase(text: str, drawn: random.Random) -> str | None:
    """Cut one to six words that stand together out of a text; None for a text of fewer than four words."""
    words = text.split()
    if len(words) < 4:
        return None
    length = min(drawn.choice((1, 2, 2, 3, 3, 4, 5, 6)), len(words) - 2)
    start = drawn.randrange(len(words) - length + 1)
    return " ".join(words[start : start + length]).strip(".,;:\"'() ")


def neighbors(words: Sequence[str], vectors: NDArray[np.float32], count: int = 6) -> dict[str, list[str]]:
    """Map each word of letters, of four or more, to the words nearest to it by the cosine."""
    rows = [row for row, word in enumerate(words) if word.isalpha() and len(word) > 3]
    table = vectors[rows] / np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    found: dict[str, list[str]] = {}
    for start in range(0, len(rows), 2048):
        cosines = table[start : start + 2048] @ table.T
        best = np.argpartition(-cosines, count, axis=1)[:, : count + 1]
        for place, near in enumerate(best):
            word = words[rows[start + place]]
            found[word] = sorted(words[rows[other]] for other in near if rows[other] != rows[start + place])
    return found
