"""What holds of every text that is read, and of every launch that is judged."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache

from fuzz import corpus, vocabulary
from fuzz.case import Case, insist
from fuzz.counts import COUNTS
from servelint.core.finding import Finding
from servelint.core.launch import Launch, Variable, Word
from servelint.core.problem import Problem
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, TracedText
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import OPTIONAL
from servelint.engines.releases import newest
from servelint.files.directives import SIGN
from servelint.files.siblings import Neighbours
from servelint.judge.releases import possible_releases
from servelint.lint import check_launches
from servelint.readers import Reading, read
from servelint.readers.discover import decode
from servelint.rules.compile import compile_rule
from servelint.rules.condition import evaluate, operands
from servelint.rules.load import rules_of

BESIDE = {
    ".env": b"V=1\nTAG=v0.27.1\n",
    "llm.env": b"V=x\nVLLM_USE_V1=1\n",
    "env.sh": b"V=2\nexport VLLM_USE_V1=1\n",
    "x": b"V=3\n",
    "common.yml": b"services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    environment: {V: '1'}\n",
    "values.yaml": b"a: 1\nimage: {repository: vllm/vllm-openai, tag: v0.27.1}\nmodel: a/b\n",
    "Dockerfile": b'FROM vllm/vllm-openai:v0.27.1\nENV V=1\nCMD ["--model", "a/b"]\n',
    "serve.sh": b'#!/bin/bash\nvllm serve "$@"\n',
}
"""The files beside each text, by the last part of their path."""

SETTINGS = Settings(engine_versions={engine: newest(engine) or "b9000" for engine in vocabulary.options()}, profile="audit")
"""A release for every launch that names none: what all releases say of one costs as much as a hundred other executions."""


def beside() -> Neighbours:
    return Neighbours("/fuzz", "", lambda path: BESIDE.get(path.rpartition("/")[2]))


def reading(case: Case, text: str | None = None) -> Reading:
    return read(Source(case.name, case.text if text is None else text), beside())


# -- spans inside the text


def _inside(span: Span | None, what: str) -> None:
    if span is not None:
        insist(0 <= span.start <= span.end <= len(span.source.text), "spans inside the text", what, span.start, span.end)


def _of_text(text: TracedText | None, what: str) -> None:
    if text is None:
        return
    for piece in text.pieces:
        _inside(piece.span, what)
        _inside(piece.origin, what)
        if piece.verbatim and piece.span is not None:
            insist(piece.span.text == piece.text, "verbatim text stands where it says", what, piece.span.text, piece.text)
        insist(piece.expression is None or piece.text == HOLE, "an unknown is one character", what, piece.text)


def inside(found: Reading) -> None:
    """Every place that a reading names is in its text, and what it says to be written there is."""
    for launch in found.launches:
        _inside(launch.site, "a launch")
        insist(launch.site.source is launch.source, "a launch stands in its source", launch)
        for word in (*launch.verb, *launch.argv):
            _inside(word.site, "a word")
            _of_text(word.text, "a word")
        for variable in launch.env.values():
            _inside(variable.site, "a variable")
            _of_text(variable.value, "a variable")
        _inside(launch.release.span, "a release")
        _inside(launch.cut, "what is cut off")
        _of_text(launch.image, "an image")
    for problem in found.problems:
        _problem(found.source, problem)


def _problem(source: Source, problem: Problem) -> None:
    insist(bool(problem.message), "a problem says what it is", problem)
    if problem.path == source.path:
        insist(1 <= problem.line <= len(source.line_starts), "a problem is in the text", problem)
        insist(1 <= problem.column <= len(source.line_text(problem.line)) + 2, "a problem is in its line", problem)


def findings_inside(found: list[Finding]) -> None:
    for finding in found:
        insist(bool(finding.message), "a finding says what it is", finding.rule)
        for span in (finding.span, *[related.span for related in finding.related]):
            _inside(span, finding.rule)
        for edit in finding.fix.edits if finding.fix is not None else []:
            _inside(edit.span, f"the fix of {finding.rule}")


# -- reading twice is equal


def _word(word: Word) -> tuple[object, ...]:
    return word.shown, word.text.flat, word.many, _place(word.site), [_place(piece.span) for piece in word.text.pieces]


def _place(span: Span | None) -> tuple[str, int, int] | None:
    return (span.source.path, span.start, span.end) if span is not None else None


def _variable(one: Variable) -> tuple[object, ...]:
    return one.name, one.value.shown if one.value is not None else None, _place(one.site)


def told(found: Reading) -> list[object]:
    """All that a reading says, to compare two of them."""
    return [[shape(launch) for launch in found.launches], [repr(problem) for problem in found.problems]]


def shape(launch: Launch) -> tuple[object, ...]:
    return (
        launch.engine,
        launch.name,
        repr(launch.release),
        _place(launch.release.span),
        _place(launch.site),
        [_word(word) for word in (*launch.verb, *launch.argv)],
        [_variable(one) for one in launch.env.values()],
        launch.open_env,
        launch.likely,
        launch.image.shown if launch.image is not None else None,
    )


# -- judging


def judged(found: Reading) -> list[Finding]:
    COUNTS["judged"] += 1
    return check_launches(found.source, found.launches, SETTINGS)


def _keys(found: list[Finding], shift: int, path: str) -> list[tuple[object, ...]]:
    """What findings say and where; those of the text itself moved by so many characters."""

    def key(finding: Finding) -> tuple[object, ...]:
        span = finding.span
        moved = shift if span.source.path == path else 0
        return finding.rule, finding.message, span.source.path, span.start + moved, span.end + moved

    return sorted([key(finding) for finding in found], key=repr)


# -- a comment changes no finding

_COMMENTS = (
    (".json", None),
    (".ipynb", None),
    (".bat", "rem a comment"),
    (".md", "<!-- a comment -->"),
)


def _comment(name: str) -> str | None:
    return next((comment for end, comment in _COMMENTS if name.endswith(end)), "# a comment")


def a_comment_changes_nothing(case: Case, found: Reading, findings: list[Finding]) -> None:
    """A line of its own before a text, and one behind a text in which nothing is unfinished."""
    comment = _comment(case.name)
    if comment is None:
        return
    text = case.text
    if case.turn & 64 and case.whole:
        COUNTS["comments behind"] += 1
        after, shift = text + ("" if text.endswith("\n") else "\n") + comment + "\n", 0
    # what counts in the first line only: a shebang, a byte order mark, a parser directive, front matter
    elif not re.match(r"#|\ufeff|%|---|\s*(?:escape|syntax|FROM)", text) and not case.name.endswith(".md"):
        COUNTS["comments before"] += 1
        after, shift = f"{comment}\n{text}", len(comment) + 1
    else:
        return
    again = reading(case, after)
    before, now = _keys(findings, shift, case.name), _keys(judged(again), 0, case.name)
    same = len(again.launches) == len(found.launches)
    if not (same and before == now) and _is_no_script(case):
        # a parser that goes on behind what makes no sense takes it for this or that by what stands before it
        COUNTS["comments in what is not a script"] += 1
        return
    insist(same, "a comment changes no launch", again.launches, found.launches)
    insist(before == now, "a comment changes no finding", [one for one in now if one not in before], before)


def _is_no_script(case: Case) -> bool:
    """Whether a text is said to be a shell's, and bash refuses to read it. It is asked only about what breaks a property."""
    bash = shutil.which("bash") if case.name.endswith(".sh") else None
    if bash is None:
        return False
    told = subprocess.run([bash, "-n"], input=case.text.encode("utf-8", "replace"), capture_output=True, check=False)
    return told.returncode != 0


# -- unknown is not wrong

_UNKNOWNS = (
    "${{{}}}",
    '"${{{}}}"',
    "${}",
    "$({})",
    "%{}%",
    "{{{{ .Values.{} }}}}",
    "{{{{env('{}')}}}}",
    "%(ENV_{})s",
    "$$({})",
    "${{{{ vars.{} }}}}",
)
"""Ways to write a value that nobody knows: each format takes some of them."""

_KINDS = (
    (r"compose", (0,)),
    (r"\.(?:sh|md)$|^Procfile$|\.ipynb$|\.json$", (0, 1, 2)),
    (r"^(?:Makefile)$", (0, 3)),
    (r"^justfile$", (6, 0)),
    (r"\.bat$", (4,)),
    (r"\.(?:service|container)$", (0,)),
    (r"supervisord\.conf$", (7,)),
    (r"^workflow\.yml$", (9,)),
    (r"deployment\.yaml$|values\.yaml$", (5, 3)),
    (r"", (0, 5)),
)


_TOO_OLD = ("/model-too-new", "/model-not-listed")
"""A release that does not have the model. One that nobody names is taken for one that has it, although some of the older ones
may run it by Transformers."""

OPEN = Settings(profile="audit")
"""Every release that may start a launch is asked where none is named."""


def an_unknown_release_adds_no_error(case: Case, found: Reading, findings: list[Finding]) -> None:
    """A release that is replaced by what nobody knows: what holds of each that starts the launch holds of this one."""
    launch = found.launches[case.turn // 128 % len(found.launches)]
    span, release = launch.release.span, launch.release.release
    catalog = catalogs.load(launch.engine)
    known = span is not None and span.source is found.source and span.text == release
    if not known or span is None or catalog is None or catalog.index(release or "") is None:
        return
    if any(one.impact == "crash-at-start" or one.rule.endswith(_TOO_OLD) for one in findings):
        return  # it is not one of those that start it
    kinds = next(kinds for pattern, kinds in _KINDS if re.search(pattern, case.name))
    text = case.text[: span.start] + _UNKNOWNS[kinds[0]].format(vocabulary.UNKNOWN) + case.text[span.end :]
    again = reading(case, text)
    same = [_content(one) for one in again.launches] == [_content(one) for one in found.launches]
    if not same or any(one.release.release is not None for one in again.launches):
        COUNTS["unknown releases that are none"] += 1
        return
    # a release that nobody names is taken for one that knows the method of speculative decoding that the launch asks for
    if release not in possible_releases(again.launches[found.launches.index(launch)], OPEN)[0].known:
        COUNTS["unknown releases that leave this one out"] += 1
        return
    COUNTS["unknown releases"] += 1
    errors = {one.rule for one in findings if one.severity == "error"}
    later = check_launches(again.source, again.launches, OPEN)
    added = [
        one for one in later if one.severity == "error" and one.rule not in errors and not one.rule.endswith("/removed-later")
    ]
    insist(not added, "an unknown release adds no error", [(one.rule, one.message) for one in added], text)


def _content(launch: Launch) -> tuple[str, list[str], list[str]]:
    return launch.engine, [word.shown for word in launch.argv], list(launch.env)


def an_unknown_adds_no_error(case: Case, found: Reading, findings: list[Finding]) -> None:
    """A word or a variable that is replaced by what nobody knows: whatever is certain then was certain before."""
    places = _written(found)
    if not places or SIGN in case.text:
        return  # a word may be a part of what silences a finding
    if any(one.impact == "crash-at-start" for one in findings):
        return  # what is refused anyway may be refused for another word: `--a --b c` for the first, `--a $V c` for the last
    start, end, names = places[case.turn // 16 % len(places)]
    kinds = next(kinds for pattern, kinds in _KINDS if re.search(pattern, case.name))
    unknown = _UNKNOWNS[kinds[case.turn // 16 % len(kinds)]].format(vocabulary.UNKNOWN)
    text = case.text[:start] + unknown + case.text[end:]
    again = reading(case, text)
    if len(again.launches) != len(found.launches) or not all(map(_alike, found.launches, again.launches)):
        COUNTS["unknowns that are none"] += 1
        return
    COUNTS["unknowns"] += 1
    errors = {one.rule for one in findings if one.severity == "error"}
    added = [one for one in judged(again) if one.severity == "error" and one.rule not in errors]
    added = [one for one in added if not one.rule.endswith("/removed-later") and not _may_be_a_way_out(names, one)]
    insist(not added, "an unknown adds no error", [(one.rule, one.message) for one in added], text)


def _written(found: Reading) -> list[tuple[int, int, set[str]]]:
    """(start, end, the options or the variable that it may give) of each literal that stands in the text as it is read."""
    places: list[tuple[int, int, set[str]]] = []
    for launch in found.launches:
        before = ""
        for number, word in enumerate(launch.argv):
            flat = word.text.flat
            following = launch.argv[number + 1].text.flat if number + 1 < len(launch.argv) else ""
            span = word.text.written
            # two dashes are no value: they change what the words after them are; and nobody keeps an option in a variable
            # whose value is to be what looks like the next option
            several = any(_takes_several(launch.engine, one) for one in launch.argv[max(0, number - 1) : number + 1])
            # behind an option that may go without a value, whatever is unknown is its value
            several = several or (number > 0 and flat[:1] == "-" and _may_go_without(launch.engine, launch.argv[number - 1]))
            # behind an unknown word, that may be its value
            several = several or (number > 0 and launch.argv[number - 1].text.flat.startswith(HOLE))
            # nor where that value is unknown itself: `"$MODEL" $ARGS`, which has the model first, is written the same
            several = several or (flat[:1] == "-" and following.startswith(HOLE))
            if word.text.flat == "--" or (word.text.flat[:1] == following[:1] == "-") or several:
                span = None
            if span is not None and span.source is found.source and span.start < span.end:
                places.append((span.start, span.end, {before, _option(word)}))
            before = _option(word)
        for variable in launch.env.values():
            span = variable.value.written if variable.value is not None else None
            if span is not None and span.source is found.source and span.start < span.end:
                places.append((span.start, span.end, {f"env.{variable.name}"}))
    return places


@lru_cache(maxsize=4096)
def _several(engine: str, spelling: str) -> bool:
    catalog = catalogs.load(engine)
    runs = catalog.spelled(spelling) if catalog is not None else []
    return any(isinstance(option.nargs, int) and option.nargs > 1 for _, _, option in runs)


def _takes_several(engine: str, word: Word) -> bool:
    """Whether a word is an option that takes so many words, whatever they look like."""
    return word.text.flat.startswith("-") and _several(engine, word.text.flat)


@lru_cache(maxsize=4096)
def _goes_without(engine: str, spelling: str) -> bool:
    catalog = catalogs.load(engine)
    runs = catalog.spelled(spelling) if catalog is not None else []
    return any(option.kind == OPTIONAL or option.nargs == "*" for _, _, option in runs)


def _may_go_without(engine: str, word: Word) -> bool:
    """Whether a word is an option that takes a value or none."""
    return word.text.flat.startswith("-") and _goes_without(engine, word.text.flat)


def _option(word: Word) -> str:
    """The option that a word may be: `--max_model_len=8` is max-model-len."""
    return word.text.flat.partition("=")[0].partition(".")[0].lstrip("-").replace("_", "-")


def _alike(one: Launch, other: Launch) -> bool:
    """Whether the second launch is the first with unknowns in the place of some words, and nothing else."""
    if (one.engine, one.name, repr(one.release), len(one.argv)) != (
        other.engine,
        other.name,
        repr(other.release),
        len(other.argv),
    ):
        return False
    words = all(map(_may_be, [word.text for word in one.argv], [word.text for word in other.argv]))
    if not words or list(one.env) != list(other.env) or [w.shown for w in one.verb] != [w.shown for w in other.verb]:
        return False
    for variable, changed in zip(one.env.values(), other.env.values(), strict=True):
        if variable.value is not None and changed.value is not None and not _may_be(variable.value, changed.value):
            return False
    return True


def _may_be(known: TracedText, text: TracedText) -> bool:
    if known.flat == text.flat:
        return True
    pattern = re.escape(text.flat).replace(re.escape(HOLE), ".*")
    return HOLE in text.flat and re.fullmatch(pattern, known.flat, re.DOTALL) is not None


def _may_be_a_way_out(names: set[str], finding: Finding) -> bool:
    """Whether what was replaced may have been a way out of what is found now."""
    ways = _way_out(finding.rule)
    if names & ways:
        return True
    if "effective" not in ways or finding.launch is None:
        return False
    # what several options make together: it is one where nobody can tell it, or where it has a look at what was replaced
    unless = next(rule.unless for rule in rules_of(finding.launch.engine) if rule.id == finding.rule)
    config = possible_releases(finding.launch, SETTINGS)[1][-1]
    return unless is not None and (evaluate(unless, config) is None or not names.isdisjoint(config._operands))


@lru_cache(maxsize=2048)
def _way_out(rule: str) -> frozenset[str]:
    """The operands of a rule's `unless`, without keys of JSON options: a way out counts only where it is written."""
    data = corpus.rules().get(rule)
    names = operands(compile_rule(data).get("unless", ["and", []])) if data is not None else []
    return frozenset([name if name.startswith("env.") else name.partition(".")[0] for name in names])


# -- bytes


def bytes_are_taken_or_refused(case: Case) -> None:
    """A file's bytes, some of them changed, are a text, a problem, or nothing of ours."""
    data = bytearray(case.text.encode(("utf-8", "utf-16", "utf-8-sig", "utf-16-be")[case.turn % 4], "replace"))
    for number in range(case.turn // 4 % 3 if data else 0):
        data[case.turn * (number + 7) % len(data)] = (case.turn >> number) & 0xFF
    found = decode(case.name, bytes(data))
    if isinstance(found, Source):
        inside(read(found, beside()))
    elif found is not None:
        insist(found.line >= 1 and found.column >= 1 and bool(found.message), "a problem says where", found)


# -- all of them


def of_a_text(case: Case) -> None:
    """The properties of a text that some reader takes: the cheap ones each time, of the others one."""
    found = reading(case)
    inside(found)
    if found.launches:
        COUNTS["with launches"] += 1
    turn = case.turn % 16
    if turn < 3:
        COUNTS["read twice"] += 1
        insist(told(found) == told(reading(case)), "reading twice is equal", case.text)
    elif turn == 3:
        COUNTS["bytes"] += 1
        bytes_are_taken_or_refused(case)
    elif found.launches and turn < 8:
        findings = judged(found)
        findings_inside(findings)
        if turn == 4:
            a_comment_changes_nothing(case, found, findings)
        elif turn == 5 and case.turn % 128 < 16:
            an_unknown_release_adds_no_error(case, found, findings)
        elif turn > 5:
            an_unknown_adds_no_error(case, found, findings)
