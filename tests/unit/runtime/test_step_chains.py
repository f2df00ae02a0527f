"""Steps in one call of the kernel give to the last bit what they give one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from described import FROZEN, ROWS, WIDTH, built
from heedful.errors import UsageError
from heedful.export import described, whole_layers
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.runtime import kernels, load, step_chains
from heedful.runtime.kernels import Floats, TextRows
from heedful.runtime.operators import Action
from heedful.runtime.runtime_model import RuntimeModel
from heedful.runtime.step_chains import ChainLink, Chosen
from heedful.runtime.step_execution import Plan
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import Predictor, TextSettings
from heedful.text.vocabulary import Vocabulary

pytestmark = pytest.mark.skipif(not kernels.compiled(), reason="the kernels are not compiled")
Kind = Literal["float32", "float16", "int8"]
WORDS = [f"w{n}" for n in range(ROWS + FROZEN)]


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as changed:
        changed.setattr(step_chains, "_CHAIN", None)
        yield changed


@pytest.fixture(autouse=True)
def every_layer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for least in ("LEAST_TERMS", "LEAST_OUTPUTS"):
        monkeypatch.setattr(whole_layers, least, 1)


def texts() -> list[str]:
    generator = np.random.default_rng(3)
    lengths = [
        0,
        1,
        5,
        0,
        90,
        7,
        *[3] * 60,
        200,
        2,
        *[0] * 120,
        31,
    ]  # some fill a group, some a whole one alone
    return [" ".join(generator.choice(WORDS, length)) for length in lengths]


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "bi-lstm", "transformer"])
def test_a_model_answers_to_the_same_bit(
    encoder: str, kind: Kind, tmp_path: Path, one_by_one: pytest.MonkeyPatch
) -> None:
    model, _ = exported(encoder, kind, tmp_path)
    wanted, alone = model.logits(texts()), model.logits(texts()[4:5])
    one_by_one.undo()
    for each in (model, model.remembering(0), model.threaded(2)):
        assert np.array_equal(each.logits(texts()), wanted)
        assert np.array_equal(each.logits(texts()[4:5]), alone)


def exported(encoder: str, kind: Kind, folder: Path) -> tuple[RuntimeModel, Mapping[str, object]]:
    config = ModelConfig(task="text", encoder=encoder, width=WIDTH, hidden=20, outputs=3)
    vocabulary = Vocabulary(tuple(WORDS[: ROWS - 2]), extra=tuple(WORDS[ROWS - 2 :][:FROZEN]))
    network = built({"task": "text", "encoder": encoder})
    Predictor(network, config, vocabulary, ("a", "b", "c"), TextSettings()).save(folder / "plain")
    plain = load_model_folder(folder / "plain")
    export_folder(plain, described(network), folder / "small", kind)
    model = load(folder / "small")
    assert isinstance(model, RuntimeModel)
    return model, model.program.description


def test_a_disan_is_one_chain_for_each_part_whatever_its_numbers(tmp_path: Path) -> None:
    for kind in ("float32", "float16", "int8"):
        model, description = exported("disan", kind, tmp_path / kind)
        read = description["read"]
        assert isinstance(read, list)
        marks = {mark for step in read for mark in ("whole", "bfloat16") if step.get(mark)}
        assert marks == {"float32": set(), "float16": {"bfloat16"}, "int8": {"whole"}}[kind]
        for plan in (model.program._alone, model.program._rest):
            assert [chain is not None for chain, _ in plan._parts] == [True]


def drawn(rows: int, width: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


def concat(to: str, *of: str) -> Action:
    return Action(to, of, lambda *x: np.concatenate(x, axis=1), True, None, ChainLink("concat", sum))


def mean(to: str, of: str) -> Action:
    def compute(lengths: tuple[int, ...], x: Floats) -> TextRows:
        return TextRows((1,) * len(lengths), kernels.mean(x, lengths))

    return Action(to, (of,), lambda x: compute((len(x),), x).whole, False, compute, ChainLink("mean", sum))


def test_values_inside_use_the_same_memory_only_when_nobody_needs_them() -> None:
    x, y, lengths = drawn(11, 3), drawn(11, 2, 1), (4, 0, 7)
    actions = [
        concat("a", "x", "y"),
        concat("b", "y", "x"),
        concat("c", "a", "b", "a"),
        concat("d", "b", "y", "c"),
        mean("m", "d"),
        mean("n", "a"),
        concat("o", "m", "n"),
    ]
    a, b = np.concatenate([x, y], axis=1), np.concatenate([y, x], axis=1)
    d = np.concatenate([b, y, a, b, a], axis=1)
    for keep in (frozenset({"o"}), frozenset({"o", "d", "b"}), frozenset({"a", "m", "o"})):
        for given in (
            TextRows(lengths, x),
            Chosen(lengths, np.ascontiguousarray(x[::-1]), np.arange(11)[::-1].copy()),
        ):
            found = Plan(actions, keep)({"x": given, "y": TextRows(lengths, y)}, 3)
            assert set(found) == keep
            wanted = {"a": a, "b": b, "d": d, "m": kernels.mean(d, lengths)}
            wanted["o"] = np.concatenate([wanted["m"], kernels.mean(a, lengths)], axis=1)
            assert all(np.array_equal(found[name].whole, wanted[name]) for name in keep)
            assert found["o"].lengths == (1, 1, 1)


def test_what_does_not_fit_is_told_as_without_a_chain(one_by_one: pytest.MonkeyPatch) -> None:
    said = set[str]()
    for _ in range(2):
        with pytest.raises(UsageError) as raised:  # a mean has one row a text, the words have more
            Plan([mean("m", "x"), concat("c", "m", "x")], frozenset({"c"}))(
                {"x": TextRows((2, 2), drawn(4, 3))}, 2
            )
        said.add(str(raised.value))
        with pytest.raises(UsageError, match="value 'y' is read before it is made"):
            Plan([concat("a", "x"), concat("b", "y")], frozenset({"b"}))(
                {"x": TextRows((2,), drawn(2, 3))}, 1
            )
        one_by_one.undo()
    assert len(said) == 1


def test_chosen_rows_are_those_of_the_table() -> None:
    table = drawn(9, 4)
    rows = Chosen((2, 0, 1), table, np.array([8, 0, 3]))
    assert np.array_equal(rows.whole, table[[8, 0, 3]])
    assert [len(part) for part in rows.parts] == [2, 0, 1]
    assert rows.arrays[0] is rows.whole
