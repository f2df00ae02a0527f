"""Sessions of onnxruntime for tests: of one thread, since further ones only spin beside the models of tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def open_session(model: bytes | Path) -> Any:
    """Open a file, or its content, on the processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    content = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
