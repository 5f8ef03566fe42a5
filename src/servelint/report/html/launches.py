"""Launch cards: which engine and release a launch starts, which model on which GPUs, and where it stands."""

from __future__ import annotations

from copy import copy

from servelint.core.launch import Launch
from servelint.core.secrets import without
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.launch_files import carry
from servelint.filters.masking import secrets_of
from servelint.report.html.markup import escaped
from servelint.report.html.words import NAMED_BY
from servelint.report.places import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Versions = Callable[[str], dict[str, str]]
    """path -> the releases of the engines where a file does not say."""

_UNSAID = '<span class="unsaid">not said</span>'
_MODELS = ("hf-repo", "model-url", "model-id")
"""Options that say where the model comes from, of engines that take more than one (llama.cpp) or call it so (TGI)."""
_LONGEST = 200


def place(launch: Launch) -> str:
    return f"{relative(launch.source.path)}:{launch.line}"


def title(launch: Launch) -> str:
    """ "services.llm, line 12"."""
    where = f"line {launch.line}" if launch.line == launch.end_line else f"lines {launch.line}\u2013{launch.end_line}"
    return f"{escaped(_cut(launch.name))}, {where}" if launch.name else where[:1].upper() + where[1:]


def facts(launch: Launch, versions: Versions) -> str:
    """What is known of a launch, as terms and what they are."""
    secrets = secrets_of([launch])
    model, gpus = _read(launch)
    rows = [
        ("Engine", escaped(ENGINE_NAMES[launch.engine])),
        ("Release", _release(launch, versions(launch.source.path).get(launch.engine))),
        ("Model", _known(model, secrets)),
        ("GPUs", _known(gpus, secrets)),
    ]
    if launch.image is not None:
        rows.append(("Image", _known(launch.image.shown, secrets)))
    return f'<dl class="facts">{"".join([f"<div><dt>{term}</dt><dd>{said}</dd></div>" for term, said in rows])}</dl>'


def _known(text: str, secrets: tuple[str, ...]) -> str:
    return f"<code>{escaped(_cut(without(text, secrets)))}</code>" if text else _UNSAID


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\u2026"


def _release(launch: Launch, given: str | None) -> str:
    """The release that a launch is judged by, and what names it."""
    claim = launch.release
    if claim.release is not None:
        return (
            f"<code>{escaped(claim.release)}</code>, {NAMED_BY[claim.how]}" if claim.how in NAMED_BY else escaped(claim.release)
        )
    if given is not None:
        return f"<code>{escaped(given)}</code>, {NAMED_BY['settings']}"
    return "the newest at the time of the pull" if claim.rolling else _UNSAID


def _read(launch: Launch) -> tuple[str, str]:
    """The model as it is written, and the GPUs; "" where nothing tells."""
    bare = copy(launch)
    bare.open = carry(launch)  # as it comes from other processes: the page is the same however many there are
    release = launch.release.release
    (config,) = configs(bare, [release] if release is not None else [])
    model = config.reading.model
    named = [setting.value for name in _MODELS if (setting := config.setting(name)) is not None and setting.value is not None]
    shown = model.shown if model is not None else named[0].shown if named else ""
    count, container = config.operand("gpu.count").value, launch.container
    product = container.settings.get("gpu_product") if container is not None else None
    name = config.gpu_name or (product.shown if product is not None else "")
    many = str(count) if count is not None else ""
    return shown, f"{many} \u00d7 {name}" if many and name else many or name
