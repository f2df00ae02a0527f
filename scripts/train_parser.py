"""Train a small English dependency parser for spaCy on the UD English EWT treebank, and measure it.

    pip install 'heedful[spacy]'
    python scripts/train_parser.py DATA/ud_english_ewt OUT --minutes 10

Then: ``heedful parse --parser spacy:OUT ...``, or ``text.parser = "spacy:OUT"`` in the settings of a run.

The result is derived from the treebank, which is under CC BY-SA 4.0: pass it on under the same licence, with the
NOTICE that is written beside it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from heedful.data.conllu import read_conllu
from heedful.text.dependency import Parse
from heedful.text.parsers import SpacyParser

NOTICE = """\
This model was trained on the Universal Dependencies English Web Treebank (UD English EWT), version as in the folder it
was trained from, by its contributors: https://universaldependencies.org/treebanks/en_ewt/
The treebank is licensed under the Creative Commons Attribution-ShareAlike 4.0 International licence
(https://creativecommons.org/licenses/by-sa/4.0/). This model is offered under the same licence.
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


def examples_of(nlp: Language, parses: Sequence[Parse], generator: random.Random) -> list[Example]:
    """Make documents of one to three sentences in a new order."""
    order = list(parses)
    generator.shuffle(order)
    examples = []
    while order:
        count = generator.choice((1, 1, 2, 3))
        gold = to_doc(nlp.vocab, [order.pop() for _ in range(min(count, len(order)))])
        examples.append(Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold))
    return examples


def make_parser(width: int, depth: int, rows: int) -> Language:
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
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": word_encoder,
    }
    nlp.add_pipe("parser", config={"model": model, "min_action_freq": 30})
    return nlp


def attachment(parser: SpacyParser, gold: Sequence[Parse]) -> tuple[float, float, float]:
    """Return UAS, LAS (all tokens, punctuation included, full labels) and sentences a second."""
    start = time.perf_counter()
    found = parser.parse([parse.words for parse in gold])
    seconds = time.perf_counter() - start
    total = headed = labelled = 0
    for one, other in zip(gold, found, strict=True):
        for head, relation, guess, label in zip(
            one.heads, one.relations, other.heads, other.relations, strict=True
        ):
            total += 1
            headed += head == guess
            labelled += head == guess and relation.lower() == label
    return headed / total, labelled / total, len(gold) / seconds


def train(nlp: Language, folder: Path, out: Path, minutes: float, seed: int) -> None:
    """Train until the time is up, keeping the epoch with the best LAS on the dev part."""
    spacy.util.fix_random_seed(seed)
    generator = random.Random(seed)
    parts = {p: list(read_conllu(folder / f"en_ewt-ud-{p}.conllu")) for p in ("train", "dev")}
    nlp.initialize(lambda: examples_of(nlp, parts["train"], random.Random(seed)))
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.001
    start, best, epoch, took = time.monotonic(), 0.0, 0, 0.0
    # An epoch that would end after the deadline is not begun.
    while epoch == 0 or time.monotonic() - start + took < minutes * 60:
        began, epoch = time.monotonic(), epoch + 1
        for batch in minibatch(examples_of(nlp, parts["train"], generator), size=32):
            nlp.update(batch, sgd=optimizer, drop=0.1)
        with nlp.select_pipes(enable=["parser"]), nlp.use_params(optimizer.averages):
            candidate = out.with_name(out.name + "-candidate")
            nlp.to_disk(candidate)
        uas, las, speed = attachment(SpacyParser(str(candidate)), parts["dev"])
        took = time.monotonic() - began
        print(
            f"epoch {epoch}: dev UAS {uas:.4f} LAS {las:.4f}, {speed:,.0f} sentences/s, {took:.0f} s",
            flush=True,
        )
        if las > best:
            best = las
            nlp_best = spacy.load(candidate)
            nlp_best.to_disk(out)
    (out / "NOTICE").write_text(NOTICE, encoding="utf-8")


def main() -> None:
    """Read the command line, train, and print what the test part says."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("treebank", type=Path, help="folder of en_ewt-ud-{train,dev,test}.conllu")
    options.add_argument("out", type=Path, help="folder to write the model to")
    options.add_argument("--minutes", type=float, default=10, help="time for training; default 10")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--width", type=int, default=96, help="features of a word; default 96")
    options.add_argument("--depth", type=int, default=4, help="convolutions; default 4")
    options.add_argument("--rows", type=int, default=2000, help="rows of the hashed word table; default 2000")
    given = options.parse_args()
    nlp = make_parser(given.width, given.depth, given.rows)
    train(nlp, given.treebank, given.out, given.minutes, given.seed)
    gold = list(read_conllu(given.treebank / "en_ewt-ud-test.conllu"))
    uas, las, speed = attachment(SpacyParser(str(given.out)), gold)
    size = sum(file.stat().st_size for file in given.out.rglob("*") if file.is_file())
    print(f"test: UAS {uas:.4f} LAS {las:.4f}, {speed:,.0f} sentences/s, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
