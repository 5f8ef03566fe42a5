"""The file of `trtllm-serve disaggregated -c`: the servers that prefill and those that decode, with the keys of each.

Keys at the top go to both kinds of servers, and must not differ from those of a kind (extract_disagg_cfg in TensorRT-LLM's
llmapi/disagg_utils.py). The servers start by `disaggregated_mpi_worker` with these keys, or by commands of their own.
"""

from __future__ import annotations

from servelint.core.launch import Launch, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines.registry import ENGINES
from servelint.files.siblings import Neighbours
from servelint.readers.registry import YAML, Format
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

FORMAT = Format(
    "disaggregated",
    48,
    title="disaggregated serving",
    about="the servers of `trtllm-serve disaggregated -c`",
    syntax=YAML,
    words=("context_servers", "generation_servers"),
)

CONFLICT, INSTANCES, URLS = "CONFLICT", "INSTANCES", "URLS"
"""Variables of a fragment: a key that differs from the one at the top, num_instances, and how many urls there are."""

_ROLE = "server-role"
"""The option that says which kind a server is."""
_KINDS = {"context_servers": "context", "generation_servers": "generation"}
_OF_THE_ROUTER = frozenset(("num_instances", "urls", "router", "hostname", "port"))
_OF_THE_FRONT = _OF_THE_ROUTER | _KINDS.keys() | {
    "max_retries", "perf_metrics_max_requests", "conditional_disagg_config", "otlp_config", "disagg_cluster", "node_id",
    "schedule_style", "return_perf_metrics", "perf_metrics_output_dir", "allow_request_chat_template", "num_workers",
    "gen_strip_message_history", "gen_tokids_ctxbytes", "disagg_coordinator_url",
}  # fmt: skip
_OF_THE_COMMAND = {
    "backend": "--backend",
    "free_gpu_memory_fraction": "--kv_cache_free_gpu_memory_fraction",
    "gpus_per_node": "--gpus_per_node",
}
"""Keys that get_llm_args of tensorrt_llm/commands/serve.py takes, and the LLM API does not -> the option that sets the same."""


def is_mine(_source: Source, document: Node) -> bool:
    """Whether a YAML document has a kind of servers at its top."""
    fields = yaml.entries(document)
    return any(yaml.is_mapping(fields[kind][1]) for kind in _KINDS if kind in fields)


def read(source: Source, documents: list[Node], _neighbours: Neighbours) -> list[Launch]:
    """A fragment of a launch for each kind of servers."""
    from servelint.engines.launch_files import Missing

    engine = next((one for one in ENGINES.values() if one.roles[0] == _ROLE), None)
    found: list[Launch] = []
    for document in documents:
        fields = yaml.entries(document)
        top = {name: pair for name, pair in fields.items() if name not in _OF_THE_FRONT}
        for kind, role in _KINDS.items():
            if engine is None or kind not in fields or not yaml.is_mapping(fields[kind][1]):
                continue
            try:
                found.append(_launch(source, engine.id, role, fields[kind], top))
            except Missing:
                continue
    return found


def _launch(source: Source, engine: str, role: str, section: tuple[Node, Node], top: yaml.Entries) -> Launch:
    from servelint.engines.launch_files import object_of

    own = yaml.entries(section[1])
    given = {**top, **{name: pair for name, pair in own.items() if name not in _OF_THE_ROUTER}}
    site = yaml.span(source, section[0])
    argv: list[Word] = []
    if yaml.is_scalar(yaml.field(given, "model")):
        argv.append(_word(source, given["model"][1]))
    argv += [Word(TracedText.of("--server_role"), site), Word(TracedText.of(role), site)]
    for name, option in _OF_THE_COMMAND.items():
        if yaml.is_scalar(yaml.field(given, name)):
            argv += [Word(TracedText.of(option), yaml.span(source, given[name][0])), _word(source, given[name][1])]
    keys = [pair for name, pair in given.items() if name != "model" and name not in _OF_THE_COMMAND]
    if keys:
        argv += [Word(TracedText.of("--extra_llm_api_options"), site), Word(object_of(source, keys), site)]
    whole = yaml.span(source, section[1])
    found = Launch(source=source, engine=engine, argv=argv, site=Span(source, site.start, max(site.end, whole.end)))
    found.name, found.fragment = f"{yaml.text(source, section[0]).flat} ({'prefill' if role == 'context' else 'decode'})", True
    found.env = _facts(source, own, top)
    return found


def _facts(source: Source, own: yaml.Entries, top: yaml.Entries) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    for name, (key, value) in own.items():
        other = top.get(name)
        if other is None or not (yaml.is_scalar(value) and yaml.is_scalar(other[1])):
            continue
        if yaml.text(source, value).flat != yaml.text(source, other[1]).flat:
            found[CONFLICT] = Variable(CONFLICT, yaml.text(source, key), yaml.span(source, value))
    urls = yaml.items(yaml.field(own, "urls"))
    if urls:
        found[URLS] = Variable(URLS, TracedText.of(str(len(urls))), yaml.span(source, own["urls"][0]))
        count = own.get("num_instances")
        text = yaml.text(source, count[1]) if count is not None and yaml.is_scalar(count[1]) else TracedText.of("1")
        found[INSTANCES] = Variable(INSTANCES, text, text.span() or yaml.span(source, own["urls"][0]))
    return found


def _word(source: Source, node: Node) -> Word:
    return Word(yaml.text(source, node), yaml.span(source, node))
