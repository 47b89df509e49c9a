"""The client's settings that change how lines are printed: SET UNDERLINE, COLSEP and SQLPROMPT.

A session printed with other settings is given the usual form before its lines are classified: rulers of dashes with
blanks between them, and the prompt ``SQL>``.  No line is moved and no figure is changed.
"""

from __future__ import annotations

import string
from functools import lru_cache
from itertools import compress
from typing import Final

from logframe import Column, columns_of, fits
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
)

AUTOCOMMIT: Final = Pattern(r"{SET}{AUTOCOMMIT}[ \t]+(?P<off>{SETTING_OFF})?", COMMANDS)
_UNDERLINE: Final = Pattern(r"{SET}{UNDERLINE}[ \t]+{QUOTE}?(?P<char>{SETTING_CHAR})", COMMANDS)
_COLSEP: Final = Pattern(r"{SET}{COLSEP}[ \t]+(?P<text>{SETTING_TEXT})", COMMANDS)
_QUERY: Final = Pattern("{QUERY_WORD}", COMMANDS)
#: A heading has at most this many lines.
TALLEST_HEADING: Final = 4
_HEADED: Final = frozenset({Kind.PLAN_HEADING, Kind.STATISTICS_HEADING})
#: Kinds of lines whose words say what they are.
_NO_RULERS: Final = frozenset(
    {Kind.BLANK, Kind.PROMPT, Kind.FEEDBACK, Kind.ELAPSED, Kind.STATISTIC, Kind.BANNER, Kind.SUBSTITUTION, Kind.TRACE}
)
#: Kinds of lines that a ruler of any symbols may be taken for.
_MAY_BE_RULER: Final = bytes(kind in KINDS.values() and kind not in _NO_RULERS for kind in range(256))
_LETTERS: Final = frozenset(string.ascii_letters + string.digits)
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
