from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.encoders.mdman import MdmanEncoder
from heedful.errors import UsageError
from heedful.explain import Explanation, PolicySteps, render_html, render_text
from heedful.models import ModelConfig
from heedful.tasks import TextSettings, build_network, task_named
from heedful.tasks.sentences.network_records import trace_sentence
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "story", "was", "dull", "superb")
TEXT = "the film was superb the story was dull"


def model(encoder: str = "mdman"):
    torch.manual_seed(3)
    options = {"encoder_steps": 0, "policy_steps": 1} if encoder == "mdman" else {}
    config = ModelConfig(encoder=encoder, encoder_options=options, width=8, hidden=8, outputs=2)
    network = build_network(config, torch.randn(len(WORDS) + 2, 8))
    if encoder == "mdman":
        (policy,) = (each.policy for each in network.modules() if isinstance(each, MdmanEncoder))
        for each in (policy.selector.query, policy.selector.key):
            torch.nn.init.normal_(each.output.weight, std=3)
    text = TextSettings()
    return task_named("text").model_type(network, config, Vocabulary(WORDS), ("no", "yes"), text)


def test_the_masks_follow_from_the_choices() -> None:
    opened = np.zeros((3, 3), bool)
    opened[0, 2] = True
    steps = PolicySteps("text", ("a", "b", "c"), [0.9, 0.2, 0.1], [0.3, 0.4, 0.8], opened)
    assert steps.pairs[0].tolist() == pytest.approx([0, 0.36, 0.72]), "no word sees itself"
    assert np.array_equal(steps.mask("forward", final=False), np.tril(np.ones((3, 3), bool), -1))
    assert np.array_equal(steps.mask("forward", final=True), np.tril(np.ones((3, 3), bool), -1) | opened)
    assert np.array_equal(steps.mask("backward", final=True), np.triu(np.ones((3, 3), bool), 1))
    assert steps.of_words([0, 2]).opened.tolist() == [[False, True], [False, False]]
    with pytest.raises(UsageError, match=r"query must have shape \[3\]"):
        PolicySteps("text", ("a", "b", "c"), [0.9], [0.3, 0.4, 0.8], opened)


def test_steps_are_what_the_policy_did() -> None:
    made = model()
    (steps,) = made.policy_of({"text": TEXT})
    words, trace = trace_sentence(made, TEXT)
    assert steps.words == words
    chosen = trace.context.policy.chosen[0].numpy()
    assert chosen.any(), "this policy opens pairs, else the test shows nothing"
    assert not chosen.all()
    assert np.array_equal(steps.opened, chosen)
    both = (steps.query > 0.5)[:, None] & (steps.key > 0.5)[None] & ~np.eye(len(words), dtype=bool)
    assert np.array_equal(steps.opened, both), "a word is chosen where its probability is above one half"
    for direction, weights in zip(("forward", "backward"), trace.context.maps.values(), strict=False):
        seen = weights[0].reshape(len(words), len(words), -1).sum(-1).numpy() > 0
        assert np.array_equal(seen, steps.mask(direction, final=True)), direction


def test_the_page_the_terminal_and_json_have_them() -> None:
    made = model()
    plain = made.explain(TEXT)
    shown = replace(plain, policy=made.policy_of({"text": TEXT}))
    page = render_html(shown)
    for title in ("1. Words", "2. Pairs", "3. First forward mask", "3. Final backward mask"):
        assert title in page
    assert f"It opened {int(shown.policy[0].opened.sum())} of 56 pairs" in page
    assert "<script" not in page
    assert "opened by the policy in the text" in render_text(shown)
    again = Explanation.from_dict(json.loads(json.dumps(shown.to_dict())))
    assert render_html(again) == page
    assert "How the policy" not in render_html(plain)


def test_a_model_without_an_acting_policy_is_refused() -> None:
    with pytest.raises(UsageError, match=r"model\.encoder=mdman"):
        model("disan").policy_of({"text": TEXT})
