"""Reading C++ text: comments, literals, brackets, calls."""

from __future__ import annotations

import pytest

from servelint.harvest.llamacpp import calls, clean, closing, function, initializer, literal, literals, split


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a // b\nc", "a  \nc"),
        ("a /* b\n b */ c", "a   c"),
        ('"// no" // yes', '"// no"  '),
        ("'\"' // x", "'\"'  "),
        ("#if X\na\n#else\nb\n#endif", "\na\n\nb\n"),
        ("#define A \\\n  B\nc", "\nc"),
        ('R"(// raw)" // x', 'R"(// raw)"  '),
    ],
)
def test_comments_and_directives_go(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a" "b"\n "c"', "abc"),
        (r'"a\n\"b\""', 'a\n"b"'),
        (r'R"x(a"\n)x"', 'a"\\n'),
        ('f("a")', None),
        ('"a" + b', None),
        ("", None),
    ],
)
def test_a_literal(text: str, value: str | None) -> None:
    assert literal(text) == value


def test_brackets_in_texts_do_not_count() -> None:
    text = "{ \"}\", '}', (a[1]) } tail"
    assert text[closing(text, 0) + 1 :] == " tail"
    assert closing("(]", 0) == 2
    assert split('"a,b", {1, 2}, f(x, y) , ') == ['"a,b"', "{1, 2}", "f(x, y)"]
    assert literals('f("a", \'"\', "b")') == ["a", "b"]


def test_calls_with_what_is_chained_to_them() -> None:
    text = 'add(arg({"-x"}, [](int v) { f(v); }).set("E").on({A})); xadd(1); other.add(2);'
    assert [inside for inside, _ in calls(text, "add")] == ['arg({"-x"}, [](int v) { f(v); }).set("E").on({A})']
    assert [after for _, after in calls(text, "arg")] == ['.set("E").on({A})']


def test_definitions() -> None:
    text = "int f(int a);\nint f(int a) { return g({a}); }\nlist = { A, B };"
    assert function(text, "f") == " return g({a}); "
    assert function(text, "g") is None
    assert initializer(text, "list") == " A, B "
    assert initializer(text, "f") is None
