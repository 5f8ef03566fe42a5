"""The site as .ci/site builds it, in a real browser. SERVELINT_SITE names its folder: `.ci/site OUT` takes a minute or two."""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import ENGINES
from servelint.engines.catalog import load
from servelint.files.siblings import Neighbours
from servelint.lsp.analysis import analyse
from servelint.report import log_search
from tests.book import each_rule
from tests.report import browser as browsers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SITE = Path(os.path.abspath(os.environ.get("SERVELINT_SITE", "/nowhere")))
ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"<(script|link|img|iframe|a)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[browser]'")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not SITE.is_dir(), reason="SERVELINT_SITE names no folder that .ci/site has built"),
    pytest.mark.skipif(browsers.program() is None, reason="there is no chromium, chromium-browser or google-chrome here"),
]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.chromium() as found:
        yield found


@contextmanager
def opened(browser: Browser, address: str, path: str, *, width: int = 1280, scheme: str = "light") -> Iterator[Page]:
    """A page of the site; at the end no other host may have been asked, and nothing may have gone wrong in it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    others: list[str] = []
    faults: list[str] = []
    page = context.new_page()
    page.on("request", lambda one: others.append(one.url) if not one.url.startswith((address, "data:", "blob:")) else None)
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    try:
        page.goto(address + path)
        yield page
        assert others == []
        assert faults == []
    finally:
        context.close()


PAGES = [
    "",
    "rules/",
    "rules/vllm/turboquant-with-spec-decode/",
    "options/vllm/",
    "options/vllm/kv-cache-dtype/",
    "releases/",
    "releases/vllm/0.27.1/",
    "compare/",
    "matrix/",
    "log/",
    "docs/usage/",
]
"""Pages that axe looks at; at the playground, which takes long to load, it looks in another test."""


def test_every_link_leads_to_a_page_and_nothing_is_loaded_from_elsewhere() -> None:
    there = {str(path) for path in (SITE, *SITE.rglob("*"))}
    broken: set[str] = set()
    hosts: set[str] = set()
    for page in SITE.rglob("*.html"):
        for tag, url in sorted(set(_LINK.findall(page.read_text(encoding="utf-8")))):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and tag != "a":
                hosts.add(parts.netloc)
            if parts.scheme or url.startswith(("#", "//")) or not parts.path:
                continue
            base = SITE if parts.path.startswith("/") else page.parent
            if os.path.normpath(base / unquote(parts.path.lstrip("/"))) not in there:
                broken.add(f"{page.relative_to(SITE)} -> {url}")
    assert sorted(broken)[:5] == []
    assert hosts == set()


def test_each_link_of_llms_txt_leads_to_a_page() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (SITE / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 20
    assert [link for link in links if not (SITE / link).is_file()] == []


def test_every_rule_option_variable_and_release_has_its_page() -> None:
    for data in each_rule():
        assert (SITE / "rules" / str(data["id"]) / "index.html").is_file()
    for engine in ENGINES:
        catalog = load(engine)
        if catalog is None:
            continue
        for release in catalog.releases:
            assert (SITE / "releases" / engine / release / "index.html").is_file()
        for variable in catalog.variables():
            assert (SITE / "options" / engine / re.sub(r"[^\w.-]", "-", variable) / "index.html").is_file()
        for line in {line for spelling in catalog.spellings() for _, _, line in catalog.lines_of(spelling)}:
            assert (SITE / "options" / engine / catalog.option(line).name / "index.html").is_file()


def test_filters_of_the_rules(browser: Browser, address: str) -> None:
    with opened(browser, address, "rules/") as page:
        form = page.locator("#rule-filters")
        form.locator("[name=engine]").select_option("vllm")
        form.locator("[name=words]").fill("--kv-cache-dtype turboquant")
        form.locator("[name=version]").fill("0.27.1")
        shown = page.locator("#rules tbody tr:visible")
        assert "vllm/turboquant-with-spec-decode" in shown.all_inner_texts()[0] + "".join(shown.all_inner_texts())
        form.locator("[name=version]").fill("0.19.1")
        assert "vllm/turboquant-with-spec-decode" not in "".join(shown.all_inner_texts())


def test_search_finds_an_option(browser: Browser, address: str) -> None:
    with opened(browser, address, "") as page:
        page.get_by_role("button", name="Search").first.click()
        page.locator("input[aria-autocomplete=list]").fill("kv-cache-dtype", timeout=60_000)
        page.locator("a[href*='options/vllm/kv-cache-dtype/']").first.wait_for(timeout=60_000)


def test_a_message_of_a_log_finds_its_rule(browser: Browser, address: str) -> None:
    text = "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3)."
    with opened(browser, address, "log/") as page:
        page.locator("#log").fill(text)
        assert page.locator("#log-found li").first.inner_text().startswith("vllm/heads-not-divisible")


def test_the_search_for_a_log_answers_as_the_command_line_does(browser: Browser, address: str) -> None:
    logs = json.loads((ROOT / "tests" / "report" / "logs.json").read_text(encoding="utf-8"))
    index = log_search.Index(log_search.entries())
    with opened(browser, address, "log/") as page:
        for one in logs:
            page.locator("#log").fill(one["text"])
            shown = page.locator("#log-found li a").all_inner_texts()
            assert shown == [found.entry.rule for found in index.search(one["text"])[:8]], one["text"]


def test_the_comparison_of_two_releases(browser: Browser, address: str) -> None:
    with opened(browser, address, "compare/") as page:
        page.locator("#compare [name=from] option").first.wait_for(state="attached")
        page.locator("#compare [name=from]").select_option("0.17.1")
        page.locator("#compare [name=to]").select_option("0.18.0")
        page.get_by_role("heading", name=re.compile("^Removed")).wait_for()
        assert "--swap-space" in page.locator("#compared").inner_text()


def test_the_matrix_shows_a_known_problem(browser: Browser, address: str) -> None:
    with opened(browser, address, "matrix/") as page:
        page.locator("#matrix-form [name=release]").select_option("0.27.1")
        links = page.locator("#matrix td.error a").evaluate_all("nodes => nodes.map(node => node.getAttribute('href'))")
        assert any(url.endswith("rules/vllm/turboquant-with-spec-decode/") for url in links)


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_violation(path: str, browser: Browser, address: str) -> None:
    with opened(browser, address, path) as page:
        if path == "rules/":
            page.locator("#rule-filters [name=words]").fill("turboquant")
            assert 3 < page.locator("#rules tbody tr:visible").count() < 100
        _looked_at(page)


def _looked_at(page: Page) -> None:
    """Hold a page against axe: wide in light colours, then narrow in dark ones."""
    from axe_playwright_python.sync_playwright import Axe

    # hundreds of rows and items alike, of which some show what there is to see: axe takes a minute for all of them
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate(
        """() => {
            for (const list of document.querySelectorAll("tbody, .md-content ul, .md-content ol")) {
                const shown = [...list.children].filter((one) => one.checkVisibility());
                for (const one of list.children.length > 60 ? [...list.children] : [])
                    if (!shown.slice(0, 40).includes(one)) one.remove();
            }
        }"""
    )
    for narrow in (False, True):
        if narrow:
            page.set_viewport_size({"width": 390, "height": 900})
            page.emulate_media(color_scheme="dark")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found] == []


def _ready(page: Page) -> None:
    page.wait_for_selector("body[data-playground=ready]", timeout=120_000)


def _files() -> list[tuple[str, str]]:
    """Files of the examples and of the rules' own examples, with a name that says their format."""
    found = [("compose.yml" if path.suffix == ".yml" else "run.sh", path.read_text(encoding="utf-8"))
             for path in sorted((ROOT / "examples").rglob("*")) if path.suffix in (".yml", ".sh")]  # fmt: skip
    marks = str.maketrans("", "", "\u27e6\u27e7")
    runs = [example["run"] for data in each_rule()[::100] for example in data["examples"]["bad"][:1] if "run" in example]
    return [*found, *[("run.sh", run.translate(marks) + "\n") for run in runs]][:16]


def test_the_playground_reports_what_the_command_line_reports(browser: Browser, address: str) -> None:
    files = _files()
    assert len(files) == 16
    text = (SITE / "playground" / "index.html").read_text(encoding="utf-8")
    script = next(
        re.findall(r'src="([^"]+)"', tag)[0] for tag in re.findall(r"<script [^>]*>", text) if "data-playground" in tag
    )
    with opened(browser, address, "log/") as page:  # a page without a worker of its own
        page.evaluate(
            """(worker) => {
                window.judged = new Worker(worker, {type: "module"});
                window.ask = (name, text, id) => new Promise((resolve) => {
                    window.judged.addEventListener("message", ({data}) => { if (data.id === id) resolve(data); });
                    window.judged.postMessage({kind: "check", name, text, asked: {}, id});
                });
            }""",
            urljoin(urljoin(address + "playground/", script), "worker.js"),
        )
        for number, (name, text) in enumerate(files):
            answer = page.evaluate("([name, text, id]) => window.ask(name, text, id)", [name, text, number + 1])
            assert "error" not in answer, answer
            known = analyse(Source(name, text), Settings(), Neighbours(None))
            wanted = sorted([(one.rule, one.span.start, one.span.end, one.severity, one.message) for one in known.findings])
            found = sorted(
                [(one["rule"], one["from"], one["to"], one["severity"], one["message"]) for one in answer["result"]["findings"]]
            )
            assert found == wanted, text
            assert all((SITE / "rules" / one.rule / "index.html").is_file() for one in known.findings)


def test_the_playground_plans_memory_shows_an_option_fixes_and_keeps_its_text_in_the_address(
    browser: Browser, address: str
) -> None:
    with opened(browser, address, "playground/") as page:
        _ready(page)
        page.locator("#playground-findings li").first.wait_for()
        page.locator("#playground-form [name=gpu]").select_option("h100")
        page.wait_for_function("document.getElementById('playground-memory').textContent.includes('GiB')")
        page.locator(".cm-line", has_text="--gpu-memory-utilization").hover(position={"x": 80, "y": 8})
        page.locator(".playground-hover").first.wait_for(timeout=10_000)
        page.locator("#playground-findings li.error").first.wait_for()
        before = page.locator("#playground-findings li").count()
        page.locator("#playground-findings li.error div button").first.press("Enter")
        old = page.url
        page.wait_for_function(f"document.querySelectorAll('#playground-findings li').length < {before}")
        page.wait_for_function("old => location.href !== old", arg=old)
        kept = page.url.partition("#")[2]
        assert kept
        _looked_at(page)
    with opened(browser, address, "playground/#" + kept) as page:
        _ready(page)
        page.wait_for_function("document.querySelector('.cm-content').innerText.includes('--kv-cache-dtype fp8')")


def test_the_playground_works_without_a_network_once_it_is_loaded(browser: Browser, address: str) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(address + "playground/")
        _ready(page)
        page.evaluate("navigator.serviceWorker.ready")
        page.reload()
        _ready(page)
        context.set_offline(True)
        page.reload()
        _ready(page)
        page.locator("#playground-findings li").first.wait_for()
    finally:
        context.close()


def test_the_index_of_the_search_is_there() -> None:
    index = json.loads((SITE / "search.json").read_text(encoding="utf-8"))
    assert index
