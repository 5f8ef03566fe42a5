"""The ports of the gRPC and the HTTP server differ.

Source: validate_grpc_port_arg in vllm-0.33.0 vllm/entrypoints/common/cli_args.py:508; from 0.32.0 on. HTTP listens on 8000 by
default.
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole

_HTTP = 8000


def check(config: Config) -> dict[str, str] | None:
    grpc, http = whole(config, "grpc-port"), whole(config, "port", _HTTP)
    return {} if grpc is not None and grpc == http else None
