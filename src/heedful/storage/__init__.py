"""Files and folders that a crash, a full disk or a second process cannot leave half written."""

from heedful.storage.folders import (
    add_folder,
    read_settled,
    recover_folder,
    remove_folder,
    replace_folder,
    stands,
)
from heedful.storage.lock import LOCK, alone, holds
from heedful.storage.manifest import sha256
from heedful.storage.overwriting import note_read, operation
from heedful.storage.ownership import is_empty
from heedful.storage.writing import (
    TEMPORARY,
    plain_errors,
    remedy,
    replacing,
    sweep,
    temporary_name,
    write_bytes,
    write_text,
)

__all__ = [
    "LOCK",
    "TEMPORARY",
    "add_folder",
    "alone",
    "holds",
    "is_empty",
    "note_read",
    "operation",
    "plain_errors",
    "read_settled",
    "recover_folder",
    "remedy",
    "remove_folder",
    "replace_folder",
    "replacing",
    "sha256",
    "stands",
    "sweep",
    "temporary_name",
    "write_bytes",
    "write_text",
]
