"""The notebook runs from top to bottom, shows what it promises, and is kept without outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "own_data.ipynb"

RUN = """
import sys
import nbformat
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec
from nbclient import NotebookClient

argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
kernel = KernelManager(transport="ipc")
kernel._kernel_spec = KernelSpec(argv=argv, display_name="Python 3", language="python")
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=600, startup_timeout=600, km=kernel).execute()
nbformat.write(notebook, sys.argv[2])
"""
"""In a process of its own, because warnings of Jupyter's libraries are errors in the tests."""


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []


def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HOME": str(tmp_path)}
    done = tmp_path / "done.ipynb"
    command = [sys.executable, "-c", RUN, str(NOTEBOOK), str(done)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert result.returncode == 0, result.stderr[-3000:]
    outputs = [out for cell in json.loads(done.read_text())["cells"] for out in cell.get("outputs", [])]
    pages = ["".join(out["data"]["text/html"]) for out in outputs if "text/html" in out.get("data", {})]
    assert [("<table" in page, "<iframe" in page) for page in pages] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    assert "charming" in pages[-1]
    printed = "".join(
        "".join(out["text"]) for out in outputs if out["output_type"] == "stream" and out["name"] == "stdout"
    )
    assert [line.split()[0] for line in printed.splitlines()] == ["TextClassifier", "TF-IDF"]
