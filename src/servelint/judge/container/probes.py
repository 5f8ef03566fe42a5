"""Checks of a container's health: whether they wait for the model, and whether they ask the server."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.core.launch import Probe, Runtime
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.config import Config
from servelint.fixes.change import written_at
from servelint.judge.container import serving
from servelint.judge.parser.complaint import Complaint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.container.allowed import Options

_SELDOM, _SHORT = 60, 180
"""Seconds in which a server is seldom up, and in which one with a large model, or that has to download it, is not: what the
rules' options say where nobody changes them."""


def complaints(config: Config, options: Options) -> list[Complaint]:
    container = config.launch.container
    runtime = container.runtime if container is not None else None
    if runtime is None or not runtime.probes or not config.launch.likely:
        return []
    return [one for probe in runtime.probes for one in (*_patience(config, probe, options), *_port(config, runtime, probe))]


def _patience(config: Config, probe: Probe, options: Options) -> list[Complaint]:
    span = probe.text.span()
    if probe.patience is None or span is None or not ENGINES[config.launch.engine].starts_slowly:
        return []
    kills = probe.kind in ("startupProbe", "livenessProbe")
    eager = config.operand("enforce-eager").present is not False or config.operand("disable-cuda-graph").present is not False
    seldom = options.get("probe-before-load", {}).get("seconds", _SELDOM)
    soon = probe.patience < seldom and (kills or probe.gates) and not eager
    if not soon and probe.patience >= options.get("short-probe", {}).get("seconds", _SHORT):
        return []
    end = "Kubernetes kills it while it loads, and it starts again" if kills else "the container counts as unhealthy"
    if probe.gates:
        end = "the services that wait for it are not started"
    when = f"{probe.patience:g} s after the start"
    what = "a model is seldom loaded by then" if soon else "a large model, or one that is downloaded, is not loaded by then"
    message = f"the {probe.kind} has failed for good {when}: {what}, and {end}"
    advice = "give it as long as the slowest start takes: "
    advice += "a startupProbe with a failureThreshold of some minutes" if kills else "a start_period of some minutes"
    return [Complaint("probe-before-load" if soon else "short-probe", span, message, advice, "too soon")]


def _port(config: Config, runtime: Runtime, probe: Probe) -> list[Complaint]:
    """A check of a port that nobody listens on."""
    span = probe.site.span() if probe.site is not None else None
    answers = ENGINES[config.launch.engine].answers_on_port
    if span is None or probe.port is None or not runtime.private or not runtime.direct or not answers:
        return []
    listening = serving.port(config)
    if listening is None or listening[0] == probe.port or serving.named(config, probe.port):
        return []
    port, site = listening
    message = (
        f"the {probe.kind} asks port {probe.port}, and {ENGINE_NAMES[config.launch.engine]} listens on {port}: it always fails"
    )
    related = [Related(site, "listens here")] if site is not None else []
    change = written_at(probe.site.written, str(port)) if probe.site is not None else None
    return [Complaint("probe-port", span, message, f"ask port {port}", "nobody listens", related=related, change=change)]
