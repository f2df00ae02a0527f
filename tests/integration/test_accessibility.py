"""Pages are read by everybody: axe finds nothing serious on them, on a phone and on a desk, in the dark and in print.

Needs Chromium; Playwright and axe-core come with the extra dev.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Looks:
    """What was found on a page.

    Attributes:
        serious: what axe says, by the window.
        folded: how many lines a reader may fold away, and how many of them are not printed.
        over: pixels by which it is wider than a phone and than a sheet.
    """

    serious: dict[tuple[int, str], list[str]]
    folded: tuple[int, int]
    over: dict[str, int]


def look_at(page: Any) -> Looks:
    """Show a page in every way: how it looks comes from its style, which follows the window and the scheme."""
    page.evaluate(
        "open => { for (const each of document.querySelectorAll('details')) each.open = open }", True
    )
    serious: dict[tuple[int, str], list[str]] = {}
    over: dict[str, int] = {}
    for width, scheme in WINDOWS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media="screen", color_scheme=scheme)
        assert page.evaluate("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme)
        serious[width, scheme] = [
            f"{each['id']}: {each['html']}"
            for each in violations(page)
            if each["impact"] in ("serious", "critical")
        ]
    for media, width in (("screen", 390), ("print", 780)):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media=media)
        over[media] = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
    folded = page.evaluate("""() => {
      for (const each of document.querySelectorAll('details')) each.open = false;
      const lines = [...document.querySelectorAll('details :is(li, td)')];
      return [lines.length, lines.filter((each) => !each.checkVisibility()).length]; }""")
    return Looks(serious, tuple(folded), over)


@pytest.fixture(scope="module")
def looks(pages: dict[str, Path], browser: Any, axe: str) -> dict[str, Looks]:  # noqa: F811
    """How every page looks, each loaded once and in the same tab: loading takes longer than looking."""
    assert len(pages) == 15
    context = browser.new_context(bypass_csp=True)
    context.add_init_script(axe)
    page = context.new_page()
    found = {}
    for name, path in pages.items():
        page.set_viewport_size({"width": 390, "height": 800})
        page.emulate_media(media="screen", color_scheme="light")
        page.goto(path.as_uri())
        if "exported" in name:
            answered(page)
        found[name] = look_at(page)
    context.close()
    return found


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_axe_finds_nothing_serious(looks: dict[str, Looks], width: int, scheme: str) -> None:
    found = [f"{name}: {each}" for name, look in looks.items() for each in look.serious[width, scheme]]
    assert found == []


def test_what_is_folded_away_is_printed_in_reports(looks: dict[str, Looks]) -> None:
    reports = [look.folded for name, look in looks.items() if name.endswith("whole model")]
    assert sum(count for count, _ in reports) > 0
    assert {missing for _, missing in reports} == {0}


@pytest.mark.parametrize("media", ["screen", "print"])
def test_nothing_runs_out_of_a_page_on_a_phone_or_on_paper(looks: dict[str, Looks], media: str) -> None:
    assert {name: look.over[media] for name, look in looks.items() if look.over[media] > 0} == {}
