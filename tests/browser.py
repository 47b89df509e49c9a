"""A browser for tests: it reaches this machine only, and says what it asked for."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: The longest wait for anything, in ms: a busy machine is no failure.
PATIENCE = 180_000


@contextmanager
def open_browser() -> Iterator[tuple[Any, list[str]]]:
    """A browser that can reach 127.0.0.1 only, and the addresses it asked for."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where the tests run

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with sync_playwright() as driver, TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, headless=True, args=flags, viewport={"width": 1280, "height": 900}
        )
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.on("websocket", lambda socket: asked.append(socket.url))
        try:
            yield page, asked
        finally:
            context.close()


def outside(asked: list[str]) -> list[str]:
    """The addresses that are not of this machine."""
    own = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:", "about:", "chrome")
    return [url for url in asked if not url.startswith(own)]


def first_y(page: Any, selector: str) -> float:  # noqa: ANN401 - Playwright's page
    """Where the first of the shown elements begins, asked of the browser once: a folder has hundreds."""
    top = "Math.min(...all.filter(one => one.getClientRects().length).map(one => one.getBoundingClientRect().y))"
    return float(page.locator(selector).evaluate_all(f"all => {top}"))


def until(page: Any, is_true: Callable[[], Any]) -> None:  # noqa: ANN401 - as above
    """Wait until something is true; a page that forbids evaluation of text cannot wait itself."""
    for _ in range(PATIENCE // 250):
        if is_true():
            return
        page.wait_for_timeout(250)
    raise TimeoutError
