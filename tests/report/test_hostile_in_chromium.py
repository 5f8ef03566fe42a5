"""The page and the picture of the adviser in a real browser: nothing that a file says is run, loaded, or becomes an element."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servelint.report.advice import gain_svg
from servelint.report.formats.html import render
from tests.report import browser as browsers
from tests.report.test_hostile import everywhere

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[browser]'")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browsers.program() is None, reason="there is no chromium, chromium-browser or google-chrome here"),
]

PAYLOADS = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "</style><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "\"'><svg onload=window.pwned=1>",
    "<svg><foreignObject><body onload=window.pwned=1></foreignObject></svg>",
    "' autofocus onfocus=window.pwned=1 x='",
    "</title><script>window.pwned=1</script>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "javascript:window.pwned=1",
    "https://x/'><script>window.pwned=1</script> (says)",
    "<base href=javascript:window.pwned=1//><a href=x>",
    "<!--<script>window.pwned=1</script>-->",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "<form action=javascript:window.pwned=1><button>",
    "<meta http-equiv=refresh content='0;url=javascript:window.pwned=1'>",
    "<link rel=stylesheet href=http://x/y.css>",
    "]]><script>window.pwned=1</script>",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.chromium() as found:
        yield found


def test_nothing_of_a_page_is_run(browser: Browser, tmp_path: Path) -> None:
    """`opened` sees to it that nothing else is asked for, and that no policy is broken: nothing is there to be blocked."""
    file = tmp_path / "report.html"
    file.write_text(render(everywhere("m")), encoding="utf-8")
    with browsers.opened(browser, file) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        for payload in PAYLOADS:
            file.write_text(render(everywhere(payload)), encoding="utf-8")
            page.reload()
            for fold in page.locator("details").all():
                fold.evaluate("node => { node.open = true }")
            for link in page.locator("a[href]").all():
                assert (link.get_attribute("href") or "").startswith(("#", "https://")), payload
            page.locator("#filter-text").fill(payload)
            page.keyboard.press("Tab")
            assert page.evaluate("window.pwned") is None, payload
            assert page.locator("script").count() == 1, payload
            assert page.locator(_NEVER).count() == 0, payload


_NEVER = "main img, main iframe, main foreignObject, main base, main meta, main link, main style"


def test_nothing_of_an_address_is_run(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(everywhere("m")), encoding="utf-8")
    from urllib.parse import quote

    with browsers.opened(browser, file) as page:
        for payload in PAYLOADS:
            page.goto("about:blank")  # a page whose address has another end is not loaded again
            page.goto(f"{file.as_uri()}#text={quote(payload)}&severity={quote(payload)}")
            assert page.evaluate("window.pwned") is None, payload
            assert page.locator("script").count() == 1, payload


def test_nothing_of_a_picture_is_run(browser: Browser, tmp_path: Path) -> None:
    from servelint.advise.recommendation import Objective, UseCase, recommend

    found = recommend(UseCase("chat"), Objective("latency"), "h100", "Qwen/Qwen3-8B", "vllm")
    assert found.crossover is not None
    file = tmp_path / "gain.svg"
    file.write_text(gain_svg(found.crossover, "m"), encoding="utf-8")
    with browsers.opened(browser, file) as page:
        for payload in PAYLOADS:
            file.write_text(gain_svg(found.crossover, payload), encoding="utf-8")
            page.reload()
            assert page.evaluate("window.pwned") is None, payload
            assert page.locator("script, foreignObject, image, a").count() == 0, payload


def test_the_policy_stops_what_would_slip_through(browser: Browser, tmp_path: Path) -> None:
    """A script that is not a part of the page is not run even where it got into it."""
    file = tmp_path / "report.html"
    text = render(everywhere("m")).replace(
        "</main>", "<img src=x onerror=window.pwned=1><script>window.pwned=1</script></main>"
    )
    file.write_text(text, encoding="utf-8")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(file.as_uri())
        assert page.evaluate("window.pwned") is None
    finally:
        context.close()
