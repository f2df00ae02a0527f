"""Writing a network down as steps, in the words that the runtime reads (`heedful.runtime.operators`).

`encoder_steps` finds the function that writes an encoder down; each has the order of the encoder's ``forward``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import singledispatch
from typing import NotRequired, TypedDict

from torch import Tensor, nn

from heedful.attention.masks import BandMask, Both, Either, Mask
from heedful.attention.visibility import Band
from heedful.attention_names import MapPlace
from heedful.encoders import ContextEncoder
from heedful.encoders.context_encoder import in_layer
from heedful.errors import UsageError
from heedful.nn import Dense


class NotDescribed(UsageError):
    """The steps have no word for a part of a network; the message names the setting that asks for it."""


Table = dict[str, object]
"""A step, what is shown, or a mask, as plain values for JSON."""


class ShownTable(TypedDict):
    """What an explanation shows of a network; see `Recording.show`."""

    prefix: list[str]
    read: list[Table]
    answer: list[Table]


class NetworkTable(TypedDict):
    """The description of a network, as plain values for JSON; `heedful.runtime.program` reads it."""

    format: int
    texts: int
    each: str
    words: dict[str, str]
    read: list[Table]
    answer: list[Table]
    vector: str | None
    logits: str
    shown: ShownTable
    scale: NotRequired[str]
    thresholds: NotRequired[str]


class Recording:
    """The steps of one part of a network, as they are recorded.

    A value is known by its name. Every method records one step and returns the name of what it makes.

    Args:
        network: whose tensors the steps name.

    Attributes:
        steps: what was recorded.
        shown: what an explanation shows of the values; see `show`.
        layer: the layer that is being recorded, from 1, in a stack; else None.
    """

    def __init__(self, network: nn.Module) -> None:
        tensors = {**dict(network.named_buffers()), **dict(network.named_parameters())}
        self._names = {id(tensor): name for name, tensor in tensors.items()}
        self.steps: list[Table] = []
        self.shown: list[Table] = []
        self.layer: int | None = None

    def name(self, tensor: Tensor) -> str:
        """Return the name under which a tensor of the network is saved."""
        return self._names[id(tensor)]

    def step(
        self, do: str, *of: str, weights: Mapping[str, Tensor | None] | None = None, **settings: object
    ) -> str:
        """Record a step.

        Args:
            do: the operator.
            *of: names of the values it reads.
            weights: tensors of the network by their role; None where one is missing.
            **settings: plain values.

        Returns:
            The name of the value it makes.
        """
        name = f"v{len(self.steps) + 1}"
        step: Table = {"do": do, "of": list(of), "to": name}
        named = {role: self.name(x) for role, x in (weights or {}).items() if x is not None}
        if named:
            step["weights"] = named
        self.steps.append({**step, **settings})
        return name

    def show(self, what: str, of: str | list[str], place: MapPlace | None = None, **settings: object) -> None:
        """Record that an explanation shows a value, or how the step that makes it weighs what it reads.

        Args:
            what: one of the kinds of `heedful.runtime.attention_recording`.
            of: name of the value; for "weights" of all parts of the sentence vector.
            place: where it stands in the network.
            **settings: "number", of a head or a share, from 0; "turned", for an alignment whose rows are words of the
                second side.
        """
        entry: Table = {"what": what, "of": of}
        if place is not None:
            if self.layer is not None:
                (place,) = in_layer(self.layer, {place: None})
            entry["place"] = {name: value for name, value in asdict(place).items() if value not in ("", None)}
        self.shown.append({**entry, **settings})

    def dense(self, layer: Dense, x: str) -> str:
        """Record a dense layer."""
        weights = {"weight": layer.weight, "bias": layer.bias}
        return self.step("dense", x, weights=weights, activation=layer.activation)

    def sequence(self, layers: nn.Sequential, x: str) -> str:
        """Record dense layers one after another."""
        for layer in layers:
            assert isinstance(layer, Dense)
            x = self.dense(layer, x)
        return x

    def concat(self, values: Sequence[str]) -> str:
        """Record that values are set side by side; one alone stays as it is."""
        return values[0] if len(values) == 1 else self.step("concat", *values)

    def norm(self, layer: nn.Module, x: str) -> str:
        """Record a layer normalization, or nothing for the identity."""
        if isinstance(layer, nn.Identity):
            return x
        assert isinstance(layer, nn.LayerNorm)
        return self.step("layer_norm", x, weights={"weight": layer.weight, "bias": layer.bias}, eps=layer.eps)


def tensors_of(step: Table) -> list[str]:
    """Return the names of the tensors that a step uses."""
    named = step.get("weights", {})
    return list(map(str, named.values())) if isinstance(named, dict) else []


def rule(mask: Mask | Band) -> Table:
    """Write a mask down as the runtime reads it.

    Args:
        mask: a mask of settings, or a band.

    Returns:
        See `heedful.runtime.steps.Rule`.

    Raises:
        NotDescribed: if it reads dependency trees, or is not Heedful's own.
    """
    if isinstance(mask, Band):
        return {"band": [mask.low, mask.high, mask.diagonal]}
    if isinstance(mask, BandMask):
        return rule(mask.band)
    if isinstance(mask, Both | Either):
        return {"both" if isinstance(mask, Both) else "either": [rule(mask.first), rule(mask.second)]}
    if not mask.reads_trees:
        raise NotDescribed(f"mask {str(mask)!r} is a mask of your own, and only heedful itself runs its code")
    raise NotDescribed(f"mask {str(mask)!r} reads dependency trees, and only heedful itself parses sentences")


@singledispatch
def encoder_steps(encoder: ContextEncoder, record: Recording, x: str) -> str:
    """Record an encoder.

    Args:
        encoder: any encoder.
        record: gets the steps.
        x: name of the word vectors.

    Returns:
        The name of the states, one row a word.

    Raises:
        NotDescribed: if there are no steps for it.
    """
    raise NotDescribed(f"model.encoder: {type(encoder).__name__} is not described")
