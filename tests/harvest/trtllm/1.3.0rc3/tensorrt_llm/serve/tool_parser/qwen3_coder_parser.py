import ast
import html
import json
import re
from typing import Any, Dict, List, Tuple
from tensorrt_llm.logger import logger
from tensorrt_llm.serve.openai_protocol import ChatCompletionToolsParam as Tool
from tensorrt_llm.serve.tool_parser.base_tool_parser import BaseToolParser
from tensorrt_llm.serve.tool_parser.core_types import StreamingParseResult, ToolCallItem, _GetInfoFunc

class Qwen3CoderToolParser(BaseToolParser):
    pass
