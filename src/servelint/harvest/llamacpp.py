"""llama.cpp: what `llama-server` of a build accepts, as the `add_opt(common_arg(...))` calls in common/arg.cpp declare it."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest.cppsource import calls, clean, closing, function, initializer, literal, literals, split
from servelint.harvest.errors import HarvestError
from servelint.harvest.sources import Tree

_ARG = "common/arg.cpp"
_FILES = (_ARG, "common/common.cpp", "common/common.h", "common/speculative.cpp", "common/sampling.cpp", "common/chat.cpp")
_SERVER = ("LLAMA_EXAMPLE_SERVER", "LLAMA_EXAMPLE_COMMON")
_LAMBDA = re.compile(r"\[[^\]]*\]\s*\((?P<params>[^()]*)\)\s*(?:->\s*\w+\s*)?\{")
_CONVERSIONS = ("stoi", "stol", "stoll", "stoul", "stoull", "stof", "stod")
_DEPRECATED = re.compile(r"^\W*DEPRECATED\b|\(DEPRECATED\b", re.IGNORECASE)
_SPEC_TYPES = "common_speculative_types_from_names"
_SPEC_MAP = "common_speculative_type_from_name_map"


def open_source(path: str, release: str) -> Tree:
    """A source folder of llama.cpp, or a .tar.gz that holds one. release: the build, `b9180`. Raises HarvestError."""
    found: dict[str, bytes] = {}
    try:
        if os.path.isdir(path):
            for name in _FILES:
                if os.path.isfile(os.path.join(path, name)):
                    with open(os.path.join(path, name), "rb") as file:
                        found[name] = file.read()
        else:
            with tarfile.open(path) as archive:
                members = {member.name: member for member in archive.getmembers() if member.isfile()}
                roots = sorted((name for name in members if name.endswith("/" + _ARG)), key=len)
                root = roots[0].removesuffix(_ARG) if roots else ""
                for name in _FILES:
                    stream = archive.extractfile(members[root + name]) if root + name in members else None
                    if stream is not None:
                        found[name] = stream.read()
    except (OSError, tarfile.TarError) as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error
    if _ARG not in found:
        raise HarvestError(f"{path} holds no {_ARG}")
    return Tree("llama.cpp", release, found)


def snapshot(tree: Tree, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """What one build accepts. Raises HarvestError where the build does not declare its options in common/arg.cpp.

    `env` holds the variables that set an option (under "option"), not those that the rest of the program reads.
    """
    source = _Source({name: clean(text) for name in _FILES if (text := tree.read(name)) is not None}, report)
    options: dict[str, dict[str, Any]] = {}
    env: dict[str, dict[str, Any]] = {}
    taken: dict[str, str] = {}
    for arguments, chain in source.declarations():
        if not source.for_server(chain):
            continue
        option = source.option(arguments)
        if option is None:
            continue
        name = next((one for one in option["names"] if one.startswith("--")), option["names"][0]).lstrip("-").replace("_", "-")
        for spelling in (*option["names"], *option.get("negatives", [])):
            if taken.setdefault(spelling, name) != name:
                report(f"{spelling} is declared twice")
        options[name] = option
        env.update(_variables(chain, option, name))
    if not options:
        raise HarvestError(f"llama.cpp {tree.release}: {_ARG} declares no options that can be read")
    names = {"kv-cache-dtypes": source.cache_types(), "speculative-methods": source.speculative_types(options)}
    return {
        "engine": "llama.cpp",
        "release": tree.release,
        "options": options,
        "positionals": [],
        "json": {},
        "env": dict(sorted(env.items())),
        "names": {kind: {name: {} for name in found} for kind, found in names.items() if found},
    }


def _variables(chain: str, option: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The variable that sets an option, with its LLAMA_ARG_NO_ form where the option can be negated."""
    for arguments, _ in calls(chain.replace(".", " "), "set_env"):
        variable = literal(arguments)
        if variable is None or variable.startswith("__"):
            continue
        kind = "bool" if option["kind"] in ("flag", "toggle") else option.get("type")
        said = {"type": kind, "choices": option.get("choices"), "option": name}
        yield variable, {key: value for key, value in said.items() if value is not None}
        if option.get("negatives") and variable.startswith("LLAMA_ARG_"):
            yield variable.replace("LLAMA_ARG_", "LLAMA_ARG_NO_"), {"option": name}


class _Source:
    """The files of one build, comments taken out."""

    def __init__(self, files: dict[str, str], report: Callable[[str], None]) -> None:
        self.files = files
        self.arg = files[_ARG]
        self._report = report
        self._init = next(
            (body for name in ("common_params_parser_init", "gpt_params_parser_init") if (body := function(self.arg, name))), ""
        )

    def declarations(self) -> Iterator[tuple[str, str]]:
        """(constructor arguments, the calls chained to it) of each option that the server's parser may be given."""
        for inside, _ in calls(_for_server_only(self._init), "add_opt"):
            for name in ("common_arg", "llama_arg"):
                yield from calls(inside, name)

    def for_server(self, chain: str) -> bool:
        """Whether the server has the option: options without examples of their own are everybody's."""
        examples, excludes = (self._listed(chain, name) for name in ("set_examples", "set_excludes"))
        if examples is not None and not any(example in examples for example in _SERVER):
            return False
        return excludes is None or "LLAMA_EXAMPLE_SERVER" not in excludes

    def _listed(self, chain: str, method: str) -> list[str] | None:
        for arguments, _ in calls(chain.replace(".", " "), method):
            text = arguments if arguments.strip().startswith("{") else initializer(self.arg, arguments.strip()) or ""
            found = re.findall(r"\bLLAMA_EXAMPLE_\w+", text)
            if not found:
                self._report(f"{method}({arguments}) is not known")
            return found
        return None

    def option(self, arguments: str) -> dict[str, Any] | None:
        parts = split(arguments)
        names = literals(parts[0]) if parts and parts[0].startswith("{") else []
        if not names:
            self._report(f"an option whose names are not known: {arguments[:60]!r}")
            return None
        option: dict[str, Any] = {"names": names}
        handler = next((match for part in parts if (match := _LAMBDA.match(part))), None)
        if handler is None:
            self._report(f"{names[0]}: a handler that is not known")
            return None
        body = handler.string[handler.end() : closing(handler.string, handler.end() - 1)]
        values = [one for one in handler.group("params").split(",") if "params" not in one.split("&")[0]]
        kinds = [_kind(value) for value in values]
        if kinds == []:
            option["kind"] = "flag"
        elif kinds == ["bool"]:
            option.update(kind="toggle", negatives=literals(parts[1]) if parts[1].startswith("{") else [])
        elif kinds in (["int"], ["str"]):
            option["kind"] = "value"
            self._value(option, kinds[0], body, re.findall(r"\w+", values[0])[-1])
        elif kinds == ["str", "str"]:
            option.update(kind="list", nargs=2)
        else:
            self._report(f"{names[0]}: a handler of {handler.group('params')!r} is not known")
            return None
        _consequence(option, parts, body)
        return option

    def _value(self, option: dict[str, Any], kind: str, body: str, value: str) -> None:
        """What the handler does with its value: a conversion, or a closed list of texts."""
        if kind == "int":
            option["type"] = "stoi"
            return
        flat = re.sub(r"\s+", " ", body).strip()
        conversion = re.match(rf"(?:params\.[\w.]+|(?:const )?\w+ \w+) = (?:\([\w ]+\) ?)?std::(\w+)\({value}\)", flat)
        if conversion and conversion.group(1) in _CONVERSIONS:
            option["type"] = conversion.group(1)
        elif re.search(rf"\bkv_cache_type_from_str\({value}\)", flat):
            option["choices"] = self.cache_types()
        elif _SPEC_TYPES in flat:
            option["type"] = _SPEC_TYPES
        else:
            named = re.fullmatch(rf"params\.[\w.]+ = (\w+)\({value}\);", flat)
            choices = self._chain(body, value) or (self._named(named.group(1)) if named else [])
            if choices:
                option["choices"] = choices

    def _named(self, name: str) -> list[str]:
        """The texts that a function of one text compares it with, where it throws for any other."""
        for text in self.files.values():
            body = function(text, name)
            if body is not None:
                plain = re.sub(r"\b(?:else|if|return)\b|==|[(){};\s]|\b[A-Z][A-Z0-9_]+\b", " ", re.split(r"\bthrow\b", body)[0])
                closed = body.count("throw") == 1 and re.search(r"\bthrow\b[^;]*;\s*$", body) is not None
                variables = set(plain.split()) - {f'"{one}"' for one in literals(body)}
                return literals(re.split(r"\bthrow\b", body)[0]) if closed and len(variables) == 1 else []
        return []

    def _chain(self, body: str, value: str) -> list[str]:
        """The texts of `if (value == "a") {...} else if (...) {...} else { throw ...; }` where that is all of the body."""
        found: list[str] = []
        rest = body.strip()
        copy = re.match(rf"(?:const\s+)?std::string\s*&?\s*(\w+)\s*=\s*{value}\s*;\s*", rest)
        if copy is not None:
            value, rest = copy.group(1), rest[copy.end() :]
        while True:
            match = re.match(r"(?:else\s+)?if\s*\(", rest)
            if match is None:
                break
            end = closing(rest, match.end() - 1)
            for term in rest[match.end() : end].split("||"):
                texts = self._accepted(term.strip(), value)
                if texts is None:
                    return []
                found += texts
            branch, rest = _block(rest[end + 1 :].lstrip())
            if "throw" in branch:
                return []
        tail = re.match(r"else\b\s*", rest)
        branch, rest = _block(rest[tail.end() :] if tail else rest)
        return found if re.match(r"\s*throw\b", branch) and "throw" not in rest and value not in rest else []

    def _accepted(self, term: str, value: str) -> list[str] | None:
        """The texts for which one condition holds, None where it is of another form."""
        match = re.fullmatch(rf"{value}\s*==\s*(\".*\")", term)
        if match is not None:
            text = literal(match.group(1))
            return None if text is None else [text]
        match = re.fullmatch(rf"(?:\w+::)?(is_\w+)\({value}\)", term)
        body = function(self.arg, match.group(1)) if match else None
        return literals(body) if body else None

    def cache_types(self) -> list[str]:
        """The texts that `--cache-type-k` and its kin take."""
        listed = initializer(self.arg, "kv_cache_types")
        if listed is not None:
            return [name.lower() for name in re.findall(r"GGML_TYPE_(\w+)", listed)]
        for text in self.files.values():
            body = function(text, "kv_cache_type_from_str")
            if body is not None:
                return re.findall(r"==\s*\"(\w+)\"", body)
        return []

    def speculative_types(self, options: dict[str, dict[str, Any]]) -> list[str]:
        """The names that `--spec-type` takes."""
        option = options.get("spec-type")
        if option is None:
            return []
        table = initializer(self.files.get("common/speculative.cpp", ""), _SPEC_MAP)
        return option.get("choices") or (literals(table) if table else [])


def _kind(parameter: str) -> str:
    return (
        "str"
        if "string" in parameter
        else "int"
        if re.search(r"\bint\b", parameter)
        else "bool"
        if "bool" in parameter
        else "?"
    )


def _block(text: str) -> tuple[str, str]:
    """(the statement or block at the start of a text, the rest)."""
    if text.startswith("{"):
        end = closing(text, 0)
        return text[1:end], text[end + 1 :].lstrip()
    end = text.find(";") + 1
    return text[:end], text[end:].lstrip()


def _consequence(option: dict[str, Any], parts: list[str], body: str) -> None:
    """`refuses` where the handler only throws, `deprecated` where it or the help text says so."""
    flat = body.strip()
    throws = re.match(r"(?:GGML_UNUSED\([^)]*\);\s*)*(?:arg_removed|throw\s+std::\w+)\s*\(", flat)
    if throws is not None:
        said = literals(flat[throws.end() : closing(flat, throws.end() - 1)])
        prefix = "the argument has been removed. " if "arg_removed" in throws.group() else ""
        option["refuses"] = prefix + "".join(said)
        return
    said = [*literals(body), *(" ".join(literals(part)) for part in parts[1:] if not _LAMBDA.match(part))]
    warned = next((text for text in said if _DEPRECATED.search(text)), None)
    if warned is not None:
        option["deprecated"] = warned.strip()


def _for_server_only(body: str) -> str:
    """A function's text without the branches that are for other programs: the `else` of `if (ex == LLAMA_EXAMPLE_SERVER)`."""
    kept, at = [], 0
    for match in re.finditer(r"\bif\s*\(\s*ex\s*(==|!=)\s*(LLAMA_EXAMPLE_\w+)\s*\)\s*\{", body):
        if match.start() < at:
            continue
        end = closing(body, match.end() - 1)
        other = re.compile(r"\s*else\s*(?=\{)").match(body, end + 1)
        stop = closing(body, other.end()) if other else end
        holds = (match.group(2) == "LLAMA_EXAMPLE_SERVER") == (match.group(1) == "==")
        kept.append(body[at : match.start()])
        kept.append(body[match.end() : end] if holds else body[other.end() + 1 : stop] if other else "")
        at = stop + 1
    return "".join([*kept, body[at:]])
