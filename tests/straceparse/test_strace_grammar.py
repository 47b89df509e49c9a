"""The grammars accept their own samples; arguments and summaries of every era."""

from pathlib import Path

import polars as pl
import pytest

import iolab
from logframe import Grammar, LogParseError, load_grammar
from straceparse import Changed, Decorated, parse_args, read_summary
from straceparse.line_parser import read_line
from straceparse.log import read_log

LINE = load_grammar("straceparse", "line.lark", "line")
ARGUMENTS = load_grammar("straceparse", "args.lark", "arguments")
#: Rules of line.lark whose records have another kind.
KINDS = {"prefix": "call", "killed_call": "call", "resumed_unfinished": "resumed"}
#: Rules that only gather others.
HELPERS = {"line", "event", "outcome", "item", "named", "blank"}


@pytest.mark.parametrize(("rule", "sample"), [found for found in LINE.samples if found[0].islower()])
def test_sample_lines(rule: str, sample: str) -> None:
    """Each sample line is what the rule below it says."""
    assert read_line(sample).kind == KINDS.get(rule, rule)


@pytest.mark.parametrize(("rule", "sample"), ARGUMENTS.samples)
def test_sample_arguments(rule: str, sample: str) -> None:
    """Each sample of arguments is read by a rule and not given back as text."""
    assert parse_args(sample) != [sample], rule


@pytest.mark.parametrize("grammar", [LINE, ARGUMENTS], ids=["line", "arguments"])
def test_every_rule_has_a_sample(grammar: Grammar) -> None:
    """A reader finds an example at each rule that is not a helper, but for the blank line."""
    rules = {rule.origin.name for rule in grammar.parser.rules}
    named = {rule for rule in rules if not rule.startswith(("_", "?"))}

    assert named - {rule for rule, _ in grammar.samples} - HELPERS == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("3</dev/null<char 1:3>>, 0x1000 /* AT_??? */", [Decorated(3, "/dev/null<char 1:3>"), 4096]),
        ("AT_FDCWD</home>, NULL, (nil)", [Decorated("AT_FDCWD", "/home"), None, None]),
        ("[128 => 16], ~[RTMIN RT_1]", [[Changed(128, 16)], "~[RTMIN RT_1]"]),
        ('["a", "b", ...], "\\76q\\0740"...', [[b"a", b"b", ...], b">q<0"]),
        ("14, 1, 128, {}{0, 0}", [14, 1, 128, (), (0, 0)]),
        ('fd=256, buf="", count=8192', {"fd": 256, "buf": b"", "count": 8192}),
        ("3<TCP:[1.2.3.4:1->5.6.7.8:1521]>", [Decorated(3, "TCP:[1.2.3.4:1->5.6.7.8:1521]")]),
        ('"\\x00\\xff"', [b"\x00\xff"]),
        ("{sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}", [{"sa_handler": "SIG_DFL", "sa_mask": [], "sa_flags": 0}]),
        ("0644, 0, -1, 0x1ff", [0o644, 0, -1, 0x1FF]),
        ("{tms_utime=9 /* 0.09 s */}", [{"tms_utime": 9}]),
        ("[{WIFEXITED(s) && WEXITSTATUS(s) == 2}], 0", [[("WIFEXITED(s) && WEXITSTATUS(s) == 2",)], 0]),
    ],
)  # fmt: skip
def test_arguments(text: str, expected: object) -> None:
    """Arguments of all eras as Python values."""
    assert parse_args([text, None]) == [expected, None]


def test_arguments_that_no_rule_reads_stay_text() -> None:
    """Damage is given back as it stands."""
    assert parse_args('3, "half a str') == ['3, "half a str']


def test_each_caller_has_values_of_its_own() -> None:
    """Equal texts are read once, yet what one caller does to the values no other sees."""
    text = '3</a>, [{a=[1, 2]}, ([3], {4, [5]})], [6] => [7], "s"'
    first = parse_args([text, text])
    expected = parse_args(text)[0]
    for values in first[:1]:
        values[1][0]["a"].append(3)  # type: ignore[index]
        values[2].after.clear()  # type: ignore[index]
        values.clear()  # type: ignore[attr-defined]

    assert first[1] == parse_args(text)[0] == expected
    assert parse_args(text)[0][2].after == [7]  # type: ignore[index]


@pytest.mark.corpus
def test_arguments_of_real_logs(events_of: dict[str, pl.DataFrame]) -> None:
    """Nearly all whole calls in the corpus have arguments that the grammar reads; every 20th text is tried."""
    texts = pl.concat(
        events.filter(pl.col("kind") == "call").select(pl.col("args").unique(maintain_order=True))
        for events in events_of.values()
    ).get_column("args")
    texts = texts.unique(maintain_order=True).gather_every(20)
    unread = [text for text, value in zip(texts, parse_args(texts), strict=True) if isinstance(value, str)]

    assert texts.len() > 1000
    assert len(unread) <= texts.len() // 200, unread[:20]


RULER = "------ ----------- ----------- --------- --------- ----------------\n"
HEADING = "% time     seconds  usecs/call     calls    errors syscall\n"
ROW = " 75.51    0.000296           2       121         3 pread64\n"


def test_two_tables_with_their_personalities() -> None:
    """A 32-bit child has a table of its own behind a heading."""
    second = "System call usage summary for 32 bit mode:\n"
    found = read_summary((HEADING + RULER + ROW + RULER + second + HEADING + RULER + ROW).encode())

    assert found.select("table", "personality", "syscall").rows() == [(1, None, "pread64"), (2, "32 bit", "pread64")]


def test_a_damaged_row_ends_no_table() -> None:
    """The rows after it are read, each with its line; the damaged one is a diagnostic, and so is what is no table."""
    rows = [ROW, ROW.replace("121", "1x1").replace("pread64", "write"), ROW.replace("pread64", "close"), RULER]
    log = read_log(("a note\n" + HEADING + RULER + "".join(rows) + ROW.replace("pread64", "total")).encode())

    assert log.kind == "strace_summary"
    assert log.summary is not None
    assert log.summary.select("line", "syscall").rows() == [(4, "pread64"), (6, "close"), (8, "total")]
    assert log.diagnostics.select("line", "kind").rows() == [(1, "unparsed"), (5, "unparsed")]


def test_figures_of_a_table_have_their_place() -> None:
    """Each figure of the table is accounted for: those of the rows are typed, that of the damaged one diagnosed."""
    text = (HEADING + RULER + ROW + ROW.replace("121", "1x1") + RULER + ROW.replace("pread64", "total")).encode()
    found = iolab.provenance(iolab.load(text), text)

    assert dict(found.group_by("status").len().rows())["typed"] == 10
    assert "lost" not in found.get_column("status").to_list()


def test_no_table_raises() -> None:
    """A log without a summary is an error that says what is wanted."""
    with pytest.raises(LogParseError, match="no summary table"):
        read_summary(b"close(3) = 0")


@pytest.mark.corpus
def test_summaries_add_up(captures: Path, manifest: dict[str, dict[str, str]]) -> None:
    """In every table calls, errors and seconds of the rows are the total's; each capture with -c or -C has one."""
    names = [name for name, row in manifest.items() if {"-c", "-C"} & set(row["command"].split("./orasim")[0].split())]
    names = [
        name
        for name in names
        if "python3 -c" not in manifest[name]["command"] and "sh -c" not in manifest[name]["command"]
    ]

    assert len(names) > 10
    for name in names:
        found = read_summary(captures / name)
        total = found.row(by_predicate=pl.col("syscall") == "total", named=True)
        rows = found.filter(pl.col("syscall") != "total")

        assert rows.get_column("calls").sum() == total["calls"], name
        assert rows.get_column("errors").sum() == total["errors"], name
        assert round(rows.get_column("seconds").sum() * 1e6) == round(total["seconds"] * 1e6), name
        assert rows.height > 15, name


@pytest.mark.corpus
def test_columns_of_chosen_tables(captures: Path) -> None:
    """``-U`` reorders columns and adds times of one call; averages are microseconds, the others seconds."""
    chosen = read_summary(captures / "6.1-ora-c-U.strace").row(
        by_predicate=pl.col("syscall") == "io_submit", named=True
    )
    wall = read_summary(captures / "7.2-ora-c-wall.strace").row(
        by_predicate=pl.col("syscall") == "io_submit", named=True
    )

    assert (chosen["time_pct"], chosen["min_s"], chosen["max_s"], chosen["calls"]) == (49.91, 0.0, 0.000135, 120)
    assert (wall["wall_total_s"], wall["wall_max_s"], wall["wall_usecs_per_call"]) == (0.007971, 0.000986, 132.0)
    assert wall["wall_total_s"] / wall["calls"] == pytest.approx(wall["wall_usecs_per_call"] / 1e6, abs=1e-6)


@pytest.mark.corpus
def test_decimal_commas(captures: Path) -> None:
    """A German table has the same numbers."""
    found = read_summary(captures / "6.1-locale-de-c.strace")

    assert found.get_column("seconds").null_count() == 0
    assert found.row(by_predicate=pl.col("syscall") == "total", named=True)["seconds"] == 0.001633
