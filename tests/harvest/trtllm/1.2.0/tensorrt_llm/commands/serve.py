"""The options of trtllm-serve 1.2.0, as the command's page in the documentation of that release lists them."""
import click
from tensorrt_llm.llmapi.reasoning_parser import ReasoningParserFactory
from tensorrt_llm.logger import severity_map


class ChoiceWithAlias(click.Choice):
    pass


@click.command("serve")
@click.argument("model", type=str)
@click.option("--tokenizer", type=str, default=None)
@click.option("--custom_tokenizer", type=str, default=None)
@click.option("--host", type=str, default="localhost")
@click.option("--port", type=int, default=8000)
@click.option("--backend", type=ChoiceWithAlias(["pytorch", "tensorrt", "_autodeploy"], {"trt": "tensorrt"}), default="pytorch")
@click.option("--custom_module_dirs", type=click.Path(exists=True), default=None, multiple=True)
@click.option("--log_level", type=click.Choice(severity_map.keys()), default="info")
@click.option("--max_beam_width", type=int)
@click.option("--max_batch_size", type=int)
@click.option("--max_num_tokens", type=int)
@click.option("--max_seq_len", type=int)
@click.option("--tensor_parallel_size", "--tp_size", type=int, default=1)
@click.option("--pipeline_parallel_size", "--pp_size", type=int, default=1)
@click.option("--context_parallel_size", "--cp_size", type=int, default=1)
@click.option("--moe_expert_parallel_size", "--ep_size", type=int, default=None)
@click.option("--moe_cluster_parallel_size", "--cluster_size", type=int, default=None)
@click.option("--gpus_per_node", type=int, default=None)
@click.option("--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction", type=float, default=0.9)
@click.option("--num_postprocess_workers", type=int, default=0)
@click.option("--trust_remote_code", is_flag=True, default=False)
@click.option("--revision", type=str, default=None)
@click.option("--config", "--extra_llm_api_options", "extra_llm_api_options", type=str, default=None)
@click.option("--reasoning_parser", type=click.Choice(ReasoningParserFactory.parsers.keys()), default=None)
@click.option("--tool_parser", type=click.Choice(["qwen3", "qwen3_coder", "kimi_k2", "deepseek_v3", "deepseek_v31", "deepseek_v32"]), default=None)
@click.option("--metadata_server_config_file", type=str, default=None)
@click.option("--server_role", type=str, default=None)
@click.option("--fail_fast_on_attention_window_too_large", is_flag=True, default=False)
@click.option("--otlp_traces_endpoint", type=str, default=None)
@click.option("--disagg_cluster_uri", type=str, default=None)
@click.option("--enable_chunked_prefill", is_flag=True, default=False)
@click.option("--media_io_kwargs", type=str, default=None)
@click.option("--chat_template", type=str, default=None)
def serve(**options):
    llm_args.pop('build_config', None)
    llm_args.pop('disagg_cluster', None)
    llm_args.pop('router', None)
