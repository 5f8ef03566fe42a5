"""Reading an argv as an engine's own parser does."""

from __future__ import annotations

import pytest

from servelint.core.launch import Word
from servelint.core.text import EMPTY
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Arguments, read
from servelint.engines.catalog import Catalog, compile_catalog
from servelint.engines.config import configs
from servelint.engines.registry import Engine
from servelint.engines.releases import sort_key
from tests.launching import launch_in
from tests.together import together

VERBS = {
    "vllm": "vllm serve",
    "sglang": "sglang serve",
    "llama.cpp": "llama-server",
    "tgi": "text-generation-launcher",
    "lmdeploy": "lmdeploy serve api_server",
}


RELEASES = {"vllm": "0.27.1", "sglang": "0.5.12"}


def arguments(text: str, engine: str = "vllm", release: str | None = None) -> Arguments:
    asked = release or RELEASES.get(engine)
    launch = launch_in(f"{VERBS[engine]} {text}", "run.sh")
    return configs(launch, [asked] if asked is not None else [])[0].reading.arguments


def faults(text: str, engine: str = "vllm", release: str | None = None) -> list[tuple[str, str]]:
    return [(fault.kind, fault.spelling) for fault in arguments(text, engine, release).faults]


def settings(text: str, engine: str = "vllm", release: str | None = None) -> dict[str, str | bool | None]:
    """Option -> value as written, or the polarity of a flag."""
    return {
        name: setting.on if setting.value is None else setting.value.shown
        for name, setting in arguments(text, engine, release).settings.items()
    }


class TestSpellings:
    @together(
        "text, name, value",
        [
            ("--max-model-len 4096", "max-model-len", "4096"),
            ("--max-model-len=4096", "max-model-len", "4096"),
            ("--max_model_len 4096", "max-model-len", "4096"),
            ("--max_model-len=4096", "max-model-len", "4096"),
            ("--tensor-parallel-size 2", "tensor-parallel-size", "2"),
            ("-tp 2", "tensor-parallel-size", "2"),
            ("-tp=2", "tensor-parallel-size", "2"),
            ("-dp 2", "data-parallel-size", "2"),
            ("-sc '{}'", "speculative-config", "{}"),
            ("-O 3", "optimization-level", "3"),
            ("-O3", "optimization-level", "3"),
            ("-O=3", "optimization-level", "3"),
            ("--enforce-eager", "enforce-eager", True),
            ("--no-enforce-eager", "enforce-eager", False),
            ("--enable-prefix-caching", "enable-prefix-caching", True),
            ("--no-enable-prefix-caching", "enable-prefix-caching", False),
            ("--no_enable_prefix_caching", "enable-prefix-caching", False),
            ("--disable-cascade-attn", "disable-cascade-attn", True),
            ("--no-disable-cascade-attn", "disable-cascade-attn", False),
            ("--an-option-of-tomorrow x", "an-option-of-tomorrow", "x"),
            ("--an-option-of-tomorrow", "an-option-of-tomorrow", None),
            ("--chat-template=", "chat-template", ""),
            ("--max-model-len", "max-model-len", None),
        ],
    )
    def test_vllm(self, text: str, name: str, value: str | bool | None) -> None:
        assert settings(text) == {name: value}

    @pytest.mark.parametrize(
        ("text", "name", "value"),
        [
            ("--disable-prefix-caching", "enable-prefix-caching", False),
            ("--enable-cascade-attn", "disable-cascade-attn", False),
            ("--no-enable-prefix-caching", "enable-prefix-caching", False),
            ("--disable-log-requests", "enable-log-requests", False),
        ],
    )
    def test_vllm_pairs_enable_and_disable_from_0_33(self, text: str, name: str, value: bool) -> None:
        assert settings(text, release="0.33.0") == {name: value}

    @pytest.mark.parametrize(
        ("text", "name", "value"),
        [
            ("--model-path m", "model-path", "m"),
            ("--model m", "model-path", "m"),
            ("--tp-size 2", "tensor-parallel-size", "2"),
            ("--tensor-parallel-size 2", "tensor-parallel-size", "2"),
            ("--speculative-draft-model m", "speculative-draft-model-path", "m"),
            ("--disable-radix-cache", "disable-radix-cache", True),
            ("--model_path m", "model_path", "m"),  # SGLang takes no underscores
        ],
    )
    def test_sglang(self, text: str, name: str, value: str | bool | None) -> None:
        assert settings(text, "sglang") == {name: value}


class TestValues:
    def test_the_last_of_an_option_counts(self) -> None:
        assert settings("--port 1 --port=2 --enforce-eager --no-enforce-eager") == {"port": "2", "enforce-eager": False}

    def test_the_next_option_is_no_value(self) -> None:
        assert settings("--port --enforce-eager") == {"port": None, "enforce-eager": True}

    @pytest.mark.parametrize("value", ["-1", "'-a b'", "-", "''"])
    def test_a_value_with_a_dash(self, value: str) -> None:
        assert settings(f"--seed {value} --port 1") == {"seed": value.strip("'"), "port": "1"}

    def test_a_list_takes_words_up_to_the_next_option(self) -> None:
        found = arguments("m --cudagraph-capture-sizes 1 2 4 --port 1 rest")
        assert settings("m --cudagraph-capture-sizes 1 2 4 --port 1 rest") == {"cudagraph-capture-sizes": "1", "port": "1"}
        assert [word.value for word in found.positionals] == ["m", "rest"]

    def test_positionals(self) -> None:
        found = arguments("m --enforce-eager other --port 1 -- --seed 3")
        assert [word.value for word in found.positionals] == ["m", "other", "--seed", "3"]
        assert list(found.settings) == ["enforce-eager", "port"]

    def test_words_are_kept(self) -> None:
        setting = arguments("m --port=8000 --max-model-len 4096").settings
        assert (setting["port"].word.shown, setting["port"].value_word) == ("--port=8000", setting["port"].word)
        value_word = setting["max-model-len"].value_word
        assert value_word is not None
        assert value_word.shown == "4096"


class TestJsonPaths:
    @pytest.mark.parametrize(
        ("text", "name", "value"),
        [
            ("--speculative-config.method mtp", "speculative-config.method", "mtp"),
            ("--speculative_config.method=mtp", "speculative-config.method", "mtp"),
            ("-sc.method mtp", "speculative-config.method", "mtp"),
            ("--compilation-config.pass_config.fuse true", "compilation-config.pass_config.fuse", "true"),
            ("-cc.mode=3", "compilation-config.mode", "3"),
            ("--no-such.key v", "no-such.key", "v"),
        ],
    )
    def test_vllm_takes_keys(self, text: str, name: str, value: str) -> None:
        assert settings(text) == {name: value}
        assert arguments(text).possible == set()

    def test_sglang_does_not(self) -> None:
        assert settings("--speculative-algorithm.x y", "sglang") == {"speculative-algorithm.x": "y"}


class TestUnknownWords:
    """What an unknown word may add. `complete` says that nothing but `possible` can be added."""

    @together(
        "text",
        [
            "m $EXTRA_ARGS",
            'm "$@"',
            'm "${ARGS[@]}"',
            "m $(cat args)",
            'm "$OPTION"',
            '"$MODEL" "$OPTION"',
            '"$MODEL" "$OPTION" 3 --enforce-eager',
            'm "--$NAME" 3',
            "m --${NAME}=3",
            "m ${A:+$B}",
            "m --config server.yaml",
            "$MODEL_AND_MORE",
            'm --an-option-of-tomorrow "$VALUE_OR_OPTION"',
        ],
    )
    def test_any_option(self, text: str) -> None:
        assert not arguments(text).complete

    @pytest.mark.parametrize(
        "text",
        [
            "m",
            '"$MODEL"',
            '"$MODEL" --port "$PORT"',
            "m --port $PORT",
            "m --served-model-name=$NAME",
            "m --x y --seed ${SEED:-1}",
            'm --hf-token "$TOKEN"',
        ],
    )
    def test_none(self, text: str) -> None:
        found = arguments(text)
        assert found.complete
        assert found.possible == set()

    @pytest.mark.parametrize(
        ("text", "possible"),
        [
            ("m ${EAGER:+--enforce-eager}", {"enforce-eager"}),
            (
                "m ${SPEC:+--speculative-config.method mtp --port=1}",
                {"speculative-config", "port"},
            ),
            ("m ${X:+word}", set()),
        ],
    )
    def test_the_options_of_an_alternative(self, text: str, possible: set[str]) -> None:
        found = arguments(text)
        assert found.complete
        assert found.possible == possible
        assert found.settings == {}

    def test_the_options_of_an_array_that_may_have_grown(self) -> None:
        launch = launch_in(
            """
            ARGS=(--port 8000)
            if [ -n "$EAGER" ]; then ARGS+=(--enforce-eager); fi
            vllm serve m "${ARGS[@]}"
            """,
            "run.sh",
        )
        found = configs(launch, ["0.27.1"])[0].reading.arguments
        assert found.complete
        assert [setting.name for setting in found.every] == ["port"]
        assert [word.shown for word in launch.alternatives[0].argv] == ["m", "--port", "8000", "--enforce-eager"]

    def test_an_unlisted_option_does_not_take_several_words(self) -> None:
        assert not arguments("m --an-option-of-tomorrow $ARGS").complete


class TestAbbreviations:
    """argparse completes a prefix that one option of the release has."""

    @pytest.mark.parametrize(
        ("text", "engine", "expected"),
        [
            ("--enforce", "vllm", {"enforce-eager": True}),
            ("--gpu-memory-util 0.9", "vllm", {"gpu-memory-utilization": "0.9"}),
            ("--gpu_memory_util=0.9", "vllm", {"gpu-memory-utilization": "0.9"}),
            ("--no-enable-prefix", "vllm", {"enable-prefix-caching": False}),
            ("--speculative-conf.method mtp", "vllm", {"speculative-config.method": "mtp"}),
            ("--disable-radix", "sglang", {"disable-radix-cache": True}),
            ("--mem-fraction 0.9", "sglang", {"mem-fraction-static": "0.9"}),
        ],
    )
    def test_a_unique_prefix_is_the_option(self, text: str, engine: str, expected: dict[str, object]) -> None:
        assert settings(text, engine) == expected
        assert [kind for kind, _ in faults(f"m {text}" if engine == "vllm" else f"--model-path m {text}", engine)] == [
            "abbreviated-option"
        ]

    def test_several_are_ambiguous(self) -> None:
        (fault,) = arguments("m --max-num 8").faults
        assert (fault.kind, fault.names) == (
            "ambiguous-option",
            ["--max-num-batched-tokens", "--max-num-scheduled-tokens", "--max-num-seqs"],
        )
        assert arguments("m --max-num 8").possible == {"max-num-batched-tokens", "max-num-scheduled-tokens", "max-num-seqs"}

    def test_a_whole_name_is_no_abbreviation(self) -> None:
        assert faults("m --port 1 --max-model-len 2 --enable-prefix-caching") == []


class TestFaults:
    @together(
        "text, expected",
        [
            ("m --no-such-option", [("unknown-option", "--no-such-option")]),
            ("m --no_such_option=1", [("unknown-option", "--no-such-option")]),
            ("m --swap-space 4", [("unknown-option", "--swap-space")]),
            ("m --port", [("missing-value", "--port")]),
            ("m --port --enforce-eager", [("missing-value", "--port")]),
            ("m --cudagraph-capture-sizes", [("missing-value", "--cudagraph-capture-sizes")]),
            ("m --enforce-eager=true", [("unexpected-value", "--enforce-eager")]),
            ("m --enforce-eager true", [("unexpected-argument", "true")]),
            ("m other", [("unexpected-argument", "other")]),
            ("m '--dtype auto'", [("one-word", "--dtype")]),
            ("m --port $PORT --enforce-eager", []),
            ("m $ARGS --no-such-option", [("unknown-option", "--no-such-option")]),
            ("m --port -1", []),
            ("m --port= ", []),
            ("m -- --port", [("unexpected-argument", "--port")]),
            ("m --seed 1 -0.5", [("stray-path", "-0.5")]),
            ("m --seed -0.5", [("missing-value", "--seed"), ("stray-path", "-0.5")]),
            ("m --seed -5", []),
        ],
    )
    def test_vllm(self, text: str, expected: list[tuple[str, str]]) -> None:
        assert faults(text) == expected

    @together(
        "text, expected",
        [
            ("--port 1", [("missing-argument", "--model-path")]),
            ("$ARGS --port 1", []),
            ("--model-path m stray", [("unexpected-argument", "stray")]),
            ("--model-path m --tp_size 2", [("unknown-option", "--tp_size")]),
            ("--model m --tp-size 2", []),
            ("--model m --tp 2", [("abbreviated-option", "--tp")]),
            ("--model m --mem-fraction-static -0.5", []),
            ("--model m --mem-fraction-static -.5", []),
            ("--model m --mem-fraction-static -5", []),
            ("--model m --random-seed -0.5x", [("missing-value", "--random-seed"), ("unknown-option", "-0.5x")]),
        ],
    )
    def test_sglang(self, text: str, expected: list[tuple[str, str]]) -> None:
        assert faults(text, "sglang") == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('"$MODEL" --enforce-eager true', [("unexpected-argument", "true")]),
            ('"$OPTION" 1 --enforce-eager m', []),
            ('"$OPTION" 1 --enforce-eager m other', [("unexpected-argument", "other")]),
            ('"$A" "$B" 1 --enforce-eager m', []),
            ('${V+x} "$M" --enforce-eager m', []),
            ('m --lora-modules a "$OPTION" 1', []),
            ('m --lora-modules a "$OPTION" 1 --enforce-eager 2', [("unexpected-argument", "2")]),
        ],
        ids=[
            "a model",
            "an option with its value",
            "and a model",
            "two that nobody knows",
            "a value of one that may be there",
            "behind several values",
            "up to the next option",
        ],
    )
    def test_what_an_unknown_word_may_be(self, text: str, expected: list[tuple[str, str]]) -> None:
        """It is the model, unless what follows may be its value: then it may be an option."""
        assert faults(text) == expected

    def test_the_place_is_the_option(self) -> None:
        (fault,) = arguments("m --no-such-option=1").faults
        assert fault.span is not None
        assert fault.span.text == "--no-such-option"


def test_an_engine_without_a_catalog_reads_options_by_their_shape(bare: Engine) -> None:
    launch = launch_in("bare-server m --model-id m --quantize --port=1", "run.sh")
    assert launch.engine == bare.id
    found = configs(launch, [])[0].reading.arguments
    assert {name: setting.value.shown if setting.value else None for name, setting in found.settings.items()} == {
        "model-id": "m",
        "quantize": None,
        "port": "1",
    }
    assert found.faults == []


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_spelling_of_a_release_is_read_as_its_option(engine: str) -> None:
    catalog = catalogs.load(engine)
    assert catalog is not None
    table = catalog.table(catalog.nearest(RELEASES[engine]))
    for spelling in table.spellings():
        option = table.find(spelling)
        assert option is not None
        if option.name == "help":
            continue  # starts nothing
        words = f"{spelling} 1" if option.takes_value else spelling
        assert list(settings(words, engine)) == [option.name], spelling


def test_clap_takes_no_word_with_a_dash_for_a_value() -> None:
    assert faults("--port -1", "tgi", "3.3.7") == [("missing-value", "--port"), ("unknown-option", "-1")]
    assert faults("--port 1", "tgi", "3.3.7") == []
    assert faults("--seed -1") == []


def test_lmdeploy_takes_underscores_for_dashes() -> None:
    assert faults("a/b --model_format awq", "lmdeploy", "0.18.0") == []
    assert faults("a/b --model_formats awq", "lmdeploy", "0.18.0") == [("unknown-option", "--model-formats")]
    assert faults("a/b --model_format awq", "lmdeploy", "0.9.2") == []
    assert faults("a/b --model_format awq", "lmdeploy", "0.9.1")[0] == ("unknown-option", "--model_format")


def test_lmdeploy_takes_keys_of_json_options() -> None:
    words = "a/b --hf-overrides.rope_scaling.factor 2.0 --hf_overrides.max_position_embeddings=8 --tp 2"
    assert faults(words, "lmdeploy", "0.18.0") == []
    assert list(settings(words, "lmdeploy", "0.18.0")) == [
        "hf-overrides.rope_scaling.factor", "hf-overrides.max_position_embeddings", "tp",
    ]  # fmt: skip
    assert faults(words, "lmdeploy", "0.9.1")[0] == ("unknown-option", "--hf-overrides.rope_scaling.factor")
    assert faults("a/b --session-len -0.5", "lmdeploy", "0.18.0") == []


def test_one_launch_is_read_as_each_release_of_lmdeploy_reads_it() -> None:
    launch = launch_in("lmdeploy serve api_server a/b --model_format awq", "run.sh")
    old, new = configs(launch, ["0.9.1", "0.9.2"])
    assert [one.operand("model-format").value for one in (old, new)] == [None, "awq"]


@pytest.mark.parametrize(
    ("text", "engine", "name", "value"),
    [
        ("-qawq --max-model-len 3", "vllm", "quantization", "awq"),
        ("-q=awq --max-model-len 3", "vllm", "quantization", "awq"),
        ("-p8000 --max-total-tokens 3", "tgi", "port", "8000"),
    ],
)
def test_a_short_option_with_its_value_in_one_word(text: str, engine: str, name: str, value: str) -> None:
    found = settings(text, engine)
    assert found[name] == value
    assert len(found) == 2
    assert faults(text, engine) == []


def test_a_shortened_option_starts_and_an_unknown_one_does_not() -> None:
    assert [fault.fatal for fault in arguments("--max-model 4096").faults] == [False]
    assert [fault.fatal for fault in arguments("--no-such-option 4096").faults] == [True]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ('--served-model-name "$A"', True),
        ('--served-model-name "$A" b', True),
        ('--served-model-name "$A" "$B"', False),
        ('--served-model-name a "$B"', False),
        ('--max-model-len "$A"', True),
    ],
)
def test_a_word_that_may_be_an_option_behind_the_values_that_one_needs(text: str, complete: bool) -> None:
    assert arguments(text).complete is complete


def test_a_list_that_is_certainly_empty_gives_no_words() -> None:
    launch = launch_in("vllm serve m EMPTY --swap-space 4", "run.sh")
    launch.argv[1] = Word(EMPTY, launch.argv[1].site, many=True)
    found = configs(launch, ["0.17.0"])[0].reading.arguments
    assert list(found.settings) == ["swap-space"]
    assert found.complete


@pytest.mark.parametrize(("nargs", "words", "missing"), [("+", "", True), ("+", "a b", False), ("*", "", False)])
def test_an_argument_that_is_needed_once_and_may_be_repeated(nargs: str, words: str, missing: bool) -> None:
    declared = [{"releases": "1.0..", "list": [{"name": "model", "kind": "list", "nargs": nargs}]}]
    data = {"engine": "vllm", "releases": ["1.0"], "options": {}, "positionals": declared, "env": {}, "json": {}, "names": {}}
    argv = launch_in(f"vllm serve {words}", "run.sh").argv
    found = read(argv, Catalog(compile_catalog(data)).table(0), ENGINES["vllm"].dialect)
    assert [fault.kind for fault in found.faults] == (["missing-argument"] if missing else [])


@pytest.mark.parametrize(
    ("text", "release", "name", "value"),
    [
        ("-O.cudagraph_mode NONE", "0.10.0", "compilation-config.cudagraph_mode", "NONE"),
        ("-O.cudagraph_mode=NONE", "0.11.2", "compilation-config.cudagraph_mode", "NONE"),
        ("-O.cudagraph_mode NONE", "0.12.0", "compilation-config.cudagraph_mode", "NONE"),
        ("-O.cudagraph_mode=NONE", "0.13.0", "optimization-level", ".cudagraph_mode=NONE"),
        ("-O.level=3", "0.33.0", "optimization-level", ".level=3"),
    ],
)
def test_a_key_behind_the_level(text: str, release: str, name: str, value: str) -> None:
    found = arguments(f"{text} --seed 2", release=release)
    assert [(one.name, one.value.shown if one.value else None) for one in found.every] == [(name, value), ("seed", "2")]
    assert not found.faults


@pytest.mark.parametrize(
    ("text", "taken_from"),
    [("--rope-scaling.rope_type yarn", "0.9.0"), ("--compilation-config.level=3", "0.9.0"), ("-O.level=3", "0.9.2")],
)
def test_keys_behind_an_option_came_with_a_release(text: str, taken_from: str) -> None:
    """The parsers of 0.8.5, 0.9.1 and 0.9.2 say so: utils.py, FlexibleArgumentParser.parse_args."""
    for release in ("0.8.5", "0.9.0", "0.9.2", "0.11.0"):
        known = [one.option is not None and "." in one.name for one in arguments(f"a/b {text}", release=release).every]
        assert known[-1:] == [sort_key(release) >= sort_key(taken_from)], release


def test_a_key_behind_the_level_and_its_value_apart() -> None:
    assert [fault.kind for fault in arguments("a/b -O.level 3", release="0.13.0").faults] == ["unexpected-argument"]


@pytest.mark.parametrize("text", ["-O3", "-O=3", "-O 3"])
def test_the_level_is_among_the_options_in_the_order_given(text: str) -> None:
    assert [one.name for one in arguments(f"--port 1 {text} --seed 2").every] == ["port", "optimization-level", "seed"]


def test_a_model_that_the_module_ignores_and_a_word_that_may_be_a_value() -> None:
    module = "python3 -m vllm.entrypoints.openai.api_server"

    def told(words: str) -> list[str]:
        launch = launch_in(f"{module} {words}", "run.sh")
        return [fault.kind for fault in configs(launch, ["0.27.1"])[0].reading.arguments.faults]

    assert told("m --port 1") == ["ignored-model"]
    assert told('"$MODEL" --port 1') == []
    assert told("--of-a-plugin m --port 1") == ["unknown-option"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("--model m --max-model-len", ["missing-value"]),
        ("--model m --enforce-eager=1", ["unexpected-value"]),
        ("--model m --new-thing x", []),
        ("--model m --swap-space 4", []),
        ("--model m --enable-reasoning --reasoning-parser qwen3", ["unknown-option"]),  # of releases before 0.10
    ],
)
def test_of_the_options_behind_a_launcher_only_what_no_other_reading_explains_is_a_fault(text: str, kinds: list[str]) -> None:
    (config,) = configs(launch_in(f"python3 -m dynamo.vllm {text}", "run.sh"), ["0.12.0"])
    assert config.launch.launcher == "dynamo"
    assert [fault.kind for fault in config.reading.arguments.faults] == kinds


def test_a_worker_of_fastchat() -> None:
    text = "python3 -m fastchat.serve.vllm_worker --model-path a/b --num-gpus 2 --conv-template vicuna --max-model-len 4096"
    (config,) = configs(launch_in(text, "run.sh"), ["0.12.0"])
    assert (config.launch.launcher, config.reading.arguments.faults) == ("fastchat", [])
    assert config.operand("model").value == "a/b"
    assert config.operand("max-model-len").value == 4096
    assert config.operand("tensor-parallel-size").value == 2


def test_a_launcher_that_starts_the_engine_leaves_its_defaults_but_those_it_sets() -> None:
    (config,) = configs(launch_in("python3 -m dynamo.vllm --model m", "run.sh"), ["0.12.0"])
    possible = config.reading.arguments.possible
    assert "kv-events-config" in possible
    assert "max-model-len" not in possible
