"""A report with something of everything, and the schemas that it is compared with."""

from __future__ import annotations

from typing import Any

from servelint.core.finding import Edit, Fix
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import Redactions
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.published import schemastore

SECRET = "sk-0123456789abcdef"


def mixed() -> Report:
    """Findings of each severity, twice the same one, awkward names and characters, fixes, and files that cannot be read."""
    _, (wide,) = marked("models/é x#1.sh", "vllm serve 'é\U00010000' --swap-space ⟦4⟧ # \U0001f600\n")
    _, (first, second) = marked("./twice.sh", "vllm serve m --swap-space ⟦4⟧\nvllm serve m --swap-space ⟦4⟧\n")
    _, (lines,) = marked("lines.sh", "vllm serve '⟦{\r\n}⟧'\r\n")
    _, (ignore,) = marked("ignore.sh", "# servelint: ignore[⟦a/b⟧]\n")
    _, (one, two) = marked("two.sh", "vllm serve m ⟦--a 1⟧ --b ⟦2⟧\n")
    _, (secret,) = marked("secret.sh", f"vllm serve m ⟦--api-key {SECRET}⟧\n")
    secret.source.redactions = Redactions((SECRET,))
    delete = Fix("delete --swap-space", True, [Edit(wide, "")])
    both = Fix("two edits", False, [Edit(two, "3"), Edit(one, "--c 'é'")])
    found = report(
        documented(),
        finding(wide, rule="vllm/removed-option", message='a "quoted" <message> & [a](b) {c} \x1b[31m', fix=delete),
        finding(first, rule="vllm/removed-option", severity="warning"),
        finding(second, rule="vllm/removed-option", severity="warning"),
        finding(lines, (first, "elsewhere [1]"), rule="policy/of-ours", severity="info", evidence=[]),
        finding(ignore, launch=None, rule="servelint/unused-ignore", severity="warning", affected="", evidence=[]),
        finding(one, fix=both),
        finding(secret, rule="container/api-key-in-plain-text", fix=Fix("move", False, [Edit(secret, f"KEY={SECRET}")])),
    )
    found.errors = [Problem("a b:c.yml", "not valid YAML: \x1b 100%", 4, 7), Problem("a b:c.yml", "not valid YAML: \x1b 100%")]
    return found


def sarif_schema() -> Any:
    """SARIF 2.1.0 as SchemaStore publishes it."""
    return schemastore("https://json.schemastore.org/sarif-2.1.0.json")
