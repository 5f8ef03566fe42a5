"""Build the site: the documentation, and a page for every rule, option, variable and release.

    python tools/site/build.py OUT [SAMPLE]

With SAMPLE, a number, about one in so many of the pages of rules, options and releases has its text, and the others are empty:
enough to try the site, in half the time. The pages are written as Markdown into a temporary folder, and zensical turns
that into static files. Nothing in them is loaded from another host. The facts come from the rule book and the catalogs of the
installed servelint.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import llms
import matrix
import options
import playground
import releases
from sample import Sample

import rules

ROOT = Path(__file__).resolve().parents[2]
ASSETS = Path(__file__).parent / "assets"
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)]*)?\)")

GROUPS = {
    "Tutorial": ["tutorial"],
    "How-to guides": [
        *("ci", "gate", "editors", "mcp", "memory", "advise", "exec", "admission", "scale"),
        *("untrusted", "updates", "translate", "writing-rules", "completions"),
    ],
    "Reference": ["usage", "settings", "formats", "lsp", "api", "operands", "limits"],
    "Explanation": ["judging", "memory-plan", "models", "speculation", "performance", "costs"],
    "Contributing": ["architecture", "verdicts", "primer", "releases", "fuzzing"],
}


def documentation(target: Path) -> None:
    """Copy docs/*.md and the README; a link to a file of the repository that has no page becomes plain text."""
    names = {path.stem for path in (ROOT / "docs").glob("*.md")}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (target / "index.md").write_text(_home(_linked(readme, names, "docs/")), encoding="utf-8")
    (target / "docs").mkdir()
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = _linked(path.read_text(encoding="utf-8"), names, "")
        (target / "docs" / path.name).write_text(text, encoding="utf-8")


def _linked(text: str, names: set[str], folder: str) -> str:
    def link(match: re.Match[str]) -> str:
        path, anchor = match.group(1), match.group(2) or ""
        stem = Path(path).stem
        if path.endswith(".md") and stem in names:
            return f"]({folder}{stem}.md{anchor})"
        if path.endswith(".svg"):
            return f"](assets/{Path(path).name})"
        return f"]({anchor})" if path == "" else "]" + _PLAIN

    return _unlinked(_LINK.sub(link, text))


_PLAIN = "\ue000"


def _unlinked(text: str) -> str:
    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]" + _PLAIN, r"\1", text)


def _home(readme: str) -> str:
    """The README as the first page, with the ways into the reference below its first paragraph."""
    _, _, rest = readme.partition("\n")
    intro, _, rest = rest.strip().partition("\n\n")
    ways = [
        "",
        '<div class="ways" markdown>',
        "",
        "- [**Get started**](docs/tutorial.md) Check a file, read a finding and fix it, in ten minutes",
        "- [**Playground**](playground/index.md) Check a file in the browser",
        "- [**Check files in CI**](docs/ci.md) pre-commit, GitHub, GitLab and others",
        "- [**Rules**](rules/index.md) What is known to break, since when, with evidence",
        "- [**Options**](options/index.md) The history of every option, JSON key and environment variable of every engine",
        "- [**Paste an error**](log/index.md) Find the rule for a message from a log",
        "- [**Releases**](releases/index.md) What each release added, removed and changed",
        "- [**Compare two releases**](compare/index.md) What an upgrade adds, removes and changes",
        "- [**What works together**](matrix/index.md) Speculative decoding, KV cache formats, attention backends",
        "",
        "</div>",
        "",
    ]
    return "---\nhide: [navigation]\n---\n\n# servelint\n\n" + intro + "\n" + "\n".join(ways) + rest


def configuration(docs: Path) -> str:
    """zensical's settings."""
    nav = ["  - Home: index.md", "  - Rules: rules/index.md", "  - Options: options/index.md"]
    nav += ["  - Releases:", "      - releases/index.md", "      - Compare: compare/index.md", "  - Matrix: matrix/index.md"]
    nav += ["  - Playground: playground/index.md"]
    nav += ["  - Paste an error: log/index.md", "  - Documentation:"]
    for title, names in GROUPS.items():
        nav += [
            f"      - {title}:",
            *[f"          - docs/{name}.md" for name in names if (docs / "docs" / f"{name}.md").exists()],
        ]
    lines = [
        "site_name: servelint",
        "site_description: A linter for the files that launch LLM inference servers",
        "docs_dir: docs",
        "site_dir: site",
        "use_directory_urls: true",
        "theme:",
        "  name: material",
        "  font: false",
        "  logo: assets/logo.svg",
        "  favicon: assets/logo.svg",
        "  features: [navigation.tabs, navigation.top, search.highlight, content.code.copy, toc.follow]",
        "  palette:",
        *[
            f"    - {{media: '(prefers-color-scheme: {one})', scheme: {scheme}, "
            f"toggle: {{icon: lucide/{icon}, name: {other}}}}}"
            for one, scheme, icon, other in (("light", "default", "sun", "Dark"), ("dark", "slate", "moon", "Light"))
        ],
        "extra_css: [assets/site.css]",
        "extra_javascript: [assets/site.js]",
        "markdown_extensions: [attr_list, md_in_html, tables, admonition, toc, pymdownx.superfences, pymdownx.highlight]",
        "nav:",
        *nav,
    ]
    return "\n".join(lines) + "\n"


def _shorten_index(path: Path) -> None:
    """Take out of the search what repeats on thousands of pages: the index is loaded before the first search."""
    index = json.loads(path.read_text(encoding="utf-8"))
    index["items"] = [one for one in index["items"] if not _repeats(one["location"])]
    path.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")


def _repeats(location: str) -> bool:
    page, _, section = location.partition("#")
    kept = {"rules": ("", "why", "what-to-write-instead"), "options": ("",), "releases": ("",)}
    return section not in kept.get(page.partition("/")[0], (section,))


def main(argv: list[str]) -> int:
    """Build the site into a folder; return the exit status."""
    if len(argv) not in (1, 2) or not all(one.isdecimal() and int(one) for one in argv[1:]):
        print("usage: build.py OUT [SAMPLE]", file=sys.stderr)
        return 2
    out = Path(argv[0]).resolve()
    with tempfile.TemporaryDirectory(prefix="site-") as folder, ThreadPoolExecutor(1) as pool:
        work = Path(folder)
        docs = work / "docs"
        docs.mkdir()
        loaded = pool.submit(playground.write, docs, work)
        documentation(docs)
        book = rules.load()
        sample = Sample(docs, int(argv[1]) if argv[1:] else 1)
        rules.write(sample, book)
        options.write(sample, book)
        releases.write(sample, book)
        matrix.write(sample)
        loaded.result()
        shutil.copytree(ASSETS, docs / "assets", dirs_exist_ok=True)
        for picture in (ROOT / "docs").glob("*.svg"):
            shutil.copy(picture, docs / "assets")
        (work / "mkdocs.yml").write_text(configuration(docs), encoding="utf-8")
        built = subprocess.run([sys.executable, "-m", "zensical", "build", "-f", "mkdocs.yml"], cwd=work, check=False)
        if built.returncode:
            return built.returncode
        if out.exists():
            shutil.rmtree(out)
        _shorten_index(work / "site" / "search.json")
        shutil.copytree(work / "site", out)
        for page in sample.left:
            (out / page).mkdir(parents=True)
            (out / page / "index.html").write_text("<!doctype html><title>not in this sample</title>\n", encoding="utf-8")
        llms.write(ROOT, out, GROUPS)
    print(f"{len(list(out.rglob('*.html')))} pages in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
