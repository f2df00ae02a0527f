"""A data set of the Hugging Face Hub by its name: its tables are fetched by the Hub's own library, and nothing else is.

No program text that comes with a data set is fetched or run. Data sets that are such a program have tables beside it,
which the Hub makes in a branch of its own; these are read then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.data.hub_splits import splits_of, tables_of
from heedful.errors import DataError, UsageError, needing
from heedful.storage import replacing
from heedful.storage.fields import Fields, is_table, parsed
from heedful.storage.folders import user_cache
from heedful.storage.hub import endpoint, hub_errors
from heedful.text.limits import UNPACKED

if TYPE_CHECKING:
    import pyarrow

PREFIX = "hub:"
_NAME = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:/(.+?))?(?:@([\w./-]+))?")
_CONVERTED = "refs/convert/parquet"
"""The branch in which the Hub keeps every data set as Parquet."""


@dataclass(frozen=True)
class HubData:
    """The tables of a data set on this machine.

    Attributes:
        files: "train", and "dev" and "test" where they are there, to a file.
        commit: of the repository they are from.
    """

    files: dict[str, Path]
    commit: str


def is_hub_name(name: str) -> bool:
    """Return whether a name is that of a data set of the Hub: it begins with ``hub:``."""
    return name.startswith(PREFIX)


def fetch_hub_data(name: str) -> HubData:
    """Fetch the tables of a data set, unless they are in the Hub's cache on this machine.

    The environment variable ``HF_ENDPOINT`` names another server than the Hub, ``HF_TOKEN`` the key of private data.

    Args:
        name: ``hub:owner/name``, with ``/FOLDER`` or ``/FILE`` behind it where a repository holds several data sets,
            and ``@REVISION`` for a branch, tag or commit.

    Returns:
        The tables.

    Raises:
        UsageError: if the name is none, or it is open which tables are meant.
        MissingExtraError: if huggingface_hub is not installed, or pyarrow for Parquet.
        DataError: if the Hub does not give it, there are no tables, or they are too large.
    """
    from heedful.data.download import MOST_BYTES, is_offline

    match = _NAME.fullmatch(name.removeprefix(PREFIX))
    if match is None:
        raise UsageError(f"{name}: expected hub:owner/name, such as hub:stanfordnlp/imdb")
    if is_offline():
        raise DataError(
            f"{name}: HEEDFUL_OFFLINE or HF_HUB_OFFLINE forbids the network; unset it, or name a file"
        )
    repository, part, revision = match.groups()
    with needing("huggingface_hub", "hub", "a data set of the Hugging Face Hub"):
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import RevisionNotFoundError
    api, sizes, commit = HfApi(endpoint=endpoint()), dict[str, int](), ""
    programs: list[str] = []
    with hub_errors(DataError, f"{name}: the Hub does not give this data set"):
        for branch in [revision] if revision else ["main", _CONVERTED]:
            try:
                about = api.dataset_info(repository, revision=branch, files_metadata=True)
            except RevisionNotFoundError:
                if branch != _CONVERTED or revision:
                    raise
                break  # the Hub has not converted it
            sizes, commit = {file.rfilename: file.size or 0 for file in about.siblings or ()}, str(about.sha)
            programs += [path for path in sizes if path.endswith(".py")]
            if tables_of([*sizes], part or ""):
                break
    if re.fullmatch(r"[0-9a-f]{4,64}", commit) is None:
        raise DataError(
            f"{name}: the server names no commit; is {endpoint() or 'the Hub'} a server of data sets?"
        )
    tables = tables_of([*sizes], part or "")
    if not tables:
        program = f"; its program {programs[0]} is not run" if programs else ""
        raise DataError(f"{name}: has no tables (.parquet, .jsonl, .csv, .tsv, .json){program}")
    splits = splits_of(tables, f"{PREFIX}{repository}")
    whole = sum(sizes[path] for paths in splits.values() for path in paths)
    if whole > MOST_BYTES:
        raise DataError(
            f"{name}: {whole:,} bytes are more than the {MOST_BYTES:,} that are fetched; name one file"
        )
    with hub_errors(DataError, f"{name}: the Hub does not give this data set"):
        fetched = {
            split: [
                Path(
                    hf_hub_download(
                        repository, path, repo_type="dataset", revision=commit, endpoint=endpoint()
                    )
                )
                for path in paths
            ]
            for split, paths in splits.items()
        }
    kept = user_cache() / "heedful-hub" / repository.replace("/", "--") / commit
    # a test split without gold, as in competitions, is of no use
    found = {split: _one_table(paths, kept, splits[split]) for split, paths in fetched.items()}
    return HubData({split: file for split, file in found.items() if file is not None}, commit)


def _one_table(files: Sequence[Path], kept: Path, paths: Sequence[str]) -> Path | None:
    """Return one file with all rows, in which classes have their names; None if no row has one."""
    if files[0].suffix != ".parquet":
        return files[0]
    with needing("pyarrow", "parquet", "reading Parquet"):
        import pyarrow
        import pyarrow.parquet
    try:
        names = _class_names(pyarrow.parquet.read_schema(files[0]))
        if len(files) == 1 and not names:
            return files[0]
        left, batches = UNPACKED.value(), []
        for file in files:
            with pyarrow.parquet.ParquetFile(file) as opened:
                for batch in opened.iter_batches():
                    left -= batch.nbytes
                    if left < 0:
                        raise UNPACKED.exceeded(paths[0], "the tables unpack to more than")
                    batches.append(batch)
        table = pyarrow.concat_tables(pyarrow.Table.from_batches([batch]) for batch in batches)
        for column, classes in names.items():
            numbers = table.column(column).to_pylist()
            named = [classes[k] if k is not None and 0 <= k < len(classes) else None for k in numbers]
            if not any(named):
                return None
            place = table.schema.get_field_index(column)
            table = table.set_column(place, column, pyarrow.array(named, pyarrow.string()))
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{paths[0]}: not a readable Parquet file: {error}") from error
    made = kept / paths[0]
    if not os.path.isfile(made):
        with replacing(made) as stream:
            pyarrow.parquet.write_table(table.replace_schema_metadata(None), stream)
    return made


def _class_names(schema: pyarrow.Schema) -> dict[str, list[str]]:
    """Return the names of the classes that numbers of a column stand for, as the library `datasets` writes them."""
    metadata: dict[bytes, bytes] = schema.metadata or {}
    with suppress(DataError):
        whole: dict[str, object] = parsed(
            metadata.get(b"huggingface", b"{}"), "", dict, DataError, finite=False
        )
        features = Fields(whole, "", error=DataError).part("info").part("features")
        return {
            column: list(features.part(column).texts("names"))
            for column in schema.names
            if is_table(about := features.record.get(column)) and about.get("_type") == "ClassLabel"
        }
    return {}
