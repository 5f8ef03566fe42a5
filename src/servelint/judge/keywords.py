"""Texts of findings about an engine that Python code makes: keyword arguments in place of options.

Rules and violations name options as a command writes them, `--kv-cache-dtype fp8`. A class has them as keyword arguments,
`kv_cache_dtype="fp8"`. Every text of a finding passes through `reworded`, so that no rule has to know of the two.
"""

from __future__ import annotations

import re

from servelint.core.finding import Finding, Related
from servelint.engines.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.catalog import Option
    from servelint.engines.registry import Launcher

_OPTION = re.compile(
    r"(?<![\w-])--(?P<off>no-)?(?P<name>[a-z][a-z0-9_-]*[a-z0-9])(?:(?:[ ]|=)(?P<value>'\{[^']*\}'|-?\d[\d.]*(?<!\.)(?![\w-])"
    r"|[A-Z][A-Z_]+(?!\w)|[\w./:@-]*\w))?"
)
_SURE = re.compile(r"'\{[^']*\}'|-?\d[\d.]*|[A-Z][A-Z_]+")
"""A value by itself; any other word behind an option may be one of the sentence."""
_SETS = re.compile(r"\b(?:write|add|use|set|with|give|or|and) $")
"""What stands before an option that is to be given."""


def reword(findings: list[Finding], config: Config) -> None:
    """Write the texts of findings for a launch whose options are keyword arguments; nothing for any other."""
    made = config.made
    if made is None:
        return
    for finding in findings:
        finding.message, finding.label = reworded(finding.message, config, made), reworded(finding.label, config, made)
        finding.advice = reworded(finding.advice, config, made)
        finding.related = [Related(one.span, reworded(one.message, config, made)) for one in finding.related]
        if finding.fix is not None:
            finding.fix.title = reworded(finding.fix.title, config, made)


def reworded(text: str, config: Config, made: Launcher) -> str:
    """A text with keyword arguments for options.

    `--seed` is `seed`, `--seed 1` is `seed=1`, `--no-enable-lora` is `enable_lora=False`, `write --enable-lora` is
    `write enable_lora=True`.
    """

    def argument(match: re.Match[str]) -> str:
        name, value, off = match["name"], match["value"], match["off"] is not None
        option = _option(config, f"--{name}")
        if option is None and off:
            return match.group()
        field = _field(name, option, made)
        end = "" if value is None else match.group()[match.start("value") - match.start() - 1 :]
        if off:
            return f"{field}=False{end}"
        if value is not None and _is_value(name, value, option, config):
            return f"{field}={_written(value)}"
        gives = option is not None and not option.takes_value and _SETS.search(text[: match.start()]) is not None
        return f"{field}=True{end}" if gives else field + end

    return _OPTION.sub(argument, text)


def _option(config: Config, spelling: str) -> Option | None:
    """An option as the release declares it, or else the newest release that has it."""
    if config.catalog is None:
        return None
    found = config.catalog.table(config.index).find(spelling) if config.index is not None else None
    if found is not None:
        return found
    runs = config.catalog.spelled(spelling)
    return runs[-1][2] if runs else None


def _field(name: str, option: Option | None, made: Launcher) -> str:
    """The keyword argument of an option: of its names, one that the class has."""
    names = [one[2:] for one in option.names if one.startswith("--")] if option is not None and name in made.lacks else []
    return next((one for one in names if one not in made.lacks), name).replace("-", "_")


def _is_value(name: str, value: str, option: Option | None, config: Config) -> bool:
    """Whether the word behind an option is its value, not the next one of a sentence."""
    if option is not None and not option.takes_value:
        return False
    if _SURE.fullmatch(value) is not None:
        return True
    given = config.setting(option.name if option is not None else name)
    known = {given.value.shown} if given is not None and given.value is not None else set()
    return value in known or (option is not None and value in map(str, option.choices or ()))


def _written(value: str) -> str:
    """A value as Python writes it."""
    if value.startswith("'"):
        return value[1:-1]
    return value if _SURE.fullmatch(value) is not None else f'"{value}"'
