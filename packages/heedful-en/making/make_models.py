"""Make everything that heedful-en holds: word vectors, base forms, three models and the parser, with their checksums.

    pip install -e . -e ./packages/heedful-en
    python packages/heedful-en/making/make_models.py DATA OUT

DATA is the folder of data sets as heedful reads them. The runs are in OUT, where an interrupted one continues; what is
finished is not made again. The package's folder gets the results, and SHA256SUMS the checksums of the data and of every
file that the package ships. Options make single parts, or check the checksums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from base_forms import base_forms, lemmas
from cards import card_of
from heedful.data.catalog import load
from heedful.export.describe import describe
from heedful.export.folder import export_folder
from heedful.storage.manifest import write_manifest
from heedful.storage.model_folder import load_model_folder
from heedful.storage.shared_rows import BASEFORMS, ROWS, write_rows
from heedful.tasks import load_model
from heedful.text.parsers import PARSER_FILES
from heedful.text.text_files import find_file, open_bytes
from heedful.text.vectors import read_vectors
from sentence_sources import HELD_OUT

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "src" / "heedful_en"
SUMS = HERE / "SHA256SUMS"
NAME = "heedful-en"
STEP = 0.003
"""The copy of Numberbatch that is read is rounded to multiples of this."""
MODELS = {"en-nli": "snli", "en-upos": "ewt-upos", "en-roles": "ewt-srl"}
"""Name of each model, which is that of its recipe here, and the data set that it is trained and measured on."""
DATA = (
    *(f"snli/snli_1.0_{part}.jsonl" for part in ("train_part", "dev", "test")),
    "snli/snli_1.0_train_first9999.txt",
    *(f"ud_english_ewt/en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test")),
    *(f"ewt_srl/ewt.{part}.gold_conll" for part in ("train", "dev", "test")),
    "numberbatch/numberbatch-en-41k-300d.txt",
    "multinli/multinli_1.0_train_part.jsonl",
    "banking77/train.csv",
    "clinc150/data_full.json",
    *(
        name.replace("validate_", "train_").replace(".json", "_full.json")
        for name in HELD_OUT
        if "snips" in name
    ),
)
PARTS = ("vectors", *MODELS, "parser")


def make_vectors(data: Path, out: Path) -> None:
    """Write the word vectors in 8 bits and the base forms, and the latter where the recipes look for them."""
    vectors = read_vectors(data / "numberbatch" / "numberbatch-en-41k-300d.txt")
    with open_bytes(find_file(data / "ud_english_ewt" / "en_ewt-ud-train.conllu")) as stream:
        known = lemmas(line.decode("utf-8") for line in stream)
    forms = base_forms(vectors.words, known)
    folder = PACKAGE / "word_vectors"
    folder.mkdir(exist_ok=True)
    write_rows(folder / ROWS, vectors.words, vectors.matrix, STEP)
    (folder / BASEFORMS).write_text(
        "".join(f"{form}\t{base}\n" for form, base in forms.items()), encoding="utf-8"
    )
    write_manifest(folder, (ROWS, BASEFORMS))
    shutil.copy(folder / BASEFORMS, out / BASEFORMS)
    print(f"vectors: {len(vectors.words):,} words, {len(forms):,} inflected forms")
    for name in ("snli", "ewt-upos"):
        texts = (text for example in load(name, "dev", data).examples for text in example.texts)
        found = [word.lower() for text in texts for word in re.findall(r"[A-Za-z]+", text)]
        listed = set(vectors.words)
        shares = [
            sum(word in known for word in found) / len(found) for known in (listed, listed | forms.keys())
        ]
        print(f"{name}, dev: {shares[0]:.1%} of the words have a vector, {shares[1]:.1%} with base forms")


def make_model(name: str, data: Path, out: Path) -> None:
    """Train a model where OUT has none, and write it in 8 bits, without the vectors that the package keeps once."""
    run = out / "runs" / name
    if not (run / "model").is_dir():
        resume = ["--resume"] if run.is_dir() else []
        heedful(out, "train", HERE / f"{name}.toml", "--data", data, "--out", run, "--no-baseline", *resume)
    content, target = load_model_folder(run / "model"), PACKAGE / name.replace("-", "_")
    description = describe(load_model(run / "model").network)
    export_folder(content, description, target, "int8", shared=NAME)
    figures = {part: measured(target, name, part, data) for part in ("dev", "test")}
    whole = replace(content, card=card_of(name, content, figures))
    export_folder(whole, description, target, "int8", shared=NAME)
    print(f"{name}, in 8 bits: {json.dumps(figures)}")


def measured(folder: Path, name: str, part: str, data: Path) -> dict[str, float]:
    """Return the figures of a model on a split."""
    said = heedful(data, "evaluate", folder, "--on", f"{MODELS[name]}:{part}", "--data", data, "--json")
    return {key: value for key, value in json.loads(said)["metrics"].items() if isinstance(value, float)}


def make_parser(data: Path, out: Path) -> None:
    """Train the dependency parser."""
    arguments = [HERE / "train_parser.py", data / "ud_english_ewt", out / "english_parser", "--epochs", "8"]
    subprocess.run([sys.executable, *map(str, arguments)], check=True)
    folder = PACKAGE / "english_parser"
    shutil.copytree(out / "english_parser", folder, dirs_exist_ok=True)
    write_manifest(folder, PARSER_FILES)


def heedful(folder: Path, *arguments: object) -> str:
    """Run a command of heedful with one thread in a folder, and return what it prints."""
    command = [sys.executable, "-m", "heedful", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def shipped() -> list[Path]:
    """Return the files that the package ships beside its code, in order."""
    files = (file for folder in sorted(PACKAGE.iterdir()) if folder.is_dir() for file in folder.rglob("*"))
    return sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def sums(data: Path | None) -> dict[str, str]:
    """Return the SHA-256 of the data, unpacked, and of every file that is shipped."""
    read = {} if data is None else {f"DATA/{name}": _sum_unpacked(find_file(data / name)) for name in DATA}
    made = {str(file.relative_to(HERE.parent)): _sum([file.read_bytes()]) for file in shipped()}
    return {**read, **made}


def wrong(found: Mapping[str, str]) -> list[str]:
    """Return the names whose checksum is not that of SHA256SUMS."""
    lines = SUMS.read_text(encoding="utf-8").splitlines()
    expected = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return sorted(
        name
        for name in expected.keys() | found.keys()
        if found.get(name) != expected.get(name) and (name in found or not name.startswith("DATA/"))
    )


def _sum(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _sum_unpacked(file: Path) -> str:
    with open_bytes(file) as stream:
        return _sum(iter(lambda: stream.read(1 << 20), b""))


def main() -> None:
    """Read the command line, make what is asked for, and write or check the checksums."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("data", type=Path, help="folder of data sets")
    options.add_argument("out", type=Path, nargs="?", help="folder of the runs")
    options.add_argument(
        "--only", default=",".join(PARTS), help=f"parts to make, by default {','.join(PARTS)}"
    )
    options.add_argument("--check", action="store_true", help="make nothing; compare with SHA256SUMS")
    given = options.parse_args()
    data = given.data.resolve()
    if given.check:
        bad = wrong(sums(data))
        print(
            "\n".join(f"differs: {name}" for name in bad) or f"{len(sums(data))} files are as SHA256SUMS says"
        )
        raise SystemExit(1 if bad else 0)
    if given.out is None:
        options.error("OUT is missing")
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for part in given.only.split(","):
        if part == "vectors":
            make_vectors(data, out)
        elif part == "parser":
            make_parser(data, out)
        elif part in MODELS:
            make_model(part, data, out)
        else:
            options.error(f"no part {part!r}; the parts are {', '.join(PARTS)}")
    SUMS.write_text("".join(f"{digest}  {name}\n" for name, digest in sums(data).items()), encoding="utf-8")


if __name__ == "__main__":
    main()
