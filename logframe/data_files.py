"""What formats have as data: TOML files beside the code, with rows whose cells are separated by ``|``."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def read_data(package: str, name: str) -> dict[str, Any]:
    """The content of a data file of a package."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def data_files(package: str) -> list[str]:
    """Names of the data files of a package, without ``.toml``."""
    names = sorted(path.name for path in files(package).iterdir())
    return [name.removesuffix(".toml") for name in names if name.endswith(".toml")]


def cells_of(rows: str) -> list[list[str]]:
    r"""The cells of rows.

    Examples:
        >>> cells_of("r/s | reads\nw/s | writes\n")
        [['r/s', 'reads'], ['w/s', 'writes']]
    """
    return [[cell.strip() for cell in row.split("|")] for row in rows.splitlines()]


def frozen(value: Any) -> Any:  # noqa: ANN401 - whatever TOML holds
    """A value of a file, with tuples for its arrays."""
    return tuple(map(frozen, value)) if isinstance(value, list) else value
