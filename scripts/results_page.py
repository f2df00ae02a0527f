"""Write docs/results.md from the kept runs and the notes beside them.

    python scripts/results_page.py          # writes the page
    python scripts/results_page.py --check  # says whether it is up to date

``results/runs`` holds one file a run, as ``heedful reproduce --out results`` leaves it. ``results/notes`` holds what
people wrote: ``head.md`` and ``tail.md`` around the tables, and for each table TABLE.md, which is put below it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from heedful.errors import UsageError
from heedful.reproduce import Budget, find_table, tables
from heedful.reproduce.gather import gather
from heedful.reproduce.making import command_of
from heedful.reproduce.render import to_markdown

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "results.md"
RESULTS = ROOT / "results"
FIRST = ("systems-scenes", "systems-real")
BUDGETS = ("standard", "small")


def page() -> str:
    """Return the page: head, every table that has runs, tail."""
    names = [*FIRST, *(name for name in tables() if name not in FIRST)]
    blocks = [_note("head"), *(_section(name, budget) for name in names for budget in BUDGETS), _note("tail")]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(name: str, budget: str) -> str:
    table, plan = find_table(name), Budget(budget)
    try:
        result = gather(table, plan, RESULTS / "runs")
    except UsageError:  # a budget that this table does not have
        return ""
    if not any(key[1] == row.system for key in result.runs for row in table.rows):
        return ""
    return "\n\n".join(filter(None, [to_markdown(result, command_of(table, plan)).strip(), _note(name)]))


def _note(name: str) -> str:
    file = RESULTS / "notes" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip() if file.exists() else ""


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    wanted = page()
    if parser.parse_args().check:
        if PAGE.read_text(encoding="utf-8") != wanted:
            sys.exit("docs/results.md is out of date: run python scripts/results_page.py")
        return
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
