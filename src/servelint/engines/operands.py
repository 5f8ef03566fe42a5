"""The operands that a rule can ask for, with their types and meanings: what is computed registers where it is computed."""

from __future__ import annotations

from servelint import hardware, models
from servelint.engines import ENGINE_NAMES, ENGINES, stack
from servelint.engines import catalog as catalogs
from servelint.engines.config import CONTAINER, facts_of

_MODEL = ("text", "the model as the launch names it")
_REPOSITORY = ("text", "the model where it is named as a repository of a hub")


class Described:
    """An operand, or a form of operands.

    Attributes:
        name: as a rule writes it; of a form with its variable part in capitals.
        type: bool, number or text; any of a form.
        meaning: one line.
        engines: the ids of the engines that have it.
    """

    __slots__ = ("engines", "meaning", "name", "type")

    def __init__(self, name: str, type: str, meaning: str, engines: tuple[str, ...]) -> None:
        self.name = name
        self.type = type
        self.meaning = meaning
        self.engines = engines


def registered() -> list[Described]:
    """The forms of the operands that are written, then every operand that is computed."""
    every = tuple(ENGINE_NAMES)
    drafting = tuple(engine for engine in every if "draft-model" in facts_of(engine))
    found = [*_written(every), Described("model.repository", *_REPOSITORY, every)]
    found += [Described(f"model.{name}", *fact, every) for name, fact in models.FACTS.items()]
    for name, (kind, _) in models.FACTS.items():
        found.append(Described(f"draft.{name}", kind, f"model.{name} of the draft model", drafting))
    found += [Described(f"gpu.{name}", *fact, every) for name, fact in hardware.FACTS.items()]
    found += [Described(f"container.{name}", *fact, every) for name, fact in CONTAINER.items()]
    found += [Described(f"stack.{name}", *fact, every) for name, fact in stack.FACTS.items()]
    return [*found, *_effective(every)]


def _effective(engines: tuple[str, ...]) -> list[Described]:
    """What engines make of their settings; what means the same in several stands there once."""
    shared: dict[tuple[str, str, str], list[str]] = {}
    for engine in engines:
        for name, fact in facts_of(engine).items():
            shared.setdefault((name, fact.type, fact.meaning), []).append(engine)
    return [Described(f"effective.{name}", kind, what, tuple(of)) for (name, kind, what), of in sorted(shared.items())]


def _written(engines: tuple[str, ...]) -> list[Described]:
    return [
        Described("OPTION", "any", "an option by its canonical name: kv-cache-dtype", engines),
        Described("OPTION.KEY", "any", "a key of a JSON option: speculative-config.method", engines),
        Described("env.NAME", "text", "an environment variable of the launch", engines),
        Described("model", *_MODEL, engines),
        Described(
            "launcher.OPTION",
            "any",
            "an option of the program that starts the engine, such as Dynamo's worker",
            _with_launchers(),
        ),
        Described(
            "prefill.OPTION", "any", "any operand of the launch in the same file that prefills for this one", _with_roles()
        ),
    ]


def _with_launchers() -> tuple[str, ...]:
    return tuple(name for name, engine in ENGINES.items() if any(one.own for one in engine.launchers.values()))


def _with_roles() -> tuple[str, ...]:
    return tuple(name for name, engine in ENGINES.items() if engine.roles[0])


def fault(engine: str, name: str) -> str | None:
    """Why a rule of an engine cannot ask for an operand; None if it can."""
    head, dot, rest = name.partition(".")
    if head == "prefill" and dot and engine in _with_roles():
        return fault(engine, rest)
    if head == "launcher" and dot:
        own = {option for one in ENGINES[engine].launchers.values() for option in one.own}
        return None if rest in own else f"no program that starts {ENGINE_NAMES[engine]} has an option {rest!r}"
    if head == "effective" and dot:
        if rest in facts_of(engine):
            return None
        return f"{ENGINE_NAMES[engine]} has no operand {name}; servelint rules --operands lists all operands"
    known = {
        "model": (*models.FACTS, "repository"),
        "draft": models.FACTS if "draft-model" in facts_of(engine) else (),
        "gpu": hardware.FACTS,
        "container": CONTAINER,
        "stack": stack.FACTS,
    }.get(head)
    if known is not None and dot:
        return None if rest in known else f"there is no operand {name}; servelint rules --operands lists all operands"
    if head in ("model", "env"):
        return None if not dot or rest else f"{name} names no variable"
    catalog = catalogs.load(engine)
    if catalog is None or catalog.runs_of(head):
        return None
    return f"no release of {engine} has an option {head!r}"
