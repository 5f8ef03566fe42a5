lmdeploy serve gradio /models/qwen
