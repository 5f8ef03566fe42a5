"""Whose suppressions a check believes: those of the files under test, or those of a revision."""

from __future__ import annotations

import argparse
import os

from servelint.files import trust
from servelint.files.trust import Trust


def begin(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> None:
    """Have settings, rules, baselines and comments read as the options ask; ends with a usage error where that cannot be.

    Where the revision's own settings ask for it, that counts: those of the files under test could say otherwise.
    """
    inline = not arguments.no_inline_ignore
    wanted = arguments.trusted_suppressions
    revision = arguments.base or arguments.changed_since
    trust.use(Trust(inline=inline))
    if wanted == "base" and revision is None:
        usage.error("--trusted-suppressions base needs the revision: give --base REV, or --changed-since REV")
    if revision is None or wanted == "head":
        if arguments.base:
            usage.error("--base is for --trusted-suppressions base")
        return
    from servelint.files import git
    from servelint.files import revision as base

    try:
        found = base.of(revision)
    except git.GitError as error:
        if wanted is None and not arguments.base:
            return  # before the first commit there is none to believe; what else is wrong, the gate tells
        usage.error(f"{'--base' if arguments.base else '--changed-since'}: {error}")
    trust.use(Trust(inline=inline, base=found))
    if wanted is None and not _says_so(arguments, usage):
        trust.use(Trust(inline=inline))
        if arguments.base:
            usage.error(
                f"--base is for --trusted-suppressions base, which neither an option nor the settings of {revision} say"
            )
        return
    if arguments.command is not None or "-" in arguments.paths:
        usage.error("--trusted-suppressions base is for files")
    if arguments.write_baseline:
        usage.error("--write-baseline writes down what is in the files, and takes no --trusted-suppressions base")


def _says_so(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> bool:
    """Whether the settings that are read now ask for a base; ends with a usage error where they cannot be read."""
    from servelint.files.settings import spoken
    from servelint.files.settings.files import SettingsFiles

    faults: list[str] = []
    layer = spoken.environment(os.environ, faults)
    isolated = arguments.isolated or spoken.isolated(os.environ, faults)
    file = arguments.settings or os.environ.get(spoken.FILE_VARIABLE) or None
    asked = SettingsFiles(isolated=isolated, file=file, spoken=[layer])
    found: bool = asked.value("trusted-suppressions") == "base"
    if asked.problems and not found and arguments.base:
        usage.error(f"the settings of {arguments.base} cannot be read: {asked.problems[0]}")
    return found


def end() -> None:
    trust.use(trust.EVERYTHING)
