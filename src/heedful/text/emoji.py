r"""Find the emoji in a text: joined ones, skin tones, flags and keycaps are one emoji each.

What counts as one is a fixed list of ranges (UTS 51, and the symbols of the same Unicode blocks), so that Python's
version of Unicode, a browser's and another engine's give the same words. The expressions are written for Python and
JavaScript alike.
"""

from __future__ import annotations

import re

PICTOGRAPH = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9-\u21aa\u231a-\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934-\u2935\u2b05-\u2b07"
    "\u2b1b-\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f"
    "\U0001f16c-\U0001f171\U0001f17e-\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5"
    "\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa"
    "\U0001f400-\U0001faff\U0001fc00-\U0001fffd"
)
"""Code points and ranges of them, as the inside of the brackets of a regular expression."""
SKIN_TONES = "\U0001f3fb-\U0001f3ff"
TAG_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f"
"""A flag of a region, such as Scotland's: a black flag, the region in tag characters, and their end."""
_ELEMENT = f"(?:{TAG_FLAG}|[{PICTOGRAPH}][{SKIN_TONES}]?[\u20d0-\u20ff]*)"
EMOJI = (
    f"(?:{_ELEMENT}(?:\u200d{_ELEMENT})*|[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\u20e3"
    f"|[{SKIN_TONES}\U0001f1e6-\U0001f1ff])"
)
"""One emoji of a normalized text, which has no variation selectors (`heedful.text.normalization`)."""
_SPLIT = re.compile(f"({EMOJI})")


def split_emoji(text: str) -> list[str]:
    """Cut a text before and after each emoji.

    Args:
        text: a normalized text.

    Returns:
        The text before the first emoji, that emoji, the text behind it, and so on; texts may be empty.
    """
    return _SPLIT.split(text)
