"""The thread that explains, one request after the other; work that nobody waits for any more is stopped.

What a client asks for beside an explanation is added to it here.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from heedful.errors import UsageError
from heedful.machine.canceling import Cancel, canceled_by
from heedful.serving.bodies import FEATURES_OF, NEIGHBORS, POLICY_STEPS
from heedful.serving.request_limits import Refused

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.serving.served_model import ServedModel

Result = TypeVar("Result")


class ExplainingQueue:
    """A queue and its thread, which is begun for the first call and never holds up the end of the process.

    Attributes:
        is_busy: whether something is computed.
    """

    def __init__(self) -> None:
        self._calls = queue.SimpleQueue[tuple["Future[Any]", Cancel, Callable[[], object]]]()
        self._thread: threading.Thread | None = None
        self.is_busy = False

    def submit(self, work: Callable[[], Result]) -> tuple[Future[Result], Cancel]:
        """Queue a call.

        Args:
            work: what is to be computed.

        Returns:
            What it will give, and what stops it between two of its steps.
        """
        future, cancel = Future[Result](), Cancel()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="explanations", daemon=True)
            self._thread.start()
        self._calls.put((future, cancel, work))
        return future, cancel

    def _work(self) -> None:
        while True:
            future, cancel, work = self._calls.get()
            if not future.set_running_or_notify_cancel():
                continue
            self.is_busy = True
            try:
                with canceled_by(cancel):
                    future.set_result(work())
            except BaseException as error:  # a thread that ends would leave the others without an answer
                future.set_exception(error)
            self.is_busy = False
            del future, work  # what was computed is not kept until the next call


def with_further(model: ServedModel, explanation: Explanation, options: Mapping[str, object]) -> Explanation:
    """Add to an explanation what a client asked for beside what the runtime records.

    Args:
        model: what explained.
        explanation: of one request.
        options: of the request.

    Returns:
        The explanation with what was asked for.

    Raises:
        Refused: with 422, naming the option that the model or the texts cannot fulfill.
    """
    further: Mapping[str, Callable[[Explanation], Explanation]] = {
        NEIGHBORS: lambda shown: model.with_neighbors(shown, int(str(options[NEIGHBORS]))),
        FEATURES_OF: lambda shown: model.with_features(shown, str(options[FEATURES_OF])),
        POLICY_STEPS: model.with_policy,
    }
    for name, added in further.items():
        try:
            explanation = added(explanation) if options[name] else explanation
        except UsageError as error:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, name, str(error)) from None
    return explanation
