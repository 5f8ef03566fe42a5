"""The instructions and the stages of a Dockerfile."""

from __future__ import annotations

import pytest

from servelint.core.launch import ReleaseClaim
from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines.images import Image
from servelint.readers.dockerfile_stages import Instruction, Stage, chosen, expand, instructions, stages, words
from tests.launching import marked
from tests.together import together


def read(text: str) -> list[Instruction]:
    return instructions(TracedText.at(Source("Dockerfile", text), 0, len(text)))


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one.keyword, one.text.flat) for one in read(text)]


@together(
    "text, expected",
    [
        ("FROM a\n", [("FROM", "a")]),
        ("from a AS b", [("FROM", "a AS b")]),
        ("  FROM   a  \r\n\tRUN b\r\n", [("FROM", "a"), ("RUN", "b")]),
        ("# c\n\nFROM a\n # c\nRUN b # not a comment\n", [("FROM", "a"), ("RUN", "b # not a comment")]),
        ("RUN a \\\n  b\nRUN c", [("RUN", "a   b"), ("RUN", "c")]),
        ("RUN a \\  \n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\r\n  b\r\n", [("RUN", "a   b")]),
        ("RUN a \\\n# c\n   # d\n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\n\n  b\n", [("RUN", "a   b")]),
        ("RUN a \\\\\nRUN b\n", [("RUN", "a \\\\"), ("RUN", "b")]),  # an escaped backslash does not go on
        ("RUN a \\", [("RUN", "a")]),
        ("# escape=`\nRUN a `\n  b\\\nRUN c\n", [("RUN", "a   b\\"), ("RUN", "c")]),
        ("# syntax=docker/dockerfile:1\n# escape=`\nRUN a `\n b", [("RUN", "a  b")]),
        ("# a comment\n# escape=`\nRUN a `\nRUN b", [("RUN", "a `"), ("RUN", "b")]),  # too late for a directive
        ("{% if gpu %}\nFROM a\n{% endif %}\n", [("FROM", "a")]),
        ("", []),
    ],
)
def test_instructions(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected
    assert not any(one.cut for one in read(text))


@pytest.mark.parametrize(
    "text",
    [
        'CMD ["vllm",\n     "serve"]\nEXPOSE 1\n',
        "CMD vllm serve m \\\n  --port 1\n  --host h\n",
        "CMD vllm serve m\n  --port 1\n",
    ],
)
def test_a_continuation_that_is_missing(text: str) -> None:
    found = read(text)
    assert found[0].keyword == "CMD"
    assert found[0].cut
    assert not any(one.cut for one in found[1:])


class TestHeredocs:
    def test_their_lines_are_no_instructions(self) -> None:
        run, last = read("RUN <<EOF\nFROM b\n\n# c\nEOF\nCMD d\n")
        assert [(doc.name, doc.text.flat, doc.expands) for doc in run.heredocs] == [("EOF", "FROM b\n\n# c\n", True)]
        assert run.raw.flat == "<<EOF\nFROM b\n\n# c\nEOF\n"
        assert last.keyword == "CMD"

    def test_quotes_tabs_and_several(self) -> None:
        (copy,) = read("COPY <<'A' <<-B /x/\n$a\nA\n\tb\n\tB\n")
        assert [(doc.name, doc.text.flat, doc.expands) for doc in copy.heredocs] == [("A", "$a\n", False), ("B", "b\n", True)]

    @pytest.mark.parametrize("text", ["RUN echo $((1<<2))\nCMD a\n", "RUN cat <<EOF\nCMD a\n", "LABEL a=<<EOF\nCMD a\n"])
    def test_what_is_none(self, text: str) -> None:
        found = read(text)
        assert [one.keyword for one in found][-1] == "CMD"
        assert found[0].heredocs == []


def test_places() -> None:
    text = "FROM a\nCMD b \\\n  # c\n  d\nEXPOSE 1\n"
    cmd = read(text)[1]
    assert cmd.site is not None
    assert cmd.site.text == "CMD b \\\n  # c\n  d"
    assert [piece.span.text for piece in cmd.text.pieces if piece.span is not None] == ["b ", "  d"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", ["a", "b"]),
        ("a='b c' d", ["a='b c'", "d"]),
        ('a="b \\" c" d', ['a="b \\" c"', "d"]),
        ("a\\ b c", ["a\\ b", "c"]),
        ("'a b", ["'a b"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert [word.flat for word in words(TracedText.of(text))] == expected


def test_a_backtick_as_escape() -> None:
    assert [word.flat for word in words(TracedText.of("C:\\a` b c"), "`")] == ["C:\\a` b", "c"]
    assert expand(TracedText.of("C:\\a` b"), lambda _: None, "`").flat == "C:\\a b"


@together("text", ["$", "a$", "$$", "${", "${}", "${A", "$ a", "${A:-${A:-${A:-"])
def test_what_is_no_variable_stays(text: str) -> None:
    assert expand(TracedText.of(text), lambda _: None).shown == text


def base(text: TracedText, given: dict[str, TracedText | None] | None = None, target: str | None = None) -> Image:
    found = chosen(stages(text, given), target)
    return found.image if found is not None else Image(None, ReleaseClaim(), None)


def image(text: str, target: str | None = None) -> tuple[str | None, str | None]:
    """The engine and its release."""
    found = built(text, target)
    return found.engine, found.claim.release


def built(text: str, target: str | None = None) -> Image:
    return base(TracedText.at(Source("Dockerfile", text), 0, len(text)), target=target)


@together(
    "text, expected",
    [
        ("FROM vllm/vllm-openai:v0.20.0\n", ("vllm", "0.20.0")),
        ("from vllm/vllm-openai:v0.20.0", ("vllm", "0.20.0")),
        ("# syntax=docker/dockerfile:1\n\n  FROM --platform=linux/amd64 vllm/vllm-openai:v0.20.0\n", ("vllm", "0.20.0")),
        ("FROM vllm/vllm-openai:v0.20.0\r\nRUN true\r\n", ("vllm", "0.20.0")),
        ("FROM vllm/vllm-openai@sha256:" + "0" * 64, ("vllm", None)),
        ("FROM nginx:1.27\n", (None, None)),
        ("FROM scratch\n# FROM vllm/vllm-openai:v0.20.0\n", (None, None)),
        ("FROM $BASE\n", (None, None)),
        ("FROM\n", (None, None)),
        ("", (None, None)),
    ],
)
def test_base_image(text: str, expected: tuple[str | None, str | None]) -> None:
    assert image(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ARG TAG=v0.20.0\nFROM vllm/vllm-openai:${TAG}\n", "0.20.0"),
        ('ARG TAG="v0.20.0"\nFROM vllm/vllm-openai:$TAG\n', "0.20.0"),
        ("ARG VERSION=0.20.0\nARG TAG=v$VERSION\nFROM vllm/vllm-openai:$TAG\n", "0.20.0"),
        ("FROM vllm/vllm-openai:${TAG:-v0.20.0}\n", "0.20.0"),
        ("ARG TAG\nFROM vllm/vllm-openai:${TAG}\n", None),
        ('ARG TAG=""\nFROM vllm/vllm-openai:${TAG:-v0.20.0}\n', "0.20.0"),
        ("FROM vllm/vllm-openai:${TAG}\n", None),
    ],
)
def test_arguments(text: str, expected: str | None) -> None:
    assert image(text) == ("vllm", expected)


def test_arguments_from_outside() -> None:
    source = Source("Dockerfile", "ARG TAG=v0.20.0\nFROM vllm/vllm-openai:$TAG\n")
    text = TracedText.at(source, 0, len(source.text))
    assert base(text, {"TAG": TracedText.of("v0.19.1")}).claim.release == "0.19.1"
    assert base(text, {"TAG": None}).claim.release is None


class TestStages:
    TEXT = (
        "FROM vllm/vllm-openai:v0.20.0 AS new\n"
        "FROM vllm/vllm-openai:v0.19.1 as Old\n"
        "RUN pip install sglang==0.5.9\n"
        "FROM new AS last\n"
        "COPY --from=old /x /x\n"
    )

    @pytest.mark.parametrize(
        ("target", "expected"),
        [(None, "0.20.0"), ("new", "0.20.0"), ("old", "0.19.1"), ("OLD", "0.19.1"), ("last", "0.20.0")],
    )
    def test_the_target_or_the_last(self, target: str | None, expected: str) -> None:
        assert image(self.TEXT, target) == ("vllm", expected)

    def test_a_target_that_is_not_there(self) -> None:
        assert image(self.TEXT, "other") == (None, None)


class TestInstalls:
    """What RUN installs replaces what the base image holds."""

    @pytest.mark.parametrize(
        "run",
        [
            "RUN pip install vllm==0.19.1",
            "RUN pip install --no-cache-dir 'vllm[audio]==0.19.1' hf_transfer",
            "RUN apt-get update && pip install vllm==0.19.1 && rm -rf /var/lib/apt/lists/*",
            "RUN --mount=type=cache,target=/root/.cache uv pip install --system vllm==0.19.1",
            "RUN pip install \\\n    hf_transfer \\\n    vllm==0.19.1\nRUN true",
            "RUN pip install \\\r\n    hf_transfer \\\r\n    vllm==0.19.1\r\nRUN true",
            "RUN pip install \\\n    # it's the engine\n    vllm==0.19.1 # pinned\nRUN true",
            "RUN <<EOF\nset -e\npip install vllm==0.19.1\nEOF\nRUN true",
            "RUN <<-'END' bash\n\tpip install vllm==0.19.1\n\tEND\n",
        ],
    )
    @pytest.mark.parametrize("start", ["FROM vllm/vllm-openai:v0.20.0\n", "FROM python:3.12\n"])
    def test_a_pinned_release(self, start: str, run: str) -> None:
        assert image(start + run) == ("vllm", "0.19.1")

    @together(
        "run",
        [
            "RUN pip install -U vllm",
            "RUN pip install vllm==$VERSION",
            "ARG VERSION\nRUN pip install vllm==$VERSION",
            "RUN pip install 'vllm>=0.19'",
            'RUN ["pip", "install", "vllm==0.19.1"]',
            'RUN bash -c "pip install vllm==0.19.1"',
            "RUN git clone https://github.com/vllm-project/vllm && cd vllm && pip install -e .",
            "RUN python install_vllm.py --with vllm",
        ],
    )
    def test_a_release_that_cannot_be_told(self, run: str) -> None:
        assert image(f"FROM vllm/vllm-openai:v0.20.0\n{run}\n") == ("vllm", None)

    @together(
        "run",
        [
            "RUN pip install hf_transfer",
            "RUN pip install vllm",  # it is there already
            "RUN pip install -r requirements.txt",
            "RUN apt-get install -y curl",
            "RUN mkdir -p /opt/vllm && chown vllm /opt/vllm",
            "RUN pip install sglang==0.5.9",  # another engine
            "RUN pip install vllm-flash-attn==2.6.2",
            "RUN <<EOF\necho\nFROM nginx\nEOF\n",
            'COPY install.sh /\nENV A=vllm\nCMD ["--model", "m"]',
        ],
    )
    def test_the_base_s_release_stays(self, run: str) -> None:
        assert image(f"FROM vllm/vllm-openai:v0.20.0\n{run}\n") == ("vllm", "0.20.0")


VLLM = "https://github.com/vllm-project/vllm"


class TestCheckouts:
    """An engine that is built from its own repository has the release whose tag is checked out."""

    @pytest.mark.parametrize(
        "run",
        [
            f"RUN git clone {VLLM}.git v && git -C v checkout --detach tags/v0.19.1 && cd v && pip install .",
            f"RUN git clone --depth 1 -b v0.19.1 {VLLM} && cd vllm && pip install -e .",
            f"RUN git clone --branch=v0.19.1 {VLLM}\nWORKDIR vllm\nRUN uv pip install --system .",
            f"ARG REF=v0.19.1\nRUN git clone {VLLM}\nRUN cd vllm && git checkout $REF && python setup.py install",
            f"RUN git clone {VLLM} && cd vllm && git checkout v0.19.1\nRUN pip wheel . -w /w && pip install /w/vllm-*.whl",
        ],
    )
    def test_a_tag(self, run: str) -> None:
        assert image(f"FROM python:3.12\n{run}\n") == ("vllm", "0.19.1")

    @pytest.mark.parametrize(
        "run",
        [
            f"RUN git clone {VLLM} && cd vllm && pip install -e .",
            f"RUN git clone -b v0.19.1 {VLLM} && cd vllm && git checkout 1a2b3c4 && pip install -e .",
            f"RUN git clone -b main {VLLM} && cd vllm && pip install -e .",
            "RUN git clone -b v0.19.1 https://github.com/me/vllm && cd vllm && pip install -e .",
        ],
    )
    def test_what_is_no_tag_of_its_own(self, run: str) -> None:
        assert image(f"FROM vllm/vllm-openai:v0.20.0\n{run}\n") == ("vllm", None)

    def test_examples_that_are_cloned(self) -> None:
        text = f"FROM vllm/vllm-openai:v0.20.0\nRUN git clone -b v0.19.1 {VLLM} /src && cp -r /src/examples /examples\n"
        assert image(text) == ("vllm", "0.20.0")

    @pytest.mark.parametrize(
        ("engine", "repository", "tag", "build", "expected"),
        [
            ("llama.cpp", "ggml-org/llama.cpp", "b4719", "cmake -B b && cmake --build b", "b4719"),
            ("vllm", "vllm-project/vllm", "v0.19.1", "pip wheel . -w /w", "0.19.1"),
            ("ollama", "ollama/ollama", "v0.9.0", "go build .", "0.9.0"),
        ],
    )
    def test_a_stage_that_is_copied_from(self, engine: str, repository: str, tag: str, build: str, expected: str) -> None:
        text = (
            f"FROM ubuntu AS b\nRUN git clone -b {tag} https://github.com/{repository} /s && cd /s && {build}\n"
            "FROM ubuntu\nCOPY --from=b /s /s\n"
        )
        assert stage_of(text).claims[engine].release == expected


def test_an_entry_point_of_its_own_hides_the_base_s() -> None:
    assert built("FROM vllm/vllm-openai:v0.20.0\n").entrypoint == ("vllm", "serve")
    assert built('FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["/start.sh"]\n').entrypoint is None


def test_the_release_is_pointed_at() -> None:
    source, marks = marked("Dockerfile", "FROM python:3.12\nRUN pip install \\\n  vllm==⟦0.19.1⟧\n")
    assert base(TracedText.at(source, 0, len(source.text))).claim.span == marks[0]


def stage_of(text: str, target: str | None = None) -> Stage:
    source = Source("Dockerfile", text)
    found = chosen(stages(TracedText.at(source, 0, len(text))), target)
    assert found is not None
    return found


def shown(text: str, target: str | None = None) -> tuple[list[str] | None, list[str] | None]:
    """The entry point and the command of a stage as words."""
    found = stage_of(text, target)
    entrypoint, cmd = found.entrypoint, found.cmd
    return (
        [word.shown for word in entrypoint.words] if entrypoint is not None else None,
        [word.shown for word in cmd.words] if cmd is not None else None,
    )


@together(
    "instructions, expected",
    [
        ('ENTRYPOINT ["vllm", "serve"]\nCMD ["m"]', (["vllm", "serve"], ["m"])),
        ('CMD ["m"]\nENTRYPOINT ["vllm", "serve"]', (["vllm", "serve"], ["m"])),
        ("ENTRYPOINT vllm serve m", (["/bin/sh", "-c", "vllm serve m"], None)),
        ('SHELL ["/bin/bash", "-c"]\nCMD vllm serve m', (None, ["/bin/bash", "-c", "vllm serve m"])),
        ('CMD ["a"]\nCMD ["b"]', (None, ["b"])),
        ("ENTRYPOINT []", ([], None)),
        ("CMD ['a']", (None, ["/bin/sh", "-c", "['a']"])),  # no JSON: the shell is given the brackets
        ('CMD ["a"] # b', (None, ["/bin/sh", "-c", '["a"] # b'])),
        ('CMD ["a", 1]', (None, ["/bin/sh", "-c", '["a", 1]'])),
        ("HEALTHCHECK CMD curl localhost", (None, None)),
        ("ONBUILD CMD a", (None, None)),
        ('CMD ["$A", "${A}"]', (None, ["$A", "${A}"])),
    ],
)
def test_entry_point_and_command(instructions: str, expected: tuple[list[str] | None, list[str] | None]) -> None:
    assert shown(f"FROM x\nENV A=b\n{instructions}\n") == expected


class TestInheritance:
    TEXT = (
        'FROM x AS a\nENV A=1 B=2\nENTRYPOINT ["vllm"]\nCMD ["m"]\nFROM a AS b\nENV B=3\nCMD ["n"]\nFROM a\nENTRYPOINT ["o"]\n'
    )

    def test_a_stage_has_what_it_is_made_from(self) -> None:
        assert shown(self.TEXT, "b") == (["vllm"], ["n"])
        assert {name: one.value.shown for name, one in stage_of(self.TEXT, "b").env.items() if one.value} == {
            "A": "1",
            "B": "3",
        }

    def test_an_entry_point_resets_the_command_that_it_inherits(self) -> None:
        assert shown(self.TEXT) == (["o"], None)

    def test_a_stage_by_its_number(self) -> None:
        assert shown(self.TEXT, "1") == (["vllm"], ["n"])

    def test_another_image_has_nothing_of_the_stage_before(self) -> None:
        assert shown(self.TEXT + "FROM y\n") == (None, None)


@together(
    "instructions, expected",
    [
        ("ENV A=b", {"A": "b"}),
        ("ENV A=b C='d e' F=g\\ h", {"A": "b", "C": "d e", "F": "g h"}),
        ('ENV A="b c" \\\n    D=e', {"A": "b c", "D": "e"}),
        ("ENV A b c", {"A": "b c"}),
        ('ENV A "b c"', {"A": "b c"}),
        ("ENV A=", {"A": ""}),
        ("ENV A=b\nENV A=c D=$A", {"A": "c", "D": "b"}),  # a line sees what stood before it
        ("ENV A=b\nENV D=${A}c E=\"$A d\" F='$A' G=\\$A", {"A": "b", "D": "bc", "E": "b d", "F": "$A", "G": "$A"}),
        ("ENV A=${B:-c} D=${B:+e}", {"A": "c", "D": ""}),
        ("ENV B=\nENV A=${B:-c} D=${B-e} E=${B:+f} F=${B+g}", {"B": "", "A": "c", "D": "", "E": "", "F": "g"}),
        ("ENV A=${B} C=$B", {"A": "${B}", "C": "${B}"}),
        ("ARG B=c\nENV A=$B", {"A": "c"}),
        ("ARG B\nENV A=$B", {"A": "${B}"}),
        ("ARG G\nENV A=$G", {"A": "outer"}),
        ("ENV A=$G", {"A": "${G}"}),  # what stands before FROM is not known after it
        ("ENV A=${B#x} C=${", {"A": "${B}", "C": "${"}),
    ],
)
def test_variables(instructions: str, expected: dict[str, str]) -> None:
    env = stage_of(f"ARG G=outer\nFROM x\n{instructions}\n").env
    assert {name: one.value.shown for name, one in env.items() if one.value is not None} == expected


def test_what_an_image_sets_may_be_overridden() -> None:
    env = stage_of("FROM x\nENV A=b C=$D\n").env
    assert env["A"].value is not None
    assert env["A"].value.assumed
    assert env["C"].value is not None
    assert not env["C"].value.known


def test_a_release_from_a_build_argument() -> None:
    assert image("FROM python:3.12\nARG V=0.19.1\nRUN pip install vllm==${V}\n") == ("vllm", "0.19.1")
    assert image("FROM python:3.12\nENV V=0.19.1\nRUN pip install vllm==$V\n") == ("vllm", "0.19.1")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FROM a AS b", "b"),
        ("FROM a as B", "b"),
        ("FROM a AS", ""),
        ("FROM a", ""),
        ("FROM a b c", ""),
        ("FROM --platform=x a AS b", "b"),
    ],
)
def test_the_name_of_a_stage(line: str, name: str) -> None:
    text = f"{line}\nRUN x\n"
    (stage,) = stages(TracedText.at(Source("Dockerfile", text), 0, len(text)), None)
    assert stage.name == name
