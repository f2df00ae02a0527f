"""Send a million rows through a local Ray while one of its workers is killed, and count what comes back.

Each row has a number. The trial fails unless every number comes back exactly once, with the prediction that `heedful
predict` gives for its text.

    python -m heedful_lab.studies.ray_million --rows 1000000

It trains a tiny model first; nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import heedful
from heedful_lab.studies.stream_memory import sentences, train


class Killed(heedful.BatchPredictor):
    """Writes the number of its process down, so that the trial can kill it."""

    def __init__(self, model: str, processes: str) -> None:
        super().__init__(model)
        (Path(processes) / str(os.getpid())).touch()


def main() -> None:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=2)
    options = parser.parse_args()
    import ray

    with tempfile.TemporaryDirectory() as place:
        model = train(Path(place), "my-texts")
        processes = Path(place) / "processes"
        processes.mkdir()
        texts = [text for text, _ in sentences()]
        answers = heedful.BatchPredictor(model)({"text": texts})
        assert isinstance(answers, dict)
        labels = answers["prediction"]
        ray.init(
            num_cpus=options.workers + 1,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=300_000_000,
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        asked = np.array(texts, dtype=object)
        rows = ray.data.range(options.rows, override_num_blocks=max(8, options.rows // 5_000)).map_batches(
            lambda batch: {"id": batch["id"], "text": asked[batch["id"] % len(asked)]}, batch_size=5_000
        )
        answered = rows.map_batches(
            Killed,
            fn_constructor_args=(str(model), str(processes)),
            batch_size=5_000,
            compute=ray.data.ActorPoolStrategy(size=options.workers),
            num_cpus=1,
        )
        seen = np.zeros(options.rows, dtype=np.int32)
        wrong = count = killed = 0
        started = time.monotonic()
        for batch in answered.iter_batches(batch_size=5_000):
            np.add.at(seen, batch["id"], 1)
            expected = np.array(labels, dtype=object)[batch["id"] % len(texts)]
            wrong += int((batch["prediction"] != expected).sum())
            count += len(batch["id"])
            if killed < options.kills and count >= options.rows * (killed + 1) // (options.kills + 2):
                alive = [path for path in processes.iterdir() if _alive(int(path.name))]
                if alive:
                    os.kill(int(alive[0].name), signal.SIGKILL)
                    alive[0].unlink()
                    killed += 1
        seconds = time.monotonic() - started
        ray.shutdown()
    found = {
        "rows": options.rows,
        "returned": count,
        "lost": int((seen == 0).sum()),
        "doubled": int((seen > 1).sum()),
        "other predictions": wrong,
        "workers killed": killed,
        "seconds": round(seconds, 1),
        "ray": ray.__version__,
    }
    print(json.dumps(found))
    if killed < options.kills or found["lost"] or found["doubled"] or wrong or count != options.rows:
        sys.exit(1)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    main()
