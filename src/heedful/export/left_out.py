"""What an ONNX file leaves out of a model and still answers: one sentence, in its metadata."""

from __future__ import annotations

from heedful.model.decisions.reject import REJECT, read_reject
from heedful.storage.model_folder import ModelFolder


def note_of(folder: ModelFolder) -> str:
    """Return what a reader of the exported file must know of its answers.

    Args:
        folder: the model.

    Returns:
        One sentence for a model that rejects texts, whose classes alone are exported; empty for any other.

    Raises:
        UsageError: if what the folder says of rejected texts is damaged.
    """
    table = folder.settings.table(REJECT, {})
    if not table:
        return ""
    label = " ".join(read_reject(table, folder.labels).label.split())
    return (
        f"Every text gets a class here; the model folder itself answers {label!r:.60} to a text that is unlike its "
        "training texts."
    )
