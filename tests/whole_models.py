"""Tiny models with every part beside their network, as folders: for exports, which must compute all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful.model.decisions.tag_paths import TagChain
from heedful.models import ModelConfig
from heedful.runtime.encoder_states import EncoderStates, content_of_encoder
from heedful.runtime.loading import encoder_of_content
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors, SentenceFeatures
from heedful.runtime.sentence_part import SentencePart
from heedful.runtime.tag_part import NeighborVectors, TagPart
from heedful.storage.shared_rows import SharedRows
from heedful.tasks import TagsModel, TextSettings, build_network, task_named
from heedful.tasks.vectors import VectorModel
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary
from heedful.text.wide_part import WIDE, PhraseRule, WidePart
from heedful.text.word_shapes import WordShapes

WORDS = ("the", "film", "was", "dull", "not", "good", "fine", "plot")
ROWS = np.random.default_rng(7).integers(-100, 100, (8, 5)).astype(np.int8)
MEAN = MeanOfVectors(SharedRows(WORDS, ROWS, np.full(8, 0.01, np.float32)), "films\tfilm\n")
NOTHING = MeanOfVectors(SharedRows(("",), np.zeros((1, 1), np.int8), np.zeros(1, np.float32)))
RULE = PhraseRule(*WIDE)
TEXTS = (
    "The films was not good",
    "",
    "unseen",
    "a fine plot , isn't dull and the Film was good : 3rd fine film 😀",
)
PAIRING = {"pair": "ordered", "relatedness": "symmetric", "pair-number": "symmetric"}
LABELS = {"text": ("a", "b", "c"), "pair": ("a", "b", "c"), "labels": ("a", "b", "c")}
LABELS |= {"label-columns": ("m: a", "t: b: x", "m: c", "t: d", "t: e")}
TAGS = ("O", "B-x", "I-x", "B-y", "I-y")


def states(path: Path) -> EncoderStates:
    """Return the states of a tiny sentence encoder, kept by the model that reads them."""
    torch.manual_seed(1)
    config = ModelConfig(task="vector", width=10, outputs=4, dropout=0.0)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10), ngrams=torch.randn(30, config.width))
    vocabulary = Vocabulary(WORDS, oov="nearest", ngrams=NgramRule(rows=30, unknown_alone=True))
    VectorModel(network, config, vocabulary, (), TextSettings(max_tokens=30)).save(path)
    content = content_of_encoder(path)
    return EncoderStates("", "", encoder_of_content(content), content)


def whole(
    path: Path,
    task: str,
    encoder: str = "embedding",
    *,
    parts: Sequence[str] = ("wide", "mean", "states"),
    words: tuple[str, ...] = WORDS,
    subwords: bool = False,
    **about: Any,
) -> Path:
    """Save a model.

    Args:
        path: the folder.
        task: of texts or of pairs.
        encoder: of the network; "none" for linear parts alone.
        parts: which there are: "wide", "mean", "states"; of pairs "nothing" reads the overlap of the words alone.
        words: of the network's vocabulary.
        subwords: whether it has n-grams.
        **about: fields of `About`.

    Returns:
        The folder.
    """
    outputs = 1 if "number" in task else len(LABELS.get(task, TEXTS[:3]))
    alone: dict[str, Any] = {"width": 1, "hidden": 1, "pooling": "mean"} if encoder == "none" else {}
    alone = alone or {"width": 8, "hidden": 6}
    config = ModelConfig(task=task, outputs=outputs, encoder=encoder, **alone)
    torch.manual_seed(3)
    vocabulary = Vocabulary(words, ("song",), oov="nearest", ngrams=NgramRule(rows=50) if subwords else None)
    tables = [torch.randn(count, config.width) for count in (len(words) + 2, 1)]
    ngrams = {"ngrams": torch.randn(50, config.width)} if subwords else {}
    network = build_network(config, *tables, **ngrams)
    if encoder == "none":
        for parameter in network.parameters():
            parameter.data.zero_()
    own = dict(network.named_buffers(recurse=False))
    if "scale" in own:
        own["scale"].copy_(torch.tensor([2.0, 3.0, 0.0, 9.0]))
    if "thresholds" in own:
        own["thresholds"].copy_(torch.tensor([0.3, 0.5, 0.9]))
    settings = TextSettings(truncate="head", normalize=True, phrases=RULE, keeps_words=True)
    task_of: Any = task_named(task)
    made = task_of.model_type(network, config, vocabulary, LABELS.get(task, ()), settings)
    made.about = replace(made.about, **_beside(path, task, parts, outputs), **about)
    made.save(path)
    return path


def _beside(path: Path, task: str, parts: Sequence[str], outputs: int) -> dict[str, Any]:
    draw, found = np.random.default_rng(5), dict[str, Any]()
    if "wide" in parts:
        known = [RULE.numbers(text.split(), side) for text in TEXTS for side in (0, 1)]
        numbers = np.unique(np.concatenate(known))
        rarity = (1 + draw.random(len(numbers))).astype(np.float32)
        weights = draw.standard_normal((len(numbers), outputs)).astype(np.float32)
        found["wide"] = WidePart(RULE, numbers, rarity, weights, np.ones(outputs, np.float32), 0.6)
    read: dict[str, Callable[[], SentenceFeatures]] = {
        "mean": lambda: MEAN,
        "nothing": lambda: NOTHING,
        "states": lambda: states(path.with_name("encoder")),
    }
    kinds = [make() for name, make in read.items() if name in parts]
    if kinds:
        texts = JoinedFeatures(tuple(kinds)) if len(kinds) > 1 else kinds[0]
        features = ExampleFeatures(texts, PAIRING.get(task, "none"))  # type: ignore[arg-type]
        weights = draw.standard_normal((features.width, outputs)).astype(np.float32)
        found["sentence"] = SentencePart(features, weights, np.arange(outputs, dtype=np.float32), 0.7)
    return found


def tagger(
    path: Path,
    encoder: str = "embedding",
    *,
    tags: tuple[str, ...] = TAGS,
    linear: bool = True,
    vectors: bool = True,
) -> Path:
    """Save a model of tags.

    Args:
        path: the folder.
        encoder: of the network; "none" for the linear part alone.
        tags: its tags.
        linear: whether there is a linear part with a chain.
        vectors: whether it reads word vectors.

    Returns:
        The folder.
    """
    config = ModelConfig(
        task="tags", width=1 if encoder == "none" else 8, outputs=len(tags), encoder=encoder, dropout=0.0
    )
    torch.manual_seed(2)
    network = build_network(config, torch.randn(len(WORDS) + 2, config.width))
    if encoder == "none":
        for parameter in network.parameters():
            parameter.data.zero_()
    settings = TextSettings(truncate="head", normalize=True, keeps_words=True)
    made = TagsModel(network, config, Vocabulary(WORDS), tags, settings)
    if linear:
        made.about = replace(made.about, tagging=tag_part(len(tags), vectors=vectors))
    made.save(path)
    return path


def tag_part(count: int, *, vectors: bool) -> TagPart:
    """Return a linear model of so many tags."""
    draw = np.random.default_rng(4)

    def drawn(*shape: int) -> np.ndarray:
        return draw.standard_normal(shape, np.float32)

    shapes = WordShapes(affixes=3)
    known = [own for text in TEXTS for own in shapes.numbers(text.split())]
    numbers = np.unique(np.concatenate(known))
    chain = TagChain(drawn(count, count), drawn(count), drawn(count))
    read = NeighborVectors(MEAN) if vectors else None
    own = drawn(0 if read is None else read.width, count)
    return TagPart(shapes, numbers, drawn(len(numbers), count), drawn(count), chain, read, own, 0.4)
