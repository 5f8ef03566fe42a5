"""KubeAI's `Model`: an engine, where the model comes from, and the engine's own flags."""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, Word
from servelint.core.text import Text, unknown
from servelint.engines import images
from servelint.engines.registry import Engine, called
from servelint.readers.kubernetes import environment, pods
from servelint.readers.kubernetes.kustomize_images import Overrides
from servelint.readers.kubernetes.objects import File, Object, section, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

_PROFILE = re.compile(r"(?P<name>(?:nvidia|amd)-gpu-[\w.-]+):(?P<count>\d{1,4})")
_SOURCE = re.compile(r"hf://")


def of_object(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    """The launch that KubeAI makes: `--model=REF --served-model-name=NAME`, then the flags as given."""
    spec = section(one.fields, "spec")
    engine = called("kubeai", string(spec, "engine") or "")
    if engine is None or "url" not in spec:
        return []
    given = environment.of_container(file, spec)
    _, args = pods.words(file.source, spec, given)
    image = pods.image_of(pods.Pod(file, spec, one.label, overrides), spec)
    launch = Launch(
        source=file.source,
        engine=engine.id,
        argv=[*_own(file, one, spec, engine), *(args or [])],
        site=pods.extent(file.source, [spec[key] for key in ("url", "engine", "args") if key in spec]),
        env=given.variables,
        name=one.label,
        release=images.identify(image).claims.get(engine.id) if image is not None else None,
        container=_container(file, spec, image),
        open_env=given.open,
    )
    environment.show_injected(launch, given)
    return [launch]


def _own(file: File, one: Object, spec: Entries, engine: Engine) -> list[Word]:
    """The words that the operator puts in front, as engine_vllm.go has them."""
    node = spec["url"][1]
    site = yaml.span(file.source, node)
    url = yaml.text(file.source, node)
    scheme = _SOURCE.match(url.flat)
    if scheme is None or "cacheProfile" in spec:
        model = Text((unknown(url.shown, site),))  # a folder or an address that only the cluster knows
    else:
        query = url.flat.find("?")
        model = url.cut(scheme.end(), None if query == -1 else query)
    words = [Word(Text.join((Text.of(f"--{engine.model_option}=", None), model)), site)]
    metadata = section(one.fields, "metadata")
    if engine.served_name_option and one.name and "name" in metadata:
        name = metadata["name"][1]
        served = Text.join((Text.of(f"--{engine.served_name_option}="), yaml.text(file.source, name)))
        words.append(Word(served, yaml.span(file.source, name)))
    return words


def _container(file: File, spec: Entries, image: Text | None) -> Container:
    """What the profile of a Model says: `nvidia-gpu-l4:2`."""
    if "resourceProfile" not in spec:
        return Container(image)
    text = yaml.text(file.source, spec["resourceProfile"][1])
    profile = _PROFILE.fullmatch(text.flat)
    if profile is None:
        return Container(image)
    return Container(image, {"gpu_product": text.cut(*profile.span("name"))}, int(profile.group("count")), True)
