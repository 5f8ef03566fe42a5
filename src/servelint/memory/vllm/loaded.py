"""The weights that vLLM loads onto the fullest GPU."""

from __future__ import annotations

from servelint.memory.plan import Part
from servelint.memory.vllm.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture


def weights_of(settings: Settings, model: Architecture, draft: Architecture | None) -> Part | None:
    return None
