"""Ollama: its record."""

from __future__ import annotations

from servelint.engines.registry import Dialect, Engine, EntryPoint, ImageFamily, Launcher, Start

_DOCKER = "https://github.com/ollama/ollama/blob/v0.32.15/Dockerfile"


class Ollama(Engine):
    """Ollama."""

    id, name = "ollama", "Ollama"

    harvested_since = "0.1.40"
    source_tag = "v{}"
    source_url = "https://github.com/ollama/ollama/blob/v{release}/{path}"
    documentation = "https://docs.ollama.com/faq"

    command = ("ollama", "serve")
    starts = (Start("serve", programs=("ollama", "ollama.exe")), Start("start", programs=("ollama", "ollama.exe")))

    launchers = {"modelfile": Launcher("https://github.com/ollama/ollama/blob/v0.32.15/docs/modelfile.mdx")}

    # cmd/cmd.go: checkServerHeartbeat; cmd/start_default.go starts no server on Linux; the same in v0.1.40
    client_commands = ("run", "show", "pull", "push", "list", "ls", "ps", "cp", "rm", "stop")
    model_commands = ("run", "pull")

    installer_release = "OLLAMA_VERSION"
    unit = "ollama.service"

    images = (
        ImageFamily(
            "ollama/ollama",
            _DOCKER,
            entrypoint=(EntryPoint("ollama"),),
            command=("serve",),
            builds=r"rocm|rc\d",
            rolling=r"^(?:latest|rocm)$",
        ),
    )

    image_names = r"^ollama(?:-(?:ubi|rhel)\d*|-cpu|-gpu|-cuda|-rocm|-server|-vulkan|-intel|-docker)*$"
    house_tags = r"ollama(?:-(?:ubi|rhel)\d*|-cpu|-gpu|-cuda|-rocm|-server|-vulkan|-intel|-docker)*$"

    words = (b"ollama",)
    stems = ("ollama",)
    platforms = {"kubeai": "ollama"}

    dialect = Dialect(abbreviations=False, attached=True)  # cobra

    variables = ("OLLAMA_",)
    variables_closed = True
    shared_variables = True  # OLLAMA_MODEL, OLLAMA_BASE_URL
    values_read_since = "0.3.2"
    value_kinds = {
        "bool": "true or false",
        "uint": "a whole number that is not negative",
        "duration": "a duration such as 10m or 24h",
    }

    port = 11434  # envconfig/config.go
    port_option, host_option = "", ""
    address_variable = "OLLAMA_HOST"
    nixos_service = "ollama"
    nixos_options = {"models": "OLLAMA_MODELS", "rocmOverrideGfx": "HSA_OVERRIDE_GFX_VERSION"}
    loopback, open_images = True, True
    pulls_models = True
    model_cache = "/root/.ollama"
    tls_operands = ()
    checks_no_health = True
    absent_clients = ("curl", "wget")  # Dockerfile: ubuntu with ca-certificates
    asks_for_no_key = True

    plans_memory = True
    planned_fragments = ("FROM",)

    samples = (("ollama/ollama:0.32.15", (), ()),)


ENGINE = Ollama()
