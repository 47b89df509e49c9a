"""I/O requests: every spelling of a call, completions, files, and the figures of real logs."""

import re
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from straceparse import REQUESTS, calls, io_requests, read_strace

US = timedelta(microseconds=1)
#: One request and its completion, as the versions print them.
OLDEST = (
    "io_submit(14, 1, {{(nil), 0, 0, 0, 268}}) = 1",
    "io_getevents(14, 1, 128, {{(nil), 0x7f, 8192, 0}}, {600, 0}) = 1",
)
SPELLINGS = {
    "4.8": (
        "io_submit(14, 1, {{pread, filedes:268, buf:0x7f, nbytes:8192, offset:512}}) = 1",
        "io_getevents(14, 1, 128, {{(nil), 0x7f, 8192, 0}}{600, 0}) = 1",
    ),
    "4.12": (
        "io_submit(14, 1, [{pread, fildes=268, buf=0x7f, nbytes=8192, offset=512}]) = 1",
        "io_getevents(14, 1, 128, [{data=0, obj=0x7f, res=8192, res2=0}], {600, 0}) = 1",
    ),
    "4.26": (
        (
            "io_submit(0xe, 1, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=268, aio_buf=0x7f, aio_nbytes=8192,"
            " aio_offset=512}]) = 1"
        ),
        "io_getevents(0xe, 1, 128, [{data=0, obj=0x7f, res=8192, res2=0}], {tv_sec=600, tv_nsec=0}) = 1",
    ),
    "6.1": (
        (
            "io_submit(0xe, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=268, aio_buf=0x7f,"
            " aio_nbytes=8192, aio_offset=512}]) = 1"
        ),
        "io_getevents(0xe, 1, 128, [{data=0, obj=0x7f, res=8192, res2=0}], {tv_sec=600, tv_nsec=0}) = 1",
    ),
    "7.2 -N": (
        (
            "io_submit(ctx_id=0xe, nr=1, iocbpp=[{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=268,"
            " aio_buf=0x7f, aio_nbytes=8192, aio_offset=512}]) = 1"
        ),
        (
            "io_getevents(ctx_id=0xe, min_nr=1, nr=128, events=[{data=0, obj=0x7f, res=8192, res2=0}],"
            " timeout={tv_sec=600, tv_nsec=0}) = 1"
        ),
    ),
}
COLUMNS = ("op", "mode", "fd", "bytes_requested", "bytes_transferred", "offset", "is_printed", "match")


def requests(*lines: str) -> pl.DataFrame:
    """The requests of some lines."""
    return io_requests(calls(read_strace("\n".join(lines).encode())))


def stamped(*texts: str) -> list[str]:
    """Calls under the prefix of -r, 100 us apart."""
    return [f"     0.000100 {text}" for text in texts]


@pytest.mark.parametrize("version", SPELLINGS)
def test_every_spelling_is_one_request(version: str) -> None:
    """From 4.7 on all versions give the same request."""
    found = requests(*stamped(*SPELLINGS[version], "times(NULL) = 1"))

    assert found.schema == REQUESTS
    assert found.select(COLUMNS).rows() == [("read", "async", 268, 8192, 8192, 512, True, "size")]
    assert found.select(pl.col("submitted", "completed", "latency").dt.total_microseconds()).rows() == [(0, 200, 200)]


def test_what_the_oldest_spelling_lacks_is_null() -> None:
    """Up to 4.6 neither size nor offset is printed: null, not zero, and said so."""
    found = requests(*stamped(*OLDEST))

    assert found.select(COLUMNS).rows() == [("read", "async", 268, None, 8192, None, False, "order")]


def test_a_build_without_libaio_counts_requests() -> None:
    """An address instead of a list: as many requests as were accepted, nothing known of them."""
    found = requests("io_submit(14, 2, 0x7ffd738fb870) = 2", "io_getevents(14, 1, 128, {...}{600, 0}) = 1")

    assert found.select("op", "requests", "bytes_requested", "bytes_transferred", "is_printed", "match").rows() == [
        ("other", 1, None, None, False, "order"),
        ("other", 1, None, None, False, "none"),
    ]


def test_a_list_that_was_cut_counts_all() -> None:
    """What stands behind the dots is counted by the result, without a size."""
    block = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=8192, aio_offset=0}"
    found = requests(f"io_submit(0xe, 4, [{block}, {block}, ...]) = 4")

    assert found.get_column("bytes_requested").to_list() == [8192, 8192, None, None]
    assert found.get_column("is_printed").to_list() == [True, True, False, False]


def test_only_accepted_requests_count() -> None:
    """``io_submit`` may take fewer than it was given, or none."""
    block = "{aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5, aio_nbytes=8192, aio_offset=0}"

    assert requests(f"io_submit(0xe, 2, [{block}, {block}]) = 1").height == 1
    assert requests(f"io_submit(0xe, 1, [{block}]) = -1 EAGAIN (Resource temporarily unavailable)").is_empty()


@pytest.mark.parametrize("count", [1 << 17, 140_203_920_123_456])
def test_a_number_that_cannot_be_true_is_not_believed(count: int) -> None:
    """A damaged result does not make millions of requests: what is printed counts."""
    block = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=8192, aio_offset=0}"
    found = requests(
        f"io_submit(0xe, 1, [{block}]) = {count}",
        f"io_submit(0xe, {count}, [{block}] <unfinished ...>",
        f"io_getevents(0xe, 1, 128, [{{data=0, obj=0x7f, res=8192, res2=0}}], NULL) = {count}",
        f"io_uring_enter(5, 3, 1, 0, NULL, 8) = {count}",
    )

    assert found.select("line", "bytes_transferred").rows() == [(1, 8192), (2, None)]


def test_completions_are_matched_by_data_before_size() -> None:
    """Requests may complete out of order; what the program writes into a block tells them apart."""
    found = requests(
        "io_submit(14, 2, {{data:0xa, pread, filedes:5, buf:0x7f, nbytes:8192, offset:0},"
        " {data:0xb, pread, filedes:5, buf:0x7f, nbytes:8192, offset:512}}) = 2",
        "io_getevents(14, 1, 128, {{0xb, 0x7f, 8192, 0}}, {600, 0}) = 1",
        "io_getevents(14, 1, 128, {{0xa, 0x7f, 4096, 0}}, {600, 0}) = 1",
    )

    assert found.select("offset", "bytes_transferred", "end_line", "match").rows() == [
        (0, 4096, 3, "data"),
        (512, 8192, 2, "data"),
    ]


def test_contexts_and_errors() -> None:
    """A completion belongs to its context; a negative result is an error and no bytes."""
    block = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=8192, aio_offset=0}"
    found = requests(
        f"io_submit(0xa, 1, [{block}]) = 1",
        f"io_submit(0xb, 1, [{block}]) = 1",
        "io_getevents(0xb, 1, 128, [{data=0, obj=0x7f, res=-22, res2=0}], NULL) = 1",
    )

    assert found.select("line", "bytes_transferred", "errno", "match").rows() == [
        (1, None, None, "none"),
        (2, None, "EINVAL", "order"),
    ]


@pytest.mark.parametrize(
    ("line", "op", "asked", "done", "offset"),
    [
        ('pread(268, "a"..., 8192, 512) = 8192', "read", 8192, 8192, 512),
        ('pread64(268, "a", 8192, 512) = 1', "read", 8192, 1, 512),
        ('pread64(fd=268, buf="a"..., count=8192, pos=512) = 8192', "read", 8192, 8192, 512),
        ("pread64(0x10c, 0x7ff5d1258000, 0x2000, 0x200) = 0x2000", "read", 8192, 8192, 512),
        ('pwrite64(268, ") = -1, 7", 8192, 512) = 8192', "write", 8192, 8192, 512),
        ('read(268, "", 8192) = 0', "read", 8192, 0, None),
        ("read(268, 0x7f, 8192) = -1 EAGAIN (Resource temporarily unavailable)", "read", 8192, None, None),
        ("read(268, 0x7f, 8192) = ? ERESTARTSYS (To be restarted)", "read", 8192, None, None),
        ('readv(268, [{"a"..., 4096}, {"b"..., 4096}], 2) = 8192', "read", 8192, 8192, None),
        ('preadv(268, [{iov_base="a"..., iov_len=8192}], 1, 512) = 8192', "read", 8192, 8192, 512),
        ('pwritev2(268, [{iov_base="a", iov_len=8192}], 1, 512, RWF_DSYNC) = 8192', "write", 8192, 8192, 512),
        ('writev(268, [{iov_base="a", iov_len=1}, ...], 9) = 8192', "write", None, 8192, None),
        ("fsync(268) = 0", "sync", None, None, None),
        ("fdatasync(268) = 0", "sync", None, None, None),
    ],
)  # fmt: skip
def test_synchronous_calls(line: str, op: str, asked: int | None, done: int | None, offset: int | None) -> None:
    """Size, bytes and offset of every call that is a request; bytes are what was returned."""
    found = requests(line)

    assert found.select("op", "mode", "fd", "bytes_requested", "bytes_transferred", "offset").rows() == [
        (op, "sync", 268, asked, done, offset)
    ]


def test_io_uring_is_counted_only() -> None:
    """A log shows neither size nor file of a ring's requests: one row with their number."""
    found = requests("io_uring_enter(5, 3, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 3")

    assert found.select("mode", "op", "requests", "bytes_requested", "is_printed").rows() == [
        ("async", "other", 3, None, False)
    ]


def test_files_are_followed_through_duplicates() -> None:
    """An Oracle process opens a file, moves the descriptor to 256 and closes the first; a child inherits it."""
    found = requests(
        '10 open("/u01/users01.dbf", O_RDWR) = 12',
        "10 fcntl(12, F_DUPFD, 256) = 257",
        "10 close(12) = 0",
        '10 pread(257, "a"..., 8192, 0) = 8192',
        "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
        '11 pread(257, "a"..., 8192, 0) = 8192',
        '10 read(12, "", 1) = 0',
        "10 close(257) = 0",
        '10 read(257, "", 1) = 0',
        '11 read(257</u02/other.dbf>, "", 1) = 0',
    )

    assert found.get_column("file").to_list() == [
        "/u01/users01.dbf",
        "/u01/users01.dbf",
        None,
        None,
        "/u02/other.dbf",
    ]


def test_lazy_in_lazy_out() -> None:
    """A LazyFrame of calls gives a LazyFrame of the same requests."""
    found = calls(read_strace(b"fsync(3) = 0"))

    assert io_requests(found.lazy()).collect().equals(io_requests(found))


def test_no_requests_at_all() -> None:
    """A log without I/O gives an empty frame of the same columns."""
    found = requests("close(3) = 0")

    assert found.schema == REQUESTS
    assert found.is_empty()


def test_asynchronous_reads_of_the_article(sample_data: Path) -> None:
    """Five calls under ``strace -rp``: two matched requests of 1,032,192 bytes, two from before, one in flight."""
    found = io_requests(calls(read_strace(sample_data / "articles" / "000_async_reads.strace")))
    matched = found.filter(pl.col("match") == "data")

    assert found.get_column("match").to_list() == ["none", "none", "data", "data", "none"]
    assert matched.select("fd", "bytes_requested", "bytes_transferred", "offset").rows() == [
        (268, 1032192, 1032192, 908083200),
        (269, 1032192, 1032192, 531644416),
    ]
    assert [time // US for time in matched.get_column("latency")] == [2251 + 245, 245]
    assert set(found.get_column("mode")) == {"async"}


def test_synchronous_reads_of_the_article(sample_data: Path) -> None:
    """Reads under ``strace -rp`` have a gap and no latency; the last has neither."""
    found = io_requests(calls(read_strace(sample_data / "articles" / "000_sync_reads.strace")))

    assert set(found.get_column("bytes_transferred")) == {1032192}
    assert found.get_column("latency").null_count() == found.height == 4
    assert found.get_column("gap").null_count() == 1


CAPTURES = sorted(path.name for path in (Path(__file__).parents[2] / "sample_data" / "captures").glob("*.strace"))


@pytest.mark.parametrize("name", CAPTURES)
def test_sample_captures(sample_data: Path, name: str) -> None:
    """Each capture has its 300 reads of data, whole, of known files, in the mode and with the times its name says."""
    events = read_strace(sample_data / "captures" / name, strict=True)
    found = io_requests(calls(events)).filter(pl.col("fd").is_in([256, 257]) & (pl.col("op") == "read"))
    size = 8192 if name.startswith("sequential") else 1032192
    is_async = name.startswith("async")
    has_latency = is_async or not name.endswith("_r.strace")

    assert found.select("bytes_requested", "bytes_transferred").unique().rows() == [(size, size)]
    assert found.get_column("bytes_transferred").sum() == 300 * size
    assert set(found.get_column("mode")) == {"async" if is_async else "sync"}
    assert {Path(file).name for file in found.get_column("file")} == {"users01.dbf", "users02.dbf"}
    assert found.get_column("latency").count() == (300 if has_latency else 0)


@pytest.mark.corpus
def test_versions_agree_on_one_workload(captures: Path) -> None:
    """The same program under six versions: the same requests, but for what 4.5.20 does not print."""
    columns = ("op", "mode", "syscall", "fd", "bytes_requested", "bytes_transferred", "offset")
    versions = ["4.5.20", "4.8", "4.12", "4.26", "7.2", "6.1"]
    found = {
        version: io_requests(calls(read_strace(captures / f"{version}-ora-r-io.strace"))).select(columns)
        for version in versions
    }
    whole = found["4.8"]
    is_async = pl.col("mode") == "async"
    unknown = pl.when(pl.col("mode") != "async")
    oldest = whole.with_columns(
        unknown.then("bytes_requested").alias("bytes_requested"), unknown.then("offset").alias("offset")
    )

    assert whole.group_by("mode").len().sort("mode").rows() == [("sync", 142), ("async", 150)]
    assert whole.filter(is_async).select("bytes_requested", "bytes_transferred").unique().rows() == [(1032192, 1032192)]
    assert whole.get_column("offset").null_count() == 0
    for version in ("4.12", "4.26", "7.2"):
        assert found[version].equals(whole), version
    assert found["4.5.20"].equals(oldest)
    for mode in ("sync", "async"):  # three times as many rounds of the same
        longest = found["6.1"].filter(pl.col("mode") == mode)
        assert longest.head(whole.filter(pl.col("mode") == mode).height).equals(whole.filter(pl.col("mode") == mode))


@pytest.mark.corpus
@pytest.mark.parametrize("version", ["4.8", "4.12", "6.1"])
def test_lists_cut_at_32(captures: Path, version: str) -> None:
    """512 reads of 8 KiB, 64 at a time: all counted and completed; from 4.11 half of them are not printed."""
    found = io_requests(calls(read_strace(captures / f"{version}-fio-libaio-qd64.strace")))
    found = found.filter(pl.col("syscall") == "io_submit")
    shown = found.filter("is_printed").height

    assert found.height == 512
    assert shown == found.get_column("bytes_requested").count() == (512 if version == "4.8" else found.height // 2)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["4.8-nolibaio-ora-ttt-T", "4.8-ora-ttt-T", "7.2-ora-argnames", "6.1-ora-e-raw"])
def test_bytes_by_a_count_without_a_parser(captures: Path, name: str) -> None:
    """Synchronous bytes are the returned numbers, asynchronous requests the returned counts."""
    text = (captures / f"{name}.strace").read_text(encoding="utf-8")
    found = io_requests(calls(read_strace(captures / f"{name}.strace")))
    returned = re.findall(r"\b(?:pread(?:64)?|read|pwrite(?:64)?|write)\(.*\) += (\w+)(?: <.*>)?$", text, re.MULTILINE)
    submitted = re.findall(r"\bio_submit\(.*\) += (\w+)(?: <.*>)?$", text, re.MULTILINE)

    assert found.filter(pl.col("mode") == "sync").get_column("bytes_transferred").sum() == sum(
        int(n, 0) for n in returned
    )
    assert found.filter(pl.col("mode") == "async").height == sum(int(n, 0) for n in submitted)
    assert len(returned) > 20
