"""Nomad jobs and Terraform files: containers, commands and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.engines import launch_files
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release


def test_a_container_of_nomad() -> None:
    launch, marks = marked_launch(
        """
        job "llm" {
          # the server
          group "g" {
            task "api" {
              driver = "docker"
              config {
                image = "vllm/vllm-openai:v0.9.0"
                args  = ["--model", "⟦m/m⟧", /* the port */ "--port", "${NOMAD_PORT_http}"]
              }
              env { HF_HOME = "/x" }
            }
          }
        }
        """,
        "llm.nomad.hcl",
    )
    assert [word.text.flat for word in launch.argv[:3]] == ["--model", "m/m", "--port"]
    assert not launch.argv[3].text.known
    assert [launch.argv[1].text.span()] == marks
    assert release(launch) == ("0.9.0", "image")
    assert launch.name == "job.llm.group.g.task.api.config"


def test_a_program_of_nomad() -> None:
    text = 'task "a" {\n  config {\n    command = "/usr/bin/llama-server"\n    args = ["-m", "a.gguf"]\n  }\n}\n'
    assert argv(launch_in(text, "a.nomad")) == ["-m", "a.gguf"]


def test_a_template_of_a_job() -> None:
    text = (
        'task "a" {\n  memory = {{ model.memory }}\n{% if x %}\n  config {\n    image = "vllm/vllm-openai:v0.9.0"\n'
        '    args = ["--model", "{{ model.name }}"]\n  }\n{% endif %}\n}\n'
    )
    launch = launch_in(text, "a.nomad.j2")
    assert launch.argv[0].value == "--model"
    assert launch.argv[1].value is None


@pytest.mark.parametrize("port", ['{{ env "NOMAD_PORT_http" }}', "{{ '{{' }} env \"P\" {{ '}}' }}", "{{ port }}"])
def test_a_script_that_nomad_fills_in(port: str) -> None:
    script = f"#!/bin/bash\nllama-server -m a.gguf --port {port} --ctx-size 8\n"
    launch = launch_in(f'task "a" {{\n  template {{\n    data = <<EOH\n{script}EOH\n  }}\n}}\n', "a.nomad.j2")
    assert [word.value for word in launch.argv] == ["-m", "a.gguf", "--port", None, "--ctx-size", "8"]


IMAGE = "vllm/vllm-openai:v0.9.0"
RUN = f"docker run {IMAGE} --model ${{var.model}}"
WAYS = {
    "user data": f"user_data = <<-EOF\n    #!/bin/bash\n    {RUN}\n  EOF",
    "encoded": f"user_data = base64encode(<<EOF\n{RUN}\nEOF\n  )",
    "provisioner": f'provisioner "remote-exec" {{\n    inline = ["cd /x", "{RUN}"]\n  }}',
    "task": f'definitions = jsonencode([{{ name = "a", image = "{IMAGE}", "command": ["--model", var.model] }}])',
    "pod": f'spec {{\n    container {{\n      image = "{IMAGE}"\n      args = [ "--model", var.model, ]\n    }}\n  }}',
    "overrides": f'x = [{{ image = "{IMAGE}", entrypoint_overrides = {{ enabled = true, cmd = ["--model", var.model] }} }}]',
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_ways_of_terraform(way: str) -> None:
    text = f'resource "a" "b" {{\n  {way}\n}}'
    default = 'variable "model" {\n  type    = string\n  default = "m/m"\n}\n'
    launch = launch_in(default + text + "\n", "main.tf")
    assert argv(launch) == ["--model", "m/m"]
    assert release(launch) == ("0.9.0", "image")
    assert not launch_in(text + "\n", "main.tf").argv[1].text.known


def test_the_command_of_a_container_of_kubernetes_is_its_entry_point() -> None:
    text = f'container {{\n  image = "{IMAGE}"\n  command = ["vllm", "serve"]\n  args = ["m"]\n'
    text += '  env {\n    name = "A"\n    value = "b"\n  }\n}\n'
    launch = launch_in(text, "main.tf")
    assert argv(launch) == ["m"]
    assert environment(launch) == {"A": "b"}


@pytest.mark.parametrize(
    "value", ["var.a ? 1 : 2", "[for x in var.y : x]", 'merge(var.a, { b = "c" })', "-1", '"a" == var.b', "null"]
)
def test_other_expressions(value: str) -> None:
    text = f'x = {value}\nconfig {{\n  image = "vllm/vllm-openai:v0.9.0"\n  args = ["--model", "m"]\n}}\n'
    assert argv(launch_in(text, "a.hcl")) == ["--model", "m"]


@pytest.mark.parametrize(
    "text", ["", "{", "vllm {", 'a "vllm" = <<EOF\n', 'image = "vllm/vllm-openai"\n', "vllm = [[[[", "}" * 9]
)
def test_what_starts_nothing(text: str) -> None:
    assert launches_in(text, "main.tf") == []


@given(st.text(alphabet='vllm{}[]()="\n ${}#<E,:?./*\\', max_size=80))
def test_any_text(text: str) -> None:
    source = Source("main.tf", "vllm " + text)
    assert read(source).problems == []


def test_the_values_of_a_chart() -> None:
    launch, marks = marked_launch(
        """
        locals { length = 4096 // tokens
        }
        resource "helm_release" "llm" {
          chart = "vllm-stack"
          values = [<<-EOT
            servingEngineSpec:
              modelSpec:
                - name: q
                  repository: vllm/vllm-openai
                  tag: v0.10.0
                  modelURL: ⟦m/m⟧
                  requestGPU: 1
                  vllmConfig:
                    maxModelLen: ${local.length}
            EOT
          ]
          set {
            name  = "servingEngineSpec.modelSpec[0].tag"
            value = "v0.11.0"
          }
        }
        """,
        "vllm.tf",
    )
    assert argv(launch)[:1] + argv(launch)[-2:] == ["m/m", "--max-model-len", "4096"]
    assert (launch.argv[0].text.span(), release(launch)) == (marks[0], ("0.11.0", "image"))


@pytest.mark.parametrize(
    "values",
    [
        (
            'set { name = "image.repository"\nvalue = "vllm/vllm-openai" }\nset { name = "image.tag"\nvalue = "v0.11.0" }\n'
            'set_list { name = "args"\nvalue = ["--model", "m \\"x\\"", "--port", 8000] }'
        ),
        (
            'set = [{ name = "image.repository", value = "vllm/vllm-openai" }, { name = "image.tag", value = "v0.11.0" },\n'
            '{ name = "args[0]", value = "--model" }, { name = "args[1]", value = "m \\"x\\"" },\n'
            '{ name = "args[2]", value = "--port" }, { name = "args[3]", value = 8000 }]'
        ),
        (
            'values = [yamlencode({ image = { repository = "vllm/vllm-openai", tag = "v0.9.0" } }),\n'
            'yamlencode({ image = { tag = "v0.11.0" }, args = ["--model", "m \\"x\\"", "--port", 8000] })]'
        ),
    ],
)
def test_values_of_a_chart_that_is_not_known(values: str) -> None:
    launch = launch_in(f'resource "helm_release" "a" {{\nchart = "x"\n{values}\n}}\n', "main.tf")
    assert (argv(launch)[-4:], release(launch)) == (["--model", 'm "x"', "--port", "8000"], ("0.11.0", "image"))


def test_what_the_files_of_a_module_hold(tmp_path: Path) -> None:
    (tmp_path / "locals.tf").write_text('locals {\n  model = "m/m"\n}\n')
    (tmp_path / "variables.tf").write_text('variable "length" {\n  default = 1\n}\nvariable "port" {\n  default = 8000\n}\n')
    (tmp_path / "terraform.tfvars").write_text("length = 4096\n")
    words = '"--model", local.model, "--max-model-len", var.length, "--port", var.port'
    text = f'c {{\n  image = "vllm/vllm-openai:v0.11.0"\n  args = [{words}]\n}}\n'
    launch = launch_in(text, "main.tf", tmp_path)
    assert argv(launch) == ["--model", "m/m", "--max-model-len", "4096", "--port", "8000"]
    assert [word.text.span() is not None and word.text.span().source for word in launch.argv] == [launch.source] * 6  # type: ignore[union-attr]
    assert [word.text.pieces[0].assumed for word in launch.argv[1::2]] == [False, False, True]


STACK = """\
servingEngineSpec:
  modelSpec:
    - {name: q, repository: vllm/vllm-openai, tag: TAG, modelURL: m/m, requestGPU: 1}
"""


@pytest.mark.parametrize(
    ("values", "version"),
    [
        ('file("values.yaml")', "0.10.0"),
        ('file("${path.module}/values.yaml")', "0.10.0"),
        ('templatefile("${path.root}/values.tpl", {\n tag = local.tag\n other = data.x.y\n})', "0.11.0"),
        ('templatefile("values.tpl", { tag = "v0.9.0" })', "0.9.0"),
        ('templatefile("values.tpl", { tag = data.x.y })', None),
        ('file("values.yaml"),\n    file("none.yaml"),\n    data.x.y', "0.10.0"),
    ],
)
def test_values_in_a_file(tmp_path: Path, values: str, version: str | None) -> None:
    (tmp_path / "values.yaml").write_text(STACK.replace("TAG", "v0.10.0"))
    (tmp_path / "values.tpl").write_text(STACK.replace("TAG", '"${tag}"'))
    text = f'locals {{\n  tag = "v0.11.0"\n}}\nresource "helm_release" "vllm" {{\n  chart = "x"\n  values = [{values}]\n}}\n'
    launch = launch_in(text, "main.tf", tmp_path)
    assert (argv(launch)[0], release(launch)[0]) == ("m/m", version)
    assert launch.owner is not None


@pytest.mark.parametrize("chart", ["./llm", "${path.module}/llm/", "../tf/llm"])
@pytest.mark.parametrize(
    "values",
    [
        'values = [<<-EOT\n  command: "vllm serve m/m --port 8001"\n  EOT\n]',
        'values = [yamlencode({ command = "vllm serve m/m --port 8001" })]',
        'set { name = "command"\nvalue = "vllm serve m/m --port 8001" }',
        'values = [file("prod.yaml")]',
    ],
)
def test_a_chart_of_the_same_repository(tmp_path: Path, chart: str, values: str) -> None:
    folder = tmp_path / "tf"
    (folder / "llm" / "templates").mkdir(parents=True)
    (folder / "llm" / "Chart.yaml").write_text("name: llm\n")
    (folder / "llm" / "values.yaml").write_text("command: vllm serve MODEL\ntag: v0.11.0\n")
    (folder / "llm" / "templates" / "deployment.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec: {template: {spec: {containers: [{name: a,\n"
        'image: "vllm/vllm-openai:{{ .Values.tag }}", command: [sh, -c], args: ["{{ .Values.command }}"]}]}}}\n'
    )
    (folder / "prod.yaml").write_text("command: vllm serve m/m --port 8001\n")
    launch = launch_in(f'# vllm\nresource "helm_release" "a" {{\nchart = "{chart}"\n{values}\n}}\n', "main.tf", folder)
    assert (argv(launch), release(launch)) == (["m/m", "--port", "8001"], ("0.11.0", "image"))
    assert launch.line == 3


@pytest.mark.parametrize(
    "around", ["var.on ? {\n  a = [HERE]\n} : {}", "merge({ a = HERE }, var.b)", "[for one in var.c : HERE]"]
)
def test_a_heredoc_in_an_expression(around: str) -> None:
    heredoc = '<<-EOT\n  Regex ^\\[[^ ]* ( "\n  EOT\n'
    text = f"""x = {around.replace("HERE", heredoc)}
container {{
  image = "vllm/vllm-openai:v0.11.0"
  args = ["--model", "m"]
}}
"""
    assert argv(launch_in(text, "main.tf")) == ["--model", "m"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('job "a" {\n task "o" {\n  config {\n   image = "ollama/ollama:0.12.3"\n  }\n }\n}\n', "job.a.task.o.config"),
        ('resource "docker_container" "o" {\n  image = "ollama/ollama:0.12.3"\n}\n', "resource.docker_container.o"),
        ('resource "container" "o" {\n  image {\n    name = "ollama/ollama:0.12.3"\n  }\n}\n', "resource.container.o"),
        ('spec {\n  container {\n    image = "ollama/ollama:0.12.3"\n  }\n}\n', "spec.container"),
    ],
)
def test_a_container_that_runs_what_its_image_starts(text: str, name: str) -> None:
    (launch,) = launches_in(text, "a.hcl")
    assert (launch.engine, launch.release.release, launch.name) == ("ollama", "0.12.3", name)


@pytest.mark.parametrize(
    "text",
    [
        'resource "docker_image" "o" {\n  name = "ollama/ollama:0.12.3"\n}\n',
        'locals {\n  o = { image = "ollama/ollama:0.12.3" }\n}\n',
        'module "o" {\n  image = "ollama/ollama:0.12.3"\n}\n',
        'job "a" {\n config {\n  image = "nginx"\n }\n}\n',
    ],
)
def test_an_image_that_no_container_runs(text: str) -> None:
    assert launches_in(text, "a.hcl") == []


def test_lists_that_are_joined() -> None:
    launch = launch_in(
        """
        variable "more" { default = ["--max-model-len", "8192"] }
        locals { base = ["--model", "a/b"] }
        resource "kubernetes_deployment" "v" {
          container {
            image = "vllm/vllm-openai:v0.11.0"
            args = concat(
              local.base,
              ["--port", "80"],  # (the port)
              var.more,
              compact(flatten([["--seed", "1"]])),
              var.unknown ? ["--enforce-eager"] : [],
            )
          }
        }
        """,
        "main.tf",
    )
    assert argv(launch)[:8] == ["--model", "a/b", "--port", "80", "--max-model-len", "8192", "--seed", "1"]
    assert [word.many for word in launch.argv] == [False] * 8 + [True]


def test_a_container_of_sagemaker() -> None:
    launch = launch_in(
        """
        resource "aws_sagemaker_model" "m" {
          primary_container {
            image = "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.11.0-gpu-py312-cu128-ubuntu22.04-sagemaker"
            environment = { SM_VLLM_MODEL = "a/b", SM_VLLM_MAX_MODEL_LEN = "8192" }
          }
        }
        """,
        "main.tf",
    )
    assert [word.shown for word in launch.argv if not word.many] == ["--model", "a/b", "--max-model-len", "8192"]
    assert release(launch) == ("0.11.0", "image")


JOB = """job "llm" {
  group "g" {
    task "t" {
      driver = "docker"
      config {
        image = "vllm/vllm-openai:%s"
        args  = ["--model", "m", "--seed", "1"]
      }
    }
  }
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobspec = <<EOT\n" + JOB % "v0.11.0" + "EOT\n", "0.11.0"),
        ("jobspec = <<-EOT\n" + JOB % "${var.tag}" + "EOT\n", "0.10.2"),
        ('jobspec = templatefile("${path.module}/llm.nomad.tpl", { tag = "v0.9.2" }) # vllm\n', "0.9.2"),
        ('jobspec = file("${path.module}/llm.nomad") # vllm\n', None),  # which is judged itself
        ("jobspec = <<EOT\nnot { HCL vllm\nEOT\n", None),
    ],
)
def test_a_job_of_nomad_in_terraform(text: str, expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "llm.nomad.tpl").write_text(JOB % "${tag}")
    (tmp_path / "llm.nomad").write_text(JOB % "v0.8.5")
    text = f'variable "tag" {{\n  default = "v0.10.2"\n}}\nresource "nomad_job" "llm" {{\n{text}}}\n'
    found = launches_in(text, "main.tf", tmp_path)
    assert [(one.release.release, argv(one)) for one in found] == [(expected, ["--model", "m", "--seed", "1"])] * bool(expected)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ('repository = "https://otwld.github.io/ollama-helm/"\n', [None]),
        ('repository = "https://helm.otwld.com/"\nset {\n  name = "image.tag"\n  value = "0.11.4"\n}\n', ["0.11.4"]),
        ('set = [{ name = "image.tag", value = "0.9.0" }]\nrepository = "oci://ghcr.io/otwld/helm"\n', ["0.9.0"]),
        ('repository = "https://example.org/charts"\n', []),
        ("", []),
    ],
)
def test_a_known_chart_by_its_name_alone(fields: str, expected: list[str | None]) -> None:
    text = f'resource "helm_release" "llm" {{\n  chart = "ollama"\n{fields}}}\n'
    found = launches_in(text, "main.tf")
    assert [(one.engine, one.release.release, one.release.rolling, one.line) for one in found] == [
        ("ollama", release, False, 2) for release in expected
    ]


class TestTasks:
    """What a task of Nomad gives its program or container."""

    TEXT = """
job "llm" {
  group "g" {
    task "server" {
      driver = "docker"
      env { VLLM_USE_V1 = "0" }
      template {
        destination = "local/settings"
        env         = true
        data        = <<EOH
VLLM_LOGGING_LEVEL="DEBUG"
HF_TOKEN={{ with secret "kv/hf" }}{{ .Data.token }}{{ end }}
EOH
      }
      template {
        destination = "local/vllm.yaml"
        data        = <<EOH
model: org/m
max-model-len: 4096
EOH
      }
      config {
        image   = "vllm/vllm-openai:v0.20.0"
        args    = ["--config", "PATH"]
        volumes = ["local/vllm.yaml:/etc/vllm.yaml"]
      }
      resources {
        device "nvidia/gpu" { count = 2 }
      }
    }
  }
}
"""

    def test_variables_and_devices(self) -> None:
        launch = launch_in(self.TEXT, "llm.nomad")
        assert environment(launch)["VLLM_USE_V1"] == "0"
        assert environment(launch)["VLLM_LOGGING_LEVEL"] == "DEBUG"
        assert launch.env["HF_TOKEN"].value is None
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.reserved) == (2, True)

    @pytest.mark.parametrize("path", ["/local/vllm.yaml", "local/vllm.yaml", "/etc/vllm.yaml"])
    def test_the_file_of_a_template(self, path: str) -> None:
        launch = launch_in(self.TEXT.replace("PATH", path), "llm.nomad")
        words = launch_files.merged(launch)
        assert words is not None
        assert [word.shown for word in words] == ["--model", "org/m", "--max-model-len", "4096"]

    def test_a_file_that_no_template_writes(self) -> None:
        assert launch_files.merged(launch_in(self.TEXT.replace("PATH", "/local/other.yaml"), "llm.nomad")) is None


@pytest.mark.parametrize("value", ['{ for k, v in local.raw : k => v if v != "" }', "{for one in var.list : one.name => one}"])
def test_a_mapping_that_an_expression_makes(value: str) -> None:
    text = f"""
    locals {{
      raw = {{ A = var.a > 0 ? tostring(var.a) : "" }}
      env = {value}
      model = "a/b"
    }}
    resource "kubernetes_deployment" "llm" {{
      spec {{ container {{ image = "vllm/vllm-openai:v0.19.0"
        args = ["--model", local.model] }} }}
    }}
    """
    assert argv(launch_in(text, "a.tf")) == ["--model", "a/b"]
