"""The prompts that SET SQLPROMPT chose: by the command that chose them, or by what repeats in the session.

A session printed with another prompt is given ``SQL>`` before its lines are read.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, compress
from typing import TYPE_CHECKING, Final

from sqlplusparse.elapsed import LABELS, language_of
from sqlplusparse.lines import (
    COMMANDS,
    NUMBERED,
    NUMBERED_LINE,
    Kind,
    Pattern,
    classify,
    without_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_SQLPROMPT: Final = Pattern(r"{SET}{SQLPROMPT}[ \t]+(?P<text>{SETTING_TEXT})", COMMANDS)
_VARIABLE: Final = Pattern("{PROMPT_VARIABLE}", COMMANDS)
_LEARNED: Final = Pattern(r"(?P<prompt>{ANY_PROMPT}(?P<gap>[ \t]?))(?P<rest>{TYPED_WORD}.*)", COMMANDS)
#: What `_LEARNED` finds in one of several lines, but for how the line begins.
_TYPED: Final = Pattern(r"(?m)[>#$%][ \t]?{TYPED_WORD}", COMMANDS)
#: A prompt before the numbers of lines that the client read from its standard input, and whether a text has such.
_RUN_ON: Final = Pattern(r"(?P<prompt>{ANY_PROMPT})[ \t]?(?P<rest>[ ]{2}{SECOND_NUMBER}.*)", COMMANDS)
_SOME_RUN_ON: Final = Pattern(r"(?m)[>#$%][ \t]?[ ]{2}{SECOND_NUMBER}", COMMANDS)
#: A clock after a prompt.
_TIMED: Final = Pattern(
    r"(?P<prompt>[^\n;'\"]{0,999}[>#$%])[ \t]?(?P<rest>{LABEL}){LABEL_COLON}{GAP}{HOURS}{CLOCK_COLON}{SIXTIETHS}:"
)
_SOME_TIMED: Final = Pattern(r"[>#$%][ \t]?{LABEL}{LABEL_COLON}{GAP}{HOURS}{CLOCK_COLON}{SIXTIETHS}:")
_LAST_SAID: Final = "Disconnected from"
#: What the client says after a prompt at which it read a script from its standard input.
_SAID: Final = rf"(?:[ ]{{2}}2[ \d]*)?(?:{'|'.join(LABELS)}){{LABEL_COLON}}{{GAP}}{{HOURS}}{{CLOCK_COLON}}|{_LAST_SAID}"
_BEHIND: Final = Pattern(rf"\s*$|[ ]{{2}}2(?:[ ]{{4}}\d)*\s*$|{{TYPED_WORD}}|{_SAID}")
#: Any text, once or several times, before something that may be typed or what the client says.
_ANY_TYPED: Final = Pattern(
    rf"(?!\s|{{SQL_VERB}})(?P<prompt>[^\n'\"]{{1,60}}?)(?P=prompt)*(?:(?<!\w){{SQL_VERB}}|(?P<said>{_SAID}))"
)
_MAY_ASK: Final = Pattern(r"(?!\s|{STATEMENT_START}|--)[^\n'\"]{1,60}?{SQL_VERB}[ \t]", COMMANDS)
#: What no prompt is: a comment, a slash (which runs the buffer), a time alone (SET TIME ON), the client's commands, and
#: what a statement begins with or goes on after.
_NO_PROMPT: Final = Pattern(r"(?:--|/)\s*$|00:00:00\s*$|(?=\w)(?:{STATEMENT_START}|{SILENT})|{ASKS_FOR_MORE}", COMMANDS)
_ENDS: Final = (";", "/")
#: What the client prints below a statement, within a few lines.
_ANSWERS: Final = frozenset({Kind.RULER, Kind.FEEDBACK, Kind.ELAPSED, Kind.ERROR, Kind.PLAN_HEADING})
_NEAR: Final = 6
#: A statement whose lines have the prompt is followed over this many; a log with more beginnings has no prompt.
_LONGEST_STATEMENT: Final = 100
_MOST_PROMPTS: Final = 50
_USUAL: Final = "SQL>"
#: What the client prompts with for the lines of a comment, whatever its own prompt is.
_COMMENT_PROMPT: Final = "DOC>"
_IS_TEXT: Final = bytes(kind == Kind.TEXT for kind in range(256))
_MAY_BE_TYPED: Final = bytes(kind in {Kind.TEXT, Kind.COMMENT, Kind.PLAN_ROW} for kind in range(256))
_IS_PROMPT: Final = bytes(kind == Kind.PROMPT for kind in range(256))
_DIGITS: Final = str.maketrans("123456789", "000000000")
#: A prompt that ends with one of these needs no numbered line below it to be recognised.
_PROMPT_ENDS: Final = frozenset(">#$%")
#: A prompt that no command chose is seen so often.
_FEWEST_PROMPTS: Final = 2
_LONGEST_PROMPT: Final = 80
#: A prompt has at most this many words.
_MOST_WORDS: Final = 8


def usual_prompts(lines: list[str], kinds: bytearray, text: str) -> tuple[dict[int, str], int | None]:
    r"""Replace by ``SQL>`` the prompts that SET SQLPROMPT chose, in place; the prompt of each line that had one.

    The kinds follow.  Where no prompt is known, the first line that may have one is given back, too.

    A prompt is known by the command that chose it, or because several lines begin with it, figures apart, and SQL or
    a command of the client follows.

    Args:
        lines: the lines.
        kinds: their kinds.
        text: all of them in small letters.

    Examples:
        >>> from sqlplusparse.lines import kinds_of
        >>> lines = ["24/05 12:37 | HR > select 1 from dual;", "24/05 12:38 | HR >"]
        >>> usual_prompts(lines, kinds_of(lines), "\n".join(lines))
        ({0: '24/05 12:37 | HR > ', 1: '24/05 12:38 | HR > '}, None)
        >>> lines
        ['SQL> select 1 from dual;', 'SQL>']
    """
    chosen = [
        pattern
        for line in (lines if "sqlp" in text else ())
        if "sqlp" in line.lower()
        and (found := _SQLPROMPT.search(line))
        and (pattern := _prompt_pattern(found["text"])) is not None
    ]
    seen, doubtful = _seen_prompts(lines, kinds), None
    if not (chosen or seen):
        seen, doubtful = _answered_prompts(lines, kinds)
    found_prompts: dict[int, str] = {}
    for number, line in enumerate(lines if chosen or seen else ()):
        if kinds[number] == Kind.PROMPT or not line:
            continue
        prompt = next((found[0] for pattern in chosen if (found := pattern.match(f"{line} "))), None)
        if prompt is None and seen:
            prompt = _seen_prompt(f"{line} ", seen)
        if prompt and (
            kinds[number] != Kind.PLAN_ROW
            or _is_input(line, prompt, lines[number - 1], is_above=number - 1 in found_prompts)
        ):
            rest = _after(f"{line} ", prompt)
            found_prompts[number] = prompt + " " * rest.startswith(" ")
            lines[number] = f"{_USUAL} {rest.removeprefix(' ')}".rstrip()
            kinds[number] = Kind.PROMPT
    return found_prompts, doubtful


def _after(line: str, prompt: str) -> str:
    """What stands in a line after a prompt, which the client may have printed several times."""
    rest, shape = line[len(prompt) :], prompt.translate(_DIGITS)
    while rest[: len(prompt)].translate(_DIGITS) == shape:  # the time in it may be another
        rest = rest[len(prompt) :]
    return rest


def _is_input(line: str, prompt: str, above: str, *, is_above: bool) -> bool:
    """Is something typed after the bar that a line begins with, or does it go on with what is typed above?"""
    rest = line[len(prompt) :]
    return "|" not in rest or _BEHIND.match(rest) is not None or (is_above and above[-1] not in _ENDS)


def _answered_prompts(lines: list[str], kinds: bytearray) -> tuple[set[str], int | None]:
    """The beginnings of lines, figures as 0, that are prompts by what stands after them and by the answer below.

    Any text may be one.  A statement after it that the client numbered or answered, or words of the client, show it
    once; another line repeats it.  Where none does, a line that shows one is doubtful: the first is given back.
    """
    first: dict[str, int | None] = {}
    known = [line for line in compress(lines, kinds.translate(_IS_PROMPT)) if not line.startswith(_COMMENT_PROMPT)]
    if any(line.startswith(_USUAL) for line in known):
        return set(), None
    places = [
        number
        for number in compress(range(len(lines)), kinds.translate(_MAY_BE_TYPED))
        if kinds[number] != Kind.PLAN_ROW or lines[number][-1] != "|"
    ]
    for number in places:
        line, below = lines[number], "".join(lines[number + 1 : number + 2])
        if (
            line[-1] in _ENDS
            or ":" in line
            or _LAST_SAID in line
            or below[:1] == line[:1]
            or below.startswith(NUMBERED[2])
        ):
            found = _ANY_TYPED.match(line)
            if found is not None and (found["said"] or _is_answered(lines, kinds, number, found["prompt"])):
                first.setdefault(found["prompt"].translate(_DIGITS), None if found["said"] else number)
                if len(first) > _MOST_PROMPTS:
                    return set(), None
    first = {shape: number for shape, number in first.items() if not _NO_PROMPT.match(shape.rstrip(" ="))}
    counts: Counter[str] = Counter()
    for number in places if first else ():
        line = f"{lines[number]} "
        prompt = _seen_prompt(line, first)
        if prompt is not None and _BEHIND.match(_after(line, prompt)):
            counts[prompt.translate(_DIGITS)] += 1
    seen = {shape for shape in first if counts[shape] >= max(_FEWEST_PROMPTS, len(known))}
    if seen:
        return seen, None
    asked = [number for number in first.values() if number is not None]
    others = (number for number in places if _ends_or_goes_on(lines, number) and _MAY_ASK.match(lines[number]))
    return seen, next(chain(asked, others), None)


def _ends_or_goes_on(lines: list[str], number: int) -> bool:
    """Does a line end a statement, or go on in a numbered line or in one that ends a statement?"""
    below = "".join(lines[number + 1 : number + 2])
    return ";" in {lines[number][-1], below[-1:]} or below.startswith(NUMBERED[2])


def _is_answered(lines: list[str], kinds: bytearray, number: int, prompt: str) -> bool:
    """Does the client number the next line of the statement in a line, or answer below its end?"""
    last = min(number + _LONGEST_STATEMENT, len(lines) - 1)
    while number < last and lines[number][-1:] not in _ENDS and lines[number + 1].startswith(prompt):
        number += 1
    below = "".join(lines[number + 1 : number + 2])
    is_ended = lines[number][-1:] in _ENDS and not _ANSWERS.isdisjoint(kinds[number + 1 : number + 1 + _NEAR])
    return is_ended or below.startswith(NUMBERED[2])


def _seen_prompts(lines: list[str], kinds: bytearray) -> set[str]:
    """The beginnings of lines, figures as 0, that several lines share and SQL follows."""
    counts: Counter[str] = Counter()
    proven: set[str] = set()
    printed: set[str] = set()
    joined: set[str] = set()
    are_text = kinds.translate(_IS_TEXT)
    prompts = compress(range(len(lines)), kinds.translate(_IS_PROMPT))
    others = [number for number in prompts if not lines[number].startswith((_USUAL, _COMMENT_PROMPT))]
    text = "\n".join([*compress(lines, are_text), *map(lines.__getitem__, others)])
    if not any(pattern.search(text) for pattern in (_TYPED, _SOME_RUN_ON, _SOME_TIMED)):
        return proven
    places = [*compress(range(len(lines)), are_text), *others]
    for number in places:
        line = lines[number]
        after = _RUN_ON.match(line) or _TIMED.match(line)
        if after is not None and _is_after_prompt(*after.group("prompt", "rest")):
            prompt, times = _once(after["prompt"])
            shape = prompt.translate(_DIGITS)
            counts[shape] += times - 1
            printed.add(shape)
        elif (found := _LEARNED.match(line)) is not None:
            prompt, rest = found["prompt"].strip(), found["rest"]
            shape = prompt.translate(_DIGITS)
            if not found["gap"]:
                joined.add(shape)
            below = lines[number + 1] if number + 1 < len(lines) else ""
            is_more = NUMBERED_LINE.match(below) is not None or below.startswith(found["prompt"])
            if is_more or (prompt[-1] in _PROMPT_ENDS and rest.endswith((";", "/"))):
                proven.add(shape)
        else:
            continue
        counts[shape] += 1
    # what is a prompt whatever stands after it needs no proof
    proven = {shape for shape in proven | printed if classify(f"{shape}{' ' * (shape not in joined)}-") != Kind.PROMPT}
    if not proven:
        return proven
    for line in lines:
        if len(line) <= _LONGEST_PROMPT and (shape := line.strip().translate(_DIGITS)) in proven:
            counts[shape] += 1
    for line in map(lines.__getitem__, places if printed else ()):
        counts.update(shape for shape in printed if line.translate(_DIGITS).startswith(f"{shape} "))
    return {shape if shape in joined else f"{shape} " for shape in proven if counts[shape] >= _FEWEST_PROMPTS}


def _is_after_prompt(prompt: str, rest: str) -> bool:
    """Does what stands after a prompt show that a client printed it, which read a script from its standard input?

    It prints the numbers of the lines that it did not echo, and an Elapsed where the statement printed nothing else.
    """
    is_prompt = prompt[-1] in _PROMPT_ENDS and not prompt[-2:-1].isdigit()
    return is_prompt and (without_numbers(rest) is not None or language_of(rest) is not None)


def _once(prompt: str) -> tuple[str, int]:
    """A prompt that may have been printed several times in one line, and how often."""
    words = prompt.split()
    sizes = range(1, min(len(words), _MOST_WORDS) + 1)
    size = next((size for size in sizes if words == words[:size] * (len(words) // size)), len(words))
    return " ".join(words[:size]), len(words) // size


def _seen_prompt(line: str, seen: Iterable[str]) -> str | None:
    """The prompt that a line, which ends with a blank, begins with."""
    shape = line.translate(_DIGITS)
    return next((line[: len(one)] for one in seen if shape.startswith(one)), None)


def _prompt_pattern(text: str) -> re.Pattern[str] | None:
    """What a prompt reads as: its own text, and any word for each variable in it."""
    inner = text.strip()
    bare = inner.strip("'\"") if inner[:1] in {"'", '"'} else inner
    value = COMMANDS.pattern("{VARIABLE_VALUE}")
    pattern = ""
    end = 0
    for found in _VARIABLE.finditer(bare):
        pattern += re.escape(bare[end : found.start()].replace("'", "")) + value
        end = found.end()
    pattern += re.escape(bare[end:].replace("'", ""))
    return re.compile(pattern) if bare.strip(" '\"") else None
