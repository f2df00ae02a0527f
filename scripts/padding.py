"""How much of a batch is padding, on real data: what packing tokens without padding could save at most.

Run: ``python scripts/padding.py --data DIR``. Every matrix product, dropout and copy of a training step works on
places, real or padding, so a packed batch could make a step cheaper by no more than the share of padding (attention
over pairs of tokens, a twentieth of a step, skips padding already). The share is that of the first pass over the
training part with the batches of the packaged recipe.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from heedful.run import prepare
from heedful.run.prepare import TrainingBatches
from heedful.run.recipe_files import load_config, override
from heedful_lab.bench.corpus import padding_share

SETS = {
    "TREC": ("disan-trec", {}),
    "SICK": ("disan-sick", {}),
    "SNLI, 102,511 pairs": ("disan-snli", {"data.train": "train-part"}),
    "SST-5, every phrase": ("disan-sst5", {}),
    "CR, one fold": ("disan-cr", {}),
    "generated corpus": ("disan-scenes", {}),
}
PLAIN = {"text.vectors": "", "text.baseforms": ""}


def main() -> None:
    """Print one line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    data = parser.parse_args().data
    print(
        "| training part | batch | tokens a text | padding, buckets | padding, no buckets |",
        "| --- | --- | --- | --- | --- |",
        sep="\n",
    )
    for name, (recipe, changes) in SETS.items():
        config = override(load_config(recipe), {**PLAIN, **changes})
        dataset = prepare(config, data).datasets["train"]
        lengths = np.asarray(dataset.lengths()).reshape(len(dataset), -1)
        found = [
            padding_share(lengths, [np.asarray(batch) for batch in TrainingBatches(dataset, each).batches(0)])
            for each in (config, override(config, {"batches.bucketing": False}))
        ]
        cells = [
            name,
            str(config.batches.size),
            f"{lengths.mean():.1f}",
            *(f"{100 * share:.1f} %" for share in found),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
