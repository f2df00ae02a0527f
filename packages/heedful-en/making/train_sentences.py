"""Train the network of en-sentences to give the teacher's vectors.

    python packages/heedful-en/making/train_sentences.py OUT RUN [--rounds 0:60,0:96] [--threads 1] [--bfloat16]

OUT has the blocks of sentences and their vectors, from `collect_sentences.py` and `embed_sentences.py`. RUN gets the
settings and the checkpoints; an interrupted run continues at its last checkpoint. A round is a range of blocks, "0:60"
the first sixty, each read once; by default there are two rounds of all blocks. With `--bfloat16` the products are
computed in bfloat16, which is about twice as fast where the processor has it.

The word vectors come first: with their mean and one linear layer alone, in one pass over the blocks of the first round.
Then the whole network is trained. The loss of both is 1 - cosine to the teacher's vector, plus five times the mean
squared difference between the batch's matrices of similarities. Sentences of similar length are in a batch, and half of
a batch is close to one another in the teacher's eyes, so that the similarities are not all near zero.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from heedful.encoders.disan import DisanConfig, DisanEncoder
from heedful.nn import WordEmbedding
from heedful.nn.pooling import SourceToToken, mean_of
from heedful.storage.shared_rows import BASEFORMS, ROWS, read_rows
from heedful.structures import Sentences
from heedful.text.tokenize import tokenize
from heedful.text.vectors import WordVectors, initial_table, read_baseforms
from heedful.text.vocabulary import Vocabulary

VECTORS = Path(__file__).resolve().parents[1] / "src" / "heedful_en" / "word_vectors"


@dataclass(frozen=True)
class Recipe:
    """What a training does."""

    seed: int = 0
    rows: int = 56_000
    vector_norm: float = 5.0
    batch: int = 256
    similarity: float = 5.0
    words_lr: float = 5e-3
    lr: float = 1e-3
    table_lr: float = 1e-3
    warmup: int = 200
    weight_decay: float = 0.01
    checkpoint_every: int = 250


@dataclass(frozen=True, eq=False)
class Corpus:
    """The sentences of blocks as rows of the vocabulary, and their vectors from the teacher [N, 384] float16."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def batches(self, size: int, drawn: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the numbers of the sentences of each batch, every sentence once."""
        half, lengths = size // 2, np.diff(self.offsets)
        order = drawn.permutation(len(lengths))
        for pool in np.array_split(order, max(1, len(order) // (size * 64))):
            anchors = self.vectors[pool[:24]].astype(np.float32)
            nearest = (self.vectors[pool].astype(np.float32) @ anchors.T).argmax(1)
            band = np.searchsorted([4, 6, 8, 10, 12, 15, 18, 24], lengths[pool])
            rows = pool[np.lexsort((lengths[pool], nearest, band))]
            halves = [rows[start : start + half] for start in range(0, len(rows), half)]
            # neighbors in the order are alike in length: the halves of a batch come from the same stretch of it
            paired: list[NDArray[np.int64]] = []
            for start in range(0, len(halves), 16):
                stretch = halves[start : start + 16]
                mixed = [stretch[place] for place in drawn.permutation(len(stretch))]
                paired += [np.concatenate(mixed[place : place + 2]) for place in range(0, len(mixed), 2)]
            yield from (paired[place] for place in drawn.permutation(len(paired)))

    def sentences(self, numbers: NDArray[np.int64]) -> Sentences:
        """Return a padded batch."""
        rows = [self.ids[self.offsets[n] : self.offsets[n + 1]] for n in numbers]
        ids = np.zeros((len(rows), max(1, *map(len, rows))), np.int64)
        for place, row in zip(ids, rows, strict=True):
            place[: len(row)] = row
        lengths = torch.tensor([len(row) for row in rows])
        return Sentences(torch.from_numpy(ids), torch.arange(ids.shape[1])[None] < lengths[:, None])

    def targets(self, numbers: NDArray[np.int64]) -> Tensor:
        """Return the teacher's vectors, [B, 384]."""
        return functional.normalize(torch.from_numpy(self.vectors[numbers].astype(np.float32)), dim=-1)


class Student(nn.Module):
    """DiSAN over words, joined with the mean of the words, each of unit length; then a linear layer.

    Args:
        table: first word vectors.
        width_out: features of the vector.
        ngrams: first vectors of n-grams of characters; None for none.
        hidden: hidden units of the pooling; None for as many as the states have features.
    """

    def __init__(
        self, table: Tensor, width_out: int, *, ngrams: Tensor | None = None, hidden: int | None = None
    ) -> None:
        super().__init__()
        width = table.shape[1]
        self.embedding = WordEmbedding(table, ngrams=ngrams)
        self.encoder = DisanEncoder(width, DisanConfig(dropout=0.0))
        self.pooling = SourceToToken(self.encoder.width_out, hidden=hidden, activation="elu", dropout=0.0)
        self.output = nn.Linear(self.pooling.width_out + width, width_out, bias=False)

    def forward(self, sentences: Sentences, *, words_alone: bool = False) -> Tensor:
        """Return vectors of unit length, [B, 384]."""
        words = self.embedding.embed(sentences).tokens
        if words_alone:
            mean = functional.normalize(mean_of(words, sentences.valid), dim=-1)
            return functional.normalize(
                functional.linear(mean, self.output.weight[:, -mean.shape[1] :]), dim=-1
            )
        return functional.normalize(self.output(self.states(words, sentences)), dim=-1)

    def states(self, words: Tensor, sentences: Sentences) -> Tensor:
        """Return what the last layer reads, of the vectors of words."""
        mean = functional.normalize(mean_of(words, sentences.valid), dim=-1)
        states = self.encoder(words, sentences).states
        pooled = functional.normalize(self.pooling(states, sentences.valid).vector, dim=-1)
        return torch.cat([pooled, mean], -1)

    def dense(self) -> list[nn.Parameter]:
        """Return all parameters but the word vectors."""
        return [part for name, part in self.named_parameters() if not name.startswith("embedding.")]


def loss_of(found: Tensor, wanted: Tensor, similarity: float) -> Tensor:
    """Return 1 - cosine, and the weighted squared difference of the similarities within the batch."""
    distance = (1 - (found * wanted).sum(-1)).mean()
    return distance + similarity * functional.mse_loss(found @ found.T, wanted @ wanted.T)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, as the model reads it."""
    return tokenize(text).words


def prepare(out: Path, recipe: Recipe) -> Vocabulary:
    """Build the vocabulary from all blocks of sentences: the most frequent words."""
    counts: Counter[str] = Counter()
    for block in sorted(out.glob("sentences-*.txt")):
        for text in block.read_text(encoding="utf-8").split("\n")[:-1]:
            counts.update(word.lower() for word in words_of(text))
    kept = sorted(counts, key=lambda word: (-counts[word], word))[: recipe.rows - 2]
    baseforms = read_baseforms(VECTORS / BASEFORMS)
    return Vocabulary.build({word: counts[word] for word in kept}, baseforms=baseforms, oov="nearest")


def first_table(vocabulary: Vocabulary, recipe: Recipe) -> Tensor:
    """Return the first word vectors: Numberbatch, through base forms, and random ones."""
    rows = read_rows(VECTORS / ROWS)
    table = initial_table(
        vocabulary,
        WordVectors(rows.words, rows.matrix),
        baseforms=read_baseforms(VECTORS / BASEFORMS),
        seed=recipe.seed,
        vector_norm=recipe.vector_norm,
    )
    print(f"word vectors: {table.coverage}", flush=True)
    return torch.from_numpy(table.trainable)


def read_blocks(out: Path, first: int, last: int, vocabulary: Vocabulary) -> Corpus:
    """Read the blocks of a round; their rows of the vocabulary are kept beside them."""
    every, lengths, vectors = [], [], []
    for number in range(first, last):
        block = out / f"sentences-{number:04d}.txt"
        kept = block.with_suffix(".ids.npz")
        if not kept.exists():
            rows = [vocabulary.ids(words_of(t)) for t in block.read_text(encoding="utf-8").split("\n")[:-1]]
            np.savez(kept, ids=np.concatenate(rows), lengths=np.array([len(row) for row in rows]))
        with np.load(kept) as read:
            every.append(read["ids"])
            lengths.append(read["lengths"])
        vectors.append(np.load(block.with_suffix(".npy")))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Corpus(np.concatenate(every), offsets, np.concatenate(vectors))


def steps_of(corpus: Corpus, size: int, seed: list[int]) -> int:
    """Count the batches of a round."""
    return sum(1 for _ in corpus.batches(size, np.random.default_rng(seed)))


def train_words(network: Student, corpus: Corpus, recipe: Recipe) -> None:
    """Train the word vectors and the last layer, with the mean of the words alone."""
    weights = network.output.weight
    members = [torch.optim.Adam([weights], 1e-3), torch.optim.SparseAdam([network.embedding.weight], 1.0)]
    size = recipe.batch
    total = steps_of(corpus, size, [recipe.seed, 99])
    mean, began = 0.0, time.perf_counter()
    for step, numbers in enumerate(corpus.batches(size, np.random.default_rng([recipe.seed, 99]))):
        share = 0.5 * (1 + math.cos(math.pi * step / total))
        for member, lr in zip(members, (1e-3, recipe.words_lr), strict=True):
            member.param_groups[0]["lr"] = lr * share
            member.zero_grad()
        found = network(corpus.sentences(numbers), words_alone=True)
        loss = loss_of(found, corpus.targets(numbers), recipe.similarity)
        loss.backward()
        for member in members:
            member.step()
        mean += (float(loss.detach()) - mean) / min(step + 1, 100)
        if step % 200 == 199:
            print(
                f"words: step {step + 1} of {total}, loss {mean:.4f}, {time.perf_counter() - began:.0f} s",
                flush=True,
            )


class Training:
    """The network, its optimizers and its checkpoints."""

    def __init__(
        self, network: Student, recipe: Recipe, run: Path, total: int, *, bfloat16: bool = False
    ) -> None:
        self.network, self.recipe, self.run, self.total, self.step = network, recipe, run, total, 0
        self.bfloat16 = bfloat16
        dense = torch.optim.AdamW(network.dense(), recipe.lr, weight_decay=recipe.weight_decay)
        sparse = torch.optim.SparseAdam([network.embedding.weight], recipe.table_lr)
        self.members: dict[str, tuple[torch.optim.Optimizer, float]] = {
            "dense": (dense, recipe.lr),
            "sparse": (sparse, recipe.table_lr),
        }

    def learn(self, sentences: Sentences, targets: Tensor) -> float:
        """Take one step and return the loss."""
        recipe, step = self.recipe, self.step
        share = min(1.0, (step + 1) / recipe.warmup) * 0.5 * (1 + math.cos(math.pi * step / self.total))
        for member, lr in self.members.values():
            member.param_groups[0]["lr"] = lr * share
            member.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
            found = self.network(sentences)
        loss = loss_of(found.float(), targets, recipe.similarity)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.dense(), 1.0)
        for member, _ in self.members.values():
            member.step()
        self.step += 1
        return float(loss.detach())

    def save(self) -> None:
        """Write a checkpoint of tensors, and the step in JSON after it."""
        tensors = {f"network.{name}": x.detach() for name, x in self.network.state_dict().items()}
        for kind, (member, _) in self.members.items():
            for number, values in member.state_dict()["state"].items():
                tensors.update({f"{kind}.{number}.{key}": torch.as_tensor(x) for key, x in values.items()})
        held = {name: x.contiguous().clone() for name, x in tensors.items()}
        partial = self.run / "checkpoint.partial"
        save_file(held, partial, {"step": str(self.step)})
        os.replace(partial, self.run / "checkpoint.safetensors")
        (self.run / "step.json").write_text(json.dumps({"step": self.step, "of": self.total}) + "\n")

    def restore(self) -> None:
        """Read the checkpoint."""
        held = load_file(self.run / "checkpoint.safetensors")
        cut = len("network.")
        self.network.load_state_dict({n[cut:]: x for n, x in held.items() if n.startswith("network.")})
        for kind, (member, _) in self.members.items():
            state: dict[int, dict[str, object]] = {}
            for name, x in held.items():
                if name.startswith(f"{kind}."):
                    _, number, key = name.split(".")
                    state.setdefault(int(number), {})[key] = (
                        int(x) if kind == "sparse" and key == "step" else x
                    )
            member.load_state_dict({"state": state, "param_groups": member.state_dict()["param_groups"]})
        self.step = json.loads((self.run / "step.json").read_text())["step"]


def main() -> None:
    """Read the command line and train."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("out", type=Path)
    options.add_argument("run", type=Path)
    options.add_argument("--rounds", default="", help="ranges of blocks, by default twice all")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--bfloat16", action="store_true")
    for name, value in asdict(Recipe()).items():
        options.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    recipe = Recipe(**{name: getattr(given, name) for name in asdict(Recipe())})
    torch.manual_seed(recipe.seed)
    count = len(list(given.out.glob("sentences-*.txt")))
    rounds = [
        tuple(map(int, part.split(":"))) for part in (given.rounds or f"0:{count},0:{count}").split(",")
    ]
    given.run.mkdir(parents=True, exist_ok=True)
    words = given.run / "vocabulary.json"
    if not words.exists():
        words.write_text(prepare(given.out, recipe).to_json(), encoding="ascii")
    vocabulary = Vocabulary.from_json(words.read_text(encoding="ascii"))
    settings = {"recipe": asdict(recipe), "rounds": rounds, "bfloat16": given.bfloat16}
    (given.run / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    corpora: dict[tuple[int, ...], Corpus] = {}
    sizes = [sum(min(4096, 4096) for _ in range(first, last)) for first, last in rounds]
    total = sum(math.ceil(size / recipe.batch) for size in sizes)
    network = Student(first_table(vocabulary, recipe), 384)
    training = Training(network, recipe, given.run, total, bfloat16=given.bfloat16)
    if (given.run / "step.json").exists():
        training.restore()
        print(f"continued at step {training.step} of {total}", flush=True)
    else:
        first = read_blocks(given.out, *rounds[0], vocabulary)
        corpora[rounds[0]] = first
        train_words(network, first, recipe)
        training.save()
    done, mean, began = 0, 0.0, time.perf_counter()
    start = training.step
    for number, places in enumerate(rounds):
        if places not in corpora:
            corpora = {places: read_blocks(given.out, *places, vocabulary)}
        corpus = corpora[places]
        for numbers in corpus.batches(recipe.batch, np.random.default_rng([recipe.seed, number])):
            done += 1
            if done <= training.step:
                continue
            loss = training.learn(corpus.sentences(numbers), corpus.targets(numbers))
            mean += (loss - mean) / min(training.step - start, 100)
            if training.step % 50 == 0:
                spent = time.perf_counter() - began
                rate = (training.step - start) * recipe.batch / spent
                print(f"step {training.step} of {total}, loss {mean:.4f}, {rate:.0f} a second", flush=True)
            if training.step % recipe.checkpoint_every == 0:
                training.save()
    training.save()
    tensors = {name: x.detach().contiguous() for name, x in network.state_dict().items()}
    save_file(tensors, given.run / "student.safetensors")
    print(f"finished after {training.step} steps", flush=True)


if __name__ == "__main__":
    main()
