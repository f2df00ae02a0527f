"""Compare the JavaScript package with the runtime: the same requests in Python, in Node and in Chromium.

    python -m heedful_lab.repository.javascript_equality MODEL REQUESTS

MODEL is a model folder; a line of REQUESTS is a text, or two with a tab between them. Both sides compute in floats with
the numbers of ``heedful export --int8``: where products are of whole numbers (`heedful.export.whole_layers`), an input
between two steps is rounded to either. The command prints the largest difference of a probability (or of a number,
divided by its size where that is above 1), and ends with exit code 1 if it is above 0.00001, or if words are counted
differently.
Where Node or Chromium is not installed, the command says so and compares the rest.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.export import described
from heedful.export.folder import export_folder
from heedful.page import model_bytes
from heedful.runtime import load
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import load_model
from heedful_lab.repository import javascript_package

Requests = Sequence[Sequence[str]]
MOST = 1e-5
NODE = """
import { readFileSync } from "node:fs";
import { load } from "PACKAGE";
const { model, requests } = JSON.parse(readFileSync(0, "utf8")), opened = await load(model);
process.stdout.write(JSON.stringify(requests.map((texts) => opened.METHOD(...texts))));
"""
BROWSER = """async ([source, bytes, requests]) => {
  const { load } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const opened = await load(Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
  return JSON.stringify(requests.map((texts) => opened.METHOD(...texts)));
}"""


def in_node(package: Path, model: Path, requests: Requests, method: str = "predict") -> list[dict[str, Any]]:
    """Answer requests in Node.

    Args:
        package: the written package (`heedful_lab.repository.javascript_package`).
        model: a file of ``heedful export --javascript``.
        requests: the texts of each.
        method: of the model.

    Returns:
        What the method returns for each.

    Raises:
        CalledProcessError: if it fails; what Node says is its ``stderr``.
    """
    script = NODE.replace("PACKAGE", (package / "index.js").as_uri()).replace("METHOD", method)
    asked = json.dumps({"model": str(model), "requests": requests})
    command = ["node", "--input-type=module", "--eval", script]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def in_chromium(
    page: Any, package: Path, model: Path, requests: Requests, method: str = "predict"
) -> list[dict[str, Any]]:
    """Answer requests in a browser; the module comes from a blob, so no server is needed.

    Args:
        page: of Playwright, at an address of its own.
        package: as for `in_node`.
        model: as for `in_node`.
        requests: the texts of each.
        method: of the model.

    Returns:
        What the method returns for each.
    """
    source = (package / "index.js").read_text(encoding="utf-8")
    content = base64.b64encode(model.read_bytes()).decode("ascii")
    said = page.evaluate(BROWSER.replace("METHOD", method), [source, content, requests])
    found: list[dict[str, Any]] = json.loads(said)
    return found


def difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> float:
    """Return how far two answers are apart.

    Args:
        found: an answer in JavaScript.
        wanted: the same in Python, as its ``as_dict`` gives it.

    Returns:
        The largest difference of a probability, or of a number divided by its size where that is above 1; infinite
        where anything else differs.
    """
    shares = found["probabilities"], wanted["probabilities"]
    if isinstance(shares[0], Mapping):
        if set(shares[0]) != set(shares[1]):
            return float("inf")
        shares = tuple([each[name] for name in shares[1]] for each in shares)  # type: ignore[assignment]
    numbers = [abs(one - other) for one, other in zip(*shares, strict=True)]
    if wanted.get("score") is not None:
        numbers.append(abs(found["score"] - wanted["score"]) / max(1.0, abs(wanted["score"])))
    plain = ("tokens", "unknown", "truncated", "empty", "words", "tags", "label", "labels")
    same = all(_listed(found[name]) == _listed(wanted[name]) for name in plain if name in wanted)
    return max(numbers, default=0.0) if same else float("inf")


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def compare(
    model: Path, requests: Requests, places: Sequence[str] = ("Node", "Chromium")
) -> dict[str, float]:
    """Compare all answers of a model.

    Args:
        model: its folder.
        requests: the texts of each.
        places: where to answer.

    Returns:
        The largest difference by where it was answered; nothing of what is not installed.
    """
    worst: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as made:
        small, plain, file, package = (
            Path(made, name) for name in ("int8", "plain", "file.heedful", "package")
        )
        javascript_package.write(package)
        folder, description = load_model_folder(model), described(load_model(model).network)
        export_folder(folder, description, small, "int8")
        export_folder(load_model_folder(small), described(load_model(small).network), plain, "float32")
        file.write_bytes(model_bytes(folder, description, compact=False))
        asked = [each[0] if len(each) == 1 else tuple(each) for each in requests]
        wanted = [answer.as_dict() for answer in load(plain).predict(asked)]

        def judge(place: str, found: Sequence[Mapping[str, Any]]) -> None:
            worst[place] = max(map(difference, found, wanted))

        if "Node" in places and shutil.which("node"):
            judge("Node", in_node(package, file, requests))
        browser = next(
            filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
        )
        if browser and "Chromium" in places:
            from playwright.sync_api import sync_playwright

            with sync_playwright() as started:
                opened = started.chromium.launch(executable_path=browser, args=["--no-sandbox"])
                judge("Chromium", in_chromium(opened.new_page(), package, file, requests))
                opened.close()
    return worst


def main() -> None:
    """Compare, print, and say by the exit code whether all is equal enough."""
    parser = ArgumentParser(description="Compare the JavaScript package with the runtime.")
    parser.add_argument("model", type=Path, help="model folder")
    parser.add_argument("requests", type=Path, help="file with a request in each line")
    options = parser.parse_args()
    lines = options.requests.read_text(encoding="utf-8").splitlines()
    worst = compare(options.model, [line.split("\t") for line in lines])
    for place, apart in worst.items():
        print(f"{place}: {len(lines):,} requests, largest difference {apart:.1e}")
    for place in {"Node", "Chromium"} - set(worst):
        print(f"{place}: not installed")
    sys.exit(max(worst.values(), default=0.0) > MOST)


if __name__ == "__main__":
    main()
