"""``heedful faithfulness``: what it prints, what it writes into a model folder, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tiny
from heedful.errors import ArtifactError, ExitCode
from heedful.explain.measured_methods import CONTROLS
from heedful.explain.methods import METHODS
from heedful.run import measuring
from heedful.runtime import load
from heedful.storage.manifest import CARD, METRICS, MODEL_FILES, verify_manifest
from heedful.tasks import load_model


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model of texts beside its data."""
    folder = tmp_path_factory.mktemp("trained")
    tiny.write_tasks(folder)
    (folder / "recipe.toml").write_text(tiny.TEXT, encoding="utf-8")
    done = tiny.run(
        "train", folder / "recipe.toml", "--data", folder, "--out", folder / "run", "--no-baseline", "-q"
    )
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


def measure(folder: Path, *more: object) -> tiny.Result:
    return tiny.run(
        "faithfulness", folder / "run", folder / "text-test.csv", "--limit", "6", "--samples", "4", *more
    )


def test_the_best_method_becomes_the_default_and_the_folder_stays_whole(folder: Path) -> None:
    model = folder / "run" / "model"
    before = {name: (model / name).read_bytes() for name in MODEL_FILES}
    done = measure(folder, "--json", "--figure", folder / "f.svg")
    assert done.code == 0, done.err
    found = done.json()
    assert set(found["methods"]) == {*METHODS, *CONTROLS}
    assert sorted(found["order"]) == sorted(METHODS)
    assert (folder / "f.svg").read_bytes().startswith(b"<?xml")
    verify_manifest(model, MODEL_FILES)
    changed = {name for name in MODEL_FILES if (model / name).read_bytes() != before[name]}
    assert changed == {METRICS, CARD}
    figures = json.loads((model / METRICS).read_text())
    kept = figures.pop("explanations")
    assert figures == json.loads(before[METRICS]), "the figures of the run stay"
    assert kept["order"] == found["order"]
    assert kept["texts"] == 6
    card = (model / CARD).read_text(encoding="utf-8")
    assert card.count("## Explanations") == 1
    assert card.index("## Explanations") < card.index("## Limits")
    text = "The film was superb ."
    with_torch = load_model(model).explain(text)
    assert with_torch.standing.startswith(
        f"Of 6 methods {with_torch.attribution.method if with_torch.attribution else 'attention'}"
    )
    shown = tiny.run("explain", folder / "run", "--text", text, "--html", folder / "why.html")
    assert "Of 6 methods" in " ".join(shown.out.split())
    assert "Of 6 methods" in (folder / "why.html").read_text(encoding="utf-8")
    attention = tiny.run("explain", folder / "run", "--text", text, "--method", "attention", "--json").json()
    assert attention["attribution"] is None
    assert "Of 6 methods attention came" in attention["standing"]
    assert load(model).metrics["explanations"] == kept
    assert measure(folder, "--method", "occlusion").code == 0
    again = (model / CARD).read_text(encoding="utf-8")
    assert again.count("## Explanations") == 1
    assert "Only occlusion was measured" in again
    load_model(model).save(folder / "saved")
    assert json.loads((folder / "saved" / METRICS).read_text())["explanations"]["order"] == ["occlusion"]


def test_no_save_leaves_the_folder_alone_and_the_seed_repeats(folder: Path) -> None:
    model = folder / "run" / "model"
    before = {name: (model / name).read_bytes() for name in MODEL_FILES}
    first, second = (measure(folder, "--no-save", "--json", "--method", "shapley").out for _ in range(2))
    assert first == second
    assert {name: (model / name).read_bytes() for name in MODEL_FILES} == before
    table = measure(folder, "--no-save", "--method", "occlusion", "--method", "attention").out
    assert "random order" in table
    assert "shapley" not in table


def test_the_gate(folder: Path) -> None:
    gate = ("--no-save", "--method", "occlusion", "--fail-under")
    assert measure(folder, *gate, "comprehensiveness=-1").code == ExitCode.OK
    failed = measure(folder, *gate, "comprehensiveness=0.9999")
    assert failed.code == ExitCode.GATE_FAILED
    assert "comprehensiveness of occlusion is" in failed.err
    assert measure(folder, *gate, "sufficiency=-1").code == ExitCode.GATE_FAILED
    assert measure(folder, *gate, "sign_violations=0.5").code == ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), ExitCode.USAGE, "give either FILE or --on"),
        (("missing.csv",), ExitCode.BAD_DATA, "missing.csv"),
        (("text-test.csv", "--method", "magic"), ExitCode.USAGE, "explanation method 'magic'"),
        (("text-test.csv", "--fail-under", "accuracy=1"), ExitCode.USAGE, "no metric 'accuracy'"),
        (("text-test.csv", "--fail-under", "sufficiency=x"), ExitCode.USAGE, "write METRIC=VALUE"),
        (("text-test.csv", "--figure", "f.doc"), ExitCode.USAGE, "suffix"),
        (("short.csv", "--no-save"), ExitCode.USAGE, "no text of at least two words"),
    ],
)
def test_what_is_wrong_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: ExitCode, said: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "short.csv").write_text("text,label\nfine,pos\ndull,neg\n", encoding="utf-8")
    done = tiny.run("faithfulness", "run", *arguments)
    assert done.code == code
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_an_altered_folder_is_not_made_whole_by_it(folder: Path) -> None:
    model = folder / "run" / "model"
    measured = load_measured()
    (model / "labels.json").write_text('["bad", "good" ]', encoding="utf-8")
    with pytest.raises(ArtifactError, match="was altered"):
        measuring.keep_standing(model, measured)


def test_a_write_that_fails_leaves_the_old_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder / "run" / "model"
    before = {path.name: path.read_bytes() for path in model.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(measuring, "write_manifest", full)
    done = measure(folder, "--method", "occlusion")
    assert done.code == ExitCode.CANNOT_WRITE
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert [path.name for path in (folder / "run").iterdir() if path.name.startswith(".tmp")] == []


def load_measured() -> measuring.MeasuredMethods:
    import math

    import numpy as np

    from heedful.explain.measured_methods import TextMeasures

    text = {"occlusion": TextMeasures(np.full(4, 0.2), np.zeros(4), 1.0, 0.0, math.nan)}
    return measuring.MeasuredMethods([text, text], "made texts", 0)
