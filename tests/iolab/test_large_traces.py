"""A large strace log is read in one pass: what is said of it is what is said of one that is kept in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import iolab
from iolab.pages.summary import summarize
from straceparse import StraceLog

LOGS = sorted((Path(__file__).parents[2] / "sample_data").glob("*/*.strace"))
#: A clock that goes back, two processes, a file opened without O_DIRECT, a call that fails, a line of no call.
TEXT = "".join(
    f"{pid} {at}.000000 {call}\n"
    for pid, at, call in (
        (7, 100, 'openat(AT_FDCWD, "/u01/a.dbf", O_RDONLY) = 3 <0.000100>'),
        (7, 101, 'pread64(3</u01/a.dbf>, ""..., 8192, 0) = 8192 <0.500000>'),
        (8, 99, "read(9<pipe:[7]>, 0x7f, 512) = -1 EAGAIN (Resource temporarily unavailable) <0.000200>"),
        (7, 100, 'pread64(3</u01/a.dbf>, ""..., 8192, 8192) = 8192 <0.250000>'),
        (8, 98, "a remark"),
    )
)
#: Reads, and after a call whose next line is not in the log, writes: those are given in another batch.
TWO_BATCHES = "".join(
    f'{pid} {at}.000000 {name}(3, "", 8192, 0) = 8192 <0.500000>\n'
    for at, (pid, name) in enumerate([(7, "pread64")] * 2 + [(8, "pread64")] + [(7, "pwrite64")] * 2)
)


@pytest.mark.parametrize(
    "source",
    [
        *(pytest.param(path, id=path.stem) for path in LOGS),
        pytest.param(TEXT.encode(), id="two processes"),
        pytest.param(TEXT.replace("100.0", "102.0").encode(), id="set back in one"),
        pytest.param(TWO_BATCHES.encode(), id="writes in another batch"),
    ],
)
def test_the_summary_of_a_large_log(source: Path | bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames, figures, findings, ledgers, diagnostics and the number of charts do not depend on the size."""
    small = summarize(source)
    monkeypatch.setattr("straceparse.log.KEPT_BYTES", -1)
    large = summarize(source)

    assert isinstance(large.log, StraceLog)
    assert not large.log.is_kept
    for name in ("figures", "findings", "diagnostics"):
        assert_frame_equal(getattr(large, name), getattr(small, name))
    for one, other in zip(iolab.ledgers(large.log), iolab.ledgers(small.log), strict=True):
        assert (one.scope, one.void, one.text) == (other.scope, other.void, other.text)
        assert_frame_equal(one.frame, other.frame)
    assert large.frames.keys() == small.frames.keys()
    for name, frame in small.frames.items():
        assert_frame_equal(large.frames[name], frame)
    assert large.notes == small.notes
    assert len(large.charts()) == len(small.charts())
