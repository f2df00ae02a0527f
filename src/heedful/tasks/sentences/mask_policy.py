"""Reads off what a model recorded how its policy opened masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.explain.policy_steps import PolicySteps
from heedful.tasks.records import AnyAnswer
from heedful.tasks.sentences.explaining import trace_sentence

if TYPE_CHECKING:
    from heedful.tasks.sentences.sentence_model import SentenceModel


def read_policy(predictor: SentenceModel[AnyAnswer], texts: Mapping[str, str]) -> tuple[PolicySteps, ...]:
    """Read how the policy of a model opened the masks of sentences.

    Args:
        predictor: an MDMAN model.
        texts: sentences by their names.

    Returns:
        The steps of each sentence.

    Raises:
        UsageError: if the model has no such policy, or the policy does not act yet.
    """
    found = []
    for name, text in texts.items():
        words, trace = trace_sentence(predictor, text)
        policy = trace.context.policy
        if predictor.model.encoder != "mdman" or policy is None:
            raise UsageError(
                f"expected a model with a policy that opens masks (model.encoder=mdman); this one is "
                f"{predictor.model.encoder}"
            )
        if policy.chances is None:
            raise UsageError(
                "the policy of this model does not act yet, so no pair was opened; train for more steps than "
                "encoder_steps of the encoder"
            )
        query, key = policy.chances[0, : len(words)].double().cpu().numpy().T
        opened = policy.chosen[0, : len(words), : len(words)].cpu().numpy()
        found.append(PolicySteps(name, words, query, key, opened))
    return tuple(found)
