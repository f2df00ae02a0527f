"""Requests that schemathesis makes of the server's own description: no server error, nothing undescribed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from served import save_model, server
from tally import Outcome, Tally

schemathesis = pytest.importorskip("schemathesis", reason="pip install schemathesis")

REQUESTS = 40
"""Of each endpoint and of each kind: those that fit the description, and those that do not."""
KINDS = ("positive", "negative")


def test_described_requests(tmp_path: Path, tally: Tally) -> None:
    import hypothesis
    from schemathesis import GenerationMode
    from schemathesis.core.failures import FailureGroup

    models = [f"texts={save_model(tmp_path / 'texts', max_tokens=50)}"]
    models.append(f"pairs={save_model(tmp_path / 'pairs', seed=1, task='pair', max_tokens=50)}")
    with server(*models) as running:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{running.port}/openapi.json")
        operations = [each.ok() for each in schema.get_all_operations()]
        assert len(operations) >= 9

        def ask(case: schemathesis.Case) -> None:
            said = f"{case.method} {case.formatted_path} {case.query} {case.body!r:.300}"
            try:
                response = case.call(timeout=30)
                case.validate_response(response, checks=checks())
            except FailureGroup as found:
                reasons = "; ".join(f"{each.title}: {each.message:.200}" for each in found.exceptions)
                tally.add(Outcome("failed", f"{said}: {reasons}"))
            else:
                tally.add(Outcome("right" if response.status_code < 400 else "refused", said))

        for operation in operations:
            for kind in KINDS:
                cases = operation.as_strategy(generation_mode=GenerationMode(kind))
                run = hypothesis.given(case=cases)(ask)
                run = hypothesis.seed(tally.seed)(run)
                try:
                    hypothesis.settings(
                        max_examples=tally.count(REQUESTS),
                        deadline=None,
                        database=None,
                        suppress_health_check=list(hypothesis.HealthCheck),
                    )(run)()
                except hypothesis.errors.Unsatisfiable:  # an endpoint without arguments has no wrong ones
                    continue
    assert not [line for line in running.log if "error" in line], running.log


def checks() -> Sequence[object]:
    """Return what every answer is held against."""
    from schemathesis import checks as known
    from schemathesis.specs.openapi import checks as described

    return [
        known.not_a_server_error,
        described.status_code_conformance,
        described.content_type_conformance,
        described.response_headers_conformance,
        described.response_schema_conformance,
    ]
