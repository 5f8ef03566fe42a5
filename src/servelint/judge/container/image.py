"""The image that a container runs: whether its name says which release it holds."""

from __future__ import annotations

import re

from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES, images
from servelint.engines.config import Config
from servelint.engines.releases import newest
from servelint.judge.parser.violation import Violation, allowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.parser.violation import Options


_MOVING = r"(?i)(?:.*[-_.])?(?:latest|nightly|main|master|dev|edge|stable|head|rolling)(?:[-_.].*)?"
_VARIABLE = r"\$(?:\{\w+\}|\w+)"
_DATED = r"\d{6,}|[0-9a-f]{7,}|\d+\.\d+|20\d\d[-_.]\d\d?[-_.]\d\d?"
_LOCAL = r"localhost/|[^/]+$"
"""Names of images that no registry has: those of official images have no slash either, and none of them is an engine's."""


def violations(config: Config, options: Options) -> list[Violation]:
    """The violations in the name of the image. `options` are those of each violation's rule."""
    container = config.launch.container
    built = container.settings.get("build") if container is not None else None
    if built is not None:
        return _unpinned(config, built, options)  # the image's own name is only the label of what is built
    image = config.launch.image
    return [] if image is None else _needs_variable(image) or _unpinned(config, image, options)


def _unpinned(config: Config, image: TracedText, options: Options) -> list[Violation]:
    """An image without a tag, or with a tag that moves to other images."""
    flat = image.value
    if not flat or "@" in flat or flat.endswith((".sif", ".sqsh", ".img")):
        return []
    name, colon, tag = flat.rpartition(":")
    if not colon or "/" in tag:
        name, tag = flat, ""
    if name != name.lower():
        return []  # image names are lower case: this is a placeholder
    moves = re.fullmatch(_MOVING, tag) is not None or images.identify(image).claim.rolling
    if (tag and (not moves or re.search(_DATED, tag))) or allowed(options, "unpinned-image", flat):
        return []
    engine = config.launch.engine
    release = newest(engine)
    own = images.identify(TracedText.of(name)).claim
    if not tag and re.match(images.OF_SERIES, name) is not None:
        return []
    known = release is not None and not images.identify(TracedText.of(name)).house and own.rolling
    tag_of = ENGINES[engine].release_tag
    local = re.match(_LOCAL, name) is not None
    better = "the tag of one release" if local else "the tag of one release, or a digest (@sha256:...)"
    better = f"{name}:{tag_of.format(release)}" if known and tag_of and not local else better
    start = len(name) + 1 if tag else 0
    what = f"the tag {tag} moves to newer images" if tag else "without a tag, Docker takes the image tagged latest"
    what = "it is the last image built on the machine that runs it" if local else what
    message = f"{flat} pins no release of {ENGINE_NAMES[engine]}: {what}, so the engine changes while this file does not"
    span = image.span(start) or image.span()
    return [Violation("unpinned-image", span, message, f"write {better}", "moves")] if span is not None else []


def _needs_variable(image: TracedText) -> list[Violation]:
    """A default that itself needs a variable without a default: `${IMAGE:-engine:nightly-${SHA}}`."""
    pieces = image.pieces
    for index, piece in enumerate(pieces):
        if not re.fullmatch(_VARIABLE, piece.shown or ""):
            continue  # a command may print anything
        before = pieces[index - 1] if index else piece
        # `reg/${SPACE:-${USER}}/engine` names two variables, one of which must be set: without them it is not an image
        if before.assumed and before.text and piece.assumed and piece.expression is not None and piece.span is not None:
            start = "".join([one.text for one in pieces[:index] if one.expression is None])
            message = f"the default image needs {piece.shown}, which has no default: {start} alone is not an image"
            advice = f"give {piece.shown} a default as well, or write a complete tag"
            return [Violation("image-needs-variable", image.span(), message, advice, "not a complete image name")]
    return []
