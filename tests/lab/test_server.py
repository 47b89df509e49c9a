"""The part of JupyterLab's server: what it reads, what it refuses, and that nothing leaves the folder or runs."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iolab.lab import page_jobs
from iolab.lab.page_jobs import Page, Pages, find_served, log_notebook
from iolab.lab.serving import serve_lab
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "sample_data/sqltrace/orders_flash_ora_4711.trc"
TOKEN = "t0k"  # noqa: S105 - of a server that lives for this test only
MARKUP = "<img src=x onerror=alert(1)>.trc"


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a log, and with what must not be read."""
    folder = tmp_path / "served"
    (folder / "logs/.private").mkdir(parents=True)
    shutil.copy(TRACE, folder / "logs/ora.trc")
    (folder / "logs/.private/ora.trc").write_text("hidden", encoding="utf-8")
    (tmp_path / "secret.trc").write_text("outside", encoding="utf-8")
    (folder / "out.trc").symlink_to(tmp_path / "secret.trc")
    (folder / "out").symlink_to(tmp_path)
    (folder / "in.trc").symlink_to("logs/ora.trc")
    (folder / "shown.trc").symlink_to("logs/.private/ora.trc")
    (folder / "loop.trc").symlink_to("loop.trc")
    os.mkfifo(folder / "pipe.trc")
    return folder


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.trc", "leaves the folder"),
        ("logs/../../secret.trc", "leaves the folder"),
        ("logs/../..", "leaves the folder"),
        ("logs/../../served/logs/ora.trc", "leaves the folder"),
        ("logs/..", "is not a file"),
        ("logs/../out.trc", "out.trc is a link that leaves the folder"),
        ("logs/../logs/.private/ora.trc", "hidden files are not read"),
        ("out/../secret.trc", "No such file"),
        ("/etc/passwd", "is absolute"),
        ("//etc/passwd", "is absolute"),
        ("out.trc", "out.trc is a link that leaves the folder"),
        ("out/secret.trc", "secret.trc is a link that leaves the folder"),
        ("logs/.private/ora.trc", "hidden files are not read"),
        ("shown.trc", "hidden files are not read"),
        ("loop.trc", "loop.trc: "),
        ("pipe.trc", "pipe.trc is not a file"),
        ("logs", "logs is not a file"),
        ("no.trc", "no.trc: No such file or directory"),
        ("logs/ora.trc/x", "x: Not a directory"),
        ("a" * 5000, "File name too long"),
        ("..\0", "no file is named"),
        ("", "no file is named"),
        (None, "no file is named"),
        (["logs/ora.trc"], "no file is named"),
    ],
)
def test_what_is_no_file_of_the_folder_is_refused(served: Path, path: object, reason: str) -> None:
    """Traversal, absolute paths, links out, hidden files, devices: refused with a sentence, and not opened."""
    with pytest.raises(RefusedError, match=reason):
        find_served(served, path)


def test_files_of_the_folder_are_found(served: Path) -> None:
    """A file, a link within the folder, a strange name, and a hidden file where the server shows them."""
    (served / MARKUP).touch()
    assert find_served(served, "logs/ora.trc") == find_served(served, "in.trc") == served.resolve() / "logs/ora.trc"
    assert find_served(served, MARKUP).name == MARKUP
    assert find_served(served, "./logs//ora.trc").name == "ora.trc"
    assert find_served(served, "logs/../logs/ora.trc") == find_served(served, "no/../logs/ora.trc")
    assert find_served(served, "shown.trc", is_hidden_allowed=True).parent.name == ".private"
    assert find_served(served, "logs", is_folder=True).name == "logs"


def run(code: str) -> tuple[str, ...]:
    """The command of a reader that runs Python code, with the log and the page in `sys.argv`."""
    return (sys.executable, "-c", f"import os, subprocess, sys, time\nlog, _, page = sys.argv[1:]\n{code}")


WRITES = "open(page, 'w').write(open(log).read())"


def after(pages: Pages, steps: Callable[[Pages], Any]) -> None:
    """Run the steps of a test, and close the pages."""

    async def both() -> None:
        try:
            await steps(pages)
        finally:
            pages.close()

    asyncio.run(both())


async def until(is_true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    for _ in range(3000):
        if is_true():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError


async def end_of(pages: Pages, page: Page) -> dict[str, Any]:
    """The state of a page once it is over."""
    await until(lambda: page.state in {"done", "failed"})
    return pages.describe(page)


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("print('iolab: ' + log + ': no log of a known kind', file=sys.stderr); sys.exit(1)", {}, "a.trc: no log of a"),
        ("time.sleep(60)", {"timeout_s": 0.6}, "a.trc was not read within 0.01 minutes"),
        ("time.sleep(0.3); kept = bytearray(2**30)", {"memory_bytes": 2**29}, "needs more than the 0.5 GiB of memory"),
        ("os.abort()", {}, "a.trc: the reader was ended by signal 6"),
        ("sys.exit(3)", {}, "exit code 3"),
        ("os.remove(os.path.join(os.getcwd(), 'said.txt'))", {}, "No such file"),
    ],
)
def test_a_reading_that_fails_is_said(tmp_path: Path, code: str, limits: dict[str, Any], reason: str) -> None:
    """A refusal, too long, too much memory, a crash: the reason, without the path of the log."""
    log = tmp_path / "a.trc"
    log.touch()

    async def steps(pages: Pages) -> None:
        state = await end_of(pages, pages.open(log))
        assert (state["state"], reason in state["message"]) == ("failed", True), state
        assert str(tmp_path) not in state["message"]

    after(Pages(command=run(code), **limits), steps)


def test_a_reading_that_nobody_waits_for_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """The tab is closed: the process and its own processes end, and their files are removed; another tab keeps them."""
    log, alive = tmp_path / "a.trc", tmp_path / "alive"
    log.touch()
    ticks = f"while True: open({str(alive)!r}, 'a').write('.'); time.sleep(0.05)"
    code = f"subprocess.Popen([sys.executable, '-c', {('import time' + chr(10) + ticks)!r}]); time.sleep(60)"

    async def steps(pages: Pages) -> None:
        page, same = pages.open(log), pages.open(log)
        assert page is same
        await until(alive.exists)
        pages.leave(page)
        assert pages.get(page.id) is page
        pages.leave(page)
        assert (pages.get(page.id), page.folder.exists()) == (None, False)
        await asyncio.sleep(0.3)
        size = alive.stat().st_size
        await asyncio.sleep(0.5)
        assert alive.stat().st_size == size

    after(Pages(command=run(code)), steps)


def test_a_page_is_kept_until_its_log_changes(tmp_path: Path) -> None:
    """The same log is not read twice; one that grew, was touched or removed is noticed, and read again as it is."""
    log = tmp_path / "a.trc"
    log.write_text("one", encoding="utf-8")

    async def steps(pages: Pages) -> None:
        first = pages.open(log)
        assert (await end_of(pages, first))["is_changed"] is False
        assert pages.open(log) is first
        log.write_text("one, two", encoding="utf-8")
        assert pages.describe(first)["is_changed"] is True
        second = pages.open(log)
        assert (await end_of(pages, second))["size"] == 8
        assert (first.path.read_text(encoding="utf-8"), second.path.read_text(encoding="utf-8")) == ("one", "one, two")
        log.unlink()
        assert pages.describe(second)["is_changed"] is True
        with pytest.raises(FileNotFoundError):
            pages.open(log)

    after(Pages(command=run(WRITES)), steps)


def test_a_comparison_is_of_both_logs_as_they_are(tmp_path: Path) -> None:
    """It is kept until one of the two changes, is not that of the other order, and no log is compared with itself."""
    logs = [tmp_path / name for name in ("a.trc", "-b [1].trc")]
    for log in logs:
        log.write_text(log.name, encoding="utf-8")
    reader = "*logs, _, page = sys.argv[1:]; open(page, 'w').write(repr([open(log).read() for log in logs]))"

    async def steps(pages: Pages) -> None:
        page = pages.open(*logs)
        assert (await end_of(pages, page))["size"] == len("a.trc-b [1].trc")
        assert ast.literal_eval(page.path.read_text(encoding="utf-8")) == ["a.trc", "-b [1].trc"]
        assert pages.open(*logs) is page
        assert pages.open(*logs[::-1]) is not page
        logs[1].write_text("longer than it was", encoding="utf-8")
        assert pages.describe(page)["is_changed"] is True
        with pytest.raises(RefusedError, match=r"a\.trc cannot be compared with itself"):
            pages.open(logs[0], logs[0])

    command = (sys.executable, "-c", f"import sys\n{reader}")
    after(Pages(command=command), steps)


def test_a_log_that_grows_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    """What was read is what the log was when the reading began."""
    log = tmp_path / "a.trc"
    log.touch()

    async def steps(pages: Pages) -> None:
        page = pages.open(log)
        assert (await end_of(pages, page))["is_changed"] is True
        assert pages.open(log) is not page

    after(Pages(command=run(f"open(log, 'a').write('more'); {WRITES}")), steps)


def test_readers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at a time; others wait, and say how many are before them; too many are refused; old pages are removed."""
    monkeypatch.setattr(page_jobs, "MOST_WAITING", 3)
    monkeypatch.setattr(page_jobs, "MOST_KEPT", 2)
    logs = [tmp_path / f"{number}.trc" for number in range(6)]
    for log in logs:
        log.touch()
    gate = tmp_path / "gate"

    async def steps(pages: Pages) -> None:
        opened = [pages.open(log) for log in logs[:5] if not await asyncio.sleep(0.05)]
        await asyncio.sleep(0.2)
        states = [pages.describe(page) for page in opened]
        assert [state["state"] for state in states] == ["reading"] * 2 + ["waiting"] * 3
        assert [state["before"] for state in states] == [0, 0, 2, 3, 4]
        with pytest.raises(RefusedError, match="3 logs are waiting"):
            pages.open(logs[5])
        pages.leave(opened[3])
        gate.touch()
        for page in (*opened[:3], opened[4]):
            assert (await end_of(pages, page))["state"] == "done"
        await end_of(pages, pages.open(logs[5]))
        assert [pages.get(page.id) is not None for page in opened] == [False, False, True, False, True]

    after(Pages(command=run(f"while not os.path.exists({str(gate)!r}): time.sleep(0.02)\n{WRITES}")), steps)


def test_no_file_and_no_process_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the server ends, its readers end and its pages are removed."""
    monkeypatch.setattr(page_jobs.tempfile, "tempdir", str(tmp_path))
    log = tmp_path / "a.trc"
    log.touch()
    opened: list[Page] = []

    async def steps(pages: Pages) -> None:
        opened.append(pages.open(log))
        await until(lambda: opened[0].process is not None)

    after(Pages(command=run("time.sleep(60)")), steps)
    assert opened[0].process is not None
    assert opened[0].process.wait(timeout=10) < 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.trc"]


@pytest.mark.parametrize(
    "name", ["ora.trc", 'it\'s "my" log.trc', MARKUP, "a\nimport os\n.trc", "日本 ж 😀.trc", "\\.trc"]
)
def test_the_notebook_of_a_log_names_it_and_nothing_more(name: str) -> None:
    """Whatever the log is called, its name is one text in the notebook, and no cell is code of its own."""
    notebook = log_notebook(name)
    sources = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assignments = [node for node in ast.parse(sources[0]).body if isinstance(node, ast.Assign)]

    assert [ast.literal_eval(node.value) for node in assignments if node.targets[0].id == "LOG"] == [name]  # type: ignore[attr-defined]
    others = [cell["source"] for cell in log_notebook("x")["cells"]]
    assert [cell["source"] for cell in notebook["cells"]][2:] == others[2:]
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


class Server:
    """Requests to a JupyterLab."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, Any, Any]:
        """Status, body and headers of an answer; with the token unless other headers are given."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"token {TOKEN}"} if headers is None else headers
        request = urllib.request.Request(f"{self.url}/iolab/{path}", data=data, headers=sent, method=method)  # noqa: S310 - of this machine
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - of this machine
                text, status, said = answer.read(), answer.status, answer.headers
        except urllib.error.HTTPError as error:
            text, status, said = error.read(), error.code, error.headers
        is_json = said.get_content_type() == "application/json"
        return status, json.loads(text) if is_json else text.decode(), said

    def page(self, path: str) -> dict[str, Any]:
        """The page of a log once it is over."""
        status, state, _ = self.ask("POST", "pages", {"path": path})
        while status in {200, 202} and state["state"] in {"waiting", "reading"}:
            time.sleep(0.1)
            status, state, _ = self.ask("GET", f"pages/{state['id']}")
        return {**state, "status": status}

    def upload(self, name: str, data: bytes, *, folder: str = "", key: str = "1") -> dict[str, Any]:
        """Send a file as the browser does."""

        def send(message: dict[str, Any], raw: bytes = b"") -> dict[str, Any]:
            asked = urllib.parse.quote(json.dumps({**message, "id": key, "folder": folder}))
            status, answer, _ = self.ask("POST", f"uploads?message={asked}", raw=raw)
            return {**answer, "status": status}

        answer = send({"type": "open", "name": name, "size": len(data)})
        while answer.get("type") == "next":
            offset = answer["offset"]
            answer = send({"type": "piece", "offset": offset}, data[offset : offset + 100_000])
        return answer

    def files(self) -> set[str]:
        """What is in the folder."""
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab on a folder with a log in it."""
    base = tmp_path_factory.mktemp("server")
    folder = base / "served"
    (folder / "logs").mkdir(parents=True)
    shutil.copy(TRACE, folder / "logs/ora.trc")
    (base / "tmp").mkdir()
    with serve_lab(folder, base, token=TOKEN, environment={"TMPDIR": str(base / "tmp")}) as url:
        yield Server(url, folder)
    assert list((base / "tmp").glob("iolab-pages-*")) == []


def test_settings_of_the_user_open_no_server(tmp_path: Path) -> None:
    """Whatever a configuration says, other machines do not reach it; that it asks for no token is said."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config/jupyter_server_config.py").write_text("c.ServerApp.ip = '0.0.0.0'\n", encoding="utf-8")
    (tmp_path / "served").mkdir()
    with serve_lab(tmp_path / "served", tmp_path, token="") as url:
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)):
            pass
        with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port)):
            pass

    assert "asks for no token" in (tmp_path / "server.log").read_text(encoding="utf-8")


def test_a_page_is_read_and_confined(server: Server) -> None:
    """The page comes with a policy of its own: no origin, no request, framed by JupyterLab only."""
    state = server.page("logs/ora.trc")
    status, text, headers = server.ask("GET", f"pages/{state['id']}/page.html")
    policy = {part.split()[0]: part.split()[1:] for part in headers["Content-Security-Policy"].split(";")}

    assert (state["state"], status, headers.get_content_type()) == ("done", 200, "text/html")
    assert "orders_report" in text
    assert set(policy["sandbox"]) == {"allow-scripts", "allow-downloads"}
    assert policy["default-src"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'self'"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert server.page("logs/ora.trc")["id"] == state["id"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("binary.trc", bytes(range(256)) * 20, "binary.trc: binary data, not a log"),
        ("empty.trc", b"", "empty.trc: the file is empty"),
        ("diary.trc", b"Dear diary,\nnothing.\n", "diary.trc: line 1: this is not a log of a known"),
        (MARKUP, b"%PDF-1.4", f"{MARKUP}: "),
        ("-o.trc", b"", "-o.trc: the file is empty"),
        ("https:__x.trc", b"", "the file is empty"),
        ("[a-z]*.trc", b"", "[a-z]*.trc: the file is empty"),
    ],
)
def test_a_file_that_is_no_log_is_refused_by_name(server: Server, name: str, data: bytes, reason: str) -> None:
    """The reason is one line with the file's name, not its path; a name is no option and no pattern."""
    (server.folder / name).write_bytes(data)
    try:
        state = server.page(name)
    finally:
        (server.folder / name).unlink()

    assert (state["state"], reason in state["message"]) == ("failed", True), state
    assert str(server.folder) not in state["message"]


def test_a_huge_file_is_answered_at_once(server: Server) -> None:
    """A file of 20 GiB is asked for: the id comes at once, then how long it is read; closing its tab ends it."""
    huge = server.folder / "huge.trc"
    with huge.open("wb") as file:
        file.truncate(20 * 2**30)
    try:
        status, state, _ = server.ask("POST", "pages", {"path": "huge.trc"})
        assert (status, state["size"], state["state"] in {"waiting", "reading"}) == (202, 20 * 2**30, True)
        time.sleep(1)
        assert server.ask("GET", f"pages/{state['id']}")[1]["seconds"] >= 1
        assert server.ask("DELETE", f"pages/{state['id']}")[0] == 200
        assert server.ask("GET", f"pages/{state['id']}")[0] == 404
    finally:
        huge.unlink()


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", ".hidden", "logs", "", None, 7])
@pytest.mark.parametrize("what", ["pages", "notebooks"])
def test_paths_out_of_the_folder_are_refused_in_words(server: Server, path: object, what: str) -> None:
    """The status is that of a wrong request, the body a sentence; nothing is written."""
    before = server.files()
    status, answer, _ = server.ask("POST", what, {"path": path})

    assert (status, len(answer["message"]) > 10) == (400, True)
    assert server.files() == before


@pytest.mark.parametrize(
    "path", ["../secret", "logs/../../secret.trc", "/etc/passwd", "logs/.hidden", "logs", "", None, 7, "logs/./ora.trc"]
)
@pytest.mark.parametrize("name", ["path", "with"])
def test_logs_that_are_compared_are_of_the_folder(server: Server, path: object, name: str) -> None:
    """Either of the two is refused as one alone is, and so is the same log twice."""
    asked = {"path": "logs/ora.trc", "with": "logs/ora.trc"} | {name: path}
    status, answer, _ = server.ask("POST", "pages", asked)

    assert (status, len(answer["message"]) > 10) == (400, True)


def test_two_logs_are_compared_on_one_page(server: Server) -> None:
    """The page is confined as that of one log is; markup in the name of either is text."""
    shutil.copy(TRACE, server.folder / MARKUP)
    try:
        status, state, _ = server.ask("POST", "pages", {"path": "logs/ora.trc", "with": MARKUP})
        while state["state"] in {"waiting", "reading"}:
            time.sleep(0.1)
            state = server.ask("GET", f"pages/{state['id']}")[1]
        _, text, headers = server.ask("GET", f"pages/{state['id']}/page.html")
    finally:
        (server.folder / MARKUP).unlink()

    assert (status, state["state"], state["size"]) == (202, "done", 2 * TRACE.stat().st_size)
    assert "sandbox" in headers["Content-Security-Policy"]
    assert "ora.trc and &lt;img src=x onerror=alert(1)&gt;.trc" in text
    assert "<img" not in text


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b'"logs/ora.trc"'])
def test_bodies_that_name_nothing_are_refused(server: Server, raw: bytes) -> None:
    """No body, no JSON, no object."""
    assert server.ask("POST", "pages", raw=raw)[0] == 400


def test_requests_need_what_every_request_needs(server: Server) -> None:
    """Without a token, and with the cookie but without the XSRF token, nothing is read, written or shown."""
    name = server.page("logs/ora.trc")["id"]
    request = urllib.request.Request(f"{server.url}/lab?token={TOKEN}", headers={"Accept": "text/html"})  # noqa: S310 - as above
    jar = urllib.request.HTTPCookieProcessor()
    urllib.request.build_opener(jar).open(request, timeout=60).close()
    cookie = {"Cookie": "; ".join(f"{one.name}={one.value}" for one in jar.cookiejar)}
    before = server.files()
    asked = [
        ("POST", "pages", {"path": "logs/ora.trc"}),
        ("POST", "notebooks", {"path": "logs/ora.trc"}),
        ("POST", "uploads?message=" + urllib.parse.quote('{"type":"open","name":"a","size":1,"folder":""}'), {}),
        ("GET", f"pages/{name}", None),
        ("GET", f"pages/{name}/page.html", None),
        ("DELETE", f"pages/{name}", None),
        ("GET", "field.js", None),
    ]

    for method, path, body in asked:
        status, text, _ = server.ask(method, path, body, headers={})
        assert status == 403 or "<form" in str(text), (method, path, status)
        assert "orders_report" not in str(text)
    for method, path, body in asked:
        status = server.ask(method, path, body, headers=cookie)[0]
        assert status in ({403} if method != "GET" else {200, 403}), (method, path, status)
    other = {**cookie, "Origin": "http://elsewhere.example", "Referer": "http://elsewhere.example/"}
    assert {server.ask(method, path, body, headers=other)[0] for method, path, body in asked} <= {403, 404}
    assert server.files() == before
    assert server.ask("GET", f"pages/{name}")[0] == 200


def test_a_notebook_is_written_beside_its_log(server: Server) -> None:
    """Its name is free, its log is named as it lies beside it, and its cells run."""
    first = server.ask("POST", "notebooks", {"path": "logs/ora.trc"})[1]
    second = server.ask("POST", "notebooks", {"path": "logs/ora.trc"})[1]
    try:
        assert (first, second) == ({"path": "logs/ora.ipynb"}, {"path": "logs/ora-1.ipynb"})
        book = json.loads((server.folder / first["path"]).read_text(encoding="utf-8"))
        code = "\n".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=server.folder / "logs", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("<IPython.core.display.Markdown object>") >= 1
    finally:
        for made in (first, second):
            (server.folder / made["path"]).unlink()


def test_uploads_arrive_whole_in_their_folder(server: Server) -> None:
    """In pieces, under a free name, whatever the name leads to; a file is removed when that is asked."""
    data = TRACE.read_bytes()
    before = server.files()
    names = ["ora.trc", "../../ora.trc", "/etc/cron.d/ora", MARKUP, ".bashrc"]
    answers = [server.upload(name, data, folder="logs", key=str(at)) for at, name in enumerate(names)]
    new = server.files() - before

    assert [answer["type"] for answer in answers] == ["done"] * len(names)
    assert {answer["path"] for answer in answers} == new
    assert {Path(path).parent.as_posix() for path in new} == {"logs"}
    assert answers[0]["path"] == "logs/ora-2.trc"
    assert all((server.folder / path).read_bytes() == data for path in new)
    for at in range(len(names)):
        message = urllib.parse.quote(json.dumps({"type": "remove", "id": str(at), "folder": "logs"}))
        assert server.ask("POST", f"uploads?message={message}", raw=b"")[1]["type"] == "removed"
    assert server.files() == before


@pytest.mark.parametrize("folder", ["..", "/tmp", ".ipynb_checkpoints", "no", "logs/ora.trc", 7])  # noqa: S108 - refused
def test_uploads_into_other_folders_are_refused(server: Server, folder: Any) -> None:  # noqa: ANN401 - whatever is sent
    """Nothing is written out of the folder, into a hidden one, or where no folder is."""
    before = server.files()

    assert server.upload("a.trc", b"x", folder=folder)["status"] == 400
    assert server.files() == before


def test_uploads_that_are_not_sound_leave_nothing(server: Server) -> None:
    """More than was said, larger than the disk, a message that is none: an answer, and no file."""
    before = server.files()
    large = urllib.parse.quote(json.dumps({"type": "open", "id": "9", "name": "a", "size": 2**62, "folder": ""}))
    assert "bytes and the disk" in server.ask("POST", f"uploads?message={large}", raw=b"")[1]["message"]
    small = urllib.parse.quote(json.dumps({"type": "open", "id": "9", "name": "a", "size": 2, "folder": ""}))
    assert server.ask("POST", f"uploads?message={small}", raw=b"")[1]["type"] == "next"
    piece = urllib.parse.quote(json.dumps({"type": "piece", "id": "9", "offset": 0, "folder": ""}))
    assert server.ask("POST", f"uploads?message={piece}", raw=b"xyz")[1]["type"] == "failed"
    for message in ("", "{}", "[1]", "{"):
        assert server.ask("POST", f"uploads?message={urllib.parse.quote(message)}", raw=b"")[0] == 400
    assert server.files() == before
