"""I/O requests where lines do not tell all: descriptors that close, halves of calls, completions, damage."""

from pathlib import Path

import polars as pl
import pytest

import iolab
from straceparse import calls, io_requests, read_strace


def requests(*lines: str) -> pl.DataFrame:
    """The requests of some lines."""
    return io_requests(calls(read_strace("\n".join(lines).encode())))


OPEN = '5 openat(AT_FDCWD, "/u01/a.dbf", O_RDWR{}) = 7'
READ = '5 read(7, "x", 1) = 1'


@pytest.mark.parametrize(
    ("between", "flags", "file"),
    [
        ('5 execve("/bin/x", ["x"], 0x7f /* 3 vars */) = 0', "|O_CLOEXEC", None),
        ('5 execve("/bin/x", ["x"], 0x7f /* 3 vars */) = 0', "", "/u01/a.dbf"),
        ('5 execve("/bin/x", ["x"], 0x7f) = -1 ENOENT (No such file or directory)', "|O_CLOEXEC", "/u01/a.dbf"),
        ('5 fcntl(7, F_SETFD, FD_CLOEXEC) = 0\n5 execve("/bin/x", ["x"], 0x7f) = 0', "", None),
        ('5 fcntl(7, F_SETFD, 0) = 0\n5 execve("/bin/x", ["x"], 0x7f) = 0', "|O_CLOEXEC", "/u01/a.dbf"),
        ("5 dup2(7, 7) = 7\n5 close_range(3, 4294967295, 0) = 0", "", None),
        ("5 close_range(8, 4294967295, 0) = 0", "", "/u01/a.dbf"),
        ("5 close_range(3, 9, CLOSE_RANGE_CLOEXEC) = 0", "", "/u01/a.dbf"),
        ('5 close_range(3, 9, CLOSE_RANGE_CLOEXEC) = 0\n5 execve("/bin/x", ["x"], 0x7f) = 0', "", None),
        ("5 openat(AT_FDCWD, 0x7ffd, O_RDWR) = 7", "", None),
        ("5 fcntl(3, F_DUPFD_QUERY, 7) = 7", "", "/u01/a.dbf"),
    ],
)  # fmt: skip
def test_what_closes_a_descriptor_besides_close(between: str, flags: str, file: str | None) -> None:
    """A new program keeps only what is not marked close-on-exec."""
    found = requests(OPEN.format(flags), *between.split("\n"), READ)

    assert found.get_column("file").to_list() == [file]


@pytest.mark.parametrize("text", ['write(4, "b", 8192', 'pwrite(4, "b", 8192, 512', 'pread(4, "b", 8192, 512'])
def test_a_split_call_of_an_old_strace_has_its_sizes(text: str) -> None:
    """Up to 4.26 a blank stands between `resumed>` and the bracket; it is not part of the arguments."""
    name, _, args = text.partition("(")
    found = calls(read_strace(f"5 {text} <unfinished ...>\n6 getpid() = 6\n5 <... {name} resumed> ) = 100".encode()))
    whole = requests(f"5 {text}) = 100")

    assert found.get_column("args").to_list() == [args, ""]
    columns = ("bytes_requested", "bytes_transferred", "offset")
    assert io_requests(found).select(columns).rows() == whole.select(columns).rows()
    assert whole.get_column("bytes_requested").to_list() == [8192]


def _block(data: int, size: int) -> str:
    return f"{{aio_data={data:#x}, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes={size}, aio_offset=0}}"


def _events(*events: tuple[int, int]) -> str:
    texts = ", ".join(f"{{data={data:#x}, obj=0x7f, res={result}, res2=0}}" for data, result in events)
    return f"io_getevents(0xa, 1, 128, [{texts}], NULL) = {len(events)}"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (  # one thread reaps what another submitted, while it waits for a request of its own
            (f"5 io_submit(0xa, 1, [{_block(1, 8192)}]) = 1", f"6 io_submit(0xa, 1, [{_block(2, 8192)}]) = 1",
             f"6 {_events((1, 8192))}"),
            [(1, 3, "data"), (2, 2, "none")],
        ),
        (  # the request was submitted before the log starts
            (f"io_submit(0xa, 1, [{_block(2, 8192)}]) = 1", _events((1, 8192)), _events((2, 4096))),
            [(1, 3, "data"), (2, 2, "none")],
        ),
        (  # a short read before a whole one
            (f"io_submit(0xa, 2, [{_block(0, 8192)}, {_block(0, 4096)}]) = 2", _events((0, 512), (0, 8192))),
            [(1, 2, "size"), (1, 2, "order")],
        ),
        (  # no request gives more than was asked
            (f"io_submit(0xa, 1, [{_block(0, 4096)}]) = 1", _events((0, 8192))),
            [(1, 1, "none"), (2, 2, "none")],
        ),
    ],
)  # fmt: skip
def test_a_completion_contradicts_no_request(lines: tuple[str, ...], expected: list[tuple[int, int, str]]) -> None:
    """What is printed of the two halves agrees: `data` is returned as it was, and no more bytes than asked."""
    assert requests(*lines).select("line", "end_line", "match").rows() == expected


def test_a_sync_or_poll_that_completes_reads_no_bytes() -> None:
    """The result of a poll is a set of events, not a size."""
    found = requests(
        "io_submit(0xa, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_POLL, aio_fildes=5, aio_buf=POLLIN},"
        " {aio_data=0x2, aio_lio_opcode=IOCB_CMD_FSYNC, aio_fildes=5}]) = 2",
        _events((1, 1), (2, 0)),
    )

    assert found.select("op", "bytes_transferred", "match").rows() == [("poll", None, "data"), ("sync", None, "data")]


def test_threads_of_a_set_of_files_share_descriptors_by_time(tmp_path: Path) -> None:
    """A file that one thread closes late is what the other, whose log stands behind, has read before."""
    at = 1_700_000_000
    logs = {
        5: (
            f'{at}.000000 openat(AT_FDCWD, "/a", O_RDONLY) = 3',
            f"{at}.000100 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 6",
            f"{at}.000300 close(3) = 0",
            f'{at}.000400 openat(AT_FDCWD, "/b", O_RDONLY) = 3',
        ),
        6: (f'{at}.000200 read(3, "x", 1) = 1', f'{at}.000500 read(3, "x", 1) = 1'),
    }
    for pid, lines in logs.items():
        (tmp_path / f"set.{pid}").write_text("\n".join(lines))

    found = io_requests(calls(read_strace(tmp_path / "set.*")))

    assert found.select("pid", "line", "file").rows() == [(6, 1, "/a"), (6, 2, "/b")]


@pytest.mark.parametrize(
    "line",
    [
        "close({})",
        "close_range({0}, {0}, 0)",
        "dup({})",
        "readv(3, [{{iov_base=0x1, iov_len={}}}], 1)",
        "io_submit(0xa, {0}, [{{aio_data={0}, aio_fildes={0}, aio_nbytes={0}}}])",
    ],
)
def test_a_number_of_any_length_is_damage_and_no_error(line: str) -> None:
    """Python refuses to read more than 4300 digits; a damaged line may hold as many as it likes."""
    digits = "9" * 5000
    text = (
        f"{line.format(digits)} = 1\n+++ superseded by execve in pid {digits} +++\nstrace: Process {digits} detached\n"
    )

    found = requests(text, '[pid 10] read(3, "x", 1) = 1', 'read(3, "y", 2) = 1')  # fmt: skip

    assert found.filter(syscall="read").get_column("bytes_requested").to_list() == [1, 2]


def test_a_file_has_one_name_whether_the_open_or_y_tells_it() -> None:
    """Both print escapes; in the frame there are none."""
    path = r"/u01/d\303\244ten \74a\76.dbf"
    found = requests(
        f'openat(AT_FDCWD, "{path}", O_RDONLY) = 3',
        'read(3, "x", 1) = 1',
        f'read(3<{path}>, "x", 1) = 1',
        f"io_submit(0xa, 1, [{{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3<{path}>, aio_nbytes=1}}]) = 1",
    )

    assert found.get_column("file").unique().to_list() == ["/u01/däten <a>.dbf"]


def test_the_command_of_a_process_is_no_path() -> None:
    """Option -Y decorates process ids as -y does descriptors."""
    log = (
        "5<ora> clone(child_stack=NULL, flags=SIGCHLD) = 6<ora>\n"
        "5<ora> kill(6<ora>, SIGTERM) = 0\n"
        "5<ora> getpid() = 5<ora>\n"
        '5<ora> read(3</u01/a.dbf>, "x", 1) = 1\n'
        "5<ora> dup(3</u01/a.dbf>) = 4</u01/a.dbf>\n"
        '5<ora> open("a.dbf", O_RDONLY) = 5</u01/a.dbf>\n'
    )  # fmt: skip
    found = read_strace(log.encode()).select("name", "fd_path")

    assert found.drop_nulls().get_column("name").to_list() == ["read", "dup", "open"]
    assert found.get_column("fd_path").drop_nulls().unique().to_list() == ["/u01/a.dbf"]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("{preadv, filedes:5, 4096, [{0x7fe3, 8192}, {0x7fe4, 512}]}", ("read", 5, 8704, 4096, True)),
        ('{data:0x1, key:7, pwritev, filedes:5, 0, resfd:9, [{"a"..., 8192}]}', ("write", 5, 8192, 0, True)),
        ("{data:0x1, pwrite, filedes:5, str:NULL, nbytes:8192, offset:-1}", ("write", 5, 8192, -1, True)),
        ("{pread, filedes:5, buf:(nil), nbytes:8192, offset:0}", ("read", 5, 8192, 0, True)),
        ("{0x7ffe}", ("other", None, None, None, False)),
        ("{...}", ("other", None, None, None, False)),
        ("{0x1, 0, 1, 0, 5}", ("write", 5, None, None, False)),
    ],
)
def test_control_blocks_of_old_versions(block: str, expected: tuple[object, ...]) -> None:
    """Versions up to 4.10: what is not named has its place, and an address alone is no request."""
    found = requests(f"io_submit(140613531254784, 2, {{{block}, {block}}}) = 2")

    assert found.select("op", "fd", "bytes_requested", "offset", "is_printed").rows() == [expected] * 2


@pytest.mark.parametrize("context", ["[1, 2]", "{a=1}", "NULL", '"x"', "[...]", "3</a>"])
def test_a_damaged_context_is_no_error(context: str) -> None:
    """Whatever stands where the context should, the calls are read."""
    found = requests(
        f"io_submit({context}, 1, [{_block(1, 8192)}]) = 1", f"io_getevents({context}, 1, 1, [], NULL) = 1"
    )

    assert found.get_column("bytes_requested").to_list() == [8192]


@pytest.mark.parametrize(("number", "name"), [(22, "EINVAL"), (28, "ENOSPC"), (4711, "4711")])
def test_errors_of_completions_have_names(number: int, name: str) -> None:
    """As those of synchronous calls have; a number without a name stays one."""
    assert requests(_events((1, -number))).get_column("errno").to_list() == [name]


@pytest.mark.parametrize(("offset", "expected"), [(-1, None), (0, 0), (8192, 8192)])
def test_the_place_where_the_file_is_is_no_offset(offset: int, expected: int | None) -> None:
    """With -1 preadv2 and pwritev2 go on where the file is."""
    found = requests(
        f'preadv2(3, [{{iov_base="a", iov_len=1}}], 1, {offset}, RWF_HIPRI) = 1',
        f'pwritev2(3, [{{iov_base="a", iov_len=1}}], 1, {offset}, 0) = 1',
    )

    assert found.get_column("offset").to_list() == [expected] * 2


@pytest.mark.parametrize(
    "duplicate",
    [
        "fcntl(4, F_DUPFD, 256) = 257",
        "fcntl(4, 0, 256) = 257",
        "fcntl(4, F_DUPFD_CLOEXEC, 256) = 257",
        "fcntl(4, 1030, 256) = 257",
        "fcntl(4, 0x406 /* F_DUPFD_CLOEXEC */, 256) = 257",
        "fcntl(0x4, 0, 0x100) = 0x101",
        "fcntl(fd=4, cmd=F_DUPFD, arg=256) = 257",
        "fcntl(4</u01/F_SETFD.dbf>, F_DUPFD, 256) = 257",
        "dup2(0x4, 0x101) = 0x101",
    ],
)
def test_duplicates_however_they_are_printed(duplicate: str) -> None:
    """By name, by number (-X raw), in hexadecimal (-e raw=all), with names (-N) and paths (-y)."""
    log = f'open("/u01/x.dbf", O_RDWR) = 4\n{duplicate}\nclose(4) = 0\nread(257, "a", 1) = 1'

    assert io_requests(calls(read_strace(log.encode()))).get_column("file").to_list() == ["/u01/x.dbf"]


@pytest.mark.parametrize(
    "other", ["fcntl(4, F_GETFD) = 1", "fcntl(4, 1) = 1", "fcntl(4, F_DUPFD_QUERY, 5) = 1", "fcntl(4, 0x403, 5) = 1"]
)
def test_commands_of_fcntl_that_duplicate_nothing(other: str) -> None:
    """Their result is no descriptor."""
    log = f'open("/u01/x.dbf", O_RDWR) = 4\n{other}\nread(1, "a", 1) = 1'

    assert io_requests(calls(read_strace(log.encode()))).get_column("file").to_list() == [None]


@pytest.mark.parametrize(
    ("flag", "is_closed"),
    [
        ("O_RDWR|O_CLOEXEC", True),
        ("0x80002", True),
        ("0x80002 /* O_RDWR|O_CLOEXEC */", True),
        ("O_RDWR", False),
        ("0x2", False),
    ],
)
def test_flags_by_name_and_by_number(flag: str, is_closed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A descriptor is closed by execve when its open says so, also with -X raw, whatever its path."""
    log = f'openat(-100, "/u01/O_CLOEXEC.dbf", {flag}) = 4\nexecve("/bin/x", ["x"], 0x7ff) = 0\nread(4, "a", 1) = 1'
    found = io_requests(calls(read_strace(log.encode()))).get_column("file").to_list()

    assert found == [None if is_closed else "/u01/O_CLOEXEC.dbf"]


@pytest.mark.parametrize(
    "make", ["clone(child_stack=NULL, flags=0x50f00)", "clone3({flags=0x3d0f00, exit_signal=0}, 88)"]
)
def test_threads_by_raw_flags_share_descriptors(make: str) -> None:
    """CLONE_FILES is 0x400, and a number that has it makes a thread."""
    log = f'7  {make} = 8\n8  open("/u01/x.dbf", O_RDWR) = 4\n7  read(4, "a", 1) = 1'

    assert io_requests(calls(read_strace(log.encode()))).get_column("file").to_list() == ["/u01/x.dbf"]


@pytest.mark.parametrize(("listing", "prefix"), [("lsof", ""), ("lsof", "4711 "), ("ls", ""), ("ls", "4711 ")])
def test_files_listed_above_the_calls(listing: str, prefix: str) -> None:
    """What lsof, or ls of /proc, listed before an attach names descriptors until they are closed."""
    above = {
        "lsof": "$ lsof -p 4711\noracle_47 4711 oracle  261u   REG  253,9 3221225472  1572874 /u07/b.dbf\n",
        "ls": "$ ls -l /proc/4711/fd\nlrwx------ 1 oracle dba 64 Nov 20 10:00 261 -> /u07/b.dbf\n",
    }[listing]
    read = f'{prefix}1700000000.00000{{}} pread64(261, "", 8192, 0) = 8192 <0.000100>\n'
    text = above + read.format(1) + f"{prefix}1700000000.000200 close(261) = 0 <0.000001>\n" + read.format(3)
    log = iolab.load(text.encode())

    assert log.requests.collect()["file"].to_list() == ["/u07/b.dbf", None]
    assert "`b.dbf`" in " ".join(iolab.findings(log)["sentence"])
