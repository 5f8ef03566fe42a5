"""Build hooks: what a check loads, compiled from rules and catalogs, and the README as the package index shows it."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Links and pictures of the README lead into the repository at the release: the package index has only the text."""

    def update(self, metadata: dict[str, Any]) -> None:
        with open(os.path.join(self.root, "README.md"), encoding="utf-8") as file:
            text = file.read()
        base = f"{metadata['urls']['Repository']}/%s/v{metadata['version']}/"
        text = re.sub(r'(!\[[^\]]*\]\(|src=")(?!https?:)', lambda found: found[0] + base % "raw", text)
        text = re.sub(r"(?<=\]\()(?!https?:|#)", base % "blob", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class RuleBook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        source = os.path.join(self.root, "src")
        sys.path.insert(0, source)
        try:
            from servelint.engines import ENGINE_NAMES
            from servelint.engines.catalog import SUFFIX, compile_all
            from servelint.rules.compile import write_book
        finally:
            sys.path.remove(source)
        book = os.path.join(source, "servelint", "rules", "book.json")
        write_book(os.path.join(self.root, "rules"), book)
        compile_all(os.path.join(source, "servelint", "engines", "data"), list(ENGINE_NAMES))
        if version == "editable":
            build_data["force_include_editable"] = {}
        else:
            build_data["artifacts"] += ["src/servelint/rules/book.json", f"src/servelint/engines/data/*{SUFFIX}"]
