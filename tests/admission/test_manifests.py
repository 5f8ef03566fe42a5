"""deploy/: manifests that a cluster takes, hardened, and in step with the command and with what the readers know."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from servelint.admission.answer import JUDGED_BY_CONTROLLER
from servelint.admission.policy import NAMESPACES
from servelint.cli.admission import run
from tests.syntax import yaml_texts

ROOT = Path(__file__).parent.parent.parent
BASE = ROOT / "deploy" / "base"
RELEASES = ("1.30", "1.34")
"""Of Kubernetes: the manifests use nothing that is newer than the first."""


def objects(folder: Path = BASE) -> list[dict[str, Any]]:
    kustomization = yaml_texts.load((folder / "kustomization.yaml").read_text())
    files = [folder / name for name in kustomization["resources"] if name.endswith(".yaml")]
    return [one for file in files for one in yaml_texts.load_all(file.read_text())]


def one(kind: str) -> dict[str, Any]:
    (found,) = [thing for thing in objects() if thing["kind"] == kind]
    return found


CONTAINER = one("Deployment")["spec"]["template"]["spec"]["containers"][0]
WEBHOOKS = one("ValidatingWebhookConfiguration")["webhooks"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_schemas_of_kubernetes(release: str) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for thing in objects():
        validate.validate(thing, release, strict=True)


@pytest.mark.parametrize("variant", ["cert-manager", "own-certificate"])
def test_kustomize_builds_them(variant: str, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl builds them")
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / "deploy" / "own-certificate" / name).write_text("pem")
    built = subprocess.run(
        ["kubectl", "kustomize", str(tmp_path / "deploy" / variant)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    things = yaml_texts.load_all(built.stdout)
    for thing in things:
        if thing["kind"] not in ("Namespace", "ValidatingWebhookConfiguration"):
            assert thing["metadata"]["namespace"] == "servelint"
    (policy,) = [thing for thing in things if thing["kind"] == "ConfigMap"]
    (deployment,) = [thing for thing in things if thing["kind"] == "Deployment"]
    volumes = {volume["name"]: volume for volume in deployment["spec"]["template"]["spec"]["volumes"]}
    assert volumes["policy"]["configMap"]["name"] == policy["metadata"]["name"]
    assert volumes["tls"]["secret"]["secretName"] == "servelint-tls"


def test_the_container_is_what_the_restricted_standard_asks_for() -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/"""
    spec = one("Deployment")["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False
    assert {"memory"} <= CONTAINER["resources"]["limits"].keys()
    assert one("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_arguments_are_those_of_the_command() -> None:
    assert CONTAINER["args"][0] == "admission"
    arguments = run.make_context("admission", CONTAINER["args"][1:]).params
    spec = one("Deployment")["spec"]["template"]["spec"]
    assert arguments["drain"] + arguments["grace"] < spec["terminationGracePeriodSeconds"]
    assert all(arguments["budget"] < webhook["timeoutSeconds"] for webhook in WEBHOOKS)
    mounts = tuple(mount["mountPath"] + "/" for mount in CONTAINER["volumeMounts"])
    assert all(arguments[name].startswith(mounts) for name in ("tls_cert", "tls_key", "policy", "settings"))
    assert {CONTAINER[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")} == {
        "/readyz",
        "/livez",
    }


def test_the_webhooks() -> None:
    assert [webhook["clientConfig"]["service"]["path"] for webhook in WEBHOOKS] == ["/validate", "/validate/warn"]
    policy = yaml_texts.load((BASE / "policy.yaml").read_text())
    assert [path for override in policy["overrides"] for path in override["paths"]] == ["warn"]
    for webhook in WEBHOOKS:
        assert webhook["admissionReviewVersions"] == ["v1"]
        assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
        (own, _) = webhook["namespaceSelector"]["matchExpressions"]
        assert own["operator"] == "NotIn"
        assert {*NAMESPACES, "servelint"} == set(own["values"]) == set(policy["exempt"]["namespaces"])


def test_what_controllers_make_of_judged_objects_is_asked_of_nobody() -> None:
    """The condition names no owner that is not judged itself: what the webhook would judge is asked of it."""
    for webhook in WEBHOOKS:
        text = webhook["matchConditions"][0]["expression"]
        owners = set(re.findall(r'"(\w+)"', text.partition("owner.kind in")[2]))
        resources = {name for rule in webhook["rules"] for name in rule["resources"]}
        assert owners <= JUDGED_BY_CONTROLLER
        assert {f"{kind.lower()}s" for kind in JUDGED_BY_CONTROLLER} <= resources


def test_the_image_runs_as_nobody_and_installs_by_hashes() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    assert "USER 65532:65532" in text
    assert [line for line in text.splitlines() if "-r requirements" in line and "--require-hashes" not in line] == []
    for name in re.findall(r"requirements/(\w+)\.txt", text):
        assert (ROOT / "requirements" / f"{name}.txt").exists()
