"""Tiny invented tasks with a sequence for an answer: semantic roles and translation, learned in seconds."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import tiny

NOUNS = {"dog": "Hund", "cat": "Kater", "horse": "Esel", "bird": "Vogel", "man": "Mann"}
VERBS = {"sees": "sieht", "follows": "jagt", "likes": "mag"}
PLACES = {"outside": "draußen", "today": "heute"}

ROLES = """
[data]
train = "roles.props"
test = "roles-test.props"
[batches]
size = 16
[model]
task = "roles"
encoder = "mtsa-deep-att"
width = 16
dropout = 0.0
[model.encoder_options]
layers = 1
heads = 2
hidden = 32
residual_dropout = 0.0
[model.tagger]
flag_width = 8
finder_hidden = 16
label_smoothing = 0.05
[train]
metric = "predicate_f1"
evaluate_every = 20
epochs = 10
save_seconds = 0.0
[train.optimizer]
name = "adam"
lr = 0.01
"""

TRANSLATION = """
[data]
train = "train"
dev = "dev"
test = "dev"
languages = ["en", "de"]
max_tokens = 60
[batches]
size = 20
[model]
task = "translation"
encoder = "mtsa-transformer"
width = 32
[model.encoder_options]
layers = 1
heads = 2
dropout = 0.0
attention_dropout = 0.0
[train]
epochs = 30
metric = "bleu"
schedule = "linear"
warmup_steps = 20
evaluate_every = 50
save_seconds = 0.0
[train.optimizer]
name = "adam"
lr = 0.01
[translation]
pieces = 320
[translation.decoder]
layers = 1
heads = 2
dropout = 0.0
attention_dropout = 0.0
[translation.search]
beam = 2
extra_tokens = 10
"""


def sentences() -> list[tuple[str, str, str, str]]:
    """Return subject, verb, object and the word after it, in an order that repeats for no seed."""
    rows = [row for row in itertools.product(NOUNS, VERBS, NOUNS, PLACES) if row[0] != row[2]]
    random.Random(1).shuffle(rows)
    return rows


def _columns(subject: str, verb: str, thing: str, place: str) -> str:
    role = "ARGM-LOC" if place == "outside" else "ARGM-TMP"
    cells = [
        ("The", "-", "(ARG0*"),
        (subject, "-", "*)"),
        (verb, verb, "(V*)"),
        ("the", "-", "(ARG1*"),
        (thing, "-", "*)"),
        (place, "-", f"({role}*)"),
        (".", "-", "*"),
    ]
    return "".join(" ".join(cell) + "\n" for cell in cells) + "\n"


def write_sequences(folder: Path) -> Path:
    """Write the files and settings of both tasks into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = sentences()
    parts = {"roles": rows[:90], "roles-test": rows[90:]}
    for name, part in parts.items():
        text = "".join(_columns(*row) for row in part)
        (folder / f"{name}.props").write_text(text, encoding="utf-8")
    for name, part in (("train", rows[:90]), ("dev", rows[90:])):
        english = [f"The {s} {v} the {o} {p}." for s, v, o, p in part]
        german = [f"Der {NOUNS[s]} {VERBS[v]} den {NOUNS[o]} {PLACES[p]}." for s, v, o, p in part]
        (folder / f"{name}.en").write_text("\n".join(english) + "\n", encoding="utf-8")
        (folder / f"{name}.de").write_text("\n".join(german) + "\n", encoding="utf-8")
    (folder / "roles.toml").write_text(ROLES, encoding="utf-8")
    (folder / "translation.toml").write_text(TRANSLATION, encoding="utf-8")
    return folder


def with_mssan(made: Path, run: Path, task: str, metric: str) -> float:
    """Train a task with MS-SAN in the place of its encoder; return the figure of its test split."""
    options = "{heads=['forward & word', 'forward', 'backward & word', 'backward']}"
    settings = ("encoder=mssan", "dropout=0", f"encoder_options={options}")
    changes = [part for setting in settings for part in ("--set", f"model.{setting}")]
    changes += ["--set", f"train.metric={metric}"]
    words = ("train", made / f"{task}.toml", "--data", made, "--out", run, "--json", "-q", *changes)
    trained = tiny.run(*words)
    assert trained.code == 0, trained.err
    figure: float = trained.json()["test"]["metrics"][metric]
    return figure


def compared_by_counts(made: Path, folder: Path, task: str, metric: str) -> None:
    """Keep a study of few and one of more steps; their records hold counts alone, and a test reads them."""
    for name, steps in (("few", 2), ("more", 25)):
        changes = ("--set", f"train.max_steps={steps}", "--set", f"train.metric={metric}")
        words = ("study", made / f"{task}.toml", "--data", made, "--seeds", "1", "--quiet")
        result = tiny.run(*words, "--out", folder / name, *changes)
        assert result.code == 0, result.err
    text = (folder / "more" / "train.seed=1.json").read_text(encoding="utf-8")
    answers = json.loads(text)["answers"]
    assert answers["kind"] == "counts"
    assert {type(value) for kept in (answers["gold"], answers["predicted"]) for value in kept} == {int}
    assert len(answers["gold"]) == len(answers["predicted"]) == 30
    assert "Kater" not in text
    result = tiny.run("compare", folder / "few", folder / "more", "--resamples", 200, "--json")
    assert result.code == 0, result.err
    tests = result.json()["tests"]
    assert [(name, [test["unit"] for test in found]) for name, found in tests.items()] == [
        (metric, ["examples"])
    ]
    assert tests[metric][0]["difference"] > 0
