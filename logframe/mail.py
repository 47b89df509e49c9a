"""Logs inside a mail or a web archive (`.eml`, `.mht`): their parts, decoded.

A browser that saves a page as one file writes it as a mail does: a head, and parts in base64 or quoted-printable, whose
lines are broken at 76 letters with a ``=``.  Without decoding, such a break would cut a figure in two.
"""

from __future__ import annotations

import codecs
import re
from email.parser import BytesParser
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe.normalize import GRAMMAR
from logframe.source import open_log

if TYPE_CHECKING:
    from email.message import Message

#: An attachment whose type has no meaning is known by its name.
_LOGS: Final = (".html", ".htm", ".txt", ".lst", ".log")
_PACKED: Final = frozenset({"base64", "quoted-printable"})


def parts_of_mail(text: str) -> list[str]:
    r"""The texts of a mail or a web archive, pages before plain texts; empty if it is not one.

    Args:
        text: the file.

    Examples:
        >>> head = "MIME-Version: 1.0\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
        >>> parts_of_mail(head + "<td>1,23=\n4</td>")
        ['<td>1,234</td>']
        >>> parts_of_mail("Event: log file sync\n\n1,234")
        []
    """
    head = _patterns()[0].match(text.lstrip("\ufeff\r\n"))
    if head is None or not _patterns()[1].search(head.group()):
        return []
    mail = BytesParser().parsebytes(text.lstrip("\ufeff\r\n").encode())
    found: list[tuple[bool, str]] = []
    for part in mail.walk():
        name = (part.get_filename() or "").lower()
        if part.is_multipart() or (part.get_content_maintype() != "text" and not name.endswith(_LOGS)):
            continue
        is_page = part.get_content_subtype() == "html" or name.endswith((".html", ".htm"))
        found.append((is_page, _text_of(part)))
    return [content for _, content in sorted(found, key=lambda one: not one[0])]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The head of a mail, whose fields may go on in indented lines; the fields that only a mail has."""
    head = r"(?:{MAIL_FIELD}\n(?:[ \t].*\n)*)+(?=\r?\n)"
    return re.compile(GRAMMAR.pattern(head)), re.compile(GRAMMAR.pattern("^{MIME_FIELD}"), re.MULTILINE)


def _text_of(part: Message) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content:
        return ""
    # what was not packed is in the encoding of this reader, whatever its head says
    is_packed = str(part.get("Content-Transfer-Encoding", "")).strip().lower() in _PACKED
    return open_log(content, encoding=_known(part.get_content_charset()) if is_packed else "utf-8").text()


def _known(charset: str | None) -> str | None:
    """The character set, when Python has it."""
    try:
        return codecs.lookup(charset).name if charset else None
    except LookupError:
        return None
