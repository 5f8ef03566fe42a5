$Bin = ".\bin\vulkan\llama-server.exe"
$CommonArgs = @(
    "-m", ".\models\gguf\8B\Bonsai-8B.gguf",
    "-ngl", "99",
    "--temp", "0.5",
    "--top-k", "20",
    "--min-p", "0",
    "--reasoning-budget", "0",
    "--reasoning-format", "none",
    "--chat-template-kwargs", '{"enable_thinking": false}'
)
& $Bin @CommonArgs
