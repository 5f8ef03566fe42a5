"""One judging process: reviews arrive on its standard input, answers leave on its standard output.

A frame is two lengths (4 bytes each, big-endian) and two parts: the name after /validate/ and the body, or the facts as JSON
and the body of the answer. The process ends with its input.
"""

from __future__ import annotations

import gc
import json
import signal
import struct
import sys
from typing import BinaryIO

from servelint.admission.answer import Rules, answer
from servelint.admission.policy import Policy, read
from servelint.admission.request import KIND, VERSION
from servelint.core.problem import Problem
from servelint.engines import ENGINES
from servelint.settings.files import SettingsFiles

LENGTHS = struct.Struct("!II")


def rules(policy: str | None, settings: str | None) -> tuple[Rules, list[Problem]]:
    """Read a policy file and a settings file. Returns by what objects are judged, and what is wrong with the files."""
    found, problems = read(policy) if policy is not None else (Policy(), [])
    files = SettingsFiles(isolated=settings is None, file=settings)
    governing, _ = files.governing("object.yaml")
    problems += files.problems
    if folders := files.rule_folders():
        from servelint.rules import folder

        problems += [problem for path in folders for problem in folder.load(path).problems]
    return Rules(found, governing), problems


def warm(given: Rules) -> None:
    """Judge a launch of each engine, so that no review waits for readers, rules, catalogs and the memory model to load."""
    for image, command, args in [sample for engine in ENGINES.values() for sample in engine.samples]:
        env = [{"name": "HF_TOKEN", "value": "hf_0"}, {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "a"}}}]
        resources = {"limits": {"nvidia.com/gpu": "2"}}
        container = {"name": "a", "image": image, "args": args, "env": env, "resources": resources}
        container |= {"command": command} if command else {}
        spec = {"containers": [container], "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}}
        thing = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
        request = {"uid": "-", "operation": "CREATE", "object": thing}
        answer(json.dumps({"apiVersion": VERSION, "kind": KIND, "request": request}).encode(), given)


def serve(given: Rules, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer reviews until the input ends."""
    while True:
        lengths = requests.read(LENGTHS.size)
        if len(lengths) < LENGTHS.size:
            return
        path, body = (requests.read(length) for length in LENGTHS.unpack(lengths))
        made = answer(body, given, path.decode())
        facts = json.dumps({"status": made.status, **made.facts}).encode()
        answers.write(LENGTHS.pack(len(facts), len(made.body)) + facts + made.body)
        answers.flush()


def run(policy: str | None, settings: str | None, memory: int) -> int:
    """Run the process.

    Args:
        policy: the policy file, None for the default policy.
        settings: the settings file, None for the default settings.
        memory: bytes of address space that it may use, 0 for no limit.

    Returns:
        The exit status.
    """
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # terminals and service managers send these to all processes; a review in progress is still answered
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    given, problems = rules(policy, settings)
    if problems:
        return 2
    warm(given)
    # what is loaded stays; what a review allocates is mostly freed with it
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    answers = sys.stdout.buffer
    answers.write(LENGTHS.pack(0, 0))
    answers.flush()
    serve(given, sys.stdin.buffer, answers)
    return 0


if __name__ == "__main__":
    words = json.loads(sys.argv[1])
    sys.exit(run(words["policy"], words["settings"], words["memory"]))
