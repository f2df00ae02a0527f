r"""Find the emoji in a text: joined ones, skin tones, flags and keycaps are one emoji each.

What counts as one is a fixed list of ranges (UTS 51, and the symbols of the same Unicode blocks), so that Python's
version of Unicode, a browser's and another engine's give the same words. The expressions are written for Python and
JavaScript alike.
"""

from __future__ import annotations

import re

PICTOGRAPHS = (
    *(0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B)),
    *(0x2328, 0x2388, 0x23CF, (0x23E9, 0x23F3), (0x23F8, 0x23FA), 0x24C2, (0x25AA, 0x25AB), 0x25B6, 0x25C0),
    *((0x25FB, 0x25FE), (0x2600, 0x27BF), (0x2934, 0x2935), (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), 0x2B50),
    *(0x2B55, 0x3030, 0x303D, 0x3297, 0x3299, (0x1F000, 0x1F0FF), (0x1F10D, 0x1F10F), 0x1F12F),
    *((0x1F16C, 0x1F171), (0x1F17E, 0x1F17F), 0x1F18E, (0x1F191, 0x1F19A), (0x1F1AD, 0x1F1E5)),
    *((0x1F201, 0x1F20F), 0x1F21A, 0x1F22F, (0x1F232, 0x1F23A), (0x1F23C, 0x1F23F), (0x1F249, 0x1F3FA)),
    *((0x1F400, 0x1FAFF), (0x1FC00, 0x1FFFD)),
)
"""Code points, and first and last code point of ranges."""


def brackets(ranges: tuple[int | tuple[int, int], ...]) -> str:
    """Return code points and ranges of them as the inside of the brackets of a regular expression."""
    pairs = ((each, each) if isinstance(each, int) else each for each in ranges)
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in pairs)


PICTOGRAPH = brackets(PICTOGRAPHS)
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
