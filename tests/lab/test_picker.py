"""The kernel's side of uploads: pieces, names, failures."""

import errno
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iolab.lab.picker import LogPicker, remove_left_folders
from iolab.lab.receiving import Receiver, free_path, safe_name
from logframe.errors import LogError

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
        (b"Dear diary,\nnothing.\n", "not a log of a known"),
    ],
)
def test_what_is_no_log_is_said_and_removed(receiver: Receiver, tmp_path: Path, data: bytes, reason: str) -> None:
    """A file that no parser reads is refused with the reason, and does not stay."""
    answer = upload(receiver, "1", "x.log", data)

    assert answer["type"] == "failed"
    assert reason in str(answer["message"])
    assert str(tmp_path) not in str(answer["message"])
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
    assert "bytes and the disk" in str(answer["message"])
    assert list(tmp_path.iterdir()) == []


def test_a_restarted_kernel_says_so(receiver: Receiver) -> None:
    """A piece of an upload that this kernel never began gets a clear answer."""
    answer = receiver.receive({"type": "piece", "id": "9", "offset": 0}, [b"x"])

    assert (answer["type"], "kernel was restarted" in str(answer["message"])) == ("failed", True)


def test_more_bytes_than_said_are_refused(receiver: Receiver) -> None:
    """A sender cannot fill the disk with a file that it said was small."""
    receiver.receive({"type": "open", "id": "1", "name": "a", "size": 5}, [])

    assert receiver.receive({"type": "piece", "id": "1", "offset": 0}, [b"x" * 6])["type"] == "failed"


class FullDisk(io.BytesIO):
    """A file on a disk that is full after so many bytes; what is left cannot be written at the end either."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - bytes or a memoryview
        """Take the bytes that have room."""
        if self.tell() + len(data) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)

    def close(self) -> None:
        """Fail as a buffered file does whose rest has no room."""
        if not self.closed:
            super().close()
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up_is_said_and_the_half_file_removed(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk ends the upload with a sentence, leaves nothing, and the next upload works."""

    def opened(path: Path, mode: str) -> FullDisk:
        path.touch()
        assert mode == "xb"
        return FullDisk(50)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", opened)
        answer = upload(receiver, "1", "a.strace", LINE * 2)

    assert answer["type"] == "failed"
    assert str(answer["message"]).startswith("the disk that the kernel writes to is full")
    assert list(tmp_path.iterdir()) == []
    assert upload(receiver, "2", "a.strace", LINE)["type"] == "done"


def test_what_a_reader_stumbles_over_is_an_answer(tmp_path: Path) -> None:
    """An error that nobody thought of is said to the user; the browser does not wait for ever."""

    def describe(path: Path) -> str:
        raise RuntimeError(f"{path}: unheard of")

    answer = upload(Receiver(tmp_path, describe), "1", "a.strace", LINE)

    assert answer == {"type": "failed", "id": "1", "message": "unheard of"}
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_a_message_comes_back(receiver: Receiver) -> None:
    """The browser tells a late answer from the one it waits for, failures among them."""
    opened = receiver.receive({"type": "open", "id": "1", "n": 7, "name": "a", "size": 100}, [])
    failed = receiver.receive({"type": "unheard of", "id": "1", "n": 8}, [])

    assert opened == {"type": "next", "id": "1", "n": 7, "offset": 0}
    assert (failed["type"], failed["n"]) == ("failed", 8)


def test_a_lost_upload_is_removed(receiver: Receiver, tmp_path: Path) -> None:
    """Half a file goes away when nothing was heard of it for long, and not before; asking keeps it."""
    receiver.receive({"type": "open", "id": "1", "name": "a", "size": 100}, [])
    receiver.receive({"type": "piece", "id": "1", "offset": 0}, [b"x" * 50])

    assert receiver.drop_idle(3600) == []
    assert receiver.receive({"type": "ask", "id": "1"}, []) == {"type": "next", "id": "1", "offset": 50}
    assert receiver.drop_idle(0) == ["a"]
    assert list(tmp_path.iterdir()) == []
    assert receiver.receive({"type": "ask", "id": "1"}, [])["unknown"] is True


def test_a_finished_upload_is_kept(receiver: Receiver) -> None:
    """Only half files are lost."""
    upload(receiver, "1", "a.strace", LINE)

    assert (receiver.drop_idle(0), receiver.done["1"].exists()) == ([], True)


OF_A_KERNEL = """
import os, signal, sys
from iolab.lab.picker import LogPicker
picker = LogPicker()
(picker.folder / "a.log").write_text("x")
print(picker.folder, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["ended", "killed"])
def test_files_go_away_with_the_kernel(tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was uploaded is removed when the kernel ends; if it was killed, when the next one begins."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", OF_A_KERNEL, end], capture_output=True, text=True, check=False)
    folder = Path(done.stdout.strip())

    assert folder.parent == tmp_path
    assert folder.exists() == (end == "killed")
    assert remove_left_folders(tmp_path) == ([folder] if end == "killed" else [])
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_living_kernel_is_left_alone() -> None:
    """A second field, of this kernel or of another, does not take the first one's files away."""
    first, second = LogPicker(), LogPicker()

    assert remove_left_folders(first.folder.parent) == []
    assert first.folder.is_dir()
    assert second.folder.is_dir()
    assert first.folder != second.folder


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("nul", "_nul"),
        ("CON.log", "_CON.log"),
        ("com1.txt", "_com1.txt"),
        ("console.log", "console.log"),
        ("Протокол-日本.lst", "Протокол-日本.lst"),
        ("a\u202etxt.exe", "a_txt.exe"),
        ("half\ud800.log", "half_.log"),
        ("ж" * 300 + ".html", "ж" * 57 + ".html"),
        ("x" * 300, "x" * 120),
        ("x." + "y" * 300, "x." + "y" * 19),
        (".bashrc", "bashrc"),
        (".in-use", "in-use"),
    ],
)
def test_names_are_kept_where_they_can_be(name: str, kept: str) -> None:
    """Letters of any script stay; devices of Windows, marks that turn text, and what is too long do not."""
    assert safe_name(name) == kept


@pytest.mark.parametrize(
    "name", ["../x", "..\\..\\x", "/etc/passwd", "a/b/c", "..", ".", "", "\x00", "C:\\x", "~/x", "a" * 400 + ".log"]
)
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    """Whatever a file is called, it stays in the folder."""
    path = free_path(tmp_path, name)

    assert path.parent == tmp_path
    assert path.resolve().parent == tmp_path.resolve()
    assert 0 < len(safe_name(name)) <= 120


def test_samples_are_never_shown_after_an_upload() -> None:
    """A refused upload is an error with its reason; a log that is accepted afterwards is shown."""
    picker = LogPicker()
    content = b"%PDF-1.4 no log"

    assert picker.chosen([], ["sample.txt"]) == ["sample.txt"]
    picker._handle(None, {"type": "open", "id": "1", "name": "a.pdf", "size": len(content)}, [])  # noqa: SLF001
    picker._handle(None, {"type": "piece", "id": "1", "offset": 0}, [content])  # noqa: SLF001
    with pytest.raises(LogError, match=r"no uploaded file is a log: a\.pdf"):
        picker.chosen([], ["sample.txt"])
    assert picker.chosen(["own.txt"], ["sample.txt"]) == ["own.txt"]


def send(picker: LogPicker, key: str, batch: int, name: str, content: bytes) -> None:
    """Send a file of one piece to a field, as one of those that were dropped together."""
    picker._handle(  # noqa: SLF001 - what a message of the browser calls
        None, {"type": "open", "id": key, "batch": batch, "name": name, "size": len(content)}, []
    )
    picker._handle(None, {"type": "piece", "id": key, "offset": 0}, [content])  # noqa: SLF001 - see above


def test_nothing_old_is_shown_after_a_refused_upload() -> None:
    """Files dropped together: one log is enough.  None: an error, until they are removed or a log is accepted."""
    picker = LogPicker()
    send(picker, "1", 1, "a.strace", LINE)
    send(picker, "2", 2, "b.pdf", b"%PDF-1.4 no log")
    with pytest.raises(LogError, match=r"b\.pdf: .*; remove it from the list to see what was uploaded before"):
        picker.chosen([], ["sample.txt"])
    picker._handle(None, {"type": "remove", "id": "2"}, [])  # noqa: SLF001 - see above
    assert picker.chosen([], ["sample.txt"]) == picker.paths
    send(picker, "3", 3, "c.pdf", b"%PDF-1.4 no log")
    send(picker, "4", 3, "d.strace", LINE * 2)
    assert [path.name for path in picker.chosen([], [])] == ["a.strace", "d.strace"]
    assert list(picker.refused) == ["c.pdf"]


def test_a_file_is_removed(receiver: Receiver, tmp_path: Path) -> None:
    """It is gone, its name is free again, and removing it twice is no error."""
    upload(receiver, "1", "a.strace", LINE)
    assert receiver.receive({"type": "remove", "id": "1"}, []) == {"type": "removed", "id": "1"}
    assert (list(tmp_path.iterdir()), receiver.done) == ([], {})
    assert receiver.receive({"type": "remove", "id": "1"}, [])["type"] == "removed"
    upload(receiver, "2", "a.strace", LINE)
    assert [path.name for path in tmp_path.iterdir()] == ["a.strace"]


def test_the_same_file_replaces_itself(receiver: Receiver, tmp_path: Path) -> None:
    """The same name and content: one file.  Another content: another name.  Another name: another file."""
    upload(receiver, "1", "a.strace", LINE)
    upload(receiver, "2", "a.strace", LINE * 2)
    again = upload(receiver, "3", "a.strace", LINE * 2)
    upload(receiver, "4", "b.strace", LINE)

    assert (again["type"], again["name"], again["replaces"]) == ("done", "a-2.strace", "2")
    assert {key: path.name for key, path in receiver.done.items()} == {
        "1": "a.strace",
        "3": "a-2.strace",
        "4": "b.strace",
    }
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_appears_whole_or_not_at_all(receiver: Receiver, tmp_path: Path) -> None:
    """On its way a file is hidden, so that nobody reads the half of it."""
    receiver.receive({"type": "open", "id": "1", "name": "a.strace", "size": 100}, [])
    receiver.receive({"type": "piece", "id": "1", "offset": 0}, [b"x" * 50])

    assert [path.name[0] for path in tmp_path.iterdir()] == ["."]
    receiver.close()


def test_a_saved_notebook_says_how_to_get_the_field() -> None:
    """What a notebook keeps of the field, and what is shown without widgets: a sentence, not its name in Python."""
    bundle = LogPicker()._repr_mimebundle_()

    assert bundle is not None
    assert "Run this cell" in bundle[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]
