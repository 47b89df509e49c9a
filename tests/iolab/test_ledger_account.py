"""The account of time: whatever parts are added, every level closes, and its bounds hold what the log allows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iolab.time_ledger.account import Account, void_ledger
from iolab.time_ledger.parts import PARTS, Place
from logframe import Interval
from logframe.errors import LogError

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger

#: Kinds of the parts that close a level.
CLOSING = {"not_accounted", "counted_twice", "unlisted", "not_in_log"}
KINDS = ["cpu", "io", "wait", "client", "idle", "gap", "mixed", "contains"]


class Node(NamedTuple):
    """A part to add, with what is in it."""

    figure: Interval
    kind: str
    children: tuple[Node, ...]


def intervals(most: int) -> st.SearchStrategy[Interval]:
    """Times in eighths of a second, so that sums of them are exact, with bounds around the value."""
    eighths = st.integers(0, most)
    return st.tuples(eighths, st.integers(0, 16), st.integers(0, 16)).map(
        lambda parts: Interval(parts[0] / 8, max(parts[0] - parts[1], 0) / 8, (parts[0] + parts[2]) / 8)
    )


def _node(figure: Interval, kind: str, children: list[Node]) -> Node:
    return Node(Interval.exact(0.0) if kind == "contains" else figure, kind, tuple(children))


nodes = st.recursive(
    st.builds(_node, intervals(400), st.sampled_from(KINDS), st.just([])),
    lambda inner: st.builds(_node, intervals(800), st.sampled_from(KINDS[:-1]), st.lists(inner, max_size=4)),
    max_leaves=12,
)
forests = st.dictionaries(
    st.sampled_from(["what", "who", "where"]), st.lists(nodes, min_size=1, max_size=4), min_size=1
)


def add(account: Account, view: str, node: Node, parent: str | None, parts: dict[str, Node]) -> None:
    """Add a part and what is in it."""
    part = account.add(view, "part", node.figure, kind=node.kind, parent=parent)
    parts[part] = node
    for child in node.children:
        add(account, view, child, part, parts)


def built(total: Interval, forest: dict[str, list[Node]]) -> tuple[Ledger, dict[str, dict[str, Node]]]:
    """The ledger of a forest, and the parts of each view by their ids."""
    account = Account(total, "DB time")
    added: dict[str, dict[str, Node]] = {}
    for view, trees in forest.items():
        added[view] = {}
        for tree in trees:
            add(account, view, tree, None, added[view])
    return account.ledger(), added


def levels(ledger: Ledger, view: str) -> list[tuple[dict[str, float], pl.DataFrame]]:
    """Each part that has children, and the total, with its children."""
    parts = ledger.parts(view)
    assert ledger.total is not None
    whole = {
        "seconds": ledger.total.value,
        "seconds_lo": ledger.total.lo,
        "seconds_hi": ledger.total.hi,
    }
    found = [(whole, parts.filter(pl.col("parent").is_null()))]
    for row in parts.iter_rows(named=True):
        children = parts.filter(pl.col("parent") == row["part"])
        if children.height:
            found.append((row, children))
    return found


@given(total=intervals(2000).filter(lambda one: one.lo > 0), forest=forests)
@settings(max_examples=150)
def test_every_level_closes_once_and_its_bounds_hold(total: Interval, forest: dict[str, list[Node]]) -> None:
    """The children add up to their parent; one part closes a level; own times and shares are possible ones."""
    ledger, added = built(total, forest)

    assert ledger.frame.schema == PARTS
    for view in ledger.views:
        parts = ledger.parts(view)
        assert parts.height == ledger.frame.filter(pl.col("view") == view).height
        assert parts.get_column("part").is_unique().all()
        for parent, children in levels(ledger, view):
            assert children.get_column("seconds").sum() == pytest.approx(parent["seconds"], abs=1e-9)
            closing = children.filter(pl.col("kind").cast(pl.String).is_in(CLOSING))
            assert closing.height == 1
            assert (closing.item(0, "kind") == "counted_twice") == (closing.item(0, "seconds") < 0)
            assert children.item(-1, "kind") in CLOSING
        plain = parts.filter(pl.col("kind") != "counted_twice")
        own = plain.select(
            bad=(pl.col("own_lo") < 0) | (pl.col("own_lo") > pl.col("own_hi")) | (pl.col("own_hi") > total.hi)
        )
        assert not own.get_column("bad").any()
        shares = plain.drop_nulls("share").select("share_lo", "share", "share_hi")
        for lo, share, hi in shares.rows():
            assert 0 <= lo <= share + 1e-12 <= hi + 2e-12 <= 1 + 3e-12
        assert len(ledger.tree(view).splitlines()) == parts.height + 1
        assert set(added[view]) <= set(parts.get_column("part"))


@given(total=intervals(2000).filter(lambda one: one.lo > 0), forest=forests, seed=st.integers(0, 2**32))
@settings(max_examples=150)
def test_the_true_rest_lies_within_the_bounds_of_the_closing_part(
    total: Interval, forest: dict[str, list[Node]], seed: int
) -> None:
    """Whatever the log rounded away: true times within their bounds leave a rest within the bounds of what closes."""
    ledger, _ = built(total, forest)
    chance = random.Random(seed)  # noqa: S311 - no secret
    for view in ledger.views:
        for parent, children in levels(ledger, view):
            closing = children.filter(pl.col("kind").cast(pl.String).is_in(CLOSING)).row(0, named=True)
            named = children.filter(pl.col("part") != closing["part"])
            whole = chance.uniform(parent["seconds_lo"], parent["seconds_hi"])
            bounds = named.select("seconds_lo", "seconds_hi").rows()
            rest = whole - sum(chance.choice([lo, hi, chance.uniform(lo, hi)]) for lo, hi in bounds)
            assert closing["seconds_lo"] - 1e-9 <= rest <= closing["seconds_hi"] + 1e-9


@given(total=intervals(2000).filter(lambda one: one.lo > 0), figures=st.lists(intervals(400), min_size=1, max_size=6))
def test_parts_in_bulk_are_the_same_parts(total: Interval, figures: list[Interval]) -> None:
    """A frame of parts gives what one part after the other gives."""
    single, bulk = Account(total, "DB time"), Account(total, "DB time")
    for number, figure in enumerate(figures):
        single.add("who", f"s{number}", figure, kind="mixed", count=Interval.exact(number))
    rows = [
        {"view": "who", "part": f"s{number}", "name": f"s{number}", "kind": "mixed", "count": number}
        | {"seconds": one.value, "seconds_lo": one.lo, "seconds_hi": one.hi}
        for number, one in enumerate(figures)
    ]
    bulk.add_frame(pl.DataFrame(rows))

    columns = [name for name in PARTS if name not in {"evidence", "view", "kind"}]
    assert single.ledger().parts("who").select(columns).equals(bulk.ledger().parts("who").select(columns))


def test_a_level_closes_with_the_name_that_was_given_for_it() -> None:
    """What a list left out is `unlisted`; parts that are more than their parent are counted twice all the same."""
    account = Account(Interval.exact(10), "DB time")
    reads = account.add("what", "User I/O", Interval.exact(6), kind="io")
    locks = account.add("what", "Application", Interval.exact(4), kind="wait")
    account.add("what", "db file sequential read", Interval.exact(5), kind="io", parent=reads)
    account.add("what", "enq: TX", Interval.exact(5), kind="wait", parent=locks)
    for parent in (reads, locks):
        account.closes(parent, "unlisted in class", kind="unlisted")

    closing = account.ledger().frame.filter(pl.col("kind").cast(pl.String).is_in(CLOSING))

    assert set(closing.select("parent", "name", "kind", "seconds").rows()) == {
        (None, "not accounted for", "not_accounted", 0.0),
        ("User I/O", "unlisted in class", "unlisted", 1.0),
        ("Application", "counted twice", "counted_twice", -1.0),
    }


def test_what_is_counted_twice_above_is_taken_from_every_part_below() -> None:
    """No part below a level with 5 s too much is certain to have its last 5 s."""
    account = Account(Interval.exact(10), "DB time")
    reads = account.add("what", "User I/O", Interval.exact(9), kind="io")
    account.add("what", "db file sequential read", Interval.exact(8), kind="io", parent=reads)
    account.add("what", "DB CPU", Interval.exact(6), kind="cpu")

    own = dict(account.ledger().parts("what").select("name", "own_lo").rows())

    assert (own["User I/O"], own["db file sequential read"], own["DB CPU"]) == (4, 3, 1)


def test_explicit_closing_parts_of_both_signs_stay_and_none_is_added() -> None:
    """A log that shows both the rest and what is counted twice has both, where they close the level."""
    account = Account(Interval.exact(10), "total call time")
    account.add("what", "CPU", Interval.exact(11), kind="cpu")
    account.add("what", "counted twice", Interval.exact(-3), kind="counted_twice")
    account.add("what", "not accounted for", Interval.exact(2), kind="not_accounted")

    parts = account.ledger().parts("what")

    assert parts.get_column("seconds").sum() == 10
    assert parts.height == 3


def test_a_contradicted_sum_is_a_remark() -> None:
    """A check that fails says what the log states and what its parts add up to."""
    account = Account(Interval.exact(10), "DB time")
    account.add("what", "DB CPU", Interval.exact(9), kind="cpu", evidence=Place("time_model", ("DB CPU",)))

    assert account.check("captured", view="what", printed=99, computed=99.5, slack=0.6, unit="%")
    assert not account.check("captured", view="what", printed=99, computed=90, slack=0.6, unit="%")
    ledger = account.ledger()
    assert ledger.checks.get_column("holds").to_list() == [True, False]
    assert "99 %" in ledger.remarks.item(0, "text")
    assert "90 %" in ledger.remarks.item(0, "text")


def test_a_void_ledger_has_no_parts() -> None:
    """Its reason is the error of whoever asks for them."""
    ledger = void_ledger("the instance was restarted", base="DB time")

    assert (ledger.total, ledger.views) == (None, [])
    with pytest.raises(LogError, match="restarted"):
        ledger.parts()
