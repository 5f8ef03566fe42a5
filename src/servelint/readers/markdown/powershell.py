"""PowerShell as pages show it: plain commands, told in the words of a POSIX shell.

A backtick at a line's end goes on, `&` calls, `$env:A = "b"` exports, a backslash is a character of a path.
"""

from __future__ import annotations

import re

from servelint.core.text import Text

_PARTS = re.compile(
    r"(?P<assign>^[ \t]*\$(?P<scope>env:)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?=[\"'\w]))"
    r"|(?P<call>^[ \t]*&[ \t]+)"
    r"|(?P<program>^[ \t]*(?P<path>[\w.:-]*(?:\\[\w.:-]+)+)(?=\s|$))"
    r"|(?P<single>'[^'\n]*')"
    r"|(?P<more>(?<=[ \t])`[ \t]*(?=\r?\n))"
    r"|(?P<escape>`.)"
    r"|(?P<variable>\$(?:env:(?P<plain>\w+)|\{env:(?P<braced>\w+)\}))"
    r"|(?P<backslash>\\)",
    re.MULTILINE | re.IGNORECASE,
)


def as_shell(text: Text) -> Text:
    """The script as a shell reads it, each character with its place."""
    parts: list[Text] = []
    done = 0
    at = 0
    while (match := _PARTS.search(text.flat, at)) is not None:
        said = _said(match)
        at = match.end()
        if match["call"] is not None:
            # what is called may be a path
            path = re.compile(r"[\"']?[\w.:-]*(?:\\[\w.:-]+)+[\"']?(?=\s|$)").match(text.flat, at)
            parts += [text.cut(done, match.start())]
            done = at
            if path is not None:
                parts.append(Text.of(path.group().replace("\\", "/"), text.span(*path.span())))
                done = at = path.end()
        elif said is not None:
            parts += [text.cut(done, match.start()), Text.of(said, text.span(*match.span()))]
            done = at
    return Text.join([*parts, text.cut(done)])


def _said(match: re.Match[str]) -> str | None:
    """What stands for a part in a shell; None for one that is the same."""
    if match["assign"] is not None:
        return f"export {match['name']}=" if match["scope"] else f"{match['name']}="
    if match["program"] is not None:
        return match["program"].replace("\\", "/")
    if match["more"] is not None:
        return "\\"
    if match["escape"] is not None:
        return "\\" + match["escape"][1]
    if match["variable"] is not None:
        return "${" + (match["plain"] or match["braced"]) + "}"
    return "\\\\" if match["backslash"] is not None else None
