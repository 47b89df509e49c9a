"""The format of SQL*Plus and SQLcl sessions for the registry (`logframe.formats`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff
from logframe.grammar import load_grammar

if TYPE_CHECKING:
    from logframe import Source
    from logframe.formats import Head
    from logframe.provenance import Part
    from sqlplusparse.reader import Spool

GRAMMAR: Final = load_grammar("sqlplusparse", "sniff.lark", "line")
_SIGN: Final = "(?m)^{PREFORMATTED}?(?:{PROMPT}|{OTHER_PROMPT}|{ELAPSED}|{STATISTICS}$|{STATISTIC}|{BANNER})"
_SIGNED: Final = 0.9
#: Without a prompt or a timing a session is known by its blocks: the reader has to try.
_POSSIBLE: Final = 0.05


def sniff(head: Head) -> Sniff | None:
    """Whether a log is a session: by a prompt, a timing, an autotrace list or the client's banner."""
    found = re.search(GRAMMAR.pattern(_SIGN), head.text)
    if found is not None:
        return Sniff(_SIGNED, "a SQL*Plus or SQLcl session", line=head.text.count("\n", 0, found.start()) + 1)
    return Sniff(_POSSIBLE, "perhaps a session")


def read(source: Source) -> Spool:
    """The session as `sqlplusparse.Spool`, with the bounds of its printed numbers."""
    from sqlplusparse.reader import read_spool  # noqa: PLC0415 - readers are imported on use

    return read_spool(source, printed=True)


def places(parsed: Spool, source: Source) -> list[Part]:
    """Which rows came from which lines."""
    from sqlplusparse.provenance import parts_of  # noqa: PLC0415 - wanted by few

    return parts_of(parsed, source)


FORMAT: Final = Format(name="sqlplus", title="a SQL*Plus or SQLcl session", sniff=sniff, read=read, places=places)
