"""What an explanation shows on request beside what the runtime records: single features, and the steps of a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from heedful.errors import UsageError
from heedful.serving.bodies import FEATURES_OF, POLICY_STEPS
from heedful.serving.bounds import Refused

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.serving.engine import Engine


def with_further(engine: Engine, explanation: Explanation, options: Mapping[str, Any]) -> Explanation:
    """Add to an explanation what a client asked for besides.

    Args:
        engine: the model.
        explanation: of this model.
        options: of the request; see `heedful.serving.bodies.read_one`.

    Returns:
        The explanation.

    Raises:
        Refused: with 422, naming the option that the model or the texts cannot fulfil.
    """
    further: Mapping[str, Callable[[Explanation], Explanation]] = {
        FEATURES_OF: lambda shown: engine.with_features(shown, options[FEATURES_OF]),
        POLICY_STEPS: lambda shown: engine.with_policy(shown),
    }
    for name, added in further.items():
        try:
            explanation = added(explanation) if options[name] else explanation
        except UsageError as error:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, name, str(error)) from None
    return explanation
