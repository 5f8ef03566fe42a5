"""Compound commands that do not end or begin, against `bash -n`."""

from __future__ import annotations

import subprocess

import pytest

from servelint.syntax.shell.blocks import mismatch

GOOD = (
    "if a; then b; elif c; then d; else e; fi; f",
    "if a\nthen b\nfi\nf",
    "while a; do b; done && c",
    "until a\ndo\nb\ndone",
    "for x in 1 2; do y; done | c",
    "for x; do y; done & z",
    "for x\nin a b\ndo y; done",
    "case a\n  in b) c ;;\n  *) ;;\nesac",
    "for x do if a; then b; fi; done",
    "for x do\nif a\nthen b; fi\ndone",
    "for x in a\ndo\nb\ndone",
    "for ((i = 0; i < 2; i++)); do y; done",
    "for x in a; { b; }",
    "select x in a; do b; done",
    "case $x in a) b ;; (c | d) e ;& f) g ;;& esac",
    "case x in\n# then\na) if b; then c; fi ;;\n*) d\nesac; f",
    "{ a; } > b",
    "(a; b) 2>&1",
    "(a\n)",
    "((1 + 2)) && b",
    "f() { a; }; g",
    "f ( ) { a; }",
    "f() (a)",
    "function f { a; }",
    "function f() { a; }",
    "coproc N { a; }",
    "coproc a b",
    "[[ a == b && c < d ]] && e",
    "! { a; }",
    "time { a; }",
    "a=(b c) d",
    "a+=(if then) d",
    "A=1 B[2]=3 if",
    "cat <<E\nif\nE\na",
    "cat <<-E\n\tfi\n\tE\na",
    "cat <<'E' | b\ndone\nE",
    'cat <<"E F"\ndone\nE F',
    "cat <<\\E\ndone\nE",
    "cat <<A <<B\nfi\nA\ndone\nB\na",
    "a > b 2>&1 <<< 'c' >| d &>> e < f",
    "a <(b) >(c) > >(d)",
    "a | while read x; do b; done > c",
    "echo if then fi done esac { } do in",
    "# if\na # then\nb",
    "a && { b; } || c; d |& e & f",
    "a \\\nfi",
    "while a; do if b; then c; fi; done",
    'echo "$(if a; then b; fi)" `c` ${d:-"fi"} $((1 + 2))',
    "x=if; y= z",
    "a 3>&- 4<> b",
)
BAD = (  # what does not fit is between ⟦ ⟧, what is open behind ⟨
    ("⟨if a; then b⟦⟧", "fi"),
    ("⟨while a; do b⟦⟧", "done"),
    ("⟨until a; do b\n⟦⟧", "done"),
    ("⟨for x in a; do b⟦⟧", "done"),
    ("⟨select x in a; do b⟦⟧", "done"),
    ("⟨case x in a) b ;;⟦⟧", "esac"),
    ("⟨{ a⟦⟧", "}"),
    ("⟨(a⟦⟧", ")"),
    ("f() ⟨{ a; if b; then c; fi⟦⟧", "}"),
    ("function f ⟨{ a⟦⟧", "}"),
    ("coproc ⟨{ a⟦⟧", "}"),
    ("! ⟨{ a⟦⟧", "}"),
    ("time ⟨if a; then b⟦⟧", "fi"),
    ("⟨for x in a; do b; ⟦fi⟧", "done"),
    ("⟨for x in a; ⟦b⟧; done", "done"),
    ("⟨select x in a; ⟦done⟧", "done"),
    ("⟨if a; ⟦fi⟧", "fi"),
    ("⟨if a; ⟦else⟧ b; fi", "fi"),
    ("⟨if a; ⟦elif⟧ b; fi", "fi"),
    ("⟨if a; then b; ⟦then⟧ c; fi", "fi"),
    ("⟨if a; then b; ⟦done⟧", "fi"),
    ("⟨if a; then b; else c; ⟦else⟧ d; fi", "fi"),
    ("⟨if a; then b; else c; ⟦elif⟧ d; then e; fi", "fi"),
    ("⟨if a; then b; elif c; ⟦fi⟧", "fi"),
    ("⟨while a; ⟦done⟧", "done"),
    ("⟨while a; do b; ⟦do⟧ c; done", "done"),
    ("while a; do ⟨{ b; ⟦done⟧", "}"),
    ("⟨case x in a) ⟦fi⟧ ;; esac", "esac"),
    ("case x in a) ⟨if b; then c ⟦;;⟧ esac", "fi"),
    ("⟨{ a; ⟦)⟧", "}"),
    ("⟨(a; ⟦}⟧", ")"),
    ("a; ⟦fi⟧", ""),
    ("⟦then⟧ a", ""),
    ("a\n⟦do⟧ b", ""),
    ("a && ⟦done⟧", ""),
    ("a | ⟦esac⟧", ""),
    ("a; ⟦}⟧", ""),
    ("a ⟦)⟧", ""),
    ("a ⟦;;⟧ b", ""),
    ("a ⟦;&⟧ b", ""),
    ("if a; then b; fi; ⟦fi⟧", ""),
    ("cat <<E\nif\nE\n⟦fi⟧", ""),
    ("a=(b) ; ⟦done⟧", ""),
    ("[[ a ]] && b; ⟦done⟧", ""),
    ("((1)); ⟦done⟧", ""),
)
NOT_FOLLOWED = ("cat <<E\nif\n", "cat <<$E\nif\n$E\nfi", "((a); b", "if a; then b; fi c", "case x in a", "[[ a", "a <")


def _fits(text: str) -> bool:
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False).returncode == 0


def test_what_ends_is_not_reported() -> None:
    for text in GOOD:
        assert mismatch(text) is None, text
        assert mismatch(text + "\n") is None, text
    assert _fits("\n".join([text for text in GOOD if "<<" not in text and "coproc" not in text]))


def test_what_does_not_end_or_begin() -> None:
    for marked, closing in BAD:
        before, _, rest = marked.replace("⟨", "").partition("⟦")
        word, _, after = rest.partition("⟧")
        found = mismatch(before + word + after)
        assert found is not None, marked
        opened_at = marked.find("⟨")
        assert (found.at, found.word, found.closing) == (len(before), word, closing), marked
        assert not closing or found.opened_at == opened_at, marked
        assert bool(found.opened) == bool(closing), marked


@pytest.mark.parametrize("part", range(3))
def test_bash_refuses_what_is_reported(part: int) -> None:
    for marked, _ in BAD[part::3]:
        assert not _fits(marked.translate({ord(sign): "" for sign in "⟨⟦⟧"})), marked


def test_what_is_not_followed_is_not_reported() -> None:
    for text in NOT_FOLLOWED:
        assert mismatch(text) is None, text


def test_commands_before_what_does_not_end_are_run() -> None:
    for text, whole in (
        ("a\nif b; then c", 2),
        ("a; b; { c; if d; then e", 6),
        ("a\nb; fi", 2),
        ("{ a; }\n(b; fi", 7),
        ("fi", 0),
    ):
        found = mismatch(text)
        assert found is not None
        assert found.whole == whole, text
