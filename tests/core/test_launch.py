"""Facts of a launch that its file does not say have the value that claims least."""

from __future__ import annotations

from typing import Any

from servelint.core.launch import (
    Branch,
    Container,
    Launch,
    Mishap,
    Nodes,
    Port,
    Probe,
    ReleaseClaim,
    Runtime,
    Variable,
    Word,
    difference,
    join,
    pair,
)
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText
from tests.together import together


def test_a_health_check_of_which_only_the_kind_is_known() -> None:
    probe = Probe("healthcheck", TracedText.of("test"))
    assert (probe.patience, probe.port, probe.site, probe.path) == (None, None, None, None)
    assert not probe.gates
    assert not probe.outside


def test_a_container_of_which_nothing_is_known() -> None:
    container = Container()
    assert (container.image, container.gpus, container.reserved, container.runtime) == (None, None, None, None)
    assert not container.open
    assert container.settings == {}


def test_a_runtime_of_which_nothing_is_known() -> None:
    runtime = Runtime()
    assert (runtime.ports, runtime.mounts, runtime.network, runtime.private, runtime.restart) == (None,) * 5
    assert (runtime.probes, runtime.called) == ([], [])
    assert not runtime.declared
    assert not runtime.direct


def test_a_port_of_which_only_the_number_is_known() -> None:
    port = Port(TracedText.of("8000"), 8000)
    assert (port.host, port.exposed) == (None, None)
    assert repr(port) == "Port(8000, host=None, exposed=None)"


def test_a_release_that_no_file_names() -> None:
    claim = ReleaseClaim()
    assert (claim.release, claim.how, claim.span, claim.build) == (None, None, None, "")
    assert not claim.rolling


SOURCE = Source("run.sh", "a b c d e\nf")


def words(text: str) -> list[Word]:
    return [Word(TracedText.of(one)) for one in text.split()]


def launch(argv: str = "", engine: str = "vllm", **given: Any) -> Launch:
    return Launch(source=SOURCE, engine=engine, argv=words(argv), site=Span(SOURCE, 0, 11), **given)


def test_a_launch_of_which_only_the_command_is_known() -> None:
    one = launch("m --port 1")
    assert (one.line, one.end_line, one.image, one.folder, one.owner, one.judged, one.nodes) == (1, 2, *(None,) * 5)
    assert (one.gpu, one.gpu_count, one.gpu_site, one.open, one.cut) == (None,) * 5
    assert (one.env, one.models, one.elsewhere, one.mishaps, one.unsure) == ({}, {}, {}, [], [])
    assert (one.verb, one.secrets, one.beside, one.meanwhile, one.branches, one.name, one.launcher) == (*((),) * 5, "", "")
    assert (one.open_env, one.fragment, one.likely, one.started) == (False, False, True, True)
    assert (one.release.release, one.alternatives, one.every) == (None, [], [one])
    assert launch(container=Container(TracedText.of("i"))).image is not None


def test_alternatives_are_found_once_and_get_the_models_of_the_settings() -> None:
    one, other = launch(), launch()
    one.models = {"a/config.json": "{}"}
    found: list[int] = []

    def later() -> None:
        found.append(1)
        one.others.append(other)

    one.later = later
    assert one.every == [one]
    assert (one.alternatives, one.alternatives, found) == ([other], [other], [1])
    assert one.every == [one, other]
    assert other.models is one.models


@together(
    "value, shown",
    [
        (Word(TracedText.of("a")), "Word('a')"),
        (Word(TracedText.of("a"), many=True), "Word('a', many)"),
        (Variable("A", TracedText.of("1"), None), "Variable(A='1')"),
        (Variable("A", None, None), "Variable(A=None)"),
        (ReleaseClaim("0.1.0", "image"), "ReleaseClaim('0.1.0', 'image', rolling=False)"),
        (Probe("healthcheck", EMPTY, 1.5, 80), "Probe(healthcheck, patience=1.5, port=80, gates=False)"),
        (Mishap("not-run", Span(SOURCE, 0, 1), "a"), "Mishap('not-run', 'a')"),
        (Branch(Span(SOURCE, 0, 1), True), "Branch('a', True)"),
        (launch("m --a"), "Launch(vllm ['m', '--a'])"),
    ],
    name=str,
)
def test_how_what_readers_find_is_shown(value: object, shown: str) -> None:
    assert repr(value) == shown


def test_defaults_of_what_readers_find() -> None:
    word = Word(TracedText.at(SOURCE, 2, 5))
    assert (word.site, word.many, word.value, word.shown) == (Span(SOURCE, 2, 5), False, "b c", "b c")
    assert (word.after(2).value, word.after(2).site) == ("c", word.site)
    assert Word(word.text, Span(SOURCE, 0, 7)).site == Span(SOURCE, 0, 7)
    probe = Probe("startupProbe", EMPTY)
    assert (probe.program, probe.scheme, probe.keyed) == (None, None, True)
    runtime = Runtime()
    assert (runtime.script, runtime.services) == (False, [])
    assert Mishap("not-run", Span(SOURCE, 0, 1), "a").other == ""
    assert not Branch(Span(SOURCE, 0, 1), taken=True).assumed
    nodes = Nodes("StatefulSet", [])
    assert (nodes.size, nodes.site, nodes.gpus, nodes.parts) == (None, None, None, [])


@together(
    "privileged, gpus, visible",
    [(None, 2, 2), ("false", 2, 2), ("true", 2, None), ("maybe", 2, None), (None, None, None), ("false", 0, 0)],
)
def test_a_privileged_container_sees_every_gpu(privileged: str | None, gpus: int | None, visible: int | None) -> None:
    settings = {} if privileged is None else {"privileged": TracedText.of(privileged)}
    assert Container(settings=settings, gpus=gpus).visible_gpus == visible


@together(
    "ours, theirs, gone, added",
    [
        ("m --a 1 --b", "m --a 1 --b", [], []),
        ("m --a 1 --b", "m --b", [1, 2], []),
        ("m --b", "m --a 1 --b", [], ["--a", "1"]),
        ("m --a 1 --b 2", "m --a 3 --b 2", [2], ["3"]),
        ("m --a 1 --b 2", "m --a 3 --b", [2, 4], ["3"]),
        ("", "m", [], ["m"]),
        ("m", "", [0], []),
        ("x " * 300 + "m", "x " * 300 + "n", [300], ["n"]),  # a word that stands there often is compared too
    ],
)
def test_what_an_alternative_has_otherwise(ours: str, theirs: str, gone: list[int], added: list[str]) -> None:
    lacks, adds = difference(launch(ours), launch(theirs))
    assert (lacks, [word.value for word in adds]) == (gone, added)


def test_a_word_that_may_be_several_is_another_word() -> None:
    ours, theirs = launch("m a"), launch("m a")
    theirs.argv[1].many = True
    assert difference(ours, theirs) == ([1], [theirs.argv[1]])


def test_launches_of_several_nodes_in_one_file_know_of_each_other() -> None:
    apart = [launch("m --nnodes 2 --node-rank 0"), launch("m"), launch("m --nnodes=2 --node-rank 1")]
    join(apart)
    assert apart[1].nodes is None
    assert apart[0].nodes is not None
    assert apart[0].nodes is apart[2].nodes
    assert (apart[0].nodes.kind, apart[0].nodes.parts) == ("", [(apart[0], 1), (apart[2], 1)])


@together("why", ["alone", "started together", "unlikely"])
def test_launches_that_are_not_joined(why: str) -> None:
    one, other = launch("m --nnodes 2"), launch("m --nnodes 2" if why != "alone" else "m")
    known = Nodes("LeaderWorkerSet", [])
    other.nodes = known if why == "started together" else None
    other.likely = why != "unlikely"
    join([one, other])
    assert one.nodes is None
    assert other.nodes is (known if why == "started together" else None)


@together(
    "one",
    [
        launch(name="services.prefill"),
        launch(name="services.Decode-0"),
        launch("m --disaggregation-ib-device mlx5_0"),
        launch("m --disaggregation-mode decode"),
        launch("m --kv-transfer-config {}"),
        launch("m --x.kv_transfer_config {}"),
        launch('m --x {"kv_connector":1}'),
        launch("m --server_role=CONTEXT"),
    ],
    name=repr,
)
def test_launches_of_roles_know_of_each_other(one: Launch) -> None:
    others = [launch(name="a-decode-b"), launch(name="prefill", engine="sglang"), launch("m --port 1", name="router")]
    pair([one, *others])
    assert one.beside == (others[0],)
    assert others[0].beside == (one,)
    assert others[1].beside == ()
    assert others[2].beside == ()
    alone: tuple[Launch, ...] = ()
    for of_one_file, beside in (([one, others[2]], alone), ([one, others[0]], (others[0],))):
        pair(of_one_file)
        assert one.beside == beside
