"""What YAML means to the programs that read a file: a table of scalars, and how each format is read.

Sources:

COMPOSE     Docker Compose 5.4 with compose-go 2.14 and go.yaml.in/yaml 4.0.0-rc.4 (internal/libyaml/resolver.go); before
            compose-go 2.10 go.yaml.in/yaml 3.0.4 (resolve.go), which differs only in `-0`. Variables: types/mapping.go,
            MappingWithEquals.DecodeMapstructure and mappingValue, which is fmt.Sprint. Keys: loader/reset.go, resolveContainer.
KUBERNETES  kubectl 1.32 and Helm 3: sigs.k8s.io/yaml 1.6.0 (yaml.go, YAMLToJSON) with go.yaml.in/yaml 2.4.2 (resolve.go, and
            merge in decode.go). `kubectl label --local -o json` shows what it reads, and test_kubectl_reads_the_same asks it.
PYYAML      PyYAML 6.0.3 (resolver.py, constructor.py), with which vLLM 0.27.1 reads --config
            (utils/argparse_utils.py, load_config_file: str() of each value).
CORE        YAML 1.2.2, chapter 10.3.
"""

from __future__ import annotations

import datetime
import json
import math
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from servelint.core import bounds
from servelint.core.source import Source
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml_values import COMPOSE, CORE, KUBERNETES, PYYAML
from tests.launching import argv, environment, launch_in, reading, release
from tests.together import together

READERS = (COMPOSE, KUBERNETES, PYYAML, CORE)
BAD = "refused"
"""Instead of a value: the program refuses the file."""
DAY = datetime.date(2001, 1, 1)
NOON = datetime.datetime(2001, 1, 1, 12, 0, 0, tzinfo=datetime.timezone.utc)

SCALARS: dict[str, tuple[Any, Any, Any, Any]] = {
    # truth values
    "true": (True, True, True, True),
    "True": (True, True, True, True),
    "FALSE": (False, False, False, False),
    "tRUE": ("tRUE", "tRUE", "tRUE", "tRUE"),
    "yes": ("yes", True, True, "yes"),
    "No": ("No", False, False, "No"),
    "on": ("on", True, True, "on"),
    "OFF": ("OFF", False, False, "OFF"),
    "y": ("y", True, "y", "y"),
    "N": ("N", False, "N", "N"),
    "'yes'": ("yes", "yes", "yes", "yes"),
    # null
    "": (None, None, None, None),
    "~": (None, None, None, None),
    "null": (None, None, None, None),
    "NULL": (None, None, None, None),
    "nULL": ("nULL", "nULL", "nULL", "nULL"),
    "''": ("", "", "", ""),
    # whole numbers
    "12": (12, 12, 12, 12),
    "+12": (12, 12, 12, 12),
    "0644": (420, 420, 420, 644),
    "089": (89.0, 89.0, "089", 89),
    "0o644": (420, 420, "0o644", 420),
    "0O17": (15, 15, "0O17", "0O17"),
    "0x1F": (31, 31, 31, 31),
    "-0x1F": (-31, -31, -31, "-0x1F"),
    "0b101": (5, 5, 5, "0b101"),
    "1_000": (1000, 1000, 1000, "1_000"),
    "0x_1F": (31, 31, 31, "0x_1F"),
    "_1": ("_1", "_1", "_1", "_1"),
    "1,000": ("1,000", "1,000", "1,000", "1,000"),
    "18446744073709551615": (2**64 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 1),
    "18446744073709551616": (2.0**64, 2.0**64, 2**64, 2**64),
    "１２": ("１２", "１２", "１２", "１２"),  # noqa: RUF001
    # numbers with a point or an exponent
    "1.0": (1.0, 1.0, 1.0, 1.0),
    "0.90": (0.9, 0.9, 0.9, 0.9),
    ".5": (0.5, 0.5, 0.5, 0.5),
    "5.": (5.0, 5.0, 5.0, 5.0),
    "1e3": (1000.0, 1000.0, "1e3", 1000.0),
    "1.5e3": (1500.0, 1500.0, "1.5e3", 1500.0),
    "1.5e+3": (1500.0, 1500.0, 1500.0, 1500.0),
    "1_0.5": (10.5, 10.5, 10.5, "1_0.5"),
    "1e400": ("1e400", "1e400", "1e400", "1e400"),
    ".inf": (math.inf, math.inf, math.inf, math.inf),
    "-.Inf": (-math.inf, -math.inf, -math.inf, -math.inf),
    ".NaN": (math.nan, math.nan, math.nan, math.nan),
    "inf": ("inf", "inf", "inf", "inf"),
    "v1": ("v1", "v1", "v1", "v1"),
    "1.2.3": ("1.2.3", "1.2.3", "1.2.3", "1.2.3"),
    # numbers to the base of 60
    "22:22": ("22:22", "22:22", 1342, "22:22"),
    "1:30:45": ("1:30:45", "1:30:45", 5445, "1:30:45"),
    "1:30.5": ("1:30.5", "1:30.5", 90.5, "1:30.5"),
    # dates
    "2001-01-01": (DAY, "2001-01-01", DAY, "2001-01-01"),
    "2001-1-1": (DAY, "2001-1-1", "2001-1-1", "2001-1-1"),
    "2001-13-01": ("2001-13-01", "2001-13-01", BAD, "2001-13-01"),
    "2001-01-01T12:00:00Z": (NOON, "2001-01-01T12:00:00Z", NOON, "2001-01-01T12:00:00Z"),
    "2001-01-01 12:00:00 Z": ("2001-01-01 12:00:00 Z", "2001-01-01 12:00:00 Z", NOON, "2001-01-01 12:00:00 Z"),
    # tags
    "!!str 0644": ("0644",) * 4,
    "!!str": ("",) * 4,
    "!!str null": ("null",) * 4,
    "!!int '12'": (12, 12, 12, 12),
    "!!int 12.5": (BAD,) * 4,
    "!!float 3": (3.0, 3.0, 3.0, 3.0),
    "!!bool yes": (BAD, True, True, BAD),
    "!!null ''": (None, None, None, None),
    "!!binary aGVsbG8=": ("hello",) * 4,
    "!!binary '*'": (BAD,) * 4,
    "!local 12": ("12", "12", BAD, "12"),
}
"""A scalar as it is written -> its value for Compose, Kubernetes, PyYAML and YAML 1.2."""


def node(written: str) -> yaml.Node:
    (document,), problem = yaml.documents(Source("x.yaml", f"k: {written}\n"))
    assert problem is None
    return yaml.entries(document)["k"][1]


def read(written: str, reader: str) -> Any:
    try:
        return yaml_values.value(node(written), reader)
    except ValueError:
        return BAD


@together("written, reader", [*product(SCALARS, READERS)])
def test_scalars(written: str, reader: str) -> None:
    wanted, found = SCALARS[written][READERS.index(reader)], read(written, reader)
    assert type(found) is type(wanted)
    assert found == wanted or (wanted != wanted and math.isnan(found))


PRINTED = [
    (COMPOSE, "0.90", "0.9"),
    (COMPOSE, "1.0", "1"),
    (COMPOSE, "123456.5", "123456.5"),
    (COMPOSE, "1234567.5", "1.2345675e+06"),
    (COMPOSE, "1e6", "1e+06"),
    (COMPOSE, "0.0001", "0.0001"),
    (COMPOSE, "0.00001", "1e-05"),
    (COMPOSE, "-0.5", "-0.5"),
    (COMPOSE, ".inf", "+Inf"),
    (COMPOSE, "-.inf", "-Inf"),
    (COMPOSE, ".nan", "NaN"),
    (COMPOSE, "True", "true"),
    (COMPOSE, "~", ""),
    (COMPOSE, "2001-1-1", "2001-01-01 00:00:00 +0000 UTC"),
    (COMPOSE, "2001-01-01T12:00:00.50+02:00", "2001-01-01 12:00:00.5 +0200 +0200"),
    (KUBERNETES, "1e6", "1000000"),
    (KUBERNETES, "1e21", "1e+21"),
    (KUBERNETES, "0.000001", "0.000001"),
    (KUBERNETES, "yes", "true"),
    (PYYAML, "0.90", "0.9"),
    (PYYAML, "True", "True"),
    (PYYAML, "~", "None"),
    (PYYAML, "1_000", "1000"),
    (PYYAML, "22:22", "1342"),
    (PYYAML, "2001-01-01T12:00:00Z", "2001-01-01 12:00:00+00:00"),
    (PYYAML, "!local 12", "12"),  # refused: as it is written
]


@together("reader, written, text", list(PRINTED))
def test_a_value_as_its_reader_writes_it(reader: str, written: str, text: str) -> None:
    assert yaml_values.shown(node(written), reader) == text


def of_kubectl(spec: str, folder: Path) -> Any:
    """What kubectl reads in an object's field; BAD if it refuses the object."""
    path = folder / "object.yaml"
    path.write_text(f"apiVersion: example.com/v1\nkind: Foo\nmetadata: {{name: a}}\n{spec}\n", encoding="utf-8")
    command = ["kubectl", "label", "--local", "-f", str(path), "a=b", "-o", "json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(found.stdout)["spec"] if found.returncode == 0 else BAD


def test_kubectl_reads_the_same(tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl reads them")
    # JSON has no infinity, and holds a number of 64 bits as a float
    rows = {written: row[1] for written, row in SCALARS.items() if row[1] is not BAD}
    rows = {written: value for written, value in rows.items() if not isinstance(value, (int, float)) or abs(value) < 1 << 63}
    found = of_kubectl("\n".join(["spec:", *[f"- {written}" for written in rows]]), tmp_path)
    assert dict(zip(rows, found, strict=True)) == rows
    for written, row in SCALARS.items():
        if row[1] is BAD:
            assert of_kubectl(f"spec: {written}", tmp_path) == BAD, written


class TestMergeKeys:
    BASE = "base: &base {a: base, b: base}\nother: &other {a: other, c: other}\n"
    ROWS = (
        # what is merged into, for Compose, for Kubernetes
        ("{<<: *base, a: own}", {"a": "own", "b": "base"}, {"a": "own", "b": "base"}),
        ("{a: own, <<: *base}", {"a": "own", "b": "base"}, {"a": "base", "b": "base"}),
        ("{<<: [*other, *base]}", {"a": "other", "b": "base", "c": "other"}, {"a": "other", "b": "base", "c": "other"}),
        ("{<<: {<<: *base, a: mid}, b: own}", {"a": "mid", "b": "own"}, {"a": "mid", "b": "own"}),
        (
            "{<<: *base, <<: *other}",
            None,
            {"a": "other", "b": "base", "c": "other"},
        ),  # Compose refuses a key that is there twice
        ('{"<<": a}', {"<<": "a"}, {"<<": "a"}),
        ("{!!str <<: a}", {"<<": "a"}, {"<<": "a"}),
    )

    def values(self, written: str, *, kubernetes: bool) -> dict[str, str | None]:
        source = Source("x.yaml", f"{self.BASE}spec: {written}\n")
        documents, problem = yaml.documents(source)
        assert problem is None
        if kubernetes:
            yaml.merge_in_order(documents, source)
        entries = yaml.entries(yaml.entries(documents[0])["spec"][1])
        return {key: yaml.scalar(value) for key, (_, value) in entries.items()}

    @pytest.mark.parametrize(("written", "compose", "kubernetes"), ROWS)
    def test_both(self, written: str, compose: dict[str, str] | None, kubernetes: dict[str, str], tmp_path: Path) -> None:
        if compose is not None:
            assert self.values(written, kubernetes=False) == compose
        assert self.values(written, kubernetes=True) == kubernetes
        if shutil.which("kubectl") is not None:
            assert of_kubectl(f"{self.BASE}spec: {written}", tmp_path) == kubernetes


class TestCompose:
    def service(self, fields: str, more: str = "") -> str:
        return f"""
            {more}
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: [m]
                {fields}
        """

    def test_variables(self) -> None:
        launch = launch_in(self.service("environment: {A: 0644, B: 0.90, C: True, D: yes, E: '0644', F: 1_000, G: 2001-01-01}"))
        assert environment(launch) == {
            "A": "420",
            "B": "0.9",
            "C": "true",
            "D": "yes",
            "E": "0644",
            "F": "1000",
            "G": "2001-01-01 00:00:00 +0000 UTC",
        }

    def test_variables_in_a_list_are_texts(self) -> None:
        assert environment(launch_in(self.service("environment: [A=0644, B=True]"))) == {"A": "0644", "B": "True"}

    def test_a_variable_that_is_null_comes_from_outside(self) -> None:
        launch = launch_in(self.service("environment: {A: NULL, B: ~, C: , D: !!str }"))
        assert environment(launch) == {"A": None, "B": None, "C": None, "D": ""}

    def test_what_interpolation_gives_is_a_text(self) -> None:
        launch = launch_in(self.service("environment: {A: '${X:-0644}', B: '${X:-1_000}'}"))
        assert environment(launch) == {"A": "0644", "B": "1_000"}

    @pytest.mark.parametrize(("written", "truth"), [("false", "false"), ("False", "false"), ("True", "true")])
    def test_a_truth_value(self, written: str, truth: str) -> None:
        launch = launch_in(self.service(f"privileged: {written}"))
        assert launch.container is not None
        assert launch.container.settings["privileged"].value == truth

    def test_an_anchor_that_is_set_again(self) -> None:
        launch = launch_in(self.service("environment: {A: &a one, B: &a two, C: *a}"))
        assert environment(launch) == {"A": "one", "B": "two", "C": "two"}

    @pytest.mark.parametrize(
        ("fields", "place"),
        [
            ("environment: {A: 1, A: 2}", (6, 25)),
            ("environment: {A: 1}\n                environment: {A: 2}", (7, 5)),
            ("labels: {<<: *x, <<: *x}", (6, 22)),
        ],
    )
    def test_a_key_that_is_there_twice(self, fields: str, place: tuple[int, int]) -> None:
        found, _ = reading(self.service(fields, "x-labels: &x {a: b}"))
        (problem,) = found.problems
        assert problem.message == bounds.COMPOSE_KEYS.message
        assert (problem.line, problem.column) == place
        assert len(found.launches) == 1

    def test_words_between_brackets(self) -> None:
        launch = launch_in(
            """
            services:
              llm: {image: vllm/vllm-openai:v0.20.0, command: [--model, hf://a?b=c, --served-model-name, a:b, "--port", 1:2]}
            """
        )
        assert argv(launch) == ["--model", "hf://a?b=c", "--served-model-name", "a:b", "--port", "1:2"]
        assert release(launch) == ("0.20.0", "image")


class TestKubernetes:
    def pod(self, fields: str = "", spec: str = "") -> str:
        return f"""
            apiVersion: v1
            kind: Pod
            metadata: {{name: a}}
            spec:
              {spec}
              containers:
              - name: llm
                image: vllm/vllm-openai:v0.20.0
                args: [--model, m]
                {fields}
        """

    @pytest.mark.parametrize(("written", "shared"), [("true", True), ("yes", True), ("on", True), ("y", True), ("no", False)])
    def test_a_truth_value(self, written: str, shared: bool) -> None:
        launch = launch_in(self.pod(spec=f"hostIPC: {written}"), "pod.yaml")
        assert launch.container is not None
        assert ("ipc" in launch.container.settings) is shared

    @pytest.mark.parametrize("written", ["2", "0x2", "02", "0b10", "'2'", "2.0"])
    def test_a_number(self, written: str) -> None:
        launch = launch_in(self.pod(f"resources: {{limits: {{nvidia.com/gpu: {written}}}}}"), "pod.yaml")
        assert launch.container is not None
        assert launch.container.gpus == 2

    def test_the_last_of_two_keys_counts(self) -> None:
        launch = launch_in(self.pod("image: vllm/vllm-openai:v0.19.1"), "pod.yaml")
        assert release(launch) == ("0.19.1", "image")

    def test_a_merge_key_replaces_what_stands_before_it(self) -> None:
        bounds = "resources: {limits: &one {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 4, <<: *one}}"
        launch = launch_in(self.pod(bounds), "pod.yaml")
        assert launch.container is not None
        assert launch.container.settings["gpu_request"].value == "1"


class TestConfigFileOfAnEngine:
    def test_values(self) -> None:
        launch = launch_in(
            """
            model: m
            max-model-len: 32_768
            gpu-memory-utilization: 0.90
            enable-prefix-caching: yes
            enforce-eager: off
            block-size: 0x10
            served-model-name: [a, 0644]
            seed: 1e3
            """,
            "vllm.yaml",
        )
        assert argv(launch) == [
            *["--model", "m", "--max-model-len", "32768", "--gpu-memory-utilization", "0.9", "--enable-prefix-caching"],
            *["--block-size", "16", "--served-model-name", "a", "420", "--seed", "1e3"],
        ]


class TestData:
    """The documents of servelint's own files."""

    @pytest.mark.parametrize(
        ("content", "found"),
        [
            ("", None),
            ("a", "a"),
            ("a: {b: [1, 2.5, true, null, 'x']}", {"a": {"b": [1, 2.5, True, None, "x"]}}),
            ("1: a\nyes: b\n", {1: "a", "yes": "b"}),
            ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
            ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ],
    )
    def test_plain(self, content: str, found: Any) -> None:
        assert yaml_values.load(Source("x.yaml", content)) == found

    def test_an_alias_is_the_same_object(self) -> None:
        for content in ("a: &x {b: 1}\nc: *x", "a: &x [1]\nc: *x"):
            found = yaml_values.load(Source("x.yaml", content))
            assert found["a"] is found["c"]
        looped = yaml_values.load(Source("x.yaml", "&x {a: *x}"))
        assert looped["a"] is looped

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("a: 1\n---\nb: 2\n", "x.yaml:3:1: more than one document"),
            ("a:\n  [b]: 1\n", "x.yaml:2:3: a key that is a collection"),
            ("a:\n  b: 1\n  c: 2\n  b: 3\n", "x.yaml:4:3: the key 'b' is set twice"),
            ("a: !!int x\n", "x.yaml:1:4: 'x' is not what its tag !!int says"),
        ],
    )
    def test_what_is_none(self, content: str, message: str) -> None:
        with pytest.raises(ValueError, match=r"^x\.yaml:") as caught:
            yaml_values.load(Source("x.yaml", content))
        assert str(caught.value).replace("tag:yaml.org,2002:", "!!") == message

    def test_a_syntax_error_has_its_place(self) -> None:
        with pytest.raises(ValueError, match=r"^x\.yaml:2:1: "):
            yaml_values.load(Source("x.yaml", "a: [1,\n"))


def test_a_text_that_its_reader_writes_anew_has_the_place_of_the_scalar() -> None:
    source = Source("x.yaml", "a: 0x10\n")
    scalar = yaml.entries(yaml.documents(source)[0][0])["a"][1]
    written = yaml_values.text(source, scalar, COMPOSE)
    assert (written.flat, written.span(), written.pieces[0].verbatim) == ("16", yaml.span(source, scalar), False)
    source = Source("x.yaml", "a: 16\n")
    scalar = yaml.entries(yaml.documents(source)[0][0])["a"][1]
    assert yaml_values.text(source, scalar, COMPOSE).pieces[0].verbatim
