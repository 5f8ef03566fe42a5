"""What is taken for a secret by how it looks or by the name before it, and the one mask of all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core import secrets
from servelint.core.secrets import (
    MASK,
    MaskedLine,
    Redactions,
    holds_secret,
    is_distinct,
    is_filled_in,
    is_placeholder,
    is_plain,
    is_secret_name,
    looks,
    mask_of,
    masked_line,
    masked_span,
    masked_text,
    masked_value,
    may_look,
    merged,
    named,
    occurrences,
    private_keys,
    replaced,
    without,
    without_in,
    without_lookalikes,
)
from servelint.core.source import Source, Span
from tests.together import together

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
    ('--api-key "${VLLM_API_KEY:-house-4711}"', '--api-key "${VLLM_API_KEY:-***}"'),
    (": ${HF_TOKEN:=house-4711}", ": ${HF_TOKEN:=***}"),
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
    "${API_KEY:-EMPTY} ${API_KEY:-$OTHER} ${API_KEY:-}",
    "--api-key your-api-key-here",
    "HF_TOKEN=",
    "secretKeyRef: {name: house-4711}",
    "postgres://user:${PASSWORD}@db",
    "git@github.com:house/4711",
    "hf://datasets/house:4711",
    "sk-learn-compatible-model-name",
    "https://github.com/vllm-project/vllm/issues/53180",
]


@together("text, shown", list(BY_LOOK))
def test_by_how_it_looks(text: str, shown: str) -> None:
    assert without_lookalikes(text) == shown


@together("text, shown", list(BY_NAME))
def test_by_the_name_before_it(text: str, shown: str) -> None:
    assert replaced(text, named(text)) == shown


@together("text", list(NO_SECRETS))
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


@together("text", [text for text, _ in BY_LOOK])
def test_many_texts_are_asked_at_once_whether_one_may_look_like_a_secret(text: str) -> None:
    assert may_look(f"a\nb\n{text}\nc")


def test_what_no_secret_can_look_like() -> None:
    assert not may_look("vllm serve m --port 8000\nA=1\nhttp://host/v1")
    assert looks("vllm serve m --port 8000") == []


KINDS = [
    "hf_", "sk-", "nvapi-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "eyJ",
    "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "pypi-", "npm_", "r8_", "gsk_", "hvs.", "sk_live_", "rk_live_", "whsec_",
    "ya29.", "SG.", "dop_v1_", "xai-",
]  # fmt: skip


@together("kind", list(KINDS))
def test_a_mask_names_the_kind_of_a_token(kind: str) -> None:
    assert mask_of(kind + "a1b2c") == kind + MASK
    assert mask_of(kind + "a1b2") == MASK  # the kind would tell most of what is that short
    assert may_look(f"say {kind}a1b2c")


@together(
    "text",
    [
        "credentials: house-4711",
        "X-Auth: house-4711",
        "gh_pat: house-4711",
        "passwd: house-4711",
        "passphrase: house-4711",
        "secret: house-4711",
        "token: house-4711",
        "access-key: house-4711",
    ],
)
def test_one_word_of_a_secret_name_is_enough(text: str) -> None:
    assert replaced(text, named(text)) == text.replace("house-4711", MASK)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("AUTHORIZATION: 0123456789", "AUTHORIZATION: ***"),
        ("send a bearer abcdef0123456789", "send a bearer ***"),
        ("BEARER abcdef0123456789", "BEARER ***"),
        ("X-API-KEY: 0123456789", "X-API-KEY: ***"),
        ("a?key=0123456789", "a?key=***"),
        ("a=1&sig=0123456789", "a=1&sig=***"),
        ("postgres://u:hunter2@db and redis://:hunter3@kv", "postgres://u:***@db and redis://:***@kv"),
    ],
)
def test_signs_in_any_case(text: str, shown: str) -> None:
    assert without_lookalikes(text) == shown


@pytest.mark.parametrize("text", ["a://b", "a@b", "a=b", "a?b", "a&b"])
def test_half_a_sign_is_none(text: str) -> None:
    assert not may_look(text)


class TestFilledIn:
    """Values that stand for a secret, or are too uniform to be one."""

    @pytest.mark.parametrize(
        ("token", "shown"),
        [
            ("hf_aaaa1111bbbb2222", "hf_aaaa1111bbbb2222"),  # seven different characters
            ("hf_aaaa1111bbbb22c2", "hf_***"),  # eight
            ("hf_replaceThisBy0123456789abcdefghijklm", "hf_replaceThisBy0123456789abcdefghijklm"),  # 39 characters
            ("hf_replaceThisBy0123456789abcdefghijklmn", "hf_***"),  # 40, which have any word in them by chance
        ],
    )
    def test_of_tokens(self, token: str, shown: str) -> None:
        assert without_lookalikes(token) == shown

    @together(
        "value, filled",
        [
            ("x9k", False),
            ("ab", False),
            ("abababa", False),
            ("abababab", True),  # from eight characters on, four different ones are no secret
            ("abcdabcd", True),
            ("abcdabce", False),
            ("aaa", True),
            ("-", True),
            ("none", True),
            ("changeme", True),
        ],
    )
    def test_of_values(self, value: str, filled: bool) -> None:
        assert is_filled_in(value) is filled

    def test_a_short_placeholder_has_few_characters(self) -> None:
        assert is_placeholder("abab")
        assert not is_placeholder("abcde")


class TestPlain:
    """Numbers and switches are secrets of nothing but keys and passwords."""

    @together("value", ["8192", "-1", "1.5", "64k", "16GiB", "1e-5", "true", "Off", "auto"])
    def test_of_an_option(self, value: str) -> None:
        assert is_plain("--some-token", value)

    @pytest.mark.parametrize("value", ["8192x", "1-2", "truely", "x8192", ""])
    def test_of_other_values(self, value: str) -> None:
        assert not is_plain("--some-token", value)

    @pytest.mark.parametrize("name", ["api-key", "OPENAI_API_KEY", "api_keys", "DB_PASSWORD", "passphrase", "clientSecret"])
    def test_of_a_key(self, name: str) -> None:
        assert not is_plain(name, "8192")
        assert replaced(f"{name}=471147", named(f"{name}=471147")) == f"{name}={MASK}"

    @pytest.mark.parametrize(("secret", "distinct"), [("house-4711", True), ("house", False), ("4711", False), ("true", False)])
    def test_of_what_is_masked_everywhere(self, secret: str, distinct: bool) -> None:
        assert is_distinct(secret) is distinct


def test_only_names_of_a_usual_length_are_kept() -> None:
    secrets._ends_so.cache_clear()
    assert is_secret_name("a" * 195 + "token")
    assert secrets._ends_so.cache_info().currsize == 1
    assert is_secret_name("a" * 196 + "token")
    assert secrets._ends_so.cache_info().currsize == 1


class TestNamed:
    """A value is read to where its notation ends."""

    @together(
        "text, shown",
        [
            ("a: b\npassword: correct horse # why", "a: b\npassword: *** # why"),
            ("- password: correct horse", "- password: ***"),
            ("\t'password': correct horse", "\t'password': ***"),
            ("{a: b, password: correct horse}", "{a: b, password: *** horse}"),  # in a flow mapping a word is enough
            ("{a: b, password: correct}", "{a: b, password: ***}"),
            ("run(token='house-4711')", "run(token='***')"),
            ("(token=house-4711)", "(token=***)"),
            ("token=house(4711)", "token=***"),
            ("token='house'4711'", "token=***'"),
            ("token='house\"4711'", "token='***'"),
            ("HF_TOKEN=house-4711 API_KEY=house-4712", "HF_TOKEN=*** API_KEY=***"),
            ("password: api-key=house-4711", "password: ***"),
            ("token house-4711", "token house-4711"),
            ("--token house-4711", "--token ***"),
            ("--token 4711", "--token 4711"),
            ("(token=xhouse-47x)", "(token=***)"),
            ("token='8192'", "token='8192'"),
            ("token='x8192'", "token='***'"),
            ("token='8192x'", "token='***'"),
            ("db_password: correct horse", "db_password: ***"),
            ("\npassword: correct horse", "\npassword: ***"),
            ("{password: correct horse}", "{password: *** horse}"),
            ("x password: correct horse", "x password: *** horse"),
        ],
    )
    def test_the_value_ends(self, text: str, shown: str) -> None:
        assert replaced(text, named(text)) == shown

    def test_beside_every_other_name(self) -> None:
        text = "token secret passwd passphrase credential api-key auth pat house-4711\n--token house-4712"
        assert replaced(text, named(text)) == text.replace("house-4712", MASK)

    def test_a_name_has_at_most_64_characters_before_its_end(self) -> None:
        text = "--" + "a" * 61 + "_token house-4711"
        assert replaced(text, named(text)) == text.replace("house-4711", MASK)
        assert named("--" + "a" * 62 + "_token house-4711") == [(71, 81)]
        assert named("--" + "a" * 63 + "_token house-4711") == []  # the dashes of an option are too far away


@together(
    "parts, joined",
    [
        ([], []),
        ([(4, 6), (0, 2)], [(0, 2), (4, 6)]),
        ([(0, 2), (2, 3)], [(0, 3)]),
        ([(0, 9), (1, 2)], [(0, 9)]),
        ([(0, 2), (4, 6), (5, 8)], [(0, 2), (4, 8)]),
        ([(0, 1), (3, 9), (4, 5)], [(0, 1), (3, 9)]),
        ([(0, 1), (3, 4), (6, 7)], [(0, 1), (3, 4), (6, 7)]),
        ([(0, 1), (3, 5), (6, 7), (7, 8)], [(0, 1), (3, 5), (6, 8)]),
    ],
)
def test_parts_that_touch_are_joined(parts: list[tuple[int, int]], joined: list[tuple[int, int]]) -> None:
    assert merged(parts) == joined


class TestMaskedLine:
    """Columns of a line and of the same line with masks."""

    def test_columns_move_with_the_masks(self) -> None:
        line = "a house b 47 c"
        masked = MaskedLine(line, [(2, 7), (10, 12)])
        assert masked.text == "a *** b *** c"
        starts = [masked.at(column) for column in range(len(line) + 1)]
        assert starts == [0, 1, 2, 2, 2, 2, 2, 5, 6, 7, 8, 8, 11, 12, 13]
        ends = [masked.at(column, end=True) for column in range(len(line) + 1)]
        assert ends == [0, 1, 2, 5, 5, 5, 5, 5, 6, 7, 8, 11, 11, 12, 13]

    def test_a_mask_that_names_a_kind_is_longer(self) -> None:
        masked = MaskedLine("hf_a1b2c3 x", [(0, 9)])
        assert masked.text == "hf_*** x"
        assert [masked.at(column) for column in (0, 1, 9, 10)] == [0, 0, 6, 7]
        assert [masked.at(column, end=True) for column in (0, 1, 9, 10)] == [0, 6, 6, 7]

    def test_without_secrets(self) -> None:
        masked = MaskedLine("vllm serve m", [])
        assert (masked.text, masked.at(0), masked.at(5, end=True)) == ("vllm serve m", 0, 5)

    @given(st.lists(st.sampled_from(["ab", "c", "<house-4711>", "<hf_a1b2c3>", "<4>"]), max_size=6))
    def test_what_is_no_secret_keeps_its_characters(self, words: list[str]) -> None:
        line = ".".join(words)
        parts = [match.span() for match in re.finditer("<[^>]*>", line)]
        masked = MaskedLine(line, parts)
        for column, char in enumerate(line):
            inside = [part for part in parts if part[0] <= column < part[1]]
            if not inside:
                assert masked.text[masked.at(column)] == char
                assert masked.at(column + 1, end=True) == masked.at(column) + 1
            else:
                start, end = masked.at(column), masked.at(column + 1, end=True)
                assert masked.text[start:end] == mask_of(line[inside[0][0] : inside[0][1]])


class TestOfASource:
    """Lines, spans and texts of a source with its redactions."""

    def test_a_line(self) -> None:
        source = Source("x", "a: b\npassword: correct horse\nc: d\n")
        assert [masked_line(source, line).text for line in (0, 1, 2, 3, 4, 9)] == ["", "a: b", "password: ***", "c: d", "", ""]

    @pytest.mark.parametrize("between", ["\n", "\n\n"])
    def test_the_name_stands_up_to_two_lines_before(self, between: str) -> None:
        source = Source("x", f"a: b\n- name: DB_PASSWORD{between}  value: house-4711\nc: d")
        shown = masked_line(source, 2 + len(between))
        assert (shown.text, shown.at(9), shown.at(19, end=True)) == ("  value: ***", 9, 12)
        assert masked_line(source, 1).text == "a: b"
        assert masked_line(source, 2).text == "- name: DB_PASSWORD"

    def test_a_value_of_two_lines(self) -> None:
        source = Source("x", "a\nb horse\nhouse c\nd")
        source.redactions = Redactions(("horse\nhouse",))
        assert [masked_line(source, line).text for line in (1, 2, 3, 4)] == ["a", "b ***", "*** c", "d"]

    def test_places_and_values(self) -> None:
        source = Source("x", "one two\nthree two\n")
        source.redactions = Redactions(("three",), ((4, 7),))
        assert masked_line(source, 1).text == "one ***"
        assert masked_line(source, 2).text == "*** two"

    def test_each_line_of_a_private_key(self) -> None:
        key = "-----BEGIN PRIVATE KEY-----\n" + "MIIabc\n" * 9 + "-----END PRIVATE KEY-----"
        source = Source("x", f"a\n{key}\nb")
        shown = [masked_line(source, line).text for line in range(1, 14)]
        assert shown == ["a", "-----BEGIN PRIVATE KEY-----", *["***"] * 9, "-----END PRIVATE KEY-----", "b"]

    def test_a_span(self) -> None:
        source = Source("x", "a: b\npassword: correct horse\n")
        assert masked_span(Span(source, 0, 4)) == "a: b"
        assert masked_span(Span(source, 5, 28)) == "password: ***"
        assert masked_span(Span(source, 15, 22)) == MASK
        assert masked_span(Span(source, 5, 14)) == "password:"

    def test_the_parts_of_two_lines_are_those_of_both(self) -> None:
        source = Source("x", "token=house-4711\na\nb\nc\ntoken=house-4712")
        assert masked_span(Span(source, 0, len(source.text))) == "token=***\na\nb\nc\ntoken=***"
        assert masked_span(Span(source, 17, 18)) == "a"

    def test_a_text_made_from_it(self) -> None:
        source = Source("x", "")
        source.redactions = Redactions(("correct horse",))
        text = "--api-key house-4711 hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345 correct horse --port 80"
        assert masked_text(text, source) == "--api-key *** hf_*** *** --port 80"
        assert masked_text("--port 80", source) == "--port 80"


@together(
    "name, value, shown",
    [
        ("--api-key", "house-4711", "***"),
        ("HF_TOKEN", "hf_a1b2c3d4", "hf_***"),
        ("HF_TOKEN", "", ""),
        ("", "house-4711", "house-4711"),
        ("x-auth", "house-4711", "***"),
        ("--port", "8000", "8000"),
        ("--some-token", "8192", "8192"),
        ("--api-key", "EMPTY", "EMPTY"),
        ("URL", "postgres://user:hunter2@db", "postgres://user:***@db"),
        ("ARGS", "--api-key=house-4711 --port=80", "--api-key=*** --port=80"),
    ],
)
def test_a_value_in_a_listing(name: str, value: str, shown: str) -> None:
    assert masked_value(name, value) == shown


class TestGivenSecrets:
    """Secrets that a launch names."""

    def test_in_a_text(self) -> None:
        assert without("a house b house hf_a1b2c3", ("hf_a1b2c3", "house", "gone")) == "a *** b *** hf_***"

    def test_in_data(self) -> None:
        data = {"a": ["house", 1, None], "house": {"b": "my house"}, "c": 2}
        assert without_in(data, ("house",)) == {"a": ["***", 1, None], "house": {"b": "my ***"}, "c": 2}

    def test_whether_a_text_holds_one(self) -> None:
        assert holds_secret("my house", ("car", "house"))
        assert holds_secret("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345", ())
        assert not holds_secret("my house", ("car",))

    def test_where_they_occur(self) -> None:
        assert occurrences("house, house and aG91c2U=", ("house",)) == [(0, 5), (7, 12), (17, 25)]
        assert occurrences("househouse", ("house",)) == [(0, 5), (5, 10)]
        assert occurrences("hous", ("house",)) == []
        assert occurrences("a \udcffhouse", ("\udcffhouse",)) == [(2, 8)]


def test_private_keys() -> None:
    text = "-----BEGIN PGP PRIVATE KEY BLOCK-----abc\n-----END -----BEGIN PRIVATE KEY-----def"
    assert [text[start:end] for start, end in private_keys(text)] == ["abc\n", "def"]
    assert private_keys("-----BEGIN PRIVATE KEY----------END") == []
    assert private_keys("-----BEGIN CERTIFICATE-----abc-----END") == []
