"""What Kubernetes, compose or Docker refuses around an engine, whichever it is: one row of a table for each."""

from __future__ import annotations

from servelint.core.launch import Mishap
from servelint.engines import ENGINES, images
from servelint.engines.config import Config
from servelint.judge.parser.violation import Violation

_OBJECT, _SERVICE, _DEVICE = "refused-object", "refused-service", "refused-device"
_SWAP, _RAY = "llama-swap-setting", "ray-serve-setting"
_NOT_RUN = "Kubernetes refuses the object"
_FILE = "compose refuses the file"

TEXTS: dict[str, tuple[str, str, str, str]] = {
    "quantity": (_OBJECT, f"{{shown}} is not a quantity of Kubernetes: {_NOT_RUN}", "write {other}", "an unknown unit"),
    "above-limit": (
        _OBJECT,
        f"the request of {{shown}} is above the limit of {{other}}: {_NOT_RUN}",
        "raise the limit, or lower the request",
        "above its limit",
    ),
    "port-name": (
        _OBJECT,
        f"{{shown}} is not a name for a port of a container, which has at most 15 characters of a-z, 0-9 and -: {_NOT_RUN}",
        "write a shorter name such as http",
        "not a name for a port",
    ),
    "handlers": (
        _OBJECT,
        f"a probe asks in exactly one way, and this {{shown}} has {{other}}: {_NOT_RUN}",
        "write one of httpGet, tcpSocket, grpc and exec",
        "needs exactly one",
    ),
    "success-threshold": (
        _OBJECT,
        f"successThreshold of a {{other}} must be 1, and this is {{shown}}: {_NOT_RUN}",
        "delete it",
        "must be 1",
    ),
    "value-twice": (
        _OBJECT,
        f"{{shown}} has a value and valueFrom, which cannot be combined: {_NOT_RUN}",
        "delete one of them",
        "a second value",
    ),
    "no-list": (
        _OBJECT,
        f"{{shown}} is one text, and Kubernetes takes only a list here: {_NOT_RUN}",
        'write a list with one item for each word: ["--option", "value"]',
        "not a list",
    ),
    "no-field": (
        _OBJECT,
        f"a service of a DynamoGraphDeployment has no field {{shown}}: {_NOT_RUN}",
        "move it to args of mainContainer if it is an option of the engine, or delete it",
        "no such field",
    ),
    "mounted-twice": (_OBJECT, f"{{shown}} is mounted twice: {_NOT_RUN}", "delete one of the mounts", "mounted before"),
    "host-path": (
        _OBJECT,
        f"{{shown}} is not a type of hostPath: {_NOT_RUN}",
        "write Directory or DirectoryOrCreate, in these letters",
        "not a type",
    ),
    "no-volume": (
        _OBJECT,
        f"no volume of the pod is called {{shown}}: {_NOT_RUN}",
        "add it to volumes, or write the name of one that is there",
        "no such volume",
    ),
    "selector": (
        _OBJECT,
        f"the selector asks for {{shown}}, and the pods of the template have {{other}}: {_NOT_RUN}",
        "give both the same labels",
        "the template does not have it",
    ),
    "pod-restarts": (
        _OBJECT,
        f"restartPolicy of a {{first}} cannot be {{shown}}: {_NOT_RUN}",
        "write {second}",
        "not for this kind",
    ),
    "tiny-memory": (
        "tiny-memory",
        "memory: {shown} is less than 4 MiB: the container does not start",
        "write {other}",
        "a wrong unit",
    ),
    "no-such-port": (
        "service-port",
        "the {other} asks the port {shown}, and no container of the pod has a port of this name: no request is answered",
        "write the number, or give containerPort this name",
        "no such port",
    ),
    "selects-nothing": (
        "service-selector",
        "the Service {first} selects {shown}, and the pods of this file have {second}: no request reaches them",
        "write {third}",
        "selects none of them",
    ),
    "service-variable": (
        "service-variable",
        "for the Service {shown}, Kubernetes sets {other} to tcp://ADDRESS:PORT: {engine} needs a number and does not start",
        "rename the Service, or set enableServiceLinks: false in the pod",
        "sets {other}",
    ),
    "no-port": (
        "probe-port",
        "the {other} asks the port {shown}, and the container has no port of this name: it always fails",
        "write the number, or give containerPort this name",
        "no such port",
    ),
    "no-key": (
        "missing-key",
        "the {first} of this file has no key {shown}: Kubernetes does not start the container (CreateContainerConfigError)",
        "write {second}",
        "no such key",
    ),
    "undefined": (
        "variable-not-expanded",
        "this container has no variable {other}: {engine} gets the characters {shown}",
        "add {other} to env, or write the value",
        "these characters",
    ),
    "gpus-text": (
        _DEVICE,
        f"gpus is the word all or a list of devices, and this is {{shown}}: {_FILE}",
        "write gpus: all, or a list with driver: nvidia and count or device_ids",
        "not a list",
    ),
    "device-count": (
        _DEVICE,
        f"{{shown}} is not a count of devices: {_FILE}",
        "write all or a number",
        "not a number",
    ),
    "no-text": (
        _SERVICE,
        f"{{shown}} is {{other}} in YAML, and a command takes only strings: {_FILE}",
        'write "{shown}"',
        "not a string",
    ),
    "pair-in-list": (
        _SERVICE,
        f"{{shown}} is a mapping in a list of environment, which takes only strings: {_FILE}",
        "write {shown}=VALUE, or delete the dashes of all variables",
        "not a string",
    ),
    "one-name": (
        _SERVICE,
        f"{{other}} containers cannot all be called {{shown}}: {_FILE}",
        "delete container_name, or run one container",
        "one name",
    ),
    "network-twice": (
        _SERVICE,
        f"network_mode {{shown}} and networks cannot be combined: {_FILE}",
        "delete one of them",
        "beside networks",
    ),
    "ports-of-other": (
        _SERVICE,
        "the container has the network of {other}, and Docker refuses ports of its own",
        "publish the ports at the service whose network it is",
        "not with this network",
    ),
    "restart-policy": (
        _SERVICE,
        "{shown} is not a restart policy: Docker refuses the container",
        'write "no", always, unless-stopped, on-failure or on-failure:3',
        "not a policy",
    ),
    "one-port": (
        _SERVICE,
        "{other} containers cannot all publish port {shown} of the host: only the first one starts",
        "publish a range of {other} ports, or put a proxy in front of them",
        "published once",
    ),
    "check-word": (
        _SERVICE,
        f"the list of a health check begins with CMD, CMD-SHELL or NONE, not with {{shown}}: {_FILE}",
        "write CMD in front of it",
        "not CMD",
    ),
    "check-one-word": (
        _SERVICE,
        "the health check starts '{shown}' as one program, which does not exist: the container is never healthy",
        "write CMD-SHELL instead of CMD",
        "one word",
    ),
    "open-quote": (
        _SERVICE,
        "nothing closes the quote {shown}: compose refuses the file, and the project with it",
        "write the same quote at the end of the value, or delete this one",
        "not closed",
    ),
    "no-such-volume": (
        _SERVICE,
        f"no volume is called {{shown}}: {_FILE}",
        "declare it under volumes, at the end of the file",
        "not declared",
    ),
    "no-service": (
        _SERVICE,
        f"no service is called {{shown}}: {_FILE}",
        "write the name of a service that is there",
        "no such service",
    ),
    "no-check": (
        _SERVICE,
        "a service waits until {shown} is healthy, and neither this file nor the image has a health check: it never starts",
        "add a healthcheck to {shown}, or wait for service_started",
        "never healthy",
    ),
    "ray-model": (
        _RAY,
        "Ray Serve 2.48 and later refuses {shown} in engine_kwargs: the deployment does not start",
        "delete it, and write model_id and model_source in model_loading_config",
        "not taken here",
    ),
    "ray-executor": (
        _RAY,
        "Ray Serve 2.48 and later refuses distributed_executor_backend {shown} on GPUs: the deployment does not start",
        "delete it, or write ray",
        "not ray",
    ),
    "swap-macro": (
        _SWAP,
        "no macro of this file is called {shown}: llama-swap does not start the model",
        "define it under macros, or write the name of one that is there",
        "not defined",
    ),
    "swap-port": (
        _SWAP,
        "the command of {shown} has no ${{PORT}}, which the address of the model needs: llama-swap does not start",
        "write --port ${{PORT}}, or give the address under proxy",
        "no ${{PORT}}",
    ),
    "swap-reserved": (
        _SWAP,
        "llama-swap sets the macro {shown} itself: it does not start",
        "give the macro another name",
        "a reserved name",
    ),
    "swap-alias": (
        _SWAP,
        "{shown} is also an alias of {other}: llama-swap does not start",
        "delete one of them",
        "twice",
    ),
    "swap-member": (
        _SWAP,
        "{shown} is also a member of {other}: llama-swap does not start",
        "list it once",
        "twice",
    ),
    "swap-both": (
        _SWAP,
        "{shown} and {other} cannot be combined: llama-swap does not start",
        "move everything under one of them",
        "both",
    ),
    "swap-model-key": (
        _SWAP,
        "a model of llama-swap has no key {shown}: it is ignored",
        "delete it",
        "not a key of a model",
    ),
    "swap-model-spelling": (
        _SWAP,
        "a model of llama-swap has no key {shown}: it is ignored",
        "write {other}",
        "not a key of a model",
    ),
    "swap-group-key": (
        _SWAP,
        "a group of llama-swap has no key {shown}: it is ignored",
        "list the models under members, and the models to load at start under hooks.on_startup.preload",
        "not a key of a group",
    ),
    "swap-listen": (
        _SWAP,
        "llama-swap has no key listen in its file: it listens on :8080, or where its own option says",
        "start llama-swap with -listen and the address",
        "not a key",
    ),
    "swap-preload": (
        _SWAP,
        "no model of this file is called {shown}: llama-swap loads nothing for it at start",
        "write the name or an alias of a model",
        "no such model",
    ),
    "swap-preload-group": (
        _SWAP,
        "preload takes models, and {shown} is a group: llama-swap loads nothing for it at start",
        "write the names of its members",
        "a group",
    ),
    "no-capabilities": (
        _DEVICE,
        f"this device has no capabilities: {_FILE}",
        "add capabilities: [gpu] to the same item of the list, beside driver",
        "needs capabilities",
    ),
    "count-and-ids": (
        _DEVICE,
        f"count and device_ids of a device cannot be combined: {_FILE}",
        "delete one of them",
        "both",
    ),
}
"""Kind of mishap -> rule, message, advice, label. They name what the mishap shows, and what that does not agree with."""
_RUNS = (
    "check-one-word", "swap-group-key", "swap-listen", "swap-preload", "swap-preload-group", "swap-model-key",
    "swap-model-spelling",
)  # fmt: skip
"""Kinds with which the engine runs, otherwise than the file says."""


def violations(config: Config, mishap: Mishap) -> list[Violation]:
    """The violation of a mishap, by the row of its kind."""
    text = TEXTS.get(mishap.kind)
    if text is None or (mishap.kind == "no-check" and not _without_check(config)):
        return []
    links = ENGINES[config.launch.engine].link_variables
    launch = config.launch
    if mishap.kind == "undefined" and _injected(mishap.other):
        return []
    if mishap.kind == "service-variable" and (mishap.other not in links or mishap.other in launch.env or launch.open_env):
        return []
    rule, message, advice, label = text
    first, second, third = (*mishap.other.split("\n"), "", "")[:3]
    fields = {"shown": mishap.shown, "other": mishap.other, "first": first, "second": second, "third": third}
    fields["engine"] = ENGINES[config.launch.engine].name
    mild = mishap.kind in _RUNS
    return [Violation(rule, mishap.span, message.format(**fields), advice.format(**fields), label.format(**fields), mild=mild)]


def _injected(name: str) -> bool:
    """Whether a controller adds a variable: node-variable-not-set is about those."""
    from servelint.judge.container.nodes import INJECTED

    return any(name in names for names in INJECTED.values())


def _without_check(config: Config) -> bool:
    """Whether the container runs an image of the engine's developers, which has no health check."""
    container = config.launch.container
    image = container.image if container is not None and "build" not in container.settings else None
    return image is not None and ENGINES[config.launch.engine].checks_no_health and not images.identify(image).house
