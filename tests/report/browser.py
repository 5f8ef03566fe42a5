"""A headless Chromium that can reach nothing but the page that it is given."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str | None:
    """Where Chromium is; None if it is not here."""
    return next((found for name in PROGRAMS if (found := shutil.which(name)) is not None), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, which ends with the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path, hash: str = "", *, width: int = 1280, scheme: str = "light", script: bool = True
) -> Iterator[Page]:
    """A page that is loaded; at the end nothing else may have been asked for, and nothing may have gone wrong in it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    asked: list[str] = []
    faults: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
    try:
        page.goto(path.as_uri() + hash)
        yield page
        others = [url for url in asked if url.partition("#")[0] != path.as_uri() and url != "data:,"]
        assert others == []
        assert faults == []
    finally:
        context.close()
