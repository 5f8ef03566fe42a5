"""Settings in files: `servelint.toml`, or `[tool.servelint]` in `pyproject.toml`. A file has those of the nearest one above it.

find: which file;  document, places: its text as data, with the place of each key;  keys: what may be written;
validate: data to a layer;  names: the rules that layers name;  chain: what a file extends;  environment: SERVELINT_*;
globs: which paths a pattern means;  merge: layers to settings;  files: the settings of each path.
"""
