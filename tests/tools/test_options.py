"""The pages of options of the site: what they show is read as they mean it."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from ruamel.yaml import YAML

import servelint
from servelint.engines import ENGINES
from servelint.engines.catalog import load
from tests.tools.loading import ROOT, loaded

NAMES = {"a compose file": "compose.yml", "a Kubernetes manifest": "pod.yaml", "Helm values": "values.yaml"}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  "


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "site"))
    return loaded("site/options.py")


def frames(lines: list[str]) -> list[tuple[str, str]]:
    """The name and the text of each file that a page shows, with a model in place of the words that it leaves out."""
    found = re.findall(
        r"In (a compose file|a Kubernetes manifest|Helm values)[^\n]*:\n\n```yaml\n(.*?)```", "\n".join(lines), re.DOTALL
    )
    given = {"a Kubernetes manifest": POD}
    return [(NAMES[of], given.get(of, "") + text.replace("\n", "\n  " if of in given else "\n")) for of, text in found]


START = {"vllm": '["--model", "a/b", ', "sglang": '["python3", "-m", "sglang.launch_server", "--model-path", "a/b", '}


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_an_option(engine: str, options: ModuleType) -> None:
    catalog = load(engine)
    assert catalog is not None
    option = catalog.table(len(catalog.releases) - 1).find("--served-model-name")
    shown = frames(options._written(engine, option, catalog.releases[-1]))
    assert [name for name, _ in shown] == list(NAMES.values())
    for name, text in shown:
        (launch,) = servelint.find_launches(text.replace("[..., ", START[engine]), name)
        assert launch.engine == engine
        assert [word.value for word in launch.argv][-2:] == ["--served-model-name", "VALUE"]


@pytest.mark.parametrize("engine", [one.id for one in ENGINES.values() if one.harvested])
def test_a_variable(engine: str, options: ModuleType) -> None:
    shown = frames(options._ways(engine, "1.0.0", variable="HF_HOME"))
    assert [name for name, _ in shown] == list(NAMES.values())
    for _, text in shown:
        loaded_text = YAML(typ="safe").load(text)
        assert "HF_HOME" in str(loaded_text)


def test_a_key(options: ModuleType) -> None:
    catalog = load("vllm")
    assert catalog is not None
    last = len(catalog.releases) - 1
    (shown, *_) = re.findall(r"```sh\n(.*?)\n```", "\n".join(options._key_written(catalog, "speculative-config.method", last)))
    assert shown == """vllm serve MODEL --speculative-config '{"method": "VALUE"}'"""
    assert options._key_written(catalog, "no-such.key", last) == []
