"""Hold out 300 examples of the training splits of TREC and SST-2 and of CR, drawn with seed 0.

    python -m heedful_lab.studies.held_out_texts FOLDER

It writes trec-train.csv, trec-held.csv and so on for cr and sst-2 into FOLDER. HEEDFUL_DATA is the folder of data
sets.
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

from heedful.data import catalog

HELD = 300
SETS = (("trec", "train"), ("cr", "all"), ("sst-2", "train"))


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    root = catalog.data_folder(None)
    for name, split in SETS:
        examples = catalog.load(name, split, root).examples
        order = random.Random(0).sample(range(len(examples)), len(examples))
        for part, places in (("held", order[:HELD]), ("train", order[HELD:])):
            with (folder / f"{name}-{part}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "label"])
                writer.writerows((examples[i].texts[0], examples[i].target) for i in sorted(places))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
