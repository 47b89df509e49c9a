"""The kernel's side of uploads: pieces, names, failures."""

from pathlib import Path

import pytest

from iolab.picker import Receiver, free_path, safe_name

LINE = b"     0.000123 pread64(268, '', 8192, 0) = 8192\n"


@pytest.fixture
def receiver(tmp_path: Path) -> Receiver:
    """A receiver with a folder of its own."""
    return Receiver(tmp_path)


def upload(receiver: Receiver, key: str, name: str, data: bytes, piece: int = 20) -> dict[str, object]:
    """Send a file as the browser does: the piece that the last answer asks for."""
    answer = receiver.receive({"type": "open", "id": key, "name": name, "size": len(data)}, [])
    while answer["type"] == "next":
        offset = int(answer["offset"])
        message = {"type": "piece", "id": key, "offset": offset}
        answer = receiver.receive(message, [memoryview(data)[offset : offset + piece]])
    return answer


def test_pieces_make_the_file(receiver: Receiver) -> None:
    """A file that comes in pieces is on disk whole, and said to be what it is."""
    answer = upload(receiver, "1", "ora.strace", LINE * 3)

    assert answer == {"type": "done", "id": "1", "name": "ora.strace", "what": "strace log, 3 lines"}
    assert receiver.done["1"].read_bytes() == LINE * 3


def test_two_files_of_one_name_are_both_kept(receiver: Receiver) -> None:
    """The second file of a name gets a number."""
    upload(receiver, "1", "ora.strace", LINE)
    upload(receiver, "2", "ora.strace", LINE * 2)

    assert [path.name for path in receiver.done.values()] == ["ora.strace", "ora-2.strace"]
    assert receiver.done["1"].read_bytes() == LINE


def test_a_piece_sent_twice_is_written_once(receiver: Receiver) -> None:
    """An answer that was lost makes the browser send again: the file stays right."""
    receiver.receive({"type": "open", "id": "1", "name": "a", "size": len(LINE)}, [])
    first = {"type": "piece", "id": "1", "offset": 0}
    receiver.receive(first, [LINE[:10]])

    assert receiver.receive(first, [LINE[:10]]) == {"type": "next", "id": "1", "offset": 10}
    assert receiver.receive({"type": "ask", "id": "1"}, []) == {"type": "next", "id": "1", "offset": 10}
    assert receiver.receive({"type": "piece", "id": "1", "offset": 10}, [LINE[10:]])["type"] == "done"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"\x00\x01\x02" * 9, "binary data"),
        (b"Dear diary,\nnothing.\n", "no log of a known"),
    ],
)
def test_what_is_no_log_is_said_and_removed(receiver: Receiver, tmp_path: Path, data: bytes, reason: str) -> None:
    """A file that no parser reads is refused with the reason, and does not stay."""
    answer = upload(receiver, "1", "x.log", data)

    assert answer["type"] == "failed"
    assert reason in str(answer["message"])
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_upload_leaves_nothing(receiver: Receiver, tmp_path: Path) -> None:
    """Cancel removes what had come."""
    receiver.receive({"type": "open", "id": "1", "name": "a", "size": 100}, [])
    receiver.receive({"type": "piece", "id": "1", "offset": 0}, [b"x" * 50])

    assert receiver.receive({"type": "cancel", "id": "1"}, []) == {"type": "cancelled", "id": "1"}
    assert list(tmp_path.iterdir()) == []


def test_a_file_greater_than_the_disk_is_refused_at_once(receiver: Receiver, tmp_path: Path) -> None:
    """Nothing is sent when there is no room."""
    answer = receiver.receive({"type": "open", "id": "1", "name": "a", "size": 2**60}, [])

    assert answer["type"] == "failed"
    assert "room" in str(answer["message"])
    assert list(tmp_path.iterdir()) == []


def test_a_restarted_kernel_says_so(receiver: Receiver) -> None:
    """A piece of an upload that this kernel never began gets a clear answer."""
    answer = receiver.receive({"type": "piece", "id": "9", "offset": 0}, [b"x"])

    assert (answer["type"], "kernel was restarted" in str(answer["message"])) == ("failed", True)


def test_more_bytes_than_said_are_refused(receiver: Receiver) -> None:
    """A sender cannot fill the disk with a file that it said was small."""
    receiver.receive({"type": "open", "id": "1", "name": "a", "size": 5}, [])

    assert receiver.receive({"type": "piece", "id": "1", "offset": 0}, [b"x" * 6])["type"] == "failed"


@pytest.mark.parametrize(
    "name", ["../x", "..\\..\\x", "/etc/passwd", "a/b/c", "..", ".", "", "\x00", "C:\\x", "~/x", "a" * 400 + ".log"]
)
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    """Whatever a file is called, it stays in the folder."""
    path = free_path(tmp_path, name)

    assert path.parent == tmp_path
    assert path.resolve().parent == tmp_path.resolve()
    assert 0 < len(safe_name(name)) <= 120
