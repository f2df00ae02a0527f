"""Facts for a report."""

from __future__ import annotations

import getpass
import platform

from heedful import __version__
from heedful.info import describe


def test_facts_are_versions_and_say_nothing_of_the_user() -> None:
    facts = describe()
    assert facts["heedful"] == __version__
    assert facts["python"] == platform.python_version()
    assert {"torch", "numpy", "scipy", "threads", "cuda", "kernels: compiled"} <= set(facts)
    assert all(isinstance(value, str) and value for value in facts.values())
    assert platform.node() not in facts.values()
    assert getpass.getuser() not in facts.values()
