"""Optional libraries: imported on use, and missed with the exact command that installs them."""

from __future__ import annotations

import importlib
from typing import Any, Final

DISTRIBUTION: Final = "iolab"
#: Library that only an extra installs -> that extra.
EXTRAS: Final = {
    **dict.fromkeys(("numpy", "scipy", "xlsxwriter"), "report"),
    **dict.fromkeys(("altair", "anywidget", "jupyterlab", "nbclient", "nbconvert", "nbformat", "traitlets"), "lab"),
    "vl_convert": "lab",
    **dict.fromkeys(("dask", "distributed", "obstore"), "cluster"),
}


class MissingExtraError(ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


def missing(library: str) -> MissingExtraError:
    """The error for a library that is not installed.

    Examples:
        >>> str(missing("scipy"))
        'scipy is needed here and not installed: pip install "iolab[report]"'
    """
    command = f'pip install "{DISTRIBUTION}[{EXTRAS[library]}]"' if library in EXTRAS else f"pip install {library}"
    return MissingExtraError(f"{library} is needed here and not installed: {command}", name=library)


def require(module: str) -> Any:  # noqa: ANN401 - a module has no narrower type
    """The imported module, or an error that says what to install.

    Args:
        module: The module to import, such as ``scipy.stats``.

    Raises:
        MissingExtraError: The library is not installed.

    Examples:
        >>> require("math").floor(2.5)
        2
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        # A library that is installed but lacks one of its own dependencies has another fault: that one is raised.
        if error.name != library:
            raise
        raise missing(library) from error
