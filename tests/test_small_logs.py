"""A small log costs little: what it takes is the number of queries, each of which costs as much as a thousand lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from logframe.kernel import load_kernel
from logframe.loading import load_all_logs

if TYPE_CHECKING:
    from types import FrameType

    from logframe.formats import ParsedLog

SAMPLES: Final = Path(__file__).parents[1] / "sample_data"
_BYTES: Final = 3_000


def read(data: bytes) -> list[ParsedLog]:
    """The logs of some bytes, with all of their frames."""
    logs = load_all_logs({"name": "small.log", "content": data})
    for log in logs:
        for frame in log.frames().values():
            frame.lazy().collect()
    return logs


def queries(data: bytes) -> int:
    """How many queries of Polars the reading of a log takes, once what is made of the grammars is there."""
    read(data)
    count = 0

    def count_queries(_: FrameType, event: str, called: Any) -> None:  # noqa: ANN401 - what `sys.setprofile` gives
        nonlocal count
        count += event == "c_call" and called.__qualname__ == "PyLazyFrame.collect"

    sys.setprofile(count_queries)
    try:
        read(data)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("sqltrace/orders_flash_ora_4711.trc", 290),
        ("host/iostat.out", 150),
        ("host/vmstat.out", 127),
        ("host/quay07_260914_2000.nmon", 190),
    ],
)
def test_queries_of_a_small_log(path: str, most: int) -> None:
    """The first lines of a log are read by so many queries at most, by a third more without compiled code."""
    data = (SAMPLES / path).read_bytes()[:_BYTES]

    assert 20 < queries(data[: data.rindex(b"\n") + 1]) <= (most if load_kernel() else most * 4 // 3)
