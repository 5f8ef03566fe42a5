"""Reading an argv as an engine's own parser does."""

from __future__ import annotations

import pytest

from servelint.engines.options import Arguments, Options, load, read
from tests.launching import launch_in

VERBS = {"vllm": "vllm serve", "sglang": "sglang serve", "llama.cpp": "llama-server"}


def arguments(text: str, engine: str = "vllm") -> Arguments:
    return read(launch_in(f"{VERBS[engine]} {text}", "run.sh").argv, load(engine))


def settings(text: str, engine: str = "vllm") -> dict[str, str | bool | None]:
    """Option -> value as written, or the polarity of a flag."""
    return {
        name: setting.on if setting.value is None else setting.value.shown
        for name, setting in arguments(text, engine).settings.items()
    }


class TestSpellings:
    @pytest.mark.parametrize(
        ("text", "name", "value"),
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
            ("-O 3", "compilation-config", "3"),
            ("--enforce-eager", "enforce-eager", True),
            ("--no-enforce-eager", "enforce-eager", False),
            ("--enable-prefix-caching", "enable-prefix-caching", True),
            ("--no-enable-prefix-caching", "enable-prefix-caching", False),
            ("--no_enable_prefix_caching", "enable-prefix-caching", False),
            ("--disable-prefix-caching", "enable-prefix-caching", False),
            ("--disable-cascade-attn", "disable-cascade-attn", True),
            ("--enable-cascade-attn", "disable-cascade-attn", False),
            ("--no-disable-cascade-attn", "disable-cascade-attn", False),
            ("--no-enable-cascade-attn", "disable-cascade-attn", True),
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
            ("--model-path m", "model-path", "m"),
            ("--model m", "model-path", "m"),
            ("--tp-size 2", "tp-size", "2"),
            ("--tensor-parallel-size 2", "tp-size", "2"),
            ("--speculative-draft-model m", "speculative-draft-model-path", "m"),
            ("--disable-radix-cache", "disable-radix-cache", True),
            ("--model_path m", "model_path", "m"),  # SGLang takes no underscores
        ],
    )
    def test_sglang(self, text: str, name: str, value: str | bool | None) -> None:
        assert settings(text, "sglang") == {name: value}

    @pytest.mark.parametrize(
        ("text", "name", "value"),
        [
            ("-m a.gguf", "model", "a.gguf"),
            ("-ngl 99", "n-gpu-layers", "99"),
            ("--gpu-layers 99", "n-gpu-layers", "99"),
            ("-fa", "flash-attn", None),
            ("-fa on", "flash-attn", "on"),
            ("--draft 8", "draft-max", "8"),
            ("--no-mmap", "no-mmap", True),
        ],
    )
    def test_llama_server(self, text: str, name: str, value: str | bool | None) -> None:
        assert settings(text, "llama.cpp") == {name: value}


class TestValues:
    def test_the_last_of_an_option_counts(self) -> None:
        assert settings("--port 1 --port=2 --enforce-eager --no-enforce-eager") == {"port": "2", "enforce-eager": False}

    def test_the_next_option_is_no_value(self) -> None:
        assert settings("--port --enforce-eager") == {"port": None, "enforce-eager": True}

    @pytest.mark.parametrize("value", ["-1", "-0.5", "-1e3", "'-a b'", "-", "''"])
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
            ("-O.mode=3", "compilation-config.mode", "3"),
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

    @pytest.mark.parametrize(
        "text",
        [
            "m $EXTRA_ARGS",
            'm "$@"',
            'm "${ARGS[@]}"',
            "m $(cat args)",
            'm "$OPTION"',
            'm "--$NAME" 3',
            "m --${NAME}=3",
            "m ${A:+$B}",
            "m --config server.yaml",
            "$MODEL_AND_MORE",
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
                {"speculative-config.method", "speculative-config", "port"},
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
        found = read(launch.argv, load("vllm"))
        assert found.complete
        assert found.possible == {"port", "enforce-eager"}

    def test_an_unlisted_option_does_not_take_several_words(self) -> None:
        assert not arguments("m --an-option-of-tomorrow $ARGS").complete


class TestAbbreviations:
    """argparse takes any prefix that is unique in its release: what it stands for is possible, not certain."""

    @pytest.mark.parametrize(
        ("text", "engine", "name"),
        [
            ("--enforce", "vllm", "enforce-eager"),
            ("--gpu-memory-util 0.9", "vllm", "gpu-memory-utilization"),
            ("--gpu_memory_util=0.9", "vllm", "gpu-memory-utilization"),
            ("--no-enable-prefix", "vllm", "enable-prefix-caching"),
            ("--speculative-conf.method mtp", "vllm", "speculative-config"),
            ("--disable-radix", "sglang", "disable-radix-cache"),
            ("--mem-fraction 0.9", "sglang", "mem-fraction-static"),
        ],
    )
    def test_what_it_may_stand_for(self, text: str, engine: str, name: str) -> None:
        found = arguments(text, engine)
        assert name in found.possible
        assert name not in found.settings
        assert found.complete

    def test_a_whole_name_is_no_abbreviation(self) -> None:
        assert arguments("--port 1 --max-model-len 2 --enable-prefix-caching").possible == set()

    def test_llama_server_takes_none(self) -> None:
        assert arguments("--spec-draft-n 3", "llama.cpp").possible == set()


def test_an_engine_without_a_table_reads_options_by_their_shape() -> None:
    options = load("tgi")
    assert options.options == {}
    found = read(launch_in("text-generation-launcher --model-id m --quantize --port=1", "run.sh").argv, options)
    assert {name: setting.value.shown if setting.value else None for name, setting in found.settings.items()} == {
        "model-id": "m",
        "quantize": None,
        "port": "1",
    }


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp"])
def test_every_spelling_of_a_table_is_read_as_its_option(engine: str) -> None:
    options: Options = load(engine)
    for spelling, name in options.by_spelling.items():
        assert options.name(spelling)[0] == name
        assert list(settings(f"{spelling} 1" if options.options[name].kind != "flag" else spelling, engine)) == [name]
