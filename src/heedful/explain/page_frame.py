"""The frame of every page of explanations: one file without scripts that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heedful.explain.signed_words import SIGNED_LEVELS
from heedful.explain.style import UNOPENED, style_sheet
from heedful.explain.svg import LEVELS
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
        f"<title>{escape(visible(title))}</title>"
        f"<style>{style_sheet(LEVELS, SIGNED_LEVELS)}{style}</style></head>\n<body><main>\n"
        + "\n".join(section for section in sections if section)
        + f'\n<footer class="note">Made by Heedful {__version__}.</footer>\n</main></body></html>\n'
    )
