"""Every rule of docs/SEMANTICS.md and docs/RELIABILITY.md is a few full sentences and names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import torch

from heedful.models import ModelConfig
from heedful.structures import Batch, Sentences
from heedful.tasks import build_network

ROOT = Path(__file__).parents[2]
PAGE, PROMISES = (ROOT / "docs" / name for name in ("SEMANTICS.md", "RELIABILITY.md"))
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows(page: Path) -> list[tuple[str, str, str]]:
    """Topic, sentence and proof of each row of a page's tables."""
    found = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) == 3 and cells[0] not in ("what", "---"):
            found.append((cells[0], cells[1], cells[2]))
    return found


ROWS, PROMISED = rows(PAGE), rows(PROMISES)


def test_the_page_covers_what_it_must() -> None:
    topics = {topic for topic, _, _ in ROWS}
    assert len(topics) == len(ROWS) >= 25
    assert topics >= {
        "polarity",
        "direction",
        "empty row",
        "padding",
        "empty sentence",
        "unknown words",
        "token2token softmax",
        "source2token softmax",
        "truncation",
        "order of labels",
        "determinism",
        "frozen words",
        "bfloat16",
        "dropout",
        "L2",
    }
    assert "## Axis letters" in PAGE.read_text(encoding="utf-8")


def names_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_promises_are_there() -> None:
    assert len({topic for topic, _, _ in PROMISED}) == len(PROMISED) >= 20


@pytest.mark.parametrize(
    ("topic", "sentence", "proof"), ROWS + PROMISED, ids=[topic for topic, _, _ in ROWS + PROMISED]
)
def test_full_sentences_and_tests_that_exist(topic: str, sentence: str, proof: str) -> None:
    assert sentence.endswith(".")
    assert 1 <= len(re.findall(r"[.!?](?:\s|$)", sentence)) <= 4
    named = NAMED.findall(proof)
    assert named
    assert NAMED.sub("", proof).strip(" ,") == ""
    for file, test in named:
        assert test in names_of(ROOT / file), file


def trained(seed: int) -> dict[str, torch.Tensor]:
    """Weights after two steps with dropout, on sentences of several lengths."""
    torch.manual_seed(seed)
    config = ModelConfig(task="pair", width=48, hidden=20, outputs=3)
    network = build_network(config, torch.randn(30, 48))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(2):
        valid = torch.arange(9) < torch.randint(0, 10, (6, 1))
        side = Sentences(torch.randint(1, 30, (6, 9)) * valid, valid)
        loss = network(Batch((side, side))).logits.logsumexp(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.state_dict()


def test_training_twice_with_one_seed_gives_identical_weights() -> None:
    first, second, other = trained(1), trained(1), trained(2)
    assert [name for name in first if not torch.equal(first[name], second[name])] == []
    assert not torch.equal(first["head.output.weight"], other["head.output.weight"])
