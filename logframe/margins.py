"""What was put around a log: a margin before all its lines, or a mail or web archive (`.eml`, `.mht`).

A margin is what all lines begin with because the text was indented or quoted as a whole.

A browser that saves a page as one file writes it as a mail does: a head, and parts in base64 or quoted-printable, whose
lines are broken at 76 letters with a ``=``.  Without decoding, such a break would cut a figure in two.
"""

from __future__ import annotations

import codecs
import re
from email.parser import BytesParser
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe.normalize import BLANKS, GRAMMAR, indent_of, shared_start, without_entities, without_quotes
from logframe.source import open_log

if TYPE_CHECKING:
    from email.message import Message


#: Fewer numbers may be a column of the log.
_FEWEST_NUMBERED: Final = 3
#: What programs put before each line of a text that has lines of a known look, in the order in which they are tried.
BEFORE_LINES: Final = (
    "SYSLOG",
    "CONTAINER",
    "POD",
    "BARE_STAMP",
    "LINE_NUMBER",
    "LINE_COLON",
    "ADDED_MARK",
    "SPACED_BAR",
    "BAR_MARK",
    "MAIL",
)
#: How a title of Markdown begins.
_MARKS: Final = frozenset("#*")
#: A prefix is looked for in this many lines first.
_SAMPLED: Final = 100
#: Several programs may have handed on a text, one after the other.
_DEEPEST: Final = 3


def without_shared_margin(text: str) -> str:
    r"""A text without its lines' numbers, the marks of a quotation, or the blanks that all but blank lines begin with.

    Examples:
        >>> without_shared_margin(">> 12 reads\n>>   13 reads\n"), without_shared_margin("  12\n13\n")
        ('12 reads\n  13 reads\n', '  12\n13\n')
    """
    text = without_line_numbers(text)
    if text.lstrip("\n")[:1] == ">" and all(line[:1] == ">" for line in text.split("\n") if line.strip()):
        text = without_quotes(text, bool)
    return without_shared_indent(text)


def without_line_numbers(text: str) -> str:
    r"""A text without the number and the tab that ``cat -n`` puts before each line.

    Examples:
        >>> without_line_numbers("     1\treads\n     2\t\n     3\twrites\n"), without_line_numbers("1\treads\n7\t\n")
        ('reads\n\nwrites\n', '1\treads\n7\t\n')
    """
    if text.lstrip(" ")[:2] != "1\t":
        return text
    lines = [line.partition("\t") for line in text.removesuffix("\n").split("\n")]
    if len(lines) < _FEWEST_NUMBERED or any(one[0].lstrip(" ") != str(place) for place, one in enumerate(lines, 1)):
        return text
    return "\n".join([rest for _, _, rest in lines]) + "\n" * text.endswith("\n")


def without_shared_indent(text: str) -> str:
    r"""A text without the blanks that all of its lines but blank ones begin with.

    Examples:
        >>> without_shared_indent("\n    12 reads\n\n      13 reads\n")
        '\n12 reads\n\n  13 reads\n'
    """
    if text.lstrip("\n")[:1] not in {*BLANKS}:
        return text
    lines = text.split("\n")
    if any(line[:1] not in BLANKS for line in lines if line.strip()):
        return text
    margin = shared_start([indent_of(line) for line in lines if line.strip()])
    return "\n".join([line.removeprefix(margin) for line in lines]) if margin else text


def without_page(text: str) -> str:
    r"""The text that a page shows preformatted, its line ends where they were; any other text as it is.

    Examples:
        >>> without_page("<html><body>\n<pre>a &lt; b\n</pre></body></html>\n")
        '\na < b\n\n'
    """
    if text.lstrip()[:1] != "<" or text.count("<pre") != 1:
        return text
    head, _, rest = text.partition("<pre")
    shown, end, tail = rest.rpartition("</pre>")
    if not end or "<" in shown:
        return text
    return "\n" * head.count("\n") + without_entities(shown.partition(">")[2]) + "\n" * tail.count("\n")


def without_prefixes(lines: list[str], anchor: re.Pattern[str]) -> list[str]:
    r"""The lines without the number, time, bar or plus that a program has put before most of them.

    Args:
        lines: without blanks at their ends.
        anchor: matches lines that are certainly the text's own, such as rulers: a prefix hides them.

    Examples:
        >>> ruler = re.compile("----")
        >>> without_prefixes(["+++ b/report", "+Event  Waits", "+------ -----", "+", "+x          1"], ruler)
        ['++ b/report', 'Event  Waits', '------ -----', '', 'x          1']
        >>> without_prefixes(["Time     Waits", "-------- -----", "18:36:01     1", "18:36:02     2"], ruler)[2]
        '18:36:01     1'
    """
    bare = lines
    for _ in range(_DEEPEST):
        found = _bared(bare)
        if found is None:
            break
        bare = found
        if _count(anchor, bare) > 2 * _count(anchor, lines):
            lines = bare
    return lines


def without_marked_titles(lines: list[str]) -> list[str]:
    """The lines without the marks of Markdown around titles.

    Examples:
        >>> without_marked_titles(["## Load Profile ##", "**Top 5 Events**", "#### 12", "** MISSING **"])
        ['Load Profile', 'Top 5 Events', '#### 12', '** MISSING **']
    """
    title = _compiled("{TITLE_MARK}(?P<title>{TITLE_TEXT})")
    return [
        found["title"].rstrip("#").rstrip(" ").removesuffix("**")
        if line[:1] in _MARKS and (found := title.fullmatch(line))
        else line
        for line in lines
    ]


def _bared(lines: list[str]) -> list[str] | None:
    """The lines without the prefix that most of them have; None where most have none."""
    full = [line for line in lines if line]
    sample = full[:: max(1, len(full) // _SAMPLED)]
    found = [prefix for prefix in _prefixes() if 2 * _count(prefix, sample) > len(sample)]
    if not found:
        return None
    prefix = max(found, key=lambda one: _count(one, full))
    bare = [line[one.end() :] if (one := prefix.match(f"{line} ")) else line for line in lines]
    is_boxed = full[0][:1] == "|" and all(line[-1] == "|" for line in full)
    return [line.removesuffix("|").rstrip() for line in bare] if is_boxed else bare


def _count(pattern: re.Pattern[str], lines: list[str]) -> int:
    # blanks at the ends of lines are gone, and with them one of the prefix of a blank line
    return sum(pattern.match(f"{line} ") is not None for line in lines)


@cache
def _prefixes() -> list[re.Pattern[str]]:
    return [_compiled(f"{{{name}}}") for name in BEFORE_LINES]


@cache
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(template))


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
