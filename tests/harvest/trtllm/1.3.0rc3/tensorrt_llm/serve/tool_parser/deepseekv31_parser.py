import json
import re
from typing import List
from tensorrt_llm.logger import logger
from tensorrt_llm.serve.openai_protocol import ChatCompletionToolsParam as Tool
from tensorrt_llm.serve.tool_parser.base_tool_parser import BaseToolParser
from tensorrt_llm.serve.tool_parser.core_types import StreamingParseResult, StructureInfo, ToolCallItem, _GetInfoFunc
from .utils import is_complete_json

class DeepSeekV31Parser(BaseToolParser):
    pass
