"""The settings of distillation: the ``[distil]`` table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heedful.checked import Settings, above, at_least, ranged, share, up_to

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
