"""What runs beside an engine: the packages of its image or wheel, its CUDA, and the GPUs that it is built for.

engines/data/stack.json has them by release; `servelint engines stack` reads them from what the projects publish. A launch has

- what the image of the engine's makers holds;
- what pip installs where a file installs the engine into nothing: the newest that the metadata allow;
- what the metadata allow, and what the engine runs with, where the launch does not say how the engine is installed;
- what the file installs itself, if that is one release; nothing is known of other installations, and of others' images.

An answer is a release ("5.15.0"), or bounds (">=4.56.0,<5"): `{range: ">=5"}` of a rule holds if it holds for all in them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.data import load_data
from servelint.core.launch import Launch
from servelint.engines import images
from servelint.engines.registry import ENGINES
from servelint.engines.releases import LEAST, ReleaseKey, sort_key
from servelint.engines.releases import newest as newest_release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGES = (
    "compressed-tensors",
    "flashinfer",
    "flashinfer-cubin",
    "mistral-common",
    "sgl-kernel",
    "torch",
    "transformers",
    "xformers",
)
FACTS = {
    **{name: ("text", f"the release of {name} beside the engine, or its bounds") for name in PACKAGES},
    "pip": ("bool", "whether the file of the launch installs packages"),
    "cuda": ("text", "the CUDA of the image, or of PyTorch as pip installs it"),
    "capabilities": ("text", "the compute capabilities that the published builds of the release have kernels for"),
    "gpu-kernels": ("bool", "whether these builds, and PyTorch beside them, have kernels for the GPU"),
}
"""operand `stack.<name>` -> its type and its meaning"""

_INSTALL = r"\b(?:pip[\d.]*|uv)[ \t][^\n;&|#]*?\binstall[ \t]+(?P<words>[^\n;&|#]*)"
_CONTINUED = r"\\[ \t]*\n"
_COMMENT = r"(?m)^[ \t]*#.*$"
_LISTS = r"-(?<=\s-)(?:[rc]|-requirement|-constraint|-override)\b"
_LOCK = r"lock(?<!\wlock)\b"
_CHOOSING = ("uv_exclude_newer", "exclude-newer", "uv sync", "poetry", "pipenv", "conda", "mamba")
"""What may choose other releases than the newest."""
_WITHOUT_BOUNDS = frozenset((
    "pip", "uv", "setuptools", "wheel", "packaging", "ninja", "numpy", "ray", "fastapi", "uvicorn", "pydantic", "requests",
    "openai", "boto3", "hf-transfer", "hf-xet", "runpod", "prometheus-client", "bitsandbytes", "triton",
))  # fmt: skip
"""Packages that leave Transformers alone; another one may require an older release of it."""
_OTHER_TORCH = r"torch-backend|index-url|UV_TORCH_BACKEND|find-links|wheels\.vllm\.ai"
_OLD = r"3\.[89]\b|20\.04|focal|buster|bullseye"
_BARE_IMAGE = rf"(?m)^FROM\s+(?:--\S+\s+)?(?:\S*/)?(?:python|ubuntu|debian|cuda|pytorch)(?::(?!\S*(?:{_OLD}))\S*)?(?:\s|$)"
"""Images that have none of the packages, or PyTorch alone, and a Python that the newest are made for."""
_VARIANT = r"[-_]cu(?:da)?-?(\d\d)\.?(\d)?(?=$|[-_.])"
_OTHER_DEVICE = r"rocm|cpu|xpu|npu|musa|mi\d{3}|xeon|tpu|neuron|gaudi"
_ARM = (8.7, 11.0, 12.1)
"""Capabilities of GPUs that only ARM machines have: Orin, Thor, GB10."""
_BEFORE_BLACKWELL, _FROM_TURING = ">=12.8", ">=13"


def ask(launch: Launch, key: ReleaseKey | None, name: str, gpu: tuple[object, object] = (None, None)) -> str | bool | None:
    """A fact of a launch under a release; None if it is not known.

    Args:
        launch: the launch.
        key: the release.
        name: a name of FACTS.
        gpu: the compute capability of its GPU, and its name.
    """
    place = _Place(launch, key)
    if name == "pip":
        return place.installing and _says(_INSTALL, place.text)
    if name == "cuda":
        return place.cuda()
    if name == "capabilities":
        return place.value("capabilities") or None
    if name == "gpu-kernels":
        capability, gpu_name = gpu
        return place.runs(capability, str(gpu_name)) if isinstance(capability, float) else None
    return place.package(name)


def required(engine: str, key: ReleaseKey | None, name: str) -> str:
    """The bounds that the metadata of a release have for a package; "" for none."""
    return _at(engine, name, key) if key is not None else ""


def bounds_of(text: str) -> tuple[ReleaseKey, ReleaseKey | None, bool]:
    """The least release of an answer, the bound above (None: none), and whether the bound is itself in."""
    low, high, included = LEAST, None, True
    for operator, release in re.findall(r"(==|>=|<=|<|>|^)\s*([\w.]+)", text):
        found = sort_key(release)
        if operator in ("==", ""):
            return found, found, True
        if operator.startswith(">"):
            low = found
        else:
            high, included = found if operator == "<=" else sort_key(f"{release}.dev0"), operator == "<="
    return low, high, included


def allows(bounds: str, release: str) -> bool:
    """Whether bounds allow a release."""
    key = sort_key(release)
    low, high, included = bounds_of(bounds)
    return key >= low and (high is None or key < high or (included and key == high))


def is_older(answer: str, release: str) -> bool:
    """Whether an answer is certainly older than a release; its patch number does not count."""
    bound = sort_key(".".join(release.split(".")[:2]) + ".dev0")
    _, high, included = bounds_of(answer)
    return high is not None and (high < bound or (high == bound and not included))


def installed(text: str) -> tuple[object, ...]:
    """What of a file outside of its launches decides what runs beside them: equal for files that install alike."""
    if "install" not in text or "install" not in _commands(text):
        return ()
    how = (_says(_BARE_IMAGE, text), _chosen_elsewhere(text), _says(_OTHER_TORCH, text))
    words = [line["words"] for line in re.finditer(_INSTALL, _commands(text))]
    return (*words, *[installs(text, _NAMES.get(name, name)) for name in PACKAGES], *how)


@lru_cache(maxsize=64)
def installs(text: str, package: str, engine: str = "") -> tuple[str, bool] | None:
    """What a file installs of a package; None if it installs none.

    Args:
        text: the file.
        package: the package as pip knows it.
        engine: the package of the engine.

    Returns:
        A release, UPGRADED for the newest, "" for one that is not known; and whether the engine is installed with it or after
        it, so that what the engine requires holds as well.
    """
    if package not in _spelled(text):
        return None
    joined = _commands(text)
    anywhere = _named(package, _IN_NAME)
    if re.search(rf"(?is)install\b.*{anywhere}", joined) is None:
        return None
    lines = list(re.finditer(_INSTALL, joined))
    found = [(line, word[1]) for line in lines for word in re.finditer(rf"{_named(package)}([^\s\"']*)", line["words"])]
    several = len(re.findall(r"(?m)^\s*(?:FROM\s|(?:- )?image:)", joined)) > 1
    if len(found) != 1 or several or len(re.findall(_named(package), joined)) != 1:
        return "", False
    line, bounds = found[0]
    later = bool(engine) and any(re.search(_named(engine), one["words"]) for one in lines[lines.index(line) :])
    exact = re.fullmatch(r"==(\d[\w.]*)", bounds)
    if exact is not None:
        return exact[1], later
    upgrades = re.search(r"(?:^|\s)(?:-U|--upgrade)(?:\s|$)", line["words"]) is not None
    return UPGRADED if upgrades and re.fullmatch(r"(?:>=[\d.]+)?", bounds) else "", later


@lru_cache(maxsize=2)
def _spelled(text: str) -> str:
    """A file with the names of packages as pip knows them."""
    return text.lower().replace("_", "-")


@lru_cache(maxsize=2)
def _commands(text: str) -> str:
    """A file without its comments, each command on one line."""
    return re.sub(_CONTINUED, " ", re.sub(_COMMENT, "", text))


UPGRADED = "newest"
_IN_NAME = r"[\w-]"


def _named(package: str, inside: str = r"[\w/.-]") -> str:
    """A package among the words of an installation. `inside`: what may not stand before it."""
    spelled = re.escape(package).replace(r"\-", "[-_]")
    return rf"(?i:(?<!{inside}){spelled}(?:\[[\w,-]*\])?(?![\w-]))"


@lru_cache(maxsize=16)
def _installs_alone(text: str, engine: str) -> bool:
    """Whether pip installs the engine, and beside it only what has no bounds for its packages."""
    joined = _commands(text)
    words = [word.strip("\"'") for line in re.finditer(_INSTALL, joined) for word in line["words"].split()]
    named = [match for word in words if (match := re.fullmatch(r"([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?(.*)", word)) is not None]
    known = {*_WITHOUT_BOUNDS, *PACKAGES, *_NAMES.values(), *ENGINES[engine].distributions}
    return "$" not in "".join(words) and all(
        (name := one[1].lower().replace("_", "-")) in known or (name == "huggingface-hub" and not one[2]) for one in named
    )


@lru_cache(maxsize=16)
def _installs_engine(text: str, engine: str) -> bool:
    """Whether pip installs the engine from the package index."""
    names = ENGINES[engine].distributions
    return bool(names) and any(re.search(_named(names[0]), line["words"]) for line in re.finditer(_INSTALL, _commands(text)))


@lru_cache(maxsize=16)
def _chosen_elsewhere(text: str) -> bool:
    """Whether something in a file may choose other releases than the newest."""
    lower = text.lower()
    return any(one in lower for one in _CHOOSING) or _says(_LOCK, lower) or _says(_LISTS, text)


@lru_cache(maxsize=16)
def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


class _Place:
    """Where a launch has the engine from."""

    __slots__ = ("engine", "fresh", "image", "installing", "key", "launch", "official", "text")

    def __init__(self, launch: Launch, key: ReleaseKey | None) -> None:
        self.launch = launch
        self.engine = launch.engine
        self.key = key
        self.text = launch.source.text
        self.image = images.identify(launch.image) if launch.image is not None else None
        self.official = self.image is not None and self.image.engine == self.engine and not self.image.house
        self.installing = "install" in self.text
        self.fresh = self.installing and _says(_BARE_IMAGE, self.text) and _installs_engine(self.text, self.engine)

    @property
    def known(self) -> bool:
        """Whether the launch has what the project publishes, or may have."""
        tag = self.launch.image.flat.lower() if self.launch.image is not None else ""
        return (self.image is None or self.official or self.fresh) and re.search(_OTHER_DEVICE, tag) is None

    def value(self, name: str) -> str:
        """What the table has of the release, by hand or as it was read; "" for nothing."""
        return (_at(self.engine, name, self.key, "by hand") or _at(self.engine, name, self.key)) if self.key is not None else ""

    def package(self, name: str) -> str | None:
        """The release of a package, or its bounds."""
        later = self.key is not None and self.key > sort_key(newest_release(self.engine) or "")
        asked, newest = "" if later else self.value(name), _table()["newest"].get(name, "")
        found = installs(self.text, _NAMES.get(name, name), "".join(ENGINES[self.engine].distributions[:1]))
        if found is not None:
            release = newest if found[0] == UPGRADED else found[0]
            if not release or (found[1] and asked and not allows(asked, release)):
                return None
            return f">={release}" if found[0] == UPGRADED else release
        if not self.known or not asked:
            return None
        if asked.startswith("=="):
            return asked[2:]
        if self.official:
            held = self.value(f"{name} of the image")
            return _between(held) if held else asked
        alone = not _chosen_elsewhere(self.text) and _installs_alone(self.text, self.engine)
        if self.fresh and newest and alone:
            high = bounds_of(asked)[1]
            if allows(asked, newest):
                return f">={newest}" if high is None else f">={newest},{_upper(asked)}"
        works = self.value(f"{name} that it runs with")
        return asked if not works or works in asked.split(",") else f"{asked},{works}"

    def cuda(self) -> str | None:
        """The CUDA of the image by its tag or by the release, or that of PyTorch as pip installs it."""
        tag = self.launch.image.flat if self.launch.image is not None else ""
        variant = re.search(_VARIANT, tag.rpartition(":")[2] if ":" in tag else "")
        if self.official and not self.known:
            return None
        if self.official and variant is not None:
            return ".".join([part for part in variant.groups() if part])
        if self.official:
            return self.value("cuda of the image") or None
        torch = self.package("torch")
        if not self.fresh or torch is None or _says(_OTHER_TORCH, self.text):
            return None
        found: str | None = _table()["cuda of torch"].get(torch)
        return found

    def runs(self, capability: float, gpu: str) -> bool | None:
        """Whether the builds have kernels for a GPU. A kernel runs on later GPUs of the same first number."""
        if not self.known:
            return None
        arm = capability in _ARM or gpu.startswith(("gh", "gb"))
        listed = (self.value("capabilities of ARM") if arm else "") or self.value("capabilities")
        if listed and not any(int(one) == int(capability) and one <= capability for one in map(float, listed.split())):
            return False
        cuda = self.cuda()
        if cuda is None:
            return True if listed else None
        if (capability >= 10 and not allows(_BEFORE_BLACKWELL, cuda)) or (capability < 7.5 and allows(_FROM_TURING, cuda)):
            return False
        torch = self.package("torch")
        without = _table()["by hand"]["torch without Volta"]
        if capability < 7.5 and torch is not None and any(allows(one, torch) and allows(by, cuda) for one, by in without):
            return False
        return True if listed else None


_NAMES = {"flashinfer": "flashinfer-python"}


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    data: dict[str, Any] = load_data("engines/data/stack.json")
    return data


@lru_cache(maxsize=64)
def _keys(engine: str, name: str, part: str) -> list[tuple[ReleaseKey, str]]:
    rows = (_table()["by hand"] if part else _table()).get(engine, {}).get(name, [])
    return [(sort_key(release), value) for release, value in rows]


def _at(engine: str, name: str, key: ReleaseKey, part: str = "") -> str:
    found = ""
    for since, value in _keys(engine, name, part):
        if key >= since:
            found = value
    return found


def _between(held: str) -> str:
    low, to, high = held.partition(" to ")
    return f">={low},<={high}" if to else low


def _upper(bounds: str) -> str:
    return next(part for part in bounds.split(",") if part.startswith("<"))
