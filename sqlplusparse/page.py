"""The lines of one log with what is known about each: the ground the block readers work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from logframe import Diagnostic
from logframe.normalize import LineMap, with_line_feeds, without_doubled_blank_lines, without_entities
from sqlplusparse.lines import MAY_BE_FIGURE, SECTION_MARKS, Kind, kinds_of, runs_of
from sqlplusparse.prepare import prepared
from sqlplusparse.prompts import usual_prompts
from sqlplusparse.settings import usual_rulers

if TYPE_CHECKING:
    from logframe.kinds import DiagnosticKind


class LineRole:
    """What became of a line, as a byte; every line of a log has exactly one."""

    INPUT: Final = 0
    FEEDBACK: Final = 1
    ERROR: Final = 2
    ELAPSED: Final = 3
    STATISTIC: Final = 4
    ROW: Final = 5
    PLAN: Final = 6
    TIMING: Final = 7
    BLANK: Final = 8
    HEADING: Final = 9
    COMMAND: Final = 10
    PROMPT: Final = 11
    BANNER: Final = 12
    SUBSTITUTION: Final = 13
    COMMENT: Final = 14
    FENCE: Final = 15
    ELISION: Final = 16
    TRACE: Final = 17
    TEXT: Final = 18
    UNPARSED: Final = 19


#: The roles by their names in `Spool.lines`.
LINE_ROLES: Final[dict[str, int]] = {name.lower(): role for name, role in vars(LineRole).items() if name.isupper()}
#: Marks of lines whose content is in one of the frames.
RECORDS: Final = frozenset(
    {
        LineRole.INPUT,
        LineRole.FEEDBACK,
        LineRole.ERROR,
        LineRole.ELAPSED,
        LineRole.STATISTIC,
        LineRole.ROW,
        LineRole.PLAN,
        LineRole.TIMING,
    }
)

_ROLES_OF_KINDS: Final = {
    Kind.BLANK: LineRole.BLANK,
    Kind.BANNER: LineRole.BANNER,
    Kind.FENCE: LineRole.FENCE,
    Kind.COMMENT: LineRole.COMMENT,
    Kind.ELISION: LineRole.ELISION,
    Kind.TRACE: LineRole.TRACE,
    Kind.SUBSTITUTION: LineRole.SUBSTITUTION,
    Kind.PROMPT: LineRole.PROMPT,
}
#: The first role of a line by its kind, as a table for `bytes.translate`.
_FIRST_ROLES: Final = bytes(_ROLES_OF_KINDS.get(kind, LineRole.TEXT) for kind in range(256))
#: For each role the table that gives it to lines of any kind, and leaves blank lines blank.
_FILLS: Final = {
    role: bytes(LineRole.BLANK if kind == Kind.BLANK else role for kind in range(256)) for role in LINE_ROLES.values()
}
_BLANKS: Final = runs_of(Kind.BLANK)
#: Fewer lines than these do not show how a copy was made; with a ruler, which rows follow directly, or where all
#: are figures by name, these do.
_FEWEST_SPACED: Final = 8
_FEWEST_RULED: Final = 3
#: What stands below each line under SET MARKUP HTML ON, and around results.
BREAK_TAG: Final = "\n<br>\n"
TAGS_BETWEEN: Final = frozenset({"<br>", "<p>"})
#: Most logs have two neighbouring lines that are not blank among this many first ones.
_HEAD: Final = 100


@dataclass(slots=True)
class Page:
    """The lines of a log, their kinds and roles, and the diagnostics found so far.

    Line numbers count from 0 here, and from 1 in everything that is given out.

    Attributes:
        source: name of the log.
        lines: the lines, as `prepared` gives them.
        kinds: the `Kind` of each line, a byte each.
        roles: the `LineRole` of each line, a byte each.
        notes: the diagnostics.
        line_map: where each line was in the log, which may be a copy with a blank line after every line.
        habits: what is the same all over the log, kept once it is found out.
        prompts: the prompts that SET SQLPROMPT chose, by line; the lines themselves have the usual one.
    """

    source: str
    lines: list[str]
    kinds: bytearray
    roles: bytearray
    notes: list[Diagnostic] = field(default_factory=list)
    line_map: LineMap = field(default_factory=lambda: LineMap.of(0))
    prompts: dict[int, str] = field(default_factory=dict)
    habits: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, source: str, text: str) -> Page:
        """The page of a text."""
        fed = with_line_feeds(text)
        if BREAK_TAG in fed:
            return cls._of_html(source, fed)
        head = list(map(str.rstrip, fed.split("\n", _HEAD)[:_HEAD]))
        raw = [] if without_doubled_blank_lines(head, fewest=0) is None else fed.split("\n")
        spaced = _without_added_lines(list(map(str.rstrip, raw))) if raw else None
        if spaced is not None:  # marks of comments are before runs of lines, which stand together then
            lines = prepared("\n".join(spaced.select(raw)))
            line_map = LineMap(spaced.kept, len(raw) - (not raw[-1]))
        else:
            lines = prepared(text)
            line_map = _without_added_lines(lines) or LineMap.of(len(lines))
            lines = line_map.select(lines)
        return cls._of_lines(source, lines, line_map)

    @classmethod
    def _of_html(cls, source: str, text: str) -> Page:
        """The page of a session under SET MARKUP HTML ON, without the tags between its lines."""
        lines = prepared(without_entities(text))
        line_map = LineMap.of(len(lines)).without({n for n, line in enumerate(lines) if line in TAGS_BETWEEN})
        return cls._of_lines(source, line_map.select(lines), line_map)

    @classmethod
    def _of_lines(cls, source: str, lines: list[str], line_map: LineMap) -> Page:
        """The page of lines, each as the client prints it by its usual settings."""
        kinds = kinds_of(lines)
        text = "\n".join(lines).lower()
        prompts, doubtful = usual_prompts(lines, kinds, text)
        usual_rulers(lines, kinds, text)
        roles = kinds.translate(_FIRST_ROLES)
        page = cls(source, lines, kinds, roles, line_map=line_map, prompts=prompts)
        if doubtful is not None:
            page.note(doubtful, "ambiguous", "this may be typed at a prompt; no other line shows the same prompt")
        return page

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, number: int) -> int:
        """Where a line was in the log."""
        return self.line_map.kept[number]

    def all_roles(self) -> bytearray:
        """The role of each line of the log; what was left out is blank."""
        return self.line_map.spread(self.roles, bytearray([LineRole.BLANK]) * self.line_map.size)

    def kind(self, number: int) -> int:
        """The kind of a line; blank beyond the end."""
        return self.kinds[number] if number < len(self.kinds) else Kind.BLANK

    def after_blanks(self, number: int) -> int:
        """The first line from `number` on that is not blank; the page's length without one."""
        return _BLANKS(self.kinds, number).end()

    def assign(self, first: int, last: int, role: int) -> None:
        """Give lines `first` to before `last` a role; blank ones stay blank."""
        if last == first + 1:
            if self.kinds[first] != Kind.BLANK:
                self.roles[first] = role
        else:
            self.roles[first:last] = self.kinds[first:last].translate(_FILLS[role])

    def assign_text(self, first: int, last: int) -> None:
        """Make lines text after all."""
        self.assign(first, last, LineRole.TEXT)

    def note(self, number: int | None, kind: DiagnosticKind, reason: str, column: int | None = None) -> None:
        """Add a diagnostics row about a line, or about the whole log."""
        text = None if number is None else self.lines[number].strip()[:200]
        line = None if number is None else self.place(number) + 1
        self.notes.append(Diagnostic(self.source, line, column, kind, text, reason))

    def refuse(self, number: int, kind: DiagnosticKind, reason: str, column: int | None = None) -> None:
        """Add a diagnostics row about a line that is not read."""
        self.note(number, kind, reason, column)
        self.roles[number] = LineRole.UNPARSED


def _without_added_lines(lines: list[str]) -> LineMap | None:
    """The lines without a blank line after each, where somebody put it there."""
    found = without_doubled_blank_lines(lines, fewest=_FEWEST_RULED)
    written = [line for line in lines if line] if found is not None else []
    is_told = len(written) >= _FEWEST_SPACED or Kind.RULER in kinds_of(written)
    return found if is_told or all(map(MAY_BE_FIGURE.match, written)) else None


def section_above(page: Page, number: int) -> str:
    """The mark of a section of AWR-Miner above a heading, over at most one blank line; empty without one."""
    above = number - 1
    if above > 0 and page.kinds[above] == Kind.BLANK:
        above -= 1
    line = page.lines[above].strip() if above >= 0 else ""
    return line if line.startswith(SECTION_MARKS[0]) else ""
