"""Plant causes in made-up texts, train with the settings for own data, and count how often explanations find them.

    python -m heedful_lab.studies.planted_causes [--texts 3000] [--seed 0] [--look 200]

Half of the texts have one of 20 words of their class among 12 words that say nothing. The other half has one of 20
two-word phrases of its class whose words say nothing alone: with "ka" and "mi" before "lo" and "ru", "ka lo" and "mi
ru" belong to one class, "ka ru" and "mi lo" to the other one. A fifth of the texts is held out. A planted word is found
if it is one of the two words or phrases with the largest contributions to the class that is predicted; a planted phrase
if it is one of them, or if its two words are. Texts that are answered wrongly are left out and counted.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from heedful import TextClassifier
from heedful.evaluation import accuracy_interval
from heedful.explain import Explanation
from heedful.explain.explainer import explain
from heedful.explain.scene import lines_of
from heedful.runtime import load

CLASSES, PLANTED, FILLERS, LENGTH = ("first", "second"), 20, 400, 12


def words(generator: random.Random, count: int) -> list[str]:
    """Return so many different words that nobody knows, none one edit away from another one."""
    syllables = [c + v for c in "bdfghjklmnprstvz" for v in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < count:
        word = "".join(generator.choices(syllables, k=3))
        if all(sum(a != b for a, b in zip(word, each, strict=True)) > 1 for each in found):
            found[word] = None
    return list(found)


def made(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Return texts with their class and what is planted in them."""
    generator = random.Random(seed)
    pool = words(generator, FILLERS + 2 * PLANTED + 2 * PLANTED)
    fillers, planted, parts = (
        pool[:FILLERS],
        pool[FILLERS : FILLERS + 2 * PLANTED],
        pool[FILLERS + 2 * PLANTED :],
    )
    causes: dict[str, list[str]] = {CLASSES[0]: planted[:PLANTED], CLASSES[1]: planted[PLANTED:]}
    phrases: dict[str, list[str]] = {name: [] for name in CLASSES}
    for block in range(0, len(parts), 4):
        a, b, c, d = parts[block : block + 4]
        phrases[CLASSES[0]] += [f"{a} {c}", f"{b} {d}"]
        phrases[CLASSES[1]] += [f"{a} {d}", f"{b} {c}"]
    rows = []
    for number in range(count):
        name = CLASSES[number % 2]
        cause = generator.choice((causes if number % 4 < 2 else phrases)[name])
        text = generator.choices(fillers, k=LENGTH)
        text.insert(generator.randrange(LENGTH + 1), cause)
        rows.append((" ".join(text), name, cause))
    generator.shuffle(rows)
    return rows


def is_found(explanation: Explanation, cause: str) -> bool:
    """Return whether a cause is one of the two strongest words or phrases, or its words are both."""
    said = explanation.attribution
    assert said is not None  # the default method
    lines = [
        line
        for line in lines_of(said, explanation.sides)
        if line.kind in ("word", "phrase") and line.value > 0
    ]
    strongest = [line.name for line in sorted(lines, key=lambda line: -line.value)[:2]]
    return (
        cause in strongest
        or sorted(cause.split()) == sorted(strongest)
        or any(f" {cause} " in f" {name} " for name in strongest)
    )


def main() -> None:
    """Print how often planted words and phrases are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--look", type=int, default=200, help="held-out texts of each kind that are explained"
    )
    given = parser.parse_args()
    rows = made(given.texts, given.seed)
    cut = len(rows) * 4 // 5
    model = TextClassifier(train__seed=given.seed).fit([r[0] for r in rows[:cut]], [r[1] for r in rows[:cut]])
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(Path(folder) / "model")
        runtime = load(Path(folder) / "model")
    for kind, size in (("words", 1), ("phrases", 2)):
        held = [row for row in rows[cut:] if len(row[2].split()) == size][: given.look]
        right = [(text, cause) for text, name, cause in held if model.predict([text])[0] == name]
        found = sum(is_found(explain(runtime, text), cause) for text, cause in right)
        low_high = accuracy_interval(found, len(right)) if right else "no text"
        print(
            f"planted {kind}: found in {found} of {len(right)} texts answered rightly of {len(held)}: "
            f"{found / max(1, len(right)):.3f} {low_high}",
            flush=True,
        )


if __name__ == "__main__":
    main()
