"""Drives the packaged extension in a real host: a code-server, in a headless Chromium.

    npm run package
    python test/host/run.py --code-server PATH/TO/code-server [--package FILE] [--bundled] [--shots FOLDER]

code-server is `npm install code-server` somewhere else (its release says which Node.js it needs); the server is the servelint
of the Python that runs this. Needs playwright and a Chromium. Ends with 0 and a line for each thing that was seen, with 1 at
the first that was not, and with 77 where there is no host to drive.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

HERE = Path(__file__).resolve()
EXTENSION = HERE.parents[2]
EXAMPLES = HERE.parents[4] / "examples"
SKIPPED = 77
PATIENCE = 60_000  # milliseconds that a thing may take to be seen

SETTINGS = {
    "servelint.interpreter": sys.executable,
    "servelint.gpu": "h100-80gb",
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "editor.minimap.enabled": False,
    "telemetry.telemetryLevel": "off",
    "files.autoSave": "off",
}


def main() -> int:
    usage = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    usage.add_argument("--code-server", default=shutil.which("code-server"), help="the program (default: the one on PATH)")
    usage.add_argument("--package", type=Path, help="the package (default: the one for every platform)")
    usage.add_argument("--bundled", action="store_true", help="run the server that the package brings")
    usage.add_argument("--shots", type=Path, help="a folder for pictures of what was seen")
    arguments = usage.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    version = json.loads((EXTENSION / "package.json").read_text())["version"]
    package = arguments.package or EXTENSION / "out" / f"servelint-{version}.vsix"
    if arguments.code_server is None or chromium is None or find_spec("playwright") is None:
        print("no host to drive: code-server, playwright and a Chromium are needed; skipped")
        return SKIPPED
    if not package.exists():
        print(f"there is no {package}; npm run package makes it", file=sys.stderr)
        return 2
    if arguments.shots is not None:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="servelint-host-")))
        address = stack.enter_context(host(folder, arguments.code_server, package, arguments.bundled))
        drive(address, folder / "deploy", chromium, arguments.shots)
    return 0


@contextmanager
def host(folder: Path, program: str, package: Path, bundled: bool) -> Iterator[str]:
    """A code-server with the extension and nothing else; its address."""
    (folder / "deploy").mkdir()
    for name in ("turboquant.yml", "llama-cpp-mtp.yml"):
        shutil.copy(EXAMPLES / "broken" / name, folder / "deploy")
    user = folder / "data" / "User"
    user.mkdir(parents=True)
    strategy = {"servelint.importStrategy": "useBundled"} if bundled else {}
    (user / "settings.json").write_text(json.dumps({**SETTINGS, **strategy}))
    own = ["--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "extensions")]
    command = ["node", program] if program.endswith(".js") else [program]
    subprocess.run([*command, *own, "--install-extension", str(package)], check=True, stdout=subprocess.DEVNULL)
    options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
    (folder / "config.yaml").write_text("")
    with subprocess.Popen(
        [*command, *own, *options, "--config", str(folder / "config.yaml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            yield next(found[0] for line in server.stdout if (found := re.search(r"http://[\d.]+:\d+", line)) is not None)
        finally:
            server.terminate()


def drive(address: str, folder: Path, chromium: str, shots: Path | None) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1500, "height": 950}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        try:
            page.goto(f"{address}/?folder={folder}")
            seen = Seen(page, shots)
            problems(page, seen)
            hover(page, seen)
            changed_settings(page, seen, folder)
            quick_fix(page, seen, folder / "turboquant.yml")
            lens(page, seen)
            pages(page, seen)
        except Exception:
            if shots is not None:
                page.screenshot(path=shots / "failed.png")
            raise
        finally:
            browser.close()


class Seen:
    """What was seen, with a picture of each."""

    def __init__(self, page: Page, shots: Path | None) -> None:
        self.page = page
        self.shots = shots

    def __call__(self, name: str, what: str) -> None:
        print(f"{name}: {what}")
        if self.shots is not None:
            self.page.screenshot(path=self.shots / f"{name}.png")


def problems(page: Page, seen: Seen) -> None:
    page.get_by_role("treeitem", name="turboquant.yml").dblclick()
    page.locator(".view-lines").get_by_text("turboquant_k8v4").wait_for()
    page.locator(".squiggly-error").first.wait_for()
    page.keyboard.press("Control+Shift+M")
    panel = page.locator(".markers-panel")
    panel.get_by_text("falls into token loops").wait_for()
    panel.get_by_text("vllm/turboquant-with-spec-decode").wait_for()
    panel.get_by_text("llamacpp/mtp-too-old").wait_for()  # of a file that is not open
    page.locator(".codelens-decoration").get_by_text("vLLM 0.27.1").first.wait_for()
    seen("problems", panel.inner_text().replace("\n", " "))


def hover(page: Page, seen: Seen) -> None:
    page.mouse.move(*place(page), steps=5)
    shown = page.locator(".monaco-hover:visible")
    shown.get_by_text("falls into token loops").first.wait_for()
    shown.get_by_text("by the image").first.wait_for()
    seen("hover", " ".join(shown.first.inner_text().split()))


def changed_settings(page: Page, seen: Seen, folder: Path) -> None:
    """The editor's settings of the workspace, and then servelint's own file, are written while the text is open."""
    ignored = ["vllm/turboquant-with-spec-decode"]
    editor, own = folder / ".vscode" / "settings.json", folder / "servelint.toml"
    editor.parent.mkdir()
    for file, text in ((editor, json.dumps({"servelint.ignore": ignored})), (own, f"ignore = {json.dumps(ignored)}\n")):
        page.locator(".squiggly-error").first.wait_for()
        file.write_text(text)
        page.locator(".squiggly-error").first.wait_for(state="detached")
        seen(file.name, "is read while the text is open: a rule that it ignores is told no more")
        file.unlink()
    page.locator(".squiggly-error").first.wait_for()


def quick_fix(page: Page, seen: Seen, file: Path) -> None:
    page.mouse.click(*place(page))
    page.locator(
        ".editor-group-container [class*='codicon-light-bulb'], .editor-group-container .lightbulb-glyph"
    ).first.wait_for()
    page.keyboard.press("Control+.")
    menu = page.locator(".action-widget")
    fix = menu.get_by_text("--kv-cache-dtype fp8").first
    fix.wait_for()
    seen("quick-fix", menu.inner_text().replace("\n", " | "))
    fix.click(force=True)  # the menu's own shield lies over the page
    page.locator(".squiggly-error").first.wait_for(state="detached")
    page.locator(".tab.active.dirty").first.wait_for()
    page.keyboard.press("Control+S")
    page.locator(".tab.active:not(.dirty)").first.wait_for()
    text = file.read_text()
    assert text == (EXAMPLES / "broken" / "turboquant.yml").read_text().replace("turboquant_k8v4", "fp8"), text
    seen("mended", "--kv-cache-dtype fp8 is in the file, and the error is gone")


def pages(page: Page, seen: Seen) -> None:
    shown = page.locator(".editor-group-container .view-lines")
    for command, expected in (
        ("Show launches", "vLLM 0.27.1"),
        ("Memory plan", "on h100-80gb"),
        ("Explain", "--kv-cache-dtype of vLLM"),
    ):
        first = page.locator(".editor-group-container").first.locator(".view-line").filter(has_text="--kv-cache-dtype")
        first.click(position={"x": 130, "y": 8})  # on the option, which is one token with its value
        page.keyboard.press("F1")
        page.keyboard.type(f"servelint: {command}")
        page.locator(".quick-input-list").get_by_text(f"servelint: {command}").first.wait_for()
        page.keyboard.press("Enter")
        shown.filter(has_text=expected.replace(" ", "\N{NO-BREAK SPACE}")).first.wait_for()
        seen(command.lower().replace(" ", "-"), f"shows {expected}")


def lens(page: Page, seen: Seen) -> None:
    page.locator(".codelens-decoration a").get_by_text("vLLM 0.27.1").click()
    page.locator(".tab.active").get_by_text("Memory plan").first.wait_for()
    seen("lens", "leads to the memory plan")


def place(page: Page) -> tuple[float, float]:
    """The middle of what is underlined as an error."""
    box = page.locator(".squiggly-error").first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


if __name__ == "__main__":
    sys.exit(main())
