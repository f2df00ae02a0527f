"""The style sheet of the explanation page: two palettes of one hue, light and dark, for any color vision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from heedful.figure_style import families
from heedful.text.characters import visible

LEVELS, SIGNED_LEVELS = 16, 6
"""Shades of a weight; shades of words for a prediction, and as many of words against it."""
_LIGHT = ("#eef4fa", "#c9ddee", "#8fbcdc", "#4f94c9", "#1f68ad", "#0b3c7d", "#06234f")
_DARK = ("#1b2530", "#1c3a55", "#1f5585", "#2a6ca6", "#5b9fd6", "#9ac8ee", "#e6f3ff")
_RULES = """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","Helvetica Neue",Arial,sans-serif;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:1300px;margin:0 auto;padding:36px 32px 48px}
h1,h2,h3,p{margin:0}
h1{font-size:30px;line-height:1.2;font-weight:650;letter-spacing:-.01em}
h1 small{font-weight:400;color:var(--soft);font-size:20px;margin-left:.4em}
h2{font-size:18px;font-weight:650;margin-bottom:2px}
h3{font-size:14px;font-weight:600;margin-bottom:2px}
.eyebrow{color:var(--soft);font-size:13px;font-weight:600;margin-bottom:4px}
.note{color:var(--soft);font-size:12.5px;line-height:1.45;max-width:64em}
.warn{border-left:3px solid var(--context);padding-left:10px;font-size:13.5px;margin-top:10px}
section{border-top:1px solid var(--line);padding-top:22px;margin-top:28px}
.top-grid{display:grid;grid-template-columns:minmax(300px,5fr) 7fr;gap:36px;margin-top:22px;align-items:start}
.top-grid>:empty{display:none}.top-grid>:empty+*{grid-column:1/-1}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(380px,1fr));gap:26px 40px}
.panels{display:flex;flex-wrap:wrap;gap:26px 30px;margin-top:16px;align-items:flex-end}
details{margin-top:14px}summary{cursor:pointer;font-weight:600;font-size:14px}
figure{margin:0;max-width:100%;break-inside:avoid}
figcaption{margin-bottom:6px}
svg{display:block;max-width:100%;height:auto;overflow:visible}
.read{font-size:20px;line-height:2.15;margin:0 0 14px;overflow-wrap:anywhere}
.read.long{font-size:16px;line-height:1.9}
.warn+.note{margin-top:10px}.note+.eyebrow{margin-top:16px}
.read .w{position:relative;border-radius:4px;padding:3px 1.5px;white-space:pre-wrap}
.read .w[data-w]::after{content:attr(data-w);position:absolute;left:50%;top:100%;margin-top:1px;
transform:translateX(-50%);font-size:10.5px;line-height:1;color:var(--soft);white-space:nowrap}
.unknown{text-decoration:underline dotted 1.5px var(--context);text-underline-offset:4px}
.unread{opacity:.45}
table{border-collapse:collapse;font-size:14px;width:100%;max-width:560px}
th{font-weight:500;font-size:12px;color:var(--soft);text-align:left;padding:0 10px 3px 0}
td{padding:3px 10px 3px 0;vertical-align:middle;overflow-wrap:break-word}
td.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;width:1%}
td.bar{width:34%}
.track-box{display:block;height:10px;border-radius:2px;background:var(--track);overflow:hidden}
.track-box i{display:block;height:100%;background:var(--own)}
.track-box i.second{background:var(--muted)}
.best td{font-weight:650}
.arrow{color:var(--soft);padding:0 .25em}
.muted,td.muted{color:var(--soft);font-size:12.5px}
.key{display:flex;flex-wrap:wrap;gap:8px 26px;align-items:center;margin-top:10px;font-size:12.5px;color:var(--soft)}
.key b{display:inline-block;width:22px;height:11px;border-radius:2px;margin-right:6px;vertical-align:-1px}
.label{text-anchor:end;fill:var(--ink);unicode-bidi:isolate}
.top{fill:var(--ink);unicode-bidi:isolate}
.head{fill:var(--ink);font-size:12px;font-weight:600}
.num{text-anchor:middle;fill:var(--ink);pointer-events:none}
.hi{fill:var(--page)}
.none{text-anchor:middle;fill:var(--soft);font-style:italic}
.value{fill:var(--soft);font-variant-numeric:tabular-nums}
.frame{fill:var(--empty);stroke:var(--line)}
.chosen{fill:none;stroke:var(--context);stroke-width:2}
.own{fill:var(--own)}.context{fill:var(--context-soft)}.weight{fill:var(--muted)}.track{fill:var(--track)}
.scale text{fill:var(--soft)}
rect[class^=c]:hover,g:hover>rect[class^=c]{stroke:var(--context);stroke-width:2}
footer{margin-top:34px;border-top:1px solid var(--line);padding-top:14px}
@media (max-width:820px){main{padding:20px 16px}.top-grid{grid-template-columns:1fr}
.pair{grid-template-columns:1fr}}
@media print{main{padding:0;max-width:none}body{font-size:12px}.top-grid,.pair{gap:18px}
.pair>div{break-inside:avoid}section{margin-top:16px;padding-top:12px}h2,h3,figcaption{break-after:avoid}
tr,table.signed{break-inside:avoid}}
@page{margin:14mm}
"""
_SIGNED_RULES = """.note+table{margin-top:10px}
.signed-key{white-space:nowrap;margin-right:.6em}
.signed-key b{display:inline-block;width:16px;height:11px;vertical-align:-1px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th.r{text-align:right}
.together{outline:1.5px solid var(--soft);outline-offset:2px;border-radius:4px}
table.signed tr.soft td{color:var(--soft)}table.signed tr.sum td{border-top:1px solid var(--line);font-weight:650}
table.signed th{white-space:nowrap}table.signed+.note{margin-top:10px}details>table{margin-top:8px}
table.signed+table.signed{margin-top:20px}
.track-box.signed{position:relative;background:
linear-gradient(var(--line),var(--line)) 50%/1px 100% no-repeat,var(--track)}
.track-box.signed i{position:absolute;top:0}
.track-box i.for{background:var(--own)}.track-box i.against{background:var(--context)}
"""
UNOPENED = """
@media print{details:not([open]),section:not(:has(>:not(details:not([open])))){display:none}}
"""
"""Leaves out on paper what a reader has not opened, and sections of nothing else."""
_LIGHT_INK = """--page:#fff;--ink:#16202b;--soft:#5a6775;--line:#dbe2ea;--empty:#fbfcfd;--track:#eaeff4;
--own:#1f68ad;--context:#c2570c;--context-soft:#f6c9a4;--muted:#5d7387;--against:#c2570c;"""
_DARK_INK = """--page:#10161d;--ink:#e7edf3;--soft:#9aa8b6;--line:#2b3743;--empty:#141c24;--track:#22303c;
--own:#5b9fd6;--context:#f59e54;--context-soft:#7a4a22;--muted:#8ca3b8;--against:#d0853f;"""


def style_sheet() -> str:
    """Return the CSS of the page.

    Classes c1 to c15 fill a cell, t1 to t15 lie behind a word, d0 to d5 fill a cell of a distance map, and p1 to p6 and
    n1 to n6 lie behind words for and against a prediction.

    Returns:
        The style sheet; it follows the reader's light or dark setting and always prints light.
    """
    names = [f"--c{k}" for k in range(LEVELS)]
    light = _LIGHT_INK + _variables(names, _LIGHT)
    dark = _DARK_INK + _variables(names, _DARK)
    fills = "".join(f".c{k}{{fill:var(--c{k})}}" for k in range(1, LEVELS))
    # Words stay dark on light (light on dark): only the nearer half of the palette lies behind text.
    behind = "".join(f".t{k}{{background:var(--c{round(k * 0.46)})}}" for k in range(1, LEVELS))
    near = "".join(f".d{k}{{fill:var(--soft);fill-opacity:{k * 0.09:.2f}}}" for k in range(6))
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{_RULES}{fills}{behind}{near}"
        f"{_signed()}"
    )


def _signed() -> str:
    """Return the colors behind words for and against a prediction: the two that the color-blind tell apart.

    The words on them keep a contrast of 4.5 to 1, in the dark too.
    """
    pairs = (("p", "own"), ("n", "against"))
    shades = "".join(
        f".{name}{k}{{background:color-mix(in srgb,var(--{color}) {round(62 * k / SIGNED_LEVELS)}%,transparent)}}"
        for name, color in pairs
        for k in range(1, SIGNED_LEVELS + 1)
    )
    return shades + _SIGNED_RULES


def _variables(names: Sequence[str], palette: Sequence[str]) -> str:
    last = len(names) - 1
    return "".join(f"{name}:{mix(palette, k / last)};" for k, name in enumerate(names))


def mix(palette: Sequence[str], t: float) -> str:
    """Interpolate a palette of hexadecimal colors at t in 0..1."""
    place = t * (len(palette) - 1)
    low = min(int(place), len(palette) - 2)
    part = place - low
    first, second = (_rgb(palette[low]), _rgb(palette[low + 1]))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(first, second, strict=True))


def light_palette() -> tuple[str, ...]:
    """Return the colors of the light palette, for the figures."""
    return _LIGHT


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


_MISSING = "□"


def drawable(text: str) -> str:
    """Replace controls, and characters that no installed font has, so that drawing never fails or warns.

    Args:
        text: any string.

    Returns:
        The string with controls made visible and with a box for each character without a glyph.
    """
    known = _characters()
    return "".join(c if ord(c) in known else _MISSING for c in visible(text) if ord(c) not in _JOINERS)


_JOINERS = {0x200B, 0x200C, 0x200D, 0xFE0E, 0xFE0F}
"""Without a shape of their own; most fonts lack them."""


@cache
def _characters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for family in families():
        known.update(get_font(findfont(FontProperties(family=family))).get_charmap())
    return frozenset(known)
