from __future__ import annotations

import re

from heedful.explain.style import LEVELS, light_palette, mix, style_sheet

SHEET = style_sheet()


def luminance(color):
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def themes():
    """Colors of the light and of the dark theme by variable name; #fff is written out."""
    for block in (
        SHEET.split("@media", 1)[0],
        SHEET.split("prefers-color-scheme:dark", 1)[1].split("}", 1)[0],
    ):
        found = re.findall(r"(--[\w-]+):(#[0-9a-f]{3,6})", block)
        yield {
            name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
            for name, value in found
        }


def test_shades_are_ordered_by_luminance_so_that_no_color_vision_is_needed():
    for theme in themes():
        steps = [luminance(theme[f"--c{k}"]) for k in range(LEVELS)]
        assert steps in (sorted(steps), sorted(steps, reverse=True))
        assert len(set(steps)) == LEVELS


def test_text_can_be_read_on_every_shade():
    count = 0
    behind = {int(k): int(c) for k, c in re.findall(r"\.t(\d+)\{background:var\(--c(\d+)\)\}", SHEET)}
    for theme in themes():
        assert contrast(theme["--ink"], theme["--page"]) >= 7
        assert contrast(theme["--soft"], theme["--page"]) >= 4.5
        for k in range(1, LEVELS):
            text = theme["--page" if k > LEVELS * 0.55 else "--ink"]
            assert contrast(text, theme[f"--c{k}"]) >= 4.0
            assert contrast(theme["--ink"], theme[f"--c{behind[k]}"]) >= 4.5
            count += 1
    assert count == 2 * (LEVELS - 1)


def test_the_sheet_loads_nothing():
    assert "url(" not in SHEET
    assert "@import" not in SHEET
    assert "http" not in SHEET


def test_mixing_ends_at_the_ends():
    palette = light_palette()
    assert mix(palette, 0.0) == palette[0]
    assert mix(palette, 1.0) == palette[-1]
