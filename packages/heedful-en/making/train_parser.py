"""Train a small English dependency parser for spaCy on the UD English EWT treebank, and measure it.

    pip install ./packages/heedful-en
    python packages/heedful-en/making/train_parser.py DATA/ud_english_ewt OUT

Then: ``heedful parse --parser spacy:OUT ...``, or ``text.parser = "spacy:OUT"`` in the settings of a run. The
parser of this package (``builtin``) was made this way; docs/parser.md has the figures.

The result is derived from the treebank, which is under CC BY-SA 4.0: pass it on under the same license, with the
NOTICE that is written beside it.
"""

from __future__ import annotations

import argparse
import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.batchers import minibatch_by_words

from heedful.data.parses import read_conllu
from heedful.text.dependency import Parse
from heedful.text.parsers import DependencyParser, SpacyParser

RATE = 0.001
WORDS_IN_BATCH = 800
NOTICE = """\
This model was trained on the Universal Dependencies English Web Treebank (UD English EWT, release 2.2), by its
contributors: https://universaldependencies.org/treebanks/en_ewt/ and https://github.com/UniversalDependencies/UD_English-EWT

The treebank is licensed under the Creative Commons Attribution-ShareAlike 4.0 International license (CC BY-SA 4.0,
https://creativecommons.org/licenses/by-sa/4.0/). The files in this folder are derived from it and are offered under the
same license, whatever the license of the software around them. Changes: a statistical model was estimated from the
training part by packages/heedful-en/making/train_parser.py of Heedful; no sentence of the treebank is contained.
"""


def to_doc(vocab: spacy.Vocab, parses: Sequence[Parse]) -> Doc:
    """Put gold sentences into one document; several teach the parser where a sentence ends."""
    words, heads, labels, starts = [], [], [], []
    for parse in parses:
        first = len(words)
        for place, (word, head, relation) in enumerate(
            zip(parse.words, parse.heads, parse.relations, strict=True)
        ):
            words.append(word)
            heads.append(first + (head - 1 if head else place))
            labels.append(relation if head else "ROOT")
            starts.append(place == 0)
    return Doc(vocab, words=words, heads=heads, deps=labels, sent_starts=starts)


def varied(parse: Parse, generator: random.Random) -> Parse:
    """Write one sentence in seven in lower case, and take the final stop from one in seven: captions look like that."""
    words, heads, relations = parse.words, parse.heads, parse.relations
    if generator.random() < 1 / 7:
        words = tuple(map(str.lower, words))
    if generator.random() < 1 / 7 and relations[-1] == "punct" and len(words) not in heads:
        words, heads, relations = words[:-1], heads[:-1], relations[:-1]
    return Parse(words, heads, relations)


def examples_of(nlp: Language, parses: Sequence[Parse], generator: random.Random) -> list[Example]:
    """Make documents of one to three sentences in a new order."""
    order = [varied(parse, generator) for parse in parses]
    generator.shuffle(order)
    examples = []
    while order:
        count = generator.choice((1, 1, 2, 3))
        gold = to_doc(nlp.vocab, [order.pop() for _ in range(min(count, len(order)))])
        examples.append(Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold))
    return examples


def make_parser(width: int, depth: int, rows: int, hidden: int) -> Language:
    """Build an untrained pipeline: a parser with its own convolutional word encoder."""
    nlp = spacy.blank("en")
    word_encoder = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": width,
        "depth": depth,
        "embed_size": rows,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
    }
    model = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": word_encoder,
    }
    nlp.add_pipe("parser", config={"model": model, "min_action_freq": 30})
    return nlp


def attachment(parser: DependencyParser, gold: Sequence[Parse]) -> tuple[float, float, float]:
    """Return UAS, LAS (all tokens, punctuation included, full labels) and sentences a second."""
    start = time.perf_counter()
    found = parser.parse([parse.words for parse in gold])
    seconds = time.perf_counter() - start
    total = headed = labeled = 0
    for one, other in zip(gold, found, strict=True):
        for head, relation, guess, label in zip(
            one.heads, one.relations, other.heads, other.relations, strict=True
        ):
            total += 1
            headed += head == guess
            labeled += head == guess and relation.lower() == label
    return headed / total, labeled / total, len(gold) / seconds


def save(parser: Pipe, config: dict[str, object], out: Path) -> None:
    """Write a pipeline with the parser, without the words that were seen in training: what it reads is their hashes."""
    fresh = spacy.util.load_model_from_config(config, auto_fill=True)
    fresh.get_pipe("parser").from_bytes(parser.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    fresh.meta.update(name="ewt_parser", license="CC BY-SA 4.0", spacy_version=">=3.8.0,<4.0.0")
    fresh.to_disk(out)
    (out / "NOTICE").write_text(NOTICE, encoding="utf-8")


def train(nlp: Language, folder: Path, out: Path, epochs: int, dropout: float, seed: int) -> None:
    """Train with a rate that falls to zero, keeping the averaged weights of the epoch with the best LAS on dev."""
    spacy.util.fix_random_seed(seed)
    generator = random.Random(seed)
    parts = {p: list(read_conllu(folder / f"en_ewt-ud-{p}.conllu")) for p in ("train", "dev")}
    nlp.initialize(lambda: examples_of(nlp, parts["train"], random.Random(seed)))
    parser, optimizer = nlp.get_pipe("parser"), nlp.create_optimizer()
    words, best, done = epochs * sum(len(p.words) for p in parts["train"]), 0.0, 0
    candidate = out.with_name(out.name + "-candidate")
    for epoch in range(1, epochs + 1):
        began = time.monotonic()
        for batch in minibatch_by_words(examples_of(nlp, parts["train"], generator), size=WORDS_IN_BATCH):
            optimizer.learn_rate = RATE * min(1.0, done / 50_000 + 0.02) * max(0.01, 1 - done / words)
            nlp.update(batch, sgd=optimizer, drop=dropout)
            done += sum(len(example.reference) for example in batch)
        with nlp.use_params(optimizer.averages):
            save(parser, nlp.config, candidate)
        uas, las, _ = attachment(SpacyParser(str(candidate)), parts["dev"])
        print(
            f"epoch {epoch}: dev UAS {uas:.4f} LAS {las:.4f}, {time.monotonic() - began:.0f} s",
            flush=True,
        )
        if las > best:
            best = las
            shutil.copytree(candidate, out, dirs_exist_ok=True)
    shutil.rmtree(candidate)


def main() -> None:
    """Read the command line, train, and print what the test part says."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("treebank", type=Path, help="folder of en_ewt-ud-{train,dev,test}.conllu")
    options.add_argument("out", type=Path, help="folder to write the model to")
    options.add_argument("--epochs", type=int, default=12, help="passes over the treebank; default 12")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--dropout", type=float, default=0.15, help="default 0.15")
    options.add_argument("--width", type=int, default=96, help="features of a word; default 96")
    options.add_argument("--depth", type=int, default=2, help="convolutions; default 2")
    options.add_argument("--rows", type=int, default=2000, help="rows of the hashed word table; default 2000")
    options.add_argument("--hidden", type=int, default=64, help="features of a parser state; default 64")
    given = options.parse_args()
    nlp = make_parser(given.width, given.depth, given.rows, given.hidden)
    train(nlp, given.treebank, given.out, given.epochs, given.dropout, given.seed)
    gold = list(read_conllu(given.treebank / "en_ewt-ud-test.conllu"))
    parser = SpacyParser(str(given.out))
    parser.parse([gold[0].words])  # loads the model
    uas, las, speed = attachment(parser, gold)
    size = sum(file.stat().st_size for file in given.out.rglob("*") if file.is_file())
    print(f"test: UAS {uas:.4f} LAS {las:.4f}, {speed:,.0f} sentences/s, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
