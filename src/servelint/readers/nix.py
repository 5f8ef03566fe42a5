"""Nix: the scripts and commands in texts of shells, packages and units, and containers with an image and a command.

An expression is known where it names what the file binds once to a text or a number; any other one is unknown.
"""

from __future__ import annotations

import re
from typing import Any

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText, unknown
from servelint.engines import ENGINES, entry
from servelint.engines.registry import Engine
from servelint.files.siblings import Neighbours
from servelint.readers import hcl
from servelint.readers.commands import launches, script_launches
from servelint.readers.context import CommandContext, named
from servelint.readers.registry import Format
from servelint.syntax import units
from servelint.syntax.shell.recipe import joined

FORMAT = Format(
    "nix",
    194,
    title="Nix",
    about="scripts of shells, packages and units, `oci-containers`, `services.ollama` and `services.llama-cpp` with their "
    "settings, with the names that the file binds",
    files=("*.nix",),
    words=("services.llama-cpp", "llama-cpp ="),
    languages=("nix",),
)

_HOLE = r"\$\{(?:[^{}\"]|\"[^\"]*\"|\{[^{}]*\})*\}"
_TOKEN = re.compile(
    r"(?P<skip>\s+|\#[^\n]*|/\*.*?\*/)"
    rf"|''(?P<block>(?:'''|''\$|''\\.|{_HOLE}|'(?!')|[^'$]|\$(?!\{{))*)''"
    rf"|\"(?P<line>(?:\\.|{_HOLE}|[^\"\\$]|\$(?!\{{))*)\""
    r"|(?P<name>[A-Za-z_][\w'-]*(?:\.(?:[A-Za-z_][\w'-]*|\"[^\"\n]*\"))*)"
    r"|(?P<sign>[=!<>]=|[^\s])",
    re.DOTALL,
)
_BOUND = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w-]*)\s*=(?!=)(?:\s*(?:(?:(?:lib\.)?getExe'\s+[\w.-]+\s+)?"
    r"\"(?P<text>(?:[^\"\\$\n]|\$\{[^{}\"\n]*\}/bin/(?=[\w-]+\"))*)\"|(?P<number>\d+(?:\.\d+)?))\s*;)?"
)
_INSIDE = {
    "block": re.compile(rf"(?P<hole>{_HOLE})|''\\(?P<char>.)|''(?P<dollar>\$)|'(?P<quotes>'')", re.DOTALL),
    "line": re.compile(rf"(?P<hole>{_HOLE})|\\(?P<char>.)", re.DOTALL),
}
"""What is not itself in a text, in two quotes (`''`) and in double quotes."""
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_NAMED = re.compile(r"\$\{\s*(?:(?:builtins\.)?toString\s+)?(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)\s*\}")
_JOINED = re.compile(
    r"\$\{\s*(?:(?:lib|utils)\.)?(?:(?:strings\.)?(?:escapeShellArgs|concatStringsSep\s+\" \")|escapeSystemdExecArgs)"
    r"\s+(?P<name>[A-Za-z_][\w'-]*)\s*\}"
)
"""A list that a text makes words of."""
_SCRIPTS = frozenset(("ExecStart", "buildCommand", "command", "postStart", "preStart", "script", "shellHook", "text"))
"""Attributes whose text a shell or systemd runs."""
_ARGUMENTS = frozenset(("ProgramArguments", *_SCRIPTS))
"""Attributes whose list may be the words of one command."""
_JOINS = ("concatStringsSep", "escapeShellArgs", "escapeSystemdExecArgs", "ProgramArguments", "toCommandLineShell")
"""What makes one command of a list."""
_ADDED = re.compile(r"\s*\)*\s*\+(?!\+)")
"""What continues a text after its end."""
_MORE = re.compile(r"\s*\)*\s*\+\+")
_PACKAGES = "|".join(one.id for one in ENGINES.values() if one.command[0] == one.id)
_PROGRAM = re.compile(
    rf"\$\{{\s*(?:lib\.)?(?:getExe'\s+\S+\s+\"(?P<program>[^\"]+)\"|getExe\s+(?:[\w.-]+\.)?(?P<package>{_PACKAGES}))\s*\}}"
)
"""The path of a package's program."""
_NAMES_PROGRAM = re.compile(r"\(\s*(?:lib\.)?getExe'")
_WRITERS = frozenset(("writeShellScript", "writeShellScriptBin", "writeScript", "writeScriptBin", "writers.writeBash"))
_MODULES = {one.nixos_service: one for one in ENGINES.values() if one.nixos_service}
_PART = r"(?:[\w'-]+|\"[^\"]*\")"
_SERVICE = re.compile(
    rf"(?<!systemd\.)(?<!options\.)\bservices\.(?P<name>{'|'.join(map(re.escape, _MODULES))})"
    rf"(?:\.instances\.(?P<instance>{_PART}))?\.(?P<option>{_PART}(?:\.{_PART})*)$"
)
"""An option of a service that a module of NixOS or Home Manager starts, or of one of its instances."""
_PARTS = re.compile(r"\"([^\"]*)\"|([^.\"]+)")
_SETTINGS = ("settings", "modelsPreset")
"""Options of a service that are sets: the options of its program, and those of each model."""
_OF_MODULE = frozenset(("enable", "package", "openFirewall", "extraFlags", "user", "group", *_SETTINGS))
"""Options of the service of which its module makes no argument of their own."""
_PLAIN = re.compile(r"(true|false|null|-?\d+(?:\.\d+)?)\s*\)*\s*\Z")
_PRIORITY = r"\s*(?:\(*(?:lib\.)?mk(?:Default|Force)\s+)?"
_WHOLE = re.compile(rf"{_PRIORITY}(?:let\s.*\sin\s+)?(?:rec\s+)?\Z", re.DOTALL)
"""What stands in front of a set that is the value of an option."""
_UPDATED = re.compile(r".*//\s*(?:rec\s+)?\Z", re.DOTALL)
"""What stands in front of a set whose attributes replace those of others."""
_END = re.compile(r"[\s)]*\Z")
_BEFORE = re.compile(
    r"[\s(]*(?:(?:lib\.)?mk(?:Default|Force)\s+)?(?:let\s.*\sin\s+)?(?:(?:lib\.|builtins\.)?toString[\s(]+)?", re.DOTALL
)
"""What stands in front of a text that is the whole value of an option."""
_PLACEHOLDER = re.compile(r"[<\u27ea][^<>\u27ea\u27eb\n]* [^<>\u27ea\u27eb\n]*[>\u27eb]")
"""What a reader of a page replaces: `<path to your model>`."""
_OFF = re.compile(r"\(*(?:[A-Za-z_][\w.'-]* +\d* *\(*){0,6}false[\s)]*\Z")
"""`false`, or a function of it: `lib.mkOverride 50 false`."""
_CHOICE = re.compile(r"\s*if\b")
_FILES = frozenset(("toFile", "writeText"))
"""Functions that write a text to a file of a name."""
_OTHER_FILE = re.compile(r"[^/]+\.(?:ya?ml|json|service|conf)$")
_QUOTED = re.compile(r"\"([\w-]+)\"")
"""A name in quotes, which is the same attribute as without them."""
_INHERITED = re.compile(r"inherit\s*\(\s*(?P<of>[A-Za-z_][\w.-]*)\s*\)(?P<names>[\w\s'-]+)")
_LONGEST_INHERIT = 400
_DEPTH = 200
_OPENING, _CLOSING = "{[(", "}])"


_MACRO = re.compile(r"(?:^|\.)llama-swap\.settings\.macros\.(?P<name>[\w-]+)\Z")
"""A text that llama-swap fills into commands."""


class _Frame:
    """What stands between two brackets."""

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start = kind, start
        self.fields: dict[str, Any] = {}
        self.begun = start
        self.clear()

    def clear(self) -> None:
        """Begin the next binding."""
        self.name, self.key, self.values, self.writes = "", "", [], False  # type: ignore[var-annotated]
        self.site: Span | None = None
        self.joins = self.scoped = False
        self.local: dict[str, Any] = {}
        self.head: TracedText | None = None  # the commands before a plus, which go on behind it


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a Nix file."""
    bound: dict[str, list[TracedText | None]] = {}
    for match in _BOUND.finditer(source.text):
        group = "text" if match.group("text") is not None else "number"
        value = _text(TracedText.at(source, *match.span(group)), "line", {}) if match.group(group) is not None else None
        bound.setdefault(match.group("name"), []).append(value)
    known = {name: values[0] for name, values in bound.items() if len(values) == 1 and values[0] is not None}
    reader = _Reader(source, known, {name for name, values in bound.items() if len(values) == 1})
    for match in _TOKEN.finditer(source.text):
        if len(reader.frames) > _DEPTH:
            break
        kind = match.lastgroup
        if kind in ("block", "line"):
            reader.text(match, kind)
        elif kind == "name":
            reader.name(match)
        elif kind == "sign":
            reader.sign(match)
    return reader.found + reader.swap() + reader.started()


class _Reader:
    def __init__(self, source: Source, known: dict[str, TracedText], once: set[str]) -> None:
        self.source = source
        self.known = known
        self.lists: dict[str, list[TracedText]] = {}
        self.once = once
        self.found: list[Launch] = []
        self.frames = [_Frame("{", 0)]
        self.services: dict[tuple[str, str], dict[tuple[str, ...], _Option]] = {}
        self.modules: dict[str, str] = {}
        self.defaults: dict[str, TracedText] = {}
        self.macros: dict[str, TracedText | None] = {}
        self.swapped: list[tuple[str, TracedText, Span]] = []

    @property
    def path(self) -> str:
        """The attributes that lead here."""
        return ".".join([one.key for one in self.frames if one.key])

    def text(self, match: re.Match[str], kind: str) -> None:
        """A text: a value, and the commands of an attribute that holds some."""
        frame, site = self.frames[-1], Span(self.source, *match.span())
        text = _text(TracedText.at(self.source, *match.span(kind)), kind, self.known, self.lists)
        frame.values.append((text, site))
        if (macro := _MACRO.search(self.path)) is not None:
            self.macros[macro["name"]] = text
        elif self.path.endswith(".cmd") and "llama-swap.settings.models." in self.path:
            self.swapped.append((self.path, text, site))
            return
        if len(frame.values) > 1 and frame.name.rpartition(".")[2] in _FILES:
            self.file(frame.values[-2][0], text)
            return
        word = any(two.kind == "[" and any(one.joins for one in self.frames[:at]) for at, two in enumerate(self.frames))
        named = self.path.rpartition(".")[2]
        if not word and (named in _SCRIPTS or (named == "cmd" and frame.kind != "let") or frame.writes):
            if frame.head is not None and frame.name.rpartition(".")[2] in _JOINS:
                return  # what stands between the items of a list that follows
            text = TracedText.join((frame.head, text)) if frame.head is not None else text
            frame.head = text if _ADDED.match(self.source.text, match.end()) is not None else None
            if frame.head is None:
                self.launch(text)

    def file(self, name: Any, text: TracedText) -> None:
        """Note what a file starts that the expression writes under a name."""
        from servelint.readers import embedded

        named = _OTHER_FILE.search(name.flat) if isinstance(name, TracedText) else None
        if named is not None and entry.mentions(text.flat):
            self.found += embedded.of_written(named.group(), text, self.source)

    def unfinished(self, frame: _Frame) -> None:
        """Note what commands start that end in something unknown."""
        if frame.head is not None:
            self.launch(TracedText.join((frame.head, _rest())))
            frame.head = None

    def launch(self, text: TracedText) -> None:
        """Note what a text of commands starts."""
        if entry.mentions(text.flat):
            self.found += named(script_launches(text, CommandContext(self.source, self.path, open_env=True), None))

    def name(self, match: re.Match[str]) -> None:
        """A name: an attribute's, a function's, or one that stands for a value."""
        frame, written = self.frames[-1], match.group()
        last = written.rpartition(".")[2]
        if written == "let":
            self.frames.append(_Frame("let", match.start()))
        elif written == "in" and frame.kind == "let" and len(self.frames) > 1:
            inner = self.frames.pop()
            self.frames[-1].local = inner.fields
        elif written in ("with", "assert"):
            frame.scoped = True
        else:
            frame.writes = frame.writes or written.rpartition("pkgs.")[2] in _WRITERS
            frame.joins = frame.joins or last in _JOINS
            local, _ = frame.local.get(written) or (None, None)
            held = local if isinstance(local, TracedText) else self.value(written)
            if frame.kind == "let" and written.startswith("config."):
                self.modules[frame.key] = written
            if held is not None and frame.key.rpartition(".")[2] in _SCRIPTS and frame.kind != "[":
                self.launch(held)
            frame.name = written
            if not frame.key:
                frame.site = Span(self.source, match.end() - len(last), match.end())
            if (frame.key or frame.kind == "[") and last not in _JOINS:
                value = held if held is not None else TracedText((unknown(written, Span(self.source, *match.span())),))
                frame.values.append((value, Span(self.source, *match.span())))

    def value(self, written: str) -> TracedText | None:
        """What a name stands for: a text of the file, or the default of an option that this module declares."""
        head, _, rest = written.partition(".")
        option = f"{self.modules[head]}.{rest}" if head in self.modules else written
        return self.known.get(written) or self.defaults.get(option.removeprefix("config."))

    def inherited(self, end: int) -> None:
        """Note the attributes that a set takes from another one: `inherit (cfg) image;`."""
        start = self.source.text.rfind("inherit", max(0, end - _LONGEST_INHERIT), end)
        found = _INHERITED.fullmatch(self.source.text, start, end) if start >= 0 else None
        for name in found["names"].split() if found is not None else ():
            value = self.value(f"{found['of']}.{name}") if found is not None else None
            if value is not None:
                self.frames[-1].fields[name] = value, Span(self.source, start, end)

    def sign(self, match: re.Match[str]) -> None:
        """A bracket, an equals sign, or the end of a binding."""
        frame, sign = self.frames[-1], match.group()
        if sign in _OPENING:
            self.frames.append(_Frame(sign, match.start()))
        elif sign in _CLOSING:
            self.close(match)
        elif sign == "=":
            frame.site = frame.site if frame.name or not frame.values else frame.values[0][1]
            frame.key, frame.values, frame.begun = _QUOTED.sub(r"\1", frame.name or _alone(frame.values)), [], match.end()
            frame.joins = frame.key.rpartition(".")[2] in _JOINS
        elif sign == ";" and frame.scoped:
            frame.scoped = False
        elif sign == ";":
            self.unfinished(frame)
            if not frame.key and frame.kind == "{":
                self.inherited(match.start())
            if frame.key and len(frame.values) == 1 and frame.values[0][0] is not None:
                frame.fields[frame.key] = frame.values[0]
                if frame.kind == "let" and frame.key in self.once:
                    self.bind(frame.key, frame.values[0][0])
            elif frame.key and len(frame.values) > 1 and (some := self.several(frame, match.start())) is not None:
                frame.fields[frame.key] = some, Span(self.source, frame.begun, match.start())
            elif self.path.rpartition(".")[0].endswith("environment") and len(frame.values) > 1:
                span = Span(self.source, frame.begun, match.start())
                frame.fields[frame.key] = TracedText((unknown(span.text.strip(), span),)), span
            if frame.kind == "let" and frame.key in self.once and frame.values and isinstance(frame.values[0][0], list):
                listed = [value for value, _ in frame.values[0][0] if isinstance(value, TracedText)]
                self.lists[frame.key] = [*listed, _rest()] if len(frame.values) > 1 else listed
            self.option(match.start())
            frame.clear()

    def bind(self, name: str, value: Any) -> None:
        """Note what a name of the file stands for: a text, or a set whose attributes are named behind it."""
        if isinstance(value, TracedText):
            self.known[name] = value
        elif isinstance(value, dict):
            for key, (inner, _) in value.items():
                self.bind(f"{name}.{key}", inner)

    def several(self, frame: _Frame, end: int) -> Any:
        """What is known of a value of several parts: a list before `++ lib.optionals`, an image with one of two tags."""
        first = frame.values[0][0]
        span = Span(self.source, frame.begun, end)
        if isinstance(first, list) and _MORE.match(self.source.text, frame.values[0][1].end) is not None:
            return [*first, (Word(TracedText((unknown("...", None, ""),)), many=True), span)]
        texts = [text for text, _ in frame.values if isinstance(text, TracedText) and text.known]
        names = {text.flat.rpartition(":")[0] for text in texts}
        if _CHOICE.match(self.source.text, frame.begun) is None or len(texts) < 2 or len(names) != 1 or names == {""}:
            return None
        name = texts[0].cut(0, texts[0].flat.rindex(":") + 1)
        return TracedText.join((name, TracedText((unknown("...", span),))))

    def option(self, end: int) -> None:
        """Note what a module's option of a service is set to."""
        frame = self.frames[-1]
        let = max([at for at, one in enumerate(self.frames) if one.kind == "let"], default=-1)
        found = _SERVICE.search(".".join([one.key for one in self.frames[let + 1 :] if one.key]))
        if found is None:
            return
        options = self.services.setdefault((found["name"], found["instance"] or ""), {})
        parts = tuple([quoted or plain for quoted, plain in _PARTS.findall(found["option"])])
        if not frame.key:
            if parts[0] in _SETTINGS:  # `inherit (cfg) host;`, or a name that an expression makes
                options[(*parts, "...")] = _Option(None, Span(self.source, frame.begun, end), None)
            return
        written = re.match(_PRIORITY, self.source.text[frame.begun : end])
        start = frame.begun + (written.end() if written is not None else 0)
        plain = _PLAIN.match(self.source.text, start, end)
        value, site = frame.values[-1] if frame.values else (None, Span(self.source, end, end))
        ends = _END.fullmatch(self.source.text, site.end, end) is not None
        if parts == ("enable",) and _OFF.match(self.source.text, start, end) is not None:
            value = TracedText.of("false", Span(self.source, start, end))
        elif plain is not None:
            value = TracedText.at(self.source, *plain.span(1))
        elif parts[0] in _SETTINGS and (len(parts) == 1 or any(isinstance(one, dict) for one, _ in frame.values)):
            self.update(options, parts, site.start if ends and isinstance(value, dict) else end)
            return
        elif parts[0] in _SETTINGS and (site.start != start or not ends):
            value = None
        elif parts != ("enable",) and not (ends and _BEFORE.fullmatch(self.source.text, start, site.start) is not None):
            value = self.partly(frame, start, end)
        if isinstance(value, (TracedText, list)) or parts[0] in _SETTINGS:
            options[parts] = _Option(value, Span(self.source, start, end), frame.site)

    def partly(self, frame: _Frame, start: int, end: int) -> Any:
        """What is known of an option whose value an expression makes: the first list of `[ ... ] ++ more`, or nothing."""
        if frame.values and isinstance(frame.values[0][0], list):
            first, site = frame.values[0]
            alone = _BEFORE.fullmatch(self.source.text, start, site.start) is not None
            if alone and _MORE.match(self.source.text, site.end) is not None:
                more = Span(self.source, site.end, end)
                return [*first, (TracedText((unknown("...", more),)), more)]
        return TracedText((unknown(self.source.text[start:end].strip(), Span(self.source, start, end)),))

    def update(self, options: dict[tuple[str, ...], _Option], parts: tuple[str, ...], start: int) -> None:
        """Keep of the attributes of a set those that it certainly has. start: where its last part begins"""
        begun = self.frames[-1].begun
        if _WHOLE.fullmatch(self.source.text, begun, start) is not None:
            return
        sure = start if _UPDATED.fullmatch(self.source.text, begun, start) is not None else len(self.source.text)
        for one, option in list(options.items()):
            if one[: len(parts)] == parts and begun <= option.span.start < sure:
                del options[one]
        options[(*parts, "...")] = _Option(None, Span(self.source, begun, start), None)

    def swap(self) -> list[Launch]:
        """The launches of the models of llama-swap, whose commands may have macros that stand behind them."""
        from servelint.readers.tasks import templates

        found: list[Launch] = []
        for path, command, site in self.swapped:
            words = templates.swapped(command, self.macros)
            found += launches(words, CommandContext(self.source, path, site, open_env=True))
        return found

    def started(self) -> list[Launch]:
        """The launches of the services that are enabled, as the modules of NixOS start them."""
        found: list[Launch] = []
        for (name, instance), options in self.services.items():
            enabled = options.get(("enable",))
            if enabled is None or (isinstance(enabled.value, TracedText) and enabled.value.flat == "false"):
                continue
            place = f"services.{name}" + (f".instances.{instance}" if instance else "")
            context = CommandContext(self.source, place, enabled.span, open_env=True)
            engine = _MODULES[name]
            opened = options.get(("openFirewall",))
            if opened is None or not isinstance(opened.value, TracedText) or opened.value.flat != "true":
                # the firewall of NixOS keeps the port closed, so that who can reach it is not known
                for host in (("host",), ("settings", "host")):
                    if host in options and isinstance(options[host].value, TracedText):
                        options[host].value = TracedText((unknown(options[host].value.flat, options[host].span),))
            words = [Word(TracedText.of(word)) for word in engine.command]  # the module writes them
            if engine.address_variable:
                _environment(engine, options, context)
            else:
                given = _arguments(engine, options, closed=not instance)
                words += given or [Word(TracedText.of(one), enabled.span) for one in ("--port", str(engine.port))]
            found += launches(words, context)
            found += self.presets(options) if not engine.address_variable else []
        return found

    def presets(self, options: dict[tuple[str, ...], _Option]) -> list[Launch]:
        """The models of `modelsPreset`, which the module writes to a file for `--models-preset`."""
        from servelint.readers import presets

        sections: dict[str, dict[str, tuple[TracedText, TracedText]]] = {}
        sites: dict[str, Span] = {}
        for parts, option in options.items():
            if parts[0] != "modelsPreset" or len(parts) != 3 or option.site is None or not isinstance(option.value, TracedText):
                continue
            written = TracedText.at(self.source, option.site.start, option.site.end)
            key = TracedText.of(parts[2], option.site) if written.flat != parts[2] else written
            sections.setdefault(parts[1], {})[parts[2]] = (key, option.value)
            sites[parts[1]] = sites.get(parts[1], option.site).to(option.span)
        return presets.launches(self.source, sections, sites)

    def close(self, match: re.Match[str]) -> None:
        """The end of what stands in brackets."""
        inner = self.frames.pop() if len(self.frames) > 1 else self.frames[-1]
        frame, site = self.frames[-1], Span(self.source, inner.start, match.end())
        self.unfinished(inner)
        if inner.kind == "{":
            alone = self.path.rpartition(".")[0].endswith("oci-containers.containers") and "image" in inner.fields
            self.found += hcl.container(self.source, inner.fields, self.path, alone=alone)
            default, _ = inner.fields.get("default") or (None, None)
            module, declared, option = self.path.rpartition("options.")
            if declared and module[-1:] in ("", ".") and frame.name.endswith("mkOption") and isinstance(default, TracedText):
                self.defaults[option] = default
        elif inner.kind == "[" and any(one.joins for one in self.frames) and self.path.rpartition(".")[2] in _ARGUMENTS:
            words = [value for value, _ in inner.values if isinstance(value, TracedText)]
            if _MORE.match(self.source.text, match.end()) is not None:
                words.append(_rest())
            line = _line(words, quoted=any(one.joins and "oncat" not in one.name for one in self.frames))
            self.launch(TracedText.join((frame.head, line)) if frame.head is not None else line)
            frame.head = None
        elif inner.kind == "(":
            texts = [one for one in inner.values if isinstance(one[0], TracedText)]
            program = texts[-1:] if _NAMES_PROGRAM.match(self.source.text, inner.start) is not None else []
            argument = frame.kind == "[" or bool(frame.values and frame.key)
            frame.values += program or [(TracedText((unknown("(...)", site),)), site)] * argument
            return
        frame.values.append(({"{": inner.fields, "[": inner.values}.get(inner.kind), site))


class _Option:
    """What an option of a service is set to.

    Attributes:
        value: A text, the items of a list, or None for what is not known.
        span: The value.
        site: The option's name.
    """

    __slots__ = ("site", "span", "value")

    def __init__(self, value: Any, span: Span, site: Span | None) -> None:
        self.value, self.span, self.site = value, span, site


_UNKNOWN = TracedText((unknown("...", None, ""),))


def _environment(engine: Engine, options: dict[tuple[str, ...], _Option], context: CommandContext) -> None:
    """Set the variables that the module of a service sets."""
    for name, variable in engine.nixos_options.items():
        given = options.get((name,))
        if given is not None and isinstance(given.value, TracedText) and given.value.flat != "null":
            context.env[variable] = Variable(variable, given.value, given.span)
    for parts, option in options.items():
        if parts[0] == "environmentVariables" and len(parts) == 2 and isinstance(option.value, TracedText):
            context.env[parts[1]] = Variable(parts[1], option.value, option.span)
    host, port = options.get(("host",)), options.get(("port",))
    if host is not None and isinstance(host.value, TracedText):
        number = port.value if port is not None and isinstance(port.value, TracedText) else TracedText.of(str(engine.port))
        address = TracedText.join((host.value, TracedText.of(":"), number))
        context.env[engine.address_variable] = Variable(engine.address_variable, address, host.span)


def _arguments(engine: Engine, options: dict[tuple[str, ...], _Option], *, closed: bool) -> list[Word]:
    """The arguments that the module of a service makes of its options, and an unknown one for what it may add to them.

    Args:
        engine: The engine of the service.
        options: What its options are set to.
        closed: Whether the module has no other options that make arguments.
    """
    words: list[Word] = []
    for name, written in engine.nixos_options.items():
        option = options.get((name,))
        if option is not None and isinstance(option.value, TracedText) and option.value.flat != "null":
            words += [Word(TracedText.of(written), option.span), Word(option.value, option.span)]
    flags = options.get(("extraFlags",))
    if flags is not None and isinstance(flags.value, list):
        words += [Word(one, one.span(), many=not one.known) for one, _ in flags.value if isinstance(one, TracedText)]
    elif flags is not None:
        words.append(Word(flags.value, flags.span, many=True))
    given = {parts[0] for parts in options}
    unsure = "modelsPreset" in given or not (closed or given <= _OF_MODULE.union(engine.nixos_options))
    for parts, option in options.items():
        if parts[0] != "settings":
            continue
        made = _setting(parts[1], option) if len(parts) == 2 and parts[1] != "..." else None
        words += made or []
        unsure = unsure or made is None
    return [*words, Word(_UNKNOWN, many=True)] if unsure else words


def _setting(name: str, option: _Option) -> list[Word] | None:
    """The arguments of an attribute of `settings`, as systemd splits what the module writes; None if they are not known.

    https://github.com/NixOS/nixpkgs/pull/528626: a switch is given or not, a list gives its option several times, and a name of
    one letter has one dash. From https://github.com/NixOS/nixpkgs/pull/561399 on a name may have its dashes.
    """
    values = [value for value, _ in option.value] if isinstance(option.value, list) else [option.value]
    if option.site is None or not all(isinstance(value, TracedText) for value in values):
        return None
    dashes = "" if name.startswith("-") else "-" if len(name) == 1 else "--"
    written = Word(TracedText.of(dashes + name, option.site), option.site)
    words: list[Word] = []
    for value in values:
        quoted = value.span() is not None and option.span.source.text[option.span.start] in "\"'["
        if not quoted and not value.known:
            return None
        if not quoted and value.flat in ("true", "false", "null"):
            words += [written] if value.flat == "true" else []
        else:
            words += [written, *([Word(value, value.span())] if _PLACEHOLDER.search(value.flat) else units.split(value))]
    return words


def _alone(values: list[tuple[Any, Span]]) -> str:
    """The attribute that a text names before an equals sign, with its quotes."""
    text = values[0][0] if len(values) == 1 else None
    return f'"{text.flat}"' if isinstance(text, TracedText) and text.known else ""


def _rest() -> TracedText:
    """What may follow: any number of words."""
    return TracedText((unknown("...", None, ""),))


_PLAIN_WORD = re.compile(r"[\w./:=@%+,-]*\Z")


def _line(words: list[TracedText], *, quoted: bool) -> TracedText:
    """A command line of words. quoted: whether each of them stays one word, as `escapeShellArgs` sees to it"""
    quote = TracedText.of("'")
    kept = [
        TracedText.join((quote, one, quote))
        if quoted and one.known and _PLAIN_WORD.match(one.flat) is None and "'" not in one.flat
        else one
        for one in words
    ]
    return joined(kept, " ")


def _text(
    text: TracedText, kind: str, known: dict[str, TracedText], lists: dict[str, list[TracedText]] | None = None
) -> TracedText:
    """What a text says: its escapes resolved, its expressions filled in or unknown."""

    def value(match: re.Match[str]) -> TracedText:
        if match.group("hole") is None:
            control = _CONTROL.get(match.group("char") or "")
            return TracedText.of(control, text.span(*match.span())) if control else text.cut(*match.span(match.lastgroup or 0))
        if (program := _PROGRAM.fullmatch(match.group())) is not None:
            group = "program" if program.group("program") is not None else "package"
            return text.cut(match.start() + program.start(group), match.start() + program.end(group))
        line = _JOINED.fullmatch(match.group()) if lists else None
        if line is not None and lists and line["name"] in lists:
            return _line(lists[line["name"]], quoted="escape" in match.group())
        named = _NAMED.fullmatch(match.group())
        given = known.get(named.group("name")) if named is not None else None
        return given.placed(text.span(*match.span())) if given is not None else text.unknown(match)

    return text.sub(_INSIDE[kind], value)
