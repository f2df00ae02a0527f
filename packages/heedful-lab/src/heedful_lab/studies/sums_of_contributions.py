r"""Measure how far contributions miss the log-odds that are shown, on every door.

    python -m heedful_lab.studies.sums_of_contributions MODEL FILE --column text [--column text2] \
        [--page MODEL.html [--page-only]]

MODEL is a model folder, FILE a CSV file with its texts. Each text is explained with torch, without it, by every
method of the server, as a page, as a frame of a notebook, and in an exported page where one is named. What is printed
for a door is the largest distance between the base, the words and what the words do together, and the log-odds of the
probability that stands in the same reply (or the number itself). On a terminal numbers have two decimals, so each line
may miss by 0.005: what is printed there is the largest distance over what the lines may miss together.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import heedful
from heedful.errors import UsageError
from heedful.explain import Explanation, render_html
from heedful.explain.methods import METHODS, WITH_TORCH, MethodChoice, Sampling
from heedful.serving.served_model import open_served

FEW = Sampling(orders=4)
"""Whatever is drawn, Shapley values add up; few orders are enough to see it."""
_NUMBER = re.compile(r'<data value="([^"]+)"')


def shown_by(record: Mapping[str, Any], said: Mapping[str, Any]) -> float:
    """Return the log-odds of the probability of a label that a reply shows, or its number."""
    if said["probability"] is None:
        return float(record["score"])
    share = float(said["probability"])
    named = dict(zip(record["labels"], record["probabilities"], strict=True))
    own = named.pop(said["label"], None)
    rest = sum(named.values())
    if own is not None and abs(own + rest - 1) < 1e-9:  # near 1 the others say more exactly what is missing
        return math.log(own / rest)
    return math.log(share / (1 - share))


def of_record(record: Mapping[str, Any]) -> float:
    """Return the largest distance in a reply in JSON, over everything that it explains."""
    found = [0.0]
    for said in filter(None, (record["attribution"], *record["others"])):
        beside = sum(column["value"] for column in said["columns"])
        total = said["start"] + sum(map(sum, said["values"])) + beside + said["together"]
        found.append(abs(total - shown_by(record, said)))
    return max(found)


def of_page(page: str, record: Mapping[str, Any]) -> float:
    """Return the distance of the lines of a page from what it says of their sum; 0 where no label is explained."""
    if record["attribution"] is None:
        return 0.0
    tables = [
        _NUMBER.findall(part.partition("</table>")[0]) for part in page.split('<table class="signed">')[1:]
    ]
    *lines, total = map(float, next(filter(None, tables)))  # what makes a text strange has a table before it
    return max(abs(sum(lines) - total), abs(total - shown_by(record, record["attribution"])))


def of_terminal(text: str) -> float:
    """Return the distance of the lines of a terminal from their sum, over what they may miss by their two decimals."""
    parts = re.split(r"\n(?:Why “|Why not “|What raises )", text, maxsplit=1)
    if len(parts) == 1:
        return 0.0
    numbers = []
    for line in parts[1].splitlines()[1:]:
        read = re.match(r" {2}.*? ([+-][\d,]+\.\d\d|0\.00)(?=[ ,]|$)", line)
        if read is None:
            break
        numbers.append(float(read[1].replace(",", "")))
    *lines, total = numbers
    return abs(sum(lines) - total) / (0.005 * (len(lines) + 1) + 1e-9)


def doors_of(folder: Path, texts: list[Any]) -> Iterator[tuple[str, float]]:
    """Yield the doors, each with the distance of one text."""
    slow, served = heedful.from_pretrained(folder), open_served(folder)
    for text in texts:
        made = slow.explain(text)
        yield "Python", of_record(made.to_dict())
        yield "terminal, of what two decimals may miss", of_terminal(made.to_text(100))
        for method in METHODS:
            if method != "attention":
                try:
                    said = served.explain(text, MethodChoice(method, FEW))
                except UsageError:
                    if method in WITH_TORCH:
                        continue  # a model without a network has no gradients
                    raise
                record = json.loads(json.dumps(said.to_dict()))
                yield f"/v1/explain, {method}", of_record(record)
                if method not in WITH_TORCH:
                    page = render_html(Explanation.from_dict(record))
                    yield f"page, {method}", of_page(page, record)
        yield "notebook", of_page(html.unescape(made._repr_html_()), made.to_dict())


def in_exported_page(file: Path, texts: list[Any]) -> Iterator[tuple[str, float]]:
    """Yield the distance of each text in an exported page, computed by Chromium; of tags it shows no contributions."""
    import shutil

    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    ask = (
        "async (texts) => { const m = await heedful; "
        "return [m.predict(texts, false), m.paths ? [] : m.explain(texts)]; }"
    )
    with sync_playwright() as started:
        page = started.chromium.launch(executable_path=program, args=["--no-sandbox"]).new_page()
        page.goto(file.resolve().as_uri())
        for text in texts:
            answer, found = page.evaluate(ask, [text] if isinstance(text, str) else list(text))
            shares = {each["label"]: each["probability"] for each in answer["probabilities"]}
            record = {
                "score": answer["score"],
                "labels": list(shares),
                "probabilities": list(shares.values()),
            }
            for said in found:
                total = said["start"] + sum(map(sum, said["values"]))
                shown = shown_by(record, {"probability": shares.get(said["label"]), "label": said["label"]})
                yield "exported page", abs(total - shown)


def main() -> None:
    """Print the largest distance of each door."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--column", action="append", required=True)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--page-only", action="store_true")
    asked = parser.parse_args()
    with asked.file.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[: asked.limit]
    texts = [
        row[asked.column[0]] if len(asked.column) == 1 else tuple(row[name] for name in asked.column)
        for row in rows
    ]
    largest: dict[str, float] = {}
    for door, distance in doors_of(asked.model, [] if asked.page_only else texts):
        largest[door] = max(largest.get(door, 0.0), distance)
    for door, distance in in_exported_page(asked.page, texts) if asked.page else ():
        largest[door] = max(largest.get(door, 0.0), distance)
    for door, distance in largest.items():
        print(f"{door:40} {distance:.1e}")


if __name__ == "__main__":
    main()
