"""Run settings: dataclasses, TOML recipes, and one report of every mistake."""

from heedful.config.load import as_table, from_table, load_config, override, to_toml
from heedful.config.run_config import BatchConfig, DataConfig, DistilConfig, RunConfig, TextConfig
from heedful.packaged import recipe_names

__all__ = [
    "BatchConfig",
    "DataConfig",
    "DistilConfig",
    "RunConfig",
    "TextConfig",
    "as_table",
    "from_table",
    "load_config",
    "override",
    "recipe_names",
    "to_toml",
]
