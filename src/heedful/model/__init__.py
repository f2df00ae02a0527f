"""What a model is without its arithmetic: the answers of each task, and how numbers become answers. Needs no torch."""
