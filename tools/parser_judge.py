"""Compare servelint with the argument parsers of llama.cpp, TGI and LMDeploy, as their own source makes them.

    python tools/parser_judge.py llama.cpp SOURCE --release b11434     SOURCE: a llama.cpp tree; needs g++
    python tools/parser_judge.py tgi SOURCE --release 3.3.7            SOURCE: launcher/src/main.rs
    python tools/parser_judge.py lmdeploy SOURCE --release 0.18.0      SOURCE: a folder with the package lmdeploy

llama.cpp: common/arg.cpp and what it needs are compiled without optimisation, and `common_params_parse` reads each case in a
process of its own; functions of libllama and ggml that parsing does not need end it with their name. TGI: the attributes of the
struct `Args` are read anew from main.rs, apart from the catalog, and decided by clap's rules. LMDeploy: the parser of
`lmdeploy serve api_server` is made from the package, with stubs for every other package. Nothing is served.

Cases are mutations of the rule book's launches, equal for one --seed; those in which only a file, a device or a checkpoint is
missing are left out. --build keeps what is compiled.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import servelint
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import ENGINES, catalog
from servelint.engines.catalog import Table
from servelint.judge.judging import judge
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules.compile import expand, read_rules, rule_files
from servelint.rules.load import rules

ROOT = Path(__file__).resolve().parent.parent

# -- llama.cpp

_UNITS = (
    *("arg", "common", "log", "preset", "json", "json-schema", "json-schema-to-grammar", "sampling", "speculative", "subproc"),
    *("unicode", "trie"),
)
_DRIVER = r"""
#include "arg.h"
#include "common.h"
#include <sys/wait.h>
#include <unistd.h>
#include <iostream>
int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::vector<std::string> words;
        for (size_t at = 0; !line.empty(); ) {
            const size_t end = line.find('\x1f', at);
            words.push_back(line.substr(at, end - at));
            if (end == std::string::npos) break;
            at = end + 1;
        }
        int ends[2];
        if (pipe(ends) != 0) return 2;
        std::cout.flush();
        const pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            dup2(ends[1], 2);
            close(ends[0]);
            static std::string program = "llama-server";
            std::vector<char *> argv = {&program[0]};
            for (auto & word : words) argv.push_back(&word[0]);
            argv.push_back(nullptr);
            common_params params;
            _exit(common_params_parse((int) words.size() + 1, argv.data(), params, LLAMA_EXAMPLE_SERVER) ? 0 : 1);
        }
        close(ends[1]);
        std::string said;
        char buffer[4096];
        ssize_t count;
        while ((count = read(ends[0], buffer, sizeof buffer)) > 0) said.append(buffer, count);
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        for (auto & sign : said) if (sign == '\n' || sign == '\r' || sign == '\t') sign = ' ';
        std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : 98) << '\t' << said.substr(0, 300) << "\n";
    }
}
"""
_STUBS = r"""
#include "arg.h"
#include "chat.h"
#include "ggml-backend.h"
#include "llama.h"
extern "C" {
const char * llama_flash_attn_type_name(enum llama_flash_attn_type type) {
    return type == LLAMA_FLASH_ATTN_TYPE_AUTO ? "auto" : type == LLAMA_FLASH_ATTN_TYPE_ENABLED ? "enabled" : "disabled";
}
size_t llama_max_devices(void) { return 16; }
size_t llama_max_tensor_buft_overrides(void) { return 4096; }
bool llama_supports_gpu_offload(void) { return true; }
bool llama_supports_rpc(void) { return true; }
bool llama_supports_mmap(void) { return true; }
bool llama_supports_mlock(void) { return true; }
void ggml_backend_load_all(void) {}
size_t ggml_backend_dev_count(void) { return 0; }
ggml_backend_dev_t ggml_backend_dev_by_name(const char *) { return nullptr; }
int32_t llama_chat_builtin_templates(const char **, size_t) { return 0; }
}
bool common_chat_verify_template(const std::string &, bool) { return true; }
namespace hf_cache { void migrate_old_cache_to_hf_cache(const std::string &, bool) {} }
"""
_MISSING = """
#include <stdio.h>
#include <unistd.h>
void missing_symbol(const char * name) { dprintf(2, "not linked: %s", name); _exit(99); }
"""


def build_llamacpp(source: Path, folder: Path) -> list[str]:
    """Compile the parser of a llama.cpp tree. Returns the command that reads cases."""
    program = folder / "llamacpp_parser"
    if program.exists():
        return [str(program)]
    compiler = ["g++", "-std=c++17", "-O0", "-w", "-Icommon", "-Iinclude", "-Iggml/include", "-Ivendor", f"-I{folder}", "-c"]
    (folder / "ggml-version.h").write_text('#define GGML_VERSION "0"\n#define GGML_COMMIT "0"\n')
    for name, text in (("driver.cpp", _DRIVER), ("stubs.cpp", _STUBS), ("missing_c.c", _MISSING)):
        (folder / name).write_text(text)
    units = {name: source / "common" / f"{name}.cpp" for name in _UNITS} | {n: folder / f"{n}.cpp" for n in ("driver", "stubs")}
    objects = []
    for name, path in units.items():
        if path.exists():
            objects.append(str(folder / f"{name}.o"))
            subprocess.run([*compiler, str(path), "-o", objects[-1]], cwd=source, check=True)
    version = ['-DGGML_VERSION="0"', '-DGGML_COMMIT="0"']  # older builds get these from CMake, newer ones from a header
    c_compiler = ["gcc", "-O0", "-w", *version, f"-I{folder}", "-Iggml/include", "-Iggml/src", "-c"]
    for path in (source / "ggml/src/ggml.c", folder / "missing_c.c"):
        objects.append(str(folder / f"{path.stem}.o"))
        subprocess.run([*c_compiler, str(path), "-o", objects[-1]], cwd=source, check=True)
    link = ["g++", "-no-pie", *objects, "-pthread", "-o", str(program)]
    tried = subprocess.run([*link, "-Wl,--no-demangle,--warn-unresolved-symbols"], capture_output=True, text=True, check=False)
    names = sorted(set(re.findall(r"undefined reference to `([^']*)'", tried.stderr)))
    (folder / "missing.S").write_text(_assembly(names))
    subprocess.run(["gcc", "-c", str(folder / "missing.S"), "-o", str(folder / "missing.o")], check=True)
    subprocess.run([*link[:-2], str(folder / "missing.o"), *link[-2:]], check=True)
    return [str(program)]


def _assembly(names: list[str]) -> str:
    """Functions that end the process with their names, and empty tables of types."""
    lines = []
    for at, name in enumerate(names):
        if name.startswith(("_ZTI", "_ZTV")):
            lines.append(f".globl {name}\n.data\n.balign 8\n{name}: .zero 256")
        else:
            lines.append(f'.section .rodata\ns{at}: .asciz "{name}"\n.text\n.globl {name}\n{name}:')
            lines.append(f" lea s{at}(%rip), %rdi\n sub $8, %rsp\n call missing_symbol")
    return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


# -- TGI

_CLAP = r"""
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
ENUMS = {}
DERIVED = r"#\[derive\([^\]]*ValueEnum[^\]]*\)\]\n(?:#\[[^\n]*\n)*(?:pub )?enum (\w+) \{(.*?)\n\}"
VARIANT = r"((?:\s*(?:///[^\n]*|#\[[^\n]*\])\n)*)\s*([A-Z]\w*),"
for name, body in re.findall(DERIVED, text, re.DOTALL):
    ENUMS[name] = set()
    for attributes, variant in re.findall(VARIANT, body):
        renamed = re.search(r'name = "([^"]+)"', attributes)
        ENUMS[name].add(renamed[1] if renamed else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", variant).lower())
BODY = re.search(r"\nstruct Args \{(.*?)\n\}", text, re.DOTALL)[1] + "\n"
BY = {}
for attributes, name, kind in re.findall(r"#\[clap\((.*?)\)\]\n\s*(\w+): ([^\n]+),\n", BODY, re.DOTALL):
    inner = re.sub(r"^(?:Option|Vec)<(.*)>$", r"\1", re.sub(r"^Option<(.*)>$", r"\1", kind))
    option = {"name": name, "type": inner, "flag": kind == "bool", "many": "Vec<" in kind}
    option["delimiter"] = "value_delimiter" in attributes
    words = set(re.split(r"[\s,]+", attributes))
    if "long" in words:
        BY.setdefault("--" + name.replace("_", "-"), option)
    if "short" in words:
        BY.setdefault("-" + name[0], option)
NUMBERS = {"usize": 2**64, "u64": 2**64, "u32": 2**32, "u16": 2**16}

def value(option, given):
    for one in given.split(",") if option["delimiter"] else [given]:
        kind = option["type"]
        if kind in NUMBERS and (not re.fullmatch(r"\+?[0-9]+", one) or int(one) >= NUMBERS[kind]):
            return f"invalid value {one!r} for {option['name']}"
        if kind == "f32" and not re.fullmatch(r"(?i)[-+]?(inf|infinity|nan|([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)", one):
            return f"invalid value {one!r} for {option['name']}"
        if kind == "bool" and one not in ("true", "false"):
            return f"invalid value {one!r} for {option['name']}"
        if kind in ENUMS and one not in ENUMS[kind]:
            return f"invalid value {one!r} for {option['name']}"
    return ""

def parse(words):
    seen = set()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("-h", "--help", "-V", "--version"):
            return ""
        if word.startswith("--") and len(word) > 2:
            head, sign, attached = word.partition("=")
        elif word.startswith("-") and len(word) > 1:
            head, attached = word[:2], word[2:]
            sign = "=" if attached else ""
            attached = attached.removeprefix("=")
        else:
            return f"unexpected argument {word!r}"
        option = BY.get(head)
        if option is None:
            return f"unexpected argument {word!r}"
        if option["name"] in seen and not option["many"]:
            return f"{head} cannot be used multiple times"
        seen.add(option["name"])
        if option["flag"]:
            if sign and head.startswith("--"):
                return f"unexpected value {attached!r} for {head}"
            if sign:  # -ex is -e -x
                words[at:at] = ["-" + attached]
            continue
        if not sign:
            if at == len(words) or (words[at].startswith("-") and words[at] != "-"):
                return f"a value is required for {head}"
            attached = words[at]
            at += 1
        wrong = value(option, attached)
        if wrong:
            return wrong
    return ""

for line in sys.stdin:
    line = line.rstrip("\n")
    said = parse(line.split("\x1f") if line else [])
    print(f"{1 if said else 0}\t{said}", flush=True)
"""


def build_tgi(source: Path, folder: Path) -> list[str]:
    """Write the program that reads the launcher's arguments as clap does. Returns the command that reads cases."""
    (folder / "tgi_parser.py").write_text(_CLAP)
    return [sys.executable, str(folder / "tgi_parser.py"), str(source)]


# -- LMDeploy

_PYTHON = r"""
import importlib.abc, importlib.util, sys, types
sys.path.insert(0, sys.argv[1])
class Meta(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return make(name)
    def __call__(cls, *args, **kwargs):  # a decorator gives back what it decorates
        plain = len(args) == 1 and isinstance(args[0], (type, types.FunctionType))
        return args[0] if plain else super().__call__(*args, **kwargs)
    def __or__(cls, other): return cls
    def __ror__(cls, other): return cls
    def __getitem__(cls, item): return cls
    def __iter__(cls): return iter(())
def make(name):
    def call(self, *args, **kwargs):
        return args[0] if len(args) == 1 and isinstance(args[0], (type, types.FunctionType)) else make("value")()
    def get(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return make(attribute)()
    return Meta(name, (), {"__init__": lambda self, *a, **k: None, "__call__": call, "__getattr__": get})
class Stub(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return make(name)
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {*sys.stdlib_module_names, "lmdeploy"}:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)
    def create_module(self, spec): return Stub(spec.name)
    def exec_module(self, module): pass
sys.meta_path.insert(0, Finder())
import contextlib, io
from lmdeploy.cli.cli import CLI
from lmdeploy.cli.serve import SubCliServe
CLI.add_parsers() if hasattr(CLI, "add_parsers") else None
SubCliServe.add_parsers()
for line in sys.stdin:
    line = line.rstrip("\n")
    words = ["serve", "api_server", *(line.split("\x1f") if line else [])]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            CLI.parser.parse_args(words)
        code = 0
    except SystemExit as end:
        code = 0 if end.code in (0, None) else 1
    except BaseException as error:
        code = 1
        said.write(f"{type(error).__name__}: {error}")
    print(f"{code}\t{said.getvalue().strip().rpartition(chr(10))[2][:300]}", flush=True)
"""


def build_lmdeploy(source: Path, folder: Path) -> list[str]:
    """Write the program that makes the parser. Returns the command that reads cases."""
    (folder / "lmdeploy_parser.py").write_text(_PYTHON)
    return [sys.executable, "-W", "ignore", str(folder / "lmdeploy_parser.py"), str(source)]


BUILD = {"llama.cpp": build_llamacpp, "tgi": build_tgi, "lmdeploy": build_lmdeploy}
MACHINE = (
    *("failed to open", "not linked", "invalid device", "unknown buffer type", "no such file", "failed to parse", "curl"),
    *("failed to read", "does not exist", "file not found", "not a directory"),
)
"""Words of errors that are about files and devices of the machine."""


# -- cases


def seeds(engine: str) -> list[list[str]]:
    """The words of the rule book's launches of an engine, as far as all are known."""
    found: dict[str, list[str]] = {}
    book = str(ROOT / "rules")
    for path in rule_files(book):
        for rule in (rule for data in read_rules(path, book) for rule in expand(data)):
            for example in [*rule["examples"]["good"], *rule["examples"]["bad"]]:
                source: Source = unmarked(*example_text(example))[0]
                for launch in read(source).launches:
                    known = all(word.text.known and not word.many for word in launch.argv)
                    if launch.engine == engine and launch.argv and known and not launch.launcher and not launch.fragment:
                        words = [word.text.flat for word in launch.argv]
                        found["\x1f".join(words)] = words
    return [words for _, words in sorted(found.items())]


def mutated(words: list[str], table: Table, others: list[str], chance: random.Random) -> list[str]:
    """A launch with one change, or with none."""
    words = [*words]
    options = [at for at, word in enumerate(words) if re.match(r"--?[A-Za-z]", word)]
    values = [at for at in range(1, len(words)) if at not in options]
    every = table.options()
    how = chance.random()
    if how < 0.1 or not words:
        return words
    if how < 0.22 and options:  # a slip of the pen
        at = chance.choice(options)
        cut = chance.randrange(2, max(3, len(words[at])))
        words[at] = chance.choice((words[at][:cut] + words[at][cut + 1 :], words[at] + "s", words[at][:-1], words[at].upper()))
    elif how < 0.32 and options:  # dashes, underscores and equals signs
        at = chance.choice(options)
        words[at] = chance.choice((words[at].replace("-", "_").replace("__", "--", 1), words[at].replace("_", "-")))
        if chance.random() < 0.5 and at + 1 in values:
            words[at : at + 2] = [f"{words[at]}={words[at + 1]}"]
    elif how < 0.55 and values:  # another value
        at = chance.choice(values)
        words[at] = chance.choice(
            ("0", "-1", "1", "8", "1.5", "abc", "auto", "true", "16k", "", "fp8", "q8_0", "on", "none", " 4", "1e3")
        )
    elif how < 0.8:  # an option of the release, with a value or without
        option = chance.choice(every)
        spelling = chance.choice([*option.names, *option.negatives])
        value = (
            [chance.choice([str(one) for one in option.choices])] if option.choices else [chance.choice(("1", "4", "x", "0.5"))]
        )
        if option.name not in ("help", "version"):
            words += [spelling, *([] if not option.takes_value and chance.random() < 0.8 else value)]
    elif how < 0.88:
        words += [chance.choice(others), *(["1"] if chance.random() < 0.5 else [])]
    elif how < 0.94 and options:
        del words[chance.choice(options)]
    else:
        words += words[-2:]
    return words


def refused(engine: str, release: str, words: list[str], parser: set[str] | None) -> list[str]:
    """The errors that servelint reports for a launch: those of the parser, or all of the engine where it is None."""
    text = shlex.join([*ENGINES[engine].command, *words])
    (launch,) = servelint.find_launches(text, "run.sh")
    found = judge(launch, Settings(profile="audit", engine_versions={engine: release}))
    area = ENGINES[engine].package + "/"
    ids = {one.rule for one in found if one.rule.startswith((area, engine + "/"))} if parser is None else parser
    return [f"{one.rule}: {one.message}" for one in found if one.severity == "error" and one.rule in ids]


def main() -> int:
    """Print the agreement and each case in which the two differ. Returns 1 below 99 %."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("engine", choices=[*BUILD])
    options.add_argument("source", type=Path)
    options.add_argument("--release", required=True)
    options.add_argument("--cases", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--build", type=Path, help="a folder that keeps what is compiled")
    given = options.parse_args()
    known = catalog.load(given.engine)
    index = known.index(given.release) if known is not None else None
    if known is None or index is None:
        raise SystemExit(f"the catalog has no {given.engine} {given.release}")
    folder = given.build or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    command = BUILD[given.engine](given.source.resolve(), folder.resolve())
    chance = random.Random(given.seed)
    others = sorted({name for one in ("vllm", "llama.cpp", "tgi") if one != given.engine for name in _spellings(one)})
    start = seeds(given.engine)
    cases = [mutated(chance.choice(start), known.table(index), others, chance) for _ in range(given.cases * 2)]
    cases = [words for words in cases if not any("\n" in word or "\x1f" in word for word in words)]
    text = "".join(["\x1f".join(words) + "\n" for words in cases])
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    answers = [line.partition("\t") for line in result.stdout.splitlines()]
    if len(answers) != len(cases):
        print(result.stderr[-3000:], file=sys.stderr)
        return 2
    asked = [(words, code, said) for words, (code, _, said) in zip(cases, answers, strict=True) if not _machine(said, code)]
    parser = {rule.id for rule in rules() if rule.complaint is not None and not rule.id.startswith("container/")}
    differ, taken = 0, 0
    for words, code, said in asked[: given.cases]:
        # a rule beside the parser may report what the parser takes and the server refuses later
        found = refused(given.engine, given.release, words, parser if code == "0" else None)
        taken += code == "0"
        if (code != "0") != bool(found):
            differ += 1
            print(json.dumps({"argv": words, "release": said if code != "0" else "accepts", "servelint": found}))
    count = len(asked[: given.cases])
    print(
        f"{count} cases, {taken} accepted by {given.engine} {given.release}; {count - differ} agree ({1 - differ / count:.1%})"
    )
    if given.build is None:
        shutil.rmtree(folder)
    return int(differ / count > 0.01)


def _spellings(engine: str) -> list[str]:
    known: Any = catalog.load(engine)
    return [name for option in known.table(len(known.releases) - 1).options() for name in option.names if name.startswith("--")]


def _machine(said: str, code: str) -> bool:
    """Whether an error is about what the machine lacks."""
    return code in ("98", "99") or (code != "0" and any(word in said.lower() for word in MACHINE))


if __name__ == "__main__":
    raise SystemExit(main())
