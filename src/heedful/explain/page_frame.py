"""What every page of explanations is made of: its frame, safe text, and what is folded away; no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heedful.explain.style import UNOPENED, style_sheet
from heedful.text.characters import visible
from heedful.version import __version__

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(title: str, sections: Sequence[str], style: str = UNOPENED) -> str:
    """Put sections into one self-contained page without scripts.

    Args:
        title: its title, which is escaped here.
        sections: HTML; empty ones are left out.
        style: further rules; by default what a reader has not opened is not printed.

    Returns:
        The page.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{safe(title)}</title>"
        f"<style>{style_sheet()}{style}</style></head>\n<body><main>\n"
        + "\n".join(section for section in sections if section)
        + f'\n<footer class="note">Made by Heedful {__version__}.</footer>\n</main></body></html>\n'
    )


def safe(text: str) -> str:
    """Escape a text, its controls shown."""
    return escape(visible(text))


def folded(rows: int, content: str) -> str:
    """Fold away further rows of a table, or further parts; nothing where there are none."""
    return f"<details><summary>{rows:,} more</summary>{content}</details>" if rows > 0 else ""
