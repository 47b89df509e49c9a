"""Findings as text for a terminal: impact, mark, sentence; the profile under them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import impact_text
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

#: Text starts here; the impact and the mark come before it.
_INDENT: Final = 24
_WIDTH: Final = 100
_LEAST_WIDTH: Final = 60
#: Findings that are shown; the number of the others is said.
MOST: Final = 7
_BAR: Final = 38
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_NOTHING: Final = "No finding applies to this log."


def plain(text: str, role: str) -> str:
    """The text without colour."""
    del role  # without colours all roles are alike
    return text


def findings_text(
    findings: pl.DataFrame, *, width: int = _WIDTH, most: int = MOST, style: Callable[[str, str], str] = plain
) -> str:
    """Findings as lines: the impact in columns 1 to 8, the mark, the sentence from column 25 on, why below it.

    Args:
        findings: what `iolab.findings` gives of one log.
        width: of the terminal; at most 100 columns are used.
        most: so many findings are shown.
        style: takes a text and its role (a mark, or `dim`) and gives it with colour.

    Examples:
        >>> from iolab.rules.finding import Finding, findings_frame
        >>> from logframe import Interval
        >>> locks = Finding("lock_waits", "51.0 % was row locks.", Interval.exact(0.51), why="no holder")
        >>> found = [Finding("load", "2.1 sessions were active on average.", order=0), locks]
        >>> print(findings_text(findings_frame(found)))
        % of DB time
                  [context]     2.1 sessions were active on average.
            51.0  [major]       51.0 % was row locks.
                                why: no holder
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
        below = f"collect: {row['collect']}" if row["collect"] else f"why: {row['why']}" if row["why"] else ""
        lines += [
            f"{'':{_INDENT}}{style(line, 'dim')}"
            for line in textwrap.wrap(printable(below), width - _INDENT, break_long_words=False, break_on_hyphens=False)
        ]
    if findings.height > most:
        lines.append(style(f"{'':{_INDENT}}{findings.height - most} more: --all", "dim"))
    if findings.head(most).get_column("impact").drop_nulls().len() > 1:
        lines.append(style(f"{'':{_INDENT}}Shares overlap and do not add up.", "dim"))
    return "\n".join(lines)


#: Shapes of marks in running text.
_SHAPES: Final = {"evidence": "◆", "major": "■", "notable": "▲", "context": "○", "cannot tell": "✕"}


def findings_markdown(findings: pl.DataFrame, *, most: int = MOST) -> str:
    """Findings as a list of Markdown: mark, impact, sentence; refusals with what to collect.

    Examples:
        >>> from iolab.rules.finding import Finding, findings_frame
        >>> print(findings_markdown(findings_frame([Finding("load", "2.1 sessions were active on average.")])))
        - ○ 2.1 sessions were active on average.
    """
    lines = []
    for row in findings.head(most).iter_rows(named=True):
        impact = impact_text(row["impact"], row["impact_lo"])
        impact = f" **{impact} %**" if impact else ""
        collect = f" Collect next: {row['collect']}." if row["collect"] else ""
        lines.append(f"- {_SHAPES[row['mark']]}{impact} {row['sentence']}{collect}")
    if findings.height > most:
        lines.append(f"- {findings.height - most} more: `iolab.findings(log)`")
    return "\n".join(lines) or f"- {_NOTHING}"


def profile_text(profile: pl.DataFrame, *, is_utf8: bool = True) -> str:
    """The parts of a log's time as bars of 38 columns.

    Examples:
        >>> import polars as pl
        >>> parts = pl.DataFrame({"part": ["CPU", "locks"], "share": [0.75, 0.25], "sessions": [3.0, 1.0],
        ...     "of": "DB time"})
        >>> print(profile_text(parts, is_utf8=False))
        profile, % of DB time
        CPU    ######################################  75.0  3 sessions
        locks  #############                           25.0  1 session
    """
    if profile.is_empty():
        return ""
    parts = [printable(part) for part in profile.get_column("part")]
    widest = max(map(len, parts))
    longest = profile.get_column("share").max()
    lines = [f"profile, % of {profile.item(0, 'of')}"]
    for part, row in zip(parts, profile.iter_rows(named=True), strict=True):
        eighths = round(row["share"] / longest * _BAR * 8)
        bar = _EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8].strip() if is_utf8 else "#" * round(eighths / 8)
        sessions = (
            "" if row["sessions"] is None else f"  {row['sessions']:.3g} session{'' if row['sessions'] == 1 else 's'}"
        )
        lines.append(f"{part:{widest}}  {bar:{_BAR}}  {100 * row['share']:4.1f}{sessions}")
    return "\n".join(lines)
