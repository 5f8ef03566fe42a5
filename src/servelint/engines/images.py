"""Container images: which engine an image holds, which release its tag names, and what it starts by itself."""

from __future__ import annotations

import re
from copy import copy
from functools import lru_cache

from servelint.core.data import load_data
from servelint.core.launch import ReleaseClaim
from servelint.core.text import HOLE, TracedText
from servelint.engines.registry import ENGINES, Engine, EntryPoint, ImageFamily, Wrapper, derived
from servelint.engines.releases import NEVER, NEWER, OLDER, known_releases, place, release_key

_RELEASE = (
    r"^v?(?P<release>\d+\.\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?)"
    r"(?:(?!.*(?:20\d{6}|[-_](?:dev|nightly)(?:[-_]|$)))(?:[-_]|\.(?!dev|nightly)[a-z]).*)?$"
)
"""A tag that names a release; one that is dated, or of a development version, names none."""
_HOUSE_RELEASE = (
    r"^v?(?P<release>\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?(?:\.post\d+)?)"
    r"(?:(?!.*(?:20\d{6}|[-_](?:dev|nightly)(?:[-_]|$)))(?:[-_]|\.0_|\.[a-z]).*)?$"
)
"""The same in the tags of house images (those of neither the engine's makers nor a known product), which may have a number
of their own behind the release: `v0.7.3.self.post1`, `0.8.5.0_cu128`."""
_NOT_THEIR_OWN = "0.4.0"
"""The least number in the tag of a house image that is taken for the engine's: lower ones are more often the image's own."""
_DEVICES = (
    r"cu\d|cuda|x86|amd|aarch64|arm|ubuntu|ubi|rhel|debian|alpine|openeuler|py\d|torch|runtime|slim|full|dev|release|nightly|latest"
    r"|server|openai|cpu|gpu|igpu|xpu|npu|tpu|hpu|xeon|intel|nvidia|gaudi|neuron|rocm|hip|musa|vulkan|sycl|openvino|mi\d|gfx\d"
    r"|h?g?b\d|gh\d|a[235](?![0-9])|310p|jetson|l4t|thor|orin|spark|deepep"
)
_ROLLING = (
    rf"^(?:latest|nightly|dev|main|edge)(?:[-_.](?!.*(?:[0-9a-f]{{7}}|20\d\d[-_.]\d\d?[-_.]\d\d?))(?:(?:{_DEVICES})[^-_.]*|\d{{1,2}})(?=[-_.]|$))*$"
    r"|^(?:cu\d+|rocm|xpu|cpu|arm64|aarch64)-(?:nightly|latest)$"
)
"""A tag that is moved to newer images. One that says more is of another build: `dev-inkling-small`, `nightly-sep28`."""
_SHORT = r"^v?(?P<release>\d+\.\d+)$"
"""A tag of two numbers: of a series of releases, or a release that has lost a dot."""
_BUILD = (
    r"cu\d|cuda|x86_64|amd64|aarch64|arm64|ubuntu|py\d|torch|runtime|slim|dev|release|cpu|xpu|npu|xeon|rocm|mi\d|h?g?b\d|gh\d"
    r"|a[23]|\d"
)
"""How a tag goes on behind the release where the engine's makers built the image for some system or processor."""
_PULLED = r"(?:.*/)?(?:[\w.-]+\+)*(?P<name>[\w.-]+?)(?:[_+]|-(?=v\d))(?P<tag>v?\d[\w.-]*)\.(?:sif|simg|sqsh|squashfs)"
"""The files that `apptainer pull` and `enroot import` make: `vllm-openai_v0.19.1.sif`, `vllm+vllm-openai+v0.19.1.sqsh`."""
_FILE = (
    r"(?:.*/)?(?P<name>[A-Za-z][\w-]*?)[-_]?v?(?P<release>\d+\.\d+(?:\.\d+)?(?:\.?(?:post|rc)\d+)?)"
    r"(?:[-_+.][\w.+-]*)?\.(?:sif|simg|sqsh)"
)
"""Such a file that someone has named: `vllm-0.19.1.sif`, `vllm0.12_cu131_arm_custom.sif`."""
OF_SERIES = r"(?:.*/)?(?P<name>[\w-]+?)[-.]cu\d+\.(?P<release>\d+-\d+)\.ubuntu\d+(?:\.py\d+)?"
"""Google's images have the series in the name: `huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311` of 2.3."""
_NUMBERED = r"(?:^|[-_.])(?P<release>b\d{4,6})(?=[-_.]|$)"
"""A numbered build in any tag: `full-b8667-rocm-6.3.3`, `llama.cpp-b6356_rocm6.4.3_server`."""
_VARIANT = r"-(?:cu(?:da)?\d+|efa|amd64|arm64|aarch64|gpu|cpu|a[235]|310p|openeuler|\d{10})(?:-.*)?$"
"""What builds of one release for several devices have behind it."""
_IN_TAG = r"(?:^|[-_.])(?:{})[-_]?v?(?P<release>\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)(?=$|[-_+]|\.(?!dev))"
"""An engine and its release in the tag of an image that holds more: `0.3.7-sglang0.5.5.post3-deepep`."""
_VARIABLE = r"\$\{?(?P<name>[A-Za-z_]\w*)\}?"
"""What stands for a whole image and may name the engine: `${VLLM_IMAGE}`."""
_NO_SERVER = r"router|gateway|proxy|bench|client|exporter|operator|omni|ascend|mock|simulator|(?:^|[-_/])sim(?:$|[-_:])"
"""Words in the names of house images that hold no server, or one that someone has changed."""


class Image:
    """What an image's name says.

    Attributes:
        engine: the engine's id; None if the image holds none that is known.
        claim: the engine's release as the tag names it.
        entrypoint: the program that the image starts, with its verbs; () if it starts whatever the command says, None if it
            is not known. If it changed, and the claim names no release, that of the newest release.
        command: the words that the entrypoint is given where the container has none; () if it needs none.
        chosen_by: the words one of which must come first for the server to start; () if none has to.
        house: whether someone else than the engine's makers built the image, who may have changed the engine.
        until: the last release that the image can be, for one that was built from a branch; "" for no bound.
        wrapper: what else gives its program the engine's arguments; None if nothing does.
    """

    __slots__ = ("chosen_by", "claim", "command", "engine", "entrypoint", "house", "until", "wrapper")

    def __init__(
        self, engine: str | None, claim: ReleaseClaim, entrypoint: tuple[str, ...] | None, *, house: bool = False
    ) -> None:
        self.chosen_by: tuple[str, ...] = ()
        self.command: tuple[str, ...] = ()
        self.wrapper: Wrapper | None = None
        self.until = ""
        self.house = house
        self.engine = engine
        self.claim = claim
        self.entrypoint = entrypoint

    def holding(self, engine: str, claim: ReleaseClaim) -> Image:
        """The image with a release of an engine installed into it: it starts what it started before."""
        changed = copy(self)
        changed.engine, changed.claim, changed.until = engine, claim, ""
        return changed

    @property
    def claims(self) -> dict[str, ReleaseClaim]:
        """The engine's id with the claim; empty for no engine."""
        return {} if self.engine is None else {self.engine: self.claim}


def identify(image: TracedText) -> Image:
    """Read an image reference: `[registry/]repository[:tag][@digest]`, parts of which may be unknown."""
    return _identified(image)


def _identify(image: TracedText) -> Image:
    flat = image.flat
    if flat.startswith(HOLE):
        variable = re.fullmatch(_VARIABLE, image.pieces[0].expression or "")
        if variable is not None and flat[1:2] in ("", ":", "@"):
            return _of_house(variable.group("name").lower(), None)
    pulled = re.fullmatch(_PULLED, flat)
    if pulled is not None:
        held = _of_house(pulled.group("name"), image.cut(*pulled.span("tag")))
        if held.engine is not None and held.claim.release is None:  # the file of an image of the engine's makers
            named = [one for one in ENGINES[held.engine].images if one.repository.rpartition("/")[2] == pulled.group("name")]
            held.claim = _claim(held.engine, named[0], image.cut(*pulled.span("tag")), pinned=True) if named else held.claim
        return _of_file(image) or held if held.claim.release is None else held
    if (filed := _of_file(image)) is not None:
        return filed
    series = re.match(OF_SERIES, flat) if ".ubuntu" in flat else None
    serial = _of_house(series.group("name"), None) if series is not None else None
    if series is not None and serial is not None and serial.engine is not None:
        newest = _newest_of(serial.engine, series.group("release").replace("-", "."))
        serial.claim = ReleaseClaim(newest, "image" if newest else None, image.span(*series.span("release")))
        return serial
    digest = flat.find("@")
    end = len(flat) if digest == -1 else digest
    colon = flat.rfind(":", flat.rfind("/", 0, end) + 1, end)
    name = flat[:end] if colon == -1 else flat[:colon]
    tag = image.cut(colon + 1, end) if colon != -1 else None
    found = _family(name)
    held = _of_family(*found, tag, pinned=digest != -1) if found is not None else _of_house(name.rpartition("/")[2], tag)
    if found is not None and held.engine is not None:
        held.command, held.wrapper = found[1].command, found[1].wrapper
    if held.engine is not None and tag is not None:
        pattern, words = ENGINES[held.engine].choosing_images
        held.chosen_by = words if pattern and re.search(pattern, tag.flat) else ()
    return held


_identified = derived(_identify, kept=32)
"""The reader, the rules and the container's checks ask for the same few images."""


@derived
def _family(name: str) -> tuple[Engine, ImageFamily] | None:
    """The family that a repository belongs to, and its engine."""
    families = [(engine, family) for engine in ENGINES.values() for family in engine.images]
    return next((found for found in families if _in_family(name, found[1])), None)


def _in_family(name: str, family: ImageFamily) -> bool:
    endings = [family.repository + suffix for suffix in ("", *family.suffixes)]
    # enroot writes a number sign behind the registry; an unknown part may end in the slash
    ending = next((one for one in endings if name == one or name.endswith(("/" + one, "#" + one, HOLE + one))), None)
    if ending is None or not family.registry:
        return ending is not None
    return re.search(f"(?:^|/)(?:{family.registry})$", name[: -len(ending) - 1]) is not None


def _of_family(engine: Engine, family: ImageFamily, tag: TracedText | None, *, pinned: bool) -> Image:
    if family.without and tag is not None and re.search(family.without, tag.flat) is not None:
        return Image(None, ReleaseClaim(), None, house=family.own_tags)
    if family.only and (tag is None or re.search(family.only, tag.flat) is None):
        match = re.match(family.tags, tag.flat) if tag is not None and family.tags else None
        if tag is None or match is None:
            return Image(engine.id, ReleaseClaim(), None, house=family.own_tags)
        span = tag.span(*match.span("release"))
        return Image(engine.id, ReleaseClaim(match.group("release"), "image", span), None, house=family.own_tags)
    claim = _claim(engine.id, family, tag, pinned=pinned)
    other = next((one for tags, one in family.programs.items() if tag is not None and re.search(tags, tag.flat)), None)
    several = family.entrypoint if other is None else (other,)
    found = Image(engine.id, claim, _entrypoint(several, claim.release), house=family.own_tags)
    found.until = next((last for one, last in family.branches.items() if tag is not None and re.fullmatch(one, tag.flat)), "")
    return found


def _claim(engine: str, family: ImageFamily, tag: TracedText | None, *, pinned: bool) -> ReleaseClaim:
    """The engine's release as the tag of an image of a family names it. pinned: whether a digest stands behind the tag."""
    if family.own_tags:
        if tag is None or not tag.known:
            return ReleaseClaim()
        table = _tables().get(family.repository, {}).get("releases", {})
        known = table.get(tag.flat) or table.get(re.sub(_VARIANT, "", tag.flat))
        if known is not None:
            return ReleaseClaim(known, "image", tag.span())
        named = re.search(family.tags, tag.flat) if family.tags else None
        release = named.group("release") if named is not None else ""
        if release.count(".") == 1:  # of a series; which of several releases is not said
            several = [one for one in known_releases(engine) if one.startswith(release + ".")]
            release = several[0] if len(several) == 1 else ""
        return ReleaseClaim(release, "image", tag.span(*named.span("release"))) if named and release else ReleaseClaim()
    if tag is None:
        return ReleaseClaim(None, "image", rolling=not pinned)
    match = re.match(family.tags or _RELEASE, tag.flat)
    if match is not None and tag.cut(match.start("release"), match.end("release")).known:
        span = tag.span(match.start("release"), match.end("release"))
        rest = tag.flat[match.end("release") :]
        own = (
            rest
            and not family.tags
            and tag.known
            and re.match(rf"[-_.](?:{family.builds or _BUILD})", rest, re.IGNORECASE) is None
        )
        return ReleaseClaim(match.group("release"), "image", span, build=rest if own else "")
    short = re.match(_SHORT, tag.flat) if not family.tags else None
    placed = place(engine, short.group("release")) if short is not None else None
    if short is not None and placed is not None and placed.kind in (NEVER, NEWER):
        return ReleaseClaim(short.group("release"), "image", tag.span())
    minor = re.match(rf"v?(\d+\.\d+)(?:-(?:{family.builds}))?$", tag.flat) if family.minor_tags and tag.known else None
    newest = _newest_of(engine, minor.group(1)) if minor is not None else None
    older = place(engine, minor.group(1)) if minor is not None else None
    if newest is None and minor is not None and older is not None and older.kind == OLDER:
        newest = minor.group(1)
    if newest is not None:
        return ReleaseClaim(newest, "image", tag.span())
    if tag.known and not pinned and re.match(family.rolling or _ROLLING, tag.flat):
        return ReleaseClaim(None, "image", tag.span(), rolling=True)
    return ReleaseClaim(None, None, tag.span())


def _newest_of(engine: str, minor: str) -> str | None:
    """The newest release whose number starts with another one: 3.3.7 for 3.3."""
    return next((one for one in reversed(known_releases(engine)) if one.startswith(minor + ".")), None)


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    """Repository -> its source and the engine's release of each tag. A tag with a variant behind it is the same release."""
    tables: dict[str, dict[str, dict[str, str]]] = load_data("engines/data/images.json")
    return tables


def _entrypoint(several: tuple[EntryPoint, ...], release: str | None) -> tuple[str, ...] | None:
    """The words that hold for a release; None between two entry points, as for a pre-release of the later one's first."""
    if not several:
        return None
    key = release_key(release) if release is not None else None
    if release is None or len(several) == 1:
        return several[-1].words
    for one in several:
        first, last = (release_key(bound) if bound else None for bound in (one.since, one.until))
        if key is not None and (first is None or key >= first) and (last is None or key <= last):
            return one.words
    return None


def _of_house(name: str, tag: TracedText | None) -> Image:
    """An image of someone else: its name may say the engine, and its tag the engine's release if the name is the engine's."""
    engine = _house_engine(name)
    in_tag = _in_tag(name, tag) if tag is not None else None
    if in_tag is not None and engine in (None, in_tag[0]):
        return Image(in_tag[0].id, in_tag[1], None, house=True)
    if engine is None:
        return Image(None, ReleaseClaim(), None, house=True)
    found = Image(engine.id, _house_claim(engine, name, tag), None, house=True)
    made = engine.house_tags and re.match(engine.house_tags, name)
    copied = next((one for one in engine.images if one.command and (made or one.repository.rpartition("/")[2] == name)), None)
    if copied is not None:  # a copy of the makers' image, or one that is built on it
        found.entrypoint, found.command = copied.entrypoint[-1].words, copied.command
    return found


def _of_file(image: TracedText) -> Image | None:
    """The image in a file whose name says an engine and its release; None for another one."""
    named = re.fullmatch(_FILE, image.flat) if image.flat.endswith((".sif", ".simg", ".sqsh")) else None
    engine = _house_engine(named.group("name")) if named is not None else None
    if named is None or engine is None:
        return None
    release = named.group("release")
    if release.count(".") == 1:  # of a series; which of several releases is not said
        several = [one for one in known_releases(engine.id) if one.startswith(release + ".")]
        release = several[0] if len(several) == 1 else ""
    if not release or not _is_release(engine, release):
        return None
    return Image(engine.id, ReleaseClaim(release, "image", image.span(*named.span("release"))), None, house=True)


def _in_tag(name: str, tag: TracedText) -> tuple[Engine, ReleaseClaim] | None:
    """The engine and its release, where a tag names both: `0.3.7-sglang0.5.5`."""
    if re.search(_NO_SERVER, f"{name}:{tag.flat}") is not None:
        return None
    for engine in ENGINES.values():
        match = re.search(_IN_TAG.format(engine.image_names), tag.flat) if engine.image_names else None
        if match is not None and match.group("release") in known_releases(engine.id):
            return engine, ReleaseClaim(match.group("release"), "image", tag.span(*match.span("release")))
    return None


def _house_claim(engine: Engine, name: str, tag: TracedText | None) -> ReleaseClaim:
    """The engine's release as the tag of a house image names it."""
    if tag is None:
        return ReleaseClaim()
    numbered = re.search(_NUMBERED, tag.flat) if engine.numbered_builds else None
    if numbered is not None:
        span = tag.span(*numbered.span("release"))
        return ReleaseClaim(numbered.group("release"), "image", span)
    match = re.match(_HOUSE_RELEASE, tag.flat) if engine.house_tags and re.match(engine.house_tags, name) else None
    if match is not None and _is_release(engine, match.group("release")):
        return ReleaseClaim(match.group("release"), "image", tag.span(*match.span("release")))
    return ReleaseClaim(None, None, tag.span())


def _is_release(engine: Engine, release: str) -> bool:
    """Whether a number is one of an engine's releases, or one before all that are known and yet none that a new image has."""
    known = known_releases(engine.id)
    own, least = release_key(release), release_key(_NOT_THEIR_OWN)
    if release in known or own is None or least is None:
        return release in known
    return own >= least and all((key := release_key(one)) is not None and own < key for one in known)


@derived
def _house_engine(name: str) -> Engine | None:
    """The engine that the name of a house image says; None for one that holds no server."""
    without = [_NO_SERVER, *[engine.not_image_names for engine in ENGINES.values() if engine.not_image_names]]
    if re.search("|".join(without), name) is not None:
        return None
    named = [engine for engine in ENGINES.values() if engine.image_names]
    return next((engine for engine in named if re.search(rf"(?:^|[-_./])(?:{engine.image_names})(?:$|[-_.])", name)), None)


def of_house_name(name: str) -> str | None:
    """The id of the engine that the name of an image, or of a container of it, says."""
    engine = _house_engine(name)
    return engine.id if engine is not None else None


def of_names(names: list[str]) -> Image:
    """What an image holds whose own name is not known, by the names of its variable and of its container: `VLLM_IMAGE`."""
    for name in names:
        word = f"_{re.sub(r'[^A-Z0-9]+', '_', name.upper())}_"
        engine = next((one for one in ENGINES.values() if any(f"_{own}_" in word for own in one.argument_variables)), None)
        if engine is not None and re.search(_NO_SERVER, name.lower()) is None:
            return Image(engine.id, ReleaseClaim(), None, house=True)
    return Image(None, ReleaseClaim(), None, house=True)
