"""SIGKILL at random moments while ``heedful faithfulness`` writes a model folder: it is the old one or the new one."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import small_runs
import tiny
from heedful.errors import HeedfulError
from heedful.runtime import load
from tally import Outcome, Tally

WRITER = """
import math, sys
from pathlib import Path
import numpy as np
from heedful.explain.measured_methods import TextMeasures
from heedful.run.measuring import MeasuredMethods, keep_standing
text = {name: TextMeasures(np.full(4, 0.2), np.zeros(4), 1.0, 0.0, math.nan) for name in ("occlusion", "shapley")}
print("ready", flush=True)
for number in range(2, 10**6):
    keep_standing(Path(sys.argv[1]), MeasuredMethods([text] * number, "made texts", 0))
"""


def test_kills_of_faithfulness(tmp_path: Path, tally: Tally) -> None:
    data = small_runs.write_data(tmp_path / "data")
    (data / "recipe.toml").write_text(tiny.TEXT, encoding="utf-8")
    done = tiny.run(
        "train", data / "recipe.toml", "--data", data, "--out", tmp_path / "run", "--no-baseline", "-q"
    )
    assert done.code == 0, done.err
    model = tmp_path / "run" / "model"
    answer = [each.as_dict() for each in load(model).predict(["The film was superb ."])]
    for number in range(tally.count(20)):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, model], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(tally.draw.uniform(0, 0.2))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        try:
            read = load(model)
            whole = [each.as_dict() for each in read.predict(["The film was superb ."])] == answer
            kept = read.metrics.get("explanations", {"order": []})["order"]
            good = whole and (kept == [] or kept[0] == "occlusion")
            tally.add(Outcome("right" if good else "failed", f"kill {number}: {json.dumps(kept)}"))
        except HeedfulError as error:
            tally.add(Outcome("failed", f"kill {number}: {error}"))
    assert tiny.run("explain", model, "--text", "The film was superb .").code == 0
    shutil.rmtree(tmp_path / "run")
