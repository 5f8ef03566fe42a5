import json
import re
from typing import List
from tensorrt_llm.logger import logger
from ..openai_protocol import ChatCompletionToolsParam as Tool
from .base_tool_parser import BaseToolParser
from .core_types import StreamingParseResult, StructureInfo, _GetInfoFunc

class Qwen3ToolParser(BaseToolParser):
    pass
