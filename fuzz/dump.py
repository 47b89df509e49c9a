"""``python -m fuzz.dump OUT``: digests of all frames, diagnostics and findings, to compare two versions of the code.

    python -m fuzz.dump before.jsonl                     # the samples and the logs of the tests
    python -m fuzz.dump before.jsonl ../shared/corpus    # real logs, too
    python -m fuzz.dump --compare before.jsonl after.jsonl

A line is a frame: its file, the number of the log in it, its rows, and a digest of each column.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

import iolab
from fuzz.driver import FOLDERS, ROOT
from logframe import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe.formats import ParsedLog

#: Of these columns the words are written, not their digest.
_WORDS = frozenset({"kind", "mark", "name"})


def digests(frame: pl.DataFrame) -> dict[str, str]:
    """Of each column its type and a digest of its values, of words how often each occurs.

    Examples:
        >>> digests(pl.DataFrame({"kind": ["cut", "cut", "unparsed"]}))
        {'kind': 'cut 2, unparsed 1'}
    """
    return {column.name: _digest(column) for column in frame}


def _digest(column: pl.Series) -> str:
    if column.name in _WORDS and isinstance(column.dtype, (pl.String, pl.Enum)):
        counts = column.cast(pl.String).value_counts().sort(column.name)
        if len(counts) < 100:
            return ", ".join(f"{word} {count}" for word, count in counts.iter_rows())
    values = repr(column.to_list()).encode(errors="surrogatepass")
    return f"{column.dtype} {hashlib.blake2b(values, digest_size=8).hexdigest()}"


def dump(path: Path) -> Iterator[dict[str, object]]:
    """The frames of the logs of a file, with its diagnostics and its findings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            logs = iolab.load_all(path)
        except (LogError, OSError) as error:
            yield {"log": 0, "frame": "error", "error": str(error)}
            return
        for number, log in enumerate(logs):
            for name, frame in frames(log):
                yield {"log": number, "frame": name, "rows": len(frame), "columns": digests(frame)}


def frames(log: ParsedLog) -> Iterator[tuple[str, pl.DataFrame]]:
    """Name and values of each frame of a log."""
    yield "log", pl.DataFrame({"format": [log.format], "kind": [log.kind], "describe": [log.describe()]})
    for name, frame in log.frames().items():
        yield name, frame.lazy().collect()
    yield "diagnostics", log.diagnostics
    yield "findings", iolab.findings(log)


def files(folders: tuple[Path, ...]) -> Iterator[Path]:
    """The files of folders in a fixed order; of the folders of the code those that are no code."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in {".py", ".pyc", ".md", ".json"} and path.stat().st_size:
                yield path


def differences(before: Path, after: Path) -> Iterator[str]:
    """What is not the same in two dumps, a line a column."""
    first, second = (
        {(row.pop("file"), row["log"], row["frame"]): row for row in map(json.loads, path.read_text().splitlines())}
        for path in (before, after)
    )
    for key in first.keys() | second.keys():
        one, two = (rows.get(key, {}) for rows in (first, second))
        columns = dict.fromkeys({**one.get("columns", {}), **two.get("columns", {})}, "missing")
        left, right = ({**columns, **row.get("columns", {})} for row in (one, two))
        place = " ".join(map(str, key))
        if one.get("rows") != two.get("rows") or one.get("error") != two.get("error"):
            yield f"{place}: {one.get('rows', one.get('error'))} -> {two.get('rows', two.get('error'))}"
        yield from (f"{place} {name}: {left[name]} -> {right[name]}" for name in columns if left[name] != right[name])


@click.command()
@click.option("--compare", is_flag=True, help="List the differences of two dumps.")
@click.option("--seconds", type=float, default=3600, show_default=True, help="Begin no further file after so long.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def main(paths: tuple[Path, ...], seconds: float, *, compare: bool) -> None:
    """Write digests of all frames of the samples, and of the logs of folders, to a file; or compare two."""
    if compare:
        found = sorted(differences(paths[0], paths[1]))
        click.echo("\n".join([*found, f"{len(found)} differences"]))
        raise SystemExit(bool(found))
    end = time.monotonic() + seconds
    with paths[0].open("w", encoding="utf-8") as out:
        for path in files((*(ROOT / name for name in FOLDERS), *paths[1:])):
            if time.monotonic() > end:
                raise click.ClickException(f"stopped after {seconds:g} s, before {path}")
            for row in dump(path):
                name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
                out.write(json.dumps({"file": str(name), **row}) + "\n")


if __name__ == "__main__":
    main()
