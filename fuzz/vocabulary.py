"""The words that mean something to a reader, a shell or an engine, for what is written and for what is changed."""

from __future__ import annotations

from functools import lru_cache

from servelint.engines import catalog as catalogs
from servelint.engines.releases import known_releases

UNKNOWN = "SERVELINT_NOBODY_KNOWS"
"""A variable that no text sets."""

VALUES = (
    "0", "1", "2", "8", "-1", "0.9", "1.5", "1k", "8K", "2e3", "1e400", "nan", "auto", "fp8", "none", "null", "true", "False",
    "", "m", "a/b", "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3", "./x", "mtp", "NEXTN", "ngram", "qwen3", "turboquant_k8v4",
    "fa3", '{"method":"mtp","num_speculative_tokens":2}', '{"num_speculative_tokens": 0}', "[1, 2]", "{}", '{"a": {"b": ',
    "0x10", "1_000", "9" * 30, "9" * 400, "999999999999", "1e308", "-inf", "\u00b2", "\u0663", "1,2", "a b", "a=b", "x" * 60,
)  # fmt: skip

MARKS = (
    "\n", " ", "\t", "'", '"', "\\", "\\\n", "`", "$", "$$", "{", "}", "[", "]", "(", ")", "<", ">", "|", "&", ";", "#", ":",
    ",", "-", "--", "=", "*", "?", "!", "%", "@", "~", "^", "/", ".", "\r\n", "\r", "\0", "\x1b", "\x7f", "\x85", "\u2028",
    "\u200b", "\ufeff", "\ud83d", "\udc00", "\ufdd0", "\U0001f642", "\u00e9", "e\u0301", "\ue000", "&a ", "*a", "<<: *a",
    "!!str ", "|\n", ">-\n", "|2\n", "---\n", "...\n", "- ", ": ", "? ", "${V}", "${V:-x}", "${V:+x}", "${V?e}", "${V:=x}",
    "${V/a/b}", "${V#*/}", "${#V}", "${!V}", "${V[@]}", "${V:1:2}", "${V^^}", "${", "$(", "$((1+1))", "$((", "$(cat x)",
    "`cat x`", "$@", '"$@"', "$*", "$1", "$#", "$?", "$$(V)", "$(V)", "$(shell x)", "$(if a,b)", "$(call f,a)", "%V%", "!V!",
    "%~1", "%%i", "^\n", "{{ .Values.a }}", "{{- if .a }}", "{{- end }}", "{{ V }}", "{{", "}}", "{% if a %}", "{% endif %}",
    "%(ENV_V)s", "%(", "%i", "<MODEL>", "<<EOF\n", "\nEOF\n", "<<-'E'\n", "<<<x", ">x", "2>&1", "|&", "&&", "||", ";;", "if ",
    "then ", "else ", "fi", "for i in ", "do ", "done", "while ", "case ", "esac", "in ", "function ", "() {", "eval ",
    "exec ", "export ", "unset ", "local ", "read ", "shift", "set -- ", "source ", ". ", "trap ", "[[ ", " ]]", "[ ", " ]",
    "declare -A ", "+=", "=(", "bash -c ", "env ", "sudo ", "docker run ", "pip install ", "uv run ", "cd ", "ifeq (a,b)",
    "endif", "define X", "endef", "include x", "FROM ", "ARG V", "ENV V=", "CMD ", "ENTRYPOINT ", "RUN ", "COPY ",
    "ExecStart=", "Environment=", "[Service]", "[Container]", "[program:x]", "command=", "environment=", "```sh\n", "```\n",
    "~~~", "    ", "  ", "\n\n", "REM ", "set ", "goto x", ":x", "setlocal", "services:", "command:", "args:", "image:",
    "env:", "environment:", "env_file:", "extends:", "include:", "# servelint: ignore", "# servelint: ignore[vllm/*]",
    "# servelint: gpu=h100", "// x\n", "/*", "*/", "\\u0041", "\\ud83d",
)  # fmt: skip

STARTS = (
    "vllm serve ", "python -m vllm.entrypoints.openai.api_server ", "python3 -m sglang.launch_server ", "sglang serve ",
    "llama-server ", "trtllm-serve ", "lmdeploy serve api_server ", "text-generation-launcher ", "vllm/vllm-openai:v0.27.1",
    "vllm/vllm-openai:latest", "lmsysorg/sglang:v0.5.9", "vllm==0.19.1",
)  # fmt: skip


@lru_cache(maxsize=1)
def options() -> dict[str, tuple[str, ...]]:
    """Engine -> every spelling of an option that some release has."""
    found: dict[str, tuple[str, ...]] = {}
    for engine in ("vllm", "sglang", "llama.cpp", "lmdeploy"):
        catalog = catalogs.load(engine)
        if catalog is not None:
            found[engine] = tuple(sorted(catalog.spellings()))
    return found


@lru_cache(maxsize=1)
def variables() -> dict[str, tuple[str, ...]]:
    """Engine -> every environment variable that some release reads."""
    found: dict[str, tuple[str, ...]] = {}
    for engine in options():
        catalog = catalogs.load(engine)
        found[engine] = tuple(sorted(catalog.variables())) if catalog is not None else ()
    return {engine: names or ("V",) for engine, names in found.items()}


@lru_cache(maxsize=8)
def releases(engine: str) -> tuple[str, ...]:
    """Some of an engine's releases, from the first to the last; those of llama.cpp's builds are of its catalog."""
    known = known_releases(engine)
    if not known:
        catalog = catalogs.load(engine)
        known = catalog.releases if catalog is not None else ["1.0"]
    step = max(1, len(known) // 12)
    return (*known[::step], known[-1])


@lru_cache(maxsize=1)
def tokens() -> tuple[str, ...]:
    """What a mutation inserts."""
    some = [spelling + " " for spellings in options().values() for spelling in spellings[:: max(1, len(spellings) // 25)]]
    return (*MARKS, *[value + " " for value in VALUES], *STARTS, *some, "\n" + "a: b", "--" + "a" * 40)
