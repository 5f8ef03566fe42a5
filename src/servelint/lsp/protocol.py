"""The protocol's rules of a session, which hold before any feature is asked: its beginning, its end, and bad messages."""

from __future__ import annotations

import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.protocol import LanguageServerProtocol, lsp_method

from servelint.lsp.frames import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

log = logging.getLogger("servelint.lsp")

# where in its own code a message was found to be wrong, which is told in a line anyway
logging.getLogger("pygls.protocol.json_rpc").addFilter(lambda record: not str(record.msg).startswith("Unable to deserialize"))

_METHOD, _ID = "method", "id"


class Protocol(LanguageServerProtocol):
    """pygls' protocol without its own store of texts: those are servelint's, which counts lines as editors do.

    ended: is told of the exit status when the client says that it is over
    """

    ended: Callable[[int], None] = staticmethod(lambda _status: None)
    begun = False

    def take(self, message: Any) -> None:
        """Handle a message, whatever it is. What is wrong with it is told to who sent it, if that can be told."""
        if isinstance(message, Broken):
            log.warning("no message: %s", message.message)
            self._refuse(None, types.ErrorCodes.ParseError, f"the message is not valid JSON: {message.message}")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(None, types.ErrorCodes.InvalidRequest, "the message is not JSON-RPC 2.0")
            return
        method, number = message.get(_METHOD), message.get(_ID)
        if method is None and number is None:
            self._refuse(None, types.ErrorCodes.InvalidRequest, "the message has neither a method nor an id")
            return
        if _METHOD in message and not isinstance(method, str):
            self._refuse(None, types.ErrorCodes.InvalidRequest, "the method of a message is a text")
            return
        if number is not None and (isinstance(number, bool) or not isinstance(number, (int, str))):
            self._refuse(None, types.ErrorCodes.InvalidRequest, "the id of a message is a whole number or a text")
            return
        if method is not None and not self._in_order(str(method), number):
            return
        if method is not None and not self._known(str(method)):
            self._refuse(number, types.ErrorCodes.MethodNotFound, f"there is no method {method} here")
            return
        try:
            self.handle_message(self.structure_message(message))
        except JsonRpcException as error:
            log.warning("%s: %s", method, error)
            if method is not None and number is not None:
                self._refuse(number, types.ErrorCodes.InvalidParams, f"the parameters of {method} are wrong")

    def _known(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features or method == types.CANCEL_REQUEST

    def _in_order(self, method: str, number: Any) -> bool:
        """Whether a message comes at its time: after initialize and before shutdown."""
        if method == types.EXIT:
            return True
        if method == types.INITIALIZE and self.begun:
            self._refuse(number, types.ErrorCodes.InvalidRequest, "the server was initialized before")
            return False
        if self._shutdown:
            self._refuse(number, types.ErrorCodes.InvalidRequest, f"{method} came after shutdown")
            return False
        if not self.begun and method != types.INITIALIZE:
            self._refuse(number, types.ErrorCodes.ServerNotInitialized, f"{method} came before initialize")
            return False
        if method == types.INITIALIZE:
            self.begun = True
        return True

    def _refuse(self, number: Any, code: int, message: str) -> None:
        """Answer with an error. number: None for what is no request of ours to answer, or cannot be known to be one"""
        if number is None and code not in (types.ErrorCodes.ParseError, types.ErrorCodes.InvalidRequest):
            return
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": {"code": int(code), "message": message}})

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: Any) -> Generator[Any, Any, None]:
        self.ended(0 if self._shutdown else 1)
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._own(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._own(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._own(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _own(self, method: str, params: Any) -> None:
        handler = self.fm.features.get(method)
        if handler is None:
            raise JsonRpcMethodNotFound.of(method)
        handler(params)
