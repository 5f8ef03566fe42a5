"""One line a finding, with edits that can be applied as they are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import servelint
from servelint import Settings
from servelint.report.formats import RenderOptions
from servelint.report.formats.agent import render
from tests.findings import documented, report
from tests.report.kinds import SECRET, mixed

EXAMPLES = Path(__file__).parents[3] / "examples"
QUIET = RenderOptions(quiet=True)
_EDIT = re.compile(r'(\d+):(\d+)-(\d+):(\d+) ("(?:[^"\\]|\\.)*") -> ("(?:[^"\\]|\\.)*")')


def test_a_finding() -> None:
    assert render(report(documented())) == (
        "deploy/compose.yml:7:24 error vllm/turboquant-with-spec-decode: turboquant_k8v4 KV cache with speculative decoding "
        '(mtp) falls into token loops; write --kv-cache-dtype fp8; unsafe edit 7:24-7:39 "turboquant_k8v4" -> "fp8"\n'
        "found 1 error in 1 launch (1 file); 1 fixable with --unsafe-fixes\n"
    )


def test_one_line_each() -> None:
    text = render(mixed(), QUIET)
    lines = text.splitlines()
    assert len(lines) == 10
    assert text.count("write --kv-cache-dtype fp8") == 7  # beside an unsafe edit or none; the edit of a safe fix says it
    assert lines[1] == (
        'models/é x#1.sh:1:30 error vllm/removed-option: a "quoted" <message> & [a](b) {c} \\x1b[31m; edit 1:30-1:31 "4" -> ""'
    )
    assert lines[6].endswith('''unsafe edit 1:24-1:25 "2" -> "3", 1:14-1:19 "--a 1" -> "--c 'é'"''')
    assert lines[-2] == "a b:c.yml:4:7 error: not valid YAML: \\x1b 100%"
    assert all(line.isprintable() for line in lines)


def test_no_secret_is_written() -> None:
    """Not in an edit either: neither as what is replaced nor as what is written."""
    assert SECRET not in render(mixed())


def test_nothing_found_says_what_was_judged() -> None:
    assert render(report(), QUIET) == ""
    assert render(report()) == "no launch found in 1 file\n"
    sound = servelint.check([str(EXAMPLES / "sound" / "serve.sh")])
    assert render(sound) == "nothing found in 1 launch (1 file); 1 launch: 1 of unknown version; 3 words not resolved\n"
    assert "$@ is not resolved" in render(sound, RenderOptions(verbose=True))


def test_the_edits_are_exact(tmp_path: Path) -> None:
    """Applied as printed, from the last to the first, they make the file that --fix makes."""
    text = (
        'vllm serve m --swap-space 4 \\\n  --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\'\n'
    )
    path = tmp_path / "run.sh"
    path.write_text(text)
    found = servelint.check([str(path)], Settings(engine_versions={"vllm": "0.27.1"}))
    lines = [line for line in render(found, QUIET).splitlines() if "; edit " in line]
    assert len(lines) == 2
    offsets = [0, *[match.end() for match in re.finditer("\n", text)]]
    for match in reversed([match for line in lines for match in _EDIT.finditer(line)]):
        start_line, start, end_line, end = map(int, match.groups()[:4])
        at, to = offsets[start_line - 1] + start - 1, offsets[end_line - 1] + end - 1
        old, new = map(json.loads, match.groups()[4:])
        assert text[at:to] == old
        text = text[:at] + new + text[to:]
    assert text == 'vllm serve m \\\n  --speculative-config \'{"method": "mtp", "num_speculative_tokens": 2}\'\n'


def test_the_example_of_the_docs() -> None:
    page = (EXAMPLES.parent / "docs" / "formats.md").read_text(encoding="utf-8")
    shown = page.partition("$ servelint check --format agent examples/broken/speculative-config.json\n")[2].splitlines()[0]
    found = servelint.check([str(EXAMPLES / "broken" / "speculative-config.json")])
    assert shown.strip() == render(found).splitlines()[0].replace(f"{EXAMPLES.parent}/", "")
