"""The part of JupyterLab's server: pages of logs, notebooks of logs, and uploads of the launcher's field.

``POST iolab/pages`` with a path gives the id of a page at once; ``GET iolab/pages/ID`` says how far it is, and
``DELETE`` ends it.  Every request needs what any request to JupyterLab needs: the token or the cookie, and for a change
the XSRF token.  A refusal is a sentence.
"""

from __future__ import annotations

import asyncio
import atexit
import json
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from iolab.lab.page_jobs import Page, Pages, find_served, log_notebook, refused
from iolab.lab.receiving import IDLE_S, Receiver

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_server.serverapp import ServerApp

#: What the page of a log may do, besides what its own policy says: it has no origin, and asks for nothing.
_POLICY: Final = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
)
_MOST_FOLDERS: Final = 50
_may_read: Final = cast("Callable[[Callable[..., Any]], Callable[..., Any]]", authorized("read"))


class _Handler(APIHandler):
    """What the requests share."""

    auth_resource = "contents"

    def initialize(self, pages: Pages, receivers: dict[Path, Receiver]) -> None:
        """Take what the requests share."""
        self.pages, self.receivers = pages, receivers

    @property
    def root(self) -> Path:
        """The folder that is served."""
        root = getattr(self.contents_manager, "root_dir", None)
        if not root:
            raise refused("the files of this server are not in a folder of its machine")
        return Path(root)

    def find(self, path: object, *, is_folder: bool = False) -> Path:
        """The log, or the folder, at a path."""
        is_hidden_allowed = bool(self.contents_manager.allow_hidden)
        return find_served(self.root, path, is_folder=is_folder, is_hidden_allowed=is_hidden_allowed)

    def page_named(self, name: str) -> Page:
        """A page."""
        page = self.pages.get(name)
        if page is None:
            raise web.HTTPError(404)
        return page

    def asked(self) -> dict[str, Any]:
        """The body of the request."""
        body = self.get_json_body()
        return body if isinstance(body, dict) else {}

    def say(self, answer: object, status: int = 200) -> None:
        """Answer as JSON."""
        self.set_status(status)
        self.finish(json.dumps(answer))

    def refuse(self, reason: object) -> None:
        """Answer with the reason."""
        self.say({"message": str(reason)}, 400)


class PagesHandler(_Handler):
    """Pages are asked for here."""

    @web.authenticated
    @_may_read
    async def post(self) -> None:
        """The page of a log, or of that and the one it is compared ``with``; a part may not be written yet."""
        try:
            asked = self.asked()
            logs = [self.find(asked.get(name)) for name in ("path", "with") if name == "path" or name in asked]
            page = self.pages.open(*logs)
        except (ValueError, OSError) as error:
            self.refuse(error)
        else:
            self.say(self.pages.describe(page), 202)


class PageHandler(_Handler):
    """One page."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """How far it is."""
        self.say(self.pages.describe(self.page_named(name)))

    @web.authenticated
    @_may_read
    async def delete(self, name: str) -> None:
        """A tab that showed it was closed."""
        self.pages.leave(self.page_named(name))
        self.say({})


class PageTextHandler(JupyterHandler):
    """The page itself, for an iframe."""

    auth_resource = "contents"

    def initialize(self, pages: Pages, **_: object) -> None:
        """Take what the requests share."""
        self.pages = pages

    @property
    def content_security_policy(self) -> str:
        """The page's policy, before that of the server."""
        return _POLICY + super().content_security_policy

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """The page, as files of the server are given: to pages of this server only."""
        self.check_xsrf_cookie()
        page = self.pages.get(name)
        if page is None or page.state != "done":
            raise web.HTTPError(404)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "private, no-store")
        self.finish(page.path.read_bytes())


class NotebooksHandler(_Handler):
    """Notebooks of logs are asked for here."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Write the notebook of a log beside it, under a name that is free."""
        path = str(self.asked().get("path"))
        try:
            self.find(path)
            folder, _, name = path.rpartition("/")
            contents: Any = self.contents_manager
            stem = PurePosixPath(name).stem
            free = await ensure_async(contents.increment_filename(f"{stem}.ipynb", folder, insert="-"))
            model = {"type": "notebook", "format": "json", "content": log_notebook(name)}
            saved = await ensure_async(contents.save(model, url_path_join(folder, free)))
        except (ValueError, OSError) as error:
            self.refuse(error)
        except web.HTTPError as error:
            self.refuse(f"the notebook cannot be written here: {error.reason or error.log_message}")
        else:
            self.say({"path": saved["path"]}, 201)


class UploadsHandler(_Handler):
    """Files come here, piece by piece (`iolab.lab.receiving`)."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """One message of the field, with a piece of a file as the body."""
        try:
            message = json.loads(self.get_argument("message"))
            where = str(message["folder"])
            receiver = self.receiver(where)
        except (ValueError, OSError, KeyError, TypeError) as error:
            self.refuse(error)
            return
        answer = receiver.receive(message, [self.request.body])
        asyncio.get_running_loop().call_later(IDLE_S + 1, receiver.drop_idle)
        if answer["type"] == "done":
            answer["path"] = url_path_join(where, str(answer["name"])).lstrip("/")
        self.say(answer)

    def receiver(self, where: str) -> Receiver:
        """What takes the files of a folder."""
        folder = self.find(where or ".", is_folder=True)
        if folder not in self.receivers:
            if len(self.receivers) >= _MOST_FOLDERS:
                self.receivers.pop(next(iter(self.receivers))).close()
            # The log is read by a process of its own, when its page is asked for.
            self.receivers[folder] = Receiver(folder, lambda _: "uploaded")
        return self.receivers[folder]


class FieldHandler(_Handler):
    """The field that takes uploads: the same in a notebook and in the launcher's tab."""

    @web.authenticated
    @authorized
    async def get(self, suffix: str) -> None:
        """Its script or its style."""
        text = files("iolab.lab").joinpath(f"picker.{suffix}").read_text(encoding="utf-8")
        self.finish(text, set_content_type="text/javascript" if suffix == "js" else "text/css")


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """What JupyterLab's server loads."""
    return [{"module": "iolab.lab.server"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Add the requests to a server."""
    if not server.identity_provider.auth_enabled:
        server.log.warning("This server asks for no token: any user of this machine can read your files through it.")
    pages, application = Pages(), cast("Any", server.web_app)
    atexit.register(pages.close)
    shared: dict[str, Any] = {"pages": pages, "receivers": {}}
    base = url_path_join(application.settings["base_url"], "iolab")
    application.add_handlers(
        ".*$",
        [
            (url_path_join(base, "pages"), PagesHandler, shared),
            (url_path_join(base, r"pages/([\w-]+)"), PageHandler, shared),
            (url_path_join(base, r"pages/([\w-]+)/page\.html"), PageTextHandler, shared),
            (url_path_join(base, "notebooks"), NotebooksHandler, shared),
            (url_path_join(base, "uploads"), UploadsHandler, shared),
            (url_path_join(base, r"field\.(js|css)"), FieldHandler, shared),
        ],
    )
