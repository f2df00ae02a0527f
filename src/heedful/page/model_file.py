"""Write a model as one file for JavaScript: its weights in 8 bits, its words, and the description of its network.

The file is a safetensors file, compressed with gzip. It holds numbers and JSON and no program; what reads it is
`heedful.page.javascript`, in a page or as a module.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import cast

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor, from_numpy

from heedful.errors import UsageError
from heedful.explain.explanation_parts import SIDE_NAMES, quantity_of, side_names
from heedful.explain.legends import NO_NETWORK, SYSTEMS, caption
from heedful.export.recording import NetworkTable, Table, tensors_of
from heedful.export.whole_layers import in_whole_numbers
from heedful.model.decisions import KINDS, Kind, Promise
from heedful.model.decisions.label_tree import LabelTree
from heedful.model.decisions.reject import REJECT, read_reject
from heedful.page.characters import characters_in_shapes, characters_in_use, normalization_in_use
from heedful.page.javascript import operators
from heedful.page.quantized_tables import small_columns, small_network, small_rows, small_sentence
from heedful.page.vocabulary_pruning import with_fewer_words
from heedful.runtime.attention_recording import read_shown
from heedful.runtime.column_part import COLUMNS
from heedful.runtime.encoder_states import EncoderStates
from heedful.runtime.loading import read_states
from heedful.runtime.sentence_part import SENTENCE, SentencePart, read_sentence_part
from heedful.runtime.tag_part import TAGGING, TagPart, read_tag_part, tags_decision
from heedful.runtime.training_texts import FAMILIAR
from heedful.storage.model_folder import ModelFolder, rounded
from heedful.text.emoji import EMOJI
from heedful.text.tokenize import TOKENIZERS

FORMAT = 1
"""The version of the file; `opening.js` reads it and refuses others."""
_WIDE_WEIGHTS = "wide.weights"


def model_bytes(
    folder: ModelFolder,
    description: NetworkTable,
    *,
    compact: bool = True,
    promise: Promise | None = None,
    tree: LabelTree | None = None,
) -> bytes:
    """Return a model as one file for JavaScript, which `opening.js` reads.

    Args:
        folder: the model.
        description: of its network, from `heedful.export.described`.
        compact: whether large tables of word vectors are written along axes (`heedful.page.quantized_tables`) and not
            in 8 bits, which changes answers a little.
        promise: with which answers have a set or an interval; None where they have none.
        tree: with which answers have the parents of classes that are paths; None where they have none.

    Returns:
        A safetensors file in gzip; the same bytes for the same model. The layers that the runtime computes in whole
        numbers (`heedful.export.whole_layers`) are computed in such where the folder is one in 8 bits, in floats else.

    Raises:
        UsageError: naming the setting that the engine in JavaScript does not have.
    """
    _check(folder, description)
    if isinstance(kept := folder.config.get("network"), Mapping) and kept.get("numbers") == "int8":
        description = cast(NetworkTable, in_whole_numbers(description, folder.state))
    asked = {
        "sets": None if promise is None else _sets(promise),
        "tree": None if tree is None else tree.table(),
    }
    return gzip.compress(_content(folder, description, asked, compact=compact), mtime=0)


def title_of(folder: ModelFolder) -> str:
    """Return the name of the run that trained a model, or of its encoder; a model without a network is called so.

    Args:
        folder: the model.

    Returns:
        The name.
    """
    run = folder.settings.part("run", {})
    if not has_network(folder):
        data = run.part("data", {})
        named = (data.text(field, "") for field in ("set", "train"))
        return " on ".join(["Linear model", *[PurePath(name).name for name in named if name][:1]])
    return (run.text("name") if "name" in run else "") or _system(folder)


def has_network(folder: ModelFolder) -> bool:
    """Return whether a model has a network, and not linear parts alone."""
    return folder.settings.part("model").text("encoder") != NO_NETWORK


def _check(folder: ModelFolder, description: NetworkTable) -> None:
    task, parser = _task(folder), folder.settings.part("text").record.get("parser")
    if task not in KINDS:
        raise UsageError(f"model.task={task!r}: a page answers {', '.join(KINDS)}")
    if COLUMNS in folder.config:
        raise UsageError("data.features: a page reads texts alone, and this model reads columns beside them")
    if parser:
        raise UsageError(f"text.parser={parser!r}: a page has no parser of sentences")
    unknown = {str(step["do"]) for step in _steps(description)} - operators()
    if unknown:
        encoder = folder.settings.part("model").text("encoder")
        raise UsageError(f"model.encoder={encoder!r}: a page cannot compute its step {min(unknown)!r}")


def _content(
    folder: ModelFolder, description: NetworkTable, asked: Mapping[str, object], *, compact: bool
) -> bytes:
    """Return the tensors that the steps name, and everything else about the model, as a safetensors file.

    ``asked`` is what is asked of its answers beside the classes or numbers.
    """
    config, text = folder.settings, folder.settings.part("text")
    words = description["words"]
    named = {name: folder.state[name].float() for name in _named(description)}
    state = small_network(named, description) if compact else rounded(named)
    shape = {**words, "width": named[words["trained"]].shape[1]}
    wide, sentence, tagging = _wide(folder), _sentence(folder), _tagging(folder)
    about = {
        "format": FORMAT,
        "title": title_of(folder),
        "task": _task(folder),
        "kind": KINDS[_task(folder)].outputs,
        "sides": _names_of_texts(folder),
        "quantity": quantity_of(folder.config.get("run")),
        "labels": folder.labels,
        "outputs": config.part("model").whole("outputs"),
        "temperature": float(config.number("temperature", 1.0)),
        "costs": config.items("costs", ()),
        "thresholds": _numbers(folder, "thresholds"),
        **asked,
        "range": _numbers(folder, "scale")[2:],
        "text": {
            "tokenizer": text.text("tokenizer"),
            "markup": text.text("markup", "keep"),
            "max_tokens": text.whole("max_tokens", 400),
            "truncate": text.text("truncate", "error"),
            "characters": _characters(folder),
        },
        "vocabulary": folder.vocabulary,
        "network": {**{name: each for name, each in description.items() if name != "shown"}, "words": shape},
        "captions": _captions(description["shown"]["read"]),
        "prefix": description["shown"]["prefix"],
        "facts": _facts(folder, state, wide, sentence),
        "reject": _reject(folder),
        "wide": {"rule": text.table("phrases"), "weight": float(config.number("wide"))} if wide else None,
        "sentence": None if sentence is None else sentence.table(),
        "tagging": None if tagging is None else tagging.table(),
        "paths": _paths(folder, tagging) if KINDS[_task(folder)].of_words else None,
        "hasNetwork": has_network(folder),
    }
    if compact and sentence is not None:
        sentence = with_fewer_words(sentence, folder.words.texts("trainable"))
    own = {} if sentence is None else sentence.tensors()
    tags = {} if tagging is None else tagging.tensors()
    if compact:
        own = {} if sentence is None else small_sentence(sentence, own)
        tags = small_rows(tags, TAGGING)
        wide |= small_columns(wide[_WIDE_WEIGHTS], _WIDE_WEIGHTS) if wide else {}
    beside = {name: from_numpy(_in_browsers(each)) for name, each in own.items()}
    linear = rounded({name: from_numpy(each.copy()) for name, each in tags.items()})
    return save({**wide, **beside, **linear, **_familiar(folder), **state}, {"model": json.dumps(about)})


def _reject(folder: ModelFolder) -> dict[str, object] | None:
    """Return when the model answers that no class fits; None for one that always answers a class."""
    table = folder.settings.table(REJECT, {})
    return read_reject(table, folder.labels).table() if table else None


def _familiar(folder: ModelFolder) -> dict[str, Tensor]:
    """Return what a model that rejects texts knows of its training texts."""
    names = (
        [name for name in folder.state if name.startswith(f"{FAMILIAR}.")] if REJECT in folder.config else []
    )
    return {name: folder.state[name].contiguous() for name in names}


def _sets(promise: Promise) -> dict[str, object]:
    """Return what gives answers sets; a class that is in every set has a limit that no probability passes."""
    limits = [min(limit, 2.0) if len(promise.limits) > 1 else limit for limit in promise.limits]
    return {"coverage": promise.wish.coverage, "limits": limits, "sentence": promise.sentence()}


def _in_browsers(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return a copy in a type that every browser has, which 16 bits are not."""
    return values.astype(np.float32) if values.dtype == np.float16 else values.copy()


def _tensor_of(folder: ModelFolder) -> Callable[[str], NDArray[np.generic]]:
    def tensor(name: str) -> NDArray[np.generic]:
        if name not in folder.state:
            raise UsageError(f"tensor {name!r} is missing")
        found: NDArray[np.generic] = folder.state[name].numpy()
        return found

    return tensor


def _numbers(folder: ModelFolder, name: str) -> list[float]:
    """Return a tensor of the network itself, which the answer needs beside the steps; none where it has no such one."""
    found: list[float] = folder.state[name].double().tolist() if name in folder.state else []
    return found


def _sides(kind: Kind) -> tuple[str, ...]:
    """Return the names of the texts of an answer; the vectors of two texts are compared."""
    if kind.outputs == "classes" or (kind.texts == 1 and kind.outputs != "vector"):
        return SIDE_NAMES[kind.texts]
    return "first text", "second text"


def _names_of_texts(folder: ModelFolder) -> tuple[str, ...]:
    names, run = _sides(KINDS[_task(folder)]), folder.config.get("run")
    return side_names(run, len(names), names) if isinstance(run, Mapping) else names


def _sentence(folder: ModelFolder) -> SentencePart | None:
    """Return the sentence part with the word vectors and the encoder that it reads; None without one."""
    table = folder.config.get(SENTENCE)
    if not isinstance(table, Mapping) or not table:
        return None
    outputs = folder.settings.part("model").whole("outputs")
    part = read_sentence_part(
        table, _tensor_of(folder), outputs, len(_sides(KINDS[_task(folder)])), read_states
    )
    return part.complete()


def _tagging(folder: ModelFolder) -> TagPart | None:
    """Return the linear part of tags with the word vectors that it reads; None without one."""
    table, tensor = folder.config.get(TAGGING), _tensor_of(folder)
    if not isinstance(table, Mapping) or not table:
        return None
    outputs = folder.settings.part("model").whole("outputs")
    return read_tag_part(table, tensor, lambda name: tensor(name).astype(np.float32), outputs).complete()


def _paths(folder: ModelFolder, tagging: TagPart | None) -> dict[str, object]:
    """Return which tags fit together and what they score side by side, null where they may not be."""
    paths = tags_decision(folder.labels, tagging).paths

    def plain(row: NDArray[np.floating]) -> list[float | None]:
        return [float(each) if np.isfinite(each) else None for each in row]

    return {
        "marks_spans": paths.marks_spans,
        "has_chain": paths.has_chain,
        "follows": [plain(row) for row in paths.chain.follows],
        "first": plain(paths.chain.first),
        "last": plain(paths.chain.last),
    }


def _characters(folder: ModelFolder) -> dict[str, object]:
    """Return the classes of characters that the tokenizer, and n-grams and tags that know capitals, look at."""
    cased = folder.words.part("ngrams", {}).flag("cased", False) or bool(folder.config.get(TAGGING))
    shapes = characters_in_shapes() if cased else {}
    text = folder.settings.part("text")
    name = text.text("tokenizer")
    found = {**characters_in_use(name), **shapes}
    if text.flag("normalize", False):
        found["normalization"] = {**normalization_in_use(), "emoji": EMOJI if TOKENIZERS[name].emoji else ""}
    return found


def _wide(folder: ModelFolder) -> dict[str, Tensor]:
    """Return the tensors of the wide part; none without one."""
    names = ("numbers", "rarity", "weights", "bias") if folder.config.get("wide") else ()
    return {f"wide.{name}": folder.state[f"wide.{name}"].contiguous() for name in names}


def _captions(shown: list[Table]) -> dict[str, str]:
    """Return what maps and gates are called, by what is shown, the value that shows it and its number."""
    return {
        f"{each.what} {each.of[0]} {each.number}": caption(each.place)
        for each in read_shown(shown)
        if each.what in ("map", "gate")
    }


def _named(description: NetworkTable) -> list[str]:
    """Return the names of all tensors that a description uses."""
    named = {name for step in _steps(description) for name in tensors_of(step)}
    return sorted(named | set(description["words"].values()))


def _steps(description: NetworkTable) -> list[Table]:
    return [*description["read"], *description["answer"]]


def _facts(
    folder: ModelFolder,
    state: Mapping[str, Tensor],
    wide: Mapping[str, Tensor],
    sentence: SentencePart | None,
) -> str:
    """Return what a page says of the size of its model, in one or two sentences."""
    parts = [f"{len(wide['wide.rarity']):,} features of words and characters"] if wide else []
    if sentence is not None:
        states = any(isinstance(each, EncoderStates) for each in sentence.kinds)
        parts.append("a sentence encoder" if states else "word vectors")
    linear = "A linear model" + (f" of {' and '.join(parts)}" if parts else "")
    if not has_network(folder):
        return f"{linear}, without a network."
    words = len(folder.words.items("trainable")) + len(folder.words.items("extra"))
    size = sum(tensor.nbytes for tensor in state.values()) / 1e6
    return f"{_system(folder)}, {words:,} words, weights of {size:.1f} MB." + (
        f" {linear} beside it." if parts else ""
    )


def _task(folder: ModelFolder) -> str:
    return folder.settings.part("model").text("task", "text")


def _system(folder: ModelFolder) -> str:
    return SYSTEMS[folder.settings.part("model").text("encoder")].name
