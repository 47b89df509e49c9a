"""A first look at a log of any kind, and the page that `iolab report` writes.

`iolab.report.looks` opens a log and says what it holds, each kind in a module of its own; `iolab.report.writing` puts
several looks and their comparisons on one page.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.report.looks import Look, look
    from iolab.report.writing import write_report

__all__ = ["Look", "look", "write_report"]

__getattr__, __dir__ = lazy_exports(__name__, {"Look": "looks", "look": "looks", "write_report": "writing"})
