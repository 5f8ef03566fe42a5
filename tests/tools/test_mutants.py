"""tools/mutants: which changes it makes of a source, which tests it runs, and what it reports."""

from __future__ import annotations

import importlib.util
import sys
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
    for name in tool.equivalents():
        module = name.partition(":")[0]
        source = (ROOT / tool.module_path(module)).read_text(encoding="utf-8")
        assert name in {one.name for one in tool.mutants(module, source)}, name


def test_fates_of_mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "src/servelint").mkdir(parents=True)
    (tmp_path / "src/servelint/__init__.py").touch()
    (tmp_path / "src/servelint/small.py").write_text("def larger(a, b):\n    return a if a > b else b\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_small.py").write_text(
        "from servelint.small import larger\n\n\ndef test_larger():\n    assert larger(2, 1) == 2 and larger(1, 2) == 2\n"
    )
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a start of pytest takes seconds with all of them
    tests = ["--tests", "small=tests/test_small.py"]
    assert tool.main(["small", *tests]) == 1
    output = capsys.readouterr().out
    assert "SURVIVED   line    2 small:larger:a > b -> a >= b@1" in output
    assert "killed     line    2 small:larger:return a if a > b else b -> return None@1" in output
    assert output.endswith("2 mutants, seed 1: 1 killed (0 by timeout), 1 survived, 0 equivalent\n")
    monkeypatch.setattr(tool, "equivalents", lambda: {"small:larger:a > b -> a >= b@1": "equal numbers are the same"})
    assert tool.main(["small", *tests]) == 0
    assert tool.main(["small", "--tests", "small=tests/none.py"]) == 2
