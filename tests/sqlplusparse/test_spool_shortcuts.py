"""The quick ways through a session give what the grammars give, line by line and block by block."""

import itertools
import random
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from logframe import LogParseError, open_log
from sqlplusparse import (
    Spool,
    autotrace,
    blocks,
    lines,
    listings,
    plainqueries,
    plans,
    read_spool,
    schemas,
    session,
    statements,
    statistic_names,
)
from sqlplusparse.autotrace import AUTOTRACE_NAMES, is_known, may_be_known
from sqlplusparse.lines import GRAMMAR, KINDS, Kind, classify, kinds_of, runs_of
from sqlplusparse.page import Page
from sqlplusparse.prepare import prepared
from sqlplusparse.reader import FRAMES
from sqlplusparse.session import GRAMMAR as SESSION
from sqlplusparse.session import group, neighbours, parse
from sqlplusparse.statements import FIRST_LETTERS, VERBS, kind_of, starts_statement

DATA = Path(__file__).parent / "spool_data"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file())
SAMPLES = sorted({line for _, line in GRAMMAR.samples})
TOKENS = sorted({symbol.name for rule in SESSION.parser.rules for symbol in rule.expansion if symbol.is_term})

#: The kinds of lines in the order in which they are tried, each with its whole pattern and nothing to be quick by.
WHOLE = [
    ("PLAN_ROW", "{BAR}.*"),
    ("RULER", "{RULER}"),
    ("FENCE", "(?:{FENCE}|{SECTION_BEGIN}|{SECTION_END}).*|{TAG}"),
    ("ELISION", "{ELISION}"),
    ("STATISTIC", "{COUNT}{GAP}{AUTOTRACE_NAME}(?:{GAP}{REMARK})?"),
    ("NUMBER_FEEDBACK", "(?=[0-9#])(?:{ROWS}|{DONE})"),
    ("SNAPPER_ROW", "{DIGITS}(?:{GAP}{INSTANCE})?{COMMA}(?:{FIELD}{COMMA})?{SNAPPER_TYPE}{COMMA}.*"),
    ("ELAPSED", lines.ELAPSED.template),
    ("SNAPPER_END", "{SNAPPER_END}.*"),
    ("COMMENT", "--(?!-).*"),
    ("DASHES", "[-_].*"),
    ("PROMPT", lines.PROMPT.template),
    ("NUMBER", "[0-9#].*"),
    ("STATISTICS_HEADING", "{STATISTICS_HEADING}"),
    ("PLAN_HEADING", "{PLAN_HEADING}"),
    ("PLAN_HASH", "{PLAN_HASH}{DIGITS}"),
    ("SQL_ID", "{SQL_ID}{SQL_ID_VALUE}.*"),
    ("PLAN_TABLE", "{PLAN_TABLE}"),
    ("PLAN_SECTION", "{PLAN_SECTION}"),
    ("BANNER", "{BANNER}.*"),
    ("SUBSTITUTION", "{OLD_OR_NEW}{LINE_COLON}.*"),
    ("TRACE", "{TRACE}.*"),
    ("FEEDBACK", "(?:{ROWS}|{DONE})"),
    ("ERROR", "{ERROR}.*"),
    ("TIMER_NAME", "{TIMER_NAME}"),
]
PATTERNS = [(name, re.compile(GRAMMAR.pattern(template))) for name, template in WHOLE]
LONGEST_FEEDBACK = 120
TEXTS = {"DASHES": "TEXT", "NUMBER": "TEXT", "NUMBER_FEEDBACK": "FEEDBACK"}


def whole_kind(line: str) -> int:
    """The kind of a line by whole patterns, one after the other."""
    for name, pattern in PATTERNS:
        if pattern.fullmatch(line) and not ("FEEDBACK" in name and len(line) >= LONGEST_FEEDBACK):
            return KINDS[TEXTS.get(name, name)]
    return Kind.TEXT if line else Kind.BLANK


def fragments(line: str) -> list[str]:
    """Starts and ends of a line."""
    return [line[:place] for place in range(1, len(line) + 1)] + [line[place:] for place in range(1, len(line))]


def texts(path: Path) -> list[str]:
    """The lines of a file without the blanks around them."""
    return [line.strip() for line in prepared(open_log(path).text())]


@pytest.mark.parametrize("line", SAMPLES)
def test_kinds_of_cut_samples(line: str) -> None:
    """A line of the grammar, whole or cut anywhere, has the kind that whole patterns give it."""
    for text in map(str.strip, fragments(line)):
        assert classify(text) == whole_kind(text), text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_kinds_of_sessions(path: Path) -> None:
    """Each line of each session has the kind that whole patterns give it, and `kinds_of` gives all of them."""
    found = texts(path)

    assert [classify(line) for line in found] == [whole_kind(line) for line in found]
    assert kinds_of(found) == bytes(map(whole_kind, found))


@pytest.mark.corpus
def test_kinds_of_real_sessions(corpus: Path) -> None:
    """So has each line of the real sessions."""
    paths = sorted(path for path in (corpus / "sqlplus").rglob("*") if path.suffix in {".log", ".LST", ".txt", ".md"})
    found = {line for path in paths[::3] if path.stat().st_size < 1 << 16 for line in texts(path)}

    assert len(found) > 1000
    assert [line for line in found if classify(line) != whole_kind(line)] == []


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SAMPLES), st.sampled_from(SAMPLES), st.integers(0, 60), st.integers(0, 60))
@example("____________ ________", "Ecoulé : 00 :00 :00.03", 1, 0)
def test_kinds_of_joined_samples(left: str, right: str, end: int, start: int) -> None:
    """So has a line put together from parts of two."""
    line = (left[:end] + right[start:]).strip()

    assert classify(line) == whole_kind(line)


def test_kinds_fit_bytes() -> None:
    """Kinds are distinct bytes, and a run of some of them ends where another begins."""
    assert sorted(KINDS.values()) == list(range(len(KINDS)))
    kinds = bytearray(KINDS.values())
    for kind in KINDS.values():
        assert runs_of(kind)(kinds, kind).end() == kind + 1
        assert runs_of(kind)(kinds, (kind + 1) % len(kinds)).group() == b""


@pytest.mark.parametrize("size", [1, 2])
def test_statements_of_pieces(size: int) -> None:
    """A short session cut into pieces has the statements that one pass of the parser finds."""
    for tokens in itertools.product(TOKENS, repeat=size):
        assert group(tokens) == parse(tokens), tokens


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=60))
def test_statements_of_long_sessions(tokens: list[str]) -> None:
    """So has any session."""
    assert group(tokens) == parse(tokens)


def test_neighbours() -> None:
    """Two tokens are neighbours where a sample of the grammar has them beside each other in a statement."""
    shown = {pair for _, blocks in SESSION.samples for pair in itertools.pairwise(blocks.split())}

    assert shown <= neighbours()
    assert not any("INPUT" in after or "COMMAND" in after for _, after in neighbours())


def test_verbs() -> None:
    """A word that begins a statement at once begins no client command, and says the kind that the patterns say."""
    for word, kind in VERBS.items():
        for rest in ("", " x", ";", "\tx"):
            assert statements._COMMANDS.match(word.upper() + rest) is None  # noqa: SLF001 - the slow way itself
            assert classify(word + rest) == Kind.TEXT
        assert kind is None or kind_of(f"{word} x") == kind_of(f"{word};") == kind


def test_first_letters() -> None:
    """Every word that a statement begins with is seen by its first letters."""
    sql = statements._SQL  # noqa: SLF001 - the slow way itself
    pairs = itertools.product(re.findall("[a-z]{3,}", sql.compiled.pattern), ("", "plan", "table", "on", "role"))
    words = {first for first, second in pairs if sql.match(f"{first} {second}")}

    assert words >= {"select", "explain", "lock", "comment", "set"}
    assert [word for word in words if word[:3] not in FIRST_LETTERS] == []
    assert starts_statement("<<loop>>")
    assert starts_statement("SET ROLE dba")


def test_last_letters() -> None:
    """The last letters of statistics, clocks and feedback are those of the names and samples."""
    assert {name[-1] for name in AUTOTRACE_NAMES} <= lines._LAST_OF_STATISTIC  # noqa: SLF001 - what is tested
    ends = {line[-1] for rule, line in GRAMMAR.samples if rule.endswith("_feedback")}
    assert ends <= lines._LAST_OF_FEEDBACK  # noqa: SLF001 - what is tested


@pytest.mark.parametrize("name", statistic_names()[::7])
def test_names_may_be_known(name: str) -> None:
    """No text that stands for a statistic is passed over by its first letters."""
    for text in (name, name.upper(), *(name[:size] for size in range(3, len(name)))):
        assert may_be_known(text) or not is_known(text)


class Everything:
    """A set that has everything, so that nothing follows from it."""

    def __contains__(self, _: object) -> bool:
        return True


def frames(spool: Spool) -> list[pl.DataFrame]:
    """All that a session gives."""
    shown = [getattr(spool, name) for name in FRAMES]
    tables = [spool.table(table, printed=True) for table in range(1, spool.tables.height + 1)]
    return [*shown, spool.lines(), spool.runs(), *tables]


def check_without(monkeypatch: pytest.MonkeyPatch, paths: list[Path]) -> int:
    """Read sessions with and without the quick ways; the number of sessions that gave the same."""
    sessions = []
    for path in paths:
        try:
            sessions.append((path, frames(read_spool(path))))
        except LogParseError:
            continue
    monkeypatch.setattr(plans._Reader, "_read_whole_rows", lambda *_: None)  # noqa: SLF001 - what is switched off
    monkeypatch.setattr(autotrace, "_read_whole", lambda *_: None)
    monkeypatch.setattr(blocks, "read_plain_query", lambda *_: None)
    monkeypatch.setattr(blocks, "read_plain_grid", lambda *_, **__: None)
    monkeypatch.setattr(statements, "_QUERIES", frozenset())
    monkeypatch.setattr(statements, "_USUAL_START", "\n")
    monkeypatch.setattr(session, "group", parse)
    monkeypatch.setattr(statements, "MOST_NUMBERED", 0)
    for module in (statements, plainqueries):
        monkeypatch.setattr(module, "FIRST_LETTERS", Everything())
    for module in (blocks, plainqueries):
        monkeypatch.setattr(module, "LAST_OF_FIGURE", Everything())
    monkeypatch.setattr(listings, "may_be_known", bool)
    for path, expected in sessions:
        for found, frame in zip(frames(read_spool(path)), expected, strict=True):
            assert found.equals(frame), path
    return len(sessions)


def test_sessions_without_shortcuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every frame is the same when plans, lists, statements and text are read line by line."""
    assert check_without(monkeypatch, FILES) == len(FILES)


def queries(chance: random.Random) -> str:
    """A session of short queries, most as usual, each part of some as another client, setting or edit has it."""
    parts: list[str] = []
    for number in range(60):

        def one(usual: str, *others: str) -> str:
            return usual if chance.random() < 0.85 else chance.choice(others)

        verb = chance.choice(("selected", "selected", "selected", "updated", "created"))
        heading = one(f"{'S':>10}", "S", f"{'A':>4} {'S':>5}", "TIME", "update", "SQL Text", "12", "S: x", f"{'S':>14}")
        parts += [
            one(
                f"SQL> select {number} from t;",
                "SQL> /",
                "SQL> select 1",
                "SQL> SQL> select 1 from t;",
                "SQL>  WITH a;",
            ),
            one("", "\n", "\n\n", "text above\n"),
            heading,
            one("----------", "---- -----", "--", "********", "==========", "-- ** --"),
            one(
                f"{number:>10}",
                f"{number}\n{number}",
                heading,
                "",
                "#" * 10,
                "a  b",
                "ORA-00600: x",
                f"{number}\n\n{number}",
            ),
            one("", "\n", "text below"),
            one(
                f"{chance.randint(1, 2)} row {verb}.",
                "no rows selected",
                "1 Zeile ausgewählt.",
                "Table altered.",
                "1 rows",
            ),
            one("", "\n", "Commit complete.", "SQL> set timing off"),
            one(
                f"Elapsed: 00:00:00.{number:02d}", "Vergangen: 00:00:01.00", "", "Elapsed: 00:00:61.00", "timing for: x"
            ),
            one("", "\n", "Execution Plan", "> quoted", "SQL> timing stop"),
        ]
    return "\n".join(parts)


def test_queries_in_one_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Queries that are nearly regular give what the readers of their parts give; many are read in one step."""
    taken: list[int] = []

    def counted(page: Page, number: int) -> object:
        found = plainqueries.read_plain_query(page, number)
        taken.extend([number] * (found is not None))
        return found

    paths = [tmp_path / f"{seed}.lst" for seed in range(12)]
    for seed, path in enumerate(paths):
        path.write_text(queries(random.Random(seed)), encoding="utf-8")  # noqa: S311 - reproducible, no secret
    monkeypatch.setattr(blocks, "read_plain_query", counted)

    assert check_without(monkeypatch, paths) == len(paths)
    assert len(taken) > 100


@pytest.mark.corpus
def test_real_sessions_without_shortcuts(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is for real sessions."""
    paths = [path for path in sorted((corpus / "sqlplus").rglob("*")) if path.is_file()]

    assert check_without(monkeypatch, [path for path in paths if path.stat().st_size < 1 << 17][::3]) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_frames_of_few_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame that is made row by row is the one made column by column."""
    found = []
    for rows in (0, 1 << 20):
        monkeypatch.setattr(schemas, "FEW_ROWS", rows)
        try:
            found.append(read_spool(path, printed=True).frames())
        except LogParseError:
            pytest.skip("no session")

    assert found[0].keys() == found[1].keys()
    for name, frame in found[0].items():
        assert frame.schema == found[1][name].schema
        assert frame.equals(found[1][name], null_equal=True)
