"""Draw the corpus: label first, then a premise that gives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from zlib import crc32

from heedful.data.examples import Corpus, Example
from heedful.data.scenes.clauses import WordLimits, text_of
from heedful.data.scenes.meaning import LABELS, Label, label_of
from heedful.data.scenes.pairings import PAIRINGS, Pairing
from heedful.errors import UsageError, check_known, checked_whole
from heedful.storage import write_text

# So many draws in a row without a new pair mean that there are no more.
_PATIENCE = 20_000


def phenomena() -> dict[str, str]:
    """Return every phenomenon with a one-line description."""
    return {name: (pairing.__doc__ or "").splitlines()[0] for name, pairing in PAIRINGS.items()}


def generate(
    train: int = 24_000,
    dev: int = 2_000,
    test: int = 2_000,
    *,
    seed: int = 13,
    only: Sequence[str] = (),
    nouns: int = WordLimits.nouns,
    activities: int = WordLimits.activities,
    colors: int = WordLimits.colors,
) -> dict[str, Corpus]:
    """Generate sentence pairs about small scenes, with the label, for natural language inference.

    Labels and phenomena are balanced in every part. No pair occurs twice; a premise occurs in one part only. The same
    arguments give the same corpus on every machine. docs/scenes.md explains what the labels mean.

    Args:
        train: pairs to train on.
        dev: pairs to select by.
        test: pairs to report on.
        seed: of everything random.
        only: names of phenomena, see `phenomena`; empty for all.
        nouns: how many creatures are known, 2 to 12. More words make the corpus harder to learn.
        activities: how many activities, 3 to 10.
        colors: how many colors, 1 to 6.

    Returns:
        The parts by name: texts (premise, hypothesis), target a label, group the phenomenon.

    Raises:
        UsageError: if an argument is out of range, or there are fewer different pairs than asked for.
    """
    sizes = {"train": train, "dev": dev, "test": test}
    for name, size in sizes.items():
        checked_whole(name, size, 0)
    for name in only:
        check_known(name, PAIRINGS, f"only: unknown phenomenon {name!r}")
    names = tuple(only) or tuple(PAIRINGS)
    words, random = WordLimits(nouns, activities, colors), Random(seed)
    parts: dict[str, list[Example]] = {name: [] for name in sizes}
    for i, name in enumerate(names):
        for j, label in enumerate(LABELS):
            wanted = Counter(
                {part: _share(size, i + len(names) * j, 3 * len(names)) for part, size in sizes.items()}
            )
            for part, pair in _pairs(random, PAIRINGS[name], words, label, wanted, sizes):
                parts[part].append(Example(pair, label, group=name))
    for examples in parts.values():
        random.shuffle(examples)
    return {part: Corpus(examples) for part, examples in parts.items()}


def write_tsv(folder: Path, corpora: dict[str, Corpus] | None = None) -> list[Path]:
    """Write the corpus as one TSV file a part, to look at or to read with any tool.

    Args:
        folder: where to; made if missing.
        corpora: what `generate` returned; None generates the default corpus.

    Returns:
        The files: columns premise, hypothesis, label, phenomenon, with a header.

    Raises:
        OutputError: if the folder cannot be written.
    """
    paths = []
    for part, corpus in (corpora or generate()).items():
        rows = [["premise", "hypothesis", "label", "phenomenon"]]
        rows += [[*example.texts, str(example.target), example.group] for example in corpus.examples]
        path = Path(folder) / f"{part}.tsv"
        write_text(path, "".join("\t".join(row) + "\n" for row in rows))
        paths.append(path)
    return paths


def _share(size: int, cell: int, cells: int) -> int:
    """Return how many of ``size`` pairs fall to one of ``cells`` equal cells."""
    return size // cells + (cell < size % cells)


def _pairs(
    random: Random,
    pairing: Pairing,
    words: WordLimits,
    label: Label,
    wanted: Counter[str],
    sizes: dict[str, int],
) -> list[tuple[str, tuple[str, str]]]:
    """Draw the wanted number of different pairs for each part."""
    found: dict[tuple[str, str], str] = {}
    left, misses = wanted.total(), 0
    while left:
        premise, hypothesis = _draw(random, pairing, words, label)
        part = _part_of(premise, sizes)
        if wanted[part] and (premise, hypothesis) not in found:
            found[premise, hypothesis] = part
            wanted[part] -= 1
            left, misses = left - 1, 0
        elif (misses := misses + 1) > _PATIENCE:
            raise UsageError(
                f"phenomenon {pairing.__name__!r} has too few different pairs: {left} of label {label!r} are missing. "
                "Ask for smaller parts, or raise nouns, activities or colors."
            )
    return [(part, pair) for pair, part in found.items()]


def _draw(random: Random, pairing: Pairing, words: WordLimits, label: Label) -> tuple[str, str]:
    choice = pairing(random, words)
    hypothesis = random.choice(choice.hypotheses)
    shuffled = random.sample(choice.premises, len(choice.premises))
    premise = next(premise for premise in shuffled if label_of(premise, hypothesis) == label)
    return text_of(premise), text_of(hypothesis)


def _part_of(premise: str, sizes: dict[str, int]) -> str:
    """Assign a premise to one part, by its hash, so that the parts share none."""
    point = crc32(premise.encode()) / 2**32 * sum(sizes.values())
    for part, size in sizes.items():
        point -= size
        if point < 0:
            return part
    return part
