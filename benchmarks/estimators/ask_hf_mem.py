"""Asks hf-mem, in an environment that has it: questions on stdin, answers on stdout, both lists in JSON.

hf-mem reads a model from huggingface.co. Here a transport of its own HTTP client answers in the hub's place, with the files
of the question; all else is hf-mem's: `hf_mem.run` with experimental=True, which is `hf-mem --experimental`.
"""

from __future__ import annotations

import json
import struct
import sys
import time
import warnings
from functools import partial
from typing import Any

import hf_mem
import httpx2


def answered(question: dict[str, Any], request: httpx2.Request) -> httpx2.Response:
    """As the hub: the list of files, config.json, or a range of the safetensors file."""
    path = request.url.path
    if "/api/models/" in path:
        return httpx2.Response(200, json=[{"type": "file", "path": name} for name in ("config.json", "model.safetensors")])
    if path.endswith("/config.json"):
        return httpx2.Response(200, content=json.dumps(question["config"]))  # one has an Infinity, which json= refuses
    if path.endswith("/model.safetensors"):
        text = json.dumps(question["header"]).encode()
        first, last = request.headers["Range"].removeprefix("bytes=").split("-")
        return httpx2.Response(206, content=(struct.pack("<Q", len(text)) + text)[int(first) : int(last) + 1])
    return httpx2.Response(404)


def asked(question: dict[str, Any]) -> dict[str, Any]:
    length = question["max_model_len"]
    client = httpx2.AsyncClient
    transport = httpx2.MockTransport(partial(answered, question))
    httpx2.AsyncClient = lambda **_: client(transport=transport)
    try:
        start = time.perf_counter()
        result = hf_mem.run(question["model"], experimental=True, max_model_len=length, kv_cache_dtype=question["kv_dtype"])
        taken = time.perf_counter() - start
    except Exception as error:  # an answer that it does not give is one of this benchmark's results
        return {"missing": f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"}
    finally:
        httpx2.AsyncClient = client
    return {"weights": result.memory, "request": result.kv_cache, "seconds": taken}


def main() -> None:
    warnings.simplefilter("ignore")
    questions = json.load(sys.stdin)
    for question in questions[:1]:
        asked(question)  # what the first one loads is not a plan's time
    print(json.dumps({"version": hf_mem.__version__, "answers": [asked(question) for question in questions]}))


if __name__ == "__main__":
    main()
