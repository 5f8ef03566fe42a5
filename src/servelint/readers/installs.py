"""`pip install vllm==0.19.1` and its kin: which engine release a command installs."""

from __future__ import annotations

import re

from servelint.launch import ReleaseClaim, Word

_PACKAGES = {
    "vllm": "vllm",
    "sglang": "sglang",
    "lmdeploy": "lmdeploy",
    "tensorrt-llm": "trtllm",
    "tensorrt_llm": "trtllm",
}
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*?)(?:\[[^\]]*\])?\s*(?:(?P<sign>===?|@|[<>~!]=?)\s*(?P<release>[^,;\s]*).*)?"
)
_INSTALLER = re.compile(r"(?:pip\d?(?:\.\d+)?|uv|poetry|pdm|conda|mamba|micromamba)$")
_REPOSITORY = re.compile(
    r"(?:git\+|https?://).*?(vllm|sglang|lmdeploy)[^/]*?(?:-(\d+\.\d+\.\d+(?:\.post\d+|rc\d+)?)[-+].*\.whl)?",
    re.IGNORECASE,
)


def claims(words: list[Word]) -> dict[str, ReleaseClaim]:
    """engine -> claim for each engine that a command installs; a claim without a release where it is not pinned."""
    names = [word.text.flat.rpartition("/")[2] for word in words[:4]]
    if not any(_INSTALLER.match(name) for name in names) or not any(word.value in ("install", "add") for word in words[:5]):
        return {}
    start = next(index for index, word in enumerate(words) if word.value in ("install", "add")) + 1
    upgrade = any(word.value in ("-U", "--upgrade") for word in words)
    mixed = any(
        word.text.flat.startswith(("--pre", "--extra-index-url", "--index-url", "-i", "--torch-backend=n")) for word in words
    )
    found: dict[str, ReleaseClaim] = {}
    for word in words[start:]:
        claim = requirement(word)
        if claim is not None:
            engine, release = claim
            if release.release is None and release.how == "bare":
                if not upgrade:
                    continue  # satisfied by whatever is there
                release = ReleaseClaim(None, "pip", release.span, rolling=not mixed)
            found[engine] = release
    return found


def requirement(word: Word) -> tuple[str, ReleaseClaim] | None:
    """The engine and the release that a requirement names: `sglang[all]==0.5.9`, `vllm@0.9.1`, a wheel's address."""
    flat = word.text.flat
    if flat.startswith("-"):
        return None
    address = _REPOSITORY.match(flat)
    if address is not None:
        return address.group(1).lower(), ReleaseClaim(address.group(2), "pip", word.text.span())
    match = _REQUIREMENT.fullmatch(flat)
    engine = _PACKAGES.get(match.group("name").lower()) if match else None
    if match is None or engine is None:
        return None
    if match.group("sign") is None:
        return engine, ReleaseClaim(None, "bare", word.text.span())
    release = match.group("release")
    exact = match.group("sign") in ("==", "===", "@") and re.fullmatch(r"\d+(\.\d+)+(\.post\d+|rc\d+)?", release or "")
    span = word.text.span(match.start("release"), match.end("release")) if release else word.text.span()
    return engine, ReleaseClaim(release if exact else None, "pip", span)
