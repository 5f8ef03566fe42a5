"""What a build of llama.cpp's server accepts, read from small sources written here."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from servelint.harvest.llamacpp import open_source, snapshot
from servelint.harvest.sources import HarvestError, Tree

ARG = r"""
#include "arg.h"
static std::initializer_list<enum llama_example> mmproj_examples = { LLAMA_EXAMPLE_MTMD, LLAMA_EXAMPLE_SERVER };

const std::vector<ggml_type> kv_cache_types = { GGML_TYPE_F16, GGML_TYPE_Q8_0, };

static ggml_type kv_cache_type_from_str(const std::string & s) {
    throw std::runtime_error("Unsupported cache type: " + s);
}

bool common_arg_utils::is_truthy(const std::string & value) {
    return value == "on" || value == "1";
}

bool common_arg_utils::is_falsey(const std::string & value) {
    return value == "off" || value == "0";
}

common_params_context common_params_parser_init(common_params & params, llama_example ex, void(*print_usage)(int, char **)) {
    auto add_opt = [&](common_arg arg) {
        ctx_arg.options.push_back(std::move(arg));
    };
    char * cache = std::getenv("LLAMA_CACHE");
BODY
    return ctx_arg;
}

void common_params_add_preset_options(std::vector<common_arg> & args) {
    args.push_back(common_arg({"load-on-startup"}, "NAME", "in server router mode",
        [](common_params &, const std::string &) { }).set_preset_only());
}
"""

SPECULATIVE = """
const std::map<std::string, common_speculative_type> common_speculative_type_from_name_map = {
    {"none",      COMMON_SPECULATIVE_TYPE_NONE},
    {"draft-mtp", COMMON_SPECULATIVE_TYPE_DRAFT_MTP}
};
"""

CHAT = """
common_reasoning_format common_reasoning_format_from_name(const std::string & format) {
    if (format == "none") {
        return COMMON_REASONING_FORMAT_NONE;
    } else if (format == "auto") {
        return COMMON_REASONING_FORMAT_AUTO;
    }
    throw std::runtime_error("Unknown reasoning format: " + format);
}
"""


def harvested(body: str, arg: str = ARG) -> tuple[dict[str, Any], list[str]]:
    files = {"common/arg.cpp": arg.replace("BODY", body), "common/speculative.cpp": SPECULATIVE, "common/chat.cpp": CHAT}
    unresolved: list[str] = []
    return snapshot(Tree("llama.cpp", "b9180", files), unresolved.append), unresolved


def option(body: str) -> dict[str, Any]:
    found, unresolved = harvested(body)
    assert unresolved == []
    (only,) = found["options"].values()
    assert isinstance(only, dict)
    return only


def declared(names: str, rest: str, handler: str, chain: str = "") -> str:
    return f"    add_opt(common_arg(\n        {{{names}}}, {rest}\n        {handler}\n    ){chain});\n"


TEXT = "[](common_params & params, const std::string & value) { BODY }"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            declared('"--metrics"', '"enable, see {docs}",', "[](common_params & params) { params.metrics = true; }"),
            {"names": ["--metrics"], "kind": "flag"},
            id="no value",
        ),
        pytest.param(
            declared(
                '"-c", "--ctx-size"', '"N", string_format("(default: %d)", 1),', "[](common_params & params, int value) { }"
            ),
            {"names": ["-c", "--ctx-size"], "kind": "value", "type": "stoi"},
            id="a whole number",
        ),
        pytest.param(
            declared('"--temp"', '"N", "t",', TEXT.replace("BODY", "params.sampling.temp = std::stof(value);")),
            {"names": ["--temp"], "kind": "value", "type": "stof"},
            id="a number",
        ),
        pytest.param(
            declared('"--chat-template-kwargs"', '"STRING", "t",', TEXT.replace("BODY", "auto parsed = json::parse(value);")),
            {"names": ["--chat-template-kwargs"], "kind": "value", "type": "json"},
            id="JSON",
        ),
        pytest.param(
            declared('"-m", "--model"', '"FNAME", "path (\\"quoted\\")",', TEXT.replace("BODY", "params.model = value;")),
            {"names": ["-m", "--model"], "kind": "value"},
            id="a text",
        ),
        pytest.param(
            declared('"--slots"', '{"-ns", "--no-slots"}, "s",', "[](common_params & params, bool value) { }"),
            {"names": ["--slots"], "kind": "toggle", "negatives": ["-ns", "--no-slots"]},
            id="with a negative",
        ),
        pytest.param(
            declared(
                '"--lora-scaled"',
                '"A", "B", "s",',
                "[](common_params & params, const std::string & a, const std::string & b) { }",
            ),
            {"names": ["--lora-scaled"], "kind": "list", "nargs": 2},
            id="two values",
        ),
        pytest.param(
            declared(
                '"--pooling"',
                '"{none,mean}", "p",',
                TEXT.replace(
                    "BODY",
                    '/**/ if (value == "none") { p = 0; } // a "quoted" comment\n'
                    '     else if (value == "mean") { p = 1; }\n'
                    '     else { throw std::invalid_argument("invalid value"); }',
                ),
            ),
            {"names": ["--pooling"], "kind": "value", "choices": ["none", "mean"]},
            id="a closed list",
        ),
        pytest.param(
            declared(
                '"-fa", "--flash-attn"',
                '"[on|off|auto]", "f",',
                TEXT.replace(
                    "BODY",
                    "if (is_truthy(value)) { a(); } else if (common_arg_utils::is_falsey(value)) { b(); }"
                    ' else if (value == "auto") { c(); } else throw std::runtime_error("unknown");',
                ),
            ),
            {"names": ["-fa", "--flash-attn"], "kind": "value", "choices": ["on", "1", "off", "0", "auto"]},
            id="words for true and false",
        ),
        pytest.param(
            declared(
                '"--split-mode"',
                '"M", "s",',
                TEXT.replace(
                    "BODY",
                    'std::string arg_next = value; if (arg_next == "row") { a(); } else { throw std::invalid_argument("x"); }'
                    ' if (!llama_supports_gpu_offload()) { warn("no effect"); }',
                ),
            ),
            {"names": ["--split-mode"], "kind": "value", "choices": ["row"]},
            id="a closed list and a warning",
        ),
        pytest.param(
            declared(
                '"--mode"',
                '"M", "s",',
                TEXT.replace("BODY", 'if (value == "a") { x(); } else if (known(value)) { y(); } else { throw std::e("x"); }'),
            ),
            {"names": ["--mode"], "kind": "value"},
            id="a list that is not closed",
        ),
        pytest.param(
            declared('"-ctk"', '"T", "c",', TEXT.replace("BODY", "params.k = kv_cache_type_from_str(value);")),
            {"names": ["-ctk"], "kind": "value", "choices": ["f16", "q8_0"]},
            id="a cache type",
        ),
        pytest.param(
            declared(
                '"--reasoning-format"',
                '"F", "r",',
                TEXT.replace("BODY", "params.f = common_reasoning_format_from_name(value);"),
            ),
            {"names": ["--reasoning-format"], "kind": "value", "choices": ["none", "auto"]},
            id="what another function takes",
        ),
        pytest.param(
            declared('"--draft"', '"N", "(removed)",', '[](common_params &, int) { arg_removed("use --new"); }'),
            {
                "names": ["--draft"],
                "kind": "value",
                "type": "stoi",
                "refuses": "the argument has been removed. use --new",
            },
            id="removed",
        ),
        pytest.param(
            declared('"--mlock"', '"m",', '[](common_params & params) { LOG_WRN("DEPRECATED: --mlock is deprecated\\n"); }'),
            {"names": ["--mlock"], "kind": "flag", "deprecated": "DEPRECATED: --mlock is deprecated"},
            id="deprecated when used",
        ),
        pytest.param(
            declared('"--webui"', '{"--no-webui"}, "[DEPRECATED: use --ui] page",', "[](common_params & p, bool value) { }"),
            {
                "names": ["--webui"],
                "kind": "toggle",
                "negatives": ["--no-webui"],
                "deprecated": "[DEPRECATED: use --ui] page",
            },
            id="deprecated in the help",
        ),
    ],
)
def test_an_option(body: str, expected: dict[str, Any]) -> None:
    assert option(body) == expected


@pytest.mark.parametrize(
    ("chain", "there"),
    [
        ("", True),
        (".set_examples({LLAMA_EXAMPLE_SERVER, LLAMA_EXAMPLE_CLI})", True),
        ('.set_env("X").set_examples({LLAMA_EXAMPLE_COMMON})', True),
        (".set_examples(mmproj_examples)", True),
        (".set_examples({LLAMA_EXAMPLE_CLI})", False),
        (".set_excludes({LLAMA_EXAMPLE_SERVER})", False),
    ],
)
def test_options_of_other_programs_are_left_out(chain: str, there: bool) -> None:
    other = declared('"--host"', '"H", "h",', TEXT.replace("BODY", ""))
    found, _ = harvested(other + declared('"--x"', '"x",', "[](common_params & params) { }", chain))
    assert ("x" in found["options"]) is there


def test_a_branch_for_the_server() -> None:
    ours = declared('"--parallel"', '"N", "slots",', "[](common_params & params, int value) { }")
    theirs = declared('"--parallel"', '"n",', "[](common_params & params) { }")
    body = f"    if (ex == LLAMA_EXAMPLE_SERVER) {{\n{ours}    }} else {{\n{theirs}    }}\n"
    assert option(body) == {"names": ["--parallel"], "kind": "value", "type": "stoi"}


def test_names_and_variables() -> None:
    slots = declared('"--slots"', '{"--no-slots"}, "s",', "[](common_params & p, bool v) { }", '.set_env("LLAMA_ARG_SLOTS")')
    types = TEXT.replace("BODY", "auto types = common_speculative_types_from_names(string_split<std::string>(value, ','));")
    spec = declared('"--spec-type"', 'all_types_str(), "t",', types, '.set_spec().set_env("LLAMA_ARG_SPEC_TYPE")')
    found, unresolved = harvested(slots + spec)
    assert unresolved == []
    assert found["env"] == {
        "LLAMA_ARG_NO_SLOTS": {"option": "slots"},
        "LLAMA_ARG_SLOTS": {"type": "bool", "option": "slots"},
        "LLAMA_ARG_SPEC_TYPE": {"type": "common_speculative_types_from_names", "option": "spec-type"},
    }
    assert found["names"] == {"kv-cache-dtypes": {"f16": {}, "q8_0": {}}, "speculative-methods": {"none": {}, "draft-mtp": {}}}


def test_the_spelling_of_older_builds() -> None:
    older = ARG.replace("common_params_parser_init", "gpt_params_parser_init")
    body = '    add_opt(llama_arg({"--no-mmap"}, "m", [](gpt_params & params) { params.use_mmap = false; }));\n'
    assert harvested(body, older)[0]["options"] == {"no-mmap": {"names": ["--no-mmap"], "kind": "flag"}}


def test_what_cannot_be_read_is_said() -> None:
    odd = declared('"--odd"', '"o",', "handle_odd")
    plain = declared('"--even"', '"e",', "[](common_params & params) { }")
    found, unresolved = harvested(odd + plain)
    assert list(found["options"]) == ["even"]
    assert unresolved == ["--odd: a handler that is not known"]


def test_source_from_a_folder_or_an_archive(tmp_path: Path) -> None:
    body = declared('"--even"', '"e",', "[](common_params & params) { }")
    source = tmp_path / "bindings-1.0" / "llama.cpp" / "common" / "arg.cpp"
    source.parent.mkdir(parents=True)
    source.write_text(ARG.replace("BODY", body), encoding="utf-8")
    with tarfile.open(tmp_path / "bindings.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "bindings-1.0", "bindings-1.0")
    for path in (source.parent.parent, tmp_path / "bindings.tar.gz"):
        found = snapshot(open_source(str(path), "b9180"))
        assert (found["release"], list(found["options"])) == ("b9180", ["even"])


def test_a_source_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "broken.tar.gz").write_bytes(b"no archive")
    for path in (tmp_path, tmp_path / "broken.tar.gz", tmp_path / "missing"):
        with pytest.raises(HarvestError):
            open_source(str(path), "b9180")
    with pytest.raises(HarvestError, match="no options"):
        snapshot(Tree("llama.cpp", "b1", {"common/arg.cpp": "int main() { }"}))
