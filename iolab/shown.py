"""What the results of iolab have in common: a notebook shows them in words and tables, not as a list of fields."""

from __future__ import annotations

from typing import Any

from logframe.parsed_log import display


class Shown:
    """A result that a notebook shows by its `str`, and by `iolab.display.result_html`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(display().result_html(self))

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:  # noqa: ANN401 - IPython's protocol
        del cycle  # a result holds no other
        printer.text(str(self))
