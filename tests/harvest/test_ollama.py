"""Which variables a release of Ollama reads, from small configurations written here."""

from __future__ import annotations

import pytest

from servelint.harvest.ollama import snapshot
from servelint.harvest.sources import HarvestError, Tree

NEW = """
package envconfig

// Host reads "OLLAMA_COMMENT"
func Host() *url.URL {
	s := strings.TrimSpace(Var("OLLAMA_HOST"))
	if n, err := strconv.ParseInt(port, 10, 32); err != nil {
	}
}

func KeepAlive() (keepAlive time.Duration) {
	if s := Var("OLLAMA_KEEP_ALIVE"); s != "" {
		if d, err := time.ParseDuration(s); err == nil {
			keepAlive = d
		} else if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			keepAlive = time.Duration(n) * time.Second
		}
	}
}

func Bool(k string) func() bool {
	if s := Var(k); s != "" {
		b, err := strconv.ParseBool(s)
	}
}

func LogLevel() slog.Level {
	if s := Var("OLLAMA_DEBUG"); s != "" {
		if b, _ := strconv.ParseBool(s); b {
		}
	}
}

var (
	FlashAttention = BoolWithDefault("OLLAMA_FLASH_ATTENTION")
	KvCacheType = String("OLLAMA_KV_CACHE_TYPE")
	NumParallel = Uint("OLLAMA_NUM_PARALLEL", 1)
	GpuOverhead = Uint64("OLLAMA_GPU_OVERHEAD", 0)
	Hsa = String("HSA_OVERRIDE_GFX_VERSION")
)
"""
OLD = """
package envconfig

func LoadConfig() {
	if debug := clean("OLLAMA_DEBUG"); debug != "" {
		d, err := strconv.ParseBool(debug)
	}
	RunnersDir = clean("OLLAMA_RUNNERS_DIR")
	if onp := clean("OLLAMA_NUM_PARALLEL"); onp != "" {
		val, err := strconv.Atoi(onp)
	}
	ka := clean("OLLAMA_KEEP_ALIVE")
	if ka != "" {
		loadKeepAlive(ka)
	}
	if set, err := strconv.ParseBool(clean("OLLAMA_INTEL_GPU")); err == nil {
		IntelGpu = set
	}
}
"""


def env(text: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = snapshot(Tree("ollama", "9.9.9", {"envconfig/config.go": text}))["env"]
    return found


def test_functions_say_how_a_variable_is_read() -> None:
    assert env(NEW) == {
        "HSA_OVERRIDE_GFX_VERSION": {},
        "OLLAMA_DEBUG": {"type": "level"},
        "OLLAMA_FLASH_ATTENTION": {"type": "bool"},
        "OLLAMA_GPU_OVERHEAD": {"type": "uint", "default": 0},
        "OLLAMA_HOST": {},
        "OLLAMA_KEEP_ALIVE": {"type": "duration"},
        "OLLAMA_KV_CACHE_TYPE": {},
        "OLLAMA_NUM_PARALLEL": {"type": "uint", "default": 1},
    }


def test_blocks_of_the_first_releases() -> None:
    assert env(OLD) == {
        "OLLAMA_DEBUG": {"type": "bool"},
        "OLLAMA_INTEL_GPU": {"type": "bool"},
        "OLLAMA_KEEP_ALIVE": {},
        "OLLAMA_NUM_PARALLEL": {"type": "int"},
        "OLLAMA_RUNNERS_DIR": {},
    }


def test_serve_has_no_options_but_its_help() -> None:
    found = snapshot(Tree("ollama", "9.9.9", {"envconfig/config.go": NEW}))
    assert (list(found["options"]), found["positionals"]) == (["help"], [])


def test_a_release_without_envconfig_is_an_error() -> None:
    with pytest.raises(HarvestError, match="names no variables"):
        snapshot(Tree("ollama", "0.1.0", {}))


TYPES_GO = """
type Options struct {
	Runner

	Temperature float32  `json:"temperature,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

type Runner struct {
	NumCtx  int   `json:"num_ctx,omitempty"`
	UseMMap *bool `json:"use_mmap,omitempty"`
}
"""
PARSER_GO = """
var deprecatedParameters = []string{
	"mirostat",
}

func isValidCommand(cmd string) bool {
	switch strings.ToLower(cmd) {
	case "from", "adapter", "parameter":
		return true
"""


def test_what_a_modelfile_may_say() -> None:
    files = {"envconfig/config.go": NEW, "api/types.go": TYPES_GO, "parser/parser.go": PARSER_GO}
    assert snapshot(Tree("ollama", "9.9.9", files))["names"] == {
        "modelfile-instructions": {"from": {}, "adapter": {}, "parameter": {}},
        "modelfile-parameters": {
            "temperature": {"type": "float"},
            "stop": {},
            "num_ctx": {"type": "int"},
            "use_mmap": {"type": "bool"},
            "mirostat": {"ignored": "with a warning"},
        },
    }
