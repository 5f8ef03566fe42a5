"""Conversions of values; and our reading of an argv against argparse's own."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import Any, NamedTuple, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.argv import Arguments, Setting, read
from servelint.engines.catalog import Catalog, compile_catalog
from servelint.engines.config import Config, Reading
from servelint.engines.conversions import Refused, convert, is_known
from servelint.engines.registry import ENGINES
from servelint.judge.parser import violations
from servelint.syntax.shell.words import split
from tests.together import together


class TestConversions:
    @together(
        "engine, types, text, value",
        [
            ("vllm", [], "x", "x"),
            ("vllm", ["int"], "8", 8),
            ("vllm", ["int"], " 8_000 ", 8000),
            ("vllm", ["int"], "-1", -1),
            ("vllm", ["float"], "1e3", 1000.0),
            ("vllm", ["float"], ".5", 0.5),
            ("vllm", ["none", "int"], "", None),
            ("vllm", ["none", "int"], "None", None),
            ("vllm", ["none", "int"], "3", 3),
            ("vllm", ["none", "str"], "three", "three"),
            ("vllm", ["json"], '{"a": 1}', {"a": 1}),
            ("vllm", ["bool"], "", False),
            ("vllm", ["bool"], "false", True),
            ("vllm", ["human_readable_int"], "8192", 8192),
            ("vllm", ["human_readable_int"], "8k", 8000),
            ("vllm", ["human_readable_int"], "8K", 8192),
            ("vllm", ["human_readable_int"], "1.5k", 1500),
            ("vllm", ["human_readable_int"], "2M", 2 << 20),
            ("vllm", ["human_readable_int_or_auto"], "auto", -1),
            ("vllm", ["human_readable_int_or_auto"], "-1", -1),
            ("vllm", ["human_readable_int_or_auto"], "1m", 1_000_000),
            ("vllm", ["LoRAParserAction"], "name=path", "name=path"),
            ("vllm", ["LoRAParserAction"], '{"name": "a", "path": "b"}', '{"name": "a", "path": "b"}'),
            ("vllm", ["lambda s: s.lower().replace('-', '_')"], "TRITON-MLA", "triton_mla"),
            ("sglang", ["human_readable_int"], "8k", 8000),
            ("sglang", ["human_readable_int"], "8Ki", 8192),
            ("sglang", ["human_readable_int"], "1.5M", 1_500_000),
            ("sglang", ["LoRAPathAction"], "a=b", "a=b"),
            ("sglang", ["LoRAPathAction"], '{"lora_name": "a", "lora_path": "b"}', '{"lora_name": "a", "lora_path": "b"}'),
            ("sglang", ["logging_level"], "DEBUG", "DEBUG"),
            ("sglang", ["nullable_str"], "None", None),
            ("sglang", ["nullable_str"], "x", "x"),
            ("sglang", ["json_list_type"], "[1]", [1]),
            ("sglang", ["parse_cuda_graph_config_arg"], '{"decode": {}}', {"decode": {}}),
            *[("llama.cpp", [name], "12abc", "12") for name in ("stoi", "stol", "stoll", "stoul", "stoull")],
            ("llama.cpp", ["cpu_mask"], "0xff", "0xff"),
            ("llama.cpp", ["cpu_range"], "0-7", "0-7"),
            ("llama.cpp", ["cpu_range"], "-", "-"),
            ("llama.cpp", ["kv_override"], "a.b=bool:true,c=int:x", "a.b=bool:true,c=int:x"),
            ("llama.cpp", ["name_and_number"], "a.gguf:0.5,b.gguf:1", "a.gguf:0.5,b.gguf:1"),
            ("llama.cpp", ["logit_bias"], "15043-1.5", "15043-1.5"),
            ("llama.cpp", ["addresses"], " ::1,", " ::1,"),
            *[("llama.cpp", ["gpu_layers"], text, text) for text in ("auto", "all", "99", " 9x")],
            *[("llama.cpp", ["tensor_overrides"], text, text) for text in ("", "exps=CPU", "blk.0=CUDA0,=,")],
            *[("llama.cpp", ["numbers"], text, text) for text in ("3,1", ".5/ 1,,2,", "1e3x,-INF")],
            *[("llama.cpp", ["sizes"], text, text) for text in ("1024", "0,1024/512,")],
            ("llama.cpp", ["stof"], " 0.5x", "0.5"),
            ("llama.cpp", ["stof"], "-inf", "-inf"),
            ("tgi", ["u16"], "+65535", 65535),
            ("tgi", ["usize-list"], "1,2", "1,2"),
            ("tgi", ["f32"], "-.5e1", -5.0),
            # a conversion that is unknown to servelint takes every text
            ("sglang", ["somebody_elses_function"], "x", "x"),
            ("llama.cpp", ["human_readable_int"], "8k", "8k"),
        ],
    )
    def test_take(self, engine: str, types: list[str], text: str, value: object) -> None:
        found = convert(engine, types, text)
        assert (found, type(found)) == (value, type(value))

    @together(
        "engine, types, text, expected",
        [
            ("vllm", ["int"], "x", "a whole number"),
            ("vllm", ["int"], "1.0", "a whole number"),
            ("vllm", ["int"], "", "a whole number"),
            ("vllm", ["float"], "x", "a number"),
            ("vllm", ["none", "int"], "none", "a whole number"),
            ("vllm", ["json"], "{", "JSON"),
            ("vllm", ["human_readable_int"], "8q", "8k"),
            ("vllm", ["human_readable_int"], "auto", "8k"),
            ("vllm", ["human_readable_int"], "1.5K", "1.5k"),
            ("vllm", ["human_readable_int_or_auto"], "automatic", "auto"),
            ("vllm", ["LoRAParserAction"], '{"name": "a"}', "name=path"),
            ("vllm", ["LoRAParserAction"], "word", "name=path"),
            ("sglang", ["human_readable_int"], "8K", "8Ki"),
            ("sglang", ["human_readable_int"], "1.5Ki", "before Ki"),
            ("sglang", ["LoRAPathAction"], '{"lora_name": "a"}', "lora_path"),
            ("sglang", ["LoRAPathAction"], "{x}", "lora_path"),
            ("sglang", ["logging_level"], "loud", "debug"),
            ("sglang", ["json_list_type"], "[NaN]", "JSON"),
            ("sglang", ["parse_cuda_graph_config_arg"], '{"other": {}}', "decode or prefill"),
            ("sglang", ["parse_cuda_graph_config_arg"], '{"decode": 1}', "decode"),
            ("sglang", ["parse_cuda_graph_backend_arg"], "tc_piecewise", "breakable"),
            ("llama.cpp", ["stoi"], "abc", "a whole number"),
            ("llama.cpp", ["cpu_mask"], "0.5", "a hexadecimal number"),
            ("llama.cpp", ["cpu_range"], "7", "a range such as 0-7"),
            ("llama.cpp", ["kv_override"], "a=bool:yes", "KEY=TYPE:VALUE, where TYPE is int, float, bool or str"),
            ("llama.cpp", ["name_and_number"], "a.gguf", "NAME:NUMBER"),
            ("llama.cpp", ["logit_bias"], "x+1", "a token's number, + or -, and a number"),
            ("llama.cpp", ["addresses"], " , ", "at least one address"),
            ("llama.cpp", ["gpu_layers"], "max", "a whole number, auto or all"),
            *[("llama.cpp", ["numbers"], text, "numbers with commas between them") for text in ("", "x", ",1", "1,auto")],
            *[
                (
                    "llama.cpp",
                    ["tensor_overrides"],
                    text,
                    "PATTERN=BUFFER_TYPE such as exps=CPU, several with commas between them",
                )
                for text in ("exps=CPU,x", "exps=GPU", "a=CUDA0,exps=cpu", "exps=cuda:0")
            ],
            ("llama.cpp", ["sizes"], ",1", "whole numbers with commas between them"),
            ("llama.cpp", ["stof"], "x1", "a number"),
        ],
    )
    def test_refuse_and_say_what_they_expect(self, engine: str, types: list[str], text: str, expected: str) -> None:
        with pytest.raises(Refused) as refused:
            convert(engine, types, text)
        assert expected in str(refused.value)

    @pytest.mark.parametrize(
        ("kind", "texts", "expected"),
        [
            ("usize", ["-1", "", "1.0", " 1", str(2**64)], "a whole number without a sign"),
            ("u64", ["-1", str(2**64)], "a whole number without a sign"),
            ("u32", ["-1", "4294967296"], "a whole number from 0 to 4294967295"),
            ("u16", ["x", "65536"], "a whole number from 0 to 65535"),
            ("usize-list", ["1,-2", "1, 2", "1,,2"], "whole numbers with commas between them, without blanks"),
            ("f32", ["x", "1_0", ""], "a number"),
        ],
    )
    def test_numbers_of_rust_are_not_those_of_python(self, kind: str, texts: list[str], expected: str) -> None:
        for text in texts:
            with pytest.raises(Refused) as refused:
                convert("tgi", [kind], text)
            assert str(refused.value) == expected

    @pytest.mark.parametrize(
        ("kind", "most"), [("usize", 2**64 - 1), ("u64", 2**64 - 1), ("u32", 2**32 - 1), ("u16", 2**16 - 1)]
    )
    def test_the_largest_numbers_of_rust(self, kind: str, most: int) -> None:
        assert convert("tgi", [kind], str(most)) == most

    @pytest.mark.parametrize("text", ["9" * 5000, "1e999", "[" * 100_000, "\ud800", "\0", "٣"])
    @pytest.mark.parametrize("types", [["int"], ["float"], ["json"], ["human_readable_int"], ["stoi"], ["none", "json"]])
    def test_take_or_refuse_whatever_they_are_given(self, types: list[str], text: str) -> None:
        told = ""
        try:
            told = repr(convert("vllm", types, text))[:10]
        except Refused as refused:
            told = str(refused)
        assert told != ""

    @given(st.integers())
    def test_whole_numbers_are_python_s(self, number: int) -> None:
        assert convert("vllm", ["int"], str(number)) == number
        assert convert("sglang", ["human_readable_int"], str(number)) == number

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one, max_size=3)))
    def test_json_is_python_s(self, value: object) -> None:
        assert convert("vllm", ["json"], json.dumps(value)) == value

    @pytest.mark.parametrize(
        ("engine", "types", "known"),
        [
            ("vllm", ["none", "int"], True),
            ("vllm", [], True),
            ("sglang", ["logging_level"], True),
            ("vllm", ["logging_level"], False),
            ("vllm", ["int", "somebody_elses_function"], False),
        ],
    )
    def test_those_that_are_known(self, engine: str, types: list[str], known: bool) -> None:
        assert is_known(engine, types) is known


# -- against argparse


class Declared(NamedTuple):
    """An option of a made-up parser."""

    name: str
    names: list[str]
    kind: str
    nargs: str | int | None = None
    type: str = "str"
    choices: list[Any] | None = None
    required: bool = False
    sets: bool = True

    @property
    def body(self) -> dict[str, Any]:
        """As the catalog has it."""
        body: dict[str, Any] = {"releases": "1.0..", "names": self.names, "kind": self.kind, "sets": self.sets}
        body |= {"type": self.type} if self.type != "str" else {}
        body |= {"nargs": self.nargs} if self.nargs is not None else {}
        body |= {"choices": self.choices} if self.choices is not None else {}
        body |= {"required": True} if self.required else {}
        body |= {"negatives": ["--no-" + name[2:] for name in self.names if name[:2] == "--"]} if self.kind == "toggle" else {}
        return body

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        more: dict[str, Any] = {"dest": self.name, "default": None, "required": self.required}
        if self.kind == "flag":
            parser.add_argument(*self.names, action="store_true" if self.sets else "store_false", **more)
        elif self.kind == "toggle":
            parser.add_argument(*self.names, action=argparse.BooleanOptionalAction, **more)
        else:
            more |= {"type": {"str": str, "int": int, "float": float}[self.type], "choices": self.choices}
            action = "append" if self.kind == "append" else "store"
            parser.add_argument(*self.names, action=action, nargs="?" if self.kind == "optional" else self.nargs, **more)


class NotAccepted(Exception):
    """What argparse ends the process with."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise NotAccepted(message)


class Engine(NamedTuple):
    """A parser as argparse and as a catalog."""

    options: list[Declared]
    positional: bool

    def parse(self, argv: list[str]) -> dict[str, Any] | None:
        """What argparse makes of an argv; None if it refuses it."""
        parser = Parser(add_help=False)
        for option in self.options:
            option.add_to(parser)
        if self.positional:
            parser.add_argument("model", nargs="?")
        try:
            return vars(parser.parse_args(argv))
        except NotAccepted:
            return None

    def catalog(self) -> Catalog:
        places = [{"name": "model", "kind": "optional", "nargs": "?"}] if self.positional else []
        data = {
            "engine": "sglang",
            "releases": ["1.0"],
            "options": {option.name: [option.body] for option in self.options},
            "positionals": [{"releases": "1.0..", "list": places}],
            "env": {},
            "json": {},
            "names": {},
        }
        return Catalog(compile_catalog(data))

    def read(self, argv: list[str]) -> dict[str, Any] | None:
        """What servelint makes of an argv; None if it says that the engine refuses it."""
        text = shlex.join(argv)
        source = Source("<command>", text)
        launch = Launch(
            source=source, engine="sglang", argv=split(TracedText.at(source, 0, len(text))), site=Span(source, 0, len(text))
        )
        catalog = self.catalog()
        arguments = read(launch.argv, catalog.table(0), ENGINES["sglang"].dialect)
        config = Config(Reading(launch, arguments), "1.0", catalog, 0)
        if any(complaint.refused for complaint in violations(config)):
            return None
        found: dict[str, Any] = {option.name: given_value(option, arguments) for option in self.options}
        if self.positional:
            found["model"] = arguments.positionals[0].value if arguments.positionals else None
        return found


def given_value(option: Declared, arguments: Arguments) -> Any:
    setting = arguments.settings.get(option.name)
    if setting is None:
        return None
    if setting.on is not None:
        return setting.on
    if option.kind == "list":
        return values(option, setting)
    if option.kind == "append":
        return [one for each in arguments.every if each.name == option.name for one in values(option, each)]
    return next(iter(values(option, setting)), None)


def values(option: Declared, setting: Setting) -> list[Any]:
    if setting.value is None:
        return []
    texts = [setting.value.flat, *[word.text.flat for word in setting.values[1:]]]
    return [convert("sglang", [option.type], text) for text in texts]


NAMES = ("pre", "prefix", "prefix-caching", "port", "max-len", "max-length", "mode", "model-path", "node", "enable", "tp")
WORDS = ("1", "2", "-1", "-0.5", "0.5", "a", "b", "", "-", "1e3", "x y", "a=b", "-a b", " 1 ", "-1e3", "--", "nan")


CHOICES: dict[str, list[Any]] = {"str": ["a", "b"], "int": [1, -1], "float": [0.5]}
NARGS: list[str | int] = ["*", "+", 1, 2]


@st.composite
def engines(draw: st.DrawFn) -> Engine:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    options: list[Declared] = []
    for name in names:
        kind = draw(st.sampled_from(["value", "value", "optional", "list", "flag", "toggle", "append"]))
        spellings = ["--" + name]
        alias = draw(st.sampled_from([None, None, "--" + name + "-size", "--of-" + name]))
        if alias is not None:
            spellings.append(alias)
        if kind in ("flag", "toggle"):
            options.append(Declared(name, spellings, kind, sets=draw(st.booleans()) if kind == "flag" else True))
            continue
        type_ = draw(st.sampled_from(["str", "int", "float"]))
        choices = draw(st.sampled_from([None, CHOICES[type_]]))
        nargs = draw(st.sampled_from(NARGS)) if kind == "list" else None
        required = kind == "value" and draw(st.integers(0, 9)) == 0
        options.append(Declared(name, spellings, kind, nargs, type_, choices, required))
    return Engine(options, draw(st.booleans()))


@st.composite
def argvs(draw: st.DrawFn, engine: Engine) -> list[str]:
    spellings = [name for option in engine.options for name in [*option.names, *option.body.get("negatives", [])]]
    argv: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        shape = draw(st.sampled_from(["option", "option", "equals", "prefix", "word"]))
        spelling = draw(st.sampled_from(spellings))
        if shape == "prefix":
            spelling = spelling[: draw(st.integers(3, len(spelling)))]
        value = draw(st.sampled_from(WORDS))
        if shape == "equals" and not any(option.nargs == 2 for option in engine.options):
            argv.append(f"{spelling}={value}")
        elif shape != "word":
            argv.append(spelling)
        if shape in ("word", "prefix") or (shape == "option" and draw(st.booleans())):
            argv.append(value)
    return alike(argv, engine)


def alike(argv: list[str], engine: Engine) -> list[str]:
    """Without what the releases of Python read differently: `--` anywhere but before the only positional."""
    words = [word for word in argv if word != "--" and not word.endswith("=--")]
    return [*words, "--", "--port"] if "--" in argv and engine.positional and len(words) % 2 else words


def same(one: object, other: object) -> bool:
    return repr(one) == repr(other)  # nan is itself; 1 is not True


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_an_argv_is_read_as_argparse_reads_it(data: st.DataObject) -> None:
    engine = data.draw(engines())
    argv = data.draw(argvs(engine))
    expected, found = engine.parse(argv), engine.read(argv)
    assert (found is None) == (expected is None), (argv, expected, found)
    if expected is not None and found is not None:
        assert {name for name in expected if not same(expected[name], found[name])} == set(), (argv, expected, found)


SHORT = Engine(
    [
        Declared("quantization", ["--quantization", "-q"], "value"),
        Declared("nodes", ["--nodes", "-n"], "value", type="int"),
        Declared("tp-size", ["--tp-size", "-tp"], "value", type="int"),
        Declared("eager", ["--eager", "-e"], "flag"),
        Declared("pair", ["--pair"], "list", nargs=2),
    ],
    True,
)


@pytest.mark.parametrize(
    "argv",
    [
        ["-q", "awq"],
        ["-q=awq"],
        ["-qawq"],
        ["-n2"],
        ["-nx"],
        ["-tp", "2"],
        ["-tp=2"],
        ["-tp2"],
        ["-t", "2"],
        ["-e"],
        ["-e", "-q", "awq"],
        ["-e=1"],
        ["-x"],
        ["--pair", "1", "2"],
        ["--pair", "1"],
        ["--pair=1"],
        ["m", "--pair", "1", "2", "3"],
        ["--", "-q"],
    ],
    ids=shlex.join,
)
def test_short_options_and_lists_are_read_as_argparse_reads_them(argv: list[str]) -> None:
    assert SHORT.read(argv) == SHORT.parse(argv)
