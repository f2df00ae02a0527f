"""Models by name: a folder, a model that an installed package brings, or a model of the Hugging Face Hub.

Nothing is downloaded unless that is asked for. Only the files of a model folder are fetched, never a pickle and never
program text, and the folder is checked like any other before anything in it is believed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heedful.errors import (
    ArtifactError,
    DataError,
    OutputError,
    UsageError,
    nearest,
    needing,
)
from heedful.storage.checked_paths import checked_path
from heedful.storage.fields import read_fields
from heedful.storage.folders import user_cache
from heedful.storage.hub import endpoint, hub_errors
from heedful.storage.installed import MODELS, installed, installed_folder
from heedful.storage.manifest import CARD, MANIFEST, read_card, verify_manifest, write_manifest

_ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FETCHED = ["*.json", "*.safetensors", "README.md"]


def find_model(name: Path | str, *, revision: str | None = None, download: bool = False) -> Path:
    """Return the folder of a model.

    Args:
        name: a folder; the name of a model of an installed package, such as "en-nli" of heedful-en; or "user/name" on
            the Hugging Face Hub.
        revision: branch, tag or commit on the Hub; None for "main".
        download: whether a model of the Hub that is not in its cache on this machine may be fetched. The environment
            variable ``HF_ENDPOINT`` names another server than the Hub, ``HF_TOKEN`` the key of a private model.

    Returns:
        The folder, or the path as it was given where it names nothing else; whoever reads it says that it is missing.

    Raises:
        MissingExtraError: if the model must come from the Hub and huggingface_hub is not installed.
        DataError: if the Hub does not give the model.
        UsageError: if it is no name and no path, or a revision or a download is asked for what is not on the Hub.
        ArtifactError: if it is a file.
    """
    text = str(checked_path(name, "the folder or name of a model"))
    if os.path.isfile(text):
        raise ArtifactError(
            f"{text}: is a file, and a model is a folder; name the folder that holds config.json"
        )
    on_hub = _ON_HUB.fullmatch(text) is not None and not os.path.lexists(text)
    if on_hub and (download or _is_cached(text, revision)):
        return _from_hub(text, revision, download=download)
    if revision is not None or download:
        if on_hub:
            raise _not_here(text, revision)
        raise UsageError(
            f"{text}: revision and download are for models of the Hugging Face Hub, named user/name; this is not one"
        )
    if not os.path.lexists(text) and os.sep not in text:
        return installed_folder(MODELS, text) or Path(name)
    return Path(name)


def packaged_models() -> list[str]:
    """Return the names of the models that installed packages bring, sorted."""
    return sorted(installed(MODELS))


def find_packaged(name: str) -> Path:
    """Return the folder of a model of an installed package.

    Args:
        name: its name, such as "en-nli".

    Returns:
        The folder.

    Raises:
        UsageError: if no installed package has a model of this name.
    """
    checked_path(name, "the folder or name of a model")
    names = packaged_models()
    if name not in names:
        hint = nearest(str(name), names) if names else "none is: pip install ./packages/heedful-en in a clone"
        raise UsageError(
            f"{name!r:.80}: there is no such folder, and no installed package has such a model; {hint}"
        )
    return find_model(name)


def push_model(
    folder: Path,
    name: str,
    *,
    private: bool = False,
    license: str = "",
    token: str | None = None,
    message: str = "Upload a Heedful model",
) -> str:
    """Write a model folder to the Hugging Face Hub.

    Args:
        folder: the model folder, which is checked first; nothing beside its files is sent.
        name: "user/name"; made if it does not exist.
        private: whether a new one is private.
        license: the Hub's short name of the license that you give the model, such as "apache-2.0"; it is written into
            the card that is sent. Empty says nothing, and nobody else may then use the model.
        token: a key that may write; None for ``HF_TOKEN`` or the one that ``hf auth login`` stored.
        message: of the commit.

    Returns:
        The address of the commit.

    Raises:
        UsageError: if the name is not one of the Hub.
        MissingExtraError: if huggingface_hub is not installed.
        ArtifactError: if the folder is damaged.
        OutputError: if the Hub does not take it; says why.
    """
    if _ON_HUB.fullmatch(name) is None:
        raise UsageError(f"a model on the Hub is named user/name; got {name!r}")
    files = sorted(read_fields(folder / MANIFEST).part("files"))
    verify_manifest(folder, files)
    with needing("huggingface_hub", "hub", "a model of the Hugging Face Hub"):
        from huggingface_hub import HfApi
    with (
        tempfile.TemporaryDirectory() as place,
        _quiet(),
        hub_errors(OutputError, f"{name}: was not uploaded"),
    ):
        copy = Path(place)
        for file in files:
            if file != CARD:
                shutil.copyfile(folder / file, copy / file)
        card = read_card(folder)
        card = _licensed(card, license) if license else card
        (copy / CARD).write_text(card, encoding="utf-8", newline="\n")
        write_manifest(copy, files)
        api = HfApi(endpoint=endpoint(), token=token)
        api.create_repo(name, private=private, exist_ok=True)
        done = api.upload_folder(repo_id=name, folder_path=copy, commit_message=message)
    return str(done.commit_url)


def _licensed(card: str, license: str) -> str:
    """Write a license into the front matter of a card, which is made where there is none."""
    line = f"license: {json.dumps(license)}\n"
    if not card.startswith("---\n"):
        return f"---\n{line}---\n{card}"
    kept = [text for text in card.split("\n") if not text.startswith("license:")]
    return "\n".join([kept[0], line.rstrip(), *kept[1:]])


def _is_cached(name: str, revision: str | None) -> bool:
    """Return whether the Hub's cache on this machine has the model, without importing its library where it has not."""
    home = os.environ.get("HF_HOME") or os.path.join(user_cache(), "huggingface")
    cache = os.environ.get("HF_HUB_CACHE", os.path.join(home, "hub"))
    return os.path.isdir(os.path.join(cache, "models--" + name.replace("/", "--"), "snapshots"))


def _from_hub(name: str, revision: str | None, *, download: bool) -> Path:
    with needing("huggingface_hub", "hub", "a model of the Hugging Face Hub"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    with _quiet(), hub_errors(DataError, f"{name}: the Hub does not give this model"):
        try:
            found = snapshot_download(
                name,
                revision=revision,
                local_files_only=not download,
                allow_patterns=_FETCHED,
                endpoint=endpoint(),
            )
        except LocalEntryNotFoundError as error:
            if download:
                raise
            raise _not_here(name, revision) from error
    return Path(found)


def _not_here(name: str, revision: str | None) -> DataError:
    which = f"{name} at revision {revision}" if revision else name
    return DataError(
        f"{which}: neither a folder nor a model in the Hub's cache on this machine. Fetch it from the Hugging Face Hub "
        f"with heedful.from_pretrained({name!r}, download=True)"
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()
