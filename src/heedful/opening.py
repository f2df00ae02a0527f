"""Open a model folder: the one place that chooses between the engine without torch and that with it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from heedful.errors import MissingExtraError, UsageError
from heedful.model.engine import TORCH_ALONE, Capability
from heedful.model.model import Model
from heedful.runtime.loading import load

AnyModel = Model[Any, Any]
Truncate = Literal["error", "head"]


def open_model(
    folder: Path | str,
    engine: Literal["auto", "runtime", "torch"] = "auto",
    *,
    max_tokens: int | None = None,
    truncate: Truncate | None = None,
    precision: Literal["float32", "bfloat16", "int8"] = "float32",
    needs: Collection[Capability] = (),
) -> AnyModel:
    """Open a model, whatever it answers.

    Args:
        folder: a model folder, the run folder that holds it, or the name of a model (`find_model`).
        engine: "runtime" imports no torch; "torch" runs every model; "auto" takes the runtime where it can run the
            model and has what is needed, else torch.
        max_tokens: longest text, in tokens; None for what the model was saved with.
        truncate: what a longer text does; None for what was saved.
        precision: of the network; other than float32 takes torch.
        needs: what the engine must be able to do, if one of the two is.

    Returns:
        The model.

    Raises:
        ArtifactError: if a file is missing or altered.
        MissingExtraError: if it takes torch, which is not installed.
        UsageError: if the limit is below 1, or the runtime cannot run the model and is asked to.
    """
    if engine == "runtime":
        return load(folder).limited(max_tokens, truncate)
    if engine == "auto" and precision == "float32" and not TORCH_ALONE.intersection(needs):
        with contextlib.suppress(UsageError):  # the runtime cannot run it, or a limit is wrong for torch too
            model = load(folder).limited(max_tokens, truncate)
            if model.engine.can.issuperset(needs):
                return model
    _require_torch(folder)
    from heedful.tasks.registry import load_model

    found = load_model(folder, max_tokens=max_tokens, truncate=truncate)
    if precision != "float32":
        from heedful.models.precision import at_precision

        found.network = at_precision(found.network, precision)
    return found


def has_torch() -> bool:
    """Return whether torch is installed; it is not imported."""
    return importlib.util.find_spec("torch") is not None


def _require_torch(folder: Path | str) -> None:
    """Refuse to go on without torch; what is wrong with the folder itself is said first."""
    try:
        importlib.import_module("torch")
        if importlib.util.find_spec(f"{__package__}.tasks") is None:
            raise ImportError("heedful-runtime has no models of torch")
    except ImportError as error:
        with contextlib.suppress(
            UsageError
        ):  # that the runtime cannot run the model is no fault of the folder
            load(folder)
        package = "torch" if __package__ == "heedful" else "heedful"
        raise MissingExtraError(
            package, "", f"{folder}: what was asked of this model", install=package
        ) from error
