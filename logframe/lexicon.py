"""What Lark makes of a ``.lark`` file, kept between runs: its terminals as regular expressions, and its parser.

Lark needs some 5 to 20 ms to compile a grammar, and 50 to 100 ms for the tables of a large parser; a command that only
reads with expressions wants no more of it than its terminals.  Both are kept in the user's cache folder, by a hash of
all that they depend on.  They are JSON: what is kept can be damaged, but never run.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe.atomic import body_of, cache_folder, keep, signed

if TYPE_CHECKING:
    from lark import Lark, Token, Transformer, Tree
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

_MAGIC: Final = b"lexicon 1\n"
_PARSER: Final = b"parser 1\n"
#: What holds no bracket or bar of its own in a regular expression: escapes, and sets of characters.
_BRACKETS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")


class Lexicon(NamedTuple):
    """What a grammar says of its terminals, those that no rule uses among them.

    Attributes:
        patterns: name of each terminal -> its regular expression.
        literals: name of each terminal that is one fixed text -> that text.
        kinds: each terminal that is a whole alternative of a rule -> that rule, in the order of priority.
    """

    patterns: dict[str, str]
    literals: dict[str, str]
    kinds: dict[str, str]


def load_lexicon(package: str, name: str, text: str, start: tuple[str, ...]) -> Lexicon:
    """The terminals of a grammar, as `build_lexicon` gives them, from the cache where they are there.

    Args:
        package: where ``%import`` finds other grammars.
        name: of the file.
        text: of the grammar.
        start: the rules a text may be parsed as.

    Raises:
        ValueError: as `build_lexicon`.
    """
    path = _kept(_MAGIC, package, name, text, start)
    if path is None:
        return build_lexicon(package, name, text, start)
    try:
        return unpacked_lexicon(path.read_bytes())
    except (OSError, ValueError):
        lexicon = build_lexicon(package, name, text, start)
    keep(path, packed_lexicon(lexicon))
    return lexicon


def load_parser(
    package: str, name: str, text: str, start: tuple[str, ...], transformer: Transformer[Token, object] | None
) -> Lark:
    """The LALR parser of a grammar with a contextual lexer, from the cache where it is there.

    Args:
        package: where ``%import`` finds other grammars.
        name: of the file.
        text: of the grammar.
        start: the rules a text may be parsed as.
        transformer: what makes the values while a text is parsed; without it a tree is made.
    """
    from lark import Lark  # noqa: PLC0415 - most users of a grammar want its terminals only

    path = _kept(_PARSER, package, name, text, start)
    try:
        if path is None:
            raise FileNotFoundError
        data, memo = json.loads(body_of(_PARSER, path.read_bytes()), object_hook=_with_numbers)
    except (OSError, ValueError):
        from lark.grammar import Rule  # noqa: PLC0415 - most runs find the parser in the cache
        from lark.lexer import TerminalDef  # noqa: PLC0415 - as above
        from lark.load_grammar import FromPackageLoader  # noqa: PLC0415 - as above

        made = Lark(
            text,
            parser="lalr",
            lexer="contextual",
            start=list(start),
            maybe_placeholders=False,
            import_paths=[FromPackageLoader(package)],
        )
        data, memo = made.memo_serialize([TerminalDef, Rule])
        data["options"]["import_paths"] = []
        if path is not None:
            keep(path, signed(_PARSER, json.dumps([data, memo]).encode()))
    data["options"]["transformer"] = transformer
    return Lark.load({"data": data, "memo": memo})


def _with_numbers(kept: dict[str, object]) -> dict[str | int, object]:
    """A dictionary whose keys are numbers, as it was before JSON made texts of them."""
    return {int(key) if key.isdigit() else key: value for key, value in kept.items()}


def build_lexicon(package: str, name: str, text: str, start: tuple[str, ...]) -> Lexicon:
    """The terminals of a grammar, by Lark; the arguments are those of `load_lexicon`.

    Raises:
        ValueError: a terminal captures a group, or a regular expression with alternatives is one of several parts of a
            terminal.  Lark joins the parts as they are written, so that ``A: /a|b/ "c"`` would be ``a`` or ``bc``.
    """
    from lark.lexer import PatternStr  # noqa: PLC0415 - most runs find the terminals in the cache

    terminals, rules = _compiled(package, name, text, start)
    shown = {terminal.name: terminal.pattern for terminal in terminals if not terminal.name.startswith("__")}
    patterns = {name: pattern.to_regexp() for name, pattern in shown.items()}
    if capturing := [name for name, pattern in patterns.items() if re.compile(pattern).groups]:
        raise ValueError(f"{name}: write (?:...) instead of (...) in {', '.join(capturing)}")
    literals = {name: str(pattern.value) for name, pattern in shown.items() if isinstance(pattern, PatternStr)}
    found = {rule.expansion[0].name: rule.origin.name for rule in rules if len(rule.expansion) == 1}
    known = [terminal for terminal in terminals if terminal.name in found]
    known.sort(key=lambda terminal: (-terminal.priority, terminal.name))
    return Lexicon(patterns, literals, {terminal.name: str(found[terminal.name]) for terminal in known})


def packed_lexicon(lexicon: Lexicon) -> bytes:
    """Terminals as bytes, with a hash of them at the start."""
    return signed(_MAGIC, json.dumps(lexicon).encode())


def unpacked_lexicon(data: bytes) -> Lexicon:
    """The terminals of `packed_lexicon`.

    Raises:
        ValueError: the bytes are damaged, or no terminals.
    """
    parts = json.loads(body_of(_MAGIC, data))
    if not (
        isinstance(parts, list)
        and len(parts) == len(Lexicon._fields)
        and all(isinstance(part, dict) and all(isinstance(text, str) for text in part.values()) for part in parts)
    ):
        raise ValueError("the kept content is no terminals of a grammar")
    return Lexicon(*parts)


def _compiled(package: str, name: str, text: str, start: tuple[str, ...]) -> tuple[list[TerminalDef], list[Rule]]:
    """All terminals, those that no rule uses among them, and the rules below the start rules."""
    from lark.load_grammar import FromPackageLoader  # noqa: PLC0415 - most runs find the terminals in the cache
    from lark.load_grammar import load_grammar as load_lark  # noqa: PLC0415 - as above

    grammar, _ = load_lark(text, name, [FromPackageLoader(package)], global_keep_all_tokens=False)  # type: ignore[no-untyped-call]
    if torn := sorted({name for name, (tree, _) in grammar.term_defs if tree is not None and _is_torn(tree)}):
        raise ValueError(f"{name}: write /(?:a|b)/ instead of /a|b/ beside other parts, in {', '.join(torn)}")
    terminals, rules, _ = grammar.compile(list(start), "*")
    return terminals, rules


def _is_torn(tree: Tree[Token]) -> bool:
    """Whether a part of a sequence is a regular expression with alternatives outside brackets."""
    return any(
        len(sequence.children) > 1 and any(_has_alternatives(part) for part in sequence.children)
        for sequence in tree.find_data("expansion")
    )


def _has_alternatives(part: Tree[Token] | Token) -> bool:
    """Whether a part of a terminal is nothing but a regular expression with alternatives outside brackets."""
    from lark import Token, Tree  # noqa: PLC0415 - as above

    while isinstance(part, Tree) and len(part.children) == 1 and part.data != "expr":
        part = part.children[0]
    if not isinstance(part, Token) or part.type != "REGEXP":
        return False
    depth = 0
    for mark in _BRACKETS.sub("", part):
        depth += (mark == "(") - (mark == ")")
        if mark == "|" and depth == 0:
            return True
    return False


def _kept(magic: bytes, package: str, name: str, text: str, start: tuple[str, ...]) -> Path | None:
    """The file named by a hash of all that its content depends on; None where that is not known: nothing is kept."""
    makers = _makers()
    if makers is None:
        return None
    head = json.dumps([sys.version_info[:2], package, name, start, text]).encode()
    key = hashlib.sha256(b"".join((magic, head, makers, _grammars_of(package)))).hexdigest()
    return cache_folder("grammars") / f"{key}.json"


@cache
def _makers() -> bytes | None:
    """A hash of the code that makes terminals: this module, and what states the version of Lark."""
    found = find_spec("lark")
    try:
        release = b"" if found is None or found.origin is None else Path(found.origin).read_bytes()
        return hashlib.sha256(release + files("logframe").joinpath("lexicon.py").read_bytes()).digest()
    except OSError:
        return None


@cache
def _grammars_of(package: str) -> bytes:
    """A hash of all grammars of a package: one may import from another."""
    found = hashlib.sha256()
    for path in sorted(files(package).iterdir(), key=lambda path: path.name):
        if path.name.endswith(".lark"):
            found.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return found.digest()
