"""The plan of a launch whose release nobody names: over all that can start it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import servelint
from servelint.core.launch import Launch
from servelint.engines.releases import known_releases, release_key, sort_key
from servelint.judge.releases import able_releases
from servelint.memory import PLANNED, changes_of, vllm
from servelint.memory.plan import MemoryPlan

FOLDER = Path(servelint.__file__).parent
CODE = {
    "vllm": [*(FOLDER / "memory" / "vllm").glob("*.py"), FOLDER / "engines" / "vllm" / "facts.py"],
    "llama.cpp": [FOLDER / "memory" / "llamacpp.py"],
    "ollama": [FOLDER / "memory" / "ollama.py"],
    "trtllm": [FOLDER / "memory" / "trtllm.py"],
    "sglang": [*(FOLDER / "memory" / "sglang").glob("*.py"), FOLDER / "engines" / "sglang" / "facts.py"],
}


def launch(command: str) -> Launch:
    (found,) = servelint.find_launches(command + "\n", "run.sh")
    return found


def releases(command: str) -> list[str | None]:
    return [config.release for config in able_releases(launch(command))]


def named(engine: str, argv: list[str], release: str | None, gpu: str = "h100", count: int = 1) -> MemoryPlan:
    return servelint.plan_memory(engine, argv, version=release, gpu=gpu, gpu_count=count)


class TestReleases:
    @pytest.mark.parametrize("engine", PLANNED)
    def test_all_changes_of_the_arithmetic_are_listed(self, engine: str) -> None:
        """Every release that the code asks for."""
        code = "".join([path.read_text() for path in CODE[engine]])
        asked = set(re.findall(r'(?:since|at_least)\("([\w.]+)"\)', code))
        changes = {"vllm": vllm.EARLY + vllm.CHANGES}.get(engine) or changes_of(engine)
        assert asked <= set(changes)
        assert list(changes) == sorted(changes, key=sort_key)

    def test_one_of_each_that_counts_alike_the_newest_last(self) -> None:
        found = releases("vllm serve Qwen/Qwen3-8B")
        assert len(found) == len(vllm.CHANGES)
        assert found[-1] == known_releases("vllm")[-1]
        assert "0.19.1" in found
        assert "0.19.0" not in found  # as 0.19.1

    def test_none_that_does_not_know_the_model(self) -> None:
        assert releases("vllm serve google/gemma-4-12B-it")[0] == "0.23.0"

    def test_none_that_does_not_take_an_option(self) -> None:
        assert releases("vllm serve Qwen/Qwen3-8B --swap-space 4")[-1] == "0.17.1"

    def test_none_that_does_not_have_the_verb(self) -> None:
        first = releases("sglang serve Qwen/Qwen3-8B")[0]
        assert first is not None
        assert (release_key(first) or ()) >= (release_key("0.5.5") or ())

    def test_what_no_release_takes_tells_nothing_of_the_release(self) -> None:
        assert releases("vllm serve Qwen/Qwen3-8B --no-such-option") == releases("vllm serve Qwen/Qwen3-8B")


class TestPlans:
    def test_the_interval_holds_what_each_release_would_have(self) -> None:
        """Qwen3-235B-A22B-FP8 on four H100, of which vLLM issue 21348 tells 8.11 GiB and no release."""
        argv = ["Qwen/Qwen3-235B-A22B-FP8", "--tensor-parallel-size", "4"]
        over = named("vllm", argv, None, count=4)
        assert over.kv_gib is not None
        for release in ("0.10.0", "0.11.0", "0.14.0", "0.19.1", "0.24.0", "0.33.0"):
            one = named("vllm", argv, release, count=4)
            assert one.kv_gib is not None
            assert over.kv_gib.low <= one.kv_gib.low <= one.kv_gib.high <= over.kv_gib.high
        assert over.kv_gib.low < 8.11 < over.kv_gib.high
        assert (over.releases[0], over.releases[-1]) == ("0.10.1.1", "0.33.0")
        newest = named("vllm", argv, "0.33.0", count=4)
        assert newest.releases == ["0.33.0"]
        assert newest.kv_gib is not None
        assert (over.kv_gib.mid, over.kv_tokens) == (newest.kv_gib.mid, newest.kv_tokens)

    def test_it_fits_where_every_release_fits(self) -> None:
        assert named("vllm", ["Qwen/Qwen3-8B"], None).verdict == "fits"

    def test_it_is_refused_where_every_release_refuses(self) -> None:
        assert named("vllm", ["meta-llama/Llama-3.3-70B-Instruct"], None).verdict == "refused"

    def test_where_they_differ_nobody_can_tell(self) -> None:
        """Sampling for 1,024 sequences took GiB more from 0.11.1 to 0.16.0."""
        argv = ["Qwen/Qwen3-32B", "--max-model-len", "20480"]
        assert named("vllm", argv, "0.14.0").verdict == "tight"
        assert named("vllm", argv, "0.33.0").verdict == "fits"
        found = named("vllm", argv, None)
        assert (found.verdict, found.refusal) == ("tight", None)
        (note,) = [one for one in found.notes if one.startswith("by release: ")]
        assert "to 0.16.0, tight, " in note
        assert "to 0.33.0, fits, " in note

    def test_one_release_is_told_as_one(self) -> None:
        found = named("vllm", ["Qwen/Qwen3-8B", "--sleep-mode-backend", "cumem"], None)
        assert "no release is named: planned as 0.33.0, the newest that can start it" in found.notes

    def test_a_text_that_is_no_release(self) -> None:
        found = named("vllm", ["Qwen/Qwen3-8B"], "my-image")
        assert any(note.startswith("'my-image' is not a release: planned for ") for note in found.notes)

    def test_a_model_that_nobody_knows(self) -> None:
        found = named("vllm", ["someone/never-heard-of"], None)
        assert (found.verdict, found.missing) == ("unknown", ["the architecture of someone/never-heard-of"])

    def test_what_sglang_s_cache_holds_by_release(self) -> None:
        """An FP4 cache has a workspace from 0.5.16 on."""
        argv = ["--model-path", "Qwen/Qwen2.5-1.5B-Instruct", "--mem-fraction-static", "0.4", "--kv-cache-dtype", "fp4_e2m1"]
        found = named("sglang", argv, None, "gb10")
        (note,) = [one for one in found.notes if one.startswith("by release: ")]
        assert "to 0.5.15.post1, 41.5 GiB of KV cache, 168.69 requests at once" in note
        assert "to 0.5.20, 41.5 GiB of KV cache, 158.62 requests at once" in note
