"""The one training loop, and what it stands on: optimizers, exact resume, early stopping, logs.

Import from the submodules; `heedful.training.train_settings` alone needs no torch.
"""
