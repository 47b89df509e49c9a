"""What all lines of a text begin with because it was indented or quoted as a whole."""

from __future__ import annotations

from typing import Final

from logframe.normalize import BLANKS, indent_of, shared_start, without_entities, without_quotes

#: Fewer numbers may be a column of the log.
_FEWEST_NUMBERED: Final = 3


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
