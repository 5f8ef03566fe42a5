"""`pip install vllm==0.19.1` and similar commands: which engine release a command installs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from servelint.core.data import load_data
from servelint.core.launch import PATCHED, ReleaseClaim, Word
from servelint.core.source import Source
from servelint.core.text import EMPTY, TracedText
from servelint.engines.registry import ENGINES, Engine, derived
from servelint.engines.releases import is_published_build
from servelint.syntax.shell.words import split

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*?)(?:\[[^\]]*\])?\s*(?:(?P<sign>={1,3}|@|[<>~!]=?)\s*(?P<release>[^,;\s]*).*)?"
)
RELEASE = r"(?!0\.1\.dev)\d+(?:\.\d+)+(?:\.post\d+|rc\d+)?(?:\.dev\d+)?"
_WITH_EXTRAS = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*?)\[(?P<extras>[^\]]*)\]\s*(?:(?P<sign>={1,3}|@|[<>~!]=?)\s*(?P<release>[^,;\s]*).*)?"
)
_EXACT = re.compile(
    r"(?i)v?(?P<release>(?!0\.1\.dev)\d+(?:\.\d+)+(?:[-_.]?(?:post|rc)[-_.]?\d+)?(?:[-_.]?dev\d+)?)(?:\+(?P<build>[\w.]+))?"
)
"""A release as a person may write it: pip takes `v0.6.1` and `0.5.3post1` too."""
_SPELLED = {"post": ".post", "rc": "rc", "dev": ".dev"}
_INSTALLER = re.compile(r"(?:pip\d?(?:\.\d+)?|pipx|uv|poetry|pdm|conda|mamba|micromamba)$")
_CONDA = re.compile(r"(?:conda|mamba|micromamba)$")
_VERBS = ("install", "add")
_SAME = (("==", "===", "@"), ("=", "=="))
_NOT_HERE = frozenset(("docker", "podman", "nerdctl", "kubectl", "ssh", "echo", "printf"))
_WITH_VALUE = re.compile(r"-[a-z]|--(?:extra-index-url|index-url|index|find-links|requirements?|constraints?|python|target)")
_SWITCHES = ("-U", "-e", "-q", "-v", "-y")
_GIT_WITH_VALUE = frozenset(("-o", "--origin", "--depth", "-j", "--jobs", "-c", "--config", "--reference", "--filter"))
_WHEEL = rf"(?i)(?:.*/)?(?P<name>{{}})-(?P<release>{RELEASE})(?:(?:\+|%2B)(?P<build>[\w.]+))?-.*\.whl"
_COMMENTS = re.compile(r"(?<=\n)[ \t]*#[^\n]*\n")
_COMMAND = re.compile(r"(?:\\[ \t]*\r?\n|[^;&|'\"\n]|'[^']*'|\"[^\"]*\")+")
_PACKAGE = r"(?i)(?<![\w/-])({})(?![\w-])"
_ADDRESS = r"(?i)(?:git\+|https?://).*?(?P<name>{})"
_TAGGED = r"(?i).*git\+(?:https|ssh)://(?:git@)?{}(?:\.git)?@v(?P<release>RELEASE)(?:#.*)?".replace("RELEASE", RELEASE)
"""A tag of a repository: `git+https://github.com/vllm-project/vllm.git@v0.19.1`."""


@derived
def packages() -> dict[str, str]:
    """Map each name on the package index to the id of its engine."""
    return {name: engine.id for engine in ENGINES.values() for name in engine.distributions}


@derived
def with_package(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, with the names on the package index in place of {}."""
    return re.compile(pattern.format("|".join([re.escape(name) for name in packages()])))


@derived
def _built() -> dict[str, str]:
    return {name: engine.id for engine in ENGINES.values() for name in engine.wheels}


@derived
def _wheel() -> re.Pattern[str]:
    return re.compile(_WHEEL.format("|".join([re.escape(name) for name in (*packages(), *_built())])))


class Dependent(NamedTuple):
    """A package whose extras install an engine, such as `ai-dynamo[vllm]`.

    Attributes:
        extras: Extra -> the id of the engine that it installs.
        releases: Release of the package -> extra -> the engine's release that it requires.
    """

    extras: dict[str, str]
    releases: dict[str, dict[str, str]]


@derived
def dependents() -> dict[str, Dependent]:
    """Map each package of others whose extras install an engine to what its releases require."""
    data = load_data("engines/data/dependents.json")
    return {name: Dependent(one["extras"], one["releases"]) for name, one in data.items()}


def is_install(words: list[Word]) -> bool:
    """Whether a command is `pip install` or another installer's."""
    for index, word in enumerate(words[:8]):
        name = word.text.flat.rpartition("/")[2]
        if name in _NOT_HERE:
            return False
        verbs = (*_VERBS, "create") if _CONDA.match(name) else _VERBS
        if _INSTALLER.match(name) and any(word.value in verbs for word in words[index : index + 5]):
            return True
    return False


def claims(words: list[Word]) -> dict[str, ReleaseClaim]:
    """Find the engines that a command installs. A claim has no release where it is not pinned."""
    if not is_install(words):
        return {}
    start = next(index for index, word in enumerate(words) if word.value in ("install", "add", "create")) + 1
    conda = any(_CONDA.match(word.text.flat.rpartition("/")[2]) for word in words[:start])
    upgrade = any(word.value in ("-U", "--upgrade") for word in words)
    mixed = any(
        word.text.flat.startswith(("--pre", "--extra-index-url", "--index-url", "-i", "--torch-backend=n")) for word in words
    )
    found: dict[str, ReleaseClaim] = {}
    required: dict[str, ReleaseClaim] = {}
    before = ""
    for word in words[start:]:
        option, before = before, word.text.flat
        if option not in _SWITCHES and _WITH_VALUE.fullmatch(option):
            continue  # an index, a file
        required.update(brought(word))
        if (claim := requirement(word, conda=conda)) is not None:
            engine, release = claim
            if release.release is None and release.how == "bare":
                if not upgrade:
                    continue  # satisfied by whatever is there
                release = ReleaseClaim(None, "pip", release.span, rolling=not mixed)
            found[engine] = release
    return {**required, **found}


def brought(word: Word) -> dict[str, ReleaseClaim]:
    """The engines that the extras of another package bring: `ai-dynamo[vllm]==1.4.0` requires one release of vLLM."""
    match = _WITH_EXTRAS.fullmatch(word.text.flat) if "[" in word.text.flat else None
    dependent = dependents().get(re.sub(r"[-_.]+", "-", match.group("name")).lower()) if match is not None else None
    if match is None or dependent is None:
        return {}
    pinned = match.group("sign") in _SAME[0]
    required = dependent.releases.get(match.group("release"), {}) if pinned else {}
    start, end = match.span("release")
    span = word.text.span(start, end) if end > start else word.text.span()
    extras = [extra.strip() for extra in match.group("extras").split(",")]
    return {
        dependent.extras[extra]: ReleaseClaim(required.get(extra), "pip", span) for extra in extras if extra in dependent.extras
    }


def requirement(word: Word, *, conda: bool = False) -> tuple[str, ReleaseClaim] | None:
    """The engine and the release that a requirement names: `sglang[all]==0.5.9`, `vllm@0.9.1`, a wheel's address.

    conda: whether Conda reads it, to which `vllm=0.9.1` is that release.
    """
    flat = word.text.flat
    if flat.startswith("-"):
        return None
    if (wheel := _wheel().match(flat)) is not None:
        name = wheel.group("name").lower()
        return packages().get(name) or _built()[name], _claim(word, wheel)
    if (address := with_package(_ADDRESS).match(flat)) is not None:
        named = packages()[address.group("name").lower()]
        repository, copied = _repository_of(flat)
        build = FORK if copied or (not repository and _HOSTED.search(flat) is not None) else ""
        return named, _of_tag(named, word) or ReleaseClaim(None, "pip", word.text.span(), build=build)
    match = _REQUIREMENT.fullmatch(flat)
    engine = packages().get(match.group("name").lower()) if match else None
    if match is None or engine is None:
        return None
    if match.group("sign") is None:
        return engine, ReleaseClaim(None, "bare", word.text.span())
    start, end = match.span("release")
    exact = _EXACT.fullmatch(flat, start, end) if match.group("sign") in _SAME[conda] else None
    if exact is not None and match.group("sign") == "=" and exact.group("release").count(".") < 2:
        exact = None  # any release of a series
    if exact is None and (tagged := _of_tag(engine, word)) is not None:
        return engine, tagged
    if exact is None:
        return engine, ReleaseClaim(None, "pip", word.text.span(start, end) if end > start else word.text.span())
    return engine, _claim(word, exact)


def _of_tag(engine: str, word: Word) -> ReleaseClaim | None:
    """The release whose tag of the engine's own repository is installed."""
    repository = ENGINES[engine].source_url.partition("/blob/")[0].partition("://")[2]
    tagged = re.fullmatch(_TAGGED.replace("{}", re.escape(repository)), word.text.flat)
    return _claim(word, tagged) if tagged is not None else None


def _claim(word: Word, match: re.Match[str]) -> ReleaseClaim:
    build = match.groupdict().get("build") or ""
    own = (
        not is_published_build(build) and re.fullmatch(r"g[0-9a-f]{7,}(?:\.[\w.]+)?", build) is None
    )  # setuptools-scm's commit
    release = re.sub(r"[-_.]?(post|rc|dev)[-_.]?", lambda part: _SPELLED[part.group(1)], match.group("release").lower())
    return ReleaseClaim(release, "pip", word.text.span(*match.span("release")), build="+" + build if own else "")


@derived
def repositories() -> list[tuple[Engine, re.Pattern[str], re.Pattern[str], list[str]]]:
    """Each engine with the address of its repository, the names of its tags, and the folders around its package there."""
    found = []
    for engine in ENGINES.values():
        address, _, rest = engine.source_url.partition("/blob/")
        if rest:
            owner, name = address.rsplit("/", 2)[1:]
            owners = "|".join([owner, *engine.former_owners])
            tag, *folders = rest.split("/")[:-1]
            release = r"b\d{3,6}" if engine.numbered_builds else RELEASE
            tags = re.escape(tag).replace(r"\{release\}", f"(?P<release>{release})")
            repository = re.compile(rf"github\.com[/:](?:{owners})/{re.escape(name)}(?=\.git|/|$)", re.IGNORECASE)
            found.append((engine, repository, re.compile(f"(?:refs/)?(?:tags/)?{tags}"), folders[:-1]))
    return found


FORK = "+fork"
_HOSTED = re.compile(r"(?i)(?:github|gitlab|gitee|bitbucket)[\w.]*[/:](?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?=\.git|[/@#]|$)")


def _repository_of(address: str) -> tuple[str, bool]:
    """The engine whose repository an address names, "" for none, and whether it is a copy of it under another owner."""
    hosted = _HOSTED.search(address)
    named_here = hosted.group() if hosted is not None else address
    own = next((engine.id for engine, repository, _, _ in repositories() if repository.search(named_here)), "")
    name = hosted.group("name").lower() if hosted is not None and not own else ""
    named = {
        engine.source_url.partition("/blob/")[0].rpartition("/")[2].lower(): engine.id for engine, _, _, _ in repositories()
    }
    return (named[name], True) if name in named else (own, False)


def changed(claim: ReleaseClaim, build: str = PATCHED) -> ReleaseClaim:
    """The claim of a build that is not the published one, since its source is changed: it may have more options."""
    return ReleaseClaim(claim.release, claim.how, claim.span, claim.rolling, claim.build or build)


_PATCHES = re.compile(
    r"(?m)(?:^|[;&|(]|\b(?:do|then|else|RUN)[ \t])[ \t]*(?:sudo[ \t]+)?"
    r"(?:patch[ \t]+[-<\"$./\w]|git[ \t]+(?:-C[ \t]+\S+[ \t]+)?(?:apply|am)\b)"
)


def patches(run: TracedText) -> bool:
    """Whether a step of an image's build applies a patch to something."""
    return _PATCHES.search(run.flat) is not None


def at_tag(word: Word | None, engine: str, *, fork: bool = False) -> ReleaseClaim:
    """The release whose tag in the engine's own repository a word names. fork: whether it is a copy with tags of its own"""
    tags = next(tags for one, _, tags, _ in repositories() if one.id == engine)
    match = tags.fullmatch(word.text.flat) if word is not None else None
    if word is None or match is None or fork:
        return ReleaseClaim(None, "pip", word.text.span() if word is not None else None, build=FORK if fork else "")
    return ReleaseClaim(match.group("release"), "pip", word.text.span(*match.span("release")))


class Git(NamedTuple):
    """A command of Git.

    Attributes:
        verb: What it does.
        folder: The folder that it works in.
        rest: Its operands.
        branch: The branch or tag that it clones.
        changes: Whether it puts whole commits, or single files of one, into a checkout: "commit", "files", "".
        engine: The id of the engine whose repository it clones, or "".
        fork: Whether that is another owner's copy.
    """

    verb: Word
    folder: TracedText
    rest: list[Word]
    branch: Word | None
    changes: str
    engine: str
    fork: bool


def git(words: list[Word]) -> Git | None:
    """Read `git clone -b v0.19.1 ADDRESS [FOLDER]`, `git [-C FOLDER] checkout v0.19.1`, and what else starts with git."""
    here = TracedText.of(".")
    at = 1
    while at + 1 < len(words) and words[at].text.flat.startswith("-"):
        here = words[at + 1].text if words[at].text.flat == "-C" else here
        at += 2 if words[at].text.flat in ("-C", "-c") else 1
    if at >= len(words):
        return None
    verb = words[at].text.flat
    rest: list[Word] = []
    branch: Word | None = None
    for before, word in zip(words[at:], words[at + 1 :], strict=False):
        flat, option = word.text.flat, before.text.flat
        if flat.startswith("--branch="):
            branch = word.after(len("--branch="))
        elif verb == "clone" and option in ("-b", "--branch"):
            branch = word
        elif not flat.startswith("-") and not (verb == "clone" and option in _GIT_WITH_VALUE):
            rest.append(word)
    changes = ""
    if verb in ("checkout", "switch", "reset") and rest:
        changes = "files" if verb == "checkout" and any(word.text.flat == "--" for word in words) else "commit"
    address = rest[0].text.flat if verb == "clone" and rest else ""
    return Git(words[at], here, rest, branch, changes, *_repository_of(address))


def checked_out(run: TracedText, before: dict[str, ReleaseClaim]) -> dict[str, ReleaseClaim]:
    """Find the engines whose own repository a step of an image's build clones, and the release whose tag it checks out.

    Args:
        run: The step.
        before: What earlier steps cloned, the last of them last.
    """
    if "git" not in run.flat or not ("clone" in run.flat or "checkout" in run.flat):
        return {}
    text = run.sub(_COMMENTS, lambda _: EMPTY)
    found: dict[str, ReleaseClaim] = {}
    last = next(reversed(before), None)
    for command in _COMMAND.finditer(text.flat):
        words = split(text.cut(*command.span()))
        at = next((index for index, word in enumerate(words) if word.text.flat == "git"), None)
        ran = git(words[at:]) if at is not None else None
        if ran is not None and ran.verb.text.flat == "clone":
            last = ran.engine or None
            if last is not None:
                found[last] = at_tag(ran.branch, last, fork=ran.fork)
        elif ran is not None and last is not None and ran.changes:
            known = found.get(last, before.get(last))
            fork = known is not None and known.build == FORK
            found[last] = at_tag(ran.rest[-1] if ran.changes == "commit" else None, last, fork=fork)
    return found


_BUILDS_IT = re.compile(
    r"\b(?:install|wheel)\b.*(?:[ \t](?:-e|--editable)\b|[ \t]['\"]?\.)|setup\.py|\bcmake\b|\bmake\b|\bgo build\b", re.S
)


def builds(run: TracedText) -> bool:
    """Whether a step of an image's build builds what a folder holds."""
    return _BUILDS_IT.search(run.flat) is not None


def installed(
    script: TracedText,
    environment: dict[str, TracedText] | None = None,
    before: dict[str, ReleaseClaim] | None = None,
    files: Callable[[str], Source | None] | None = None,
) -> dict[str, ReleaseClaim]:
    """Find the engines that a script installs, or gets ready.

    Args:
        script: The script.
        environment: Variables that are set before it starts.
        before: What is ready before it starts.
        files: Opens a file by its path below the folder that it runs in.
    """
    if re.search(r"install|add|git|sync|load|make|docker|download", script.flat) is None:
        return {}
    from servelint.readers import prepared
    from servelint.syntax.shell.evaluate import Invocation, evaluate

    found: dict[str, ReleaseClaim] = {}

    def on_command(ran: Invocation) -> dict[str, ReleaseClaim]:
        ready = prepared.by_command(ran, {**(before or {}), **found})
        found.update(ready)
        return ready

    evaluate(script, on_command, environment=environment, files=files)
    return found


def of_layer(run: TracedText) -> dict[str, ReleaseClaim]:
    """Find what a step of an image's build installs, by engine.

    No release is known of an engine that the step names in a way that is not understood.
    """
    if "install" not in run.flat and " add " not in run.flat:
        return {}
    text = run.sub(_COMMENTS, lambda _: EMPTY)
    found: dict[str, ReleaseClaim] = {}
    rest = ""
    for command in _COMMAND.finditer(text.flat):
        words = split(text.cut(*command.span()))
        found.update(claims(words))
        if not is_install(words):
            rest += command.group()
    if "install" in text.flat:
        for mention in with_package(_PACKAGE).finditer(rest):
            found.setdefault(packages()[mention.group(1).lower()], ReleaseClaim(None, "pip"))
    return found
