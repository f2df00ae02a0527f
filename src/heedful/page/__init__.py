"""A model as one web page that answers as one types, and as one file for JavaScript: no server, nothing to install.

`model_file` writes a model. `javascript` is the engine that reads it: `opening.js` opens the file, `words.js` reads a
text, `network.js` computes the steps of the network with the kernels of `kernels.wasm`, `model.js` joins the two, and
`module.js` is what those see who import it. A page (`model_page`) has both, and also `pictures.js` and `page.js`, which
draw.
"""

from heedful.page.model_file import model_bytes
from heedful.page.model_page import note_of_size, render_page

__all__ = ["model_bytes", "note_of_size", "render_page"]
