"""tools/mutants: which changes it makes of a source, which tests it runs, and what it reports."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools/mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


tool = _loaded()


def changed(source: str) -> list[str]:
    return [one.applied(source) for one in tool.mutants("m", source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("a is not None", ["a is None"]),
        ("x in y", ["x not in y"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("a + b", ["(a - b)"]),
        ("f(1)", ["pass", "f(2)", "f(0)"]),
        ("x = True", ["x = False"]),
        ("x = 'é' < y", ["x = 'é' <= y", "x = 'éx' < y"]),
        ("while a:\n    break", ["while (not (a)):\n    break", "while a:\n    pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("x += a", ["pass"]),
    ],
)
def test_each_mutant_has_one_change(source: str, expected: list[str]) -> None:
    assert sorted(changed(source)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "import a",
        'x = f"{1 < 2}"',
        "def f(a: 'int') -> 'str': ...",
        "@cache(maxsize=1)\ndef f(): ...",
        "if TYPE_CHECKING:\n    x = 1",
        "class A:\n    __slots__ = ('a',)",
        "def f():\n    return None",
    ],
)
def test_what_cannot_change_the_behaviour_is_left_alone(source: str) -> None:
    assert changed(source) == []


def test_equal_changes_have_names_of_their_own() -> None:
    found = tool.mutants("a.b", "def f():\n    return (x < y, x < y)\n")
    assert [one.name for one in found if "<=" in one.after] == ["a.b:f:x < y -> x <= y@1", "a.b:f:x < y -> x <= y@2"]


def test_a_seed_repeats_a_sample() -> None:
    once, again, other = (tool.sample(["rules.ranges"], 10, seed) for seed in (3, 3, 4))
    assert once == again != other
    assert len(once) == 10


def test_tests_beside_a_module(tmp_path: Path) -> None:
    for name in ("tests/a/test_b.py", "tests/a/test_b_more.py", "tests/a/test_c.py", "tests/a/d/test_e.py", "tests/test_g.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert tool.beside("a.b", tmp_path) == ["tests/a/test_b.py", "tests/a/test_b_more.py"]
    assert tool.beside("a.d", tmp_path) == ["tests/a/d/test_e.py"]
    assert tool.beside("a.other", tmp_path) == ["tests/a"]
    assert tool.beside("a.b.f", tmp_path) == ["tests/a/test_b.py", "tests/a/test_b_more.py"]
    assert tool.beside("a.z.f", tmp_path) == ["tests/a"]
    assert tool.beside("g", tmp_path) == ["tests/test_g.py"]
    assert tool.beside("a", tmp_path) == ["tests/a/test_b.py", "tests/a/test_b_more.py", "tests/a/test_c.py"]
    with pytest.raises(ValueError, match="no tests stand beside z"):
        tool.beside("z", tmp_path)


def test_equivalents_have_reasons(tmp_path: Path) -> None:
    path = tmp_path / "equivalents.txt"
    path.write_text("a.b:f:x < y -> x <= y@1 # they are never equal\nno reason\n")
    assert tool.equivalents(path) == {"a.b:f:x < y -> x <= y@1": "they are never equal"}
    assert tool.equivalents(tmp_path / "none.txt") == {}


def test_listed_equivalents_are_mutants_of_the_source() -> None:
    known = tool.equivalents()
    modules = {name.partition(":")[0] for name in known}
    sources = {module: (ROOT / tool.module_path(module)).read_text(encoding="utf-8") for module in modules}
    assert not known.keys() - {one.name for module, source in sources.items() for one in tool.mutants(module, source)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each mutant is a fork of the program")
def test_fates_of_mutants(tmp_path: Path) -> None:
    def report(path: str) -> tuple[int, str]:
        command = [sys.executable, "tools/mutants.py", "small", "--tests", f"small={path}"]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout

    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # a start of pytest takes seconds with all of them
    files = {
        "src/servelint/__init__.py": "",
        "src/servelint/small.py": """
            MOST = 3
            def larger(a, b):
                return a if a > b else b
            def least(number):
                return min(number, MOST)
            """,
        "tests/test_small.py": """
            import pytest
            from servelint.small import larger, least
            def test_larger():
                assert larger(2, 1) == 2 and larger(1, 2) == 2
            def test_least():
                assert least(5) == 3
            def test_that_fails_without_a_mutant():
                assert least(5) == 4
            @pytest.mark.browser
            def test_that_takes_minutes():
                assert type(larger(1, 1.0)) is float
            """,
        "tests/test_nothing.py": "def test_that_fails(): assert False",
        "tools/mutants.py": (ROOT / "tools/mutants.py").read_text(encoding="utf-8"),
        "tools/mutants_equivalent.txt": "small::3 -> 2@1 # not looked at\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    status, output = report("tests/test_small.py")
    lines = {" ".join(line.split()) for line in output.splitlines()}
    assert status == 1
    assert lines >= {
        "SURVIVED line 4 small:larger:a > b -> a >= b@1 # 1 tests reach it",
        "killed line 2 small::3 -> 4@1",
        "killed line 4 small:larger:return a if a > b else b -> return None@1",
        "equivalent line 2 small::3 -> 2@1",
    }, output
    assert output.endswith("5 mutants, seed 1: 3 killed (0 by timeout), 1 survived, 1 equivalent\n")
    with open(tmp_path / "tools/mutants_equivalent.txt", "a", encoding="utf-8") as file:
        file.write("small:larger:a > b -> a >= b@1 # equal numbers are the same\n")
    assert report("tests/test_small.py")[0] == 0
    assert report("tests/test_nothing.py") == (2, "")
