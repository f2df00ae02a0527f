"""Answers over HTTP: a server that batches the requests that wait, and a page to try a model in.

The modules that speak HTTP need the extra ``serve`` (Starlette, uvicorn, httptools); they are imported by `run`.
"""

from heedful.serving.request_limits import Bounds
from heedful.serving.served_model import ServedModel, open_served

__all__ = ["Bounds", "ServedModel", "open_served"]
