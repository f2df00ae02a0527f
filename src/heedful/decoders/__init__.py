"""From the states of a source to a text: the Transformer's decoder, and the search for the best translation."""

from heedful.decoders.beam import Hypothesis, SearchConfig, beam_search, length_penalty
from heedful.decoders.transformer import DecoderCache, DecoderConfig, DecoderOutput, TransformerDecoder

__all__ = [
    "DecoderCache",
    "DecoderConfig",
    "DecoderOutput",
    "Hypothesis",
    "SearchConfig",
    "TransformerDecoder",
    "beam_search",
    "length_penalty",
]
