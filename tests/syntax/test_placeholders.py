"""Placeholders are unknown values, in every notation and in every place of a launch."""

from __future__ import annotations

import pytest

from servelint.core.text import HOLE, TracedText
from servelint.syntax.placeholders import in_command, in_page, in_value
from tests.launching import launch_in
from tests.reporting import findings_in
from tests.together import together

NOTATIONS = [
    *(
        "__PORT__",
        "__port__",
        "@PORT@",
        "@@PORT@@",
        "<your-port>",
        "<port number>",
        "<PORT>",
        "<1-8>",
        "{{ port }}",
        "{{port}}",
    ),
    *("{{ '{{' }} env 'PORT' {{ '}}' }}", "{{ '{{' }}port{{ '}}' }}", "{{'{{ port }}'}}", "{{ '{{' + 'port' + '}}' }}"),
    *("{port}", "${{ inputs.port }}", "%PORT%", "$PORT$", "[port]", "[your port]", "...", "…", "YOUR_PORT", "your-port", "xxx"),
    *("XX", "0.X", "0.XX", "%%PORT%%", "«port»"),
    *("XXXX", "[[port]]", "<%= port %>", "{% port %}", "#{port}", "@{port}", "%{port}", "%(port)s", "<< port >>", "CHANGE_ME"),
    *(
        "changeme",
        "REPLACE_ME",
        "SGLANG_PORT_PLACEHOLDER",
        "PLACEHOLDER_PORT",
        "PLACEHOLDER",
        "TODO",
        "TBD",
        "PORT_HERE",
        "###PORT###",
        "~port~",
        "???",
        "___",
        "N",
        "$(port)",
    ),
]

PLACES = [
    ("run.sh", 'vllm serve "%s" --port "%s" --tensor-parallel-size="%s" --kv-cache-dtype "%s"\n'),
    ("run.sh", 'vllm serve Qwen/Qwen3-8B "%s" --port 80\n'),
    ("run.sh", 'VLLM_LOGGING_LEVEL="%s" VLLM_PORT="%s" vllm serve Qwen/Qwen3-8B\n'),
    ("run.sh", """vllm serve m/m --speculative-config '{"method": "%s", "num_speculative_tokens": 3}'\n"""),
    ("run.sh", 'python -m sglang.launch_server --model-path m/m --tp-size "%s" --mem-fraction-static "%s"\n'),
    ("serve.service", '[Service]\nExecStart=/usr/bin/vllm serve Qwen/Qwen3-8B --port "%s" --dtype "%s"\n'),
    ("Procfile", 'web: vllm serve Qwen/Qwen3-8B --port "%s"\n'),
    ("page.md", '```bash\nvllm serve "%s" --port "%s"\n```\n'),
    ("Dockerfile", 'FROM vllm/vllm-openai:v0.23.0\nCMD ["--model", "%s", "--port", "%s"]\n'),
    ("args.json", '{"args": ["vllm", "serve", "m/m", "--port", "%s", "--dtype", "%s"]}'),
    ("compose.yml", 'services:\n  a:\n    image: "r/vllm-openai:%s"\n    command: ["--model", "%s", "--port", "%s"]\n'),
]


@together("written, name, text", [(written, *place) for written in NOTATIONS for place in PLACES])
def test_a_value_to_fill_in_is_refused_nowhere(written: str, name: str, text: str) -> None:
    assert [one.message for one in findings_in(text.replace("%s", written), name) if one.severity == "error"] == []


@pytest.mark.parametrize("written", ["<port>", "<%= port %>", "{{ port }}", "#{port}", "%(port)s", "[your port]", "###PORT###"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "vllm serve m/m --port %s --dtype half\n"),
        ("run.bat", "vllm serve m/m --port %s --dtype half\n"),
        ("Procfile", "web: vllm serve m/m --port %s --dtype half\n"),
        ("compose.yml", "services:\n  a:\n    image: vllm/vllm-openai:v0.23.0\n    command: 'm/m --port %s --dtype half'\n"),
    ],
)
def test_what_a_shell_would_read_is_taken_out_before_it(written: str, name: str, text: str) -> None:
    words = launch_in(text.replace("%s", written), name).argv
    assert [word.value for word in words] == ["m/m", "--port", None, "--dtype", "half"]


@pytest.mark.parametrize(
    "value", ['{"n": N}', '{"n": [port]}', '{"n": ???}', '{"n": __N__}', '{"n":{port}}', '{"a": "<b>", "n": 3}']
)
def test_inside_json(value: str) -> None:
    assert HOLE in in_value(TracedText.of(value)).flat


@together(
    "value",
    [
        "FLASH_ATTN",
        "Qwen/Qwen3-8B",
        "/models/m",
        "<think>",
        "</think>",
        '{"a": {"b": 1}}',
        "[1, 2]",
        '["a"]',
        '{"a": [null]}',
        '{"a": [true], "b": [false]}',
        "100%",
        "a@b",
        "there",
        "__init__.py",
        "auto",
        "None",
        "n",
        "transformers",
        "x",
        "$HOME/x",
        "method",
    ],
)
def test_what_is_a_value(value: str) -> None:
    assert in_value(TracedText.of(value)).value == value


@together(
    "script",
    [
        "cat <in.txt >out.txt",
        "cat <<EOF >> file\nEOF",
        "sort <in | uniq",
        'sort "$A" < "$B" > "$C"',
        'a "x"< in > "y"',
        "${#A[@]} ${A[@]} ${A#x} ${A%y}",
        "case $a in [Yy]) b;; esac",
        "[Service]",
        "if [ -n x ]; then y; fi",
        "if [[ a == b ]]; then y; fi",
        "date +%s",
        "### START ###",
        "echo $(( a<b ))",
        "diff <(a) <(b)",
        "cat <<EOF > a.yaml\nlora_dir: [a/b, c]\nEOF",
    ],
)
def test_what_is_a_script(script: str) -> None:
    assert in_command(TracedText.of(script)).value == script


@pytest.mark.parametrize(
    "text",
    [
        'MODEL="<fill in >"\nvllm serve ${MODEL} --port 1\n',
        'MODEL="< your model path >"\nvllm serve $MODEL --port 1\n',
        "MODEL='<path to the model >'\nexec vllm serve $MODEL --port 1\n",
        'vllm serve "< model >" --port 1\n',
    ],
)
def test_blanks_beside_the_angles_of_a_quoted_one(text: str) -> None:
    assert [word.value for word in launch_in(text, "run.sh").argv] == [None, "--port", "1"]
    assert [one.severity for one in findings_in(text) if one.severity == "error"] == []


@pytest.mark.parametrize("line", ["serve m etc.", "serve m . . . --port 1", "serve m --tp 2 or --tp 4"])
def test_ellipses_in_words(line: str) -> None:
    assert HOLE in in_page(TracedText.of(line), script=True).flat


def test_a_word_names_its_option_in_a_page_only() -> None:
    usage = "```\nvllm serve MODEL --port PORT --dtype=DTYPE --tensor-parallel-size TENSOR_PARALLEL_SIZE\n```\n"
    assert findings_in(usage, "README.md") == []
    assert [one.rule for one in findings_in("vllm serve m --port PORT\n")] == ["vllm/invalid-value"]
    named = launch_in("```\nvllm serve m --attention-backend FLEX_ATTENTION\n```\n", "page.md")
    assert named.argv[2].value == "FLEX_ATTENTION"


def test_a_product_in_angle_brackets() -> None:
    page = "```bash\nllama-server -m a.gguf -c <4096 * np> -np <np>\n```\n"
    launch = launch_in(page, "README.md")
    assert [word.value for word in launch.argv] == ["-m", "a.gguf", "-c", None, "-np", None]
