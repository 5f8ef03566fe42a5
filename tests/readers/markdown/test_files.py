"""Files that a page shows: read as what they are, placed in the page."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from servelint.core import bounds
from servelint.core.source import Source
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    environment:
      HF_HOME: /cache
    command: --model Qwen/Qwen3-8B --port ${PORT:-8000}
"""


def page(code: str, language: str, prefix: str = "") -> str:
    return indent(f"```{language}\n{code}```\n", prefix, lambda line: True)


class TestCompose:
    @pytest.mark.parametrize("prefix", ["", "   ", "> ", "> > "])
    @pytest.mark.parametrize("language", ["yaml", "yml", "docker-compose", ""])
    def test_is_read_wherever_the_block_stands(self, prefix: str, language: str) -> None:
        marked = COMPOSE.replace("v0.20.0", "v\u27e60.20.0\u27e7").replace("Qwen/Qwen3-8B", "\u27e6Qwen/Qwen3-8B\u27e7")
        launch, marks = marked_launch("Text\n\n" + page(marked, language, prefix), "README.md")
        assert launch.name == "services.llm"
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert [launch.release.span, launch.argv[1].text.span()] == marks
        assert release(launch) == ("0.20.0", "image")
        assert environment(launch) == {"HF_HOME": "/cache"}
        assert lines(launch) == (9, 9)
        assert launch.source.path == "README.md"

    def test_several_that_show_the_same_service(self) -> None:
        found = launches_in(page(COMPOSE, "yaml") + "\nor\n\n" + page(COMPOSE, "yaml"), "README.md")
        assert [launch.name for launch in found] == ["services.llm", "services.llm (line 18)"]

    def test_a_part_of_one_without_a_command_is_none(self) -> None:
        code = "environment:\n  VLLM_USE_V1: '1'\nvolumes:\n  - vllm:/cache\n"
        assert launches_in(page(code, "yaml"), "README.md") == []

    def test_placeholders_are_unknown(self) -> None:
        code = COMPOSE.replace("Qwen/Qwen3-8B", "<model>").replace("/cache", "<path>")
        launch = launch_in(page(code, "yaml"), "README.md")
        assert argv(launch)[1] == "<model>"
        assert launch.argv[1].value is None
        assert environment(launch) == {"HF_HOME": "<path>"}

    def test_a_comment_for_lines_that_are_left_out(self) -> None:
        code = COMPOSE.replace("    command:", "    # ... volumes and ports ...\n    command:")
        launch = launch_in(page(code, "yaml"), "README.md")
        assert (argv(launch)[:2], argv(launch)[4:]) == (["--model", "Qwen/Qwen3-8B"], [""])
        assert launch.argv[4].many
        assert launch.open_env
        assert not launch_in(page(COMPOSE, "yaml"), "README.md").open_env

    def test_a_page_has_no_neighbours(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("PORT=1\n")
        launch = launch_in(page(COMPOSE, "yaml"), "README.md", tmp_path)
        assert argv(launch)[3] == "8000"


class TestOthers:
    def test_containers_of_kubernetes(self) -> None:
        code = dedent("""\
            - name: server
              image: vllm/vllm-openai:v0.20.0
              args: [--model, Qwen/Qwen3-8B]
              env:
                - name: HF_HOME
                  value: /cache
        """)
        launch = launch_in(page(code, "yaml"), "README.md")
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]
        assert environment(launch) == {"HF_HOME": "/cache"}
        assert release(launch) == ("0.20.0", "image")

    def test_workflows(self) -> None:
        code = "on: push\njobs:\n  a:\n    runs-on: gpu\n    steps:\n      - run: vllm serve m\n"
        assert argv(launch_in(page(code, "yaml"), "README.md")) == ["m"]

    @pytest.mark.parametrize("language", ["dockerfile", "Dockerfile", "docker", ""])
    def test_dockerfiles(self, language: str) -> None:
        code = 'FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["vllm", "serve", "\u27e6m\u27e7"]\n'
        launch, marks = marked_launch(page(code, language), "README.md")
        assert spans(launch.argv[:1]) == marks

    def test_an_image_that_is_only_built_upon(self) -> None:
        assert launches_in(page("FROM vllm/vllm-openai:v0.20.0\nCOPY a /a\n", "dockerfile"), "README.md") == []

    @pytest.mark.parametrize("language", ["ini", "systemd", ""])
    def test_units(self, language: str) -> None:
        launch = launch_in(page("[Service]\nExecStart=/usr/bin/vllm serve m --port 8000\n", language), "README.md")
        assert argv(launch) == ["m", "--port", "8000"]

    @pytest.mark.parametrize(
        ("language", "code"),
        [
            ("python", "from vllm import LLM\nllm = LLM(**c)\nprint('vllm serve m')\n"),
            ("diff", "-vllm serve m --swap-space 4\n+vllm serve m\n"),
            ("toml", "[tool.vllm]\ncommand = 'vllm serve m'\n"),
            ("mermaid", "graph TD\nvllm serve m\n"),
            ("yaml", "scrape_configs:\n  - job_name: vllm\n"),
            ("json", '{"model": "m", "served_by": "vllm"}\n'),
        ],
    )
    def test_what_starts_nothing(self, language: str, code: str) -> None:
        assert launches_in(page(code, language), "README.md") == []


@pytest.mark.parametrize(("language", "prefix"), [("yaml", ""), ("yaml", "   "), ("yml", "> ")])
@pytest.mark.parametrize(
    ("code", "place", "message"),
    [
        ("# vllm\na: " + "[" * 600 + "]" * 600 + "\n", (5, 503), bounds.YAML_DEPTH.message),
        (COMPOSE + "x-a: 1\nx-b: 2\nx-a: 3\n", (12, 1), bounds.COMPOSE_KEYS.message),
    ],
)
def test_a_limit_is_told_at_its_place_in_the_page(
    language: str, prefix: str, code: str, place: tuple[int, int], message: str
) -> None:
    found = read(Source("README.md", "# How\n\n" + page(code, language, prefix)))
    (problem,) = found.problems
    assert (problem.path, problem.message) == ("README.md", message)
    assert (problem.line, problem.column - len(prefix)) == place


@pytest.mark.parametrize(
    "value",
    [
        "projects/{PROJECT}",
        "{PROJECT}/{ZONE}/disk",
        "a-{NAME}",
        "{REGION}-docker.pkg.dev",
        "{SIZE}",
        "'{SIZE}'",
        "{a: b}",
        "${SIZE}",
    ],
)
def test_braces_in_a_value_are_filled_in_by_the_reader(value: str) -> None:
    head = "kind: Pod\napiVersion: v1\nmetadata:\n  annotations:\n    from: VALUE\nspec:\n  containers:\n"
    pod = f"{head}  - image: vllm/vllm-openai:v0.20.0\n    args: [--model, a/b]\n"
    assert argv(launch_in(page(pod.replace("VALUE", value), "yaml"), "README.md")) == ["--model", "a/b"]


@pytest.mark.parametrize(
    ("image", "start", "roles"),
    [
        (
            "vllm/vllm-openai:v0.20.0",
            "vllm, serve",
            ["""--kv-transfer-config={"kv_connector":"NixlConnector","kv_role":"kv_both"}"""] * 2,
        ),
        ("lmsysorg/sglang:v0.5.10", "sglang, serve", ["--disaggregation-mode=prefill", "--disaggregation-mode=decode"]),
    ],
)
def test_servers_that_name_each_other_are_moved_once(image: str, start: str, roles: list[str]) -> None:
    parts = "".join(
        [
            f"  - name: n{index}\n    image: {image}\n    command: [{start}]\n    args: ['--model=a/b', '{role}']\n"
            for index, role in enumerate(roles)
        ]
    )
    pod = f"kind: Pod\napiVersion: v1\nmetadata: {{name: a}}\nspec:\n  containers:\n{parts}"
    found = read(Source("README.md", "# How\n\n" + page(f"kubectl apply -f - <<'EOF'\n{pod}EOF\n", "bash")))
    first, second = found.launches
    assert not found.problems
    assert (first.beside, second.beside) == ((second,), (first,))
    places = [launch.argv[-1].text.extent(0, 5) for launch in found.launches]
    assert [place.line for place in places if place is not None] == [13, 17]


def test_a_module_of_nixos() -> None:
    page = """
    ```nix
    {
      services.ollama.enable = true;
      services.llama-cpp = { enable = true; settings = { model = "<path to a model>"; ctx-size = 4096; }; };
    }
    ```
    """
    ollama, llama = launches_in(page, "page.md")
    assert (ollama.engine, ollama.argv) == ("ollama", [])
    assert [word.shown for word in llama.argv] == ["--model", "<path to a model>", "--ctx-size", "4096"]
