"""The playground: servelint in the browser. Pyodide, tree-sitter and CodeMirror come from npm, servelint from this checkout."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "playground"
_PACKAGES = ("ruamel.yaml", "packaging", "pathspec")
_KINDS = [
    "compose.yml",
    "manifest.yaml",
    "values.yaml",
    "run.sh",
    "Dockerfile",
    "vllm.service",
    "speculative-config.json",
    "workflow.yml",
]
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json")
_UNUSED = re.compile(r"servelint/(rules/book/(?!coverage).*\.yaml|schemas/.*)|.*\.dist-info/(?!METADATA).*")
"""What a check does not read: the sources of what the wheel has compiled, and the schemas. The folder of the rules stays."""
_EXAMPLES = [
    ("compose.yml", "TurboQuant with speculative decoding", "examples/broken/turboquant.yml"),
    ("run.sh", "prefix caching with MTP", "examples/broken/prefix-caching-mtp.sh"),
    ("run.sh", "SGLang with MTP", "examples/broken/sglang-mtp.sh"),
]

_PAGE = """\
---
hide: [toc, navigation]
---

# Playground

Paste a file and see what servelint reports while you type. servelint runs in this page, and the text never leaves it.
The address of the page holds the text: copy the address to share it.

<form class="filters" id="playground-form">
<label>File <select name="kind">{kinds}</select></label>
<label>Example <select name="example"><option value="">choose</option>{examples}</select></label>
<label>Engine <select name="engine"></select></label>
<label>Version <select name="version"></select></label>
<label>GPU <select name="gpu"></select></label>
<label>Number of GPUs <input name="gpu_count" type="number" min="1" max="1024" size="4"></label>
<label>Profile <select name="profile"><option>default</option><option>strict</option></select></label>
</form>
<p id="playground-state" role="status">Loading Python and servelint: about 20 MB, which the browser keeps for the next visit</p>
<div id="playground-editor"></div>
<h2>Findings</h2>
<ol id="playground-findings" class="playground-findings"></ol>
<h2>Launches</h2>
<ul id="playground-launches"></ul>
<h2>Memory</h2>
<pre id="playground-memory" tabindex="0"></pre>
<script type="application/json" id="data-examples">{data}</script>
<script type="module" src="main.js" data-playground></script>
"""


def write(docs: Path, work: Path) -> None:
    """Write the page and all that it loads into docs/playground; npm and pip work in another folder.

    Raises:
        subprocess.CalledProcessError: npm or pip failed.
    """
    out = docs / "playground"
    out.mkdir()
    npm = work / "npm"
    shutil.copytree(HERE, npm, ignore=shutil.ignore_patterns("node_modules"))
    quiet = ["--silent", "--no-audit", "--no-fund"]
    subprocess.run(["npm", "ci" if (npm / "package-lock.json").exists() else "install", *quiet], cwd=npm, check=True)
    for name in ("main", "worker"):
        command = ["npx", "esbuild", f"{name}.mjs", "--bundle", "--minify", "--format=esm", f"--outfile={out / name}.js"]
        outside = ["--external:module", "--external:fs/promises", "--external:node:*"]
        subprocess.run([*command, *outside, "--log-level=error"], cwd=npm, check=True)
    modules = npm / "node_modules"
    (out / "pyodide").mkdir()
    for name in _PYODIDE:
        shutil.copy(modules / "pyodide" / name, out / "pyodide" / name)
    shutil.copy(modules / "web-tree-sitter" / "web-tree-sitter.wasm", out)
    shutil.copy(modules / "tree-sitter-bash" / "tree-sitter-bash.wasm", out)
    shutil.copy(npm / "judge.py", out)
    _python(work / "python.zip", work / "wheels")
    library = out / "pyodide" / "python_stdlib.zip"
    subprocess.run(["node", "pack.mjs", str(work / "python.zip"), str(out / "python.zip"), str(library)], cwd=npm, check=True)
    digest = hashlib.sha256()
    for path in sorted(out.rglob("*")):
        digest.update(path.read_bytes() if path.is_file() else b"")
    worker = (npm / "sw.js").read_text(encoding="utf-8").replace("BUILD", digest.hexdigest()[:16])
    (out / "sw.js").write_text(worker, encoding="utf-8")
    (out / "index.md").write_text(_page(), encoding="utf-8")


def _python(target: Path, wheels: Path) -> None:
    """servelint's wheel and what a check needs of its dependencies, unpacked into one archive."""
    wheels.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)], check=True)
    pure = ["--only-binary=:all:", "--platform=any", "--python-version=3.14", "--implementation=py", "--abi=none"]
    subprocess.run([*pip, "download", "-q", "--no-deps", *pure, "-d", str(wheels), *_PACKAGES], check=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as whole:
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as one:
                names = one.namelist()
                compiled = {name.removesuffix(".catalog") + ".json" for name in names if name.endswith(".catalog")}
                for name in names:
                    if name not in compiled and not _UNUSED.fullmatch(name):
                        whole.writestr(name, one.read(name))


def _page() -> str:
    found = {f"{kind}|{title}": (ROOT / path).read_text(encoding="utf-8") for kind, title, path in _EXAMPLES}
    kinds = "".join([f"<option>{kind}</option>" for kind in _KINDS])
    examples = "".join([f'<option value="{html.escape(key)}">{html.escape(key.partition("|")[2])}</option>' for key in found])
    data = json.dumps(found).replace("</", "<\\/")
    return _PAGE.replace("{kinds}", kinds).replace("{examples}", examples).replace("{data}", data)
