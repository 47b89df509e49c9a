"""The registry of formats: a package of its own adds one, and plugins that are broken do no harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from logframe import LogParseError
from logframe.formats import Format, LogError, Sniff, formats, head_of, recognise
from logframe.loading import load_all_logs, load_log
from logframe.source import open_log

if TYPE_CHECKING:
    from pathlib import Path

REPORT = "WORKLOAD REPOSITORY report for\n\nDB Name  DB Id\n------- ------\nORCL        1\n"

PLUGIN = """
from logframe.formats import Format, Sniff

{body}

FORMAT = Format(name="{name}", title="a {name} log", sniff=sniff, read=read)
"""
GOOD = """
import polars as pl

class Log:
    format = kind = "toy"
    def __init__(self, source):
        from logframe import open_log
        log = open_log(source)
        self.source, self._lines = log.name, log.lines()
    @property
    def diagnostics(self):
        from logframe import DIAGNOSTICS
        return pl.DataFrame(schema=DIAGNOSTICS)
    def frames(self):
        return {"rows": pl.DataFrame({"row": self._lines[1:]})}
    def describe(self):
        return f"toy log, {len(self._lines) - 1} rows"

def sniff(head):
    return Sniff(1.0, "a toy log") if head.text.startswith("TOY") else None

def read(source):
    return Log(source)
"""
RAISES = "def sniff(head):\n    raise RuntimeError('broken')\n\nread = None"
CLAIMS_ALL = "def sniff(head):\n    return Sniff(1.0, 'everything')\n\nread = None"
TOO_SURE = "def sniff(head):\n    return Sniff(7.0, 'everything')\n\nread = None"


def install(folder: Path, name: str, body: str, *, point: str | None = None) -> None:
    """A distribution of its own, as pip would leave it in a folder of the path."""
    module = f"plugin_{name}_{len(list(folder.glob('*.py')))}"
    (folder / f"{module}.py").write_text(PLUGIN.format(body=textwrap.dedent(body), name=name), encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[logframe.formats]\n{point or name} = {module}:FORMAT\n", encoding="utf-8")


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """A fresh Python that sees the distributions of the folder."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_a_format_of_another_distribution(tmp_path: Path) -> None:
    """It is loaded, described, shown, converted and left uncompared without a word of it in this project."""
    install(tmp_path, "toy", GOOD)
    log = tmp_path / "a.toy"
    log.write_text("TOY\none\ntwo\n", encoding="utf-8")
    done = run(
        tmp_path,
        f"""
import json, iolab
from iolab.cli import main
from iolab.comparison import UnpairedError, pair
log = iolab.load({str(log)!r})
try:
    pair(log, iolab.load(b"3 close(3) = 0\\n"))
except UnpairedError as error:
    refused = str(error)
code = main(["convert", {str(log)!r}, "-o", {str(tmp_path / "out")!r}, "--executor", "serial"])
code += main(["show", {str(log)!r}])
page = iolab.write_report({str(log)!r}, {str(tmp_path / "page.html")!r})
print(json.dumps([log.describe(), iolab.summarize({str(log)!r}).frames["rows"].height, refused, code, page]))
""",
    )

    assert done.returncode == 0, done.stderr
    described, rows, refused, code, failed = json.loads(done.stdout.splitlines()[-1])
    assert (described, rows, code, failed) == ("toy log, 2 rows", 2, 0, [])
    assert "they cannot be compared" in refused
    assert len(list((tmp_path / "out/toy/rows").glob("*.parquet"))) == 1
    assert "toy log, 2 rows" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("body", "reason"), [(RAISES, "RuntimeError('broken')"), (TOO_SURE, "score of 0 to 1")])
def test_a_broken_plugin_is_skipped_with_its_name(tmp_path: Path, body: str, reason: str) -> None:
    """The log is read all the same, and a warning names the plugin."""
    install(tmp_path, "broken", body)
    done = run(tmp_path, "from logframe.loading import load_log; print(load_log(b'3 close(3) = 0\\n').format)")

    assert done.stdout == "strace\n"
    assert "log format 'broken' is skipped" in done.stderr
    assert reason in done.stderr


def test_a_plugin_that_cannot_be_imported(tmp_path: Path) -> None:
    """It is skipped with its name and its distribution."""
    install(tmp_path, "gone", "import no_such_module\nsniff = read = None")
    done = run(tmp_path, "from logframe.formats import formats; print(list(formats()))")

    assert "gone" not in done.stdout
    assert "log format 'gone' is skipped" in done.stderr
    assert "no_such_module" in done.stderr


def test_two_formats_of_one_name(tmp_path: Path) -> None:
    """Which one is meant cannot be known: an error names both distributions."""
    install(tmp_path, "toy", GOOD)
    install(tmp_path, "toy", GOOD)
    done = run(
        tmp_path,
        "from logframe.formats import formats, LogError\ntry:\n    formats()\n"
        "except LogError as error:\n    print(error)",
    )

    assert "two log formats are named 'toy'" in done.stdout
    assert "plugin_toy_0" in done.stdout
    assert "plugin_toy_1" in done.stdout


def test_a_format_that_claims_everything(tmp_path: Path) -> None:
    """Where it ties with another, an error lists both; where no other is certain, its reader is asked."""
    install(tmp_path, "greedy", CLAIMS_ALL)
    done = run(
        tmp_path,
        "from logframe.loading import load_log, LogParseError\ntry:\n    load_log(b'3 close(3) = 0\\n')\n"
        "except LogParseError as error:\n    print(error)",
    )

    assert "2 formats recognise this log equally: greedy (everything); strace" in done.stdout
    assert "format='greedy' or another of them" in done.stdout


def test_missing_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copied folder has no entry points: the error says what is missing."""
    monkeypatch.setattr("logframe.formats.entry_points", lambda **_: ())
    formats.cache_clear()
    with pytest.raises(LogError, match="metadata is missing"):
        formats()
    formats.cache_clear()


def test_the_registered_formats_are_sound() -> None:
    """Each has its entry point's name and a title with its article."""
    assert {"awr", "sqlplus", "strace"} <= formats().keys()
    for name, one in formats().items():
        assert isinstance(one, Format)
        assert one.name == name
        assert one.title.startswith(("a ", "an "))


def test_format_that_does_not_fit() -> None:
    """The reader's own error, with the line."""
    with pytest.raises(LogParseError, match="no line is strace's") as caught:
        load_log(REPORT.encode(), format="strace")
    assert caught.value.line == 1


def test_no_such_format() -> None:
    """The error lists those that there are."""
    with pytest.raises(LogError, match="no log format 'nmap'; there are atop, awr, "):
        load_log(b"x", format="nmap")


def test_a_session_that_holds_a_report() -> None:
    """The report is read, and `load_all` gives the session as well."""
    session = f"SQL> @awrrpt\n\nElapsed: 00:00:01.00\n\n{REPORT}\nSQL> exit\n".encode()

    assert load_log(session).format == "awr"
    assert [log.format for log in load_all_logs(session)] == ["awr", "sqlplus"]


def test_a_recognised_log_that_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format may name what it does not read."""

    def sniff(_: object) -> Sniff:
        return Sniff(0.9, "a core dump", is_refused=True, line=2)

    monkeypatch.setattr(
        "logframe.formats.formats",
        lambda: {"core": Format(name="core", title="a core dump", sniff=sniff, read=load_log)},
    )
    with pytest.raises(LogParseError, match="this is a core dump, which is not read") as caught:
        recognise(head_of(open_log(b"one\ntwo\n")))
    assert (caught.value.line, caught.value.text) == (2, "two")
