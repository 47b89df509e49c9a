"""The XML of sadf gives what its JSON gives."""

from __future__ import annotations

import pytest

from hostparse.format import sniff
from hostparse.provenance import parts_of
from hostparse.read import read_host
from logframe import LogParseError, open_log
from logframe.formats import head_of
from logframe.provenance import account

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE sysstat PUBLIC "DTD v3.11 sysstat //EN"
"http://example.com/sysstat-3.11.dtd">
<sysstat
xmlns="http://example.com/sysstat">
<sysdata-version>3.11</sysdata-version>
<host nodename="db1">
<sysname>Linux</sysname>
<number-of-cpus>2</number-of-cpus>
<file-date>2024-02-19</file-date>
<file-utc-time>13:00:00</file-utc-time>
<statistics>
<timestamp date="2024-02-19" time="13:10:00" utc="1" interval="600">
<cpu-load>
<cpu number="all" user="1.50" system="2.00" idle="96.50"/>
<cpu number="0" user="3.00" system="4.00" idle="93.00"/>
</cpu-load>
<io per="second">
<tps>9.00</tps>
<io-reads rtps="6.00" bread="96.00"/>
</io>
<memory unit="kB">
<memfree>21983628</memfree>
<memused-percent>0.44</memused-percent>
</memory>
<disk per="second">
<disk-device dev="vda" tps="9.00" rkB="48.00" await="0.11" util-percent="1.00"/>
</disk>
<network per="second">
<net-dev iface="eth0" rxpck="1.00" txpck="2.00"/>
</network>
<filesystems>
<filesystem fsname="/dev/vda" MBfsfree="241331" fsused-percent="6.47"/>
</filesystems>
</timestamp>
</statistics>
<restarts>
<boot date="2024-02-19" time="13:02:00" utc="1" cpu_count="2"/>
</restarts>
</host>
</sysstat>
"""
JSON = """{"sysstat": {"hosts": [{"nodename": "db1", "sysname": "Linux", "number-of-cpus": 2,
"file-date": "2024-02-19", "file-utc-time": "13:00:00", "statistics": [
{"timestamp": {"date": "2024-02-19", "time": "13:10:00", "utc": 1, "interval": 600},
"cpu-load": [{"cpu": "all", "user": 1.50, "system": 2.00, "idle": 96.50},
{"cpu": "0", "user": 3.00, "system": 4.00, "idle": 93.00}],
"io": {"tps": 9.00, "io-reads": {"rtps": 6.00, "bread": 96.00}},
"memory": {"memfree": 21983628, "memused-percent": 0.44},
"disk": [{"disk-device": "vda", "tps": 9.00, "rkB": 48.00, "await": 0.11, "util-percent": 1.00}],
"network": {"net-dev": [{"iface": "eth0", "rxpck": 1.00, "txpck": 2.00}]},
"filesystems": [{"filesystem": "/dev/vda", "MBfsfree": 241331, "%fsused": 6.47}]}],
"restarts": [{"boot": {"date": "2024-02-19", "time": "13:02:00", "utc": 1, "cpu_count": 2}}]}]}}
"""


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
