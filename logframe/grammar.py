"""Grammars: one ``.lark`` file, two engines.

A `Grammar` gives the LALR parser of the file, and the same file's terminals as regular expressions for Polars.  So a
pattern is written once: the parser explains a line, the expression reads a million of them.

A terminal that Polars shall use must be free of look-around (the regex engine of Polars has none), and no terminal may
capture a group: groups belong to the templates.

Above each rule is at least one line ``// sample: ...``, a line as the tool prints it; `Grammar.samples` returns
them so that a test can demand that each is accepted.  A terminal that only expressions use, and no rule, has samples of
its own; a file may hold such terminals only, and others take them over with ``%import``.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

from logframe.lexicon import load_lexicon, load_parser

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from lark import Lark, ParseTree, Token, Transformer
    from lark.exceptions import UnexpectedInput

    from logframe.classify import Classifier
    from logframe.lexicon import Lexicon

_SAMPLE = re.compile(r"^// sample: (.*)$")
_RULE = re.compile(r"^\??(?P<name>[A-Za-z_][A-Za-z0-9_]*)(\.-?\d+)?\s*:")
_ALIAS = re.compile(r"->\s*(?P<name>[a-z_][a-z0-9_]*)\s*$")
_PLACE = re.compile(r"\{([A-Z_][A-Z0-9_]*)\}")


class Grammar:
    """A ``.lark`` file of a package, as a parser and as patterns.

    Args:
        package: the package that holds the file.
        name: the file's name.
        start: the rules a text may be parsed as; the first is the usual one.

    Examples:
        >>> grammar = load_grammar("logframe", "printed.lark", "printed")
        >>> grammar.pattern("^{DIGITS}$")
        '^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)$'
    """

    def __init__(self, package: str, name: str, *start: str) -> None:
        self.package = package
        self.name = name
        self.start = start or ("start",)
        self.text = files(package).joinpath(name).read_text(encoding="utf-8")

    @cached_property
    def parser(self) -> Lark:
        """The LALR parser with a contextual lexer; built on first use."""
        return self.parser_with(None)

    def parser_with(self, transformer: Transformer[Token, object] | None) -> Lark:
        """A parser that calls the transformer while it parses, without building a tree."""
        return load_parser(self.package, self.name, self.text, self.start, transformer)

    @cached_property
    def _lexicon(self) -> Lexicon:
        """The terminals.

        Raises:
            ValueError: as `logframe.lexicon.build_lexicon`.
        """
        return load_lexicon(self.package, self.name, self.text, self.start)

    @property
    def kinds(self) -> dict[str, str]:
        """Each terminal that is a whole alternative of a rule -> that rule, in the order of the terminals' priority.

        It is what a classifier of lines works from: which terminals describe a line, and what such a line is.

        Examples:
            >>> load_grammar("logframe", "printed.lark", "printed").kinds
            {'ABSENT': 'absent', 'DIGITS': 'number', 'FRACTION': 'number', 'HASHES': 'overflow', 'MINUS': 'absent'}
        """
        return self._lexicon.kinds

    def parse(self, text: str, start: str | None = None) -> ParseTree:
        """The tree of one text.

        Raises:
            lark.exceptions.UnexpectedInput: the text does not match; `explain` makes a sentence of it.
        """
        return self.parser.parse(text, start=start or self.start[0])

    @property
    def terminals(self) -> dict[str, str]:
        """Name of each terminal -> its regular expression.

        Raises:
            ValueError: as `logframe.lexicon.build_lexicon`.
        """
        return self._lexicon.patterns

    def pattern(self, template: str) -> str:
        r"""A regular expression in which each ``{TERMINAL}`` stands for that terminal's pattern.

        Raises:
            KeyError: the grammar has no such terminal.
        """
        return _PLACE.sub(lambda place: f"(?:{self.terminals[place.group(1)]})", template)

    def literal(self, name: str) -> str:
        """The text of a terminal that is one fixed text.

        Raises:
            KeyError: the grammar has no such terminal.
            ValueError: the terminal is a pattern.

        Examples:
            >>> load_grammar("straceparse", "fixed.lark").literal("RESUMED_END")
            ' resumed>'
        """
        if name in self.terminals and name not in self._lexicon.literals:
            raise ValueError(f"{self.name}: {name} is a pattern, not a text")
        return self._lexicon.literals[name]

    def matches(self, column: pl.Expr, template: str) -> pl.Expr:
        """Does the text match the template?  A Boolean expression."""
        return column.str.contains(self.pattern(template))

    def groups(self, column: pl.Expr, template: str) -> pl.Expr:
        """The named groups of the template as a struct expression; all null where the text does not match."""
        return column.str.extract_groups(self.pattern(template))

    def classifier(self, templates: Mapping[str, str]) -> Classifier:
        r"""What gives each line the first of several kinds whose template describes the whole line.

        Args:
            templates: name of each kind and a template as in `pattern`, in order of priority.

        Raises:
            KeyError: the grammar has no such terminal.
            AutomatonError: a template uses syntax that no automaton can express; the message names the kind.

        Examples:
            >>> grammar = load_grammar("logframe", "printed.lark", "printed")
            >>> classifier = grammar.classifier({"whole": "{DIGITS}", "blank": " *"})
            >>> classifier.automaton.kind_of(b"1,024")
            'whole'
        """
        from logframe.classify import Classifier  # noqa: PLC0415 - most users of a grammar only parse

        return Classifier({name: self.pattern(template) for name, template in templates.items()})

    @cached_property
    def samples(self) -> list[tuple[str, str]]:
        """Each sample line of the file with the name below it: a rule, an alternative (``-> name``) or a terminal."""
        found: list[tuple[str, str]] = []
        waiting: list[str] = []
        for line in self.text.split("\n"):
            stripped = line.strip()
            if sample := _SAMPLE.match(stripped):
                waiting.append(sample.group(1))
            elif waiting and (rule := _ALIAS.search(stripped) or _RULE.match(stripped)):
                found += [(rule.group("name"), sample) for sample in waiting]
                waiting = []
        return found


@cache
def load_grammar(package: str, name: str, *start: str) -> Grammar:
    """The grammar of a package's ``.lark`` file; the same object for the same arguments."""
    return Grammar(package, name, *start)


def explain(error: UnexpectedInput) -> tuple[int | None, str]:
    """Where a text stopped matching (column from 1, None at its end) and what would have been accepted.

    Examples:
        >>> from lark.exceptions import UnexpectedInput
        >>> grammar = load_grammar("logframe", "printed.lark", "printed")
        >>> try:
        ...     grammar.parse("12 apples")
        ... except UnexpectedInput as error:
        ...     print(explain(error)[0])
        4
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken  # noqa: PLC0415 - as in `Grammar`

    match error:
        case UnexpectedCharacters():
            return error.column, _listed(error.allowed or set())
        case UnexpectedToken():
            at_end = error.token.type == "$END"
            return (None if at_end else error.column), _listed(error.accepts or error.expected or set())
        case UnexpectedEOF():
            return None, _listed(set(error.expected))
        case _:
            return None, ""


def _listed(terminals: set[str]) -> str:
    """Names of terminals as a person reads them, in a fixed order."""
    return ", ".join(sorted(name.lower().replace("_", " ") for name in terminals if name != "$END"))
