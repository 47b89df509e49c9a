"""A short run of the fuzzer over every reader, and the fuzzer's own parts."""

from __future__ import annotations

import itertools
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.__main__ import differences
from fuzz.driver import Result, case, excerpt, failure_of, minimised, of_format, run, running, seeds
from fuzz.growth import SHAPES, growth
from fuzz.invariants import Checked, Depth, check
from fuzz.mutators import MUTATORS
from fuzz.timer import Hang, at_most

LOGS = seeds()


def test_a_short_run() -> None:
    """Mutated logs raise nothing but the project's own errors, and what must hold holds."""
    found = run(20_261, range(100), LOGS, largest=10_000)

    assert dict(found.failures) == {}
    assert found.cases == 100
    assert found.logs.total() > 20


def test_a_thorough_run() -> None:
    """Read twice the result is the same, and Parquet keeps it."""
    found = run(20_262, range(25), LOGS, depth="thorough", largest=10_000)

    assert dict(found.failures) == {}


def test_a_run_with_pages() -> None:
    """Whatever a damaged log holds, its summary is made."""
    found = run(20_263, range(12), LOGS, depth="pages", largest=4_000)

    assert dict(found.failures) == {}


def test_a_case_that_takes_too_long_ends() -> None:
    """A case that computes for too long, or waits for too long, is a hang; the timers are off afterwards."""
    with pytest.raises(Hang), at_most(0.05):
        all(number >= 0 for number in itertools.count())
    with pytest.raises(Hang), at_most(0.01):
        time.sleep(60)
    with at_most(0.05):
        pass
    time.sleep(0.1)


def test_a_case_is_the_same_again() -> None:
    """The seed and the number decide."""
    assert [case(7, number, LOGS) for number in range(20)] == [case(7, number, LOGS) for number in range(20)]
    assert case(7, 1, LOGS) != case(8, 1, LOGS)


@pytest.mark.parametrize("mutator", MUTATORS, ids=lambda mutator: mutator.__name__)
def test_mutators_take_any_bytes(mutator) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a function
    """A mutator never fails itself, and changes most inputs."""
    chance = random.Random(3)  # noqa: S311 - cases, not secrets
    inputs = [b"x", b"\n", b"\x00\xff", LOGS[0], LOGS[-1]]

    assert sum(mutator(data, chance) != data for data in inputs * 5) > 5


@pytest.mark.parametrize(
    "digits", [b"9" * 19, b"1" + b"0" * 39, b"9" * 5000, b"1e4000"], ids=["19 digits", "40", "5000", "exponent"]
)
def test_numbers_of_any_length_are_read_or_refused(digits: bytes) -> None:
    """A number that no machine word holds is no figure, wherever it stands: nothing overflows, nothing is infinite."""
    chance = random.Random(len(digits))  # noqa: S311 - cases, not secrets
    failures = set()
    for log in chance.sample(LOGS, len(LOGS) // 8):
        part = excerpt(log, 3000, chance)
        runs = list(re.finditer(rb"[0-9]+", part))
        changed = part
        for place in sorted(chance.sample(runs, min(len(runs), 12)), key=re.Match.start, reverse=True):
            changed = changed[: place.start()] + digits + changed[place.end() :]
        failures.add(failure_of(changed)[0])

    assert failures == {""}


@pytest.mark.parametrize(
    "log",
    [
        b"TKPROF: Release 0\ncall count cpu elapsed disk query current rows\n1  A(r= pr=9999999999999999991)\n",
        b"5:02:27 pid=6 event= wait_time=829\n",
        b"AAA,progname,nmon\nCPU_ALL,CPU h,User%,Sys%\nZZZZ,T0001,20:01:10\nCPU_ALL,T0001,1.0,2.0\nCPU_ALL,T0002,",
        b'close(3) = 0\nread(3, "a", 1) = 1' + b"x" * 100_000 + b"\n",
        b"ENDTIME_us,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE\n127200776273,dd,1,R,8192,0,25,a"
        + b"x" * 200_000
        + b"\n",
        b"  ActSes   %Thread | INST | SQL_ID | EVENT | WAIT_CLASS\n" + b"0" * 5000 + b"\n",
        b"% time seconds usecs/call calls errors syscall\n--- ---- --- --- --- ---\n1 001e4000023 1 1  read\n",
        b'SQL> set markup csv on\nSQL> select 1 from dual;\n\n"A","' + b"x" * 200_000 + b'"\n1,2\n',
        b"SQL> select n from t;\n\n         N NAME\n---------- --------\n        7\x1b[31m8 Alfred\n        12 Berta\n",
        b"SQL> select n from t;\n\n         N NAME\n---------- --------\n        7\r\r8 Alfred\n        12 Berta\n",
        b"Name   Time        Version\n------ ----------- ---------------\nresume 06-AUG-2022 08:13:03 Version 21\n",
        b"NAME  LOW\n----- ----------\nIND   7820202020\n      2020202020\n      2020\n\n"
        b"N1    C119\nN2    80\n\n3 rows selected.\n".replace(b"\n", b"\n\n"),
        b"CLOSE #8:c=0,",
        b"WAIT #1: nam='direct path read' ela= 0 file number=1 first dba=2 block cnt=1 obj#=3 tim=0\n",
        b'1 12:00:00.000001 read(3, "x", 5) = 5\n' * 3 + b"1 12:00:00.000001 poll(" + b"x<0:[,]>" * 40 + b"x\n",
        b'1 12:00:00.000001 read(3, "x", 5) = 5\n' * 3 + b"1 12:00:00.000001 poll(" + b"x<<a>b>" * 40 + b"x\n",
        b"Wait Event Histogram\nEvent <2 >1\n- - --- - -\no 1K  6  .1  .",
        (
            b"Top 10 Foreground Events by Total Wait Time\nEvent            Waits     Time(s)  Avg wait\n"
            b"---------------- --------- -------- --------\n                       138       .5      3.6\n"
        ),
        (
            b"12:36:32   device   %busy  avque  r+w/s\n           dad1,b      0    0.0      0\n"
            b"           nfs6        1    0.0      6  125  4.3  3.   dad1,b      0    0.0      0\n"
        ),
        (
            b"System configuration: lcpu=4 drive    5.4    9.9    0.4\nkthr     memory\n----- -----------\n"
            b" r  b   avm   fre\n 1  1 12345  6789\n"
        ),
        b"procs-timestamp\nr b swpd free\n3  0  0 96 26-09-14 20:54:60\n",
        b"WAIT #1: nam='' ela=0 d=0 s=0 3=0 obj#=1 tim=00\n",
    ],
    ids=[
        "figures of a plan",
        "rounding of a wait",
        "row cut at its first figure",
        "long word after a call",
        "long name of a file",
        "line of digits",
        "seconds beyond all numbers",
        "long heading",
        "colour within a number",
        "carriage returns within a number",
        "date and its time in two cells",
        "wrapped cell between blank lines",
        "call cut before its time",
        "span no time",
        "sockets among the arguments",
        "shifts among the arguments",
        "bucket without a range",
        "event without a name",
        "two rows in one line",
        "settings and figures in one line",
        "second 60 within an hour",
        "no moment in two digits",
    ],
)
@pytest.mark.parametrize("depth", ["thorough", "pages"])
def test_what_failed_once(log: bytes, depth: Depth) -> None:
    """Inputs that a run of the fuzzer found."""
    assert failure_of(log, depth=depth)[0] == ""


def test_a_failure_is_found_and_minimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that one line causes is brought down to that line."""

    def check(data: bytes, *, depth: str) -> Checked:
        del depth
        if b"bad" in data:
            raise IndexError("a fault")
        return Checked(["strace"], "")

    monkeypatch.setattr("fuzz.driver.check", check)
    data = b"one\ntwo\nthe bad line\nfour\n"
    failure, _ = failure_of(data)

    assert failure.startswith("IndexError at test_fuzz.py:check: a fault")
    assert minimised(data, failure) == b"bad"


def test_an_input_that_aborts_the_process_stays(tmp_path: Path) -> None:
    """A library may end the process: what it was given is in a file."""
    code = "import os, sys, pathlib, fuzz.driver as d; d.check = lambda *_, **__: os.abort(); "
    code += "d.run(1, range(3), [b'a log'], out=pathlib.Path(sys.argv[1]))"

    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False)

    assert ended.returncode == -signal.SIGABRT
    assert [path.read_bytes() for path in running(tmp_path).iterdir()] == [case(1, 0, [b"a log"])]
    run(1, range(2), [b"another log"], out=tmp_path)
    assert len(list(running(tmp_path).iterdir())) == 1


def test_variants_that_differ_are_found() -> None:
    """A case that one variant did not come to is no difference."""
    found = {
        "one thread": Result(digests={1: "a", 2: "b", 3: "c"}),
        "two threads": Result(digests={1: "a", 2: "x"}),
        "no compiled code": Result(digests={1: "y", 4: "d"}),
    }

    assert differences(found) == [(2, "two threads"), (1, "no compiled code")]


def test_a_digest_is_that_of_the_figures() -> None:
    """Another figure gives another digest, the same figures the same."""
    log = b'12:00:00.000001 read(3, "a", 4096) = 1 <0.000041>\n12:00:00.000002 close(3) = 0 <0.000001>\n'

    assert check(log, depth="thorough") == check(log, depth="thorough")
    assert check(log, depth="thorough").digest != check(log.replace(b"41>", b"42>"), depth="thorough").digest


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_shapes_of_the_growth_run_grow_with_their_size(shape) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a function
    """A shape is as long as asked for within a factor of two, doubles, and is read or refused."""
    sizes = [len(shape(size).encode()) for size in (20_000, 40_000)]

    assert 10_000 < sizes[0] < 40_000
    assert 1.7 < sizes[1] / sizes[0] < 2.3
    check(shape(4_000).encode())


def test_growth_is_judged_where_it_can_be_measured() -> None:
    """The ratio of short times is noise; of long ones the last counts: a step is no growth."""
    assert growth([(1, 0.001), (2, 0.1), (4, 0.19)]) == 1.0
    assert growth([(1, 0.1), (2, 0.5), (4, 1.1), (8, 3.3)]) == pytest.approx(3.0)
    assert growth([(1, 0.2), (2, 0.4), (4, 1.2), (8, 2.4)]) == pytest.approx(2.0)


def test_logs_of_one_format() -> None:
    """A run may be of one format, so that rare ones are met as often as others."""
    chosen = of_format(LOGS, "tkprof", 10_000)

    assert 0 < len(chosen) < len(LOGS) // 10
    assert set(run(20_264, range(20), chosen, largest=4_000).logs) <= {"tkprof", "sqlplus"}
