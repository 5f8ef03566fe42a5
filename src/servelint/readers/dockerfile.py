"""Dockerfiles as launches: what the image starts that a file makes, with the variables, the release and the files in it."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from servelint.core import bounds
from servelint.core.launch import Container, Launch, Mishap, OpenedFile, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText, unknown
from servelint.engines import ENGINES, entry
from servelint.files.siblings import Neighbours
from servelint.readers.commands import launches, not_started
from servelint.readers.containers import by_a_script, in_container
from servelint.readers.context import CommandContext
from servelint.readers.dockerfile_stages import Command, Stage, Step, array, earlier, expand, option, replace, stages, words
from servelint.readers.registry import Format

FORMAT = Format(
    "dockerfile",
    140,
    title="Dockerfile",
    about="stages, `ARG`, `ENV`, both forms of `ENTRYPOINT` and `CMD`, heredocs, scripts that are copied in",
    files=("{,*[._-]}{Docker,Container}file{,[._-]*}",),
    shape=r"(?i)\A(?:\s|#[^\n]*\n|ARG[ \t][^\n]*\n)*FROM[ \t]+\S",
    languages=("dockerfile",),
)

_INITS = frozenset(("tini", "dumb-init", "catatonit", "docker-init"))
_PROGRAM = re.compile(
    r"python[\d.]*|.*\.(?:py|sh|bash)|uvicorn|gunicorn|fastapi|supervisord|nginx|node|npm|ray|jupyter(?:-lab)?|sleep|tail"
)
"""What a command starts rather than gives to an engine, whatever entry point its author took the base image to have."""


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """The launches of the images that a Dockerfile makes: of its last stage, and of other targets that start something else."""
    found = stages(TracedText.at(source, 0, len(source.text)))
    _require(found, neighbours)
    used = {one.parent.number for one in found if one.parent is not None} | {number for one in found for number in one.copies}
    started: list[Launch] = []
    seen: set[tuple[int, int]] = set()
    for one in reversed(found):
        if one is not found[-1] and one.number in used:
            continue
        if (site := _site(one)) is not None and (site.start, site.end) not in seen:
            seen.add((site.start, site.end))
            started[:0] = _started(one, site, found, source, neighbours, "" if one is found[-1] else one.name)
    return started or (_supervised(found[-1], source) or _not_run(found[-1], source) if found else [])


_REQUIRES = re.compile(r"(?<!\S)(?:-r|--requirements?)(?:[ \t]+|=)(?P<path>[^\s;&|'\"]+)")


def _require(stages: list[Stage], neighbours: Neighbours) -> None:
    """Note the releases in the files of requirements that the stages install, where their steps name none."""
    from servelint.readers import prepared

    for stage in stages:
        named = dict(stage.parent.claims) if stage.parent is not None else {}
        for step in stage.steps:
            raw = step.instruction.raw
            if step.instruction.keyword != "RUN" or "install" not in raw.flat:
                continue
            for match in _REQUIRES.finditer(raw.flat):
                path = replace(raw.cut(*match.span("path")), step.values.get)
                opened = open_file(stage, stages, path, neighbours)
                named.update(prepared.of_requirements(opened.text) if opened is not None else {})
        for engine, claim in named.items():
            if (known := stage.claims.get(engine)) is None or (known.release is None and known.how is None):
                stage.claims[engine] = claim


def _supervised(stage: Stage, source: Source) -> list[Launch]:
    """The launches of the programs of supervisord, where the image starts it and a step writes its file."""
    from servelint.readers import embedded
    from servelint.syntax.shell.evaluate import evaluate

    words = [*(stage.entrypoint.words if stage.entrypoint else ()), *(stage.cmd.words if stage.cmd else ())]
    if not any(re.search(r"(?:^|[/\s])supervisord(?:\s|$)", word.text.flat) for word in words):
        return []
    written: dict[str, TracedText] = {}

    def wrote(path: TracedText, text: TracedText, _: TracedText | None = None) -> None:
        written[path.flat] = text

    for step in stage.steps:
        instruction = step.instruction
        if instruction.keyword == "RUN":
            if entry.mentions(instruction.raw.flat):
                evaluate(instruction.raw, lambda _: {}, wrote=wrote)
            continue
        target = (instruction.text.flat.split() or [""])[-1]
        for one in instruction.heredocs:
            wrote(TracedText.of(one.name if target.endswith("/") else target), one.text)
    found = [launch for path, text in written.items() for launch in embedded.of_written(posixpath.basename(path), text, source)]
    for launch in found:
        launch.container = Container(None if _builds(stage) else stage.reference, open=True)
        launch.env = {**stage.env, **launch.env}
        launch.release = stage.claims.get(launch.engine, launch.release)
    return found


def _not_run(stage: Stage, source: Source) -> list[Launch]:
    """The launches of the scripts that the last stage writes, where nothing in the file starts an engine."""
    from servelint.readers.commands import script_launches
    from servelint.syntax.shell.evaluate import evaluate

    scripts: list[TracedText] = []
    for step in stage.steps:
        instruction = step.instruction
        if not entry.mentions(instruction.raw.flat) and not any(entry.mentions(one.text.flat) for one in instruction.heredocs):
            continue
        if instruction.keyword == "RUN" and not instruction.heredocs:
            scripts += evaluate(instruction.raw, lambda _: {})
        elif instruction.keyword in ("COPY", "ADD"):
            target = (instruction.text.flat.split() or [""])[-1]
            scripts += [one.text for one in instruction.heredocs if target.endswith((".sh", ".bash"))]
    found: list[Launch] = []
    for script in scripts:
        container = Container(stage.reference, open=True)
        for launch in script_launches(script, CommandContext(source, "", None, {}, container, dict(stage.claims)), None):
            launch.mishaps = [Mishap("not-run", launch.site, launch.site.text)]
            launch.fragment, launch.started = True, False
            found.append(launch)
    return found


def _site(one: Stage) -> Span | None:
    """From the instruction that names the program to the end of what is started; None where the file starts nothing."""
    commands = [command for command in (one.entrypoint, one.cmd) if command is not None and command.words]
    given = [command.site for command in commands if command.site is not None]
    if not commands and one.origin.command and one.reference is not None:
        return one.reference.extent()  # the image below starts its server by itself
    if not given or any(command.cut for command in commands):
        return None
    return Span(given[0].source, given[0].start, max(site.end for site in given))


def _started(
    one: Stage, site: Span, all_stages: list[Stage], source: Source, neighbours: Neighbours, name: str
) -> list[Launch]:
    entrypoint, cmd = one.entrypoint, one.cmd
    command = cmd.words if cmd is not None else []
    if entrypoint is not None and entrypoint.exec and entrypoint.words and not command:
        command = [_arguments(entrypoint)]

    def opened(path: TracedText) -> OpenedFile | None:

        return open_file(one, all_stages, path, neighbours)

    # an engine that is installed here is not the build of the image below
    installed = one.origin.engine is None and (one.image.engine is not None or _builds(one))
    container = Container(None if installed else one.reference, open=True)
    context = CommandContext(source, name, site, dict(one.env), container, dict(one.claims), open=opened)
    if entrypoint is None:
        program = entry.program(command[0]) if command else None
        if program is not None and _PROGRAM.fullmatch(program):
            return launches(_under_own_name(one, command), context)
        return _not_json(cmd, context, one) or in_container(None, _under_own_name(one, command), one.origin, context)
    words = _under_own_name(one, _unwrapped([*entrypoint.words, *command]))
    found = in_container(words, [], one.origin, context)
    found = found or _not_json(entrypoint, context, one)
    if not any(launch.started for launch in found) and cmd is not None and _passes_on(entrypoint):
        found = launches(command, context)
    return found or by_a_script(entrypoint.words, command, one.origin, context)


_BUILDS = re.compile(r"\binstall\b|\bclone\b|\bsync\b|setup\.py|\bcmake\b|\bmake\b")
_COPIES = re.compile(r"\b(?:cp|mv|ln)[ \t]+(?:-\S+[ \t]+)*(?P<source>/\S+\.py)[ \t]+(?P<target>\S+)")


def _builds(one: Stage) -> bool:
    """Whether an image that is built on one without an engine installs what it starts."""
    if one.copies or any(step.instruction.keyword == "RUN" and _BUILDS.search(step.instruction.raw.flat) for step in one.steps):
        return True
    return one.parent is not None and _builds(one.parent)


def _under_own_name(one: Stage, given: list[Word]) -> list[Word]:
    """Words with the path of an engine's own script where they name a copy of it: `RUN cp .../api_server.py /srv/run.py`."""
    names: dict[str, str] = {}
    for step in one.steps if any(word.text.flat.endswith(".py") for word in given) else ():
        run = step.instruction.raw.flat if step.instruction.keyword == "RUN" else ""
        for match in _COPIES.finditer(run):
            source, target = match.group("source", "target")
            if entry.find([Word(TracedText.of("python")), Word(TracedText.of(source))]) is None:
                continue
            folder = "" if target.endswith(".py") else posixpath.basename(source)
            names[posixpath.normpath(posixpath.join(step.folder, target, folder))] = source
    own = [names.get(posixpath.normpath(posixpath.join(one.folder, word.text.flat))) for word in given]
    return [
        Word(TracedText.of(path, word.text.span()), word.site) if path is not None else word
        for word, path in zip(given, own, strict=True)
    ]


_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def _not_json(command: Command | None, context: CommandContext, stage: Stage) -> list[Launch]:
    """The launch that a command means which Docker hands to a shell, and the shell to the entrypoint of an engine's image.

    It is a list that is not JSON, with single quotes, or with a comma that is missing or too many; or it is not a list.
    """
    if command is None or command.exec or command.site is None:
        return []
    start = command.site.text.find("[")
    if (engine := stage.origin.engine) is not None and stage.entrypoint is None and stage.origin.entrypoint:
        # https://docs.docker.com/reference/dockerfile/#understand-how-cmd-and-entrypoint-interact
        keyword = re.match(r"(?i)\s*(?:CMD\s+)?", command.site.text)
        text = TracedText.at(command.site.source, command.site.start + (keyword.end() if keyword else 0), command.site.end)
        options = re.match(r"--?[A-Za-z]", text.flat) is not None
        meant = TracedText.join((TracedText.of(" ".join(ENGINES[engine].command) + " "), text)) if options else text
        found = not_started("shell-form", Word(text, text.span()), meant, context, 0) if text.flat[:1] != "[" else []
        if found or options:
            return found
    if start == -1 or command.site.text[:start].strip().upper() not in ("", "CMD", "ENTRYPOINT"):
        return []
    text = TracedText.at(command.site.source, command.site.start + start, command.site.end)
    unclosed = "]" not in text.flat and re.match(r"\[\s*[\"'][\s\S]*[\"'\w]\s*$", text.flat) is not None
    if not (unclosed or text.flat.rstrip().endswith("]")) or not (stage.origin.engine is not None or entry.mentions(text.flat)):
        return []
    words = [Word(text.cut(*match.span(match.lastindex or 0))) for match in _QUOTED.finditer(text.flat)]
    if stage.origin.engine is not None and not entry.mentions(text.flat):  # arguments of the image's own server
        words = [*(Word(TracedText.of(one)) for one in ENGINES[stage.origin.engine].command), *words] if words else []
    return not_started("not-json", Word(text, text.span()), words, context, 0) if words else []


def _arguments(entrypoint: Command) -> Word:
    """What the image is given when it is run: an entry point without a command waits for it."""
    return Word(TracedText((unknown('"$@"', entrypoint.site, shown=""),)), entrypoint.site, many=True)


def _unwrapped(words: list[Word]) -> list[Word]:
    """The words behind an init process: `tini -g -- /start.sh`."""
    at = 0
    while at < len(words) and entry.program(words[at]) in _INITS:
        at += 1
        while at < len(words) and words[at].text.flat.startswith("-"):
            at += 1
    return words[at:] if 0 < at < len(words) else words


def _passes_on(entrypoint: Command) -> bool:
    """Whether an entry point is a script of its own that most likely ends in `exec "$@"`."""
    words = _unwrapped(entrypoint.words)
    return entrypoint.exec and len(words) == 1 and (entry.program(words[0]) or "").endswith((".sh", "entrypoint"))


_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where a program without a folder is looked for."""
_CONTEXTS = ("", "../", "../../", "../../../")
"""Where the folder that is built may start, seen from the Dockerfile."""
_WRITES = re.compile(r">|\b(?:tee|sed|perl|cp|mv|ln|install|envsubst|patch|python3?|curl|wget)\b")
_LINE_ENDS = re.compile(r"sed[ \t]+-i[ \t]+(?:-e[ \t]+)?(['\"])s/\\r(?:\\?\$)?//g?\1[^;&|\n]*")
_OWNER = re.compile(r"\bchown\b[^;&|\n]*")
_ESCAPE = re.compile(r"\\([\\nt])")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}


def open_file(stage: Stage, stages: list[Stage], path: TracedText, neighbours: Neighbours) -> OpenedFile | None:
    """The file that a path in a container of a stage's image names; None if its content is not known."""
    if path.value is None or not path.flat:
        return None
    image = _Image(stages, neighbours, path)
    # a folder that is not absolute starts at the base image's, for COPY as for the program
    folders = (*_FOLDERS, stage.folder or ".")
    for name in [path.value] if "/" in path.value else [f"{folder}/{path.value}" for folder in folders]:
        full = posixpath.normpath(posixpath.join(stage.folder, name))
        if (text := image.content(stage, full)) is not None:
            return OpenedFile(_echoed(text), full, True, lambda beside: image.source(stage, beside))
    return None


class _Image:
    def __init__(self, stages: list[Stage], neighbours: Neighbours, asked: TracedText) -> None:
        self.asked = asked
        self.stages = stages
        self.neighbours = neighbours

    def source(self, stage: Stage, path: str) -> Source | None:
        """A file of the image that is one of those beside the Dockerfile."""
        text = self.content(stage, posixpath.normpath(path))
        extent = text.extent() if text is not None else None
        return extent.source if extent is not None and text is not None and extent.source.text == text.flat else None

    def content(self, stage: Stage, path: str, depth: int = 0) -> TracedText | None:
        """The text of a file after all steps of a stage."""
        if bounds.DOCKERFILE_DEPTH.passed(depth, self.asked):
            return None
        text = self.content(stage.parent, path, depth + 1) if stage.parent is not None else None
        name = posixpath.basename(path)
        for step in stage.steps:
            if step.instruction.keyword == "RUN":
                if name in step.instruction.raw.flat and _WRITES.search(step.instruction.raw.flat):
                    text = _after_run(step, path, text)
            else:
                copied, brought = self.copied(stage, step, path, depth)
                text = brought if copied else text
        return text

    def copied(self, stage: Stage, step: Step, path: str, depth: int) -> tuple[bool, TracedText | None]:
        """Whether a COPY or ADD brings the file, and its text if that is known."""
        instruction = step.instruction
        for heredoc in instruction.heredocs:
            target = self.target(step)
            full = posixpath.join(target, heredoc.name) if target.endswith("/") else target
            if posixpath.normpath(full) == path:
                return True, replace(heredoc.text, step.values.get) if heredoc.expands else heredoc.text
        if instruction.heredocs:
            return False, None
        origin = option(instruction, "from")
        target = self.target(step)
        for pattern in self.sources(step):
            for source, sure in _sources(pattern, target, path):
                if origin is None:
                    found = self.beside(source)
                else:
                    other = earlier(self.stages[: stage.number], expand(origin, step.values.get, instruction.escape).value)
                    found = (
                        self.content(other, posixpath.normpath("/" + source.lstrip("/")), depth + 1)
                        if other is not None
                        else None
                    )
                if found is not None or sure:
                    return True, found
        return False, None

    def arguments(self, step: Step) -> list[str]:
        """The paths of a COPY as they are shown: an unknown part by its expression."""
        instruction = step.instruction
        found = words(instruction.text, instruction.escape)
        while found and found[0].flat.startswith("--"):
            found = found[1:]
        if found and found[0].flat.startswith("["):
            listed = array(instruction.text.cut(instruction.text.flat.find("[")))
            if listed is not None:
                return [expand(word.text, step.values.get, instruction.escape).shown for word in listed]
        return [expand(word, step.values.get, instruction.escape).shown for word in found]

    def sources(self, step: Step) -> list[str]:
        return [path for path in self.arguments(step)[:-1] if "://" not in path]

    def target(self, step: Step) -> str:
        """Where a COPY puts its files; a folder ends in a slash."""
        found = self.arguments(step)
        if not found:
            return ""
        target = posixpath.join(step.folder, found[-1])
        folder = found[-1].endswith("/") or found[-1] in (".", "..") or len(found) > 2
        return posixpath.normpath(target) + ("/" if folder and posixpath.normpath(target) != "/" else "")

    def beside(self, path: str) -> TracedText | None:
        """The text of a file of the folder that is built, which is the Dockerfile's own or one above it."""
        path = posixpath.normpath(path.lstrip("/"))
        if path.startswith("..") or path == ".":
            return None
        for context in _CONTEXTS:
            if (found := self.neighbours.read(context + path)) is not None:
                return TracedText.at(found, 0, len(found.text))
        return None


def _sources(pattern: str, target: str, path: str) -> list[tuple[str, bool]]:
    """What a COPY of a source to a target may make a path of, and whether it certainly brings that path."""
    name = posixpath.basename(path)
    base = posixpath.basename(pattern.rstrip("/"))
    folder = target.rstrip("/") or "/"
    if folder == path and not target.endswith("/"):
        return [(pattern, True)]
    inside = path.removeprefix(folder.rstrip("/") + "/") if folder not in ("", ".") else path.removeprefix("./")
    if inside == path and folder not in ("", "."):
        return []
    found: list[tuple[str, bool]] = []
    if inside == name and (base == name or fnmatchcase(name, base)):
        found.append((posixpath.join(posixpath.dirname(pattern), name), base == name))
    found.append((posixpath.join(pattern, inside), False))
    return found


def _after_run(step: Step, path: str, text: TracedText | None) -> TracedText | None:
    """The text of a file after a RUN that names it."""
    from servelint.syntax.shell.evaluate import Evaluator
    from servelint.syntax.shell.state import Files

    run = step.instruction.raw
    if not step.instruction.heredocs:
        for harmless in (_LINE_ENDS, _OWNER):
            run = run.sub(harmless, lambda _: TracedText.of("true "))
    elif step.instruction.text.flat.startswith("<<"):
        run = step.instruction.heredocs[0].text
    shell = Evaluator(run, lambda _: None, step.values, [Word(TracedText.of("sh"))])
    if step.folder:
        shell.state.folder = TracedText.of(step.folder if step.folder != "/" else "/.")
    name = path if path.startswith("/") else shell.key(TracedText.of(path))
    if text is not None and name is not None:
        shell.state.files = Files(None, {name: text})
    try:
        shell.visit(shell.script.root)
    except RecursionError:
        return None
    written = shell.state.files.written
    return written[name] if name is not None and name in written else text


def _echoed(text: TracedText) -> TracedText:
    """The text as the `echo` of /bin/sh prints it, which knows escapes, if its first line ends in one."""
    first = text.flat.partition("\n")[0]
    if not first.startswith("#!") or "\\n" not in first:
        return text
    return text.sub(_ESCAPE, lambda match: TracedText.of(_ESCAPES[match.group(1)], text.span(*match.span())))
