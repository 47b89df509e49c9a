"""What people and tools do to a log before it is read: each function takes a text and gives another.

A lossless transformation leaves every figure where a reader can find it, so the typed frames must be equal.  Those of
SQL*Plus follow its documented rules (PAGESIZE, NEWPAGE, LINESIZE, TRIMSPOOL, WRAP, RECSEP).
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import lzma
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends."""
    lines = text.replace("\r", "").split("\n")
    return lines if lines[-1] else lines[:-1]


def joined(lines: list[str], end: str = "\n") -> str:
    """Lines as a text."""
    return "".join(line + end for line in lines)


def with_crlf(text: str) -> str:
    """Lines that end as on Windows."""
    return joined(lines_of(text), "\r\n")


def with_cr(text: str) -> str:
    """Lines that end as on an old Macintosh."""
    return joined(lines_of(text), "\r")


def padded(text: str, width: int) -> str:
    """SET TRIMSPOOL OFF: every line is filled up to the line size."""
    return joined([line.ljust(width) for line in lines_of(text)])


def in_objects(text: str) -> str:
    """As Docker keeps what a program writes: an object a line, long lines in parts."""
    parts = (part for line in text.splitlines(keepends=True) for part in (line[:200], line[200:]) if part)
    return joined([json.dumps({"log": part, "stream": "stderr", "time": "2026-11-21T18:36:01.1Z"}) for part in parts])


def indented(text: str, margin: str = "    ") -> str:
    """As in a code block of Markdown: every line that is not blank gets a margin."""
    return joined([margin + line if line.strip() else line for line in lines_of(text)])


def quoted(text: str, mark: str = "> ") -> str:
    """As in an answered mail."""
    return joined([(mark + line).rstrip(" ") for line in lines_of(text)])


def commented(text: str, mark: str = "-- ") -> str:
    """As the comments of a script."""
    return joined([(mark + line).rstrip(" ") for line in lines_of(text)])


def mailed(text: str) -> str:
    """As in a mail that is about it."""
    return f"Hello,\n\nhere is what we saw:\n\n{quoted(text)}\nBest regards\n"


def numbered(text: str, form: str = "{:6}\t") -> str:
    """As listed by an editor, cat -n or grep -n."""
    return joined([form.format(number) + line for number, line in enumerate(lines_of(text), 1)])


def coloured(text: str) -> str:
    """As a terminal was asked to show it."""
    return joined([f"\x1b[1;34m{line}\x1b[0m" if line else line for line in lines_of(text)])


def doubled(text: str) -> str:
    """A blank line behind each line, as some pastes have."""
    return joined([one for line in lines_of(text) for one in (line, "")])


def with_tabs(text: str) -> str:
    """SET TAB ON: runs of blanks before a tab stop become a tab."""
    found = []
    for line in lines_of(text.expandtabs(8)):
        parts = [line[place : place + 8] for place in range(0, len(line), 8)]
        found.append("".join([_tabbed(part) for part in parts[:-1]]) + "".join(parts[-1:]))
    return joined(found)


def _tabbed(part: str) -> str:
    kept = part.rstrip(" ")
    return kept + "\t" if len(part) == 8 and len(part) - len(kept) > 1 else part


def without_form_feeds(text: str) -> str:
    """As out of an editor or a browser: form feeds are gone, lines are trimmed."""
    return joined([line.replace("\f", "").rstrip() for line in lines_of(text)])


def paged(
    text: str, size: int, *, newpage: int = 1, heading: str = "OUTPUT", underline: int = 80, width: int = 0
) -> str:
    """The rows of a query of one column with a page size: blank lines, heading and underline before each page.

    Args:
        text: the column's values, one a line.
        size: PAGESIZE: lines of a page with NEWPAGE, heading and underline.
        newpage: NEWPAGE: blank lines before the heading; with 0 a form feed.
        heading: of the column.
        underline: dashes below it.
        width: with TRIMSPOOL OFF, to this line size.
    """
    rows = lines_of(text)
    each = max(1, size - newpage - 2)
    found: list[str] = []
    for start in range(0, len(rows), each):
        found += [""] * newpage
        found += [("\f" if newpage == 0 else "") + heading, "-" * underline]
        found += rows[start : start + each]
    return joined([line.ljust(width) for line in found] if width else found)


def wrapped(text: str, width: int, *, recsep: bool = True) -> str:
    """SET WRAP ON: a line longer than the line size goes on in the next; RECSEP WRAPPED puts a blank line behind it."""
    found: list[str] = []
    for line in lines_of(text):
        pieces = [line[place : place + width] for place in range(0, len(line), width)] or [""]
        found += [piece.rstrip(" ") for piece in pieces]
        if len(pieces) > 1 and recsep:
            found.append("")
    return joined(found)


def in_session(text: str, statement: str = "@?/rdbms/admin/awrrpt") -> str:
    """Spooled inside a session: the statement is echoed before, and the session ends behind."""
    return f"SQL> {statement}\n\n{joined(lines_of(text))}\nSQL> exit\n"


def in_shell(text: str) -> str:
    """Between the lines of a shell."""
    return f"[oracle@db1 ~]$ the command\n{text}[oracle@db1 ~]$ exit\n"


def in_page(text: str) -> str:
    """As a browser or a wiki shows preformatted text: as a page, its signs escaped."""
    return f"<html><body><pre>{html.escape(text)}</pre></body></html>"


def as_utf16(text: str) -> bytes:
    """As Notepad and PowerShell save it."""
    return text.encode("utf-16")


def without_lines(text: str, numbers: Iterable[int]) -> str:
    """Without some lines, counted from 1."""
    left_out = set(numbers)
    return joined([line for number, line in enumerate(lines_of(text), 1) if number not in left_out])


def as_zip(text: str) -> bytes:
    """In an archive of one file."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("report.txt", text)
    return held.getvalue()


#: Name -> what may be done to any text report without losing a figure.
LOSSLESS_TEXT: Final[dict[str, Callable[[str], str | bytes]]] = {
    "crlf": with_crlf,
    "cr": with_cr,
    "padded 80": partial(padded, width=80),
    "padded 133": partial(padded, width=133),
    "padded 500": partial(padded, width=500),
    "indented": indented,
    "quoted": quoted,
    "doubled": doubled,
    "tabs": with_tabs,
    "no form feeds": without_form_feeds,
    "paged 14": partial(paged, size=14),
    "paged 24 newpage 0": partial(paged, size=24, newpage=0),
    "paged 50 padded": partial(paged, size=50, underline=120, width=120),
    "paged 100 alias": partial(paged, size=100, heading="AWR_REPORT"),
    "paged 9 newpage 3": partial(paged, size=9, newpage=3),
    "in session": in_session,
    "in page": in_page,
    "utf-16": as_utf16,
    "zip": as_zip,
}
#: Name -> what may be done to any HTML report without losing a figure.
LOSSLESS_HTML: Final[dict[str, Callable[[str], str | bytes]]] = {
    "crlf": with_crlf,
    "padded 8000": partial(padded, width=8200),
    "paged 14": partial(paged, size=14),
    "paged 50 newpage 0": partial(paged, size=50, newpage=0),
    "paged 100 alias": partial(paged, size=100, heading="AWR_REPORT"),
    "wrapped 500": partial(wrapped, width=500),
    "wrapped and paged": lambda text: paged(wrapped(text, 500), 50),
    "in session": in_session,
    "utf-16": as_utf16,
    "zip": as_zip,
}
#: Name -> what may take blanks out of long texts of an HTML report, and nothing else.
LOSSY_HTML: Final[dict[str, Callable[[str], str | bytes]]] = {
    "wrapped 132": partial(wrapped, width=132, recsep=False),
    "wrapped 317": partial(wrapped, width=317),
}
#: Name -> what may be done to any log of lines without losing a figure.
LOSSLESS_LINES: Final[dict[str, Callable[[str], str | bytes]]] = {
    "crlf": with_crlf,
    "cr": with_cr,
    "padded 80": partial(padded, width=80),
    "padded 133": partial(padded, width=133),
    "padded 500": partial(padded, width=500),
    "indented": indented,
    "indented by a tab": partial(indented, margin="\t"),
    "quoted": quoted,
    "quoted twice": partial(quoted, mark=">> "),
    "doubled": doubled,
    "tabs": with_tabs,
    "no form feeds": without_form_feeds,
    "coloured": coloured,
    "no end of the last line": lambda text: text.rstrip("\n"),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": as_utf16,
    "utf-16 big endian": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "gzip in two parts": lambda text: gzip.compress(text[:99].encode()) + gzip.compress(text[99:].encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zip": as_zip,
}
#: Name -> what adds something to each line of a trace.
NUMBERED: Final[dict[str, Callable[[str], str | bytes]]] = {
    "cat -n": partial(numbered, form="{:6d}\t"),
    "listing": partial(numbered, form="{:5d}  "),
    "grep -n": partial(numbered, form="{}:"),
    "grep": partial(numbered, form="db1_ora_4711.trc:{}:"),
}
#: Name -> what puts the name of the program that wrote each line before it.
LOGGED: Final[dict[str, Callable[[str], str | bytes]]] = {
    "syslog": partial(numbered, form="Nov 21 18:36:01 dbhost strace[4711]: "),
    "container": partial(numbered, form="2026-11-21T18:36:01.123456Z stdout F "),
    "kubectl": partial(numbered, form="[pod/ora-0/strace] "),
    "kubectl with times": partial(numbered, form="[pod/ora-0/strace] 2026-11-21T18:36:01.123456789Z "),
    "compose": partial(numbered, form="ora-1  | "),
    "swarm": partial(numbered, form="db_ora.1.k3j4h5@node1    | "),
    "docker": in_objects,
    "docker, compressed": lambda text: gzip.compress(in_objects(text).encode()),
}
#: Name -> what breaks long lines.
WRAPPED: Final[dict[str, Callable[[str], str | bytes]]] = {
    f"wrapped {width}": partial(wrapped, width=width, recsep=False) for width in (80, 132, 500)
}
