"""A model as one web page that answers as one types: no server, no network, nothing to install.

Python writes the page (`model_page`). In it, `words.js` reads a text, `network.js` computes the steps of the network
with the kernels of `kernels.wasm`, `model.js` joins the two, `pictures.js` draws, and `page.js` joins them to what is
typed.
"""

from heedful.page.model_page import export_page, render_page

__all__ = ["export_page", "render_page"]
