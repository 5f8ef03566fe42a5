"""Violations in the words of an argv: options that the release lacks, and words that a shell cut off or left in."""

from __future__ import annotations

import re

from servelint.core.data import load_data
from servelint.core.finding import Related
from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import HOLE
from servelint.engines import ENGINE_NAMES, ENGINES, entry
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Fault, Setting, head_of
from servelint.engines.catalog import APPEND, LIST, Option
from servelint.engines.config import Config
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.repairs import (
    after_switch,
    in_place_of,
    instead_of,
    setting_named,
    setting_of,
    spelled_as,
    swallowed,
    switched_off,
    titled,
    two_words,
    without_value,
    written_in,
)
from servelint.judge.parser.values import JSON_IN_QUOTES
from servelint.judge.parser.view import ReleaseView, listed, similar
from servelint.judge.parser.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from servelint.engines.registry import Launcher


def violations(view: ReleaseView) -> list[Violation]:
    """The violations in the words of an argv, under a release that the catalog has."""
    faults = view.config.reading.arguments.faults
    for at, fault in enumerate(faults):
        if fault.kind == "unexpected-argument" and fault.spelling in _OPERATORS:
            faults = faults[: at + 1]  # what follows is part of the same mistake
            break
    faults = _in_one_word(view, _without_split_json(view, _after_swallowed(view, _without_comments(view, faults))))
    ignored = [one.word for one in faults if one.kind == "ignored-model"]
    faults = [one for one in faults if one.kind != "one-word" or one.word not in ignored]
    again = _started_again(view.config)
    if again:
        faults = [
            one for one in faults if one.word not in again and one.kind not in ("unexpected-argument", "missing-argument")
        ]
    bare = None if again else _bare_model(view, faults)
    if bare is not None:
        option = "--" + view.record.model_option
        faults = [one for one in faults if one is not bare and (one.kind, one.spelling) != ("missing-argument", option)]
    found = [_FAULTS[fault.kind](view, fault) for fault in faults if fault.kind in _FAULTS]
    found += [_twice(again)] if again else _model_first(view)
    found += [_with_option(view, bare)] if bare is not None else []
    return [*found, *_deprecated(view), *_repeated(view), *_back_again(view)]


def _without_comments(view: ReleaseView, faults: list[Fault]) -> list[Fault]:
    """The faults with one for each comment: that of its `#`, not those of the words behind it on its line."""
    refused = [one.word for one in faults]
    words = view.config.reading.arguments.positionals
    taken = [word for word in words if _begins_comment(word) and not any(word is one for one in refused)]
    kept = [Fault("unexpected-argument", word, word.text.flat) for word in taken]
    comments = [*kept, *[one for one in faults if one.word is not None and _is_comment(one, one.word)]]
    for fault in faults:
        behind = [one for one in comments if one is not fault and _on_one_line(one, fault.span)]
        if not behind or fault.kind not in ("unexpected-argument", "unknown-option"):
            kept.append(fault)
    return kept


def _is_comment(fault: Fault, word: Word) -> bool:
    return fault.kind == "unexpected-argument" and _begins_comment(word)


def _begins_comment(word: Word) -> bool:
    return word.text.flat.startswith("#")


def _on_one_line(fault: Fault, span: Span | None) -> bool:
    """Whether a span stands behind a fault on the same line."""
    first = fault.span
    if first is None or span is None or span.source is not first.source or span.start < first.start:
        return False
    return "\n" not in first.source.text[first.start : span.start]


def _comment(view: ReleaseView, fault: Fault) -> Violation:
    words = [word for word in view.config.launch.argv if _on_one_line(fault, word.site)]
    last = words[-1].site if words else None
    return Violation(
        "unexpected-argument",
        fault.span.to(last) if fault.span is not None and last is not None else fault.span,
        f"nothing takes a comment out of this command: '#' and what follows are arguments, which {view.release} refuses",
        "delete the comment, or write it above the command",
        "no comment",
        change=Change(words=words) if words else None,
        title="delete the comment",
        safe=True,
    )


def _after_swallowed(view: ReleaseView, faults: list[Fault]) -> list[Fault]:
    """The faults without the words that an option would have for a value, were it not taken for a value itself."""
    if not any(one.kind == "unexpected-argument" for one in faults):
        return faults
    argv = view.config.launch.argv
    values = [one.value_word for one in view.config.reading.arguments.every if swallowed(view, one)]
    after = [argv[at + 1] for at, word in enumerate(argv[:-1]) if any(word is one for one in values)]
    return [one for one in faults if one.kind != "unexpected-argument" or not any(one.word is word for word in after)]


def _without_split_json(view: ReleaseView, faults: list[Fault]) -> list[Fault]:
    """The faults without the rest of a JSON value in quotes that a shell split at its blanks, which is reported as a value."""
    argv = view.config.launch.argv
    split: list[Word] = []
    for setting in view.config.reading.arguments.every:
        word, flat = setting.value_word, setting.value.flat if setting.value is not None else ""
        if word is None or not JSON_IN_QUOTES.match(flat) or flat.endswith("'"):
            continue
        at = next((index for index, one in enumerate(argv) if one is word), len(argv))
        end = next((index for index in range(at + 1, len(argv)) if argv[index].text.flat.endswith("'")), None)
        if end is not None:
            split += argv[at + 1 : end + 1]
    return [one for one in faults if one.kind != "unexpected-argument" or not any(one.word is word for word in split)]


def _in_one_word(view: ReleaseView, faults: list[Fault]) -> list[Fault]:
    """The faults without the options that a word of several options holds, where the parser does not look for them."""
    packed = [one.word.text.flat for one in faults if one.word is not None and one.kind in _PACKED and _holds_options(one.word)]
    if not packed:
        return faults
    inside = [option.partition("=")[0] for flat in packed for option in flat.split() if option.startswith("-")]
    named = {found.name for option in inside if (found := view.find(option)) is not None}
    return [one for one in faults if one.kind != "missing-argument" or one.spelling.lstrip("-") not in named]


_PACKED = ("one-word", "unexpected-argument", "unknown-option")
_SEVERAL = r"(?s)\s*-{1,2}[A-Za-z][\w.-]*[\s=]\s*\S.*\s-{1,2}[A-Za-z]"


def _holds_options(word: Word) -> bool:
    return re.match(_SEVERAL, word.text.flat) is not None


_OPERATORS = frozenset(("&&", "||", "|", ";", "&", ">", ">>", "2>", "2>&1", "&>", "<"))
"""What only a shell understands."""


def _missing_value(view: ReleaseView, fault: Fault) -> Violation:
    always = all(option.takes_value for _, _, option in view.catalog.spelled(fault.spelling))
    message = f"{fault.spelling} takes a value{'' if always else f' in {view.release}'} and has none"
    return Violation("missing-value", fault.span, message, "give it a value", "without a value")


def _unexpected_value(view: ReleaseView, fault: Fault) -> Violation:
    off = switched_off(fault.setting)
    advice = f"write {fault.spelling}"
    if off:
        other = fault.spelling.replace("--", "--no-", 1)
        advice = f"write {other}" if view.find(other) is not None else "delete it"
    return Violation(
        "unexpected-value",
        fault.span,
        f"{fault.spelling} is a switch and takes no value in {view.release}",
        advice,
        "a switch",
        change=without_value(view, fault.setting),
        title="" if off is None else advice,
        safe=True,
    )


def _one_word(view: ReleaseView, fault: Fault) -> Violation:
    if fault.word is not None and _holds_options(fault.word):
        return _all_in_one(view, fault)
    return Violation(
        "one-word",
        fault.span,
        f"{fault.spelling} and its value are one word, which {view.release} reads as an argument",
        "write it as two words, in a list as two items",
        "one word",
        change=two_words(fault),
        title=f"write {fault.spelling} and its value as two words",
        safe=True,
    )


def _all_in_one(view: ReleaseView, fault: Fault) -> Violation:
    return Violation(
        "one-word",
        fault.span,
        f"several options are one word, which {view.release} reads as an argument",
        "write each option as its own word: without the quotes in a shell, or with an array; as its own item in a list",
        "one word",
    )


def _missing_argument(view: ReleaseView, fault: Fault) -> Violation:
    if not fault.spelling.startswith("model"):
        return Violation(
            "missing-argument", None, f"{view.release} does not start without {fault.spelling}", f"give {fault.spelling}"
        )
    model = view.config.reading.arguments.settings.get("model")
    if model is not None:
        return _model_as_option(view, model)
    command = " ".join(view.record.command)
    message = f"{command} of {view.release} does not start without a model as an argument"
    return Violation("missing-argument", None, message, f"write {command} MODEL, then the options")


def _model_as_option(view: ReleaseView, model: Setting) -> Violation:
    command = " ".join(view.record.command)
    message = f"{command} of {view.release} takes the model as its first argument, not with --model"
    first = model.word.text.flat == "--model" and view.config.launch.argv[:1] == [model.word]
    change = Change(words=[model.word]) if first else None
    advice = f"write {command} MODEL, without --model"
    return Violation("missing-argument", model.word.text.span(), message, advice, change=change, safe=True)


def _config_file(view: ReleaseView, fault: Fault) -> Violation:
    message = f"{view.release} does not start: it cannot use the file of --config, {fault.names[0]}"
    return Violation("invalid-value", fault.span, message, "name a YAML file that exists", "this file")


def _stray_path(view: ReleaseView, fault: Fault) -> Violation:
    message = f"{view.release} reads {fault.spelling} as a key of a JSON option, because of its dash and its dot"
    advice = "write the option, an equals sign and the value as one word"
    return Violation("unexpected-argument", fault.span, message, advice, "not read as a value")


def _ignored_model(view: ReleaseView, fault: Fault) -> Violation:
    module = next(start.modules[0] for start in view.record.starts if not start.takes_model)
    if fault.spelling.startswith("-"):  # the parser takes a word with a blank in it for a positional argument
        return Violation(
            "ignored-model",
            fault.span,
            f"{module} ignores {fault.spelling.partition(' ')[0]} and its value, because they are one word",
            "write it as two words, in a list as two items",
            "one word, ignored",
            change=two_words(fault),
            title=f"write {fault.spelling.partition(' ')[0]} and its value as two words",
        )
    if "model" in view.config.reading.arguments.settings:
        message = f"{module} ignores the positional argument {fault.spelling} and serves the model of --model"
        gone = Change(words=[fault.word]) if fault.word is not None else None
        return Violation("ignored-model", fault.span, message, f"delete {fault.spelling}", "ignored", change=gone)
    return Violation(
        "ignored-model",
        fault.span,
        f"{module} ignores the positional argument {fault.spelling} and serves its default model",
        f"write --model before it, or start {' '.join(view.record.command)}",
        "ignored",
        change=Change(instead=([fault.word], ["--model", fault.spelling])) if fault.word is not None else None,
        title=f"write --model {fault.spelling}",
    )


def _lacked_option(view: ReleaseView, fault: Fault) -> Violation:
    if view.config.made is not None:
        return _no_argument(view, fault, view.config.made)
    start = next(one for one in view.record.starts if one.launcher == view.config.launch.launcher)
    program = (start.programs or start.modules)[0]
    message = f"{fault.spelling} is an option of {view.record.command[0]}: {program} of {view.release} refuses it"
    # a module is another project's, in images of its own: what they change in the engine gives the module no option
    rule = "unknown-option" if start.programs else "unexpected-argument"
    return Violation(rule, fault.span, message, "delete it", "not an option")


def _no_argument(view: ReleaseView, fault: Fault, launcher: Launcher) -> Violation:
    """An option of the engine's command that a class does not have as a keyword argument."""
    option = view.find(fault.spelling)
    names = option.names if option is not None and fault.spelling in option.names else []
    fields = [name for name in names if name.startswith("--") and name != fault.spelling and name[2:] not in launcher.lacks]
    other = next((name for name in fields if name[2:] not in launcher.refuses_since), None)
    made, written = view.config.launch.launcher, fault.spelling[2:].replace("-", "_")
    message = (
        f"{made} of {view.release} has no argument {written}, which is only an option of its command: it raises a TypeError"
    )
    advice = f"write {other}" if other is not None else "delete it"
    change = written_at(written_in(fault), other) if other is not None else None
    return Violation("unknown-option", fault.span, message, advice, "not an argument", change=change, safe=True)


def _ignored_option(view: ReleaseView, fault: Fault) -> Violation:
    launcher = view.record.launchers[view.config.launch.launcher]
    plain = fault.spelling[2:].replace("_", "-")
    theirs = {name.replace("_", "-"): "--" + name for name in launcher.declared}
    spellings = [*theirs.values(), *[one for one in view.catalog.table(view.index).spellings() if one.startswith("--")]]
    if plain in theirs:
        close, advice = theirs[plain], f"write {theirs[plain]}"
    elif view.find("--" + plain) is not None:
        close, advice = "--" + plain, f"write --{plain}"
    else:
        close = similar(fault.spelling, spellings) or ""
        advice = f"did you mean {close}?" if close else "delete it, or look its name up"
    return Violation(
        "ignored-option",
        fault.span,
        f"{view.config.launch.launcher} passes over options that it does not know: {fault.spelling} has no effect",
        advice,
        "ignored",
        change=written_at(written_in(fault), close) if close else None,
        title=f"write {close}",
    )


def _exclusive(view: ReleaseView, fault: Fault) -> Violation:
    other = next((one for one in view.config.reading.arguments.every if one.spelling == fault.names[0]), None)
    place = other.word.site if other is not None else None
    message = f"{fault.spelling} cannot be combined with {fault.names[0]}: {view.release} refuses both together"
    related = [Related(place, "and this")] if place is not None else []
    return Violation("exclusive-options", fault.span, message, "delete one of them", related=related)


def _started_again(config: Config) -> list[Word]:
    """The first words of the argv, if they start the engine that the image starts already."""
    launch = config.launch
    if launch.verb or not launch.argv or launch.container is None:
        return []
    found = entry.find(launch.argv)
    if found is not None and found.engine == launch.engine:
        return launch.argv[: found.end]
    return launch.argv[:1] if any(launch.argv[0].value in start.verbs for start in ENGINES[launch.engine].starts) else []


def _twice(words: list[Word]) -> Violation:
    sites = [site for word in words if (site := word.site) is not None]
    written = " ".join([word.text.shown for word in words])
    one_place = bool(sites) and all(site.source is sites[0].source and site.start >= sites[0].start for site in sites)
    return Violation(
        "unexpected-argument",
        sites[0].to(sites[-1]) if one_place else None,
        f"unexpected argument {written!r}: the image starts the engine itself",
        f"delete {written} from the command, or set the entrypoint",
        "given to the engine",
        change=Change(words=words),
        title=f"delete {written}",
    )


def _bare_model(view: ReleaseView, faults: list[Fault]) -> Fault | None:
    """The one word that is refused and looks like the model, where the launch names none and only an option can."""
    reading, option = view.config.reading, "--" + view.record.model_option
    if reading.model is not None or not reading.arguments.complete or view.find(option) is None:
        return None
    alone = [one for one in faults if one.kind == "unexpected-argument" and one.word is not None]
    word = alone[0].word if len(alone) == 1 else None
    if word is None or not _is_model(word) or any(one.isspace() for one in word.text.flat):
        return None
    verbs = [verb for engine in ENGINES.values() for start in engine.starts for verb in start.verbs]
    named = "/" in word.text.flat or word.text.flat.endswith(".gguf")
    first = word is view.config.launch.argv[0] and word.text.flat not in verbs
    return alone[0] if named or first else None


def _with_option(view: ReleaseView, fault: Fault) -> Violation:
    """The violation of a model that stands alone."""
    option, shown = "--" + view.record.model_option, fault.word.text.shown if fault.word is not None else fault.spelling
    return Violation(
        "unexpected-argument",
        fault.span,
        f"{view.release} takes the model only with {option}",
        f"write {option} {shown}",
        "a model without its option",
        change=Change(instead=([fault.word], [option, fault.spelling])) if fault.word is not None else None,
        title=f"write {option} before it",
        safe=True,
    )


def _argument(view: ReleaseView, fault: Fault) -> Violation:
    if fault.word is not None and _holds_options(fault.word):
        return _all_in_one(view, fault)
    shown = fault.word.text.shown if fault.word is not None else fault.spelling
    if fault.spelling in _OPERATORS:
        message = f"no shell reads this command: {shown!r} and what follows are arguments, which {view.release} refuses"
        advice = 'delete them, or run the command through a shell: ["sh", "-c", "..."]'
        return Violation("unexpected-argument", fault.span, message, advice, "an argument")
    if fault.spelling.startswith("#"):
        return _comment(view, fault)
    change, title = after_switch(view, fault)
    return Violation(
        "unexpected-argument",
        fault.span,
        f"unexpected argument {shown!r}; {view.release} refuses it",
        "delete it, or quote the text that it is part of",
        "unexpected",
        change=change,
        title=title,
        safe=True,
    )


def _unknown(view: ReleaseView, fault: Fault) -> Violation:
    instead = in_place_of(view, fault.spelling)
    runs = view.catalog.spelled(fault.spelling)
    if runs:
        life = view.life(runs)
        made, name = view.config.made, fault.spelling[2:]
        ended = (made.takes_until.get(name) or made.refuses_since.get(name)) if made is not None else None
        if ended is not None:  # a class keeps it longer than the command, or not as long
            life.gone = view.catalog.releases.index(ended)
            life.before, life.after = life.gone - 1, None
        gone = life.before is not None
        use = view.life(_taking(view, fault, runs)).use(view.name)
        otherwise = f"delete it, or use {use}"
        history = life.written(view.name)
        return Violation(
            "removed-option" if gone else "option-not-yet",
            fault.span,
            f"{fault.spelling} {history}"
            + (", which refuses it" if history.endswith(f" {view.release}") else f"; {view.release} refuses it"),
            instead.text if instead is not None and gone else _successor(fault.spelling, runs, gone) or otherwise,
            "not an option of this release",
            change=instead_of(view, instead, setting_of(view, fault.word)) if gone else None,
            title=titled(instead, fault.spelling),
            safe=instead.safe if instead is not None else False,
        )
    name, sign, _ = fault.spelling.partition("=")
    if sign and view.find(name) is not None:
        message = f"{view.release} takes no value after an equals sign, and refuses {fault.spelling}"
        return Violation("unknown-option", fault.span, message, f"write {name} and the value as two words", "one word")
    if "." in name and view.record.dialect.json_paths and view.find(name.partition(".")[0]) is not None:
        return _no_paths(view, fault)
    other = _other_engine(view.engine, fault.spelling)
    close = similar(fault.spelling, view.catalog.table(view.index).spellings())
    there = setting_named(view, close) is not None if close else False
    twice = close == "--model" and view.config.reading.model is not None and not there
    there = there or twice
    meant = (
        f"delete it, with its value: {'the model' if twice else close} is set already" if there else f"did you mean {close}?"
    )
    message = f"{view.release} has no option {fault.spelling}"
    own = _counterpart(view, other, fault) if other is not None and instead is None else None
    if own is not None:
        there, close = False, None
    if other is not None:
        message = f"{fault.spelling} is an option of {ENGINE_NAMES[other]}; {view.release} refuses it"
    return Violation(
        "unknown-option" if other is None else "option-of-other-engine",
        fault.span,
        message,
        instead.text if instead is not None else own or (meant if close else "correct its name, or delete it with its value"),
        "unknown option" if other is None else f"not an option of {view.name}",
        change=spelled_as(fault, close) if close and instead is None and not there else None,
        title=f"write {close}",
        new=other is None and instead is None and close is None,
    )


def _no_paths(view: ReleaseView, fault: Fault) -> Violation:
    """`--option.key value` where the release's parser reads no keys yet."""
    written = fault.word.text.shown if fault.word is not None else fault.spelling  # the spelling has dashes in the key
    head, _, path = written.partition("=")[0].partition(".")
    dialect = view.record.dialect
    while dialect.before is not dialect and dialect.before.json_paths:
        dialect = dialect.before
    keys = "".join([f'{{"{key}": ' for key in path.split(".")])
    return Violation(
        "option-not-yet",
        fault.span,
        f"{head}.{path} sets a key of {head} from {view.name} {dialect.since}; {view.release} refuses it",
        f"write {head} '{keys}...{'}' * len(path.split('.'))}', or use {view.name} {dialect.since} or later",
        "not an option of this release",
    )


_NAMED_INSTEAD = r"(?i)\buse (--[a-z][\w-]*(?: [\w+.-]+)??)(?: instead)?\.?$"


def _successor(spelling: str, runs: Sequence[tuple[int, int, Option]], gone: bool) -> str:
    """What the last release that had an option said is to be used instead; a notice speaks of the option that is on."""
    off = spelling.startswith(("--no-", "-n"))
    notice = max(runs, key=lambda run: run[1])[2].deprecated if gone and not off else ""
    named = re.search(_NAMED_INSTEAD, " ".join(notice.split())) if notice else None
    return f"write {named.group(1)}" if named is not None else ""


def _taking(view: ReleaseView, fault: Fault, runs: list[tuple[int, int, Option]]) -> list[tuple[int, int, Option]]:
    """The runs of releases that take an option with its value; those that take the option, if none does."""
    runs = [run for run in runs if not run[2].refuses] or runs
    value = _value_of(view, fault)
    return [run for run in runs if run[2].choices is None or value is None or value in run[2].choices] or runs


def _value_of(view: ReleaseView, fault: Fault) -> str | None:
    """The word behind an option; None if there is none or it is not known."""
    argv = view.config.launch.argv
    at = next((index for index, word in enumerate(argv) if word is fault.word), len(argv))
    return argv[at + 1].value if at + 1 < len(argv) else None


def _other_engine(engine: str, spelling: str) -> str | None:
    for other in ENGINE_NAMES:
        catalog = catalogs.load(other) if other != engine else None
        spellings = (spelling, spelling.replace("_", "-")) if ENGINES[other].dialect.underscores else (spelling,)
        if catalog is not None and any(one in catalog.spellings() for one in spellings):
            return other
    return None


def _counterpart(view: ReleaseView, other: str, fault: Fault) -> str | None:
    """What to write for another engine's option, by the table of concepts; None where this release has no such option."""
    name = fault.spelling.partition("=")[0].removeprefix("--").replace("_", "-")
    for concept in load_data("translate/concepts.json")["concepts"]:
        theirs, ours = _spelled(concept.get(other)), _spelled(concept.get(view.engine))
        if not any(one == name for _, one in theirs):
            continue
        for kind, one in ours:
            if kind == "env":
                return f"delete it with its value; {view.name} takes this from the variable {one}"
            run = view.run_of(view.catalog.runs_of(one))
            if run is None or kind != theirs[0][0]:
                continue
            written = run[2].long_name
            if setting_named(view, written) is not None:
                return f"delete it with its value: {written}, its counterpart in {view.name}, is set already"
            if concept.get("carry") in ("changed", "never"):
                return f"delete it with its value; the nearest option of {view.name}, {written}, means something else"
            if run[2].choices is not None and _value_of(view, fault) not in run[2].choices:
                return f"delete it with its value; the nearest option of {view.name}, {written}, takes other values"
            return f"write {written}, its counterpart in {view.name}"
    return None


def _spelled(side: object) -> list[tuple[str, str]]:
    """The options of one side of a concept, each with how it is given."""
    if isinstance(side, str):
        return [("option", side)]
    if isinstance(side, list):
        return [spelled for one in side for spelled in _spelled(one)]
    if not isinstance(side, dict):
        return []
    return [(kind, name) for kind in ("option", "on", "off", "env") if kind in side for _, name in _spelled(side[kind])]


def _ambiguous(view: ReleaseView, fault: Fault) -> Violation:
    runs = view.catalog.spelled(fault.spelling)
    was = f" {view.life(runs).written(view.name)}, and" if runs else ""
    instead = in_place_of(view, fault.spelling) if runs else None
    return Violation(
        "ambiguous-option",
        fault.span,
        f"{fault.spelling}{was} may be short for {listed(fault.names, 4)}; {view.release} refuses it",
        instead.text if instead is not None else "write the option in full",
        "may be several options",
        change=instead_of(view, instead, setting_of(view, fault.word)),
        title=titled(instead, fault.spelling),
        safe=instead is not None and instead.safe,
    )


def _abbreviated(view: ReleaseView, fault: Fault) -> Violation:
    runs = view.catalog.spelled(fault.spelling)
    full = fault.names[0]
    if not {option.name for _, _, option in runs} <= {option.name for _, _, option in view.catalog.spelled(full)}:
        instead = in_place_of(view, fault.spelling)
        was = view.life(runs).written(view.name)
        return Violation(
            "taken-for-another",
            fault.span,
            f"{fault.spelling} {was}; {view.release} reads it as {full}",
            f"delete it; did you mean {full}?",
            f"read as {full}",
            change=instead_of(view, instead, setting_of(view, fault.word)),
            title=titled(instead, fault.spelling),
        )
    return Violation(
        "abbreviated-option",
        fault.span,
        f"{fault.spelling} is short for {full}, until a release adds another option with this prefix",
        f"write {full}",
        "abbreviated",
        change=written_at(written_in(fault), full),
        title=f"write {full}",
        safe=True,
    )


def _given_twice(view: ReleaseView, fault: Fault) -> Violation:
    first = fault.setting.word.site if fault.setting is not None else None
    return Violation(
        "given-twice",
        fault.span,
        f"{fault.spelling} is given twice, which {view.release} refuses",
        "delete one of them",
        "given again",
        related=[Related(first, "given first")] if first is not None else [],
    )


_FAULTS: dict[str, Callable[[ReleaseView, Fault], Violation]] = {
    "unknown-option": _unknown,
    "lacked-option": _lacked_option,
    "ambiguous-option": _ambiguous,
    "abbreviated-option": _abbreviated,
    "missing-value": _missing_value,
    "unexpected-value": _unexpected_value,
    "one-word": _one_word,
    "unexpected-argument": _argument,
    "missing-argument": _missing_argument,
    "config-file": _config_file,
    "stray-path": _stray_path,
    "ignored-model": _ignored_model,
    "ignored-option": _ignored_option,
    "exclusive": _exclusive,
    "given-twice": _given_twice,
}
"""Kind of a fault (servelint.engines.argv) -> the violation that it is."""


def _model_first(view: ReleaseView) -> list[Violation]:
    """What vLLM's command does with a model before argparse sees it: FlexibleArgumentParser.parse_args of each release."""
    arguments = view.config.reading.arguments
    settings = arguments.settings
    command = " ".join(view.record.command)
    if not view.record.dialect.model_first or not arguments.takes_model or not arguments.complete or "config" in settings:
        return []
    model, name = settings.get("model"), settings.get("served-model-name")
    later = view.at_least("0.11.1")
    if model is not None and view.at_least("0.8.3") and not later and model.word.text.flat == "--model":
        return [_model_as_option(view, model)]
    given = model.value.flat if model is not None and model.value is not None and not _in_file(model, view) else ""
    if arguments.positionals and _begins_comment(arguments.positionals[0]):
        return []
    if later and model is not None and given and arguments.positionals and _is_model(arguments.positionals[0]):
        message = f"{command} of {view.release} accepts one model, and gets two: --model and an argument"
        change = Change(drop=[model]) if arguments.positionals[0].text.flat == given else None
        written = arguments.positionals[0].text.flat
        advice = "delete --model and its value"
        if written != given:
            advice = f"keep one of them; if {written} is the value of an option, write the option before it"
        if not written:
            advice = (
                "delete the empty argument: where a variable leaves it, write ${NAME:?} to have the shell refuse an unset one"
            )
        return [Violation("unexpected-argument", model.word.text.span(), message, advice, change=change, safe=True)]
    first = view.config.launch.argv[0] if view.config.launch.argv else None
    if name is None or model is not None or first is None or first.many or not first.text.flat.startswith("-"):
        return []
    if not view.at_least("0.17"):
        return []
    message = f"{command} of {view.release} takes no --served-model-name where the model is not its first argument"
    return [Violation("missing-argument", name.word.text.span(), message, f"write {command} MODEL, then the options")]


def _in_file(model: Setting, view: ReleaseView) -> bool:
    """Whether a file of --config gives the model: the argument goes before it."""
    return all(word is not model.word for word in view.config.launch.argv)


def _is_model(word: Word) -> bool:
    return word.text.known and not word.text.flat.startswith("-")


def _deprecated(view: ReleaseView) -> list[Violation]:
    found: list[Violation] = []
    for setting in view.config.reading.arguments.every:
        option = setting.option
        if option is None or not option.deprecated or option.refuses:
            continue
        instead = in_place_of(view, setting.spelling, setting) or in_place_of(view, setting.name, setting)
        notice = " ".join(option.deprecated.split())
        advice = notice if notice != "it is deprecated" else "look for its replacement"
        found.append(
            Violation(
                "deprecated-option",
                head_of(setting.word),
                f"{setting.spelling} is deprecated in {view.release}",
                instead.text if instead is not None else advice,
                "deprecated",
                change=instead_of(view, instead, setting),
                title=titled(instead, setting.spelling),
                safe=instead is not None and instead.safe and (instead.idle or not instead.delete),
            )
        )
    return found


def _repeated(view: ReleaseView) -> list[Violation]:
    seen: dict[str, Setting] = {}
    found: list[Violation] = []
    if view.record.dialect.once:
        return found  # refused, not repeated
    for setting in view.config.reading.arguments.every:
        before = seen.get(setting.name)
        seen[setting.name] = setting
        option = setting.option
        if before is None or option is None or option.kind in (APPEND, LIST) or setting.name.partition(".")[2]:
            continue
        if view.record.overwritten and setting.name not in view.record.overwritten:
            continue
        since = view.record.overwritten_before.get(setting.name)
        if since is not None and view.at_least(since):
            continue
        if _content(before) is None or _content(setting) is None or _content(before) == _content(setting):
            continue
        place, first = setting.word.site, before.word.site
        if place is not None and first is not None and place.source is not first.source:
            continue  # the command line over its configuration file
        whole = view.config.launch.site
        if _inside(setting.word.text.span(), whole) and not _inside(before.word.text.span(), whole):
            continue  # the command over a macro or a variable, which others use as well
        found.append(
            Violation(
                "repeated-option",
                head_of(before.word),
                f"{before.spelling} is set twice with different values; the last one counts",
                "delete one of them",
                "has no effect",
                related=[Related(place, "counts")] if place is not None else [],
                change=Change(drop=[before]),
                title=f"delete the first {before.spelling}",
                safe=True,
            )
        )
    return found


def _inside(span: Span | None, whole: Span) -> bool:
    return span is not None and span.source is whole.source and whole.start <= span.start and span.end <= whole.end


def _back_again(view: ReleaseView) -> list[Violation]:
    """Options that this release takes and that some releases between it and older ones refuse."""
    found: list[Violation] = []
    for setting in view.config.reading.arguments.every:
        releases = view.catalog.releases
        gaps = view.catalog.gaps(setting.spelling) if setting.option is not None else []
        run = view.run_of([(back, len(releases) - 1, gone) for gone, back in gaps])
        if run is None:
            continue
        back, _, gone = run
        spell = releases[gone] if gone == back - 1 else f"{releases[gone]} to {releases[back - 1]}"
        instead = in_place_of(view, setting.spelling, setting)
        found.append(
            Violation(
                "option-came-and-went",
                head_of(setting.word),
                f"{view.name} {spell} refuse {setting.spelling}, which {releases[back]} accepts again",
                instead.text if instead is not None else "delete it, or name the release of the image",
                "depends on the release",
            )
        )
    return found


def _content(setting: Setting) -> object:
    if setting.value is not None:
        return setting.value.value
    return setting.on


# -- what a shell makes of a command, the same under every release


_QUOTES = ("'", '"')
_UNQUOTED = r"(?a)[\w./:=@%+-]+"
_SHELL_WORD = r"(?s)(?:[^\s\"'\\]|\\.|\"[^\"]*\"|'[^']*')+"


def word_violations(config: Config) -> list[Violation]:
    """The violations in a command that are the same under every release."""
    return [*(_blank_behind_backslash(config) or _cut(config)), *_literal_quotes(config)]


def escaped_blanks(config: Config) -> list[Span]:
    """The backslashes that make a word of the blank or the line end behind them, or a part of the next word."""
    words = [word for word in config.launch.argv if word.text.flat[:1].isspace() or word.text.flat == "\\"]
    return [word.site for word in words if word.site is not None and word.site.text[:1] == "\\"]


def expanded_braces(config: Config) -> list[Violation]:
    """JSON without quotes around it, of which a shell's brace expansion makes several words."""
    sites: dict[tuple[int, int], list[Word]] = {}
    for word in config.launch.argv:
        if word.site is not None and "{" in word.site.text and not set(word.text.flat) & {"{", HOLE}:
            sites.setdefault((word.site.start, word.site.end), []).append(word)
    found: list[Violation] = []
    for words in sites.values():
        site = words[0].site
        if site is None or len(words) < 2 or re.search(r'\{[^{}]*"[^{}]*,', site.text) is None:
            continue
        if re.fullmatch(_SHELL_WORD, site.text) is None:
            continue  # a call or a mapping, of which a reader makes several words
        start = site.text.index("{")
        plain = "'" not in site.text and "\\" not in site.text
        found.append(
            Violation(
                "malformed-json",
                site,
                f"this JSON is not quoted: the shell expands its braces and splits it into {len(words)} words",
                "put single quotes around the whole value",
                "expanded",
                change=written_at(site.sub(start, len(site.text)), f"'{site.text[start:]}'") if plain else None,
                safe=True,
            )
        )
    return found


def _blank_behind_backslash(config: Config) -> list[Violation]:
    """Backslashes that do not continue a line; what the words behind them then are is not worth a finding of its own."""
    found: list[Violation] = []
    name, cut = ENGINE_NAMES[config.launch.engine], config.launch.cut
    for site in escaped_blanks(config):
        blanks = re.match(r"\\[ \t]*(?=(\r?\n)?)", site.source.text[site.start :])
        width = blanks.end() if blanks is not None else 1
        span = site.sub(0, max(width, 1))
        if width > 1 and site.source.text.startswith("#", site.start + width):
            what = "a comment follows this backslash, so the line does not continue"
            advice, change = "put the comment on a line of its own before the command", None
        elif width > 1:
            what = "a blank follows this backslash, so the line does not continue"
            advice = "delete the blank after the backslash"
            change = written_at(site.sub(1, width), "")
        else:
            what = "the lines are joined before this backslash is read, so the blank becomes part of a word"
            advice, change = "delete the backslash", written_at(site.sub(0, 1), "")
        message = f"{what}: {name} gets different arguments"
        found.append(
            Violation("command-cut-short", span, message, advice, "does not continue the line", change=change, title=advice)
        )
    if found and found[-1].change is not None and cut is not None and (joined := _joined(config, cut)) is not None:
        found[-1].change = joined
    return found


_ELLIPSES = ("...", "…")
"""What a page writes for words that it leaves out: the command is not to be run as it stands."""


def _cut(config: Config) -> list[Violation]:
    cut, argv = config.launch.cut, config.launch.argv
    if cut is None or (argv and argv[-1].text.pieces and argv[-1].text.pieces[-1].expression in _ELLIPSES):
        return []
    first, *others = cut.text.split()
    given = {word.text.flat for word in argv}
    if first in given and given.issuperset(others):
        return []  # nothing is lost: the command has the same words
    name = ENGINE_NAMES[config.launch.engine]
    message = f"the command ends before {first}: it and everything after it never reach {name}"
    image = config.launch.image.span() if config.launch.image is not None else None
    if image is not None and image.source is cut.source and cut.start <= image.start < cut.end:
        message = f"the command ends before {first}: the container tool gets no image and starts nothing"
    elif not first.startswith("--") and not _is_option(config, first):
        return []  # a list of explanations behind the command, such as "-gpus  the GPUs to use"
    advice = "end every line except the last with the continuation character, with no comment or blank line after it"
    title = "end the line before with a backslash"
    label = "not part of the command"
    return [Violation("command-cut-short", cut, message, advice, label, change=_joined(config, cut), title=title)]


def _is_option(config: Config, spelling: str) -> bool:
    """Whether some release has an option of this spelling, or one with a number attached to it."""
    catalog = catalogs.load(config.launch.engine)
    return catalog is None or bool(catalog.spelled(re.sub(r"=.*|(?<=^-[A-Za-z])\d+$", "", spelling)))


def _joined(config: Config, cut: Span) -> Change | None:
    """A backslash at the end of the line before, if only the line end stands between."""
    words = [word for word in (*config.launch.verb, *config.launch.argv) if word.text.flat.strip() or word.many]
    last = words[-1].site if words else None
    source = cut.source
    if last is None or last.source is not source or last.end > cut.start or source.path.endswith((".bat", ".cmd", ".ps1")):
        return None
    gap = source.text[last.end : cut.start]
    line = re.fullmatch(r"([ \t]*(?:\\[ \t]+)?)\r?\n[ \t]*", gap)
    return Change(goes_on=Span(source, last.end, last.end + len(line[1]))) if line is not None else None


def _literal_quotes(config: Config) -> list[Violation]:
    """Quotes in the value of a variable: a shell removes only those that are written in the command itself."""
    found: list[Violation] = []
    for setting in config.reading.arguments.every:
        text, option = setting.value, setting.option
        if text is None or (option is not None and (option.json or "json" in option.types)):
            continue
        flat = text.flat
        if flat[:1] not in _QUOTES or len(flat) < 2 or (flat[-1:] != flat[:1] and " " in flat):
            continue
        span = text.span()
        if span is None or not text.known:
            continue
        message = f"the value of {setting.spelling} is {flat}: the quotes are part of it, since no shell removes them here"
        advice = "write the value without these quotes"
        change = written_at(text.written, flat[1:-1]) if re.fullmatch(_UNQUOTED, flat[1:-1]) else None
        found.append(Violation("literal-quotes", span, message, advice, "includes the quotes", change=change))
    return found
