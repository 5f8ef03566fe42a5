"""`servelint admission` under load: reviews of 20 kB manifests at a fixed rate, with clients that send garbage or nothing.

    python benchmarks/admission.py [--rate 200] [--seconds 60] [--kind distinct] [--runs 1]

Needs servelint[admission,test] beside this interpreter. The server and the one process that judges for it run on one
processor, the clients on the others. Reviews are sent over kept TLS connections when they are due, whatever became of
those before, and their time counts from then (so what waits counts as waiting); in the first five seconds the rate
grows. Every object is a Deployment of an engine as an API server sends it: with managedFields and what `kubectl apply`
remembers. Kinds:

    distinct   no two are alike
    repeated   40 in turn, as controllers write them
    update     distinct, each with the object before: another label
    unpinned   distinct, with an image that tells no release: judged as every release that could start it
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from copy import deepcopy
from typing import Any

import trustme

HEAD = b"POST /validate?timeout=10s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
CHUNKS = b"POST /validate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
TICKS = os.sysconf("SC_CLK_TCK")
_KEPT = 16
"""Connections that are open before the first review."""
_GROWS = 5.0
"""Seconds in which the rate grows from none: a server that has just begun has not seen any object."""
FLAGS = {
    "--tensor-parallel-size": "4", "--gpu-memory-utilization": "0.92", "--max-num-seqs": "256", "--kv-cache-dtype": "fp8",
    "--served-model-name": "chat", "--max-num-batched-tokens": "8192", "--tool-call-parser": "hermes", "--seed": "0",
    "--speculative-config": '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}', "--port": "8000",
}  # fmt: skip
"""Options of the launch, beside a length of context that differs and, for one in ten, an option that is gone."""


def deployment(number: int, image: str) -> dict[str, Any]:
    """A Deployment of about 20 kB."""
    name = f"llm-{number}"
    args = ["Qwen/Qwen3-32B", *[word for pair in FLAGS.items() for word in pair], "--max-model-len", str(16384 + number)]
    args += ["--enable-prefix-caching", "--enable-auto-tool-choice", *(["--swap-space", "4"] if number % 10 == 0 else [])]
    env: list[dict[str, Any]] = [{"name": f"SETTING_{i}", "value": f"value {i} of {name}"} for i in range(28)]
    env += [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]
    env += [{"name": "VLLM_LOGGING_LEVEL", "value": "INFO"}, {"name": "HF_HOME", "value": "/models"}]
    probe = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"}, "timeoutSeconds": 5, "successThreshold": 1}
    container = {
        "name": "vllm", "image": image, "imagePullPolicy": "IfNotPresent", "command": ["vllm", "serve"],
        "args": args, "env": env, "ports": [{"name": "http", "containerPort": 8000, "protocol": "TCP"}],
        "resources": {"limits": {"nvidia.com/gpu": "4", "memory": "256Gi"}, "requests": {"cpu": "16", "memory": "128Gi"}},
        "startupProbe": {**probe, "failureThreshold": 180, "periodSeconds": 10},
        "readinessProbe": {**probe, "failureThreshold": 3, "periodSeconds": 10},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "models", "mountPath": "/models"}],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    }  # fmt: skip
    spec = {
        "containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 120, "dnsPolicy": "ClusterFirst",
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, "schedulerName": "default-scheduler",
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "32Gi"}},
                    {"name": "models", "persistentVolumeClaim": {"claimName": "models"}}],
    }  # fmt: skip
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "serving"}
    thing: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "prod", "labels": labels},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    applied = json.dumps(thing)
    thing["metadata"] |= {
        "uid": f"00000000-0000-4000-8000-{number:012}", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied},
        "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apps/v1",
                           "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields(thing)}],
    }  # fmt: skip
    thing["metadata"]["annotations"]["notes"] = "n" * max(0, 20_000 - len(json.dumps(thing)))
    return thing


def fields(value: Any) -> dict[str, Any]:
    """Who owns which field, as managedFields has it."""
    if isinstance(value, dict):
        return {f"f:{key}": fields(one) for key, one in value.items()}
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return {f'k:{{"name":"{one.get("name")}"}}': {".": {}, **fields(one)} for one in value}
    return {}


def review(number: int, kind: str) -> bytes:
    """The body of a review."""
    image = "registry.example/serving/vllm:team-a" if kind == "unpinned" else "vllm/vllm-openai:v0.19.1"
    thing = deployment(number % 40 if kind == "repeated" else number, image)
    request = {
        "uid": f"10000000-0000-4000-8000-{number:012}", "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "name": thing["metadata"]["name"],
        "namespace": "prod", "operation": "CREATE", "object": thing, "oldObject": None, "dryRun": False,
        "userInfo": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]},
    }  # fmt: skip
    if kind == "update":
        old = deepcopy(thing)
        old["metadata"]["labels"]["tier"] = "silver"
        request |= {"operation": "UPDATE", "oldObject": old}
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).encode()


class Client:
    """Sends reviews when they are due, each over a connection that is free, else over a new one."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port = port
        self.context = context
        self.free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.opened = 0
        self.times: list[float] = []
        self.denied = 0
        self.errors: list[str] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.opened += 1
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context, server_hostname="localhost")

    async def connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """One that is free, else a new one."""
        while self.free:
            reader, writer = self.free.pop()
            if not reader.at_eof():  # the server has not ended it: it gives up those that wait for their first request
                return reader, writer
        return await self.connect()

    async def prepare(self, count: int) -> None:
        """Open connections before the time runs: an API server keeps those that it has."""
        self.free += [await self.connect() for _ in range(count)]

    async def send(self, body: bytes, due: float) -> None:
        try:
            reader, writer = await self.connection()
            writer.write(HEAD % len(body) + body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            answer = await reader.readexactly(int(head.partition(b"content-length:")[2].split(None, 1)[0]))
            if b"\r\nconnection: close\r\n" in head:
                writer.close()
            else:
                self.free.append((reader, writer))
            if not head.startswith(b"http/1.1 200 "):
                raise ValueError(head[9:12].decode("latin-1"))
            response = json.loads(answer)["response"]
            self.times.append(time.perf_counter() - due)
            self.denied += not response["allowed"]
            if any("could not judge" in one for one in response.get("warnings", ())):
                self.errors.append("not judged")
        except (OSError, KeyError, ValueError, asyncio.IncompleteReadError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    async def run(self, bodies: list[bytes], rate: float) -> None:
        tasks = set()
        start = time.perf_counter()
        for number, body in enumerate(bodies):
            due = start + _due(number, rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.add(asyncio.create_task(self.send(body, due)))
        await asyncio.gather(*tasks)


def _due(number: int, rate: float) -> float:
    """Seconds after the start at which a review is sent: the rate grows for some seconds, then it stays."""
    growing = rate * _GROWS / 2
    return (2 * number * _GROWS / rate) ** 0.5 if number < growing else _GROWS + (number - growing) / rate


async def garbage(port: int, context: ssl.SSLContext, counts: dict[str, int]) -> None:
    """20 connections a second: noise in the place of TLS, of HTTP, of a chunk, of a review."""
    noise = random.Random(7)
    heads = [None, b"", CHUNKS, HEAD % 4096]
    while True:
        head = heads[counts["garbage"] % len(heads)]
        counts["garbage"] += 1
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context if head is not None else None)
            writer.write((head or b"") + noise.randbytes(4096))
            await asyncio.wait_for(reader.read(1 << 16), 0.2)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass
        await asyncio.sleep(0.05)


async def silence(port: int, context: ssl.SSLContext | None, counts: dict[str, int]) -> None:
    """Opens a connection and sends nothing, until the server ends it; then once more."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
            await reader.read(1)
            writer.close()
        counts["silent, ended by the server"] += 1


def family(pid: int) -> list[int]:
    """A process and those that it started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [pid, *[int(one) for one in file.read().split()]]


def processor_seconds(pids: list[int]) -> list[float]:
    """Of each process."""
    found = []
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            parts = file.read().rpartition(")")[2].split()
        found.append((int(parts[11]) + int(parts[12])) / TICKS)
    return found


def waited(pids: list[int]) -> float:
    """Seconds for which processes were ready to run and something else had the processor."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[1])
    return total / 1e9


def resident(pids: list[int]) -> float:
    """MiB."""
    pages = 0
    for pid in pids:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def measure(port: int, pid: int, ca: trustme.CA, options: argparse.Namespace, first: int) -> int:
    context = ssl.create_default_context()
    ca.configure_trust(context)
    careless = ssl.create_default_context()
    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
    bodies = [review(first + number, options.kind) for number in range(int(options.rate * options.seconds))]
    client, counts = Client(port, context), {"garbage": 0, "silent, ended by the server": 0}
    await client.prepare(_KEPT)
    others = [
        asyncio.create_task(one)
        for one in (garbage(port, careless, counts), silence(port, None, counts), silence(port, careless, counts))
    ]
    pids = family(pid)
    before, used, idle, start = resident(pids), processor_seconds(pids), waited(pids), time.perf_counter()
    await client.run(bodies, options.rate)
    wall = time.perf_counter() - start
    if family(pid) != pids:
        sys.exit(f"the process that judges was replaced; {len(client.errors)} errors {sorted(set(client.errors))[:3]}")
    idle = waited(pids) - idle
    used = [after - before for before, after in zip(used, processor_seconds(pids), strict=True)]
    for task in others:
        task.cancel()
    times = sorted(client.times)
    size = sum(map(len, bodies)) / len(bodies) / 1000
    print(f"{options.kind}: {len(bodies)} reviews of {size:.1f} kB in {wall:.1f} s, {len(times) / wall:.1f} a second")
    points = {f"p{part:g}": times[int(len(times) * part / 100)] for part in (50, 90, 99, 99.9)} if times else {}
    shown = [f"{name} {value * 1000:.1f} ms" for name, value in {**points, "max": max(times, default=0)}.items()]
    print(f"  {', '.join(shown)}")
    each = " + ".join([f"{one / len(bodies) * 1000:.2f}" for one in used])
    print(f"  server: {sum(used) / wall:.0%} of a processor, {each} ms a review (connections + judging), ", end="")
    print(f"{before:.0f} MiB before, {resident(pids):.0f} MiB after")
    print(f"  it waited {idle / wall:.0%} of the time for a processor (its own two processes wait for each other as well)")
    print(f"  connections: {client.opened}; {', '.join([f'{name} {count}' for name, count in counts.items()])}")
    errors = ", ".join([f"{count} x {name}" for name, count in Counter(client.errors).most_common(4)])
    print(f"  denied: {client.denied}; errors: {len(client.errors)}{f' ({errors})' if errors else ''}")
    return len(client.errors)


def main() -> None:
    usage = argparse.ArgumentParser()
    usage.add_argument("--rate", type=float, default=200)
    usage.add_argument("--seconds", type=float, default=60)
    usage.add_argument("--kind", choices=("distinct", "repeated", "update", "unpinned"), default="distinct")
    usage.add_argument("--runs", type=int, default=1)
    options = usage.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    ca = trustme.CA()
    with tempfile.TemporaryDirectory() as folder:
        certificate = ca.issue_cert("localhost")
        chain, key = os.path.join(folder, "tls.crt"), os.path.join(folder, "tls.key")
        for blob in certificate.cert_chain_pems:
            blob.write_to_path(chain, append=True)
        certificate.private_key_pem.write_to_path(key)
        with open(os.path.join(folder, "log"), "wb") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "servelint", "admission", "--listen", "127.0.0.1:0", "--workers", "1",
                 "--tls-cert", chain, "--tls-key", key, "--drain", "0"],
                stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, processors[-1:]),
            )  # fmt: skip
        failed = 0
        try:
            port = listening(os.path.join(folder, "log"))
            os.sched_setaffinity(0, processors[:-1] or processors)
            for run in range(options.runs):
                failed += asyncio.run(measure(port, server.pid, ca, options, 1_000_000 * run))
        finally:
            server.send_signal(signal.SIGTERM)
            print(f"  stopped with {server.wait(30)}")
    sys.exit(1 if failed else 0)


def listening(log: str) -> int:
    """The port that the server says it took."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with open(log, encoding="utf-8") as file:
            for line in file:
                told = json.loads(line)
                if told["message"] == "listening":
                    return int(told["port"])
        time.sleep(0.1)
    sys.exit("the server did not come up")


if __name__ == "__main__":
    main()
