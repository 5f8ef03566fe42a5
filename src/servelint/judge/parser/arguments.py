"""Complaints about the words of an argv: options that the release lacks, cannot tell apart, or takes for others."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.core.launch import Word
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Fault, Setting, head_of
from servelint.engines.catalog import APPEND, LIST
from servelint.fixes.change import Change, written_at
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.repairs import (
    after_switch,
    instead_of,
    setting_of,
    switched_off,
    titled,
    titled_switch,
    two_words,
    without_value,
    written_in,
)
from servelint.judge.parser.replacements import replacement
from servelint.judge.parser.wording import Here, Life, listed, similar


def complaints(here: Here) -> list[Complaint]:
    found = [_fault(here, fault) for fault in here.config.reading.arguments.faults]
    return [
        *[one for one in found if one is not None],
        *_model_first(here),
        *_deprecated(here),
        *_repeated(here),
        *_back_again(here),
    ]


def _fault(here: Here, fault: Fault) -> Complaint | None:
    if fault.kind == "unknown-option":
        return _unknown(here, fault)
    if fault.kind == "ambiguous-option":
        return _ambiguous(here, fault)
    if fault.kind == "abbreviated-option":
        return _abbreviated(here, fault)
    release = here.release
    if fault.kind == "missing-value":
        return Complaint(
            "missing-value", fault.span, f"{fault.spelling} takes a value and has none", "give it a value", "without a value"
        )
    if fault.kind == "unexpected-value":
        return Complaint(
            "unexpected-value",
            fault.span,
            f"{fault.spelling} is a switch of {release} and takes no value",
            _switch(fault),
            "a switch",
            change=without_value(here, fault.setting),
            title="" if fault.setting is None or switched_off(fault.setting) is None else _switch(fault),
            safe=True,
        )
    if fault.kind == "one-word":
        return Complaint(
            "one-word",
            fault.span,
            f"{fault.spelling} and its value are one word, which {release} takes for an argument",
            "make two words of it: in a list, two items",
            "one word",
            change=two_words(fault),
            title=f"write {fault.spelling} and its value as two words",
            safe=True,
        )
    if fault.kind == "unexpected-argument":
        return _argument(here, fault)
    if fault.kind == "missing-argument":
        return Complaint(
            "missing-argument", None, f"{release} does not start without {fault.spelling}", f"give {fault.spelling}"
        )
    if fault.kind == "config-file":
        message = f"{here.release} does not start: the file of --config is not to be used, {fault.names[0]}"
        return Complaint("invalid-value", fault.span, message, "name a YAML file that is there", "this file")
    if fault.kind == "stray-path":
        return Complaint(
            "unexpected-argument",
            fault.span,
            f"{here.release} reads {fault.spelling} as a key of a JSON option, because of its dash and its dot",
            "write the option, an equals sign and the value as one word",
            "not read as a value",
        )
    if fault.kind == "ignored-model":
        return Complaint(
            "ignored-model",
            fault.span,
            f"{_without_model(here)} does not look at the positional {fault.spelling}: it serves its default model",
            f"write --model before it, or start {' '.join(here.record.command)}",
            "not looked at",
            change=Change(instead=([fault.word], ["--model", fault.spelling])) if fault.word is not None else None,
            title=f"write --model {fault.spelling}",
        )
    if fault.kind == "exclusive":
        other = next((one for one in here.config.reading.arguments.every if one.spelling == fault.names[0]), None)
        place = other.word.site if other is not None else None
        return Complaint(
            "exclusive-options",
            fault.span,
            f"{release} takes either {fault.names[0]} or {fault.spelling}",
            "delete one of them",
            related=[Related(place, "and this")] if place is not None else [],
        )
    return None


def _without_model(here: Here) -> str:
    """The module that starts the engine's server and uses no positional model."""
    return next(start.modules[0] for start in here.record.starts if not start.takes_model)


def _switch(fault: Fault) -> str:
    value = fault.setting.value.value if fault.setting is not None and fault.setting.value is not None else None
    if value is not None and value.lower() in ("false", "0", "no", "off"):
        return f"delete it, or write {fault.spelling.replace('--', '--no-', 1)} where the release has that"
    return f"write {fault.spelling}"


def _argument(here: Here, fault: Fault) -> Complaint:
    argv = here.config.launch.argv
    first, second = (argv[index].value if index < len(argv) else None for index in (0, 1))
    begun = next((one for one in here.record.starts if one.verbs and first in (*one.programs, one.verbs[0])), None)
    if begun is not None and fault.spelling in (*begun.programs, *begun.verbs):
        return Complaint(
            "unexpected-argument",
            fault.span,
            "the image starts the engine itself, so that these words are arguments of it",
            "delete them from the command, or set the entrypoint",
            "an argument",
            change=Change(words=argv[: 2 if first in begun.programs and second == begun.verbs[0] else 1]),
            title="delete the words that the image starts with already",
        )
    shown = fault.word.text.shown if fault.word is not None else fault.spelling
    return Complaint(
        "unexpected-argument",
        fault.span,
        f"{shown!r} belongs to no option; {here.release} refuses it",
        "delete it, or quote what it is a part of",
        "no option's value",
        change=after_switch(here, fault),
        title=titled_switch(here, fault),
        safe=True,
    )


def _unknown(here: Here, fault: Fault) -> Complaint:
    instead = replacement(here.engine, fault.spelling.lstrip("-"))
    runs = here.catalog.spelled(fault.spelling)
    if runs:
        life = Life(here.catalog, runs, here.index)
        gone = life.before is not None
        advice = instead.text if instead is not None and gone else f"delete it, or use {life.use(here.name)}"
        change = instead_of(here, instead, setting_of(here, fault.word)) if instead is not None and gone else None
        return Complaint(
            "removed-option" if gone else "option-not-yet",
            fault.span,
            f"{fault.spelling} {life.told(here.name)}; {here.release} refuses it",
            advice,
            "not an option of this release",
            change=change,
            title=titled(instead, fault.spelling),
            safe=instead.safe if instead is not None else False,
        )
    name, sign, _ = fault.spelling.partition("=")
    if sign and here.catalog.table(here.index).find(name) is not None:
        message = f"{here.release} takes no value after an equals sign, and refuses {fault.spelling}"
        return Complaint("unknown-option", fault.span, message, f"write {name} and the value as two words", "one word")
    other = _other_engine(here.engine, fault.spelling)
    close = similar(fault.spelling, here.catalog.table(here.index).lines)
    advice = instead.text if instead is not None else f"write {close}, if that is meant" if close else "delete it"
    change = written_at(written_in(fault), close) if close and instead is None else None
    if other is not None:
        message = f"{fault.spelling} is an option of {ENGINE_NAMES[other]}; {here.release} refuses it"
        return Complaint(
            "option-of-other-engine",
            fault.span,
            message,
            advice,
            f"not an option of {here.name}",
            change=change,
            title=f"write {close}" if close else "",
        )
    return Complaint(
        "unknown-option",
        fault.span,
        f"{fault.spelling} is no option of {here.release}",
        advice,
        "no option",
        change=change,
        title=f"write {close}" if close else "",
        new=instead is None and close is None,
    )


def _other_engine(engine: str, spelling: str) -> str | None:
    for other in ENGINE_NAMES:
        catalog = catalogs.load(other) if other != engine else None
        if catalog is not None and spelling in catalog.spellings():
            return other
    return None


def _ambiguous(here: Here, fault: Fault) -> Complaint:
    runs = here.catalog.spelled(fault.spelling)
    was = f" {Life(here.catalog, runs, here.index).told(here.name)}, and" if runs else ""
    instead = replacement(here.engine, fault.spelling.lstrip("-")) if runs else None
    return Complaint(
        "ambiguous-option",
        fault.span,
        f"{fault.spelling}{was} may be short for {listed(fault.names, 4)}; {here.release} refuses it",
        instead.text if instead is not None else "write the option in full",
        "may be several options",
        change=instead_of(here, instead, setting_of(here, fault.word)) if instead is not None else None,
        title=titled(instead, fault.spelling),
        safe=instead is not None and instead.safe,
    )


def _abbreviated(here: Here, fault: Fault) -> Complaint:
    runs = here.catalog.spelled(fault.spelling)
    full = fault.names[0]
    if runs:
        life = Life(here.catalog, runs, here.index)
        instead = replacement(here.engine, fault.spelling.lstrip("-"))
        return Complaint(
            "taken-for-another",
            fault.span,
            f"{fault.spelling} {life.told(here.name)}; {here.release} takes it for {full}",
            f"delete it, or write {full} if that is meant",
            f"read as {full}",
            change=instead_of(here, instead, setting_of(here, fault.word)) if instead is not None else None,
            title=titled(instead, fault.spelling),
        )
    return Complaint(
        "abbreviated-option",
        fault.span,
        f"{fault.spelling} is short for {full}, until a release has another option that starts so",
        f"write {full}",
        "abbreviated",
        change=written_at(written_in(fault), full),
        title=f"write {full}",
        safe=True,
    )


def _model_first(here: Here) -> list[Complaint]:
    """vLLM's command looks for the model before argparse does: FlexibleArgumentParser.parse_args of each release."""
    arguments = here.config.reading.arguments
    settings = arguments.settings
    command = " ".join(here.record.command)
    if not here.record.dialect.model_first or not arguments.takes_model or not arguments.complete or "config" in settings:
        return []
    model, name = settings.get("model"), settings.get("served-model-name")
    refused = here.config.at_least("0.8.3") and not here.config.at_least("0.11.1")
    if refused and model is not None and model.word.text.flat == "--model":
        message = f"{command} of {here.release} takes the model as its first argument, not by --model"
        first_of_all = here.config.launch.argv[:1] == [model.word]
        return [
            Complaint(
                "missing-argument",
                model.word.text.span(),
                message,
                f"write {command} MODEL, without --model",
                change=Change(words=[model.word]) if first_of_all else None,
                safe=True,
            )
        ]
    moved = here.config.at_least("0.11.1") and model is not None and model.value is not None and model.value.flat
    if moved and model is not None and arguments.positionals and _is_model(arguments.positionals[0]):
        message = f"{command} of {here.release} is given the model twice, by --model and as an argument, and takes it once"
        same = model.value is not None and arguments.positionals[0].text.flat == model.value.flat
        return [
            Complaint(
                "unexpected-argument",
                model.word.text.span(),
                message,
                "delete --model and its value",
                change=Change(drop=[model]) if same else None,
                safe=True,
            )
        ]
    first = here.config.launch.argv[0] if here.config.launch.argv else None
    if name is None or model is not None or first is None or first.many or not first.text.flat.startswith("-"):
        return []
    if not here.config.at_least("0.17"):
        return []
    message = f"{command} of {here.release} takes no --served-model-name where the model is not its first argument"
    return [Complaint("missing-argument", name.word.text.span(), message, f"write {command} MODEL, then the options")]


def _is_model(word: Word) -> bool:
    return word.text.known and not word.text.flat.startswith("-")


def _deprecated(here: Here) -> list[Complaint]:
    found: list[Complaint] = []
    for setting in here.config.reading.arguments.every:
        option = setting.option
        if option is None or not option.deprecated or option.refuses:
            continue
        instead = replacement(here.engine, setting.name)
        told = " ".join(option.deprecated.split())
        found.append(
            Complaint(
                "deprecated-option",
                head_of(setting.word),
                f"{setting.spelling} is deprecated in {here.release}",
                instead.text
                if instead is not None
                else told
                if told != "it is deprecated"
                else "look for what takes its place",
                "deprecated",
                change=instead_of(here, instead, setting) if instead is not None else None,
                title=titled(instead, setting.spelling),
                safe=instead is not None and instead.safe and (instead.idle or not instead.delete),
            )
        )
    return found


def _repeated(here: Here) -> list[Complaint]:
    seen: dict[str, Setting] = {}
    found: list[Complaint] = []
    for setting in here.config.reading.arguments.every:
        before = seen.get(setting.name)
        seen[setting.name] = setting
        option = setting.option
        if before is None or option is None or option.kind in (APPEND, LIST) or setting.name.partition(".")[2]:
            continue
        if _content(before) is None or _content(setting) is None or _content(before) == _content(setting):
            continue
        place, first = setting.word.site, before.word.site
        if place is not None and first is not None and place.source is not first.source:
            continue  # the command line over its configuration file
        found.append(
            Complaint(
                "repeated-option",
                head_of(before.word),
                f"{before.spelling} is given again with another value, which is the one that counts",
                "delete one of them",
                "has no effect",
                related=[Related(place, "counts")] if place is not None else [],
                change=Change(drop=[before]),
                title=f"delete the first {before.spelling}",
                safe=True,
            )
        )
    return found


def _back_again(here: Here) -> list[Complaint]:
    """Options that the release takes and that releases before it refused, after they had been taken."""
    found: list[Complaint] = []
    for setting in here.config.reading.arguments.every:
        gaps = here.catalog.gaps(setting.spelling) if setting.option is not None else []
        gap = next((one for one in reversed(gaps) if one[1] <= here.index), None)
        if gap is None:
            continue
        gone, back = gap
        releases = here.catalog.releases
        spell = releases[gone] if gone == back - 1 else f"{releases[gone]} to {releases[back - 1]}"
        instead = replacement(here.engine, setting.spelling.lstrip("-"))
        found.append(
            Complaint(
                "option-came-and-went",
                head_of(setting.word),
                f"{here.name} {spell} refuse {setting.spelling}, which {releases[back]} takes again",
                instead.text if instead is not None else "delete it, or name the release of the image",
                "depends on the release",
            )
        )
    return found


def _content(setting: Setting) -> object:
    if setting.value is not None:
        return setting.value.value
    return setting.on
