"""Shell scripts that a command runs: `bash -c`, files, standard input, and whole scripts."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.readers.place import Place, span_of


def shell(words: list[Word], place: Place, depth: int) -> list[Launch]:
    """`bash -c SCRIPT NAME ARGS...`, `bash FILE ARGS...`, or a script on its standard input."""
    at = 1
    script: Word | None = None
    while at < len(words):
        flat = words[at].text.flat
        if flat in ("-o", "+o", "--rcfile", "--init-file"):
            at += 2
        elif re.fullmatch(r"[-+][A-Za-z]+", flat):
            if "c" in flat and flat[0] == "-":
                if flat.endswith("o"):
                    at += 1  # `-euo pipefail -c` written as one: the option's name comes first
                while at + 1 < len(words) and re.fullmatch(r"[-+][A-Za-z]+|--", words[at + 1].text.flat):
                    at += 1
                script = words[at + 1] if at + 1 < len(words) else None
                break
            at += 2 if flat.endswith("o") else 1
        elif flat.startswith("--"):
            at += 1
        else:
            break
    if script is not None:
        return script_launches(script.text, _no_file(place), words[at + 2 :], depth + 1)
    if at < len(words):
        return script_file(words[at], words[at + 1 :], place, depth)
    return script_launches(place.stdin, _no_file(place), words[:1], depth + 1) if place.stdin is not None else []


def script_file(path: Word, args: list[Word], place: Place, depth: int) -> list[Launch]:
    """A shell script that a command runs: one that is written here, or one beside the file that is given arguments.

    What a script beside the file starts without arguments is told where that script is read.
    """
    opened = place.open(path.text) if place.open is not None else None
    if opened is None:
        return []
    from servelint.syntax.shell.state import is_shell

    if not is_shell(path.text.flat, opened.text.flat):
        return []
    if not opened.own and all(word.many for word in args):
        return []
    folder = opened.path.rpartition("/")[0]
    opener = opened.files
    below = (lambda name: opener(f"{folder}/{name}")) if opener is not None else None
    # a script that is written here stands here
    extent = opened.text.extent()
    here = opened.own and extent is not None and extent.source is place.source
    site = None if here else place.site or span_of([path, *args])
    place.ran.append(opened.text)
    inner = place.with_(site=site, env=place.env)
    inner.files, inner.stdin = below, None
    return script_launches(opened.text, inner, [path, *args], depth + 1, site)


def _no_file(place: Place) -> Place:
    """A place for a script that is no file."""
    inner = place.with_(site=place.site, env=place.env)
    inner.files = None
    return inner


def script_launches(
    text: Text, place: Place, args: list[Word] | None, depth: int = 0, site: Span | None = None
) -> list[Launch]:
    """The launches of a shell script, the first of each place first.

    args: `$0` and what follows; None if not known.  site: what stands for the commands of a script in another file
    """
    from servelint.readers import installs
    from servelint.readers.commands import UNHEARD, launches
    from servelint.syntax.shell.evaluate import Budget, Invocation, evaluate

    found: list[Launch] = []
    seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
    outside = place.open
    environment = {name: variable.value for name, variable in place.env.items() if variable.value is not None}

    def on_command(ran: Invocation) -> dict[str, ReleaseClaim]:
        if len(found) > bounds.LAUNCHES.most:
            return {}  # the reading says so
        installed = installs.claims(ran.words)
        if installed or ran.sourced:
            return installed
        env = dict(place.env)
        # in the order of the script: what is exported is a set, whose order is another in each process
        for name, value in sorted(ran.env.items(), key=lambda item: (_start(item[1]), item[0])):
            if name not in env or env[name].value is not value:
                env[name] = Variable(name, value, value.span() or ran.site)
        # what was installed here counts here, not in a container that is started from here
        found_here = {**place.claims, **ran.installed}
        here = place.with_(site=site, env=env, claims=found_here, open_env=place.open_env or ran.open_env)
        here.anchor = ran.site if ran.site.source is place.source else place.anchor
        here.stdin = ran.stdin
        here.open = lambda path: ran.open(path) or (outside(path) if outside is not None else None)
        for launch in launches(ran.words, here, depth):
            launch.likely = ran.likely
            launch.cut = launch.cut or ran.lost
            key = (ran.site.start, ran.site.end, launch.engine, tuple([word.shown for word in launch.argv]))
            if key not in seen:
                seen.add(key)
                found.append(launch)
        return {}

    budget, place.budget = place.budget, place.budget or Budget()
    scripts = evaluate(
        text,
        on_command,
        environment=environment,
        args=args,
        files=place.files,
        here=outside,
        budget=budget,
        unheard=UNHEARD,
    )
    for script in scripts:
        if not any(script is one for one in place.ran) and not bounds.SCRIPTS.passed(depth + 1, script):
            # nothing here runs it: whoever does may set anything
            found += script_launches(script, Place(place.source, place.name, open_env=True), None, depth + 1)
    return found


def _start(text: Text) -> int:
    span = text.span()
    return span.start if span is not None else -1
