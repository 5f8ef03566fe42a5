"""Scripts inside commands that start nothing are looked at once; what they hang on is looked at each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers import idle_scripts, read
from servelint.syntax.shell import syntax, walk


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that are walked over, from a state in which none is known."""
    idle_scripts._known.clear()
    texts: list[str] = []

    real = syntax.Script

    def read_anew(text: Text) -> syntax.Script:
        texts.append(text.flat)
        return real(text)

    monkeypatch.setattr(walk, "Script", read_anew)
    return texts


def started(script: str, folder: str | None = None) -> list[str]:
    """The words of what a script starts."""
    launches = read(Source("run.sh", script), Neighbours(folder)).launches
    return [" ".join([word.shown for word in [*launch.verb, *launch.argv]]) for launch in launches]


def test_one_that_starts_nothing_is_looked_at_once(walks: list[str]) -> None:
    for lines in range(3):
        script = "\n" * lines + "bash -c 'pip install -q x && hf download m'\nvllm serve m\n"
        assert started(script) == ["vllm serve m"]
    assert [text for text in walks if not text.endswith("vllm serve m\n")] == ["pip install -q x && hf download m"]


def test_one_that_starts_something_is_looked_at_each_time(walks: list[str]) -> None:
    for port in ("1", "2"):
        assert started(f"bash -c 'sleep 1; vllm serve m'\nvllm serve m --port {port}\n") == [
            "vllm serve m",
            f"vllm serve m --port {port}",
        ]
    assert walks.count("sleep 1; vllm serve m") == 2


def test_a_command_that_starts_nothing_is_looked_at_once(walks: list[str]) -> None:
    for port in ("1", "2"):
        script = f"docker run x sh -c 'hf download m'\nvllm serve m --port {port}\n"
        assert started(script) == [f"vllm serve m --port {port}"]
    assert walks.count("hf download m") == 1


def test_a_default_may_be_another(walks: list[str]) -> None:
    """What stands in a script may be what a variable is if nobody sets it: then the other branch counts as well."""
    inner = "[ a = b ] && vllm serve m"
    assert started(f'bash -c "{inner}"\n') == []
    assert started(f'V=${{V:-a}}\nbash -c "{inner.replace("a =", "$V =")}"\n') == ["vllm serve m"]
    assert walks.count(inner) == 2


@pytest.mark.parametrize("inner", ["(( N > 1 )) && vllm serve m", "[[ -v N ]] || vllm serve m", "for x; do vllm serve m; done"])
def test_what_it_hangs_on_counts(walks: list[str], inner: str) -> None:
    """Variables and arguments that it names without a dollar sign."""
    told = [
        started(f"export N={number}\nbash -c '{inner}' name{rest}\n") for number, rest in (("0", ""), ("2", " a"), ("0", ""))
    ]
    fresh = []
    for number, rest in (("0", ""), ("2", " a"), ("0", "")):
        idle_scripts._known.clear()
        fresh.append(started(f"export N={number}\nbash -c '{inner}' name{rest}\n"))
    assert told == fresh
    assert walks


def test_a_file_that_is_there_by_then_is_read(walks: list[str]) -> None:
    inner = "docker run -v ./up.sh:/up.sh x bash -c '/up.sh m'\n"
    assert started(inner) == []
    assert started("cat > up.sh <<'END'\n#!/bin/bash\nvllm serve m\nEND\n" + inner) == ["vllm serve m"]
    assert walks.count("/up.sh m") == 2


def test_an_env_file_is_read_each_time(walks: list[str], tmp_path: Path) -> None:
    """Of a command, and of a script with such a command in it."""
    run = "docker run --env-file x.env image bash -c"
    for command in (f'{run} "(( N > 1 )) && vllm serve m"', f"sh -c '{run} \"(( N > 1 )) && vllm serve m\"'"):
        for number, expected in (("0", 0), ("2", 1), ("0", 0)):
            (tmp_path / "x.env").write_text(f"N={number}\n")
            found = read(Source("Makefile", f"up:\n\t{command}\n"), Neighbours(str(tmp_path))).launches
            assert len(found) == expected
    assert walks


def test_as_many_are_kept(walks: list[str], tmp_path: Path) -> None:
    for number in range(idle_scripts._KEPT_AT_MOST + 3):
        started(f"bash -c 'echo {number}'\nvllm serve m\n", str(tmp_path))
    assert 0 < len(idle_scripts._known) <= idle_scripts._KEPT_AT_MOST
    assert len(walks) > idle_scripts._KEPT_AT_MOST
