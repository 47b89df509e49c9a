"""Writes ``awr_releases.json``: which canonical tables were read from reports of which release, kind and form.

Run it from the project's root: ``python docs/awr_releases.py FOLDER...``.  What the file says already stays; reports
are read and not kept.  `docs/generate.py` makes a table of the file, and tests compare it with the reports of the test
data and, where they are, with real ones.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from awrparse import read_awr
from logframe import LogError

FILE = Path(__file__).parent / "awr_releases.json"
#: Kind and form of a report -> its letter in the table.
LETTERS = {
    ("awr", "text"): "t",
    ("awr", "html"): "h",
    ("awr_pdb", "html"): "p",
    ("awr_global", "html"): "g",
    ("awr_diff", "text"): "d",
    ("statspack", "text"): "s",
    ("ash", "text"): "a",
    ("ash", "html"): "b",
}

Seen = dict[str, dict[str, str]]


def family(release: str) -> str:
    """The releases that print the same: 11.2 and 12.2, and from 18 on the first number alone.

    Examples:
        >>> family("11.2.0.4.0"), family("19.0.0.0.0")
        ('11.2', '19')
    """
    first, _, rest = release.partition(".")
    return first if int(first) >= 18 else f"{first}.{rest.partition('.')[0]}"


def seen_in(folder: Path) -> Seen:
    """Table -> release -> letters of the kinds and forms that had rows for it, of all reports of a folder."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in {".json", ".md", ".tsv"}:
            continue
        try:
            parts = read_awr(path).parts
        except LogError:
            continue
        for report in parts:
            letter = LETTERS.get((report.kind, report.form))
            if letter is None or not report.info.release:
                continue
            for name, frame in report.frames().items():
                if frame.height:
                    found[name][family(report.info.release)].add(letter)
    return {
        name: {one: "".join(sorted(kinds)) for one, kinds in sorted(releases.items())}
        for name, releases in found.items()
    }


def merged(one: Seen, other: Seen) -> Seen:
    """Both, table by table and release by release."""
    names = sorted({*one, *other})
    return {
        name: {
            release: "".join(sorted({*one.get(name, {}).get(release, ""), *other.get(name, {}).get(release, "")}))
            for release in sorted({*one.get(name, {}), *other.get(name, {})})
        }
        for name in names
    }


if __name__ == "__main__":
    known: Seen = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for argument in sys.argv[1:]:
        known = merged(known, seen_in(Path(argument)))
    FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
