"""Patterns in Python source: regular expressions and texts that strings are searched for."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Functions of `re`, whose first argument is a pattern.
_RE = frozenset({"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"})
#: Methods of Polars' ``.str``, whose first argument is a pattern or a text to look for.
_STR = frozenset({
    *("contains", "contains_any", "count_matches", "ends_with", "extract", "extract_all", "extract_groups", "find"),
    *("find_many", "replace", "replace_all", "replace_many", "split", "splitn", "starts_with", "strip_prefix"),
    *("strip_suffix",),
})  # fmt: skip
#: Methods of a `logframe.Grammar`, whose arguments are templates with the names of terminals.
_TEMPLATES = frozenset({"groups", "matches", "pattern"})
_TERMINAL = re.compile(r"\{\w+\}")
#: Words of a log in a template, which should be terminals, too.
_WORDS = re.compile(r"(?<![\\\w])[A-Za-z]{2,}(?!\w*>)")
#: What says nothing about a format: anchors, groups and alternatives around a pattern that comes from elsewhere, ...
_AROUND = re.compile(r"\(\?[a-z]+\)|\(\?(?:P<\w+>|:|=|!|<=|<!)|[\^$()|?*+]")
#: ... blanks and line ends, ...
_BLANKS = re.compile(r"\\[bsSnrt]|[\s\[\]]|\{\d*,?\d*\}")
#: ... and one mark between two parts of a text.
_LONGEST_MARK = 1


class Pattern(NamedTuple):
    """A pattern in Python.

    Attributes:
        line: where it is used.
        text: the pattern, with ``{}`` for what is put in.
    """

    line: int
    text: str


def patterns_in(path: Path) -> Iterator[Pattern]:
    """The patterns of a file that say something about a text, in its order.

    A pattern is found where it is written in the call, also in parts, and where it is a constant of the module.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                constants[name] = value
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[first, *_]) if name in _RE:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="str"), attr=name), args=[first, *_]) if (
                name in _STR
            ):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if (
                name in _TEMPLATES and owner.isupper()
            ):
                for template in node.args:
                    text = _AROUND.sub("", _TERMINAL.sub("", _text(template, constants)))
                    if _WORDS.search(text):
                        yield Pattern(node.lineno, text)
                continue
            case _:
                continue
        text = _text(first, constants)
        if len(_BLANKS.sub("", _AROUND.sub("", text.replace("{}", "")))) > _LONGEST_MARK:
            yield Pattern(node.lineno, text)


def _text(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    """What is written of an argument; ``{}`` stands for the rest."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(data)):
            return data.decode("latin-1")
        case ast.JoinedStr(values=parts):
            return "".join([_text(part, constants) for part in parts])
        case ast.FormattedValue(value=value):
            return _text(value, constants) if isinstance(value, ast.Name) else "{}"
        case ast.BinOp(left=left, right=right):
            return _text(left, constants) + _text(right, constants)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(keys=parts):
            return "".join([_text(part, constants) for part in parts if part is not None])
        case ast.Name(id=name) if name in constants:
            return _text(constants[name], {key: value for key, value in constants.items() if key != name})
        case _:
            return "{}"
