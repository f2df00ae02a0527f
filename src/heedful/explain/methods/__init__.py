"""Methods of explanation: how much each word contributes to an answer. Importing this package imports no torch.

`question` is what a task gives once: the value of its answer for any choice of a text's words. `occlusion` and
`shapley` need nothing else; `gradients` needs the network, and torch. `method_names` finds a method by its name.
"""

from heedful.explain.methods.answer_function import Question
from heedful.explain.methods.method_names import METHODS, WITH_TORCH, MethodChoice, Sampling, attribute

__all__ = ["METHODS", "WITH_TORCH", "MethodChoice", "Question", "Sampling", "attribute"]
