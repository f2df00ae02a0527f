"""Text side: tokens with offsets, vocabulary, pretrained word vectors. Imports no torch."""
