"""What is counted, in the format of Prometheus and OpenMetrics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import choose_encoder

from servelint import __version__
from servelint.admission.request import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESULTS = ("allowed", "warned", "denied", "nothing", "exempt", "owned", "failed-open", "failed-closed", "refused")
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """A registry of its own, so that a process may have several servers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of = self.registry
        self._reviews = Counter(
            "servelint_admission_reviews",
            "Reviews that were answered, by what became of them.",
            ("operation", "result"),
            registry=of,
        )
        self._findings = Counter(
            "servelint_admission_findings", "Findings in what was judged.", ("rule", "severity", "action"), registry=of
        )
        self._seconds = Histogram(
            "servelint_admission_review_duration_seconds",
            "Time from the whole body of a review to its answer.",
            buckets=_SECONDS,
            registry=of,
        )
        self._refused = Counter(
            "servelint_admission_http_errors", "Requests that were no reviews, by their status.", ("status",), registry=of
        )
        self.waiting = Gauge(
            "servelint_admission_reviews_in_flight", "Reviews that are being judged, or wait for it.", registry=of
        )
        self._restarts = Counter(
            "servelint_admission_worker_restarts",
            "Processes that were replaced, by reason: timeout, ended.",
            ("reason",),
            registry=of,
        )
        self.certificate = Gauge(
            "servelint_admission_certificate_expiry_timestamp_seconds",
            "When the certificate ends, in seconds since 1970.",
            registry=of,
        )
        Info("servelint_admission_build", "The release of servelint.", registry=of).info({"version": __version__})

    def review(self, facts: dict[str, Any], seconds: float) -> None:
        """Count an answered review. facts: as an Answer has them"""
        operation = facts.get("operation")
        self._reviews.labels(operation if operation in OPERATIONS else "", facts["result"]).inc()
        self._seconds.observe(seconds)
        for rule, severity, action in facts.get("findings", ()):
            self._findings.labels(rule, severity, action).inc()

    def http_error(self, status: int) -> None:
        self._refused.labels(str(status)).inc()

    def restart(self, reason: str) -> None:
        self._restarts.labels(reason).inc()

    def page(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type, as whoever asks wants it."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type
