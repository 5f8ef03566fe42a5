"""What the commands of a script get ready for an engine: packages, checkouts of its repository, files of pulled images.

What is installed has the engine's id as its key. What only may be used later has a key with what it is and where it lies
(`git vllm /opt/vllm`, `image vllm vllm.sif`), so that it follows branches and functions as installed packages do.
"""

from __future__ import annotations

import re
from itertools import pairwise

from servelint.core.launch import ReleaseClaim, Word
from servelint.core.text import HOLE, TracedText
from servelint.engines import images
from servelint.engines.registry import ENGINES
from servelint.readers import installs
from servelint.readers.installs import RELEASE, at_tag, packages, repositories
from servelint.syntax.shell.state import file_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.launch import OpenedFile
    from servelint.syntax.shell.evaluate import Invocation
    from servelint.syntax.shell.state import Here

Claims = dict[str, ReleaseClaim]

_HERE = "<\ufdd1.>"
"""The folder in which a script runs that is not a file, in `file_key`."""

_OUTER = frozenset(("sudo", "time", "nice", "command"))
_LOCKS = {"uv": "uv.lock", "poetry": "poetry.lock", "pdm": "pdm.lock", "pixi": "pixi.lock"}
_SYNCS = frozenset(("sync", "install"))
_FILE_OPTIONS = frozenset(("-r", "--requirement", "--requirements", "-f", "--file"))
_MAKING = ("build", "create", "import", "pull", "tag")
_TARGETS = ("-o", "--output", "-t", "--tag")
_CHANGES = frozenset(("cherry-pick", "merge", "pull", "rebase", "revert"))
_REQUIREMENT = re.compile(r"^[ \t]*(?:-[ \t]+)?(?P<it>[\"']?[A-Za-z][^#\n]*)", re.MULTILINE)
_LOCKED = rf"(?im)^name = \"(?P<name>{{}})\"\r?\nversion = \"(?P<release>{RELEASE})(?:\+(?P<build>[\w.]+))?\""
_LOCKED_WHEEL = rf"(?i)/(?P<name>{{}})-(?P<release>{RELEASE})-[^\s/]*\.whl"
_PROJECT = rf"(?i)[\"'](?P<name>{{}})(?:\[[^\]\"']*\])?\s*==\s*(?P<release>{RELEASE})(?:\s*;[^\"']*)?[\"']"
_ARGUMENT = rf"(?i)(?:--build-arg=)?(?P<name>{{}})_(?:VERSION|REF|TAG|RELEASE)=v?(?P<release>{RELEASE})$"


def by_command(ran: Invocation, before: Claims | None) -> Claims:
    """What a command gets ready.

    Args:
        ran: The command.
        before: What was ready before the script.
    """
    words = ran.words
    while words and words[0].text.flat in _OUTER:
        words = words[1:]
    name = words[0].text.flat.rpartition("/")[2] if words else ""
    found = installs.claims(ran.words)
    step = _STEPS.get(name) or (_install if name.startswith(("pip", "python", "conda", "mamba")) else None)
    if step is not None and len(words) > 1:
        known = {**(before or {}), **ran.installed}
        found = {**step(words, ran, known), **found}
    elif name in ("bash", "sh") and len(words) < 3 and not any(word.text.flat.endswith(".sh") for word in words):
        found = _installer(ran)
    elif name.endswith(".sh") or (name in ("bash", "sh", "dash") and len(words) > 1):
        found = _script(words if name.endswith(".sh") else words[1:], ran)
    return found


def by_runner(ran: Invocation) -> Claims:
    """What the project holds in whose environment a command runs another one: `uv run vllm serve`."""
    name = ran.words[0].text.flat.rpartition("/")[2]
    second = ran.words[1].text.flat if len(ran.words) > 1 else ""
    return _project(name, ran) if name in _LOCKS and second == "run" else {}


def checked_out(address: str, ref: Word | None, folder: str) -> Claims:
    """What a workflow's step checks out: an engine's repository (`owner/name`) at a tag."""
    for engine, repository, _, _ in repositories():
        if repository.fullmatch("github.com/" + address) is not None:
            return {f"git {engine.id} {folder}": at_tag(ref, engine.id)}
    return {}


def of_image(path: TracedText, ready: Claims, held: images.Image, open: Here | None = None) -> Claims:
    """What a container's image holds, where an earlier command has made or pulled it, or another script of the folder does.

    Args:
        path: The image, or the file that holds it.
        ready: What is ready.
        held: What its name says.
        open: Opens a file beside the script.
    """
    if held.claim.release is not None:
        return held.claims
    name = path.flat.rpartition("/")[2].removesuffix(":latest")
    made = {key.split(" ")[1]: claim for key, claim in ready.items() if key.startswith("image ") and key.endswith(" " + name)}
    if not made and open is not None and re.fullmatch(_IMAGE_FILE, name) is not None:
        made = _elsewhere(name, open)
    return {**held.claims, **made}


_IMAGE_FILE = r"[\w.+-]+\.(?:sif|simg|sqsh|squashfs|img)"
"""The name of a file that holds an image."""
_PULLERS = (
    "setup", "pull", "pull_image", "pull_images", "pull-image", "pull-images", "pull_container", "pull_containers", "build",
    "build_image", "build-image", "build_container", "build_sif", "build_containers", "download", "download_images", "import",
    "import_image", "enroot_import", "install", "prepare", "setup_env", "setup_container", "create_container",
)  # fmt: skip
"""How scripts are called that pull or build the images for the others of their folder."""
_PULLS = r"(?m)^[^#\n]*\b(?:pull|build|import)\b(?:[^\n\\]|\\\n?)*"
_FROM = rf"docker://(?P<image>[^\s\"'$#{HOLE}]*(?:#[^\s\"'${HOLE}]+)?)"


def _elsewhere(name: str, open: Here) -> Claims:
    """What a file of an image holds by the commands of other scripts that make it: one image, if they do not differ."""
    found: list[images.Image] = []
    for script in _PULLERS:
        opened = open(TracedText.of(f"{script}.sh"))
        text = opened.text.flat if opened is not None and name in opened.text.flat else ""
        for line in re.finditer(_PULLS, text):
            named = name in re.split(r"[\s\"'=}/]+", line.group())
            source = re.search(_FROM, line.group())
            if not named:
                continue
            image = images.identify(TracedText.of(source.group("image"))) if source is not None else None
            if image is None or image.engine is None:
                return {}  # of another image, or of one that a variable names
            found.append(image)
    same = len({(one.engine, one.claim.release, one.claim.build) for one in found}) == 1
    return found[0].claims if same else {}


def for_later(found: list[Claims]) -> Claims:
    """What is installed for what starts later than a script, which may install in any order: one release of each engine."""
    kept: Claims = {}
    for claims in found:
        for key, claim in claims.items():
            if key in ENGINES and kept.setdefault(key, claim).release != claim.release:
                kept[key] = ReleaseClaim(None, "pip", claim.span)
    return kept


# -- checkouts


def _folders(path: TracedText, ran: Invocation) -> list[str]:
    """The folders that a path goes through, [] where that is not known."""
    return (file_key(path, ran.folder) or "").replace(_HERE, ".").split("/")


def _git(words: list[Word], ran: Invocation, known: Claims) -> Claims:
    """What Git clones, or checks out or changes in what it cloned."""
    command = installs.git(words)
    if command is None:
        return {}
    if command.engine:
        address = command.rest[0].text
        name = re.sub(r"(?:\.git)?/?$", "", address.flat).rpartition("/")[2]
        into = _folders(command.rest[1].text if len(command.rest) > 1 else TracedText.of(name), ran)[-1]
        claim = at_tag(command.branch or command.rest[0], command.engine, fork=command.fork)
        return {f"git {command.engine} {into}": claim} if into else {}
    mine = [key for key in known if key.startswith("git ") and _folders(command.folder, ran)[-1:] == key.split(" ")[2:]]
    if command.changes == "commit":
        return {key: at_tag(command.rest[-1], key.split(" ")[1], fork=known[key].build == installs.FORK) for key in mine}
    if command.verb.text.flat in ("am", "apply"):
        return {key: installs.changed(known[key]) for key in mine} or _patched(words, ran, known)
    changed = command.changes or command.verb.text.flat in _CHANGES
    return dict.fromkeys(mine, ReleaseClaim(None, "pip", command.verb.text.span())) if changed else {}


def _patched(_words: list[Word], _ran: Invocation, known: Claims) -> Claims:
    """What is ready and may be what a patch is for."""
    return {key: installs.changed(claim) for key, claim in known.items() if key in ENGINES or key.startswith("git ")}


def _built(paths: list[Word], ran: Invocation, known: Claims, *, inside: bool = False) -> Claims:
    """The engines whose checkouts are built at one of some paths. inside: whether at any folder below, as CMake does"""
    found: Claims = {}
    for path in paths:
        flat = path.text.flat
        folders = _folders(path.text.cut(0, flat.index("[")) if flat.endswith("]") and "[" in flat[1:] else path.text, ran)
        for key, claim in known.items():
            kind, _, name = key.partition(" ")
            engine, _, name = name.partition(" ")
            if kind != "git" or name not in folders:
                continue
            below = folders[len(folders) - folders[::-1].index(name) :]
            around = next(around for one, _, _, around in repositories() if one.id == engine)
            if inside or below == around:
                found[engine] = claim
    return found


def _make(words: list[Word], ran: Invocation, known: Claims) -> Claims:
    """`cmake --build build` or `make` in a checkout of an engine that is not a Python package."""
    here = [Word(TracedText.of(".")), *[word for word in words[1:] if not word.text.flat.startswith("-")]]
    built = _built(here, ran, known, inside=True)
    return {engine: claim for engine, claim in built.items() if not ENGINES[engine].distributions}


# -- packages


def _install(words: list[Word], ran: Invocation, known: Claims) -> Claims:
    """What a file of requirements, a checkout or a project brings that is installed."""
    name = words[0].text.flat.rpartition("/")[2]
    values = [word.text.flat for word in words]
    if "setup.py" in values[:2]:
        return _built([Word(TracedText.of("."))], ran, known) if {"install", "develop", "bdist_wheel"} & set(values) else {}
    if name in _LOCKS and values[1] in _SYNCS:
        return _project(name, ran)
    if not installs.is_install(words) and not {"sync", "env"} & set(values[:4]):
        return {}
    found: Claims = {}
    for before, word in zip(values, words[1:], strict=False):
        flat = word.text.flat
        name, sign, _ = flat.partition("=")
        if before in _FILE_OPTIONS or (sign and name in _FILE_OPTIONS) or (before == "sync" and not flat.startswith("-")):
            found.update(_of_file(word.text.cut(len(name) + 1 if sign and name in _FILE_OPTIONS else 0), ran))
        elif not flat.startswith("-"):
            found.update(_built([word], ran, known))
            if re.match(r"\.(?:/|\[|$)", flat) and not found:
                found.update(_of_text(_text(ran, "pyproject.toml"), _PROJECT))
    return found


def _of_file(path: TracedText, ran: Invocation) -> Claims:
    opened = ran.open(path)
    return of_requirements(opened.text) if opened is not None else {}


def of_requirements(text: TracedText) -> Claims:
    """What a file of requirements or an environment of Conda names."""
    found: Claims = {}
    required: Claims = {}
    for line in _REQUIREMENT.finditer(text.flat):
        word = Word(text.cut(*line.span("it")).strip())
        required.update(installs.brought(word))
        if (claim := installs.requirement(word)) is not None and claim[1].how == "pip":
            found[claim[0]] = claim[1]
    return {**required, **found}


_ABOVE = ("", "../", "../../", "../../../")


def _project(tool: str, ran: Invocation) -> Claims:
    """What a project's lock file names, else what its own file pins; the tools look for them in the folders above as well."""
    for above in _ABOVE:
        lock = _text(ran, above + _LOCKS[tool])
        found = _of_lock(tool, lock) or _of_text(_text(ran, above + "pyproject.toml"), _PROJECT)
        if found or lock is not None:
            return found
    return {}


def of_project(open: Callable[[str], TracedText | None]) -> Claims:
    """What the nearest folder with a project file or requirements pins, its lock file included.

    open: the text of a file below a folder; None if it is not there.
    """
    for above in _ABOVE:
        own = open(above + "pyproject.toml")
        locks = {tool: open(above + name) for tool, name in _LOCKS.items()} if own is not None else {}
        required = [text for name in _REQUIRED if (text := open(above + name)) is not None]
        if own is not None or required:
            found = [
                _of_text(own, _PROJECT),
                *[_of_lock(tool, text) for tool, text in locks.items()],
                *map(of_requirements, required),
            ]
            pinned = [{key: one for key, one in claims.items() if one.release is not None} for claims in found]
            return for_later([claims for claims in pinned if claims])
    return {}


_REQUIRED = ("requirements.txt", "requirements.lock", "environment.yml")


def _text(ran: Invocation, name: str) -> TracedText | None:
    opened = ran.open(TracedText.of(name))
    return opened.text if opened is not None else None


def _of_lock(tool: str, text: TracedText | None) -> Claims:
    return _of_text(text, _LOCKED_WHEEL if tool == "pixi" else _LOCKED)


def _of_text(text: TracedText | None, pattern: str) -> Claims:
    found: list[Claims] = []
    if text is not None:
        for match in installs.with_package(pattern).finditer(text.flat):
            span = text.span(*match.span("release"))
            found.append({packages()[match.group("name").lower()]: ReleaseClaim(match.group("release"), "pip", span)})
    return for_later(found)


def _script(words: list[Word], ran: Invocation) -> Claims:
    """What another script installs that a command runs."""
    at = next((at for at, word in enumerate(words) if not word.text.flat.startswith(("-", "+"))), None)
    opened = ran.open(words[at].text) if at is not None and at + 1 == len(words) else None
    if opened is None or "install" not in opened.text.flat or installs.with_package("(?i){}").search(opened.text.flat) is None:
        return {}
    return {key: claim for key, claim in installs.installed(opened.text).items() if key in ENGINES}


def _installer(ran: Invocation) -> Claims:
    """`curl ADDRESS | OLLAMA_VERSION=0.5.7 sh`: the release that an engine's own installer takes from a variable."""
    found: Claims = {}
    for engine in ENGINES.values():
        given = ran.env.get(engine.installer_release) if ran.stdin is None or not ran.stdin.known else None
        match = re.fullmatch(rf"v?(?P<release>{RELEASE})", given.flat) if given is not None else None
        if given is not None and match is not None:
            found[engine.id] = ReleaseClaim(match.group("release"), "pip", given.span(*match.span("release")))
    return found


def _module(words: list[Word], _ran: Invocation, _known: Claims) -> Claims:
    """`module load vllm/0.19.1`."""
    found: Claims = {}
    for word in words[1:]:
        name, _, release = word.text.flat.partition("/")
        match = re.match(rf"v?(?P<release>{RELEASE})(?:$|[-_])", release)
        if match is not None and name.lower() in packages():
            at = len(name) + 1
            span = word.text.span(at + match.start("release"), at + match.end("release"))
            found[packages()[name.lower()]] = ReleaseClaim(match.group("release"), "pip", span)
    return found


# -- images, programs


def _image(words: list[Word], ran: Invocation, known: Claims) -> Claims:
    """A file or a name that is made of a known image: `apptainer pull a.sif docker://IMAGE`, `docker build -t NAME`."""
    verb = next((word.text.flat for word in words[1:3] if word.text.flat in _MAKING), None)
    plain = [word.text.flat for word in words[2:] if not word.text.flat.startswith("-")]
    if [word.text.flat for word in words[1:3]] in (["instance", "start"], ["instance", "run"]) and len(plain) > 2:
        path = next((word.text for word in reversed(words) if word.text.flat == plain[-2]), words[-1].text)
        return _named(of_image(path, known, images.identify(path), ran.open), plain[-1])
    if verb is None or not plain:
        return {}
    source = next((word.text for word in words if "docker://" in word.text.flat), None)
    made = _option(words, _TARGETS)
    if source is not None:
        image = images.identify(source.cut(source.flat.index("docker://") + len("docker://")))
        name = made or plain[0]
        return _named(image.claims, name) if "docker://" not in name else {}
    recipe = next((word.text for word in words[2:] if word.text.flat.endswith(".def")), None)
    if verb == "build" and recipe is not None:
        return _named(_of_recipe(ran.open(recipe)), plain[0])
    if verb in ("create", "tag"):
        held = plain[-2] if verb == "tag" and len(plain) > 1 else plain[-1]
        ready = {key.split(" ")[1]: claim for key, claim in known.items() if key.endswith(" " + held.rpartition("/")[2])}
        return _named(ready, _option(words, ("-n", "--name")) or plain[-1])
    found: Claims = {}
    for word in words:
        if (given := installs.with_package(_ARGUMENT).match(word.text.flat)) is not None:
            span = word.text.span(*given.span("release"))
            found[packages()[given.group("name").lower()]] = ReleaseClaim(given.group("release"), "pip", span)
    return _named(found, made) if made else {}


def _of_recipe(opened: OpenedFile | None) -> Claims:
    """What an image holds that a definition file of Apptainer makes: what it installs, else what is in the image below."""
    text = opened.text if opened is not None else TracedText.of("")
    below = re.search(r"(?mi)^[ \t]*From:[ \t]*(?P<image>\S+)", text.flat)
    if below is None or re.search(r"(?mi)^[ \t]*Bootstrap:[ \t]*docker\b", text.flat) is None:
        return {}
    held = images.identify(text.cut(*below.span("image"))).claims
    return {**held, **{key: one for key, one in installs.installed(text).items() if key in ENGINES}}


def _option(words: list[Word], names: tuple[str, ...]) -> str:
    return next((after.text.flat for before, after in pairwise(words) if before.text.flat in names), "")


def _named(claims: Claims, name: str) -> Claims:
    name = name.rpartition("/")[2].removesuffix(":latest")
    return {f"image {engine} {name}": claim for engine, claim in claims.items()} if HOLE not in name and " " not in name else {}


def _download(words: list[Word], _ran: Invocation, _known: Claims) -> Claims:
    """The build of an engine that is not a Python package, which its own repository offers."""
    for word in words[1:]:
        for engine, repository, _, _ in repositories():
            at = (
                repository.search(word.text.flat)
                if not engine.distributions and "/releases/download/" in word.text.flat
                else None
            )
            tag = re.match(r"/releases/download/([^/]+)/", word.text.flat[at.end() :]) if at is not None else None
            if at is not None and tag is not None:
                start = at.end() + tag.start(1)
                return {engine.id: at_tag(Word(word.text.cut(start, at.end() + tag.end(1))), engine.id)}
    return {}


_STEPS = {
    "git": _git, "patch": _patched, "cmake": _make, "make": _make, "ninja": _make, "uv": _install, "poetry": _install,
    "pdm": _install, "pixi": _install, "micromamba": _install, "module": _module, "ml": _module, "apptainer": _image,
    "singularity": _image, "enroot": _image, "docker": _image, "podman": _image, "curl": _download, "wget": _download,
    "aria2c": _download,
}  # fmt: skip
