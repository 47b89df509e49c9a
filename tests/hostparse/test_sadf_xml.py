"""The XML of sadf gives what its JSON gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostparse.format import sniff
from hostparse.provenance import parts_of
from hostparse.read import read_host
from logframe import LogParseError, open_log
from logframe.formats import head_of
from logframe.provenance import account

#: The same made-up samples as sadf writes them with -x and with -j.
TOOLS = Path(__file__).parents[2] / "sample_data" / "tools"
XML = (TOOLS / "sadf_x.xml").read_text(encoding="utf-8")
JSON = (TOOLS / "sadf_j.json").read_text(encoding="utf-8")


def test_as_json() -> None:
    """Each sample is that of the JSON, with its bounds and times, and stands in its own line."""
    found = sniff(head_of(open_log(XML.encode())))
    assert found is not None
    assert found.reason == "the XML of sadf"
    printed, expected = read_host(XML.encode()), read_host(JSON.encode())
    for name, frame in expected.frames().items():
        columns = [column for column in frame.lazy().collect_schema().names() if column not in {"line", "source"}]
        left = printed.frames()[name].lazy().select(columns).collect()
        assert left.equals(frame.lazy().select(columns).collect()), name
    disk = printed.frames()["device"].lazy().collect().row(0, named=True)
    assert XML.split("\n")[disk["line"] - 1].startswith("<disk-device")


def test_nothing_is_lost() -> None:
    """Each number of the samples is in a cell."""
    log = read_host(XML.encode())
    found = account(parts_of(log, XML.encode()), log.diagnostics)

    assert found.filter(found["status"] == "lost").rows() == []


@pytest.mark.parametrize("words", ["<io per", "<memused-percent", "<disk-device", "</statistics>"])
def test_cut(words: str) -> None:
    """XML that was cut is read up to there, and a diagnostic names the line."""
    start = XML[: XML.index(words)]
    log = read_host(start.encode())

    assert [row["kind"] for row in log.diagnostics.to_dicts()] == ["cut"]
    assert log.diagnostics["line"].to_list() == [start.count("\n") + 1]
    assert log.frames()["cpu"].lazy().collect().height == 2


def test_entities() -> None:
    """A document that declares entities is none of sadf's, and is refused before they grow."""
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE sysstat [<!ENTITY a "aaaa">]>\n<sysstat><host nodename="&a;"/></sysstat>\n'

    with pytest.raises(LogParseError, match="entities"):
        read_host(bomb.encode())
