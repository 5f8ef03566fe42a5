cat > broken.ini <<EOF
version = 1

[broken-model]
ctx-size = 512
EOF
llama-server --models-preset broken.ini --models-max 1 --host 127.0.0.1 --port 18151
