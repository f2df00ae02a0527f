"""A predicate and who does what to whom around it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One predicate of a sentence with its arguments.

    Attributes:
        predicate: place of the predicate's word, from 0.
        tags: one a word of the sentence, as in `heedful.data.bio`; the predicate itself is V, what continues an
            argument X is C-X, what refers to it R-X. Empty where they are not
            known.
        sense: its roleset, such as "come.03", or its lemma; empty where that is not known.
    """

    predicate: int
    tags: tuple[str, ...]
    sense: str = ""
