import json
from abc import ABC, abstractmethod
from typing import Any, Dict, List
from tensorrt_llm.logger import logger
from ..openai_protocol import ChatCompletionToolsParam as Tool
from .core_types import StreamingParseResult, ToolCallItem, _GetInfoFunc
from .utils import find_common_prefix, is_complete_json, partial_json_loads

class BaseToolParser(ABC):
    pass
