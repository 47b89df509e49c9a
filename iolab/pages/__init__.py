"""What a page and a notebook are made of: elements of HTML and their style, frames as tables, whole pages.

`iolab.pages.elements` makes tables, charts and pages of texts; `iolab.pages.tables` makes tables of frames and figures;
`iolab.display` shows logs, results and frames in a notebook.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.pages.elements import chart_html, page_html, table_html

__all__ = ["chart_html", "page_html", "table_html"]

__getattr__, __dir__ = lazy_exports(__name__)
