"""A real Firefox, driven through its own protocol (Marionette) over a socket, so that no further program is needed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from waiting import PATIENCE, until

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
KEYS = {
    **{"Enter": "\ue007", "Tab": "\ue004", "Shift": "\ue008", "Escape": "\ue00c", "Backspace": "\ue003"},
    **{"ArrowLeft": "\ue012", "ArrowRight": "\ue014"},
}
SETTINGS = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.auto": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class Firefox:
    """One window of a Firefox of its own profile.

    Args:
        folder: where its profile is made.
        settings: further preferences of the profile.
    """

    def __init__(self, folder: Path, **settings: object) -> None:
        assert FIREFOX is not None
        profile = folder / "profile"
        profile.mkdir(parents=True)
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});"
            for name, value in {**SETTINGS, **settings}.items()
        ]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = profile / "MarionetteActivePort"
        number = until(lambda: port.exists() and port.read_text().strip())
        self._socket = socket.create_connection(("127.0.0.1", int(number)), timeout=PATIENCE)
        self._stream = self._socket.makefile("rb")
        self._number = 0
        self._received()
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        self.ask("WebDriver:SetTimeouts", script=int(PATIENCE * 1_000), pageLoad=int(PATIENCE * 1_000))

    def ask(self, name: str, **parameters: object) -> Any:
        """Send a command, and return its result."""
        self._number += 1
        sent = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(sent), sent))
        _, _, error, result = self._received()
        assert error is None, error
        return result

    def _received(self) -> Any:
        size = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox has ended"
            size += byte
        return json.loads(self._stream.read(int(size)))

    def goto(self, address: str) -> None:
        """Open an address."""
        self.ask("WebDriver:Navigate", url=address)

    def value(self, expression: str, *arguments: object) -> Any:
        """Return what an expression of JavaScript stands for; a promise is waited for."""
        waits = "const done = arguments[arguments.length - 1];"
        script = f"{waits} Promise.resolve({expression}).then(done, (error) => done(String(error)));"
        return self.ask("WebDriver:ExecuteAsyncScript", script=script, args=list(arguments), sandbox=None)[
            "value"
        ]

    def press(self, *keys: str) -> None:
        """Press keys one after the other; ``Shift+ArrowRight`` are two at once."""
        for each in keys:
            held = [KEYS.get(key, key) for key in (each.split("+") if len(each) > 1 else [each])]
            steps = [{"type": "keyDown", "value": key} for key in held]
            steps += [{"type": "keyUp", "value": key} for key in reversed(held)]
            self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError, AssertionError):
            self.ask("Marionette:Quit", flags=["eForceQuit"])
        self._socket.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """A Firefox for a module; skipped, and counted, where there is none."""
    if FIREFOX is None:
        pytest.skip("there is no Firefox here")
    found = Firefox(tmp_path_factory.mktemp("firefox"))
    yield found
    found.close()
