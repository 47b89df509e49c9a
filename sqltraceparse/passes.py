"""Records of a trace with their owners, in two passes over parts of any size: what came before, and what comes after.

The process, the clock, the session and the statement of a line follow from the lines before it; the call that a wait is
part of, the caller of a call and the execution of a bind from those after it.  So the parts are read forward, then
backward, with a few rows carried from one to the next.  A trace in memory is one part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import Diagnostic
from sqltraceparse import clocks
from sqltraceparse.nesting import (
    BETWEEN_CALLS,
    FROM_CLIENT,
    INCLUSIVE,
    are_alike,
    calls_after,
    calls_of_waits,
    with_parents,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqltraceparse.reader import Pieces

Frames = dict[str, pl.DataFrame]
#: Parts of `sqltraceparse.reader.Pieces` that have owners.
_OWNED: Final = ("binds", "row_sources", "errors")
_TIMES: Final = ("cpu_us", "elapsed_us", "tim_us")
#: What later parts add to the figures of a call.
ADDED: Final = (*INCLUSIVE, "wait_us")
_NO_PROCESS: Final = -1
#: What a counter of 32 bits counts up to.
_COUNTER: Final = 1 << 32
#: Columns of waits that the second pass needs.
TIMED: Final = ("line", "process", "cursor", "clock", "tim_us", "elapsed_us", "shape", "owner")


class Forward:
    """The first pass: process, clock, session and statement of each record.

    Args:
        name: of the log, for diagnostics.
        unit: of the printed times, in us; None where the trace does not say its release.
        carried: the `carried` of the part before, where another object has read the parts before.

    Attributes:
        unit: of the printed times, in us.
        carried: what the parts that were added say of the next one.
        diagnostics: of all parts, those of the log as a whole once `finish` was called.
        process: the process that was named first; lines before it are its lines.
        clock: `sqltraceparse.schema.CLOCK`, once `finish` was called.
        cut_waits: lines of waits whose last parameter may lack digits, once `finish` was called.
        kinds: ``kind``, ``lines``.
        is_shared: a process serves several sessions (shared servers, DRCP), each with cursors of its own.
    """

    def __init__(self, name: str, unit: int | None, carried: Frames | None = None) -> None:
        self._name, self._is_unit_known = name, unit is not None
        self.unit = unit or 1
        self._has_fine_times = False
        self.carried: Frames = carried or {}
        self.diagnostics: list[Diagnostic] = []
        self.process: int | None = None
        self.clock = pl.DataFrame()
        self.cut_waits = pl.Series("line", dtype=pl.Int64)
        self.kinds = pl.DataFrame()
        self.is_shared = False
        self._kinds: list[pl.DataFrame] = []
        self._bare: list[pl.Series] = []
        self._failed = pl.Series("line", dtype=pl.Int64)
        self._ranges: list[pl.DataFrame] = []
        self._stamps = clocks.Stamps()
        self._waits = self._calls = 0

    def add(self, pieces: Pieces) -> Frames:
        """The frames of the next part of the log.

        Names of waits, their statement and their session are rows of the frames ``shapes``, ``owners``, ``sessions``.
        """
        self.diagnostics += pieces.diagnostics
        self._kinds.append(pieces.kinds)
        processes = self._processes(pieces.processes)
        waits, calls = (_scaled(of_process(frame, processes), self.unit) for frame in (pieces.waits, pieces.calls))
        calls = calls.with_columns(number=pl.int_range(self._calls, self._calls + pl.len(), dtype=pl.Int64))
        self._calls += calls.height
        self._has_fine_times |= bool(waits.get_column("tim_us").is_not_null().any())
        waits, calls, tims = self._with_clocks(waits, calls)
        waits, calls = self._without_overflows(waits, calls, tims)
        session = of_process(pieces.attributes, processes)
        self._stamps.add(session.select("process", "line", "name", "stamp").drop_nulls("stamp"), tims)
        self._find_bare(waits, pieces.diagnostics)
        statements = _scaled(of_process(pieces.statements.rename({"statement": "line"}), processes), self.unit)
        said = session.filter(pl.col("name") == "session_id").select("line", "process", session_id="value")
        said = self._carry("session", said, ["process"])
        self.is_shared |= bool(said.select((pl.col("session_id").n_unique() > 1).over("process").any()).item())
        named = statements.select(_OWNER).filter(pl.col("cursor").is_not_null())
        if statements.get_column("error").null_count() < statements.height:
            failed = statements.filter(pl.col("error").is_not_null()).get_column("line")
            self._failed = pl.concat([self._failed, failed.cast(pl.Int64)])
        held = with_owner(self._with_ends(named, calls), said, [])
        owners = self._carry("owners", held, [*_KEY, "session_id"])
        own = {
            name: self._owned(of_process(_scaled(getattr(pieces, name), self.unit), processes), owners, said)
            for name in _OWNED
        }
        own["row_sources"] = self._with_plan(own["row_sources"])
        transactions = of_process(_scaled(pieces.transactions, self.unit), processes)
        numbered, places = (rows.with_row_index(name) for rows, name in ((owners, "owner"), (said, "session")))
        waits = self._owned(waits, numbered.select("line", *_KEY, "session_id", "owner"), said)
        return {
            "waits": with_owner(waits, places.select("line", "process", "session"), []),
            "shapes": pieces.shapes,
            "owners": owners.select("statement", "sql_id"),
            "sessions": said.select("session_id"),
            "calls": with_owner(self._owned(calls, owners, said), said, []),
            "statements": statements.rename({"line": "statement"}),
            **own,
            "transactions": with_owner(transactions, tims.select("line", "process", "clock"), []),
            "session": session,
        }

    def _owned(self, rows: pl.DataFrame, owners: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
        """The rows with the owner that their cursor held last: in their session, where a process serves several."""
        every = owners.drop("session_id")
        if not self.is_shared:
            return with_owner(rows, every, ["cursor"])
        found = with_owner(with_owner(rows, said, []), owners, ["cursor", "session_id"]).drop("session_id")
        # before the first line that names a session it is not known whose a cursor was
        unnamed = with_owner(rows, every.filter(owners.get_column("session_id").is_null()), ["cursor"])
        return found.with_columns(
            pl.coalesce(found.get_column(name), unnamed.get_column(name)).alias(name)
            for name in every.columns
            if name not in {"line", *_KEY}
        )

    def finish(self) -> None:
        """What is known of the log as a whole."""
        kinds = pl.concat(self._kinds) if self._kinds else pl.DataFrame(schema={"kind": pl.String, "lines": pl.Int64})
        self.kinds = kinds.group_by("kind").agg(pl.col("lines").sum()).sort("kind")
        ranges = pl.concat(self._ranges) if self._ranges else pl.DataFrame(schema=_RANGE)
        ranges = ranges.with_columns(pl.col("process").fill_null(pl.lit(self.process, pl.Int64)))
        ranges = ranges.group_by("process", "clock", maintain_order=True).agg(
            pl.col("line").first(), pl.col("first_tim_us").min(), pl.col("last_tim_us").max()
        )
        self.clock, rows = clocks.clocks(ranges, self._stamps.said(self.process), self._name)
        self.diagnostics += rows
        if not self._is_unit_known and self._waits and not self.are_centiseconds and not self._is_fine():
            reason = (
                "the trace does not say its release, and its stamps do not show the unit of its times: microseconds "
                "are assumed; those of 8i are hundredths of a second"
            )
            self.diagnostics.append(Diagnostic(self._name, 1, None, "ambiguous", None, reason))
        self.say_cut(is_usual=sum(bare.len() for bare in self._bare) > self._waits / 2)

    @property
    def are_centiseconds(self) -> bool:
        """Whether stamps show that a trace without a head counts units of 10 ms; after `finish`."""
        rates = self.clock.get_column("rate").drop_nulls()
        is_slow = bool(rates.len()) and bool(rates.is_between(0.5e-4, 2e-4).all())
        return is_slow and not self._is_unit_known and not self._has_fine_times

    def _is_fine(self) -> bool:
        """Whether the trace shows that it counts microseconds: waits have times (from 10.2 on), or stamps agree."""
        rates = self.clock.get_column("rate").drop_nulls()
        return self._has_fine_times or (bool(rates.len()) and bool(rates.is_between(0.5, 2).any()))

    def _processes(self, named: pl.DataFrame) -> pl.DataFrame:
        """The processes that are named in this part, below the one that was named last before it."""
        before = self.carried.get("process")
        found = named if before is None else pl.concat([before, named])
        if found.height:
            if self.process is None:
                self.process = int(found.item(0, "process"))
                self.carried = with_process(self.carried, self.process)
                self._stamps.name_process(self.process)
            self.carried["process"] = found.tail(1)
        return found

    def _with_ends(self, named: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
        """The statements of cursors, and from which lines on a cursor has none.

        One has none after a hard close (``type=0``), and when it is executed after a parse that failed.
        """
        ends: list[pl.DataFrame] = []
        if (calls.get_column("close_type") == 0).any():
            ends.append(calls.filter(pl.col("close_type") == 0).select(pl.col("line") + 1, *_KEY))
        if len(self._failed):
            before = self.carried.get("owners")
            known = named if before is None else pl.concat([before.select(named.columns), named])
            runs = calls.filter(pl.col("op").is_in(["EXEC", "FETCH"])).select("line", *_KEY)
            runs = with_owner(runs, known.select("line", *_KEY, "statement"), ["cursor"])
            ends.append(runs.filter(pl.col("statement").is_in(self._failed.implode())).select("line", *_KEY))
        if not any(one.height for one in ends):
            return named
        both = pl.concat([*ends, named], how="diagonal").select(named.columns)
        return both.sort("line", maintain_order=True)  # a statement that begins on that line comes last, and counts

    def _carry(self, name: str, rows: pl.DataFrame, key: list[str]) -> pl.DataFrame:
        """The rows below those that are carried; the last of each key is carried on."""
        before = self.carried.get(name)
        found = rows if before is None else pl.concat([before, rows])
        self.carried[name] = found.unique(key, keep="last", maintain_order=True)
        return found

    def _with_clocks(self, waits: pl.DataFrame, calls: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Waits and calls with ``clock`` and sound ``tim_us``, and all of their times in order below the carried."""
        frames = []
        for number, frame in enumerate((waits, calls)):
            sound = pl.when(pl.col("tim_us") > 0).then("tim_us").alias("tim_us")
            row = pl.int_range(pl.len(), dtype=pl.UInt32)
            frames.append(frame.select("process", "line", sound, kind=pl.lit(number), row=row))
        tims = frames[0].merge_sorted(frames[1], "line").filter(pl.col("tim_us").is_not_null())
        before = self.carried.get("tims")
        tims, rows = clocks.with_clock(tims, self._name, before)
        self.diagnostics += rows
        known = tims.drop_nulls("tim_us")
        self._ranges.append(
            known.group_by("process", "clock", maintain_order=True)
            .agg(pl.col("line").first(), first_tim_us=pl.col("tim_us").min(), last_tim_us=pl.col("tim_us").max())
            .cast(_RANGE)
        )
        found = []
        for number, frame in enumerate((waits, calls)):
            part = tims.filter(pl.col("kind") == number).select("row", "tim_us", "clock")
            if part.height == frame.height:
                found.append(frame.with_columns(part.sort("row").get_columns()[1:]))
            else:
                indexed = frame.drop("tim_us").with_row_index("row")
                timed = indexed.join(part, on="row", how="left", maintain_order="left")
                found.append(timed.select(*frame.columns, "clock"))
        known = known.select(_TIM)
        self.carried["tims"] = known.unique(["process"], keep="last", maintain_order=True)
        return found[0], found[1], known

    def _without_overflows(
        self, waits: pl.DataFrame, calls: pl.DataFrame, tims: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Waits and calls without figures of 2**32 and more that began before what had ended above them.

        Whatever stands above a wait has ended before it; above a call, calls of its depth or a lesser one have.
        """
        ends = self._carry("ends", calls[["process", "line", "clock", "tim_us", "depth"]], ["process", "depth"])
        own = {"waits": waits, "calls": calls}
        figures = (waits["elapsed_us"], calls["elapsed_us"], calls["cpu_us"])
        if not any((one >= _COUNTER).any() for one in figures):
            return waits, calls
        for of, above, name in (
            ("waits", tims, "elapsed_us"),
            ("calls", ends, "elapsed_us"),
            ("calls", ends, "cpu_us"),
        ):
            large = own[of].filter(pl.col(name) >= _COUNTER, pl.col("tim_us").is_not_null())
            began = {one["line"]: _began_before(one, one[name], above) for one in large.iter_rows(named=True)}
            lines = [line for line, is_before in began.items() if is_before]
            what = {"elapsed_us": "an elapsed time", "cpu_us": "a CPU time"}[name]
            reasons = {
                True: f"{what} that began before what stands above had ended: a counter overflowed",
                None: f"{what} of 2**32 and more with nothing above: a counter may have overflowed",
            }
            for line, is_before in began.items():
                if is_before in reasons:
                    self.diagnostics.append(Diagnostic(self._name, line, None, "overflow", None, reasons[is_before]))
            if lines:
                own[of] = own[of].with_columns(pl.when(~pl.col("line").is_in(lines)).then(name).alias(name))
        return own["waits"], own["calls"]

    def say_cut(self, *, is_usual: bool) -> None:
        """Note the waits that end before ``obj#`` as cut, unless most waits of the log end so."""
        bare = pl.concat(self._bare) if self._bare else self.cut_waits
        if is_usual or bare.is_empty():
            return
        self.cut_waits = bare
        reason = "the line is cut after the parameters, which others do not end with; the last parameter is left out"
        self.diagnostics += [Diagnostic(self._name, line, None, "cut", None, reason) for line in bare]

    def _find_bare(self, waits: pl.DataFrame, diagnostics: list[Diagnostic]) -> None:
        """Waits that end before ``obj#``: if the others go on, their last parameter may lack digits."""
        self._waits += waits.height
        odd = bare_waits(waits, diagnostics)
        if odd.len():
            self._bare.append(odd)

    def _with_plan(self, row_sources: pl.DataFrame) -> pl.DataFrame:
        """Row sources with the plan they are part of: the line of its first row source."""
        before = self.carried.get("plan")
        rows = row_sources.with_columns(plan=pl.lit(None, pl.Int64))
        rows = rows if before is None else pl.concat([before, rows])
        start = pl.when(pl.col("plan").is_not_null()).then("plan").when(starts_plan()).then("line")
        found = rows.with_columns(plan=start.forward_fill())
        self.carried["plan"] = found.tail(1)
        return found.tail(row_sources.height)


def _began_before(one: dict[str, Any], duration: int, above: pl.DataFrame) -> bool | None:
    """Would a wait or a call of this duration have begun before what stands above it had ended?  None: nothing does."""
    ended = above.filter(
        pl.col("line") < one["line"],
        pl.col("process").eq_missing(one["process"]),
        pl.col("clock") == one["clock"],
        *([pl.col("depth") <= one["depth"]] if "depth" in above.columns and one["depth"] is not None else []),
    )
    return one["tim_us"] - duration < ended.item(-1, "tim_us") if ended.height else None


def bare_waits(waits: pl.DataFrame, diagnostics: Sequence[Diagnostic]) -> pl.Series:
    """The lines of waits that end before ``obj#``, without those that are known to be cut."""
    known = [row.line for row in diagnostics if row.kind == "cut"]
    is_bare = pl.col("object_id").is_null() & pl.col("tim_us").is_null() & pl.col("p3").is_not_null()
    return waits.filter(is_bare, ~pl.col("line").is_in(known)).get_column("line")


def executions(calls: pl.DataFrame) -> pl.DataFrame:
    """The executions among calls, as what binds belong to."""
    return calls.filter(pl.col("op") == "EXEC").select("line", "process", "cursor", call="line")


def with_process(frames: Frames, process: int | None) -> Frames:
    """The frames with a process for the lines before the first that names one."""
    named = pl.col("process").fill_null(pl.lit(process, pl.Int64))
    return {
        name: frame.with_columns(named) if "process" in frame and frame.get_column("process").null_count() else frame
        for name, frame in frames.items()
    }


def in_order(rows: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics by line and kind."""
    return sorted(rows, key=lambda row: (row.line or 0, row.kind))


def starts_plan() -> pl.Expr:
    """Whether a row source is the first of its plan, by the one before it."""
    number, cursor = pl.col("id"), pl.col("cursor")
    first = (number == 1) | (cursor != cursor.shift()) | (number <= number.shift())
    return first.fill_null(value=True)


class Backward:
    """The second pass, from the last part to the first: parents of calls, calls of waits, executions of binds.

    Args:
        process: that of the lines before the first that names one; an attribute, too.
        runs: the first execution of each cursor after the last part, where another object has read what follows.
    """

    def __init__(self, process: int | None, runs: pl.DataFrame | None = None) -> None:
        self.process = process
        self._calls: pl.DataFrame | None = None
        self._clients: pl.DataFrame | None = None
        self._runs = runs
        self._late: list[pl.DataFrame] = []

    def add(self, frames: Frames) -> Frames:
        """The frames of the part before those that were given so far.

        Args:
            frames: ``calls``, ``waits``, ``binds``, ``shapes``, ``owners`` of the part, and others, which stay.

        Returns:
            The calls and binds with their owners; ``links``: what the waits get, row by row (``call``, ``call_from``,
            ``next_call``, ``owner``), and the ``owners`` that these name.
        """
        frames = with_process(frames, self.process)
        own, waits, binds = frames["calls"], frames["waits"], frames["binds"]
        calls = own if self._calls is None else pl.concat([own, _wanted_before(self._calls)])
        calls, below = with_parents(calls, own.height)
        events, shape = frames["shapes"].get_column("event"), waits.get_column("shape")
        timed = waits.select(TIMED).with_columns(
            events.is_in(BETWEEN_CALLS).gather(shape).alias("is_between"),
            (events == FROM_CLIENT).gather(shape).alias("is_from_client"),
        )
        # of the parts after this one: the next waits for the client
        later = timed if self._clients is None else pl.concat([timed, self._clients])
        found = calls_of_waits(later, calls).head(timed.height)
        if timed.get_column("tim_us").null_count():  # only waits without times, as of 9.2, need them
            self._clients = later.filter("is_from_client").unique("process", keep="first", maintain_order=True)
        row = found.get_column("row")
        owner = (pl.col("owner") + calls.height).cast(pl.UInt32)  # the calls come first among the owners
        links = pl.DataFrame(
            [
                calls.get_column("line").gather(row).alias("call"),
                found.get_column("call_from"),
                calls_after(timed, calls),
                waits.select(pl.coalesce(row.cast(pl.UInt32), owner).alias("owner")).to_series(),
            ]
        )
        owned = waits.select("elapsed_us", row).filter(pl.col("row").is_not_null())
        held = owned.group_by("row").agg(_wait_us=pl.col("elapsed_us").sum())
        sums = below.join(held, on="row", how="full", coalesce=True)
        own_calls = calls.head(own.height).join(sums, on="row", how="left", maintain_order="left")
        if calls.height > own.height:
            late = sums.filter(pl.col("row") >= own.height)
            self._late.append(late.with_columns(number=calls.get_column("number").gather(late.get_column("row"))))
        runs = executions(own)
        if self._runs is not None:
            runs = pl.concat([runs, self._runs.unique(_KEY, keep="first", maintain_order=True)])
        self._runs, self._calls = runs, calls.select(own.columns)
        return {
            **frames,
            "calls": own_calls.drop("row"),
            "links": links,
            "owners": pl.concat([calls.select("statement", "sql_id"), frames["owners"]]),
            "binds": with_owner(binds, runs, ["cursor"], strategy="forward"),
        }

    def late(self) -> pl.DataFrame:
        """What the parts before a call's own add to it: ``number`` and `ADDED` (each as ``_...``)."""
        sums = [pl.col(f"_{name}").sum() for name in ADDED]
        if not self._late:
            return pl.DataFrame(schema={"number": pl.Int64(), **{f"_{name}": pl.Int64() for name in ADDED}})
        return pl.concat(self._late).group_by("number").agg(sums)


_OWNER: Final = ("line", "process", "cursor", "sql_id", pl.col("line").alias("statement"))
_KEY: Final = ["process", "cursor"]
_TIM: Final = ("line", "process", "clock", "tim_us")
_RANGE: Final = pl.Schema({name: pl.Int64() for name in ("process", "clock", "line", "first_tim_us", "last_tim_us")})


def _wanted_before(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls that calls and waits before them may be part of.

    By process: up to the first of depth 0, each that has a lesser depth than all before it, and the first of each
    cursor.
    """
    depth = pl.col("depth").fill_null(_DEEPEST)
    is_root = (depth == 0).cum_sum().over("process")
    near = calls.filter((is_root == 0) | ((is_root == 1) & (depth == 0)))
    lower = depth < depth.cum_min().shift(fill_value=_DEEPEST + 1)
    return near.filter(lower.over("process") | pl.struct(_KEY).is_first_distinct())


_DEEPEST: Final = 1_000


def with_owner(
    frame: pl.DataFrame, owners: pl.DataFrame, by: Sequence[str], *, strategy: str = "backward"
) -> pl.DataFrame:
    """The rows with the columns of the nearest owner of their process, before or after their line."""
    columns = [name for name in owners.columns if name not in {"line", "process", *by}]
    if owners.is_empty() or frame.is_empty():
        return frame.with_columns(pl.lit(None, owners.schema[name]).alias(name) for name in columns)
    keys = list(by)
    processes = [one.get_column("process") for one in (frame, owners)]
    if not are_alike(*processes):
        keys.append("_process")
        named = pl.col("process").fill_null(_NO_PROCESS).alias("_process")
        frame, owners = frame.with_columns(named), owners.with_columns(named)
    found = frame.join_asof(
        owners.select("line", *keys, *columns),
        on="line",
        by=keys or None,
        strategy=strategy,  # type: ignore[arg-type]
        check_sortedness=False,
    )
    return found.drop("_process") if "_process" in keys else found


def _scaled(frame: pl.DataFrame, unit: int) -> pl.DataFrame:
    """Times in microseconds."""
    return frame if unit == 1 else frame.with_columns(pl.col(n) * unit for n in _TIMES if n in frame.columns)


def of_process(frame: pl.DataFrame, processes: pl.DataFrame, *, of_first: bool = True) -> pl.DataFrame:
    """The rows with the process whose lines they are: the last one that was named.

    Args:
        frame: with ``line``.
        processes: ``line``, ``process``.
        of_first: lines before the first name are of the first process; False: it is not known whose they are.
    """
    if processes.is_empty():
        return frame.with_columns(pl.lit(None, pl.Int64).alias("process"))
    if of_first and processes.get_column("process").n_unique() == 1:
        return frame.with_columns(pl.lit(processes.item(0, "process"), pl.Int64).alias("process"))
    found = frame.join_asof(processes, on="line", strategy="backward", check_sortedness=False)
    return found.with_columns(pl.col("process").fill_null(processes.item(0, "process"))) if of_first else found
