"""Python scripts: the engines that they start with `subprocess`, `os.system` and what else takes a command, or make."""

from __future__ import annotations

import json
import platform
import re

from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.problem import Problem
from servelint.core.run import current
from servelint.core.source import Source, Span
from servelint.core.text import Number, TracedText, unknown
from servelint.engines import entry, images
from servelint.engines.entry import class_call, made_by, mentions
from servelint.engines.registry import ENGINES, built_by, called, started_by
from servelint.files.siblings import Neighbours
from servelint.readers import containers, embedded, installs, notebook
from servelint.readers.commands import SHELLS, TEXTS, WRAPPERS, launches, not_started, script_launches, starts_nothing
from servelint.readers.context import CommandContext, env_file
from servelint.readers.registry import Format
from servelint.syntax.placeholders import in_command
from servelint.syntax.python import MORE, Call, Listed, Mapping, OneOf, calls, choices_of
from servelint.syntax.shell.words import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.python import Value

FORMAT = Format(
    "python",
    112,
    title="Python",
    about="commands given to `subprocess`, `os.system`, `os.exec*`, `asyncio` and what else runs one: lists that grow, "
    "f-strings, functions with what they are given, values and functions of the modules beside the script, defaults of the "
    "environment and of `argparse`; engines that it makes: `LLM`, `EngineArgs` and `AsyncEngineArgs` of vLLM, `Engine` and "
    "`ServerArgs` of SGLang; `LLMConfig` of Ray Serve, `V1Container` and operators of Airflow, command lists of any "
    "specification; releases of Modal images, lines of exported notebooks; manifests and commands of a Tiltfile",
    files=("*.py", "*.tiltfile", "Tiltfile"),
    needs=r"subprocess|Popen|os\.(?:system|popen|exec|spawn|posix_spawn)|create_subprocess|pexpect|exec_command|launch_server_cmd"
    r"|\bdef \w*(?:cmd|command|argv)\w*\(|execute_\w*command|execute_shell|SessionExecute|\.containers\.(?:run|create)"
    r"|write_text|\bblob\(|\blocal_resource\(|\.write(?:lines)?\(|#!/(?:usr/)?bin/"
    r"|\bcommand=\s*[\[\w]|\bV1Container\b|PodOperator\b|DockerOperator\b|\bsky\.Task\b|\bimage_uri\s*=|serving_container_image_uri|\bPrimaryContainer\b"
    r"|\b(?:run_server|run_server_worker|launch_server|LLM|LLMConfig|(?:Async)?EngineArgs|(?:Async)?LLMEngine(?:\.\w+)?|Engine|ServerArgs|pipeline"
    r"|(?:Turbomind|Pytorch)EngineConfig)\(",
    unnamed=r"(?m)\A(?:#!.*python|(?:#[^\n]*\n|\s)*(?:\"\"\"|(?:from|import) \w))",
)

_RUNS = re.compile(
    r"(?:asyncio\.)?(?:subprocess\.)?(?:run|Popen|call|check_call|check_output|getoutput|getstatusoutput|create_subprocess_(?:exec|shell))"
)
_WORDS = re.compile(r"(?:asyncio\.)?(?:subprocess\.)?create_subprocess_exec|os\.(?:exec|spawn)l\w*")
_VECTOR = re.compile(r"os\.(?:execv\w*|spawnv\w*|posix_spawnp?)")
_TEXT = re.compile(r"(?:os)?\.(?:system|popen)|.*create_subprocess_shell|.*get(?:status)?output")
_SETTING_UP = re.compile(
    r"(?:\s*(?:(?:cd|conda|export|module|set|source|ulimit|unset|\.|pip3?|uv|apt(?:-get)?|mkdir|echo|sleep"
    r"|python3? -m (?:pip|venv))\s[^\n;&|]*|#[^\n]*)(?:;|&&|\n))*"
)
"""What a script does before the command that says what it is for."""
_SPLIT_BY_ARGUMENT = re.compile(r"subprocess\.(?:run|Popen|call|check_call|check_output)")
"""Functions that start a program, or a shell where `shell` is true."""
_STARTS = re.compile(
    r"(?i)run|exec|start|launch|spawn|spin_?up|popen|system|serve|command|cmd|shell|process|create|submit|sudo|ssh|remote|tmux"
    r"|send_?(?:keys|line)"
)
_BEFORE = WRAPPERS | TEXTS | SHELLS | frozenset(containers.TOOLS)
_SCRIPT = re.compile(r"\s*#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_OF_TESTS = re.compile(r"(?:^|[/\\])(?:test_[^/\\]*|[^/\\]*_test|conftest)\.py$")
"""Files of tests, whose scripts are examples."""
_NAMED = re.compile(r"args|script|(?:\w+_)?(?:cmd|commands?)")
"""Arguments that hold a command."""
_SPECIFIED = ("command", "cmd", "entrypoint")
"""Arguments under which a specification holds the command of a service."""
_PLATFORMS = re.compile(r"(?:V1Container|PodOperator|KubernetesJobOperator|DockerOperator|DockerSwarmOperator|ContainerArgs)$")
"""Containers of the clients of Kubernetes and Pulumi, and of the operators of Airflow."""
_IMAGES = ("base", "from_registry", "from_image", "DockerImage", "from_aws_ecr", "ContainerImage")
_PIP = ("pip_install", "uv_pip_install", "uv_add", "python_packages", "add_python_packages")


def read(source: Source, neighbours: Neighbours, environment: dict[str, TracedText] | None = None) -> list[Launch]:
    """Read the launches of the commands that a script starts, and those of the lines of a notebook in it.

    Args:
        source: The script.
        neighbours: The files beside it.
        environment: The variables that what starts the script gives it.
    """
    reader = _Reader(source, neighbours)
    magic, fault = calls(source, reader.call, neighbours.read, environment)
    reader.handed_over()
    if magic:
        found, claims = notebook.of_script(source)
        for launch in reader.found:
            if launch.container is None and launch.release.how is None:
                launch.release = claims.get(launch.engine, launch.release)
        reader.found += found
    run = current()
    if fault is not None and run is not None and not reader.found:
        where = (fault.line, fault.column)
        if fault.newer:
            message = f"not judged: Python {platform.python_version()} cannot parse it ({fault.message})"
            run.report(Problem(source.path, message, *where, note="always"))
        else:
            run.report(Problem(source.path, f"not valid Python: {fault.message}", *where, note="found"))
    return reader.found


def objects(source: Source, claims: dict[str, ReleaseClaim] | None = None) -> list[Launch]:
    """Read the engines alone that a script makes, such as the cells of a notebook.

    Args:
        source: The script.
        claims: The releases that are installed before it.
    """
    if class_call().search(source.text) is None:
        return []
    reader = _Reader(source, Neighbours(None))
    reader.claims.update(claims or {})
    calls(source, reader.only_made)
    return reader.found


def snippet(source: Source) -> list[Launch]:
    """Read the launches of Python that a page shows. A page may leave out parts: what is not valid is passed over."""
    reader = _Reader(source, Neighbours(None))
    magic, _ = calls(source, reader.call)
    reader.handed_over()
    return reader.found + (notebook.of_script(source)[0] if magic else [])


class _Reader:
    def __init__(self, source: Source, neighbours: Neighbours) -> None:
        self.source = source
        self.neighbours = neighbours
        self.claims: dict[str, ReleaseClaim] = {}
        self.images: dict[tuple[str, int], dict[str, ReleaseClaim]] = {}
        self.found: list[Launch] = []
        self.seen: set[tuple[object, ...]] = set()
        self.returned: list[Call] = []

    def handed_over(self) -> None:
        """Note the launches of the commands that functions make for other files: lists that no call of this file starts."""
        begun = {word.text.span() for launch in self.found for word in launch.verb}
        for call in self.returned if _OF_TESTS.search(self.source.path) is None else ():
            for command in choices_of(call.args[0]):
                if isinstance(command, Listed) and command.words and entry.program(command.words[0]) is not None:
                    new = self.started(command, call, False)
                    self.note([launch for launch in new if begun.isdisjoint(word.text.span() for word in launch.verb)])

    def call(self, call: Call) -> None:
        """Note the launches of a call, and the releases that one names."""
        last = call.name.rpartition(".")[2]
        if last in _IMAGES or last in _PIP:
            self.claim(call, self.installed(call, image=last in _IMAGES), base=last in _IMAGES)
            return
        if last == "run_commands":
            for text in [text for value in call.args for text in _texts(value)]:
                self.claim(call, installs.of_layer(text), over=True)
            return
        if call.site.source is not self.source:
            return  # a launch of the module that makes it
        if (made := made_by(call.name)) is not None:
            self.made(call, *made)
            return
        if re.search(r"containers\.(?:run|create)$", call.name):
            self.container(call)
            return
        if not _OF_CLOUDS.keys().isdisjoint(call.keywords):
            self.cloud_container(call)
            return
        if last == "LLMConfig":
            self.llm_config(call)
            return
        if last == "return" and any(isinstance(one, Listed) for one in choices_of(call.args[0])):
            self.returned.append(call)
            return
        if last in ("return", "write_text", "write", "writelines") or call.name == "blob":
            self.written(call)
            return
        if self.of_platform(call):
            return
        commands, sure = _commands(call)
        for command in commands or self.specified(call):
            for launch in self.started(command, call, sure):
                _begin(launch, command)
                image = launch.container.image if launch.container is not None else None
                shown = image.shown if image is not None else ""
                key = (call.site.start, launch.site.start, launch.engine, shown, *[word.shown for word in launch.argv])
                place = (call.site.start, call.chain, len(commands) == 1)
                if key not in self.seen and (len(commands) > 1 or place not in self.seen):
                    self.seen |= {key, place}
                    self.found.append(launch)

    def only_made(self, call: Call) -> None:
        """Note the engine that a call makes, if it makes one."""
        if (made := made_by(call.name)) is not None:
            self.made(call, *made)

    def specified(self, call: Call) -> list[Value]:
        """The command lists that a call of any name is given: `Service(command=[PROGRAM, VERB, MODEL])`."""
        last = call.name.rpartition(".")[2]
        if _OF_TESTS.search(self.source.path) is not None or (starts_nothing(last) and not last[:1].isupper()):
            return []
        if call.name == "sky.Task":
            parts = [one for name in ("setup", "run") if isinstance(one := call.keywords.get(name), TracedText)]
            return [TracedText.join([part for one in parts for part in (one, TracedText.of("\n"))])]
        return [
            one
            for name in _SPECIFIED
            for one in choices_of(call.keywords.get(name))
            if isinstance(one, Listed) and one.words and _is_engine(one.words)
        ]

    def of_platform(self, call: Call) -> bool:
        """Note the launch of a container that Kubernetes' client or an operator is given: an engine's image, and words."""
        from servelint.core.launch import Container

        image = call.keywords.get("image")
        if not isinstance(image, TracedText) or _PLATFORMS.search(call.name) is None:
            return False
        known = images.identify(image)
        if known.engine is None:
            return False
        held = [
            _words_of(_either(next((call.keywords[name] for name in names if name in call.keywords), None)))
            for names in (("command", "cmds"), ("args", "arguments"))
        ]
        command, args = held if not held[0] or not held[0][0].text.flat.startswith("-") else ([], [*held[0], *held[1]])
        given = call.keywords.get("env_vars", call.keywords.get("environment"))
        values = given.values if isinstance(given, Mapping) else {}
        env = {n: Variable(n, v, v.span()) for n, v in values.items() if isinstance(v, TracedText) and v.pieces}
        claims = {**self.claims, **known.claims}
        context = CommandContext(self.source, "", None, env, Container(image, open=True), claims, open_env=True)
        context.anchor = call.site
        self.note(containers.in_container(command or None, args, known, context))
        return True

    def written(self, call: Call) -> None:
        """The launches of a script, a unit or a manifest that a call writes, or of a script that a function gives."""
        if _OF_TESTS.search(self.source.path) is not None:
            return
        first = call.args[0] if call.args else None
        texts = [TracedText.join([word.text for word in first.words])] if isinstance(first, Listed) else choices_of(first)
        for text in texts:
            if not isinstance(text, TracedText) or not mentions(text.flat):
                continue
            start = len(text.flat) - len(text.flat.lstrip())
            shown = embedded.shape(text.flat)
            if _SCRIPT.match(text.flat) is not None:
                context = CommandContext(
                    self.source, "", None, {}, None, dict(self.claims), files=self.neighbours.read, open_env=True
                )
                context.anchor = call.site if _elsewhere(text, self.source) else None
                self.note(script_launches(text.cut(start), context, None))
            elif shown is not None and call.name.rpartition(".")[2] != "return" and not _elsewhere(text, self.source):
                self.note(embedded.of_written(shown, text, self.source))

    def note(self, found: list[Launch]) -> None:
        """Add launches of a written file that are not known yet."""
        for launch in found:
            key = (launch.site.source.path, launch.site.start, launch.engine, *[word.shown for word in launch.argv])
            if key not in self.seen:
                self.seen.add(key)
                self.found.append(launch)

    def started(self, command: Value, call: Call, sure: bool) -> list[Launch]:
        env = self.environment(call)
        built = call.image.span() if isinstance(call.image, TracedText) else None
        known = self.images.get((built.source.path, built.start)) if built is not None else None
        claims = dict(self.claims if known is None else known)
        context = CommandContext(
            self.source, "", None, env, None, claims, env_file(self.neighbours), files=self.neighbours.read
        )
        context.anchor = call.site if _elsewhere(command, self.source) else None
        given = call.keywords.get("input")
        if isinstance(given, TracedText):
            context.stdin = given
        if isinstance(command, Listed):
            words = [Word(in_command(word.text), word.site, word.many) for word in command.words]
            if not words or not (sure or _starts(command)):
                return []
            self.claims.update(installs.claims(words))
            if call.keywords.get("shell") is True and re.search(r"\s", words[0].text.flat):
                return script_launches(words[0].text, context, words[1:])
            return _misread(call, words, None, context) or launches(words, context)
        if not isinstance(command, TracedText) or not command.flat.strip():
            return []
        before = _SETTING_UP.match(command.flat)
        words = split(in_command(command.cut(before.end() if before is not None and not sure else 0)))
        if not sure and not _starts(command):
            return []
        self.claims.update(installs.claims(words))
        return _misread(call, words, command, context) or script_launches(command, context, None)

    def environment(self, call: Call) -> dict[str, Variable]:
        given = call.keywords.get("env")
        held = given if isinstance(given, Mapping) else call.env
        values = {**call.env.values, **held.values} if held.environment else held.values
        texts = {name: _either(value) for name, value in values.items() if name.isidentifier()}
        return {
            name: Variable(name, text, text.span())
            for name, text in texts.items()
            if isinstance(text, TracedText) and text.pieces
        }

    def claim(self, call: Call, claims: dict[str, ReleaseClaim], *, base: bool = False, over: bool = False) -> None:
        """Note what a call says of an image; the calls of one that is built step by step begin at one place.

        base: it names the image that another is made of;  over: whatever was in the image before does not count
        """
        place = (call.site.source.path, call.site.start)
        here = self.images.setdefault(place, {})
        for engine, one in claims.items():
            before = here.get(engine)
            if base and before is not None and before.release != one.release:
                here[engine] = ReleaseClaim()  # a function that makes several images
            elif base or over or one.release is not None or before is None:
                here[engine] = one
            if base or over or one.release is not None or engine not in self.claims:
                self.claims[engine] = one

    def installed(self, call: Call, *, image: bool) -> dict[str, ReleaseClaim]:
        """The releases that an image's name or its packages say."""
        found: dict[str, ReleaseClaim] = {}
        given = [*call.args, *call.keywords.values()]
        for text in [
            one for value in given for one in (_texts(value) if image else [p for t in _texts(value) for p in t.split()])
        ]:
            found.update({} if image else installs.brought(Word(text)))
            pinned = None if image else installs.requirement(Word(text))
            found.update(containers.identified(text).claims if image else dict([pinned] if pinned is not None else []))
        return found

    def container(self, call: Call) -> None:
        """A container that the Docker SDK starts."""
        from servelint.core.launch import Container

        image = call.args[0] if call.args else call.keywords.get("image")
        command = call.args[1] if len(call.args) > 1 else call.keywords.get("command")
        if not isinstance(image, TracedText):
            return
        command = _either(command)
        words = _words_of(command)
        given = call.keywords.get("environment")
        values = given.values if isinstance(given, Mapping) else {}
        env = {n: Variable(n, v, v.span()) for n, v in values.items() if isinstance(v, TracedText) and v.pieces}
        known = containers.identified(image)
        context = CommandContext(
            self.source, "", None, env, Container(image, open=True), {**self.claims, **known.claims}, open_env=given is not None
        )
        context.anchor = call.site
        place = (call.site.start, call.chain)
        if place not in self.seen and "entrypoint" not in call.keywords:
            self.seen.add(place)
            self.found += containers.in_container(
                None, [Word(in_command(w.text), w.site, w.many) for w in words], known, context
            )

    def llm_config(self, call: Call) -> None:
        """Note the launch that Ray Serve makes of an LLMConfig: the model that it loads, and the settings of its engine."""
        loading, settings, runtime = [
            held.values if isinstance(held := call.keywords.get(name), Mapping) else {}
            for name in ("model_loading_config", "engine_kwargs", "runtime_env")
        ]
        named = call.keywords.get("llm_engine")
        engine = called("ray", named.flat) if isinstance(named, TracedText) else built_by("ray", self.source.text)
        if (
            engine is None
            or not (settings or (loading and engine is started_by("ray")))
            or _OF_TESTS.search(self.source.path) is not None
        ):
            return
        models = [one for key in ("model_source", "model_id") if isinstance(one := loading.get(key), TracedText)]
        model = next((one for one in models if one.known and one.flat), next((one for one in models if one.shown), None))
        positional = engine is started_by("ray")
        words = [Word(model, model.span())] if model is not None and "model" not in settings and positional else []
        for name, value in settings.items():
            words += _setting(name, value, call)
        if not positional:  # how its server gets the model of model_loading_config is not known
            words.append(Word(TracedText((unknown("...", call.site),)), call.site, many=True))
        given = runtime.get("env_vars")
        values = given.values if isinstance(given, Mapping) else {}
        env = {n: Variable(n, v, v.span()) for n, v in values.items() if isinstance(v, TracedText) and v.pieces}
        context = CommandContext(self.source, "", None, env, None, dict(self.claims), open_env=True)
        self.note([context.launch(engine.id, words, call.site)])

    def made(self, call: Call, engine: str, name: str) -> None:
        """Note the engine that a class makes: its keyword arguments are the options."""
        launcher = ENGINES[engine].launchers[name]
        if _OF_TESTS.search(self.source.path) is not None or "server_args" in call.keywords:
            return  # an example, or another object holds the options
        words: list[Word] = []
        starred = [isinstance(one, Listed) and any(word.many for word in one.words) for one in call.args]
        for option, value in zip(launcher.positional, call.args if not any(starred) else (), strict=False):
            words += _argument(option.replace("-", "_"), value, call)
        for option, value in call.keywords.items():
            if option != MORE and option.isidentifier():
                words += _argument(option, value, call)
        if not words:
            return
        if len(call.args) > len(launcher.positional) or any(starred) or MORE in call.perhaps:
            words.append(_unknown(Word(TracedText((unknown("...", call.site),)), call.site)))
        words.sort(key=lambda word: not word.many)  # an argument that may not be there is no value of another one
        built = call.image.span() if isinstance(call.image, TracedText) else None
        known = self.images.get((built.source.path, built.start)) if built is not None else None
        claims = dict(self.claims if known is None else known)
        context = CommandContext(self.source, "", None, self.environment(call), None, claims)
        launch = context.launch(engine, words, call.site)
        launch.launcher = name
        launch.likely = not call.caught  # another call may follow where this one is refused
        self.note([launch])

    def cloud_container(self, call: Call) -> None:
        """Note the launch of a container that a cloud's client is given: its image, its variables, its command."""
        from servelint.core.launch import Container

        given = dict(call.keywords)
        held = given.get("PrimaryContainer")
        if isinstance(held, Mapping):
            given.update(held.values)
        key = next((key for key in _OF_CLOUDS if isinstance(given.get(key), TracedText)), None)
        image = given.get(key) if key is not None else None
        if key is None or not isinstance(image, TracedText):
            return
        variables, command, args = _OF_CLOUDS[key]
        values = next((one.values for name in variables if isinstance(one := given.get(name), Mapping)), {})
        env = {n: Variable(n, v, v.span()) for n, v in values.items() if isinstance(v, TracedText) and v.pieces}
        known = containers.identified(image)
        context = CommandContext(
            self.source, "", None, env, Container(image, open=True), {**self.claims, **known.claims}, open_env=True
        )
        context.anchor = call.site
        words = [_words_of(_either(given.get(name))) for name in (command, args)]
        place = (call.site.start, call.chain)
        if place not in self.seen:
            self.seen.add(place)
            self.found += containers.in_container(words[0] or None, words[1], known, context)


_OF_CLOUDS = {
    "image_uri": (("env", "environment"), "", ""),
    "serving_container_image_uri": (
        ("serving_container_environment_variables",),
        "serving_container_command",
        "serving_container_args",
    ),
    "Image": (("Environment",), "", ""),
    "PrimaryContainer": ((), "", ""),
}
"""Arguments with an image of SageMaker and Vertex AI, and those with its variables, its entrypoint and its arguments."""


def _setting(name: str, value: Value, call: Call) -> list[Word]:
    """The words of one setting of an engine's class; None leaves the engine's default."""
    option = name.replace("_", "-")
    if isinstance(value, TracedText) and value.flat.lower() in ("true", "false"):
        value = value.flat.lower() == "true"
    if isinstance(value, bool):
        return [Word(TracedText.of(("--" if value else "--no-") + option), call.site)]
    if value is None:
        return []
    held = value if isinstance(value, TracedText) else TracedText((unknown("...", call.site),))
    return [Word(TracedText.of("--" + option), held.span() or call.site), Word(held, held.span() or call.site)]


_TORCH = re.compile(r"\{torch\.(\w+)\}")


def _argument(name: str, value: Value, call: Call) -> list[Word]:
    """The words of a keyword argument: `--name` and its value, `--name` for True, `--no-name` for False.

    None is written as if it were not there. A value of None that is not written as such is one that is not known.
    """
    key, place, is_none = call.place(name)
    if is_none:
        return []
    held = value.span() if isinstance(value, TracedText) else None
    site = place or held or call.site
    written = TracedText.at(key.source, key.start, key.end) if key is not None else TracedText.of(name)
    if key is not None and written.flat.strip("\"'") == name and written.flat != name:
        written = written.cut(1, len(written.flat) - 1)  # a key of a dictionary
    if written.flat != name:
        written = TracedText.of(name)
    option = TracedText.join((TracedText.of("--"), written))
    if name in call.perhaps:
        expression = f"{{{name}}}"
        return [Word(TracedText((unknown(expression, key or call.site, perhaps=option),)), key or call.site, many=True)]
    if isinstance(value, bool):
        whole = key.to(place) if key is not None and place is not None and place.source is key.source else site
        return [Word(option if value else TracedText.join((TracedText.of("--no-"), written)), whole)]
    head = Word(option, key or held or call.site)
    values = _values(name, value, site)
    return [head, *(values or [Word(TracedText((unknown(f"{{{name}}}", site),)), site)])]


def _values(name: str, value: Value, site: Span) -> list[Word]:
    """The words of a value; [] if it is not known."""
    if isinstance(value, TracedText):
        torch = _TORCH.fullmatch(value.pieces[0].expression or "") if name == "dtype" and len(value.pieces) == 1 else None
        if torch is not None:
            return [Word(TracedText.of(torch[1], value.span()), site)]
        return [Word(value, site)] if value.flat.strip() and not value.flat.startswith("--") else []
    if isinstance(value, Mapping):
        text = _as_json(value)
        return [Word(text, site)] if text is not None else []
    if isinstance(value, Listed) and value.words:
        known = all(not word.many and word.text.flat and not word.text.flat.startswith("--") for word in value.words)
        return [Word(word.text, word.site) for word in value.words] if known else []
    return []


def _as_json(value: Value) -> TracedText | None:
    """A value as JSON, each character with its place; None where it is not known which keys it has."""
    if isinstance(value, bool):
        return TracedText.of("true" if value else "false")
    if isinstance(value, Mapping):
        if value.perhaps or MORE in value.values:
            return None
        parts: list[TracedText] = []
        for name, inner in value.values.items():
            key = value.keys.get(name)
            quoted = key is not None and key.text[1:-1] == name
            written = TracedText.at(key.source, key.start + 1, key.end - 1) if key is not None and quoted else None
            if key is not None and key.text == name:
                written = TracedText.at(key.source, key.start, key.end)
            made = _as_json(inner)
            held = made if made is not None else TracedText((unknown("...", key),))
            parts += [TracedText.of(', "' if parts else '"'), written or TracedText.of(name, key), TracedText.of('": '), held]
        return TracedText.join([TracedText.of("{"), *parts, TracedText.of("}")])
    if isinstance(value, Listed):
        if any(word.many for word in value.words):
            return None
        items = [_as_json(word.text) for word in value.words]
        found = [part for one in items if one is not None for part in (TracedText.of(", "), one)]
        return TracedText.join([TracedText.of("["), *found[1:], TracedText.of("]")])
    if not isinstance(value, TracedText):
        return None
    if isinstance(value, Number) or not value.known:
        return TracedText(value.pieces) if isinstance(value, Number) else TracedText((unknown("...", value.span()),))
    plain = json.dumps(value.flat, ensure_ascii=False)
    inside = value if plain[1:-1] == value.flat else TracedText.of(plain[1:-1], value.span())
    return TracedText.join([TracedText.of('"'), inside, TracedText.of('"')])


def _words_of(value: Value) -> list[Word]:
    words = value.words if isinstance(value, Listed) else split(value) if isinstance(value, TracedText) else []
    return [_unknown(w) if w.text.flat == MORE.strip() else Word(in_command(w.text), w.site, w.many) for w in words]


def _unknown(word: Word) -> Word:
    """The arguments that a text may have more of, where no shell reads it."""
    return Word(TracedText((unknown("...", word.site, shown=""),)), word.site, many=True)


def _misread(call: Call, words: list[Word], text: TracedText | None, context: CommandContext) -> list[Launch]:
    """The launches that nothing starts, as `shell=` is missing or too much: a text is one program, a list one word and its $0.

    Windows reads both as they are meant; an engine that may run there is not looked at.
    """
    shell = call.keywords.get("shell", False)
    if not _SPLIT_BY_ARGUMENT.fullmatch(call.name) or not isinstance(shell, bool) or MORE in call.keywords or not words:
        return []
    first = words[0]
    whole = text is not None or re.search(r"\s", (first.value or "").strip()) is not None
    meant = split(text if text is not None else first.text) if whole else words
    engine = entry.find(meant)
    if engine is None or any(name.endswith(".exe") for start in ENGINES[engine.engine].starts for name in start.programs):
        return []
    if whole and not shell:
        return not_started("one-word", Word(text) if text is not None else first, text or words, context, 0)
    return not_started("shell-arguments", first, words, context, 0) if not whole and shell and len(words) > 1 else []


def _commands(call: Call) -> tuple[list[Value], bool]:
    """The commands that a call is given, and whether it certainly runs them."""
    keywords = [value for name, value in call.keywords.items() if _NAMED.fullmatch(name) is not None]
    first = call.args[0] if call.args else next(iter(keywords), None)
    if _WORDS.fullmatch(call.name) and isinstance(first, OneOf):
        return list(first.choices), True
    if _WORDS.fullmatch(call.name):
        words = [_word(one) for one in call.args[1 if ".spawnl" in call.name else 0 :]]
        # the name under which the program runs comes second
        return ([Listed([*words[:1], *words[2 if call.name.startswith("os.") else 1 :]], 0)], True)
    if _VECTOR.fullmatch(call.name):
        at = 1 if ".spawnv" in call.name else 0
        program = call.args[at] if len(call.args) > at else None
        lists = [one for one in choices_of(call.args[at + 1] if len(call.args) > at + 1 else None) if isinstance(one, Listed)]
        # `os.execvp(cmd[0], cmd)`, where `cmd` is one of several
        own = not isinstance(program, TracedText) or not program.known
        return ([one if own else Listed([_word(program), *one.words[1:]], 0) for one in lists], True)
    if call.name == "local_resource":  # of Tilt
        given = [call.keywords.get(name) for name in ("cmd", "serve_cmd")] + call.args[1:2]
        return ([one for one in given if isinstance(one, (Listed, TracedText))], True)
    if call.name.endswith("run_cell_magic") and len(call.args) == 3:
        shell = isinstance(call.args[0], TracedText) and call.args[0].flat in ("bash", "script", "sh")
        return ([call.args[2]] if shell else [], True)
    sure = _TEXT.fullmatch(call.name) is not None or _RUNS.fullmatch(call.name.removeprefix("self.")) is not None
    last = call.name.rpartition(".")[2]
    if not sure and (_STARTS.search(last) is None or starts_nothing(last)):
        return ([], False)
    given = [first] if sure else [first, *call.args[1:3], *keywords]
    found: list[list[Value]] = [[one for one in choices_of(value) if isinstance(one, (Listed, TracedText))] for value in given]
    # `ssh(host, command)`, `run_in(session, command)`
    return (next((some for some in found if some and (sure or any(map(_starts, some)))), found[0]), sure)


def _is_engine(words: list[Word]) -> bool:
    """Whether words start an engine, by themselves or as the script of a shell."""
    if entry.program(words[0]) in SHELLS and len(words) > 2 and words[1].text.flat.startswith("-"):
        return mentions(words[-1].text.flat) and _starts(words[-1].text)
    return entry.find(words) is not None


def _starts(command: Value) -> bool:
    """Whether a command begins with an engine, or with a program that starts another one."""
    if isinstance(command, TracedText):
        before = _SETTING_UP.match(command.flat)
        words = split(in_command(command.cut(before.end() if before is not None else 0)))
    else:
        words = command.words if isinstance(command, Listed) else []
    return bool(words) and (entry.find(words) is not None or entry.program(words[0]) in _BEFORE)


def _begin(launch: Launch, command: Value) -> None:
    """Let a launch begin where its command does, not at a value that the script sets before."""
    first = command.pieces[0].span if isinstance(command, TracedText) and command.pieces else None
    if first is not None and first.source is launch.site.source and launch.site.start < first.start < launch.site.end:
        launch.site = Span(first.source, first.start, launch.site.end)


def _elsewhere(command: Value, source: Source) -> bool:
    """Whether a command begins in another file."""
    first = command.words[0].text if isinstance(command, Listed) and command.words else command
    span = first.span() if isinstance(first, TracedText) else None
    return span is not None and span.source is not source


def _word(value: Value) -> Word:
    return (
        value.words[0]
        if isinstance(value, Listed) and value.words
        else Word(value if isinstance(value, TracedText) else TracedText.of(""))
    )


def _either(value: Value) -> Value:
    """A value, or an unknown text instead of several."""
    first = value.choices[0] if isinstance(value, OneOf) else None
    if first is None:
        return value
    return TracedText((unknown("...", first.span()),)) if isinstance(first, TracedText) else None


def _texts(value: Value) -> list[TracedText]:
    if isinstance(value, Listed):
        return [word.text for word in value.words]
    return [value] if isinstance(value, TracedText) else []
