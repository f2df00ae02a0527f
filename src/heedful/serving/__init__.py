"""Answers over HTTP: a server that batches the requests that wait, and a page to try a model in.

The modules that speak HTTP need the extra ``serve`` (Starlette, uvicorn, httptools); they are imported by `run`.
"""

from heedful.serving.bounds import Bounds
from heedful.serving.engine import Engine, open_engine

__all__ = ["Bounds", "Engine", "open_engine"]
