cat > models.ini <<'EOF'
[first]
model = /models/first.gguf
load-on-startup = false

[second]
model = /models/second.gguf
load-on-startup = false
EOF
llama-server --models-preset models.ini --models-max 1
