"""Pages are read by everybody: axe finds nothing serious on them, on a phone and on a desk, in the dark and in print.

Needs Chromium; Playwright and axe-core come with the extra dev.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny
from browsing import axe, browser, launch, violations  # noqa: F401
from waiting import PATIENCE

EXPORTED = ("classes", "pairs", "tags")
WINDOWS = [(390, "light"), (1280, "dark")]
TAGS = "\n".join(
    ["Ann\tB-PER", "sings\tO", "well\tO", "", "in\tO", "Rome\tB-LOC", "Bob\tB-PER", "sings\tO", ""] * 6
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page, by its name."""
    root = tmp_path_factory.mktemp("pages")
    rows = [
        (
            f"a {'superb' if k % 2 else 'dull'} film, not {'bad' if k % 3 else 'good'} {k}",
            "yes" if k % 2 else "no",
        )
        for k in range(60)
    ]
    tiny.write_csv(root / "classes.csv", rows, ["text", "label"])
    tiny.write_csv(
        root / "many.csv", [(text, f"class {k % 9}") for k, (text, _) in enumerate(rows)], ["text", "label"]
    )
    tiny.write_csv(
        root / "numbers.csv",
        [(text, len(text) / 3 + k % 2) for k, (text, _) in enumerate(rows)],
        ["text", "price"],
    )
    tiny.write_csv(
        root / "pairs.csv",
        [(f"first {text}", text, label) for text, label in rows],
        ["text_a", "text_b", "label"],
    )
    tiny.write_csv(
        root / "labels.csv",
        [(text, ["x", "y", "x;y"][k % 3]) for k, (text, _) in enumerate(rows)],
        ["text", "topics"],
    )
    (root / "tags.conll").write_text(TAGS + "\n", encoding="utf-8")
    texts = {"pairs": ["a first film", "a dull one"], "tags": ["Ann sings in Rome"]}
    made: dict[str, Path] = {}
    for file in sorted(root.glob("*.c*")):
        name, run = file.stem, root / file.stem
        small = ("--set", "text.vectors=", "--set", "model.sentence=none", "--no-baseline", "-q")
        assert tiny.run("train", file, "--out", run, *small).code == 0
        for page, command in {
            f"{name}, explained": ("explain", run, *texts.get(name, ["not a superb film"]), "--html"),
            f"{name}, whole model": ("explain", run, "--all", file, "--html"),
            f"{name}, exported": ("export", run, "--page"),
        }.items():
            if command[0] == "export" and name not in EXPORTED:
                continue
            made[page] = root / f"{page}.html"
            result = tiny.run(*command, made[page])
            assert result.code == 0, result.err
    return made


def answered(page: Any) -> None:
    """Ask an exported page, so that its answer is looked at too."""
    page.set_default_timeout(PATIENCE * 1_000)
    page.evaluate("heedful.then(() => null)")
    for box in page.locator("textarea").all():
        box.fill("not a superb film")
    page.locator("#probabilities table, #contributions table").first.wait_for()


@pytest.fixture(scope="module")
def shown(pages: dict[str, Path], browser: Any, axe: str) -> Iterator[dict[str, Any]]:  # noqa: F811
    """Every page in a tab of its own, with axe beside it: loading takes longer than most of what is looked at.

    How a page looks comes from its style alone, which follows the window and the scheme of a loaded page.
    """
    assert len(pages) == 15
    context = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 800})
    context.add_init_script(axe)
    tabs = {}
    for name, path in pages.items():
        tabs[name] = context.new_page()
        tabs[name].goto(path.as_uri())
        if "exported" in name:
            answered(tabs[name])
    yield tabs
    context.close()


def unfold(page: Any, unfolded: bool) -> None:
    """Open or close all that can be folded away."""
    page.evaluate(
        "to => { for (const each of document.querySelectorAll('details')) each.open = to }", unfolded
    )


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_axe_finds_nothing_serious(shown: dict[str, Any], width: int, scheme: str) -> None:
    found = []
    for name, page in shown.items():
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media="screen", color_scheme=scheme)
        assert page.evaluate("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme)
        unfold(page, True)
        found += [
            f"{name}: {each['id']}: {each['html']}"
            for each in violations(page)
            if each["impact"] in ("serious", "critical")
        ]
    assert found == []


def test_what_is_folded_away_is_printed_in_reports(shown: dict[str, Any]) -> None:
    found = 0
    for name, page in shown.items():
        if name.endswith("whole model"):
            page.emulate_media(media="print")
            unfold(page, False)
            folded = "[...document.querySelectorAll('details :is(li, td)')]"
            found += page.evaluate(f"{folded}.length")
            assert page.evaluate(f"{folded}.filter((each) => !each.checkVisibility()).length") == 0
    assert found > 0


def test_nothing_runs_out_of_a_page_on_a_phone_or_on_paper(shown: dict[str, Any]) -> None:
    wide = []
    for media, width in (("screen", 390), ("print", 780)):
        for name, page in shown.items():
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(media=media)
            unfold(page, True)
            over = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if over > 0:
                wide.append(f"{name}, {media}: {over} pixels")
    assert wide == []
