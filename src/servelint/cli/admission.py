"""`servelint admission`: a validating webhook for Kubernetes."""

from __future__ import annotations

import re
import sys

from servelint.cli import collect_garbage_as_usual
from servelint.cli.command import Options, address, command, fail, flag, option, whole_number
from servelint.cli.output import print_stderr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.admission.answer import Rules

_NOTES = """deploy/ has manifests; docs/admission.md describes the policy and the answers.
It needs uvicorn and prometheus-client: pip install 'servelint[admission]'

exit status: 0 stopped by a signal, 2 wrong usage, a policy, settings or a certificate that cannot
be read, or an address that is taken, 3 an error in servelint itself. With --review: 0 allowed,
1 denied, 2 not a review"""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _pause(text: str) -> float:
    if re.fullmatch(r"\d{1,4}(?:\.\d{1,3})?", text) is None:
        raise ValueError(f'"{text}" is not a number of seconds, such as 5')
    return float(text)


def _seconds(text: str) -> float:
    found = _pause(text)
    if found <= 0:
        raise ValueError(f'"{text}" is not a number of seconds above 0, such as 5')
    return found


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d{1,12})([kmgKMG]?)", text)
    if match is None:
        raise ValueError(f'"{text}" is not a size; write bytes, or 512k, 8M, 1G')
    return int(match[1]) * _UNITS[match[2].lower()]


def _count(text: str) -> int:
    if len(text) > 5:
        raise ValueError(f'"{text}" is not a whole number from 1 to 99999')
    return whole_number(text)


class Listening(Options, title="connection"):
    """Where the webhook listens."""

    listen: str = option(
        "--listen", metavar="HOST:PORT", default="0.0.0.0:8443", help="address to listen on (default: 0.0.0.0:8443)"
    )
    tls_cert: str | None = option("--tls-cert", metavar="FILE", help="certificate chain, PEM; read again when it changes")
    tls_key: str | None = option("--tls-key", metavar="FILE", help="key of the certificate, PEM")
    plain_http: bool = flag("--plain-http", help="serve without TLS; a proxy must add it, because the API server requires it")


class Judging(Options, title="policy"):
    """What is denied."""

    policy: str | None = option("--policy", metavar="FILE", help="what to deny, what to warn about, and for whom (YAML)")
    settings: str | None = option("--settings", metavar="FILE", help="settings of servelint: rules, releases, GPUs (TOML)")
    check_policy: bool = flag("--check-policy", help="check the policy and the settings, and exit")
    review: str | None = option(
        "--review", metavar="FILE", help="answer the AdmissionReview in FILE, - for standard input, and exit"
    )


class Limits(Options, title="limits"):
    """What a review and the server may use."""

    workers: int | None = option(
        "--workers", metavar="N", read=_count, help="number of judging processes (default: one for each processor)"
    )
    worker_memory: int = option(
        "--worker-memory", metavar="SIZE", default="1G", read=_bytes, help="address space of each, 0 for no limit (default: 1G)"
    )
    budget: float = option("--budget", metavar="SECONDS", default="5", read=_seconds, help="time of a review (default: 5)")
    max_body: int = option("--max-body", metavar="SIZE", default="8M", read=_bytes, help="size of a review (default: 8M)")
    idle: float = option(
        "--idle", metavar="SECONDS", default="10", read=_seconds, help="time for a handshake, a head or a body (default: 10)"
    )
    max_reviews: int = option("--max-reviews", metavar="N", default="64", read=_count, help="concurrent reviews (default: 64)")
    max_connections: int = option(
        "--max-connections", metavar="N", default="512", read=_count, help="concurrent connections (default: 512)"
    )
    drain: float = option(
        "--drain",
        metavar="SECONDS",
        default="5",
        read=_pause,
        help="time to keep answering after SIGTERM while not ready (default: 5)",
    )
    grace: float = option(
        "--grace", metavar="SECONDS", default="10", read=_seconds, help="time to finish open reviews after that (default: 10)"
    )


class Logging(Options, title="log"):
    """What is logged on standard error."""

    log_level: str = option(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        default="info",
        help="debug logs every review (default: info)",
    )


@command(
    "admission",
    *(Listening, Judging, Limits, Logging),
    about="Serve a validating admission webhook that judges objects written to a Kubernetes cluster.",
    notes=_NOTES,
    examples=[
        "servelint admission --tls-cert tls.crt --tls-key tls.key --policy policy.yaml",
        "servelint admission --check-policy --policy policy.yaml",
        "servelint admission --policy policy.yaml --review review.json",
    ],
)
def run(listening: Listening, judging: Judging, limits: Limits, log: Logging) -> int:
    """Serve until a signal, or answer one review."""
    host, port = address(listening.listen, "0.0.0.0:8443")
    if judging.review is not None or judging.check_policy:
        return _offline(judging)
    pair = (listening.tls_cert, listening.tls_key) if listening.tls_cert and listening.tls_key else None
    if not listening.plain_http and pair is None:
        fail("give --tls-cert and --tls-key, or --plain-http if a proxy terminates TLS")
    if listening.plain_http and (listening.tls_cert or listening.tls_key):
        fail("--plain-http takes no certificate")
    rules = _rules(judging)
    if rules is None:
        return 2
    try:
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        needs = "the webhook needs uvicorn and prometheus-client"
        print_stderr(f"servelint: {needs} ({error}); pip install 'servelint[admission]'")
        return 2
    from servelint.admission import serving
    from servelint.admission.app import Options as ServerOptions
    from servelint.admission.workers import Workers
    from servelint.parallel import processors

    try:
        certificate = serving.Certificate(*pair) if pair is not None else None
    except serving.CertificateError as error:
        print_stderr(f"servelint: {error}")
        return 2
    collect_garbage_as_usual()
    serving.start_logging(log.log_level)
    workers = Workers(
        rules,
        limits.workers or processors(),
        judging.policy,
        judging.settings,
        budget=limits.budget,
        memory=limits.worker_memory,
    )
    return serving.serve(
        workers,
        ServerOptions(
            host=host,
            port=port,
            budget=limits.budget,
            largest=limits.max_body,
            reviews=limits.max_reviews,
            idle=limits.idle,
            connections=limits.max_connections,
            drain=limits.drain,
            grace=limits.grace,
        ),
        certificate,
    )


def _rules(judging: Judging) -> Rules | None:
    """Return the policy and the settings; None where they cannot be used, and print why."""
    from servelint.admission import worker

    rules, problems = worker.rules(judging.policy, judging.settings)
    for problem in problems:
        print_stderr(problem)
    return None if problems else rules


def _offline(judging: Judging) -> int:
    rules = _rules(judging)
    if rules is None:
        return 2
    if judging.review is None:
        return 0
    from servelint.admission.answer import answer

    try:
        if judging.review == "-":
            body = sys.stdin.buffer.read()
        else:
            with open(judging.review, "rb") as file:
                body = file.read()
    except OSError as error:
        print_stderr(f"servelint: {judging.review} cannot be read: {error.strerror or error}")
        return 2
    found = answer(body, rules)
    print(found.body.decode())
    if found.status != 200:
        return 2
    return 1 if found.facts["result"] in ("denied", "failed-closed") else 0
