"""``python -m fuzz.lines``: mutated lines through every engine; what they read must be equal, column for column.

A log is made of the lines of a real or generated one: its first lines as they are, by which it is recognised, then
lines that are mutated one by one, no two of them alike.  Compiled code reads it in one process, Polars expressions in
another (``IOLAB_KERNEL=off``), and all frames are compared.  Where a grammar describes whole lines, Lark parses each
line, too: of strace the columns that it gives are compared, of the other formats the kind of the line.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections import Counter, deque
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from fuzz.driver import seeds
from fuzz.engines import FAILED, Frames, by_lark, frames_of, use_expressions
from logframe import LogError, open_log
from logframe.formats import head_of, sniff_all
from logframe.native import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Formats of which lines are mutated.
FORMATS: Final = ("strace", "sqltrace", "awr", "sqlplus", "host")
#: Lines at the start of a log that are left as they are.
_HEAD: Final = 40
#: The longest line that is mutated, in characters.
_LONGEST: Final = 2000
#: What stands where no reader expects it.
MARKS: Final = (
    *('"', "'", "\\", "(", ")", "<", ">", "{", "}", "[", "]", "=", " = ", ") = ", "?", "|", ",", ".", ":", ";", "#"),
    *("0", "-", "-1", "0x", "1e5", "99999999999999999999", "####", "N/A", "%", "é", "中", "\u00a0", "\t", " ", "   "),
    *("\r", "\x00", "\x0c", "--", "-----", "->", " <0.000001>", " <unfinished ...>", "resumed>", "SQL> ", "WAIT #1:"),
    *("&lt;", "</td>", "<td>", "</table>", "E", "K", "M", "tim=", "Elapsed: 00:00:00.01"),
)


class Difference(NamedTuple):
    """Two engines gave a log other columns.

    Attributes:
        format: Of the log.
        engines: Which two.
        table: Name of the frame.
        column: Name of the column; empty where the frame has other rows or columns.
        example: What differs first.
    """

    format: str
    engines: str
    table: str
    column: str
    example: str


@dataclass
class Compared:
    """What a run compared.

    Attributes:
        logs: Logs of each format.
        lines: Mutated lines of each format.
        by_lark: Lines that Lark parsed, of each format.
        columns: Columns that were compared.
        refused: Logs that every engine refused.
        differences: What differs, and the log.
    """

    logs: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    by_lark: Counter[str] = field(default_factory=Counter)
    columns: int = 0
    refused: int = 0
    differences: list[tuple[Difference, bytes]] = field(default_factory=list)


def mutated_line(line: str, other: str, chance: random.Random) -> str:
    """A line that lost or gained something, in one place or in several."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        start = chance.randint(0, len(line))
        end = min(len(line), start + chance.choice((0, 1, 2, 8, len(line))))
        match chance.randrange(8):
            case 0:
                line = line[:start]
            case 1:
                line = line[start:]
            case 2:
                line = line[:start] + line[end:]
            case 3 | 4:
                line = line[:start] + chance.choice(MARKS) + line[start:]
            case 5:
                line = line[:start] + chance.choice(MARKS) + line[end:]
            case 6:
                line = line[:start] + other[chance.randint(0, len(other)) :]
            case _:
                line = "".join(
                    chance.choice("0123456789") if letter.isdecimal() and chance.random() < 0.5 else letter
                    for letter in line
                )
    return line


def logs_by_format(logs: list[bytes]) -> dict[str, list[list[str]]]:
    """The lines of logs that are text, by the format that recognises each best."""
    found: dict[str, list[list[str]]] = {name: [] for name in FORMATS}
    for data in logs:
        text = data.decode("utf-8", errors="replace")
        if "\x00" in text:
            continue
        try:
            best = sniff_all(head_of(open_log(data)))
        except LogError:
            continue
        lines = [line[:_LONGEST] for line in text.replace("\r", "").split("\n")]
        if best and best[0][0].name in found and len(lines) > 3:
            found[best[0][0].name].append(lines)
    return found


def mutated_log(lines: list[str], count: int, chance: random.Random) -> tuple[bytes, int]:
    """A log with so many distinct mutated lines at most, in the order of the lines they were, and their number."""
    head = lines[: min(_HEAD, len(lines) // 2)]
    made = list(head)
    seen = set(lines)
    rest = lines[len(head) :]
    start = chance.randrange(len(rest)) if len(rest) > count else 0
    number = 0
    for place in range(start, start + 4 * count):
        line = rest[place % len(rest)]
        if chance.random() < 0.85:
            line = mutated_line(line, chance.choice(lines), chance)
            if line in seen:
                continue
            seen.add(line)
            number += 1
        made.append(line)
        if number == count:
            break
    return "\n".join([*made, ""]).encode(errors="replace"), number


def differences(name: str, engines: str, first: Frames, second: Frames) -> Iterator[Difference]:
    """Columns in which two engines differ, and what either raised that no log may raise."""
    for frames in (first, second):
        if FAILED in frames:
            yield Difference(name, engines, FAILED, "", frames[FAILED].item()[:1500])
            return
    if first.keys() != second.keys():
        yield Difference(name, engines, "", "", f"frames {sorted(first)} and {sorted(second)}")
        return
    for table, frame in first.items():
        other = second[table]
        if frame.schema != other.schema or frame.height != other.height:
            yield Difference(name, engines, table, "", f"{frame.shape} {other.shape} {frame.schema} {other.schema}")
            continue
        for column in frame.columns:
            one, two = frame.get_column(column), other.get_column(column)
            if not one.equals(two, null_equal=True):
                pairs = zip(one.to_list(), two.to_list(), strict=True)
                row = next((row for row, (left, right) in enumerate(pairs) if left != right), 0)
                example = f"row {row}: {one[row]!r} and {two[row]!r}; {frame.row(row, named=True)}"
                yield Difference(name, engines, table, column, example[:1500])


def run(
    count: int,
    seed: int,
    logs: dict[str, list[list[str]]],
    *,
    lines_per_log: int = 2000,
    echo: Callable[[str], None] = lambda _: None,
) -> Compared:
    """Compare the engines on so many mutated lines, shared equally by the formats.

    Args:
        count: Distinct mutated lines of a log, summed over all logs.
        seed: Of the mutations: the same for the same logs and seed.
        logs: What `logs_by_format` gives.
        lines_per_log: Mutated lines of one log at most.
        echo: Gets each difference as it is found.

    Raises:
        RuntimeError: There is no compiled code to be compared.
    """
    if not engine().startswith("compiled"):
        raise RuntimeError(f"nothing to compare: {engine()}")
    result = Compared()
    compiled = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    expressions = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=use_expressions)
    waiting: deque[tuple[str, bytes, Future[Frames], Future[Frames], Future[tuple[Frames, Frames]]]] = deque()

    def finish() -> None:
        name, data, first, second, lark = waiting.popleft()
        parsed, own = lark.result()
        frames = first.result()
        result.refused += "refused" in frames
        result.by_lark[name] += sum(frame.height for frame in parsed.values())
        result.columns += sum(frame.width for frame in frames.values()) + sum(frame.width for frame in own.values())
        found = [
            *differences(name, "compiled code and expressions", frames, second.result()),
            *differences(name, "compiled code and Lark", own, parsed),
        ]
        for difference in found:
            result.differences.append((difference, data))
            echo(f"{name}, {difference.engines}: {difference.table}.{difference.column} {difference.example}")

    try:
        with compiled, expressions:
            for name in [name for name in FORMATS if logs.get(name)]:
                wanted, number = count // sum(bool(its) for its in logs.values()), 0
                while result.lines[name] < wanted:
                    chance = random.Random(f"{seed}:{name}:{number}")
                    number += 1
                    data, lines = mutated_log(
                        chance.choice(logs[name]), min(lines_per_log, wanted - result.lines[name]), chance
                    )
                    result.lines[name] += lines
                    result.logs[name] += 1
                    waiting.append(
                        (
                            *(name, data, compiled.submit(frames_of, name, data)),
                            *(expressions.submit(frames_of, name, data), compiled.submit(by_lark, name, data)),
                        )
                    )
                    if len(waiting) > 3:
                        finish()
            while waiting:
                finish()
    finally:
        compiled.shutdown(cancel_futures=True)
        expressions.shutdown(cancel_futures=True)
    return result


@click.command()
@click.option("--count", default=20_000, show_default=True, help="Mutated lines, shared by the formats.")
@click.option("--seed", default=1, show_default=True)
@click.option("--format", "formats", multiple=True, type=click.Choice(FORMATS), help="These formats only.")
@click.option("--lines-per-log", default=2000, show_default=True)
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), multiple=True, help="More logs to mutate.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/fuzz"), show_default=True)
def main(
    count: int, seed: int, formats: tuple[str, ...], lines_per_log: int, corpus: tuple[Path, ...], out: Path
) -> None:
    """Compare compiled code, expressions and Lark on mutated lines; ends with 1 where they differ."""
    logs = logs_by_format(seeds(corpus))
    chosen = {name: logs[name] for name in formats or FORMATS}
    found = run(count, seed, chosen, lines_per_log=lines_per_log, echo=click.echo)
    for name, lines in found.lines.items():
        click.echo(
            f"{name}: {lines:,} mutated lines in {found.logs[name]:,} logs, {found.by_lark[name]:,} lines by Lark,"
            f" {sum(difference.format == name for difference, _ in found.differences)} columns differ"
        )
    click.echo(f"{found.columns:,} columns compared; {found.refused:,} logs were refused")
    for difference, data in found.differences:
        out.mkdir(parents=True, exist_ok=True)
        path = out / f"lines_{difference.format}_{hashlib.sha256(data).hexdigest()[:12]}.log"
        path.write_bytes(data)
        click.echo(f"{difference.format} {difference.engines} {difference.table}.{difference.column}: {path}")
    sys.exit(bool(found.differences))


if __name__ == "__main__":
    main()
