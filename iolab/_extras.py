"""Optional libraries: imported on use, and missed with the exact command that installs them."""

import importlib
from typing import Any


class MissingExtraError(ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


def require(module: str, *, extra: str = "lab") -> Any:  # noqa: ANN401 - a module has no narrower type
    """The imported module, or an error that says what to install.

    Args:
        module: The module to import, such as ``scipy.stats``.
        extra: The extra of this project that brings it.

    Raises:
        MissingExtraError: If the library is not installed.

    >>> require("math").floor(2.5)
    2
    >>> require("no_such_library.part")
    Traceback (most recent call last):
    iolab._extras.MissingExtraError: no_such_library is needed here and not installed: pip install "iolab[lab]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        # A library that is there but lacks one of its own parts has another trouble: show that one.
        if error.name != library:
            raise
        raise MissingExtraError(
            f'{library} is needed here and not installed: pip install "iolab[{extra}]"', name=library
        ) from error
