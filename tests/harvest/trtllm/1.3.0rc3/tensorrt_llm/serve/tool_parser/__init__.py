from .tool_parser_factory import ToolParserFactory
__all__ = ['ToolParserFactory']
