"""One JSON object a line on standard error, as collectors in a cluster take it."""

from __future__ import annotations

import json
import logging
import sys
import time

LEVELS = ("error", "warning", "info", "debug")


class Lines(logging.Formatter):
    """Time, level and message, and the `facts` of a record."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        told = {"time": stamp, "level": record.levelname.lower(), "message": record.getMessage()}
        told.update(getattr(record, "facts", {}))
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


def start(level: str) -> None:
    """Send what servelint and its server log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logger = logging.getLogger("servelint.admission")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    for name in ("uvicorn", "asyncio"):
        server = logging.getLogger(name)
        server.handlers = [handler]
        # "Invalid HTTP request received" and the like are counted; anybody can cause them
        server.setLevel(logging.ERROR)
        server.propagate = False
