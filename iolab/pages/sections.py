"""Pages of sections with a bar of contents, and how a page is written."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from iolab.pages.elements import page_html, title_html
from iolab.pages.log_section import contents_html
from logframe.atomic import replacing
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    return page_html(title, f"<h1>{title_html(title)}</h1>{body}", before=contents)


def reason_of(error: Exception, place: str, *, given: int = 1) -> str:
    """Why a log was not read, in a line without its path; of many logs, also that the program failed at one.

    Raises:
        Exception: The same, where the program failed at the only log.

    Examples:
        >>> reason_of(LogError("/u01/a.log:7: no such row"), "/u01/a.log"), reason_of(LogError("a: empty"), "a")
        ('line 7: no such row', 'empty')
    """
    line = str(error).partition("\n")[0]
    if not isinstance(error, (LogError, OSError)):
        if given == 1:
            raise error
        return f"a fault of this program, please report it: {type(error).__name__}: {line}"
    rest = line.removeprefix(f"{place}:")
    if rest != line and rest[:1].isdigit():
        return f"line {rest.replace(place, Path(place).name)}"
    return line.replace(f"{place}: ", "").replace(place, Path(place).name)


def refuse_empty(failed: Sequence[str], given: int, of: str = "") -> None:
    """Refuse a page of logs of which none could be read: it would hold nothing but the reasons.

    Args:
        failed: A line a log that could not be read, with its name and the reason.
        given: How many logs were given.
        of: The set that they are of.

    Raises:
        LogError: None could be read.

    Examples:
        >>> refuse_empty(["a.pdf: it is a PDF file"], 2)
        >>> refuse_empty(["a.pdf: it is a PDF file"], 1)
        Traceback (most recent call last):
        logframe.errors.LogError: a.pdf: it is a PDF file
        >>> refuse_empty(["a: it is empty", "b: it is empty"], 2, "before")
        Traceback (most recent call last):
        logframe.errors.LogError: none of the 2 logs of before could be read:
          a: it is empty
          b: it is empty
    """
    if not failed or len(failed) < given:
        return
    if len(failed) == 1:
        raise LogError(failed[0])
    lines = "".join(f"\n  {line}" for line in failed)
    raise LogError(f"none of the {given:,} logs{f' of {of}' if of else ''} could be read:{lines}")


def write_page(page: Path, text: str) -> None:
    """Write a page, whole or not at all; folders on the way are made.

    Raises:
        OSError: It cannot be written.
    """
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as out_page:
        out_page.write_text(text, encoding="utf-8")
