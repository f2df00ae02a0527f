"""Search for good settings: Optuna proposes them, the dev split scores them, and the test split is not used."""

from heedful.run.tuning.outcome import SearchOutcome, outcome, report_on_test
from heedful.run.tuning.search import run_search
from heedful.run.tuning.space import Space, default_space, read_space
from heedful.run.tuning.trials import Search

__all__ = [
    "Search",
    "SearchOutcome",
    "Space",
    "default_space",
    "outcome",
    "read_space",
    "report_on_test",
    "run_search",
]
