"""What is taken for a secret by how it looks or by the name before it, and the one mask of all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.secrets import (
    MASK,
    is_secret_name,
    looks,
    mask_of,
    may_look,
    merged,
    named,
    replaced,
    without_lookalikes,
)

BY_LOOK = [
    ("HF says hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345", "HF says hf_***"),
    ("sk-proj-abcdefgh12345678 is one", "sk-*** is one"),
    ("ghp_" + "a1B2" * 9, "ghp_***"),
    ("github_pat_11ABCDEFG0abcdefghij_klmnop", "github_pat_***"),
    ("AKIAIOSFODNN7ABCDEFG", "AKIA***"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJ***"),
    ("nvapi-" + "q1w2e3r4" * 4, "nvapi-***"),
    ("glpat-abcdefgh12345678", "glpat-***"),
    ("postgres://user:hunter2@db/x", "postgres://user:***@db/x"),
    ("s3://b?X-Amz-Signature=0123456789abcdef&y=1", "s3://b?X-Amz-Signature=***&y=1"),
    ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer ***"),
    ("curl -H 'authorization: Basic dXNlcjpwYXNz'", "curl -H 'authorization: Basic ***'"),
    ("x-api-key: 0123456789", "x-api-key: ***"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
    ),
]

BY_NAME = [
    ("--api-key house-4711", "--api-key ***"),
    ("--api-key=house-4711", "--api-key=***"),
    ("--api-key \\\n  house-4711", "--api-key \\\n  ***"),
    ('["--api-key", "house-4711"]', '["--api-key", "***"]'),
    ("- --api-key\n- house-4711", "- --api-key\n- ***"),
    ('--api-key ho"use"-4711', "--api-key ***"),
    ("OPENAI_API_KEY=house-4711 vllm", "OPENAI_API_KEY=*** vllm"),
    ("HF_TOKEN: 'correct horse'", "HF_TOKEN: '***'"),
    ("password: correct horse battery # why", "password: *** # why"),
    ('{"clientSecret": "house-4711"}', '{"clientSecret": "***"}'),
    ("- name: DB_PASSWORD\n  value: house-4711", "- name: DB_PASSWORD\n  value: ***"),
    ('{"name": "DB_PASSWORD", "value": "house-4711"}', '{"name": "DB_PASSWORD", "value": "***"}'),
    ("export HF_TOKEN=x9k", "export HF_TOKEN=***"),
]

NO_SECRETS = [
    "--max-num-batched-tokens 8192",
    "--tokenizer Qwen/Qwen3-8B --tokenizer-mode auto",
    "max_tokens: 4096",
    "eos_token: house-4711",
    "the token is bad; write another secret",
    "--api-key ${KEY:?}",
    "--api-key $KEY",
    "api_key: {{ .Values.key }}",
    "--api-key EMPTY",
    "--api-key your-api-key-here",
    "HF_TOKEN=",
    "secretKeyRef: {name: house-4711}",
    "postgres://user:${PASSWORD}@db",
    "git@github.com:house/4711",
    "hf://datasets/house:4711",
    "sk-learn-compatible-model-name",
    "https://github.com/vllm-project/vllm/issues/53180",
]


@pytest.mark.parametrize(("text", "shown"), BY_LOOK)
def test_by_how_it_looks(text: str, shown: str) -> None:
    assert without_lookalikes(text) == shown


@pytest.mark.parametrize(("text", "shown"), BY_NAME)
def test_by_the_name_before_it(text: str, shown: str) -> None:
    assert replaced(text, named(text)) == shown


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_is_none(text: str) -> None:
    assert replaced(text, merged([*looks(text), *named(text)])) == text


@pytest.mark.parametrize("length", [16, 17, 40, 400])
def test_the_mask_is_as_long_for_every_length(length: int) -> None:
    assert without_lookalikes(f"x hf_{('aBcDeFgH12' * length)[:length]} y") == "x hf_*** y"
    assert mask_of("p" * length) == MASK


def test_of_a_password_nothing_is_shown() -> None:
    assert mask_of("correct horse") == MASK


@pytest.mark.parametrize("name", ["HF_TOKEN", "hfToken", "--admin-api-key", "DB_PASSWORD", "aws_secret_access_key", "X_PAT"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["MAX_TOKENS", "tokenizer", "--api-key-file", "eos_token", "SECRET_NAME", "KEY", "PATH"])
def test_names_of_other_things(name: str) -> None:
    assert not is_secret_name(name)


@given(st.text(alphabet=st.sampled_from("hf_sk-AKIeyJ.:/@?&=token password-\"'\\\n\r{}[],$ 019aZ")))
def test_masking_a_masked_text_changes_nothing(text: str) -> None:
    once = without_lookalikes(text)
    assert without_lookalikes(once) == once
    parts = named(text)
    assert all(0 <= start < end <= len(text) for start, end in parts)
    assert all(one[1] < other[0] for one, other in pairwise(parts))


@pytest.mark.parametrize(
    "part",
    [
        "token='",
        "token=",
        "token ",
        "token\n",
        "secret: '",
        "://a",
        "://a:",
        "?sig=",
        "eyJ",
        "authorization: ",
        "a",
        "api-key,",
    ],
)
def test_long_texts_are_read_once(part: str) -> None:
    """Twice the text takes about twice the steps: no pattern goes back to where it was."""

    def steps(count: int) -> int:
        text = part * count
        return sum([len(found) for found in (looks(text), named(text))]) + _tried(text)

    few, many = steps(500), steps(4000)
    assert many <= 10 * few + 100


def _tried(text: str) -> int:
    """How many characters are handed to the pattern of values, counted rather than timed."""
    import servelint.core.secrets as shapes

    tried = 0
    compiled = shapes._compiled

    class Counting:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self.pattern = pattern

        def match(self, text: str, start: int, end: int) -> re.Match[str] | None:
            nonlocal tried
            found = self.pattern.match(text, start, end)
            tried += found.end() - start if found is not None else 1
            return found

    def counted(pattern: str) -> Any:
        return Counting(compiled(pattern)) if pattern == shapes._VALUE else compiled(pattern)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "_compiled", counted)
        named(text)
    return tried


@pytest.mark.parametrize("text", [text for text, _ in BY_LOOK])
def test_many_texts_are_asked_at_once_whether_one_may_look_like_a_secret(text: str) -> None:
    assert may_look(f"a\nb\n{text}\nc")


def test_what_no_secret_can_look_like() -> None:
    assert not may_look("vllm serve m --port 8000\nA=1\nhttp://host/v1")
    assert looks("vllm serve m --port 8000") == []
