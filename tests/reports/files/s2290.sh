#!/bin/bash
sglang serve --config my_config.yaml
