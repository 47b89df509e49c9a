"""What all lines of a text begin with because it was indented or quoted as a whole."""

from __future__ import annotations

from logframe.normalize import BLANKS, indent_of, shared_start, without_entities, without_quotes


def without_shared_margin(text: str) -> str:
    r"""A text without the marks of a quotation, or the blanks, that all of its lines but blank ones begin with.

    Examples:
        >>> without_shared_margin(">> 12 reads\n>>   13 reads\n"), without_shared_margin("  12\n13\n")
        ('12 reads\n  13 reads\n', '  12\n13\n')
    """
    if text.lstrip("\n")[:1] == ">" and all(line[:1] == ">" for line in text.split("\n") if line.strip()):
        text = without_quotes(text, bool)
    return without_shared_indent(text)


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
