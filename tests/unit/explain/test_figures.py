from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from heedful.errors import MissingExtraError, OutputError, UsageError
from heedful.explain import Explanation, draw, panels


def test_every_explanation_can_be_drawn(every, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    for name, explanation in every.items():
        data = draw(explanation, tmp_path / f"{name}.png", dpi=50).read_bytes()
        assert data.startswith(b"\x89PNG")
    assert len(every) >= 6
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_explanation_gives_the_same_bytes(make_view, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    small = Explanation((make_view("text", "Nobody sleeps here"),), ("a",), (1.0,))
    first = draw(small, tmp_path / f"a.{suffix}", dpi=50).read_bytes()
    assert draw(small, tmp_path / f"b.{suffix}", dpi=50).read_bytes() == first
    for secret in (b"Date", b"Matplotlib v", b"matplotlib.org"):
        assert secret not in first


def test_an_svg_is_xml_and_needs_nothing_else(hostile, tmp_path):
    pytest.importorskip("matplotlib")
    root = ElementTree.parse(draw(hostile, tmp_path / "a.svg")).getroot()
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert {"path", "g"} <= tags
    assert not {"script", "image"} & tags


def test_pyplot_is_never_imported():
    code = (
        "import sys, tempfile, pathlib\n"
        "from heedful.explain import Explanation, SentenceView\n"
        "view = SentenceView.from_words('text', ['a', 'b'], weights=[0.5, 0.5])\n"
        "folder = pathlib.Path(tempfile.mkdtemp())\n"
        "Explanation((view,), ('x',), (1.0,)).to_figure(folder / 'a.svg')\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    pytest.importorskip("matplotlib")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_wrong_suffix_a_missing_package_and_a_bad_folder_are_told(pair, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf; got '\.gif'"):
        draw(pair, tmp_path / "a.gif")
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        draw(pair, tmp_path / "file" / "a.png", dpi=50)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heedful\[plot\]'"):
        draw(pair, tmp_path / "a.png")


def test_no_figure_writes_a_minus_before_nothing():
    figures = pytest.importorskip("matplotlib.figure")
    axes = figures.Figure().subplots()
    panels.paint_contributions(axes, ["a", "b", "c"], np.array([-0.001, 0.5, -0.25]), 2.0, 9.0)
    assert [each.get_text() for each in axes.texts][:3] == ["0.00", "+0.50", "-0.25"]
