"""What a fix takes out of a command or writes into it, in the layouts in which people write commands."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.autofix import mend
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from tests.together import together

INSTALL = "pip install vllm==0.27.1\n"
TOOL, AUTO = "--tool-call-parser hermes", "--enable-auto-tool-choice"
UNIT = "[Service]\nExecStartPre=pip install vllm==0.27.1\nExecStart=/a/vllm serve m"
CONSOLE = "> ```console\n> $ pip install vllm==0.27.1\n> $ vllm serve m \\\n"
COMPOSE = "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n"


def mended(text: str, filename: str = "run.sh", profile: str = "default") -> str:
    """A text after all its fixes; a second time changes nothing."""
    settings = Settings(profile=profile)
    once, _ = mend(Source(filename, text), settings, Neighbours(None), unsafe=True)
    twice, again = mend(once, settings, Neighbours(None), unsafe=True)
    assert (twice.text, again) == (once.text, [])
    return once.text


class TestWordsGo:
    """`--swap-space 4`, which vLLM 0.18 refuses and which means nothing."""

    @together(
        "before, after",
        [
            ("vllm serve m --swap-space 4 --port 80\n", "vllm serve m --port 80\n"),
            ("vllm serve m --port 80 --swap-space=4\n", "vllm serve m --port 80\n"),
            ("vllm serve --swap-space 4 m\n", "vllm serve m\n"),
            ("vllm serve m --swap-space 4 > log 2>&1 &\n", "vllm serve m > log 2>&1 &\n"),
            ("vllm serve m \\\n  --swap-space 4 \\\n  --port 80\n", "vllm serve m \\\n  --port 80\n"),
            ("vllm serve m \\\n  --port 80 \\\n  --swap-space 4\n", "vllm serve m \\\n  --port 80\n"),
            ("vllm serve m \\\n  --port 80 --swap-space \\\n  4 --seed 1\n", "vllm serve m \\\n  --port 80 --seed 1\n"),
            ("vllm serve m \\\n\t--swap-space 4\t\\\n\t--port 80", "vllm serve m \\\n\t--port 80"),
            ("vllm serve m \\\r\n  --swap-space 4 \\\r\n  --port 80\r\n", "vllm serve m \\\r\n  --port 80\r\n"),
            ("GB=4\nvllm serve m --swap-space $GB --port 80\n", "GB=4\nvllm serve m --port 80\n"),
            ("vllm serve m --swap-space ${GB:-4} --port 80\n", "vllm serve m --port 80\n"),
            ('ARGS="--swap-space 4 --port 80"\nvllm serve m $ARGS\n', 'ARGS="--port 80"\nvllm serve m $ARGS\n'),
            ('ARGS="--port 80 --swap-space 4"\nvllm serve m $ARGS\n', 'ARGS="--port 80"\nvllm serve m $ARGS\n'),
            (
                'ARGS=(\n  --swap-space 4  # GiB\n  --port 80\n)\nvllm serve m "${ARGS[@]}"\n',
                'ARGS=(\n  --port 80\n)\nvllm serve m "${ARGS[@]}"\n',
            ),
            (
                'ARGS=(\n  --port 80 # it\n  # the swap\n  --swap-space 4\n)\nvllm serve m "${ARGS[@]}"\n',
                'ARGS=(\n  --port 80 # it\n  # the swap\n)\nvllm serve m "${ARGS[@]}"\n',
            ),
            ('ARGS=(--swap-space 4)\nvllm serve m "${ARGS[@]}"\n', 'ARGS=()\nvllm serve m "${ARGS[@]}"\n'),
            (
                'ARGS=(--port 80)\nARGS+=(--swap-space 4 --seed 1)\nvllm serve m "${ARGS[@]}"\n',
                'ARGS=(--port 80)\nARGS+=(--seed 1)\nvllm serve m "${ARGS[@]}"\n',
            ),
            ('A=--swap\nvllm serve m "$A-space" 4\n', "A=--swap\nvllm serve m\n"),
            ("bash -c 'vllm serve m --swap-space 4 --port 80'\n", "bash -c 'vllm serve m --port 80'\n"),
        ],
    )
    def test_out_of_a_script(self, before: str, after: str) -> None:
        assert mended(INSTALL + before) == INSTALL + after

    @together(
        "before, after",
        [
            (
                "    command:\n      - m\n      - --swap-space\n      - '4'\n      - --port=80\n",
                "    command:\n      - m\n      - --port=80\n",
            ),
            (
                '    command:\n    - m\n    - "--swap-space=4"   # GiB\n    # the port\n    - --port=80\n',
                "    command:\n    - m\n    # the port\n    - --port=80\n",
            ),
            ('    command: ["m", "--port", "80", "--swap-space", "4"]\n', '    command: ["m", "--port", "80"]\n'),
            ("    command: [ m,  --swap-space, 4,\n      --port, 80 ]\n", "    command: [ m,\n      --port, 80 ]\n"),
            ("    command: m --swap-space 4 --port 80\n", "    command: m --port 80\n"),
            (
                "    command: >-\n      m\n      --swap-space 4\n      --port 80\n",
                "    command: >-\n      m\n      --port 80\n",
            ),
            ("    command: >\n      m --port 80\n      --swap-space 4\n", "    command: >\n      m --port 80\n"),
            (
                "    command:\n      - m\n      - ${SWAP:---swap-space=4}\n      - --port=80\n",
                "    command:\n      - m\n      - --port=80\n",
            ),
        ],
    )
    def test_out_of_a_compose_file(self, before: str, after: str) -> None:
        assert mended(COMPOSE + before, "compose.yml") == COMPOSE + after

    @pytest.mark.parametrize(
        ("filename", "before", "after"),
        [
            (
                "Dockerfile",
                'FROM vllm/vllm-openai:v0.27.1\nCMD ["m", \\\n     "--swap-space", "4", \\\n     "--port", "80"]\n',
                'FROM vllm/vllm-openai:v0.27.1\nCMD ["m", \\\n     "--port", "80"]\n',
            ),
            (
                "a.service",
                UNIT + " \\\n  --swap-space 4 \\\n  --port 80\n",
                UNIT + " \\\n  --port 80\n",
            ),
            (
                "Makefile",
                "ARGS = m \\\n\t--swap-space 4 \\\n\t--port 80\nserve:\n\tpip install vllm==0.27.1\n\tvllm serve $(ARGS)\n",
                "ARGS = m \\\n\t--port 80\nserve:\n\tpip install vllm==0.27.1\n\tvllm serve $(ARGS)\n",
            ),
            (
                "start.bat",
                "pip install vllm==0.27.1\nvllm serve m ^\n  --swap-space 4 ^\n  --port 80\n",
                "pip install vllm==0.27.1\nvllm serve m ^\n  --port 80\n",
            ),
            (
                "README.md",
                CONSOLE + "> > --swap-space 4 \\\n> > --port 80\n> ```\n",
                CONSOLE + "> > --port 80\n> ```\n",
            ),
        ],
    )
    def test_out_of_other_files(self, filename: str, before: str, after: str) -> None:
        assert mended(before, filename) == after

    def test_a_key_that_an_operator_maps(self) -> None:
        text = dedent("""\
            apiVersion: production-stack.vllm.ai/v1alpha1
            kind: VLLMRuntime
            metadata: {name: llm}
            spec:
              model: {modelURL: Qwen/Qwen3-8B}
              vllmConfig:
                extraArgs: ["--swap-space", "4", "--seed", "1"]
              deploymentConfig:
                image: {name: "vllm/vllm-openai:v0.27.1"}
        """)
        assert mended(text, "runtime.yaml") == text.replace('"--swap-space", "4", ', "")


class TestWordsCome:
    """`--enable-auto-tool-choice`, without which `--tool-call-parser` does nothing."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("vllm serve m {}\n", "vllm serve m {} {auto}\n"),
            ("vllm serve m {} --port 80\n", "vllm serve m {} {auto} --port 80\n"),
            ("vllm serve m \\\n  {} \\\n  --port 80\n", "vllm serve m \\\n  {} \\\n  {auto} \\\n  --port 80\n"),
            ("vllm serve m \\\n\t--port 80 \\\n\t{}", "vllm serve m \\\n\t--port 80 \\\n\t{} \\\n\t{auto}"),
            ('A="{}"\nvllm serve m $A\n', 'A="{} {auto}"\nvllm serve m $A\n'),
            (
                'A=(\n  --port 80\n  {} # why\n)\nvllm serve m "${{A[@]}}"\n',
                'A=(\n  --port 80\n  {auto}\n  {} # why\n)\nvllm serve m "${{A[@]}}"\n',
            ),
        ],
    )
    def test_in_a_script(self, before: str, after: str) -> None:
        assert mended(INSTALL + before.format(TOOL)) == INSTALL + after.format(TOOL, auto=AUTO)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("[m, --tool-call-parser, hermes]", "[m, --tool-call-parser, hermes, --enable-auto-tool-choice]"),
            ('["m", "--tool-call-parser=hermes"]', '["m", "--tool-call-parser=hermes", "--enable-auto-tool-choice"]'),
            (
                "\n      - 'm'\n      - '--tool-call-parser'\n      - 'hermes'  # why\n      - '--seed=1'",
                f"\n      - 'm'\n      - '{AUTO}'\n      - '--tool-call-parser'\n      - 'hermes'  # why\n      - '--seed=1'",
            ),
            ("\n    - --tool-call-parser=hermes", "\n    - --tool-call-parser=hermes\n    - --enable-auto-tool-choice"),
        ],
    )
    def test_in_a_list(self, before: str, after: str) -> None:
        assert mended(f"{COMPOSE}    command: {before}\n", "compose.yml") == f"{COMPOSE}    command: {after}\n"

    def test_a_number_in_a_list_is_a_text(self) -> None:
        text = COMPOSE.replace("0.27.1", "0.10.0") + "    command: [--model, m, --max-num-batched-tokens, '64'{}]\n"
        assert mended(text.format(""), "compose.yml") == text.format(', --max-num-seqs, "64"')


class TestOtherWords:
    @together(
        "before, after",
        [
            # a switch with a value
            ("vllm serve m --enforce-eager=true\n", "vllm serve m --enforce-eager\n"),
            ("vllm serve m --enforce-eager True --port 80\n", "vllm serve m --enforce-eager --port 80\n"),
            ("vllm serve m --port 80 --enforce-eager False\n", "vllm serve m --port 80 --no-enforce-eager\n"),
            # an option with its value in one word
            ('vllm serve m "--port 80"\n', 'vllm serve m "--port" "80"\n'),
            # an option twice
            ("vllm serve m --port 80 --seed 1 --port 90\n", "vllm serve m --seed 1 --port 90\n"),
            # words instead of a switch
            ("vllm serve m --disable-mm-preprocessor-cache\n", "vllm serve m --mm-processor-cache-gb 0\n"),
            # a line that ends too early
            ("vllm serve m\n  --port 80\n", "vllm serve m \\\n  --port 80\n"),
            ("vllm serve m \\ \n  --port 80\n", "vllm serve m \\\n  --port 80\n"),
            # a value that differs in case alone
            ("vllm serve m --dtype BFloat16\n", "vllm serve m --dtype bfloat16\n"),
            # quotes that nobody removes
            ("A=\"--dtype 'half'\"\nvllm serve m $A\n", 'A="--dtype half"\nvllm serve m $A\n'),
        ],
    )
    def test_what_is_refused(self, before: str, after: str) -> None:
        assert mended(INSTALL + before) == INSTALL + after

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("--model m --port 80", "m --port 80"),
            ("--model=m --port 80", "m --port 80"),
            ("--port 80 --model m", "m --port 80"),
            ("--port 80 --model=m --seed 1", "m --port 80 --seed 1"),
            ('--port 80 \\\n  --model "$M" \\\n  --seed 1', '"$M" --port 80 \\\n  --seed 1'),
        ],
    )
    def test_the_model_comes_first(self, before: str, after: str) -> None:
        assert mended(f"{INSTALL}vllm serve {before}\n", profile="strict").partition("\n")[2] == f"vllm serve {after}\n"


class TestKeys:
    OLD = "pip install vllm==0.17.0\n"

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("""'{"level": 3, "debug": true}'""", """'{"mode": 3, "debug": true}'"""),
            (r'''"{\"level\": 3}"''', r'''"{\"mode\": 3}"'''),
        ],
    )
    def test_a_key_gets_another_name(self, before: str, after: str) -> None:
        text = mended(f"{self.OLD}vllm serve m --compilation-config {before}\n")
        assert text.partition("\n")[2] == f"vllm serve m --compilation-config {after}\n"

    def test_a_switch_that_a_key_needs(self) -> None:
        text = INSTALL + "vllm serve m -tp 2 --enable-expert-parallel --eplb-config '{\"num_redundant_experts\":2}'{}\n"
        assert mended(text.replace("{}", "")) == text.replace("{}", " --enable-eplb")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('{"method":"ngram","num_speculative_tokens":3KEY}', ',"enable_adaptive_verification":true'),
            ('{"method": "ngram", KEY"num_speculative_tokens": 3}', '"enable_adaptive_verification": true, '),
            ('{\n    KEY"method": "ngram",\n    "num_speculative_tokens": 3\n}', '"enable_adaptive_verification": true,\n    '),
        ],
    )
    def test_a_key_goes(self, before: str, after: str) -> None:
        text = f"pip install vllm==0.28.0\nvllm serve m --speculative-config '{before}'\n"
        assert mended(text.replace("KEY", after)) == text.replace("KEY", "")


class TestVariables:
    def test_an_option_takes_the_place_of_one(self) -> None:
        text = (
            COMPOSE + "    environment:\n      - A=b\n      - VLLM_ATTENTION_BACKEND=FLASHINFER\n    command: m --port 80{}\n"
        )
        new = text.replace("      - VLLM_ATTENTION_BACKEND=FLASHINFER\n", "").replace("{}", " --attention-backend FLASHINFER")
        assert mended(text.replace("{}", ""), "compose.yml") == new

    @together(
        "filename, before, after",
        [
            (
                "pod.yaml",
                "        - name: VLLM_USE_V1\n          value: '1'\n        - name: A\n          value: b\n",
                "        - name: A\n          value: b\n",
            ),
            (
                "pod.yaml",
                "        - {name: A, value: b}\n        - {name: VLLM_USE_V1, value: '1'}\n",
                "        - {name: A, value: b}\n",
            ),
            ("Dockerfile", "ENV A=b VLLM_USE_V1=1\n", "ENV A=b\n"),
            ("Dockerfile", "ENV VLLM_USE_V1=1\n", ""),
            ("Dockerfile", "ENV VLLM_USE_V1 1\n", ""),
            ("a.service", 'Environment="VLLM_USE_V1=1"\n', ""),
            ("Makefile", "export VLLM_USE_V1 = 1\n", ""),
            ("start.bat", 'set "VLLM_USE_V1=1"\n', ""),
        ],
    )
    def test_one_that_nothing_reads_goes(self, filename: str, before: str, after: str) -> None:
        around = {
            "pod.yaml": (
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    - name: a\n"
                "      image: vllm/vllm-openai:v0.27.1\n      args: [m]\n      env:\n{}"
            ),
            "Dockerfile": 'FROM vllm/vllm-openai:v0.27.1\n{}CMD ["m"]\n',
            "a.service": "[Service]\n{}ExecStartPre=pip install vllm==0.27.1\nExecStart=/a/vllm serve m\n",
            "Makefile": "{}serve:\n\tpip install vllm==0.27.1\n\tvllm serve m\n",
            "start.bat": "{}pip install vllm==0.27.1\nvllm serve m\n",
        }[filename]
        assert mended(around.replace("{}", before), filename) == around.replace("{}", after)


class TestSharedWords:
    def test_another_launch_that_would_lose_its_model(self) -> None:
        text = INSTALL + 'A=(--model m)\nif x; then\n  vllm serve "${A[@]}"\nelse\n  vllm serve --seed 1 "${A[@]}"\nfi\n'
        assert mended(text, profile="strict") == text

    def test_another_launch_that_is_mended_as_well(self) -> None:
        text = (
            INSTALL + 'A=(--seed 1 --swap-space 4)\nif x; then\n  vllm serve m "${A[@]}"\nelse\n  vllm serve n "${A[@]}"\nfi\n'
        )
        assert mended(text) == text.replace(" --swap-space 4", "")

    def test_another_launch_that_needs_it(self) -> None:
        text = (
            "x-args: &args [m, --swap-space, '4']\nservices:\n  old: {image: \"vllm/vllm-openai:v0.8.5\", command: *args}\n"
            '  new: {image: "vllm/vllm-openai:v0.27.1", command: *args}\n'
        )
        assert mended(text, "compose.yml") == text
