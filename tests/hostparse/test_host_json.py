"""The JSON of sysstat: where each number of a document went, whatever its layout, and documents that are damaged."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pytest
from transformations import coloured, quoted

import iolab
from hostparse import read_histograms, read_host
from logframe import LogError, LogParseError
from logframe.loading import load_all_logs

if TYPE_CHECKING:
    from collections.abc import Callable


def sample(number: int) -> dict[str, Any]:
    """One sample of ``sadf -j``."""
    return {
        "timestamp": {"date": "2024-02-19", "time": f"13:20:{number}9", "tz": "UTC", "interval": 10},
        "cpu-load": [{"cpu": "all", "usr": 2.15, "idle": 80.5 + number}, {"cpu": "0", "usr": 3.25, "idle": 70.75}],
        "disk": [{"disk-device": "sda", "tps": 6.5, "await": 0.75}, {"disk-device": "sdb", "tps": 0.0, "await": 0.00}],
        "network": {"net-dev": [{"iface": "eth0.100", "rxpck": 1.5}]},
    }


HOST: Final = {
    "nodename": "db1",
    "release": "5.4.17-2136",
    "number-of-cpus": 9,
    "file-date": "2024-02-19",
    "file-utc-time": "13:20:09",
    "timezone": "UTC",
    "statistics": [sample(1), sample(2)],
    "restarts": [{"boot": {"date": "2024-02-19", "time": "13:30:29", "cpu_count": 10}}],
    "comments": [{"comment": {"date": "2024-02-19", "time": "13:25:07", "tz": "UTC", "com": "load of 40 sessions"}}],
}


def printed(host: dict[str, Any], indent: int | None = 1) -> str:
    """A document."""
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=indent)


def statuses(text: str) -> list[tuple[str, str]]:
    """Each number of a log with what became of it."""
    found = iolab.provenance(iolab.load(text.encode()), text.encode())
    return list(found.select("text", pl.col("status").cast(pl.String)).iter_rows())


def test_one_key_of_several_sections() -> None:
    """What two sections call alike is another figure in each, with the name and unit that the text of sar gives it."""
    pressure = {"some_avg10": 1.5, "some_avg": 2.5}
    figures = {
        "process-and-context-switch": {"proc": 7.25},
        "memory": {"memfree": 3, "active": 5, "memused-percent": 46.25},
        "network": {
            "net-tcp": {"active": 0.75},
            "net-sock": {"totsck": 9},
            "net-dev": [{"iface": "eth0", "rxkB": 2.0}],
        },
        "psi": {"psi-cpu": pressure, "psi-io": {"some_avg10": 3.5, "full_avg10": 4.5}},
    }
    expected = dict(proc_per_s=7.25, memfree_bytes=3072.0, active_bytes=5120.0, memused_percent=46.25)  # noqa: C408 - short
    expected |= {"active_per_s": 0.75, "totsck": 9.0}
    expected |= {"scpu-10_percent": 1.5, "scpu_percent": 2.5, "sio-10_percent": 3.5, "fio-10_percent": 4.5}
    stamp = sample(1)["timestamp"]
    frames = iolab.load(printed({**HOST, "statistics": [{"timestamp": stamp, **figures}]}).encode()).frames()
    found = frames["host"].lazy().collect().row(0, named=True)

    assert {
        name.replace("_10", "-10"): found[name] for name in found if name.replace("_10", "-10") in expected
    } == expected
    assert frames["interface"].lazy().collect().item(0, "received_bytes_per_s") == 2048.0
    less = {name: part for name, part in figures.items() if name != "memory"}
    frames = iolab.load(printed({**HOST, "statistics": [{"timestamp": stamp, **less}]}).encode()).frames()
    assert frames["host"].lazy().collect().item(0, "active_per_s") == 0.75


def test_lines_cut_out_between_two_lists() -> None:
    """Where the end of a list and the start of the next are missing, rows of the second stand in the first."""
    lines = printed(HOST).split("\n")
    start = next(number for number, line in enumerate(lines) if '"cpu": "0"' in line) - 1
    end = next(number for number, line in enumerate(lines) if '"disk-device": "sda"' in line) - 1
    damaged = iolab.load("\n".join([*lines[:start], *lines[end:]]).encode())

    assert "misplaced" in damaged.diagnostics["kind"].to_list()
    assert "misplaced" not in iolab.load(printed(HOST).encode()).diagnostics["kind"].to_list()


@pytest.mark.parametrize("indent", [None, 1])
def test_each_number_of_a_document(indent: int | None) -> None:
    """The head is layout, a comment text, a latency of no request named, any other number in the cell of its name."""
    found = statuses(printed(HOST, indent))

    assert {text for text, status in found if status == "layout"} == {"13:20:09"}
    assert [text for text, status in found if status == "diagnosed"] == ["0.0", "0.0"]
    assert ("13:25:07", "text") in found
    assert ("40", "text") in found
    assert "lost" not in {status for _, status in found}
    assert ("82.5", "typed") in found
    assert ("10", "typed") in found


@pytest.mark.parametrize("change", [quoted, coloured])
def test_a_document_with_additions(change: Callable[[str], str]) -> None:
    """Marks of a mail and colours change nothing of it."""
    assert statuses(change(printed(HOST))) == statuses(printed(HOST))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["usr", "rxpck", "interval"])
def test_a_figure_that_no_frame_has(name: str, indent: int | None) -> None:
    """A figure that was taken out of the frames is lost, on a line of its own and on one with all others."""
    text = printed(HOST, indent)
    log = read_host(text.encode())
    for part in log.parts.whole():
        for field in part.heading.fields:
            if field.printed == name:
                other = part.frame.get_column(field.name) + 1000
                part.frame.replace_column(part.frame.get_column_index(field.name), other)
    lost = iolab.provenance(log, text.encode()).filter(status="lost")["text"].unique().sort().to_list()

    # one length of an interval is that between the stamps, too
    assert lost == {"usr": ["2.15", "3.25"], "rxpck": ["1.5"], "interval": []}[name]


def test_values_of_no_table() -> None:
    """A list of figures and a figure of a sample itself have no names of columns: each is a diagnostic."""
    odd = {**sample(1), "load": 0.25, "psi": {"avg": [1.5, 2.5]}}
    text = printed({**HOST, "statistics": [odd]})
    log = read_host(text.encode())

    assert log.diagnostics.filter(kind="unparsed")["text"].to_list() == [
        "sysstat.hosts[0].statistics[0].load: 0.25",
        "sysstat.hosts[0].statistics[0].psi.avg[0]: 1.5",
        "sysstat.hosts[0].statistics[0].psi.avg[1]: 2.5",
    ]
    assert "lost" not in {status for _, status in statuses(text)}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("damage", ["", "\x01", '"more', "]"])
def test_a_document_that_is_damaged(damage: str, indent: int | None) -> None:
    """What is whole before the place is read; every line from there on is a diagnostic."""
    text = printed(HOST, indent)
    place = text.rindex('"disk-device"')
    log = read_host((broken := text[:place] + damage + text[place:] * bool(damage)).encode())

    assert log.wide("cpu").height == 4
    assert log.wide("device").height == 3
    assert log.diagnostics["kind"].to_list().count("cut") == 1
    assert "lost" not in {status for _, status in statuses(broken)}


def test_a_document_of_nothing_before_another() -> None:
    """One that ends before any object is whole is a diagnostic, and the other one is read; alone it is an error."""
    head = '{"sysstat": {"hosts": [{"nodename": "db1", "number-of-cpus": 4'
    log = read_host(f"{head}\n{printed(HOST)}".encode())

    assert log.wide("device").height == 4
    assert log.diagnostics.select("line", "kind").row(0) == (1, "cut")
    with pytest.raises(LogParseError):
        read_host(head.encode())


@pytest.mark.parametrize("hosts", ['"db1"', "[1]", '{"a": 1}', '[{"statistics": 3}]', '[{"restarts": [{"boot": 7}]}]'])
def test_another_form(hosts: str) -> None:
    """JSON of another form than sysstat writes is an error of the project, or no row."""
    try:
        log = read_host(f'{{"sysstat": {{"hosts": {hosts}}}}}'.encode())
    except LogParseError as error:
        assert "form" in str(error)  # noqa: PT017 - it may also be read
    else:
        assert log.samples.collect().is_empty()


DOCUMENTS = {
    "sadf": '{"sysstat": {\n"hosts": [{"nodename": "db1", "statistics": [\n{"x": @}]}]}}\n',
    "fio": '{"fio version": "fio-3.1", "jobs": [{"jobname": "a", "read": {"total_ios": @}}]}\n',
    "biolatency": '{"val_type": "msecs", "data": [{"interval-start": 2, "interval-end": 3, "count": @}]}\n',
    "biolatpcts": '{"read": {"50": @}}\n',
    "bpftrace": '{"type": "hist", "data": {"@x": [{"min": 1, "max": 2, "count": @}]}}\n',
}


@pytest.mark.parametrize(
    "value", ["9" * 5001, "[" * 60_000, '{"a":' * 60_000, "[" * 60_000 + "]" * 60_000, "1e999", "NaN"]
)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_values_that_python_refuses(kind: str, value: str) -> None:
    """Numbers of any length and nesting of any depth are read, diagnosed or refused, never an error of Python."""
    with contextlib.suppress(LogError):
        for log in load_all_logs({"name": "x.json", "content": DOCUMENTS[kind].replace("@", value).encode()}):
            assert log.frames() is not None


@pytest.mark.parametrize(
    "line",
    [
        '{"val_type": "fortnights", "data": [{"interval-start": 2, "interval-end": 3, "count": 4}]}',
        '{"val_type": "minutes", "data": [{"interval-start": 2, "interval-end": 3, "count": 4}]}',
        '{"val_type": "", "data": [{"interval-start": 2, "interval-end": 3, "count": 4}]}',
        "<begin record>\ntimestamp, microsec, 5\nlabel, reads\nlatencyunit, minutes\n2, 3\n<end record>",
    ],
)
def test_a_unit_of_a_histogram_that_is_not_known(line: str) -> None:
    """The buckets are read; their ends in nanoseconds are not guessed."""
    buckets = read_histograms(line.encode()).buckets

    assert buckets.height == 1
    assert buckets.select("lower_ns", "upper_ns").row(0) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        '{"val_type": "msecs", "data": [{"interval-start": 2, "interval-end": 3}]}',
        '{"val_type": "msecs", "data": [7]}',
        '{"val_type": "msecs", "data": [{"interval-start": "x", "interval-end": 3, "count": 4}]}',
        '{"type": "hist", "data": {"@x": [{"min": 1, "max": 2}]}}',
        '{"type": "hist", "data": {"@x": 7}, "x": ["ts"]}',
        '{"data": 7}',
    ],
)
def test_a_document_of_a_histogram_without_its_names(line: str) -> None:
    """A document with other names or values is a diagnostic, and the table beside it is read."""
    whole = '{"val_type": "msecs", "data": [{"interval-start": 2, "interval-end": 3, "count": 4}]}'
    log = read_histograms(f"{whole}\n{line}\n".encode())

    assert log.buckets.get_column("count").to_list() == [4]
    assert log.diagnostics.get_column("line").to_list() == [2] * ("hist" not in line or "7}" not in line)


@pytest.mark.parametrize("value", ["9" * 400, '"much"', "2.0"])
@pytest.mark.parametrize("name", ["", "usr"])
def test_a_field_that_is_a_name_in_one_table_and_a_figure_in_another(name: str, value: str) -> None:
    """A figure that no column holds, or a text, is kept as it is printed; a field without a name has one."""
    text = '{"sysstat": {"hosts": [{"statistics": [{"cpu-load": [{"cpu": "all", "usr": 1.5, "idle": 96.5}]},\n'
    text += f'{{"other": {{"cpu": "all", "system": 0, "{name}": {value}}}}}]}}]}}}}'
    log = iolab.load(text.encode())
    iolab.findings(log)
    assert any(value.strip('"') in map(str, row) for frame in log.frames().values() for row in _rows(frame))


def _rows(frame: pl.DataFrame | pl.LazyFrame) -> list[tuple[object, ...]]:
    return frame.lazy().collect().rows()


@pytest.mark.parametrize("text", [">", "> >\n>\n", "\x1b[31m\x1b[m\n", "    >\n", "\ufeff>", "|\n|"])
def test_marks_without_a_log(text: str) -> None:
    """A text of which nothing is left without its marks is refused with a reason."""
    with pytest.raises(LogError):
        load_all_logs({"name": "x.log", "content": text.encode()})
