"""Mutation tests: change one thing in a module at random, run the tests that reach it, and report the changes that they miss.

    python tools/mutants.py rules/ranges rules/condition --number 40 --seed 7

First, the tests beside all the modules run once, and note which of them reach the statement of which mutant. Then a mutant
meets those that do: all that stand beside its module, and if they pass the fastest of the others, _OTHERS_SECONDS of them. A
test that fails without a mutation kills none.

Tests beside a module are those of the mirror: `rules/ranges` has tests/rules/test_ranges*.py, and those of its nearest user
that _ALSO names, or all of tests/rules without either, test_whole.py of its folders, and its own doctests. Those that need
a browser are left out. `--tests MODULE=PATH,PATH` names others. A run copies src/ into a temporary folder, so that the checkout
never holds a mutant. Each mutant has a process of its own, a fork of one that has imported what is not of this project: it
needs a Unix. The same seed takes the same mutants of the same source.

tools/mutants_equivalent.txt lists mutants that mean the same as the source, a line each: the name, ` # ` and the reason.
The exit status is 1 if a mutant survives that is not listed, 2 if no test passes without any mutation.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import contextlib
import dataclasses
import importlib
import itertools
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENTS = ROOT / "tools" / "mutants_equivalent.txt"
_PACKAGE = "servelint"
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Div: ast.Mult,
}
_LEFT_ALONE = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
"""Nodes that are not changed: an f-string has no places of its parts before Python 3.12."""
_RECORD = ["tests/engines/test_registry.py", "tests/engines/test_entry.py", "tests/engines/test_images.py"]
_ALSO = {
    "autofix": ["tests/fixes/test_fixes_of_files.py", "tests/fixes/test_layouts.py"],
    "cli.launches": ["tests/cli/test_problems.py"],
    "cli.memory": ["tests/cli/test_problems.py"],
    "cli.rules": ["tests/cli/test_problems.py"],
    "cli.translate": ["tests/cli/test_problems.py"],
    "cli.upgrade": ["tests/cli/test_problems.py"],
    "core.secrets": ["tests/filters/test_masking.py"],
    "engines.conversions": ["tests/engines", "tests/judge/parser"],
    "engines.launch_files": ["tests/engines/test_object_files.py"],
    "engines.llamacpp": _RECORD,
    "engines.lmdeploy": _RECORD,
    "engines.ollama": _RECORD,
    "engines.sglang": _RECORD,
    "engines.tgi": _RECORD,
    "engines.trtllm": _RECORD,
    "engines.vllm": _RECORD,
    "filters": ["tests/files/test_directives.py"],
    "filters.suppressions": ["tests/cli/test_trusted_suppressions.py"],
    "fixes.entries": ["tests/fixes/test_fixes.py", "tests/fixes/test_layouts.py", "tests/fixes/test_make.py"],
    "fixes.make": ["tests/fixes/test_fixes.py", "tests/fixes/test_layouts.py", "tests/fixes/test_fixes_of_files.py"],
    "fixes.words": ["tests/fixes/test_fixes.py", "tests/fixes/test_layouts.py", "tests/fixes/test_make.py"],
    "judge.judging": [
        "tests/judge/test_refused_by_the_newest.py",
        "tests/judge/test_unknown_release.py",
        "tests/judge/checks/test_memory.py",
    ],
    "judge.parser.values": ["tests/judge/parser/test_misspelt.py"],
    "judge.releases": ["tests/judge/test_unknown_release.py"],
    "lsp.analysis": ["tests/lsp/test_worker.py", "tests/lsp/test_launch_cache.py", "tests/lsp/test_lens.py"],
    "lsp.annotations": ["tests/lsp/test_inlay.py", "tests/lsp/test_lens.py", "tests/lsp/test_symbols.py"],
    "lsp.diagnostics": ["tests/lsp/test_session.py"],
    "lsp.edits": ["tests/lsp/test_actions.py", "tests/lsp/test_shifting.py"],
    "lsp.features": ["tests/lsp/test_session.py", "tests/lsp/test_language.py"],
    "lsp.memory_hover": ["tests/lsp/test_hover.py", "tests/lsp/test_lens.py"],
    "models.quantization": ["tests/models/test_weights.py"],
    "readers.commands": ["tests/readers/test_prepared.py"],
    "readers.context": ["tests/readers/test_commands.py", "tests/readers/test_containers.py", "tests/readers/test_compose.py"],
    "readers.discover": ["tests/test_discover.py"],
    "readers.helm_chart": ["tests/readers/test_helm.py", "tests/readers/test_helm_values.py"],
    "report.advice": ["tests/advise/test_sentences.py", "tests/cli/test_advise.py"],
    "report.clean": ["tests/report/test_hostile.py"],
    "report.extent": ["tests/cli/test_judged.py"],
    "rule_examples": ["tests/rules/test_folder.py"],
    "rules.condition": ["tests/rules/test_compile.py", "tests/rules/test_options.py", "tests/rules/test_index.py"],
    "rules.load": ["tests/rules/test_folder.py", "tests/rules/test_index.py", "tests/rules/test_options.py"],
    "scan.archives": ["tests/scan/test_trees.py"],
    "scan.git": ["tests/scan/test_trees.py", "tests/scan/test_sources.py"],
    "scan.job": ["tests/scan/test_trees.py", "tests/scan/test_cache.py"],
    "scan.repository": ["tests/scan/test_trees.py", "tests/scan/test_cache.py"],
    "settings.files": ["tests/cli/test_settings.py"],
    "settings.keys": ["tests/cli/test_settings.py", "tests/tools/test_formats.py"],
    "settings.layers": ["tests/cli/test_settings.py"],
    "settings.reading": ["tests/cli/test_settings.py"],
    "speculation.gains": ["tests/speculation/test_calibration.py", "tests/speculation/test_crossover.py"],
    "speculation.roofline": ["tests/speculation/test_calibration.py", "tests/speculation/test_gains.py"],
    "syntax.batch.words": ["tests/syntax/batch/test_evaluate.py"],
    "syntax.go_functions": ["tests/syntax/test_go_templates.py"],
    "syntax.just": ["tests/readers/test_justfile.py"],
    "syntax.make": ["tests/readers/test_makefile.py"],
    "syntax.python": ["tests/readers/test_python.py"],
    "syntax.shell.evaluate": ["tests/syntax/shell/test_against_bash.py"],
    "syntax.template_yaml": ["tests/readers/test_helm_conditions.py", "tests/readers/test_helm_chart.py"],
    "syntax.interpolation": ["tests/readers/test_compose.py"],
    "syntax.units": ["tests/readers/test_systemd.py"],
}
"""Tests of the module's only or nearest user, which hold what its own tests do not."""
_WHOLE = {
    "engines": ["tests/judge/parser/test_whole.py"],
    "fixes": ["tests/judge/parser/test_whole.py", "tests/judge/checks/test_whole.py"],
    "models": ["tests/memory/test_whole.py"],
}
"""Tests of whole texts in other folders, by the package that they compare."""
_LEAST_SECONDS = 10.0
_IDLE = 20
"""How many times its seconds of the processor a run may take: the machine has other work, and a mutant may wait for ever."""
_OTHERS_SECONDS = 10.0
_REACHED = """
import os

_seen = set()


def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if (number, test) not in _seen:
        _seen.add((number, test))
        with open({path!r}, "a", encoding="utf-8") as file:
            file.write(f"{{number}}\\t{{test}}\\n")
"""
"""A module of the copy, which marks of statements call."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of a module.

    Attributes:
        module: dotted name of the module, without the package: "rules.ranges".
        where: the function or class that has the change, "" for the module itself.
        line: its line.
        start: offset of the first character that is replaced.
        end: offset after the last one.
        before: the characters that are replaced.
        after: what takes their place.
        number: which one of the equal changes in `where` it is, from 1 on.
    """

    module: str
    where: str
    line: int
    start: int
    end: int
    before: str
    after: str
    number: int = 1

    @property
    def name(self) -> str:
        """A name that stays the same while the function does not change."""
        texts = [" ".join(text.split()) for text in (self.before, self.after)]
        return f"{self.module}:{self.where}:{texts[0]} -> {texts[1]}@{self.number}"

    def applied(self, source: str) -> str:
        """The source with the change."""
        return source[: self.start] + self.after + source[self.end :]


def mutants(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module's source, in the order of the source."""
    offset = _offsets(source)
    found: list[Mutant] = []
    seen: dict[tuple[str, str, str], int] = {}
    for where, node, after in _changes(ast.parse(source), ""):
        start, end = offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)
        key = where, source[start:end], after
        seen[key] = seen.get(key, 0) + 1
        found.append(
            Mutant(
                module=module,
                where=where,
                line=node.lineno,
                start=start,
                end=end,
                before=source[start:end],
                after=after,
                number=seen[key],
            )
        )
    return sorted(found, key=lambda one: (one.start, one.end, one.after))


def _offsets(source: str) -> Callable[[int, int], int]:
    """What turns a line (from 1 on) and a column in bytes into an offset in a source."""
    lines = source.splitlines(keepends=True)
    starts = [0, *itertools.accumulate([len(text) for text in lines])]
    return lambda line, column: starts[line - 1] + len(lines[line - 1].encode()[:column].decode())


def marked(source: str, taken: dict[int, Mutant]) -> tuple[str, set[int]]:
    """A source that notes when the statement of a mutant is reached, and the numbers of those that any import reaches."""
    offset = _offsets(source)
    tree = ast.parse(source)
    always: set[int] = set()

    def place(body: list[ast.stmt], mutant: Mutant, within: bool) -> tuple[list[ast.stmt], ast.stmt, bool] | None:
        """The innermost statement of a mutant, the list that has it, and whether it stands in a function."""
        for one in body:
            start, end = offset(one.lineno, one.col_offset), offset(one.end_lineno or 0, one.end_col_offset or 0)
            if start <= mutant.start and mutant.end <= end:
                function = within or isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
                parts: list[ast.AST] = [one, *getattr(one, "handlers", ()), *getattr(one, "cases", ())]
                for part, name in itertools.product(parts, ("body", "orelse", "finalbody")):
                    inner = getattr(part, name, None)
                    found = place(inner, mutant, function) if isinstance(inner, list) else None
                    if found is not None:
                        return found
                return body, one, within
        return None

    marks: dict[int, tuple[list[ast.stmt], ast.stmt, list[int]]] = {}
    for number, mutant in taken.items():
        found = place(tree.body, mutant, False)
        if found is None or not found[2]:
            always.add(number)
        else:
            marks.setdefault(id(found[1]), (found[0], found[1], []))[2].append(number)
    for body, statement, numbers in marks.values():
        calls = ast.parse("\n".join([f"_reached_.hit({number})" for number in numbers])).body
        at = next(at for at, one in enumerate(body) if one is statement)
        body[at:at] = calls
    first = next((at for at, one in enumerate(tree.body) if not _is_text(one) and not _is_future(one)), 0)
    tree.body[first:first] = ast.parse(f"import {_PACKAGE}._reached as _reached_").body
    return ast.unparse(ast.fix_missing_locations(tree)), always


def _is_future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _changes(node: ast.AST, where: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """The changes in a node: the name of its function or class, the part that is replaced, and what takes its place."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        where = f"{where}.{node.name}" if where else node.name
    for part, after in _own_changes(node):
        yield where, part, after
    for child in _children(node):
        yield from _changes(child, where)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that may be changed: no docstrings, annotations, decorators or `if TYPE_CHECKING`."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _LEFT_ALONE) or _is_text(child):
                continue
            if (
                isinstance(child, ast.If)
                and isinstance(child.test, ast.Name)
                and child.test.id in ("TYPE_CHECKING", "__name__")
            ):
                continue
            if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) in ("__slots__", "__all__", "TYPE_CHECKING"):
                continue
            yield child


def _is_text(node: ast.AST) -> bool:
    """Whether a node is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _own_changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The changes of a node itself."""
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            operators = [*node.ops]
            operators[number] = _COMPARISONS[type(operator)]()
            yield node, ast.unparse(ast.Compare(node.left, operators, node.comparators))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, f"({ast.unparse(ast.BoolOp(other, node.values))})"
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield node, f"({ast.unparse(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant):
        for text in _constants(node.value):
            yield node, text
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, (ast.Continue, ast.Break, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield node, "pass"
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) not in ("None", "False"):
        yield node, "return None"


def _constants(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(value + 1), f"({value - 1})" if value < 1 else str(value - 1)]
    return [repr(value + "x")] if isinstance(value, str) else []


def module_path(module: str) -> Path:
    """The file of a module below src, by its dotted name without the package."""
    path = Path("src") / _PACKAGE / Path(*module.split("."))
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def beside(module: str, root: Path = ROOT) -> list[str]:
    """The tests beside a module: its own files in the mirror, else those of its package, else those of the nearest folder.

    Raises:
        ValueError: there are none.
    """
    path = root / module_path(module)
    doctests = [str(path.relative_to(root))] if path.exists() and ">>>" in path.read_text(encoding="utf-8") else []
    parts = module.split(".")
    folders = [Path("tests", *parts[:depth]) for depth in range(len(parts) - 1, -1, -1)]
    whole = [*[str(folder / "test_whole.py") for folder in folders], *_WHOLE.get(parts[0], ())]
    more = [*[one for one in whole if (root / one).exists()], *doctests]
    also = [path for path in _ALSO.get(module, ()) if (root / path).exists()]
    for name, folder in zip(parts[::-1], folders, strict=True):
        mirror = root / folder
        own = [*mirror.glob(f"test_{name}.py"), *mirror.glob(f"test_{name}_*.py"), *(mirror / name).glob("test_*.py")]
        if own or also:
            return list(dict.fromkeys([*sorted([str(path.relative_to(root)) for path in own]), *also, *more]))
        if len(folder.parts) > 1 and any(mirror.glob("test_*.py")):
            return [str(folder), *more]
    raise ValueError(f"no tests stand beside {module}; name them with --tests")


def equivalents(path: Path = EQUIVALENTS) -> dict[str, str]:
    """The mutants that mean the same as the source, with the reason of each."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        name, sign, reason = line.rpartition(" # ")
        if sign:
            found[name.strip()] = reason.strip()
    return found


def sample(modules: list[str], number: int, seed: int) -> list[Mutant]:
    """Take mutants at random, of each module as many as its share of all of them."""
    every = [one for module in modules for one in mutants(module, (ROOT / module_path(module)).read_text(encoding="utf-8"))]
    taken = random.Random(seed).sample(every, min(number, len(every)))
    return sorted(taken, key=lambda one: (modules.index(one.module), one.start, one.after))


class _Recorder:
    """A plugin of pytest that takes some tests in their order and notes what passes.

    Attributes:
        only: the tests that run; all that are collected without any.
        seconds: what each test took.
        failed: those that did not pass.
    """

    def __init__(self, only: list[str]) -> None:
        self.only = {test: at for at, test in enumerate(only)}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the tests that were asked for."""
        if self.only:
            items[:] = sorted([one for one in items if one.nodeid in self.only], key=lambda one: self.only[one.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a phase of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


def _foreign() -> list[str]:
    """The modules that this process has imported from elsewhere than its current folder."""
    here = str(Path.cwd())
    origins = {name: getattr(getattr(one, "__spec__", None), "origin", None) or here for name, one in sys.modules.items()}
    return [name for name, origin in origins.items() if not origin.startswith(here)]


def _child(folder: Path, arguments: list[str], only: list[str], limit: float | None, result: Connection) -> None:
    """Run pytest in the copy, and send its status, the seconds of the tests that pass, and the modules that it imported.

    Past a limit of seconds of the processor it is ended by a signal.
    """
    import resource  # not on Windows, where the rest of this file is tested too

    if limit is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))
    paths = [str(folder / "src"), str(folder)]
    os.chdir(folder)
    os.environ.update({"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": ""})
    sys.dont_write_bytecode = True
    sys.path[:] = [*paths, *[path for path in sys.path if path != str(Path(__file__).parent)]]
    with open(os.devnull, "r+", encoding="utf-8") as nowhere:
        for number in range(3):
            os.dup2(nowhere.fileno(), number)
    recorder = _Recorder(only)
    fixed = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]  # pytest would rewrite what is imported
    fixed += ["-m", "not browser"]  # it takes minutes
    status = pytest.main([*fixed, *arguments], plugins=[recorder])
    passed = {test: seconds for test, seconds in recorder.seconds.items() if test not in recorder.failed}
    result.send((int(status), passed, [] if only else _foreign()))


class Laboratory:
    """A copy of the checkout's source, with links to everything else, in which tests run against a mutant.

    Attributes:
        folder: the copy.
        seconds: the tests that pass without a mutation, and what each takes.
        reaching: the tests that reach the statement of each mutant.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        self.reaching: dict[int, set[str]] = {}
        shutil.copytree(ROOT / "src", folder / "src", symlinks=True)
        for entry in ROOT.iterdir():
            if entry.name not in ("src", ".git", ".venv"):
                (folder / entry.name).symlink_to(entry)

    def measure(self, taken: list[Mutant], tests: list[str]) -> None:
        """Run tests without a mutation, and note what each reaches.

        Raises:
            RuntimeError: none of them passes.
        """
        reached = self.folder / "reached"
        recorder = self.folder / "src" / _PACKAGE / "_reached.py"
        recorder.write_text(_REACHED.format(path=str(reached)), encoding="utf-8")
        always: set[int] = set()
        modules = {one.module for one in taken}
        for module in modules:
            own = {number: one for number, one in enumerate(taken) if one.module == module}
            text, imported = marked(self._source(module), own)
            self.write(module, text)
            always |= imported
        _, passed, imported_too = self._pytest(tests, [], None)
        for module in modules:
            self.write(module, self._source(module))
        recorder.unlink()
        for name in imported_too:  # so that the processes of the mutants need not
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        _, self.seconds, _ = self._pytest(tests, list(passed), None)
        if not passed or not self.seconds:
            raise RuntimeError(f"{' '.join(tests)} fail without a mutation")
        self.reaching = {number: set(self.seconds) if number in always else set() for number in range(len(taken))}
        for line in reached.read_text(encoding="utf-8").splitlines() if reached.exists() else []:
            number, _, test = line.partition("\t")
            name, _, phase = test.rpartition(" ")
            file = name.partition("::")[0]
            same = [one for one in self.seconds if one.partition("::")[0] == file] if phase == "(setup)" else [name]
            self.reaching[int(number)].update(one for one in same if one in self.seconds)

    def chosen(self, number: int, beside: list[str]) -> tuple[list[str], list[str]]:
        """The tests that a mutant meets, of those that reach it: all beside its module, and the fastest others."""
        own: list[str] = []
        others: list[str] = []
        for test in sorted(self.reaching[number], key=lambda test: (self.seconds[test], test)):
            (own if test.startswith(tuple(f"{path}{end}" for path in beside for end in ("::", "/"))) else others).append(test)
        spent = list(itertools.accumulate([self.seconds[test] for test in others]))
        return own, others[: bisect.bisect(spent, _OTHERS_SECONDS)]

    def passes(self, tests: list[str]) -> bool | None:
        """Whether tests pass; None if they take far longer than without a mutation."""
        files = sorted({test.partition("::")[0] for test in tests})
        limit = max(_LEAST_SECONDS, 5 * sum(self.seconds[test] for test in tests))
        status, passed, _ = self._pytest(["-x", *files], tests, limit)
        return None if status is None else status == 0 and len(passed) == len(tests)

    def _pytest(
        self, arguments: list[str], only: list[str], limit: float | None
    ) -> tuple[int | None, dict[str, float], list[str]]:
        """What `_child` sends; no status if it takes longer than a limit."""
        receiving, sending = multiprocessing.Pipe(duplex=False)
        given = (self.folder, arguments, only, limit, sending)
        child = multiprocessing.get_context("fork").Process(target=_child, args=given)
        child.start()
        sending.close()
        try:
            if receiving.poll(None if limit is None else _IDLE * limit):
                sent: tuple[int, dict[str, float], list[str]] = receiving.recv()
                return sent
        except EOFError:  # the process died
            child.join()
            if child.exitcode not in (-signal.SIGKILL, -signal.SIGXCPU):
                return 1, {}, []
        finally:
            child.kill()
            child.join()
        return None, {}, []

    def _source(self, module: str) -> str:
        return (ROOT / module_path(module)).read_text(encoding="utf-8")

    def write(self, module: str, source: str) -> None:
        """Replace the source of a module, without its time: what was compiled from rules stays as it is."""
        path = self.folder / module_path(module)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        stat = path.stat()
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def fate(self, number: int, mutant: Mutant, tests: list[str]) -> str:
        """What becomes of a mutant."""
        self.write(mutant.module, mutant.applied(self._source(mutant.module)))
        passed: bool | None = True
        for chosen in self.chosen(number, tests):
            passed = self.passes(chosen) if passed and chosen else passed
        self.write(mutant.module, self._source(mutant.module))
        return "timeout" if passed is None else "SURVIVED" if passed else "killed"


def run(taken: list[Mutant], tests: dict[str, list[str]], known: dict[str, str]) -> tuple[int, int, int, int]:
    """Run the tests against each mutant, print its fate, and count (killed, timed out, survived, equivalent).

    Raises:
        RuntimeError: the tests fail without any mutation.
    """
    counts = {"killed": 0, "timeout": 0, "SURVIVED": 0, "equivalent": 0}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        laboratory = Laboratory(Path(folder))
        laboratory.measure(taken, sorted({path for one in taken for path in tests[one.module]}))
        for number, one in enumerate(taken):
            fate = "equivalent" if one.name in known else laboratory.fate(number, one, tests[one.module])
            counts[fate] += 1
            reaching = "" if fate != "SURVIVED" else f" # {len(laboratory.reaching[number])} tests reach it"
            print(f"{fate:10} line {one.line:4} {one.name}{reaching}", flush=True)
    return counts["killed"], counts["timeout"], counts["SURVIVED"], counts["equivalent"]


def _dotted(name: str) -> str:
    """A module's dotted name below the package: rules.ranges for rules/ranges or src/servelint/rules/ranges.py."""
    return name.removesuffix(".py").replace("/", ".").removeprefix("src.").removeprefix(_PACKAGE + ".")


def main(argv: list[str] | None = None) -> int:
    """Take a sample of mutants and run it; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="+", metavar="MODULE", help="a module below the package: rules/ranges, core.bounds")
    parser.add_argument("--number", type=int, default=40, help="how many mutants to take (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample (default: %(default)s)")
    parser.add_argument("--tests", action="append", default=[], metavar="MODULE=PATH,...", help="run these tests for a module")
    parser.add_argument("--list", action="store_true", help="print the sample and run nothing")
    options = parser.parse_args(argv)
    modules = [_dotted(name) for name in options.modules]
    taken = sample(modules, options.number, options.seed)
    if options.list:
        print("\n".join([f"line {one.line:4} {one.name}" for one in taken]))
        return 0
    try:
        named = {_dotted(module): paths.split(",") for module, _, paths in (one.partition("=") for one in options.tests)}
        tests = {module: named.get(module) or beside(module) for module in modules}
        killed, late, survived, same = run(taken, tests, equivalents())
    except (RuntimeError, ValueError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    fates = f"{killed + late} killed ({late} by timeout), {survived} survived, {same} equivalent"
    print(f"{len(taken)} mutants, seed {options.seed}: {fates}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
