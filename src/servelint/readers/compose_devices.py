"""GPUs that a compose service names: by their ids, by CDI names (`nvidia.com/gpu=0`), as Swarm's generic resources."""

from __future__ import annotations

from servelint.readers.compose_file import File, number
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_CDI = "nvidia.com/gpu="
_OVERLAYS = [
    f"{base}{separator}{kind}.{ending}"
    for base in ("docker-compose", "compose")
    for separator in (".", "-")
    for kind in ("gpu", "gpus", "nvidia", "cuda")
    for ending in ("yml", "yaml")
]
"""Names of files that are given with `-f` beside the main one where there are GPUs."""


def added_elsewhere(file: File) -> bool:
    """Whether a file beside this one looks as if it adds the GPUs."""
    name = file.source.path.rpartition("/")[2]
    return any(one != name and file.neighbours.read(one) is not None for one in _OVERLAYS)


def identified(file: File, node: Node) -> int | None:
    """How many devices a list of ids names; None if all, or if it is not known."""
    listed = file.items(node)
    ids = [value for item in listed if (value := file.text(item).value)]
    return _count(ids) if ids and len(ids) == len(listed) else None


def _count(ids: list[str]) -> int | None:
    # one item may name several: the runtime joins them with commas
    each = [one.strip().removeprefix(_CDI) for joined in ids for one in joined.split(",")]
    return None if "all" in each else len(each)


def counts(file: File, item: Node) -> list[int | None]:
    """The GPUs of an item of `devices` or of `generic_resources`: how many there are, None if all; none of other devices."""
    fields = yaml.entries(item)
    if "discrete_resource_spec" in fields:
        spec = yaml.entries(fields["discrete_resource_spec"][1])
        kind = file.optional(spec, "kind")
        return [number(file, spec, "value")] if kind is not None and "gpu" in kind.flat.lower() else []
    device = file.optional(fields, "source") or file.text(item)
    if not device.flat.startswith(_CDI):
        return []
    return [_count([device.flat]) if device.known else None]
