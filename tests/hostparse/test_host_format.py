"""The registry: samples are recognised by their content, and read as one format."""

import pytest

from hostparse import HostLog
from hostparse.format import FORMAT
from logframe import open_log
from logframe.formats import ParsedLog, head_of
from logframe.loading import load_log

LOGS = {
    "iostat": "Linux 4.18.0 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)\n\nDevice tps kB_read/s\nsda 1.00 2.00\n",
    "vmstat": "procs -----------memory----------\n r  b   swpd   free\n 1  0      0  1234\n",
    "mpstat": "12:00:00     CPU    %usr %iowait    %irq   %idle\n12:00:05     all    1.00    2.00    3.00   94.00\n",
    "sar": "12:00:00          DEV       tps     await\n12:00:10          sda      1.00      2.00\n",
    "zpool": "              capacity     operations\npool  alloc  free  read  write  read  write\na 1G 2G 1 2 3K 4K\n",
    "pidstat": "# Time   UID   PID  %usr  Command\n1692579199 0 1 0.50 systemd\n",
    "nmon": "AAA,progname,nmon\nDISKBUSY,Disk %Busy db1,sda\nZZZZ,T0001,12:55:48,17-OCT-2017\nDISKBUSY,T0001,0.7\n",
}


@pytest.mark.parametrize("kind", LOGS)
def test_logs_are_loaded(kind: str) -> None:
    """Each kind of log is recognised without its name, and knows what it is."""
    log = load_log(LOGS[kind].encode())

    assert isinstance(log, HostLog)
    assert isinstance(log, ParsedLog)
    assert (log.format, log.kind) == ("host", kind)
    assert {"runs", "samples", "averages"} < set(log.frames())


@pytest.mark.parametrize(
    "text",
    [
        "# hostname;interval;timestamp;DEV;tps\ndb1;10;2024-02-19 13:20:20 UTC;sda;1.50\n",
        '{"sysstat": {"hosts": [{"nodename": "db1", "statistics": [{"disk": [{"disk_device": "sda", "tps": 1.5}]}]}]}}',
    ],
)
def test_other_forms_are_loaded(text: str) -> None:
    """The forms of sadf and the JSON of sysstat are recognised too."""
    log = load_log(text.encode())

    assert isinstance(log, HostLog)
    assert log.wide("device").get_column("transfers_per_s").to_list() == [1.5]


@pytest.mark.parametrize(
    "text", ["SQL> select 1 from dual;\n", "09:36:52 close(3) = 0\n", "Linux is a kernel\n", "a b c\n1 2 3\n"]
)
def test_other_texts_are_not(text: str) -> None:
    """Sessions, traces and prose are no samples."""
    assert FORMAT.sniff(head_of(open_log(text.encode()))) is None


def test_samples_within_a_session_are_only_possible() -> None:
    """A heading far down in a text does not make it a log of samples."""
    sniff = FORMAT.sniff(head_of(open_log(("a line of something else\n" * 50 + LOGS["iostat"]).encode())))

    assert sniff is not None
    assert sniff.score < 0.5
