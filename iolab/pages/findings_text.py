"""Findings as text for a terminal or a notebook: impact, mark, sentence."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import impact_text
from iolab.pages.ledger_text import plain
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

#: Text starts here; the impact and the mark come before it.
_INDENT: Final = 24
_WIDTH: Final = 100
_LEAST_WIDTH: Final = 60
#: Findings that are shown; the number of the others is reported.
MOST: Final = 7
_NOTHING: Final = "No finding applies to this log."


def findings_text(
    findings: pl.DataFrame, *, width: int = _WIDTH, most: int = MOST, style: Callable[[str, str], str] = plain
) -> str:
    """Findings as lines: the impact in columns 1 to 8, the mark, the sentence from column 25 on.

    Args:
        findings: what `iolab.findings` gives of one log.
        width: of the terminal; at most 100 columns are used.
        most: this many findings are shown.
        style: takes a text and its role (a mark, or `dim`) and gives it with colour.

    Examples:
        >>> from iolab.rules.finding import Finding, findings_frame
        >>> from logframe import Interval
        >>> locks = Finding("example", "51.0 % was row locks.", Interval.exact(0.51), detail="no holder")
        >>> found = [Finding("load", "2.1 sessions were active on average.", order=0), locks]
        >>> print(findings_text(findings_frame(found)))
        % of DB time
                  [context]     2.1 sessions were active on average.
            51.0  [major]       51.0 % was row locks.
                                no holder
    """
    if findings.is_empty():
        return f"{'':{_INDENT}}{_NOTHING}"
    width = max(_LEAST_WIDTH, min(width, _WIDTH))
    bases = findings.get_column("impact_of").drop_nulls().unique(maintain_order=True).to_list()
    lines = [style(f"% of {' / '.join(bases)}", "dim")] if bases else []
    for row in findings.head(most).iter_rows(named=True):
        impact = impact_text(row["impact"], row["impact_lo"], at_most="<=")
        tag = f"[{row['mark']}]"
        said = printable(row["sentence"])
        wrapped = textwrap.wrap(said, width - _INDENT, break_long_words=False, break_on_hyphens=False)
        lines.append(f"{impact:>8}  {style(f'{tag:14}', row['mark'])}{wrapped[0]}")
        lines += [f"{'':{_INDENT}}{line}" for line in wrapped[1:]]
        label = next((one for one in ("next", "detail") if row[one]), "")
        below = f"next: {row[label]}" if label == "next" else row[label] if label else ""
        lines += [
            f"{'':{_INDENT}}{style(line, 'dim')}"
            for line in textwrap.wrap(printable(below), width - _INDENT, break_long_words=False, break_on_hyphens=False)
        ]
    if findings.height > most:
        lines.append(style(f"{'':{_INDENT}}{findings.height - most} more: --all", "dim"))
    return "\n".join(lines)


#: Shapes of marks in running text.
_SHAPES: Final = {"evidence": "◆", "major": "■", "notable": "▲", "context": "○", "cannot tell": "✕"}


def findings_markdown(findings: pl.DataFrame, *, most: int = MOST) -> str:
    """Findings as a list of Markdown: mark, impact, sentence; what to do next.

    Examples:
        >>> from iolab.rules.finding import Finding, findings_frame
        >>> print(findings_markdown(findings_frame([Finding("load", "2.1 sessions were active on average.")])))
        - ○ 2.1 sessions were active on average.
    """
    lines = []
    for row in findings.head(most).iter_rows(named=True):
        impact = impact_text(row["impact"], row["impact_lo"])
        impact = f" **{impact} %**" if impact else ""
        following = f" Next: {row['next']}." if row["next"] else ""
        lines.append(f"- {_SHAPES[row['mark']]}{impact} {row['sentence']}{following}")
    if findings.height > most:
        lines.append(f"- {findings.height - most} more: `iolab.findings(log)`")
    return "\n".join(lines) or f"- {_NOTHING}"
