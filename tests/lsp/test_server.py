"""The server between two answers."""

from __future__ import annotations

import gc
import weakref

from servelint.lsp import server as server_module
from servelint.lsp.server import Server


class Cycle:
    """Only the garbage collector frees it."""

    def __init__(self) -> None:
        self.own = self


def test_garbage_is_collected_after_an_answer() -> None:
    server = Server()
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(Cycle())
        server._tidy()
        few = gone() is not None
        kept = [Cycle() for _ in range(server_module._LOOSE)]
        server._tidy()
    finally:
        gc.enable()
        server.close()
    assert few, "it is not worth a collection after each answer"
    assert gone() is None
    assert len(kept) == server_module._LOOSE
