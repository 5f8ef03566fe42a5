"""Objects that hold the values of a chart: Flux's HelmRelease, Argo CD's Application, the HelmChart of K3s."""

from __future__ import annotations

from servelint.core.launch import Launch
from servelint.readers import helm
from servelint.readers.kubernetes.kustomize_images import Overrides
from servelint.readers.kubernetes.objects import File, Object


def of_object(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    del images
    return helm.of_object(file.source, one.node, one.kind, one.label)
