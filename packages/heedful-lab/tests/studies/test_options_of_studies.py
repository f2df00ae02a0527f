"""Every study and every module that writes pages imports and tells its options."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import pytest

from heedful_lab import repository, studies

PARTS = tuple(
    f"repository.{name}"
    for name in ("board_rows", "costs", "claims", "claims_page", "verdicts", "house_features")
)
"""Modules of the page of results and of the figures of the house, which are not run by themselves."""
BY_HAND = (
    "held_out_texts",
    *PARTS,
    "setting_types",
    "page_kernels",
    "house_figures",
    "installed_sizes",
    "site_pages",
)
"""Modules without options."""
MODULES = [
    module.name
    for package in (repository, studies)
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(BY_HAND)])
def test_it_tells_its_options(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(name).main()
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert "--" in told.replace("--help", "") or "positional arguments" in told


@pytest.mark.parametrize("name", MODULES)
def test_it_says_how_it_is_run(name: str) -> None:
    text = importlib.import_module(name).__doc__ or ""
    assert f"python -m {name}" in text or name.endswith(PARTS)
