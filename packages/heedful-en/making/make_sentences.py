"""Make the model folder of en-sentences of a finished training, in 8 bits.

    python packages/heedful-en/making/make_sentences.py RUN FOLDER [--figures FIGURES]

RUN is the folder of `train_sentences.py`. FIGURES is what `measure_sentences.py` wrote for the same weights; the card
then has them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file

from heedful.export.describe import describe
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import About, TextSettings, VectorModel, build_network
from heedful.text.vocabulary import Vocabulary
from sentence_card import card_of

NAMES = {"embedding.": "sentence_encoder.embedding.", "encoder.": "sentence_encoder.encoder.",
         "pooling.": "sentence_encoder.pooling.", "output.": "output."}  # fmt: skip
TEMPERATURE = 0.05
"""What cosines are divided by where names of labels answer."""


def model_of(run: Path, card: str, metrics: dict[str, object]) -> VectorModel:
    """Build the model of a training."""
    trained = load_file(run / "student.safetensors")
    state = {_named(name): x for name, x in trained.items()}
    vocabulary = Vocabulary.from_json((run / "vocabulary.json").read_text(encoding="ascii"))
    hidden = len(trained["pooling.hidden.weight"])
    options = {} if hidden == trained["pooling.score.weight"].shape[0] else {"pooled_hidden": hidden}
    config = ModelConfig(task="vector", width=300, outputs=384, dropout=0.0, task_options=options)
    ngrams = torch.zeros(vocabulary.ngram_rows, config.width) if vocabulary.ngrams else None
    network = build_network(config, torch.zeros(len(vocabulary), config.width), ngrams=ngrams)
    network.load_state_dict(state)
    text = TextSettings(max_tokens=256, truncate="head")
    about = About({"name": "en-sentences"}, metrics, card, TEMPERATURE)
    model = VectorModel(network, config, vocabulary, (), text, about)  # type: ignore[arg-type]
    return model


def _named(name: str) -> str:
    for ours, its in NAMES.items():
        if name.startswith(ours):
            return its + name.removeprefix(ours)
    raise ValueError(f"no place for the tensor {name!r}")


def main() -> None:
    """Read the command line and write the folder."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("run", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("--figures", type=Path)
    given = options.parse_args()
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures else {}
    collection = json.loads((given.run / "collection.json").read_text(encoding="utf-8"))
    model = model_of(given.run, card_of(collection, figures), figures)
    whole = given.run / "float32"
    model.save(whole)
    export_folder(load_model_folder(whole), describe(model.network), given.folder, "int8")
    size = sum(file.stat().st_size for file in given.folder.iterdir())
    print(f"{given.folder}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
