"""Facts of a launch that its file does not say have the value that claims least."""

from __future__ import annotations

from servelint.core.launch import Container, Port, Probe, ReleaseClaim, Runtime
from servelint.core.text import TracedText


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
