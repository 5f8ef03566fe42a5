"""The records of the engines; and an engine that is added by its record and its catalog alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import load
from servelint.engines.conversions import CONVERSIONS
from servelint.engines.registry import Dialect, Engine, EntryPoint, ImageFamily, Start, called, derived, register, started_by
from servelint.judge import judging
from servelint.memory import PLANNED
from servelint.rules import load as rule_book
from servelint.rules.compile import write_book
from tests.running import Workspace

ROOT = Path(__file__).parents[2]
CATALOG: dict[str, Any] = {
    "engine": "acme",
    "releases": ["1.0.0", "1.1.0"],
    "options": {
        "model": [{"releases": "1.0.0.."}],
        "port": [{"releases": "1.0.0..", "type": "int", "default": 9000}],
        "turbo": [{"releases": "1.1.0..", "kind": "flag"}],
    },
    "positionals": [{"releases": "1.0.0..", "list": [{"name": "model", "kind": "optional"}]}],
    "json": {},
    "env": {},
    "names": {},
}


class Acme(Engine):
    """A made-up engine."""

    id, name = "acme", "Acme Engine"
    command = ("acme-server", "run")
    starts = (Start("run", programs=("acme-server",), modules=("acme.server",)),)
    distributions = ("acme-engine",)
    images = (ImageFamily("acme/server", "https://example.org/acme", entrypoint=(EntryPoint("acme-server", "run"),)),)
    image_names = r"acme"
    words = (b"acme",)
    stems = ("acme",)
    dialect = Dialect("model")
    port = 9000


@pytest.fixture
def acme(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The made-up engine, with its catalog and the rules of rules/catalog/ that hold for every engine with one."""
    folder = tmp_path_factory.mktemp("acme")
    (folder / "acme.json").write_text(json.dumps(CATALOG))
    engine = Acme()
    engine.data = str(folder)
    register(engine)
    write_book(str(ROOT / "rules"), str(folder / "book.json"))
    monkeypatch.setattr(rule_book, "_BOOK", str(folder / "book.json"))
    _forget_rules()
    yield engine
    del ENGINES["acme"], ENGINE_NAMES["acme"]
    register(ENGINES["vllm"])  # so that what was made of all records is made again
    _forget_rules()


def _forget_rules() -> None:
    for cached in (rule_book._book, rule_book.rules, rule_book.rules_of, rule_book._headings, judging._indexed):
        cached.cache_clear()


FILES = {
    "compose.yml": "services:\n  llm:\n    image: acme/server:1.0.0\n    command: [example/model, --port, '80', --trubo]\n",
    "pod.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - name: server
      image: registry.example.org/acme/server:1.0.0
      args: [example/model, --trubo]
""",
    "run.sh": "pip install acme-engine==1.0.0\nacme-server run example/model --trubo\n",
    "Dockerfile": 'FROM acme/server:1.0.0\nCMD ["example/model", "--trubo"]\n',
}


def test_an_engine_is_added_by_its_record_and_its_catalog(acme: Engine, workspace: Workspace) -> None:
    for name, text in FILES.items():
        workspace.file(name, text)

    launches = workspace.run("launches", "--format", "json", ".").data["launches"]
    assert [(one["path"], one["engine"], one["version"]) for one in launches] == [
        (name, "acme", "1.0.0") for name in sorted(FILES)
    ]

    ran = workspace.run("check", "--isolated", "--format", "json", *FILES)
    found = [one for one in ran.data["findings"] if one["rule"] == "acme/unknown-option"]
    assert [one["path"] for one in found] == list(FILES)
    assert all("--trubo" in one["message"] and "Acme Engine 1.0.0" in one["message"] for one in found)

    workspace.file("run.sh", FILES["run.sh"].replace("--trubo", "--turbo"))
    (finding,) = workspace.run("check", "--isolated", "--format", "json", "run.sh").data["findings"]
    assert finding["rule"] == "acme/option-not-yet"
    assert "Acme Engine 1.1.0" in finding["message"]

    listed = workspace.run("engines", "list").out.splitlines()
    assert listed[-1] == "acme       Acme Engine: 2 releases, 1.0.0 to 1.1.0 (3 options in the newest)"
    assert workspace.run("engines", "show", "acme", "1.0.0").out.startswith("Acme Engine 1.0.0\n")
    assert workspace.run("check", "--isolated", "--engine-version", "acme=1.1.0", "run.sh").status == 1


def test_it_is_gone_afterwards() -> None:
    assert list(ENGINES) == list(ENGINE_NAMES) == ["vllm", "sglang", "llama.cpp", "trtllm", "lmdeploy", "tgi", "ollama"]


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.id)
class TestRecords:
    def test_what_makes_a_file_worth_reading_is_in_each_way_to_start_it(self, engine: Engine) -> None:
        names = [
            " ".join((name, *start.verbs)) if name == "trl" else name  # whose verb names the engine
            for start in engine.starts
            for name in (*start.programs, *start.modules, *start.scripts)
        ]
        repositories = [family.repository for family in engine.images]
        for name in (*names, *engine.distributions, *repositories):
            speaks = [word.decode() in name.lower() for word in engine.words]
            assert any(speaks) or name in UNNAMED, f"{name} has none of {engine.words}: add one to `words`"
        assert all(any(stem in name.lower() for stem in engine.stems) or name in OF_ROUTERS for name in names)

    def test_the_usual_command_starts_it(self, engine: Engine) -> None:
        from servelint.core.launch import Word
        from servelint.core.text import TracedText
        from servelint.engines import entry

        found = entry.find([Word(TracedText.of(word)) for word in engine.command])
        assert found is not None
        assert (found.engine, found.end) == (engine.id, len(engine.command))

    def test_names_that_its_options_take_are_in_its_catalog(self, engine: Engine) -> None:
        kinds = {*engine.looked_up_options.values(), *[kind for kind, _ in engine.value_kinds_of_options.values()]}
        path = Path(engine.data) / f"{engine.id}.json"
        assert not kinds or kinds <= set(json.loads(path.read_text(encoding="utf-8"))["names"])

    def test_parts_are_there(self, engine: Engine) -> None:
        for name, attribute in (("facts", "FACTS"), ("conversions", "CONVERSIONS")):
            module = engine.part(name)
            assert (module is not None) is (name in engine.parts)
            assert module is None or getattr(module, attribute)

    def test_conversions_of_its_own_have_names_of_their_own(self, engine: Engine) -> None:
        module = engine.part("conversions")
        assert module is None or not CONVERSIONS.keys() & module.CONVERSIONS.keys()

    def test_options_are_in_the_catalog(self, engine: Engine) -> None:
        catalog = load(engine.id)
        if catalog is None:
            return
        options = (
            engine.model_option, engine.served_name_option, engine.tensor_parallel_option, engine.context_option,
            engine.requests_option, engine.memory_fraction_option, engine.kv_dtype_option, engine.prefix_caching_on,
            engine.prefix_caching_off, engine.speculation_json, engine.template_option, engine.port_option, engine.host_option,
            *engine.object_options, *engine.looked_up_options, *engine.moved_values, *engine.computed_defaults,
            *[option for option, _ in engine.memory_reserves],
        )  # fmt: skip
        for option in options:
            assert not option or catalog.runs_of(option), option
        assert all(catalog.names(kind) for kind in (*engine.looked_up_options.values(), *engine.value_names.values()))

    def test_what_other_layers_have_of_it(self, engine: Engine) -> None:
        assert (engine.id in PLANNED) is engine.plans_memory
        if engine.plans_memory:
            assert import_module("servelint.memory." + engine.package).CHANGES
        if engine.harvested:
            assert import_module("servelint.harvest." + engine.package).snapshot


OF_ROUTERS = ("smg", "amg")
"""Programs of SGLang's router, which are found where a text names the engine as well: other names have their letters."""
UNNAMED = (
    *OF_ROUTERS,
    "llama",  # found by its command, llama serve: the name alone is in too many files
    "llama.exe",
    "mostlygeek/llama-swap",
    "nim",
    "rocm/sgl-dev",
    "nvidia/tritonserver",
    "llm-d/llm-d",
    "llm-d/llm-d-cuda",
    "ai-dynamo/tensorrtllm-runtime",
)
"""Repositories that do not name the engine: a file that names nothing else of it is not read."""


@pytest.mark.parametrize("path", ["rule.schema.json", "report.schema.json", "catalog-rule.schema.json"])
def test_schemas_list_every_engine(path: str) -> None:
    lists = list(_lists(json.loads((ROOT / "schemas" / path).read_text())))
    assert lists
    assert all(sorted(found) == sorted(ENGINES) for found in lists)


def _lists(data: Any) -> Iterator[list[str]]:
    """The enumerations in a schema that name engines."""
    if isinstance(data, dict):
        if "vllm" in data.get("enum", ()):
            yield data["enum"]
        data = list(data.values())
    if isinstance(data, list):
        for one in data:
            yield from _lists(one)


@pytest.mark.parametrize(
    ("platform", "name", "engine"),
    [
        ("kubeai", "VLLM", "vllm"),
        ("kubeai", "LlamaCpp", "llama.cpp"),
        ("kubeai", "OLlama", "ollama"),
        ("kubeai", "Infinity", None),
        ("ray", "vLLM", "vllm"),
    ],
)
def test_what_platforms_call_it(platform: str, name: str, engine: str | None) -> None:
    found = called(platform, name)
    assert (found.id if found is not None else None) == engine


def test_what_platforms_start_by_themselves() -> None:
    assert started_by("ray").id == started_by("production-stack").id == "vllm"


def test_what_is_made_of_all_records_is_made_again() -> None:
    made: list[int] = []

    @derived
    def count(factor: int) -> int:
        made.append(factor)
        return factor * len(ENGINES)

    assert [count(2), count(2), count(3)] == [2 * len(ENGINES), 2 * len(ENGINES), 3 * len(ENGINES)]
    assert made == [2, 3]
    register(ENGINES["tgi"])
    assert count(2) == 2 * len(ENGINES)
    assert made == [2, 3, 2]
