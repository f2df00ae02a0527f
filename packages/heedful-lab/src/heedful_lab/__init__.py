"""The laboratory of Heedful: the tables of the papers, and the speed of the kernels."""
