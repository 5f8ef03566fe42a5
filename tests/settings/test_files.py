"""The settings of each path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from servelint.settings import reading
from servelint.settings.files import SettingsFiles
from servelint.settings.layers import Layer, effective
from tests.together import together


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str) -> None:
    full = Path.cwd() / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text)


def layers(environment: dict[str, str] | None = None, **options: object) -> list[Layer]:
    said = {name.replace("_", "-"): value for name, value in options.items()}
    return [reading.from_env(environment or {}, []), reading.from_cli(said, [])]


def profile(path: str, settings: SettingsFiles | None = None) -> str:
    return (settings or SettingsFiles()).of(path).profile


class TestOrder:
    """Defaults, what is extended, the nearest file, tables for paths, the environment, the command line."""

    def test_each_wins_over_the_one_before(self) -> None:
        assert profile("a/x.sh") == "default"
        write("base.toml", "profile = 'strict'\nseverity = 'warning'\nfail-on = 'warning'\ngpu-count = 1\ngpu = 'h100'\n")
        write("servelint.toml", "extends = 'base.toml'\nseverity = 'error'\nfail-on = 'info'\ngpu-count = 2\ngpu = 'a100'\n")
        settings = SettingsFiles().of("a/x.sh")
        assert (settings.profile, settings.severity, settings.fail_on, settings.gpu_count) == ("strict", "error", "info", 2)
        text = (Path.cwd() / "servelint.toml").read_text()
        write("servelint.toml", text + "[[per-path]]\npaths = ['a']\nfail-on = 'never'\ngpu-count = 4\ngpu = 'l4'\n")
        settings = SettingsFiles().of("a/x.sh")
        assert (settings.severity, settings.fail_on, settings.gpu_count, settings.gpu) == ("error", "never", 4, "l4")
        said = layers({"SERVELINT_GPU_COUNT": "6", "SERVELINT_GPU": "t4"}, gpu="h200")
        settings = SettingsFiles(overrides=said).of("a/x.sh")
        assert (settings.fail_on, settings.gpu_count, settings.gpu) == ("never", 6, "h200")

    def test_releases_add_up_engine_by_engine(self) -> None:
        write("servelint.toml", "[engine-versions]\nvllm = '0.20.0'\nsglang = '0.5.9'\n")
        settings = SettingsFiles(overrides=layers(engine_versions=["vllm=0.21.0"])).of("x.sh")
        assert settings.engine_versions == {"vllm": "0.21.0", "sglang": "0.5.9"}

    def test_rules_add_up_option_by_option(self) -> None:
        rule = "[rule.'vllm/mtp-many-tokens']\n"
        write("base.toml", rule + "severity = 'error'\ntokens = 1\n")
        write("servelint.toml", "extends = 'base.toml'\n" + rule + "tokens = 2\n")
        assert SettingsFiles().of("x.sh").of_rule("vllm/mtp-many-tokens") == {"severity": "error", "tokens": 2}

    def test_of_tables_for_the_same_path_the_later_wins(self) -> None:
        write("servelint.toml", "[[per-path]]\npaths=['*.sh']\nprofile='strict'\n[[per-path]]\npaths=['a']\nprofile='audit'\n")
        settings = SettingsFiles()
        assert [profile(path, settings) for path in ("x.sh", "a/x.sh", "a/x.yml", "x.yml")] == [
            "strict",
            "audit",
            "audit",
            "default",
        ]

    def test_tables_of_what_is_extended_come_before_those_of_the_file_and_after_all_else(self) -> None:
        write("base.toml", "[[per-path]]\npaths=['*.sh']\nprofile='strict'\nseverity='error'\n")
        write("servelint.toml", "extends='base.toml'\nprofile='audit'\n[[per-path]]\npaths=['*.sh']\nseverity='warning'\n")
        settings = SettingsFiles().of("x.sh")
        assert (settings.profile, settings.severity) == ("strict", "warning")


@together(
    "written, said",
    [
        (None, "1:1: the models file cannot be read: No such file or directory"),
        (b"\xff{}", "1:1: the models file cannot be read: it is not UTF-8"),
        (b"[" * 100_000, "1:1: the models file cannot be read: it is nested too deep"),
        (b'{"a": 1,\n "b" 2}', "2:6: the models file cannot be read: Expecting ':' delimiter"),
    ],
)
def test_a_models_file_that_cannot_be_read(written: bytes | None, said: str) -> None:
    if written is not None:
        Path("own.json").write_bytes(written)
    write("servelint.toml", "models = 'own.json'\n")
    settings = SettingsFiles()
    settings.of("x.sh")
    assert [repr(problem) for problem in settings.problems] == [f"own.json:{said}"]
    Path("own.json").unlink(missing_ok=True)


class TestNearest:
    def test_each_path_has_those_of_the_nearest_file(self) -> None:
        write("servelint.toml", "profile = 'strict'\nseverity = 'error'\n")
        write("a/servelint.toml", "profile = 'audit'\n")
        settings = SettingsFiles()
        assert profile("x.sh", settings) == "strict"
        assert profile("a/x.sh", settings) == profile("a/b/c/x.sh", settings) == "audit"
        assert settings.of("a/x.sh").severity == "info"
        assert profile(os.path.abspath("b/x.sh"), settings) == "strict"

    def test_paths_that_share_settings_share_the_object(self) -> None:
        write("servelint.toml", "[[per-path]]\npaths=['*.sh']\nprofile='strict'\n")
        settings = SettingsFiles()
        assert settings.of("x.sh") is settings.of("a/b.sh")
        assert settings.of("x.yml") is settings.of("a/b.yml") is settings.of_folder("a")
        assert settings.of("x.sh") is not settings.of("x.yml")

    def test_from_below(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("servelint.toml", "profile = 'strict'\n[[per-path]]\npaths=['b/**']\nprofile='audit'\n")
        (Path.cwd() / "a").mkdir()
        (Path.cwd() / "b").mkdir()
        monkeypatch.chdir("a")
        assert profile("x.sh") == profile("-") == "strict"
        assert profile("../b/x.sh") == "audit"

    def test_a_file_behind_a_link_has_those_of_the_place_that_is_named(self) -> None:
        write("real/servelint.toml", "profile = 'audit'")
        write("real/x.sh", "")
        write("servelint.toml", "profile = 'strict'")
        (Path.cwd() / "x.sh").symlink_to("real/x.sh")
        (Path.cwd() / "link").symlink_to("real")
        settings = SettingsFiles()
        assert profile("x.sh", settings) == "strict"
        assert profile("link/x.sh", settings) == "audit"

    def test_two_dots_behind_a_link_lead_where_the_system_goes(self) -> None:
        write("far/away/servelint.toml", "profile = 'audit'")
        (Path.cwd() / "far" / "away" / "folder").mkdir()
        (Path.cwd() / "link").symlink_to("far/away/folder")
        assert profile("link/../x.sh") == "audit"

    def test_isolated(self) -> None:
        write("servelint.toml", "profile = 'strict'\nselct = []\n")
        settings = SettingsFiles(isolated=True)
        assert (profile("x.sh", settings), settings.problems) == ("default", [])

    def test_one_for_all(self) -> None:
        write("servelint.toml", "profile = 'strict'")
        write("ci/policy.toml", "profile = 'audit'\n[[per-path]]\npaths = ['x']\nseverity = 'error'\n")
        settings = SettingsFiles(file="ci/policy.toml")
        assert profile("a/x.sh", settings) == profile("ci/x.sh", settings) == "audit"
        assert SettingsFiles(file="missing.toml").problems[0].message == "cannot be read: No such file or directory"


class TestPatternsOfWhatIsExtended:
    def test_above(self) -> None:
        write("servelint.toml", "[[per-path]]\npaths=['team/dev/**']\nprofile='audit'\n")
        write("team/servelint.toml", "extends='../servelint.toml'")
        assert (profile("team/dev/x.sh"), profile("team/x.sh")) == ("audit", "default")

    def test_elsewhere(self) -> None:
        write("policy/base.toml", "[[per-path]]\npaths=['dev/**']\nprofile='audit'\n")
        write("team/servelint.toml", "extends='../policy/base.toml'")
        assert (profile("team/dev/x.sh"), profile("team/x/dev/x.sh")) == ("audit", "default")


class TestWhatIsLeftOut:
    def names(self, settings: SettingsFiles, folder: str = "") -> list[str]:
        left_out = settings.excluder(folder)
        return [name for name in ("vendor", "a.sh", "a.yml", "b.yml") if left_out is None or not left_out(name)]

    def test_nothing(self) -> None:
        assert SettingsFiles().excluder("") is None

    def test_exclude_replaces_and_extend_exclude_adds(self) -> None:
        write("base.toml", "exclude = ['vendor']\nextend-exclude = ['a.yml']")
        write("servelint.toml", "extends = 'base.toml'")
        assert self.names(SettingsFiles()) == ["a.sh", "b.yml"]
        write("servelint.toml", "extends = 'base.toml'\nextend-exclude = ['*.sh']")
        assert self.names(SettingsFiles()) == ["b.yml"]
        write("servelint.toml", "extends = 'base.toml'\nexclude = ['*.sh']")
        assert self.names(SettingsFiles()) == ["vendor", "a.yml", "b.yml"]
        assert self.names(SettingsFiles(overrides=layers(extend_exclude=["b.*"]))) == ["vendor", "a.yml"]

    def test_files_that_are_named(self) -> None:
        write("servelint.toml", "exclude = ['vendor']")
        assert not SettingsFiles().leaves_out("vendor/x/a.sh")
        settings = SettingsFiles(overrides=layers(force_exclude=True))
        assert settings.leaves_out("vendor/x/a.sh")
        assert not settings.leaves_out("a.sh")

    def test_a_folder_that_is_named_is_searched(self) -> None:
        write("servelint.toml", "exclude = ['vendor']")
        assert self.names(SettingsFiles(), "vendor") == ["vendor", "a.sh", "a.yml", "b.yml"][1:]


class TestNames:
    def test_rules_that_are_not_there(self) -> None:
        write(
            "servelint.toml",
            "select = ['vllm/*', 'vllm/mtp-many-token']\nignore = ['servelint/unused-ignore', 'nope']\n"
            "[rule.'contaner/*']\nseverity = 'info'\n[[per-path]]\npaths = ['x']\nignore = ['sglangs/*']\n",
        )
        settings = SettingsFiles()
        settings.of("x.sh")
        assert [repr(problem) for problem in settings.problems] == [
            'servelint.toml:1:21: no rule matches "vllm/mtp-many-token" (did you mean "vllm/mtp-many-tokens"?)',
            'servelint.toml:2:38: no rule matches "nope" (servelint rules lists them)',
            'servelint.toml:3:7: no rule matches "contaner/*" (did you mean "container/*"?)',
            'servelint.toml:7:11: no rule matches "sglangs/*" (did you mean "sglang/*"?)',
        ]

    @pytest.mark.parametrize(
        ("table", "said"),
        [
            ("'vllm/mtp-many-tokens'\ntoken = 1", '2:1: vllm/mtp-many-tokens has no option "token" (did you mean "tokens"?)'),
            ("'vllm/removed-option'\ntokens = 1", '2:1: vllm/removed-option has no option "tokens"'),
            ("'vllm/removed-option'\nsevrity = 'info'", '2:1: vllm/removed-option has no option "sevrity" (did you'),
            ("'vllm/mtp-many-tokens'\ntokens = '1'", "2:10: tokens of vllm/mtp-many-tokens is a number, not this"),
            ("'vllm/mtp-many-tokens'\ntokens = true", "2:10: tokens of vllm/mtp-many-tokens is a number, not this"),
            ("'container/unpinned-image'\nallow = 'x'", '2:9: allow of container/unpinned-image is a list of texts: ["..."]'),
            ("'vllm/*'\ntokens = 1", '2:1: "tokens" is set for vllm/*, and an area has only severity'),
        ],
    )  # fmt: skip
    def test_options_of_rules(self, table: str, said: str) -> None:
        write("servelint.toml", "[rule." + table.replace("\n", "]\n", 1) + "\n")
        settings = SettingsFiles()
        settings.of("x.sh")
        (problem,) = settings.problems
        assert repr(problem).startswith(f"servelint.toml:{said}".replace(", not this", ""))

    def test_a_file_that_several_extend_is_told_of_once(self) -> None:
        write("base.toml", "selct = []\nignore = ['nope']\n")
        write("a/servelint.toml", "extends = '../base.toml'")
        write("b/servelint.toml", "extends = '../base.toml'")
        settings = SettingsFiles()
        settings.of("a/x.sh")
        settings.of("b/x.sh")
        assert [(problem.path, problem.line) for problem in settings.problems] == [("base.toml", 1), ("base.toml", 2)]

    def test_options_of_the_command_line(self) -> None:
        settings = SettingsFiles(overrides=layers({"SERVELINT_IGNORE": "nope"}, select=["vllm/*", "nothing"]))
        settings.of("x.sh")
        settings.check_names()
        assert settings.problems == []
        assert settings.faults == [
            'SERVELINT_IGNORE: no rule matches "nope" (servelint rules lists them)',
            '--select: no rule matches "nothing" (servelint rules lists them)',
        ]


def test_what_holds_and_who_says_it() -> None:
    write("base.toml", "ignore = ['container/no-gpu']\nexclude = ['vendor']\n[engine-versions]\nvllm = '0.20.0'\n")
    write(
        "servelint.toml", "extends = 'base.toml'\nextend-exclude = ['*.md']\n[[per-path]]\npaths = ['a']\nprofile = 'audit'\n"
    )
    settings = SettingsFiles(overrides=layers({"SERVELINT_IGNORE": "sglang/*"}, engine_versions=["sglang=0.5.9"]))
    governing, absolute = settings.governing("a/x.sh")
    rows = [(one.key, one.name, one.value, str(one.origin or "")) for one in effective(governing.layers_of(absolute))]
    assert [row for row in rows if row[3]] == [
        ("ignore", "", "container/no-gpu", "base.toml:1:11"),
        ("ignore", "", "sglang/*", "SERVELINT_IGNORE"),
        ("profile", "", "audit", "servelint.toml:5:11"),
        ("engine-versions", "vllm", "0.20.0", "base.toml:4:8"),
        ("engine-versions", "sglang", "0.5.9", "--engine-version"),
        ("exclude", "", "vendor", "base.toml:2:12"),
        ("extend-exclude", "", "*.md", "servelint.toml:2:19"),
    ]


def test_what_no_longer_counts_is_not_shown() -> None:
    write("base.toml", "ignore = ['vllm/*']\nselect = ['sglang/*']\nexclude = ['vendor']\nextend-exclude = ['x']\n")
    write("servelint.toml", "extends = 'base.toml'\nselect = ['*']\nexclude = ['y']\n")
    governing, absolute = SettingsFiles().governing("x.sh")
    shown = [(one.key, one.value) for one in effective(governing.layers_of(absolute)) if one.origin is not None]
    assert shown == [("select", "*"), ("exclude", "y")]
