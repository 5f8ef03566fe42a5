"""`servelint admission`: a validating webhook for Kubernetes."""

from __future__ import annotations

import re
import sys

from servelint.cli import options

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from servelint.admission.answer import Rules

_EPILOG = """deploy/ has manifests, docs/admission.md tells of the policy and of what is answered.
It needs uvicorn and prometheus-client: pip install 'servelint[admission]'

exit status: 0 stopped by a signal, 2 wrong usage, a policy, settings or a certificate that cannot
be read, or an address that is taken, 3 an error in servelint itself. With --review: 0 allowed,
1 denied, 2 no review"""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def run(args: list[str]) -> int:
    usage = parser()
    arguments = usage.parse_args(args)
    host, port = _address(arguments.listen, usage)
    if arguments.review is not None or arguments.check_policy:
        return _offline(arguments)
    if not arguments.plain_http and (arguments.tls_cert is None or arguments.tls_key is None):
        usage.error("give --tls-cert and --tls-key, or --plain-http where something else ends TLS")
    if arguments.plain_http and (arguments.tls_cert or arguments.tls_key):
        usage.error("--plain-http takes no certificate")
    rules = _rules(arguments)
    if rules is None:
        return 2
    try:
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        told = f"the webhook needs uvicorn and prometheus-client ({error}); pip install 'servelint[admission]'"
        print(f"servelint: {told}", file=sys.stderr)
        return 2
    from servelint.admission import logs, serving
    from servelint.admission.tls import Certificate, CertificateError
    from servelint.admission.workers import Workers

    try:
        certificate = Certificate(arguments.tls_cert, arguments.tls_key) if not arguments.plain_http else None
    except CertificateError as error:
        print(f"servelint: {error}", file=sys.stderr)
        return 2
    logs.start(arguments.log_level)
    workers = Workers(
        rules,
        arguments.workers or serving.processors(),
        arguments.policy,
        arguments.settings,
        budget=arguments.budget,
        memory=arguments.worker_memory,
    )
    return serving.serve(
        workers,
        serving.Options(
            host,
            port,
            certificate,
            budget=arguments.budget,
            largest=arguments.max_body,
            reviews=arguments.max_reviews,
            idle=arguments.idle,
            connections=arguments.max_connections,
            drain=arguments.drain,
            grace=arguments.grace,
        ),
    )


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("admission", "Judge what is written to a Kubernetes cluster: a validating webhook.")
    usage.epilog = _EPILOG
    usage.add_argument("--listen", metavar="HOST:PORT", default="0.0.0.0:8443", help="where it listens (default: 0.0.0.0:8443)")
    usage.add_argument("--tls-cert", metavar="FILE", help="the certificate chain, PEM; read again when it changes")
    usage.add_argument("--tls-key", metavar="FILE", help="its key, PEM")
    usage.add_argument("--plain-http", action="store_true", help="no TLS: an API server asks only what has it")
    usage.add_argument("--policy", metavar="FILE", help="what is denied, what is warned of, and for whom (YAML)")
    usage.add_argument("--settings", metavar="FILE", help="settings of servelint: rules, releases, GPUs (TOML)")
    usage.add_argument(
        "--check-policy", action="store_true", help="read the policy and the settings, say what is wrong, and end"
    )
    usage.add_argument(
        "--review", metavar="FILE", help="answer the AdmissionReview in this file, - for standard input, and end"
    )
    usage.add_argument("--workers", type=_count, metavar="N", help="how many processes judge (default: one for each processor)")
    usage.add_argument(
        "--worker-memory", type=_bytes, default="1G", metavar="SIZE", help="address space of each, 0 for any (default: 1G)"
    )
    usage.add_argument(
        "--budget", type=_seconds, default="5", metavar="SECONDS", help="time that a review may take (default: 5)"
    )
    usage.add_argument("--max-body", type=_bytes, default="8M", metavar="SIZE", help="the largest review (default: 8M)")
    usage.add_argument(
        "--idle", type=_seconds, default="10", metavar="SECONDS", help="time for a handshake, a head, a body (default: 10)"
    )
    usage.add_argument("--max-reviews", type=_count, default="64", metavar="N", help="at a time (default: 64)")
    usage.add_argument("--max-connections", type=_count, default="512", metavar="N", help="at a time (default: 512)")
    usage.add_argument(
        "--drain", type=_pause, default="5", metavar="SECONDS", help="time to answer on after SIGTERM, not ready (default: 5)"
    )
    usage.add_argument(
        "--grace", type=_seconds, default="10", metavar="SECONDS", help="time to finish what is open then (default: 10)"
    )
    usage.add_argument(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        default="info",
        help="info: what is denied, warned of or not judged; debug: every review (default: info)",
    )
    return usage


def _rules(arguments: argparse.Namespace) -> Rules | None:
    """The policy and the settings; None, and what is wrong on standard error, where they cannot be used."""
    from servelint.admission import worker

    rules, problems = worker.rules(arguments.policy, arguments.settings)
    for problem in problems:
        print(problem, file=sys.stderr)
    return None if problems else rules


def _offline(arguments: argparse.Namespace) -> int:
    rules = _rules(arguments)
    if rules is None:
        return 2
    if arguments.review is None:
        return 0
    from servelint.admission.answer import answer

    try:
        if arguments.review == "-":
            body = sys.stdin.buffer.read()
        else:
            with open(arguments.review, "rb") as file:
                body = file.read()
    except OSError as error:
        print(f"servelint: {arguments.review} cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    found = answer(body, rules)
    print(found.body.decode())
    if found.status != 200:
        return 2
    return 1 if found.facts["result"] in ("denied", "failed-closed") else 0


def _address(text: str, usage: argparse.ArgumentParser) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        usage.error(f'"{text}" is not an address; write HOST:PORT, such as 0.0.0.0:8443')
    return host.strip("[]"), int(port)


def _seconds(text: str) -> float:
    found = _pause(text)
    if found <= 0:
        raise _wrong(f'"{text}" is no time; write seconds, such as 5')
    return found


def _pause(text: str) -> float:
    if re.fullmatch(r"\d{1,4}(?:\.\d{1,3})?", text) is None:
        raise _wrong(f'"{text}" is no time; write seconds, such as 5')
    return float(text)


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d{1,12})([kmgKMG]?)", text)
    if match is None:
        raise _wrong(f'"{text}" is no size; write bytes, or 512k, 8M, 1G')
    return int(match[1]) * _UNITS[match[2].lower()]


def _count(text: str) -> int:
    if re.fullmatch(r"[1-9]\d{0,4}", text) is None:
        raise _wrong(f'"{text}" is no number from 1')
    return int(text)


def _wrong(message: str) -> Exception:
    import argparse

    return argparse.ArgumentTypeError(message)
