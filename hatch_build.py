"""Build hook: compiles rules/*.yaml and the catalogs into what a check loads, for wheels and for editable installs alike."""

from __future__ import annotations

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
