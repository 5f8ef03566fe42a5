"""The native gRPC server on the port of HTTP, which is 30000 unless the launch says otherwise.

Source: check_server_args in sglang-0.5.23 srt/arg_groups/validation_hook.py:360, since 0.5.16 (srt/server_args.py).
"""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks.values import whole


def check(config: Config) -> dict[str, str] | None:
    grpc, http = whole(config, "grpc-port"), whole(config, "port", 30000)
    return {} if grpc is not None and grpc == http else None
