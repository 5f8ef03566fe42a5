"""The HTML page of some folders in a headless Chromium: its size, when it is loaded and painted, and how fast it filters.

    python benchmarks/html_page.py [--gpu NAME] FOLDER...

Needs the extra `browser` and a Chromium on the path. The page is opened at two widths, each several times in a fresh context;
printed are the medians and the worst. Filtering is from the event to the second frame after it; typing waits for 120 ms of
quiet, which are not counted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.lint import check_in_parallel
from servelint.report.formats.html import page as render
from servelint.report.memory import Plans

RUNS = 7
WIDTHS = (1280, 390)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

LOADED = """() => {
  const loaded = performance.getEntriesByType("navigation")[0].loadEventEnd;
  const painted = performance.getEntriesByName("first-contentful-paint")[0];
  return [loaded, painted ? painted.startTime : loaded];
}"""

FILTERED = """async (quiet) => {
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const text = document.getElementById("filter-text"), box = document.querySelector("input[type=checkbox]");
  let began = performance.now();
  text.value = "memory";
  text.dispatchEvent(new Event("input", { bubbles: true }));
  await pause(quiet);
  await frames();
  const typed = performance.now() - began - quiet;
  began = performance.now();
  box.click();
  await pause(0);
  await frames();
  return [typed, performance.now() - began];
}"""


def opened(browser: Browser, address: str, width: int) -> list[float]:
    """Milliseconds from navigation to load and to the first paint, and of a text filter and of a choice."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(300)
    found: list[Any] = [*page.evaluate(LOADED), *page.evaluate(FILTERED, 120)]
    context.close()
    return found


def written(folders: list[str], gpu: str | None) -> tuple[Report, str]:
    """With a GPU, each launch has the bar of its memory plan."""
    asked = Settings(gpu=gpu)
    report = check_in_parallel(folders, asked, words=True)
    began = time.perf_counter()
    text = render(report, plans=Plans(asked))
    print(f"{'written in':<16} {(time.perf_counter() - began) * 1000:6.0f} ms")
    return report, text


def main() -> None:
    usage = argparse.ArgumentParser(description="The HTML page of some folders in a headless Chromium.")
    usage.add_argument("--gpu", help="draw the memory plans of launches on it")
    usage.add_argument("folders", nargs="+", metavar="FOLDER")
    arguments = usage.parse_args()
    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("there is no chromium, chromium-browser or google-chrome on the path")
    report, text = written(arguments.folders, arguments.gpu)
    size = len(text.encode())
    print(f"{'launches':<16} {len(report.launches):6}    findings {len(report.findings)}    size {size / 1e6:.2f} MB")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = os.path.join(folder, "report.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for width in WIDTHS:
            rows = [opened(browser, f"file://{path}", width) for _ in range(RUNS)]
            for name, times in zip(("loaded", "first paint", "text filter", "choice"), zip(*rows, strict=True), strict=True):
                print(f"{name:<16} {statistics.median(times):6.0f} ms   worst {max(times):6.0f}   at {width} px")
        browser.close()


if __name__ == "__main__":
    main()
