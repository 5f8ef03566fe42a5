from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Optional, Type

class BaseReasoningParser(ABC):
    pass

class DeepSeekR1Parser(BaseReasoningParser):
    pass

class ReasoningParserFactory:
    parsers: dict[str, Type[BaseReasoningParser]] = {'deepseek-r1': DeepSeekR1Parser, 'qwen3': DeepSeekR1Parser, 'nano-v3': DeepSeekR1Parser}
