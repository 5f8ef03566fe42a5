from .plugin import TRT_LLM_PLUGIN_NAMESPACE, PluginConfig, _load_plugin_lib, add_plugin_argument, current_all_reduce_helper, init_all_reduce_helper, plugin_lib_path
__all__ = ['TRT_LLM_PLUGIN_NAMESPACE', '_load_plugin_lib', 'PluginConfig', 'add_plugin_argument', 'plugin_lib_path', 'current_all_reduce_helper', 'init_all_reduce_helper']
