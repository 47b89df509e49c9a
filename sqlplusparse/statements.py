"""What was typed: prompts, echoed statements with their numbered lines, client commands, bare statements."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final, cast

from sqlplusparse.lines import (
    COMMANDS,
    CONTINUATION,
    EMPTY_LINE,
    LISTED,
    MOST_NUMBERED,
    NUMBERED,
    PROMPT,
    Kind,
    Pattern,
    classify,
    without_numbers,
)
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Block, Typed

_TIMING: Final = Pattern("{TIMING_STOP}", COMMANDS)
#: The client's own commands, tried in this order; anything else that is typed is a statement.
_COMMANDS: Final = Pattern(
    "(?P<timing>{TIMING})|(?P<rerun>{RERUN})|(?P<showing>{SHOWING})|(?P<host>{HOST})|(?P<silent>{SILENT})", COMMANDS
)
_BLOCK: Final = Pattern("{BLOCK_START}", COMMANDS)
_SQL: Final = Pattern("{STATEMENT_START}", COMMANDS)
_NEXT_COMMAND: Final = Pattern("{NEXT_COMMAND}", COMMANDS)
_ASKS_FOR_MORE: Final = Pattern("{ASKS_FOR_MORE}", COMMANDS)
_HOLDS_STATEMENT: Final = Pattern("{HOLDS_STATEMENT}", COMMANDS)
_ONE_LINE: Final = Pattern("{ONE_LINE}", COMMANDS)
_ENDS_STATEMENT: Final = frozenset(";/.")
_USUAL: Final = "SQL>"
_USUAL_START: Final = "SQL> "
_WORD_PROMPT: Final = Pattern("{WORD_PROMPT}", COMMANDS)
_OTHER_PROMPT: Final = Pattern("(?i:{OTHER_PROMPT})", COMMANDS)
_SHELL: Final = Pattern("{SHELL}", COMMANDS)
#: Kinds of lines that a statement without line numbers has.
_UNNUMBERED: Final = frozenset({Kind.TEXT, Kind.COMMENT})
#: A bare statement, or one typed without line numbers, is looked for over this many lines.
_LONGEST_BARE: Final = 400
_FIRST_WORDS: Final = Pattern(r"(?P<first>{FIRST_WORD})(?:\s+(?P<second>{FIRST_WORD}))?", COMMANDS)
_LEADING_COMMENTS: Final = Pattern("(?:{COMMENT_TEXT})*", COMMANDS)
_COMMENTED_SQL: Final = Pattern("{COMMENTED_SQL}", COMMANDS)
#: A comment over several lines is looked for over this many.
_LONGEST_COMMENT: Final = 400
#: First words of SQL and PL/SQL that no client command begins with, and the kind of the statement; None where the
#: second word says it.
VERBS: Final[dict[str, str | None]] = {
    "select": "select",
    "with": "select",
    "insert": "insert",
    "update": "update",
    "delete": "delete",
    "merge": "merge",
    "alter": None,
    **dict.fromkeys(("begin", "declare", "exec", "execute", "call"), "plsql"),
    **dict.fromkeys(("commit", "rollback", "savepoint", "lock"), "transaction"),
    **dict.fromkeys(("create", "drop", "truncate", "analyze", "grant", "revoke"), "ddl"),
    **dict.fromkeys(("comment", "rename", "purge", "flashback", "audit"), "ddl"),
    "explain": "explain",
}
#: First words of statements that no output of the client begins with, and the kind of the statement.
_QUERIES: Final = {
    word: kind
    for word, kind in VERBS.items()
    if kind is not None and word in {"select", "with", "insert", "update", "delete", "merge"}
}
#: Kinds of statements by two words.
_PAIRS: Final = {
    "alter system": "alter system",
    "alter session": "alter session",
    "set transaction": "transaction",
}
#: Signs that a statement begins with, as words.
_SIGNS: Final = {"(": "select", "<<": "plsql", "alter": "ddl"}
#: The first letters of what `starts_statement` takes, but for a label ``<<``: most text has others.
FIRST_LETTERS: Final = frozenset(word[:3] for word in (*VERBS, "set"))
_OUTPUT: Final = frozenset(
    {
        Kind.ELAPSED,
        Kind.FEEDBACK,
        Kind.ERROR,
        Kind.BANNER,
        Kind.STATISTIC,
        Kind.STATISTICS_HEADING,
        Kind.PLAN_HEADING,
    }
)
_COMMENTED: Final = _UNNUMBERED | {Kind.PROMPT, Kind.BLANK, Kind.RULER, Kind.ELISION}
#: Widths of terminals, and the narrowest.
_TERMINALS: Final = frozenset({80, 100, 120, 132, 160, 200})
_NARROWEST: Final = 60
_SECOND: Final = NUMBERED[2]
_CLIENT_ERROR: Final = "SP2-"
#: The clock of SET TIME ON before the number of a line that was not echoed.
TIMED_NUMBER: Final = Pattern("{TIME} (?=[ ]{2}{DIGITS}(?:[ ]{2}|$))")


def kind_of(text: str) -> str | None:
    """The kind of a statement by its first words; None where they do not show it.

    Examples:
        >>> kind_of("ALTER SYSTEM FLUSH BUFFER_CACHE"), kind_of("with q as (select 1 from dual) select * from q")
        ('alter system', 'select')
    """
    start = _LEADING_COMMENTS.match(text)
    found = _FIRST_WORDS.match(text[start.end() :] if start else text)
    if found is None:
        return None
    first, second = found["first"].lower(), (found["second"] or "").lower()
    return _PAIRS.get(f"{first} {second}") or VERBS.get(first) or _SIGNS.get(first)


def read_prompt(page: Page, number: int) -> Block | None:
    """What was typed at the prompt in a line, with the lines that go on; None when the line is no prompt after all.

    A block without a line says that output follows the prompt; the line is then that output.
    """
    line = page.lines[number]
    if line.startswith(_USUAL_START):
        if page.kind(number + 1) == Kind.BLANK and not page.prompts and (query := typed_query(line)) is not None:
            page.roles[number] = LineRole.INPUT
            return Block("INPUT", number, number + 1, query)
        prompt, typed = _USUAL, line[len(_USUAL_START) :]
    else:
        found = PROMPT.match(line.strip())
        if found is None:
            return None
        prompt, typed = found.group("prompt", "rest")
    typed = TIMED_NUMBER.sub("", typed)
    while prompt in typed and (again := PROMPT.match(typed.lstrip())) and again["prompt"] == prompt:
        typed = again["rest"]
    rest = typed.strip()
    prompt = page.prompts.get(number, prompt).strip()
    if prompt != _USUAL and _OTHER_PROMPT.fullmatch(prompt):
        return None
    if (
        "@" not in prompt
        and prompt != _USUAL
        and number not in page.prompts
        and _WORD_PROMPT.fullmatch(prompt)
        and not (_is_typed(rest) or is_piped(page) or f"{typed}  ".startswith(_SECOND) or classify(rest) in _OUTPUT)
        and not "".join(page.lines[number + 1 : number + 2]).startswith(_CLIENT_ERROR)
    ):
        return None
    if not rest:
        page.roles[number] = LineRole.PROMPT
        return Block("BREAK", number, number + 1)
    if rest[0] == "2" and (after := without_numbers(f"  {rest}")) is not None:
        if after:
            return _output_after(page, number, after, prompt)
        page.roles[number] = LineRole.INPUT
        return Block("INPUT", number, number + 1, Typed(None, prompt, None))
    word = rest.split(None, 1)[0].rstrip(";").lower()
    if word not in _QUERIES and (kind := classify(rest)) in _OUTPUT:
        is_piped(page)  # known by the lines as they are
        page.lines[number] = rest
        page.kinds[number] = kind
        return Block("BREAK", number, number)
    if is_quoted_error(page, number) or (word not in VERBS and is_piped(page)):
        return _output_after(page, number, typed.rstrip(), prompt)
    return _read_typed(page, number, prompt, rest, word)


def _output_after(page: Page, number: int, output: str, prompt: str) -> Block:
    """A statement that was not echoed, whose first line of output stands after the prompt it was read at."""
    is_piped(page)  # known by the lines as they are
    page.lines[number] = output
    page.kinds[number] = classify(output.strip())
    page.roles[number] = LineRole.TEXT
    return Block("INPUT", number, number, Typed(None, prompt, None))


def is_quoted_error(page: Page, number: int) -> bool:
    """Is a line, or what stands after its prompt, a line of a statement that the error below marks with a star?"""
    return page.lines[number + 1 : number + 2] != [] and page.lines[number + 1].strip() == "*"


def is_piped(page: Page) -> bool:
    """Did the client read its standard input: does output stand after prompts, and no statement at any?"""
    if "piped" not in page.habits:
        page.habits["piped"] = _has_only_output(page)
    return bool(page.habits["piped"])


def _has_only_output(page: Page) -> bool:
    is_found = False
    for number, line in enumerate(page.lines):
        if page.kinds[number] != Kind.PROMPT or (found := PROMPT.match(line.strip())) is None:
            continue
        if is_quoted_error(page, number):
            continue
        prompt, rest = found["prompt"], TIMED_NUMBER.sub("", found["rest"]).strip()
        while (again := PROMPT.match(rest)) is not None and again["prompt"] == prompt:
            rest = again["rest"].strip()
            is_found = True
        if not rest:
            is_found = is_found or page.kind(page.after_blanks(number + 1)) in _OUTPUT
        elif rest[0] == "2" or classify(rest) in _OUTPUT:
            is_found = True
        elif rest[-1] in ";/" or "".join(page.lines[number + 1 : number + 2]).startswith(_SECOND):
            return False
    return is_found


def typed_query(line: str) -> Typed | None:
    """A query or DML typed in one line at the usual prompt, to which no numbered line belongs; None for all else."""
    if line[-1:] != ";" or not line.startswith(_USUAL_START):
        return None
    rest = line[len(_USUAL_START) :].lstrip()
    kind = _QUERIES.get(rest.split(None, 1)[0].lower())
    return None if kind is None or _USUAL in rest else Typed(rest[:-1].rstrip(), _USUAL, kind)


def _is_typed(rest: str) -> bool:
    if not rest or _SQL.match(rest):
        return True
    command = _COMMANDS.match(rest)
    return command is not None and (command.lastgroup in {"silent", "host"} or rest == "/")


def _read_typed(page: Page, number: int, prompt: str, rest: str, word: str) -> Block:
    """What is typed at a prompt, by its first word in small letters."""
    if "@" in prompt and _SHELL.match(rest):
        page.roles[number] = LineRole.COMMAND
        return Block("COMMAND", number, number + 1, rest)
    command = None if word in VERBS or _COMMENTED_SQL.match(rest) else _COMMANDS.match(rest)
    if command is not None:
        return _read_command(page, number, prompt, rest, command.lastgroup)
    if word in _QUERIES and rest[-1] == ";" and not "".join(page.lines[number + 1 : number + 2]).startswith(_SECOND):
        text, end = rest[:-1].rstrip(), number + 1
    else:
        text, end = _statement(page, number, rest)
    if _is_kept(page, number, end):
        page.assign(number, end, LineRole.COMMAND)
        return Block("COMMAND", number, end, Typed(text, prompt, None))
    page.assign(number, end, LineRole.INPUT)
    kind = VERBS.get(word) or kind_of(text)
    return Block("CALL" if kind == "plsql" else "INPUT", number, end, Typed(text, prompt, kind))


def _is_kept(page: Page, number: int, end: int) -> bool:
    """Is a statement left in the buffer: does an empty line or a full stop end it, and does the prompt come next?"""
    if end < number + 2 or not EMPTY_LINE.fullmatch(page.lines[end - 1]):
        return False
    ahead = page.after_blanks(end)
    return ahead == len(page) or page.kinds[ahead] == Kind.PROMPT


def _read_command(page: Page, number: int, prompt: str, rest: str, what: str | None) -> Block:
    """A command of the client, by the group of `_COMMANDS` that it is."""
    end = number + 1
    match what:
        case "timing":
            block = Block("TIMING" if _TIMING.match(rest) else "COMMAND", number, end, rest)
        case "rerun":
            text, end = ("/", end) if rest[0] == "/" else _listed(page, end)
            block = Block("INPUT", number, end, Typed(text, prompt, kind_of(text)))
        case "showing":
            block = Block("CALL", number, end, Typed(rest, prompt, "command"))
        case "host":
            end = _command_end(page, number, rest)
            block = Block("CALL", number, end, Typed(rest, prompt, "host"))
        case _:
            end = _comment_end(page, number) if rest.startswith("/*") else _command_end(page, number, rest)
            block = Block("COMMAND", number, end, rest)
    page.assign(number, end, LineRole.COMMAND if block.token in {"COMMAND", "TIMING"} else LineRole.INPUT)
    return block


def _listed(page: Page, number: int) -> tuple[str, int]:
    """The statement that RUN lists from a line on, and the line after it; ``/`` where it lists none."""
    lines: list[str] = []
    while number < len(page) and (found := LISTED.fullmatch(page.lines[number])):
        if int(found["number"]) != len(lines) + 1:
            break
        lines.append(found["rest"])
        number += 1
    return "\n".join(lines) or "/", number


def _command_end(page: Page, number: int, rest: str) -> int:
    """The line after a client command; a dash at the end of a line continues it in the next, whose prompt is ``>``."""
    end = number + 1
    while rest.endswith("-") and not rest.startswith("--") and end < len(page):
        rest = page.lines[end].strip()
        if not rest.startswith(">"):
            break
        end += 1
    return end


def _comment_end(page: Page, number: int) -> int:
    """The line after a comment that was typed, which each line of it may have the prompt before."""
    for place in range(number, min(number + _LONGEST_COMMENT, len(page))):
        if "*/" in page.lines[place]:
            return place + 1
        if page.kinds[place] not in _COMMENTED:
            break
    return number + 1


def _statement(page: Page, number: int, first: str) -> tuple[str, int]:
    """The text of an echoed statement and the line after it."""
    first, end = _unwrapped(page, number, first)
    lines = [first]
    size = len(page)
    is_block = _BLOCK.match(first) is not None
    may_be_block = not is_block and first[:6].lower() == "create"
    last = 1
    while end < size:
        line = page.lines[end]
        is_ended = lines[-1][-1:] in _ENDS_STATEMENT and _is_complete(lines[-1], is_block=is_block)
        # A semicolon in a comment or in a function of WITH ends nothing: the client asks for the next line.
        if is_ended and (lines[-1][-1] != ";" or not line.startswith(NUMBERED[last + 1 : last + 2])):
            break
        if last + 1 < MOST_NUMBERED and line.startswith(NUMBERED[last + 1]):
            last += 1
            rest = line[5:]
        else:
            found = CONTINUATION.fullmatch(line)
            if found is None or int(found["number"]) <= last:
                break
            last = int(found["number"])
            rest = found["rest"]
        rest, end = _unwrapped(page, end, rest)
        lines.append(rest)
        if may_be_block and len(lines) < 4:
            is_block = is_block or _BLOCK.match("\n".join(lines)) is not None
    if len(lines) == 1 and first.endswith("-") and _ONE_LINE.match(first):
        end = _command_end(page, number, first)
        lines = [first, *(line.strip().removeprefix(">").strip() for line in page.lines[number + 1 : end])]
        return " ".join(line.removesuffix("-").rstrip() for line in lines).removesuffix(";"), end
    if len(lines) == 1 and end < size and page.kinds[end] == Kind.PROMPT and not _is_complete(first, is_block=is_block):
        lines, prompted = _prompted_lines(page, end, first, is_block=is_block)
        if prompted > end:
            return _without_end(lines), prompted
    if len(lines) == 1 and not _is_complete(first, is_block=is_block) and not _ONE_LINE.match(first):
        bare = _bare_end(page, number, is_block=is_block)
        if bare is not None:
            lines += [line.strip() for line in page.lines[end:bare]]
            end = bare
    return _without_end(lines), end


def _unwrapped(page: Page, number: int, text: str) -> tuple[str, int]:
    """What was typed in a line with what the terminal put into the lines below, and the line after them."""
    end = number + 1
    if len(page.lines[number]) < _NARROWEST or text.endswith(";") or not (terminal := _terminal(page)):
        return text, end
    while end < len(page) and page.kinds[end] == Kind.TEXT and (missing := terminal - _width(page, end - 1)) in {0, 1}:
        if text.endswith(";") or TIMED_NUMBER.sub("", page.lines[end]).startswith(NUMBERED):
            break
        text += " " * missing + page.lines[end]
        end += 1
    return text, end


def _width(page: Page, number: int) -> int:
    """How wide a line is in the log, with the prompt that it has there."""
    return len(page.lines[number]) + len(page.prompts.get(number, _USUAL_START)) - len(_USUAL_START)


def _terminal(page: Page) -> int:
    """How wide the terminal is that broke typed lines; 0 where none did.

    The widest lines that were typed and go on below without a number are as wide: several of them, or as wide as
    terminals usually are.
    """
    if "terminal" not in page.habits:
        widths: Counter[int] = Counter()
        for number, (line, below) in enumerate(pairwise(page.lines)):
            if (
                page.kinds[number + 1] == Kind.TEXT
                and len(line) >= _NARROWEST
                and line[-1] != ";"
                and (page.kinds[number] == Kind.PROMPT or (starts_statement(line) and has_empty_prompt(page)))
                and not TIMED_NUMBER.sub("", below).startswith(_SECOND)
                and not is_quoted_error(page, number)
            ):
                widths[_width(page, number)] += 1
        widest = max(widths, default=0)
        widest += widest not in _TERMINALS and widest + 1 in _TERMINALS  # a blank stood at the end
        page.habits["terminal"] = widest if widest in _TERMINALS or widths[widest] > 1 else 0
    return cast("int", page.habits["terminal"])


def _prompted_lines(page: Page, end: int, first: str, *, is_block: bool) -> tuple[list[str], int]:
    """The lines of a statement each of which has the prompt (SET SQLNUMBER OFF), and the line after them.

    Args:
        page: the page.
        end: the line after the first; it is given back where the statement does not go on like that.
        first: the first line.
        is_block: whether a semicolon ends nothing.
    """
    lines = [first]
    none = lines[:1], end
    if _ONE_LINE.match(first) or not _SQL.match(first) or _has_numbers(page):
        return none
    place = end
    while end <= place < min(end + _LONGEST_BARE, len(page)):
        found = PROMPT.match(page.lines[place].strip()) if page.kinds[place] == Kind.PROMPT else None
        rest = "" if found is None else found["rest"].rstrip()
        bare = rest.strip()
        if not bare and found is not None and place + 1 < len(page) and page.kinds[place + 1] == Kind.PROMPT:
            lines.append("")  # SET SQLBLANKLINES ON, or a block: the client would answer the next line otherwise
            place += 1
            continue
        if not bare or (_NEXT_COMMAND.match(bare) and not (is_block and bare[0] != "@")):
            return none
        if _SQL.match(bare) and not (is_block or _HOLDS_STATEMENT.match(first) or _ASKS_FOR_MORE.match(lines[-1])):
            return none
        rest, place = _unwrapped(page, place, rest)
        lines.append(rest)
        is_block = is_block or (len(lines) < 4 and _BLOCK.match("\n".join(lines)) is not None)
        if _is_complete(rest, is_block=is_block):
            return lines, place
    return none


def _has_numbers(page: Page) -> bool:
    """Does the client number the lines of statements: has any a second line with its number?"""
    if "numbered" not in page.habits:
        page.habits["numbered"] = any(
            line.startswith(_SECOND) and page.kinds[number] == Kind.PROMPT for number, line in enumerate(page.lines[1:])
        )
    return bool(page.habits["numbered"])


def _is_complete(line: str, *, is_block: bool) -> bool:
    if line[-1:] not in _ENDS_STATEMENT:
        return False
    stripped = line.strip()
    return stripped == "/" or (not is_block and (stripped[-1] == ";" or stripped == "."))


def _without_end(lines: list[str]) -> str:
    """A statement's text without the mark that ended it."""
    text = "\n".join(lines).rstrip()
    if text.endswith(("\n/", "\n.")):
        return text[:-2].rstrip()
    return text[:-1].rstrip() if text.endswith(";") and not _BLOCK.match(text) else text


def starts_statement(line: str) -> bool:
    """Does a line of text begin as a statement does?"""
    return (line[:3].lower() in FIRST_LETTERS or line[0] == "<") and _SQL.match(line) is not None


def is_numbered(page: Page, number: int) -> bool:
    """Does a statement begin in a line, whose second line has the number that the client gives it?"""
    below = "".join(page.lines[number + 1 : number + 2])
    return f"{below}  ".startswith(_SECOND) and starts_statement(page.lines[number])


def has_empty_prompt(page: Page) -> bool:
    """Does the client number the lines of a statement that no prompt stands before?"""
    if "empty prompt" not in page.habits:
        page.habits["empty prompt"] = any(is_numbered(page, number) for number, line in enumerate(page.lines) if line)
    return bool(page.habits["empty prompt"])


def read_bare(page: Page, number: int) -> Block | None:
    """A statement that stands in the log without a prompt, as scripts and articles show it; None without one."""
    line = page.lines[number]
    is_block = _BLOCK.match(line) is not None
    end = _bare_end(page, number, is_block=is_block)
    if end is None:
        return None
    lines: list[str] = []
    place = number
    while place < end:
        rest, place = _unwrapped(page, place, _unnumbered(page, place, len(lines) + 1))
        lines.append(rest)
    text = _without_end(lines)
    page.assign(number, end, LineRole.INPUT)
    kind = kind_of(text)
    if not (has_empty_prompt(page) or _TERMINALS.isdisjoint(len(line) + gap for line in lines[:-1] for gap in (0, 1))):
        page.note(number, "ambiguous", "a terminal may have broken this statement's lines; its text keeps the breaks")
    if has_empty_prompt(page):
        return Block("CALL" if kind == "plsql" else "INPUT", number, end, Typed(text, "", kind))
    token = "STATEMENT_TEXT" if kind in {None, "select"} else "CALL_TEXT"
    return Block(token, number, end, Typed(text, None, kind))


def _unnumbered(page: Page, number: int, ordinal: int) -> str:
    """A line of a statement, without the number that the client gave it below no prompt."""
    line = page.lines[number].rstrip()
    mark = NUMBERED[ordinal]
    return line.removeprefix(mark.rstrip()).removeprefix("  ") if f"{line}  ".startswith(mark) else line


def _bare_end(page: Page, number: int, *, is_block: bool) -> int | None:
    """The line after a statement without line numbers; None when it does not end before output begins."""
    blanks = 0
    for place in range(number, min(number + _LONGEST_BARE, len(page))):
        kind = page.kinds[place] if place > number else Kind.TEXT
        if kind == Kind.BLANK:
            blanks += 1
            if blanks > 1 and not is_block:
                return None
            continue
        blanks = 0
        if kind not in _UNNUMBERED or (place > number and not is_block and _begins_anew(page, place)):
            return None
        if is_quoted_error(page, place):
            return None
        if kind == Kind.TEXT and _is_complete(
            _unnumbered(page, place, place - number + 1).split("--", 1)[0].rstrip(), is_block=is_block
        ):
            return place + 1
    return None


def _begins_anew(page: Page, place: int) -> bool:
    """Does a line after a blank one begin another statement?"""
    return page.kinds[place - 1] == Kind.BLANK and _SQL.match(page.lines[place]) is not None
