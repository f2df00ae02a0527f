"""Word vectors as products: each is cut into groups of numbers, and a group is one of 256 that a book of it holds.

A row of 300 numbers then takes 20 to 60 bytes in place of 300. The books are found by k-means from a fixed seed, so the
same table gives the same bytes. The same words exist as before; each has a vector that is nearly its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.storage.model_folder import rounded

CODES = ".codes"
"""Ends the name of the tensor of codes, [rows, groups] uint8; the books have the name of the table itself."""
BOOK = 256
FEWEST_ROWS = 2048
"""A table of fewer rows is not worth its books."""
ROUNDS = 12
DRAWN = 12_000
"""Rows that k-means looks at, at most."""


def products(table: Tensor, width: int) -> dict[str, Tensor]:
    """Write a table of vectors as products.

    Args:
        table: [rows, features] of real numbers.
        width: numbers of a group; the last group is filled up with zeros.

    Returns:
        "codes" [rows, groups] uint8, and "books" [256 · groups, width] float32: the numbers that code c of group g
        stands for are row 256 · g + c.
    """
    rows = table.float().numpy()
    groups = -(-rows.shape[1] // width)
    filled = np.zeros((len(rows), groups * width), np.float32)
    filled[:, : rows.shape[1]] = rows
    drawn = np.random.default_rng(0).permutation(len(rows))[:DRAWN]
    codes, books = np.empty((len(rows), groups), np.uint8), np.empty((groups, BOOK, width), np.float32)
    for group in range(groups):
        part = np.ascontiguousarray(filled[:, group * width : (group + 1) * width])
        books[group] = _centers(part[drawn])
        codes[:, group] = _nearest(part, books[group])
    return {"codes": torch.from_numpy(codes), "books": torch.from_numpy(books.reshape(-1, width))}


def expanded(codes: NDArray[np.uint8], books: NDArray[np.float32], features: int) -> NDArray[np.float32]:
    """Return the table that products stand for.

    Args:
        codes: as `products` returns them.
        books: the same, [256 · groups, width].
        features: of the table.

    Returns:
        The vectors, [rows, features].
    """
    places = codes.astype(np.int64) + BOOK * np.arange(codes.shape[1])
    return books[places].reshape(len(codes), -1)[:, :features]


def compacted(state: Mapping[str, Tensor], widths: Mapping[str, int]) -> dict[str, Tensor]:
    """Return tensors as a model file keeps them: matrices in 8 bits, and some tables as products.

    Args:
        state: tensors of real numbers by name.
        widths: numbers of a group, by the name of the table; tables of few rows stay as they are.

    Returns:
        The tensors that are written.
    """
    chosen = {name: width for name, width in widths.items() if len(state[name]) >= FEWEST_ROWS}
    made = {name: products(state[name], width) for name, width in chosen.items()}
    plain: dict[str, Any] = {name: tensor for name, tensor in state.items() if name not in made}
    for name, each in made.items():
        plain[name] = each["books"]
    codes = {name + CODES: each["codes"] for name, each in made.items()}
    return {**rounded(plain), **codes}


def _centers(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 256 centers of rows by k-means, [256, features]."""
    draw = np.random.default_rng(1)
    centers = rows[draw.choice(len(rows), BOOK, replace=len(rows) < BOOK)]
    for _ in range(ROUNDS):
        codes = _nearest(rows, centers)
        counts = np.bincount(codes, minlength=BOOK)
        sums = np.stack([np.bincount(codes, column, BOOK) for column in rows.T], axis=1)
        full = counts > 0
        centers = np.where(full[:, None], sums / np.maximum(counts, 1)[:, None], centers).astype(np.float32)
        lost = np.flatnonzero(~full)
        centers[lost] = rows[draw.choice(len(rows), len(lost))]
    return centers


def _nearest(rows: NDArray[np.float32], centers: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.argmin((centers**2).sum(1) - 2 * rows @ centers.T, axis=1)
