"""Memory plans of launches for reports: for which releases a launch is planned, and equal launches planned once."""

from __future__ import annotations

from copy import copy

from servelint import memory
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.text import Text
from servelint.engines.config import Config
from servelint.engines.snapshot import Carried, carry
from servelint.files.directives import name_gpus
from servelint.judge.releases import planned_releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.plan import MemoryPlan
    from servelint.settings.files import SettingsSource


def planned_for(launch: Launch, settings: Settings) -> tuple[list[Config], str | None]:
    """Return the launch under each release to plan for, the newest last, and a note where no release is pinned."""
    found, note = planned_releases(launch, settings.engine_versions.get(launch.engine))
    if note is not None and not launch.release.rolling:
        note = f"{note}; say --engine-version {launch.engine}=..."
    return found, note


class Plans:
    """The plan of each launch whose GPU is named. Equal launches are planned once: most launches of a folder are equal."""

    __slots__ = ("_asked", "_known")

    def __init__(self, asked: SettingsSource) -> None:
        self._asked = asked
        self._known: dict[object, MemoryPlan | None] = {}

    def __call__(self, launch: Launch) -> MemoryPlan | None:
        """Return the plan of a launch; None where no GPU is named, or where something that the plan needs is not known."""
        if launch.engine not in memory.PLANNED or launch.fragment:
            return None
        settings = self._asked.of(launch.source.path)
        bare = copy(launch)
        bare.open = carry(launch)  # as other processes send it: the plan does not depend on how many there are
        name_gpus(bare, settings)
        if not bare.gpu and not _product(bare):
            return None
        key = content(bare, settings.engine_versions.get(launch.engine))
        if key not in self._known:
            self._known[key] = _planned(bare, settings)
        return self._known[key]


def _planned(launch: Launch, settings: Settings) -> MemoryPlan | None:
    launches, note = planned_for(launch, settings)
    if launches[-1].operand("gpu.memory-gib").value is None:
        return None
    from servelint.memory.plan import UNKNOWN

    plan = memory.plan_over(launches)
    if plan.missing or plan.verdict == UNKNOWN or plan.gpu_gib is None or plan.kv_gib is None:
        return None  # figures that do not come from the launch would mislead
    if note is not None:
        plan.notes.append(note)
    return plan


def content(launch: Launch, release: str | None) -> object:
    """Return what a plan depends on: launches for which it is equal have the same plan."""
    container = launch.container
    hidden = None
    if container is not None:
        hidden = container.visible_gpus, container.reserved, _product(launch)
    return (
        launch.engine,
        release,
        (launch.release.release, launch.release.rolling),
        tuple([(_written(word.text), word.many) for word in (*launch.verb, *launch.argv)]),
        tuple([(name, _written(one.value) if one.value is not None else None) for name, one in sorted(launch.env.items())]),
        launch.open_env,
        launch.folder,
        tuple([(name, _written(text)) for name, text in launch.open.texts.items()]) if isinstance(launch.open, Carried) else (),
        (launch.gpu, launch.gpu_count, launch.gpu_site is not None),
        hidden,
    )


def _written(text: Text) -> tuple[str, str | None]:
    return text.shown, text.value


def _product(launch: Launch) -> tuple[str, str | None] | None:
    product = launch.container.settings.get("gpu_product") if launch.container is not None else None
    return _written(product) if product is not None else None
