"""tools/formats.py: what follows from the formats that readers declare is what stands in the repository."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

import pytest

from servelint.core.source import Source
from servelint.engines.registry import ENGINES
from servelint.readers.registry import CANDIDATE, FORMATS, GLOBS, JSON, TEXT, YAML, Format, recognise
from servelint.readers.registry import named as of_name

TOOL = Path(__file__).parent.parent.parent / "tools/formats.py"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("formats_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["formats_tool"] = module
    spec.loader.exec_module(module)
    return module


formats = _loaded()
DECLARED: list[Format] = formats.declared()


class TestWhatIsWritten:
    def test_all_of_it_is_up_to_date(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert formats.main(["--check"]) == 0
        assert capsys.readouterr().out == ""

    def test_it_is_the_index_the_hooks_the_extension_and_the_table(self) -> None:
        found = {path.relative_to(formats.ROOT).as_posix() for path in formats.written()}
        assert {"src/servelint/readers/formats.json", ".pre-commit-hooks.yaml"} <= found
        assert {"editors/vscode/src/selector.ts", "editors/vscode/package.json"} <= found
        assert any(path.endswith(".md") for path in found)
        assert {"schemas/settings.schema.json", "schemas/admission-policy.schema.json"} <= found

    def test_the_schemas_list_the_engines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        paths = [path for path in formats.written() if path.name in ("rule.schema.json", "catalog-rule.schema.json")]
        monkeypatch.setitem(ENGINES, "acme", ENGINES["ollama"])
        for path in paths:
            text = path.read_text(encoding="utf-8")
            made = formats.engine_lists(text)
            assert text.count('"acme"') == 0
            assert made.count('"acme"') == text.count('"ollama"') > 0
            assert json.loads(made.replace(', "acme"', "").replace(',\n              "acme"', "")) == json.loads(text)
            assert all(line in made for line in text.splitlines() if '"ollama"' not in line)

    def test_a_file_that_is_out_of_date_is_named_and_then_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hooks = tmp_path / ".pre-commit-hooks.yaml"
        hooks.write_text("- id: a\n  files: 'old'\n", encoding="utf-8")
        monkeypatch.setattr(formats, "ROOT", tmp_path)
        monkeypatch.setattr(formats, "INDEX", tmp_path / "formats.json")
        (tmp_path / "formats.json").write_text(formats.index(DECLARED), encoding="utf-8")
        (tmp_path / "README.md").write_text("no table here\n", encoding="utf-8")
        assert formats.main(["--check"]) == 1
        assert capsys.readouterr().out == ".pre-commit-hooks.yaml: out of date\n"
        assert formats.main([]) == 0
        assert hooks.read_text(encoding="utf-8") == f"- id: a\n  files: '{CANDIDATE}'\n"

    def test_a_new_format_is_in_all_of_it(self) -> None:
        new = Format(
            "new", 999, title="New", about="things", files=("*.new", "Newfile"), languages=("newish",), words=("novel",)
        )
        new.module = "new"
        every = [*DECLARED, new]
        assert re.search(formats.candidate(every), "a/b.NEW.j2")
        assert re.search(formats.candidate(every), "newfile.j2")
        assert not re.search(formats.candidate(DECLARED), "a/b.new")
        assert "Newfile" in formats.globs(every)
        assert "| New | things |\n" in formats.table(every)
        assert '  "newish",\n' in formats.selector("LANGUAGES = [\n];\nconst NAMES = 1;\n", every)
        assert json.loads(formats.index(every))["formats"][-1] == {
            "name": "new",
            "module": "new",
            "words": ["novel"],
            "names": "(?:\\.(?:new)|(?:^|/)newfile)$",
        }

    @pytest.mark.parametrize("new", [Format("compose", 998), Format("another", 10)])
    def test_names_and_places_are_unique(
        self, new: Format, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        new.module = "added"
        monkeypatch.setattr(formats, "load", lambda: {"a": DECLARED, "b": [new]})
        with pytest.raises(SystemExit) as ended:
            formats.main(["--check"])
        assert ended.value.code == 2
        assert re.search(
            r"compose and added have the same (name: compose|order: 10) \(orders: (?:\d+, )*10, ", capsys.readouterr().err
        )


class TestRecords:
    @pytest.mark.parametrize("one", FORMATS, ids=lambda one: str(one.name))
    def test_each_names_functions_of_its_module(self, one: Format) -> None:
        assert callable(one.function(one.read))
        assert one.syntax != YAML or callable(one.function(one.is_mine))

    @pytest.mark.parametrize("one", DECLARED, ids=lambda one: str(one.name))
    def test_each_says_what_it_is(self, one: Format) -> None:
        assert one.title
        assert one.about
        assert one.syntax in (TEXT, YAML, JSON)
        assert one.syntax == TEXT or not one.files

    def test_the_index_has_the_declared_ones_in_their_order(self) -> None:
        assert [one.name for one in FORMATS] == [one.name for one in DECLARED]


class TestGlobs:
    @pytest.mark.parametrize("glob", [glob for one in DECLARED for glob in (*one.files, *one.fallback)])
    def test_an_expression_finds_what_its_globs_do(self, glob: str) -> None:
        found = re.compile(f"(?i)(?:{formats.expression((glob,))})$")
        names = [
            "a",
            "a.env",
            ".env.x",
            "Makefile",
            "makefile.am",
            "x.Dockerfile",
            "Containerfile.cuda",
            "dockerfiles",
            "Procfile",
        ]
        names += ["a.sh", "a.conf", "justfile", ".justfile", "x.mk", "x-dockerfile_gpu", "a.env.", "GNUmakefile"]
        for name in names:
            wanted = any(fnmatchcase(name.lower(), one.lower()) for one in formats.expanded(glob))
            assert (found.search(name) is not None) == wanted, name
            assert (found.search(f"folder/{name}") is not None) == wanted, name

    def test_alternatives_are_written_out(self) -> None:
        assert formats.expanded("{,*.}{A,B}") == ["A", "B", "*.A", "*.B"]
        assert "*.sh" in GLOBS
        assert not any("{" in glob for glob in GLOBS)

    @pytest.mark.parametrize("glob", GLOBS)
    def test_each_file_that_an_editor_sends_goes_to_a_reader(self, glob: str) -> None:
        name = re.sub(r"\[._-\]", ".", glob).replace("*", "x")
        assert re.search(CANDIDATE, name)
        assert recognise(Source(name, "")) is not None


def test_a_shape_counts_only_where_the_name_says_nothing() -> None:
    shaped = "[program:llm]\ncommand=vllm serve m\n"
    assert recognise(Source("llm.conf", shaped)) == "supervisor"
    assert recognise(Source("llm", shaped)) == "supervisor"
    assert recognise(Source("llm.toml", shaped)) is None
    assert recognise(Source("llm.conf", "A=1\n")) == "env"
    assert of_name("supervisor").module == "processes"
