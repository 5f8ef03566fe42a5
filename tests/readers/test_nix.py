"""Nix files: shells, packages, units and containers."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release
from tests.together import together

SCRIPT = "\n  vllm serve a/b --port 80\n"


@together(
    "text",
    [
        f"{{ mkShell }}: mkShell {{ shellHook = ''{SCRIPT}''; }}",
        f"{{ systemd.services.llm.script = ''{SCRIPT}''; }}",
        f"{{ systemd.services.llm = {{ script = ''{SCRIPT}''; }}; }}",
        '{ systemd.services.llm.serviceConfig.ExecStart = "${pkgs.vllm}/bin/vllm serve a/b --port 80"; }',
        '{ systemd.services.llm.serviceConfig = { Restart = "always"; ExecStart = "vllm serve a/b --port 80"; }; }',
        f"pkgs.writeShellScriptBin \"serve\" ''{SCRIPT}''",
        f"let serve = writeShellScript \"serve\" ''{SCRIPT}''; in serve",
        f"writeShellApplication {{ name = \"serve\"; text = ''{SCRIPT}''; }}",
        'let model = "a/b"; port = 80; in { x.script = "vllm serve ${model} --port ${toString port}"; }',
        "# '' a comment ''\n{ x.script = ''\n  # it''s\n  vllm serve a/b \\\n    --port 80 '';\n}".replace("it''s", "it is"),
        "{ x.script = ''\n  P=80\n  vllm serve a/b --port ''${P:-90}\n''; }",
        '{ x.script = "set -e\\nvllm serve \\"a/b\\" --port 80"; }',
        "{ shellHook = ''\n  serve-it() {\n    exec ${podman}/bin/podman run vllm/vllm-openai a/b --port 80\n  }\n''; }",
    ],
)
def test_texts_that_a_shell_or_systemd_runs(text: str) -> None:
    assert argv(launch_in(text, "a.nix")) == ["a/b", "--port", "80"]


@together(
    "text",
    [
        "{ description = ''vllm serve a/b''; }",
        '{ description = "Arguments for vllm serve."; }',
        "# vllm serve a/b\n/* vllm serve a/b */ { }",
        "{ shellHook = ''\n  echo vllm serve a/b\n''; }",
        '{ shellHook = "vllm bench serve --model a/b"; }',
        '{ services.ollama.enable = false; text = "ollama"; }',
        "{ shellHook = ''vllm serve a/b",
        '{ script = "${',
        "{ a = " * 20_000 + '"vllm serve a/b"' + "; }" * 20_000,
        "",
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert launches_in(text, "a.nix") == []


def test_a_container() -> None:
    found = launch_in(
        """
        { virtualisation.oci-containers.containers.llm = {
            image = "vllm/vllm-openai:v0.19.0";
            environment = { VLLM_LOGGING_LEVEL = "DEBUG"; };
            cmd = [ "--model" "a/b" "--port" (toString cfg.port) ];
            extraOptions = [ "--gpus=all" ];
          };
        }
    """,
        "a.nix",
    )
    assert argv(found)[:3] == ["--model", "a/b", "--port"]
    assert release(found) == ("0.19.0", "image")
    assert environment(found)["VLLM_LOGGING_LEVEL"] == "DEBUG"


def test_what_is_bound_twice_or_elsewhere_is_unknown() -> None:
    text = 'let model = "a/b"; in { x.script = "vllm serve ${model} --port ${toString cfg.port}"; y = { model = "c/d"; }; }'
    words = launch_in(text, "a.nix").argv
    assert [word.text.known for word in words] == [False, True, False]


def test_places() -> None:
    found, places = marked_launch("{ x.script = ''\n  vllm serve ⟦a/b⟧ --port ''${P:-⟦80⟧}\n''; }", "a.nix")
    assert [found.argv[0].text.span(), found.argv[2].text.span()] == places


@together(
    "text, expected",
    [
        ('{ services.ollama = { enable = true; host = "[::]"; port = 80; }; }', ["serve", "[::]:80"]),
        (
            '{ services.ollama.enable = lib.mkDefault true; services.ollama.host = lib.mkForce "0.0.0.0"; }',
            ["serve", "0.0.0.0:11434"],
        ),
        ("{ services = { ollama = { enable = cfg.on; }; }; }", ["serve", None]),
        ('{ services.ollama = { enable = false; host = "0.0.0.0"; }; }', []),
        ('{ services.ollama = { host = "0.0.0.0"; }; }', []),
        ("{ systemd.services.ollama.enable = true; options.services.ollama.enable = lib.mkEnableOption x; }", []),
    ],
)
def test_the_module_of_ollama(text: str, expected: list[str | None]) -> None:
    found = launches_in(text, "a.nix")
    assert [[*one.verb][1].text.flat for one in found] == expected[:1]
    assert [environment(one).get("OLLAMA_HOST") for one in found] == expected[1:]


def test_a_host_behind_the_firewall_is_not_known() -> None:
    text = '{ services.ollama = { enable = true; host = "0.0.0.0"; openFirewall = true; }; }'
    for written, known in ((text, True), (text.replace("true; }", "false; }"), False)):
        value = launch_in(written, "a.nix").env["OLLAMA_HOST"].value
        assert value is not None
        assert value.known is known


def test_the_module_of_llama_cpp() -> None:
    text = '{ services.llama-cpp = { enable = true; model = "/m.gguf"; port = 81; extraFlags = [ "-c" "4096" cfg.x ]; }; }'
    words = launch_in(text, "a.nix").argv
    assert [word.shown for word in words[:6]] == ["-m", "/m.gguf", "--port", "81", "-c", "4096"]
    assert words[6].many
    text = text.replace("port = 81;", "settings.threads = 4;")
    assert [word.shown for word in launch_in(text, "a.nix").argv[-2:]] == ["--threads", "4"]


@together(
    "settings, expected",
    [
        ('{ ctx-size = 4096; temp = 0.6; hf-repo = "a/b"; }', ["--ctx-size", "4096", "--temp", "0.6", "--hf-repo", "a/b"]),
        ("{ no-mmap = true; mlock = false; threads = null; c = 1; }", ["--no-mmap", "-c", "1"]),
        ('{ jinja = ""; "-ngl" = 99; reasoning-budget = -1; }', ["--jinja", "-ngl", "99", "--reasoning-budget", "-1"]),
        ('{ lora = [ "/a" "/b" ]; }', ["--lora", "/a", "--lora", "/b"]),
        ('{ ab = "\'{\\"k\\":1}\' x"; }', ["--ab", '{"k":1}', "x"]),
        ("let n = 4; in rec { threads = n; }", ["--threads", "4"]),
        ("lib.mkForce { threads = lib.mkDefault 4; }", ["--threads", "4"]),
    ],
)
def test_the_settings_of_llama_cpp(settings: str, expected: list[str]) -> None:
    text = f"{{ services.llama-cpp = {{ enable = true; settings = {settings}; }}; }}"
    assert argv(launch_in(text, "a.nix")) == expected


@together(
    "settings, expected",
    [
        ("{ threads = cfg.threads; c = 1; }", ["-c", "1"]),
        ("{ inherit (cfg) threads; c = 1; }", ["-c", "1"]),
        ('{ ${cfg.name} = 4; "${x}" = 4; c = 1; }', ["-c", "1"]),
        ("{ c = if cfg.a then 1 else 2; }", []),
        ('{ m = "a" + cfg.b; }', []),
        ("cfg.settings // { c = 1; }", ["-c", "1"]),
        ("{ c = 1; } // cfg.settings", []),
        ("lib.mkIf cfg.a { c = 1; }", []),
        ("lib.mkMerge [ { c = 1; } (lib.mkIf cfg.a { n = 1; }) ]", []),
        ("cfg.settings", []),
    ],
)
def test_settings_of_llama_cpp_that_are_not_all_known(settings: str, expected: list[str]) -> None:
    text = f"{{ services.llama-cpp = {{ enable = true; settings = {settings}; }}; }}"
    words = launch_in(text, "a.nix").argv
    assert [word.shown for word in words[:-1]] == expected
    assert words[-1].many
    assert not words[-1].text.known


def test_a_host_of_the_settings_behind_the_firewall_is_not_known() -> None:
    text = '{ services.llama-cpp = { enable = true; openFirewall = true; settings.host = "0.0.0.0"; }; }'
    for written, known in ((text, True), (text.replace("openFirewall = true; ", ""), False)):
        assert launch_in(written, "a.nix").argv[1].text.known is known


def test_a_service_with_the_defaults_of_its_module() -> None:
    assert argv(launch_in("{ services.llama-cpp = { enable = true; package = pkgs.llama-cpp-vulkan; }; }", "a.nix")) == [
        "--port",
        "8080",
    ]


def test_instances_of_llama_cpp() -> None:
    text = """
    { services.llama-cpp.instances = {
        one = { enable = true; model = "/a.gguf"; port = 81; extraFlags = [ "-c" "1" ]; };
        "a.two" = { enable = true; hfRepo = "a/b"; };
        three = { enable = false; };
      };
    }"""
    one, two = launches_in(text, "a.nix")
    assert argv(one) == ["-m", "/a.gguf", "--port", "81", "-c", "1"]
    assert [word.many for word in two.argv] == [True]
    assert (one.name, two.name) == ("services.llama-cpp.instances.one", 'services.llama-cpp.instances."a.two"')


def test_the_models_of_a_preset() -> None:
    text = """
    { services.llama-cpp = { enable = true; modelsPreset = {
        "*" = { n-gpu-layers = "99"; };
        "a/b:Q4" = { hf-repo = "a/b"; ctx-size = 4096; };
      }; };
    }"""
    router, model = launches_in(text, "a.nix")
    assert [word.many for word in router.argv] == [True]
    assert (model.name, argv(model)) == ("a/b:Q4", ["--n-gpu-layers", "99", "--hf-repo", "a/b", "--ctx-size", "4096"])


def test_what_the_module_of_ollama_makes_variables_of() -> None:
    text = '{ services.ollama = { enable = true; models = "/data"; rocmOverrideGfx = "10.3.0"; }; }'
    assert environment(launch_in(text, "a.nix")) == {"OLLAMA_MODELS": "/data", "HSA_OVERRIDE_GFX_VERSION": "10.3.0"}


@together(
    "text, expected",
    [
        ('let s = "${pkgs.llama-cpp}/bin/llama-server"; in { x.script = "${s} -m a"; }', ["-m", "a"]),
        ("let s = lib.getExe' pkgs.vllm \"vllm\"; in { x.script = \"${s} serve a/b\"; }", ["a/b"]),
        ('{ services.llama-swap.settings.models."a".cmd = "llama-server -m a"; }', ["-m", "a"]),
        ("{ f = pkgs.writeText \"swap.yaml\" ''\n  models:\n    a:\n      cmd: llama-server --port ''${PORT} -m a\n''; }",
         ["--port", "${PORT}", "-m", "a"]),
        ('{ virtualisation.oci-containers.containers.o = { image = "ollama/ollama:0.9.0"; }; }', []),
    ],
)  # fmt: skip
def test_programs_that_have_a_name(text: str, expected: list[str]) -> None:
    assert argv(launch_in(text, "a.nix")) == expected


@together(
    "text, expected",
    [
        (
            'let args = [ "serve" "m" "--port" "80" ]; in { ExecStart = "${pkgs.vllm}/bin/vllm ${lib.escapeShellArgs args}"; }',
            "m --port 80",
        ),
        (
            'let a = [ "serve" inst.model "--port" "80" ] ++ (f [ "-s" ]); in { script = "vllm ${escapeShellArgs a}"; }',
            "inst.model --port 80",
        ),
        (
            'let flags = [ "--port" "80" "--alias" "a b" ]; in { script = "llama-server ${strings.escapeShellArgs flags}"; }',
            "--port 80 --alias a b",
        ),
        ('let a = [ "serve" "m" ]; in { script = "vllm ${lib.concatStringsSep " " a}"; }', "m"),
        ('let a = [ "serve" "m" ]; in { ExecStart = "vllm ${utils.escapeSystemdExecArgs a}"; }', "m"),
    ],
)
def test_a_list_that_has_a_name(text: str, expected: str) -> None:
    assert " ".join(word for word in argv(launch_in(text, "a.nix")) if word) == expected


@together(
    "text",
    [
        'let a = [ "bench" "m" ]; in { script = "vllm ${lib.escapeShellArgs a}"; }',
        'let a = [ "serve" "m" ]; in { description = "vllm ${lib.escapeShellArgs a}"; }',
        '{ script = "vllm ${lib.escapeShellArgs a}"; }',
        'let a = [ "serve" ]; b = { a = [ "x" ]; }; in { script = "vllm ${lib.escapeShellArgs a}"; }',
    ],
)
def test_a_list_that_is_no_launch(text: str) -> None:
    assert launches_in(text, "a.nix") == []


@together(
    "text, expected",
    [
        ('{ services."llama-cpp" = { enable = true; model = "/m"; }; }', ["-m", "/m"]),
        ('{ services = { "llama-cpp" = { "enable" = true; "model" = "/m"; }; }; }', ["-m", "/m"]),
        ('{ systemd.services."a"."script" = "llama-server -m a"; }', ["-m", "a"]),
        ('{ virtualisation.oci-containers.containers."o" = { "image" = "vllm/vllm-openai:v0.19.1"; cmd = [ "m" ]; }; }', ["m"]),
        ('{ systemd.services."a.b" = { script = "vllm serve m"; }; }', ["m"]),
    ],
)
def test_an_attribute_in_quotes(text: str, expected: list[str]) -> None:
    assert argv(launch_in(text, "a.nix")) == expected


@together(
    "text",
    [
        "{ services.ollama.enable = mkVMOverride false; }",
        '{ services = { ollama = { enable = (lib.mkOverride 50 false); host = "0.0.0.0"; }; }; }',
        "{ services.llama-cpp.enable = lib.mkForce (lib.mkDefault false); }",
    ],
)
def test_a_service_that_is_off(text: str) -> None:
    assert launches_in(text, "a.nix") == []


@together("text", ["mkVMOverride true", "lib.mkIf cfg.x true", "cfg.x != false", "cfg.enable"])
def test_a_service_that_may_be_on(text: str) -> None:
    assert launches_in(f"{{ services.ollama.enable = {text}; }}", "a.nix")


@together("text", ['{ a = "services.llama-cpp"; b = "enable" == x; }', '{ services."llama-cpp-x" = { enable = true; }; }'])
def test_a_text_that_is_no_attribute(text: str) -> None:
    assert launches_in(text, "a.nix") == []


@pytest.mark.parametrize(
    ("image", "cmd", "words", "release"),
    [
        ('"vllm/vllm-openai:v0.10.2"', '[ "--model" "m" ] ++ lib.optionals gpu [ "--seed" "1" ]', "--model m ...", "0.10.2"),
        ('"vllm/vllm-openai:v0.10.2"', '[ "--model" "m" ] ++ lib.optional gpu "--enforce-eager"', "--model m ...", "0.10.2"),
        ('if old then "vllm/vllm-openai:v0.10.2" else "vllm/vllm-openai:v0.11.0"', '[ "--model" "m" ]', "--model m", None),
        ('if old then "rocm/vllm:a" else "vllm/vllm-openai:v0.11.0"', '[ "--model" "m" ]', "", None),
        ('f "vllm/vllm-openai:v0.10.2" "vllm/vllm-openai:v0.11.0"', '[ "--model" "m" ]', "", None),
    ],
)
def test_values_that_a_condition_chooses(image: str, cmd: str, words: str, release: str | None) -> None:
    fields = f"    image = {image};\n    cmd = {cmd};\n"
    text = f"{{ config, lib, ... }}:\n{{\n  virtualisation.oci-containers.containers.a = {{\n{fields}  }};\n}}\n"
    found = launches_in(text, "x.nix")
    shown = [" ".join(["..." if one.many else one.shown for one in launch.argv]) for launch in found]
    assert shown == [words] * bool(words)
    assert [(one.release.release, one.release.rolling) for one in found] == [(release, False)] * bool(words)


def test_a_set_that_has_a_name() -> None:
    container = 'virtualisation.oci-containers.containers.a = { image = cfg.image; cmd = [ "--model" cfg.llm.model ]; };'
    text = f'let cfg = {{ image = "vllm/vllm-openai:v0.10.2"; llm = {{ model = "a/b"; }}; }}; in {{ {container} }}'
    assert argv(launch_in(text, "a.nix")) == ["--model", "a/b"]
    assert release(launch_in(text, "a.nix")) == ("0.10.2", "image")
    assert launches_in(text.replace("}; in", "} // given; in"), "a.nix") == []
    assert argv(launch_in('let x = { model = "a"; }; in { y.script = "vllm serve ${x.model}"; }', "a.nix")) == ["a"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("inherit (cfg) autoStart; inherit (cfg) image;", True),
        ("inherit (cfg) image autoStart;", True),
        ("image = cfg.image;", True),
        ("image = config.services.llm.image;", True),
        ("inherit (other) image;", False),
        ("inherit image;", False),
    ],
)
def test_the_default_of_an_option_that_a_module_declares(given: str, found: bool) -> None:
    image = 'lib.mkOption { type = lib.types.str; default = "vllm/vllm-openai:v0.10.2"; }'
    options = f"options.services.llm = {{ image = {image}; autoStart = lib.mkOption {{ default = true; }}; }};"
    container = f'virtualisation.oci-containers.containers.a = {{ {given} cmd = [ "--model" cfg.model ]; }};'
    text = f"{{ config, lib, ... }}: let cfg = config.services.llm; in {{ {options} config = {{ {container} }}; }}"
    assert [release(one) for one in launches_in(text, "module.nix")] == [("0.10.2", "image")] * found


@together(
    "value, words",
    [
        ('"${p}/bin/llama-server " + lib.escapeShellArgs [ "-m" "a b" "--port" "1" ]', ["-m", "a b", "--port", "1"]),
        ('"vllm serve " + lib.escapeShellArgs [ "m" "--x" \'\'{"a": 1}\'\' ]', ["m", "--x", '{"a": 1}']),
        ('("vllm serve " + lib.concatStringsSep " " [ "m" "--port" "1" ])', ["m", "--port", "1"]),
        ('"vllm serve m " + "--port " + "1"', ["m", "--port", "1"]),
        ('"vllm serve m " + lib.optionalString x "--port 1"', ["m", "--port", "1"]),
        ('"vllm serve m " + cfg.options', ["m", None]),
        ('"vllm serve m " + lib.escapeShellArgs cfg.options', ["m", None]),
    ],
)
def test_a_command_that_goes_on_behind_a_plus(value: str, words: list[str | None]) -> None:
    found = launch_in("{ systemd.services.a.serviceConfig.ExecStart = " + value + "; }", "a.nix")
    assert [word.value for word in found.argv] == words


@together(
    "value, expected",
    [
        ('lib.concatStringsSep "," ([ "http://a" ] ++ cfg.origins)', None),
        ('lib.concatStringsSep "," cfg.origins', None),
        ('if x then "http://a" else "http://b"', None),
        ('f "http://a"', None),
        ('toString (f "x")', None),
        ('"http://a" + cfg.more', None),
        ('lib.mkDefault "http://a"', "http://a"),
        ('let b = 1; in "http://a"', "http://a"),
    ],
)
def test_a_value_that_a_function_makes_is_unknown(value: str, expected: str | None) -> None:
    text = f"{{ services.ollama = {{ enable = true; environmentVariables = {{ OLLAMA_ORIGINS = {value}; }}; }}; }}"
    given = launch_in(text, "a.nix").env["OLLAMA_ORIGINS"].value
    assert given is not None
    assert given.value == expected


@together(
    "value",
    [
        'lib.concatStringsSep "," ([ "http://a" ] ++ cfg.origins)',
        'lib.concatStringsSep "," (cfg.origins)',
        'f "http://a" (g "b")',
    ],
)
def test_a_variable_of_a_container_that_a_function_makes_is_unknown(value: str) -> None:
    inner = f'image = "ollama/ollama:0.12.3"; environment = {{ OLLAMA_ORIGINS = {value}; }};'
    given = launch_in(f"{{ virtualisation.oci-containers.containers.a = {{ {inner} }}; }}", "a.nix").env["OLLAMA_ORIGINS"].value
    assert given is not None
    assert not given.known


@together(
    "flags, expected",
    [
        ('[ "-c" "1" ] ++ lib.optionals x [ "-np" "2" ]', ["-c", "1", "..."]),
        ('lib.optionals x [ "-np" "2" ]', ['lib.optionals x [ "-np" "2" ]']),
    ],
)
def test_flags_that_a_function_adds(flags: str, expected: list[str]) -> None:
    words = launch_in(f'{{ services.llama-cpp = {{ enable = true; model = "/m"; extraFlags = {flags}; }}; }}', "a.nix").argv
    assert [word.shown for word in words[-len(expected) :]] == expected
    assert words[-1].many


def test_the_macros_of_llama_swap() -> None:
    models = 'models = { "a" = { cmd = "\\${server} -hf x/y"; ttl = 1; }; b.cmd = "\\${other} -m /m"; }; '
    macros = 'macros = { "server" = "${pkgs.llama-cpp}/bin/llama-server --port \\${PORT} \\${common}"; common = "-c 4096"; }; '
    for settings in (models + macros, macros + models):
        (launch,) = launches_in(f"{{ services.llama-swap = {{ enable = true; settings = {{ {settings}}}; }}; }}", "a.nix")
        assert [word.shown for word in launch.argv] == ["--port", "${PORT}", "-c", "4096", "-hf", "x/y"]
        assert launch.name == "services.llama-swap.settings.models.a.cmd"
