"""What was typed: prompts, echoed statements with their numbered lines, client commands, bare statements."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from awrparse.spool.lines import CONTINUATION, PROMPT, Kind, classify
from awrparse.spool.page import Mark, Page
from awrparse.spool.records import Block, Typed

#: First words of client commands that print nothing of their own but what a script they start prints.
_COMMANDS: Final = re.compile(
    r"(?:set\b(?!\s+(?:role|transaction|constraints?)\b)|col(?:umn)?\b|pro(?:mpt)?\b|spo(?:ol)?\b|sta(?:rt)?\b|@|"
    r"def(?:ine)?\b|undef(?:ine)?\b|acc(?:ept)?\b|pau(?:se)?\b|bre(?:ak)?\b|comp(?:ute)?\b|cl(?:ear)?\b|tti(?:tle)?\b|"
    r"bti(?:tle)?\b|rephe|repfo|ho(?:st)?\b|!|\$|conn(?:ect)?\b|disc(?:onnect)?\b|exit\b|quit\b|whenever\b|"
    r"var(?:iable)?\b|rem(?:ark)?\b|l(?:ist)?\b|ed(?:it)?\b|sav(?:e)?\b|get\b|store\b|arch(?:ive)?\b|startup\b|"
    r"shut(?:down)?\b|passw|copy\b|a(?:ppend)?\s|c(?:hange)?/|del\b|i(?:nput)?\b|help\b|doc\b|#|info\b|ddl\b|"
    r"hist(?:ory)?\b|alias\b|cd\b|load\b|net\b|oerr\b|--|/\*)",
    re.IGNORECASE,
)
#: Client commands whose output is a result of theirs.
_SHOWING: Final = re.compile(r"(?:desc(?:r|ri|rib|ribe)?|sho(?:w)?|pri(?:nt)?|xq(?:uery)?)\b", re.IGNORECASE)
_TIMING: Final = re.compile(r"timi(?:ng)?\s+(?:stop|sho)", re.IGNORECASE)
_TIMING_START: Final = re.compile(r"timi(?:ng)?\b", re.IGNORECASE)
_RERUN: Final = re.compile(r"(?:/|r(?:un)?)\s*;?", re.IGNORECASE)
_NUMBERS: Final = re.compile(r"(?:[ \t]*\d{1,4}(?=[ \t]|$))+[ \t]*")
_BLOCK: Final = re.compile(
    r"(?:begin|declare|<<|create\s+(?:or\s+replace\s+)?(?:(?:non)?editionable\s+)?"
    r"(?:procedure|function|package|trigger|type|library|java))\b",
    re.IGNORECASE,
)
_SQL: Final = re.compile(
    r"(?:select|with|insert|update|delete|merge|create|drop|alter|truncate|begin|declare|exec(?:ute)?|explain\s+plan|"
    r"commit|rollback|analyze|grant|revoke|lock\s+table|call|comment\s+on|rename|purge|flashback|audit|savepoint|"
    r"set\s+(?:role|transaction|constraints?))\b|<<",
    re.IGNORECASE,
)
#: A word and ``>`` may be a prompt of somebody's own, or the start of a line of text.
_WORD_PROMPT: Final = re.compile(r"(?!SQL>|idle>)[A-Za-z][\w$#]*>")
#: A bare statement, or one typed without line numbers, is looked for over this many lines.
_LONGEST_BARE: Final = 400
_KINDS: Final = (
    ("select", re.compile(r"(?:select|with|\()", re.IGNORECASE)),
    ("insert", re.compile(r"insert\b", re.IGNORECASE)),
    ("update", re.compile(r"update\b", re.IGNORECASE)),
    ("delete", re.compile(r"delete\b", re.IGNORECASE)),
    ("merge", re.compile(r"merge\b", re.IGNORECASE)),
    ("plsql", re.compile(r"(?:begin|declare|exec(?:ute)?|call|<<)", re.IGNORECASE)),
    ("explain", re.compile(r"explain\b", re.IGNORECASE)),
    ("alter system", re.compile(r"alter\s+system\b", re.IGNORECASE)),
    ("alter session", re.compile(r"alter\s+session\b", re.IGNORECASE)),
    ("transaction", re.compile(r"(?:commit|rollback|savepoint|set\s+transaction|lock)\b", re.IGNORECASE)),
    (
        "ddl",
        re.compile(
            r"(?:create|drop|alter|truncate|analyze|grant|revoke|comment|rename|purge|flashback|audit)\b", re.IGNORECASE
        ),
    ),
)
_LEADING_COMMENTS: Final = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*(?!\+).*?\*/)*", re.DOTALL)


class Read(NamedTuple):
    """Blocks read from a place on a page, and the line to go on from."""

    blocks: list[Block]
    next: int


def kind_of(text: str) -> str | None:
    """The kind of a statement by its first words; None when they say nothing.

    Examples:
        >>> kind_of("ALTER SYSTEM FLUSH BUFFER_CACHE"), kind_of("with q as (select 1 from dual) select * from q")
        ('alter system', 'select')
    """
    start = _LEADING_COMMENTS.match(text)
    bare = text[start.end() :] if start else text
    return next((kind for kind, pattern in _KINDS if pattern.match(bare)), None)


def read_prompt(page: Page, number: int) -> Read | None:
    """What was typed at the prompt in a line, with the lines that go on; None when the line is no prompt after all."""
    found = PROMPT.match(page.lines[number].strip())
    if found is None:
        return None
    prompt, rest = found["prompt"], found["rest"].strip()
    while (again := PROMPT.match(rest)) and again["prompt"] == prompt:
        rest = again["rest"].strip()
    if _WORD_PROMPT.fullmatch(prompt) and not _is_typed(rest):
        return None
    if not rest:
        page.marks[number] = Mark.PROMPT
        return Read([Block("BREAK", number, number + 1)], number + 1)
    if _NUMBERS.fullmatch(rest):
        page.marks[number] = Mark.INPUT
        return Read([Block("INPUT", number, number + 1, Typed(None, prompt, None))], number + 1)
    if _is_output(rest):
        page.lines[number] = rest
        page.kinds[number] = classify(rest)
        return Read([Block("BREAK", number, number)], number)
    return _read_typed(page, number, prompt, rest)


def _is_typed(rest: str) -> bool:
    return not rest or _SQL.match(rest) is not None or _COMMANDS.match(rest) is not None or rest == "/"


def _is_output(rest: str) -> bool:
    return classify(rest) in {
        Kind.ELAPSED,
        Kind.FEEDBACK,
        Kind.ERROR,
        Kind.BANNER,
        Kind.STATISTIC,
        Kind.STATISTICS_HEADING,
        Kind.PLAN_HEADING,
    }


def _read_typed(page: Page, number: int, prompt: str, rest: str) -> Read:
    if _TIMING_START.match(rest):
        page.marks[number] = Mark.COMMAND
        token = "TIMING" if _TIMING.match(rest) else "COMMAND"
        return Read([Block(token, number, number + 1, rest)], number + 1)
    if _RERUN.fullmatch(rest):
        page.marks[number] = Mark.INPUT
        return Read([Block("INPUT", number, number + 1, Typed("/", prompt, None))], number + 1)
    if _SHOWING.match(rest):
        page.marks[number] = Mark.INPUT
        return Read([Block("CALL", number, number + 1, Typed(rest, prompt, "command"))], number + 1)
    if _COMMANDS.match(rest):
        end = _command_end(page, number, rest)
        page.mark(number, end, Mark.COMMAND)
        return Read([Block("COMMAND", number, end, rest)], end)
    text, end = _statement(page, number, rest)
    page.mark(number, end, Mark.INPUT)
    kind = kind_of(text)
    return Read([Block("CALL" if kind == "plsql" else "INPUT", number, end, Typed(text, prompt, kind))], end)


def _command_end(page: Page, number: int, rest: str) -> int:
    """The line after a client command; a dash at the end of a line goes on in the next, whose prompt is ``>``."""
    end = number + 1
    while rest.endswith("-") and not rest.startswith("--") and end < len(page):
        rest = page.lines[end].strip()
        if not rest.startswith(">"):
            break
        end += 1
    return end


def _statement(page: Page, number: int, first: str) -> tuple[str, int]:
    """The text of an echoed statement and the line after it."""
    lines = [first]
    end = number + 1
    is_block = _BLOCK.match(first) is not None
    last_number = 1
    while not _is_complete(lines[-1], is_block=is_block) and end < len(page):
        line = page.lines[end]
        if line.startswith(f"{last_number + 1:>3}  "):
            last_number += 1
            lines.append(line[5:])
        else:
            found = CONTINUATION.fullmatch(line)
            if found is None or int(found["number"]) <= last_number:
                break
            last_number = int(found["number"])
            lines.append(found["rest"])
        is_block = is_block or (len(lines) < 4 and _BLOCK.match("\n".join(lines).strip()) is not None)
        end += 1
    if len(lines) == 1 and not _is_complete(first, is_block=is_block):
        bare = _bare_end(page, number, is_block=is_block)
        if bare is not None:
            lines += [line.strip() for line in page.lines[end:bare]]
            end = bare
    return _without_end(lines), end


def _is_complete(line: str, *, is_block: bool) -> bool:
    if not line or line[-1] not in ";/.":
        return False
    stripped = line.strip()
    return stripped == "/" or (not is_block and (stripped[-1] == ";" or stripped == "."))


def _without_end(lines: list[str]) -> str:
    """A statement's text without the mark that ended it."""
    text = "\n".join(lines).rstrip()
    if text.endswith("\n/"):
        return text[:-2].rstrip()
    return text[:-1].rstrip() if text.endswith(";") and not _BLOCK.match(text) else text


def starts_statement(line: str) -> bool:
    """Does a line of text begin as a statement does?"""
    return _SQL.match(line) is not None


def read_bare(page: Page, number: int) -> Read | None:
    """A statement that stands in the log without a prompt, as scripts and articles show it; None when there is none."""
    line = page.lines[number]
    is_block = _BLOCK.match(line) is not None
    end = _bare_end(page, number, is_block=is_block)
    if end is None:
        return None
    text = _without_end([line.rstrip() for line in page.lines[number:end]])
    page.mark(number, end, Mark.INPUT)
    kind = kind_of(text)
    token = "STATEMENT_TEXT" if kind in {None, "select"} else "CALL_TEXT"
    return Read([Block(token, number, end, Typed(text, None, kind))], end)


def _bare_end(page: Page, number: int, *, is_block: bool) -> int | None:
    """The line after a statement without line numbers; None when it does not end before output begins."""
    blanks = 0
    for place in range(number, min(number + _LONGEST_BARE, len(page))):
        kind = page.kinds[place] if place > number else Kind.TEXT
        if kind is Kind.BLANK:
            blanks += 1
            if blanks > 1 and not is_block:
                return None
            continue
        blanks = 0
        if kind not in {Kind.TEXT, Kind.COMMENT} or (place > number and not is_block and _begins_anew(page, place)):
            return None
        if kind is Kind.TEXT and _is_complete(page.lines[place].split("--", 1)[0].rstrip(), is_block=is_block):
            return place + 1
    return None


def _begins_anew(page: Page, place: int) -> bool:
    """Does a line after a blank one begin another statement?"""
    return page.kinds[place - 1] is Kind.BLANK and _SQL.match(page.lines[place]) is not None
