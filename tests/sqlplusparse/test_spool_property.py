"""Sessions built from parts, with echo, feedback, timing and autotrace switched at random, come back as built."""

from dataclasses import dataclass
from itertools import pairwise

import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlplusparse import read_spool
from sqlplusparse.autotrace import AUTOTRACE_NAMES
from sqlplusparse.session import group

LABELS = {
    "Elapsed: ": ":",
    "Abgelaufen: ": ":",
    "Ecoulé : ": " :",
    "経過: ": ":",
    "경   과: ": ":",
    "已用时间:  ": ": ",
    "Затрач.время: ": ":",
}
OUTSIDE = ["TEXT", "COMMAND", "COMMAND_ERROR", "TIMER", "PRINTED_TIMING", "BREAK"]
INSIDE = [
    "INPUT",
    "CALL",
    "STATEMENT_TEXT",
    "CALL_TEXT",
    "GRID",
    "PLAN",
    "SELECTED",
    "DONE",
    "FAILED",
    "ELAPSED",
    "EXPLAINED",
    "STATISTICS",
]
TOKENS = [*INSIDE, "SESSION_STATISTICS", *OUTSIDE]


@dataclass(frozen=True)
class Query:
    """One SELECT of a built session and what the client is set to print of it."""

    value: int
    ticks: int
    decimals: int
    counts: tuple[int, ...]
    label: str
    is_echoed: bool
    has_feedback: bool
    is_timed: bool
    is_traced: bool

    def lines(self, place: int) -> list[str]:
        """What the client prints; each heading differs, so that no grid looks like a second page."""
        printed = [f"SQL> select {self.value} as n", "  2  from dual;"] if self.is_echoed else []
        printed += ["", f"{f'N{place}':>10}", "----------", f"{self.value:>10}", ""]
        if self.has_feedback:
            printed += ["1 row selected.", ""]
        if self.is_timed:
            printed += [self.elapsed(), ""]
        if self.is_traced:
            printed += ["Execution Plan", "-" * 58, "Plan hash value: 1388734953", "", "Statistics", "-" * 58]
            printed += [f"{count:>11}  {name}" for count, name in zip(self.counts, AUTOTRACE_NAMES, strict=True)]
            printed += [""]
        return printed

    @property
    def is_open(self) -> bool:
        """Whether the query was typed and nothing says that its output has ended."""
        return self.is_echoed and not (self.has_feedback or self.is_timed or self.is_traced)

    def elapsed(self) -> str:
        """The Elapsed line, in the client's own way."""
        seconds, fraction = divmod(self.ticks, 10**self.decimals)
        colon = LABELS[self.label]
        clock = colon.join(
            [f"{seconds // 3600:02d}", f"{seconds // 60 % 60:02d}", f"{seconds % 60:02d}.{fraction:0{self.decimals}d}"]
        )
        return self.label + clock


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Any query; one that is neither echoed nor timed nor traced is still seen by its grid."""
    return Query(
        value=draw(st.integers(0, 10**9)),
        ticks=draw(st.integers(0, 10**9)),
        decimals=draw(st.sampled_from([2, 3])),
        counts=tuple(draw(st.lists(st.integers(0, 10**9), min_size=11, max_size=11))),
        label=draw(st.sampled_from(sorted(LABELS))),
        is_echoed=draw(st.booleans()),
        has_feedback=draw(st.booleans()),
        is_timed=draw(st.booleans()),
        is_traced=draw(st.booleans()),
    )


@settings(max_examples=120, deadline=None)
@given(st.lists(queries(), min_size=1, max_size=8))
def test_built_sessions(built: list[Query]) -> None:
    """Every part that was printed comes back, tied to its own statement; what was not printed is null."""
    # a result that nothing introduces is more output of a query that was typed, until that one's feedback or time
    assume(not any(one.is_open and not following.is_echoed for one, following in pairwise(built)))
    text = "\n".join(line for place, query in enumerate(built) for line in query.lines(place)) + "\n"

    spool = read_spool(text.encode())
    found = spool.statements.select("text", "elapsed_s", "resolution_s", "physical_reads", "gets", "rows").rows()
    assert found == [
        (
            f"select {query.value} as n\nfrom dual" if query.is_echoed else None,
            query.ticks / 10**query.decimals if query.is_timed else None,
            1 / 10**query.decimals if query.is_timed else None,
            query.counts[3] if query.is_traced else None,
            query.counts[1] + query.counts[2] if query.is_traced else None,
            1 if query.has_feedback else query.counts[10] if query.is_traced else None,
        )
        for query in built
    ]
    assert [spool.table(place).rows() for place in range(1, len(built) + 1)] == [[(query.value,)] for query in built]
    assert spool.lines().height == text.count("\n")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=30))
def test_every_order_of_blocks_is_a_session(tokens: list[str]) -> None:
    """The session grammar refuses no order of blocks; each block is in at most one statement, in order."""
    places = [place for first, last in group(tokens) for place in range(first, last)]

    assert places == sorted(set(places))
    assert {tokens[place] for place in set(range(len(tokens))) - set(places)} <= set(OUTSIDE)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("SQL> -|_.:0123456789\n\tElapsedselect;/'#,ORA"), max_size=400))
def test_any_text_survives(text: str) -> None:
    """Any text is a session with every line accounted for, or is refused by an error of our own."""
    from logframe import LogParseError  # noqa: PLC0415 - beside its only use

    try:
        spool = read_spool(text.encode())
    except LogParseError:
        return
    lines = spool.lines()
    assert lines["part"].is_in(["record", "non-record", "diagnostic"]).all()
    assert set(lines.filter(pl.col("part") == "diagnostic")["line"]) <= set(spool.diagnostics["line"])
