"""Renames a column in the whole tree: ``python docs/rename.py total_wait_s wait_time_s [FOLDER]``.

A column has one name in all frames, so the word is replaced wherever it stands, as a part of a longer name, too
(`first_total_wait_s`, `total_wait_s_lo`).  Frames that are drawn in doctests and pages get columns of the new width.
"""

import importlib
import re
import sys
from pathlib import Path

FOLDERS = (
    *("logframe", "awrparse", "straceparse", "sqlplusparse", "sqltraceparse", "hostparse", "iolab", "labextension"),
    *("docs", "notebooks", "tests", "benchmarks", "fuzz"),
)
SUFFIXES = {".py", ".toml", ".json", ".md", ".lark", ".ipynb", ".js"}
PAGES = ("README.md", "CONTRIBUTING.md")
#: A drawn frame, with what stands before each of its lines.
FRAME = re.compile(r"^[^\n┌]*┌[^\n]*\n(?:[^\n]*[│╞├└][^\n]*\n?)+", re.MULTILINE)
#: A line of it: what stands before it, its first and last letter, and the letters between cells and within them.
RULES = {"┌": ("┬", "─"), "╞": ("╪", "═"), "├": ("┼", "╌"), "└": ("┴", "─")}
LINE = re.compile(r"^([^\n┌╞├└│]*)([┌╞├└│])(.*)([┐╡┤┘│])(.*)$")


def drawn(frame: str) -> str:
    """A drawn frame, each of its columns as wide as its longest cell."""
    lines = [LINE.match(line) for line in frame.splitlines()]
    rows = [[cell.strip() for cell in found[3].split("┆")] for found in lines if found and found[2] == "│"]
    if None in lines or len({len(row) for row in rows}) != 1:
        return frame
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    written, rest = [], iter(rows)
    for found in filter(None, lines):
        before, first, _, last, after = found.groups()
        if first == "│":
            inner = "┆".join(f" {cell:<{width}} " for cell, width in zip(next(rest), widths, strict=True))
        else:
            between, within = RULES[first]
            inner = between.join(within * (width + 2) for width in widths)
        written.append(f"{before}{first}{inner}{last}{after}")
    return "\n".join(written) + "\n" * frame.endswith("\n")


def pattern_of(name: str) -> re.Pattern[str]:
    """Where a name stands, alone or as the beginning or the end of a longer one."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


def rename(folder: Path, old: str, new: str) -> list[Path]:
    """Rename a column in all files below a folder; gives the files that were changed.

    Raises:
        SystemExit: Another column has the new name, or none has the old one.
    """
    files = [path for top in FOLDERS for path in (folder / top).rglob("*") if path.suffix in SUFFIXES]
    files += [folder / page for page in PAGES]
    texts = {path: path.read_text(encoding="utf-8") for path in files if path.is_file()}
    if used := [path for path, text in texts.items() if pattern_of(new).search(text)]:
        raise SystemExit(f"{new} is in use: {used[0].relative_to(folder)}")
    changed = [path for path, text in texts.items() if pattern_of(old).search(text)]
    if not changed:
        raise SystemExit(f"nothing is called {old}")
    for path in changed:
        text = pattern_of(old).sub(new, texts[path])
        if path.suffix in {".py", ".md"}:
            text = FRAME.sub(lambda found: drawn(found[0]) if new in found[0] else found[0], text)
        path.write_text(text, encoding="utf-8")
    return changed


def main() -> None:
    """Rename the column of the command line, and save the notebooks that show it."""
    old, new = sys.argv[1:]
    folder = Path(__file__).parents[1]
    changed = rename(folder, old, new)
    print(*(path.relative_to(folder) for path in changed), f"{old} is now {new} in {len(changed)} files", sep="\n")
    notebooks = importlib.import_module("iolab.lab.notebooks")  # after the change, with the new name
    for path in changed:
        if path.suffix == ".ipynb":
            notebooks.save_notebook(path)


if __name__ == "__main__":
    main()
