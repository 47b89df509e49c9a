"""The time ledger as bars: each part with its bounds, nested parts below their parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from iolab.charts._classes import class_colours
from iolab.charts._frames import ChartError
from iolab.time_ledger.account import UNKNOWN

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger

#: More parts are no clearer picture; small ones are left out first.
_MOST: Final = 24
_GREY: Final = "#8F99A6"
_COLOURS: Final = {"cpu": "DB CPU", "io": "User I/O", "client": "Network", "idle": "Network"}


def ledger_bars(ledger: Ledger, view: str = "what") -> alt.LayerChart:
    """One bar a part of the time, from certain to at most, in the order of the ledger; nested parts are indented.

    What to read from it: a dark bar is time that is certainly the part's own; the pale end is what is at most its own,
    where time is counted twice or figures are rounded.  A nested bar is inside the one above it.  Grey outlines are
    time without a name.  Parts of one level and its closing part add up to the whole.

    Args:
        ledger: As `iolab.ledger` gives it.
        view: One of its views.

    Raises:
        ChartError: If the ledger is void, or has no such view.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(10), "DB time")
        >>> cpu = account.add("what", "DB CPU", Interval.exact(7), kind="cpu")
        >>> ledger_bars(account.ledger()).to_dict()["title"]["text"]
        'DB time: 10 s'
    """
    if ledger.void or view not in ledger.views or ledger.total is None:
        raise ChartError(ledger.void or f"the ledger has no view {view}")
    shown = ledger.parts(view).filter((pl.col("own_hi") > 0) | (pl.col("kind") == "counted_twice"))
    if shown.height > _MOST:
        least = shown.get_column("own_hi").sort(descending=True).item(_MOST - 1)
        shown = shown.filter(pl.col("own_hi") >= least)
    kind, name = pl.col("kind").cast(pl.String), pl.col("name").str.replace_all(r"\s+", " ").str.slice(0, 48)
    classes = pl.coalesce("class", kind.replace_strict(_COLOURS, default=None), pl.lit("Other"))
    is_open = kind.is_in([*UNKNOWN, "counted_twice"])
    drawn = shown.select(
        label=pl.lit("    ").repeat_by("level").list.join("") + name,
        lo=pl.when(kind == "counted_twice").then(0.0).otherwise("own_lo"),
        hi=pl.when(kind == "counted_twice").then(-pl.col("seconds")).otherwise("own_hi"),
        seconds="seconds",
        share=pl.col("share") * 100,
        count="count",
        kind=pl.when(is_open).then(pl.lit("no name")).otherwise(classes),
    ).with_row_index("place")
    drawn = drawn.with_columns(label=pl.col("label") + pl.lit(" ").repeat_by("place").list.join(""))  # names repeat
    kinds = drawn.get_column("kind").unique(maintain_order=True).to_list()
    colours = [_GREY if one == "no name" else colour for one, colour in zip(kinds, class_colours(kinds), strict=True)]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), title=None)
    base = alt.Chart(drawn).encode(
        y=alt.Y("label:N", sort=drawn.get_column("label").to_list(), title=None, axis=alt.Axis(labelAlign="right")),
        tooltip=["label", "seconds", "share", "lo", "hi", "count", "kind"],
    )
    named, unnamed = base.transform_filter("datum.kind != 'no name'"), base.transform_filter("datum.kind == 'no name'")
    axis = alt.X("hi:Q", title="seconds", scale=alt.Scale(zero=True))
    layers = [
        named.mark_bar(height=14, opacity=0.35).encode(x=axis, color=colour),
        named.mark_bar(height=14).encode(x=alt.X("lo:Q", title="seconds"), color=colour),
        unnamed.mark_bar(height=14, filled=False, strokeDash=[4, 3]).encode(x=axis, color=colour),
    ]
    title = {"text": f"{ledger.base}: {ledger.total.value:,.6g} s", "subtitle": ledger.scope}
    return alt.layer(*layers, title=title).properties(width=560, height=max(60, 22 * drawn.height))
