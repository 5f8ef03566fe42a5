./llamafile-0.10.0 -m models/Qwen3.5-2B-Q8_0.gguf --server --tools read_file
