"""Draw the corpus: label first, then a premise that gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from random import Random

from heedful.data.examples import Corpus, Example
from heedful.data.scenes.clauses import Sentence, text_of
from heedful.data.scenes.meaning import LABELS, Label, label_of
from heedful.data.scenes.phenomena import PHENOMENA, Choice

SIZES: Mapping[str, int] = {"train": 24_000, "dev": 2_000, "test": 2_000}


def generate(sizes: Mapping[str, int] = SIZES, seed: int = 13) -> dict[str, Corpus]:
    random, used = Random(seed), set()
    names = tuple(PHENOMENA)
    result = {}
    for split, size in sizes.items():
        examples = []
        for i in range(size):
            name = names[i % len(names)]
            label = LABELS[(i // len(names)) % 3]
            while True:
                premise, hypothesis = _draw(random, PHENOMENA[name](random), label)
                if premise not in used:
                    break
            used.add(premise)
            examples.append(Example((premise, hypothesis), label, group=name))
        random.shuffle(examples)
        result[split] = Corpus(examples)
    return result


def _draw(random, choice: Choice, label: Label):
    hypothesis = random.choice(choice.hypotheses)
    fitting = [p for p in choice.premises if label_of(p, hypothesis) == label]
    return text_of(random.choice(fitting)), text_of(hypothesis)
