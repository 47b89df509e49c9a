"""Whether `provenance` is right: another digit in a number changes the cell that is said to hold it, and no other.

    python -m fuzz.perturbation --count 20000 --corpus folder

Numbers are taken at random from those that are ``typed``, one digit of each is another, and the log is read again.
Numbers of different lines are changed together, and one by one where more or less changes than was said.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click
import polars as pl

from logframe import LogError, open_log
from logframe.loading import load_all_logs, provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from logframe.formats import ParsedLog

#: What became of a changed number: ``right``, or else what changed.
RIGHT: Final = "right"
#: The cell changed, and so did that column in other rows: what is printed once above several rows.
SEVERAL: Final = "right, in several rows"
#: The cell changed, and rows or cells are there no longer or in addition: a count, or what says what belongs together.
ROWS: Final = "right, and it decides what else there is"
#: What is right.
GOOD: Final = (RIGHT, SEVERAL, ROWS)
#: A float has so many digits.
_DIGITS: Final = 15
_TOGETHER: Final = 32
_MOST_BYTES: Final = 1_500_000
_SEPARATORS: Final = "-/:. "

Frames = dict[str, pl.DataFrame]
Cell = tuple[str, int, str]


class Change(NamedTuple):
    """A number, and what became of it.

    Attributes:
        log: Which of the logs of the source.
        line: Of the number.
        column: Of the number.
        text: The number.
        changed: The number with another digit.
        cell: Frame, row and column that are said to hold it.
        outcome: `RIGHT`, `SEVERAL`, or what is wrong.
        detail: Other cells that changed.
    """

    log: int
    line: int
    column: int
    text: str
    changed: str
    cell: Cell
    outcome: str = ""
    detail: str = ""


def text_of(path: Path, most_lines: int | None = None) -> str:
    """A log as the lines that `provenance` counts, all or the first of them."""
    return "\n".join(open_log(path).lines()[:most_lines])


def another(text: str, chance: random.Random) -> str:
    """A number with another digit; a date stays a date, and the first digit is no zero.

    Examples:
        >>> another("31-12-2019", random.Random(1)), another("00:00:01", random.Random(1))
        ('31-12-2018', '00:00:02')
    """
    places = [place for place, letter in enumerate(text) if letter in "0123456789"][:_DIGITS]
    is_compound = any(letter in _SEPARATORS for letter in text.replace(".", "", 1))
    place = places[-1] if is_compound else chance.choice(places)
    digit = int(text[place])
    if is_compound:
        # the first day of a month and the last
        new = digit + 1 if digit == 0 or text[max(place - 1, 0) : place + 1] == "01" else digit - 1
    else:
        least = int(place == places[0] and len(places) > 1 and text[place + 1 : place + 2] != ".")
        new = chance.choice([one for one in range(least, 10) if one != digit])
    return f"{text[:place]}{new}{text[place + 1 :]}"


class Perturbation:
    """A source whose numbers are changed.

    Args:
        text: The source.
        seed: Which numbers and digits.
    """

    def __init__(self, text: str, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._lines = text.split("\n")
        logs = self._read(self._lines)
        self._formats = [log.format for log in logs]
        self._frames = [_frames_of(log) for log in logs]
        self._claimed: list[set[Cell]] = []
        self.counts: Counter[str] = Counter()
        self._typed: list[Change] = []
        for number, log in enumerate(logs):
            found = provenance(log, _source(self._lines))
            self.counts.update(dict(found.group_by(pl.col("status").cast(pl.String)).len().rows()))
            typed = found.filter(status="typed")
            self._claimed.append(set(typed.select("frame", "frame_row", "frame_column").rows()))
            for line, column, printed, frame, name, row in typed.select(
                "line", "column", "text", "frame", "frame_column", "frame_row"
            ).rows():
                self._typed.append(Change(number, line, column, printed, "", (frame, row, name)))

    @property
    def formats(self) -> list[str]:
        """The formats of its logs."""
        return self._formats

    def run(self, count: int, deadline: float = float("inf")) -> Iterator[Change]:
        """Change this many numbers, or as many as there are."""
        chosen = self._chance.sample(self._typed, min(count, len(self._typed)))
        batch: list[Change] = []
        for one in chosen:
            if time.monotonic() > deadline:
                return
            printed = self._lines[one.line - 1][one.column - 1 :] if one.line <= len(self._lines) else ""
            if not printed.startswith(one.text):
                yield one._replace(outcome="elsewhere in the source")
            elif (one.cell[0], one.cell[2]) not in _columns_of(self._frames[one.log]):
                yield one._replace(outcome="no such column")
            else:
                if len(batch) == _TOGETHER or any(one.line == other.line or one.cell == other.cell for other in batch):
                    yield from self._checked(batch)
                    batch = []
                batch.append(one._replace(changed=another(one.text, self._chance)))
        yield from self._checked(batch)

    def _checked(self, batch: Sequence[Change]) -> Iterator[Change]:
        """What became of some numbers that are changed together."""
        if not batch:
            return
        lines = list(self._lines)
        for one in batch:
            line = lines[one.line - 1]
            start = one.column - 1
            lines[one.line - 1] = line[:start] + one.changed + line[start + len(one.text) :]
        try:
            logs = self._read(lines)
        except LogError:
            logs = []
        wanted = {(one.log, one.cell) for one in batch}
        differences: dict[tuple[int, Cell], bool] | None = None
        if [log.format for log in logs] == self._formats:
            differences = {
                (number, cell): is_gone
                for number, log in enumerate(logs)
                for cell, is_gone in _differences(self._frames[number], _frames_of(log), self._claimed[number])
            }
        if differences is not None and differences.keys() == wanted:
            yield from (one._replace(outcome=RIGHT) for one in batch)
        elif len(batch) == 1:
            outcome, detail = _outcome(batch[0].cell, differences)
            yield batch[0]._replace(outcome=outcome, detail=detail)
        else:
            half = len(batch) // 2
            yield from self._checked(batch[:half])
            yield from self._checked(batch[half:])

    @staticmethod
    def _read(lines: Sequence[str]) -> list[ParsedLog]:
        return load_all_logs(_source(lines))


def _source(lines: Sequence[str]) -> dict[str, object]:
    return {"name": "perturbed.log", "content": "\n".join(lines).encode(errors="surrogateescape")}


def _frames_of(log: ParsedLog) -> Frames:
    return {name: frame.lazy().collect() for name, frame in log.frames().items()}


def _columns_of(frames: Frames) -> set[tuple[str, str]]:
    return {(name, column) for name, frame in frames.items() for column in frame.columns}


def _differences(before: Frames, after: Frames, claimed: set[Cell]) -> Iterator[tuple[Cell, bool]]:
    """The cells that numbers are said to be in, and the empty ones beside them, that are others; which are empty now.

    A row is -1 where there are more rows or fewer.
    """
    base = {(frame, column) for frame, _, column in claimed}
    for name, frame in before.items():
        columns = [column for column in frame.columns if (name, column) in base]
        other = after.get(name)
        if not columns:
            continue
        if other is None or not set(columns) <= set(other.columns):
            yield (name, -1, ""), True
            continue
        # a time of Python has no nanoseconds
        rows, new = (one.select(pl.col(columns).to_physical()).rows() for one in (frame, other))
        place = {key: row for row, key in enumerate(_keys(frame))}
        its = {key: row for row, key in enumerate(_keys(other))}
        if place.keys() != its.keys():
            yield (name, -1, f"{frame.height} rows, {other.height} rows"), True
        for key in [key for key in place if key in its and rows[place[key]] != new[its[key]]]:
            for column, old, value in zip(columns, rows[place[key]], new[its[key]], strict=True):
                cell = name, place[key], column
                if old != value and (cell in claimed or old is None):
                    yield cell, old is None or value is None


def _keys(frame: pl.DataFrame) -> Iterable[object]:
    """What tells the rows of a frame apart in another reading of the log: their lines, else their numbers."""
    if "line" not in frame.columns:
        return range(frame.height)
    return frame.select("line", pl.int_range(pl.len()).over("line")).rows()


def _outcome(cell: Cell, differences: Mapping[tuple[int, Cell], bool] | None) -> tuple[str, str]:
    if differences is None:
        return "the log is another, or refused", ""
    cells = {one: is_gone for (_, one), is_gone in differences.items()}
    others = cells.keys() - {cell}
    shown = ", ".join(f"{frame}[{row}].{column}" for frame, row, column in sorted(others)[:4])
    if cell in cells and others and all(cells[one] for one in others):
        return ROWS, shown
    if any(row < 0 for _, row, _ in cells):
        return "other rows", shown
    if cell in cells:
        is_spread = all((frame, column) == (cell[0], cell[2]) for frame, _, column in others)
        return SEVERAL if is_spread else "other cells, too", shown
    return ("another cell" if others else "unchanged"), shown


def perturbed(paths: Iterable[Path], *, numbers: int, lines: int, seed: int = 1) -> list[Change]:
    """What became of numbers of the beginnings of logs; files that are no log are left out.

    Args:
        paths: The logs.
        numbers: Of each log.
        lines: Of each log.
        seed: Which numbers and digits.
    """
    found: list[Change] = []
    for number, path in enumerate(paths):
        with suppress(LogError):
            found += Perturbation(text_of(path, lines), seed + number).run(numbers)
    return found


@click.command()
@click.option("--count", default=1000, show_default=True, help="Numbers, shared by the files.")
@click.option("--seed", default=1, show_default=True)
@click.option("--lines", default=400, show_default=True, help="Of each file the first lines.")
@click.option("--seconds", default=3600, show_default=True)
@click.option("--format", "only", help="Logs of this format only.")
@click.option("--show", default=3, show_default=True, help="Examples of each class.")
@click.argument("folders", type=click.Path(path_type=Path, exists=True), nargs=-1)
def main(
    count: int, seed: int, lines: int, seconds: int, only: str | None, show: int, folders: tuple[Path, ...]
) -> None:
    """Change digits of numbers in the logs of folders (sample_data), and say what is not as `provenance` says."""
    deadline = time.monotonic() + seconds
    chosen = folders or (Path(__file__).parents[1] / "sample_data",)
    paths = [path for folder in chosen for path in ([folder] if folder.is_file() else sorted(folder.rglob("*")))]
    paths = [path for path in paths if path.is_file() and path.stat().st_size <= _MOST_BYTES and path.suffix != ".py"]
    outcomes: dict[str, Counter[str]] = {}
    statuses: dict[str, Counter[str]] = {}
    examples: dict[tuple[str, str], list[str]] = {}
    for number, path in enumerate(paths):
        with suppress(LogError):
            source = Perturbation(text_of(path, lines), seed + number)
            name = "+".join(sorted(set(source.formats)))
            if only is not None and only != name:
                continue
            statuses.setdefault(name, Counter()).update(source.counts)
            its = outcomes.setdefault(name, Counter())
            for one in source.run(max(count // len(paths), 1), deadline):
                its[one.outcome] += 1
                if one.outcome not in GOOD:
                    place = f"{path.name}:{one.line}:{one.column} {one.text} -> {one.changed} {one.cell} {one.detail}"
                    examples.setdefault((name, one.outcome), []).append(place)
        if time.monotonic() > deadline:
            break
    total: Counter[str] = Counter()
    for name, its in sorted(outcomes.items()):
        total.update(its)
        click.echo(
            f"{name}: {its.total():,} numbers, {_share(its):.2%} right; {dict(its.most_common())};"
            f" of all: {dict(statuses[name])}"
        )
    for (name, outcome), places in sorted(examples.items()):
        click.echo(f"{name}, {outcome} ({len(places)}):")
        for place in places[:show]:
            click.echo(f"  {place}")
    of_all = sum(statuses.values(), Counter[str]())
    click.echo(
        f"{total.total():,} numbers, {_share(total):.2%} right; {dict(total.most_common())}; of all: {dict(of_all)}"
    )


def _share(outcomes: Counter[str]) -> float:
    return sum(outcomes[one] for one in GOOD) / max(outcomes.total(), 1)


if __name__ == "__main__":
    main()
