"""The words of a command that start an engine's server."""

from __future__ import annotations

import re
from itertools import zip_longest

from servelint.core.launch import Word
from servelint.core.problem import Problem
from servelint.core.run import current
from servelint.core.text import HOLE, Piece
from servelint.engines.registry import ENGINES, Engine, Start, derived

_PYTHON = r"python(?:\d(?:\.\d+)?)?(?:\.exe)?"
_PYTHON_FLAGS_WITH_VALUE = ("-W", "-X")
_WHICH = (
    r"(?:\$\(|`)\s*(?:which|command\s+-v|type\s+-[pP])\s+([\w.-]+)(?:\s+[12&]?>\s*\S+)*"
    r"(?:\s*\|\|\s*(?:true|:|echo\s*[\"']{0,2}))?\s*(?:\)|`)"
)
_FOUND = r"(?:\$\(|`)\s*find\s[^|;]*-name\s+[\"']?([\w.-]+)"
_VARIABLE = (
    r"\$\{?(?P<name>[A-Z][A-Z0-9_]*)(?:[:?+=-].*)?\}?|\$\{?(?:\w+:)?(?P<mixed>[A-Za-z]\w*)\}?"
    r"|\{\{-?\s*(?:[\w.]*\.)?(?P<called>[A-Za-z]\w*)\s*(?:\|[^{}]*)?\}\}"
    r"|\{(?:str\()?(?:(?:\w+\.)*(?P<python>[A-Za-z]\w*)|[\w.]+(?:\[|\()[\"'](?P<key>[A-Za-z][\w-]*)[\"'](?:,[^{}]*)?[\])])\)?\}"
)
"""A variable as shells, templates and Python write it; a key of a mapping, or a variable of the environment, in Python."""
_OF_A_PROGRAM = r"(?:.*_)?{}(?P<kind>(?:_(?:INSTALL|SERVER))?_(?:BIN|BINARY|CMD|COMMAND|EXE|EXECUTABLE|PATH|PROGRAM))?"
_HELP = frozenset(("--help", "-h", "--version", "-v", "--list-devices"))


class Entry:
    """The words that start an engine's server in a command.

    Attributes:
        engine: the engine's id.
        end: index of the first word after them.
        launcher: the name of the engine's record of the program that starts it; "" for the engine's own server.
        old: the last release whose program has this name; "" for one that the newest have.
    """

    __slots__ = ("end", "engine", "launcher", "old")

    def __init__(self, engine: str, end: int, launcher: str = "", old: str = "") -> None:
        self.old = old
        self.engine = engine
        self.end = end
        self.launcher = launcher


@derived
def made_by(call: str) -> tuple[str, str] | None:
    """The engine that a call of Python makes, and the name of the launcher that the call is; None for any other call.

    >>> made_by("vllm.LLM")
    ('vllm', 'LLM')
    """
    for engine in ENGINES.values():
        for name, launcher in engine.launchers.items():
            if launcher.calls and re.fullmatch(launcher.calls, call) is not None:
                return engine.id, name
    return None


@derived
def class_call() -> re.Pattern[str]:
    """The pattern of a call of a class that may make an engine, by the last part of its name: `LLM(`."""
    names = {name for engine in ENGINES.values() for name, launcher in engine.launchers.items() if launcher.calls}
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\(")


@derived
def _starts(kind: str) -> dict[str, list[tuple[Engine, Start]]]:
    """Program, module or script -> what it may start. kind: an attribute of Start: "programs", "modules", "scripts"."""
    found: dict[str, list[tuple[Engine, Start]]] = {}
    for engine in ENGINES.values():
        for start in engine.starts:
            for name in getattr(start, kind):
                found.setdefault(name, []).append((engine, start))
    return found


def is_program(name: str) -> bool:
    """Whether a program is an engine's, or runs a module of one."""
    return name.startswith("python") or name in _starts("programs")


def mentions(text: str) -> bool:
    """Whether a text may speak of an engine; one that does not starts none."""
    return _mention().search(text) is not None


@derived
def _mention() -> re.Pattern[str]:
    return re.compile("|".join([re.escape(stem) for engine in ENGINES.values() for stem in engine.stems]), re.IGNORECASE)


def may_start(text: str) -> bool:
    """Whether a text may start an engine, whatever quotes and commas stand between the words."""
    return _command().search(text) is not None


@derived
def _command() -> re.Pattern[str]:
    ways: list[str] = []
    for start in [start for engine in ENGINES.values() for start in engine.starts]:
        modules = ["[./]".join([re.escape(part) for part in module.split(".")]) for module in start.modules]
        verbs = "".join([rf"[\"'\s,]+{re.escape(verb)}" for verb in start.verbs[:1]])
        ways += [name + verbs for name in (*[re.escape(name) for name in start.programs], *modules)]
    return re.compile("|".join(ways))


_ON_WINDOWS = frozenset(("docker.exe", "nerdctl.exe", "podman.exe"))
"""Programs that Windows also finds without the end of their names."""


def program(word: Word) -> str | None:
    """The file name of the program that a word names; None if that part of the word is not known."""
    base = word.text.flat.replace("\\", "/").rpartition("/")[2]
    if base == HOLE and len(word.text.pieces) == 1:
        expression = word.text.pieces[0].expression or ""
        asked = re.fullmatch(_WHICH, expression) or re.match(_FOUND, expression)
        if asked is not None:
            return asked.group(1)  # `python "$(which vllm)" serve`
    if base.lower() in _ON_WINDOWS:
        return base[:-4].lower()
    return None if HOLE in base else base.partition("@")[0]  # uvx takes a release with it: vllm@0.19.1


def find(words: list[Word], at: int = 0) -> Entry | None:
    """Find the words that start a server, from the one at an index on; None if it starts none."""
    if at >= len(words):
        return None
    name = program(words[at])
    starts = _starts("programs").get(name) if name is not None else None
    if starts is None and name is not None and name.startswith(("server", "llama-server-")):
        path = words[at].text.flat
        starts = [(one, start) for one, start in _of_paths() if re.fullmatch(start.paths, path)] or None
    if name is None and len(words[at].text.pieces) == 1:
        starts = _of_candidates(words[at].text.pieces[0]) or _of_variable(words, at) or _of_options(words, at)
    if starts is not None:
        found = _started(starts, words, at + 1)
    else:
        found = _python(words, at, name) if name is None or name.startswith("python") else None
    if found is None and name is not None:
        _note_router(words, at, name)
    return found


@derived
def _routers() -> dict[str, list[tuple[Engine, list[str]]]]:
    """The first word of routers, `-m` for modules of Python -> the engine, and the words that follow."""
    found: dict[str, list[tuple[Engine, list[str]]]] = {}
    for engine in ENGINES.values():
        for command in engine.routers:
            first, *rest = command.split()
            found.setdefault(first, []).append((engine, rest))
    return found


_ABOUT_PACKAGES = frozenset(("add", "build", "install", "pull", "remove", "show", "uninstall", "upgrade"))


def _note_router(words: list[Word], at: int, name: str) -> None:
    """Note a command that starts a router, which passes requests on and is not judged."""
    if re.fullmatch(_PYTHON, name) is not None:
        name = "-m"
        at = next((i for i in range(at + 1, min(at + 4, len(words))) if words[i].value == "-m"), len(words))
    run, site = current(), words[at].site if at < len(words) else None
    if run is None or site is None or not _ABOUT_PACKAGES.isdisjoint(word.value for word in words[:at]):
        return
    for engine, rest in _routers().get(name, ()):
        given = words[at + 1 : at + 1 + len(rest)]
        if [word.value for word in given] == rest and not only_asks(words[at + 1 + len(rest) :]):
            shown = " ".join([name, *rest]).removeprefix("-m ")
            message = f"{shown} is a router of {engine.name}: it starts no server, and is not judged"
            run.report(Problem(site.source.path, message, *site.source.position(site.start), note="always"))
            return


def _of_candidates(piece: Piece) -> list[tuple[Engine, Start]] | None:
    """What an unknown program starts that is one of some paths to the same program: `BIN` after a loop over folders."""
    names: set[str] = set()
    seen: set[int] = set()
    left = [piece.perhaps]
    while left and len(names) < 2:
        text = left.pop()
        if text is None:
            return None
        if id(text) in seen:
            continue  # branches that follow each other share what was before them
        seen.add(id(text))
        names.update([path.rpartition("/")[2] for path in text.flat.split() if path != HOLE])
        left += [one.perhaps for one in text.pieces if one.expression == piece.expression]
    return _starts("programs").get(names.pop()) if len(names) == 1 else None


def _of_variable(words: list[Word], at: int) -> list[tuple[Engine, Start]] | None:
    """What an unknown program starts whose variable is called after one: `"$LLAMA_SERVER" -m a.gguf`."""
    variable = re.fullmatch(_VARIABLE, words[at].text.pieces[0].expression or "")
    following = words[at + 1].text.flat if at + 1 < len(words) else ""
    if variable is None:
        return None
    mixed = next((found for one in ("mixed", "called", "python", "key") if (found := variable.group(one))), "")
    variable_name = variable.group("name") or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", mixed).replace("-", "_").upper()
    for program, starts in _starts("programs").items():
        called = re.fullmatch(_OF_A_PROGRAM.format(re.sub(r"[^A-Z0-9]+", "_", program.upper())), variable_name)
        verb = starts[0][1].verbs[:1]
        # `$VLLM` may be a whole command
        whole = bool(verb) and called is not None and called.group("kind") is None
        if called is not None and not whole and (following in verb if verb else following.startswith("-")):
            return starts
    return None


def _of_options(words: list[Word], at: int) -> list[tuple[Engine, Start]] | None:
    """What an unknown program starts whose options no other program has: `"$BIN" -m a.gguf -ngl 99 --port 8080`."""
    if at and (words[at - 1].value or "-").startswith("-"):
        return None
    given = {word.text.flat.partition("=")[0] for word in words[at + 1 :]}
    for engine, start in _marked():
        if all(not given.isdisjoint(group) for group in start.marks):
            return [(engine, start)]
    return None


def misnamed(words: list[Word]) -> tuple[int, tuple[str, ...]] | None:
    """Find the word that an engine's program takes for the name of a command that it does not have.

    That is a misspelt verb (`vllm server m --port 80`), or the first word where one is left out (`lmdeploy serve m --tp 2`).

    Returns:
        Its index, and the verbs that start the server; None if the words start something else.
    """
    name = program(words[0])
    given = [word.value for word in words[1:]]
    for _, start in _starts("programs").get(name or "", ()):
        at = next((at for at, verb in enumerate(start.verbs) if given[at : at + 1] != [verb]), len(start.verbs))
        word = given[at] if at < min(len(start.verbs), len(given)) else None
        if word is None or word.startswith("-") or word in start.other_verbs or not _has_options(words[at + 2 :]):
            continue
        left_out = word in start.verbs[at + 1 :] or (at > 0 and "/" in word)
        if left_out or _near(word, start.verbs[at]):
            return at + 1, start.verbs
    return None


def _has_options(words: list[Word]) -> bool:
    shown = [word.value or "" for word in words]
    return any(one.startswith("--") for one in shown) and _HELP.isdisjoint(shown)


def _near(word: str, verb: str) -> bool:
    import difflib

    return bool(difflib.get_close_matches(word, [verb], cutoff=0.75))


@derived
def _marked() -> list[tuple[Engine, Start]]:
    return [(engine, start) for engine in ENGINES.values() for start in engine.starts if start.marks]


@derived
def _of_paths() -> list[tuple[Engine, Start]]:
    """The starts that are known by a program's whole path."""
    return [(engine, start) for engine in ENGINES.values() for start in engine.starts if start.paths]


def _started(starts: list[tuple[Engine, Start]] | None, words: list[Word], at: int) -> Entry | None:
    """The first of some starts whose verbs stand at an index, and that is not only asked for its help."""
    for engine, start in starts or ():
        end = at + len(start.verbs)
        if any(word.value != verb for word, verb in zip(words[at:end], start.verbs, strict=False)) or end > len(words):
            continue
        following = words[end].value if end < len(words) else None
        if following is not None and following in start.other_verbs:
            if following in start.by_file:
                _left_out(words[at - 1 : end + 1])
            continue
        if following and following == start.optional_verb:
            end += 1
        return None if only_asks(words[end:]) else Entry(engine.id, end, start.launcher, start.until)
    return None


def only_asks(argv: list[Word]) -> bool:
    """Whether an engine's arguments only ask for its help or its version: `--help`, vLLM's `--help=max-num-seqs`."""
    given = argv[0].value or "" if len(argv) == 1 else ""
    return given in _HELP or given.startswith("--help=")


def _left_out(words: list[Word]) -> None:
    """Note a command whose servers are described in a file of their own."""
    run, site = current(), words[-1].site
    if run is None or site is None:
        return
    shown = " ".join([word.shown for word in words])
    message = f"{shown} is not judged here: the servers that it starts are judged in the file that its -c names"
    run.report(Problem(site.source.path, message, *site.source.position(site.start), note="always"))


def _python(words: list[Word], at: int, name: str | None) -> Entry | None:
    """`python [flags] -m module` or `python path/to/script.py`; the interpreter itself may be a variable."""
    if name is not None and re.fullmatch(_PYTHON, name) is None:
        return None
    at += 1
    while at < len(words):
        value = words[at].value
        if value is None:
            break  # `~/.venv/bin/vllm`, `$(which vllm)`: the end of a path may be known
        if value in ("-m", "--module"):  # the second of torchrun, accelerate and uv
            module = words[at + 1].value if at + 1 < len(words) else None
            return _started(_starts("modules").get(module or ""), words, at + 2)
        if value == "-c" and at + 1 < len(words):
            return _started(_of_program(words[at + 1].text.flat), words, at + 2)
        if value in _PYTHON_FLAGS_WITH_VALUE:
            at += 2
        elif re.fullmatch(r"-[A-Za-z]+", value) and value != "-c":
            at += 1
        else:
            break
    if name is None or at >= len(words):
        return None
    script = words[at].text.flat
    found = [starts for path, starts in _starts("scripts").items() if script == path or script.endswith("/" + path)]
    if found:
        return _started(found[0], words, at + 1)
    # `python /opt/venv/bin/vllm serve`: what pip installs for a program is a Python script
    starts = _starts("programs").get(program(words[at]) or "") if "/" in script or HOLE in script else None
    return _started(starts or _of_wrapper(words, at), words, at + 1)


def _of_program(text: str) -> list[tuple[Engine, Start]] | None:
    """What a program starts that patches an engine and calls its entry point, which reads the arguments of the command line.

    `python -c "import patch; from vllm.entrypoints.cli.main import main; main()" serve m`
    """
    if re.search(r"\bargv\b[^=\n]*=|\bparse_args\([^)]", text) is not None:
        return None
    for match in re.finditer(r"\bfrom[ \t]+([\w.]{1,80})[ \t]+import[ \t]+([^\n;]{1,200})", text):
        called = [name for name in _ENTRY_POINTS if re.search(rf"\b{name}\b", match[2]) and re.search(rf"\b{name}\(", text)]
        starts = _starts("modules").get(match[1]) if called else None
        if starts is not None:
            return starts
    return None


_ENTRY_POINTS = ("main", "run_server", "launch_server")


def _of_wrapper(words: list[Word], at: int) -> list[tuple[Engine, Start]] | None:
    """What a script starts that is called after an engine and is given its verb and an option of its own.

    Such a script changes a part of the engine and hands over: `python3 vllm_wrapper.py serve m --gpu-memory-utilization 0.9`.
    """
    name = words[at].text.flat.rpartition("/")[2].lower()
    verb = words[at + 1].value if at + 1 < len(words) else None
    if not name.endswith(".py") or verb is None:
        return None
    given = {word.text.flat.partition("=")[0].replace("_", "-") for word in words[at + 2 :]}
    for engine in ENGINES.values():
        fraction = engine.memory_fraction_option
        if fraction and f"--{fraction}" in given and re.search(rf"(?:^|[_.-]){engine.id}[_.-]", name) is not None:
            return [(engine, start) for start in engine.starts if verb in start.verbs[:1]][:1]
    return None


def of_python(words: list[Word], at: int) -> Entry | None:
    """Find the words that start a server among those that a program gives to Python: `torchrun --nnodes 2 -m module`."""
    return _python(words, at - 1, "python") if at < len(words) else None


def runs_another_script(words: list[Word]) -> bool:
    """Whether Python runs a known script or module that is not an engine's: no value of its arguments starts one."""
    before = [word.value for word in words[:_BEFORE_PYTHON]]
    at = next((at for at, value in enumerate(before) if value is None or re.fullmatch(_PYTHON, value.rpartition("/")[2])), None)
    if at is None or (name := program(words[at])) is None or re.fullmatch(_PYTHON, name) is None:
        return False
    given = words[at + 1 :]
    while given and re.fullmatch(r"-[A-Zbdisuvx]+", given[0].value or ""):
        given = given[1:]
    first = given[0].text.flat if given else ""
    second = given[1].text.flat if len(given) > 1 else ""
    if first == "-c":
        return second != "" and not mentions(second) and re.search(r"system|exec|subprocess|Popen|spawn", second) is None
    if first == "-m":
        return second != "" and HOLE not in second and not mentions(second) and second not in RUNNERS
    return first == "-" or (re.search(r"(?:^|/)[\w.-]+\.py$", first) is not None and not mentions(first))


_BEFORE_PYTHON = 4
"""Words within which Python follows another program: `timeout -k 5 60 python3 score.py`."""
RUNNERS = frozenset((
    "accelerate.commands.launch", "cProfile", "coverage", "ddtrace", "debugpy", "intel_extension_for_pytorch.cpu.launch",
    "ipexrun", "kernprof", "memray", "pdb", "profile", "pyinstrument", "scalene", "torch.distributed.launch",
    "torch.distributed.run", "torch.utils.bottleneck", "trace", "viztracer",
))  # fmt: skip
"""Modules that run another module or script: `python -m cProfile -m module`."""


def takes_model(engine: str, verb: tuple[Word, ...], entrypoint: tuple[str, ...] | None) -> bool | None:
    """Whether the server that a launch starts uses a positional model.

    Args:
        engine: the engine's id.
        verb: the words that start it, empty where an image does.
        entrypoint: what that image starts, None if that is not known.

    Returns:
        None if it is not known what starts the server, and not all of the engine's ways to start it take a model.
    """
    starts = ENGINES[engine].starts
    if all(start.takes_model for start in starts):
        return True
    words = [program(word) or "" for word in verb] or list(entrypoint or ())
    return words[-1] in [start.verbs[-1] for start in starts if start.takes_model and start.verbs] if words else None


def launcher(engine: str, entrypoint: tuple[str, ...]) -> str:
    """The name of the engine's record of the program that an image starts; "" for the engine's own server."""
    module = entrypoint[-1] if entrypoint else ""
    starts = ENGINES[engine].starts
    return next((one.launcher for one in starts if one.launcher and module in (*one.modules, *one.programs)), "")


def reader(engine: str, launcher: str, argv: list[Word], verb: str = "", *, original: bool = False) -> str:
    """The name of the engine's record of the program that reads some words, which an option of its own may choose.

    Args:
        engine: the engine's id.
        launcher: the program that is started, if it is known; "" otherwise.
        argv: the words.
        verb: the word in front of them, such as `serve`; "" where an image starts the program.
        original: whether they stand behind an image of the engine's makers, which holds no fork.
    """
    if launcher:
        return launcher
    given: set[str] = set()
    for word, following in zip_longest(argv, argv[1:]):
        name, sign, value = word.text.flat.partition("=")
        if name.startswith("--"):
            name = name.lstrip("-").replace("_", "-")
            given |= {name, f"{name}={value if sign or following is None else following.text.flat}"}
    known = [(name, one) for name, one in ENGINES[engine].launchers.items() if not (original and one.fork)]
    chosen = (name for name, one in known if one.marks & given and not one.lacks & given and verb in ("", one.verb or verb))
    return next(chosen, "")


def serves(engine: str, launcher: str, argv: list[Word], *, sure: bool = False) -> bool:
    """Whether a program that may do without the engine starts it with these words.

    Args:
        engine: the engine's id.
        launcher: the name of its record of the program; "" for the engine's own server.
        argv: the words.
        sure: whether words that do not say so count for no.
    """
    record = ENGINES[engine].launchers.get(launcher)
    if record is None or not record.chooses[0]:
        return True
    given: list[tuple[str, str]] = []
    for at, word in enumerate(argv):
        flat = word.text.flat
        if flat.startswith("--"):
            name, sign, value = flat[2:].partition("=")
            following = argv[at + 1].text.flat if at + 1 < len(argv) and not sign else ""
            given.append((name.replace("_", "-"), value if sign or following.startswith("--") else following))
    chosen = [value for name, value in given if name == record.chooses[0]]
    if chosen:
        return chosen[-1] in record.chooses[1]
    if any(re.search(record.others, f"{name}={value}", re.IGNORECASE) for name, value in given):
        return False
    return not sure or any(name not in record.own for name, _ in given)


def model_first(engine: str, verb: tuple[Word, ...]) -> str:
    """The first release in which the first word after a verb may be the model; "" where the engine's parser decides."""
    starts = [start for start in ENGINES[engine].starts if start.model_first]
    words = [program(word) or "" for word in verb] if starts else []
    return next((one.model_first for one in starts if words and words[-1] == one.verbs[-1]), "")


def since(engine: str, verb: tuple[Word, ...]) -> str:
    """The first release that a launch's program with its verbs starts; "0" where every release knows them."""
    words = [program(word) for word in verb]
    same = [
        start for start in ENGINES[engine].starts if words and words[0] in start.programs and (*start.verbs,) == (*words[1:],)
    ]
    return same[0].since if same else "0"
