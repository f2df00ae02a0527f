"""Write docs/results.md and the pages below docs/results/ from the kept runs and the notes beside them.

    python -m heedful_lab.repository.results_page  # writes the pages
    python -m heedful_lab.repository.results_page --check  # are they up to date? resamples a few tests
    python -m heedful_lab.repository.results_page --collect OUT  # first takes the runs that are in OUT

``results/runs`` holds one packed file an experiment (`heedful_lab.reproduce.kept_runs`), with the records that
``heedful reproduce`` leaves but for the gold labels, which belong to the data sets: for classes a run says only which
of its answers are right, and for scores nothing; of roles and translations it keeps counts of arguments and of n-grams,
which hold neither tags nor words. ``results/runs/resampled.jsonl`` holds the tests that were made of these answers, by
their checksum. ``results/examples`` holds tables of example pairs as the command wrote them, by the ids of the pairs.
``results/notes`` holds what people wrote: ``findings.md`` is the first page, with figures named as {TABLE:BUDGET SYSTEM
COLUMN}, and with {claims} where the section on the claims of the papers belongs; ``claims.toml`` has these claims;
``TABLE.md`` stands below each table, and may show ``TABLE-curves.png``, which is drawn when the pages are written; each
file of ``pages`` is a page of its own.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from heedful.errors import UsageError
from heedful.evaluation.significance import Comparison
from heedful.storage import write_bytes, write_text
from heedful_lab.repository import ROOT
from heedful_lab.repository.claims import judge, read_claims, read_costs
from heedful_lab.repository.claims_page import FIGURE as CLAIMS_FIGURE
from heedful_lab.repository.claims_page import PAGE as CLAIMS_PAGE
from heedful_lab.repository.claims_page import page as claims_page
from heedful_lab.repository.claims_page import picture, section
from heedful_lab.repository.costs import section as costs
from heedful_lab.reproduce import Budget, find_table, tables
from heedful_lab.reproduce.cell_runs import Result, gather
from heedful_lab.reproduce.kept_runs import take_up
from heedful_lab.reproduce.learning_curves import draw_learning_curves
from heedful_lab.reproduce.resampled import Resampled
from heedful_lab.reproduce.runner import command_of
from heedful_lab.reproduce.table_text import to_markdown

RESULTS, DOCS = ROOT / "results", ROOT / "docs"
NOTES, RUNS = RESULTS / "notes", RESULTS / "runs"
FIRST = ("systems-effort", "systems-scenes", "systems-real", "systems-paper", "systems-snli")
BUDGETS = ("standard", "small", "published", "converged", "steps")
SAMPLE = 3
"""Tests that a check makes again."""
FIGURE = re.compile(r"\{([\w-]+)(?::(\w+))?\s+([\w-]+)\s+([\w-]+)\}")
CURVES = re.compile(r"\(([\w-]+)-curves\.png\)")
CLAIMS = "{claims}"
BACK = "[Results](../results.md) · [how they were made](how-made.md)"


class Book:
    """The pages, and the tests that they print."""

    def __init__(self, resampled: Resampled) -> None:
        self.resampled = resampled
        self.result = cache(self._result)

    def pages(self) -> dict[Path, str]:
        """Return every page by its path."""
        own = {
            DOCS / "results" / file.name: FIGURE.sub(self._figure, _kept(file))
            for file in sorted((NOTES / "pages").glob("*.md"))
        }
        names = [*FIRST, *(name for name in tables() if name not in FIRST)]
        made = {DOCS / "results" / f"{name}.md": text for name in names if (text := self._table(name))}
        measured = read_costs(RESULTS / "benchmarks" / "models-amd.json")
        verdicts = judge(read_claims(NOTES / "claims.toml"), self.result, self.resampled, measured)
        own[DOCS / "results" / CLAIMS_PAGE] = claims_page(verdicts)
        own[DOCS / "results" / "costs.md"] = costs(RUNS)
        own[DOCS / "results" / "tables.md"] = _contents(made, own)
        pages = {DOCS / "results.md": self._first(section(verdicts)), **made, **own}
        written = {
            path: text if path.parent == DOCS else _with_way_back(text) for path, text in pages.items()
        }
        return {**written, DOCS / "results" / CLAIMS_FIGURE: picture(verdicts)}

    def _result(self, name: str, budget: str) -> Result | None:
        """Return a table with its figures; None if it has no run, or no such budget."""
        try:
            result = gather(find_table(name), Budget(budget), RUNS, self.resampled)
        except UsageError:
            return None
        shown = any(key[1] == row.system for key in result.runs for row in result.table.rows)
        return result if shown else None

    def _table(self, name: str) -> str:
        """Return the page of a table: its title, every budget that has runs, the note."""
        table = find_table(name)
        if table.examples is not None:  # the command writes it whole, without the sentences
            made = _kept(RESULTS / "examples" / f"{name}.md")
            return (
                f"# {made.removeprefix('### ')}\n\n{_kept(NOTES / f'{name}.md')}".strip() + "\n"
                if made
                else ""
            )
        sections = []
        for budget in BUDGETS:
            if (result := self.result(name, budget)) is not None:
                text = to_markdown(result, command_of(table, result.budget)).strip()
                sections.append(text.replace(f"### {table.title}", f"## Budget: {budget}", 1))
        if not sections:
            return ""
        return "\n\n".join(filter(None, [f"# {table.title}", *sections, _note(name)])) + "\n"

    def _first(self, claims: str) -> str:
        """Return the first page: the findings with the claims."""
        findings = FIGURE.sub(self._figure, _kept(NOTES / "findings.md")).replace(CLAIMS, claims.strip())
        if "{" in findings:
            raise UsageError(f"findings.md: no figure is named by {findings[findings.index('{') :][:60]!r}")
        return findings

    def _figure(self, named: re.Match[str]) -> str:
        """Write the figure that the findings name."""
        table, budget, system, key = named.groups()
        result = self.result(table, budget or "standard")
        rows = [row for row in find_table(table).rows if row.system == system]
        columns = [column for column in find_table(table).columns if column.key == key]
        if not rows or not columns:
            raise UsageError(f"findings.md: {named[0]}: {table} has no such row or column")
        figure = None if result is None else result.figure(rows[0], columns[0])
        if figure is None or figure.mean is None:
            return "not run"
        text = f"{figure.mean:.{columns[0].digits}f}"
        return text if figure.deviation is None else f"{text} ± {figure.deviation:.{columns[0].digits}f}"


def _contents(made: Mapping[Path, str], own: Mapping[Path, str]) -> str:
    """Return the page that lists all others."""
    lists = ["# All tables and pages"]
    for heading, pages in (("Tables", made), ("Further pages", own)):
        lines = [f"- [{_title(text)}]({path.name})" for path, text in pages.items()]
        lists.append("\n".join([f"## {heading}", "", *lines]))
    return "\n\n".join(lists) + "\n"


def _note(name: str) -> str:
    text = _kept(NOTES / f"{name}.md").strip()
    return f"## What it shows\n\n{text}" if text else ""


def _kept(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip() + "\n" if file.exists() else ""


def _title(page: str) -> str:
    return page.partition("\n")[0].removeprefix("# ")


def _with_way_back(page: str) -> str:
    title, _, rest = page.partition("\n")
    return f"{title}\n\n{BACK}\n{rest}"


def collect(source: Path) -> int:
    """Take over the runs of a folder that ``heedful reproduce`` filled, with this version or with Heedful 0.1."""
    count = take_up(source / "runs", RUNS)
    for name, table in tables().items():
        if table.examples is not None and (made := source / f"{name}.md").exists():
            (RESULTS / "examples").mkdir(parents=True, exist_ok=True)
            write_bytes(RESULTS / "examples" / f"{name}.md", made.read_bytes())
    return count


def drawn(pages: Mapping[Path, str]) -> dict[str, Path]:
    """Return the pictures of learning curves that the pages show, by the table whose converged runs they draw."""
    names = [name for text in pages.values() for name in CURVES.findall(text)]
    return {name: DOCS / "results" / f"{name}-curves.png" for name in names}


def problems(pages: Mapping[Path, str], resampled: Resampled) -> list[str]:
    """Return what keeps the pages from being those of the kept runs."""
    found = [f"{resampled.made} tests are of answers that no kept test was made of"] if resampled.made else []
    found += [f"{path.relative_to(ROOT)} is missing" for path in drawn(pages).values() if not path.exists()]
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{path.relative_to(ROOT)} is out of date")
    extra = set((DOCS / "results").glob("*.md")) - set(pages)
    return found + [f"{path.relative_to(ROOT)} is no page of the kept runs" for path in sorted(extra)]


def sampled_again(kept: Resampled) -> list[str]:
    """Make some of the kept tests again, always the same ones of the same runs, and say which differ."""
    chosen = set(random.Random(13).sample(sorted(kept.known), min(SAMPLE, len(kept.known))))
    again = Resampled({key: one for key, one in kept.known.items() if key not in chosen})
    Book(again).pages()
    return [
        f"the kept test {key} differs when it is made again" for key in chosen if not _same(kept, again, key)
    ]


def _same(kept: Resampled, again: Resampled, key: str) -> bool:
    one, other = kept.known[key], again.known.get(key)
    return other is not None and _numbers(one) == _numbers(other)


def _numbers(one: Comparison) -> tuple[float, ...]:
    ends = (one.interval.low, one.interval.high) if one.interval else ()
    return tuple(round(value, 9) for value in (one.n, one.first, one.second, *ends, one.p or 0.0))


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    parser.add_argument("--collect", type=Path, metavar="OUT", help="a folder that heedful reproduce filled")
    given = parser.parse_args()
    if given.collect is not None:
        print(f"{collect(given.collect)} runs taken up from {given.collect}")
    resampled = Resampled.read(RUNS)
    known = len(resampled.known)
    book = Book(resampled)
    pages = book.pages()
    if given.check:
        found = problems(pages, resampled) or sampled_again(resampled)
        if found:
            sys.exit("\n".join([*found, "run python -m heedful_lab.repository.results_page"]))
        return
    (DOCS / "results").mkdir(exist_ok=True)
    for path in set((DOCS / "results").glob("*.md")) - set(pages):
        path.unlink()
    for path, text in pages.items():
        write_text(path, text)
    for name, path in drawn(pages).items():
        result = book.result(name, "converged")
        assert result is not None  # `drawn` names tables that have one
        draw_learning_curves(result, path, dpi=110)
    resampled.write(RUNS, asked_only=True)
    print(f"{len(pages)} pages; {resampled.made} tests made, {known} were known")


if __name__ == "__main__":
    main()
