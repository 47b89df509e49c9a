"""The client's settings that change how lines are printed: SET UNDERLINE, COLSEP and SQLPROMPT.

A session printed with other settings is given the usual form before its lines are classified: rulers of dashes with
blanks between them, and the prompt ``SQL>``.  No line is moved and no figure is changed.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import lru_cache
from itertools import compress
from typing import Final

from logframe import Column, columns_of, fits
from sqlplusparse.elapsed import language_of
from sqlplusparse.lines import (
    COMMANDS,
    KINDS,
    NUMBERED_LINE,
    PROMPT,
    SEPARATED_RULER,
    SYMBOL_RULER,
    Kind,
    Pattern,
    classify,
    without_numbers,
)

AUTOCOMMIT: Final = Pattern(r"{SET}{AUTOCOMMIT}[ \t]+(?P<off>{SETTING_OFF})?", COMMANDS)
_UNDERLINE: Final = Pattern(r"{SET}{UNDERLINE}[ \t]+{QUOTE}?(?P<char>{SETTING_CHAR})", COMMANDS)
_COLSEP: Final = Pattern(r"{SET}{COLSEP}[ \t]+(?P<text>{SETTING_TEXT})", COMMANDS)
_SQLPROMPT: Final = Pattern(r"{SET}{SQLPROMPT}[ \t]+(?P<text>{SETTING_TEXT})", COMMANDS)
_VARIABLE: Final = Pattern("{PROMPT_VARIABLE}", COMMANDS)
_LEARNED: Final = Pattern(r"(?P<prompt>{ANY_PROMPT})[ \t]?(?P<rest>{TYPED_WORD}.*)", COMMANDS)
#: What `_LEARNED` finds in one of several lines, but for how the line begins.
_TYPED: Final = Pattern(r"(?m)[>#$%:\]][ \t]?{TYPED_WORD}", COMMANDS)
#: A prompt before the numbers of lines that the client read from its standard input, and whether a text has such.
_RUN_ON: Final = Pattern(r"(?P<prompt>{ANY_PROMPT})[ \t]?(?P<rest>[ ]{2}{SECOND_NUMBER}.*)", COMMANDS)
_SOME_RUN_ON: Final = Pattern(r"(?m)[>#$%][ \t]?[ ]{2}{SECOND_NUMBER}", COMMANDS)
#: A clock after a prompt.
_TIMED: Final = Pattern(
    r"(?P<prompt>[^\n;'\"]{0,999}[>#$%])[ \t]?(?P<rest>{LABEL}){LABEL_COLON}{GAP}{HOURS}{CLOCK_COLON}{SIXTIETHS}:"
)
_SOME_TIMED: Final = Pattern(r"[>#$%][ \t]?{LABEL}{LABEL_COLON}{GAP}{HOURS}{CLOCK_COLON}{SIXTIETHS}:")
_USUAL: Final = "SQL>"
_IS_TEXT: Final = bytes(kind == Kind.TEXT for kind in range(256))
_IS_PROMPT: Final = bytes(kind == Kind.PROMPT for kind in range(256))
_QUERY: Final = Pattern("{QUERY_WORD}", COMMANDS)
#: A heading has at most this many lines.
TALLEST_HEADING: Final = 4
_HEADED: Final = frozenset({Kind.PLAN_HEADING, Kind.STATISTICS_HEADING})
#: Kinds of lines whose words say what they are.
_NO_RULERS: Final = frozenset(
    {Kind.BLANK, Kind.PROMPT, Kind.FEEDBACK, Kind.ELAPSED, Kind.STATISTIC, Kind.BANNER, Kind.SUBSTITUTION, Kind.TRACE}
)
_DIGITS: Final = str.maketrans("123456789", "000000000")
#: Kinds of lines that a ruler of any symbols may be taken for.
_MAY_BE_RULER: Final = bytes(kind in KINDS.values() and kind not in _NO_RULERS for kind in range(256))
_LETTERS: Final = frozenset(string.ascii_letters + string.digits)
#: A prompt that ends with one of these needs no numbered line below it to be recognised.
_PROMPT_ENDS: Final = frozenset(">#$%")
#: A prompt that no command chose is seen so often.
_FEWEST_PROMPTS: Final = 2
_LONGEST_PROMPT: Final = 80
#: A prompt has at most this many words.
_MOST_WORDS: Final = 8
#: What a ruler of dashes below several columns has.
_SEVERAL_DASHES: Final = "--- ---"


def usual_rulers(lines: list[str], kinds: bytearray, text: str) -> None:
    r"""Replace by dashes and blanks what SET UNDERLINE and SET COLSEP print, in place; the kinds follow.

    Args:
        lines: the lines.
        kinds: their kinds.
        text: all of them in small letters.

    Examples:
        >>> from sqlplusparse.lines import kinds_of
        >>> lines = ["SQL> select a, b from t;", "", "A |B", "==|====", "1 |2   "]
        >>> usual_rulers(lines, kinds_of(lines), "\n".join(lines))
        >>> lines[2:]
        ['A  B', '-- ----', '1  2']
    """
    separators = _chosen_separators(lines) if "colsep" in text else set()
    places = list(compress(range(1, len(lines)), kinds[1:].translate(_MAY_BE_RULER)))
    ended = {line for line in set(map(lines.__getitem__, places)) if line[-1] not in _LETTERS}
    ends = [number for number in places if lines[number] in ended]
    separated = {line: separator for line in ended if (separator := _separator_in(line.strip())) is not None}
    for number in ends if separated else ():
        if lines[number] in separated:
            _blank_separators(lines, kinds, number, separated[lines[number]])
    for separator in separators:
        for number in ends:
            if separator in lines[number] and _is_ruler(lines[number].lstrip(" "), separator):
                _blank_separators(lines, kinds, number, separator)
    candidates = [
        (number, lines[number][-1])
        for number in ends
        if lines[number][-1:] not in "-_" and SYMBOL_RULER.fullmatch(lines[number].strip())
    ]
    if not candidates:
        return
    chosen = {found["char"] for line in lines if "und" in line.lower() and (found := _UNDERLINE.search(line))}
    chosen |= {symbol for number, symbol in candidates if kinds[number - 1] in _HEADED}
    chosen |= _used_throughout(lines, kinds, candidates)
    shown: set[tuple[str, str]] = set()
    rulers: set[int] = set()
    for number, symbol in candidates:
        headed = (lines[number - 1], lines[number])
        if (
            headed in shown  # the next page
            or (number - 2 in rulers and _underlines(lines, kinds, number))  # the next ruler of a folded heading
            or (symbol in chosen and _underlines(lines, kinds, number))
            or _is_shown_to_be_ruler(lines, kinds, number, symbol)
        ):
            shown.add(headed)
            rulers.add(number)
            lines[number] = lines[number].replace(symbol, "-")
            kinds[number] = classify(lines[number].strip())


@lru_cache(maxsize=1 << 10)
def _separator_in(line: str) -> str | None:
    """What separates the columns of a ruler, which is no blank; None where no text does, or the line is no ruler."""
    found = SEPARATED_RULER.fullmatch(line)
    if found is None:
        return None
    underline, separator = found.group("underline", "separator")
    return str(separator) if separator.strip() and separator != underline else None


def _is_ruler(line: str, separator: str) -> bool:
    """Is a line one symbol, again and again, between separators?"""
    symbol = line[:1]
    is_symbol = bool(symbol) and not (symbol.isalnum() or symbol.isspace() or symbol == "_")
    return is_symbol and all(run and not run.strip(symbol) for run in line.split(separator))


def _chosen_separators(lines: list[str]) -> set[str]:
    """What SET COLSEP commands of the log chose, but for blanks."""
    found = (_COLSEP.search(line) for line in lines if "colsep" in line.lower())
    texts = {one["text"].strip("'\"") for one in found if one is not None}
    return {text for text in texts if text.strip()}


def _blank_separators(lines: list[str], kinds: bytearray, ruler: int, separator: str) -> None:
    """Replace by blanks what separates the columns, from the heading of a grid to its last row."""
    line = lines[ruler]
    gaps: list[tuple[int, int]] = []
    start = line.find(separator)
    while start >= 0:
        gaps.append((start, start + len(separator)))
        start = line.find(separator, start + len(separator))
    first = last = ruler
    while first > max(ruler - TALLEST_HEADING, 0) and _is_separated(lines[first - 1], gaps, separator):
        first -= 1
    while last < len(lines) and (not lines[last] or _is_separated(lines[last], gaps, separator)):
        last += 1
    for number in range(first, last):
        text = lines[number]
        if text:
            for start, end in gaps:
                if len(text) > start:
                    text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
            lines[number] = text.rstrip()
            kinds[number] = classify(lines[number].lstrip())


def _is_separated(line: str, gaps: list[tuple[int, int]], separator: str) -> bool:
    """Has a line the separator in each gap that it reaches, the first at least?"""
    return len(line) > gaps[0][0] and all(
        line[start:end] in {separator, separator.rstrip()} for start, end in gaps if len(line) > start
    )


def _used_throughout(lines: list[str], kinds: bytearray, candidates: list[tuple[int, str]]) -> set[str]:
    """The symbol below the headings of several columns of two results, where dashes stand below none."""
    found: dict[str, set[str]] = {}
    for number, symbol in candidates:
        if " " in lines[number].strip() and _is_shown_to_be_ruler(lines, kinds, number, symbol):
            found.setdefault(symbol, set()).add(lines[number - 1])
    used = {symbol for symbol, headings in found.items() if len(headings) > 1}
    return used if len(used) == 1 and not any(_SEVERAL_DASHES in line for line in lines) else set()


def _is_shown_to_be_ruler(lines: list[str], kinds: bytearray, number: int, symbol: str) -> bool:
    """Says the place of a line of one symbol that it is a ruler: several columns, or a query typed just above?"""
    if symbol == "#" or kinds[number - 1] != Kind.TEXT or not _underlines(lines, kinds, number):
        return False
    if len(_runs(lines[number], symbol)) > 1:
        return True
    top = number - 1
    while top > 0 and number - top < TALLEST_HEADING and lines[top - 1]:
        top -= 1
    while top > 0 and not lines[top - 1]:
        top -= 1
    while top > 0 and NUMBERED_LINE.match(lines[top - 1]):
        top -= 1
    typed = PROMPT.match(lines[top - 1].strip()) if top else None
    return typed is not None and _QUERY.match(typed["rest"].lstrip()) is not None


def _underlines(lines: list[str], kinds: bytearray, number: int) -> bool:
    """Does a line of one symbol underline the text above it, column by column?"""
    above, line = lines[number - 1], lines[number]
    if not above:
        return False
    if kinds[number - 1] in _HEADED:
        return True
    columns = _runs(line, line[-1])
    return fits(above, columns) and len(above) <= columns[-1].end and bool(above[columns[0].start :].strip())


def _runs(line: str, symbol: str) -> tuple[Column, ...]:
    return columns_of(line.replace(symbol, "-"))


def usual_prompts(lines: list[str], kinds: bytearray, text: str) -> dict[int, str]:
    r"""Replace by ``SQL>`` the prompts that SET SQLPROMPT chose, in place; the prompt of each line that had one.

    The kinds follow.

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
        {0: '24/05 12:37 | HR >', 1: '24/05 12:38 | HR >'}
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
    seen = _seen_prompts(lines, kinds)
    found_prompts: dict[int, str] = {}
    if not (chosen or seen):
        return found_prompts
    for number, line in enumerate(lines):
        if kinds[number] == Kind.PROMPT or not line:
            continue
        prompt = next((found[0] for pattern in chosen if (found := pattern.match(f"{line} "))), None)
        if prompt is None and seen:
            prompt = _seen_prompt(line, seen)
        if prompt is not None:
            prompt = prompt.strip()
            found_prompts[number] = prompt
            rest = line.lstrip()
            while rest.startswith(prompt):
                rest = rest[len(prompt) :].removeprefix(" ")
            lines[number] = f"{_USUAL} {rest}".rstrip()
            kinds[number] = Kind.PROMPT
    return found_prompts


def _seen_prompts(lines: list[str], kinds: bytearray) -> set[str]:
    """The beginnings of lines, figures as 0, that several lines share and SQL follows."""
    counts: Counter[str] = Counter()
    proven: set[str] = set()
    printed: set[str] = set()
    are_text = kinds.translate(_IS_TEXT)
    prompts = compress(range(len(lines)), kinds.translate(_IS_PROMPT))
    others = [number for number in prompts if not lines[number].startswith(_USUAL)]
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
            below = lines[number + 1] if number + 1 < len(lines) else ""
            is_numbered = NUMBERED_LINE.match(below) is not None
            if is_numbered or (prompt[-1] in _PROMPT_ENDS and rest.endswith((";", "/"))):
                proven.add(shape)
        else:
            continue
        counts[shape] += 1
    # what is a prompt whatever stands after it needs no proof
    proven = {shape for shape in proven | printed if classify(f"{shape} -") != Kind.PROMPT}
    if not proven:
        return proven
    for line in lines:
        if len(line) <= _LONGEST_PROMPT and (shape := line.strip().translate(_DIGITS)) in proven:
            counts[shape] += 1
    for line in map(lines.__getitem__, places if printed else ()):
        counts.update(shape for shape in printed if line.translate(_DIGITS).startswith(f"{shape} "))
    return {shape for shape in proven if counts[shape] >= _FEWEST_PROMPTS}


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


def _seen_prompt(line: str, seen: set[str]) -> str | None:
    shape = line.translate(_DIGITS)
    return next((line[: len(one)] for one in seen if shape == one or shape.startswith(f"{one} ")), None)


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
