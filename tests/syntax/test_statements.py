"""Commands of PowerShell and fish scripts."""

from __future__ import annotations

import pytest

from servelint.core.text import TracedText
from servelint.syntax.statements import commands
from tests.together import together


def words(text: str, fish: bool = False) -> list[list[str]]:
    return [[word.shown for word in command.words] for command in commands(TracedText.of(text), fish=fish)]


@together(
    "text, found",
    [
        ("one `\n  --a `  \r\n  --b\ntwo\n", [["one", "--a", "--b"], ["two"]]),
        ("& one --a\n", [["one", "--a"]]),
        ('$c = "one -m x"\nInvoke-Expression $c\niex "& \'two\' --a"\n', [["one", "-m", "x"], ["two", "--a"]]),
        ('$b = "one"\n$l = "-m x"\n$c = $b + " " + $l\niex $c\n', [["one", "-m", "x"]]),
        ('$b = "one"\n$c = "$b " + "--a" + \' --b\'\nInvoke-Expression $c\n', [["one", "--a", "--b"]]),
        ('$d = "C:/" + "bin"\n& one $d\n', [["one", "C:/bin"]]),
        ('$c = "one " + $unknown\niex $c\n', [["one", "${unknown}"]]),
        ('$c = "one ```n --a " + $unknown\niex $c\n', [["one", "--a", "${unknown}"]]),
        ("$a = @(\n'--a', # it's\n'b'  # a )\n)\n& one @a\n", [["one", "--a", "b"]]),
        ('Invoke-Expression -Command "one --a"\nWrite-Host "two --a"\n', [["one", "--a"]]),
        (".\\bin\\one.exe -m C:\\a\\b.gguf\n", [["./bin/one.exe", "-m", "C:\\a\\b.gguf"]]),
        ("& '.\\bin\\one.exe' 'C:\\a' 'it''s'\n", [["./bin/one.exe", "C:\\a", "it's"]]),
        ('$Model = "b"\none $model "$Model/c" $env:A ${env:B}\n', [["one", "b", "b/c", "${A}", "${B}"]]),
        ('one "a`"b" "c""d"\n', [["one", 'a"b', 'c"d']]),
        ('$x = Join-Path "a" "b.exe"\n& $x --c\n', [["a/b.exe", "--c"]]),
        ("one 2>&1 | Tee-Object log\n", [["one"]]),
        ("one --a > log; two\n", [["one", "--a"], ["two"]]),
        ("$a = @(\n  '--x', 1  # why\n  '--y'\n)\none @a\n", [["one", "--x", "1", "--y"]]),
        ("$a = @('--x')\n$a += '--y', '--z'\n$a += @('w')\none @a\n", [["one", "--x", "${a}", "w"]]),
        ("$a = @('--x')\nif ($b) { $a += '--y' }\none @a\n", [["one", "--x", "${a}"]]),
        ("if ($b) { $m = 'x' }\none $m\n", [["one", "${m}"]]),
        ("$m = 'x'\nfunction Go {\n  one $m\n}\n", [["one", "x"]]),
        ("param(\n  [Parameter(Mandatory=$false)][string]$M = 'x',\n  [int]$P = 80\n)\none $M $P\n", [["one", "x", "80"]]),
        ("<#\none\n#>\n# one\ntwo # three\n", [["two"]]),
        ('$t = @"\none\n"@\ntwo\n', [["two"]]),
        ("$t = @'\none $a\n  two\n'@\nrun $t\n", [["run", "one $a\n  two"]]),
        ('$a = "b"\n$t = @"\none $a $c\n"@\nrun $t\n', [["run", "one b ${c}"]]),
        ('$t = @"\n"@\ntwo\n', [["two"]]),
        ("Write-Host one\nif (Test-Path one) { two }\n", [["two"]]),
        ("$h = @{ command = one }\n", []),
        ("Start-Process one -ArgumentList '-m a --b \"c d\"' -Wait\n", [["one", "-m", "a", "--b", "c d"]]),
        ('Start-Process -FilePath "one" -ArgumentList "-m", "a", "--b" -NoNewWindow\n', [["one", "-m", "a", "--b"]]),
        ("$p = Start-Process one -WindowStyle Hidden -ArgumentList @('-m', 'a') -PassThru\n", [["one", "-m", "a"]]),
        ("$p = (one --a)\n", []),
        ('$m = if ($env:M) { $env:M } else { "x" }\none $m\n', [["one", "x"]]),
        ("$m = $(if ([string]::IsNullOrEmpty($env:M)) { 'x' } else { $env:M })\none $m\n", [["one", "x"]]),
        ("$m = if (Test-Path env:M) { $env:M } else { 'x' }\none $m\n", [["one", "x"]]),
        ("$m = if ($null -ne $env:M) {\n  $env:M\n} else {\n  'x'\n}\none $m\n", [["one", "x"]]),
        ("$env:M = 'y'\n$m = if ($env:M) { $env:M } else { 'x' }\none $m\n", [["one", "y"]]),
        ("$m = if ($env:M) { 'a' } else { 'x' }\none $m\n", [["a"], ["x"], ["one", "${m}"]]),
        ("$m = if ($env:M) { $env:M } else { Get-Model }\none $m\n", [["${M}"], ["one", "${m}"]]),
        ("$m = if ($fast) { 'a' } else { 'b' }\none $m\n", [["a"], ["b"], ["one", "${m}"]]),
        ("$m = $env:M ?? 'x'\n$env:N ??= 'y'\none $m $env:N\n", [["one", "x", "y"]]),
        ("if (-not $env:M) { $env:M = 'x' }\nif (!$n) {\n  $n = 'y'\n}\none $env:M $n\n", [["one", "x", "y"]]),
        ("if (-not $env:M) { $env:M = 'x' } else { $env:M = 'y' }\none $env:M\n", [["one", "${M}"]]),
        ("if ($env:M) { $env:M = 'x' }\none $env:M\n", [["one", "${M}"]]),
        ("param([string]$M, [int]$P = 80)\nif (-not $M) { $M = 'x' }\none $M $P\n", [["one", "x", "80"]]),
        ("one $p.Name $p[0] $(two) (three)\n", [["one", "${p}", "${p}", "$(two)", "(three)"]]),
    ],
)
def test_powershell(text: str, found: list[list[str]]) -> None:
    assert words(text) == found


@together(
    "text, found",
    [
        ("one \\\n  --a\ntwo &\n", [["one", "--a"], ["two"]]),
        ("set m a/b\none $m \"$m\" 'c$m'\n", [["one", "a/b", "a/b", "c$m"]]),
        ("set -l a --x 1\none $a\n", [["one", "--x", "1"]]),
        ("if test -n $q; set m b; end\none $m\n", [["test", "-n", "${q}"], ["one", "${m}"]]),
        (
            "if test -n $q\n  one\nelse if true\n  two\nelse\n  three\nend\nfour\n",
            [["test", "-n", "${q}"], ["one"], ["true"], ["two"], ["three"], ["four"]],
        ),
        ("one (two) $argv; and three\n", [["one", "(two)", "${argv}"], ["three"]]),
        ("function go\n  one --a\nend\n", [["one", "--a"]]),
        ("A=b one # two\n", [["one"]]),
        ("exec one > log\n", [["one"]]),
    ],
)
def test_fish(text: str, found: list[list[str]]) -> None:
    assert words(text, fish=True) == found


def test_exported_variables() -> None:
    [command] = commands(TracedText.of('$env:a = "b"\nif ($x) { $env:C = "d" }\none\n'), fish=False)
    assert {name: value.shown for name, value in command.env.items()} == {"A": "b", "C": "${C}"}
    [command] = commands(TracedText.of("set -gx A b\nset c d\nE=f one\n"), fish=True)
    assert {name: value.shown for name, value in command.env.items()} == {"A": "b", "E": "f"}


@pytest.mark.parametrize(
    "text", ["one '", 'one "$(', '@"\n', "$a = @(", "<#", "param(", "one `", "((((", "}}}", "$", "@", "$a ="]
)
@pytest.mark.parametrize("fish", [False, True])
def test_what_is_not_closed(text: str, fish: bool) -> None:
    assert isinstance(words(text, fish), list)
    assert words("two\n" + text, fish)[0] == ["two"]


def test_defaults_are_marked() -> None:
    text = "$m = if ($env:M) { $env:M } else { 'x' }\none $m\n"
    ((_, word),) = [command.words for command in commands(TracedText.of(text), fish=False)]
    assert all(piece.assumed for piece in word.text.pieces)
