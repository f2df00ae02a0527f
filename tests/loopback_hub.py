"""A server on loopback that answers as the Hugging Face Hub does where models are pushed to it or read from it."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Commit = dict[str, bytes]


class LoopbackHub:
    """Repositories in memory: name to commits, each a commit's number and its files, the newest last."""

    def __init__(self) -> None:
        self.commits: dict[str, list[tuple[str, Commit]]] = {}
        self.private: dict[str, bool] = {}
        self.asked: list[str] = []

    def commit(self, name: str, files: Commit) -> str:
        history = self.commits[name]
        whole = {**(history[-1][1] if history else {}), **files}
        number = hashlib.sha1(f"{name}{len(history)}".encode()).hexdigest()
        history.append((number, whole))
        return number

    def found(self, name: str, revision: str) -> tuple[str, Commit] | None:
        history = self.commits.get(name, [])
        wanted = [entry for entry in history if revision in ("main", entry[0])]
        return wanted[-1] if wanted else None


@contextmanager
def serving() -> Iterator[tuple[LoopbackHub, str]]:
    """Serve an empty Hub; gives it and its address."""
    hub = LoopbackHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _handler(hub: LoopbackHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            hub.asked.append(f"{self.command} {self.path}")
            path = self.path.split("?")[0].strip("/").split("/")
            if path[:3] == ["api", "repos", "create"]:
                asked = json.loads(body)
                name = (
                    f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
                )
                hub.commits.setdefault(name, [])
                hub.private[name] = asked.get("visibility") == "private" or bool(asked.get("private"))
                return self._json({"url": f"http://{self.headers['Host']}/{name}", "name": name})
            if path == ["api", "validate-yaml"]:
                return self._json({"errors": [], "warnings": []})
            if path[:2] == ["api", "models"] and len(path) >= 4:
                return self._of_model("/".join(path[2:4]), path[4:], body)
            if path[:2] == ["api", "datasets"] and len(path) >= 6 and path[4] == "revision":
                return self._of_data("/".join(path[2:4]), unquote(path[5]))
            if path[0] == "datasets" and len(path) >= 6 and path[3] == "resolve":
                return self._file("/".join(path[:3]), path[4], "/".join(path[5:]))
            if len(path) >= 5 and path[2] == "resolve":
                return self._file("/".join(path[:2]), path[3], "/".join(path[4:]))
            return self._json({"error": "not found"}, 404)

        def _of_model(self, name: str, rest: list[str], body: bytes) -> None:
            if name not in hub.commits:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                return self._end(b"{}")
            if rest and rest[0] == "preupload":
                files = [{"path": f["path"], "uploadMode": "regular"} for f in json.loads(body)["files"]]
                return self._json({"files": [{**f, "shouldIgnore": False} for f in files]})
            if rest and rest[0] == "commit":
                lines = [json.loads(line) for line in body.splitlines() if line]
                given = [line["value"] for line in lines if line["key"] == "file"]
                number = hub.commit(name, {f["path"]: base64.b64decode(f["content"]) for f in given})
                address = f"http://{self.headers['Host']}/{name}/commit/{number}"
                return self._json({"commitOid": number, "commitUrl": address})
            found = hub.found(name, rest[1] if len(rest) > 1 else "main")
            if found is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "RevisionNotFound")
                return self._end(b"{}")
            number, files = found
            if rest and rest[0] == "tree":
                rows = [
                    {"type": "file", "path": p, "size": len(c), "oid": hashlib.sha1(c).hexdigest()}
                    for p, c in files.items()
                ]
                return self._json(rows)
            return self._json({"id": name, "sha": number, "siblings": [{"rfilename": p} for p in files]})

        def _of_data(self, name: str, revision: str) -> None:
            """Answer for the data set ``datasets/NAME``; another branch than main is one of its own, NAME@BRANCH."""
            found = hub.found(f"datasets/{name}", revision) or hub.found(
                f"datasets/{name}@{revision}", "main"
            )
            if found is None:
                self.send_response(404)
                known = f"datasets/{name}" in hub.commits
                self.send_header("X-Error-Code", "RevisionNotFound" if known else "RepoNotFound")
                return self._end(b"{}")
            files = [{"rfilename": path, "size": len(content)} for path, content in found[1].items()]
            return self._json({"id": name, "sha": found[0], "siblings": files})

        def _file(self, name: str, revision: str, path: str) -> None:
            named = [each for each in hub.commits if each.split("@")[0] == name]
            found = next(filter(None, (hub.found(each, revision) for each in named)), None)
            if found is None or path not in found[1]:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                return self._end(b"")
            content = found[1][path]
            self.send_response(200)
            self.send_header("X-Repo-Commit", found[0])
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            return self._end(content)

        def _json(self, value: Any, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self._end(json.dumps(value).encode())

        def _end(self, content: bytes) -> None:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    return Handler
