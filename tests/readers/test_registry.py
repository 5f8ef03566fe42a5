"""Which reader a text goes to: by its name, else by its shape."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.readers import mentions_engine, read
from servelint.readers.registry import recognise
from tests.launching import shown
from tests.together import together


@together(
    "name, text, kind",
    [
        ("compose.yml", "services: {}", "yaml"),
        ("deploy/Docker-Compose.YAML", "a: 1", "yaml"),
        ("spec.json", '{"a": 1}', "json"),
        ("spec.json", "\n  {", "json"),
        ("spec.json", "[1]", "json"),
        ("run.sh", "", "shell"),
        ("run.bash", "{", "shell"),
        ("job.sbatch", "#!/bin/bash", "shell"),
        ("job.slurm", "", "shell"),
        ("start", "#!/bin/bash\n", "shell"),
        ("start", "#!/bin/sh", "shell"),
        ("start", "#! /bin/bash -e\r\n", "shell"),
        ("start", "#!/usr/bin/env bash\n", "shell"),
        ("start", "#!/usr/bin/env -S zsh -e\n", "shell"),
        ("start.txt", "#!/bin/dash\n", "shell"),
        ("start", "#!/usr/bin/env python3\n", None),
        ("start", "#!/opt/my-sh/bin/python\n", None),
        ("start", "#!/usr/bin/fish\n", "fish"),
        ("start", "# /bin/bash\n", None),
        ("-", '{"method": "mtp"}', "json"),
        ("-", "x: 1\nservices:\n  a: 1\n", "yaml"),
        ("-", '"services": {}', "yaml"),
        ("-", "vllm serve m", None),
        ("compose", "services:\n", "yaml"),
        (".env", "VLLM=1", "env"),
        ("README.md", "services:\n", "markdown"),
        ("main.py", "import vllm", "python"),
        ("main.rb", "require vllm", None),
        ("", "", None),
    ],
)
def test_kind(name: str, text: str, kind: str | None) -> None:
    assert recognise(Source(name, text)) == kind


@together(
    "text",
    [
        "vllm serve m",
        "VLLM_USE_V1=1",
        "lmsysorg/SGLang:latest",
        "llama-server",
        "ghcr.io/ggml-org/llama.cpp:server",
        "trtllm-serve",
        "nvcr.io/nvidia/tensorrt-llm/release",
        "lmdeploy serve",
        "text-generation-launcher",
        '{"num_speculative_tokens": 2}',
    ],
)
def test_a_file_that_may_start_an_engine_mentions_one(text: str) -> None:
    assert mentions_engine(text.encode())


@pytest.mark.parametrize("text", ["services: {web: {image: nginx}}", "llama", "text generation", ""])
def test_other_files_are_not_even_parsed(text: str) -> None:
    assert not mentions_engine(text.encode())


def test_a_format_that_nobody_reads_yields_nothing() -> None:
    found = read(Source("notes.txt", "vllm serve Qwen/Qwen3-8B\n"))
    assert (found.launches, found.problems) == ([], [])


class TestBrokenYaml:
    def test_a_compose_file_is_an_error_at_its_place(self) -> None:
        found = read(Source("compose.yml", "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n   command: [\n"))
        assert found.launches == []
        assert [shown(problem) for problem in found.problems] == ["compose.yml:4:4: not valid YAML: did not find expected key"]

    def test_documents_before_the_break_are_read(self) -> None:
        text = "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: m\n---\nservices: {a: [\n"
        found = read(Source("compose.yml", text))
        assert [launch.name for launch in found.launches] == ["services.llm"]
        assert [(problem.line, problem.message.partition(":")[0]) for problem in found.problems] == [(7, "not valid YAML")]

    def test_a_template_without_services_is_none_of_our_business(self) -> None:
        found = read(Source("chart/templates/vllm.yaml", "{{- if .Values.vllm }}\nkind: Deployment\n  name: {{ .x }}\n"))
        assert (found.launches, found.problems) == ([], [])

    def test_a_template_of_a_compose_file_is_an_error(self) -> None:
        found = read(Source("compose.yml", "services:\n  llm:\n    image: {{ image }}\n    command: vllm: {{ a }}\n"))
        assert len(found.problems) == 1

    @together("text", ["", "\n", "# vllm\n", "---\n", "just vllm", "- vllm\n- serve\n", "vllm: [1, 2]\n", "?\n"])
    def test_yaml_of_another_shape_is_nothing(self, text: str) -> None:
        found = read(Source("values.yaml", text))
        assert (found.launches, found.problems) == ([], [])

    def test_nested_without_end(self) -> None:
        found = read(Source("compose.yml", "services: " + "[" * 5_000 + "vllm"))
        assert found.launches == []
        assert len(found.problems) == 1

    def test_an_alias_bomb_is_not_unrolled(self) -> None:
        # 9 ** 9 strings if it were
        lines = ["a0: &a0 [vllm, vllm, vllm, vllm, vllm, vllm, vllm, vllm, vllm]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
        lines += ["services:", "  llm:", "    image: vllm/vllm-openai:v0.20.0", "    command: *a8", "    environment: *a8"]
        found = read(Source("compose.yml", "\n".join(lines)))
        assert found.problems == []
        assert [launch.argv for launch in found.launches] == [[]]

    def test_a_bomb_of_merge_keys_is_not_unrolled(self) -> None:
        lines = ["a0: &a0 {image: 'vllm/vllm-openai:v0.20.0'}"]
        lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
        lines += ["services:", "  llm: *a11"]
        found = read(Source("compose.yml", "\n".join(lines)))
        assert [launch.release.release for launch in found.launches] == ["0.20.0"]

    def test_a_mapping_that_holds_itself(self) -> None:
        found = read(
            Source("compose.yml", "services: &a\n  llm: &b\n    <<: *b\n    image: vllm/vllm-openai:v0.20.0\n    x: *a\n")
        )
        assert [launch.name for launch in found.launches] == ["services.llm"]


@pytest.mark.parametrize("start", ["\n" * 100_000, "\n \n#\n" * 10_000, "ARG A\n\n" * 10_000])
def test_blank_lines_before_a_dockerfile_are_passed_over_once(start: str) -> None:
    assert recognise(Source("noext", f"{start}FROM vllm/vllm-openai:v1\n")) == "dockerfile"
    assert recognise(Source("noext", f"{start}RUN vllm\n")) is None


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("<% set tests = [\n  {'name': 'vllm', 'gpus': 4},\n] %>\non: push\njobs:\n  a:\n    runs-on: gpu\n", 0),
        ("jobs:\n<% for one in tests %>\n  << one >>: {vllm: [<% if one %>a<% endif %>}\n", 0),
        ("[[ range .Models ]]\n- name: vllm\n [[ .Name ]]: x: y\n[[ end ]]\n", 0),
        ("% for one in models:\n- name: vllm: a\n% endfor\n", 0),
        ("jobs: vllm\n  a: b: c\n", 1),
        ("jobs: [vllm\n", 1),
    ],
)
def test_a_template_of_other_delimiters_is_no_bad_yaml(text: str, problems: int) -> None:
    assert len(read(Source("pipeline.yml.j2", text)).problems) == problems
