"""Model folders and checkpoints whose manifest is right and whose content is not, from small tables of mutations."""

from __future__ import annotations

import base64
import copy
import json
import math
import resource
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from heedful.errors import ArtifactError, HeedfulError
from heedful.export.describe import describe
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.storage.manifest import MANIFEST, MODEL_FILES, read_words, write_manifest
from heedful.storage.model_folder import CONFIG, LABELS, VOCABULARY, WEIGHTS, load_model_folder
from heedful.tasks import Predictor, RolePredictor, TagsModel, TextSettings, build_network, load_model
from heedful.text.vocabulary import Vocabulary
from hostile_keeping import KEPT, KEPT_TENSORS, MAY_BE_FEWER, SHAPES, TABLES, write_keeping
from tally import Outcome

SECONDS, MEGABYTES = 1.0, 200.0
"""Of processor time, and of memory beyond what the good folders took."""

ODD = (
    None,
    True,
    -1,
    0,
    3,
    10**9,
    10**12,
    10**30,
    1.5,
    1e-320,
    math.nan,
    math.inf,
    "x",
    "",
    [],
    ["x"],
    {},
    {"x": 1},
)
"""What may stand in the place of any value; those that are no JSON are written as Python writes them."""

SMALL = "small"
"""Name of the good folder in 8 bits, whose vocabulary is compressed."""

OPTIONS = {
    "disan": ("masks", "scale", "mask_style", "dropout", "activation"),
    "mtsa": ("heads", "head_width", "score_layers", "attend_from"),
    "bi-blosan": ("block_length",),
    "transformer": ("layers", "heads", "hidden", "norm"),
    "cnn": ("sizes", "filters"),
}
"""Options that are set in the folders of an encoder, each to every odd value."""


@dataclass(frozen=True)
class Case:
    """One hostile folder.

    Attributes:
        base: name of the good folder it is a copy of.
        name: what was done.
        change: does it, in the copy.
        refuse: whether it must be refused, for no result can be right.
    """

    base: str
    name: str
    change: Callable[[Path], None]
    refuse: bool = False


def write_bases(folder: Path) -> None:
    """Write a good folder of each task, and of some encoders."""
    words = Vocabulary(("film", "dull", "superb", "."), ("cheap", "dear"), oov="hash", buckets=3)
    tags = ("O", "B-ARG0", "I-ARG0")
    for name, task, labels in (
        ("text", "text", ("a", "b", "c")),
        ("pair", "pair", ("a", "b", "c")),
        ("score", "relatedness", ()),
        ("roles", "roles", tags),
        ("tags", "tags", tags),
        *((encoder, "text", ("a", "b", "c")) for encoder in OPTIONS),
    ):
        encoder = name if name in OPTIONS else "disan"
        model = ModelConfig(task=task, encoder=encoder, width=8, hidden=8, outputs=3)  # type: ignore[arg-type]
        torch.manual_seed(4)
        trained, frozen = torch.randn(words.trainable_rows, 8), torch.randn(words.frozen_rows, 8)
        network = build_network(model, trained, frozen)
        kind: Any = {"roles": RolePredictor, "tags": TagsModel}.get(task, Predictor)
        kind(network, model, words, labels, TextSettings()).save(folder / name)
    many = Vocabulary(("film", "dull", "superb", ".", *(f"word{n}" for n in range(60))))
    model = ModelConfig(width=8, hidden=8, outputs=3)
    network = build_network(model, torch.randn(many.trainable_rows, 8))
    Predictor(network, model, many, ("a", "b", "c"), TextSettings()).save(folder / SMALL)
    export_folder(load_model_folder(folder / SMALL), describe(network), folder / SMALL, "int8")
    write_keeping(folder)


def cases() -> Iterator[Case]:
    """Give every hostile folder."""
    for path in ("model", "text", "run", "temperature"):
        yield Case("text", f"config: no {path}", _without(CONFIG, path), path in ("model", "text", "run"))
        yield from _odd("text", CONFIG, path)
    yield Case("text", "config: unknown setting", _set(CONFIG, "more", 1), True)
    settings = [f"model.{name}" for name in ModelConfig.__dataclass_fields__]
    settings += [f"text.{name}" for name in TextSettings.__dataclass_fields__]
    settings += [f"model.tagger.{name}" for name in ("flag_width", "projected", "finder_hidden")]
    for base in ("text", "roles"):
        for path in settings:
            yield from _odd(base, CONFIG, path)
    for base, options in OPTIONS.items():
        for option in options:
            yield from _odd(base, CONFIG, f"model.encoder_options.{option}")
    for path in ("format", "lowercase", "oov", "buckets", "trainable", "extra", "baseforms"):
        yield from _odd("text", VOCABULARY, path)
    for base, paths in TABLES.items():
        for path in paths:
            yield from _odd(base, CONFIG, path)
    for name in KEPT_TENSORS:
        yield Case(KEPT, f"{name} missing", _tensor(name, None), True)
        for what, change in SHAPES.items():
            yield Case(KEPT, f"{name} {what}", _tensor(name, change), name not in MAY_BE_FEWER)
    must = True
    for base in ("text", "pair", "score", "roles", "tags"):
        wide = ("hidden", 10**9) if base not in ("roles", "tags") else ("width", 10**9)
        yield Case(base, "10^9 features", _set(CONFIG, f"model.{wide[0]}", wide[1]), must)
        yield Case(base, "other outputs", _set(CONFIG, "model.outputs", 4), must)
        yield Case(base, "10^9 layers", _both("transformer", {"layers": 10**9}), must)
        yield Case(base, "more words", _set(VOCABULARY, "trainable", [f"w{n}" for n in range(50)]), must)
        yield Case(base, "fewer words", _set(VOCABULARY, "trainable", ["film"]), must)
        yield Case(base, "a word twice", _set(VOCABULARY, "trainable", ["film"] * 4), must)
        for labels in (
            [],
            ["a"],
            ["a", "a", "b"],
            ["a", "b", "c", "d"],
            ["a", "b", 3],
            {"a": 1},
            None,
            "abc",
        ):
            allowed = base == "score" and labels == []
            yield Case(base, f"labels {labels}", _whole(LABELS, labels), not allowed)
    for version in (True, 1.0, "1", None, 2, [1]):
        yield Case("text", f"format_version {version!r}", _version(version), must)
    for value in (0, -1, 1e-320, math.nan, math.inf, 1e308):
        yield Case("text", f"temperature {value}", _set(CONFIG, "temperature", value), must)
    yield Case("text", "temperature 1", _set(CONFIG, "temperature", 1))
    yield from _of_tensors()
    yield from _of_compressed_words()


def _of_compressed_words() -> Iterator[Case]:
    for part in ("bytes", "zlib", "more"):
        yield from _odd(SMALL, VOCABULARY, part)
        yield Case(SMALL, f"no {part}", _without(VOCABULARY, part), part != "more")
    for path in ("format", "lowercase", "oov", "buckets", "trainable", "extra", "baseforms", "more"):
        for value in ODD:
            yield Case(SMALL, f"inside: {path} = {value!r}", _inside(path, value))
    for length in (10, 1 << 20, 50 << 20, 1 << 40):
        yield Case(
            SMALL, f"a bomb said to be {length}", _whole(VOCABULARY, {"bytes": length, "zlib": BOMB}), True
        )
    for name, inner in (("depth", b"[" * 10**6), ("list", b"[1, 2]"), ("bytes", bytes(range(256)))):
        yield Case(SMALL, f"{name} inside", _whole(VOCABULARY, _compressed(inner, len(inner))), True)
    twice = json.dumps(_compressed(b"{}", 2)).encode()
    yield Case(SMALL, "compressed twice", _whole(VOCABULARY, _compressed(twice, len(twice))), True)


def _compressed(whole: bytes, length: int) -> dict[str, Any]:
    return {"bytes": length, "zlib": base64.b64encode(zlib.compress(whole, 9)).decode("ascii")}


BOMB = _compressed(b" " * (50 << 20), 0)["zlib"]
"""50 MiB in 50 kB."""


def _inside(path: str, value: Any) -> Callable[[Path], None]:
    """Change the vocabulary that is compressed."""

    def changed(folder: Path) -> None:
        whole = json.dumps(put(read_words(folder / VOCABULARY), path, value)).encode("ascii")
        edit(folder, VOCABULARY, lambda _: _compressed(whole, len(whole)))

    return changed


def _of_tensors() -> Iterator[Case]:
    table, head = "sentence_encoder.embedding.weight", "head.output.weight"
    kinds = ("int32", "int64", "bool", "uint8", "complex64", "float64", "float16", "bfloat16")
    for name in (table, "sentence_encoder.embedding.frozen", head):
        for kind in (*kinds, "float8_e4m3fn", "float8_e5m2"):
            dtype = getattr(torch, kind, None)
            if dtype is not None:
                real = kind in ("float64", "float16", "bfloat16")
                yield Case("text", f"{name} {kind}", _tensor(name, lambda t, d=dtype: t.to(d)), not real)
        shapes: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
            "0-d": lambda t: t.flatten()[0].clone(),
            "1-d": lambda t: t.flatten().clone(),
            "half": lambda t: t[: len(t) // 2].clone(),
            "twice": lambda t: torch.cat([t, t]),
            "turned": lambda t: t.T.contiguous(),
            "empty": lambda t: t[:0].clone(),
            "nan": lambda t: t * math.nan,
            "inf": lambda t: t / 0,
        }
        for what, change in shapes.items():
            yield Case("text", f"{name} {what}", _tensor(name, change), True)
        yield Case("text", f"{name} missing", _tensor(name, None), True)
    for base in ("text", "pair", "score", "roles", "tags"):
        yield Case(base, "one tensor more", _tensors(lambda s: {**s, "more": torch.zeros(2)}), True)
        yield Case(base, "no tensors", _tensors(lambda s: {}), True)
        yield Case(base, "weights of 3e38", _tensors(_huge), True)


def _huge(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {n: torch.full_like(t, 3e38) if t.dtype == torch.float32 else t for n, t in state.items()}


def _odd(base: str, file: str, path: str) -> Iterator[Case]:
    for value in ODD:
        yield Case(base, f"{file}: {path} = {value!r}", _set(file, path, value))


def edit(folder: Path, file: str, change: Callable[[Any], Any], names: tuple[str, ...] = MODEL_FILES) -> None:
    """Change the content of a JSON file and give the folder a manifest that is right."""
    content = change(json.loads((folder / file).read_text()))
    (folder / file).write_text(json.dumps(content))
    write_manifest(folder, names)


def put(content: Any, path: str, value: Any) -> Any:
    """Set a dotted name in a copy of nested tables."""
    content = copy.deepcopy(content)
    *above, last = path.split(".")
    table = content
    for part in above:
        table = table.setdefault(part, {})
    table[last] = value
    return content


def _set(file: str, path: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder, file, lambda content: put(content, path, value))


def _both(encoder: str, options: dict[str, Any]) -> Callable[[Path], None]:
    def change(config: Any) -> Any:
        return put(put(config, "model.encoder", encoder), "model.encoder_options", options)

    return lambda folder: edit(folder, CONFIG, change)


def _without(file: str, name: str) -> Callable[[Path], None]:
    return lambda folder: edit(folder, file, lambda c: {key: c[key] for key in c if key != name})


def _whole(file: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder, file, lambda _: value)


def _version(value: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps({**manifest, "format_version": value}, indent=1) + "\n")

    return change


def _tensors(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS)
        write_manifest(folder, MODEL_FILES)

    return changed


def _tensor(name: str, change: Callable[[torch.Tensor], torch.Tensor] | None) -> Callable[[Path], None]:
    def changed(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        if change is None:
            return {key: state[key] for key in state if key != name}
        return {**state, name: change(state[name])}

    return _tensors(changed)


def predict(folder: Path) -> Any:
    """Load a model and let it read some texts; raises where an answer is no answer."""
    model: Any = load_model(folder).limited(None, "head")  # a short limit is no matter here
    pair = getattr(model, "is_pair", False)
    asked = (
        [("film dull", "superb ."), ("cheap zzz", "")] if pair else ["film dull superb .", "cheap zzz", ""]
    )
    if getattr(model, "about", None) is not None and model.about.columns is not None:
        asked = [{"text": text, "price": 3.0} for text in asked]
    answers = [answer.as_dict() for answer in model.answer(asked)]
    for answer in answers:
        if "score" in answer and "labels" not in answer:
            total = sum(answer["probabilities"].values())
            assert math.isclose(total, 1, abs_tol=1e-6), f"probabilities add up to {total}"
            assert answer["score"] is None or math.isfinite(answer["score"])
    return answers


def judge(
    what: str,
    call: Callable[[], Any],
    *,
    refuse: bool = False,
    base_megabytes: float = math.inf,
    allowed: type[HeedfulError] = ArtifactError,
) -> Outcome:
    """Call and judge: a result, or an error of the allowed kind in one line; quick, and in little memory."""
    started, trouble, kind = time.process_time(), "", "right"
    try:
        call()
        trouble = "accepted, and no result can be right" if refuse else ""
    except allowed as error:
        kind = "refused"
        trouble = "more than a line" if "\n" in str(error) or len(str(error)) > 1500 else ""
    except HeedfulError as error:
        trouble = f"{type(error).__name__}, not {allowed.__name__}: {error}"
    except BaseException as error:
        trouble = f"{type(error).__name__}: {error}"
    took = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not trouble and took > SECONDS:
        trouble = f"took {took:.1f} s of processor time"
    if not trouble and peak > base_megabytes + MEGABYTES:
        trouble = f"took {peak - base_megabytes:.0f} MB more"
    return Outcome("failed" if trouble else kind, f"{what}: {trouble}"[:600] if trouble else "", took, peak)  # type: ignore[arg-type]


def try_case(number: int, bases: Path, scratch: Path, base_megabytes: float) -> Outcome:
    """Make the folder of a case and judge what becomes of it."""
    case = ALL[number]
    folder = scratch / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bases / case.base, folder)
    case.change(folder)
    what = f"case {number}, {case.base}: {case.name}"
    return judge(what, lambda: predict(folder), refuse=case.refuse, base_megabytes=base_megabytes)


def warm(bases: Path) -> float:
    """Read every good folder, and return the memory that it took, in MB."""
    torch.set_num_threads(1)
    for folder in sorted(bases.iterdir()):
        predict(folder)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


ALL = list(cases())
