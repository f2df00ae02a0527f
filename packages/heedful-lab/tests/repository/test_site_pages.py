"""The site has every page, in the order of docs/README.md, and its links lead to where their files are in it."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from heedful_lab.repository import site_pages
from heedful_lab.repository.site_pages import (
    API,
    DOCS,
    ROOT,
    elsewhere,
    on_config,
    on_page_markdown,
    site_place,
)

NAV: Any = on_config(SimpleNamespace()).nav  # type: ignore[arg-type]


def entries() -> dict[str, str]:
    """Return the place of each entry with its title."""
    sections = [section for part in NAV for section in part.values() if isinstance(section, list)]
    return {place: title for section in sections for entry in section for title, place in entry.items()}


def test_the_sections_are_the_headings_and_their_entries_the_links() -> None:
    titles = [title for part in NAV for title in part]
    assert titles[:2] == ["Start", "Use it"]
    assert titles[-1] == "The Python interface"
    assert entries()["own-data.md"] == "Your own data"
    assert entries()["project/CONTRIBUTING.md"] == "Contributing"


def test_every_page_but_those_of_results_has_an_entry() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    missing = {page for page in pages - set(entries()) if not page.startswith("results/")}
    assert missing == {"README.md"}


def test_every_entry_is_a_file_or_an_importable_package() -> None:
    for place in entries():
        if place.startswith("api/"):
            assert hasattr(importlib.import_module(place[4:].removesuffix(".md")), "__all__")
        else:
            assert site_pages.checkout_place(place).is_file()
    assert set(API) == {place[4:].removesuffix(".md") for place in entries() if place.startswith("api/")}


def test_files_elsewhere_are_found_through_pages_elsewhere() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in elsewhere()}
    assert {"CONTRIBUTING.md", "README.md", "packages/heedful-lab/README.md"} <= found
    assert not [name for name in found if name.startswith("docs/")]


@pytest.mark.parametrize(
    ("here", "link", "led"),
    [
        ("own-data.md", "](evaluation.md#a-part)", "](evaluation.md#a-part)"),
        ("README.md", "](../CONTRIBUTING.md)", "](project/CONTRIBUTING.md)"),
        ("math/mtsa.md", "](../../README.md)", "](../project/README.md)"),
        ("project/CONTRIBUTING.md", "](docs/tasks.md)", "](../tasks.md)"),
        ("project/README.md", "](LICENSE)", "](LICENSE)"),
        ("own-data.md", "](https://example.org/x.md)", "](https://example.org/x.md)"),
        ("own-data.md", "](none.md)", "](none.md)"),
    ],
)
def test_a_link_leads_to_the_place_of_its_file(here: str, link: str, led: str) -> None:
    page: Any = SimpleNamespace(file=SimpleNamespace(src_uri=here))
    unused: Any = None
    assert on_page_markdown(f"[a page{link}.", page, unused, unused) == f"[a page{led}."


def test_a_file_of_docs_keeps_its_place_and_others_get_a_folder() -> None:
    assert site_place(DOCS / "math" / "mtsa.md") == "math/mtsa.md"
    assert site_place(ROOT / "SECURITY.md") == "project/SECURITY.md"
