"""Stand-ins for the workers of a server, which report to the parent and answer nothing.

They import little, so that they start soon. The service names one folder, where each leaves a line when it stands.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from heedful.machine.heartbeat import beat
from heedful.machine.signals import let_terminate


def stands(worker: Any, listening: Any, parent: Any, beats: Any, tasks: Any) -> None:
    """Stand until SIGTERM comes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    let_terminate()
    beat(beats, lambda: b"1")
    _stand(worker, parent)
    while True:  # a pause could begin just after the signal has come
        time.sleep(0.05)


def dies(worker: Any, listening: Any, parent: Any, beats: Any, tasks: Any) -> None:
    """Die as soon as it may answer."""
    _stand(worker, parent)
    os._exit(3)


def stops(worker: Any, listening: Any, parent: Any, beats: Any, tasks: Any) -> None:
    """Be stopped once, as by a debugger; the next one in the same place stands."""
    if not (worker.service.folders["log"] / f"stopped-{worker.number}").exists():
        let_terminate()
        beat(beats, lambda: b"1")
        _stand(worker, parent)
        (worker.service.folders["log"] / f"stopped-{worker.number}").touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    stands(worker, listening, parent, beats, tasks)


def is_mute(worker: Any, listening: Any, parent: Any, beats: Any, tasks: Any) -> None:
    """Hear no SIGTERM, and go on for ever."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    beat(beats, lambda: b"1")
    _stand(worker, parent)
    while True:  # a pause could begin just after the signal has come
        time.sleep(0.05)


def _stand(worker: Any, parent: Any) -> None:
    parent.send({})
    parent.recv()
    with open(worker.service.folders["log"] / f"stood-{worker.number}", "a") as stream:
        stream.write(f"{os.getpid()}\n")
