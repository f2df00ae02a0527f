"""The fixtures of pages in a browser."""

from browsing import browser, launch, opened, windows  # noqa: F401
