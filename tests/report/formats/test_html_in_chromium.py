"""The HTML page in a real browser: filters, addresses, keyboard, both schemes, accessibility."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.report.formats.html import page as render
from servelint.report.formats.html.cards import MEMORY
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.report import browser as browsers
from tests.report.kinds import mixed
from tests.report.plans import plan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[browser]'")
pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python: pip install -e '.[browser]'")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browsers.program() is None, reason="there is no chromium, chromium-browser or google-chrome here"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.chromium() as found:
        yield found


def several() -> Report:
    """Findings of several severities, impacts, engines and files, and a launch in which nothing is found."""
    _, (mtp, swap) = marked("a/first.sh", "vllm serve m --x ⟦mtp⟧\nvllm serve m ⟦--swap-space⟧ 4\n")
    _, (late,) = marked("b/second.sh", "python -m sglang.launch_server ⟦--late⟧\n")
    quiet, (good,) = marked("b/good.sh", "⟦vllm serve good-model⟧\n")
    old, late_one = (
        finding(swap, severity="warning", message="old option"),
        finding(late, severity="info", message="late option"),
    )
    old.impact, late_one.impact = "crash-at-start", "deprecated"
    assert late_one.launch is not None
    late_one.launch.engine = "sglang"
    found = report(documented(), finding(mtp, message="wrong words"), old, late_one, files=4)
    found.launches.append(Launch(source=quiet, engine="vllm", argv=[], site=good))
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A page with several findings."""
    file = tmp_path / "report.html"
    file.write_text(render(several()), encoding="utf-8")
    return file


def shown(page: Page) -> list[str]:
    """What the findings say that are shown."""
    heads = [one.locator("h5").text_content() or "" for one in page.locator(".finding").all() if one.is_visible()]
    return [head.partition(" ")[2] for head in heads]


def count(page: Page, said: str) -> None:
    """Wait until the count says so."""
    from playwright.sync_api import expect

    expect(page.locator("#count")).to_contain_text(re.compile("^" + re.escape(said)))


TURBOQUANT = "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops"
ALL = [TURBOQUANT, "wrong words", "old option", "late option"]


class TestFilters:
    @pytest.mark.parametrize(
        ("box", "left", "said"),
        [
            ("errors", [TURBOQUANT, "wrong words"], "2 of 4 findings; 0 of 1 launch without a finding"),
            ("does not start", ["old option"], "1 of 4 findings; 0 of 1 launch without a finding"),
            ("SGLang", ["late option"], "1 of 4 findings; 0 of 1 launch without a finding"),
        ],
    )
    def test_a_choice_by_the_keyboard(self, box: str, left: list[str], said: str, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            assert shown(page) == ALL
            page.get_by_role("checkbox", name=box).focus()
            page.keyboard.press("Space")
            count(page, said)
            assert shown(page) == left
            page.keyboard.press("Space")
            count(page, "4 findings")
            assert shown(page) == ALL

    @pytest.mark.parametrize(
        ("name", "typed", "left"),
        [
            ("Path", "B/", ["late option"]),
            ("Text", "token loops", [TURBOQUANT]),
            ("Text", "compose.yml", [TURBOQUANT]),
            ("Text", "--swap-space", ["old option"]),
            ("Text", "xyzzy", []),
        ],
    )
    def test_a_text(self, name: str, typed: str, left: list[str], browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            page.get_by_label(name, exact=True).focus()
            page.keyboard.type(typed)
            count(page, f"{len(left)} of 4 findings")
            assert shown(page) == left
            assert page.locator(".file").filter(visible=True).count() == len(left)

    def test_all_by_the_tab_key(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            reached: list[str] = []
            for _ in range(40):
                page.keyboard.press("Tab")
                reached.append(page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()"))
            assert reached[0] == "Skip to the findings"
            wanted = ["path", "text", "severity", "impact", "engine", "Clear the filters", "Show all code"]
            at = [reached.index(name) for name in wanted]
            assert at == sorted(at)

    def test_launches_without_a_finding(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, "#text=good-model") as page:
            assert shown(page) == []
            assert page.locator("#quiet").is_visible() is False  # the model is not in its words
        with browsers.opened(browser, path, "#path=good") as page:
            assert shown(page) == []
            assert page.locator("#count").inner_text() == "0 of 4 findings; 1 launch without a finding"
            page.locator("#quiet summary").press("Enter")
            # a part of the page that has not been drawn yet has no text
            page.wait_for_function("document.querySelector('#quiet .launch').innerText.startsWith('b/good.sh:1')")

    def test_the_count_is_announced(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            assert page.get_by_role("status").get_attribute("aria-live") == "polite"
            assert page.get_by_role("status").inner_text() == "4 findings; 1 launch without a finding"

    def test_clearing_them(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, "#severity=error&text=words") as page:
            assert shown(page) == ["wrong words"]
            page.get_by_role("button", name="Clear the filters").press("Enter")
            count(page, "4 findings")
            assert shown(page) == ALL
            assert page.evaluate("location.hash") == ""

    def test_a_row_of_the_summary_is_a_filter(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            page.get_by_role("link", name="does not start").press("Enter")
            count(page, "1 of 4 findings")
            assert shown(page) == ["old option"]
            assert page.evaluate("document.activeElement.id") == "results"
            assert page.get_by_role("checkbox", name="does not start").is_checked()
            page.go_back()
            count(page, "4 findings")


class TestAddresses:
    def test_filters_are_in_it(self, browser: Browser, path: Path) -> None:
        from playwright.sync_api import expect

        with browsers.opened(browser, path) as page:
            page.get_by_role("checkbox", name="warnings").check()
            page.get_by_role("checkbox", name="errors").check()
            page.get_by_label("Path", exact=True).fill("a/& b")
            address = "#severity=error%2Cwarning&path=a%2F%26+b"
            expect(page).to_have_url(path.as_uri() + address)
        with browsers.opened(browser, path, address) as page:
            assert page.get_by_role("checkbox", name="warnings").is_checked()
            assert page.get_by_label("Path", exact=True).input_value() == "a/& b"
            assert shown(page) == []

    def test_a_finding_has_one_and_is_shown_whatever_the_filters(self, browser: Browser, path: Path) -> None:
        name = f"finding-{several().findings[2].fingerprint}"
        with browsers.opened(browser, path, f"#{name}") as page:
            assert page.evaluate("name => document.getElementById(name).matches(':target')", name)
            page.get_by_role("button", name="Hide all code").click()
            page.get_by_role("checkbox", name="errors").check()
            count(page, "2 of 4 findings")
            page.evaluate("name => { location.hash = name }", name)
            count(page, "4 findings")
            assert page.locator(f"#{name} .frame").is_visible()
            assert page.locator(f"#{name}").evaluate("node => node.getBoundingClientRect().top < innerHeight")

    def test_one_that_names_nothing(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, "#finding-nothing") as page:
            assert shown(page) == ALL
        with browsers.opened(browser, path, "#severity=%22%5D%3Cimg&what=ever") as page:
            assert page.get_by_role("checkbox", checked=True).count() == 0


class TestAccessibility:
    @pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
    def test_axe_finds_nothing_serious(self, width: int, scheme: str, browser: Browser, tmp_path: Path) -> None:
        from axe_playwright_python.sync_playwright import Axe

        both = several()
        both.add(mixed())
        path = tmp_path / "report.html"
        plans = dict(zip([id(one.launch) for one in both.findings], [plan(verdict) for verdict in MEMORY], strict=False))
        path.write_text(render(both, plans=lambda launch: plans.get(id(launch))), encoding="utf-8")
        with browsers.opened(browser, path, width=width, scheme=scheme) as page:
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
            # what is out of sight is not laid out, and not looked at either
            page.evaluate("for (const node of document.querySelectorAll('main *')) node.style.contentVisibility = 'visible'")
            page.get_by_role("checkbox", name="errors").check()
            page.get_by_role("checkbox", name="errors").uncheck()
            found = Axe().run(page).response
        assert len(found["passes"]) > 20
        bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in bad] == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_the_scheme_is_the_reader_s(self, scheme: str, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, scheme=scheme) as page:
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 22, 26)"}[scheme]

    @pytest.mark.parametrize("width", [320, 390, 1280])
    def test_nothing_is_wider_than_the_window(self, width: int, browser: Browser, tmp_path: Path) -> None:
        _, (near, far) = marked(f"{'folder' * 30}/run.sh", f"vllm serve ⟦m⟧ {'x' * 500} ⟦--y⟧\n")
        wide = several()
        wide.add(report(finding(near, (far, "far " * 30), message="long" * 100, advice="wide" * 100, launch="name" * 50)))
        path = tmp_path / "report.html"
        path.write_text(render(wide), encoding="utf-8")
        with browsers.opened(browser, path, width=width) as page:
            page.evaluate("for (const node of document.querySelectorAll('main *')) node.style.contentVisibility = 'visible'")
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_what_has_the_focus_is_seen(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


class TestMemory:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        file = tmp_path / "report.html"
        file.write_text(render(several(), plans=lambda _: plan(draft_weights=10.0)), encoding="utf-8")
        return file

    @pytest.mark.parametrize("width", [390, 1280])
    def test_the_bar_is_drawn_to_scale(self, width: int, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, width=width) as page:
            bar = page.get_by_role("img", name=re.compile("^One h100 of 100.0 GiB: weights 30.0 GiB")).first
            whole = bar.bounding_box()
            parts = [rect.bounding_box() for rect in bar.locator("rect").all()]
            assert whole is not None
            shares = [part["width"] / (whole["width"] - 2) for part in parts if part is not None]  # a line around it
            assert shares == pytest.approx([0.3, 0.1, 0.5, 0.01], abs=0.01)
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_shapes_are_drawn_in_the_reader_s_scheme(self, scheme: str, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, scheme=scheme) as page:
            grounds, lines = (
                page.evaluate(f"[...document.querySelectorAll('pattern {one}')].map((node) => getComputedStyle(node).{what})")
                for one, what in (("rect", "fill"), ("path", "stroke"))
            )
        assert {"light": "rgb(185, 211, 240)", "dark": "rgb(39, 75, 115)"}[scheme] in grounds
        assert set(lines) == {{"light": "rgb(63, 71, 82)", "dark": "rgb(169, 179, 191)"}[scheme]}

    def test_the_parts_by_the_keyboard(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path) as page:
            table = page.locator(".memory table").first
            assert table.is_hidden()
            page.locator(".memory summary").first.press("Enter")
            assert table.get_by_role("rowheader", name="draft weights").is_visible()

    def test_on_paper(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, scheme="dark") as page:
            page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            page.emulate_media(media="print")
            assert page.locator(".memory table").first.is_visible()
            assert page.evaluate("getComputedStyle(document.querySelector('.bar text')).fill") == "rgb(26, 29, 33)"

    def test_without_a_script(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, script=False) as page:
            assert page.locator(".memory .bar").first.is_visible()


class TestWithoutAScript:
    def test_everything_is_there_but_the_filters(self, browser: Browser, path: Path) -> None:
        with browsers.opened(browser, path, script=False) as page:
            assert shown(page) == ALL
            assert page.locator("form").is_hidden()
            assert page.locator(".verdict").inner_text() == "2 errors, 1 warning and 1 note in 5 launches (4 files)"
            assert page.get_by_role("link", name="does not start").count() == 0
            page.locator(".finding summary").first.click()
            assert page.locator(".finding .frame").first.is_hidden()


def test_on_paper_all_code_is_shown(browser: Browser, path: Path) -> None:
    with browsers.opened(browser, path, scheme="dark") as page:
        page.get_by_role("button", name="Hide all code").click()
        assert page.locator(".finding .frame").first.is_hidden()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator(".finding .frame").first.is_visible()
        assert page.locator("form").is_hidden()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator(".finding .frame").first.is_hidden()


def test_what_a_hostile_file_says_does_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = (
        "</script><script>document.title = 'evil'</script><img src=https://evil.example/x onerror=\"document.title='evil'\">"
    )
    _, (span,) = marked("run.sh", f"vllm serve ⟦{hostile}⟧\n")
    path = tmp_path / "report.html"
    path.write_text(render(report(finding(span, message=hostile, advice=hostile, launch=hostile))), encoding="utf-8")
    with browsers.opened(browser, path, "#text=img") as page:
        assert page.title() == "servelint: 1 error in 1 launch (1 file)"
        assert len(shown(page)) == 1
