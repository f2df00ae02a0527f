"""What every figure shares: formats, fonts, colors, and files whose bytes depend on the content alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from heedful.errors import MissingExtraError, UsageError
from heedful.storage import write_bytes
from heedful.storage.checked_paths import checked_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE = "#16202b", "#5a6775", "#ccd5de"
MAIN, SECOND = "#1f68ad", "#c2570c"
"""A blue and an orange that the color-blind tell apart."""
_LINES = (
    (MAIN, "o"),
    (SECOND, "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    ("#777777", "X"),
)

_PREFERRED = ("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Arabic",
              "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Symbola")  # fmt: skip
# Without dates and program names.
_METADATA: dict[str, dict[str, str | None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def check_figure(path: Path | str, what: str) -> Path:
    """Refuse a figure that cannot be drawn before any work is done for it.

    Args:
        path: the file; its suffix .png, .svg or .pdf decides the format.
        what: what is drawn, as a noun phrase that begins a sentence.

    Returns:
        The path.

    Raises:
        UsageError: for another suffix.
        MissingExtraError: without matplotlib.
    """
    path = checked_path(path, "path")
    if path.suffix.lower() not in _METADATA:
        raise UsageError(f"{path}: the suffix decides the format: .png, .svg or .pdf; got {path.suffix!r}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", what) from error
    return path


def write_figure(path: Path | str, paint: Callable[[], Figure], what: str, dpi: int = 200) -> Path:
    """Draw a figure and write it.

    Args:
        path: the file; its suffix .png, .svg or .pdf decides the format.
        paint: makes the figure, under the settings that all figures share.
        what: what is drawn, as a noun phrase that begins a sentence.
        dpi: dots per inch of a PNG.

    Returns:
        The file. The same content gives the same bytes with the same version of matplotlib.

    Raises:
        UsageError: for another suffix.
        MissingExtraError: without matplotlib.
        OutputError: if it cannot be written.
    """
    path = check_figure(path, what)
    from matplotlib import rc_context

    suffix, buffer = path.suffix.lower(), BytesIO()
    shared_settings = rc_context(
        {
            "font.family": list(families()),
            "svg.hashsalt": "heedful",
            "svg.fonttype": "path",
            "pdf.fonttype": 42,
            "text.parse_math": False,
            "text.usetex": False,
            "axes.unicode_minus": False,
            "savefig.bbox": "standard",
        }
    )
    with shared_settings:
        paint().savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    write_bytes(path, buffer.getvalue())
    return path


class LineLook(NamedTuple):
    """How a line of a figure differs from the others."""

    style: str
    color: str
    marker: str


def line_looks() -> Iterator[LineLook]:
    """Return looks for the lines of a figure, without end: seven solid ones first, then the same with dashes."""
    return (LineLook(style, *look) for style, look in cycle(product(("-", "--"), _LINES)))


def plain_axes(axes: Axes) -> None:
    """Give axes their small, soft labels and only the two spines that carry a scale."""
    axes.tick_params(labelsize=8, colors=SOFT, length=2)
    axes.xaxis.label.set(size=9, color=SOFT)
    axes.yaxis.label.set(size=9, color=SOFT)
    for side, spine in axes.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=LINE)


def bars_behind(axes: Axes, counts: Sequence[int]) -> None:
    """Paint behind a line how many examples each of its places stands for, low bars with their numbers.

    Args:
        axes: of the line, whose places are 0, 1, 2 and so on.
        counts: one a place.
    """
    behind = axes.twinx()
    behind.bar(range(len(counts)), counts, color=LINE, width=0.7, linewidth=0)
    behind.set_ylim(0, 4 * max(counts))
    behind.set_axis_off()
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)
    for place, count in enumerate(counts):
        axes.annotate(
            f"{count:,}", (place, 0.01), xycoords=("data", "axes fraction"), ha="center", size=7, color=SOFT
        )


@cache
def families() -> tuple[str, ...]:
    """Return the preferred font families that are installed; DejaVu Sans comes with matplotlib and is first."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(name for name in _PREFERRED if name in installed)
