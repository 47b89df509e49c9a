"""The XML of sadf (``sadf -x``) as the JSON that it writes of the same file (``sadf -j``): line for line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

from hostparse.sadf import GRAMMAR as SADF
from logframe import Diagnostic, LogParseError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe import Log

#: Elements of which JSON has a list, whatever they hold.
_LISTS: Final = frozenset({"statistics", "restarts", "comments"})
#: Elements whose attributes are an object of their own in JSON.
_APART: Final = frozenset({"timestamp", "boot", "comment"})
#: Elements whose children have lists by their names, in JSON.
_BY_NAME: Final = frozenset({"network"})
#: Attributes that name what a row is about, which JSON calls by the name of the element.
_NAMING: Final = frozenset({"dev", "number", "fsname", "name"})
#: Others that name it, in JSON by the same name.
_KEYS: Final = frozenset({"iface", "line", "cpu", "intr", "bus_number"})
#: Attributes that JSON does not have: the unit of the figures.
_UNITS: Final = frozenset({"per", "unit"})
#: Attributes and elements that are called otherwise in JSON.
_RENAMED: Final = {"fsused-percent": "%fsused", "ufsused-percent": "%ufsused", "Iused-percent": "%Iused"}


@dataclass
class _Element:
    """An element.

    Attributes:
        tag: its name.
        line: where it begins, from 1.
        attributes: as printed.
        text: within it.
        children: in their order.
    """

    tag: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list[_Element] = field(default_factory=list)


def is_xml(lines: Iterable[str]) -> bool:
    """Whether one of the first lines of a log begins the XML of sadf."""
    return any(line.strip().startswith(SADF.literal("XML_START")) for line in lines)


def as_json(log: Log) -> Log:
    r"""The log as JSON; XML that was cut or is damaged as far as it goes, with a diagnostic.

    Raises:
        LogParseError: it is no XML of sadf.

    Examples:
        >>> from logframe import open_log
        >>> xml = b'<sysstat>\n<host nodename="db1">\n<number-of-cpus>2</number-of-cpus>\n</host>\n</sysstat>\n'
        >>> print(as_json(open_log(xml)).text())
        {"sysstat": {"hosts": [
        {"nodename": "db1"
        , "number-of-cpus": 2}]}}
        <BLANKLINE>
    """
    root, note = _tree(log)
    out = _Writer(root.line)
    out.write('{"sysstat": {"hosts": [')
    for number, host in enumerate(one for one in root.children if one.tag == "host"):
        out.write("," * (number > 0))
        out.object(host, host.attributes)
    out.write("]}}\n")
    notes = (*log.notes, note) if note is not None else log.notes
    return replace(log, target="".join(out.parts).encode(), notes=notes)


def _tree(log: Log) -> tuple[_Element, Diagnostic | None]:
    """The element ``sysstat``, and what ended it too early."""
    parser = expat.ParserCreate()
    outermost = _Element("", 1, {})
    open_elements = [outermost]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = _Element(tag, parser.CurrentLineNumber, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text(data: str) -> None:
        open_elements[-1].text += data

    def end(_: str) -> None:
        open_elements.pop()

    def refuse(*_: object) -> None:
        raise LogParseError("entities of its own, which sadf does not write", source=log.name)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = text, refuse
    note = None
    try:
        parser.Parse(log.text(), True)
    except expat.ExpatError as error:
        reason = f"the XML ends early or is damaged: {expat.ErrorString(error.code)}; nothing is read from here on"
        shown = (log.lines()[error.lineno - 1 : error.lineno] or [""])[0].strip()
        note = Diagnostic(log.name, error.lineno, error.offset + 1, "cut", shown, reason)
        if len(open_elements) > 1 and not open_elements[-1].children:  # it may have more than what is there
            open_elements[-2].children.pop()
    root = next((one for one in outermost.children if one.tag == "sysstat"), None)
    if root is None:
        raise LogParseError("no XML of sadf", source=log.name, expected="the output of sadf -x")
    return root, note


class _Writer:
    """JSON whose values stand in the lines in which the elements stand.

    Args:
        line: that of the first.
    """

    def __init__(self, line: int) -> None:
        self.parts = ["\n" * (line - 1)]
        self._line = line

    def write(self, text: str, line: int = 0) -> None:
        """Write on, in a line that is not above the last one."""
        self.parts.append("\n" * (line - self._line))
        self.parts.append(text)
        self._line = max(self._line, line) + text.count("\n")

    def object(self, element: _Element, attributes: dict[str, str]) -> None:
        """An element as an object: some attributes, and its children by their names."""
        self.write("{", element.line)
        pairs = ", ".join(self._pairs(element.tag, attributes))
        if element.tag in _APART:
            pairs = f'"{element.tag}": {{{pairs}}}'
        self.write(pairs)
        named: dict[str, list[_Element]] = {}
        for child in element.children:
            named.setdefault(child.tag, []).append(child)
        for number, (tag, same) in enumerate(named.items()):
            self.write(", " if number or pairs else "", same[0].line)
            self.write(f"{json.dumps(_RENAMED.get(tag, tag))}: ")
            if len(same) > 1 or (element.tag in _BY_NAME and _is_named(same[0])):
                self._list(same)
            else:
                self._value(same[0])
        self.write("}")

    def _value(self, element: _Element) -> None:
        children = element.children
        is_rows = bool(children) and all(not one.children and one.attributes for one in children)
        same = len({one.tag for one in children}) == 1 and element.tag not in _BY_NAME
        if element.tag in _LISTS or (is_rows and same and _is_named(children[0])):
            self._list(children)
        elif children or element.attributes:
            self.object(element, element.attributes)
        else:
            self.write(_scalar(element.text.strip()), element.line)

    def _list(self, elements: list[_Element]) -> None:
        self.write("[")
        for number, one in enumerate(elements):
            self.write(", " if number else "", one.line)
            self.object(one, one.attributes)
        self.write("]")

    @staticmethod
    def _pairs(tag: str, attributes: dict[str, str]) -> list[str]:
        pairs = []
        for name, value in attributes.items():
            if name in _NAMING:
                pairs.append(f"{json.dumps(tag)}: {json.dumps(value)}")
            elif name not in _UNITS:
                pairs.append(f"{json.dumps(_RENAMED.get(name, name))}: {_scalar(value)}")
        return pairs


def _is_named(element: _Element) -> bool:
    """Whether the first attribute says what an element is about."""
    first = next((name for name in element.attributes if name not in _UNITS), "")
    return first in _NAMING or first in _KEYS


def _scalar(text: str) -> str:
    """A number as it is printed; other text in quotes."""
    digits = text.removeprefix("-")
    is_number = text.isascii() and digits.replace(".", "", 1).isdecimal() and digits[-1:].isdecimal()
    is_json = is_number and digits[:1] != "." and (digits[:1] != "0" or digits[1:2] in {"", "."})
    return text if is_json else json.dumps(text)
