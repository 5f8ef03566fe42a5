"""Draw the terminal recording of the README, and the picture that links to the repository show.

    python tools/pictures.py            writes docs/recording.svg
    python tools/pictures.py --social   writes docs/social-preview.png too (1280 x 640), which needs Chromium

The recording holds what the commands print when they are run. A test draws it again and compares.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = "examples/broken/sglang-mtp.sh"
COMMANDS = (
    ["servelint", "check", "--severity", "error", EXAMPLE],
    ["servelint", "check", "--unsafe-fixes", "--diff", "--severity", "error", EXAMPLE],
)
COLOURS = {
    "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79a8ff", "36": "#76d9e6", "1": "#ffffff",
}  # fmt: skip
_CODE = re.compile(r"\x1b\[([\d;]*)m")
_WIDTH, _HEIGHT, _LEFT, _TOP = 8.0, 19, 20, 52
_TYPING = 1.2
"""Seconds between the command and the first line that it prints."""
_LINE = 0.06

_STYLE = (
    "<style>text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;"
    "fill:#d6dbe6}@media(prefers-reduced-motion:no-preference){.l{opacity:0;animation:s .01s forwards}}"
    "@keyframes s{to{opacity:1}}</style>"
)


def screen() -> list[tuple[float, str]]:
    """Run the commands; return each line with the second at which it appears, its colours as terminal codes."""
    found: list[tuple[float, str]] = []
    at = 0.4
    environ = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    for words in COMMANDS:
        found.append((at, f"\x1b[32m$\x1b[0m {' '.join(words)}"))
        at += _TYPING
        ran = subprocess.run(
            [sys.executable, "-m", *words, "--color", "always"],
            cwd=ROOT, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        for line in re.sub(r", \d+ ms\)", ")", ran.stdout.rstrip()).split("\n"):
            found.append((at, _diff_coloured(line)))
            at += _LINE
        found.append((at, ""))
        at += 1.6
    return found


def _diff_coloured(line: str) -> str:
    """Return a line of a patch in colours; any other line as it is."""
    colour = {"+": "32", "-": "31"}.get(line[:1]) if "\x1b" not in line and not line.startswith("by ") else None
    return f"\x1b[{colour}m{line}\x1b[0m" if colour else line


def _spans(line: str) -> str:
    """Return a line as text elements of SVG, a part for each colour."""
    parts: list[str] = []
    colour = ""
    for number, piece in enumerate(_CODE.split(line)):
        if number % 2:
            colour = next((COLOURS[code] for code in reversed(piece.split(";")) if code in COLOURS), "")
        elif piece:
            fill = f' fill="{colour}"' if colour else ""
            parts.append(f"<tspan{fill}>{html.escape(piece, quote=False)}</tspan>")
    return "".join(parts)


def recording(lines: list[tuple[float, str]]) -> str:
    """Return the screen as SVG; its lines appear one after the other where motion is welcome."""
    columns = max(len(_CODE.sub("", text)) for _, text in lines)
    width, height = round(columns * _WIDTH + 2 * _LEFT), _TOP + len(lines) * _HEIGHT + 8
    rows = [
        f'<text class="l" x="{_LEFT}" y="{_TOP + number * _HEIGHT}" style="animation-delay:{at:.2f}s">{_spans(text)}</text>'
        for number, (at, text) in enumerate(lines)
        if text
    ]
    spoken = html.escape(" ".join(COMMANDS[0]))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t">',
            f'<title id="t">A terminal: {spoken} prints the finding, and the next command its fix as a patch</title>',
            _STYLE,
            f'<rect width="{width}" height="{height}" rx="8" fill="#12151f"/>',
            *[
                f'<circle cx="{20 + 18 * n}" cy="18" r="5.5" fill="{c}"/>'
                for n, c in enumerate(("#ff6057", "#febc2e", "#28c840"))
            ],
            *rows,
            "</svg>",
            "",
        ]
    )


SOCIAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;width:1280px;height:640px;background:#12151f;color:#fff;
font-family:system-ui,'DejaVu Sans',sans-serif;overflow:hidden}
main{padding:112px 90px}header{display:flex;align-items:center;gap:32px}svg{width:120px}h1{font-size:92px;margin:0}
p{font-size:38px;line-height:1.35;color:#c9d1e6;margin:44px 0 40px;max-width:1050px}
pre{font:28px 'DejaVu Sans Mono',monospace;margin:0;color:#d6dbe6}
b{color:#ff7b72;font-weight:400}i{color:#ff8a70;font-style:normal}
</style><main><header>LOGO<h1>servelint</h1></header>
<p>Finds what breaks in the files that launch vLLM, SGLang and llama.cpp, before a GPU is spent.</p>
<pre>--kv-cache-dtype turboquant_k8v4
<i>                 ^^^^^^^^^^^^^^^</i> <b>falls into token loops with MTP</b></pre></main>"""


def social(target: Path) -> None:
    """Write the picture that a link to the repository shows."""
    sys.path.insert(0, str(ROOT))
    from tests.report.browser import chromium

    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 640})
        page.set_content(SOCIAL.replace("LOGO", (ROOT / "docs/logo.svg").read_text(encoding="utf-8")))
        page.screenshot(path=str(target))


def main(arguments: list[str]) -> int:
    """Write the pictures; return the exit status."""
    (ROOT / "docs/recording.svg").write_text(recording(screen()), encoding="utf-8")
    if "--social" in arguments:
        social(ROOT / "docs/social-preview.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
