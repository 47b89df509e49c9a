"""Classified lines into blocks: the tokens of session.lark.

One pass over the page.  Each step looks at the kind of a line, hands over to the reader of that kind of block, and goes
on behind it; what nothing claims is text.
"""

from __future__ import annotations

import re
from typing import Final

from awrparse.spool.autotrace import read_autotrace
from awrparse.spool.elapsed import LABELS, CustomPattern, explain_clock, language_of, read_clock
from awrparse.spool.grids import read_grid
from awrparse.spool.inputs import Read, read_bare, read_prompt, starts_statement
from awrparse.spool.lines import ERROR, ROWS, Kind
from awrparse.spool.listings import read_snapper, read_unruled
from awrparse.spool.page import Mark, Page
from awrparse.spool.plans import read_plan
from awrparse.spool.records import Block, Outcome

_ROWS: Final = re.compile(r"\d+")
#: Stems of the words for what was done to rows, in the clients' languages -> the kind of statement that does it.
_VERBS: Final = (
    ("select", re.compile(r"select|ausgew|sélect|selec|selez|選|选|선택|выбр", re.IGNORECASE)),
    ("delete", re.compile(r"delet|gelösch|supprim|suprim|elimin|削除|删除|刪除|삭제|удал", re.IGNORECASE)),
    ("update", re.compile(r"updat|aktuali|mise|actuali|atuali|aggiorn|更新|갱신|обнов", re.IGNORECASE)),
    ("merge", re.compile(r"merg|zusammen|fusion|intercal|マージ|合并|合併|병합|объед", re.IGNORECASE)),
    (
        "insert",
        re.compile(
            r"creat|insert|erstell|eingef|créé|inséré|cread|criad|inserid|作成|挿入|创建|插入|建立|생성|만들|삽입|созд|вставл",
            re.IGNORECASE,
        ),
    ),
)
_CODE: Final = re.compile(r"(?:ORA|SP2|PLS|TNS|RMAN|LRM|CPY|UDE|UDI|KUP|IMP|EXP|SQL|LPX|DRG|OCI)-\d{4,5}")
_AUTOTRACE_ERRORS: Final = frozenset({"SP2-0611", "SP2-0612", "SP2-0613", "SP2-0618", "SP2-0619"})
_LABELS: Final = tuple(LABELS)
_NEARLY_ELAPSED: Final = re.compile(r"\s*[^\d:]+:\s+\d")
_CRAMMED: Final = re.compile(
    r"\w ?:[ \t]+\d\d ?: ?\d\d ?: ?\d\d\.\d\d.*\d+ +(?:recursive calls|consistent gets|physical reads)"
)


class _Blocks:
    """The pass over a page."""

    def __init__(self, page: Page, custom: CustomPattern | None) -> None:
        self.page = page
        self.custom = custom
        self.found: list[Block] = []
        self.text_from: int | None = None
        self.text_to = 0
        self.timer: str | None = None

    def read(self) -> list[Block]:
        """The blocks of the page, in order."""
        page, kinds = self.page, self.page.kinds
        number, size = 0, len(page)
        while number < size:
            kind = kinds[number]
            if kind is Kind.BLANK:
                number += 1
            elif kind is Kind.TEXT:
                number = self._read_text(number)
            else:
                after = self._read_kind(kind, number)
                if after is None:
                    page.marks[number] = Mark.TEXT
                    after = self._read_text(number, is_plain=True)
                number = after
        self._end_text(size)
        return self.found

    def _add(self, token: str, first: int, last: int, content: object = None) -> int:
        self._end_text(first)
        self.found.append(Block(token, first, last, content))
        return last

    def _end_text(self, number: int) -> None:
        """Close the text that may stand open; blank lines do not end it."""
        if self.text_from is not None:
            end = min(number, self.text_to)
            if end > self.text_from:
                self.found.append(Block("TEXT", self.text_from, end))
            self.text_from = None

    def _read_text(self, number: int, *, is_plain: bool = False) -> int:
        page = self.page
        line = page.lines[number]
        if not is_plain:
            if starts_statement(line) and (read := read_bare(page, number)):
                return self._take(read)
            if self.custom and (timing := self.custom.read(line, number)):
                page.marks[number] = Mark.TIMING
                return self._add("PRINTED_TIMING", number, number + 1, timing)
            if _MAY_BE_FIGURE.match(line) and (unruled := read_unruled(page, number)):
                return self._add("GRID", number, unruled[1], unruled[0])
            if line.lstrip().startswith(_LABELS) and _NEARLY_ELAPSED.match(line):
                self._end_text(number)
                column, expected = explain_clock(line)
                reason = "no Elapsed of a client" + (f": expected {expected}" if expected else "")
                page.refuse(number, "look_alike", reason, column)
                return number + 1
            if "consistent gets" in line and _CRAMMED.search(line):
                self._end_text(number)
                page.refuse(number, "damaged", "several lines of a session run together in one; it is not read")
                return number + 1
        if self.text_from is None:
            self.text_from = number
        self.text_to = number + 1
        return number + 1

    def _take(self, read: Read) -> int:
        """Add blocks that were read; a timer command makes the next Elapsed its own."""
        for block in read.blocks:
            if block.token == "TIMING":  # noqa: S105 - a token of the grammar
                self.timer = str(block.content)
                self._add("COMMAND", block.first, block.last, block.content)
            else:
                self.timer = None
                self._add(block.token, block.first, block.last, block.content)
        return read.next

    def _read_kind(self, kind: Kind, number: int) -> int | None:
        """Read the block that a line of a kind begins; None when the line is text after all."""
        page = self.page
        match kind:
            case Kind.PROMPT:
                read = read_prompt(page, number)
                return None if read is None else self._take(read)
            case Kind.ELAPSED:
                return self._read_elapsed(number)
            case Kind.FEEDBACK:
                return self._read_feedback(number)
            case Kind.ERROR:
                return self._read_error(number)
            case Kind.STATISTICS_HEADING | Kind.STATISTIC:
                return self._read_autotrace(number)
            case Kind.PLAN_HEADING:
                return self._read_explained(number)
            case Kind.SQL_ID | Kind.PLAN_HASH | Kind.PLAN_TABLE | Kind.PLAN_ROW:
                return self._read_plan(number)
            case Kind.RULER:
                return self._read_ruler(number)
            case Kind.SNAPPER_ROW:
                listing, after = read_snapper(page, number)
                return self._add("GRID", number, after, listing)
            case Kind.FENCE | Kind.BANNER:
                self.timer = None
                return self._add("BREAK", number, number + 1)
            case Kind.TIMER_NAME:
                self.timer = page.lines[number].strip()
                page.marks[number] = Mark.HEADING
                self._end_text(number)
                return number + 1
            case Kind.ELISION:
                page.note(number, "elided", "the log was cut here by hand; what is missing is unknown")
                self._end_text(number)
                return number + 1
            case Kind.TRACE | Kind.COMMENT | Kind.SUBSTITUTION:
                self._end_text(number)
                return number + 1
            case _:
                return None

    def _read_elapsed(self, number: int) -> int:
        page = self.page
        clock = read_clock(page.lines[number].strip(), number)
        if clock is None:  # the line was classified by the same pattern
            page.refuse(number, "unparsed", "an Elapsed line without a clock")
            return number + 1
        page.marks[number] = Mark.ELAPSED
        if language_of(clock.label) is None:
            page.note(number, "label", f"{clock.label!r} is not a known word for Elapsed; read as one by its shape")
        if self.timer is not None:
            name, self.timer = self.timer, None
            return self._add("TIMER", number, number + 1, (clock, name))
        return self._add("ELAPSED", number, number + 1, clock)

    def _read_feedback(self, number: int) -> int:
        page = self.page
        line = page.lines[number].strip()
        page.marks[number] = Mark.FEEDBACK
        if not ROWS.fullmatch(line):
            return self._add("DONE", number, number + 1, Outcome(number, line))
        count = _ROWS.search(line)
        verb = next((kind for kind, pattern in _VERBS if pattern.search(line)), None)
        token = "SELECTED" if verb == "select" else "DONE"
        return self._add(token, number, number + 1, Outcome(number, line, int(count[0]) if count else 0, verb))

    def _read_error(self, number: int) -> int:
        """An error with the lines that belong to it, up to what the client prints next."""
        page = self.page
        end = number
        code = None
        texts: list[str] = []
        while end < len(page):
            kind = page.kinds[end]
            line = page.lines[end].strip()
            if kind is Kind.ERROR:
                found = _CODE.match(line)
                if found and code is not None and found[0].startswith("SP2"):
                    break
                code = code or (found[0] if found else None)
                texts.append(line)
                last = end + 1
            elif kind is Kind.BLANK:
                if code is not None and not self._is_report(number, end):
                    break
            elif kind is not Kind.TEXT or (code is not None and not self._is_report(number, end)):
                break
            end += 1
            if kind is not Kind.BLANK:
                last = end
        page.mark(number, last, Mark.ERROR)
        message = next((text for text in texts if _CODE.match(text)), texts[0])
        outcome = Outcome(number, message, code=code or (found[0] if (found := ERROR.match(message)) else None))
        if code in _AUTOTRACE_ERRORS:
            return self._add("EXPLAINED", number, last, outcome)
        is_commands = code is not None and code.startswith("SP2") and self.found and self.found[-1].token == "COMMAND"  # noqa: S105 - a token of the grammar
        return self._add("COMMAND_ERROR" if is_commands else "FAILED", number, last, outcome)

    def _is_report(self, first: int, number: int) -> bool:
        """Is a line part of the report SQLcl makes of an error: its cause, its action, the statement?"""
        page = self.page
        if not page.lines[first].lstrip().startswith("Error "):
            return False
        ahead = page.after_blanks(number)
        return ahead < len(page) and page.kinds[ahead] in {Kind.TEXT, Kind.ERROR} and ahead - first < _LONGEST_REPORT

    def _read_autotrace(self, number: int) -> int | None:
        found, after = read_autotrace(self.page, number)
        if found is None:
            return None
        token = "SESSION_STATISTICS" if found.client == "sqlcl" else "STATISTICS"
        return self._add(token, number, after, found)

    def _read_explained(self, number: int) -> int | None:
        page = self.page
        ahead = page.after_blanks(number + 1)
        if page.kind(ahead) not in {Kind.RULER, Kind.PLAN_ROW, Kind.PLAN_HASH, Kind.PLAN_TABLE}:
            return None
        plan, after = read_plan(page, number, is_explained=True)
        return self._add("EXPLAINED", number, after, plan)

    def _read_plan(self, number: int) -> int | None:
        page = self.page
        top = number
        if page.kinds[number] is Kind.PLAN_ROW and not _has_heading(page, number):
            return None
        plan, after = read_plan(page, number, is_explained=False)
        if not plan.operations:
            page.mark(number, after, Mark.TEXT)
            if page.kinds[number] is Kind.PLAN_TABLE:
                return None
            return self._add("TEXT", top, after)
        return self._add("PLAN", top, after, plan)

    def _read_ruler(self, number: int) -> int | None:
        page = self.page
        if page.kind(number + 1) is Kind.PLAN_ROW or _is_cut_plan_ruler(page, number):
            plan, after = read_plan(page, number, is_explained=False)
            if plan.operations:
                return self._add("PLAN", number, after, plan)
        start = self.text_from if self.text_from is not None else number
        grid = read_grid(page, number, start)
        if grid is None:
            self._end_text(number)
            page.marks[number] = Mark.HEADING
            return number + 1
        self._end_text(grid.first)
        return self._add("GRID", grid.first, grid.last, grid)


#: SQLcl's report of an error is at most this long.
_LONGEST_REPORT: Final = 60
#: ``name : 12``, or a session, a name and a figure.
_MAY_BE_FIGURE: Final = re.compile(
    r" *(?:[A-Za-z][^:]*:[ ]+-?[\d.,]+(?:E\+\d+)?|\d+ +\w+ {2,}.* {2}-?[\d.,]+[kKMGT]?)$"
)


def _has_heading(page: Page, number: int) -> bool:
    line = page.lines[number]
    return "Operation" in line and "Id" in line


def _is_cut_plan_ruler(page: Page, number: int) -> bool:
    """Is this the ruler of a plan wider than the line size, so that its rest stands in the next line?"""
    ahead = number + 1
    while page.kind(ahead) is Kind.RULER or (page.kind(ahead) is Kind.BLANK and ahead < min(number + 4, len(page))):
        ahead += 1
    return page.kind(ahead) is Kind.PLAN_ROW and _has_heading(page, ahead)


def read_blocks(page: Page, custom: CustomPattern | None = None) -> list[Block]:
    """The blocks of a page, in order; each line's mark says what became of it."""
    return _Blocks(page, custom).read()
