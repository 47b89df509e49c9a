"""A comparison of two logs for a terminal: the verdict, what both say together, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.pages.findings_text import findings_text
from iolab.pages.ledger_text import plain
from iolab.pages.tables import frame_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from iolab.comparison.result import Pairing

_MOST_ROWS: Final = 60


def pairing_text(
    found: Pairing, findings: pl.DataFrame, *, width: int = 100, style: Callable[[str, str], str] = plain
) -> str:
    """The verdict in one line, then findings, paragraphs and tables, none of them wider than the terminal.

    Args:
        found: what was compared.
        findings: what `iolab.findings` says of both logs together.
        width: of the terminal, in columns.
        style: gives a text of a role (``verdict``, a mark, or ``dim``) its colour.

    Examples:
        >>> from iolab.comparison.result import Pairing
        >>> from iolab.rules.finding import findings_frame
        >>> found = Pairing(("a.txt", "b.txt"), "two logs", ("The words.",), is_lettered=True, verdict="B was faster.")
        >>> print(pairing_text(found, findings_frame([])))
        B was faster.
        <BLANKLINE>
        A: a.txt; B: b.txt (two logs)
        <BLANKLINE>
        The words.
    """
    legend = found.legend or found.title
    blocks = [style(wrapped(found.verdict, width), "verdict")] if found.verdict else []
    blocks.append(style(wrapped(f"{legend} ({found.why})" if found.why else legend, width), "dim"))
    if findings.height:
        blocks.append(findings_text(findings, width=width, style=style))
    blocks += [wrapped(paragraph, width) for paragraph in found.paragraphs]
    for title, frame in (found.tables or found.frames).items():
        table = frame_text(frame, most=_MOST_ROWS, names={"a": "A", "b": "B"}, width=width)
        blocks.append(f"{title}\n{table}")
    return "\n\n".join(blocks)
