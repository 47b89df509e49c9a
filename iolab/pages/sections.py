"""Pages of sections with a bar of contents, and how a page is written."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from iolab.pages.elements import page_html
from iolab.pages.log_section import contents_html
from logframe.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def sections_page(title: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """A whole page of sections.

    Args:
        title: The title, as text.
        sections: Identifier, title (as text) and body (as HTML) of each.

    Examples:
        >>> page = sections_page("Sets", [("one", "a & b", "<p>1</p>")])
        >>> '<section id="one"><h2>a &amp; b</h2><p>1</p></section>' in page, '<a href="#one">a &amp; b</a>' in page
        (True, True)
    """
    body = "".join(
        f'<section id="{anchor}"><h2>{html.escape(said)}</h2>{part}</section>' for anchor, said, part in sections
    )
    contents = contents_html((anchor, said) for anchor, said, _ in sections)
    return page_html(title, f"<h1>{html.escape(title)}</h1>{body}", before=contents)


def write_page(page: Path, text: str) -> None:
    """Write a page, whole or not at all; folders on the way are made.

    Raises:
        OSError: It cannot be written.
    """
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as out_page:
        out_page.write_text(text, encoding="utf-8")
