"""Every pattern of the format stands in a grammar: what Python has are templates of terminals."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import straceparse

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = sorted(Path(straceparse.__file__).parent.glob("*.py"))
#: Functions and methods that take a pattern, or a text to search for.
TAKES_PATTERN = {
    *("compile", "match", "search", "fullmatch", "sub", "findall", "finditer", "split"),
    *("contains", "extract", "extract_all", "extract_groups", "find", "replace", "replace_all", "replace_many"),
    *("starts_with", "ends_with", "strip_prefix", "strip_suffix", "startswith", "endswith", "pattern", "matches"),
    *("count_matches", "split_exact", "splitn"),
}
#: Functions whose texts are names: of terminals, columns and encodings.
NO_PATTERN = {"literal", "col", "group", "encode", "decode"}
#: What a template consists of beside its terminals: groups, alternatives, anchors, other templates (X).
TEMPLATE = re.compile(r"(?:\{[A-Z_0-9]+\}|\(\?:|\(\?P<[a-z_]+>|[()|?*^$X])*")
#: Texts that belong to no format: (module, text) -> reason.
NOT_OF_THE_FORMAT = {
    ("diagnostics", "column ([0-9]+)"): "the reason that this package writes",
    ("dialects", "\n"): "lines",
    ("dialects", "\r"): "line ends",
    ("dialects", ":"): "the parts of a time of day that a terminal matched",
    ("dialects", "."): "the parts of a version that this package writes",
    ("aio", "ITEM"): "a part of a template",
    ("aio", "?P<X>"): "a part of a template",
    ("aio", "?:"): "a part of a template",
    ("aio", ">"): "a part of a template",
    ("aio", "<"): "a part of a template",
    ("fixed_width", "\n"): "lines",
    ("format", "\n"): "lines",
    ("opening", "\n"): "lines",
    ("ranges", "\n"): "lines",
    ("prefix", "(?<! )( *)(0+)( *)"): "shapes that this module makes",
    ("records", "\r"): "line ends",
    ("batches", "\r"): "line ends",
    ("scan", "\n"): "lines",
    ("summary", ","): "a decimal comma",
    ("summary", "."): "a decimal point",
    ("line_parser", " "): "blanks",
    ("line_parser", "\t"): "blanks",
}


def texts(node: ast.AST) -> Iterator[str]:
    """The texts in an expression; names of columns and terminals, and code within a template, are none."""
    if isinstance(node, ast.Call) and called(node) in NO_PATTERN:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        yield node.value if isinstance(node.value, str) else node.value.decode()
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def patterns(path: Path) -> list[str]:
    """The texts in a file that a function takes as a pattern and that are no templates of terminals."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKES_PATTERN:
            for argument in node.args:
                found += texts(argument)
    return [text for text in found if not TEMPLATE.fullmatch(text)]


def test_a_pattern_in_python_is_found(tmp_path: Path) -> None:
    """The check finds a pattern beside a template, in a text and in a part of one."""
    path = tmp_path / "module.py"
    path.write_text('re.search(f"^{prefix}{{ERRNO}}", x); column.str.contains(r"ENO[A-Z]+"); x.startswith("strace")')

    assert patterns(path) == ["ENO[A-Z]+", "strace"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_pattern_of_the_format_in_python(path: Path) -> None:
    """A file has templates of terminals only, and what belongs to no format."""
    found = [text for text in patterns(path) if (path.stem, text) not in NOT_OF_THE_FORMAT]

    assert found == []
