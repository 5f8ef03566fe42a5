"""What a release of TGI accepts, read from a small launcher written here; and a clone that holds it under a tag."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from servelint.harvest import command
from servelint.harvest.sources import HarvestError, Tree, open_local, published
from servelint.harvest.tgi import snapshot

MAIN = """
use clap::{Parser, ValueEnum};

#[derive(Clone, Copy, Debug, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Quantization {
    /// 4 bit, see <https://hf.co/models?search=awq>, {braces}
    Awq,
    CompressedTensors,
    #[deprecated(since = "1.1.0", note = "Use `eetq` instead, (which) is better")]
    Bitsandbytes,
    BitsandbytesNF4,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KVCacheDtype {
    #[clap(name = "fp8_e4m3fn")]
    Fp8e4m3fn,
}

#[derive(Debug)]
enum ShardStatus { Ready, Failed(usize) }

/// App Configuration
#[derive(Parser, Debug)]
#[clap(author, version, about, long_about = None)]
struct Args {
    /// The name, or a path; `#[clap(long)] not_an_option: bool,`
    #[clap(default_value = "bigscience/bloom-560m", long, env)]
    model_id: String,
    #[clap(long, env)]
    sharded: Option<bool>,
    #[clap(long, env, value_enum)]
    quantize: Option<Quantization>,
    #[clap(long, env, value_enum)]
    kv_cache_dtype: Option<KVCacheDtype>,
    #[clap(default_value = "1.2", long, env)]
    waiting_served_ratio: f32,
    #[clap(long, env, value_delimiter = ',')]
    cuda_graphs: Option<Vec<usize>>,
    #[clap(default_value = "3000", long, short, env)]
    port: u16,
    #[clap(default_value = "9000", long, short, env)]
    prometheus_port: u16,
    #[clap(long, env)]
    cors_allow_origin: Vec<String>,
    #[clap(long, env = "TGI_LIMIT")]
    limit: Option<Duration>,
    #[clap(long, short, action)]
    env: bool,
}

fn main() { let level = std::env::var("LOG_LEVEL"); }
"""
GLOBALS = """
ATTENTION = os.environ["ATTENTION"]
_expected = {"paged", "flashinfer"}
ROOM = float(os.getenv("TGI_WIGGLE_ROOM", "0.90"))
"""
FILES = {"launcher/src/main.rs": MAIN, "server/text_generation_server/models/globals.py": GLOBALS}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return snapshot(Tree("tgi", "9.9.9", FILES))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model-id", {"names": ["--model-id"], "kind": "value", "default": "bigscience/bloom-560m"}),
        ("sharded", {"names": ["--sharded"], "kind": "value", "choices": ["true", "false"]}),
        (
            "quantize",
            {
                "names": ["--quantize"],
                "kind": "value",
                "choices": ["awq", "compressed-tensors", "bitsandbytes", "bitsandbytes-nf4"],
            },
        ),
        ("kv-cache-dtype", {"names": ["--kv-cache-dtype"], "kind": "value", "choices": ["fp8_e4m3fn"]}),
        ("waiting-served-ratio", {"names": ["--waiting-served-ratio"], "kind": "value", "type": "f32", "default": 1.2}),
        ("cuda-graphs", {"names": ["--cuda-graphs"], "kind": "append", "type": "usize-list"}),
        ("port", {"names": ["-p", "--port"], "kind": "value", "type": "u16", "default": 3000}),
        ("prometheus-port", {"names": ["--prometheus-port"], "kind": "value", "type": "u16", "default": 9000}),
        ("cors-allow-origin", {"names": ["--cors-allow-origin"], "kind": "append"}),
        ("limit", {"names": ["--limit"], "kind": "value"}),
        ("env", {"names": ["-e", "--env"], "kind": "flag"}),
        ("help", {"names": ["-h", "--help"], "kind": "flag"}),
    ],
)
def test_an_option_is_as_its_field_declares_it(found: dict[str, Any], name: str, expected: dict[str, Any]) -> None:
    assert found["options"][name] == expected


def test_what_a_comment_declares_is_not_there(found: dict[str, Any]) -> None:
    assert "not-an-option" not in found["options"]


def test_variables_are_those_of_options_and_those_that_are_read(found: dict[str, Any]) -> None:
    assert found["env"]["MODEL_ID"] == {"option": "model-id"}
    assert found["env"]["TGI_LIMIT"] == {"option": "limit"}
    assert found["env"]["LOG_LEVEL"] == found["env"]["TGI_WIGGLE_ROOM"] == {}
    assert "ENV" not in found["env"]
    assert found["names"] == {"attention": {"flashinfer": {}, "paged": {}}}


def test_a_type_that_is_not_known_is_reported() -> None:
    said: list[str] = []
    snapshot(Tree("tgi", "9.9.9", FILES), said.append)
    assert said == ["--limit: a value of the type Option<Duration> is not known"]


def test_a_release_without_options_is_an_error() -> None:
    with pytest.raises(HarvestError, match="declares no options"):
        snapshot(Tree("tgi", "9.9.9", {"launcher/src/main.rs": "fn main() {}"}))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with the launcher under two release tags and one of a candidate."""

    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init", "-q")
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    git("add", ".")
    git("commit", "-qm", "first")
    git("tag", "v2.0.0")
    git("tag", "v0.7.0")
    (tmp_path / "launcher/src/main.rs").write_text(MAIN.replace("sharded", "cut"))
    git("commit", "-qam", "second")
    git("tag", "v10.0.0")
    git("tag", "v10.0.1-rc1")
    return tmp_path


def test_releases_are_the_final_tags_of_a_clone(clone: Path) -> None:
    assert published("tgi", str(clone)) == ["0.7.0", "2.0.0", "10.0.0"]
    with pytest.raises(HarvestError, match="name it with --from"):
        published("tgi")


def test_a_catalog_is_built_from_a_clone_by_one_command(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("catalog") / "tgi.json"
    command.harvest("tgi", "all", path=str(clone), catalog=str(target))
    built = json.loads(target.read_text())
    assert built["releases"] == ["2.0.0", "10.0.0"]
    assert built["options"]["sharded"][0]["releases"] == "2.0.0"
    assert built["options"]["cut"][0]["releases"] == "10.0.0.."
    first = target.read_bytes()
    command.harvest("tgi", "10.0.0", path=str(clone), catalog=str(target))
    assert target.read_bytes() == first


def test_a_tag_that_is_not_there_is_an_error(clone: Path) -> None:
    with pytest.raises(HarvestError, match=r"has no tag v9\.0\.0"):
        open_local("tgi", str(clone), "9.0.0")
    with pytest.raises(HarvestError, match="name the release"):
        open_local("tgi", str(clone))
