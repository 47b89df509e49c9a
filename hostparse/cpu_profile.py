"""CPU profiles: samples by function, from dtrace, perf script or folded stacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic, LogParseError, diagnostics_frame, open_log
from logframe.copied import cleanup_by_sign
from logframe.formats import Format, Sniff
from logframe.grammar import load_grammar
from logframe.normalize import without_terminal_codes
from logframe.parsed_log import ParsedLog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Source
    from logframe.formats import Head

#: Columns of `CpuProfile.samples`.
PROFILE: Final = pl.Schema(
    {
        "function": pl.String(),
        "module": pl.String(),
        "samples": pl.Int64(),
        "is_kernel": pl.Boolean(),
        "is_idle": pl.Boolean(),
    }
)

#: Samples of a function as a row of `PROFILE`; ``is_kernel`` where it is marked so, ``is_idle`` where its thread is.
_Sample = tuple[str, str | None, int, bool | None, bool]

GRAMMAR: Final = load_grammar("hostparse", "profile.lark", "line")


def _line(template: str) -> re.Pattern[str]:
    return re.compile(f"^{GRAMMAR.pattern(template)}$")


_AGGREGATED: Final = _line(r"\s*(?P<module>{MODULE})`(?P<function>{FUNCTION})(?:\s+(?P<count>{COUNT}))?\s*")
_COUNT: Final = _line(r"\s+(?P<count>{COUNT})\s*")
_PERF_HEAD: Final = _line("{PERF_HEAD}")
_PERF_FRAME: Final = _line(r"\s+[0-9a-f]+\s+(?P<function>{FRAME})\s+\((?P<module>[^()]*)\)\s*")
_FOLDED: Final = _line(r"(?P<stack>{STACK})\s+(?P<count>{COUNT})\s*")
_OFFSET: Final = _line("(?P<name>.*?){OFFSET}?")
_KERNEL_MODULE: Final = _line("{KERNEL_MODULE}")
_ANNOTATED: Final = _line(r"(?P<name>.*)_\[(?P<mark>{MARK})\]")
_IDLE_THREAD: Final = re.compile(GRAMMAR.pattern(r"{IDLE_THREAD}(?:[;\s]|$)"))
_IDLE_FUNCTION: Final = _line("{IDLE_FUNCTION}")


class CpuProfile(ParsedLog):
    """A CPU profile.

    Attributes:
        format: ``cpu_profile``.
        kind: ``dtrace``, ``perf`` or ``folded``.
        source: Name of the log.
        samples: One row a function that was running when a sample was taken (`PROFILE`), most samples first;
            ``module`` is null in folded stacks; ``is_kernel``: the module is the operating system's kernel, or the
            function is marked as of it (``_[k]``), null where nothing says it; ``is_idle``: the processor had nothing
            to do.
        diagnostics: What was wrong with the log when it was opened, and lines that are no sample; one
            of folded stacks raises.
    """

    format: Final = "cpu_profile"
    source: str
    kind: str
    diagnostics: pl.DataFrame

    def __init__(self, source: str, kind: str, samples: pl.DataFrame, notes: tuple[Diagnostic, ...] = ()) -> None:
        self.source = source
        self.kind = kind
        self.samples = samples
        self.diagnostics = diagnostics_frame(list(notes))

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frame `samples`."""
        return {"samples": self.samples}

    def describe(self) -> str:
        """What the profile is, in a few words."""
        return (
            f"CPU profile ({self.kind}), {self.samples['samples'].sum():,} samples of {self.samples.height:,} functions"
        )


def read_profile(source: Source) -> CpuProfile:
    r"""A profile by function: the function that was running, not those that called it.

    Three forms are read: what ``dtrace`` prints of an aggregation (functions or stacks, ``module`function``), ``perf
    script``, and folded stacks (``a;b;c 12``).

    Args:
        source: A path, bytes, a file object.

    Raises:
        LogParseError: The file is empty, or in none of the forms; or a line of folded stacks is not.

    Examples:
        >>> read_profile(b"  oracle`kdst_fetch   14\n  oracle`kcbgtcr   181\n").samples.rows()
        [('kcbgtcr', 'oracle', 181, False, False), ('kdst_fetch', 'oracle', 14, False, False)]
        >>> read_profile(b"main;opiodr;kcbgtcr 3\nmain;opiodr 1\n").samples.select("function", "samples").rows()
        [('kcbgtcr', 3), ('opiodr', 1)]
    """
    log = open_log(source)
    lines = unmarked(log.lines())
    if not any(line.strip() for line in lines):
        raise LogParseError("the file is empty", source=log.name, expected="a profile")
    kind = kind_of(lines)
    read = {"dtrace": _read_dtrace, "perf": _read_perf}.get(kind)
    unread: list[int] = []
    found = list(_read_folded(lines, log.name) if read is None else read(lines, unread))
    if not found:
        raise LogParseError(
            "no sample found", source=log.name, expected="a dtrace aggregation, perf script, or folded stacks"
        )
    samples = (
        pl.DataFrame(found, schema=PROFILE, orient="row")
        .with_columns(
            is_kernel=pl.coalesce("is_kernel", pl.col("module").str.contains(_KERNEL_MODULE.pattern)),
            is_idle=pl.col("is_idle") | pl.col("function").str.contains(_IDLE_FUNCTION.pattern),
        )
        .group_by("function", "module", "is_kernel", "is_idle")
        .agg(pl.col("samples").sum())
        .sort("samples", "function", "module", "is_kernel", "is_idle", descending=[True, *[False] * 4])
        .select(PROFILE.names())
    )
    notes = [Diagnostic(log.name, at, None, "unparsed", lines[at - 1], "no sample of the profile") for at in unread]
    return CpuProfile(log.name, kind, samples, (*log.notes, *notes))


def unmarked(lines: list[str]) -> list[str]:
    """An aggregation of dtrace without what a mail or an editor put before its lines; any other profile as it is."""
    written = [line for line in lines if line.strip()]
    found = cleanup_by_sign(written, _is_aggregation)
    plain = found.cleaned_lines([without_terminal_codes(line) for line in lines])
    return plain if plain != lines and _is_aggregation([line for line in plain if line.strip()]) else lines


def _is_aggregation(lines: list[str]) -> bool:
    """Are most lines of an aggregation, and the names of its modules without marks?"""
    found = [one for one in map(_AGGREGATED.match, lines) if one is not None]
    return 2 * len(found) > len(lines) and not any(line.startswith(">") for line in lines)


def kind_of(lines: list[str]) -> str:
    """``dtrace`` by a line that only it prints, ``perf`` by a heading above frames, else ``folded``.

    A row of a plan, such as `1    0   TABLE ACCESS (FULL)`, has the form of a frame, but no heading above it.

    Examples:
        >>> kind_of(["  oracle`kcbgtcr   181"]), kind_of(["a;b 3"]), kind_of(["   1    0   TABLE ACCESS (FULL)"])
        ('dtrace', 'folded', 'folded')
    """
    if any(_AGGREGATED.match(line) for line in lines):
        return "dtrace"
    is_headed = False
    for line in lines:
        if is_headed and _PERF_FRAME.match(line):
            return "perf"
        is_headed = is_headed or _PERF_HEAD.match(line) is not None
    return "folded"


def _read_dtrace(lines: list[str], unread: list[int]) -> Iterator[_Sample]:
    """Functions with their count, or stacks (the running function first) above their count; counts of others."""
    top: tuple[str, str] | None = None
    for number, line in enumerate(lines, 1):
        if frame := _AGGREGATED.match(line):
            name = (_without_offset(frame["function"]), frame["module"])
            if frame["count"]:
                yield *name, int(frame["count"]), None, False
            else:
                top = top or name
        elif (count := _COUNT.match(line)) and top is not None:
            yield *top, int(count["count"]), None, False
            top = None
        elif count or _ends_with_count(line):
            unread.append(number)


def _ends_with_count(line: str) -> bool:
    """Is a line indented, and its last of several words a count?"""
    words = line.split()
    return line[:1].isspace() and len(words) > 1 and words[-1].isdecimal()


def _read_perf(lines: list[str], unread: list[int]) -> Iterator[_Sample]:
    """One sample a heading; its first frame is the running function."""
    is_wanted = is_idle = False
    for number, line in enumerate(lines, 1):
        if frame := _PERF_FRAME.match(line):
            if is_wanted:
                yield _without_offset(frame["function"]), frame["module"].rpartition("/")[2], 1, None, is_idle
            is_wanted = False
        elif _PERF_HEAD.match(line):
            is_wanted, is_idle = True, _IDLE_THREAD.match(line) is not None
        elif line.strip() and not line.startswith("#"):
            unread.append(number)


def _read_folded(lines: list[str], source: str) -> Iterator[_Sample]:
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        stack = _FOLDED.match(line)
        if stack is None:
            raise LogParseError(
                "no sample of a profile",
                source=source,
                line=number,
                column=1,
                text=line,
                expected="a dtrace aggregation, perf script, or folded stacks (a;b;c 12)",
            )
        function = stack["stack"].rpartition(";")[2]
        marked = _ANNOTATED.match(function)
        is_kernel = None if marked is None else marked["mark"] == "k"
        name = function if marked is None else marked["name"]
        yield name, None, int(stack["count"]), is_kernel, _IDLE_THREAD.match(stack["stack"]) is not None


def _without_offset(function: str) -> str:
    found = _OFFSET.match(function)
    return function if found is None else found["name"]


_SCORE: Final = 0.8
#: Folded stacks are any text that ends in a number: the reader has to try.
_POSSIBLE: Final = 0.02


def _sniff(head: Head) -> Sniff | None:
    """Whether a log is a CPU profile: by a line of dtrace or perf script."""
    if "`" not in head.text and "(" not in head.text and ";" not in head.text:
        return None
    lines = head.text.split("\n")
    kind = kind_of(lines)
    if kind == "folded" and "`" in head.text:
        kind = kind_of(unmarked(lines))
    if kind == "folded":
        return Sniff(_POSSIBLE, "perhaps folded stacks") if ";" in head.text else None
    return Sniff(_SCORE, f"a CPU profile ({kind})")


FORMAT: Final = Format(name="cpu_profile", title="a CPU profile", sniff=_sniff, read=read_profile)
