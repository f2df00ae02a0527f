"""What the site of the documents has beside the pages in docs: the order, the pages elsewhere in the checkout, the API.

    python -m heedful_lab.repository.site_pages    # the same as mkdocs build --strict

mkdocs calls the three functions below (``hooks`` in mkdocs.yml).
"""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[5]
DOCS, ELSEWHERE = ROOT / "docs", "project"
"""The pages, and the folder of the site for what links of theirs name elsewhere in the checkout."""
API = {
    "heedful": "estimators, predictions for tables and clusters, and `load`",
    "heedful.runtime": "predictions without torch",
    "heedful.attention": "masks and attention functions",
    "heedful.encoders": "encoders and their settings",
    "heedful.nn": "layers, poolings, heads and losses",
    "heedful.models": "networks and what builds them",
    "heedful.tasks": "tasks and the models that predict",
    "heedful.run": "settings, training and studies",
    "heedful.evaluation": "figures and significance tests",
    "heedful.explain": "explanations and their pictures",
    "heedful.serving": "the server",
}
"""Packages with a page of their public names, and what they hold."""
WITH_INHERITED = ("heedful", "heedful.runtime")
"""Those whose classes are used, and not derived from: their pages have the methods of bases too."""
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
ENTRY = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the order of the pages from docs/README.md: its headings are the sections, its links the entries.

    Args:
        config: the settings of mkdocs.

    Returns:
        The settings, with ``nav``.
    """
    nav: list[dict[str, object]] = [{"Start": "README.md"}]
    for section in (DOCS / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        entries = {site_place(DOCS / target): name for name, target in ENTRY.findall(text)}
        nav.append({title: [{name[0].upper() + name[1:]: place} for place, name in entries.items()]})
    nav.append({"The Python interface": [{name: api_page(name)} for name in API]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files elsewhere in the checkout that pages name, and a page for each package of `API`.

    Args:
        files: those in docs.
        config: the settings of mkdocs.

    Returns:
        All files.
    """
    from mkdocs.structure.files import File

    for path in elsewhere():
        files.append(File.generated(config, site_place(path), abs_src_path=str(path)))
    for name, what in API.items():
        text = f"# `{name}`\n\n{what[0].upper() + what[1:]}.\n\n::: {name}\n"
        if name in WITH_INHERITED:
            text += "    options:\n      inherited_members: true\n"
        files.append(File.generated(config, api_page(name), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to where their files are in the site.

    Args:
        markdown: the text of the page.
        page: the page.
        config: the settings of mkdocs.
        files: all files.

    Returns:
        The text.
    """
    here = page.file.src_uri
    origin = checkout_place(here)

    def led(link: re.Match[str]) -> str:
        target = (origin.parent / link[2]).resolve()
        if "://" in link[2] or not target.is_file():
            return link[0]
        return link[1] + posixpath.relpath(site_place(target), posixpath.dirname(here)) + link[3]

    return LINK.sub(led, markdown)


def elsewhere() -> list[Path]:
    """Return the files outside docs that a page of the site names, or a page that one of these is."""
    found: dict[Path, None] = {}
    pages = sorted(DOCS.rglob("*.md"))
    while pages:
        page = pages.pop()
        for target in links_of(page):
            if target.is_file() and not target.is_relative_to(DOCS) and target not in found:
                found[target] = None
                pages += [target] if target.suffix == ".md" else []
    return list(found)


def links_of(page: Path) -> Iterator[Path]:
    """Yield the files of the checkout that the links of a page name."""
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        if "://" not in link[2]:
            yield (page.parent / link[2]).resolve()


def site_place(path: Path) -> str:
    """Return the place in the site of a file of the checkout."""
    path = path.resolve()
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{ELSEWHERE}/{path.relative_to(ROOT).as_posix()}"


def checkout_place(uri: str) -> Path:
    """Return the file of the checkout that a place in the site is made of."""
    head, _, rest = uri.partition("/")
    return ROOT / rest if head == ELSEWHERE else DOCS / uri


def api_page(name: str) -> str:
    """Return the place in the site of the page of a package."""
    return f"api/{name}.md"


def main() -> None:
    """Write the site; any warning ends it."""
    sys.exit(subprocess.call([sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=ROOT))


if __name__ == "__main__":
    main()
